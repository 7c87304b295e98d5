//! How is a call run?
//!
//! Device functions are run in place, with template arguments and pointers bound like any
//! value; lambdas run in the frame they were made in.

use super::deduce::{decayed, deduce, strip};
use super::machine::{CALL_DEPTH, Frame, Machine, Mode};
use super::packs::{deduce_pack, reopen};
use super::slots::{Slot, Slots};
use super::types::{Binding, Env, Ty, nameless};
use super::value::{Offset, Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, ThreadSet, Unknown, Variation};
use crate::events::{AccessOp, Call};
use crate::ir::{Expr, ExprKind, Function, Lambda, LocalId, Param, Path, TemplateParam, Type};
use crate::slice::Given;
use crate::source::Span;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The most calls within two of the same function, in one run.
const MOST_RECURSIONS: u32 = 2048;

/// What is called and not followed.
#[derive(Clone, Copy)]
enum Callee<'a> {
    Named(&'a str),
    /// Something without a name: what it is, in words.
    Unnamed(&'static str),
}

impl<'a> Callee<'a> {
    /// Under what it is looked up; nothing is found for what has no name.
    fn name(self) -> &'a str {
        match self {
            Callee::Named(name) => name,
            Callee::Unnamed(what) => what,
        }
    }

    /// What may wait for others in it.
    fn waiting(self) -> String {
        match self {
            Callee::Named(name) => format!("`{name}`, which is not followed,"),
            Callee::Unnamed(what) => what.to_owned(),
        }
    }

    /// Why a value is not known that is handed to it.
    fn may_have_changed(self, span: Span) -> Unknown {
        Unknown::new(Reason::UnknownFunction, span, format!("{self} may have changed it"))
    }
}

impl fmt::Display for Callee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Callee::Named(name) => write!(f, "`{name}`"),
            Callee::Unnamed(what) => f.write_str(what),
        }
    }
}

