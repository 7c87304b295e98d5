//! In which ways is a kernel run, and what do its runs say together?
//!
//! One run for each scenario. A scenario of which something is not known is run in several
//! variants: for the residues of a number by which lanes are rotated, for the sizes of an element
//! type, for other block shapes that are as likely. A verdict that they do not share is none.

mod any_size;
mod apart;
mod hidden;
mod types;
mod unfit;
mod unreached;
mod written_for;

use super::links::Modules;
use super::load::Asks;
use crate::banks::Target;
use crate::codegen::Merges;
use crate::domain::{Reason, Shape, Unknown};
use crate::events::{Access, AccessOp, EventTree, LaunchSite, Trace};
use crate::exec::budget::FileBudget;
use crate::exec::entry::{Setting, run_kernel, run_lanes, run_memory};
use crate::exec::pitch::Pitch;
use crate::facts::{Facts, Grid};
use crate::ir::program::Program;
use crate::ir::{Function, FunctionKind, Name, Type};
use crate::reach::Reach;
use crate::rules::unjudged::Unjudged;
use crate::rules::{KernelRun, is_assumed};
use crate::scenario::{Probes, Scenario};
use crate::shape::BlockFrom;
use crate::source::Span;
use crate::verdict::{Judgement, Status, judge};
use any_size::AnySize;
use std::sync::Arc;
use written_for::{WrittenFor, written_for};

/// The most residues of run-time numbers that are tried.
const MOST_RESIDUES: i64 = 32;

/// As in [`Setting::residues`].
type Residues = Vec<(String, i64, i64)>;

/// One way to fill what a scenario leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// As in [`Setting::residues`].
    pub residues: Residues,
    /// As in [`Setting::types`].
    pub types: Vec<(Name, Type)>,
}

impl Variant {
    /// The scenario as it is.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Variant {
        let Setting { block, residues, types, .. } = scenario.setting.clone();
        Variant { block, residues, types }
    }
}

/// Whether somebody gave the block.
fn has_block(scenario: &Scenario) -> bool {
    !is_assumed(scenario.block_from) && scenario.alternatives.is_empty()
}

/// A rotation by run-time numbers: all residues are tried, and the verdict has to hold for each.
fn by_residues(usual: &Variant, trace: &Trace, run: &mut dyn FnMut(&Variant) -> Judged) -> Option<Judged> {
    let all = residues_of(&trace.demands);
    let (first, rest) = all.split_first()?;
    let with = |residues: &Residues| Variant { residues: residues.clone(), ..usual.clone() };
    let words: Vec<String> =
        first.iter().map(|(name, modulus, _)| format!("`{name}` modulo {modulus}")).collect();
    let reason = format!("it depends on {}", words.join(" and "));
    let mut judged = run(&with(first));
    for residues in rest {
        // Another residue can only take a verdict back.
        if nothing_known(&judged.judgements) {
            break;
        }
        judged.reconcile(&run(&with(residues)), Reason::NotAffine, &reason);
    }
    Some(judged)
}

/// One run and what the bank model says of it: by target, then by access.
#[derive(Debug)]
struct Judged {
    trace: Trace,
    judgements: Vec<Vec<Judgement>>,
}

/// What becomes of the event tree of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Nothing.
    Nothing,
    /// The facts that follow from it are kept, and it is kept where a scenario was run in one way only.
    Facts,
    /// The same, and whether no threads race is proved.
    Proof,
    /// It is kept itself.
    Tree,
}

/// A kernel, in its scenarios.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The program it belongs to.
    pub program: &'a Program,
    /// The kernel, or a device function that is run like one.
    pub kernel: &'a Arc<Function>,
    /// The ways to run it.
    pub scenarios: &'a [Scenario],
    /// What launches it.
    pub launches: &'a [LaunchSite],
    /// The targets to judge it for.
    pub targets: &'a [Target],
    /// The files that launch a kernel of its name.
    pub hosts: &'a [Modules],
    /// What the runs for its file may take.
    pub budget: &'a FileBudget,
    /// What becomes of the event tree of each run.
    pub follow: Follow,
    /// What is asked of a run that is made to see global memory.
    pub asks: Asks,
    /// Whether the preprocessor takes parts out of the kernel's text, which other builds may hold.
    pub is_cut: &'a dyn Fn() -> bool,
}

