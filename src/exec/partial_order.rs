//! Which of several function templates is the most specialised?
//!
//! Of templates that fit a call equally well, C++ takes the one whose parameters the others' could stand
//! for, and not the other way round.
//!
//! | candidates | `f(1, 2)` | `f(1, 2u)` | `f(p, 2)` for an `int *p` |
//! |---|---|---|---|
//! | `f(T, T)`, `f(T, U)` | the first | the second: the first asks for two types of one name | the second |
//! | `f(T, U)`, `f(T *, U)` | the first | the first | the second |
//!
//! Types are known without `const`, `long` is not told from `long long`, nor `char` from `signed char`. Where
//! that may decide, nothing is.

use super::deduce::strip;
use super::types::Ty;
use crate::ir::{Function, TemplateArg, TemplateParam, TemplateParamKind, Type, print};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Those of the candidates for a call with arguments of these types that C++ would choose among: all of
/// them where that cannot be told.
pub(super) fn most_specialised(
    candidates: Vec<Arc<Function>>,
    explicit: &[TemplateArg],
    types: &[Ty],
) -> Vec<Arc<Function>> {
    // What a default or the returned type asks for may rule a template out.
    let is_free = |param: &TemplateParam| {
        !param.pack && matches!(param.kind, TemplateParamKind::Type(None) | TemplateParamKind::Value(_, None))
    };
    let is_plain = |function: &Arc<Function>| {
        function.specialization.is_empty()
            && function.constraints.is_empty()
            && function.params.len() == types.len()
            && !function.template_params.is_empty()
            && function.template_params.iter().all(is_free)
            && !print::ty(&function.return_type).contains("enable_if")
    };
    if candidates.len() < 2 || !explicit.is_empty() || !candidates.iter().all(is_plain) {
        return candidates;
    }
    let fits: Option<Vec<bool>> = candidates.iter().map(|function| is_viable(function, types)).collect();
    let Some(fits) = fits.filter(|fits| fits.contains(&true)) else { return candidates };
    let viable: Vec<&Arc<Function>> =
        candidates.iter().zip(&fits).filter(|(_, fits)| **fits).map(|(function, _)| function).collect();
    let beats = |one: &Function, other: &Function| covers(other, one) && !covers(one, other);
    let beats_all =
        |one: &&Arc<Function>| viable.iter().all(|other| Arc::ptr_eq(one, other) || beats(one, other));
    match viable.iter().copied().find(beats_all) {
        Some(best) => vec![Arc::clone(best)],
        None => viable.into_iter().cloned().collect(),
    }
}

/// Whether each parameter of the template stands for one type in a call with arguments of these types;
/// `None` where that cannot be told.
fn is_viable(function: &Function, types: &[Ty]) -> Option<bool> {
    let mut bound: FxHashMap<&str, &Ty> = FxHashMap::default();
    for (param, ty) in function.params.iter().zip(types) {
        let (mut pattern, mut ty) = (strip(&param.ty), ty);
        loop {
            (pattern, ty) = match (pattern, ty) {
                (_, Ty::Unknown(_)) => return None,
                (Type::Pointer(inner), Ty::Pointer(pointee)) => (inner, pointee),
                (Type::Pointer(inner), Ty::Array(element, _)) => (inner, element),
                (Type::Pointer(_), _) => return Some(false),
                _ => break,
            };
        }
        let Some(name) = parameter_named(function, pattern) else { continue };
        match bound.insert(name, ty) {
            Some(Ty::Scalar(known)) if let Ty::Scalar(other) = ty => {
                if known != other {
                    return Some(false);
                }
                if !matches!(known.bytes(), 2 | 4) {
                    return None;
                }
            }
            Some(_) => return None,
            None => {}
        }
    }
    Some(true)
}

/// Whether the template's parameters could stand for those of another, taken as they are written.
fn covers(template: &Function, other: &Function) -> bool {
    let mut bound: FxHashMap<&str, String> = FxHashMap::default();
    let params = template.params.iter().zip(&other.params);
    params.into_iter().all(|(pattern, ty)| stands_for(template, &pattern.ty, &ty.ty, &mut bound))
}

fn stands_for<'t>(
    template: &'t Function,
    pattern: &'t Type,
    ty: &Type,
    bound: &mut FxHashMap<&'t str, String>,
) -> bool {
    let (pattern, ty) = (strip(pattern), strip(ty));
    if let Some(name) = parameter_named(template, pattern) {
        let written = print::ty(ty);
        return *bound.entry(name).or_insert_with(|| written.clone()) == written;
    }
    match (pattern, ty) {
        (Type::Pointer(pattern), Type::Pointer(ty)) => stands_for(template, pattern, ty, bound),
        _ => pattern == ty,
    }
}

/// The template parameter that a type is.
fn parameter_named<'t>(function: &'t Function, ty: &'t Type) -> Option<&'t str> {
    let Type::Named(path) = ty else { return None };
    let is_simple = path.qualifiers.is_empty() && path.args.is_none();
    let is_own = is_simple && function.template_params.iter().any(|param| param.name == path.name);
    is_own.then_some(&*path.name)
}