impl Machine<'_> {
    /// A call. `used`: whether its value is.
    pub(crate) fn call(&mut self, expr: &Expr, callee: &Expr, args: &[Expr], used: bool) -> Value {
        match &callee.kind {
            ExprKind::Path(path) => self.call_path(expr, path, args, used),
            ExprKind::Member { base, name, arrow, args: explicit, class } => {
                let path = Path { args: explicit.clone(), ..Path::simple(name.clone()) };
                self.call_method(expr, base, &path, *arrow, class.as_deref(), args)
            }
            _ if matches!(self.type_of(callee), Ty::Record(_)) && self.mode == Mode::Device => {
                match self.locate(callee) {
                    Ok(object) => self.call_member(expr, &object, &Path::simple("operator()".into()), args),
                    Err(_) => self.call_on_temporary(expr, callee, &Path::simple("operator()".into()), args),
                }
            }
            _ => {
                let target = self.evaluate(callee);
                match target {
                    Value::Closure(lambda, frame) => self.call_lambda(&lambda, frame, args, expr.span),
                    Value::Function(path) => self.call_path(expr, &path, args, used),
                    _ => match self.locate(callee) {
                        Ok(object) => {
                            self.call_member(expr, &object, &Path::simple("operator()".into()), args)
                        }
                        Err(_) => {
                            let callee = Callee::Unnamed("a function that is not followed");
                            self.call_unseen(callee, args, expr.span)
                        }
                    },
                }
            }
        }
    }

    pub(super) fn call_path(&mut self, expr: &Expr, path: &Path, args: &[Expr], used: bool) -> Value {
        if let Some(value) = self.intrinsic(expr, path, args, used) {
            return value;
        }
        // In its class, a constructor is found like a method.
        let is_method = |f: &Arc<Function>| f.owner.as_ref() != Some(&f.name);
        let mut functions = self.choose_functions(path, args);
        functions.retain(is_method);
        if functions.len() > 1 {
            let several = functions.into_iter().map(|f| (Arc::clone(&f), self.own_part(&f))).collect();
            return self.call_several(several, path, args, expr.span);
        }
        if let Some(function) = functions.pop() {
            let this = self.own_part(&function);
            return self.call_function(&function, path, this, args, expr.span);
        }
        if let Some(ty) = self.constructed_type(path) {
            return self.construct(&ty, args, expr.span);
        }
        match self.lookup_callable(path) {
            Some(Value::Closure(lambda, frame)) => self.call_lambda(&lambda, frame, args, expr.span),
            Some(Value::Function(other)) if other.name != path.name => {
                self.call_path(expr, &other, args, used)
            }
            _ => self.call_unknown(&path.name, args, expr.span),
        }
    }

    /// A template parameter that stands for a function or lambda.
    fn lookup_callable(&self, path: &Path) -> Option<Value> {
        match self.frame()?.env.bindings.get(&path.name)? {
            Binding::Value(value) => Some(value.clone()),
            Binding::Type(_) | Binding::Pack(_) => None,
        }
    }

    fn constructed_type(&mut self, path: &Path) -> Option<Ty> {
        match self.resolve_named_type(path) {
            Ty::Unknown(_) => None,
            ty => Some(ty),
        }
    }

    /// Runs a function in place.
    pub(crate) fn call_function(
        &mut self,
        function: &Arc<Function>,
        path: &Path,
        this: Option<Pointer>,
        args: &[Expr],
        span: Span,
    ) -> Value {
        match (self.run_function(function, path, this, args, span), &function.return_type) {
            (Value::Pointer(pointer), Type::Reference(_)) => self.read(&pointer, span),
            (value, _) => value,
        }
    }

    /// The same; of a reference that is handed back, where it leads.
    pub(super) fn run_function(
        &mut self,
        function: &Arc<Function>,
        path: &Path,
        this: Option<Pointer>,
        args: &[Expr],
        span: Span,
    ) -> Value {
        let recursive = self.state.frames.iter().filter(|f| Arc::ptr_eq(&f.function, function)).count();
        // A template that calls itself does so with other arguments, and ends; but it may branch.
        let template = !function.template_params.is_empty() || !function.owner_params.is_empty();
        self.recursions += u32::from(recursive >= 2);
        let goes_on = template && self.recursions <= MOST_RECURSIONS;
        if self.state.frames.len() >= CALL_DEPTH || recursive >= 2 && !goes_on {
            return self.call_unknown(&function.name, args, span);
        }
        let Some(body) = &function.body else { return self.call_unknown(&function.name, args, span) };
        let mut env = self.call_env(function, path, this.as_ref());
        let mut slots = Slots::unwritten(function.locals.len());
        let (mut pending, mut from_launch) = (Vec::new(), Vec::new());
        for (at, param) in function.params.iter().enumerate() {
            match args.get(at) {
                Some(arg) => {
                    let (argument, at_launch) = self.watching_launch(|m| m.argument(param, arg));
                    from_launch.extend(at_launch.then_some(param.local));
                    deduce(&mut env, function, &param.ty, &argument.ty);
                    if let Value::Closure(..) | Value::Function(_) = argument.value
                        && let Type::Named(name) = strip(&param.ty)
                    {
                        env.bindings.insert(name.name.clone(), Binding::Value(argument.value.clone()));
                    }
                    pending.push((param.local, argument));
                }
                None => pending
                    .push((param.local, Slot { value: Value::Undefined, ty: Ty::Void, reference: false })),
            }
        }
        if let Some(last) = function.params.len().checked_sub(1)
            && function.template_params.iter().any(|param| param.pack)
        {
            let types: Vec<Ty> = args.iter().skip(last).map(|arg| self.type_of(arg)).collect();
            deduce_pack(&mut env, function, last, &types);
        }
        let env = self.bind_rest(&function.template_params, env);
        let env = self.bind_rest(&function.owner_params, env);
        let env = self.memo.shared_env(function, env);
        for ((local, mut slot), param) in pending.into_iter().zip(&function.params) {
            let ty = self
                .within(Rc::clone(&env), &function.namespace, |machine| machine.resolve_written(&param.ty));
            if matches!(slot.value, Value::Undefined)
                && let Some(default) = &param.default
            {
                slot.value =
                    self.within(Rc::clone(&env), &function.namespace, |machine| machine.evaluate(default));
            }
            if !slot.reference {
                slot.value = self.convert(slot.value, &decayed(&ty));
                if !matches!(ty, Ty::Unknown(_)) {
                    slot.ty = decayed(&ty);
                }
            } else if let Value::Pointer(pointer) = &mut slot.value {
                if !matches!(ty, Ty::Unknown(_)) && !matches!(ty, Ty::Record(_)) {
                    pointer.pointee = ty.clone();
                }
                slot.ty = pointer.pointee.clone();
            }
            slots.set(local.0 as usize, slot);
        }
        let given = self.given(function, &slots, this.as_ref());
        let frame = Frame {
            function: Arc::clone(function),
            slice: self.slice_of(function, given),
            slots,
            env,
            namespace: Arc::clone(&function.namespace),
            this,
            result: Value::Undefined,
            returned: ThreadSet::NONE,
            may_have_returned: ThreadSet::NONE,
        };
        if !self.trace.entered.contains(&function.name_span) {
            self.trace.entered.push(function.name_span);
        }
        let name: Arc<str> = Arc::clone(&function.name);
        if function.mentions.volatile {
            self.trace.tree.set_volatile();
        }
        self.calls.push(Call { function: name, span });
        self.at_launch.enter(self.state.frames.len(), &from_launch);
        self.enter_uniform_call(function, args);
        let (result, _) = self.watching_launch(|machine| machine.run_frame(frame, body));
        self.calls.pop();
        match (result, &function.return_type) {
            (Value::Undefined, ty) if !matches!(ty, Type::Void) => Value::opaque(
                Variation::Maybe,
                Unknown::new(Reason::Unsupported, span, "a function without a known result"),
            ),
            (value, _) => value,
        }
    }

    /// Where the pointers given to a function lead.
    fn given(&self, function: &Function, slots: &Slots, this: Option<&Pointer>) -> Given {
        let outside = |pointer: &Pointer| matches!(pointer.target, Target::Memory(..));
        let mut given = Given { escaping: this.is_some_and(|this| !outside(this)), ..Given::default() };
        for (at, param) in function.params.iter().enumerate() {
            match slots.get(param.local.0 as usize).map(|slot| &slot.value) {
                Some(Value::Pointer(pointer)) if outside(pointer) => {
                    given.global |= u64::from(at < 64 && !self.is_shared(pointer)) << (at % 64);
                }
                _ => given.escaping |= !matches!(param.ty, Type::Scalar(_)),
            }
        }
        given
    }

    fn run_frame(&mut self, frame: Frame, body: &[crate::ir::Stmt]) -> Value {
        let (active, doubt) = (self.state.active, self.state.doubt.clone());
        let departures = self.departures.len();
        let loops = std::mem::take(&mut self.state.loops);
        self.state.frames.push(frame);
        let outer = self.lambda.take();
        let jumps = std::mem::take(&mut self.state.jumps);
        let mark = self.left_mark();
        self.run(body);
        self.rejoin(mark);
        (self.lambda, self.state.jumps) = (outer, jumps);
        let frame = self.state.frames.pop();
        self.unexpose(self.state.frames.len());
        self.state.loops = loops;
        self.departures.truncate(departures);
        // Whoever called comes back, whichever way through the function.
        self.state.active = active.minus(&self.state.exited);
        self.state.doubt = doubt;
        frame.map_or(Value::Undefined, |frame| frame.result)
    }

    fn call_env(&mut self, function: &Function, path: &Path, this: Option<&Pointer>) -> Env {
        let mut env = Env::default();
        if let Some(Pointer { pointee: Ty::Record(layout), .. }) = this {
            env.bindings.extend(layout.env.bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
        } else if let Some((owner, owner_args)) = path.qualifiers.last() {
            let bound = self.bind(&function.owner_params, Some(owner_args), &Env::default());
            env.bindings.extend(bound.bindings);
            let is_open = |param: &TemplateParam| !env.bindings.contains_key(&param.name);
            if function.owner_params.iter().any(is_open)
                && let Some(layout) = self.qualifying_class(owner, owner_args)
                && layout.holds(function.span)
            {
                env.bindings.extend(layout.env.bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
        } else if function.owner.is_some() {
            env.bindings.extend(self.env().bindings.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
        let explicit = self.bind(&function.template_params, path.args.as_deref(), &Env::default());
        env.bindings.extend(explicit.bindings);
        reopen(&mut env, function);
        env
    }

    /// An argument: by reference when the parameter is one and the argument has a place.
    fn argument(&mut self, param: &Param, arg: &Expr) -> Slot {
        if let Type::Reference(inner) = &param.ty
            && let Ok(pointer) = self.locate_argument(arg)
        {
            if super::stmt::is_pointer_to_array(inner, &pointer) {
                self.expose(&pointer);
                let pointer = Self::decay(pointer);
                let ty = Ty::Pointer(Rc::new(pointer.pointee.clone()));
                return Slot { value: Value::Pointer(pointer), ty, reference: false };
            }
            return Slot { ty: pointer.pointee.clone(), value: Value::Pointer(pointer), reference: true };
        }
        if let Type::Reference(_) = &param.ty
            && let Some(slot) = self.lost_reference(arg)
        {
            return slot;
        }
        let value = self.evaluate(arg);
        let ty = match &value {
            Value::Pointer(pointer) => Ty::Pointer(Rc::new(pointer.pointee.clone())),
            // What is launched with a number of unknown type is not launched with an `int`.
            Value::Int(_, scalar) => match self.type_of(arg) {
                ty @ Ty::Unknown(_) if self.mode == Mode::Host && matches!(arg.kind, ExprKind::Local(_)) => {
                    ty
                }
                _ => Ty::Scalar(*scalar),
            },
            _ => self.type_of(arg),
        };
        Slot { value, ty, reference: false }
    }

    fn locate_argument(&mut self, arg: &Expr) -> Result<Pointer, Unknown> {
        match &arg.kind {
            ExprKind::Local(_)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Member { .. }
            | ExprKind::Path(_) => self.locate(arg),
            ExprKind::Cast(Type::Reference(_), _) => self.locate(arg),
            _ => Err(Unknown::new(Reason::Unsupported, arg.span, "a temporary")),
        }
    }

    fn call_lambda(&mut self, lambda: &Arc<Lambda>, frame: usize, args: &[Expr], span: Span) -> Value {
        match (self.run_lambda(lambda, frame, args, span), &lambda.return_type) {
            (Value::Pointer(pointer), Some(Type::Reference(_))) => self.read(&pointer, span),
            (value, _) => value,
        }
    }

    /// The same; of a reference that is handed back, where it leads.
    pub(super) fn run_lambda(
        &mut self,
        lambda: &Arc<Lambda>,
        frame: usize,
        args: &[Expr],
        span: Span,
    ) -> Value {
        if self.calls.len() >= CALL_DEPTH || frame >= self.state.frames.len() {
            return self.call_unseen(Callee::Unnamed("a lambda that is not followed"), args, span);
        }
        let mut slots: Vec<(LocalId, Slot)> = Vec::new();
        for (param, arg) in lambda.params.iter().zip(args) {
            slots.push((param.local, self.argument(param, arg)));
        }
        // Its body uses the slots of the frame it was made in: put that frame on top.
        let above = self.state.frames.split_off(frame + 1);
        let exposed_above = self.unexpose(frame + 1);
        for ((local, mut slot), param) in slots.into_iter().zip(&lambda.params) {
            let ty = self.resolve_type(&param.ty);
            if !slot.reference && !matches!(ty, Ty::Unknown(_)) {
                slot.value = self.convert(slot.value, &ty);
                slot.ty = ty;
            }
            self.set_slot(local, slot);
        }
        let active = self.state.active;
        let saved = self.state.frames.last().map(|f| (f.result.clone(), f.returned, f.may_have_returned));
        if let Some(top) = self.state.frames.last_mut() {
            (top.result, top.returned, top.may_have_returned) =
                (Value::Undefined, ThreadSet::NONE, ThreadSet::NONE);
        }
        self.calls.push(Call { function: "lambda".into(), span });
        let loops = std::mem::take(&mut self.state.loops);
        let departures = self.departures.len();
        // `return` must not end the kernel: pretend one more frame by keeping exited apart.
        let exited = self.state.exited;
        let outer = self.lambda.replace(Arc::clone(lambda));
        let jumps = std::mem::take(&mut self.state.jumps);
        let mark = self.left_mark();
        self.run(&lambda.body);
        self.rejoin(mark);
        (self.lambda, self.state.jumps) = (outer, jumps);
        self.state.exited = exited;
        self.state.loops = loops;
        self.departures.truncate(departures);
        self.calls.pop();
        let result = self.state.frames.last().map_or(Value::Undefined, |f| f.result.clone());
        if let (Some(top), Some(saved)) = (self.state.frames.last_mut(), saved) {
            (top.result, top.returned, top.may_have_returned) = saved;
        }
        self.state.frames.extend(above);
        self.exposed.extend(exposed_above);
        self.state.active = active.minus(&self.state.exited);
        result
    }

    /// A function whose body is not visible: it may do anything to what it is given.
    pub(super) fn call_unknown(&mut self, name: &str, args: &[Expr], span: Span) -> Value {
        self.call_unseen(Callee::Named(name), args, span)
    }

    fn call_unseen(&mut self, callee: Callee<'_>, args: &[Expr], span: Span) -> Value {
        let name = callee.name();
        let host = self.mode == Mode::Host;
        // What CUDA itself defines under such a name changes nothing and waits for nobody.
        if !crate::builtins::is_reserved(name) && !crate::slice::is_pure(name, self.program) {
            self.clobber();
        }
        if !crate::slice::is_pure(name, self.program) {
            self.may_access(span);
            self.may_order(span);
        }
        // What is known and only too deep to be followed may wait for anyone.
        let mut waits = !self.program.functions(name).is_empty();
        let mut variation = if host { Variation::Uniform } else { Variation::Maybe };
        for (at, arg) in args.iter().enumerate() {
            let value = self.handed_over(arg);
            // A group of threads is what it is.
            if !host && !matches!(value, Value::Group(_)) && self.may_take_reference(name, at) {
                self.change_referred(arg, callee, span);
            }
            if let (Value::Closure(lambda, frame), true) = (&value, host) {
                // Whoever is given a lambda calls it.
                self.call_lambda(lambda, *frame, &[], span);
                continue;
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
            if let Value::Pointer(pointer) = &value {
                self.note_flattened(pointer);
                if let Target::Place(place) = &pointer.target {
                    let why = callee.may_have_changed(span);
                    match host {
                        true => self.write(pointer, Value::opaque(Variation::Uniform, why), span),
                        false => self.change_whole(place, why, span),
                    }
                } else if copies_memory(name) && self.is_shared(pointer) {
                    self.copy_unknown(pointer, at == 0, name, span);
                }
            } else if !host && !self.exposed.is_empty() && matches!(self.type_of(arg), Ty::Pointer(_)) {
                self.write_somewhere(span);
            }
        }
        if waits && !host {
            self.may_wait(&callee.waiting(), span);
        }
        // Equal results for different arguments are possible: not surely varying.
        let variation = if variation == Variation::Varying { Variation::Maybe } else { variation };
        Value::opaque(variation, Unknown::new(Reason::UnknownFunction, span, self.memo.unseen(name, callee)))
    }

    /// Whether a function whose body is not visible may have a reference as its parameter `at`. Its
    /// declaration tells if there is one; what CUDA itself defines has none.
    fn may_take_reference(&self, name: &str, at: usize) -> bool {
        let declared = self.program.functions(name);
        match declared.is_empty() {
            true => !crate::builtins::is_reserved(name) && !crate::slice::is_pure(name, self.program),
            false => declared.iter().any(|function| {
                let param = function.params.get(at).map(|param| &param.ty);
                matches!(param, None | Some(Type::Reference(_) | Type::Auto | Type::Opaque))
            }),
        }
    }

    /// A variable that a function may change that is not followed.
    fn change_referred(&mut self, arg: &Expr, callee: Callee<'_>, span: Span) {
        let Some(variable) = variable_of(arg) else { return };
        let function = self.frame().map(|frame| &frame.function);
        let local = function.and_then(|function| function.locals.get(variable.0 as usize));
        if local.is_some_and(|local| local.constant) {
            return;
        }
        if let Ok(Pointer { target: Target::Place(place), .. }) = self.locate(arg) {
            self.change_whole(&place, callee.may_have_changed(span), span);
        }
    }

    /// A lambda goes to a function that is not followed: it may be called any number of times.
    fn hand_over(&mut self, lambda: &Arc<Lambda>, frame: usize, callee: Callee<'_>, span: Span) {
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
        self.state.doubt.get_or_insert_with(|| why.clone());
        self.watched.push(Vec::new());
        self.in_branch(true, |machine| machine.call_lambda(lambda, frame, &[], span));
        let written = self.watched.pop().unwrap_or_default();
        self.state = before;
        for (frame, local) in written.into_iter().filter(|(at, _)| *at <= frame) {
            let place = Place { frame, local, path: Steps::new(), blurred: false };
            self.write_place(&place, anything.value.clone());
        }
    }

    /// `memcpy` to or from shared memory: some bytes are accessed, in a way that is not followed.
    fn copy_unknown(&mut self, pointer: &Pointer, writes: bool, name: &str, span: Span) {
        let Target::Memory(object, _) = pointer.target else { return };
        let why = Unknown::new(Reason::UnknownFunction, span, format!("how `{name}` accesses it"));
        let target = Target::Memory(object, Offset::unknown(Variation::Maybe, why));
        let op = if writes { AccessOp::Store } else { AccessOp::Load };
        self.record(op, &Pointer { target, pointee: pointer.pointee.clone() }, span, None);
    }
}

fn copies_memory(name: &str) -> bool {
    matches!(name, "memcpy" | "memmove" | "memset" | "__builtin_memcpy")
}

/// The variable that this is, or is a member of: such an expression can be asked for again without doing
/// anything.
fn variable_of(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Member { base, arrow: false, .. } => variable_of(base),
        _ => None,
    }
}
