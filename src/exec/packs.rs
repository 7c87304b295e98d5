//! What do the packs of a variadic template stand for?
//!
//! A pack takes all arguments behind those of the parameters before it, and `Ts...` hands them on. Where
//! one of them is not known to be there, nothing is known of the pack, not even its length.

use super::machine::{Machine, Mode};
use super::slots::Slot;
use super::templates::Given;
use super::types::{Binding, Env, Ty, nameless};
use super::unseen::Callee;
use super::value::Value;
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::LaunchArg;
use crate::ir::{Expr, ExprKind, Function, Name, Param, Scalar, TemplateArg, TemplateParam, Type};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// Template arguments with packs in full.
    pub(super) fn in_full<'a>(&self, args: &'a [TemplateArg]) -> Vec<Given<'a>> {
        let mut all = Vec::with_capacity(args.len());
        for arg in args {
            let TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), .. }) = arg else {
                all.push(Given::Written(arg));
                continue;
            };
            match self.pack(name) {
                Some(pack) => all.extend(pack.iter().cloned().map(Given::Bound)),
                None => all.push(Given::Open),
            }
        }
        all
    }

    /// How many template arguments are given, if that is known.
    pub(super) fn given_count(&self, args: &[TemplateArg]) -> Option<usize> {
        let given = self.in_full(args);
        let known = |it: &Given<'_>| match it {
            Given::Written(TemplateArg::Value(expr)) => !matches!(expr.kind, ExprKind::Unsupported(_)),
            Given::Written(_) | Given::Bound(_) => true,
            Given::Open => false,
        };
        given.iter().all(known).then_some(given.len())
    }

    /// What a pack takes; none if that is not known.
    pub(super) fn pack_of(&mut self, param: &TemplateParam, rest: &[Given<'_>]) -> Option<Binding> {
        let bound = rest.iter().map(|arg| match arg {
            Given::Written(TemplateArg::Value(Expr { kind: ExprKind::Unsupported(_), .. })) | Given::Open => {
                None
            }
            Given::Written(arg) => Some(self.bind_one(&param.kind, arg)),
            Given::Bound(bound) => Some(bound.clone()),
        });
        bound.collect::<Option<Vec<_>>>().map(|list| Binding::Pack(list.into()))
    }

    /// The arguments that a parameter takes that is a pack: what is done with them is not followed, so each place
    /// that is handed on may be written, and each lambda called.
    pub(super) fn take_pack(&mut self, param: &Param, args: &[Expr], callee: &str, span: Span) -> Slot {
        for arg in args {
            if matches!(param.ty, Type::Reference(_))
                && let Ok(pointer) = self.locate_argument(arg)
            {
                self.expose(&pointer);
            }
            if let Value::Closure(lambda, frame) = self.evaluate_uncopied(arg)
                && self.mode == Mode::Device
            {
                self.hand_over(&lambda, frame, Callee::Named(callee), span);
            }
        }
        let why = Unknown::new(Reason::Unsupported, span, "a pack of arguments");
        let ty = Ty::Unknown(nameless::AUTO.into());
        Slot { value: Value::opaque(Variation::Maybe, why), ty, reference: false }
    }

    /// What `std::forward<T>(x)` and `std::move(x)` hand on: the place itself.
    pub(super) fn forwarded<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let ExprKind::Call { callee, args } = &expr.kind else { return None };
        let (ExprKind::Path(path), [only]) = (&callee.kind, args.as_slice()) else { return None };
        let is_same = matches!(&*path.name, "move" | "forward" | "as_const");
        (is_same && self.program.functions(&path.name).is_empty()).then_some(only)
    }

    fn pack(&self, name: &Name) -> Option<Rc<[Binding]>> {
        match self.frame()?.env.bindings.get(name)? {
            Binding::Pack(pack) => Some(Rc::clone(pack)),
            Binding::Type(_) | Binding::Value(_) => None,
        }
    }

    /// `sizeof...(Ts)`
    pub(super) fn pack_length(&mut self, name: &Name) -> Value {
        let length = match self.pack(name) {
            Some(pack) => Int::constant(pack.len() as i64),
            None => Int::symbol(self.world.symbols.compiled(format!("sizeof...({name})"), 0)),
        };
        Value::Int(length, Scalar::U64)
    }
}

/// Where a call hands on a pack (`f(a, rest...)`): from there on it is not known which argument is which.
pub(super) fn expansion_in(args: &[Expr]) -> Option<usize> {
    args.iter().position(is_expansion)
}

/// Whether an argument stands for several. What may happen in it stands before it.
pub(super) fn is_expansion(arg: &Expr) -> bool {
    match &arg.kind {
        ExprKind::Unsupported(what) => *what == "pack expansion",
        ExprKind::Comma(_, last) => is_expansion(last),
        _ => false,
    }
}

