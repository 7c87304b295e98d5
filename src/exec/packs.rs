//! What do the packs of a variadic template stand for?
//!
//! A pack takes all arguments behind those of the parameters before it, and `Ts...` hands them on. Where
//! one of them is not known to be there, nothing is known of the pack, not even its length.

use super::machine::{Machine, Mode};
use super::parameters::Given;
use super::slots::Slot;
use super::types::{Binding, Env, Ty, nameless};
use super::unseen::Callee;
use super::value::{NOWHERE, Pointer, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::LaunchArg;
use crate::ir::{
    Expr, ExprKind, Function, Name, Param, Path, Scalar, TemplateArg, TemplateParam, Type, unpack,
};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

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
            Given::Written(TemplateArg::Value(expr)) => !is_unknown(expr),
            Given::Written(_) | Given::Bound(_) => true,
            Given::Open => false,
        };
        given.iter().all(known).then_some(given.len())
    }

    /// What a pack takes; none if that is not known.
    pub(super) fn pack_of(&mut self, param: &TemplateParam, rest: &[Given<'_>]) -> Option<Binding> {
        let bound = rest.iter().map(|arg| match arg {
            Given::Written(TemplateArg::Value(expr)) if is_unknown(expr) => None,
            Given::Open => None,
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

    /// A function as it is for a call, if it has packs and it is known how long they are: with a parameter for each
    /// element.
    pub(super) fn unpacked(
        &mut self,
        function: &Arc<Function>,
        path: &Path,
        this: Option<&Pointer>,
        args: &[Expr],
    ) -> Option<Arc<Function>> {
        let has_pack = |params: &[TemplateParam]| params.iter().any(|param| param.pack);
        let is_own = function.params.iter().any(|param| param.pack);
        if !is_own && !has_pack(&function.template_params) && !has_pack(&function.owner_params) {
            return None;
        }
        // Host code is run for its launches alone.
        let is_asked = self.mode == Mode::Device || self.host.launching.contains(&function.name);
        if expansion_in(args).is_some() || !is_asked {
            return None;
        }
        let mut names: Vec<(Name, usize)> = Vec::new();
        for param in function.owner_params.iter().filter(|param| param.pack) {
            let class = match (this.map(|this| &this.pointee), path.qualifiers.last()) {
                (Some(Ty::Record(layout)), _) => Rc::clone(&layout.env),
                (_, Some(_)) => match self.qualifying_class(path) {
                    Some(layout) => Rc::clone(&layout.env),
                    None => self.env(),
                },
                _ => self.env(),
            };
            if let Some(Binding::Pack(pack)) = class.bindings.get(&param.name) {
                names.push((param.name.clone(), pack.len()));
            }
        }
        for (at, param) in function.template_params.iter().enumerate().filter(|(_, param)| param.pack) {
            let length = self.length_of_pack(function, (at, param), path, args)?;
            names.push((param.name.clone(), length));
        }
        let arguments = match function.params.last() {
            Some(last) if last.pack && last.ty == Type::Opaque => return None,
            Some(last) if last.pack => Some(args.len().checked_sub(function.params.len() - 1)?),
            _ => None,
        };
        if names.is_empty() && arguments.is_none() {
            return None;
        }
        if names.iter().map(|(_, length)| *length).chain(arguments).any(|length| length > unpack::LONGEST) {
            return None;
        }
        Some(self.lookups.memo.instance(function, names, arguments))
    }

    /// How long a pack of a function's template is in a call.
    fn length_of_pack(
        &mut self,
        function: &Function,
        (at, pack): (usize, &TemplateParam),
        path: &Path,
        args: &[Expr],
    ) -> Option<usize> {
        if let Some((first, last)) = function.params.iter().enumerate().next_back()
            && last.pack
            && mentions(&last.ty, &pack.name)
        {
            return args.len().checked_sub(first);
        }
        for (param, arg) in function.params.iter().zip(args) {
            if let Type::Named(written) = super::deduce::strip(&param.ty)
                && let Some(inside) = &written.args
                && let Some(place) = inside.iter().position(|it| is_expansion_of(it, &pack.name))
            {
                let Ty::Record(layout) = self.type_of(arg) else { return None };
                let behind = super::deduce::is_index_sequence(&written.name);
                let place = place + usize::from(behind);
                let record = layout.record.as_ref();
                let record = record.filter(|record| record.name == written.name || behind)?;
                let param = record.template_params.get(place).filter(|param| param.pack)?;
                return match layout.env.bindings.get(&param.name)? {
                    Binding::Pack(list) => Some(list.len()),
                    _ => None,
                };
            }
        }
        let explicit = path.args.as_deref()?;
        self.given_count(explicit)?.checked_sub(at)
    }

    /// `std::make_index_sequence<4>`, which the compiler makes.
    pub(super) fn sequence_type(&mut self, path: &Path) -> Option<Ty> {
        let args = path.args.as_deref()?;
        let (of, length) = match (&*path.name, args) {
            ("make_index_sequence", [TemplateArg::Value(length)]) => {
                (TemplateArg::Type(Type::Scalar(Scalar::U64)), self.constant(length)?)
            }
            ("make_integer_sequence", [of, TemplateArg::Value(length)]) => {
                (of.clone(), self.constant(length)?)
            }
            ("index_sequence_for", _) => {
                let length = self.given_count(args)?;
                (TemplateArg::Type(Type::Scalar(Scalar::U64)), i64::try_from(length).ok()?)
            }
            _ => return None,
        };
        if !(0..=unpack::LONGEST as i64).contains(&length) {
            return None;
        }
        let number = |at: i64| {
            let kind = ExprKind::Int(at.into(), Scalar::I64);
            TemplateArg::Value(Expr { kind, span: NOWHERE })
        };
        let args = std::iter::once(of).chain((0..length).map(number)).collect();
        let qualifiers = vec![("std".into(), Vec::new())];
        let name = "integer_sequence".into();
        self.named_record(&Path { qualifiers, name, args: Some(args), global: false })
    }

    /// A kernel as it is with these template arguments, if it has packs that they tell.
    pub(super) fn with_packs(&mut self, kernel: &Arc<Function>, env: &Env) -> Option<Arc<Function>> {
        let mut names = Vec::new();
        for param in kernel.template_params.iter().filter(|param| param.pack) {
            match env.bindings.get(&param.name) {
                Some(Binding::Pack(list)) if list.len() <= unpack::LONGEST => {
                    names.push((param.name.clone(), list.len()));
                }
                _ => return None,
            }
        }
        let arguments = match takes_any_number(kernel) {
            true => names.last().map(|(_, length)| *length),
            false => None,
        };
        (!names.is_empty()).then(|| self.lookups.memo.instance(kernel, names, arguments))
    }

    /// An expression in which the packs of the class and function that run are written out.
    pub(super) fn written_out(&mut self, expr: &Expr) -> Option<Rc<Expr>> {
        let env = &self.frame()?.env;
        let packs = env.bindings.iter().filter_map(|(name, bound)| match bound {
            Binding::Pack(list) if list.len() <= unpack::LONGEST => Some((name.clone(), list.len())),
            _ => None,
        });
        let mut packs: Vec<(Name, usize)> = packs.collect();
        packs.sort_unstable();
        (!packs.is_empty()).then(|| self.lookups.memo.written_out(expr, packs))
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
        ExprKind::Pack(pack) => pack.join.is_none(),
        ExprKind::Comma(_, last) => is_expansion(last),
        _ => false,
    }
}

/// Whether nothing is known of a template argument, perhaps not even that it is one.
fn is_unknown(arg: &Expr) -> bool {
    matches!(arg.kind, ExprKind::Unsupported(_)) || is_expansion(arg)
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

/// Whether the last parameter of a template is its last pack, and no other parameter is made of that:
/// `template <class F, class... A> void f(F f, A... rest)`.
pub(super) fn takes_any_number(function: &Function) -> bool {
    let (Some((last, before)), Some(pack)) = (function.params.split_last(), function.template_params.last())
    else {
        return false;
    };
    let is_pack = matches!(&last.ty, Type::Named(path)
        if path.name == pack.name && path.args.is_none() && path.qualifiers.is_empty());
    let packs = function.template_params.iter().filter(|param| param.pack).count();
    last.pack && pack.pack && packs == 1 && is_pack && !before.iter().any(|it| mentions(&it.ty, &pack.name))
}

/// Forgets the packs of a function that arguments may add to.
pub(super) fn reopen(env: &mut Env, function: &Function) {
    for param in function.template_params.iter().filter(|param| param.pack) {
        if function.params.iter().any(|it| mentions(&it.ty, &param.name)) {
            env.bindings.remove(&param.name);
        }
    }
}

/// Binds a pack that the last parameters of a function tell: `f(Ts... values)`. `written`: what the template arguments
/// of the call tell; those of the pack stand for its first elements.
pub(super) fn deduce_pack(env: &mut Env, function: &Function, at: usize, types: &[Ty], written: &Env) {
    let Some(Type::Named(path)) = function.params.get(at).map(|param| super::deduce::strip(&param.ty)) else {
        return;
    };
    let is_pack = |param: &TemplateParam| param.pack && param.name == path.name;
    let known = types.iter().all(|ty| !matches!(ty, Ty::Void));
    if known && path.args.is_none() && function.template_params.iter().any(is_pack) {
        let mut list: Vec<Binding> = match written.bindings.get(&path.name) {
            Some(Binding::Pack(first)) => first.iter().take(types.len()).cloned().collect(),
            _ => Vec::new(),
        };
        list.extend(types.iter().skip(list.len()).cloned().map(Binding::Type));
        env.bind(&path.name, Binding::Pack(list.into()));
    }
}

/// The pack of a kernel that is given all its template arguments.
pub(super) fn launched_pack(
    machine: &mut Machine<'_>,
    kernel: &Function,
    param: &TemplateParam,
    rest: &[LaunchArg],
) -> Option<Binding> {
    if kernel.params.iter().any(|it| mentions(&it.ty, &param.name)) && !takes_any_number(kernel) {
        return None;
    }
    let bound = rest.iter().map(|arg| match arg {
        LaunchArg::Value(value) => Some(Binding::Value(Value::int(*value))),
        LaunchArg::Type(ty) => Some(Binding::Type(machine.resolve_argument(ty))),
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

/// `Ts...`
fn is_expansion_of(arg: &TemplateArg, pack: &Name) -> bool {
    matches!(arg, TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), .. }) if name == pack)
}

/// Whether a type is made of a template parameter.
pub(super) fn mentions(ty: &Type, name: &Name) -> bool {
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
        Type::Pointer(inner) | Type::Reference(inner) | Type::Qualified(_, inner) => mentions(inner, name),
        Type::Array(inner, length) => {
            mentions(inner, name) || length.as_ref().is_some_and(|length| in_expr(length, name))
        }
        // What is not modelled may be made of anything.
        Type::Decltype(_) | Type::Auto | Type::Opaque => true,
        Type::Void | Type::Scalar(_) => false,
    }
}