/// In which blocks it was seen which lanes meet. Instances mostly differ in what they compute, not in that: one for
/// each block is run for it.
struct LanesSeen {
    are_wanted: bool,
    /// Each with whether the launch gives it.
    blocks: Vec<([u32; 3], bool)>,
}

impl Subject<'_> {
    /// Runs all scenarios; `probes` are runs that were made before.
    #[must_use]
    pub fn run_all(&self, mut probes: Probes<'_>) -> Vec<KernelRun> {
        let mut runs: Vec<KernelRun> = Vec::new();
        let mut lanes =
            LanesSeen { are_wanted: self.wants_facts() && self.brings_lanes_together(), blocks: Vec::new() };
        // How many ways to run the kernel are left out because the further ones before them were not cheap.
        let mut left_out = 0;
        for (at, scenario) in self.scenarios.iter().enumerate() {
            if scenario.is_further && left_out > 0 {
                continue;
            }
            left_out = match scenario.left_out {
                0 if scenario.is_further && !(probes.has_room() && any_known(&runs)) => self.further_from(at),
                count => count,
            };
            let why = match left_out {
                0 => probes.of_kernel.too_long().map(|stopped| {
                    format!("this variant was not run: {stopped} others of the kernel are too long to follow")
                }),
                1 => Some(format!("this variant was not run: {} others of the kernel were", runs.len())),
                many => Some(format!(
                    "{many} variants, including this one, were not run: {} others were",
                    runs.len()
                )),
            };
            if let Some(why) = why {
                let traces: Vec<&Trace> = runs.iter().map(|run| &run.trace).collect();
                let unknown = Unknown::new(Reason::Budget, self.kernel.name_span, why);
                runs.push(self.judged(scenario, &mut |_| not_run(&traces, unknown.clone())));
                continue;
            }
            self.budget.run_further(scenario.is_further);
            runs.push(self.run_scenario(scenario, &mut probes, &mut lanes));
            self.budget.run_further(false);
        }
        self.drop_unfit(&mut runs);
        runs
    }

    fn wants_facts(&self) -> bool {
        matches!(self.follow, Follow::Facts | Follow::Proof)
    }

    /// Runs a scenario, in all its ways, and what is made of it beside the cost.
    fn run_scenario(&self, scenario: &Scenario, probes: &mut Probes<'_>, lanes: &mut LanesSeen) -> KernelRun {
        let wants_facts = self.wants_facts();
        let mut facts = Facts::default();
        // The sites that they speak of, by number.
        let mut spoken_of: Vec<(Span, AccessOp)> = Vec::new();
        let mut ways = 0;
        let mut any_size = AnySize::default();
        let mut tracer = |variant: &Variant| {
            let mut trace = probes.take(self.program, self.kernel, &setting(scenario, variant));
            let usual = *variant == Variant::of(scenario);
            if wants_facts
                && usual
                && let Some(found) = self.facts_of(&trace, scenario, variant)
            {
                facts = found;
                spoken_of = places(&trace).collect();
            }
            if wants_facts && self.is_given(scenario) && is_typed(variant, scenario) {
                let shape = Shape { dims: variant.block };
                let races = || Facts::races_of(&trace, shape, scenario.ties);
                let dynamic = scenario.least_dynamic.map(|(bytes, _)| bytes);
                let is_asked = self.follow == Follow::Proof && !self.program.has_specialisations();
                let proof = || is_asked.then(|| Facts::freedom_of(&trace, shape, dynamic, scenario.ties));
                any_size.note(variant, &trace, races, proof);
            }
            let block = (variant.block, self.is_given(scenario));
            if usual && lanes.are_wanted && !lanes.blocks.contains(&block) {
                lanes.blocks.push(block);
                let trace = run_lanes(self.program, self.kernel, &setting(scenario, variant), self.budget);
                let all_seen = !self.meets_hidden(scenario);
                let shape = Shape { dims: variant.block };
                facts.add_lanes(&trace, shape, self.is_given(scenario), all_seen);
            }
            ways += 1;
            if self.follow == Follow::Nothing || wants_facts && ways > 1 {
                trace.tree = EventTree::default();
            }
            trace
        };
        let mut run = match scenario.misfit_words() {
            Some(why) => {
                let trace = tracer(&Variant::of(scenario));
                let unknown = Unknown::new(Reason::BlockShape, self.kernel.name_span, why);
                self.judged(scenario, &mut |_| not_run(&[&trace], unknown.clone()))
            }
            None => self.judged(scenario, &mut tracer),
        };
        let count = spoken_of.len();
        if spoken_of.into_iter().eq(places(&run.trace).take(count)) {
            run.facts = facts;
            if let Some(proof) = any_size.proof(&types::SIZES) {
                run.facts.freedom = Some(proof);
            }
            let races = any_size.races(&run.trace, types::SIZES.len());
            run.facts.add_races(races);
            self.drop_hidden_orders(scenario, &mut run.facts);
        }
        // It speaks for one of several blocks. Other ways than the first have left theirs; where theirs tell no more,
        // the first, of which nothing is filled in, speaks for all.
        if wants_facts && ways > 1 && !scenario.alternatives.is_empty() {
            run.trace.tree = EventTree::default();
        }
        probes.of_kernel.count_scenario(&run.trace);
        run
    }

    /// What follows from the usual way to run a scenario; of a block that nobody gives only which threads race, as far as
    /// the kernel is written for so many. `None` if nothing is told of it.
    fn facts_of(&self, trace: &Trace, scenario: &Scenario, variant: &Variant) -> Option<Facts> {
        let shape = Shape { dims: variant.block };
        let mut facts = if self.is_given(scenario) {
            let happens = scenario.refuted.is_none();
            let dynamic = scenario.least_dynamic.filter(|_| happens).map(|(bytes, _)| bytes);
            let none = scenario.no_dynamic.is_some_and(|_| happens);
            let mut facts = Facts::of(trace, shape, (dynamic, none), scenario.ties);
            self.add_global_memory(&mut facts, scenario, variant);
            if self.follow == Follow::Proof {
                facts.prove_freedom(trace, shape);
            }
            facts
        } else if self.is_supposed(scenario) {
            let facts = || Facts::of_supposed_block(trace, shape, scenario.ties);
            match written_for(self.kernel) {
                WrittenFor::OneThread => return None,
                WrittenFor::OneWarp => facts().of_lanes(),
                WrittenFor::AnyBlock => facts(),
            }
        } else {
            return None;
        };
        if let Some(damaged) = self.damaged(trace) {
            facts.doubt_all(damaged);
        }
        Some(facts)
    }

    /// For how many ways to run the kernel the scenarios from this one on stand that are run only while that is cheap.
    fn further_from(&self, at: usize) -> usize {
        let further = self.scenarios.iter().skip(at).filter(|it| it.is_further);
        further.map(|it| it.left_out.max(1)).sum()
    }

    /// Adds what follows from a run that is made to see global memory, where that is asked for.
    fn add_global_memory(&self, facts: &mut Facts, scenario: &Scenario, variant: &Variant) {
        let wants_needless =
            self.asks.needless_barriers && !(self.is_cut)() && self.may_have_needless_barriers(scenario);
        if !self.asks.races && !wants_needless {
            return;
        }
        let shape = Shape { dims: variant.block };
        let mut setting = setting(scenario, variant);
        let mut trace = run_memory(self.program, self.kernel, &setting, self.budget);
        if self.asks.races {
            facts.add_memory(&trace, shape, self.grid(scenario));
        }
        if !wants_needless {
            return;
        }
        // Whether a barrier can go must not rest on the values that today's launches pass: the next may pass others.
        if setting.args.iter().any(Option::is_some) {
            setting.args.fill(None);
            trace = run_memory(self.program, self.kernel, &setting, self.budget);
        }
        facts.find_needless(&trace, shape, self.kernel.span);
    }

    /// Whether it may have barriers that can be told to be needless: it is a kernel of the file itself, of which
    /// every launch is known, and nothing is `volatile` that it may wait for.
    fn may_have_needless_barriers(&self, scenario: &Scenario) -> bool {
        let is_launched_as_known =
            || scenario.block_from != BlockFrom::Launch || self.launches.iter().all(LaunchSite::is_certain);
        let own = self.program.modules.first().and_then(|module| module.file);
        let is_volatile = || self.program.modules.iter().any(|module| module.volatile);
        self.kernel.kind == FunctionKind::Kernel
            && self.kernel.mentions.barrier
            && own == Some(self.kernel.name_span.file)
            && is_launched_as_known()
            && !is_volatile()
    }

    /// Whether somebody gave the block, and nothing speaks against it.
    fn is_given(&self, scenario: &Scenario) -> bool {
        self.unjudged(scenario).is_none()
    }

    /// Whether nobody gave the block, and nothing else speaks against it.
    fn is_supposed(&self, scenario: &Scenario) -> bool {
        !has_block(scenario) && scenario.misfit.is_none() && self.doubted_launch(scenario).is_none()
    }

    /// Why threads of a scenario are not held against each other, if they are not.
    fn unjudged(&self, scenario: &Scenario) -> Option<Unjudged> {
        if !has_block(scenario) || scenario.misfit.is_some() {
            return Some(Unjudged::Block);
        }
        self.doubted_launch(scenario)
    }

    /// What speaks against a scenario, whatever its block is.
    fn doubted_launch(&self, scenario: &Scenario) -> Option<Unjudged> {
        if let Some(refuted) = &scenario.refuted {
            return Some(Unjudged::Refuted(refuted.span));
        }
        let alike = || scenario.launch.and_then(|launch| self.overload(launch));
        if let Some(rival) = scenario.rival.or_else(alike) {
            return Some(Unjudged::Rival(rival));
        }
        if let Some(launch) = scenario.launch.filter(|_| scenario.is_unmet) {
            return Some(Unjudged::Unmet(launch));
        }
        let waits = self.hidden_barrier(scenario)?;
        Some(Unjudged::HiddenBarrier { function: waits.name.to_string(), name: waits.name_span })
    }

    /// The function of those that a run came through of which part did not parse, by its name. What is lost with that
    /// part may be anything.
    fn damaged(&self, trace: &Trace) -> Option<Span> {
        let functions = self.program.modules.iter().flat_map(|module| &module.functions);
        let is_met =
            |it: &Function| it.name_span == self.kernel.name_span || trace.entered.contains(&it.name_span);
        functions.filter(|it| it.damaged).find(|it| is_met(it)).map(|it| it.name_span)
    }

    /// The blocks of the launch that a scenario comes from, by axis, as far as known.
    fn grid(&self, scenario: &Scenario) -> Grid {
        let mut of = self.launches.iter().filter(|launch| Some(launch.span) == scenario.launch);
        let Some(first) = of.next() else { return [None; 3] };
        of.fold(first.grid, |grid, other| {
            std::array::from_fn(|axis| grid[axis].filter(|blocks| Some(*blocks) == other.grid[axis]))
        })
    }

    /// Whether it may meet an intrinsic by which the lanes of a warp do.
    fn brings_lanes_together(&self) -> bool {
        Reach::new(self.program).may_bring_lanes_together(self.kernel)
    }

    /// Another kernel of the same name that the launch at a place may mean as well, by the place of its name. It means
    /// none but this one where only this one fits its arguments.
    fn overload(&self, launch: Span) -> Option<Span> {
        let own = self.kernel.name_span;
        let sites = self.launches.iter().filter(|it| it.span == launch && it.definitions.contains(&own));
        let sites: Vec<&LaunchSite> = sites.collect();
        let means = |other: Span| sites.is_empty() || sites.iter().any(|it| it.definitions.contains(&other));
        let alike = |other: &Arc<Function>| {
            other.kind == FunctionKind::Kernel
                && other.body.is_some()
                && other.name_span != own
                && other.namespace == self.kernel.namespace
                && other.params.len() == self.kernel.params.len()
                && means(other.name_span)
        };
        self.program.functions(&self.kernel.name).iter().find(|it| alike(it)).map(|it| it.name_span)
    }

    /// Runs one variant of a scenario with some arrays padded.
    #[must_use]
    pub fn run(&self, scenario: &Scenario, variant: &Variant, pads: &[(Span, u64)]) -> Trace {
        let setting = Setting { pads: pads.to_vec(), ..setting(scenario, variant) };
        run_kernel(self.program, self.kernel, &setting, self.budget)
    }

    /// Runs one variant of a scenario with these larger: by address, by how much.
    #[must_use]
    pub fn run_larger(&self, scenario: &Scenario, variant: &Variant, longer: Vec<(usize, u64)>) -> Trace {
        let setting = Setting { longer, ..setting(scenario, variant) };
        run_kernel(self.program, self.kernel, &setting, self.budget)
    }

    /// Runs one variant of a scenario with the distance between an array's rows changed.
    #[must_use]
    pub fn run_pitched(&self, scenario: &Scenario, variant: &Variant, pitch: Pitch) -> Trace {
        let setting = Setting { pitch: Some(pitch), ..setting(scenario, variant) };
        run_kernel(self.program, self.kernel, &setting, self.budget)
    }

    /// What the bank model says of a scenario, with `tracer` to run its variants.
    #[must_use]
    pub fn judged(&self, scenario: &Scenario, tracer: &mut dyn FnMut(&Variant) -> Trace) -> KernelRun {
        let mut run = |variant: &Variant| -> Judged {
            let mut trace = tracer(variant);
            unreached::add(self.program, self.kernel, &mut trace);
            // A type that is only tried stands for classes of its size, too.
            if !variant.types.is_empty() {
                trace.accesses.iter_mut().for_each(|access| access.scalar = false);
            }
            let merges = Merges::of(&trace);
            let judge_all =
                |target| (0..trace.accesses.len()).map(|at| judge(&trace, &merges, at, target)).collect();
            let judgements = self.targets.iter().map(judge_all).collect();
            Judged { trace, judgements }
        };
        let mut usual = Variant::of(scenario);
        let mut judged = run(&usual);
        let open = types::OpenTypes::of(self.kernel, &judged.trace);
        match (by_residues(&usual, &judged.trace, &mut run), open) {
            (Some(refined), None) => judged = refined,
            (Some(refined), Some(_)) if refined.tells_more_than(&judged) => judged = refined,
            // What is halved need not be what a verdict depends on.
            (_, Some(open)) => (usual, judged) = open.try_sizes(&usual, judged, &mut run),
            (None, None) => {}
        }
        for block in &scenario.alternatives {
            // Other shapes can only take a verdict back.
            if nothing_known(&judged.judgements) {
                break;
            }
            // As the search would, it asks whether the block fits without what is only tried.
            let as_found = Variant { block: *block, ..Variant::of(scenario) };
            let mut other = run(&as_found);
            if other.trace.leaves_an_array() {
                continue;
            }
            let alike = Variant { block: *block, ..usual.clone() };
            if alike != as_found {
                other = run(&alike);
            }
            let reason = "it depends on the block shape, which no launch gives";
            judged.reconcile(&other, Reason::BlockShape, reason);
        }
        let Judged { mut trace, mut judgements } = judged;
        // Too many to be tried: nothing rests on them.
        if residues_of(&trace.demands).is_empty() {
            trace.demands.clear();
        }
        let mut run = KernelRun {
            kernel: scenario.name_of(self.kernel),
            block: scenario.setting.block,
            block_from: scenario.block_from,
            launch: scenario.launch,
            refuted: scenario.refuted.clone(),
            rival: scenario.rival,
            open_launch: scenario.open_launch,
            is_at_limit: scenario.is_at_limit,
            is_unmet: scenario.is_unmet,
            fills: scenario.fills.clone(),
            misfit: scenario.misfit_words(),
            dynamic_bytes: scenario.dynamic_bytes,
            least_dynamic: scenario.least_dynamic,
            no_dynamic: scenario.no_dynamic,
            unjudged: self.unjudged(scenario),
            trace,
            facts: Facts::default(),
            judgements: Vec::new(),
        };
        let assumption = run.block_assumption();
        for judgement in judgements.iter_mut().flatten() {
            if let (Some(assumed), true) = (&assumption, judgement.status != Status::Unknown) {
                judgement.status = judgement.status.resting_on_more();
                judgement.assumptions.insert(0, assumed.clone());
            }
        }
        run.judgements = judgements;
        run
    }
}

