//! Which numbers may a value of host code be?
//!
//! A number that one of two branches gave, or that an operator makes of such, is a symbol that
//! remembers what it is made of. At a launch every way through the choices is taken, and those
//! that a condition around rules out are dropped.

use super::settled::Settled;
use super::{DEEPEST, MOST_CASES, MOST_TRIES};
use crate::domain::{Int, Key, Origin, SymbolId};
use crate::exec::machine::{How, Machine, Made, Mode};
use crate::exec::value::{Condition, Value};
use crate::ir::{BinaryOp, Scalar};
use std::rc::Rc;

/// Choices of one number that are listed.
const MOST_LISTED: usize = 128;

/// Choices in a row, as in `if (n < 9) x = 1; if (n < 8) x = 2; ...`: one side of each leads to the next.
const LONGEST_CHAIN: u32 = 128;

/// Choices that may lead to one of several kernels, beyond those of numbers.
const MOST_BEGUN: usize = 128;

/// What conditions around a launch say.
struct Claims<'a> {
    /// Whether one of those that no choice bears on is not so.
    refuted: bool,
    /// Whether one of those is not so when each limit is reached.
    rules_out_limits: bool,
    /// The others.
    open: Vec<&'a (Condition, bool)>,
}

/// Numbers on one way, as far as known.
pub(in crate::exec) type Row = Vec<Option<Settled>>;

/// The search for the numbers on every way.
struct Search<'a> {
    /// The numbers that choices bear on, by their places in a row.
    differing: Vec<(usize, &'a Int)>,
    /// A row in which the others are known.
    same: Row,
    claims: Claims<'a>,
    are_enough: &'a dyn Fn(&[Row]) -> bool,
    /// Ways that may still be tried.
    tries: u32,
    found: Vec<Row>,
}

/// Which way choices went.
pub(super) type Way = [(SymbolId, bool)];

