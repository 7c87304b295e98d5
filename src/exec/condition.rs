//! Which threads does a condition let through?
//!
//! A condition is decided per thread by the numbers, or the same for every thread but not known,
//! or a bounds guard, or data. Example, in a block of 256:
//!
//! | condition | threads in the first branch | in the second |
//! |---|---|---|
//! | `threadIdx.x < 16` | 0 to 15 | 16 to 255 |
//! | `n > 5` | all, if any | all, if any |
//! | `blockIdx.x * 256 + threadIdx.x < n` | all (assumed: the block is inside) | some, not known |
//! | `blockIdx.x * 256 + threadIdx.x == 0` | some, not known | all (assumed: the block is not at the edge) |
//! | `data[threadIdx.x] > 0` | some, not known | some, not known |

use super::interior::Leaving;
use super::machine::{Machine, Mode};
use super::path_condition::PathCondition;
use super::sides::{are_apart, ranks, sides};
use super::value::{Condition, Relation, Value};
use crate::domain::{Int, Lanes, Origin, Reason, SymbolId, ThreadSet, Unknown, Variation, joined, quoted};
use crate::events::{Asks, Assumption, Blocks, Bound, Ranks, Roots, SplitKind, Taken};
use crate::ir::Expr;
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Branches in which the sides of a condition stand: where it holds, and where it fails.
pub(crate) type Within = [Vec<u32>; 2];

/// What is known of a condition.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// Whether the numbers decide it for every thread.
    pub decided: bool,
    /// Whether a number tells it that only the launch gives: the compiler does not know the side that is taken.
    pub at_launch: bool,
    /// The branches of its operands in which its sides stand.
    pub within: Within,
    /// Whether it is the same for every thread that is not decided.
    pub uniform: bool,
    /// The threads for which it may hold.
    pub can_hold: ThreadSet,
    /// The threads for which it may fail.
    pub can_fail: ThreadSet,
    /// The threads for which it holds, given that it holds for some; `None`: a part of `can_hold`
    /// that is not known.
    pub holds: Option<ThreadSet>,
    /// The same for those for which it fails.
    pub fails: Option<ThreadSet>,
    /// The branch an interior block takes, and what that assumes.
    pub guard: Option<(bool, Vec<Assumption>)>,
    /// Whether a guard is joined with something uniform that is not known, so that its branch may
    /// not be taken after all.
    pub mixed: bool,
    /// Whether some threads may differ in it for some run-time value, by the numbers.
    pub differs: bool,
    /// Whether that may be so of threads of one warp.
    pub cuts_warps: bool,
    /// As in [`Bound::ranks`].
    pub ranks: Vec<Arc<Ranks>>,
    /// Whether threads may differ in it at all, as far as is known.
    pub apart: bool,
    /// Why it is not decided.
    pub why: Option<Unknown>,
    /// A number that is 0 on one side, and which: where it holds (`true`), or where it fails.
    pub zero: Option<(Int, bool)>,
    /// Where it is asked what happens in global memory: the blocks of which surely these threads, and no others,
    /// take the branch where it holds, and the one where it fails.
    pub blocks: [Blocks; 2],
    /// The same where sizes given at run time are as large as one likes.
    pub large: [Blocks; 2],
    /// What it says of numbers where it holds, and where it fails.
    pub told: [Vec<PathCondition>; 2],
    /// What it asks for, of what is the same for all threads.
    pub asks: Asks,
    /// As in [`Taken::is_choice`].
    pub is_choice: bool,
    /// Whether data choose, for each thread apart, whether it holds.
    pub chosen: bool,
    /// How it splits threads if it depends on what each thread reads from global memory for itself.
    pub own_data: Option<SplitKind>,
    /// The side that one block of all takes, whichever it is.
    pub turn: Option<bool>,
}

