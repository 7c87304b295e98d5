//! What do template parameters stand for?

use super::int::Int;
use super::machine::Machine;
use super::resolve::NOWHERE;
use super::symbol::{Key, Origin};
use super::types::{Binding, Env, Ty};
use super::value::Value;
use crate::ir::{Record, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The bindings under which a specialisation's arguments equal `args`, if they can.
    pub(super) fn match_specialization(&mut self, record: &Arc<Record>, args: &[TemplateArg]) -> Option<Env> {
        if record.specialization.len() != args.len() {
            return None;
        }
        let mut env = Env::default();
        for (pattern, arg) in record.specialization.iter().zip(args) {
            let parameter = match pattern {
                TemplateArg::Type(Type::Named(path)) => {
                    record.template_params.iter().find(|p| p.name == path.name)
                }
                TemplateArg::Value(expr) => match &expr.kind {
                    crate::ir::ExprKind::Path(path) => {
                        record.template_params.iter().find(|p| p.name == path.name)
                    }
                    _ => None,
                },
                TemplateArg::Type(_) => None,
            };
            if let Some(parameter) = parameter {
                let bound = self.bind_one(&parameter.kind.clone(), arg);
                env.bindings.insert(parameter.name.clone(), bound);
                continue;
            }
            let same = match (pattern, arg) {
                (TemplateArg::Type(a), TemplateArg::Type(b)) => {
                    let (a, b) = (self.resolve_type(a), self.resolve_type(b));
                    !matches!(a, Ty::Unknown(_)) && a == b
                }
                (TemplateArg::Value(a), TemplateArg::Value(b)) => {
                    let (a, b) = (self.evaluate(a), self.evaluate(b));
                    matches!((&a, &b), (Value::Int(x, _), Value::Int(y, _))
                        if x.as_constant().is_some() && x.as_constant() == y.as_constant())
                }
                _ => false,
            };
            if !same {
                return None;
            }
        }
        Some(env)
    }

    /// Binds template parameters to explicit arguments, then defaults; what is left is unknown.
    pub fn bind(&mut self, params: &[TemplateParam], args: Option<&[TemplateArg]>, outer: &Env) -> Env {
        let mut env = Env { bindings: outer.bindings.clone() };
        for (at, param) in params.iter().enumerate() {
            let explicit = args.and_then(|args| args.get(at)).filter(|_| !param.pack);
            if let Some(arg) = explicit {
                let bound = self.bind_one(&param.kind, arg);
                env.bindings.insert(param.name.clone(), bound);
            } else {
                env.bindings.remove(&param.name);
            }
        }
        env
    }

    /// Fills parameters that are still free with their defaults, or with "not known".
    pub fn bind_rest(&mut self, params: &[TemplateParam], env: Env) -> Env {
        let mut env = env;
        for param in params {
            if env.bindings.contains_key(&param.name) || param.name.is_empty() {
                continue;
            }
            let so_far = || Rc::new(Env { bindings: env.bindings.clone() });
            let bound = match &param.kind {
                TemplateParamKind::Type(Some(ty)) => {
                    Binding::Type(self.within_env(so_far(), |machine| machine.resolve_type(ty)))
                }
                TemplateParamKind::Value(_, Some(expr)) if !param.pack => {
                    Binding::Value(self.within_env(so_far(), |machine| machine.evaluate(expr)))
                }
                _ => self.unknown_parameter(param),
            };
            env.bindings.insert(param.name.clone(), bound);
        }
        env
    }

    /// A template parameter of which nothing is known: a symbol, or a type without a size.
    pub fn unknown_parameter(&mut self, param: &TemplateParam) -> Binding {
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

    /// One argument. The grammar cannot tell a type from a value by name: the parameter can.
    fn bind_one(&mut self, kind: &TemplateParamKind, arg: &TemplateArg) -> Binding {
        match (kind, arg) {
            (TemplateParamKind::Value(..), TemplateArg::Value(expr)) => Binding::Value(self.evaluate(expr)),
            (TemplateParamKind::Value(..), TemplateArg::Type(Type::Named(path))) => {
                Binding::Value(self.lookup(path, NOWHERE))
            }
            (_, TemplateArg::Type(ty)) => Binding::Type(self.resolve_type(ty)),
            (_, TemplateArg::Value(expr)) => match &expr.kind {
                crate::ir::ExprKind::Path(path) => {
                    Binding::Type(self.resolve_type(&Type::Named(path.clone())))
                }
                _ => Binding::Value(self.evaluate(expr)),
            },
        }
    }
}