impl Machine<'_> {
    /// What one of two branches gave.
    pub(crate) fn host_choose(&mut self, a: &Value, b: &Value, choice: SymbolId) -> Option<Value> {
        if self.mode != Mode::Host {
            return None;
        }
        Some(match (a, b) {
            (Value::Int(x, scalar), Value::Int(y, _)) => {
                Value::Int(self.make(How::Either(choice), x, y), *scalar)
            }
            (Value::Int(known, scalar), Value::Opaque(..))
            | (Value::Opaque(..), Value::Int(known, scalar)) => {
                let other = self.world.symbols.fresh("a number".into(), Origin::Given, None, None);
                Value::Int(self.make(How::Either(choice), known, &Int::symbol(other)), *scalar)
            }
            // What the program falls back to.
            (Value::Opaque(..), known) | (known, Value::Opaque(..)) => {
                self.host.guessed |= matches!(known, Value::Aggregate(_));
                known.clone()
            }
            (Value::Function(f), Value::Function(g)) => self.kernel_choice([Some(f), Some(g)], choice),
            // No kernel is launched by a null pointer.
            (Value::Function(f), Value::Int(..)) => self.kernel_choice([Some(f), None], choice),
            (Value::Int(..), Value::Function(f)) => self.kernel_choice([None, Some(f)], choice),
            _ => return None,
        })
    }

    /// A symbol for a number that is made of two others.
    pub(super) fn make(&mut self, how: How, x: &Int, y: &Int) -> Int {
        if matches!(how, How::Either(_)) && x == y {
            return x.clone();
        }
        let deepest =
            |int: &Int| int.terms.iter().filter_map(|(id, _)| self.host.made.get(id)).map(|m| m.depth).max();
        let depth = u32::from(!matches!(how, How::Either(_))) + deepest(x).max(deepest(y)).unwrap_or(0);
        let longest =
            |int: &Int| int.terms.iter().filter_map(|(id, _)| self.host.made.get(id)).map(|m| m.length).max();
        let length = 1 + longest(x).max(longest(y)).unwrap_or(0);
        let name = "a number made of others";
        let word = match how {
            How::Either(_) => None,
            How::Operation(op) => Some(crate::ir::print::operator(op)),
            How::Min => Some("min"),
            How::Max => Some("max"),
        };
        let id = match (word, plain(x), plain(y)) {
            (Some(word), Some(x), Some(y)) => {
                let key = Key::Operation(word, x, y);
                self.world.symbols.intern(key, |_| name.to_string(), Origin::Given, None, None)
            }
            _ => self.world.symbols.fresh(name.into(), Origin::Given, None, None),
        };
        if depth <= DEEPEST && length <= LONGEST_CHAIN {
            let choices = self.choices_of(how, x, y);
            self.host.made.insert(id, Made { how, x: x.clone(), y: y.clone(), depth, length, choices });
        }
        Int::symbol(id)
    }

    fn choices_of(&self, how: How, x: &Int, y: &Int) -> Option<Rc<[SymbolId]>> {
        let mut all: Vec<SymbolId> = Vec::new();
        if let How::Either(choice) = how {
            all.push(choice);
            let mut of_condition = Some(Vec::new());
            if let Some(condition) = self.host.conditions.get(&choice) {
                super::refuted::differences(condition, &mut |difference| {
                    let behind = self.choices_behind(&[Some(difference.clone())]);
                    of_condition = of_condition.take().zip(behind).map(|(all, more)| [all, more].concat());
                });
            }
            all.extend(of_condition?);
        }
        for (id, _) in x.terms.iter().chain(&y.terms) {
            if let Some(made) = self.host.made.get(id) {
                all.extend(made.choices.as_ref()?.iter());
            }
        }
        all.sort_unstable();
        all.dedup();
        (all.len() <= MOST_LISTED).then(|| all.into())
    }

    /// An operator that is not linear, to be done when its operands are known.
    pub(crate) fn host_operation(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<Value> {
        let known = usize::from(x.as_constant().is_some()) + usize::from(y.as_constant().is_some());
        let linear = matches!(op, BinaryOp::Add | BinaryOp::Sub) || (op == BinaryOp::Mul && known == 1);
        if self.mode != Mode::Host || linear || known == 2 {
            return None;
        }
        Some(Value::Int(self.make(How::Operation(op), x, y), scalar))
    }

    /// `min` and `max` of host code.
    pub(crate) fn host_extremum(&mut self, x: &Int, y: &Int, max: bool) -> Option<Int> {
        if self.mode != Mode::Host || (x.as_constant().is_some() && y.as_constant().is_some()) {
            return None;
        }
        Some(self.make(if max { How::Max } else { How::Min }, x, y))
    }

    /// The number, when the choices went as `way` says. `facts`: whether what the conditions
    /// around say of symbols is used.
    fn settled(&self, int: &Int, way: &Way, facts: bool) -> Option<Settled> {
        let mut sum = Settled::exact(int.base.as_constant()?);
        for (id, factor) in &int.terms {
            sum = sum.plus(factor.as_constant()?, self.settled_symbol(*id, way, facts)?);
        }
        Some(sum)
    }

    fn settled_symbol(&self, id: SymbolId, way: &Way, facts: bool) -> Option<Settled> {
        if facts && let Some((_, value)) = self.state.facts.iter().rev().find(|(symbol, _)| *symbol == id) {
            return Some(Settled::exact(*value));
        }
        let Made { how, x, y, .. } = self.host.made.get(&id)?;
        if let How::Either(choice) = how {
            let (_, side) = way.iter().find(|(made, _)| made == choice)?;
            return self.settled(if *side { x } else { y }, way, facts);
        }
        let (settled_x, settled_y) = (self.settled(x, way, facts), self.settled(y, way, facts));
        match how {
            How::Operation(op) => Settled::operation(*op, settled_x?, settled_y?),
            How::Max => Some(Settled::max(settled_x?, settled_y?)),
            // What a choice leaves open may be either number, and no limit.
            How::Min => {
                let is_open = |settled: Option<Settled>, int: &Int| {
                    settled.is_none() && self.open_choice(int, way).is_some()
                };
                let waits = is_open(settled_x, x) || is_open(settled_y, y);
                if waits { None } else { Settled::min(settled_x, settled_y) }
            }
            How::Either(_) => None,
        }
    }

    /// A choice on which the number depends and that `way` does not make.
    pub(in crate::exec) fn open_choice(&self, int: &Int, way: &Way) -> Option<SymbolId> {
        int.terms.iter().find_map(|(id, _)| {
            if self.state.facts.iter().any(|(symbol, _)| symbol == id) {
                return None;
            }
            let Made { how, x, y, choices, .. } = self.host.made.get(id)?;
            let made = |choice: &SymbolId| way.iter().any(|(made, _)| made == choice);
            if choices.as_ref().is_some_and(|choices| choices.iter().all(made)) {
                return None;
            }
            match how {
                How::Either(choice) => match way.iter().find(|(made, _)| made == choice) {
                    None => self.open_before(*choice, way).or(Some(*choice)),
                    Some((_, true)) => self.open_choice(x, way),
                    Some((_, false)) => self.open_choice(y, way),
                },
                _ => self.open_choice(x, way).or_else(|| self.open_choice(y, way)),
            }
        })
    }

    /// A choice on which the condition of another depends and that `way` does not make.
    fn open_before(&self, choice: SymbolId, way: &Way) -> Option<SymbolId> {
        let mut open = None;
        if let Some(condition) = self.host.conditions.get(&choice) {
            super::refuted::differences(condition, &mut |difference| {
                open = open.or_else(|| self.open_choice(difference, way));
            });
        }
        open
    }

    /// The choice that a condition makes: the same one wherever the same numbers are compared.
    pub(crate) fn choice_by(&mut self, condition: &Condition) -> SymbolId {
        let name = "a condition";
        if self.mode != Mode::Host {
            return self.world.symbols.fresh(name.into(), Origin::Choice, Some(0), Some(1));
        }
        let id = if let Condition::Compare { difference, relation, .. } = condition
            && let Some(compared) = plain(difference)
        {
            let key = Key::Operation(relation.sign(), compared, Vec::new());
            self.world.symbols.intern(key, |_| name.into(), Origin::Choice, Some(0), Some(1))
        } else {
            self.world.symbols.fresh(name.into(), Origin::Choice, Some(0), Some(1))
        };
        self.host.conditions.entry(id).or_insert_with(|| condition.clone());
        id
    }

    /// The numbers in every way through the choices they depend on that goes on from `begun`, as far as known, without
    /// repetition, and whether these are all. Ways that a condition around rules out are left out.
    pub(crate) fn cases(&self, numbers: &[Option<Int>], begun: &Way) -> (Vec<Row>, bool) {
        self.cases_until(&|_| false, numbers, begun)
    }

    /// The same, where no more are looked for once there are enough.
    pub(crate) fn cases_until(
        &self,
        are_enough: &dyn Fn(&[Row]) -> bool,
        numbers: &[Option<Int>],
        begun: &Way,
    ) -> (Vec<Row>, bool) {
        if !begun.is_empty() && !self.is_consistent(begun) {
            return (Vec::new(), true);
        }
        // What no choice bears on that a way makes holds or fails on every way.
        let made = self.choices_behind(numbers);
        let claims = self.state.claims.iter().map(|claim| &**claim);
        let (fixed, open): (Vec<_>, Vec<_>) =
            claims.partition(|claim| self.is_free(&claim.0, made.as_deref()));
        let claims = Claims {
            refuted: fixed.iter().any(|claim| self.refutes(claim, &[])),
            rules_out_limits: fixed.iter().any(|claim| self.refutes_limits(claim, &[])),
            open,
        };
        // Most numbers are the same on every way.
        let differs =
            |number: &Option<Int>| number.as_ref().is_some_and(|n| self.open_choice(n, begun).is_some());
        let differing: Vec<usize> = (0..numbers.len()).filter(|at| differs(&numbers[*at])).collect();
        let settled = |number: &Option<Int>| {
            let settled = number.as_ref().and_then(|n| self.settled(n, begun, true));
            settled.filter(|it| it.is_exact() || !claims.rules_out_limits)
        };
        let same: Row = numbers.iter().map(settled).collect();
        let differing: Vec<(usize, &Int)> =
            differing.iter().filter_map(|at| Some((*at, numbers[*at].as_ref()?))).collect();
        let mut search = Search { differing, same, claims, are_enough, tries: MOST_TRIES, found: Vec::new() };
        self.search_from(&mut begun.to_vec(), &mut search);
        let Search { found, tries, .. } = search;
        let are_all = found.len() < MOST_CASES && tries > 0;
        if found.is_empty() && !are_all {
            // Too many ways, of which those that were tried do not lead here.
            return (vec![vec![None; numbers.len()]], false);
        }
        (found, are_all)
    }

    fn search_from(&self, way: &mut Vec<(SymbolId, bool)>, search: &mut Search<'_>) {
        let is_long = way.len() > 2 * DEEPEST as usize + MOST_BEGUN;
        if search.found.len() >= MOST_CASES || is_long || search.tries == 0 {
            return;
        }
        search.tries -= 1;
        if let Some(choice) = search.differing.iter().find_map(|(_, n)| self.open_choice(n, way)) {
            for side in [true, false] {
                way.push((choice, side));
                if self.is_consistent(way) {
                    self.search_from(way, search);
                }
                way.pop();
            }
            return;
        }
        let claims = &search.claims;
        if claims.refuted || claims.open.iter().any(|claim| self.refutes(claim, way)) {
            return;
        }
        // Where a condition around rules out that limits are reached, the numbers that they bound are not known.
        let is_reached =
            !claims.rules_out_limits && !claims.open.iter().any(|claim| self.refutes_limits(claim, way));
        let mut row = search.same.clone();
        for (at, number) in &search.differing {
            row[*at] = self.settled(number, way, true).filter(|it| it.is_exact() || is_reached);
        }
        if !search.found.contains(&row) {
            search.found.push(row);
            if (search.are_enough)(&search.found) {
                search.tries = 0;
            }
        }
    }

    /// Whether what was claimed is not so when the choices went as `way` says.
    fn refutes(&self, (condition, claimed): &(Condition, bool), way: &Way) -> bool {
        self.follows(condition, way).is_some_and(|holds| holds != *claimed)
    }

    /// Whether what was claimed is not so when, besides, each limit is reached.
    fn refutes_limits(&self, (condition, claimed): &(Condition, bool), way: &Way) -> bool {
        let holds = condition.decide(&|int, relation| {
            let settled = self.settled(int, way, false).or_else(|| self.settled(int, way, true))?;
            Settled::exact(settled.value).has(relation)
        });
        holds.is_some_and(|holds| holds != *claimed)
    }

    /// The choices on which numbers depend, or more; `None` if they are many.
    fn choices_behind(&self, numbers: &[Option<Int>]) -> Option<Vec<SymbolId>> {
        let mut all = Vec::new();
        for (id, _) in numbers.iter().flatten().flat_map(|number| &number.terms) {
            if let Some(made) = self.host.made.get(id) {
                all.extend(made.choices.as_ref()?.iter().copied());
            }
        }
        Some(all)
    }

    /// Whether none of these choices bears on a condition; `None`: no choice at all.
    fn is_free(&self, condition: &Condition, of: Option<&[SymbolId]>) -> bool {
        let is_one = |choice: &SymbolId| of.is_none_or(|of| of.contains(choice));
        match condition {
            Condition::Known(_) | Condition::Opaque(..) => true,
            Condition::Compare { difference, .. } => difference.terms.iter().all(|(id, _)| {
                let choices = self.host.made.get(id).map(|made| made.choices.as_ref());
                choices.is_none_or(|choices| choices.is_some_and(|choices| !choices.iter().any(is_one)))
            }),
            Condition::Not(inner) => self.is_free(inner, of),
            Condition::And(a, b) | Condition::Or(a, b) => self.is_free(a, of) && self.is_free(b, of),
        }
    }

    /// Whether a condition holds when the choices went as `way` says, if that decides it.
    pub(super) fn follows(&self, condition: &Condition, way: &Way) -> Option<bool> {
        condition.decide(&|int, relation| {
            self.settled(int, way, false).or_else(|| self.settled(int, way, true))?.has(relation)
        })
    }
}

/// A number whose factors are constants, as a key: first its constant part, then each symbol with its factor.
pub(super) fn plain(int: &Int) -> Option<Vec<(u32, i64)>> {
    let mut parts = vec![(u32::MAX, int.base.as_constant()?)];
    for (id, factor) in &int.terms {
        parts.push((id.packed(), factor.as_constant()?));
    }
    Some(parts)
}
