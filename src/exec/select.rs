//! Which accesses may the compiler make at once, because each stands on a side of one condition?
//!
//! `c ? s[a] : s[b]` is one load of a selected address in the machine code of nvcc 13 for 7.5 to 9.0, and two under
//! predicates for 10.0 and 12.0. In `if (c) x = s[a]; else x = s[b];` it is the same, whether `c` depends on the
//! thread or not. Where something is done to what is read (`c ? s[a] * k : s[b]`), there are two everywhere. Likewise
//! `if (c) s[t] = x; else s[t] = y;` is one store of a selected value for 9.0. They are counted separately, and each says
//! so.

use super::machine::Machine;
use crate::events::AccessOp;
use crate::ir::print;
use crate::ir::{Expr, ExprKind, Stmt, StmtKind};
use crate::source::Span;
use std::rc::Rc;

/// Statements on a side that are looked at, at the most.
const MOST: usize = 8;

/// The accesses on both sides of a condition.
type Sides = Rc<[Span]>;

impl Machine<'_> {
    /// Does something with the accesses on both sides of a condition in mind.
    pub(super) fn with_sides<T>(&mut self, sides: Sides, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.at_hand.sides, sides);
        let made = work(self);
        self.at_hand.sides = around;
        made
    }

    /// Whether an access is one of them, and whether it is a store.
    pub(super) fn may_be_selected(&self, site: usize) -> Option<bool> {
        let access = &self.trace.accesses[site];
        let is_side = self.at_hand.sides.contains(&access.span) && !access.volatile;
        let store = match access.op {
            AccessOp::Load => false,
            AccessOp::Store => true,
            _ => return None,
        };
        is_side.then_some(store)
    }
}

/// The loads, if both operands of a conditional operator are nothing else.
pub(super) fn of_operator(then: &Expr, otherwise: &Expr) -> Sides {
    loads(then).zip(loads(otherwise)).map(|(a, b)| [a, b].concat().into()).unwrap_or_default()
}

/// The accesses, if both sides of a statement do nothing but assign one load each to the same variables, or something to
/// the same places.
pub(super) fn of_statement(then: &[Stmt], otherwise: &[Stmt]) -> Sides {
    let mut sides = Vec::new();
    for (a, b) in then.iter().zip(otherwise).filter(|_| then.len() == otherwise.len() && then.len() <= MOST) {
        match assigned(a).zip(assigned(b)) {
            Some(((target, first), (other, second))) if target.kind == other.kind => {
                sides.extend([first, second])
            }
            _ => return stored(then, otherwise),
        }
    }
    sides.into()
}

/// The stores, if both sides of a statement assign to the same places in the same order, where a side may be another
/// such statement.
fn stored(then: &[Stmt], otherwise: &[Stmt]) -> Sides {
    let mut leaves: Vec<Vec<&Expr>> = Vec::new();
    let mut open = vec![then, otherwise];
    while let Some(side) = open.pop() {
        match side {
            [Stmt { kind: StmtKind::If { then, otherwise, .. }, .. }] => {
                open.extend([then.as_slice(), otherwise]);
            }
            [Stmt { kind: StmtKind::Block(body), .. }] => open.push(body),
            _ => match side.iter().map(target).collect() {
                Some(targets) => leaves.push(targets),
                None => return Rc::default(),
            },
        }
        if leaves.len() > MOST || leaves.last().is_some_and(|targets| targets.len() > MOST) {
            return Rc::default();
        }
    }
    let places = |targets: &Vec<&Expr>| targets.iter().map(|it| print::expr(it)).collect::<Vec<_>>();
    let first = leaves.first().map(places).unwrap_or_default();
    if first.is_empty() || !leaves.iter().all(|targets| places(targets) == first) {
        return Rc::default();
    }
    leaves.iter().flatten().map(|target| target.span).collect()
}

/// The place that a statement assigns to.
fn target(stmt: &Stmt) -> Option<&Expr> {
    let StmtKind::Expr(expr) = &stmt.kind else { return None };
    let ExprKind::Assign(None, target, _) = &expr.kind else { return None };
    load(target).map(|_| &**target)
}

fn assigned(side: &Stmt) -> Option<(&Expr, Span)> {
    let StmtKind::Expr(expr) = &side.kind else { return None };
    let ExprKind::Assign(None, target, value) = &expr.kind else { return None };
    matches!(target.kind, ExprKind::Local(_)).then_some(())?;
    Some((target, load(value)?))
}

/// The loads that an operand is, or that one is selected of.
fn loads(expr: &Expr) -> Option<Vec<Span>> {
    match &expr.kind {
        ExprKind::Conditional(_, a, b) => Some([loads(a)?, loads(b)?].concat()),
        _ => Some(vec![load(expr)?]),
    }
}

fn load(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } => Some(expr.span),
        _ => None,
    }
}
