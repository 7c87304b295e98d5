//! What is the default of a parameter that another declaration gives it?
//!
//! ```text
//! template <int N, typename T> __device__ void store(T *to, T value, bool wait = true);
//! template <int N, typename T> __device__ void store(T *to, T value, bool wait) { ... }
//!
//! store<4>(tile, value);   // waits
//! ```

use super::visit::children;
use super::{
    Expr, ExprKind, Function, FunctionKind, Name, Record, TemplateParam, TemplateParamKind, Type, print,
};
use std::sync::Arc;

/// Gives the parameters of a class template the defaults that stand only at an earlier declaration.
pub(super) fn of_class(primary: &mut Arc<Record>, declared: &Record) {
    let filled = missing(&primary.template_params, &declared.template_params);
    if !filled.is_empty() {
        let params = &mut Arc::make_mut(primary).template_params;
        filled.into_iter().for_each(|(at, kind)| params[at].kind = kind);
    }
}

/// The defaults of template parameters that stand only at another declaration. A default may name the parameters before
/// it, so these have to have the same names there, or none.
fn missing(own: &[TemplateParam], declared: &[TemplateParam]) -> Vec<(usize, TemplateParamKind)> {
    let mut found = Vec::new();
    for (at, (own, other)) in own.iter().zip(declared).enumerate() {
        if let Some(kind) = with_default(&own.kind, &other.kind) {
            found.push((at, kind));
        }
        if !other.name.is_empty() && other.name != own.name {
            break;
        }
    }
    found
}

/// What a template parameter is with the default of another declaration; none if that adds nothing.
fn with_default(own: &TemplateParamKind, other: &TemplateParamKind) -> Option<TemplateParamKind> {
    use TemplateParamKind::{Type, Value};
    match (own, other) {
        (Type(None), Type(Some(default))) => Some(Type(Some(default.clone()))),
        (Value(ty, None), Value(_, Some(default))) => Some(Value(ty.clone(), Some(default.clone()))),
        _ => None,
    }
}

/// Whether a declaration, or a definition, says what a parameter is by default.
pub(super) fn has_any(function: &Function) -> bool {
    function.kind != FunctionKind::Kernel
        && (function.params.iter().any(|param| param.default.is_some())
            || function.body.is_none() && function.template_params.iter().any(TemplateParam::has_default))
}

/// Gives the definitions among functions of one name the defaults of a declaration of theirs, and specialisations those
/// of their template.
pub(super) fn of_functions(named: &mut [Arc<Function>], declared: &Function) {
    let takes = |it: &Function| is_same(it, declared) || is_special(it, declared);
    for function in named.iter_mut().filter(|it| it.body.is_some() && takes(it)) {
        let of_template = missing(&function.template_params, &declared.template_params);
        let of_params: Vec<(usize, Expr)> = (function.params.iter().zip(&declared.params).enumerate())
            .filter(|(_, (own, _))| own.default.is_none())
            .filter_map(|(at, (_, other))| Some((at, other.default.clone()?)))
            .collect();
        if of_template.is_empty() && of_params.is_empty() {
            continue;
        }
        let function = Arc::make_mut(function);
        of_template.into_iter().for_each(|(at, kind)| function.template_params[at].kind = kind);
        of_params.into_iter().for_each(|(at, default)| function.params[at].default = Some(default));
    }
}

/// Whether a function is an explicit specialisation of a template that may be this one.
fn is_special(own: &Function, declared: &Function) -> bool {
    !own.specialization.is_empty()
        && declared.specialization.is_empty()
        && !declared.template_params.is_empty()
        && is_beside(own, declared)
}

/// Whether two functions of one name are members of one class or namespace, and take as many arguments.
fn is_beside(own: &Function, declared: &Function) -> bool {
    own.owner == declared.owner
        && own.namespace == declared.namespace
        && own.kind != FunctionKind::Kernel
        && own.params.len() == declared.params.len()
        && declared.params.iter().all(|it| it.default.as_ref().is_none_or(stands_alone))
}

/// Whether two declarations are of one function. What depends on their template parameters is compared as it is
/// written, so that these have to have the same names.
fn is_same(own: &Function, declared: &Function) -> bool {
    let names = |params: &[TemplateParam]| -> Vec<Name> { params.iter().map(|it| it.name.clone()).collect() };
    is_beside(own, declared)
        && own.is_const == declared.is_const
        && own.specialization.is_empty()
        && declared.specialization.is_empty()
        && names(&own.template_params) == names(&declared.template_params)
        && names(&own.owner_params) == names(&declared.owner_params)
        && own
            .params
            .iter()
            .zip(&declared.params)
            .all(|(own, other)| own.pack == other.pack && is_same_type(&own.ty, &other.ty))
}

/// Whether parameters of two types are of one: they are written alike, but for a `const` of the parameter itself.
fn is_same_type(own: &Type, other: &Type) -> bool {
    let (own, other) = (itself(own), itself(other));
    own == other || print::ty(own) == print::ty(other)
}

fn itself(ty: &Type) -> &Type {
    if let Type::Qualified(_, inner) = ty { itself(inner) } else { ty }
}

/// Whether an expression needs no slot of the function that it is written for.
fn stands_alone(expr: &Expr) -> bool {
    let mut alone = !matches!(expr.kind, ExprKind::Local(_) | ExprKind::Lambda(_));
    children(expr, &mut |inner| alone &= stands_alone(inner));
    alone
}
