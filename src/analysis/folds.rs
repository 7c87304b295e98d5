//! Where does a kernel's text combine an element of memory with another?
//!
//! | in the text | written | read | by |
//! |---|---|---|---|
//! | `s[i] += s[j]` | `s[i]` | `s[i]`, `s[j]` | `+` |
//! | `s[i] = s[i] * s[j]` | `s[i]` | `s[i]`, `s[j]` | `*` |
//! | `s[i] = fmaxf(s[i], s[j])` | `s[i]` | `s[i]`, `s[j]` | `fmaxf` |
//!
//! Only operations are listed for which it makes no difference, but for rounding, in which order many elements are
//! combined. Whether both read elements of one array, and which, is for the events to tell.

use super::pitch::sites::{Part, visit};
use super::runs::Subject;
use crate::ir::{BinaryOp, Expr, ExprKind};
use crate::rules::{Fold, FoldedBy};

/// Functions of two values whose order and grouping make no difference.
const FUNCTIONS: [&str; 10] =
    ["max", "min", "fmax", "fmin", "fmaxf", "fminf", "umax", "umin", "__hmax", "__hmin"];

/// All of them, in the order of the text.
pub(super) fn folds(subject: &Subject<'_>) -> Vec<Fold> {
    let mut found = Vec::new();
    visit(subject.kernel.body.as_deref().unwrap_or(&[]), &mut |part| {
        if let Part::Expr(expr) = part {
            found.extend(fold(subject, expr));
        }
    });
    found
}

fn fold(subject: &Subject<'_>, expr: &Expr) -> Option<Fold> {
    let ExprKind::Assign(operator, target, value) = &expr.kind else { return None };
    let (target, value) = (element(target)?, plain(value));
    let (one, other, by) = match (operator, &value.kind) {
        (Some(op), _) => (target, element(value)?, FoldedBy::Operator(sign(*op)?)),
        (None, ExprKind::Binary(op, a, b)) => (element(a)?, element(b)?, FoldedBy::Operator(sign(*op)?)),
        (None, ExprKind::Call { callee, args }) => {
            let (ExprKind::Path(path), [a, b]) = (&callee.kind, args.as_slice()) else { return None };
            let is_known =
                FUNCTIONS.contains(&&*path.name) && subject.program.functions(&path.name).is_empty();
            let by = FoldedBy::Function(path.name.to_string());
            is_known.then_some(())?;
            (element(a)?, element(b)?, by)
        }
        _ => return None,
    };
    Some(Fold { target: target.span, one: one.span, other: other.span, by })
}

/// An element of memory, whatever it is cast to.
fn element(expr: &Expr) -> Option<&Expr> {
    let expr = plain(expr);
    matches!(expr.kind, ExprKind::Index(..)).then_some(expr)
}

fn plain(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(_, inner) => plain(inner),
        _ => expr,
    }
}

/// The sign of an operator by which many values may be combined in any order.
fn sign(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "+",
        BinaryOp::Mul => "*",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        _ => return None,
    })
}
