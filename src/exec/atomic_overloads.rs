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
//! | `double atomicAdd(double *, float)` | `double *`, `double` | CUDA's: nothing is converted |
//! | `int64_t atomicAdd(int64_t *, int64_t)` | `uint64_t *`, `uint64_t` | CUDA's: no pointer is converted |
//!
//! `long` and `long long` are one type here, so that of 64-bit integers nothing is said.

use super::deduce::strip;
use super::machine::Machine;
use super::packs::takes_count;
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
        let candidates = self.choose_functions(path, args);
        if candidates.iter().any(|it| it.owner.is_some()) {
            return false;
        }
        if self.take_other_pointers(path, of_address, args) {
            return true;
        }
        let is_outer = |it: &Arc<Function>| it.owner.is_none() && it.namespace.is_empty();
        if !takes(operation, of_address) || candidates.is_empty() || !candidates.iter().all(is_outer) {
            return false;
        }
        let given: Vec<Ty> = rest.iter().map(|arg| self.type_of(arg)).collect();
        let is_exact = given.iter().all(|ty| *ty == Ty::Scalar(of_address));
        let (templates, plain): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|it| !it.template_params.is_empty());
        if !plain.is_empty() {
            return is_exact && !plain.iter().any(|it| self.may_take_just(it, of_address));
        }
        let is_other = |ty: &Ty| matches!(ty, Ty::Scalar(scalar) if *scalar != of_address);
        let is_ruled_out = |it: &Arc<Function>| {
            let pointee = it.params.first().and_then(|param| match strip(&param.ty) {
                Type::Pointer(pointee) => Some(&**pointee),
                _ => None,
            });
            let by_type = it.params.iter().skip(1).zip(&given);
            by_type.into_iter().any(|(param, ty)| Some(strip(&param.ty)) == pointee && is_other(ty))
        };
        is_exact || templates.iter().all(is_ruled_out)
    }

    /// Whether no function of the program takes such a pointer: each that could be called takes one to another type.
    fn take_other_pointers(&mut self, path: &Path, of_address: Scalar, args: &[Expr]) -> bool {
        let program = self.program;
        let mut all = program.functions(&path.name).iter().filter(|it| it.owner.is_none()).peekable();
        all.peek().is_some()
            && all.all(|it| {
                let is_plain = it.template_params.is_empty() && it.specialization.is_empty();
                is_plain
                    && (!takes_count(it, args)
                        || match self.type_taken(it, 0) {
                            Some(Ty::Pointer(inner)) => match &*inner {
                                Ty::Scalar(other) => *other != of_address,
                                Ty::Record(_) | Ty::Sized { .. } => true,
                                _ => false,
                            },
                            _ => false,
                        })
            })
    }

    /// Whether what a function takes beside the address may be just what CUDA's atomic takes.
    fn may_take_just(&mut self, function: &Arc<Function>, of_address: Scalar) -> bool {
        (1..function.params.len()).all(|at| match self.type_taken(function, at) {
            Some(Ty::Scalar(scalar)) => scalar == of_address,
            _ => true,
        })
    }

    fn type_taken(&mut self, function: &Arc<Function>, at: usize) -> Option<Ty> {
        let param = function.params.get(at)?;
        let env = self.lookups.memo.no_env();
        Some(self.within_head(function, env, |machine| machine.resolve_written(&param.ty)))
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
