//! Where does an operation run that has branches of its own?
//!
//! [`codegen::inner_branches`](crate::codegen::inner_branches) says which those are, and what they keep the compiler
//! from.

use super::arithmetic::common;
use super::machine::Machine;
use super::types::Ty;
use crate::builtins::{self, InnerBranches};
use crate::codegen::inner_branches::{Divisor, of_division};
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind, Scalar};

impl Machine<'_> {
    /// Notes the branches of an operation that runs, if it has any.
    pub(super) fn note_inner_branches(&mut self, expr: &Expr) {
        if self.recording {
            let branches = self.inner_branches(expr);
            self.compiler.stretch.pass(branches);
        }
    }

    /// The branches of an operation itself, not of its operands.
    pub(super) fn inner_branches(&mut self, expr: &Expr) -> InnerBranches {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, a, b)
            | ExprKind::Assign(Some(BinaryOp::Div | BinaryOp::Rem), a, b) => self.branches_of_division(a, b),
            ExprKind::Call { callee, args, .. } => match &callee.kind {
                ExprKind::Path(path)
                    if builtins::inner_branches(&path.name, false) != InnerBranches::None =>
                {
                    let is_float = |ty: Ty| matches!(ty, Ty::Scalar(Scalar::F32));
                    let of_floats = args.iter().all(|arg| is_float(self.type_of(arg)));
                    builtins::inner_branches(&path.name, of_floats)
                }
                _ => InnerBranches::None,
            },
            _ => InnerBranches::None,
        }
    }

    /// The branches of an expression's operations.
    pub(super) fn inner_branches_within(&mut self, expr: &Expr) -> InnerBranches {
        let mut found = self.inner_branches(expr);
        children(expr, &mut |child| found = found.max(self.inner_branches_within(child)));
        found
    }

    fn branches_of_division(&mut self, a: &Expr, b: &Expr) -> InnerBranches {
        let scalar = common(&self.type_of(a), &self.type_of(b));
        let is_written = matches!(a.kind, ExprKind::Float(..) | ExprKind::Int(..));
        match of_division(scalar, Divisor::Other) {
            InnerBranches::None => InnerBranches::None,
            _ => match self.divisor(b) {
                Divisor::Constant if is_written => InnerBranches::None,
                divisor => of_division(scalar, divisor),
            },
        }
    }

    fn divisor(&mut self, expr: &Expr) -> Divisor {
        match &expr.kind {
            ExprKind::Float(value, _) => of_number(value.value()),
            ExprKind::Int(number, _) => of_number(*number as f64),
            _ => {
                let steps = self.steps;
                let number = self.watching_launch(|machine| machine.plain_constant(expr));
                self.steps = steps;
                match number {
                    (Some(number), false) => of_number(number as f64),
                    // What only a launch tells, the compiler does not know.
                    _ => Divisor::Other,
                }
            }
        }
    }
}

fn of_number(number: f64) -> Divisor {
    match number != 0.0 && number.abs().log2().fract() == 0.0 {
        true => Divisor::PowerOfTwo,
        false => Divisor::Constant,
    }
}
