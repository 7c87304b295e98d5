//! What does the bank model say of each access site?
//!
//! Takes a site of a trace and a target, asks `banks` for every distinct warp request, and says
//! how much the answer rests on. Unknown numbers that shift all lanes alike are tried in every
//! phase that matters to the banks; a factor between lanes that is given at run time is tried in
//! every residue, and where they differ the answer is a table over it.

mod counted;
mod example;
mod request;
mod rounds;
mod symbols;
mod table;

use crate::codegen::Merges;
use crate::domain::{Reason, Unknown};
pub(crate) use counted::Counted;
pub(crate) use example::moved_example;
pub use example::{Example, Sought, example};
pub use table::{StrideTable, TableClass, TableRow, TableSymbol};

use crate::banks::{ComputeCapability, Contention, Cost, Target, Witness};
use crate::events::{Access, AccessOp, Assumption, Pattern, Trace, Ways};
use crate::shape::BlockFrom;
use crate::source::Span;
use request::NoCost;
pub(crate) use request::moved_cost;
pub use rounds::ROUNDS;
pub(crate) use rounds::{counted, rounds_at, whole};
use symbols::{Row, Weighed, bounded, weigh};

/// How much a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing but the code, and a launch found.
    Exact,
    /// Assumptions that are listed.
    Assumed,
    /// A value given at run time: the verdict is a table over it.
    Depends,
    /// Not known, with a reason.
    Unknown,
}

impl Status {
    /// The status of a verdict that rests on one more assumption.
    #[must_use]
    pub fn resting_on_more(self) -> Status {
        if self == Status::Exact { Status::Assumed } else { self }
    }
}

/// The verdict on one access site for one block shape, one set of template arguments and one target.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteVerdict {
    /// The access expression.
    pub span: Span,
    /// The kernel it was reached from, with its template arguments when it has any.
    pub kernel: String,
    /// The shared array.
    pub array: String,
    /// What it does.
    pub op: AccessOp,
    /// Bytes per lane; `None` when the element type is not known.
    pub bytes: Option<u32>,
    /// Block shape x, y, z.
    pub block: [u32; 3],
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The target, as `sm_90`.
    pub target: String,
    /// How much the verdict rests on.
    pub status: Status,
    /// What was taken for granted, for `Assumed` and `Depends`.
    pub assumptions: Vec<Assumption>,
    /// Why it is `Unknown` or what it `Depends` on.
    pub reason: Option<String>,
    /// The kind of that reason, to count by.
    pub kind: Option<Reason>,
    /// Warp requests, summed over the warps of one block and the enumerated loop iterations; where one instruction
    /// is not enough, those of each.
    pub requests: Option<u64>,
    /// Wavefronts, summed likewise.
    pub wavefronts: Option<u64>,
    /// The fewest wavefronts possible, summed likewise.
    pub ideal: Option<u64>,
    /// What Nsight takes for the ideal: more only where neighbouring lanes read the same 8 or 16 bytes.
    pub usual: Option<u64>,
    /// The largest wavefronts of one request.
    pub worst: Option<u32>,
    /// The ideal of that request.
    pub worst_ideal: Option<u32>,
    /// The loops around it of which it is not known how often they run. Of these, one round is counted, or as many as
    /// [`SiteVerdict::rounds`] says.
    pub uncounted_loops: Vec<Span>,
    /// The rounds of such a loop in which the wavefronts are not alike, and of which they are the sum.
    pub rounds: u64,
    /// For `Depends`: what it costs by the values it depends on.
    pub table: Option<StrideTable>,
}

/// What the bank model says of one site on one target.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// How much it rests on, the block shape left aside.
    pub status: Status,
    /// The numbers, when they are known.
    pub totals: Option<Totals>,
    /// The wavefronts beyond the ideal by the innermost loop of unknown length, whose rounds count as one,
    /// if there is one.
    pub extra: Vec<(Option<Span>, u64)>,
    /// What another access speaks for of that, for the sums of several.
    pub again: Vec<Again>,
    /// Why it is not known, or what it depends on.
    pub reason: Option<String>,
    /// The kind of that reason.
    pub kind: Option<Reason>,
    /// The part of the text that causes it, if there is one.
    pub cause: Option<Span>,
    /// What is taken for granted beside the trace's own assumptions.
    pub assumptions: Vec<Assumption>,
    /// For `Depends`: what it costs by the values it depends on.
    pub table: Option<StrideTable>,
    /// For an atomic without a fixed cost: lanes that meet in one bank.
    pub contention: Option<Contention>,
    /// Whether its requests are joined to those of another site, which speaks for both.
    pub follows: bool,
    /// Whether the numbers are those of the profiler's source page alone: no counter of the hardware
    /// shows them, and time does not follow them.
    pub page_only: bool,
    /// Whether data decide which lanes do it: the numbers are those of all that may.
    pub lanes_by_data: bool,
}

