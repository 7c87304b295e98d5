//! What may a function do whose body is not seen?
//!
//! Anything to what it is given: it may change variables that it is handed by reference or by address, call
//! lambdas, access shared memory, and wait. What CUDA itself defines does less. Of a shared array that it is handed
//! it may access any element: that is an access whose place is not known.

use super::machine::{Machine, Mode};
use super::slots::Slot;
use super::types::{Ty, nameless};
use super::value::{Offset, Place, Pointer, Steps, Target, Value};
use crate::builtins::{self, Kind};
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{AccessOp, Assumption};
use crate::ir::{Expr, ExprKind, Function, Lambda, LocalId, Path, Scalar, Through, Type};
use crate::source::Span;
use std::fmt;
use std::sync::Arc;

/// What is called and not followed.
#[derive(Clone, Copy)]
pub(super) enum Callee<'a> {
    Named(&'a str),
    /// One that is seen, and calls itself more often than is followed.
    Itself(&'a str),
    /// One that is seen, within more calls than are followed.
    TooDeep(&'a str),
    /// One that is not seen, by its qualified name.
    Path(&'a Path),
    Method(&'a str),
    /// One of a class.
    Constructor(&'a str),
    /// The call operator of an object, whose result is used.
    CallOperator,
    /// Something without a name: what it is, in words.
    Unnamed(&'static str),
}

/// What a function touches, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touches {
    /// Anything.
    Anything,
    /// Nothing but what it is given.
    Given,
    /// Likewise: it copies to its first argument, or fills it, and waits for nobody.
    Copied,
    /// Likewise: it draws from the state that it is given, and waits for nobody.
    State,
}

const CALL_OPERATOR: &str = "operator()";

impl<'a> Callee<'a> {
    /// Under what it is looked up; nothing is found for what has no name.
    pub(super) fn name(self) -> &'a str {
        match self {
            Callee::Named(name)
            | Callee::Itself(name)
            | Callee::TooDeep(name)
            | Callee::Method(name)
            | Callee::Constructor(name) => name,
            Callee::Path(path) => &path.name,
            Callee::CallOperator => CALL_OPERATOR,
            Callee::Unnamed(what) => what,
        }
    }

    /// What may wait for others in it.
    fn waiting(self) -> String {
        match self {
            Callee::Unnamed(_) | Callee::Constructor(_) => self.to_string(),
            _ => format!("`{}`, which is not followed,", self.name()),
        }
    }

    /// What does something with its arguments that is not known.
    pub(super) fn not_seen(self) -> String {
        match self {
            Callee::Unnamed(_) | Callee::Constructor(_) => self.to_string(),
            Callee::Itself(name) | Callee::TooDeep(name) => format!("`{name}`, which is not followed,"),
            _ => format!("`{}`, whose body is not visible,", self.name()),
        }
    }

    /// Whether it is a function of `std::numeric_limits`, or of what takes its place in other libraries.
    fn is_limit_of_type(self) -> bool {
        const LIMITS: [&str; 9] = [
            "min",
            "max",
            "lowest",
            "epsilon",
            "round_error",
            "infinity",
            "quiet_NaN",
            "signaling_NaN",
            "denorm_min",
        ];
        let Callee::Path(path) = self else { return false };
        let of = path.qualifiers.last().map(|(name, _)| &**name);
        of == Some("numeric_limits") && LIMITS.contains(&&*path.name)
    }

    /// Why it is not known what it returns, where it is not for want of its text.
    fn not_run(self) -> Option<String> {
        match self {
            Callee::Itself(name) => Some(format!("the recursion of `{name}` is not followed to its end")),
            Callee::TooDeep(name) => Some(format!("`{name}` is called within more calls than are followed")),
            _ => None,
        }
    }

    /// Why a value is not known that is handed to it.
    pub(super) fn may_have_changed(self, span: Span) -> Unknown {
        Unknown::new(Reason::UnknownFunction, span, format!("{self} may have changed it"))
    }
}

impl fmt::Display for Callee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Callee::Unnamed(what) => f.write_str(what),
            Callee::Constructor(class) => write!(f, "a constructor of `{class}` that is not followed"),
            _ => write!(f, "`{}`", self.name()),
        }
    }
}

impl Machine<'_> {
    /// A function whose body is not visible: it may do anything to what it is given.
    pub(super) fn call_unknown(&mut self, name: &str, args: &[Expr], span: Span) -> Value {
        self.call_unseen(Callee::Named(name), args, span)
    }

    /// A method that is not seen of an object: it may access any of it, and change it.
    pub(super) fn call_on_object(
        &mut self,
        object: &Pointer,
        name: &str,
        args: &[Expr],
        (span, used): (Span, bool),
    ) -> Value {
        if self.mode == Mode::Device && self.is_recorded(object) {
            // Of how many bytes is not known either.
            self.touch_unknown(
                object,
                (if used { AccessOp::Load } else { AccessOp::Store }, None),
                name,
                span,
            );
        }
        if let (Target::Place(place), Mode::Device) = (&object.target, self.mode) {
            let frame = self.state.frames.get(place.frame);
            let slot = frame.and_then(|frame| frame.slots.get(place.local.0 as usize));
            let in_parts = slot.is_some_and(|slot| matches!(slot.value, Value::Aggregate(_)));
            if matches!(object.pointee, Ty::Record(_)) || in_parts {
                self.change_whole(place, Callee::Named(name).may_have_changed(span), span);
            }
            // What it holds is not known, and may be called or written to: `std::function`.
            if name == CALL_OPERATOR && !self.memory.exposed.is_empty() {
                self.write_somewhere(span);
            }
        }
        self.lose_object(object, name, args.len(), &Callee::Named(name).may_have_changed(span));
        match name == CALL_OPERATOR && used {
            true => self.call_unseen(Callee::CallOperator, args, span),
            false => self.call_unseen(Callee::Method(name), args, span),
        }
    }

    /// What a function that is not seen may do beside what it does with its arguments.
    fn may_do_anything(&mut self, (is_reserved, touches): (bool, Touches), span: Span) {
        if !is_reserved {
            self.clobber();
        }
        if touches == Touches::Anything {
            self.may_access(span);
        }
        if matches!(touches, Touches::Anything | Touches::Given) {
            self.may_order(span);
        }
    }

    /// Whether it is a function of cuRAND that touches nothing but a state of which it is known what is in it. The threads
    /// of a block share that of a Mersenne Twister, and wait for each other.
    fn draws_from_state(&mut self, name: &str, args: &[Expr]) -> bool {
        let draws = builtins::kind(name) == Some(Kind::Generator) && self.program.functions(name).is_empty();
        let Some(state) = args.last().filter(|_| draws) else { return false };
        matches!(self.type_of(state), Ty::Pointer(state) if matches!(*state, Ty::Record(_)))
    }

    pub(super) fn call_unseen(&mut self, callee: Callee<'_>, args: &[Expr], span: Span) -> Value {
        let name = callee.name();
        let host = self.mode == Mode::Host;
        if !host && let Some(value) = self.group_reduction(name, args, span) {
            return value;
        }
        // What CUDA itself defines under such a name changes nothing and waits for nobody.
        let is_limit = callee.is_limit_of_type() && args.is_empty();
        let is_pure = is_limit || crate::slice::is_pure(name, self.program);
        let is_reserved = builtins::is_reserved(name);
        // It touches what it is given, and waits for nobody.
        let copies = copies_memory(name) && self.program.functions(name).is_empty();
        if copies && let Some(value) = self.copies_bytes(callee, args, span) {
            return value;
        }
        let touches = match name {
            _ if copies => Touches::Copied,
            _ if self.draws_from_state(name, args) => Touches::State,
            _ if is_reserved => Touches::Given,
            _ => Touches::Anything,
        };
        if builtins::tells_time(name) {
            self.trace.tree.set_watched();
        }
        if !is_pure {
            self.may_do_anything((is_reserved, touches), span);
        }
        // What is known and only too deep to be followed may wait for anyone.
        let mut waits = self.program.functions(name).iter().any(is_of_program);
        // What is worked out of the same numbers is the same number.
        if host {
            self.leave_to_other_files(callee, span);
        }
        let is_same_of_same = host || is_limit || is_pure && builtins::is_repeatable(name);
        let mut variation = if is_same_of_same { Variation::Uniform } else { Variation::Maybe };
        let copies_together = builtins::kind(name) == Some(Kind::CopyInStage);
        let mut has_target = false;
        let mut why_given = None;
        for (at, arg) in args.iter().enumerate() {
            let value = self.handed_to(callee, (at, arg));
            if let (Value::Opaque(_, why, _), None) = (&value, &why_given) {
                why_given = Some(why.clone());
            }
            // A group of threads is what it is.
            if !host && !matches!(value, Value::Group(_)) && self.may_take_reference(name, at) {
                self.change_referred(arg, callee, span);
            }
            if host {
                self.hand_to_unfollowed(callee, (arg, &value), (at, args.len()), span);
                if let Value::Closure(..) = &value {
                    continue;
                }
            }
            if !is_pure {
                self.touch_given((at, arg), &value, touches, span);
            }
            waits |= match &value {
                Value::Closure(..) => true,
                Value::Pointer(pointer) => self.is_shared(pointer),
                _ => false,
            };
            if let Value::Closure(lambda, frame) = &value {
                self.hand_over(lambda, *frame, callee, span);
            }
            variation = if host { variation } else { variation.max(value.variation()) };
            self.note_pitched_escape(&value, span, "it goes to a function that is not visible");
            // Of two pointers the second is only read from.
            let op = if copies_together && has_target { AccessOp::Load } else { AccessOp::Store };
            self.leave_to_unseen(callee, (at, arg), &value, (is_pure, op), span);
            has_target |= !matches!(value, Value::Group(_));
        }
        if waits && !host {
            self.may_wait(&callee.waiting(), span);
        }
        // Equal results for different arguments are possible: not surely varying.
        let variation = if variation == Variation::Varying { Variation::Maybe } else { variation };
        let words = match callee.not_run() {
            Some(words) => words.into(),
            None => self.lookups.memo.unseen(name, callee),
        };
        let why = match is_pure {
            true => why_given.unwrap_or_else(|| unseen(name, span)),
            false => Unknown::new(Reason::UnknownFunction, span, words),
        };
        Value::opaque(variation, why)
    }

    /// What a function does to memory of which it is known that it touches nothing but what it is given.
    fn touch_given(&mut self, (at, arg): (usize, &Expr), value: &Value, touches: Touches, span: Span) {
        // It accesses shared memory only where it is handed an address.
        let address = match value {
            Value::Pointer(pointer) => self.is_shared(pointer),
            Value::Opaque(..) => {
                matches!(self.type_of(arg), Ty::Pointer(_)) || touches == Touches::Copied && at < 2
            }
            _ => false,
        };
        if address && touches != Touches::Anything {
            self.may_access(span);
        }
        let is_in_memory = matches!(value, Value::Pointer(to) if !matches!(to.target, Target::Place(_)));
        match (touches, at) {
            _ if !is_in_memory => {}
            (Touches::State, _) | (Touches::Copied, 0) => self.writes_unrecorded(span),
            (Touches::Copied, _) => self.reads_unrecorded(span),
            (Touches::Anything | Touches::Given, _) => {}
        }
    }

    /// What a function that is not seen may do with an argument, by its place: to shared memory that a pointer leads to
    /// it does `op`.
    pub(super) fn leave_to_unseen(
        &mut self,
        callee: Callee<'_>,
        (at, arg): (usize, &Expr),
        value: &Value,
        (is_pure, op): (bool, AccessOp),
        span: Span,
    ) {
        let (name, host) = (callee.name(), self.mode == Mode::Host);
        let is_reserved = builtins::is_reserved(name);
        if let Value::Pointer(pointer) = value {
            self.note_flattened(pointer);
            if let Target::Place(place) = &pointer.target {
                // Nothing is written by way of what is `const`.
                let why = callee.may_have_changed(span);
                match host {
                    true => self.write(pointer, Value::opaque(Variation::Uniform, why), span),
                    false if self.leads_through(arg) == Through::Const => self.change_beyond(place, span),
                    false => self.change_whole(place, why, span),
                }
            } else if let (Target::Memory(object, _), true) = (&pointer.target, host) {
                *self.host.handed_over.entry(*object).or_default() += 1;
            } else if copies_memory(name) && self.is_shared(pointer) {
                let op = if at == 0 { AccessOp::Store } else { AccessOp::Load };
                self.touch_unknown(pointer, (op, pointer.pointee.constant_size()), name, span);
            } else if !host && !is_pure && !is_reserved && self.is_shared(pointer) {
                self.touch_unknown(pointer, (op, None), name, span);
            }
        } else if !host && !is_pure {
            if let Value::Aggregate(_) = value
                && !is_reserved
                && builtins::kind(name).is_none()
            {
                self.touch_in(value, name, span);
            }
            if !self.memory.exposed.is_empty() && self.may_lead_elsewhere(arg, value) {
                self.write_somewhere(span);
            }
        }
    }

    /// Whether something that is handed on is a pointer, or an object that holds pointers or lambdas.
    fn may_lead_elsewhere(&mut self, arg: &Expr, value: &Value) -> bool {
        match value {
            Value::Aggregate(parts) => {
                parts.iter().any(|(_, part)| matches!(part, Value::Pointer(_) | Value::Closure(..)))
            }
            Value::Opaque(..) => match self.type_of(arg) {
                Ty::Pointer(_) => true,
                // It may be a lambda that was lost.
                Ty::Unknown(name) => &*name == nameless::AUTO && matches!(arg.kind, ExprKind::Local(_)),
                _ => false,
            },
            _ => matches!(self.type_of(arg), Ty::Pointer(_)),
        }
    }

    /// Whether a function whose body is not visible may have a reference as its parameter `at`. Its
    /// declaration tells if there is one; what CUDA itself defines has none.
    fn may_take_reference(&self, name: &str, at: usize) -> bool {
        let mut declared = self.program.functions(name).iter().filter(|it| is_of_program(it)).peekable();
        match declared.peek().is_none() {
            true => {
                let takes_values =
                    builtins::is_reserved(name) || builtins::kind(name) == Some(Kind::Generator);
                !takes_values && !crate::slice::is_pure(name, self.program)
            }
            false => declared.any(|function| {
                let last = function.params.last().filter(|last| last.pack);
                function.params.get(at).or(last).is_none_or(|param| {
                    let may_refer = matches!(param.ty, Type::Reference(_) | Type::Auto | Type::Opaque);
                    may_refer && !param.to_const
                })
            }),
        }
    }

    /// A variable that a function may change that is not followed.
    pub(super) fn change_referred(&mut self, arg: &Expr, callee: Callee<'_>, span: Span) {
        let Some((place, variable)) = self.handed_place(arg) else { return };
        // Nothing is assigned to a lambda; what it may change was seen to where it was handed over.
        let slot = self.frame().and_then(|frame| frame.slots.get(variable.0 as usize));
        if let Some(Value::Closure(lambda, _)) = slot.map(|slot| &slot.value)
            && !lambda.mutable
        {
            return;
        }
        let function = self.frame().map(|frame| &frame.function);
        let local = function.and_then(|function| function.locals.get(variable.0 as usize));
        if local.is_some_and(|local| local.constant) && matches!(place.kind, ExprKind::Local(_)) {
            return;
        }
        if self.place_through(arg) == Through::Const {
            return;
        }
        if matches!(callee, Callee::CallOperator) && self.keeps_index(arg) {
            return;
        }
        if let Ok(Pointer { target: Target::Place(place), .. }) = self.locate(&place) {
            self.change_whole(&place, callee.may_have_changed(span), span);
        }
    }

    /// Whether a variable that a call operator is given which is not seen is taken to stay as it is: a number that
    /// is followed, as in `view(i) = x`.
    pub(super) fn keeps_index(&mut self, arg: &Expr) -> bool {
        let ExprKind::Local(variable) = &arg.kind else { return false };
        let Some(frame) = self.frame().filter(|_| self.mode == Mode::Device) else { return false };
        let slot = frame.slots.get(variable.0 as usize);
        let counts = |slot: &Slot| matches!(slot.value, Value::Int(..));
        let local = frame.function.locals.get(variable.0 as usize);
        let (Some(local), true) = (local, slot.is_some_and(counts)) else { return false };
        let name = Arc::clone(&local.name);
        self.assume(Assumption::KeepsIndex { name });
        true
    }

    /// A place in the same variable as an argument's, and what it starts from, if it can be asked for without doing
    /// anything: whichever element is handed over, the variable is not known any more. An element that a class tells
    /// may be any part of the object.
    fn handed_place(&mut self, arg: &Expr) -> Option<(Expr, LocalId)> {
        let at = |kind| Expr { kind, span: arg.span };
        match &arg.kind {
            ExprKind::Local(local) => Some((arg.clone(), *local)),
            ExprKind::Member { base, name, arrow, args, class } => {
                let (base, local) = self.handed_place(base)?;
                let (base, name, args, class) = (Box::new(base), name.clone(), args.clone(), class.clone());
                Some((at(ExprKind::Member { base, name, arrow: *arrow, args, class }), local))
            }
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                let of_class = matches!(self.type_of(base), Ty::Record(_));
                let (base, local) = self.handed_place(base)?;
                let first = || Box::new(at(ExprKind::Int(0, Scalar::I32)));
                let place = if of_class { base } else { at(ExprKind::Index(Box::new(base), first())) };
                Some((place, local))
            }
            _ => None,
        }
    }

    /// A lambda goes to a function that is not followed: it may be called any number of times.
    pub(super) fn hand_over(&mut self, lambda: &Arc<Lambda>, frame: usize, callee: Callee<'_>, span: Span) {
        let why = callee.may_have_changed(span);
        let before = self.state.clone();
        let anything = Slot {
            value: Value::opaque(Variation::Maybe, why.clone()),
            ty: Ty::Unknown(nameless::AUTO.into()),
            reference: false,
        };
        if let Some(frame) = self.state.frames.get_mut(frame) {
            lambda.params.iter().for_each(|param| frame.slots.set(param.local.0 as usize, anything.clone()));
        }
        self.state.add_doubt(&why);
        self.looping.watched.push(Vec::new());
        self.in_own_branch(true, |machine| machine.call_lambda(lambda, frame, &[], span));
        let written = self.looping.watched.pop().unwrap_or_default();
        self.state = before;
        for (frame, local) in written.into_iter().filter(|(at, _)| *at <= frame) {
            let place = Place { frame, local, path: Steps::new(), blurred: false };
            self.write_place(&place, anything.value.clone());
        }
    }

    /// Something that is handed a place in memory, as `memcpy` is: some bytes are accessed, in a way that is not
    /// followed.
    pub(super) fn touch_unknown(
        &mut self,
        pointer: &Pointer,
        (op, bytes): (AccessOp, Option<u64>),
        name: &str,
        span: Span,
    ) {
        let who = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
        let why = Unknown::new(Reason::UnknownFunction, span, format!("how {who} accesses it"));
        self.touch(pointer, (op, bytes), why, span);
    }

    /// The address of a shared array comes to lie in memory: who finds it there may access any element.
    pub(super) fn lose_address(&mut self, value: &Value, span: Span) {
        if let Value::Aggregate(parts) = value {
            parts.iter().for_each(|(_, part)| self.lose_address(part, span));
        }
        if let Value::Pointer(pointer) = value
            && self.mode == Mode::Device
            && self.is_shared(pointer)
        {
            let words = "what is done by way of its address, which is stored here";
            let why = Unknown::new(Reason::UnknownPointer, span, words);
            self.touch(pointer, (AccessOp::Store, None), why, span);
        }
    }

    fn touch(&mut self, pointer: &Pointer, (op, bytes): (AccessOp, Option<u64>), why: Unknown, span: Span) {
        let Target::Memory(object, _) = pointer.target else { return };
        let target = Target::Memory(object, Offset::unknown(Variation::Maybe, why));
        self.record_bytes(op, &Pointer { target, ..pointer.clone() }, bytes, span, None);
    }
}

/// Whether a function is not one of those that a library is known to have.
fn is_of_program(function: &Arc<Function>) -> bool {
    !function.span.is_built_in()
}

pub(super) fn copies_memory(name: &str) -> bool {
    matches!(name, "memcpy" | "memmove" | "memset" | "__builtin_memcpy")
}

/// That the result of a function is not known.
pub(super) fn unseen(name: &str, span: Span) -> Unknown {
    Unknown::new(Reason::DataDependent, span, format!("the result of `{name}`"))
}
