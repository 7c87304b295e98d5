//! Which rules are there?
//!
//! One file per rule under `rules/`. Both lists below are sorted by id. Rules on code judge a
//! [`Case`]; those on comments say what `suppress` finds, which knows all findings.

mod aliased_extern_shared;
mod bank_conflict;
mod barrier_after_exit;
mod blocks;
mod causes;
mod divergent_barrier;
mod divergent_warp_sync;
mod fact;
pub mod global_race;
mod launch_bounds_exceeded;
mod launches;
pub(crate) mod lines;
mod misaligned_vector_access;
mod missing_atomic;
mod missing_barrier;
mod missing_dynamic_shared_size;
pub mod redundant_barrier;
mod shared_memory_limit;
mod shared_out_of_bounds;
pub mod standing;
mod stride_dependent_conflict;
mod typed;
mod unchecked_async_copy;
pub mod unfulfilled_expectation;
mod uninitialized_shared;
pub mod unjudged;
pub mod unknown_directive;
mod unresolved_access;
pub mod unused_directive;
mod warp_synchronous;
mod zero_sized_launch;

use crate::banks::Target;
use crate::diagnostic::{Diagnostic, Edit, Level};
use crate::events::{Access, AccessOp, Call, LaunchSite, Refuted, Trace};
use crate::explanation::{Explanation, KernelView};
use crate::facts::{Across, Facts};
use crate::preproc::Constant;
use crate::shape::BlockFrom;
use crate::source::{Sources, Span};
use crate::verdict::Judgement;
pub use blocks::{block_source, is_assumed};
use std::sync::Arc;
pub use typed::{Typed, TypedLength, TypedWhat, Use, UseForm};
use unjudged::Unjudged;

/// The most calls of one function that are listed.
const MOST_CALLS: usize = 3;

/// What kind of trouble a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A program that does not do what it should.
    Correctness,
    /// One that takes longer than it has to.
    Performance,
    /// A comment for this tool.
    Comments,
}

/// A rule, as the command line and the documentation know it.
#[derive(Debug)]
pub struct Rule {
    /// Its name: the bad pattern, in kebab case. It reads after "allow".
    pub id: &'static str,
    /// What kind of trouble it is about.
    pub about: About,
    /// How loud it is unless the user says otherwise.
    pub level: Level,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// The rule's own source file, whose leading `//!` lines are its documentation.
    pub docs: &'static str,
}

impl Rule {
    /// The documentation, in Markdown.
    #[must_use]
    pub fn documentation(&self) -> String {
        let lines = self.docs.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Every rule, sorted by id.
pub static ALL: &[&Rule] = &[
    &aliased_extern_shared::RULE,
    &bank_conflict::RULE,
    &barrier_after_exit::RULE,
    &divergent_barrier::RULE,
    &divergent_warp_sync::RULE,
    &global_race::RULE,
    &launch_bounds_exceeded::RULE,
    &misaligned_vector_access::RULE,
    &missing_atomic::RULE,
    &missing_barrier::RULE,
    &missing_dynamic_shared_size::RULE,
    &redundant_barrier::RULE,
    &shared_memory_limit::RULE,
    &shared_out_of_bounds::RULE,
    &stride_dependent_conflict::RULE,
    &unchecked_async_copy::RULE,
    &unfulfilled_expectation::RULE,
    &uninitialized_shared::RULE,
    &unknown_directive::RULE,
    &unresolved_access::RULE,
    &unused_directive::RULE,
    &warp_synchronous::RULE,
    &zero_sized_launch::RULE,
];

/// The known rule whose id a word most likely means.
#[must_use]
pub fn nearest(word: &str) -> Option<&'static str> {
    let distance = |id: &str| strsim::damerau_levenshtein(id, &word.to_lowercase());
    let near = ALL.iter().map(|rule| (distance(rule.id), rule.id)).min()?;
    (near.0 <= near.1.len() / 3).then_some(near.1)
}

/// The rule with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id).copied()
}

