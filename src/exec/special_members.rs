//! Is a member function meant that is written for some arguments of its class alone?
//!
//! ```text
//! template <class T> struct Step { static int size() { return 1; } };
//! template <> int Step<float>::size() { return 4; }
//!
//! template <class T> struct Step<T *> { static int size(); };
//! template <class T> int Step<T *>::size() { return 8; }
//! ```

use super::machine::Machine;
use super::members::BASES;
use super::same_type::same_type;
use super::types::{Binding, Layout, Ty};
use crate::ir::{Function, Path, Record, print};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Of functions with the name of a class, those that belong to its text, in it or outside of it; all of them if none
    /// is in it.
    pub(super) fn own_definitions(&self, class: &Layout, all: &[Arc<Function>]) -> Vec<Arc<Function>> {
        if !all.iter().any(|function| class.holds(function.span)) {
            return all.to_vec();
        }
        let is_primary = class.record.as_ref().is_some_and(|it| it.specialization.is_empty());
        let namesakes = self.program.records(&class.name);
        let is_outside = |function: &Function| {
            is_primary
                && function.owner.as_ref() == Some(&class.name)
                && function.owner_args.is_empty()
                && !namesakes.iter().any(|it| it.holds(function.span))
        };
        all.iter().filter(|function| class.holds(function.span) || is_outside(function)).cloned().collect()
    }

    /// Without functions that another specialisation has in its text: `Unrolled<0>::run` may be that of a
    /// specialisation, and so may `run` where a class names its own.
    pub(super) fn of_class_meant(
        &mut self,
        path: &Path,
        mut found: Vec<Arc<Function>>,
    ) -> Vec<Arc<Function>> {
        if found.len() < 2 || found.iter().all(|function| function.owner.is_none()) {
            return found;
        }
        if path.qualifiers.is_empty() {
            let is_its = |class: &Layout| found.iter().any(|f| f.owner.as_ref() == Some(&class.name));
            let Some(class) = self.class_meant(path, &is_its) else { return found };
            let (own, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|function| {
                function.owner.as_ref() == Some(&class.name) && function.owner_args.is_empty()
            });
            let own = self.own_definitions(&class, &own);
            return own.into_iter().chain(others).collect();
        }
        let is_its = |class: &Layout| found.iter().any(|f| class.holds(f.span));
        if let Some(class) = self.class_meant(path, &is_its) {
            found.retain(|f| class.holds(f.span) || !f.owner_args.is_empty());
        }
        found
    }

    /// Of the class in front of a path, or that the running method belongs to, and those that it is made of, the
    /// first for which something is so.
    fn class_meant(&mut self, path: &Path, is_so: &dyn Fn(&Layout) -> bool) -> Option<Rc<Layout>> {
        let class = if path.qualifiers.is_empty() { self.own_layout() } else { self.qualifying_class(path) };
        self.class_where(&class?, BASES, is_so)
    }

    /// The class that the running method belongs to, with the arguments that it has.
    fn own_layout(&mut self) -> Option<Rc<Layout>> {
        let owner = self.frame()?.function.owner.clone()?;
        let found = match self.own_class(&owner) {
            Some(found) => found,
            None => {
                // Without an object, an explicit specialisation has no parameter that tells which it is.
                let own = self.own_records().iter().find(|it| it.name == owner && is_full(it)).cloned()?;
                let qualifiers = own.namespace.iter().map(|name| (name.clone(), Vec::new())).collect();
                let args = Some(own.specialization.clone());
                self.named_record(&Path { qualifiers, name: owner, args, global: false })?
            }
        };
        if let Ty::Record(class) = found { Some(class) } else { None }
    }

    /// Of functions of one name, those of a class with the arguments that it has: what is written for them stands for
    /// the template's own. `all`: those that a call may mean, which `chosen` are taken from.
    pub(super) fn with_special(
        &mut self,
        class: &Layout,
        mut chosen: Vec<Arc<Function>>,
        all: &[Arc<Function>],
    ) -> Vec<Arc<Function>> {
        let Some(name) = all.first().map(|function| Arc::clone(&function.name)) else { return chosen };
        let is_special =
            |f: &&Arc<Function>| !f.owner_args.is_empty() && f.owner.as_ref() == Some(&class.name);
        let special: Vec<Arc<Function>> =
            self.program.functions(&name).iter().filter(is_special).cloned().collect();
        if special.is_empty() {
            return chosen;
        }
        let Some(record) = &class.record else { return chosen };
        chosen.retain(|function| function.owner_args.is_empty());
        // A specialisation has nothing of its template.
        if !record.specialization.is_empty() {
            chosen.retain(|function| class.holds(function.span));
        }
        for function in special {
            let fits = self.is_for(&function, class, record);
            if fits == Some(true) {
                chosen.retain(|own| !own.owner_args.is_empty() || !self.stands_for(&function, own, class));
            }
            if fits != Some(false) && all.iter().any(|it| Arc::ptr_eq(it, &function)) {
                chosen.push(function);
            }
        }
        chosen
    }

    /// The same of functions that are called without an object.
    pub(super) fn with_special_of(&mut self, path: &Path, found: Vec<Arc<Function>>) -> Vec<Arc<Function>> {
        if found.iter().all(|function| function.owner_args.is_empty()) {
            return found;
        }
        let Some(owner) = found[0].owner.clone() else { return found };
        match self.class_meant(path, &|class| class.name == owner) {
            Some(class) => self.with_special(&class, found.clone(), &found),
            None => found,
        }
    }

    /// Whether a member is written for the arguments of a class; none if that is not known.
    fn is_for(&mut self, function: &Function, class: &Layout, record: &Arc<Record>) -> Option<bool> {
        if !function.owner_params.is_empty() {
            let written = (function.owner_args.as_slice(), function.owner_params.as_slice());
            let params = record.template_params.as_slice();
            return Some(match record.specialization.as_slice() {
                [] => print::are_parameters(written, params),
                special => print::are_alike_but_for_names((special, params), written),
            });
        }
        let bound: Vec<Option<Binding>> = match record.specialization.as_slice() {
            [] => {
                let params = record.template_params.iter();
                params.map(|param| class.env.bindings.get(&param.name).cloned()).collect()
            }
            written if is_full(record) && written.len() == function.owner_args.len() => {
                return Some(print::are_alike(written, &function.owner_args));
            }
            _ => self.arguments_of_special(class)?.into_iter().map(Some).collect(),
        };
        self.are_written(&function.owner_args, &function.namespace, &bound)
    }

    /// Whether a member that is written for a class stands for one of its template.
    fn stands_for(&mut self, special: &Function, own: &Function, class: &Layout) -> bool {
        if special.params.len() != own.params.len() || special.is_const != own.is_const {
            return false;
        }
        let env = Rc::clone(&class.env);
        self.within(env, &own.namespace, |machine| {
            special.params.iter().zip(&own.params).all(|(a, b)| {
                let (a, b) = (machine.resolve_argument(&a.ty), machine.resolve_argument(&b.ty));
                a == b || same_type(&a, &b) == Some(true)
            })
        })
    }
}

/// Whether a class is an explicit specialisation, which has nothing of its template.
fn is_full(record: &Record) -> bool {
    !record.specialization.is_empty() && record.template_params.is_empty()
}
