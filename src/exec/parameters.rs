//! What do template parameters stand for?

use super::deduce::{is_perhaps_const, perhaps_reference};
use super::machine::{Machine, Mode};
use super::types::{Binding, Env, Layout, Ty, nameless};
use super::value::NOWHERE;
use super::value::Value;
use crate::domain::{Int, Key, Origin};
use crate::ir::namespace::Namespace;
use crate::ir::{Expr, ExprKind, Name, Path, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type};
use std::rc::Rc;

/// What is bound beside a template parameter whose argument is a reference: `Box<int &>`.
fn reference_to(param: &Name) -> Name {
    format!("{param}&").into()
}

/// A template argument as a call or a type is given it.
pub(super) enum Given<'a> {
    /// As it is written.
    Written(&'a TemplateArg),
    /// As part of a pack.
    Bound(Binding),
    /// One or more, or none: of a pack that is not known.
    Open,
}

impl Machine<'_> {
    /// Binds template parameters to explicit arguments, then defaults; what is left is unknown.
    pub(crate) fn bind(
        &mut self,
        params: &[TemplateParam],
        args: Option<&[TemplateArg]>,
        outer: &Env,
    ) -> Env {
        let mut env = Env { bindings: outer.bindings.clone() };
        // What is not known of the arguments of the function around makes no other class.
        env.bindings.retain(|name, _| !is_perhaps_const(name));
        let given = self.in_full(args.unwrap_or_default());
        // How many a pack stands for is not known: what follows may be for any parameter.
        let known = given.iter().position(|arg| matches!(arg, Given::Open)).unwrap_or(given.len());
        for (at, param) in params.iter().enumerate() {
            let bound = match given[..known].get(at) {
                _ if param.pack && args.is_some_and(|args| !args.is_empty()) && at + 1 == params.len() => {
                    self.pack_of(param, given.get(at..).unwrap_or_default())
                }
                Some(_) if param.pack => None,
                Some(Given::Written(TemplateArg::Type(Type::Opaque))) => Some(self.unknown_parameter(param)),
                Some(Given::Written(arg)) => Some(self.bind_one(&param.kind, arg)),
                Some(Given::Bound(bound)) => Some(bound.clone()),
                _ if known < given.len() => Some(self.unknown_parameter(param)),
                _ => None,
            };
            let written = match given[..known].get(at) {
                Some(Given::Written(TemplateArg::Type(ty))) if !param.pack => Some(ty),
                _ => None,
            };
            let refers = written.is_some_and(|ty| self.env().refers(ty));
            let may_refer = written.is_some_and(|ty| self.may_refer(ty));
            match bound {
                Some(bound) => env.bind(&param.name, bound),
                None => drop(env.bindings.remove(&param.name)),
            }
            // A type is known without `&`: it is kept beside it.
            if may_refer {
                env.bindings.insert(perhaps_reference(&param.name), Binding::Type(Ty::Void));
            }
            match refers {
                true => env.bindings.insert(reference_to(&param.name), Binding::Type(Ty::Void)),
                false if outer.bindings.is_empty() => None,
                false => env.bindings.remove(&reference_to(&param.name)),
            };
        }
        env
    }

    /// Whether a template argument is a template parameter that may be a reference.
    pub(super) fn may_refer(&self, arg: &Type) -> bool {
        match arg {
            Type::Named(path) if path.qualifiers.is_empty() && path.args.is_none() => {
                self.env().bindings.contains_key(&perhaps_reference(&path.name))
            }
            _ => false,
        }
    }

    /// Fills parameters that are given nothing with their defaults, which are looked up in a namespace. Those that
    /// have none stay free.
    pub(super) fn bind_defaults(&mut self, params: &[TemplateParam], at: &Namespace, mut env: Env) -> Env {
        let is_left = |param: &&TemplateParam, env: &Env| {
            param.has_default() && !param.name.is_empty() && !env.bindings.contains_key(&param.name)
        };
        if !params.iter().any(|param| is_left(&param, &env)) {
            return env;
        }
        let filled = Env { bindings: env.bindings.clone() };
        let no_env = self.lookups.memo.no_env();
        // The run gets no further by it.
        let steps = self.steps;
        let filled = self.within(no_env, at, |machine| machine.bind_rest(params, filled));
        self.steps = steps;
        for param in params {
            if is_left(&param, &env)
                && let Some(default) = filled.bindings.get(&param.name)
            {
                env.bindings.insert(param.name.clone(), default.clone());
            }
        }
        env
    }

    /// Fills parameters that are still free with their defaults, or with "not known".
    pub(crate) fn bind_rest(&mut self, params: &[TemplateParam], env: Env) -> Env {
        let mut env = env;
        for param in params {
            if env.bindings.contains_key(&param.name) || param.name.is_empty() {
                continue;
            }
            let so_far = || Rc::new(Env { bindings: env.bindings.clone() });
            let bound = match &param.kind {
                TemplateParamKind::Type(Some(ty)) | TemplateParamKind::Template(Some(ty)) => {
                    Binding::Type(self.within_env(so_far(), |machine| machine.resolve_argument(ty)))
                }
                TemplateParamKind::Value(ty, Some(expr)) if !param.pack => {
                    let value = self.within_env(so_far(), |machine| machine.evaluate(expr));
                    Binding::Value(match ty {
                        Type::Scalar(scalar) => self.convert(value, &Ty::Scalar(*scalar)),
                        _ => value,
                    })
                }
                _ => self.unknown_parameter(param),
            };
            env.bindings.insert(param.name.clone(), bound);
        }
        env
    }

    /// A template parameter of which nothing is known: a symbol, or a type without a size.
    pub(crate) fn unknown_parameter(&mut self, param: &TemplateParam) -> Binding {
        match &param.kind {
            TemplateParamKind::Value(..) if !param.pack => {
                let key = Key::Named(format!("template parameter {}", param.name));
                let name = param.name.to_string();
                let id = self.world.symbols.intern(key, |_| name, Origin::Given, None, None);
                Binding::Value(Value::Int(Int::symbol(id), Scalar::I32))
            }
            _ => Binding::Type(Ty::Unknown(param.name.clone())),
        }
    }

    /// Whether a type is that of a template parameter around of which nothing is known.
    pub(super) fn is_open_type(&self, name: &Name) -> bool {
        let is_it = |bound: &Binding| matches!(bound, Binding::Type(Ty::Unknown(open)) if open == name);
        !nameless::ALL.contains(&&**name)
            && self.frame().is_some_and(|frame| frame.env.bindings.values().any(is_it))
    }

    /// The arguments that a specialisation of a class stands for, as far as to a pack; none for what is no
    /// specialisation.
    pub(super) fn arguments_of_special(&mut self, class: &Layout) -> Option<Vec<Binding>> {
        let record = class.record.clone().filter(|record| !record.specialization.is_empty())?;
        let is_pack =
            |arg: &&TemplateArg| matches!(arg, TemplateArg::Value(Expr { kind: ExprKind::Expansion(_), .. }));
        let written = record.specialization.iter().take_while(|arg| !is_pack(arg));
        Some(self.within(Rc::clone(&class.env), &record.namespace, |machine| {
            written.map(|arg| machine.bind_written(arg)).collect()
        }))
    }

    /// What a name stands for that is written as a template argument. Host code has its constants in memory.
    pub(super) fn number_named(&mut self, path: &Path) -> Value {
        match self.lookup(path, NOWHERE) {
            Value::Pointer(pointer) if self.mode == Mode::Host => self.read(&pointer, NOWHERE),
            value => value,
        }
    }

    /// An argument as it is written, where no parameter says of which kind it is: a name may be that of a type or of a
    /// number. One that is not known is an unknown type, which may be anything.
    pub(super) fn bind_written(&mut self, arg: &TemplateArg) -> Binding {
        let (path, ty) = match arg {
            TemplateArg::Type(Type::Named(path)) => (path, self.resolve_argument(&Type::Named(path.clone()))),
            TemplateArg::Type(ty) => return Binding::Type(self.resolve_argument(ty)),
            TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => {
                (path, self.resolve_named_type(path))
            }
            TemplateArg::Value(expr) => return Binding::Value(self.evaluate(expr)),
        };
        match self.number_named(path) {
            Value::Int(int, from) if int.as_constant().is_some() => Binding::Value(Value::Int(int, from)),
            _ => Binding::Type(ty),
        }
    }

    /// One argument. The grammar cannot tell a type from a value by name: the parameter can.
    pub(super) fn bind_one(&mut self, kind: &TemplateParamKind, arg: &TemplateArg) -> Binding {
        match (kind, arg) {
            (TemplateParamKind::Value(Type::Scalar(scalar), _), TemplateArg::Value(expr)) => {
                let value = self.evaluate(expr);
                Binding::Value(self.convert(value, &Ty::Scalar(*scalar)))
            }
            (TemplateParamKind::Value(..), TemplateArg::Value(expr)) => Binding::Value(self.evaluate(expr)),
            (TemplateParamKind::Value(..), TemplateArg::Type(Type::Named(path))) => {
                Binding::Value(self.lookup(path, NOWHERE))
            }
            (_, TemplateArg::Type(ty)) => Binding::Type(self.resolve_argument(ty)),
            (_, TemplateArg::Value(expr)) => match &expr.kind {
                ExprKind::Path(path) => Binding::Type(self.resolve_argument(&Type::Named(path.clone()))),
                _ => Binding::Value(self.evaluate(expr)),
            },
        }
    }
}