/// One run of a kernel and what the bank model says of it.
#[derive(Debug)]
pub struct KernelRun {
    /// The kernel, with its template arguments when it has any.
    pub kernel: String,
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The launch it came from, if it did.
    pub launch: Option<Span>,
    /// What keeps that launch from happening, if something does.
    pub refuted: Option<Arc<Refuted>>,
    /// Another kernel that the launch may mean as well, by the place of its name.
    pub rival: Option<Span>,
    /// A launch that may give another block, which is not known.
    pub open_launch: Option<Span>,
    /// Whether host code limits the block by `min`, and it is the one at the limit.
    pub is_at_limit: bool,
    /// Whether its launch may never give this block: no numbers that were tried lead to it.
    pub is_unmet: bool,
    /// The arrays that the block just fills, if that is why it is this one.
    pub fills: Vec<String>,
    /// Why no block is known, if none is.
    pub misfit: Option<String>,
    /// The most bytes of dynamic shared memory that such launches give, and the one that does, if that is known of
    /// all of them.
    pub dynamic_bytes: Option<(u64, Span)>,
    /// The fewest but none that one of them is known to give, and which does.
    pub least_dynamic: Option<(u64, Span)>,
    /// The first that gives none.
    pub no_dynamic: Option<Span>,
    /// Why its threads are not held against each other, if they are not.
    pub unjudged: Option<Unjudged>,
    /// What happened.
    pub trace: Trace,
    /// What follows from it, beside the cost.
    pub(crate) facts: Facts,
    /// What the bank model says: by target, then by access of the trace.
    pub judgements: Vec<Vec<Judgement>>,
}

/// A distance between an array's rows that is written out, in indices or where a pointer is moved:
/// it was proved that every access finds its element whatever the distance is.
#[derive(Clone, Debug)]
pub struct Pitched {
    /// By which the padder knows it.
    pub number: usize,
    /// Where it is written, in order.
    pub sites: Vec<PitchSite>,
    /// What becomes of the declaration.
    pub length: Length,
    /// From the declaration to the end of the function.
    pub scope: Span,
    /// Where the runs saw the array named.
    pub seen: Vec<Span>,
    /// Why the proof may not speak of everyone who runs the kernel, if it may not.
    pub doubt: Option<&'static str>,
}

/// A place where the distance between an array's rows is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PitchSite {
    /// The number: a factor, an argument, or by how many bits something is shifted.
    pub span: Span,
    /// What is shifted, if it is a shift.
    pub shifted: Option<Shifted>,
}

/// What is shifted by a number of bits that makes a distance between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shifted {
    /// Where it stands, without parentheses.
    pub span: Span,
    /// Whether it is made by an operator that binds less than a product.
    pub is_loose: bool,
}

/// How the innermost dimension of an array grows when its rows do.
#[derive(Clone, Debug)]
pub enum Length {
    /// It is the row.
    Row(Span),
    /// It is a product, and this is the factor that is the row.
    Factor(PitchSite),
    /// It is so many rows, whatever is written there.
    Rows(Span, u64),
    /// It is not written, but is a product at each launch, of which these factors are the row; so many
    /// elements more find room.
    Launches(Vec<PitchSite>, u64),
    /// It is given at launches that cannot be changed with proof; before the last row that is accessed come at most
    /// so many.
    Given(u64),
}

/// The elements of a shared array, as the text of a kernel names them.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Each place where the text names one, in order.
    pub list: Vec<Element>,
    /// The kernel.
    pub scope: Span,
    /// Whether the kernel stands in the file that was given, and not in a header.
    pub is_in_given_file: bool,
}

/// A place where the text names an element of an array.
#[derive(Clone, Debug)]
pub struct Element {
    /// The whole: `tile[r][c]`.
    pub span: Span,
    /// The array's name in it.
    pub name: Span,
    /// What is in brackets, outermost first.
    pub subscripts: Vec<Subscript>,
    /// Whether it makes a difference which of them is evaluated first.
    pub in_order: bool,
    /// The member of it that is accessed, if only that one is.
    pub member: Option<Member>,
}

/// A member of an element: `.x` behind `body[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// One past it.
    pub end: u32,
    /// Its type, where that is one that the language defines.
    pub ty: Option<&'static str>,
}

/// A subscript of an element.
#[derive(Clone, Debug)]
pub struct Subscript {
    /// One past its closing bracket.
    pub end: u32,
    /// How tightly it holds together.
    pub form: Form,
    /// Whether it may be evaluated twice.
    pub is_repeatable: bool,
}

/// How tightly an expression holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a name or a number does.
    Whole,
    /// As a sum or product does: a sum goes on behind it.
    Sum,
    /// It needs parentheses.
    Loose,
}

