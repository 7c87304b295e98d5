//! Can a function template be called like this at all?
//!
//! | template | argument | |
//! |---|---|---|
//! | `f(Const<N>, T)` | `3` | no: no `N` makes a `Const<N>` an `int` |
//! | `template <class T, class = enable_if_t<is_integral<T>::value>> f(T)` | `2.0f` | no: there is no such type |
//! | the same | `3` | yes |
//! | `template <class T, class = decltype(T().size())> f(T)` | an object | not known: expressions are not tried |

use super::deduce::{deduce, is_named, note_forwarded, strip};
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::packs::mentions;
use super::types::{Env, Layout, Ty};
use crate::ir::{Function, Path, TemplateArg, TemplateParam, TemplateParamKind, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Typedefs that lead from one to the next, at the most.
pub(super) const TYPEDEFS: usize = 8;

impl Machine<'_> {
    /// Whether a function can take arguments of these types, as far as its template's head tells: none if that is
    /// not known. Of what is no template nothing is asked.
    pub(super) fn is_viable(
        &mut self,
        function: &Arc<Function>,
        explicit: &[TemplateArg],
        types: &[Ty],
    ) -> Option<bool> {
        let is_asked = !function.template_params.is_empty()
            && function.specialization.is_empty()
            && function.owner.is_none();
        if !is_asked {
            return Some(true);
        }
        let mut all = Some(true);
        for (param, ty) in function.params.iter().zip(types) {
            if param.pack {
                all = None;
                break;
            }
            match self.can_stand_for(function, strip(&param.ty), ty) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        if !is_conditional(function) {
            return all;
        }
        // The run gets no further by it. Host code of expression templates does little else, and never launches.
        let steps = self.steps;
        let met = self.meets_what_is_asked(function, explicit, types);
        if self.mode == Mode::Device || !self.trace.launches.is_empty() {
            self.steps = steps;
        }
        if met == Some(true) { all } else { met }
    }

    /// Whether there are the types that the head of a template asks for and the one that it returns.
    fn meets_what_is_asked(
        &mut self,
        function: &Arc<Function>,
        explicit: &[TemplateArg],
        types: &[Ty],
    ) -> Option<bool> {
        let mut env = self.bind(&function.template_params, Some(explicit), &Env::default());
        for (param, ty) in function.params.iter().zip(types).take_while(|(param, _)| !param.pack) {
            deduce(self, &mut env, function, &param.ty, ty);
            note_forwarded(&mut env, function, param);
        }
        let env = self.lookups.memo.shared_env(function, env);
        let key = (Arc::as_ptr(function).addr(), Rc::as_ptr(&env).addr());
        if let Some((_, known)) = self.lookups.memo.met.get(&key) {
            return *known;
        }
        let momentary = self.lookups.momentary;
        let met = self.meets_with(function, &env);
        if self.lookups.momentary == momentary {
            self.lookups.memo.met.insert(key, (env, met));
        }
        met
    }

    /// The same where the arguments tell what parameters of the template stand for.
    fn meets_with(&mut self, function: &Arc<Function>, told: &Rc<Env>) -> Option<bool> {
        let mut all = Some(true);
        let namespace = &function.namespace;
        let env = self.within(Rc::clone(told), namespace, |machine| {
            let so_far = Env { bindings: told.bindings.clone() };
            machine.bind_rest(&function.template_params, so_far)
        });
        let env = self.lookups.memo.shared_env(function, env);
        let asks = |param: &TemplateParam| match &param.kind {
            TemplateParamKind::Type(Some(ty)) | TemplateParamKind::Value(ty, _) => Some(ty.clone()),
            _ => None,
        };
        let asked = function.template_params.iter().chain(&function.constraints).filter_map(asks);
        for ty in asked.chain([function.return_type.clone()]) {
            let exists = self.within(Rc::clone(&env), namespace, |machine| machine.exists(&ty, TYPEDEFS));
            match exists {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    /// Whether some arguments of a template make a parameter's type that of an argument.
    fn can_stand_for(&mut self, function: &Function, pattern: &Type, ty: &Ty) -> Option<bool> {
        let own = |name: &str| function.template_params.iter().any(|param| &*param.name == name);
        let is_open = |pattern: &Type| function.template_params.iter().any(|it| mentions(pattern, &it.name));
        match (pattern, ty) {
            (_, Ty::Unknown(_) | Ty::Void) => None,
            (Type::Named(path), _)
                if path.args.is_none() && path.qualifiers.is_empty() && own(&path.name) =>
            {
                Some(true)
            }
            (Type::Pointer(inner), Ty::Pointer(pointee)) => self.can_stand_for(function, inner, pointee),
            (Type::Pointer(inner), Ty::Array(element, _)) => self.can_stand_for(function, inner, element),
            (Type::Pointer(inner), _) if is_open(inner) => Some(false),
            (Type::Named(path), _) if path.args.is_some() && is_open(pattern) => {
                self.can_be_instance(function, path, ty, TYPEDEFS)
            }
            _ => None,
        }
    }

    /// Whether a type is, or is made of, an instance of the class template that a path names.
    fn can_be_instance(&mut self, function: &Function, path: &Path, ty: &Ty, depth: usize) -> Option<bool> {
        if function.template_params.iter().any(|param| param.name == path.name) {
            return None;
        }
        let (program, from) = (self.program, &function.namespace);
        if let Some(alias) = program.alias_meant(path, from) {
            // `typename Of<T>::type` tells nothing of `T`.
            return match &alias.ty {
                Type::Named(target) if target.qualifiers.is_empty() && target.args.is_some() && depth > 0 => {
                    self.can_be_instance(function, target, ty, depth - 1)
                }
                _ => None,
            };
        }
        program.records_meant(path, from).next()?;
        match ty {
            Ty::Scalar(_) | Ty::Enum(..) | Ty::Pointer(_) | Ty::Array(..) => Some(false),
            Ty::Record(layout) => {
                let is_meant = |class: &Layout| is_named(program, class, path, from);
                match self.class_where(layout, BASES, &is_meant) {
                    Some(_) => Some(true),
                    None => self.has_known_bases(layout, BASES).then_some(false),
                }
            }
            _ => None,
        }
    }

    /// Whether all classes are seen that a class is made of.
    fn has_known_bases(&mut self, layout: &Layout, depth: usize) -> bool {
        let Some(record) = layout.record.clone() else { return false };
        if record.bases.is_empty() {
            return true;
        }
        let bases = self.bases(&record, &layout.env, depth);
        bases.len() == record.bases.len() && bases.iter().all(|base| self.has_known_bases(base, depth - 1))
    }

    /// Whether there is a type of this name.
    pub(super) fn exists(&mut self, ty: &Type, depth: usize) -> Option<bool> {
        let path = match ty {
            Type::Reference(inner) | Type::Pointer(inner) | Type::Qualified(_, inner) => {
                return self.exists(inner, depth);
            }
            Type::Void | Type::Scalar(_) | Type::Auto => return Some(true),
            Type::Named(path) => path,
            Type::Array(..) | Type::Decltype(_) | Type::Opaque => return None,
        };
        if let Some(class) = self.class_before(path, true) {
            return match self.member_type(&class, path) {
                Ty::Unknown(_) => self.lacks_member_type(&class, path).then_some(false),
                _ => Some(true),
            };
        }
        let Some(alias) = self.program.alias_meant(path, &self.namespace()).cloned() else {
            return path.qualifiers.is_empty().then_some(true);
        };
        if depth == 0 {
            return None;
        }
        let env = self.bind(&alias.template_params, path.args.as_deref(), &Env::default());
        let env = self.bind_defaults(&alias.template_params, &alias.namespace, env);
        self.within(Rc::new(env), &alias.namespace, |machine| machine.exists(&alias.ty, depth - 1))
    }

    /// Whether neither a class nor one that it is made of has a member type of this name.
    fn lacks_member_type(&mut self, class: &Rc<Layout>, path: &Path) -> bool {
        let has = |class: &Layout| {
            class.record.as_ref().is_none_or(|it| it.aliases.iter().any(|alias| alias.name == path.name))
        };
        self.has_known_bases(class, BASES) && self.class_where(class, BASES, &has).is_none()
    }
}

/// Whether a template is only one for arguments that allow what its head or the type that it returns says.
pub(super) fn is_conditional(function: &Function) -> bool {
    let is_asked = |param: &TemplateParam| match &param.kind {
        TemplateParamKind::Type(Some(ty)) => depends(ty),
        TemplateParamKind::Value(ty, _) => depends(ty),
        _ => false,
    };
    !function.template_params.is_empty()
        && (depends(&function.return_type)
            || function.template_params.iter().chain(&function.constraints).any(is_asked))
}

/// Whether a type may not exist.
fn depends(ty: &Type) -> bool {
    match ty {
        Type::Decltype(_) => true,
        Type::Named(path) => {
            &*path.name == "type" || path.name.contains("enable_if") || &*path.name == "void_t"
        }
        Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _) => depends(inner),
        _ => false,
    }
}
