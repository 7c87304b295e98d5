//! How much is in a loop, and where do stretches of code without branches begin?
//!
//! The counts that [`codegen::straight`](crate::codegen::straight) asks for, taken as the code runs.

use super::loops::parts::Parts;
use super::machine::{Machine, Operations, Rounds};
use super::tree::Together;
use super::types::Ty;
use crate::builtins::{self, Kind};
use crate::codegen::straight::{early, unrolled};
use crate::events::{AccessOp, LoopCode, RequestMark, Unrolled};
use crate::ir::unrolling::Unrolling;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, Stmt, StmtKind, Type};
use crate::slice::Slice;
use std::rc::Rc;

/// Where a branch begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchMark {
    stretch: u32,
    accesses: u32,
    elsewhere: u64,
    left: u64,
}

/// Where a loop begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopStart {
    region: u32,
    operations: u64,
    rolled: u32,
    /// The accesses before it, and how many of them are stores.
    accesses: u32,
    stores: u32,
}

impl Machine<'_> {
    /// Here a loop begins.
    pub(super) fn straight_mark(&mut self, parts: Parts<'_>) -> LoopStart {
        let in_one = match parts.unrolling {
            Unrolling::By(rounds) => {
                let rounds = u64::from(rounds);
                self.rounds_ahead(parts).is_some_and(|ahead| ahead > rounds).then_some(rounds)
            }
            _ => None,
        };
        self.compiler.rounds.push(Rounds { in_one, ..Rounds::default() });
        LoopStart {
            region: self.compiler.region,
            operations: self.operations(),
            rolled: self.compiler.rolled,
            accesses: self.requests.accesses(),
            stores: self.requests.stores(),
        }
    }

    /// An iteration of the innermost loop begins.
    pub(super) fn begin_iteration(&mut self, parts: Parts<'_>) {
        let Some(rounds) = self.compiler.rounds.last_mut() else { return };
        let begins_anew = rounds.in_one.is_some_and(|in_one| rounds.begun.is_multiple_of(in_one));
        rounds.begun += 1;
        let open = is_open(parts, rounds.at_launch);
        self.compiler.begin_epoch_of_loop(begins_anew);
        self.compiler.iteration += u32::from(open);
        self.compiler.begin_epoch_of_loop(parts.is_rolled());
        self.compiler.registers.begin_round();
        let stays = || self.looping.plans.get(&self.loop_key(parts)).is_some_and(|plan| plan.stays);
        let is_rolled = parts.is_rolled() || stays();
        if open || is_rolled {
            self.hide_carried(parts);
        }
        if is_rolled && !parts.is_flat() {
            self.compiler.registers.forget();
        }
    }

    /// A loop ends that began at this mark, in this region.
    pub(super) fn settle_registers(
        &mut self,
        parts: Parts<'_>,
        (begin, before): (&RequestMark, u32),
        code: LoopCode,
    ) {
        // What the text asks for is written out early, however large it is.
        if matches!(parts.unrolling, Unrolling::Asked) {
            return;
        }
        if parts.is_flat() {
            return self.requests.note_early(begin, code);
        }
        match code {
            LoopCode::WrittenOut(_) => self.compiler.registers.join(before, self.compiler.region),
            LoopCode::Loop { .. } => self.compiler.registers.forget(),
        }
        self.requests.settle_kept(begin, before, code, &mut self.trace.accesses);
        self.requests.note_early(begin, code);
    }

    fn operations(&self) -> u64 {
        let shared = u64::from(self.requests.accesses());
        self.compiler.writes.saturating_add(shared).saturating_add(self.compiler.elsewhere.saturating_mul(2))
    }

    /// Counts the operations of a statement that is passed over.
    pub(super) fn note_passed(&mut self, stmt: &Stmt) {
        if !self.recording {
            return;
        }
        self.note_changes_in(stmt, true);
        let place = std::ptr::from_ref(stmt).addr();
        let Operations { writes, elsewhere, branches, may_order, exchanges, loops, inner } =
            match self.compiler.passed.get(&place) {
                Some(known) => *known,
                None => {
                    let counted = self.operations_of(stmt);
                    self.compiler.passed.insert(place, counted);
                    counted
                }
            };
        self.compiler.writes = self.compiler.writes.saturating_add(writes);
        self.compiler.elsewhere = self.compiler.elsewhere.saturating_add(elsewhere);
        if branches {
            self.compiler.stretch.begin();
        }
        self.compiler.stretch.pass(inner);
        if loops {
            self.compiler.registers.may_be_read();
        }
        if may_order {
            self.may_order(stmt.span);
        }
        if exchanges {
            self.warp_order(Together::Warp, false, stmt.span);
        }
    }

    /// Here code begins that not all threads may run that run what is around it.
    pub(super) fn branch_mark(&mut self) -> BranchMark {
        let mark = BranchMark {
            stretch: self.compiler.stretch.at,
            accesses: self.requests.accesses(),
            elsewhere: self.compiler.elsewhere,
            left: self.compiler.stretch.left,
        };
        self.compiler.stretch.begin();
        self.compiler.stretch.branches.push(self.compiler.stretch.at);
        mark
    }

    /// The branch that began there ends. What only computes is no branch: the compiler computes both
    /// sides and chooses. What leaves is one: not all come to what follows.
    pub(super) fn end_branch(&mut self, mark: &BranchMark) {
        self.compiler.stretch.branches.pop();
        let passed = (self.requests.accesses(), self.compiler.elsewhere, self.compiler.stretch.left);
        match passed == (mark.accesses, mark.elsewhere, mark.left) {
            true => self.compiler.stretch.at = mark.stretch,
            false => self.compiler.stretch.begin(),
        }
    }

    /// Variables written and memory accessed by a statement, as far as the text and constants tell.
    fn operations_of(&mut self, stmt: &Stmt) -> Operations {
        let mut all = Operations::default();
        let slice = self.frame().map(|frame| Rc::clone(&frame.slice)).unwrap_or_default();
        own_exprs(stmt, &mut |expr| {
            count(expr, &slice, &mut all);
            all.inner = all.inner.max(self.inner_branches_within(expr));
        });
        if let StmtKind::Declare(list) = &stmt.kind {
            all.writes += list.len() as u64;
            let unseen = |ty: &Type| matches!(self.resolve_type(ty).innermost(), Ty::Unknown(_));
            all.may_order |= list.iter().map(|it| &it.ty).any(unseen);
        }
        let (mut inner, own) = (Vec::new(), all.elsewhere);
        own_stmts(stmt, &mut |stmt| inner.push(stmt));
        for stmt in inner {
            let Operations { writes, elsewhere, branches, may_order, exchanges, loops, inner } =
                self.operations_of(stmt);
            all.loops |= loops;
            all.inner = all.inner.max(inner);
            all.may_order |= may_order;
            all.exchanges |= exchanges;
            all.writes = all.writes.saturating_add(writes);
            all.elsewhere = all.elsewhere.saturating_add(elsewhere);
            all.branches |= branches;
        }
        if let StmtKind::If { cond, .. } = &stmt.kind {
            all.branches |= all.elsewhere > own && self.plain_constant(cond).is_none();
        }
        all.loops |= matches!(stmt.kind, StmtKind::Loop { .. });
        let rounds = match &stmt.kind {
            StmtKind::Loop { cond: Some(cond), .. } => self.bound_of(cond),
            _ => 1,
        };
        all.writes = all.writes.saturating_mul(rounds);
        all.elsewhere = all.elsewhere.saturating_mul(rounds);
        all
    }

    /// The bound of `i < bound`, which is about the number of rounds; 1 when it is not a constant.
    fn bound_of(&mut self, cond: &Expr) -> u64 {
        let ExprKind::Binary(_, _, bound) = &cond.kind else { return 1 };
        let bound = self.plain_constant(bound).and_then(|bound| u64::try_from(bound).ok());
        bound.unwrap_or(1).clamp(1, 4096)
    }

    /// Notes that the compiler makes straight code of the loop that ends here, or may, if it was run
    /// round by round and so was all within it. Returns what it makes of it.
    pub(super) fn note_straight(&mut self, parts: Parts<'_>, begin: &LoopStart) -> LoopCode {
        let Rounds { begun, at_launch, in_one } = self.compiler.rounds.pop().unwrap_or_default();
        self.compiler.begin_epoch_of_loop(in_one.is_some());
        self.compiler.iteration += u32::from(is_open(parts, at_launch));
        self.compiler.begin_epoch_of_loop(parts.is_rolled());
        let whole = self.operations().saturating_sub(begin.operations);
        let seen = self.recording
            && self.compiler.rolled == begin.rolled
            && self.compiler.region > begin.region
            && !parts.is_rolled();
        let how = unrolled(whole, begun.max(1), at_launch);
        if let Some(how) = how.filter(|_| seen && !parts.is_flat()) {
            self.trace.straight.add(begin.region, self.compiler.region.saturating_add(1), how);
        }
        let positions = begin.accesses + 1..=self.requests.accesses();
        let is_open = at_launch || self.compiler.rolled != begin.rolled;
        match parts.unrolling {
            Unrolling::By(_) if in_one.is_some() => {
                self.trace.straight.add_in_part(positions.clone());
                self.trace.straight.add_open(positions);
            }
            Unrolling::Asked | Unrolling::By(_) | Unrolling::OfInnermost if is_open => {
                self.trace.straight.add_open(positions)
            }
            Unrolling::OfInnermost if how != Some(Unrolled::Counted) => {
                self.trace.straight.add_large(positions);
            }
            _ => {}
        }
        let is_written_out = how == Some(Unrolled::Counted)
            && !parts.is_rolled()
            && in_one.is_none()
            && self.compiler.rolled == begin.rolled;
        if !is_written_out {
            self.requests.make_before(begin.stores, &mut self.trace.accesses);
        }
        match is_written_out {
            true => LoopCode::WrittenOut(early(whole)),
            false => {
                let may_be_written_out = how.is_some() && !parts.is_rolled();
                LoopCode::Loop { rounds: begun, may_be_written_out }
            }
        }
    }

    /// How often this site's array has gone from being read to being written, or back.
    pub(super) fn turn(&mut self, site: usize) -> u32 {
        let access = &self.trace.accesses[site];
        let reads = matches!(access.op, AccessOp::Load | AccessOp::MatrixLoad);
        if self.compiler.turns.len() <= access.array {
            self.compiler.turns.resize(access.array + 1, (reads, 0));
        }
        let (was, turns) = &mut self.compiler.turns[access.array];
        if *was != reads {
            (*was, *turns) = (reads, turns.wrapping_add(1));
        }
        *turns
    }
}

