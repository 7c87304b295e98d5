//! What becomes of each variable of a kernel, at each place that may change it?
//!
//! ```text
//! float v = in[i];                to `in[i]`
//! while (v > limit) v *= 0.5f;    to what is made of its own, as long as `v > limit`
//! for (...; ++k)                  stepped
//! f(&v);                          anyhow
//! ```

use super::computes;
use super::starts::Starts;
use crate::builtins;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, LocalId, Stmt, StmtKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What becomes of a variable at one place.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    /// It gets a value, or what is made of its own and a value.
    To(&'a Expr),
    /// It is stepped.
    Step,
    /// It may change no more, or for another round: a loop around asks for this.
    AsLongAs(&'a Expr),
    /// Something else may change it.
    Anyhow,
}

/// What is written to a variable, or to an element of an array.
pub(super) struct Written<'a> {
    /// Where.
    pub place: &'a Expr,
    /// The value.
    pub value: &'a Expr,
    /// Whether it is all that is there then, as with `=`.
    pub is_whole: bool,
}

/// The array that an element is of; what is no element itself.
pub(super) fn array_of(mut element: &Expr) -> Option<LocalId> {
    while let ExprKind::Index(base, _) = &element.kind {
        element = base;
    }
    variable_of(element)
}

/// What becomes of all of them.
pub(super) struct Changes<'a> {
    /// By variable.
    pub of: FxHashMap<LocalId, Vec<Change<'a>>>,
    /// What is written to variables and to elements of arrays.
    pub written: Vec<Written<'a>>,
    /// The variables in shared memory.
    pub shared: Vec<LocalId>,
    /// Those of them that are arrays of one dimension, whose elements go by no other name: no pointer to one is made.
    pub rows: FxHashSet<LocalId>,
    /// How far they hold what they are declared with.
    pub starts: Starts<'a>,
}

impl<'a> Changes<'a> {
    /// Of the body of a kernel with these parameters; `None` where that cannot be told.
    pub(super) fn of(
        body: &'a [Stmt],
        params: &FxHashSet<LocalId>,
        program: &Program,
    ) -> Option<Changes<'a>> {
        let mut found = Changes {
            of: FxHashMap::default(),
            written: Vec::new(),
            shared: Vec::new(),
            rows: FxHashSet::default(),
            starts: Starts::default(),
        };
        find_changes(body, params, program, &mut found).then_some(found)
    }
}

/// Finds them. False where that cannot be told.
fn find_changes<'a>(
    body: &'a [Stmt],
    params: &FxHashSet<LocalId>,
    program: &Program,
    found: &mut Changes<'a>,
) -> bool {
    let mut stmts: Vec<(&Stmt, Guard<'_>)> = body.iter().map(|stmt| (stmt, Guard::default())).collect();
    let mut exprs: Vec<(&Expr, Guard<'_>)> = Vec::new();
    while let Some((stmt, around)) = stmts.pop() {
        let mut guard = around.clone();
        match &stmt.kind {
            StmtKind::If { cond, .. } => guard.is_opaque |= !is_bound(cond, params),
            StmtKind::Loop { cond: Some(cond), .. } if is_bound(cond, params) => {}
            StmtKind::Loop { cond: Some(cond), .. } if is_still(cond) => guard.loops.push(cond),
            StmtKind::Loop { .. } | StmtKind::Switch { .. } => guard.is_opaque = true,
            _ => {}
        }
        match &stmt.kind {
            StmtKind::Declare(list) => {
                for declaration in list {
                    declare(declaration, found);
                    found.starts.declare(declaration);
                }
            }
            StmtKind::Loop { .. } => found.starts.note_loop(stmt.span),
            StmtKind::Damaged | StmtKind::Unsupported(..) | StmtKind::Try(_) | StmtKind::Throw => {
                return false;
            }
            _ => {}
        }
        own_exprs(stmt, &mut |expr| exprs.push((expr, guard.clone())));
        own_stmts(stmt, &mut |inner| stmts.push((inner, guard.clone())));
    }
    while let Some((expr, guard)) = exprs.pop() {
        if !note_change(expr, &guard, program, found) {
            return false;
        }
        let parts = matches!(
            expr.kind,
            ExprKind::Conditional(..) | ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, ..)
        );
        let own_array = match &expr.kind {
            ExprKind::Index(base, _) => Some(&**base).filter(|base| variable_of(base).is_some()),
            _ => None,
        };
        children(expr, &mut |child| {
            let mut guard = guard.clone();
            guard.is_opaque |= parts;
            if !own_array.is_some_and(|array| std::ptr::eq(array, child)) {
                exprs.push((child, guard));
            }
        });
    }
    true
}

/// What one expression changes by itself. False where that cannot be told.
fn note_change<'a>(expr: &'a Expr, guard: &Guard<'a>, program: &Program, found: &mut Changes<'a>) -> bool {
    let mut change = |target: &Expr, change: Change<'a>| {
        if let Some(local) = variable_of(target) {
            found.starts.note_change(local, target.span);
            let is_step = matches!(change, Change::Step);
            let is_whole = matches!(target.kind, ExprKind::Local(_)) && (is_step || !guard.is_opaque);
            let all = found.of.entry(local).or_default();
            all.push(if is_whole { change } else { Change::Anyhow });
            all.extend(guard.loops.iter().filter(|_| !is_step).map(|cond| Change::AsLongAs(cond)));
        }
    };
    match &expr.kind {
        ExprKind::Assign(op, target, value) => {
            change(target, Change::To(value));
            let is_named = matches!(target.kind, ExprKind::Index(..) | ExprKind::Local(_));
            let written = Written { place: target, value, is_whole: op.is_none() };
            found.written.extend(is_named.then_some(written));
        }
        ExprKind::Step { target, .. } => change(target, Change::Step),
        ExprKind::AddressOf(target) if matches!(target.kind, ExprKind::Index(..)) => {
            array_of(target).inspect(|array| _ = found.rows.remove(array));
        }
        ExprKind::Local(local) => _ = found.rows.remove(local),
        ExprKind::AddressOf(target) if !matches!(target.kind, ExprKind::Index(..)) => {
            change(target, Change::Anyhow);
        }
        ExprKind::Call { callee, args } => {
            let is_known = match &callee.kind {
                ExprKind::Path(path) => {
                    let is_own =
                        builtins::kind(&path.name).is_some() && program.functions(&path.name).is_empty();
                    is_own || computes(&path.name, program, true)
                }
                _ => false,
            };
            for arg in args.iter().filter(|_| !is_known) {
                change(arg, Change::Anyhow);
            }
            if let ExprKind::Member { base, .. } = &callee.kind {
                change(base, Change::Anyhow);
            }
        }
        ExprKind::Asm(asm) => asm.outputs.iter().for_each(|(_, target)| change(target, Change::Anyhow)),
        ExprKind::Lambda(_) | ExprKind::Damaged | ExprKind::Unsupported(_) => return false,
        _ => {}
    }
    true
}

