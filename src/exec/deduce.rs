//! What does an argument tell of a template's parameters, and how well does it fit a function?

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::same_type::same_type;
use super::types::{Binding, Env, Layout, Ty};
use super::value::Value;
use crate::ir::namespace::Namespace;
use crate::ir::program::Program;
use crate::ir::{Expr, ExprKind, Function, Name, Param, Path, Scalar, TemplateArg, TemplateParamKind, Type};
use std::rc::Rc;

/// Binds template parameters that a parameter's type tells from its argument's.
pub(super) fn deduce(machine: &mut Machine<'_>, env: &mut Env, function: &Function, pattern: &Type, ty: &Ty) {
    match (pattern, ty) {
        (Type::Reference(inner), _) => deduce_behind(machine, env, function, inner, ty),
        (Type::Pointer(inner), Ty::Pointer(pointee)) => deduce_behind(machine, env, function, inner, pointee),
        (Type::Pointer(inner), Ty::Array(element, _)) => {
            deduce_behind(machine, env, function, inner, element)
        }
        (Type::Array(inner, length), Ty::Array(element, actual)) => {
            if let (Some(length), Some(actual)) = (length, actual)
                && let ExprKind::Path(path) = &length.kind
                && is_free(env, function, &path.name)
            {
                let value = Value::Int((**actual).clone(), Scalar::I32);
                env.bindings.insert(path.name.clone(), Binding::Value(value));
            }
            deduce(machine, env, function, inner, element);
        }
        (Type::Array(inner, _), Ty::Pointer(element)) => deduce(machine, env, function, inner, element),
        // It is as little known by its other name.
        (Type::Named(path), Ty::Unknown(name))
            if machine.is_open_type(name)
                && path.qualifiers.is_empty()
                && path.args.is_none()
                && is_free(env, function, &path.name) =>
        {
            env.bindings.insert(path.name.clone(), Binding::Type(ty.clone()));
        }
        (Type::Named(path), _) if !matches!(ty, Ty::Unknown(_) | Ty::Void) => {
            if path.qualifiers.is_empty() && path.args.is_none() && is_free(env, function, &path.name) {
                env.bindings.insert(path.name.clone(), Binding::Type(ty.clone()));
            } else if let (Some(args), Ty::Record(layout)) = (&path.args, ty) {
                deduce_class(machine, env, function, (path, args), layout);
            }
        }
        _ => {}
    }
}

/// The same behind a pointer or reference, where the type may be `const`: that is not known of arguments.
fn deduce_behind(machine: &mut Machine<'_>, env: &mut Env, function: &Function, pattern: &Type, ty: &Ty) {
    let free = match pattern {
        Type::Named(path) if path.qualifiers.is_empty() && path.args.is_none() => {
            is_free(env, function, &path.name).then_some(&path.name)
        }
        _ => None,
    };
    deduce(machine, env, function, pattern, ty);
    if let Some(name) = free.filter(|name| env.bindings.contains_key(*name)) {
        env.bindings.insert(perhaps_const(name), Binding::Type(Ty::Void));
    }
}

/// `Foo<T, N>` against an object of a class: of that template, of one made of it, or of what an alias stands for.
fn deduce_class(
    machine: &mut Machine<'_>,
    env: &mut Env,
    function: &Function,
    (path, args): (&Path, &[TemplateArg]),
    layout: &Rc<Layout>,
) {
    if is_index_sequence(&path.name) {
        return deduce_record(machine, env, function, (args, 1), layout);
    }
    // A parameter that stands for a template.
    if function.template_params.iter().any(|param| param.name == path.name) {
        return deduce_record(machine, env, function, (args, 0), layout);
    }
    let (program, from) = (machine.program, &function.namespace);
    let is_meant = |class: &Layout| is_named(program, class, path, from);
    if let Some(class) = machine.class_where(layout, BASES, &is_meant) {
        return deduce_record(machine, env, function, (args, 0), &class);
    }
    if let Some(alias) = program.alias_meant(path, from)
        && let Type::Named(target) = &alias.ty
        && let Some(of_target) = &target.args
        && (target.name != path.name || target.qualifiers != path.qualifiers)
    {
        let given = |arg: &TemplateArg| {
            let at = simple_name(arg)
                .and_then(|name| alias.template_params.iter().position(|it| it.name == *name));
            at.and_then(|at| args.get(at)).unwrap_or(arg).clone()
        };
        let args = Some(of_target.iter().map(given).collect());
        let pattern = Type::Named(Box::new(Path { args, ..(**target).clone() }));
        deduce(machine, env, function, &pattern, &Ty::Record(Rc::clone(layout)));
    }
}

