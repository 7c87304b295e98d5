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
//! They are taken from the text: what is done to variables that the kernel declares, or a function that it calls; and
//! calls that are handed the address of one, where the run did not find what they do with it. A variable that is made
//! from such an address holds it: what is done through it, or by its methods, is done to the array. Of functions that
//! have their name in common only those in the kernel's own file count, since the run may have meant others. An array of
//! the kernel of which nothing is found is listed where it is declared.

use crate::builtins::{self, Kind};
use crate::events::{Access, AccessOp, Array, Trace};
use crate::ir::program::Program;
use crate::ir::visit::{called_names, children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Function, LocalId, Stmt, StmtKind, Storage, Type};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
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
    for (at, function) in functions.into_iter().enumerate() {
        let mut found = Found {
            declared: Vec::new(),
            held: FxHashMap::default(),
            numbers: FxHashSet::default(),
            trace: &mut *trace,
        };
        found.statements(function.body.as_deref().unwrap_or(&[]));
        if at == 0 {
            found.list_declared();
        }
    }
}

/// The shared variables of a function that were declared so far.
struct Found<'a> {
    declared: Vec<&'a Declaration>,
    /// Those to which other variables lead.
    held: FxHashMap<LocalId, Vec<&'a Declaration>>,
    /// Those that hold numbers, and so lead nowhere.
    numbers: FxHashSet<LocalId>,
    trace: &'a mut Trace,
}

/// What of a variable a place is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of an array or object, or a row.
    Whole,
    /// A number, an element or a member.
    Part,
    /// What a pointer leads to: the pointer is read.
    Behind,
}

