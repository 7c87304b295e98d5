//! Which accesses of shared arrays did a run not come to that ran out of steps?
//!
//! Nothing is known of them, but that they are there:
//!
//! ```text
//! __shared__ float s[64];
//! for (...) { ... }            the run ends in here
//! s[threadIdx.x] = 1;          listed, with the reason why the run ended
//! ```
//!
//! They are taken from the text: subscripts of arrays that the kernel declares, or a function that it calls; and calls
//! that are handed an array of which no access is known otherwise: whoever has its address may access any element. Of
//! functions that have their name in common only those in the kernel's own file count, since the run may have
//! meant others.

use crate::events::{Access, AccessOp, Array, Trace};
use crate::ir::program::Program;
use crate::ir::visit::{called_names, children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, Function, LocalId, Stmt, StmtKind, Storage, Type};
use std::sync::Arc;

/// The most functions that are looked into.
const MOST_FUNCTIONS: usize = 64;

/// Adds the accesses that a run which was stopped did not come to.
pub(super) fn add(program: &Program, kernel: &Arc<Function>, trace: &mut Trace) {
    if trace.stopped.is_none() {
        return;
    }
    let mut functions = vec![kernel];
    let mut next = 0;
    while next < functions.len() && functions.len() < MOST_FUNCTIONS {
        for name in called_names(functions[next]) {
            let named = program.functions(name);
            let is_meant = |it: &&Arc<Function>| {
                it.body.is_some() && (named.len() == 1 || it.name_span.file == kernel.name_span.file)
            };
            for called in named.iter().filter(is_meant) {
                if !functions.iter().any(|known| Arc::ptr_eq(known, called)) {
                    functions.push(called);
                }
            }
        }
        next += 1;
    }
    for function in functions {
        let mut found = Found { arrays: Vec::new(), trace: &mut *trace };
        found.statements(function.body.as_deref().unwrap_or(&[]));
    }
}

/// The arrays of a function that were declared so far.
struct Found<'a> {
    arrays: Vec<&'a Declaration>,
    trace: &'a mut Trace,
}

impl<'a> Found<'a> {
    fn statements(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Declare(list) = &stmt.kind {
            let shared = |it: &&Declaration| matches!(it.storage, Storage::Shared | Storage::DynamicShared);
            self.arrays.extend(list.iter().filter(shared).filter(|it| matches!(it.ty, Type::Array(..))));
        }
        let mut exprs = Vec::new();
        own_exprs(stmt, &mut |expr| exprs.push(expr));
        exprs.into_iter().for_each(|expr| self.expression(expr, &[AccessOp::Load]));
        let mut stmts = Vec::new();
        own_stmts(stmt, &mut |inner| stmts.push(inner));
        stmts.into_iter().for_each(|inner| self.statement(inner));
    }

    /// `ops` is what is done to the place that the expression names.
    fn expression(&mut self, expr: &'a Expr, ops: &[AccessOp]) {
        match &expr.kind {
            ExprKind::Assign(by, target, value) => {
                self.expression(value, &[AccessOp::Load]);
                let both = [AccessOp::Load, AccessOp::Store];
                self.expression(target, if by.is_some() { &both } else { &both[1..] });
            }
            ExprKind::Step { target, .. } => self.expression(target, &[AccessOp::Load, AccessOp::Store]),
            ExprKind::AddressOf(place) => self.expression(place, &[]),
            ExprKind::Member { base, arrow: false, .. } => self.expression(base, ops),
            ExprKind::SizeofExpr(_) => {}
            ExprKind::Lambda(lambda) => {
                let body: &'a [Stmt] = &lambda.body;
                self.statements(body);
            }
            ExprKind::Index(..) => {
                let mut base = expr;
                let mut subscripts = 0;
                while let ExprKind::Index(array, index) = &base.kind {
                    self.expression(index, &[AccessOp::Load]);
                    (base, subscripts) = (array, subscripts + 1);
                }
                match &base.kind {
                    ExprKind::Local(local) => self.subscripted(expr, *local, subscripts, ops),
                    _ => self.expression(base, &[AccessOp::Load]),
                }
            }
            _ => {
                if let ExprKind::Call { args, .. } = &expr.kind {
                    args.iter().for_each(|arg| self.handed(expr, arg));
                }
                children(expr, &mut |child| self.expression(child, &[AccessOp::Load]));
            }
        }
    }

    /// An argument of a call, which may be an array.
    fn handed(&mut self, call: &Expr, arg: &Expr) {
        let ExprKind::Local(local) = arg.kind else { return };
        let Some(array) = self.arrays.iter().rev().find(|it| it.local == local) else { return };
        let number = self.trace.arrays.iter().position(|known| known.name_span == array.name_span);
        if number.is_none_or(|number| self.trace.accesses.iter().all(|access| access.array != number)) {
            let array = written(array);
            self.list(&array, call, AccessOp::Store);
        }
    }

    fn subscripted(&mut self, expr: &Expr, local: LocalId, subscripts: usize, ops: &[AccessOp]) {
        let Some(array) = self.arrays.iter().rev().find(|it| it.local == local) else { return };
        let (mut element, mut dimensions) = (&array.ty, 0);
        while let Type::Array(inner, _) = element {
            (element, dimensions) = (inner, dimensions + 1);
        }
        // With fewer subscripts it is the address of a row.
        if subscripts < dimensions {
            return;
        }
        let array = written(array);
        ops.iter().for_each(|op| self.list(&array, expr, *op));
    }

    fn list(&mut self, array: &Array, expr: &Expr, op: AccessOp) {
        let arrays = &self.trace.arrays;
        let is_known = |known: &Access| {
            let of = arrays.get(known.array).map(|of| of.name_span);
            (known.span, known.op, of) == (expr.span, op, Some(array.name_span))
        };
        if self.trace.accesses.iter().any(is_known) {
            return;
        }
        let array = self.trace.adopt(array);
        let paths = vec![Vec::new()];
        self.trace.accesses.push(Access { paths, ..Access::new(expr.span, op, array) });
    }
}

/// An array as far as its declaration's text tells.
fn written(array: &Declaration) -> Array {
    let (mut element, mut dimensions) = (&array.ty, 0);
    while let Type::Array(inner, _) = element {
        (element, dimensions) = (inner, dimensions + 1);
    }
    Array {
        name: array.name.to_string(),
        name_span: array.name_span,
        span: array.span,
        dimensions: vec![None; dimensions],
        dimension_spans: array.dimension_spans.clone(),
        element_bytes: None,
        element: crate::ir::print::ty(element),
        dynamic: array.storage == Storage::DynamicShared,
        global: false,
        restrict: false,
        alignment: 1,
        of_numbers: false,
        flattened: true,
        strays: Vec::new(),
    }
}