/// Whether a class is one that a path means in a namespace.
pub(super) fn is_named(program: &Program, class: &Layout, path: &Path, from: &Namespace) -> bool {
    let Some(record) = class.record.as_ref().filter(|record| record.name == path.name) else { return false };
    program.records_meant(path, from).any(|it| it.span == record.span)
}

/// The name that a template argument is, and nothing else.
fn simple_name(arg: &TemplateArg) -> Option<&Name> {
    let path = match arg {
        TemplateArg::Type(Type::Named(path)) => path,
        TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => path,
        _ => return None,
    };
    (path.qualifiers.is_empty() && path.args.is_none()).then_some(&path.name)
}

/// What is bound beside a template parameter of which is not known whether it is `const`.
pub(super) fn perhaps_const(param: &Name) -> Name {
    format!("{param}?").into()
}

/// What is bound beside a template parameter of which it is not known whether it is a reference.
pub(super) fn perhaps_reference(param: &Name) -> Name {
    format!("{param}&?").into()
}

/// Notes that the template parameter of a `T &&` is a reference if what it is given has a name.
pub(super) fn note_forwarded(env: &mut Env, function: &Function, param: &Param) {
    if let (true, Type::Reference(inner)) = (param.moves, &param.ty)
        && let Type::Named(path) = &**inner
        && path.qualifiers.is_empty()
        && path.args.is_none()
        && function.template_params.iter().any(|it| it.name == path.name)
    {
        env.bindings.insert(perhaps_reference(&path.name), Binding::Type(Ty::Void));
    }
}

pub(super) fn is_perhaps_const(bound: &str) -> bool {
    bound.ends_with('?')
}

/// Whether a name is that of `std::integer_sequence` with its first argument told.
pub(super) fn is_index_sequence(name: &str) -> bool {
    name == "index_sequence"
}

/// `Foo<T, N>` against a `Foo<float, 4>`; so many parameters in front are `told` by its name.
fn deduce_record(
    machine: &mut Machine<'_>,
    env: &mut Env,
    function: &Function,
    (args, told): (&[TemplateArg], usize),
    layout: &Layout,
) {
    let special = machine.arguments_of_special(layout);
    for (at, arg) in args.iter().enumerate().map(|(at, arg)| (at + told, arg)) {
        let name = match arg {
            TemplateArg::Type(Type::Named(path)) => &path.name,
            TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => &path.name,
            _ => continue,
        };
        if !is_free(env, function, name) {
            continue;
        }
        let bound = match &special {
            Some(special) => special.get(at).filter(|bound| !matches!(bound, Binding::Type(Ty::Unknown(_)))),
            None => argument_bound(layout, at),
        };
        if let Some(bound) = bound.cloned() {
            env.bindings.insert(name.clone(), bound);
        }
    }
}

/// What the parameter of a class template at this place stands for, or the element of its pack.
fn argument_bound(layout: &Layout, at: usize) -> Option<&Binding> {
    let params = &layout.record.as_ref()?.template_params;
    let last = params.last().filter(|last| last.pack);
    let param = params.get(at).or(last)?;
    match layout.env.bindings.get(&param.name)? {
        Binding::Pack(list) if param.pack => list.get(at.saturating_sub(params.len() - 1)),
        bound => Some(bound),
    }
}

fn is_free(env: &Env, function: &Function, name: &str) -> bool {
    !env.bindings.contains_key(name)
        && function
            .template_params
            .iter()
            .any(|p| &*p.name == name && !matches!(p.kind, TemplateParamKind::Template(_)))
}

pub(super) fn strip(ty: &Type) -> &Type {
    match ty {
        Type::Reference(inner) => strip(inner),
        other => other,
    }
}

/// Parameters of array type are pointers.
pub(super) fn decayed(ty: &Ty) -> Ty {
    match ty {
        Ty::Array(element, _) => Ty::Pointer(Rc::clone(element)),
        other => other.clone(),
    }
}

/// What an argument adds that fits no parameter of this kind.
pub(super) const NO_FIT: i32 = -50;

/// An argument that may be converted.
pub(super) const CONVERTED: i32 = -1;

/// What one adds that is taken by `...`.
const ELLIPSIS: i32 = -1;

/// Whether a conversion only widens a small number to the type that arithmetic would give it.
fn is_promotion(from: Scalar, to: Scalar) -> bool {
    match to {
        Scalar::I32 => from.is_integer() && from.bytes() < 4,
        Scalar::F64 => from == Scalar::F32,
        _ => false,
    }
}