impl<'a> Found<'a> {
    fn statements(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Declare(list) = &stmt.kind {
            let shared = |it: &&Declaration| matches!(it.storage, Storage::Shared | Storage::DynamicShared);
            self.declared.extend(list.iter().filter(shared));
            for variable in list.iter().filter(|it| !shared(it)) {
                if matches!(variable.ty, Type::Scalar(_)) {
                    self.numbers.insert(variable.local);
                }
                variable.init.iter().for_each(|init| self.hold(variable.local, init));
            }
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
                if let Some(local) = root(target) {
                    self.hold(local, value);
                }
            }
            ExprKind::Step { target, .. } => self.expression(target, &[AccessOp::Load, AccessOp::Store]),
            ExprKind::AddressOf(place) => self.expression(place, &[]),
            ExprKind::SizeofExpr(_) => {}
            ExprKind::Lambda(lambda) => {
                let body: &'a [Stmt] = &lambda.body;
                self.statements(body);
            }
            ExprKind::Local(_) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let base = self.subscripts(expr);
                match self.within(expr) {
                    Some((_, Extent::Whole)) => {}
                    Some((variable, Extent::Part)) => {
                        let array = written(variable);
                        ops.iter().for_each(|op| self.list(&array, expr.span, *op));
                    }
                    Some((variable, Extent::Behind)) => {
                        self.list(&written(variable), base.span, AccessOp::Load)
                    }
                    None if matches!(base.kind, ExprKind::Local(_)) => self.through(expr, expr, ops),
                    None => self.expression(base, &[AccessOp::Load]),
                }
            }
            ExprKind::Call { callee, args } => {
                let is_address = matches!(&callee.kind, ExprKind::Path(path)
                    if builtins::kind(&path.name) == Some(Kind::SharedAddress));
                args.iter().filter(|_| !is_address).for_each(|arg| self.handed(expr, arg));
                if let ExprKind::Member { base, .. } = &callee.kind
                    && let ExprKind::Local(local) = base.kind
                {
                    self.held_by(local).into_iter().for_each(|variable| self.hand_over(expr, variable));
                }
                children(expr, &mut |child| self.expression(child, &[AccessOp::Load]));
            }
            ExprKind::Deref(inner) => {
                let mut arrays = Vec::new();
                self.leads(inner, &mut arrays);
                self.list_each(arrays, expr, ops);
                self.expression(inner, &[AccessOp::Load]);
            }
            _ => children(expr, &mut |child| self.expression(child, &[AccessOp::Load])),
        }
    }

    /// What is done through a variable that leads to shared ones.
    fn through(&mut self, place: &Expr, expr: &Expr, ops: &[AccessOp]) {
        match &place.kind {
            ExprKind::Index(base, _) | ExprKind::Member { base, arrow: true, .. } => {
                let arrays = root(base).map(|local| self.held_by(local));
                self.list_each(arrays.unwrap_or_default(), expr, ops);
            }
            ExprKind::Member { base, arrow: false, .. } => self.through(base, expr, ops),
            _ => {}
        }
    }

    fn list_each(&mut self, arrays: Vec<&'a Declaration>, expr: &Expr, ops: &[AccessOp]) {
        for variable in arrays {
            ops.iter().for_each(|op| self.list(&written(variable), expr.span, *op));
        }
    }

    fn held_by(&self, local: LocalId) -> Vec<&'a Declaration> {
        self.held.get(&local).cloned().unwrap_or_default()
    }

    /// A variable is made from a value, and leads to the shared ones to which that leads.
    fn hold(&mut self, local: LocalId, value: &Expr) {
        if self.numbers.contains(&local) {
            return;
        }
        let mut arrays = Vec::new();
        self.leads(value, &mut arrays);
        for array in arrays {
            let held = self.held.entry(local).or_default();
            if !held.iter().any(|it| it.local == array.local) {
                held.push(array);
            }
        }
    }

    /// The shared variables to which a value may lead.
    fn leads(&self, value: &Expr, found: &mut Vec<&'a Declaration>) {
        match &value.kind {
            ExprKind::AddressOf(place) => match self.within(place) {
                Some((_, Extent::Behind)) => {}
                Some((variable, _)) => found.push(variable),
                None => self.leads(place, found),
            },
            ExprKind::Cast(_, inner) | ExprKind::Step { target: inner, .. } => self.leads(inner, found),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) | ExprKind::Conditional(_, a, b) => {
                [a, b].into_iter().for_each(|side| self.leads(side, found));
            }
            ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
                items.iter().for_each(|item| self.leads(item, found));
            }
            ExprKind::Call { args, .. } => args.iter().for_each(|arg| self.leads(arg, found)),
            _ => match self.within(value) {
                Some((variable, Extent::Whole)) => found.push(variable),
                Some(_) => {}
                None => {
                    let root = root(value).map(|local| self.held_by(local));
                    found.extend(root.unwrap_or_default());
                }
            },
        }
    }

    /// The arrays of which nothing is listed yet.
    fn list_declared(&mut self) {
        for variable in std::mem::take(&mut self.declared) {
            let is_it = |known: &Access| {
                self.trace.arrays.get(known.array).is_some_and(|of| of.name_span == variable.name_span)
            };
            if !self.trace.accesses.iter().any(is_it) {
                self.list(&written(variable), variable.name_span, AccessOp::Store);
            }
        }
    }

    /// Looks into the subscripts of a place; what it leads from.
    fn subscripts(&mut self, place: &'a Expr) -> &'a Expr {
        match &place.kind {
            ExprKind::Index(base, index) => {
                self.expression(index, &[AccessOp::Load]);
                self.subscripts(base)
            }
            ExprKind::Member { base, arrow: false, .. } => self.subscripts(base),
            ExprKind::Member { base, arrow: true, .. } => base,
            _ => place,
        }
    }

    /// The shared variable that a place is in.
    fn within(&self, place: &Expr) -> Option<(&'a Declaration, Extent)> {
        let (mut base, mut subscripts, mut is_member) = (place, 0, false);
        let local = loop {
            base = match &base.kind {
                ExprKind::Local(local) => break *local,
                ExprKind::Index(inner, _) => {
                    subscripts += 1;
                    inner
                }
                ExprKind::Member { base: inner, arrow: false, .. } => {
                    is_member = true;
                    inner
                }
                _ => return None,
            };
        };
        let variable = *self.declared.iter().rev().find(|it| it.local == local)?;
        let (element, dimensions) = element_of(variable);
        let is_object = dimensions == 0 && matches!(element, Type::Named(_));
        let extent = match subscripts {
            _ if is_member => Extent::Part,
            0 if is_object => Extent::Whole,
            _ if subscripts < dimensions => Extent::Whole,
            1.. if dimensions == 0 => Extent::Behind,
            _ => Extent::Part,
        };
        Some((variable, extent))
    }

    /// An argument of a call, which may lead to variables. What another call gives back is that call's own.
    fn handed(&mut self, call: &Expr, arg: &Expr) {
        let mut arrays = Vec::new();
        if !matches!(arg.kind, ExprKind::Call { .. }) {
            self.leads(arg, &mut arrays);
        }
        arrays.into_iter().for_each(|variable| self.hand_over(call, variable));
    }

    /// Who is called may access a variable.
    fn hand_over(&mut self, call: &Expr, variable: &'a Declaration) {
        let is_known = |access: &Access| {
            let of = self.trace.arrays.get(access.array).map(|of| of.name_span);
            let calls = || access.paths.iter().flatten().any(|it| it.span == call.span);
            of == Some(variable.name_span) && (access.span == call.span || calls())
        };
        if !self.trace.accesses.iter().any(is_known) {
            self.list(&written(variable), call.span, AccessOp::Store);
        }
    }

    fn list(&mut self, array: &Array, span: Span, op: AccessOp) {
        let arrays = &self.trace.arrays;
        let is_known = |known: &Access| {
            let of = arrays.get(known.array).map(|of| of.name_span);
            (known.span, known.op, of) == (span, op, Some(array.name_span))
        };
        if self.trace.accesses.iter().any(is_known) {
            return;
        }
        let array = self.trace.adopt(array);
        let paths = vec![Vec::new()];
        self.trace.accesses.push(Access { paths, ..Access::new(span, op, array) });
    }
}

/// The variable that a place is in, or that leads to it.
fn root(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Index(base, _) | ExprKind::Member { base, .. } => root(base),
        _ => None,
    }
}

/// What an array is made of, and how many dimensions it has.
fn element_of(variable: &Declaration) -> (&Type, usize) {
    let (mut element, mut dimensions) = (&variable.ty, 0);
    while let Type::Array(inner, _) = element {
        (element, dimensions) = (inner, dimensions + 1);
    }
    (element, dimensions)
}

/// A variable as far as its declaration's text tells.
fn written(array: &Declaration) -> Array {
    let (element, dimensions) = element_of(array);
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
        of_vectors: false,
        flattened: true,
        strays: Vec::new(),
        declared: None,
    }
}
