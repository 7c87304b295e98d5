//! Which functions only compute data?
//!
//! `fill(R, 0.0f)`, `warp_reduce(x)`: a function of the program that reads and writes nothing but
//! its own variables and what it is given, and in which nothing that it is given decides what runs.
//! A call of it is like an operator: what goes in flows into its result and into the variables that
//! it is given by reference or pointer.

use super::endings::{ends_with_effect, makes_such};
use super::flow::Flow;
use super::known_plain::Plains;
use super::{is_arithmetic, is_asked_for};
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, Function, FunctionKind, Stmt, StmtKind, Storage, Type};

/// Whether a function only computes data; `depth`: calls in calls above it.
pub(super) fn computes(plains: &Plains, function: &Function, program: &Program, depth: usize) -> bool {
    let mentions = &function.mentions;
    let simple = function.kind == FunctionKind::Device
        && function.owner.is_none()
        && !makes_such(function, program)
        && !function.damaged
        && !(mentions.shared || mentions.barrier || mentions.volatile || mentions.launch)
        && !function.template_params.iter().any(|param| param.pack)
        && function.params.iter().all(|param| is_followed(&param.ty));
    let Some(body) = function.body.as_deref().filter(|_| simple) else { return false };
    let flow = Flow::of_plain(function, program, plains, depth + 1);
    let used = flow.all_into(flow.matters.clone());
    !flow.axes.contains(&true)
        && !function.params.iter().any(|param| used.contains(&param.local))
        && body.iter().all(|stmt| only_computes(stmt, &flow, program))
}

/// Whether it is known what a parameter of this type gives access to.
fn is_followed(ty: &Type) -> bool {
    match ty {
        Type::Pointer(inner) => matches!(**inner, Type::Scalar(_) | Type::Named(_)),
        Type::Reference(inner) => matches!(**inner, Type::Scalar(_) | Type::Named(_) | Type::Array(..)),
        Type::Scalar(_) | Type::Named(_) => true,
        _ => false,
    }
}

fn only_computes(stmt: &Stmt, flow: &Flow<'_>, program: &Program) -> bool {
    let mut computes = match &stmt.kind {
        StmtKind::Declare(list) => list.iter().all(|it| {
            it.storage == Storage::Automatic
                && !matches!(it.ty, Type::Reference(_) | Type::Auto | Type::Decltype(_))
                && !ends_with_effect(&it.ty, program)
        }),
        StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Unsupported(..)
        | StmtKind::Try(_)
        | StmtKind::Throw
        | StmtKind::Damaged => false,
        _ => true,
    };
    own_exprs(stmt, &mut |expr| computes &= is_computation(expr, flow, program));
    own_stmts(stmt, &mut |inner| computes &= only_computes(inner, flow, program));
    computes
}

fn is_computation(expr: &Expr, flow: &Flow<'_>, program: &Program) -> bool {
    let mut computes = match &expr.kind {
        ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } => {
            flow.places.inside(expr).is_some()
        }
        ExprKind::Path(path) => {
            !program.variables(&path.name).iter().any(|it| is_asked_for(it, flow.minds_memory()))
        }
        ExprKind::Call { callee, args } => match &callee.kind {
            ExprKind::Path(path) => {
                let known = super::computes(&path.name, program, flow.minds_lanes())
                    || flow.calls.contains_key(&super::key(expr));
                return known && args.iter().all(|arg| is_computation(arg, flow, program));
            }
            _ => false,
        },
        ExprKind::Asm(asm) => is_arithmetic(asm),
        ExprKind::Construct(ty, _) => !ends_with_effect(ty, program),
        ExprKind::This
        | ExprKind::Lambda(_)
        | ExprKind::Launch(_)
        | ExprKind::Unsupported(_)
        | ExprKind::Damaged => false,
        _ => true,
    };
    children(expr, &mut |child| computes &= is_computation(child, flow, program));
    computes
}
