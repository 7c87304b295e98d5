//! How is host code run, so that its launches are seen?
//!
//! By the same machine, with one thread. Three things differ from a kernel: file-scope variables
//! are variables; a number that one of several branches gave stays one of several numbers, so
//! that each of them can be launched with; and loops only run as far as they may matter.
//!
//! Example: after `if (n > 4096) threads = 256; else threads = 128;` the variable is a symbol that
//! stands for 256 or 128, whichever side was taken. A launch with it is noted twice, and
//! `if (threads == 256) k<256><<<g, threads>>>()` once.

mod bounds;
mod called;
mod choices;
mod consistent;
mod effects;
mod elements;
mod globals;
mod guarded;
mod limited;
mod multiples;
mod refuted;
mod related;
mod residues;
mod sampled;
pub(super) mod settled;
mod switched;
mod unfollowed;
mod untied;
mod warp;

use super::condition::Truth;
use super::interior::Leaving;
use super::join::Join;
use super::machine::{ChosenKernel, Claim, Exit, Implied, Machine, Mode, State};
use super::rejoin::changed;
use super::value::NOWHERE;
use super::value::{Condition, Value};
use crate::domain::{Reason, SymbolId, Unknown, Variation};
use crate::ir::visit::{Found, visit_stmts};
use crate::ir::{Expr, ExprKind, Name, Path, Stmt, TemplateArg, Type};
use crate::source::Span;
use guarded::only_tell;
use std::rc::Rc;

/// Iterations of a loop that are run.
const LONGEST: u32 = 64;
/// Iterations without a new launch after which a loop with launches is left.
const IDLE: u32 = 8;
/// The same of a loop that no number ends, such as `while (true)`: what it goes by is not known in any round.
const IDLE_ENDLESS: u32 = 2;
/// Iterations that are run where it is not known whether there is another one: `n` of
/// `for (int n = 1; n > 0; n = next(n)) visit<<<1, 256>>>(n)` is 1 in the first launch alone.
pub(super) const OPEN: u32 = 4;
/// The same in a loop that is in another one.
const OPEN_INSIDE: u32 = 2;
/// Operators on chosen numbers within each other that are followed.
const DEEPEST: u32 = 10;
/// Conditions that are remembered on one way through the code.
const MOST_CLAIMS: usize = 64;
/// Kernels, and ways to them, of which one launch may mean one.
const MOST_KERNELS: usize = 64;
/// The most ways through the choices of one launch.
const MOST_CASES: usize = 32;
/// Choices tried for the ways of one launch, those that are ruled out among them.
const MOST_TRIES: u32 = 512;