impl Truth {
    /// Which symbol is which number where it holds, if that is what it says.
    pub(crate) fn equality(&self) -> Option<(SymbolId, i64)> {
        let (difference, _) = self.zero.as_ref().filter(|(_, holds)| *holds)?;
        let [(id, factor)] = difference.terms.as_slice() else { return None };
        let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
        let value = base.checked_div(factor)?.checked_neg()?;
        (base.checked_rem(factor) == Some(0)).then_some((*id, value))
    }

    /// How a split by it is known: a bound in these words, or data. `kept_out`: who surely does not go that way.
    pub(crate) fn split_kind(&self, words: String, kept_out: ThreadSet) -> SplitKind {
        match (&self.own_data, self.differs) {
            (Some(own), _) if self.guard.is_none() => own.clone(),
            (_, true) => {
                let own =
                    |(_, assumed): &(bool, Vec<Assumption>)| assumed.iter().all(Assumption::may_cut_short);
                let own = self.guard.as_ref().is_some_and(own);
                let (cuts_warps, ranks) = (self.cuts_warps, self.ranks.clone());
                SplitKind::Guard(Bound { words, cuts_warps, own, kept_out, ranks })
            }
            (_, false) => SplitKind::Data,
        }
    }

    /// Whether it is not decided, no bound decides it, and it is the same for all active threads.
    pub(super) fn is_alike(&self) -> bool {
        self.uniform && !self.decided && (self.guard.is_none() || self.mixed)
    }

    /// Why it is not decided.
    pub(super) fn reason(&self, span: Span) -> Unknown {
        let why = || Unknown::new(Reason::DataDependentMask, span, "a condition that is not known");
        self.why.clone().unwrap_or_else(why)
    }

    /// Who takes the branch where it holds, or the one where it fails.
    pub(super) fn taken(&self, holds: bool) -> Taken {
        let side = usize::from(!holds);
        let (blocks, large, is_choice) = (self.blocks[side], self.large[side], self.is_choice);
        Taken { blocks, large, asks: self.asks.clone(), is_choice, side: None }
    }

    /// Takes no side for the usual one.
    pub(super) fn forget_usual_side(&mut self) {
        match self.guard.take() {
            Some((true, _)) => self.holds = None,
            Some((false, _)) => self.fails = None,
            None => {}
        }
    }
}

