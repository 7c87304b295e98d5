//! What does the compiler come to know as the code runs?
//!
//! The evaluator tells the rules of [`codegen`](crate::codegen) where it is, and asks them there.

use super::machine::Machine;
use crate::codegen::{Met, Recent, Saved, Still};
use crate::domain::{Int, Origin, SymbolId};
use crate::events::{AccessOp, Assumption, Seen};
use crate::ir::{Expr, Function};
use crate::slice::Used;
use std::sync::Arc;

/// The most loads that the compiler hoists out of a loop.
const MOST_HOISTED: usize = 32;

impl Machine<'_> {
    /// Evaluates; also whether a number was read for it that only the launch tells.
    pub(super) fn watching_launch<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let before = self.compiler.at_launch.was_read();
        self.compiler.at_launch.begin();
        let value = evaluate(self);
        let read = self.compiler.at_launch.was_read();
        if before {
            self.compiler.at_launch.note_read();
        }
        (value, read)
    }

    /// Runs a part of the code that not all threads run that run what is around it, if it is `apart`.
    pub(super) fn in_branch<T>(&mut self, apart: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        if !apart {
            return run(self);
        }
        self.compiler.registers.enter_branch();
        let result = run(self);
        self.compiler.registers.leave_branch();
        result
    }

    /// The same of code that other code may run instead of.
    pub(super) fn in_own_branch<T>(&mut self, apart: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.branch_mark();
        let result = self.in_branch(apart, run);
        self.end_branch(&mark);
        result
    }

    /// How often a site was reached before in the same piece of straight code: which of its requests there it makes.
    pub(super) fn turn_within(&mut self, site: usize) -> u32 {
        let (region, reached) = (self.compiler.region, self.trace.accesses[site].occurrences);
        let begun = self.compiler.begun.entry(site).or_insert((region, reached));
        // Some of it may have been taken back.
        if begun.0 != region || begun.1 > reached {
            *begun = (region, reached);
        }
        reached - begun.1
    }

    /// Whether an access at this offset reads what is in a register already, so that it is no request; and if not, which
    /// earlier access may save it. Remembers the access for those that follow.
    pub(super) fn in_register(&mut self, site: usize, offset: &Int, within: u32) -> (Still, Saved) {
        self.compiler.registers.go_on(self.compiler.epoch, self.compiler.region);
        let access = &self.trace.accesses[site];
        let (array, op, volatile) = (access.array, access.op, access.volatile);
        let Some(bytes) = access.bytes.filter(|_| matches!(op, AccessOp::Load | AccessOp::Store)) else {
            self.may_touch(site);
            return (Still::No, Saved::No);
        };
        let met = Met {
            array,
            bytes,
            offset,
            active: self.state.active,
            doubt: &self.state.doubt,
            weight: self.weight,
            site,
            iteration: self.compiler.iteration,
            within,
            in_loop: !self.state.loops.is_empty(),
            load: op == AccessOp::Load,
        };
        if !met.load {
            self.compiler.registers.written(array, Some(&met));
        }
        if volatile {
            self.compiler.registers.array_may_be_read(array);
            return (Still::No, Saved::No);
        }
        let mut saves_none = true;
        if !met.load {
            let (stretch, number) = (self.compiler.stretch.at, self.requests.stores());
            let needless = self.compiler.registers.stored(&met, stretch, number);
            let is_in_loop = !self.compiler.rounds.is_empty();
            saves_none = needless.is_empty();
            for store in needless {
                self.requests.leave_out(store, is_in_loop, &mut self.trace.accesses);
            }
        }
        let (since, branch) = (self.compiler.last_wait(), self.compiler.registers.innermost());
        let saved = self.compiler.recent.meet(&met, since, branch);
        let still = self.compiler.registers.meet(&met);
        let is_open = match saved {
            Saved::Load => still == Still::No,
            Saved::Store(_) => saves_none,
            Saved::No => false,
        };
        (still, if is_open { saved } else { Saved::No })
    }

    /// Whether an offset is the same in all rounds of all loops.
    fn is_one_place(&self, offset: &Int) -> bool {
        let symbols = &self.world.symbols;
        let is_given = |id: &SymbolId| {
            matches!(symbols.get(*id).origin, Origin::Given | Origin::BlockIndex | Origin::GridSize)
        };
        let is_fixed = |id: &SymbolId| symbols.roots(*id).is_some_and(|roots| roots.iter().all(is_given));
        offset.terms.iter().all(|(id, _)| is_given(id) && is_fixed(id))
    }

    /// What a request of an access rests on that the compiler may save. Where it may become one with an earlier store,
    /// the requests of that store rest on the same.
    pub(super) fn perhaps_saved(&mut self, saved: Saved) -> Option<Assumption> {
        match saved {
            Saved::No => None,
            Saved::Load => Some(Assumption::NotSaved { store: false }),
            Saved::Store(site) => {
                self.note_not_saved(site, true);
                Some(Assumption::NotSaved { store: true })
            }
        }
    }

    /// What is assumed of a load whose value only some of the lanes may use, or none.
    pub(super) fn may_be_sunk(&self, site: usize) -> Option<Assumption> {
        let access = &self.trace.accesses[site];
        if access.op != AccessOp::Load || access.volatile {
            return None;
        }
        let used = self.frame()?.slice.used(access.span)?;
        // The compiler moves nothing out of a loop that it does not unroll.
        let stays = used == Used::OnOneSide { behind_loop: true } && !self.looping.uncounted.is_empty();
        (!stays).then_some(Assumption::NotSunk { used: used != Used::Never })
    }

    /// A loop begins that is run for all rounds at once: what was before it says nothing of a round behind another.
    /// Where the code was until then.
    pub(super) fn begin_hoisting(&mut self) -> (Recent, u32) {
        (std::mem::take(&mut self.compiler.recent), self.compiler.last_wait())
    }

    /// The loop ends. If nobody waits in it, the compiler may take loads out of it whose place is the same in all
    /// rounds, and stores that follow others. `alike`: whether one round stands for all.
    pub(super) fn end_hoisting(&mut self, (before, since): (Recent, u32), alike: bool) {
        let inner = std::mem::replace(&mut self.compiler.recent, before);
        if self.compiler.last_wait() != since {
            self.compiler.recent = inner;
            return;
        }
        let loads = inner.fixed_loads(since);
        let sites: Vec<usize> =
            loads.into_iter().filter(|(_, offset)| self.is_one_place(offset)).map(|(site, _)| site).collect();
        // More than there are registers for stay where they are.
        if alike && sites.len() <= MOST_HOISTED {
            sites.into_iter().for_each(|site| self.note_not_saved(site, false));
            let again = self.compiler.recent.stores_again(&inner);
            again.into_iter().flatten().for_each(|site| self.note_not_saved(site, true));
        }
        self.compiler.recent.join(&inner);
    }

    fn note_not_saved(&mut self, site: usize, store: bool) {
        self.requests.assume(site, &Assumption::NotSaved { store }, &mut self.trace.accesses);
    }

    /// Something may write any place of any array, and nothing in a register is what it was.
    pub(super) fn clobber(&mut self) {
        self.compiler.registers.forget();
        self.compiler.recent.forget();
        self.compiler.turns.iter_mut().for_each(|(_, turns)| *turns = turns.wrapping_add(1));
    }

    /// Notes an access of any place of its array.
    pub(super) fn may_touch(&mut self, site: usize) {
        let access = &self.trace.accesses[site];
        match access.op {
            AccessOp::Load | AccessOp::MatrixLoad => {
                self.compiler.registers.array_may_be_read(access.array);
            }
            _ => {
                self.compiler.registers.written(access.array, None);
                self.compiler.recent.forget_array(access.array);
            }
        }
    }

    /// A kernel begins: from here on is asked what is the same in all lanes.
    pub(super) fn enter_uniform_kernel(&mut self, function: &Arc<Function>) {
        self.compiler.uniformities.enter_kernel(function, self.program);
    }

    /// A function is called with these arguments, whose frame will have the next number.
    pub(super) fn enter_uniform_call(&mut self, function: &Arc<Function>, args: &[Expr]) {
        let caller = (self.top(), self.state.frames.last().map(|frame| &frame.function));
        let next = self.state.frames.len();
        self.compiler.uniformities.enter_call(caller, function, args, next, self.program);
    }

    /// Whether the compiler sees an expression to be the same in all lanes, as far as that is known.
    pub(super) fn seen_same(&self, expr: &Expr) -> Seen {
        let running = self.frame().map(|frame| &frame.function);
        self.compiler.uniformities.seen_same(self.top(), running, expr, self.program)
    }

    /// Whether what a call hands back goes to a variable that nobody reads.
    pub(super) fn is_dead(&self, call: &Expr) -> bool {
        let running = self.frame().map(|frame| &frame.function);
        self.compiler.uniformities.is_dead(self.top(), running, call)
    }
}