/// A place where the text combines an element of memory with another, in an order that makes no difference but for
/// rounding: `s[i] += s[j]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The element that is written.
    pub target: Span,
    /// One that is read; the same as the target in `s[i] += s[j]`.
    pub one: Span,
    /// The other.
    pub other: Span,
    /// The operation.
    pub by: FoldedBy,
}

/// By what two elements are combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldedBy {
    /// `+` and its kin.
    Operator(&'static str),
    /// A function of two values, such as `fmaxf`.
    Function(String),
}

/// Why the elements of an array cannot each be given another index in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// The kernel does not declare the array itself.
    Declared,
    /// Here it is named without all its subscripts.
    Whole(Span),
    /// Here the address of an element is taken, or a reference made to it.
    Address(Span),
    /// Here an element is an argument that may be a reference, or the object of a call.
    Handed(Span),
}

/// What a kernel's runs are when an array's rows have more elements. In its runs only the accesses
/// of that array are judged.
pub trait Padder {
    /// The run of this number, made again with `extra` elements more in each row of the array with
    /// this name span.
    fn run(&self, run: usize, array: Span, extra: u64) -> Option<KernelRun>;

    /// What happens in the run of this number with `extra` elements more in each row of an array, all of it.
    fn run_whole(&self, run: usize, array: Span, extra: u64) -> Option<Trace>;

    /// What [`Padder::run`] will most likely be, without a run for each `extra`; `None` when that
    /// cannot be told.
    fn forecast(&self, run: usize, array: Span, extra: u64) -> Option<KernelRun>;

    /// Over how many variants the verdicts of the run of this number are, if they differ in its block or the size of a
    /// type alone; else 0.
    fn variants(&self, run: usize) -> usize;

    /// One of them by itself, made with `extra` elements more in each row of the array. The first is the one whose
    /// figures are told. `None` for a block in which the kernel leaves an array.
    fn run_variant(&self, of: (usize, usize), array: Span, extra: u64) -> Option<KernelRun>;

    /// Hands out the distances between the array's rows that can be changed, until one is taken. `after`: another
    /// of them, that so many elements were added to.
    fn pitches(&self, array: Span, after: Option<(&Pitched, u64)>, take: &mut dyn FnMut(Pitched) -> bool);

    /// What in types may say how far the rows or the elements of an array lie apart.
    fn typed(&self, array: Span) -> Vec<Typed>;

    /// The run of this number with these larger by so much, whatever that does.
    fn run_typed(&self, run: usize, typed: &[(Typed, u64)]) -> Option<KernelRun>;

    /// The elements of an array that the kernel's text names, or why they cannot each be given another index.
    fn elements(&self, array: Span) -> Result<Elements, Fixed>;

    /// Where the kernel's text combines an element of memory with another.
    fn folds(&self) -> Vec<Fold>;

    /// The run of this number in each shape of its block for which its verdicts hold, if there are several.
    fn ways(&self, run: usize) -> &[KernelRun];

    /// The run of this number with the pitch `extra` elements longer, proved to access the same elements.
    fn run_pitched(&self, run: usize, pitched: &Pitched, extra: u64) -> Option<KernelRun>;
}

