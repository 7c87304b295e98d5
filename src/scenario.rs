//! With which block shapes and template arguments is a kernel run?
//!
//! Best first: a directive above the kernel, the command line, every launch found in the files
//! given, `__launch_bounds__`, a shape that just fills the arrays, and last a shape
//! that is only an assumption. Of the last kinds several shapes are run, and a verdict that they
//! do not share is not a verdict.

mod group;
pub(crate) mod hosts;
mod shape;
mod strides;

use crate::events::{Access, LaunchArg, LaunchSite, Refuted, Ties, Trace, weaken, weaken_powers};
use crate::exec::budget::{FileBudget, KernelBudget};
use crate::exec::entry::{Setting, instantiation, run_with_effort};
use crate::ir::program::Program;
use crate::ir::{Function, Lambda, TemplateParam};
use crate::shape::{BlockFrom, BlockOption};
use crate::source::Span;
use group::Group;
use shape::Search;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

/// The scenarios of one kernel that are run whatever they take.
const FIRST: usize = 16;
/// The most further ones that are run, if they are cheap.
const MOST_FURTHER: usize = 1024;
/// What a template argument that none before has counts for, where it is the only one of its place.
const ONE: usize = 1 << 16;
/// The most explicit instantiations of one kernel that are told apart.
const MOST_KNOWN: usize = 1024;

/// One way to run a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scenario {
    /// Block, template arguments and arguments.
    pub setting: Setting,
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The launch, if there is one; unless [`BlockFrom::Launch`], it does not tell the shape.
    pub launch: Option<Span>,
    /// What keeps that launch from happening, if something does.
    pub refuted: Option<Arc<Refuted>>,
    /// Another kernel that the launch may mean as well, by the place of its name.
    pub rival: Option<Span>,
    /// A launch that may give another block, which is not known.
    pub open_launch: Option<Span>,
    /// Whether host code limits the block by `min` at each such launch, and this is the block at the limit.
    pub is_at_limit: bool,
    /// Whether such launches may never give this block: no numbers that were tried lead to it.
    pub is_unmet: bool,
    /// The most bytes of dynamic shared memory that such launches give, and the one that does, if that is known of
    /// all of them.
    pub dynamic_bytes: Option<(u64, Span)>,
    /// The fewest but none that one of them is known to give, and which does.
    pub least_dynamic: Option<(u64, Span)>,
    /// The first that gives none.
    pub no_dynamic: Option<Span>,
    /// The arrays that the block just fills, if that is why it is this one.
    pub fills: Vec<String>,
    /// An array that every block leaves that was tried, so that none is known.
    pub misfit: Option<String>,
    /// Other shapes that are as likely; a verdict has to hold for those of them that leave no array, too.
    pub alternatives: Vec<[u32; 3]>,
    /// For how many ways to run the kernel it stands, itself among them, of which none is run; 0 for a
    /// scenario that is run.
    pub left_out: usize,
    /// Whether it comes after the first few of its kernel, and is run only while that is cheap.
    pub is_further: bool,
    /// How much host code may tie what the kernel is given to the block.
    pub ties: Ties,
}

impl Scenario {
    /// One that nothing but its setting is known of.
    fn of(setting: Setting) -> Scenario {
        Scenario {
            setting,
            block_from: BlockFrom::Default,
            launch: None,
            refuted: None,
            rival: None,
            open_launch: None,
            is_at_limit: false,
            is_unmet: false,
            dynamic_bytes: None,
            least_dynamic: None,
            no_dynamic: None,
            fills: Vec::new(),
            misfit: None,
            alternatives: Vec::new(),
            left_out: 0,
            is_further: false,
            ties: Ties::Any,
        }
    }

    /// Why no block is known, if none is.
    #[must_use]
    pub(crate) fn misfit_words(&self) -> Option<String> {
        let launch =
            if self.launch.is_some() { "the launch does not give it" } else { "no launch was found" };
        let overruns = |array: &String| format!("{launch}, and every likely block overruns `{array}`");
        self.misfit.as_ref().map(|array| format!("the block is not known: {}", overruns(array)))
    }

