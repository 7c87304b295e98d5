//! How is a type written so that it means the same in any other function?
//!
//! A launch is found in host code, where `Traits<N, kEven>` may speak of parameters and constants of the
//! function around it. The kernel is run elsewhere: there it has to be `Traits<4, 1>`,
//! with a hole for each argument that is not known.

use super::machine::Machine;
use super::types::{Binding, Env, Layout, Ty};
use super::value::NOWHERE;
use super::value::Value;
use crate::ir::{
    Expr, ExprKind, Name, Path, Record, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type,
};
use std::rc::Rc;
use std::sync::Arc;

/// An argument of which nothing is known.
const HOLE: TemplateArg = TemplateArg::Type(Type::Opaque);

impl Machine<'_> {
    /// The type in terms that any file can resolve, if there are some.
    pub(super) fn closed_type(&mut self, ty: &Ty) -> Option<Type> {
        let simple = |name: &Name| Some(Type::Named(Box::new(Path::simple(name.clone()))));
        match ty {
            Ty::Scalar(scalar) => Some(Type::Scalar(*scalar)),
            Ty::Void => Some(Type::Void),
            Ty::Sized { name, .. } => simple(name),
            Ty::Pointer(inner) => Some(Type::Pointer(Box::new(self.closed_type(inner)?))),
            Ty::Qualified(qualifiers, inner) => {
                Some(Type::Qualified(*qualifiers, Box::new(self.closed_type(inner)?)))
            }
            Ty::Enum(Some(name), _) => simple(name),
            Ty::Record(layout) => match &layout.record {
                Some(record) => self.closed_record(&Arc::clone(record), layout),
                None => simple(&layout.name),
            },
            _ => None,
        }
    }

    /// A class, with the template arguments that it and the class around it were made with.
    fn closed_record(&mut self, record: &Record, layout: &Layout) -> Option<Type> {
        let mut args = self.closed_args(record, layout)?;
        let mut qualifiers: Vec<_> = record.namespace.iter().map(|name| (name.clone(), Vec::new())).collect();
        let mut name = record.name.clone();
        if let Some(owner) = self.owner_with_arguments(record) {
            qualifiers.push((owner.name.clone(), self.closed_args(&owner, layout)?));
            args.drain(..owner.template_params.len().min(args.len()));
            name = record.name.get(owner.name.len() + 2..)?.into();
        }
        let args = (!args.is_empty() || !record.specialization.is_empty()).then_some(args);
        Some(Type::Named(Box::new(Path { qualifiers, name, args, global: true })))
    }

    /// A class template that a template parameter of the function or of the class around stands for.
    pub(super) fn closed_template(&self, ty: &Type) -> Option<Type> {
        let Type::Named(path) = ty else { return None };
        let function = &self.frame()?.function;
        let mut params = function.template_params.iter().chain(&function.owner_params);
        let is_it = |param: &TemplateParam| {
            param.name == path.name && matches!(param.kind, TemplateParamKind::Template(_))
        };
        let is_bare = path.qualifiers.is_empty() && path.args.is_none() && !path.global;
        match self.env().bindings.get(&path.name)? {
            Binding::Type(Ty::Record(layout)) if is_bare && params.any(is_it) => {
                let record = layout.record.as_ref().filter(|it| !it.name.contains("::"))?;
                let qualifiers = record.namespace.iter().map(|name| (name.clone(), Vec::new())).collect();
                let path = Path { qualifiers, name: record.name.clone(), args: None, global: true };
                Some(Type::Named(Box::new(path)))
            }
            _ => None,
        }
    }

    /// The class around a member class, if it has template arguments: each specialisation may have a member of the
    /// same name.
    fn owner_with_arguments(&self, record: &Record) -> Option<Arc<Record>> {
        let (owner, _) = record.name.rsplit_once("::")?;
        let has_arguments = |it: &Record| !it.template_params.is_empty() || !it.specialization.is_empty();
        let around = |it: &&Arc<Record>| has_arguments(it) && it.holds(record.span);
        self.program.records(owner).iter().find(around).cloned()
    }

    /// The arguments of a class, where its parameters stand for what `layout` says.
    fn closed_args(&mut self, record: &Record, layout: &Layout) -> Option<Vec<TemplateArg>> {
        let args = if record.specialization.is_empty() {
            if record.template_params.is_empty() {
                return Some(Vec::new());
            }
            let written = self.count_written(record, layout)?;
            let env = &layout.env.bindings;
            let bound = record.template_params.iter().take(written);
            let bound = bound.map(|param| env.get(&param.name).cloned());
            let mut args = bound.collect::<Option<Vec<Binding>>>()?;
            match args.pop() {
                Some(Binding::Pack(pack)) => args.extend(pack.iter().cloned()),
                Some(_) if record.template_params.iter().any(|param| param.pack) => return None,
                last => args.extend(last),
            }
            args
        } else {
            let written = record.specialization.clone();
            self.within(Rc::clone(&layout.env), &record.namespace, |machine| {
                let of = written.iter().map(|arg| match arg {
                    TemplateArg::Type(ty) => Binding::Type(machine.resolve_argument(ty)),
                    TemplateArg::Value(expr) => Binding::Value(machine.evaluate(expr)),
                });
                of.collect()
            })
        };
        // A parameter that stands for itself was never given anything.
        let is_own = |bound: &Binding| {
            matches!(bound, Binding::Type(Ty::Unknown(name))
            if record.template_params.iter().any(|param| param.name == *name))
        };
        let args = args.iter().map(|bound| if is_own(bound) { HOLE } else { self.closed_binding(bound) });
        Some(args.collect())
    }

    /// How many template arguments are to be written: what follows the last that is bound, and is not what it is by
    /// default, is left to defaults. None if nothing is bound.
    fn count_written(&mut self, record: &Record, layout: &Layout) -> Option<usize> {
        let params = &record.template_params;
        let mut env = Env { bindings: layout.env.bindings.clone() };
        let last = params.iter().rposition(|param| env.bindings.contains_key(&param.name))?;
        for (at, param) in params.iter().enumerate().take(last + 1).rev() {
            let Some(bound) = env.bindings.remove(&param.name).filter(|_| param.has_default()) else {
                return Some(at + 1);
            };
            env = self.bind_defaults(params, &record.namespace, env);
            if !env.bindings.get(&param.name).is_some_and(|default| default.same(&bound)) {
                return Some(at + 1);
            }
            env.bindings.remove(&param.name);
        }
        Some(0)
    }

    /// An argument, or a hole where it is not known.
    fn closed_binding(&mut self, bound: &Binding) -> TemplateArg {
        match bound {
            Binding::Value(Value::Int(int, scalar)) => match self.substitute(int).as_constant() {
                Some(number) => {
                    let scalar = match scalar {
                        Scalar::Bool => Scalar::Bool,
                        _ if i32::try_from(number).is_ok() => Scalar::I32,
                        _ => Scalar::I64,
                    };
                    let kind = ExprKind::Int(number.into(), scalar);
                    TemplateArg::Value(Expr { kind, span: NOWHERE })
                }
                None => HOLE,
            },
            Binding::Value(_) | Binding::Pack(_) => HOLE,
            Binding::Type(ty @ Ty::Unknown(name)) if self.is_hidden_class(ty) => {
                TemplateArg::Type(Type::Named(Box::new(Path::simple(name.clone()))))
            }
            Binding::Type(ty) => self.closed_type(&ty.clone()).map_or(HOLE, TemplateArg::Type),
        }
    }
}
