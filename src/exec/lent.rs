//! Is an argument read of a function that is not seen?
//!
//! Nothing says whether it takes a value or a reference. By value, what the argument names is loaded; by reference, it
//! may be loaded, written, waited for, or left alone:
//!
//! | of `__shared__ unsigned long long bar[4];` | |
//! |---|---|
//! | `wait(bar[i])` | an access of which nothing is known |
//! | `wait(bar[i] + 1)` | a load: the sum is a value |
//! | `wait(bar[i])`, where `void wait(unsigned long long);` is declared | a load |
//! | `wait(bar[i])`, where `void wait(unsigned long long &);` is declared | an access of which nothing is known |
//! | `x = op(s[i])`, of `__shared__ float s[64]` | a load, taken for granted: the result is made of it |

use super::machine::{Lent, Machine, Mode};
use super::types::Ty;
use super::unseen::{Callee, copies_memory};
use super::value::{Offset, Pointer, Target, Value};
use crate::builtins;
use crate::domain::{Reason, Unknown, Variation};
use crate::events::Assumption;
use crate::ir::{Expr, ExprKind, Function, Scalar, Type};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    /// What an argument is, by its place, that is handed to a function which is not seen.
    pub(super) fn handed_to(&mut self, callee: Callee<'_>, (at, arg): (usize, &Expr)) -> Value {
        match self.may_bind(callee.name(), at).filter(|_| self.mode == Mode::Device) {
            Some(how) => self.lend(arg, callee, how),
            None => self.handed_over(arg),
        }
    }

    /// How a function may take an argument so that it need not be read: by reference, to what is `const` or not.
    fn may_bind(&self, name: &str, at: usize) -> Option<&'static str> {
        let either = "may take it by value or by reference";
        let declared = self.program.functions(name);
        if declared.is_empty() {
            let is_known =
                builtins::is_reserved(name) || builtins::kind(name).is_some() || copies_memory(name);
            let reads = is_known || builtins::only_computes(name);
            return (!reads).then_some(either);
        }
        let refers = |function: &Arc<Function>| {
            let last = function.params.last().filter(|last| last.pack);
            match function.params.get(at).or(last).map(|param| &param.ty) {
                Some(Type::Reference(_)) => Some("takes it by reference"),
                None | Some(Type::Auto | Type::Opaque) => Some(either),
                Some(_) => None,
            }
        };
        let mut all = declared.iter().map(refers);
        let first = all.next().flatten();
        match all.all(|other| other == first) {
            true => first,
            false => Some(either),
        }
    }

    /// An argument that may be bound to a reference, as `how` says. What it names is read only if it is not.
    fn lend(&mut self, arg: &Expr, callee: Callee<'_>, how: &str) -> Value {
        let names_place = matches!(
            arg.kind,
            ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Member { .. }
                | ExprKind::Local(_)
                | ExprKind::Path(_)
        );
        if !names_place {
            return self.handed_over(arg);
        }
        let who = callee.not_seen();
        let lent = match self.at_hand.is_used && self.is_number_to_work_with(arg, callee) {
            true => Lent::Assumed(Assumption::ReadsOnce { callee: who.into() }),
            false => Lent::Unknown(Unknown::new(Reason::UnknownFunction, arg.span, format!("{who} {how}"))),
        };
        let outer = self.at_hand.lent.replace((arg.span, lent));
        let value = self.handed_over(arg);
        self.at_hand.lent = outer;
        value
    }

    /// Whether an argument is a number that a function works with, or a vector of some: no object of a class, and no
    /// unsigned number of 64 bits, which may be an `mbarrier` that is waited for.
    fn is_number_to_work_with(&mut self, arg: &Expr, callee: Callee<'_>) -> bool {
        if matches!(callee, Callee::Constructor(_)) {
            return false;
        }
        match self.type_of(arg).unqualified() {
            Ty::Scalar(scalar) => scalar != Scalar::U64,
            Ty::Record(layout) => layout.record.is_none(),
            Ty::Sized { .. } => true,
            ty @ Ty::Unknown(_) => !self.is_hidden_class(&ty),
            _ => false,
        }
    }

    /// Where an access leads that is the reading of an argument which may be taken by reference, if it is not known
    /// whether there is one, and of what; else what is taken for granted of it.
    pub(super) fn if_lent(&self, pointer: &Pointer, span: Span) -> (Option<Pointer>, Option<Assumption>) {
        match self.at_hand.lent.as_ref().filter(|(of, _)| *of == span) {
            Some((_, Lent::Unknown(why))) => {
                let Target::Memory(object, _) = pointer.target else { return (None, None) };
                let target = Target::Memory(object, Offset::unknown(Variation::Maybe, why.clone()));
                (Some(Pointer { target, ..pointer.clone() }), None)
            }
            Some((_, Lent::Assumed(assumption))) => (None, Some(assumption.clone())),
            None => (None, None),
        }
    }
}
