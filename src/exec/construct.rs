//! What does an initialiser make?
//!
//! `T x = e`, `T(args)` and `{a, b}`: an aggregate is the list of its parts, each under its path.

use super::converted::Wanted;
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::overload::only;
use super::types::{Env, Layout, Ty};
use super::unseen::Callee;
use super::value::NOWHERE;
use super::value::{Pointer, Step, Steps, Target, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::visit::children;
use crate::ir::{Expr, ExprKind, Function, Name, Param, Path, Record, Scalar, Stmt, StmtKind, Type};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

/// What is left of a list of items.
pub(super) struct Items<'e> {
    pub(super) rest: &'e [Expr],
    /// Whether it is not known for what the next one is.
    pub(super) lost: bool,
    pub(super) span: Span,
}

/// Whether it is not known for which members an item is: `{[2] = 2}`, `{values...}`.
fn is_open(item: &Expr) -> bool {
    match &item.kind {
        ExprKind::Unsupported(what) => ["designated initialiser", "pack expansion"].contains(what),
        ExprKind::Pack(pack) => pack.join.is_none(),
        ExprKind::Comma(_, last) => is_open(last),
        ExprKind::Damaged => true,
        _ => false,
    }
}

/// What an item of a list gives to its member.
pub(super) fn value_of(item: &Expr) -> &Expr {
    match &item.kind {
        ExprKind::Designated(_, value) => value,
        _ => item,
    }
}

impl<'e> Items<'e> {
    pub(super) fn new(all: &'e [Expr], span: Span) -> Items<'e> {
        let lost = all.iter().any(is_open);
        Items { rest: all, lost, span }
    }

    pub(super) fn next(&mut self) -> Option<&'e Expr> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(value_of(first))
    }

    /// The member that the next one names.
    pub(super) fn named(&self) -> Option<&'e Name> {
        match &self.rest.first()?.kind {
            ExprKind::Designated(member, _) => Some(member),
            _ => None,
        }
    }
}