/// Everything that rules may look at: one kernel in all its runs.
pub struct Case<'a> {
    /// The kernel's name where it is defined.
    pub kernel: Span,
    /// The runs: one per block shape and set of template arguments.
    pub runs: &'a [KernelRun],
    /// The launches that may mean it.
    pub launches: &'a [LaunchSite],
    /// The number in the kernel's `__launch_bounds__` at a launch, and where it stands.
    pub bound: &'a dyn Fn(&LaunchSite) -> Option<(u64, Span)>,
    /// The targets asked for.
    pub targets: &'a [Target],
    /// Runs the kernel again with a padded array.
    pub padder: &'a dyn Padder,
    /// The original text under a span.
    pub text: &'a dyn Fn(Span) -> String,
    /// The constant that is named under a span.
    pub constant: &'a dyn Fn(Span) -> Option<Constant>,
    /// `file:line` of a span.
    pub place: &'a dyn Fn(Span) -> String,
    /// `line 12` of a span.
    pub line: &'a dyn Fn(Span) -> String,
    /// The edit that puts a statement between two places, the second of which comes later or, where a loop is
    /// given, in its next round.
    pub between: &'a Between<'a>,
    /// The edit that takes out the statement that is this expression, if it can be.
    pub removal: &'a dyn Fn(Span) -> Option<Edit>,
    /// Whether the kernel's files, or the one that a span lies in, hold one of these words.
    pub says: &'a dyn Fn(Span, &[&str]) -> bool,
    /// Whether these files are written for HIP, which has limits of its own.
    pub is_hip: &'a dyn Fn(Span) -> bool,
    /// What these files hand over where they call something whose name ends so.
    pub calls: &'a dyn Fn(Span, &str) -> Vec<String>,
    /// The first place that asks for the size or type of the array whose name is declared there, but for those places.
    pub shape_asked: &'a dyn Fn(Span, &[Span]) -> Option<Span>,
    /// The first place where the text names one of these in another form than those in which it may.
    pub stray_use: &'a dyn Fn(&[Use]) -> Option<Span>,
    /// Another kernel that may use the array of file scope whose name is declared there.
    pub also_used: &'a dyn Fn(Span) -> Option<Span>,
}

/// As in [`Case::between`]: the two places, the loop, and the statement.
pub type Between<'a> = dyn Fn((Span, Span), Option<Across>, &str) -> Option<Edit> + 'a;

/// All findings of all rules on one kernel.
#[must_use]
pub fn check(case: &Case<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    aliased_extern_shared::check(case, &mut found);
    bank_conflict::check(case, &mut found);
    divergent_barrier::check(case, &mut found);
    divergent_warp_sync::check(case, &mut found);
    global_race::check(case, &mut found);
    launch_bounds_exceeded::check(case, &mut found);
    misaligned_vector_access::check(case, &mut found);
    missing_atomic::check(case, &mut found);
    missing_barrier::check(case, &mut found);
    missing_dynamic_shared_size::check(case, &mut found);
    redundant_barrier::check(case, &mut found);
    shared_memory_limit::check(case, &mut found);
    shared_out_of_bounds::check(case, &mut found);
    stride_dependent_conflict::check(case, &mut found);
    unchecked_async_copy::check(case, &mut found);
    uninitialized_shared::check(case, &mut found);
    unresolved_access::check(case, &mut found);
    warp_synchronous::check(case, &mut found);
    zero_sized_launch::check(case, &mut found);
    for finding in &mut found {
        let runs = case.runs.iter().filter(|run| run.kernel == finding.kernel);
        finding.launches = runs.filter_map(|run| run.launch).collect();
        finding.kernel_at = Some(case.kernel);
    }
    found
}

/// Puts findings together that have one cause, and leaves the others as they are. With each comes the number
/// of the one whose place it has. A finding that is put together has its rule's own level.
#[must_use]
pub fn causes(sources: &Sources, findings: Vec<Diagnostic>) -> Vec<(usize, Diagnostic)> {
    causes::causes(sources, findings)
}

/// What there is to be seen of a kernel that has these findings; `None` if it was not run.
#[must_use]
pub fn view(case: &Case<'_>, findings: &[Diagnostic]) -> Option<KernelView> {
    bank_conflict::view(case, findings)
}

/// Everything that can be told of the accesses and barriers at a place, run by run.
#[must_use]
pub fn explain(case: &Case<'_>, is_there: &dyn Fn(Span) -> bool) -> Vec<Explanation> {
    let mut told = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        let accesses = kernel.trace.accesses.iter().enumerate().filter(|(_, it)| is_there(it.span));
        told.extend(accesses.map(|(number, _)| bank_conflict::explain(case, run, number)));
        let mut barriers: Vec<Span> = kernel.trace.barriers.iter().map(|barrier| barrier.span).collect();
        barriers.sort_unstable();
        barriers.dedup();
        let barriers = barriers.into_iter().filter(|span| is_there(*span));
        told.extend(barriers.filter_map(|span| divergent_barrier::explain(case, run, span)));
    }
    told
}

