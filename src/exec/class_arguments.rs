//! Which template arguments has a class whose name stands alone, as the arguments of its constructor tell?
//!
//! ```text
//! template <class T> struct View { T *p; int step; __device__ View(T *p, int step); };
//! View v(s, 4);               a View<float>
//! template <class T> struct Pair { T a, b; };
//! Pair p{1, 2};               a Pair<int>, as its members tell
//! template <class T> View(T &) -> View<T>;
//! ```
//!
//! Constructors and deduction guides that take so many arguments have to agree, so that it need not be asked which of
//! them is meant. Those with packs are not followed, nor are guides that are no templates.

use super::deduce::{NO_FIT, decayed, deduce, fit};
use super::machine::{Machine, Mode};
use super::packs::takes_count;
use super::same_type::same_type;
use super::types::{Env, Ty};
use crate::ir::{Expr, ExprKind, Function, Param, Path, Record, TemplateArg, TemplateParamKind, Type};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The type of `T(args)` or `T{args}`, as it is written.
    pub(super) fn class_made(&mut self, ty: &Type, args: &[Expr]) -> Ty {
        match self.told_by_arguments(ty, args) {
            Some(told) => told,
            None => self.resolve_type(ty),
        }
    }

    /// The type of a variable that is declared with the bare name of a class template.
    pub(super) fn declared_with(&mut self, ty: &Type, init: Option<&Expr>) -> Option<Ty> {
        match &init?.kind {
            ExprKind::Construct(made, args) if made == ty => self.told_by_arguments(ty, args),
            _ => self.told_by_arguments(ty, std::slice::from_ref(init?)),
        }
    }

    fn told_by_arguments(&mut self, ty: &Type, args: &[Expr]) -> Option<Ty> {
        let Type::Named(path) = ty else { return None };
        if path.args.is_some() || self.mode != Mode::Device || args.is_empty() {
            return None;
        }
        let record = self.template_named(path)?;
        // Whether it is one of these that tells is not asked.
        if self.program.modules.iter().any(|module| module.guided.contains(&record.name)) {
            return Some(Ty::Unknown(record.name.clone()));
        }
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(arg)).collect();
        if let [Ty::Record(same)] = types.as_slice()
            && same
                .record
                .as_ref()
                .is_some_and(|it| it.name == record.name && it.namespace == record.namespace)
        {
            return Some(Ty::Record(Rc::clone(same)));
        }
        let candidates = self.ways_to_make(&record, path, args);
        if candidates.is_empty() || candidates.len() > 8 {
            return None;
        }
        let mut told: Option<Ty> = None;
        for function in &candidates {
            match self.made_from(function, &record, &types) {
                Made::By(ty) => match &told {
                    Some(known) if same_type(known, &ty) != Some(true) => return None,
                    _ => told = Some(ty),
                },
                Made::NotByThis => {}
                Made::Open => return None,
            }
        }
        told
    }

    /// The class template that a bare name means, outside of its own text.
    fn template_named(&mut self, path: &Path) -> Option<Arc<Record>> {
        let env = self.env();
        if path.qualifiers.is_empty()
            && (env.bindings.contains_key(&path.name) || self.own_class(&path.name).is_some())
        {
            return None;
        }
        let namespace = self.namespace();
        let mut meant = self.program.records_meant(path, &namespace);
        let primary = meant.find(|it| it.specialization.is_empty())?;
        let is_simple = !primary.template_params.is_empty()
            && primary.template_params.iter().all(|param| !param.pack)
            && !primary.extent.is_built_in();
        is_simple.then(|| Arc::clone(primary))
    }

    /// What an object may be made by: each as a function template that returns it.
    fn ways_to_make(&mut self, record: &Arc<Record>, path: &Path, args: &[Expr]) -> Vec<Function> {
        let all = self.program.functions(&path.name).to_vec();
        let own = Type::Named(Box::new(of_parameters(record, path)));
        let mut found = Vec::new();
        let mut has_constructors = false;
        for function in all.iter().filter(|it| takes_count(it, args)) {
            let is_guide = function.owner.is_none()
                && function.body.is_none()
                && matches!(&function.return_type, Type::Named(of) if of.name == path.name && of.args.is_some());
            if is_guide {
                found.push((**function).clone());
            }
        }
        for function in all.iter().filter(|it| it.owner.as_ref() == Some(&record.name)) {
            has_constructors = true;
            if takes_count(function, args) && record.holds(function.span) {
                let mut made = (**function).clone();
                made.template_params.splice(0..0, record.template_params.iter().cloned());
                made.return_type = own.clone();
                found.push(made);
            }
        }
        // Of an aggregate the members tell.
        if !has_constructors && record.bases.is_empty() && args.len() <= record.fields.len() {
            let like = found.first().cloned().unwrap_or_else(|| {
                let mut nothing = (*super::machine::empty_frame().function).clone();
                nothing.namespace = Arc::clone(&record.namespace);
                nothing
            });
            let params = record.fields.iter().take(args.len()).map(|field| Param {
                local: crate::ir::LocalId(0),
                name: field.name.clone(),
                ty: field.ty.clone(),
                to_const: false,
                to_volatile: false,
                moves: false,
                restrict: false,
                pack: false,
                default: None,
                span: record.span,
            });
            let (params, template_params) = (params.collect(), record.template_params.clone());
            if found.is_empty() {
                found.push(Function { params, template_params, return_type: own, ..like });
            }
        }
        found
    }

    fn made_from(&mut self, function: &Function, record: &Record, types: &[Ty]) -> Made {
        if function.params.iter().any(|param| param.pack) {
            return Made::Open;
        }
        let mut env = Env::default();
        for (param, ty) in function.params.iter().zip(types) {
            let ty = if matches!(param.ty, Type::Reference(_)) { ty.clone() } else { decayed(ty) };
            if matches!(ty, Ty::Unknown(_)) {
                return Made::Open;
            }
            if fit(self, function, &param.ty, &ty) <= NO_FIT {
                return Made::NotByThis;
            }
            deduce(self, &mut env, function, &param.ty, &ty);
        }
        let env = self.bind_defaults(&record.template_params, &record.namespace, env);
        let is_told = |env: &Env| {
            function
                .template_params
                .iter()
                .all(|param| env.bindings.contains_key(&param.name) || param.name.is_empty())
        };
        if !is_told(&env) {
            return Made::NotByThis;
        }
        match self.within(Rc::new(env), &record.namespace, |it| it.resolve_type(&function.return_type)) {
            Ty::Unknown(_) => Made::Open,
            ty => Made::By(ty),
        }
    }
}

/// What a constructor or guide tells.
enum Made {
    By(Ty),
    /// It takes no such arguments.
    NotByThis,
    Open,
}

/// The class with its own parameters as arguments.
fn of_parameters(record: &Record, path: &Path) -> Path {
    let args = record.template_params.iter().map(|param| {
        let own = Path::simple(param.name.clone());
        match param.kind {
            TemplateParamKind::Value(..) => {
                TemplateArg::Value(Expr { kind: ExprKind::Path(Box::new(own)), span: record.span })
            }
            _ => TemplateArg::Type(Type::Named(Box::new(own))),
        }
    });
    Path { args: Some(args.collect()), ..path.clone() }
}
