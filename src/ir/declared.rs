//! How are the variables of a function declared, and what is used of them?

pub(crate) mod member_uses;
mod same_conditions;

use super::visit::{children, own_exprs, own_stmts};
use super::{Declaration, Expr, ExprKind, Function, LocalId, Stmt, StmtKind, Type};
use crate::source::Span;
use member_uses::MemberUses;
use rustc_hash::FxHashMap;
use same_conditions::Repeated;

/// What is known of the variables of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    types: FxHashMap<LocalId, Type>,
    uses: MemberUses,
    repeated: Repeated,
}

/// The type that a variable is declared with in the body of a function, as it is written. None for a parameter, and for
/// one that the text does not name.
#[must_use]
pub(crate) fn declared_type(function: &Function, local: LocalId) -> Option<&Type> {
    variables(function).types.get(&local)
}

/// Which members are used of the objects that a function reads or writes as a whole.
#[must_use]
pub(crate) fn member_uses(function: &Function) -> &MemberUses {
    &variables(function).uses
}

/// The place of the conditional expression before it that asked the same as the one whose condition has this place.
#[must_use]
pub(crate) fn asked_before(function: &Function, cond: Span) -> Option<Span> {
    variables(function).repeated.get(&cond).copied()
}

fn variables(function: &Function) -> &Variables {
    function.declared_types.get_or_find(|| {
        let mut types = FxHashMap::default();
        let body = function.body.as_deref().unwrap_or(&[]);
        each_declaration(body, &mut |it| {
            types.entry(it.local).or_insert_with(|| it.ty.clone());
        });
        Variables { types, uses: MemberUses::of(function), repeated: same_conditions::repeated(body) }
    })
}

/// Where a variable is declared in a body, or in the lambdas in it.
#[must_use]
pub(crate) fn declaration_in(body: &[Stmt], local: LocalId) -> Option<&Declaration> {
    let mut found = None;
    each_declaration(body, &mut |it| found = found.or((it.local == local).then_some(it)));
    found
}

fn each_declaration<'a>(body: &'a [Stmt], act: &mut dyn FnMut(&'a Declaration)) {
    body.iter().for_each(|stmt| in_statement(stmt, act));
}

fn in_statement<'a>(stmt: &'a Stmt, act: &mut dyn FnMut(&'a Declaration)) {
    if let StmtKind::Declare(list) = &stmt.kind {
        list.iter().for_each(&mut *act);
    }
    own_stmts(stmt, &mut |inner| in_statement(inner, act));
    own_exprs(stmt, &mut |expr| in_lambdas(expr, act));
}

fn in_lambdas<'a>(expr: &'a Expr, act: &mut dyn FnMut(&'a Declaration)) {
    match &expr.kind {
        ExprKind::Lambda(lambda) => each_declaration(&lambda.body, act),
        _ => children(expr, &mut |inner| in_lambdas(inner, act)),
    }
}
