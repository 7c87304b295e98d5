//! How are statements run under a set of active threads?

use super::alternatives::ANYWHERE;
use super::converted::Wanted;
use super::host::OPEN;
use super::join::Join;
use super::loops::parts::Parts;
use super::machine::{Machine, Mode, slot_value};
use super::slots::Slot;
use super::types::{Ty, nameless};
use super::value::{Group, Pointer, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::Assumption;
use crate::ir::{Declaration, ExprKind, GOTO_LOOP, LocalId, Stmt, StmtKind, Storage, Type};
use std::rc::Rc;

impl Machine<'_> {
    /// Runs statements until no thread is active.
    pub(crate) fn run(&mut self, stmts: &[Stmt]) {
        let entered = self.state.active;
        let around = self.around.leaves_loop;
        self.around.leaves_loop |= self.leaves_loop(stmts);
        self.run_each(stmts);
        self.around.leaves_loop = around;
        if self.program.has_destructors() || self.program.has_host_destructors() {
            self.destroy(stmts, &entered);
        }
    }

    fn run_each(&mut self, stmts: &[Stmt]) {
        for (at, stmt) in stmts.iter().enumerate() {
            if let StmtKind::Label(label) = &stmt.kind {
                self.arrive_at(label);
            }
            if self.state.active.is_empty() {
                if self.state.jumps.is_empty() && !self.is_label_awaited() {
                    return;
                }
                continue;
            }
            self.note_next(stmt);
            if self.passes_over(stmt) {
                self.note_passed(stmt);
                self.around.repeated.clear();
                continue;
            }
            if !self.step(stmt.span) {
                return;
            }
            #[cfg(test)]
            self.forget();
            self.note_changes_in(stmt, false);
            let of_warp = self.stored_of_warp(&stmts[..=at]);
            let around = std::mem::replace(&mut self.at_hand.stores_of_warp, of_warp);
            self.run_stmt(stmt);
            self.destroy_temporaries(stmt);
            self.around.repeated.clear();
            self.at_hand.stores_of_warp = around;
            if let Some(why) = self.looping.differs.take() {
                self.may_differ(stmt.span, why);
            }
        }
    }

    fn run_stmt(&mut self, stmt: &Stmt) {
        self.compiler.at_launch.begin();
        let leaves = matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue);
        self.compiler.stretch.left += u64::from(leaves);
        match &stmt.kind {
            StmtKind::Expr(expr) => self.discard(expr),
            StmtKind::Declare(declarations) => {
                for declaration in declarations {
                    self.compiler.at_launch.begin();
                    self.declare(declaration);
                }
            }
            StmtKind::Block(body) => self.run(body),
            StmtKind::If { cond, then, otherwise } => {
                self.branch(cond, then, otherwise);
            }
            StmtKind::Loop { cond, body, step, body_first, unrolling, number } => {
                let parts = Parts {
                    cond: cond.as_ref(),
                    body,
                    step: step.as_ref(),
                    body_first: *body_first,
                    counted: false,
                    unrolling: *unrolling,
                    span: stmt.span,
                    number: *number,
                };
                self.run_loop(parts);
            }
            StmtKind::Switch { value, cases } => self.run_switch(value, cases),
            StmtKind::Return(value) => self.run_return(value.as_ref()),
            StmtKind::Break => self.leave_loop(true),
            StmtKind::Continue => self.leave_loop(false),
            StmtKind::Goto(label) => self.jump(label),
            // Whoever goes on from here was let in before.
            StmtKind::Label(_) => {}
            StmtKind::Throw if self.ends_by_throw() => self.end_program(),
            StmtKind::Throw => {
                let why = Unknown::new(Reason::Unsupported, stmt.span, "throw");
                self.lose_unfollowed(&why);
                self.run_doubtful(&[], why);
            }
            StmtKind::Try(blocks) => {
                self.host.tries += 1;
                self.run_doubtful(blocks, Unknown::new(Reason::Unsupported, stmt.span, "try"));
                self.host.tries -= 1;
            }
            StmtKind::Unsupported(what, inner) => {
                let why = Unknown::new(Reason::Unsupported, stmt.span, *what);
                self.lose_unfollowed(&why);
                // Host code that a `goto` leads back to may run again, from what it left.
                let times = if self.mode == Mode::Host && *what == GOTO_LOOP { OPEN } else { 1 };
                (0..times).for_each(|_| self.run_doubtful(inner, why.clone()));
            }
            StmtKind::Damaged => {
                // What was lost may have changed anything; the sites before and after it stand.
                self.may_access(stmt.span);
                self.may_order(stmt.span);
                self.may_wait("a statement that did not parse", stmt.span);
                self.assume(Assumption::DamageIsHarmless);
            }
        }
    }

    /// Whether what is thrown now is caught nowhere that is seen.
    fn ends_by_throw(&self) -> bool {
        self.mode == Mode::Host && self.host.tries == 0
    }

    /// Runs statements of which it is not known how often they run, if at all, for their sites alone.
    fn run_doubtful(&mut self, body: &[Stmt], why: Unknown) {
        self.may_access(why.span);
        self.may_order(why.span);
        if body.is_empty() {
            return;
        }
        let before = self.state.clone();
        let (active, doubt, returns) = (before.active, before.doubt.clone(), self.around.returns);
        self.state.add_doubt(&why);
        if self.mode == Mode::Device {
            self.forget_written(body);
        }
        self.in_own_branch(true, |machine| machine.run(body));
        self.join(before, Join::Varying(why.clone()));
        (self.state.active, self.state.doubt) = (active, doubt);
        if self.around.returns != returns {
            // Not all may come out of it.
            self.state.add_doubt(&why);
        }
    }

    /// What statements write is not known when they may have run before.
    fn forget_written(&mut self, body: &[Stmt]) {
        let before = self.state.clone();
        let departures = self.around.departures.len();
        self.looping.watched.push(Vec::new());
        self.unrecorded(|machine| machine.in_own_branch(true, |machine| machine.run(body)));
        let written = self.looping.watched.pop().unwrap_or_default();
        self.around.departures.truncate(departures);
        let frames = before.frames.len();
        self.state = before;
        for (frame, local) in written.into_iter().filter(|(frame, _)| *frame < frames) {
            self.note_write(frame, local);
            let lost = self.lost_value(&slot_value(&self.state, frame, local), Variation::Maybe, ANYWHERE);
            let slots = self.state.frames.get_mut(frame).map(|frame| &mut frame.slots);
            let Some(slots) = slots.filter(|slots| slots.get(local.0 as usize).is_some()) else { continue };
            slots.set_value(local.0 as usize, lost);
        }
    }

    /// Declares a variable.
    pub(crate) fn declare(&mut self, declaration: &Declaration) {
        let slot = match declaration.storage {
            Storage::Shared | Storage::DynamicShared => {
                let pointer = self.shared_variable(declaration);
                Slot { ty: pointer.pointee.clone(), value: Value::Pointer(pointer), reference: true }
            }
            _ => {
                let slot = match self.host_static(declaration) {
                    Some(kept) => kept,
                    None => self.declare_automatic(declaration),
                };
                let volatile = declaration.volatile || self.names_volatile(&declaration.ty);
                Slot { value: slot.value.if_volatile(volatile), ..slot }
            }
        };
        // An object of a class that is not seen may wait where it begins to live; so may a macro that stands
        // before what looks like a declaration. The block as a group, and tiles of a warp, are only numbers.
        let is_group = matches!(slot.value, Value::Group(Group::Block | Group::Tile { lanes: 1..=32, .. }));
        if matches!(slot.ty.innermost(), Ty::Unknown(_)) && !is_group {
            self.may_order(declaration.span);
        }
        let top = self.top();
        self.note_write(top, declaration.local);
        self.set_slot(declaration.local, slot);
        if let Some(frame) = self.state.frames.last_mut() {
            frame.forget_if_stale(declaration.local);
        }
    }

    /// Puts a variable into the innermost frame.
    pub(crate) fn set_slot(&mut self, local: LocalId, slot: Slot) {
        if let Some(frame) = self.state.frames.last_mut() {
            frame.slots.set(local.0 as usize, slot);
        }
    }

    pub(super) fn declare_automatic(&mut self, declaration: &Declaration) -> Slot {
        if let Type::Reference(inner) = &declaration.ty {
            let target = declaration.init.as_ref().map(|init| self.locate(init));
            match target {
                Some(Ok(pointer)) if is_pointer_to_array(inner, &pointer) => {
                    self.expose(&pointer);
                    let pointer = Self::decay(pointer);
                    let ty = Ty::Pointer(Rc::new(pointer.pointee.clone()));
                    return Slot { value: Value::Pointer(pointer), ty, reference: false };
                }
                Some(Ok(pointer)) => {
                    let pointee = match self.resolve_written(inner) {
                        Ty::Unknown(_) => pointer.pointee.clone(),
                        ty => ty,
                    };
                    let span = declaration.init.as_ref().map_or(declaration.name_span, |init| init.span);
                    if let Some(temporary) = self.temporary_of(&pointer, &pointee, span) {
                        return temporary;
                    }
                    let volatile = pointer.volatile;
                    let target = self.as_declared(pointer, &pointee).target;
                    let pointer = Pointer { target, pointee: pointee.clone(), volatile };
                    return Slot { value: Value::Pointer(pointer), ty: pointee, reference: true };
                }
                _ => {
                    if let Some(slot) = declaration.init.as_ref().and_then(|init| self.lost_reference(init)) {
                        return slot;
                    }
                    // A reference to a temporary is a variable.
                }
            }
        }
        self.hand_to_constructor(declaration);
        let told = self.declared_with(&declaration.ty, declaration.init.as_ref());
        let mut declared = told.unwrap_or_else(|| self.resolve_written(&declaration.ty));
        // `int sizes[] = {32, 64}` is as long as its list.
        if let (Ty::Array(element, length @ None), Some(init)) = (&mut declared, &declaration.init)
            && let ExprKind::InitList(items) = &init.kind
            && !items.iter().any(|item| self.takes_several(element, item))
        {
            *length = Some(Rc::new(Int::constant(items.len() as i64)));
        }
        let Some(init) = &declaration.init else {
            let value = self.made_by_default(&declared, declaration.name_span);
            return Slot { value, ty: declared, reference: false };
        };
        self.put_aside(init);
        if self.is_data_of(declaration, &declared) {
            if self.converted_in_place(init, Wanted::This(&declared)).is_none() {
                self.effects(init);
            }
            return Slot { value: Value::Undefined, ty: declared, reference: false };
        }
        let value = self.initial(init, &declared);
        self.note_asked_in(init);
        let ty = match (&declared, &value) {
            (Ty::Unknown(name), _) if &**name == nameless::AUTO => {
                super::deduce::decayed(&self.type_of(init))
            }
            (Ty::Pointer(inner), Value::Pointer(pointer)) if matches!(**inner, Ty::Unknown(_)) => {
                Ty::Pointer(Rc::new(pointer.pointee.clone()))
            }
            _ => declared,
        };
        let value = match self.convert(value, &ty) {
            Value::Aggregate(parts) if self.mode == Mode::Device && ty.is_array_of_data() => {
                let value = Value::Aggregate(parts);
                super::locals::data_of(&value, value.variation())
            }
            value => value,
        };
        Slot { value, ty, reference: false }
    }

    /// Whether the value of a variable is of no concern, to its type and to templates neither.
    fn is_data_of(&self, declaration: &Declaration, ty: &Ty) -> bool {
        let told = match ty.innermost() {
            Ty::Unknown(_) => false,
            Ty::Pointer(inner) => !matches!(**inner, Ty::Unknown(_)),
            // Its constructor may be run.
            Ty::Record(layout) => layout.record.is_none(),
            _ => true,
        };
        let data = || self.frame().is_some_and(|frame| frame.slice.is_data_variable(declaration.local));
        told && !declaration.constant && self.mode == Mode::Device && data()
    }
}

/// Whether something of this type is a pointer that an array becomes: `float *const &row = tile[0]`.
pub(super) fn is_pointer_to_array(ty: &Type, pointer: &Pointer) -> bool {
    matches!(ty, Type::Pointer(_)) && matches!(pointer.pointee, Ty::Array(..))
}
