//! What do the template parameters of a function stand for in a call?

use super::deduce::deduce;
use super::machine::Machine;
use super::members::BASES;
use super::packs::reopen;
use super::types::{Env, Layout, Ty};
use super::value::Pointer;
use crate::ir::{Expr, Function, Path, TemplateParam};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// What is given in a call of a function: explicit template arguments, and those of the class that it is a method of.
    pub(super) fn call_env(&mut self, function: &Function, path: &Path, this: Option<&Pointer>) -> Env {
        let mut env = Env::default();
        if let Some(Pointer { pointee: Ty::Record(layout), .. }) = this {
            env.bindings.extend(layout.env.bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
        } else if let Some((_, owner_args)) = path.qualifiers.last() {
            let is_special = self.is_of_partial(function);
            if !is_special {
                env = self.bind(&function.owner_params, Some(owner_args), &Env::default());
            }
            if let Some(class) = self.class_of_static(function, path, &env) {
                env.bindings.extend(class.env.bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
                if is_special {
                    add_by_place(&mut env, function, &class);
                }
            }
            match is_special {
                true => env = self.bind_rest(&function.owner_params, env),
                false => self.add_class_defaults(function, path, &mut env),
            }
        } else if function.owner.is_some() {
            env.bindings.extend(self.env().bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
            if let Some(class) = self.base_of_static(function) {
                env.bindings.extend(class.env.bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
        }
        let explicit = self.bind(&function.template_params, path.args.as_deref(), &Env::default());
        env.bindings.extend(explicit.bindings);
        reopen(&mut env, function);
        env
    }

    /// `Tile<>::run()`, where `run` is defined outside of its class: the class says what its parameters are by default.
    fn add_class_defaults(&mut self, function: &Function, path: &Path, env: &mut Env) {
        let Some((name, args)) = path.qualifiers.last() else { return };
        let is_bound = |param: &TemplateParam| env.bindings.contains_key(&param.name);
        if !args.is_empty()
            || function.owner.as_ref() != Some(name)
            || function.owner_params.iter().all(is_bound)
            // In the class itself its bare name is that of the class with its own arguments.
            || self.own_records().iter().any(|record| record.name == *name)
        {
            return;
        }
        let Some(class) = self.class_before(path, true) else { return };
        add_by_place(env, function, &class);
    }

    /// Whether a function is a member of a partial specialisation: what its parameters stand for is told by the pattern
    /// of that, and not by the place of an argument.
    fn is_of_partial(&self, function: &Function) -> bool {
        let Some(owner) = &function.owner else { return false };
        if function.owner_params.is_empty() {
            return false;
        }
        let records = self.program.records(owner);
        !function.owner_args.is_empty()
            || records.iter().any(|it| !it.specialization.is_empty() && it.holds(function.span))
    }

    /// What the template parameters of a function stand for in a call that is not run.
    pub(super) fn deduced_env(&mut self, function: &Arc<Function>, path: &Path, args: &[Expr]) -> Env {
        let mut env = self.call_env(function, path, None);
        if function.template_params.is_empty() {
            return env;
        }
        for (param, arg) in function.params.iter().zip(args).filter(|(param, _)| !param.pack) {
            let ty = self.type_to_deduce_from(arg);
            deduce(self, &mut env, function, &param.ty, &ty);
        }
        self.bind_rest(&function.template_params, env)
    }

    /// The class that a static method is one of, if its arguments are not all told by the name before it: that may
    /// be a class made of it or a typedef, and the arguments of the classes around belong to it, too.
    fn class_of_static(&mut self, function: &Function, path: &Path, told: &Env) -> Option<Rc<Layout>> {
        let owner = function.owner.as_ref()?;
        let is_told = |param: &TemplateParam| told.bindings.contains_key(&param.name);
        let is_owner = matches!(path.qualifiers.as_slice(), [(named, _)] if named == owner);
        if is_owner && function.owner_args.is_empty() && function.owner_params.iter().all(is_told) {
            return None;
        }
        let class = self.qualifying_class(path)?;
        self.class_where(&class, BASES, &|class| class.holds(function.span) || class.name == *owner)
    }
}

/// Binds the parameters that a method says in front of its class to what those of the class stand for, where they have
/// other names.
fn add_by_place(env: &mut Env, function: &Function, class: &Layout) {
    let params = class.record.iter().flat_map(|record| &record.template_params);
    for (of_class, own) in params.zip(&function.owner_params) {
        if let Some(bound) = class.env.bindings.get(&of_class.name)
            && !env.bindings.contains_key(&own.name)
        {
            env.bindings.insert(own.name.clone(), bound.clone());
        }
    }
}