/// All residues of numbers by which lanes are rotated, by name and modulus; none where these are too many.
fn residues_of(demands: &[(String, i64)]) -> Vec<Residues> {
    let count = demands.iter().try_fold(1i64, |count, (_, modulus)| count.checked_mul(*modulus));
    if demands.is_empty() || count.is_none_or(|count| count > MOST_RESIDUES) {
        return Vec::new();
    }
    demands.iter().fold(vec![Residues::new()], |all, (name, modulus)| {
        let with = |before: &Residues, residue| {
            before.iter().cloned().chain([(name.clone(), *modulus, residue)]).collect()
        };
        all.iter().flat_map(|before| (0..*modulus).map(move |residue| with(before, residue))).collect()
    })
}

/// Whether a variant is the scenario with a type of which only the size is tried.
fn is_typed(variant: &Variant, scenario: &Scenario) -> bool {
    let usual = Variant::of(scenario);
    *variant != usual && *variant == (Variant { types: variant.types.clone(), ..usual })
}

/// Where the sites of a run are, and what they do.
fn places(trace: &Trace) -> impl Iterator<Item = (Span, AccessOp)> + '_ {
    trace.accesses.iter().map(|access| (access.span, access.op))
}

/// Whether anything is known of an access of these runs.
fn any_known(runs: &[KernelRun]) -> bool {
    !runs.iter().all(|run| nothing_known(&run.judgements))
}

