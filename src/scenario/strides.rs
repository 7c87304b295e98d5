//! What do loops that threads share tell of a block's extents?
//!
//! In `for (int i = threadIdx.y; i < 32; i += 8)` a thread takes every eighth row. Those in between are for the other
//! threads of its column, of which there are 8. A loop under a condition says nothing: in `if (threadIdx.x < 32)` its
//! stride is the number of those that come there.
//! In `for (int i = threadIdx.y * 32 + threadIdx.x; i < n; i += 512)` rows have 32 threads, and there are 16 of them.

use crate::events::LaunchArg;
use crate::exec::entry::constant_in_kernel;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Expr, ExprKind, Function, LocalId, Stmt, StmtKind};
use std::sync::Arc;

/// The least stride that tells it: a thread may take every other element for other reasons.
const LEAST: i64 = 4;

/// What the text does with variables.
#[derive(Default)]
struct Seen<'a> {
    /// What they are set to, where they are declared or later.
    values: Vec<(LocalId, &'a Expr)>,
    /// Those that change otherwise.
    changed: Vec<LocalId>,
    /// What loops that all threads come to add to them after each round.
    steps: Vec<(LocalId, &'a Expr)>,
    /// How many conditions are around.
    conditions: usize,
}

/// The extents that the strides of loops tell, by axis; none where they differ.
pub(super) fn strides(
    program: &Program,
    kernel: &Arc<Function>,
    template_args: &[LaunchArg],
) -> [Option<u32>; 3] {
    let constant = |expr: &Expr| constant_in_kernel(program, kernel, template_args, expr);
    let mut seen = Seen::default();
    kernel.body.iter().flatten().for_each(|stmt| seen.stmt(stmt, &constant));
    let mut told: [Option<Option<u32>>; 3] = [None; 3];
    let mut tell = |axis: usize, extent: u32| {
        told[axis] = match told[axis] {
            Some(known) if known != Some(extent) => Some(None),
            _ => Some(Some(extent)),
        };
    };
    for (variable, by) in &seen.steps {
        let by = seen.only_value(by).unwrap_or(by);
        let by = constant(by).filter(|by| *by >= LEAST);
        let Some(by) = by.and_then(|by| u32::try_from(by).ok()) else { continue };
        if let Some(axis) = seen.begins_at(*variable, &|value| axis(value)) {
            tell(axis, by);
        } else if let Some(row) = seen.begins_at(*variable, &|value| seen.row(value, &constant))
            && by.is_multiple_of(row)
            && by > row
        {
            tell(0, row);
            tell(1, by / row);
        }
    }
    told.map(Option::flatten)
}

impl<'a> Seen<'a> {
    /// `constant`: the value of what is the same in every run.
    fn stmt(&mut self, stmt: &'a Stmt, constant: &impl Fn(&Expr) -> Option<i64>) {
        match &stmt.kind {
            StmtKind::Declare(all) => {
                self.values.extend(all.iter().filter_map(|it| Some((it.local, it.init.as_ref()?))));
            }
            StmtKind::Loop { step: Some(step), .. } if self.conditions == 0 => self.steps.extend(added(step)),
            _ => {}
        }
        own_exprs(stmt, &mut |expr| self.expr(expr));
        if let StmtKind::If { cond, then, otherwise } = &stmt.kind
            && let Some(value) = constant(cond)
        {
            let taken = if value != 0 { then } else { otherwise };
            return taken.iter().for_each(|stmt| self.stmt(stmt, constant));
        }
        let is_condition = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Switch { .. });
        self.conditions += usize::from(is_condition);
        own_stmts(stmt, &mut |stmt| self.stmt(stmt, constant));
        self.conditions -= usize::from(is_condition);
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Assign(None, target, value) => {
                self.values.extend(local(target).map(|target| (target, &**value)));
            }
            ExprKind::Assign(Some(_), target, _)
            | ExprKind::Step { target, .. }
            | ExprKind::AddressOf(target) => self.changed.extend(local(target)),
            _ => {}
        }
        children(expr, &mut |child| self.expr(child));
    }

    /// The value that a variable has wherever it is named.
    fn only_value(&self, expr: &Expr) -> Option<&'a Expr> {
        let id = local(expr).filter(|id| !self.changed.contains(id))?;
        let mut all = self.values.iter().filter(|(of, _)| *of == id);
        let (_, value) = all.next()?;
        all.next().is_none().then_some(*value)
    }

    /// What `told` says of the value at which a variable begins, wherever it is set.
    fn begins_at<T: PartialEq>(&self, variable: LocalId, told: &dyn Fn(&Expr) -> Option<T>) -> Option<T> {
        let mut all = self.values.iter().filter(|(of, _)| *of == variable);
        let of = |value: &'a Expr| told(value).or_else(|| told(self.only_value(value)?));
        let first = of(all.next()?.1)?;
        all.all(|(_, value)| of(value).as_ref() == Some(&first)).then_some(first)
    }

    /// How many threads a row has, if it is the number of a thread in its block: 32 in
    /// `threadIdx.y * 32 + threadIdx.x`.
    fn row(&self, expr: &Expr, constant: &impl Fn(&Expr) -> Option<i64>) -> Option<u32> {
        let ExprKind::Binary(BinaryOp::Add, a, b) = &expr.kind else { return None };
        let is_of = |expr: &Expr, which: usize| {
            let at = axis(expr).or_else(|| axis(self.only_value(expr)?));
            at == Some(which)
        };
        let rows = if is_of(a, 0) { b } else { Some(a).filter(|_| is_of(b, 0))? };
        let ExprKind::Binary(BinaryOp::Mul, a, b) = &rows.kind else { return None };
        let length = if is_of(a, 1) { b } else { Some(a).filter(|_| is_of(b, 1))? };
        constant(length).and_then(|length| u32::try_from(length).ok()).filter(|length| *length > 1)
    }
}

/// A variable that a loop's step adds to, and what.
fn added(step: &Expr) -> Option<(LocalId, &Expr)> {
    match &step.kind {
        ExprKind::Assign(Some(BinaryOp::Add), target, by) => Some((local(target)?, by)),
        _ => None,
    }
}

fn local(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(id) => Some(*id),
        _ => None,
    }
}

/// The axis of which it is the thread's coordinate.
fn axis(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Cast(_, inner) => axis(inner),
        ExprKind::Member { base, name, .. } => match &base.kind {
            ExprKind::Path(path) if *path.name == *"threadIdx" => {
                ["x", "y", "z"].iter().position(|axis| **axis == **name)
            }
            _ => None,
        },
        _ => None,
    }
}