impl Machine<'_> {
    /// The value as a condition.
    pub(crate) fn condition_of(&mut self, value: &Value, span: Span) -> Condition {
        let shape = self.shape();
        match value {
            Value::Int(int, scalar) => {
                if let Some(known) = int.as_known() {
                    return Condition::Known(ThreadSet::nonzero(known, shape));
                }
                let int = self.substitute(int);
                self.note_compared(&[*scalar], span);
                match int.as_known() {
                    Some(known) => Condition::Known(ThreadSet::nonzero(known, shape)),
                    None => Condition::Compare { difference: int, relation: Relation::NotEqual, span },
                }
            }
            Value::Condition(condition) => (**condition).clone(),
            Value::Float(number, _) => {
                Condition::Known(if *number == 0.0 { ThreadSet::NONE } else { self.world.all })
            }
            Value::Opaque(variation, why, part) => {
                let is_alike = part.as_ref().is_some_and(|part| self.is_alike_in_warps(&part.int));
                let variation = if is_alike { (*variation).min(Variation::OfWarp) } else { *variation };
                Condition::Opaque(variation, why.clone())
            }
            Value::Pointer(_) => {
                let why = Unknown::new(Reason::DataDependent, span, "whether a pointer is null");
                Condition::Opaque(Variation::Uniform, why)
            }
            _ => {
                let why = Unknown::new(Reason::Unsupported, span, "a condition that is not followed");
                Condition::Opaque(Variation::Maybe, why)
            }
        }
    }

    /// Evaluates a condition, and tells what is known of it. `leaves` as for [`Machine::truth`].
    pub(super) fn tested(&mut self, cond: &Expr, leaves: Leaving) -> (Condition, Truth) {
        let ((condition, within), at_launch) = self.watching_launch(|machine| {
            let (value, within) = machine.with_operands(cond);
            let condition = machine.condition_of(&value, cond.span);
            (machine.as_launched(condition), within)
        });
        let mut truth = Truth { at_launch, within, ..self.truth(&condition, leaves) };
        if !truth.decided && !truth.uniform {
            truth.own_data = self.split_by_own_data(cond, &condition);
        }
        if !truth.decided {
            truth.chosen = self.frame().is_some_and(|it| it.slice.is_choice(cond, self.program));
            if truth.uniform && !truth.is_choice && self.is_alike_by_data(cond, &condition) {
                (truth.asks, truth.is_choice) = (Asks::Data, true);
            }
        }
        (condition, truth)
    }

    /// What is known of a condition. `leaves`: whether its branch only leaves (`return`,
    /// `continue`, `break`) or pads, so that an interior block does not take it.
    pub(crate) fn truth(&mut self, condition: &Condition, leaves: Leaving) -> Truth {
        let mut truth = self.truth_of(condition, leaves);
        if !truth.decided && !truth.uniform {
            self.note_bound(condition);
        }
        self.looping.open += u64::from(!truth.decided);
        self.note_asked_of_data(condition);
        if self.is_of_one_warp(condition, &truth) {
            // Which blocks take a side is not known, nor what it asks for.
            let all = Some(self.world.all);
            return Truth { uniform: true, apart: false, holds: all, fails: all, ..truth };
        }
        // Host code runs in no block.
        if !truth.decided && self.mode == Mode::Device {
            if truth.uniform || self.sees_global_memory() {
                truth.blocks = self.blocks_by_side(condition, &truth, false);
            }
            if truth.uniform {
                truth.told = self.told_by_sides(condition);
            }
            if truth.uniform || truth.mixed {
                truth.large = self.blocks_by_side(condition, &truth, true);
                truth.asks = self.asked_by(condition);
                truth.is_choice = self.is_choice(condition);
            }
        }
        truth
    }

    fn truth_of(&mut self, condition: &Condition, leaves: Leaving) -> Truth {
        let all = self.world.all;
        match condition {
            Condition::Known(bits) => Truth {
                decided: true,
                at_launch: false,
                within: Within::default(),
                uniform: bits.is_empty() || *bits == all,
                can_hold: *bits,
                can_fail: all.minus(bits),
                holds: Some(*bits),
                fails: Some(all.minus(bits)),
                guard: None,
                mixed: false,
                differs: !bits.is_empty() && *bits != all,
                cuts_warps: !bits.is_whole_warps(self.shape()),
                ranks: Vec::new(),
                apart: !bits.is_empty() && *bits != all,
                why: None,
                zero: None,
                blocks: [Blocks::NONE; 2],
                large: [Blocks::NONE; 2],
                told: Default::default(),
                asks: Asks::Hidden,
                is_choice: false,
                chosen: false,
                own_data: None,
                turn: None,
            },
            Condition::Compare { difference, relation, span } => {
                let is_told = difference.is_uniform() && self.is_told_of(difference, *span);
                let decided = is_told.then(|| self.decided_here(*relation, difference, *span)).flatten();
                match decided {
                    Some(holds) => {
                        let bits = if holds { all } else { ThreadSet::NONE };
                        self.truth_of(&Condition::Known(bits), leaves)
                    }
                    None => self.compare_truth(difference, *relation, *span, leaves),
                }
            }
            Condition::Opaque(variation, why) => {
                // Host code has one thread.
                let uniform = *variation == Variation::Uniform || self.mode == Mode::Host;
                undecided(all, uniform, Some(why.clone()))
            }
            Condition::Not(inner) => {
                let inner = self.truth_of(inner, leaves);
                Truth {
                    can_hold: inner.can_fail,
                    can_fail: inner.can_hold,
                    holds: inner.fails,
                    fails: inner.holds,
                    guard: inner.guard.map(|(taken, words)| (!taken, words)),
                    zero: inner.zero.map(|(number, side)| (number, !side)),
                    ..inner
                }
            }
            Condition::And(a, b) => {
                let (a, b) = (self.truth_of(a, leaves), self.truth_of(b, leaves));
                both(&a, &b)
            }
            Condition::Or(a, b) => {
                // a || b is !(!a && !b).
                let negated = Condition::And(
                    Rc::new(Condition::Not(Rc::clone(a))),
                    Rc::new(Condition::Not(Rc::clone(b))),
                );
                self.truth_of(&Condition::Not(Rc::new(negated)), leaves)
            }
        }
    }

    fn compare_truth(&mut self, difference: &Int, relation: Relation, span: Span, leaves: Leaving) -> Truth {
        let shape = self.shape();
        let all = self.world.all;
        let why = || {
            let symbols = difference.terms.iter().map(|(id, _)| self.world.symbols.get(*id));
            let mut names: Vec<String> = Vec::new();
            for name in symbols.map(|it| quoted(&it.name)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Unknown::new(
                Reason::DataDependentMask,
                span,
                format!("the condition depends on {}", joined(&names, ", ")),
            )
        };
        if difference.is_uniform() {
            let mut truth = undecided(all, true, Some(why()));
            if matches!(relation, Relation::Equal | Relation::NotEqual) {
                truth.zero = Some((difference.clone(), relation == Relation::Equal));
            }
            return truth;
        }
        let mut truth = undecided(all, false, Some(why()));
        (truth.can_hold, truth.can_fail) = self.by_range(difference, relation, span);
        let sides = sides(difference, relation, shape, &|id| self.asked_power(id));
        truth.differs = are_apart(&sides);
        truth.cuts_warps = truth.differs && sides.chunks(32).any(are_apart);
        let mut active = self.state.active.threads().map(|thread| sides[thread]);
        let first = active.next();
        truth.apart = active.any(|side| Some(side) != first);
        let guard = match relation {
            Relation::Less | Relation::LessEqual | Relation::Greater | Relation::GreaterEqual => self
                .interior(difference, relation, leaves)
                .map(|taken| (taken, self.usual_side(difference, relation, taken))),
            Relation::Equal | Relation::NotEqual => self.is_of_one_block(difference).then_some({
                // Of a grid of one block it is not so.
                let taken = relation == Relation::NotEqual;
                let blocks = self.blocks_on_side(difference, relation, taken);
                (taken, Assumption::UsualBlock { uniform: false, possible: false, blocks, of_grid: false })
            }),
        };
        if let Some((taken, assumed)) = guard {
            truth.guard = Some((taken, vec![assumed]));
            truth.ranks.extend(ranks(difference, &sides, relation, taken).map(Arc::new));
            if taken {
                truth.holds = Some(truth.can_hold);
            } else {
                truth.fails = Some(truth.can_fail);
            }
        }
        truth
    }

    /// The threads for which an ordered comparison may hold and may fail, by the ranges of what is not known of it: in
    /// `t < min(32, n)`, it fails for thread 32.
    fn by_range(&self, difference: &Int, relation: Relation, span: Span) -> (ThreadSet, ThreadSet) {
        let (all, shape) = (self.world.all, self.shape());
        let terms = Int::of(Lanes::constant(0), difference.terms.clone());
        let base = difference.base.spread(shape);
        let by = |(least, most): (Option<i64>, Option<i64>)| {
            if least.is_none() && most.is_none() {
                return (all, all);
            }
            let end = |thread: usize, end: Option<i64>| end.and_then(|end| base[thread].checked_add(end));
            let may = |wanted: bool, thread: usize| {
                // Of what is not known, the end that makes it likeliest.
                let (low, high) = (end(thread, least), end(thread, most));
                let likeliest = match (relation, wanted) {
                    (Relation::Less | Relation::LessEqual, true)
                    | (Relation::Greater | Relation::GreaterEqual, false) => low,
                    (Relation::Less | Relation::LessEqual, false)
                    | (Relation::Greater | Relation::GreaterEqual, true) => high,
                    (Relation::Equal | Relation::NotEqual, _) => None,
                };
                likeliest.is_none_or(|value| relation.holds(value) == wanted)
            };
            let of = |wanted: bool| ThreadSet::collect(shape, |thread| may(wanted, thread));
            (of(true), of(false))
        };
        by(match self.is_told_of(difference, span) {
            true => self.bounds_here(&terms),
            false => self.world.bounds_of_any_sign(&terms),
        })
    }

    /// Whether what all threads read from memory decides a condition.
    pub(super) fn is_of_data(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Opaque(variation, why) => {
                *variation == Variation::Uniform && why.reason == Reason::DataDependent
            }
            Condition::Compare { difference, .. } => {
                let is_read = |id: SymbolId| self.world.symbols.get(id).origin == Origin::Read;
                let mut terms = difference.terms.iter().map(|(id, _)| *id).peekable();
                difference.is_uniform() && terms.peek().is_some() && terms.all(is_read)
            }
            Condition::Not(inner) => self.is_of_data(inner),
            Condition::Known(_) | Condition::And(..) | Condition::Or(..) => false,
        }
    }

    /// What is assumed of a guard whose usual side is taken.
    fn usual_side(&self, difference: &Int, relation: Relation, taken: bool) -> Assumption {
        // Two members of one object may be called the same.
        let of = |least: Origin| -> Vec<String> {
            let symbols = difference.terms.iter().map(|(id, _)| self.world.symbols.get(*id));
            let names = symbols.filter(|s| s.origin >= least).map(|s| format!("`{}`", given(&s.name)));
            let mut told = FxHashSet::default();
            names.filter(|name| told.insert(name.clone())).collect()
        };
        // The bound itself says more than the index that is held against it.
        let mut bounds = of(Origin::Given);
        // Where a block begins is no bound.
        let is_of_block = |name: &String| {
            name.contains("blockIdx") && !["min(", "max("].iter().any(|least| name.contains(least))
        };
        if !bounds.iter().all(is_of_block) {
            bounds.retain(|name| !is_of_block(name));
        }
        let is_block = |id| self.world.symbols.get(id).origin == Origin::BlockIndex;
        let own = !difference.terms.iter().any(|(id, _)| is_block(*id));
        let symbols = &self.world.symbols;
        let is_size = |id: SymbolId| symbols.get(id).origin == Origin::GridSize;
        let is_given = |id: &SymbolId| symbols.get(*id).origin >= Origin::Given;
        // What all threads agree on lets all in or none.
        let uniform = difference.is_uniform();
        let given = difference.terms.iter().map(|(id, _)| *id).filter(is_given);
        let roots: Option<Vec<Vec<SymbolId>>> = given.clone().map(|id| symbols.roots(id)).collect();
        let lets_all_in = |for_data| {
            let is_large = |id: SymbolId| symbols.lets_all_in(id, for_data) && !self.is_asserted(id);
            given.clone().next().is_some() && given.clone().all(is_large)
        };
        let possible = uniform || lets_all_in(false);
        // What is data in some threads and a number in others bounds only the former.
        let is_alike = difference.terms.iter().all(|(_, factor)| factor.as_constant().is_some());
        match bounds.is_empty() {
            false => Assumption::InsideBounds {
                bounds: joined(&bounds, ", ").into(),
                roots: roots.map(|roots| Roots::new(roots.concat())),
                own,
                uniform,
                possible,
                for_data: !possible && is_alike && lets_all_in(true),
            },
            true if of(Origin::BlockIndex).is_empty() => {
                Assumption::UsualIteration { own, possible: uniform }
            }
            // The first block there is.
            true => {
                let values = difference.base.spread(self.shape());
                let first = |thread: usize| relation.holds(values[thread].signum()) == taken;
                let possible = self.state.active.threads().all(first);
                let blocks = self.blocks_on_side(difference, relation, taken);
                // The more blocks there are, the more threads it lets in.
                let mut sizes = difference.terms.iter().filter(|(id, _)| is_size(*id));
                let lets_in = |factor: &Lanes| {
                    factor.as_constant().is_some_and(|factor| relation.holds(factor.signum()) == taken)
                };
                let of_grid = own && sizes.all(|(_, factor)| lets_in(factor));
                Assumption::UsualBlock { uniform, possible, blocks, of_grid }
            }
        }
    }
}