impl Judgement {
    /// Not known, for a reason of this kind.
    #[must_use]
    pub fn unknown(kind: Reason, reason: impl Into<String>) -> Judgement {
        Judgement {
            status: Status::Unknown,
            totals: None,
            extra: Vec::new(),
            again: Vec::new(),
            reason: Some(reason.into()),
            kind: Some(kind),
            cause: None,
            assumptions: Vec::new(),
            table: None,
            contention: None,
            follows: false,
            page_only: false,
            lanes_by_data: false,
        }
    }

    /// A read or write that the compiler makes no request of.
    fn no_request(op: AccessOp) -> Judgement {
        let why = if op == AccessOp::Store { Assumption::LeftOut } else { Assumption::InRegister };
        Judgement {
            status: Status::Assumed,
            totals: Some(Totals::default()),
            assumptions: vec![why],
            reason: None,
            kind: None,
            follows: true,
            ..Judgement::unknown(Reason::Compiler, "")
        }
    }

    /// Not known, for the reason that a run gave.
    fn because(why: &Unknown) -> Judgement {
        let cause = Some(why.span).filter(|span| span.end > span.start);
        Judgement { cause, ..Judgement::unknown(why.reason, &*why.detail) }
    }

    /// A verdict that is a table; not known if this number decides which lanes are active, too.
    fn of_table(table: StrideTable, assumptions: Vec<Assumption>, bounded: Option<String>) -> Judgement {
        if let Some(name) = bounded {
            let reason = format!("which lanes are active depends on `{name}`, as what they access does");
            return Judgement::unknown(Reason::DataDependentMask, reason);
        }
        Judgement { assumptions, ..Judgement::unknown(Reason::RunTimeStride, "") }.depending_on(table)
    }

    /// The verdict as a table, on the same assumptions.
    #[must_use]
    pub fn depending_on(self, table: StrideTable) -> Judgement {
        let reason = format!("it depends on {}: {}", table.over(), table.words());
        let unknown = Judgement::unknown(Reason::RunTimeStride, reason);
        let (status, assumptions) = (Status::Depends, self.assumptions);
        Judgement { status, assumptions, table: Some(table), ..unknown }
    }

    /// Whether another verdict on the same site, where this one is known, says the same of conflicts:
    /// that there are some or none, for whatever values.
    #[must_use]
    pub fn agrees_with(&self, other: &Judgement) -> bool {
        let conflicts = |j: &Judgement| j.totals.map(|t| t.wavefronts > t.ideal);
        let free = |row: &TableRow| (row.values.clone(), row.is_free());
        let rows = |j: &Judgement| j.table.as_ref().map(|t| t.rows.iter().map(free).collect::<Vec<_>>());
        self.status == Status::Unknown || (conflicts(self) == conflicts(other) && rows(self) == rows(other))
    }
}

/// What requests take that another access begins, and so is counted with that one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// The innermost loop of unknown length, whose rounds count as one, if there is one.
    pub innermost: Option<Span>,
    /// Wavefronts beyond the ideal.
    pub extra: u64,
    /// All wavefronts.
    pub all: u64,
}

/// Sums over the requests of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests, one for each time that a warp comes to the access.
    pub requests: u64,
    /// The machine accesses that they are split into.
    pub split: u64,
    /// Those of the requests that take more wavefronts than usual.
    pub conflicting: u64,
    /// By which ways a block comes to those.
    pub ways: Ways,
    /// Wavefronts.
    pub wavefronts: u64,
    /// The fewest wavefronts possible.
    pub ideal: u64,
    /// What Nsight takes for the ideal: [`Cost::usual`].
    pub usual: u64,
    /// Wavefronts of the worst request, its ideal, and its ways.
    pub worst: Worst,
}