impl Machine<'_> {
    /// An initialiser for a variable of type `ty`.
    pub(crate) fn initial(&mut self, expr: &Expr, ty: &Ty) -> Value {
        if let ExprKind::InitList(items) = &expr.kind {
            return self.construct(ty, items, expr.span);
        }
        if let Ty::Record(layout) = ty
            && let Some(made) = self.of_other_class(layout, expr)
        {
            return made;
        }
        if self.converts(expr, ty) {
            return self.construct(ty, std::slice::from_ref(expr), expr.span);
        }
        if matches!(ty, Ty::Pointer(_) | Ty::Scalar(_)) {
            return self.evaluate_as(expr, Wanted::This(ty));
        }
        let value = self.evaluate(expr);
        match (&value, ty) {
            (Value::Aggregate(_), Ty::Record(layout))
                if self.copies_itself(layout) && !self.makes_new(expr, layout) =>
            {
                self.lose_copied(layout, expr, expr.span);
                unmade(layout, expr.span)
            }
            _ => value,
        }
    }

    /// Whether an initialiser is given to a constructor: it is of another type than the class.
    fn converts(&mut self, expr: &Expr, ty: &Ty) -> bool {
        let Ty::Record(layout) = ty else { return false };
        !self.program.functions(&layout.name).is_empty()
            && self.has_constructors(layout)
            && matches!(self.type_of(expr), Ty::Scalar(_) | Ty::Pointer(_) | Ty::Array(..))
    }

    /// Whether `T{x}` gives `x` to the first member of `T`, and is not a copy of `x`.
    fn is_first_item(&mut self, layout: &Rc<Layout>, item: &Expr) -> bool {
        if self.has_constructors(layout) || layout.record.is_none() {
            return false;
        }
        match (&item.kind, self.type_of(item)) {
            (ExprKind::InitList(_) | ExprKind::Unsupported(_) | ExprKind::Pack(_) | ExprKind::Null, _) => {
                true
            }
            (_, Ty::Scalar(_) | Ty::Pointer(_) | Ty::Array(..)) => true,
            (_, of @ Ty::Record(_)) => {
                let first = layout.fields.first();
                first.is_some_and(|first| super::same_type::same_type(&first.ty, &of) == Some(true))
            }
            _ => false,
        }
    }

    /// The class of a parameter that is given a list: `f({row, column})` makes an object of it.
    pub(super) fn type_of_listed(
        &mut self,
        function: &Arc<Function>,
        env: &Env,
        param: &Param,
        arg: &Expr,
    ) -> Option<Ty> {
        if !matches!(arg.kind, ExprKind::InitList(_)) || self.mode != Mode::Device {
            return None;
        }
        let env = Rc::new(Env { bindings: env.bindings.clone() });
        let ty = self.within_head(function, env, |machine| machine.resolve_type(&param.ty));
        matches!(&ty, Ty::Record(layout) if layout.record.is_some()).then_some(ty)
    }

    /// Whether objects of a class are numbers that their type tells: `std::integral_constant<int, 4>`. They are followed
    /// as these numbers; what a class of the program makes of itself, that says.
    pub(super) fn is_number_object(&self, layout: &Layout) -> bool {
        let is_it =
            |record: &Arc<Record>| record.extent.is_built_in() && &*record.name == "integral_constant";
        self.mode == Mode::Device && layout.record.as_ref().is_some_and(is_it)
    }

    pub(super) fn has_constructors(&self, layout: &Layout) -> bool {
        let all = self.program.functions(&layout.name);
        layout.record.is_some() && all.iter().any(|f| f.owner.as_ref() == Some(&layout.name))
    }

    /// An object of a class that says itself how it is made; none for other classes and for copies.
    fn constructed(&mut self, layout: &Rc<Layout>, args: &[Expr], span: Span) -> Option<Value> {
        if !self.has_constructors(layout) {
            return None;
        }
        if let [single] = args
            && matches!(self.type_of(single), Ty::Record(_) | Ty::Unknown(_))
            && !self.is_lambda(single)
        {
            let is_copied = self.copies_itself(layout) && !self.makes_new(single, layout);
            return is_copied.then(|| {
                self.lose_copied(layout, single, span);
                unmade(layout, span)
            });
        }
        let fits = |f: &&Arc<Function>| {
            let required = f.params.iter().filter(|param| param.default.is_none()).count();
            f.owner.as_ref() == Some(&layout.name)
                && f.body.is_some()
                && (required..=f.params.len()).contains(&args.len())
        };
        let all = self.program.functions(&layout.name);
        let candidates: Vec<Arc<Function>> = all.iter().filter(fits).cloned().collect();
        let chosen = self.own_definitions(layout, &candidates);
        let chosen = self.with_special(layout, chosen, &candidates);
        let best = self.best_of(chosen, &[], args);
        if best.is_empty() {
            // `T() = default;`
            let is_declared =
                || all.iter().any(|f| f.owner.as_ref() == Some(&layout.name) && takes_nothing(f));
            let is_lost = !args.is_empty() || self.mode == Mode::Host && is_declared();
            return is_lost.then(|| self.unseen_object(layout, args, span));
        }
        Some(match only(best) {
            Some(constructor) => self.run_on_new(layout, &constructor, args, span),
            None => self.unseen_object(layout, args, span),
        })
    }

    /// What a constructor makes.
    pub(super) fn run_on_new(
        &mut self,
        layout: &Rc<Layout>,
        constructor: &Arc<Function>,
        args: &[Expr],
        span: Span,
    ) -> Value {
        if has_lost_initialiser(constructor) {
            return self.unseen_object(layout, args, span);
        }
        let ty = Ty::Record(Rc::clone(layout));
        let value = self.first_members(&ty, false).unwrap_or(Value::Undefined);
        let path = Path::simple(layout.name.clone());
        let made = self.with_temporary(value, ty, |machine, object| {
            machine.run_function(constructor, &path, Some(object.clone()), args, span);
            machine.read(object, span)
        });
        made.map_or_else(|| unmade(layout, span), |made| self.without_itself(made, layout))
    }

    /// An object that a constructor makes that is not followed, out of these arguments.
    pub(super) fn unseen_object(&mut self, layout: &Layout, args: &[Expr], span: Span) -> Value {
        let callee = match self.mode {
            Mode::Host => Callee::Constructor(&layout.name),
            Mode::Device => Callee::Unnamed("a constructor that is not followed"),
        };
        self.call_unseen(callee, args, span);
        unmade(layout, span)
    }

    /// What was made where it does not stay: what it holds of its own address is lost.
    pub(super) fn without_itself(&self, made: Value, layout: &Layout) -> Value {
        let frame = self.top();
        let count = self.frame().map_or(0, |frame| frame.slots.len());
        let is_gone = |value: &Value| match value {
            Value::Pointer(Pointer { target: Target::Place(place), .. }) => {
                place.frame == frame && place.local.0 as usize >= count
            }
            _ => false,
        };
        match &made {
            Value::Aggregate(parts) if parts.iter().any(|(_, part)| is_gone(part)) => unmade(layout, NOWHERE),
            _ => made,
        }
    }

    pub(super) fn is_lambda(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Lambda(_) => true,
            ExprKind::Local(local) => {
                let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
                slot.is_some_and(|slot| matches!(slot.value, Value::Closure(..)))
            }
            ExprKind::Comma(_, last) => self.is_lambda(last),
            _ => false,
        }
    }

    /// The object of a declaration without an initialiser.
    pub(super) fn made_by_default(&mut self, ty: &Ty, span: Span) -> Value {
        let made = match ty {
            Ty::Record(layout) => self.constructed(&Rc::clone(layout), &[], span),
            _ => None,
        };
        made.or_else(|| self.default_members(ty)).unwrap_or(Value::Undefined)
    }

    /// What a record holds before anything is written to it: the initialisers of its members, in order,
    /// those of its bases first.
    pub(crate) fn default_members(&mut self, ty: &Ty) -> Option<Value> {
        self.first_members(ty, true)
    }

    /// The same; unless `all`, without what hangs on other members, which a constructor makes in its turn.
    fn first_members(&mut self, ty: &Ty, all: bool) -> Option<Value> {
        let Ty::Record(layout) = ty else { return None };
        if !self.has_default_members(layout, BASES) {
            return None;
        }
        let layout = Rc::clone(layout);
        let made = self.with_temporary(Value::Undefined, ty.clone(), |machine, object| {
            machine.initialise_members(&layout, object, (BASES, all));
            machine.read(object, NOWHERE)
        });
        let made = made.filter(|value| !matches!(value, Value::Undefined));
        made.map(|made| self.without_itself(made, &layout))
    }

    fn has_default_members(&mut self, layout: &Layout, depth: usize) -> bool {
        let Some(record) = &layout.record else { return false };
        record.fields.iter().any(|field| field.init.is_some())
            || self
                .bases(record, &layout.env, depth)
                .iter()
                .any(|base| self.has_default_members(base, depth - 1))
    }

    fn initialise_members(&mut self, layout: &Rc<Layout>, object: &Pointer, (depth, all): (usize, bool)) {
        let Some(record) = layout.record.clone() else { return };
        for base in self.bases(&record, &layout.env, depth) {
            let part = Pointer { pointee: Ty::Record(Rc::clone(&base)), ..object.clone() };
            self.initialise_members(&base, &part, (depth - 1, true));
        }
        for field in &record.fields {
            let laid = layout.fields.iter().find(|laid| laid.name == field.name);
            let (Some(init), Some(laid)) = (&field.init, laid) else { continue };
            if all || !depends(init) {
                self.initialise_member(layout, object, (laid, init));
            }
        }
    }

    /// What a reference to this type is bound to by its initialiser.
    pub(super) fn bound(&mut self, init: &Expr, ty: &Ty) -> Value {
        match self.locate(init) {
            Ok(pointer) => {
                self.expose(&pointer);
                if self.temporary_of(&pointer, ty, init.span).is_some() {
                    let words = "a temporary that a member refers to";
                    return Value::opaque(
                        Variation::Maybe,
                        Unknown::new(Reason::Unsupported, init.span, words),
                    );
                }
                Value::Pointer(self.as_declared(pointer, ty))
            }
            Err(why) => {
                self.evaluate(init);
                Value::opaque(Variation::Maybe, why)
            }
        }
    }

    /// `T(args)`, `T{args}`, of a type as it is written.
    pub(super) fn construct_written(&mut self, ty: &Type, args: &[Expr], span: Span) -> Value {
        let resolved = self.class_made(ty, args);
        let is_followed = matches!(&resolved, Ty::Record(layout) if self.is_number_object(layout));
        if !is_followed && let Some(number) = self.integral_constant(ty) {
            return number;
        }
        self.construct(&resolved, args, span)
    }

    /// An object of a class.
    fn construct_object(&mut self, layout: &Rc<Layout>, args: &[Expr], span: Span) -> Value {
        if args.is_empty() && self.is_number_object(layout) {
            return self.member_constant(layout, &"value".into()).unwrap_or(Value::Undefined);
        }
        if let [single] = args
            && let Some(made) = self.of_other_class(layout, single)
        {
            return made;
        }
        if let Some(object) = self.by_inherited(layout, args, span) {
            return object;
        }
        if let Some(object) = self.constructed(layout, args, span) {
            return object;
        }
        if let [single] = args
            && &*layout.name != "dim3"
            && !matches!(single.kind, ExprKind::Designated(..))
            && (!matches!(layout.fields.as_slice(), [only] if only.reference || only.bit_field)
                || matches!(self.type_of(single), Ty::Record(of) if of.name == layout.name))
            && !self.is_first_item(layout, single)
        {
            let value = self.evaluate(single);
            if matches!(value, Value::Aggregate(_)) || layout.fields.len() != 1 {
                return value;
            }
            let step = smallvec![Step::Member(layout.fields[0].name.clone())];
            return Value::Aggregate(Rc::new(vec![(step, value)]));
        }
        let dim3 = &*layout.name == "dim3";
        if !dim3 && !self.has_constructors(layout) {
            return self.aggregate(layout, &mut Items::new(args, span));
        }
        let mut parts = Vec::new();
        for (at, field) in layout.fields.iter().enumerate() {
            let value = match args.get(at) {
                Some(arg) if field.reference => self.bound(arg, &field.ty),
                Some(arg) => self.initial(arg, &field.ty),
                None if dim3 => Value::Int(Int::constant(1), Scalar::U32),
                None if args.is_empty() => continue,
                None => unmade(layout, span),
            };
            if dim3 && at == 0 && matches!(value, Value::Aggregate(_)) {
                return value;
            }
            let value = if field.reference { value } else { self.convert(value, &field.ty) };
            push_parts(&mut parts, Step::Member(field.name.clone()), value);
        }
        Value::Aggregate(Rc::new(parts))
    }

    /// The same of a type that is known.
    pub(crate) fn construct(&mut self, ty: &Ty, args: &[Expr], span: Span) -> Value {
        match ty {
            Ty::Record(layout) => self.construct_object(&Rc::clone(layout), args, span),
            Ty::Array(element, length) => {
                let length = length.as_ref().and_then(|length| length.as_constant());
                let element = Rc::clone(element);
                self.elements(&element, length, &mut Items::new(args, span))
            }
            Ty::Unknown(_) if self.takes_storage(args, span) => {
                let what = format!("an object of type `{}`", ty.describe());
                Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
            }
            Ty::Unknown(class) if self.mode == Mode::Host && args.len() > 1 => {
                let class = class.clone();
                self.call_unseen(Callee::Constructor(&class), args, span)
            }
            _ => match args {
                [] => Value::int(0),
                [single] => {
                    let value = self.evaluate(single);
                    // `std::thread worker(work)`; of a number it may be a cast.
                    if self.mode == Mode::Host && matches!(value, Value::Closure(..)) {
                        let callee = Callee::Constructor("a class");
                        self.hand_to_unfollowed(callee, (single, &value), (0, 1), span);
                    }
                    self.convert(value, ty)
                }
                _ => {
                    let mut variation = Variation::Uniform;
                    for arg in args {
                        let value = self.evaluate(arg);
                        self.touch_in(&value, "the constructor of a class that is not seen", span);
                        variation = variation.max(value.variation());
                    }
                    let what = format!("an object of type `{}`", ty.describe());
                    Value::opaque(variation, Unknown::new(Reason::UnknownType, span, what))
                }
            },
        }
    }
}

