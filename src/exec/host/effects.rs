//! What may host code change that is visible but not executed?
//!
//! A function that calls itself too often, a virtual one of which it is not known whose it is, a destructor: what they
//! may write is not known afterwards. So it is with what runs before `main`.

use super::Machine;
use crate::domain::Unknown;
use crate::exec::machine::Mode;
use crate::exec::types::Ty;
use crate::exec::value::Value;
use crate::ir::{Declaration, Expr, ExprKind, Function, FunctionKind, LocalId, Name, Path};
use crate::slice::effects::{Effects, effects, made_and_ended, run_by};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Functions of these names may have run, with all that they call.
    pub(crate) fn lose_effects(&mut self, begin: &[Name], why: &Unknown) {
        if self.mode == Mode::Host && !begin.is_empty() {
            let effects = self.functions_effects(begin);
            self.lose_changed(begin, &effects, why);
        }
    }

    fn functions_effects(&mut self, begin: &[Name]) -> Rc<Effects> {
        if let Some(known) = self.host.told.borrow().effects.get(begin) {
            return Rc::clone(known);
        }
        let found = Rc::new(effects(self.program, begin, &mut self.host.told.borrow_mut().of_each));
        self.host.told.borrow_mut().effects.insert(begin.into(), Rc::clone(&found));
        found
    }

    /// What the functions of these names may change, with all that they call, is lost.
    fn lose_changed(&mut self, begin: &[Name], effects: &Effects, why: &Unknown) {
        let slots = match self.host.lost.get(begin) {
            Some(known) => Rc::clone(known),
            None => {
                let mut slots: Vec<u32> = effects.names.iter().flat_map(|it| self.slots_of(it)).collect();
                slots.sort_unstable();
                self.host.changed.extend(effects.names.iter().cloned());
                self.host.may_have_run.extend(effects.functions.iter().cloned());
                let slots: Rc<[u32]> = slots.into();
                self.host.lost.insert(begin.into(), Rc::clone(&slots));
                slots
            }
        };
        slots.iter().for_each(|slot| self.lose_slot(LocalId(*slot), why));
        for at in 0..self.host.statics.len() {
            let (function, ..) = &self.host.statics[at];
            if effects.functions.contains(function) {
                self.lose_slot(LocalId((self.host.first_static + at) as u32), why);
            }
        }
        if effects.leaves {
            self.leave_program(why);
        }
        if effects.behind {
            self.write_behind(why);
        }
    }

    /// A file-scope variable of this name may have been changed.
    fn lose_named(&mut self, name: &Name, why: &Unknown) {
        self.host.changed.insert(name.clone());
        self.slots_of(name).into_iter().for_each(|slot| self.lose_slot(LocalId(slot), why));
    }

    /// The slots of the file-scope variables of this name that are no constants.
    fn slots_of(&self, name: &Name) -> Vec<u32> {
        let variables = self.program.variables(name).iter().filter(|it| !it.constant);
        let slot = |it: &Arc<Declaration>| self.host.globals.get(&(it.namespace.clone(), it.name.clone()));
        variables.filter_map(slot).copied().collect()
    }

    /// What stands in text that is not modelled may have been changed, and what objects do that are made or end there.
    pub(crate) fn lose_unfollowed(&mut self, why: &Unknown) {
        if self.mode != Mode::Host {
            return;
        }
        let (begin, named) = &*self.unfollowed();
        named.iter().for_each(|name| self.lose_named(name, why));
        self.lose_effects(begin, why);
    }

    /// The functions that text may call which is not modelled, and the variables that it names.
    fn unfollowed(&self) -> Rc<(Vec<Name>, Vec<Name>)> {
        if let Some(known) = &self.host.told.borrow().unfollowed {
            return Rc::clone(known);
        }
        let modules = &self.program.modules;
        let mut named: Vec<Name> = modules.iter().flat_map(|it| it.unfollowed.clone()).collect();
        named.retain(|name| !self.program.variables(name).is_empty());
        let all = modules.iter().flat_map(|it| &it.functions);
        let nameless = all.filter(|it| it.is_nameless() && it.body.is_some() && !it.span.is_built_in());
        let mut begin: Vec<Name> = nameless.map(|it| it.name.clone()).collect();
        for names in [&mut begin, &mut named] {
            names.sort_unstable();
            names.dedup();
        }
        let found = Rc::new((begin, named));
        self.host.told.borrow_mut().unfollowed = Some(Rc::clone(&found));
        found
    }

    /// What runs before `main`: what file-scope variables are initialised with, and their constructors.
    pub(super) fn before_main(&mut self) -> Rc<Effects> {
        if let Some(known) = &self.host.told.borrow().before_main {
            return Rc::clone(known);
        }
        let mut begin = Vec::new();
        let mut loses_all = false;
        for module in &self.program.modules {
            let members = module.records.iter().flat_map(|record| &record.constants);
            let variables = module.variables.iter().map(|it| &**it).chain(members);
            for variable in variables.filter(|it| !it.span.is_built_in()) {
                begin.extend(made_and_ended(self.program, &variable.ty));
                if let Some(init) = &variable.init {
                    begin.extend(run_by(self.program, init));
                    loses_all |= is_lost(init);
                }
            }
        }
        let mut found = effects(self.program, &begin, &mut self.host.told.borrow_mut().of_each);
        if loses_all {
            found.names.extend(self.program.modules.iter().flat_map(|it| it.unfollowed.clone()));
        }
        let found = Rc::new(found);
        self.host.told.borrow_mut().before_main = Some(Rc::clone(&found));
        found
    }

    /// A function is handed to something that is not followed, which may call it: so that its launches are seen, it is run
    /// with any arguments.
    pub(super) fn lose_handed_function(&mut self, value: &Value, why: &Unknown) {
        let Value::Function(path) = value else { return };
        let names: Vec<Name> = self.kernels_of(path).into_iter().map(|it| it.path.name).collect();
        for name in &names {
            let Some(function) = self.only_launching(name) else { continue };
            self.run_function(&function, &Path::simple(name.clone()), None, &[], why.span);
        }
        self.lose_effects(&names, why);
    }

    /// The only host function of a name, if it leads to a launch and is no template.
    fn only_launching(&self, name: &Name) -> Option<Arc<Function>> {
        if self.mode != Mode::Host || !self.host.launching.contains(name) {
            return None;
        }
        let mut defined = self.program.functions(name).iter().filter(|it| it.body.is_some());
        let (only, others) = (defined.next()?, defined.next());
        let is_plain =
            only.kind == FunctionKind::Host && only.owner.is_none() && only.template_params.is_empty();
        (others.is_none() && is_plain).then(|| Arc::clone(only))
    }

    /// What arguments lead to, where a call is not followed.
    pub(crate) fn lose_behind_arguments(&mut self, args: &[Expr], why: &Unknown) {
        for arg in args {
            let is_plain = match &arg.kind {
                ExprKind::AddressOf(inner) => super::unfollowed::is_named(inner),
                _ => super::unfollowed::is_named(arg),
            };
            if is_plain
                && let Value::Pointer(pointer) = self.evaluate(arg)
                && !matches!(pointer.pointee, Ty::Void)
            {
                self.lose_at(&pointer, why);
            }
        }
    }
}

fn is_lost(init: &Expr) -> bool {
    let mut found = matches!(init.kind, ExprKind::Unsupported(_) | ExprKind::Damaged);
    crate::ir::visit::children(init, &mut |child| found |= is_lost(child));
    found
}