    /// The kernel's name with its template arguments, as far as they are known.
    #[must_use]
    pub(crate) fn name_of(&self, kernel: &Function) -> String {
        if self.setting.template_args.iter().all(|arg| *arg == LaunchArg::Unknown) {
            return kernel.name.to_string();
        }
        let word = |arg: &LaunchArg| match arg {
            LaunchArg::Value(value) => value.to_string(),
            LaunchArg::Type(ty) => Lambda::shown(&crate::ir::print::ty(ty)),
            LaunchArg::Unknown => "?".to_string(),
        };
        let args: Vec<String> = self.setting.template_args.iter().map(word).collect();
        format!("{}<{}>", kernel.name, args.join(", "))
    }
}

/// Runs of one kernel that were made to find out which scenarios there are.
#[derive(Debug)]
pub(crate) struct Probes<'a> {
    /// What each was run with, and its trace.
    runs: Vec<(Setting, Trace)>,
    budget: &'a FileBudget,
    /// What the kernel's runs may take.
    pub of_kernel: KernelBudget,
    /// Blocks of which the run of a variant tells nothing.
    silent: Vec<[u32; 3]>,
    /// How the scenarios that were found will go.
    found: KernelBudget,
    /// What further variants of other kernels took before.
    further: u64,
}

impl<'a> Probes<'a> {
    /// None, to be made within this budget.
    #[must_use]
    pub(crate) fn new(budget: &'a FileBudget) -> Probes<'a> {
        Probes {
            runs: Vec::new(),
            budget,
            of_kernel: KernelBudget::default(),
            silent: Vec::new(),
            found: KernelBudget::default(),
            further: budget.further(),
        }
    }

    /// Whether the runs, where there are any, tell something of an access.
    fn tell(&self) -> bool {
        let is_known = |access: &Access| access.unknown.is_none();
        self.runs.is_empty() || self.runs.iter().any(|(_, trace)| trace.accesses.iter().any(is_known))
    }

    /// Whether one more variant may be run beyond the first few: those before it were cheap.
    #[must_use]
    pub(crate) fn has_room(&self) -> bool {
        let is_long = self.of_kernel.too_long().or(self.found.too_long()).is_some();
        !is_long && self.budget.has_room(self.further)
    }

    /// A run, made now if it was not before.
    fn run(&mut self, program: &Program, kernel: &Arc<Function>, setting: Setting) -> &Trace {
        let at = self.made(&setting).unwrap_or_else(|| {
            let trace = self.run_now(program, kernel, &setting);
            self.runs.push((setting, trace));
            self.runs.len() - 1
        });
        &self.runs[at].1
    }

    /// The same, not to be asked for again.
    pub(crate) fn take(&mut self, program: &Program, kernel: &Arc<Function>, setting: &Setting) -> Trace {
        match self.made(setting) {
            Some(at) => self.runs.swap_remove(at).1,
            None => self.run_now(program, kernel, setting),
        }
    }

    /// Where the run is that was made with this setting.
    fn made(&self, setting: &Setting) -> Option<usize> {
        self.runs.iter().position(|(known, _)| known == setting)
    }

    fn run_now(&mut self, program: &Program, kernel: &Arc<Function>, setting: &Setting) -> Trace {
        let trace = run_with_effort(program, kernel, setting, self.budget, self.of_kernel.effort());
        self.of_kernel.count_run(&trace);
        trace
    }

    /// Counts a scenario that was found.
    fn count_found(&mut self, setting: &Setting) {
        if let Some(at) = self.made(setting) {
            self.found.count_scenario(&self.runs[at].1);
        }
    }

    /// Drops the runs that were made after so many others, but for the one with this setting.
    fn keep_only(&mut self, before: usize, setting: &Setting) {
        let later = self.runs.split_off(before);
        self.runs.extend(later.into_iter().filter(|(known, _)| known == setting));
    }

    /// Keeps a run that was made elsewhere.
    fn keep(&mut self, setting: Setting, trace: Trace) {
        self.of_kernel.count_run(&trace);
        self.runs.push((setting, trace));
    }
}

/// The scenarios of a kernel; runs made along the way go into `probes`.
#[must_use]
pub(crate) fn scenarios(
    program: &Program,
    kernel: &Arc<Function>,
    launches: &[LaunchSite],
    blocks: &[BlockOption],
    probes: &mut Probes<'_>,
) -> Vec<Scenario> {
    let fixed = kernel
        .block_directive
        .map(|(shape, _)| (shape, BlockFrom::Directive))
        .or_else(|| given(kernel, blocks))
        .filter(|(shape, _)| valid(*shape));
    let mut groups: Vec<Group> = Vec::new();
    let launches = as_instantiated(program, kernel, launches);
    for launch in launches.iter().filter(|launch| fits(launch, kernel)) {
        let block = fixed.map_or(launch.block, |(shape, _)| shape.map(|d| Some(i64::from(d))));
        add_launch(&mut groups, launch, block);
    }
    // What happens says more than what does not.
    if groups.iter().any(|group| group.refuted.is_none() && known_shape(group.block).is_some()) {
        groups.retain(|group| group.refuted.is_none());
    }
    drop_vague(&mut groups, kernel);
    let (groups, others) = varied(groups, |group| (group.block, &group.template_args));
    if groups.is_empty() {
        // Without a launch, not even defaults are known to be used.
        let unseen = || vec![vec![LaunchArg::Unknown; kernel.template_params.len()]];
        let instantiated =
            Some(instantiations(program, kernel)).filter(|all| all.iter().any(|a| !a.is_empty()));
        let instantiated = instantiated.unwrap_or_else(unseen);
        let without = |template_args: Vec<LaunchArg>, probes: &mut Probes<'_>| match fixed {
            Some((block, block_from)) => {
                let setting = Setting { template_args, ..Setting::of(block) };
                Scenario { block_from, ties: Ties::OneShape, ..Scenario::of(setting) }
            }
            None => {
                let (args, covers, partly) = (Vec::new(), Vec::new(), [None; 3]);
                Search { program, kernel, template_args, args, covers, partly, probes, is_deep: None }
                    .scenario()
            }
        };
        let (instantiated, others) = varied(instantiated, |args| ([None; 3], args));
        return all_scenarios(instantiated, others, probes, without, |args| args);
    }
    let is_only = groups.len() == 1 && others.is_empty();
    let scenario = |group: Group, probes: &mut Probes<'_>| match known_shape(group.block) {
        Some(block) => {
            let block_from = fixed.map_or(BlockFrom::Launch, |(_, from)| from);
            let residues = group.residues(kernel);
            let most = if fixed.is_none() { group.most(kernel) } else { Vec::new() };
            let powers = if fixed.is_none() { group.powers(kernel) } else { Vec::new() };
            // Of a block that was given, the launch says nothing.
            let covers = if fixed.is_none() { group.covers(kernel) } else { Vec::new() };
            let (template_args, args) = (group.template_args, group.args);
            let (flat, most_blocks) = (group.flat, group.most_blocks);
            // How many rounds there are depends on what else is given, too.
            let grid = if group.is_untied { group.grid } else { [None; 3] };
            let of_block = Setting::of(block);
            let of_block = Setting { grid, most_blocks, flat, ..of_block };
            let setting = Setting { template_args, args, residues, most, powers, covers, ..of_block };
            let is_only = is_only && group.refuted.is_none() && group.rival.is_none() && group.open.is_none();
            let ties = match group.is_untied && fixed.is_none() {
                _ if !is_only => Ties::Any,
                true => Ties::None,
                false => Ties::OneShape,
            };
            let (launch, refuted, rival) = (Some(group.span), group.refuted, group.rival);
            let (is_at_limit, open_launch) = (group.is_at_limit && fixed.is_none(), group.open);
            let is_unmet = group.is_unmet && fixed.is_none();
            let Group { dynamic_bytes, least_dynamic, no_dynamic, .. } = group;
            let scenario =
                Scenario { block_from, launch, refuted, rival, is_at_limit, ..Scenario::of(setting) };
            Scenario { open_launch, is_unmet, dynamic_bytes, least_dynamic, no_dynamic, ties, ..scenario }
        }
        None => {
            let covers = group.covers(kernel);
            let partly = group.likely_block();
            let template_args = group.template_args;
            let args = if group.args.iter().any(Option::is_some) { group.args } else { Vec::new() };
            let (launch, refuted, rival) = (Some(group.span), group.refuted, group.rival);
            let search =
                Search { program, kernel, template_args, args, covers, partly, probes, is_deep: None };
            Scenario { launch, refuted, rival, ..search.scenario() }
        }
    };
    all_scenarios(groups, others, probes, scenario, |group| group.template_args)
}

