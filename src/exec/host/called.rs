//! Which functions may host code call, or launch, through a pointer?
//!
//! ```text
//! const Run table[] = {run<16>, run<32>};
//! table[wide](out, in);                      either may be called: the second where `wide` is 1
//! (wide ? &run<32> : &run<16>)(out, in);
//! ```

use super::Machine;
use crate::domain::{Reason, Unknown};
use crate::exec::interior::Leaving;
use crate::exec::machine::{ChosenKernel, Mode};
use crate::exec::value::Value;
use crate::ir::{BinaryOp, Expr, ExprKind, Name, Scalar};

/// Elements of a table that are looked at, at the most.
const MOST_ELEMENTS: i128 = 32;

impl Machine<'_> {
    /// Calls each of the functions that `callee` may be, where it is one of several: for the launches in them. What
    /// else they do is not known. Whether it did.
    pub(crate) fn host_call_each(
        &mut self,
        expr: &Expr,
        callee: &Expr,
        value: &Value,
        args: &[Expr],
    ) -> bool {
        if self.mode != Mode::Host {
            return false;
        }
        let functions = match value {
            Value::Function(path) => self.kernels_of(path),
            _ => self.kernels_of_table(callee),
        };
        let is_one = functions.iter().all(|it| it.way.is_empty());
        if is_one {
            return false;
        }
        let names: Vec<Name> = functions.iter().map(|it| it.path.name.clone()).collect();
        let before = self.state.clone();
        for ChosenKernel { path, way } in functions {
            for (choice, side) in way {
                if let Some(condition) = self.host.conditions.get(&choice).cloned() {
                    self.claim(&condition, side);
                }
            }
            self.call_path(expr, &path, args, false);
            self.state = before.clone();
        }
        let words = "one of several functions may have changed it";
        let why = Unknown::new(Reason::UnknownFunction, expr.span, words);
        self.lose_effects(&names, &why);
        true
    }

    /// The functions in a table, any of which an element may be whose index is not known.
    pub(crate) fn kernels_of_table(&mut self, expr: &Expr) -> Vec<ChosenKernel> {
        let (table, index) = match &expr.kind {
            ExprKind::Index(table, index) => (table, index),
            ExprKind::Deref(inner) | ExprKind::AddressOf(inner) => return self.kernels_of_table(inner),
            _ => return Vec::new(),
        };
        let of = |kind: ExprKind| Expr { kind, span: expr.span };
        let mut found = Vec::new();
        for at in 0..MOST_ELEMENTS {
            let at = Box::new(of(ExprKind::Int(at, Scalar::I32)));
            let element = of(ExprKind::Index(table.clone(), at.clone()));
            let Value::Function(path) = self.evaluate(&element) else { break };
            let is_meant = of(ExprKind::Binary(BinaryOp::Eq, index.clone(), at));
            let (condition, truth) = self.tested(&is_meant, Leaving::No);
            if truth.decided && truth.can_hold.is_empty() {
                continue;
            }
            let choice = self.choice_by(&condition);
            found.push(ChosenKernel { path: path.as_ref().clone(), way: vec![(choice, true)] });
        }
        found
    }
}