/// The argument for a parameter.
pub(super) fn argument_at(args: &[Expr], at: usize) -> Option<&Expr> {
    match expansion_in(args) {
        Some(first) if first < at => args.get(first),
        _ => args.get(at),
    }
}

/// Whether a function can be called with so many arguments, as far as is known.
pub(super) fn takes_count(function: &Function, args: &[Expr]) -> bool {
    let params = &function.params;
    let required = params.iter().filter(|p| p.default.is_none() && !is_pack(function, p)).count();
    let any = params.iter().any(|param| is_pack(function, param));
    match expansion_in(args) {
        Some(first) => any || first <= params.len(),
        None => args.len() >= required && (any || args.len() <= params.len()),
    }
}

/// Whether a parameter of a function stands for any number of arguments.
pub(super) fn is_pack(function: &Function, param: &Param) -> bool {
    if param.pack {
        return true;
    }
    let Type::Named(path) = super::deduce::strip(&param.ty) else { return false };
    path.args.is_none() && function.template_params.iter().any(|it| it.pack && it.name == path.name)
}

/// Forgets the packs of a function that arguments may add to.
pub(super) fn reopen(env: &mut Env, function: &Function) {
    for param in function.template_params.iter().filter(|param| param.pack) {
        if function.params.iter().any(|it| mentions(&it.ty, &param.name)) {
            env.bindings.remove(&param.name);
        }
    }
}

/// Binds a pack that the last parameters of a function tell: `f(Ts... values)`.
pub(super) fn deduce_pack(env: &mut Env, function: &Function, at: usize, types: &[Ty]) {
    let Some(Type::Named(path)) = function.params.get(at).map(|param| super::deduce::strip(&param.ty)) else {
        return;
    };
    let is_pack = |param: &TemplateParam| param.pack && param.name == path.name;
    let known = types.iter().all(|ty| !matches!(ty, Ty::Void));
    if known && path.args.is_none() && function.template_params.iter().any(is_pack) {
        let list: Vec<Binding> = types.iter().cloned().map(Binding::Type).collect();
        env.bindings.insert(path.name.clone(), Binding::Pack(list.into()));
    }
}

/// The pack of a kernel that is given all its template arguments.
pub(super) fn launched_pack(
    machine: &mut Machine<'_>,
    kernel: &Function,
    param: &TemplateParam,
    rest: &[LaunchArg],
) -> Option<Binding> {
    if kernel.params.iter().any(|it| mentions(&it.ty, &param.name)) {
        return None;
    }
    let bound = rest.iter().map(|arg| match arg {
        LaunchArg::Value(value) => Some(Binding::Value(Value::int(*value))),
        LaunchArg::Type(ty) => Some(Binding::Type(machine.resolve_type(ty))),
        LaunchArg::Unknown => None,
    });
    bound.collect::<Option<Vec<_>>>().map(|list| Binding::Pack(list.into()))
}

/// Whether a function may be called with so many explicit template arguments: it has as many parameters,
/// and arguments or defaults tell the others.
pub(super) fn takes_arguments(function: &Function, count: usize) -> bool {
    // What it is a specialisation of is asked instead.
    if !function.specialization.is_empty() {
        return true;
    }
    let params = &function.template_params;
    let pack = params.iter().any(|param| param.pack);
    let is_told = |param: &TemplateParam| {
        param.pack
            || param.has_default()
            || param.name.is_empty()
            || function.params.iter().any(|it| mentions(&it.ty, &param.name))
    };
    (pack || count <= params.len()) && params.iter().skip(count).all(is_told)
}

/// Whether a type is made of a template parameter.
fn mentions(ty: &Type, name: &Name) -> bool {
    fn in_arg(arg: &TemplateArg, name: &Name) -> bool {
        match arg {
            TemplateArg::Type(ty) => mentions(ty, name),
            TemplateArg::Value(expr) => in_expr(expr, name),
        }
    }
    fn in_expr(expr: &Expr, name: &Name) -> bool {
        let mut found = match &expr.kind {
            ExprKind::Path(path) => path.name == *name,
            ExprKind::Expansion(pack) | ExprKind::SizeofPack(pack) => pack == name,
            _ => false,
        };
        crate::ir::visit::children(expr, &mut |child| found |= in_expr(child, name));
        found
    }
    match ty {
        Type::Named(path) => {
            path.name == *name
                || path.args.iter().flatten().any(|arg| in_arg(arg, name))
                || path
                    .qualifiers
                    .iter()
                    .any(|(part, args)| part == name || args.iter().any(|arg| in_arg(arg, name)))
        }
        Type::Pointer(inner) | Type::Reference(inner) => mentions(inner, name),
        Type::Array(inner, length) => {
            mentions(inner, name) || length.as_ref().is_some_and(|length| in_expr(length, name))
        }
        // What is not modelled may be made of anything.
        Type::Decltype(_) | Type::Auto | Type::Opaque => true,
        Type::Void | Type::Scalar(_) => false,
    }
}
