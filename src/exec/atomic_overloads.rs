//! Does a call of an atomic mean CUDA's own, though the program has a function of that name?
//!
//! CUDA's are no templates, and overload resolution prefers such a function to a template that fits as well. So the
//! atomic is CUDA's where it takes these very types, or where the types of no template can be deduced:
//!
//! | declared | called with | means |
//! |---|---|---|
//! | `template <class T> T atomicAdd(T *, T)` | `int *`, `int` | CUDA's |
//! | the same | `unsigned *`, `int` | CUDA's: `T` would be two types |
//! | the same | `short *`, `short` | the template: CUDA has none for `short` |
//! | `template <class T, class U> T atomicAdd(T *, U)` | `unsigned *`, `int` | the template, which converts nothing |
//! | `int atomicAdd(int *, int)` | `int *`, `int` | the program's |
//!
//! `long` and `long long` are one type here, so that of 64-bit integers nothing is said.

use super::deduce::strip;
use super::machine::Machine;
use super::types::Ty;
use crate::ir::{Expr, Function, Path, Scalar, Type};
use std::sync::Arc;

impl Machine<'_> {
    /// Whether a call by this path, of the atomic `operation`, means CUDA's.
    pub(super) fn is_cuda_atomic(&mut self, path: &Path, operation: &str, args: &[Expr]) -> bool {
        if self.program.functions(&path.name).is_empty() {
            return true;
        }
        if !path.qualifiers.is_empty() || path.args.is_some() {
            return false;
        }
        let Some((address, rest)) = args.split_first() else { return false };
        let of_address = match self.type_of(address) {
            Ty::Pointer(pointee) => match *pointee {
                Ty::Scalar(scalar) => scalar,
                _ => return false,
            },
            _ => return false,
        };
        if !takes(operation, of_address) {
            return false;
        }
        let candidates = self.choose_functions(path, args);
        let is_outer_template = |it: &Arc<Function>| {
            it.owner.is_none() && it.namespace.is_empty() && !it.template_params.is_empty()
        };
        if candidates.is_empty() || !candidates.iter().all(is_outer_template) {
            return false;
        }
        let given: Vec<Ty> = rest.iter().map(|arg| self.type_of(arg)).collect();
        let is_exact = given.iter().all(|ty| *ty == Ty::Scalar(of_address));
        let is_other = |ty: &Ty| matches!(ty, Ty::Scalar(scalar) if *scalar != of_address);
        let is_ruled_out = |it: &Arc<Function>| {
            let pointee = it.params.first().and_then(|param| match strip(&param.ty) {
                Type::Pointer(pointee) => Some(&**pointee),
                _ => None,
            });
            let by_type = it.params.iter().skip(1).zip(&given);
            by_type.into_iter().any(|(param, ty)| Some(strip(&param.ty)) == pointee && is_other(ty))
        };
        is_exact || candidates.iter().all(is_ruled_out)
    }
}

/// Whether CUDA has such an atomic for a type that has no other name.
fn takes(operation: &str, scalar: Scalar) -> bool {
    match operation {
        "Add" => matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F64),
        "Exch" => matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::F32),
        "Sub" | "Min" | "Max" | "And" | "Or" | "Xor" | "CAS" => matches!(scalar, Scalar::I32 | Scalar::U32),
        "Inc" | "Dec" => scalar == Scalar::U32,
        _ => false,
    }
}
