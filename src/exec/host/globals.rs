//! What do file-scope variables of host code hold, and `static` ones of functions?
//!
//! A run that begins with `main` finds what they were given at first. One that begins elsewhere finds that only in those
//! which nothing changes that is seen, and that no other file can name: of the others it is not known what ran before.
//!
//! ```text
//! static int threads = 32;
//! void set(int n) { threads = n; }
//! void run(float *o) { kernel<<<1, threads>>>(o); }      any number
//! ```

use super::Machine;
use super::unfollowed::may_change_anything;
use crate::domain::{Reason, Unknown, Variation};
use crate::exec::machine::{Frame, LookedAt, Mode, empty_frame};
use crate::exec::slots::{Slot, Slots};
use crate::exec::types::Ty;
use crate::exec::unseen::Callee;
use crate::exec::value::NOWHERE;
use crate::exec::value::{Place, Pointer, Steps, Target, Value};
use crate::ir::visit::called_names;
use crate::ir::{Declaration, Function, FunctionKind, LocalId, Name, Storage, Type};
use crate::slice::written::{changes_local, escapes, is_written};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The most `static` variables of functions that a run follows.
const MOST_STATICS: usize = 64;

impl Machine<'_> {
    /// A frame outside of all others that holds the file-scope variables.
    pub(crate) fn globals_frame(&mut self) -> Frame {
        let names = self.program.modules.iter().flat_map(|module| &module.variables);
        for variable in names {
            let next = self.host.globals.len() as u32;
            self.host.globals.entry((variable.namespace.clone(), variable.name.clone())).or_insert(next);
        }
        let mut frame = empty_frame();
        self.host.first_static = self.host.globals.len() + 1;
        frame.slots = Slots::unwritten(self.host.first_static + MOST_STATICS);
        frame
    }

    /// Where a file-scope variable of host code is kept.
    pub(crate) fn host_variable(&mut self, variable: &Declaration) -> Option<Pointer> {
        if self.mode != Mode::Host
            || !matches!(variable.storage, Storage::Global | Storage::Static | Storage::Automatic)
        {
            return None;
        }
        let name = (variable.namespace.clone(), variable.name.clone());
        let local = LocalId(*self.host.globals.get(&name)?);
        let slot = self.state.frames.first()?.slots.get(local.0 as usize)?;
        if matches!(slot.ty, Ty::Void) {
            let ty = self.resolve_type(&variable.ty);
            let init = variable.init.as_ref().filter(|_| self.holds_its_first(variable));
            let value = match init {
                Some(init) => {
                    let value =
                        self.within(Rc::default(), &variable.namespace, |machine| machine.initial(init, &ty));
                    self.convert(value, &ty)
                }
                None if matches!(ty, Ty::Array(..) | Ty::Record(_)) => Value::Undefined,
                None => {
                    let why = Unknown::new(Reason::DataDependent, NOWHERE, "a variable set at run time");
                    self.unknown_of(&ty, Variation::Uniform, &variable.name, &why)
                }
            };
            if let Some(frame) = self.state.frames.first_mut() {
                frame.slots.set(local.0 as usize, Slot { value, ty, reference: false });
            }
            if self.host.looked_at.iter().all(|known| known.slot != local) {
                let (is_open, escapes) = (self.is_open(variable), self.escapes(variable));
                self.host.looked_at.push(LookedAt { slot: local, is_open, escapes });
            }
        }
        self.in_globals(local)
    }

    fn in_globals(&self, local: LocalId) -> Option<Pointer> {
        let pointee = self.state.frames.first()?.slots.get(local.0 as usize)?.ty.clone();
        let place = Place { frame: 0, local, path: Steps::new(), blurred: false };
        Some(Pointer { target: Target::Place(place), pointee, volatile: false })
    }

    /// Whether a file-scope variable that was not looked at before still holds what it was initialised with.
    fn holds_its_first(&mut self, variable: &Declaration) -> bool {
        if variable.constant {
            return true;
        }
        if self.host.changed.contains(&variable.name)
            || self.host.has_left && self.is_open(variable)
            || self.host.has_written_behind && self.escapes(variable)
        {
            return false;
        }
        if self.begins_with_main() {
            let before = self.before_main();
            return !(before.names.contains(&variable.name)
                || before.leaves && self.is_open(variable)
                || before.behind && self.escapes(variable));
        }
        self.is_never_changed(variable)
    }

    /// Whether nothing ever changes a variable or a static member. What is no whole program has other files, which may
    /// change what they can name.
    pub(crate) fn is_never_changed(&mut self, variable: &Declaration) -> bool {
        let is_own = variable.internal || !self.program.functions("main").is_empty();
        is_own && !self.is_ever_written(&variable.name, &variable.ty)
    }

    /// Whether host code never names a variable in device memory, which it could write by a copy. What is no whole program
    /// has other files, which may.
    pub(in crate::exec) fn is_never_named_by_host(&self, variable: &Declaration) -> bool {
        let is_own = variable.internal || !self.program.functions("main").is_empty();
        let functions = || self.program.modules.iter().flat_map(|module| &module.functions);
        let of_host = || functions().filter(|it| it.kind == FunctionKind::Host && !it.span.is_built_in());
        is_own && !of_host().any(|function| called_names(function).contains(&variable.name))
    }

    /// Whether code that is not seen may change a variable: it can name it, or was handed its address.
    fn is_open(&mut self, variable: &Declaration) -> bool {
        !variable.constant && (!variable.internal || self.escapes(variable))
    }

    /// Whether the address of a variable is handed on, or a reference to it.
    fn escapes(&mut self, variable: &Declaration) -> bool {
        if variable.constant {
            return false;
        }
        if let Some(known) = self.host.told.borrow().escaped.get(&variable.name) {
            return *known;
        }
        let escapes = escapes(self.program, &variable.name, &variable.ty);
        self.host.told.borrow_mut().escaped.insert(variable.name.clone(), escapes);
        escapes
    }

    fn begins_with_main(&self) -> bool {
        self.state.frames.get(1).is_some_and(|frame| &*frame.function.name == "main")
    }

    fn is_ever_written(&mut self, name: &Name, ty: &Type) -> bool {
        if let Some(known) = self.host.told.borrow().written.get(name) {
            return *known;
        }
        let written = is_written(self.program, name, ty);
        self.host.told.borrow_mut().written.insert(name.clone(), written);
        written
    }

    /// Whether a static data member holds what it was initialised with.
    pub(crate) fn is_settled_member(&mut self, member: &Declaration) -> bool {
        self.mode == Mode::Device || member.constant || self.is_never_changed(member)
    }

    /// A `static` variable of a function: made once, where it is first met.
    pub(crate) fn host_static(&mut self, declaration: &Declaration) -> Option<Slot> {
        let is_kept = self.mode == Mode::Host
            && declaration.storage == Storage::Static
            && !declaration.constant
            && self.host.first_static > 0;
        let function = Arc::clone(&self.frame().filter(|_| is_kept)?.function);
        if !changes_local(self.program, &function, declaration.local, &declaration.ty) {
            return None;
        }
        let number = self.number_of_static(&function, declaration);
        let local = LocalId(u32::try_from(self.host.first_static + number).ok()?);
        let is_made = |slot: &Slot| !matches!(slot.ty, Ty::Void);
        let kept = self.state.frames.first()?.slots.get(local.0 as usize).map(is_made);
        if kept != Some(true) {
            let slot = self.declare_automatic(declaration);
            if slot.reference {
                return Some(slot);
            }
            let may_have_run = self.host.may_have_run.contains(&function.name)
                || self.before_main().functions.contains(&function.name);
            let is_first = self.begins_with_main() && number < MOST_STATICS && !may_have_run;
            let value = match is_first {
                true => slot.value,
                false => {
                    let why = Unknown::new(
                        Reason::DataDependent,
                        declaration.name_span,
                        "a `static` variable, which earlier calls change",
                    );
                    self.unknown_of(&slot.ty, Variation::Uniform, &declaration.name, &why)
                }
            };
            if number >= MOST_STATICS {
                return Some(Slot { value, ..slot });
            }
            self.state.frames.first_mut()?.slots.set(local.0 as usize, Slot { value, ..slot });
        }
        let place = self.in_globals(local)?;
        Some(Slot { ty: place.pointee.clone(), value: Value::Pointer(place), reference: true })
    }

    /// Each instance of a template has its own.
    fn number_of_static(&mut self, function: &Function, declaration: &Declaration) -> usize {
        let params = function.template_params.iter().chain(&function.owner_params);
        let env = self.env();
        let bound: Vec<String> = params.map(|param| format!("{:?}", env.bindings.get(&param.name))).collect();
        let key = (function.name.clone(), declaration.name_span, bound.join(" "));
        let statics = &mut self.host.statics;
        statics.iter().position(|known| *known == key).unwrap_or_else(|| {
            statics.push(key);
            statics.len() - 1
        })
    }

    /// Code runs that is not followed: where it belongs to the program, or may, it may change file-scope variables that
    /// other files can name.
    pub(crate) fn leave_to_other_files(&mut self, callee: Callee<'_>, span: Span) {
        let is_open = |function: &Function| function.body.is_none() && !function.span.is_built_in();
        let declared = self.program.functions(callee.name());
        let leaves = match declared {
            [] => may_change_anything(callee),
            _ => declared.iter().any(|it| is_open(it)),
        };
        let why = callee.may_have_changed(span);
        if leaves {
            self.leave_program(&why);
        }
        // One that is seen, of which it is not known how it is called.
        if declared.iter().any(|it| it.body.is_some() && !it.span.is_built_in()) {
            self.lose_effects(&[callee.name().into()], &why);
        }
    }

    /// Code of another file runs.
    pub(crate) fn leave_program(&mut self, why: &Unknown) {
        self.host.has_left = true;
        self.lose_those(|it| it.is_open, why);
    }

    /// Something is written through a pointer or a reference that is not followed.
    pub(super) fn write_behind(&mut self, why: &Unknown) {
        self.host.has_written_behind = true;
        self.lose_those(|it| it.escapes, why);
    }

    fn lose_those(&mut self, are_lost: fn(&LookedAt) -> bool, why: &Unknown) {
        let lost: Vec<LocalId> =
            self.host.looked_at.iter().filter(|it| are_lost(it)).map(|it| it.slot).collect();
        lost.into_iter().for_each(|slot| self.lose_slot(slot, why));
    }

    /// What a file-scope or `static` variable holds may be anything, if it was made.
    pub(super) fn lose_slot(&mut self, local: LocalId, why: &Unknown) {
        if let Some(pointer) = self.in_globals(local).filter(|it| !matches!(it.pointee, Ty::Void)) {
            self.lose_at(&pointer, why);
        }
    }
}