/// The request with the most wavefronts beyond its ideal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// Its wavefronts.
    pub wavefronts: u32,
    /// Its ideal.
    pub ideal: u32,
    /// The passes that its worst group of lanes takes.
    pub ways: u32,
    /// Two lanes that collide.
    pub witness: Option<Witness>,
    /// The warp that does it.
    pub warp: u32,
    /// Where its lanes' offsets are counted from, in bytes of the array, if known.
    pub moved: Option<i64>,
    /// Whether something unknown turns the banks for all lanes alike.
    pub turned: bool,
    /// The calls that lead to it: index into [`Access::paths`](crate::events::Access::paths).
    pub path: u32,
}

/// From here on a `wmma` call becomes the requests that the run records for it.
const FRAGMENTS_KNOWN: ComputeCapability = ComputeCapability::new(8, 0);

/// From here on `cp.async` is an instruction; before, the compiler makes a load and a store of it.
const COPIES_KNOWN: ComputeCapability = ComputeCapability::new(8, 0);

/// Whether it is an asynchronous copy that the target has an instruction for.
fn is_copy_instruction(access: &Access, target: &Target) -> bool {
    access.op == AccessOp::AsyncCopy && target.capability >= COPIES_KNOWN
}

const OUTSIDE: &str = "as counted, it leaves the array: either it does, or an unknown number keeps it inside";

/// Judges one access of a trace, by its number, on a target.
#[must_use]
pub fn judge(trace: &Trace, merges: &Merges, number: usize, target: &Target) -> Judgement {
    let access = &trace.accesses[number];
    if let Some(why) = &access.unknown {
        return Judgement::because(why);
    }
    if access.outside {
        return Judgement::unknown(Reason::OutOfBounds, OUTSIDE);
    }
    if let Some(stopped) = &trace.stopped {
        return Judgement::because(stopped);
    }
    if access.tiles.fragment && target.capability < FRAGMENTS_KNOWN {
        let reason = format!("how {target} spreads a wmma fragment over the lanes is unknown");
        return Judgement::unknown(Reason::Hardware, reason);
    }
    if access.may_meet_behind_loop() {
        let reason = "lanes leave the loop in different rounds, and the compiler may let them meet behind it and access together";
        return Judgement::unknown(Reason::Compiler, reason);
    }
    if access.patterns.is_empty() && access.kept > 0 {
        return Judgement::no_request(access.op);
    }
    let Weighed { axes, rows, mut assumptions, follows } = match weigh(trace, merges, number, target) {
        Ok(weighed) => weighed,
        Err(NoCost::Unknown(kind, reason)) => return Judgement::unknown(kind, reason),
        Err(NoCost::NoFigure(contention)) => {
            let reason = "the cost of this atomic is not a fixed number";
            let unknown = Judgement::unknown(Reason::Hardware, reason);
            return Judgement { contention: Some(contention), ..unknown };
        }
    };
    let mut lanes_by_data = false;
    if let Some(doubt) = &access.doubt {
        match lanes_in_doubt(access, doubt, &rows) {
            // All that may be active are counted, and not all can be.
            Some((true, _)) if access.may_be_outside => {
                return Judgement::unknown(Reason::OutOfBounds, OUTSIDE);
            }
            Some((by_data, words)) => {
                lanes_by_data = by_data;
                assumptions.extend(words);
            }
            None => return Judgement::because(doubt),
        }
    }
    assumptions.dedup();
    let table = stride_table(trace, &axes, &rows).reduced();
    let free = rows.iter().flatten().filter(|row| !row.conflicts()).count();
    let possible = rows.iter().flatten().count();
    if free > 0 && free < possible {
        return Judgement::of_table(table, assumptions, bounded(trace, access, &axes));
    }
    // Free of conflicts for all values, or for none: the least is sure.
    let Some(least) = rows.iter().flatten().min_by_key(|row| row.totals.wavefronts - row.totals.ideal) else {
        return never_aligned(&table);
    };
    if free == 0 && rows.iter().flatten().any(|row| row.at_most) {
        return Judgement::unknown(Reason::RunTimeStride, format!("it depends on {}", table.over()));
    }
    if free == 0
        && let [best, _, ..] = table.classes().as_slice()
    {
        assumptions.push(Assumption::LeastConflict { when: best.when.as_str().into() });
    }
    let no_assumptions = assumptions.is_empty() && access.assumptions.is_empty();
    let status = if no_assumptions { Status::Exact } else { Status::Assumed };
    let (totals, extra, again) = (Some(least.totals), least.extra.clone(), least.again.clone());
    Judgement {
        status,
        totals,
        extra,
        again,
        reason: None,
        kind: None,
        cause: None,
        assumptions,
        table: None,
        contention: None,
        follows,
        page_only: access.around && is_copy_instruction(access, target),
        lanes_by_data,
    }
}

