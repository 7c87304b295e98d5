//! Has what a launch gives to a kernel to do with anything that host code asks?
//!
//! | launch | |
//! |---|---|
//! | `k<<<1, 64>>>(in, n)` | no: `n` is any number |
//! | `if (n > 64) k<<<1, 64>>>(in, n)` | yes: not any |
//! | `k<<<1, 64>>>(in, 2 * n)` | yes: an even one |
//! | `k<<<1, 64>>>(in, n, n)` | yes: two that are equal |
//! | `k<<<1, 64>>>(nullptr, n)` | yes: no data |

use super::Machine;
use super::refuted::differences;
use crate::domain::{Int, Origin, SymbolId};
use crate::ir::{Expr, ExprKind, Function, Type};
use std::sync::Arc;

impl Machine<'_> {
    /// The numbers of which host code asks something before it comes here.
    pub(super) fn asked_for(&self) -> Vec<SymbolId> {
        let mut asked: Vec<SymbolId> = Vec::new();
        for claim in &self.state.claims {
            differences(&claim.0, &mut |number| {
                for (id, _) in &number.terms {
                    asked.extend(self.world.symbols.roots(*id).unwrap_or_else(|| vec![*id]));
                }
            });
        }
        asked
    }

    /// Whether each argument of a launch is a constant, or a number of its own of which nothing is known.
    pub(in crate::exec) fn are_untied(
        &self,
        kernel: Option<&Arc<Function>>,
        args: &[Expr],
        numbers: &[Option<Int>],
    ) -> bool {
        let asked = self.asked_for();
        let mut seen: Vec<SymbolId> = Vec::new();
        let mut is_untied = |(at, (arg, number)): (usize, (&Expr, &Option<Int>))| {
            let Some(param) = kernel.and_then(|kernel| kernel.params.get(at)) else { return false };
            if matches!(arg.kind, ExprKind::Null) {
                return false;
            }
            let Some(number) = number else { return true };
            if number.as_constant().is_some() {
                return !matches!(param.ty, Type::Pointer(_));
            }
            let [(id, factor)] = number.terms.as_slice() else { return false };
            let is_plain = factor.as_constant() == Some(1) && number.base.as_constant() == Some(0);
            let is_given = self.world.symbols.get(*id).origin == Origin::Given;
            let is_own = !seen.contains(id) && !asked.contains(id) && !self.host.made.contains_key(id);
            seen.push(*id);
            is_plain && is_given && is_own
        };
        args.iter().zip(numbers).enumerate().all(&mut is_untied)
    }
}