/// How well an argument of type `ty` fits a parameter.
pub(super) fn fit(machine: &mut Machine<'_>, function: &Function, param: &Type, ty: &Ty) -> i32 {
    let param = strip(param);
    if let Type::Named(path) = param
        && function.template_params.iter().any(|p| p.name == path.name)
    {
        return 2;
    }
    if let (Type::Named(path), Ty::Record(layout)) = (param, ty)
        && let Some(points) = instance_fit(machine, function, path, layout)
    {
        return points;
    }
    match (param, ty) {
        // `...`: no function is worse that can be called at all.
        (Type::Opaque, Ty::Unknown(_)) => 0,
        (Type::Opaque, _)
            if function.params.last().is_some_and(|last| last.pack && last.ty == Type::Opaque) =>
        {
            ELLIPSIS
        }
        // It may be as good as any; of host code, one way is run.
        (_, Ty::Unknown(_)) if machine.mode == Mode::Host => 0,
        (_, Ty::Unknown(_)) => 2,
        (Type::Pointer(inner), Ty::Pointer(pointee) | Ty::Array(pointee, _)) => {
            pointer_fit(machine, function, inner, pointee)
        }
        (Type::Array(..), Ty::Array(..)) => 5,
        (Type::Pointer(_) | Type::Array(..), _) | (_, Ty::Pointer(_) | Ty::Array(..)) => NO_FIT,
        _ => {
            let param = machine.resolve_written(param);
            match (&param, ty) {
                (Ty::Record(_), _) | (_, Ty::Record(_)) if machine.mode == Mode::Device => {
                    machine.class_fit(&param, ty).unwrap_or(CONVERTED)
                }
                _ if param == *ty => 3,
                (Ty::Scalar(to), Ty::Scalar(from)) if is_promotion(*from, *to) => 1,
                _ => CONVERTED,
            }
        }
    }
}

/// How well a pointer fits one to something else. It is converted to one to a base or to nothing in particular, and to
/// no other.
fn pointer_fit(machine: &mut Machine<'_>, function: &Function, inner: &Type, pointee: &Ty) -> i32 {
    let is_own = |path: &Path| function.template_params.iter().any(|param| param.name == path.name);
    match (inner, pointee) {
        (Type::Void, Ty::Void) => 7,
        (Type::Void, _) => 0,
        (_, Ty::Unknown(_)) => 4,
        (Type::Pointer(_), _) => 4 + fit(machine, function, inner, pointee),
        (Type::Named(path), _) if is_own(path) => 6,
        (Type::Named(path), Ty::Record(layout))
            if instance_fit(machine, function, path, layout).is_some_and(|points| points != NO_FIT) =>
        {
            4 + instance_fit(machine, function, path, layout).unwrap_or(0)
        }
        _ => {
            let inner = machine.resolve_written(inner);
            match (same_type(&inner, pointee), &inner, pointee) {
                (Some(true), ..) => 7,
                (None, ..) => 4,
                (_, Ty::Record(base), Ty::Record(of)) => {
                    let is_base = |class: &Layout| class.name == base.name;
                    if machine.class_where(of, BASES, &is_base).is_some() { 1 } else { NO_FIT }
                }
                _ => NO_FIT,
            }
        }
    }
}

/// How well an instance of a class template fits `Tile<8, N, T>`: the more arguments are told, the better, as
/// the most specialised function is meant. What cannot be compared counts as told: another that fits as well
/// is then as likely. `None` if the parameter is no instance of the same template.
pub(super) fn instance_fit(
    machine: &mut Machine<'_>,
    function: &Function,
    path: &Path,
    layout: &Layout,
) -> Option<i32> {
    let (args, record) = (path.args.as_ref()?, layout.record.as_ref()?);
    let is_meant = || is_named(machine.program, layout, path, &function.namespace);
    let count = match record.specialization.len() {
        0 => record.template_params.len(),
        written => written,
    };
    if args.len() > count || !is_meant() {
        return None;
    }
    let special = machine.arguments_of_special(layout);
    let is_open = |name: &str| function.template_params.iter().any(|param| &*param.name == name);
    let mut told = 0;
    for (at, arg) in args.iter().enumerate() {
        let bound = match &special {
            Some(special) => special.get(at),
            None => argument_bound(layout, at),
        };
        let differs = match (arg, bound) {
            (TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }), _) if is_open(&path.name) => {
                continue;
            }
            (TemplateArg::Type(Type::Named(path)), _) if is_open(&path.name) => continue,
            (TemplateArg::Value(value), Some(Binding::Value(Value::Int(known, _)))) => {
                let (value, known) = (machine.constant(value), known.as_constant());
                value.is_some() && known.is_some() && value != known
            }
            (TemplateArg::Type(ty), Some(Binding::Type(known))) => {
                let ty = machine.resolve_written(ty);
                let known = known.unqualified();
                !matches!((&ty, &known), (Ty::Unknown(_), _) | (_, Ty::Unknown(_))) && ty != known
            }
            _ => false,
        };
        if differs {
            return Some(NO_FIT);
        }
        told += 1;
    }
    Some(3 + told)
}