/// Whether the compiler does not know the trip count: without a condition a loop ends by a `break`,
/// wherever that is.
fn is_open(parts: Parts<'_>, at_launch: bool) -> bool {
    at_launch || parts.cond.is_none()
}

/// Whether lanes exchange values in a call, or may in a function of the program.
pub(super) fn may_exchange(expr: &Expr) -> bool {
    let ExprKind::Call { callee, .. } = &expr.kind else { return false };
    let ExprKind::Path(path) = &callee.kind else { return true };
    matches!(builtins::kind(&path.name), None | Some(Kind::Shuffle | Kind::Vote))
}

/// Whether a call may run a loop: that of a function of the program, or of what is not followed.
fn may_loop(expr: &Expr) -> bool {
    let ExprKind::Call { callee, .. } = &expr.kind else { return false };
    let ExprKind::Path(path) = &callee.kind else { return true };
    builtins::kind(&path.name).is_none()
}

fn count(expr: &Expr, slice: &Slice, all: &mut Operations) {
    all.exchanges |= may_exchange(expr);
    all.loops |= may_loop(expr);
    all.writes += u64::from(matches!(expr.kind, ExprKind::Assign(..) | ExprKind::Step { .. }));
    all.elsewhere += u64::from(slice.reaches_global(expr));
    let before = all.elsewhere;
    children(expr, &mut |child| count(child, slice, all));
    all.branches |= matches!(expr.kind, ExprKind::Conditional(..)) && all.elsewhere > before;
}