/// The scenarios of the first ways to run a kernel, those of the others while they are cheap to find, and what stands
/// for the rest. `args` are the template arguments of a way.
fn all_scenarios<T>(
    first: Vec<T>,
    others: Vec<T>,
    probes: &mut Probes<'_>,
    mut scenario: impl FnMut(T, &mut Probes<'_>) -> Scenario,
    args: impl FnOnce(T) -> Vec<LaunchArg>,
) -> Vec<Scenario> {
    let mut found: Vec<Scenario> = first.into_iter().map(|way| scenario(way, probes)).collect();
    let count = others.len();
    let mut others = others.into_iter();
    let (first, budget) = (found.len(), probes.budget);
    let tells = probes.tell();
    // How hard the first ones are tried does not depend on the others.
    let of_kernel = probes.of_kernel;
    while found.len() < first + count.min(MOST_FURTHER) && probes.has_room() && tells {
        let Some(way) = others.next() else { break };
        let before = probes.runs.len();
        budget.run_further(true);
        let further = scenario(way, probes);
        budget.run_further(false);
        // Of hundreds of variants no more is kept than what is asked for again.
        probes.keep_only(before, &further.setting);
        found.push(Scenario { is_further: true, ..further });
    }
    probes.of_kernel = of_kernel;
    let left = count - (found.len() - first);
    if let (Some(rest), Some(way)) = (rest(&found, left), others.next()) {
        let setting = Setting { template_args: args(way), ..rest.setting };
        found.push(Scenario { setting, is_further: true, ..rest });
    }
    found
}

/// What stands for so many more ways to run a kernel, like those that are `found`.
#[must_use]
pub(crate) fn rest(found: &[Scenario], count: usize) -> Option<Scenario> {
    let like = found.last().filter(|_| count > 0)?;
    let setting = Setting { args: Vec::new(), covers: Vec::new(), ..like.setting.clone() };
    Some(Scenario { setting, alternatives: Vec::new(), left_out: count, is_further: false, ..like.clone() })
}

/// Adds a launch to the group of its block and template arguments.
fn add_launch(groups: &mut Vec<Group>, launch: &LaunchSite, block: [Option<i64>; 3]) {
    let template_args = launch.template_args.clone().unwrap_or_default();
    let dynamic_bytes =
        launch.dynamic_bytes.and_then(|bytes| Some((u64::try_from(bytes).ok()?, launch.span)));
    let some_dynamic = dynamic_bytes.filter(|(bytes, _)| *bytes > 0);
    let no_dynamic = dynamic_bytes.filter(|(bytes, _)| *bytes == 0).map(|(_, launch)| launch);
    let alike =
        |g: &&mut Group| g.block == block && g.template_args == template_args && g.refuted == launch.refuted;
    match groups.iter_mut().find(alike) {
        Some(group) => {
            group.rival = group.rival.filter(|_| launch.rival.is_some());
            group.is_at_limit &= launch.is_at_limit;
            group.is_unmet &= launch.is_unmet;
            let both = group.dynamic_bytes.zip(dynamic_bytes);
            group.dynamic_bytes = both.map(|(known, other)| if other.0 > known.0 { other } else { known });
            let all = group.least_dynamic.into_iter().chain(some_dynamic);
            group.least_dynamic = all.reduce(|known, other| if other.0 < known.0 { other } else { known });
            group.no_dynamic = group.no_dynamic.or(no_dynamic);
            for (at, arg) in group.args.iter_mut().enumerate() {
                let theirs = launch.args.get(at).copied().flatten();
                group.is_untied &= theirs == *arg;
                *arg = arg.filter(|arg| theirs == Some(*arg));
            }
            group.is_untied &= launch.is_untied;
            group.warps.iter_mut().zip(launch.warps).for_each(|(mine, theirs)| *mine &= theirs);
            group.covers.retain(|it| launch.covers.contains(it));
            let both = group.grid.iter_mut().zip(launch.grid);
            both.for_each(|(least, other)| *least = (*least).into_iter().chain(other).min());
            let both = group.most_blocks.iter_mut().zip(launch.most_blocks);
            both.for_each(|(most, other)| *most = most.zip(other).map(|(most, other)| most.max(other)));
            group.flat.iter_mut().zip(launch.grid).for_each(|(flat, blocks)| *flat &= blocks == Some(1));
            weaken(&mut group.most, &launch.most);
            weaken_powers(&mut group.powers, &launch.powers);
            let multiples = group.multiples.iter_mut().enumerate();
            let others = multiples.filter(|(at, multiple)| launch.multiples.get(*at) != Some(multiple));
            others.for_each(|(_, multiple)| *multiple = 1);
        }
        None => groups.push(Group {
            block,
            warps: launch.warps,
            template_args,
            args: launch.args.clone(),
            multiples: launch.multiples.clone(),
            most: launch.most.clone(),
            powers: launch.powers.clone(),
            covers: launch.covers.clone(),
            grid: launch.grid,
            most_blocks: launch.most_blocks,
            flat: launch.grid.map(|blocks| blocks == Some(1)),
            is_untied: launch.is_untied,
            span: launch.span,
            refuted: launch.refuted.clone(),
            rival: launch.rival,
            open: None,
            is_at_limit: launch.is_at_limit,
            is_unmet: launch.is_unmet,
            dynamic_bytes,
            least_dynamic: some_dynamic,
            no_dynamic,
        }),
    }
}

/// Removes the groups that say less than another: a launch of which not everything is known is
/// taken to be like one of which it is. Arguments left to their defaults are known.
fn drop_vague(groups: &mut Vec<Group>, kernel: &Function) {
    let by_default = |at: usize| kernel.template_params.get(at).is_some_and(TemplateParam::has_default);
    let pack = kernel.template_params.iter().position(|param| param.pack);
    let all = groups.clone();
    let covers = |more: &Group, less: &Group| {
        let args = less
            .template_args
            .iter()
            .enumerate()
            .all(|(at, arg)| arg.leaves_open(more.template_args.get(at)));
        let (few, many) = (less.template_args.len(), more.template_args.len());
        let defaults = few > 0 && (few..many).any(by_default);
        // Nor does a shorter pack leave anything open.
        let packs = few > 0 && pack.is_some_and(|at| few != many && at <= few);
        let block = less.block.iter().zip(&more.block).all(|(l, m)| l.is_none() || l == m);
        let known = |g: &Group| {
            let args: usize = g.template_args.iter().map(LaunchArg::told).sum();
            (known_shape(g.block).is_some(), g.block.iter().flatten().count(), args)
        };
        args && !defaults && !packs && block && known(more) > known(less)
    };
    let open = |group: &Group| {
        let less = all.iter().find(|less| less.block != group.block && covers(group, less));
        less.map(|less| less.span)
    };
    groups.retain(|group| !all.iter().any(|other| covers(other, group)));
    groups.iter_mut().for_each(|group| group.open = open(group));
}

/// At most [`FIRST`] ways to run a kernel, and the others; `of` says the block and template arguments
/// of each. Every block comes first, then each template argument that none before has at its place, where there
/// are fewer of them rather than where there are many, then pairs of arguments that none before has, then the rest.
fn varied<T>(ways: Vec<T>, of: impl Fn(&T) -> ([Option<i64>; 3], &[LaunchArg])) -> (Vec<T>, Vec<T>) {
    if ways.len() <= FIRST {
        return (ways, Vec::new());
    }
    let (blocks, args): (Vec<_>, Vec<_>) = ways.iter().map(of).unzip();
    let numbers = numbered(&args);
    let kinds = |place: usize| numbers.iter().filter_map(|of| of.get(place)).max().map_or(1, |last| last + 1);
    let kinds: Vec<usize> = (0..args.iter().map(|args| args.len()).max().unwrap_or(0)).map(kinds).collect();
    let mut kept: Vec<usize> = Vec::new();
    while kept.len() < FIRST {
        let news = |at: usize| {
            let new = |is_like: &dyn Fn(&Vec<usize>) -> bool| !kept.iter().any(|at| is_like(&numbers[*at]));
            let args = &numbers[at];
            let block = !kept.iter().any(|other| blocks[*other] == blocks[at]);
            let single = |i: usize| new(&|other| other.get(i) == args.get(i));
            let pair =
                |i: usize, j: usize| new(&|other| other.get(i) == args.get(i) && other.get(j) == args.get(j));
            let singles = (0..args.len()).filter(|i| single(*i)).map(|i| ONE / kinds[i]);
            let pairs = (0..args.len()).map(|i| (0..i).filter(|j| pair(i, *j)).count());
            (block, singles.sum::<usize>(), pairs.sum::<usize>(), Reverse(at))
        };
        let Some(best) = (0..ways.len()).filter(|at| !kept.contains(at)).max_by_key(|at| news(*at)) else {
            break;
        };
        kept.push(best);
    }
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (at, way) in ways.into_iter().enumerate() {
        if kept.contains(&at) { &mut first } else { &mut others }.push(way);
    }
    (first, others)
}

/// Lists of template arguments, equal ones at one place by the same number.
fn numbered(lists: &[&[LaunchArg]]) -> Vec<Vec<usize>> {
    let mut known: Vec<Vec<&LaunchArg>> = Vec::new();
    let mut numbers = Vec::with_capacity(lists.len());
    for list in lists {
        known.resize(known.len().max(list.len()), Vec::new());
        let number = |(seen, arg): (&mut Vec<_>, _)| {
            seen.iter().position(|other| *other == arg).unwrap_or_else(|| {
                seen.push(arg);
                seen.len() - 1
            })
        };
        numbers.push(known.iter_mut().zip(*list).map(number).collect());
    }
    numbers
}

/// The launches of a template by programs that only declare it, which can mean no other instances than
/// those that are written out where it is defined.
fn as_instantiated<'l>(
    program: &Program,
    kernel: &Function,
    launches: &'l [LaunchSite],
) -> Vec<Cow<'l, LaunchSite>> {
    let mut found: Vec<Cow<'l, LaunchSite>> = Vec::new();
    let written = instantiations(program, kernel);
    for launch in launches {
        let known = launch.template_args.as_deref().unwrap_or_default();
        let agrees = |args: &Vec<LaunchArg>| {
            let alike = |(one, other): (&LaunchArg, &LaunchArg)| *one == LaunchArg::Unknown || one == other;
            known.len() <= args.len() && known.iter().zip(args).all(alike)
        };
        let open = known.is_empty() || known.contains(&LaunchArg::Unknown);
        let before = found.len();
        if launch.definitions.is_empty() && open {
            let meant = written.iter().filter(|args| !args.is_empty() && agrees(args));
            found.extend(
                meant.map(|args| {
                    Cow::Owned(LaunchSite { template_args: Some(args.clone()), ..launch.clone() })
                }),
            );
        }
        if found.len() == before {
            found.push(Cow::Borrowed(launch));
        }
    }
    found
}

