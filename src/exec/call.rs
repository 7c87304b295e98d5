//! How is a call run?
//!
//! Device functions are run in place, with template arguments and pointers bound like any
//! value; lambdas run in the frame they were made in.

use super::converted::Wanted;
use super::deduce::{decayed, deduce, note_forwarded, strip};
use super::machine::{Frame, Machine, Mode, OneOfSeveral};
use super::packs::{argument_at, deduce_pack, expansion_in};
use super::slots::{Slot, Slots};
use super::types::{Binding, Env, Ty, nameless};
use super::unseen::Callee;
use super::value::{Pointer, Target, Value};
use crate::domain::{Reason, ThreadSet, Unknown, Variation};
use crate::events::Call;
use crate::ir::{Expr, ExprKind, Function, LocalId, Param, Path, Type};
use crate::slice::Given;
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The parameters of a function that is called.
struct Bound {
    env: Rc<Env>,
    slots: Slots,
    /// Those whose arguments are known at the launch.
    from_launch: Vec<LocalId>,
}

impl Machine<'_> {
    /// A call. `used`: whether its value is.
    pub(crate) fn call(&mut self, expr: &Expr, callee: &Expr, args: &[Expr], used: bool) -> Value {
        let outer = std::mem::replace(&mut self.at_hand.is_used, used);
        let value = self.call_what(expr, callee, (args, used));
        self.at_hand.is_used = outer;
        value
    }

    /// The same, by what is called.
    fn call_what(&mut self, expr: &Expr, callee: &Expr, (args, used): (&[Expr], bool)) -> Value {
        match &callee.kind {
            ExprKind::Path(path) => self.call_path(expr, path, args, used),
            ExprKind::Member { base, name, arrow, args: explicit, class } => {
                let path = Path { args: explicit.clone(), ..Path::simple(name.clone()) };
                self.call_method(expr, base, &path, *arrow, class.as_deref(), (args, used))
            }
            _ if matches!(self.type_of(callee), Ty::Record(_)) && self.mode == Mode::Device => {
                match self.locate(callee) {
                    Ok(object) => {
                        self.at_hand.receiver = self.receiver(callee, false, "operator()");
                        self.call_member(expr, &object, &Path::simple("operator()".into()), (args, used))
                    }
                    Err(_) => {
                        let path = Path::simple("operator()".into());
                        self.call_on_temporary(expr, callee, &path, (args, used))
                    }
                }
            }
            _ => {
                let target = self.evaluate_as_written(callee);
                if self.host_call_each(expr, callee, &target, args) {
                    return self.call_lost(args, expr.span);
                }
                match target {
                    Value::Closure(lambda, frame) => self.call_lambda(&lambda, frame, args, expr.span),
                    Value::Function(path) => self.call_path(expr, &path, args, used),
                    _ => match self.locate(callee) {
                        Ok(object) => {
                            let path = Path::simple("operator()".into());
                            self.call_member(expr, &object, &path, (args, used))
                        }
                        Err(_) => self.call_lost(args, expr.span),
                    },
                }
            }
        }
    }

    /// Calls something of which is not known what it is: it may be a lambda that was kept.
    fn call_lost(&mut self, args: &[Expr], span: Span) -> Value {
        if !self.memory.exposed.is_empty() && self.mode == Mode::Device {
            self.write_somewhere(span);
        }
        self.call_unseen(Callee::Unnamed("a function that is not followed"), args, span)
    }

    /// Calls what a member of an object holds: a lambda, a function, an object of a class with `operator()`.
    pub(super) fn call_held(
        &mut self,
        expr: &Expr,
        member: Result<Pointer, Unknown>,
        (args, used): (&[Expr], bool),
    ) -> Value {
        let Ok(member) = member else { return self.call_lost(args, expr.span) };
        if let Ty::Record(_) = member.pointee {
            return self.call_member(expr, &member, &Path::simple("operator()".into()), (args, used));
        }
        match self.read(&member, expr.span) {
            Value::Closure(lambda, frame) => self.call_lambda(&lambda, frame, args, expr.span),
            Value::Function(path) => self.call_path(expr, &path, args, used),
            Value::Aggregate(_) => {
                self.call_member(expr, &member, &Path::simple("operator()".into()), (args, used))
            }
            _ => self.call_lost(args, expr.span),
        }
    }

    pub(super) fn call_path(&mut self, expr: &Expr, path: &Path, args: &[Expr], used: bool) -> Value {
        if path.qualifiers.is_empty()
            && !path.global
            && self.mode == Mode::Device
            && let Some(member) = self.own_member(&path.name, expr.span)
        {
            return self.call_held(expr, member, (args, used));
        }
        if let Some(value) = self.intrinsic(expr, path, args, used) {
            return value;
        }
        // In its class, a constructor is found like a method.
        let is_method = |f: &Arc<Function>| f.owner.as_ref() != Some(&f.name);
        let mut functions = self.choose_functions(path, args);
        functions.retain(is_method);
        let mut functions = self.on_own_object(functions, path, args);
        if functions.len() > 1 {
            return self.call_several(functions, path, args, (expr.span, true));
        }
        if let Some((function, this)) = functions.pop() {
            let is_open = path.qualifiers.is_empty() && self.may_be_overridden(&function, this.as_ref());
            let value = self.call_function(&function, path, this.clone(), args, expr.span);
            return match is_open {
                true => self.overridden(this.as_ref(), &path.name, args, expr.span),
                false => value,
            };
        }
        if let Some(ty) = self.constructed_type(path) {
            return self.construct(&ty, args, expr.span);
        }
        match self.lookup_callable(path) {
            Some(Value::Closure(lambda, frame)) => self.call_lambda(&lambda, frame, args, expr.span),
            Some(Value::Function(other)) if other.name != path.name => {
                self.call_path(expr, &other, args, used)
            }
            _ => {
                self.lose_own_object(path, args, expr.span);
                self.call_unseen(Callee::Path(path), args, expr.span)
            }
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
        let several = self.at_hand.several.take();
        let instance = self.unpacked(function, path, this.as_ref(), args);
        let function = instance.as_ref().unwrap_or(function);
        if !self.can_be_entered(function) {
            return self.call_too_deep(function, this.as_ref(), args, span);
        }
        let Some(body) = &function.body else { return self.call_unknown(&function.name, args, span) };
        let Bound { env, slots, from_launch } =
            self.bind_arguments(function, path, this.as_ref(), args, (span, several));
        let constant = self.constant_call(function, &env, &slots, this.as_ref());
        if let Some(result) = constant.as_ref().and_then(|call| self.returned_before(call)) {
            return result;
        }
        let constant = constant.filter(|_| from_launch.is_empty());
        let begun = constant.and_then(|call| self.begin_constant_call(call, &env));
        let handed = self.handed_arrays(function, &env, &slots);
        let given = self.given(function, &slots, this.as_ref());
        let mut frame = Frame {
            function: Arc::clone(function),
            slice: self.slice_of(function, given),
            slots,
            env,
            namespace: Arc::clone(&function.namespace),
            this,
            result: Value::Undefined,
            returned: ThreadSet::NONE,
            may_have_returned: ThreadSet::NONE,
            open_ways: self.open_ways(),
        };
        frame.forget_stale();
        if !self.trace.entered.contains(&function.name_span) {
            self.trace.entered.push(function.name_span);
        }
        let name: Arc<str> = Arc::clone(&function.name);
        self.trace.tree.note_mentions(function.mentions.volatile, function.mentions.waits);
        let outer = self.around.library;
        let is_built_in = function.span.is_built_in();
        self.around.library = outer.or_else(|| is_built_in.then_some(self.around.calls.len()));
        self.around.calls.push(Call { function: name, span });
        self.compiler.at_launch.enter(self.state.frames.len(), &from_launch);
        self.enter_uniform_call(function, args);
        let (result, _) = self.watching_launch(|machine| machine.run_frame(frame, body));
        self.around.calls.pop();
        self.around.library = outer;
        if let Some(begun) = begun {
            self.end_constant_call(begun, &result);
        }
        self.note_lost_in(&handed, &result, &function.name, span);
        match (result, &function.return_type) {
            (Value::Undefined, ty) if !matches!(ty, Type::Void) => Value::opaque(
                Variation::Maybe,
                Unknown::new(Reason::Unsupported, span, "a function without a known result"),
            ),
            (value, _) => value,
        }
    }

    /// Evaluates the arguments of a call and binds the parameters of a function to them.
    fn bind_arguments(
        &mut self,
        function: &Arc<Function>,
        path: &Path,
        this: Option<&Pointer>,
        args: &[Expr],
        (span, several): (Span, Option<OneOfSeveral>),
    ) -> Bound {
        let mut env = self.call_env(function, path, this);
        let mut slots = Slots::unwritten(function.locals.len());
        let (mut pending, mut from_launch) = (Vec::new(), Vec::new());
        for (at, param) in function.params.iter().enumerate() {
            match argument_at(args, at) {
                Some(_) if param.pack => {
                    let rest = args.get(at..).unwrap_or_default();
                    pending.push((param.local, self.take_pack(param, rest, &function.name, span)));
                }
                Some(arg) => {
                    let listed = self.type_of_listed(function, &env, param, arg);
                    let (argument, at_launch) = self.watching_launch(|m| match listed {
                        Some(ty) => Slot { value: m.initial(arg, &ty), ty, reference: false },
                        None if env.refers(&param.ty) => m.argument_by_reference(param, arg),
                        None => m.argument_of(several.as_ref(), at, param, arg),
                    });
                    from_launch.extend(at_launch.then_some(param.local));
                    if !function.template_params.is_empty() {
                        let ty = self.with_enumerations(arg, argument.ty.clone());
                        deduce(self, &mut env, function, &param.ty, &ty);
                        if !is_temporary(arg) {
                            note_forwarded(&mut env, function, param);
                        }
                    }
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
            && expansion_in(args).is_none()
        {
            let types: Vec<Ty> = args.iter().skip(last).map(|arg| self.type_to_deduce_from(arg)).collect();
            let written = self.bind(&function.template_params, path.args.as_deref(), &Env::default());
            deduce_pack(&mut env, function, last, &types, &written);
        }
        let env = self.bind_rest(&function.template_params, env);
        let env = self.bind_rest(&function.owner_params, env);
        let env = self.lookups.memo.shared_env(function, env);
        for (at, ((local, slot), param)) in pending.into_iter().zip(&function.params).enumerate() {
            let span = args.get(at).map_or(span, |arg| arg.span);
            let mut slot = self.bound_parameter(function, &env, param, slot, span);
            let known = function.locals.get(local.0 as usize);
            let volatile = known.is_some_and(|it| it.volatile) || self.names_volatile(&param.ty);
            slot.value = slot.value.if_volatile(volatile);
            slots.set(local.0 as usize, slot);
        }
        Bound { env, slots, from_launch }
    }

    /// What a parameter holds that is given an argument, or its default.
    fn bound_parameter(
        &mut self,
        function: &Arc<Function>,
        env: &Rc<Env>,
        param: &Param,
        mut slot: Slot,
        span: Span,
    ) -> Slot {
        let ty = self.within_head(function, Rc::clone(env), |machine| machine.resolve_written(&param.ty));
        if matches!(slot.value, Value::Undefined)
            && let Some(default) = &param.default
        {
            slot.value = self.within_head(function, Rc::clone(env), |machine| machine.evaluate(default));
        }
        if slot.reference {
            return self.bound_reference(slot, &ty, span);
        }
        if let Ty::Record(layout) = &ty
            && let Some(made) = self.made_of_other(layout, slot.clone(), span)
        {
            slot = Slot { value: made, ty: ty.clone(), reference: false };
        }
        slot.value = self.convert(slot.value, &decayed(&ty));
        if !matches!(ty, Ty::Unknown(_)) {
            slot.ty = decayed(&ty);
        }
        slot
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
        let departures = self.around.departures.len();
        let around_call = std::mem::replace(&mut self.around.around_call, self.around.splits.len());
        let loops = std::mem::take(&mut self.state.loops);
        let (returns, apart, exited) = (self.around.returns, self.looping.apart, self.state.exited);
        let is_constructor = frame.function.owner.as_ref() == Some(&frame.function.name);
        let function = Arc::clone(&frame.function);
        self.state.frames.push(frame);
        let outer = self.lambdas.current.take();
        let jumps = std::mem::take(&mut self.state.jumps);
        let mark = self.left_mark();
        match is_constructor {
            true => self.run_constructor(body),
            false => self.run(body),
        }
        self.rejoin(mark);
        self.destroy_params(&function, &active);
        (self.lambdas.current, self.state.jumps) = (outer, jumps);
        let frame = self.state.frames.pop();
        self.unexpose(self.state.frames.len());
        self.state.loops = loops;
        self.around.departures.truncate(departures);
        self.around.around_call = around_call;
        // Whoever called comes back, whichever way through the function.
        if self.state.exited == exited {
            (self.around.returns, self.looping.apart) = (returns, apart);
        }
        self.state.active = active.minus(&self.state.exited);
        self.state.doubt = doubt;
        let result = frame.map_or(Value::Undefined, |frame| frame.result.clone());
        self.without_closures(result)
    }

    /// An argument of a parameter that is a reference by what the template was given: `f<int &>(x)`.
    fn argument_by_reference(&mut self, param: &Param, arg: &Expr) -> Slot {
        match param.ty {
            Type::Reference(_) => self.argument(param, arg),
            _ => {
                let ty = Type::Reference(Box::new(param.ty.clone()));
                self.argument(&Param { ty, ..param.clone() }, arg)
            }
        }
    }

    /// An argument: by reference when the parameter is one and the argument has a place.
    pub(super) fn argument(&mut self, param: &Param, arg: &Expr) -> Slot {
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
        let value = match &param.ty {
            Type::Pointer(_) => self.evaluate_as(arg, Wanted::Pointer),
            Type::Scalar(scalar) => self.evaluate_as(arg, Wanted::This(&Ty::Scalar(*scalar))),
            _ => self.evaluate(arg),
        };
        let ty = match &value {
            Value::Pointer(pointer) => Ty::Pointer(Rc::new(pointer.pointee.clone())),
            // What is launched with a number of unknown type is not launched with an `int`.
            Value::Int(_, scalar) => match self.type_of(arg) {
                ty @ Ty::Unknown(_) if self.mode == Mode::Host && matches!(arg.kind, ExprKind::Local(_)) => {
                    ty
                }
                // A number that is an object, or an object that a launch gives: its type has members.
                Ty::Record(layout) => Ty::Record(layout),
                // In `n + 1`, a small `n` becomes an `int`.
                Ty::Unknown(name) if self.is_open_type(&name) => match &arg.kind {
                    ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Conditional(..) => {
                        Ty::Unknown(nameless::AUTO.into())
                    }
                    _ => Ty::Unknown(name),
                },
                _ => Ty::Scalar(*scalar),
            },
            _ => self.type_of(arg),
        };
        Slot { value, ty, reference: false }
    }

    pub(super) fn locate_argument(&mut self, arg: &Expr) -> Result<Pointer, Unknown> {
        match &arg.kind {
            ExprKind::Local(_)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Member { .. }
            | ExprKind::Path(_) => self.locate(arg),
            ExprKind::Cast(Type::Reference(_), _) => self.locate(arg),
            ExprKind::Assign(..) | ExprKind::Step { post: false, .. } => self.locate(arg),
            ExprKind::Call { .. } if self.forwarded(arg).is_some() => self.locate(arg),
            _ => {
                let calls =
                    matches!(arg.kind, ExprKind::Call { .. } | ExprKind::Binary(..) | ExprKind::Unary(..));
                let place = if calls { self.called_place(arg) } else { None };
                let temporary = || Unknown::new(Reason::Unsupported, arg.span, "a temporary");
                place.unwrap_or_else(|| Err(temporary()))
            }
        }
    }
}

/// Whether an argument surely is a value without a name.
fn is_temporary(arg: &Expr) -> bool {
    use ExprKind::{Binary, Construct, Float, Int, SizeofExpr, SizeofType, Unary};
    matches!(
        arg.kind,
        Int(..) | Float(..) | Binary(..) | Unary(..) | Construct(..) | SizeofType(_) | SizeofExpr(_)
    )
}