impl Case<'_> {
    /// Which run it is.
    fn run_words(&self, run: usize) -> String {
        let run = &self.runs[run];
        let [x, y, z] = run.block;
        format!("kernel `{}` with block ({x}, {y}, {z})", run.kernel)
    }

    /// Which instance of a template it is, if it is one.
    fn instance_words(&self, run: usize) -> Option<String> {
        let kernel = &self.runs[run].kernel;
        kernel.contains('<').then(|| format!("found in `{kernel}`"))
    }

    /// The way from the kernel to a device function, when there is one; `others`: the other ways to it.
    fn calls_words(&self, run: usize, calls: &[Call], others: &[&[Call]]) -> Option<String> {
        let last = calls.last()?;
        let names = |calls: &[Call]| {
            calls.iter().map(|call| format!("`{}`", call.function)).collect::<Vec<_>>().join(", ")
        };
        let through = names(calls);
        let kernel = &self.runs.get(run)?.kernel;
        let (alike, unlike): (Vec<&[Call]>, Vec<_>) =
            others.iter().partition(|other| names(other) == through);
        let mut spans = vec![last.span];
        for call in alike.iter().filter_map(|calls| calls.last()) {
            if !spans.contains(&call.span) {
                spans.push(call.span);
            }
        }
        let places: Vec<String> = spans.iter().take(MOST_CALLS).map(|span| (self.place)(*span)).collect();
        let places = match spans.len() {
            1..=MOST_CALLS => listed(&places),
            all => format!("{} and at {} other places", places[0], all - 1),
        };
        let mut ways: Vec<String> = Vec::new();
        for other in unlike {
            let way =
                if other.is_empty() { "directly".to_owned() } else { format!("through {}", names(other)) };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        let also = match ways.len() {
            0 => String::new(),
            1..=MOST_CALLS => format!("; also {}", listed(&ways)),
            many => format!("; also in {many} other ways"),
        };
        Some(format!("reached from kernel `{kernel}` through {through}, called at {places}{also}"))
    }

    /// What a verdict rests on.
    fn assumption_words(&self, run: usize, target: usize, access: &Access) -> Vec<String> {
        let run = &self.runs[run];
        let at = run.trace.accesses.iter().position(|a| std::ptr::eq(a, access));
        let judged = at.map(|at| run.judgements[target][at].assumptions.clone()).unwrap_or_default();
        // The block has a note of its own.
        let said = run.block_assumption();
        let all: Vec<String> = access
            .assumptions
            .iter()
            .chain(&judged)
            .filter(|assumed| Some(*assumed) != said.as_ref())
            .map(ToString::to_string)
            .collect();
        merged(&all).into_iter().map(|text| format!("assumed: {text}")).collect()
    }
}

/// Joins texts that differ only in the name at their end: "inside the bounds given by `w` and `h`".
fn merged(texts: &[String]) -> Vec<String> {
    let split = |text: &str| -> Option<(String, String)> {
        let body = text.strip_suffix('`')?;
        let (stem, name) = body.rsplit_once('`')?;
        Some((stem.to_owned(), name.to_owned()))
    };
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for text in texts {
        let (stem, name) = split(text).unwrap_or_else(|| (text.clone(), String::new()));
        match found.iter_mut().find(|(other, _)| *other == stem) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => found.push((stem, vec![name])),
        }
    }
    let text = |(stem, names): (String, Vec<String>)| {
        let names: Vec<String> =
            names.iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
        format!("{stem}{}", listed(&names))
    };
    found.into_iter().map(text).collect()
}

/// `a`, `a and b`, `a, b and c`
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What to do about a block shape that is only assumed.
fn block_help(from: BlockFrom) -> Option<String> {
    matches!(from, BlockFrom::Implied | BlockFrom::Default).then(|| {
        "if the kernel runs with another block shape, state it above the kernel: `// cudalint: block(X, \
         Y)`"
        .to_owned()
    })
}

/// What an access does to its array, as a noun with its preposition and as a verb of the lanes.
fn access_words(op: AccessOp) -> (&'static str, &'static str) {
    match op {
        AccessOp::Load => ("read of", "read"),
        AccessOp::Store => ("write of", "write"),
        AccessOp::Atomic => ("atomic update of", "update"),
        AccessOp::MatrixLoad => ("matrix read of", "read"),
        AccessOp::MatrixStore => ("matrix write of", "write"),
        AccessOp::AsyncCopy => ("asynchronous copy into", "write"),
    }
}

/// `1 wavefront`, `2 wavefronts`.
fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

#[cfg(test)]
mod tests;