/// The template arguments that explicit instantiations give a kernel; one empty list if there is
/// none.
fn instantiations(program: &Program, kernel: &Function) -> Vec<Vec<LaunchArg>> {
    let mut lists: Vec<Vec<LaunchArg>> = Vec::new();
    if !kernel.template_params.is_empty() {
        let written = program.modules.iter().flat_map(|module| &module.instantiations);
        for args in written.filter_map(|it| it.args_of(kernel)) {
            let list = instantiation(program, &args);
            if lists.len() < MOST_KNOWN && !lists.contains(&list) {
                lists.push(list);
            }
        }
    }
    if lists.is_empty() {
        lists.push(Vec::new());
    }
    lists
}

fn valid(shape: [u32; 3]) -> bool {
    let threads = shape.iter().try_fold(1u32, |n, &d| n.checked_mul(d));
    threads.is_some_and(|n| (1..=1024).contains(&n))
}

fn known_shape(block: [Option<i64>; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = block.map(|d| d.and_then(|d| u32::try_from(d).ok()));
    Some([x?, y?, z?]).filter(|shape| valid(*shape))
}

/// The shape that a flag gives, or else a configuration file: for this kernel, or else for all.
fn given(kernel: &Function, blocks: &[BlockOption]) -> Option<([u32; 3], BlockFrom)> {
    let find = |configured: bool, from: BlockFrom| {
        let mut of = blocks.iter().rev().filter(|b| b.configured == configured);
        let named = of.clone().find(|b| b.kernel.as_deref() == Some(&*kernel.name));
        named.or_else(|| of.find(|b| b.kernel.is_none())).map(|b| (b.shape, from))
    };
    find(false, BlockFrom::Flag).or_else(|| find(true, BlockFrom::Config))
}

/// Whether a launch by this kernel's name can mean this kernel.
fn fits(launch: &LaunchSite, kernel: &Function) -> bool {
    let params = kernel.params.len();
    launch.kernel.name == kernel.name
        && (launch.args.len() <= params || kernel.params.last().is_some_and(|last| last.pack))
        && launch.template_args.as_ref().is_none_or(|args| {
            kernel.template_params.iter().any(|p| p.pack)
                || args.len() <= kernel.template_params.len().max(kernel.specialization.len())
        })
}