/// Of an access that is misaligned for all values of the numbers that it is tried for, or without any.
fn never_aligned(table: &StrideTable) -> Judgement {
    let over = table.over();
    let words = match over.is_empty() {
        true => "as far as it is followed, it is not aligned, so something about it is unknown".to_owned(),
        false => format!("no value of {over} aligns it"),
    };
    Judgement::unknown(Reason::RunTimeStride, words)
}

/// What can be said of an access whose active lanes are only an upper bound: on what it rests, and
/// whether the numbers are those of all lanes that may take part.
fn lanes_in_doubt(
    access: &Access,
    doubt: &Unknown,
    rows: &[Option<Row>],
) -> Option<(bool, Option<Assumption>)> {
    // It may be that nobody accesses anything.
    if doubt.reason == Reason::AmbiguousCall {
        return None;
    }
    let rows = || rows.iter().flatten();
    if !rows().any(Row::conflicts) {
        return Some((false, Some(Assumption::AnyLanes)));
    }
    // All requests are alike, so that it does not matter which of the warps are in doubt.
    let alike = || rows().all(|row| row.totals.conflicting == row.totals.requests);
    if access.is_warp_wide() && alike() {
        return Some((false, None));
    }
    let plain = matches!(access.op, AccessOp::Load | AccessOp::Store);
    let by_data = plain && doubt.reason == Reason::DataDependent && rows().all(Row::conflicts);
    by_data.then(|| {
        let why = (*doubt.detail).into();
        (true, Some(Assumption::EveryLane { why }))
    })
}

fn stride_table(trace: &Trace, axes: &[symbols::Axis], rows: &[Option<Row>]) -> StrideTable {
    let symbol = |axis: &symbols::Axis| TableSymbol { name: axis.name(trace), modulus: axis.modulus };
    let row = |(number, row): (usize, &Option<Row>)| {
        let row = row.as_ref()?;
        let worst = row.totals.worst;
        let values = symbols::values(axes, number);
        let (wavefronts, ideal, ways) = (worst.wavefronts, worst.ideal, worst.ways);
        Some(TableRow { values, wavefronts, ideal, ways, at_most: row.at_most })
    };
    StrideTable {
        symbols: axes.iter().map(symbol).collect(),
        rows: rows.iter().enumerate().filter_map(row).collect(),
    }
}

impl Totals {
    fn add(&mut self, cost: &Cost, pattern: &Pattern) {
        self.requests = self.requests.saturating_add(pattern.count);
        self.split = self.split.saturating_add(pattern.count.saturating_mul(cost.accesses.max(1).into()));
        if cost.wavefronts > cost.usual {
            self.conflicting = self.conflicting.saturating_add(pattern.count);
            self.ways = self.ways.and(pattern.ways);
        }
        self.wavefronts =
            self.wavefronts.saturating_add(pattern.count.saturating_mul(cost.wavefronts.into()));
        self.ideal = self.ideal.saturating_add(pattern.count.saturating_mul(cost.ideal.into()));
        self.usual = self.usual.saturating_add(pattern.count.saturating_mul(cost.usual.into()));
        let excess = |w: u32, i: u32| w.saturating_sub(i);
        let (new, old) =
            (excess(cost.wavefronts, cost.ideal), excess(self.worst.wavefronts, self.worst.ideal));
        if self.worst.wavefronts == 0 || new > old || (new == old && cost.wavefronts > self.worst.wavefronts)
        {
            self.worst = Worst {
                wavefronts: cost.wavefronts,
                ideal: cost.ideal,
                ways: cost.ways,
                witness: cost.witness,
                warp: pattern.first_warp,
                moved: pattern.moved,
                turned: pattern.unit != 0,
                path: pattern.first.path,
            };
        }
    }
}
