//! Where does a shared variable stand among those that the compiler lays out for its function?
//!
//! Those of a block come before those of the blocks in it. A lambda is a function of its own.

use super::visit::{children, own_exprs, own_stmts};
use super::{Declaration, Expr, ExprKind, Function, Name, Stmt, StmtKind, Storage};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The place of a shared variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The name of the function, or all of the lambda, that declares it.
    pub(crate) function: Span,
    /// How many of the function are laid out before it.
    pub(crate) number: u32,
}

/// By the name and where it is written: a macro may declare several in one place.
pub(super) type Places = FxHashMap<(Span, Name), Place>;

/// The place of a variable that a function, or a lambda in it, declares.
#[must_use]
pub(crate) fn place_of(function: &Function, declaration: &Declaration) -> Option<Place> {
    let places = function.shared_locals.get_or_find(|| {
        let body = function.body.as_deref().unwrap_or(&[]);
        let mut functions = vec![(function.name_span, body)];
        lambdas(body, &mut functions);
        let mut places = Places::default();
        for (function, body) in functions {
            let mut found = Vec::new();
            shared_locals(body, &mut found);
            for (number, variable) in (0..).zip(found) {
                places.entry(variable).or_insert(Place { function, number });
            }
        }
        places
    });
    places.get(&(declaration.name_span, declaration.name.clone())).copied()
}

/// The static shared variables of a block and then those of the blocks in it, as the compiler lays them out.
fn shared_locals(block: &[Stmt], found: &mut Vec<(Span, Name)>) {
    for stmt in block {
        if let StmtKind::Declare(list) = &stmt.kind {
            let shared = list.iter().filter(|it| it.storage == Storage::Shared);
            found.extend(shared.map(|it| (it.name_span, it.name.clone())));
        }
    }
    for stmt in block {
        match &stmt.kind {
            StmtKind::Block(body)
            | StmtKind::Unsupported(_, body)
            | StmtKind::Try(body)
            | StmtKind::Loop { body, .. } => {
                shared_locals(body, found);
            }
            StmtKind::If { then, otherwise, .. } => {
                shared_locals(then, found);
                shared_locals(otherwise, found);
            }
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| shared_locals(&case.body, found)),
            _ => {}
        }
    }
}

/// The lambdas in a block, and their bodies.
fn lambdas<'a>(block: &'a [Stmt], found: &mut Vec<(Span, &'a [Stmt])>) {
    for stmt in block {
        let mut exprs: Vec<&Expr> = Vec::new();
        own_exprs(stmt, &mut |expr| exprs.push(expr));
        while let Some(expr) = exprs.pop() {
            if let ExprKind::Lambda(lambda) = &expr.kind {
                found.push((expr.span, &lambda.body));
                lambdas(&lambda.body, found);
            }
            children(expr, &mut |child| exprs.push(child));
        }
        own_stmts(stmt, &mut |inner| lambdas(std::slice::from_ref(inner), found));
    }
}
