//! Does a store write one value, whatever that is, from all lanes of a warp?
//!
//! What lanes work out together is the same in all of them, and they may all write it to one place:
//!
//! ```text
//! float sum = cg::reduce(warp, x, cg::plus<float>());
//! partial[warp.meta_group_rank()] = sum;               no race: 32 lanes write one number
//! ```
//!
//! This is asked of the text, where the variable is declared in the list of statements in which it is stored and
//! nothing in between can change it or choose threads. So each thread that stores it got it in the same round of all
//! loops around. A smallest or largest floating-point number is not the same in all lanes: `a < b ? a : b` depends on
//! the order of 0 and -0, and of what is not a number.

use super::machine::{Machine, Mode};
use super::tree::Together;
use super::types::Ty;
use super::value::{Group, Value};
use crate::builtins;
use crate::ir::visit::children;
use crate::ir::{Declaration, Expr, ExprKind, LocalId, Path, Stmt, StmtKind, Storage, Type};
use crate::source::Span;

/// Statements that may lie between where a variable is declared and where it is stored.
const MOST_BETWEEN: usize = 16;

impl Machine<'_> {
    /// Where the last of these statements stores what all lanes of a warp have in common.
    pub(super) fn stored_of_warp(&mut self, stmts: &[Stmt]) -> Option<Span> {
        if !self.recording || self.mode != Mode::Device {
            return None;
        }
        let (last, before) = stmts.split_last()?;
        let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &last.kind else {
            return None;
        };
        if !matches!(target.kind, ExprKind::Index(..) | ExprKind::Deref(_)) {
            return None;
        }
        let made = match value.kind {
            ExprKind::Local(local) => declared(before, local)?,
            _ => value,
        };
        self.is_of_warp(made).then_some(target.span)
    }

    /// Whether an expression is a call that gives one number to all lanes of a warp.
    fn is_of_warp(&mut self, expr: &Expr) -> bool {
        let ExprKind::Call { callee, args } = &expr.kind else { return false };
        let ExprKind::Path(path) = &callee.kind else { return false };
        if !self.program.functions(&path.name).is_empty() {
            return false;
        }
        match (builtins::lane_form(&path.name), args.as_slice()) {
            (None, [group, value, operation]) if &*path.name == "reduce" => {
                self.is_warp(group) && self.is_same_in_any_order(value, operation)
            }
            (Some(form), [mask, ..]) if form.is_masked => {
                has_one_result(&path.name, args) && self.names_all(mask)
            }
            _ => false,
        }
    }

    /// Whether a mask names all lanes. Lanes that name others may get another number.
    fn names_all(&mut self, mask: &Expr) -> bool {
        if !matches!(mask.kind, ExprKind::Int(..) | ExprKind::Path(_) | ExprKind::Unary(..)) {
            return false;
        }
        let value = self.unrecorded(|machine| machine.evaluate(mask));
        self.lanes_named(&value, mask.span) == Together::Named(u32::MAX)
    }

    /// Whether it is a variable that holds a tile of 32 lanes.
    fn is_warp(&mut self, group: &Expr) -> bool {
        matches!(group.kind, ExprKind::Local(_))
            && matches!(self.evaluate(group), Value::Group(Group::Tile { lanes: 32, .. }))
    }

    /// Whether an operation of the library gives the same bits whichever of two operands comes first.
    fn is_same_in_any_order(&mut self, value: &Expr, operation: &Expr) -> bool {
        let Ty::Scalar(scalar) = self.type_of(value) else { return false };
        let Some(path) = made(operation) else { return false };
        let within = self.namespace();
        let mut own = self.program.records_meant(path, &within);
        let is_of_library = !path.qualifiers.is_empty() && own.next().is_none();
        is_of_library
            && match &*path.name {
                "plus" => true,
                "less" | "greater" | "bit_and" | "bit_or" | "bit_xor" => scalar.is_integer(),
                _ => false,
            }
    }
}

/// Whether all lanes that meet there read one lane, or all lanes.
fn has_one_result(name: &str, args: &[Expr]) -> bool {
    match (name, args) {
        ("__shfl_sync", [_, _, lane]) => matches!(lane.kind, ExprKind::Int(..)),
        ("__any_sync" | "__all_sync" | "__ballot_sync", _) => true,
        _ => name.starts_with("__reduce_"),
    }
}

/// The class of which an expression makes an object from nothing: `cg::plus<float>()`.
fn made(operation: &Expr) -> Option<&Path> {
    match &operation.kind {
        ExprKind::Construct(Type::Named(path), args) if args.is_empty() => Some(path),
        ExprKind::Call { callee, args } if args.is_empty() => match &callee.kind {
            ExprKind::Path(path) => Some(path),
            _ => None,
        },
        _ => None,
    }
}

/// What a number was declared to be in one of these statements, if what follows does not change it.
fn declared(stmts: &[Stmt], local: LocalId) -> Option<&Expr> {
    for stmt in stmts.iter().rev().take(MOST_BETWEEN) {
        match &stmt.kind {
            StmtKind::Declare(list) => {
                if let Some(at) = list.iter().position(|it| it.local == local) {
                    let behind = list[at + 1..].iter().filter_map(|it| it.init.as_ref());
                    return list[at]
                        .init
                        .as_ref()
                        .filter(|_| is_number(&list[at]) && !behind.clone().any(|it| names(it, local)));
                }
                if list.iter().filter_map(|it| it.init.as_ref()).any(|it| names(it, local)) {
                    return None;
                }
            }
            // It may be stored several times.
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
                if matches!(value.kind, ExprKind::Local(_)) && !names(target, local) => {}
            StmtKind::Expr(expr) if !names(expr, local) => {}
            _ => return None,
        }
    }
    None
}

fn is_number(declaration: &Declaration) -> bool {
    let is_plain = matches!(declaration.ty, Type::Scalar(_) | Type::Auto);
    is_plain && declaration.storage == Storage::Automatic
}

/// Whether an expression may name a variable.
fn names(expr: &Expr, local: LocalId) -> bool {
    match &expr.kind {
        ExprKind::Local(own) => *own == local,
        ExprKind::Lambda(_) | ExprKind::Damaged | ExprKind::Unsupported(_) => true,
        _ => {
            let mut found = false;
            children(expr, &mut |child| found |= names(child, local));
            found
        }
    }
}