fn nothing_known(judgements: &[Vec<Judgement>]) -> bool {
    judgements.iter().flatten().all(|judgement| judgement.status == Status::Unknown)
}

/// What a scenario is run with in one of its variants.
fn setting(scenario: &Scenario, variant: &Variant) -> Setting {
    let Variant { block, residues, types } = variant.clone();
    Setting { block, residues, types, ..scenario.setting.clone() }
}

/// The trace of a scenario that is not run: the sites of others, of which it knows nothing.
fn not_run(traces: &[&Trace], why: Unknown) -> Trace {
    let entered = traces.iter().flat_map(|trace| trace.entered.iter().copied()).collect();
    let mut all = Trace { stopped: Some(why), entered, ..Trace::default() };
    for trace in traces {
        for access in &trace.accesses {
            let array = all.adopt(&trace.arrays[access.array]);
            let site = |a: &Access| {
                (a.span, a.op, a.bytes, a.array) == (access.span, access.op, access.bytes, array)
            };
            if !all.accesses.iter().any(site) {
                all.accesses.push(access.not_reached(array));
            }
        }
    }
    all
}

impl Judged {
    /// A verdict that another run, just as likely, does not share is not known.
    fn reconcile(&mut self, other: &Judged, kind: Reason, reason: &str) {
        for (number, access) in self.trace.accesses.iter().enumerate() {
            let twin = other.trace.accesses.iter().position(|o| {
                (o.span, o.op, o.bytes) == (access.span, access.op, access.bytes)
                    && other.trace.arrays[o.array].name_span == self.trace.arrays[access.array].name_span
            });
            let Some(twin) = twin else { continue };
            for (mine, theirs) in self.judgements.iter_mut().zip(&other.judgements) {
                let (Some(mine), Some(twin)) = (mine.get_mut(number), theirs.get(twin)) else { continue };
                if !mine.agrees_with(twin) {
                    *mine = Judgement::unknown(kind, reason);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
