//! Are two types, or two template arguments, the same?
//!
//! Types are known by their layout, and not always in full: of what is not seen, or named for arguments that are not
//! known, it is not told.

use super::types::{Binding, Ty};
use super::value::Value;
use crate::ir::Scalar;
use std::rc::Rc;
use std::sync::Arc;

/// Whether two template arguments are the same; none if that is not known.
pub(super) fn same_binding(a: &Binding, b: &Binding) -> Option<bool> {
    match (a, b) {
        (Binding::Type(a), Binding::Type(b)) => same_type(a, b),
        (Binding::Type(Ty::Unknown(_)), _) | (_, Binding::Type(Ty::Unknown(_))) => None,
        (Binding::Value(Value::Int(a, _)), Binding::Value(Value::Int(b, _))) => {
            if a == b {
                Some(true)
            } else {
                Some(a.as_constant()? == b.as_constant()?)
            }
        }
        (Binding::Pack(a), Binding::Pack(b)) if a.len() == b.len() => {
            let same: Vec<Option<bool>> = a.iter().zip(b.iter()).map(|(a, b)| same_binding(a, b)).collect();
            if same.contains(&Some(false)) {
                Some(false)
            } else {
                same.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        }
        (Binding::Pack(_), Binding::Pack(_)) => Some(false),
        (Binding::Value(_), Binding::Value(_)) | (Binding::Pack(_), _) | (_, Binding::Pack(_)) => None,
        _ => Some(false),
    }
}

/// Like [`same_binding`], but unknown for types that share a representation with another type of C++: `long` is not told
/// from `long long`, and `char` not from `signed char`.
pub(super) fn surely_same(a: &Binding, b: &Binding) -> Option<bool> {
    same_binding(a, b).filter(|same| !same || !may_be_another(a))
}

/// Whether a type of C++ beside this one has its size and sign.
fn may_be_another(bound: &Binding) -> bool {
    match bound {
        Binding::Type(Ty::Pointer(to) | Ty::Qualified(_, to)) => {
            may_be_another(&Binding::Type((**to).clone()))
        }
        Binding::Type(ty) => {
            matches!(ty.innermost(), Ty::Scalar(Scalar::I8 | Scalar::I64 | Scalar::U64))
        }
        _ => false,
    }
}

/// Whether two types are the same; none if that is not known. Those of one template are for the same arguments.
pub(super) fn same_type(a: &Ty, b: &Ty) -> Option<bool> {
    match (a, b) {
        (Ty::Unknown(_), _) | (_, Ty::Unknown(_)) => None,
        (Ty::Pointer(a), Ty::Pointer(b)) => same_type(a, b),
        (Ty::Enum(Some(a), _), Ty::Enum(Some(b), _)) => Some(a == b),
        (Ty::Enum(None, a), Ty::Enum(_, b)) | (Ty::Enum(_, a), Ty::Enum(None, b)) => {
            same_type(a, b).filter(|same| !same)
        }
        (Ty::Qualified(a, x), Ty::Qualified(b, y)) => same_type(x, y).map(|same| same && a == b),
        (Ty::Qualified(_, a), b) | (b, Ty::Qualified(_, a)) => same_type(a, b).map(|_| false),
        (Ty::Enum(None, a), b) | (b, Ty::Enum(None, a)) => same_type(a, b).filter(|same| !same),
        (Ty::Array(a, n), Ty::Array(b, m)) => match same_type(a, b) {
            Some(true) if n != m => None,
            same => same,
        },
        (Ty::Sized { name: a, .. }, Ty::Sized { name: b, .. }) => Some(one_name(a) == one_name(b)),
        (Ty::Record(a), Ty::Record(b)) if Rc::ptr_eq(a, b) => Some(true),
        (Ty::Record(a), Ty::Record(b)) => match (&a.record, &b.record) {
            (Some(x), Some(y)) if Arc::ptr_eq(x, y) => {
                let mut all = Some(true);
                for (name, bound) in &a.env.bindings {
                    match b.env.bindings.get(name).and_then(|other| same_binding(bound, other)) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => all = None,
                    }
                }
                all
            }
            (None, None) => Some(one_name(&a.name) == one_name(&b.name)),
            (Some(x), Some(y)) if x.namespace != y.namespace => Some(false),
            _ => Some(a.name == b.name && a.size == b.size),
        },
        _ => Some(a == b),
    }
}

/// Of types that have two names in the toolkit's headers, the one.
fn one_name(name: &str) -> &str {
    match name {
        "__half" => "half",
        "__half2" => "half2",
        "__nv_bfloat16" => "nv_bfloat16",
        "__nv_bfloat162" => "nv_bfloat162",
        other => other,
    }
}
