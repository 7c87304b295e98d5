//! Which conditions single out one block of all?
//!
//! Blocks draw tickets from a counter. Each gets another number, and the one that gets the last of them may go on alone:
//!
//! ```text
//! __shared__ bool last;
//! if (t == 0) last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
//! __syncthreads();
//! if (last) ...                       one block, and it may be any
//! ```
//!
//! A ticket is the old value of an atomic that counts, and what a shuffle makes of it. A variable holds one if it gets
//! nothing else; so does a variable that holds whether the ticket was a certain one, but for a `false` before that.

use crate::builtins::{self, Kind};
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Expr, ExprKind, Function, LocalId, Stmt, StmtKind, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Ticket,
    /// Whether the block has its turn, or (`false`) whether it has not.
    Turn(bool),
}

/// The variables of a function that hold tickets, or whether the ticket was a certain one.
#[derive(Debug, Default)]
pub(super) struct Turns {
    holds: FxHashMap<LocalId, Holds>,
}

impl Turns {
    pub(super) fn of(function: &Function) -> Turns {
        let mut found = Turns::default();
        let mut stmts: Vec<&Stmt> = function.body.iter().flatten().collect();
        let mut exprs: Vec<&Expr> = Vec::new();
        let mut gets: FxHashMap<LocalId, Vec<&Expr>> = FxHashMap::default();
        let mut lost: FxHashSet<LocalId> = function.params.iter().map(|param| param.local).collect();
        while let Some(stmt) = stmts.pop() {
            if let StmtKind::Declare(list) = &stmt.kind {
                list.iter().for_each(|it| gets.entry(it.local).or_default().extend(&it.init));
            }
            own_exprs(stmt, &mut |expr| exprs.push(expr));
            own_stmts(stmt, &mut |inner| stmts.push(inner));
        }
        while let Some(expr) = exprs.pop() {
            note(expr, &mut gets, &mut lost);
            children(expr, &mut |child| exprs.push(child));
        }
        gets.retain(|local, _| !lost.contains(local));
        loop {
            let known = found.holds.len();
            for (local, values) in &gets {
                if let (false, Some(holds)) = (found.holds.contains_key(local), found.held_of_all(values)) {
                    found.holds.insert(*local, holds);
                }
            }
            if found.holds.len() == known {
                return found;
            }
        }
    }

    /// The side of a condition that one block takes, whichever it is.
    pub(super) fn side(&self, cond: &Expr) -> Option<bool> {
        match self.held(cond)? {
            Holds::Turn(side) => Some(side),
            Holds::Ticket => None,
        }
    }

    /// What a variable holds that gets these values.
    fn held_of_all(&self, values: &[&Expr]) -> Option<Holds> {
        let mut all = values.iter().filter(|value| !is_zero(value)).map(|value| self.held(value));
        let first = all.next()??;
        let is_turn = matches!(first, Holds::Turn(true));
        let may_begin = is_turn || !values.iter().any(|value| is_zero(value));
        (may_begin && all.all(|other| other == Some(first))).then_some(first)
    }

    fn held(&self, expr: &Expr) -> Option<Holds> {
        match &expr.kind {
            ExprKind::Local(local) => self.holds.get(local).copied(),
            ExprKind::Cast(_, inner) => self.held(inner),
            ExprKind::Unary(UnaryOp::Not, inner) => match self.held(inner)? {
                Holds::Turn(side) => Some(Holds::Turn(!side)),
                Holds::Ticket => None,
            },
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let is_one = (self.held(a) == Some(Holds::Ticket)) != (self.held(b) == Some(Holds::Ticket));
                is_one.then_some(Holds::Turn(*op == BinaryOp::Eq))
            }
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                self.held(a).filter(|it| *it == Holds::Ticket && matches!(b.kind, ExprKind::Int(..)))
            }
            ExprKind::Conditional(cond, a, b) => match self.held(cond)? {
                Holds::Turn(side) if is_true(a) && is_zero(b) => Some(Holds::Turn(side)),
                _ => None,
            },
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => match builtins::kind(&path.name)? {
                    Kind::Atomic if counts(&path.name) => Some(Holds::Ticket),
                    Kind::BlockVote if &*path.name == "__syncthreads_or" => {
                        self.held(args.first()?).filter(|it| *it == Holds::Turn(true))
                    }
                    Kind::Shuffle => self.held(args.get(1)?).filter(|it| *it == Holds::Ticket),
                    _ => None,
                },
                ExprKind::Member { name, .. } => {
                    matches!(&**name, "fetch_add" | "fetch_sub").then_some(Holds::Ticket)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether it is one of the atomics of the device's scope that count.
fn counts(name: &str) -> bool {
    matches!(name.trim_end_matches("_system"), "atomicInc" | "atomicDec" | "atomicAdd" | "atomicSub")
}

fn is_zero(expr: &Expr) -> bool {
    is_number(expr, 0)
}

fn is_true(expr: &Expr) -> bool {
    is_number(expr, 1)
}

fn is_number(expr: &Expr, wanted: i128) -> bool {
    match &expr.kind {
        ExprKind::Int(number, _) => *number == wanted,
        ExprKind::Cast(_, inner) => is_number(inner, wanted),
        _ => false,
    }
}

/// Notes what an expression gives to variables; lost are those that something else may change.
fn note<'a>(expr: &'a Expr, gets: &mut FxHashMap<LocalId, Vec<&'a Expr>>, lost: &mut FxHashSet<LocalId>) {
    let local = |expr: &Expr| match expr.kind {
        ExprKind::Local(local) => Some(local),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Assign(None, target, value) => {
            if let Some(target) = local(target) {
                gets.entry(target).or_default().push(value);
            }
        }
        ExprKind::Assign(Some(_), target, _)
        | ExprKind::Step { target, .. }
        | ExprKind::AddressOf(target) => {
            lost.extend(local(target));
        }
        ExprKind::Call { callee, args } => {
            let is_known =
                matches!(&callee.kind, ExprKind::Path(path) if builtins::kind(&path.name).is_some());
            lost.extend(args.iter().filter(|_| !is_known).filter_map(local));
        }
        ExprKind::Asm(asm) => lost.extend(asm.outputs.iter().filter_map(|(_, target)| local(target))),
        _ => {}
    }
}