impl Machine<'_> {
    /// `if` in host code: both sides are run unless the numbers decide.
    pub(crate) fn host_branch(&mut self, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let span = cond.span;
        let (condition, truth) = self.tested(cond, Leaving::No);
        let decided =
            if truth.decided { Some(!truth.can_hold.is_empty()) } else { self.follows(&condition, &[]) };
        if let Some(holds) = decided {
            return self.run_decided(holds, cond, then, otherwise);
        }
        let asked = self.note_asked(cond);
        let start = self.state.clone();
        self.claim(&condition, true);
        self.state.facts.extend(truth.equality());
        self.run(then);
        self.state.facts.truncate(start.facts.len());
        let before = start.claims.len();
        let held = std::mem::replace(&mut self.state, start);
        self.claim(&condition, false);
        self.run(otherwise);
        let choice = self.choice_by(&condition);
        let claims = self.state.claims.clone();
        self.note_implied(&held.claims, before, (choice, true));
        self.note_implied(&claims, before, (choice, false));
        if only_tell(then) && only_tell(otherwise) {
            self.forget_asked(&asked);
        }
        self.join_sides(held, choice, &truth, span);
    }

    /// Notes what was asked on a side of a choice, by the claims at its end. `before`: how many stood before the
    /// condition itself.
    fn note_implied(&mut self, claims: &[Claim], before: usize, made: (SymbolId, bool)) {
        if let Some(asked) = claims.get(before + 1..).filter(|asked| !asked.is_empty()) {
            let implied = Implied { context: claims[..before].into(), asked: asked.into() };
            self.host.implied.entry(made).or_default().push(implied);
            self.host.implied_in_all += 1;
        }
    }

    /// Joins the end of the side on which a condition holds with the present state, the end of the other.
    fn join_sides(&mut self, held: State, choice: SymbolId, truth: &Truth, span: Span) {
        let why = truth.why.clone().unwrap_or_else(|| {
            Unknown::new(Reason::DataDependentMask, span, "a condition that is not known")
        });
        match (held.active.is_empty(), self.state.active.is_empty()) {
            (false, true) => {
                let left = std::mem::replace(&mut self.state, held);
                self.note_left(left);
            }
            (true, _) => self.note_left(held),
            (false, false) => self.join(held, Join::Uniform(choice, why, None)),
        }
    }

    /// From here on this way through the host code is one on which `condition` holds, or fails.
    pub(crate) fn claim(&mut self, condition: &Condition, holds: bool) {
        if self.mode == Mode::Host && self.state.claims.len() < MOST_CLAIMS {
            self.state.claims.push(Rc::new((condition.clone(), holds)));
        }
    }

    /// Nothing runs any more on this way through the host code.
    pub(crate) fn end_program(&mut self) {
        self.state.exited = self.world.all;
        self.state.active = crate::domain::ThreadSet::NONE;
    }

    /// One kernel where a choice went one way, another, or none, where it went the other. Each keeps the way that leads
    /// to it: what was chosen with it, such as the block in the same object, is known by that.
    fn kernel_choice(&mut self, sides: [Option<&Path>; 2], choice: SymbolId) -> Value {
        let mut all: Vec<ChosenKernel> = Vec::new();
        for (path, side) in sides.into_iter().zip([true, false]) {
            let kernels = path.map(|path| self.kernels_of(path));
            for mut kernel in kernels.into_iter().flatten() {
                let same = |other: &ChosenKernel| other.path == kernel.path;
                let alike = |other: &ChosenKernel| {
                    let before = other.way.split_last().map(|(_, before)| before);
                    same(other) && before == Some(kernel.way.as_slice())
                };
                let at = match all.iter().position(alike) {
                    None if all.len() >= MOST_KERNELS => all.iter().position(same),
                    alike => alike,
                };
                kernel.way.push((choice, side));
                match at {
                    Some(at) => all[at].way.retain(|made| kernel.way.contains(made)),
                    None if all.len() < MOST_KERNELS => all.push(kernel),
                    None => {}
                }
            }
        }
        let name: Name = format!("one of {} kernels, {}", all.len(), self.host.kernels.len()).into();
        self.host.kernels.insert(name.clone(), all);
        Value::Function(Rc::new(Path::simple(name)))
    }

    /// The kernels that a path may mean.
    pub(crate) fn kernels_of(&self, path: &Path) -> Vec<ChosenKernel> {
        let only = || vec![ChosenKernel { path: path.clone(), way: Vec::new() }];
        self.host.kernels.get(&path.name).cloned().unwrap_or_else(only)
    }

    /// `std::integral_constant<int, 4>{}`, which dispatching code hands on in place of a number; its
    /// `value` is the number.
    pub(crate) fn integral_constant(&mut self, ty: &Type) -> Option<Value> {
        let Type::Named(path) = ty else { return None };
        match (&*path.name, path.args.as_deref()?) {
            ("integral_constant", [_, TemplateArg::Value(number)]) => Some(self.evaluate(number)),
            ("integral_constant", [_, TemplateArg::Type(Type::Named(name))]) => {
                Some(self.lookup(name, NOWHERE))
            }
            ("bool_constant", [TemplateArg::Value(number)]) => Some(self.evaluate(number)),
            _ => None,
        }
    }

    /// A loop in host code: its first iterations for real, if it leads to a launch or is short.
    /// What it changed is not known afterwards unless it came to its end.
    pub(crate) fn host_loop(
        &mut self,
        cond: Option<&Expr>,
        body: &[Stmt],
        step: Option<&Expr>,
        body_first: bool,
        span: Span,
    ) {
        let reaches = self.reaches_launch(span, body);
        let longest = match (reaches, self.host.idle_loops) {
            (true, _) | (false, 0) => LONGEST,
            (false, 1) => 4,
            _ => 1,
        };
        let is_endless = cond.is_none_or(|cond| matches!(cond.kind, ExprKind::Int(..)));
        let most_idle = if is_endless { IDLE_ENDLESS } else { IDLE };
        self.host.idle_loops += u32::from(!reaches);
        let most_open = if self.host.open_loops == 0 { OPEN } else { OPEN_INSIDE };
        self.host.open_loops += 1;
        let start = self.state.clone();
        let mark = self.left_mark();
        let mut first = body_first;
        let mut ended = false;
        let (mut idle, mut seen) = (0, self.trace.launches.len());
        for iteration in 0..=longest {
            if !first && let Some(cond) = cond {
                let value = self.evaluate(cond);
                let condition = self.condition_of(&value, cond.span);
                let truth = self.truth(&condition, Leaving::No);
                if truth.decided && truth.can_hold.is_empty() {
                    ended = true;
                    break;
                }
                // Not known whether it goes on: a few iterations show what it launches.
                if !truth.decided && iteration > 0 {
                    if !reaches || iteration >= most_open {
                        break;
                    }
                    self.claim(&condition, true);
                }
            }
            first = false;
            if iteration == longest || self.state.active.is_empty() || self.trace.stopped.is_some() {
                break;
            }
            self.run(body);
            if self.left_mark() > mark && !self.state.active.is_empty() {
                self.rejoin_those(mark, &[Exit::Continue]);
            }
            if let Some(mask) = self.state.loops.last_mut() {
                self.state.active = self.state.active.or(&mask.continued);
                mask.continued = crate::domain::ThreadSet::NONE;
            }
            if self.state.active.is_empty() {
                ended = true;
                break;
            }
            if let Some(step) = step {
                self.discard(step);
            }
            idle = if self.trace.launches.len() == seen { idle + 1 } else { 0 };
            seen = self.trace.launches.len();
            if reaches && idle >= most_idle {
                break;
            }
        }
        self.host.idle_loops -= u32::from(!reaches);
        self.host.open_loops -= 1;
        self.rejoin_those(mark, &[Exit::Continue, Exit::Break]);
        if !ended {
            // Where it does not run, nothing was asked in it.
            self.state.claims.truncate(start.claims.len());
            self.forget_changes(&start);
        }
    }

    /// Whether the body of a loop leads to a launch.
    fn reaches_launch(&mut self, span: Span, body: &[Stmt]) -> bool {
        if let Some(known) = self.host.reaching.get(&span) {
            return *known;
        }
        let launching = Rc::clone(&self.host.launching);
        let mut reaches = false;
        visit_stmts(body, &mut |found| match found {
            Found::Name(name) => reaches |= launching.contains(name),
            Found::Launch(_) => reaches = true,
        });
        self.host.reaching.insert(span, reaches);
        reaches
    }

    /// What differs from `start` is not known any more.
    fn forget_changes(&mut self, start: &State) {
        for frame in 0..self.state.frames.len().min(start.frames.len()) {
            for slot in 0..self.state.frames[frame].slots.len() {
                if self.state.frames[frame].slots.same_at(&start.frames[frame].slots, slot) {
                    continue;
                }
                let before = start.frames[frame].slots.get(slot);
                let now = self.state.frames[frame].slots.get(slot);
                let (Some(before), Some(now)) = (before, now) else { continue };
                if now.value == before.value || matches!(before.value, Value::Undefined) {
                    continue;
                }
                let value = match (&before.value, &now.value) {
                    (Value::Aggregate(old), Value::Aggregate(new)) => {
                        let keep = |(at, part): (usize, &(_, Value))| {
                            let lost = || Value::opaque(Variation::Uniform, changed());
                            let is_kept = old.get(at) == Some(part) || old.contains(part);
                            let value = if is_kept { part.1.clone() } else { lost() };
                            (Clone::clone(&part.0), value)
                        };
                        Value::Aggregate(Rc::new(new.iter().enumerate().map(keep).collect()))
                    }
                    _ => {
                        let ty = now.ty.clone();
                        self.unknown_of(&ty, Variation::Uniform, "a variable that a loop changes", &changed())
                    }
                };
                self.state.frames[frame].slots.set_value(slot, value);
            }
        }
    }
}