/// Whether a constructor can be called without arguments.
fn takes_nothing(constructor: &Function) -> bool {
    constructor.params.iter().all(|param| param.default.is_some())
}

/// Whether a constructor has an initialiser of a base that is not followed.
fn has_lost_initialiser(constructor: &Function) -> bool {
    let is_lost = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Unsupported("base class initialiser", _));
    constructor.body.iter().flatten().any(is_lost)
}

/// Whether a default initialiser may name another member, or do anything.
pub(super) fn depends(init: &Expr) -> bool {
    let mut found = matches!(
        init.kind,
        ExprKind::Path(_)
            | ExprKind::This
            | ExprKind::Call { .. }
            | ExprKind::Lambda(_)
            | ExprKind::Unsupported(_)
            | ExprKind::Damaged
    );
    children(init, &mut |child| found |= depends(child));
    found
}

/// An object of which nothing is known.
pub(super) fn unmade(layout: &Layout, span: Span) -> Value {
    let what = format!("an object of type `{}`", layout.name);
    Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
}

/// Adds a value under a step; an aggregate's parts are added one by one.
pub(super) fn push_parts(parts: &mut Vec<(Steps, Value)>, step: Step, value: Value) {
    match value {
        Value::Aggregate(inner) => {
            for (path, part) in inner.iter() {
                let mut full: Steps = smallvec![step.clone()];
                full.extend(path.iter().cloned());
                parts.push((full, part.clone()));
            }
        }
        other => parts.push((smallvec![step], other)),
    }
}