/// Assumptions as one clause.
pub(super) fn listed(assumptions: &[Assumption]) -> String {
    assumptions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What of a product was given, without the conditions and counters that it was multiplied with.
fn given(name: &str) -> String {
    let made = ["a condition", "the side of a condition", "the loop counter"];
    let parts: Vec<&str> = name.split(" * ").filter(|part| !made.contains(part)).collect();
    if parts.is_empty() { name.to_owned() } else { parts.join(" * ") }
}

fn undecided(all: ThreadSet, uniform: bool, why: Option<Unknown>) -> Truth {
    let branch = uniform.then_some(all);
    Truth {
        decided: false,
        at_launch: false,
        within: Within::default(),
        uniform,
        can_hold: all,
        can_fail: all,
        holds: branch,
        fails: branch,
        guard: None,
        mixed: false,
        differs: false,
        cuts_warps: false,
        ranks: Vec::new(),
        apart: !uniform,
        why,
        zero: None,
        blocks: [Blocks::NONE; 2],
        large: [Blocks::NONE; 2],
        told: Default::default(),
        asks: Asks::Hidden,
        is_choice: false,
        chosen: false,
        own_data: None,
        turn: None,
    }
}

fn both(a: &Truth, b: &Truth) -> Truth {
    let holds = a.holds.zip(b.holds).map(|(x, y)| x.and(&y));
    let fails = if (a.decided && b.decided) || (a.uniform && b.uniform) {
        Some(a.can_fail.or(&b.can_fail))
    } else if a.decided && a.can_fail.is_empty() {
        b.fails
    } else if b.decided && b.can_fail.is_empty() {
        a.fails
    } else {
        // A guard that an interior block fails decides the whole for it.
        [a, b].iter().find(|t| matches!(t.guard, Some((false, _)))).and_then(|t| t.fails)
    };
    let guard = match (&a.guard, &b.guard) {
        (Some((false, words)), _) | (_, Some((false, words))) => Some((false, words.clone())),
        (Some((true, x)), Some((true, y))) => Some((true, x.iter().chain(y).cloned().collect())),
        // `inside && something not known` is no longer a guard, but what it lets through still
        // rests on being inside.
        (Some((true, words)), None) => (b.decided || b.uniform).then(|| (true, words.clone())),
        (None, Some((true, words))) => (a.decided || a.uniform).then(|| (true, words.clone())),
        (None, None) => None,
    };
    let unknown_side = |t: &Truth| !t.decided && t.uniform;
    let mixed = a.mixed || b.mixed || (guard.is_some() && (unknown_side(a) || unknown_side(b)));
    Truth {
        decided: a.decided && b.decided,
        at_launch: false,
        within: Within::default(),
        uniform: a.uniform && b.uniform,
        can_hold: a.can_hold.and(&b.can_hold),
        can_fail: a.can_fail.or(&b.can_fail),
        holds,
        fails: if mixed { None } else { fails },
        guard,
        mixed,
        differs: a.differs || b.differs,
        cuts_warps: a.cuts_warps || b.cuts_warps,
        ranks: [a, b].iter().flat_map(|t| &t.ranks).cloned().collect(),
        apart: a.apart || b.apart,
        why: a.why.clone().or_else(|| b.why.clone()),
        zero: [a, b].iter().find_map(|t| t.zero.clone().filter(|(_, side)| *side)),
        blocks: [Blocks::NONE; 2],
        large: [Blocks::NONE; 2],
        told: Default::default(),
        asks: Asks::Hidden,
        is_choice: false,
        chosen: false,
        own_data: None,
        turn: None,
    }
}
