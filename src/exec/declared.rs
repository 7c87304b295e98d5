//! How is a variable of the running function declared?

use super::machine::Machine;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, LocalId, Stmt, StmtKind, Type};

impl Machine<'_> {
    /// The type that a variable of the innermost function is declared with, as it is written. None for one that the
    /// text does not name.
    pub(super) fn declared_type(&self, local: LocalId) -> Option<&Type> {
        let function = &self.frame()?.function;
        let lambda = self.lambdas.current.iter().flat_map(|lambda| &lambda.params);
        let mut params = function.params.iter().chain(lambda);
        match params.find(|param| param.local == local) {
            Some(param) => Some(&param.ty),
            None => declaration_in(function.body.as_deref()?, local).map(|it| &it.ty),
        }
    }
}

/// Where a variable is declared in a body, or in the lambdas in it.
pub(super) fn declaration_in(body: &[Stmt], local: LocalId) -> Option<&Declaration> {
    body.iter().find_map(|stmt| in_statement(stmt, local))
}

fn in_statement(stmt: &Stmt, local: LocalId) -> Option<&Declaration> {
    let own = match &stmt.kind {
        StmtKind::Declare(list) => list.iter().find(|it| it.local == local),
        _ => None,
    };
    if own.is_some() {
        return own;
    }
    let mut found = None;
    own_stmts(stmt, &mut |inner| found = found.or_else(|| in_statement(inner, local)));
    own_exprs(stmt, &mut |expr| found = found.or_else(|| in_lambdas(expr, local)));
    found
}

fn in_lambdas(expr: &Expr, local: LocalId) -> Option<&Declaration> {
    if let ExprKind::Lambda(lambda) = &expr.kind {
        return if lambda.slots.contains(&local.0) { declaration_in(&lambda.body, local) } else { None };
    }
    let mut found = None;
    children(expr, &mut |inner| found = found.or_else(|| in_lambdas(inner, local)));
    found
}