/// Conditions around something that may let some threads through and others not.
#[derive(Clone, Default)]
struct Guard<'a> {
    /// Those of loops.
    loops: SmallVec<[&'a Expr; 2]>,
    /// Whether there are others.
    is_opaque: bool,
}

fn declare<'a>(declaration: &'a Declaration, found: &mut Changes<'a>) {
    let local = declaration.local;
    match &declaration.ty {
        _ if declaration.storage.is_shared() => {
            found.shared.push(local);
            let is_row =
                matches!(&declaration.ty, Type::Array(of, Some(_)) if !matches!(**of, Type::Array(..)));
            found.rows.extend(is_row.then_some(local));
        }
        // Its constructor may give it anything.
        Type::Named(_) if declaration.init.is_none() => {
            found.of.entry(local).or_default().push(Change::Anyhow);
        }
        Type::Array(..) | Type::Reference(..) => {
            found.of.entry(local).or_default().push(Change::Anyhow);
            // It may be changed under another name.
            if let Some(to) = declaration.init.as_ref().and_then(variable_of) {
                found.of.entry(to).or_default().push(Change::Anyhow);
                found.starts.note_change(to, declaration.span);
            }
        }
        _ => found.of.entry(local).or_default().extend(declaration.init.as_ref().map(Change::To)),
    }
}

/// The variable that a place belongs to, as far as no pointer is followed.
pub(super) fn variable_of(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Member { base, arrow: false, .. } => variable_of(base),
        _ => None,
    }
}

/// Whether a condition is a bound that a parameter of the kernel gives, as `i < n`, or some of these.
fn is_bound(cond: &Expr, params: &FxHashSet<LocalId>) -> bool {
    use BinaryOp::{Ge, Gt, Le, LogicalAnd, Lt};
    let given = |expr: &Expr| matches!(expr.kind, ExprKind::Local(local) if params.contains(&local));
    match &cond.kind {
        ExprKind::Binary(LogicalAnd, a, b) => is_bound(a, params) && is_bound(b, params),
        ExprKind::Binary(Lt | Le | Gt | Ge, a, b) => given(a) || given(b),
        _ => false,
    }
}

/// Whether evaluating an expression changes nothing.
pub(super) fn is_still(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if matches!(
            expr.kind,
            ExprKind::Assign(..)
                | ExprKind::Step { .. }
                | ExprKind::Call { .. }
                | ExprKind::Asm(_)
                | ExprKind::Lambda(_)
        ) {
            return false;
        }
        children(expr, &mut |child| open.push(child));
    }
    true
}
