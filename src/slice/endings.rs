//! Does an object of a type do something when its life ends?
//!
//! ```text
//! struct Restore { int *to; int old; __device__ ~Restore() { *to = old; } };
//! struct Both { Restore a, b; };     // so does one that holds such an object, or is derived from one
//! ```

use crate::builtins::types;
use crate::ir::program::Program;
use crate::ir::{Function, Path, Type};

/// Classes in classes that are looked at, at the most.
const DEPTH: usize = 8;

/// Whether an object of a type may do something when its life ends; of types that are not known, any may.
#[must_use]
pub(crate) fn ends_with_effect(ty: &Type, program: &Program) -> bool {
    program.has_destructors() && may_end(ty, program, DEPTH)
}

/// Whether a call of a function makes such an object: its result, or a parameter by value.
#[must_use]
pub(crate) fn makes_such(function: &Function, program: &Program) -> bool {
    let by_value = |ty: &Type| !matches!(ty, Type::Reference(_)) && ends_with_effect(ty, program);
    by_value(&function.return_type) || function.params.iter().any(|param| by_value(&param.ty))
}

/// Whether a call with this name in front makes such an object: `Restore(p, 1)`.
#[must_use]
pub(crate) fn names_such(path: &Path, program: &Program) -> bool {
    let is_class = !program.records(&path.name).is_empty() || !program.aliases(&path.name).is_empty();
    is_class && ends_with_effect(&Type::Named(Box::new(path.clone())), program)
}

fn may_end(ty: &Type, program: &Program, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match ty {
        Type::Scalar(_) | Type::Pointer(_) | Type::Void => false,
        // A reference may keep a temporary alive.
        Type::Array(inner, _) | Type::Reference(inner) | Type::Qualified(_, inner) => {
            may_end(inner, program, depth)
        }
        Type::Named(path) => {
            let name = &path.name;
            let destructor = format!("~{name}");
            let (records, aliases) = (program.records(name), program.aliases(name));
            let mut inside =
                records.iter().flat_map(|it| it.bases.iter().chain(it.fields.iter().map(|it| &it.ty)));
            let is_known = !records.is_empty() || !aliases.is_empty();
            let numbers = types::holds_numbers(name);
            !program.functions(&destructor).iter().all(|it| it.body.as_ref().is_none_or(Vec::is_empty))
                || !is_known && !numbers && program.enumeration(name).is_none()
                || inside.any(|ty| !matches!(ty, Type::Reference(_)) && may_end(ty, program, depth))
                || aliases.iter().any(|it| may_end(&it.ty, program, depth))
        }
        _ => true,
    }
}
