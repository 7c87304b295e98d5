//! Which function does a method's name mean on an object of which only a base class is named?
//!
//! | `struct B`, `struct D : B` | `b.f()`, where `B &b = d` |
//! |---|---|
//! | `int f()`, `int f()` | `B::f` |
//! | `virtual int f()`, `int f()` | `D::f` |
//! | `virtual int f() const`, `int f()` | `B::f`: another function |
//! | `virtual int f(int = 2)`, `int f(int = 4)` | `D::f`, with the default of `B::f`: not followed |

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::receivers::Method;
use super::same_type::same_type;
use super::types::{Layout, Ty};
use super::unseen::Callee;
use super::value::{Offset, Place, Pointer, Target, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::{Expr, Function, Name, Param, Path, Type, print};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What is found in a class that an object is of.
enum Found {
    Nothing,
    /// This one, or another whose parameters may be the same.
    Functions(Vec<Arc<Function>>, Rc<Layout>),
}

impl Machine<'_> {
    /// The methods of an object that a call may mean, of its own class or of a base.
    pub(super) fn methods(&mut self, object: &Pointer, path: &Path, args: &[Expr]) -> Vec<Method> {
        let methods = self.static_methods(object, path, args);
        if !methods.iter().any(|(method, _)| self.is_virtual(method)) {
            return methods;
        }
        let [(method, part)] = methods.as_slice() else {
            return self.any_of_name(methods, object, path, args);
        };
        let Ty::Record(class) = part.pointee.clone() else { return methods };
        if !self.is_virtual_in(method, &class, BASES) {
            return methods;
        }
        // What a variable is declared as is what it is.
        if let Target::Place(place) = &object.target
            && let Some(ty @ Ty::Record(_)) = self.type_of_place(place)
            && !self.may_stand_for_another(place)
        {
            let whole = Pointer { pointee: ty, ..object.clone() };
            return self.overriders(&methods, &whole, args);
        }
        self.any_of_name(methods, object, path, args)
    }

    /// Whether a call in host code of a virtual method may run one of a class that is not seen: of the object it is not
    /// known what it really is.
    pub(super) fn may_be_overridden(&self, method: &Function, object: Option<&Pointer>) -> bool {
        let is_known = |place| {
            matches!(self.type_of_place(place), Some(Ty::Record(_))) && !self.may_stand_for_another(place)
        };
        self.mode == Mode::Host
            && method.owner.is_some()
            && self.is_virtual(method)
            && !matches!(object.map(|it| &it.target), Some(Target::Place(place)) if is_known(place))
    }

    /// Whether what seems to be a variable of host code is a reference parameter of the function that the run began with.
    fn may_stand_for_another(&self, place: &Place) -> bool {
        let Some(frame) = self.state.frames.get(place.frame).filter(|_| self.mode == Mode::Host) else {
            return false;
        };
        let slot = frame.slots.get(place.local.0 as usize);
        let is_it = |param: &Param| param.local == place.local && matches!(param.ty, Type::Reference(_));
        slot.is_some_and(|slot| !slot.reference) && frame.function.params.iter().any(is_it)
    }

    /// Of such a call nothing is known but what it launches: who overrides the method may change whatever one of the
    /// program can.
    pub(super) fn overridden(
        &mut self,
        object: Option<&Pointer>,
        method: &Name,
        args: &[Expr],
        span: Span,
    ) -> Value {
        let words = format!("`{method}` is virtual, and the class of its object is not known");
        let why = Unknown::new(Reason::UnknownFunction, span, words);
        if let Some(object) = object {
            self.lose_object(object, method, args.len(), &why);
        }
        // Whoever overrides it may be in another file.
        self.lose_effects(&[Name::clone(method)], &why);
        self.leave_program(&why);
        self.lose_behind_arguments(args, &why);
        for (at, arg) in args.iter().enumerate() {
            self.hand_to_unfollowed(Callee::Method(method), (arg, &Value::Undefined), (at, args.len()), span);
        }
        Value::opaque(Variation::Uniform, why)
    }

    /// Any class may be derived from that of the object.
    fn any_of_name(&self, methods: Vec<Method>, object: &Pointer, path: &Path, args: &[Expr]) -> Vec<Method> {
        let all = self.program.functions(&path.name).iter();
        let others = all.filter(|f| f.body.is_some() && f.owner.is_some() && f.params.len() == args.len());
        let others: Vec<Method> = others.map(|f| (Arc::clone(f), object.clone())).collect();
        if others.len() > 1 { others } else { methods }
    }

    /// Whether a method may be one that derived classes replace, as far as its name tells.
    pub(super) fn is_virtual(&self, method: &Function) -> bool {
        let of_name = self.program.functions(&method.name);
        of_name.iter().any(|f| f.is_virtual && f.owner.is_some() && f.params.len() == method.params.len())
    }

    /// Whether a class or a base of it declares the method virtual.
    fn is_virtual_in(&mut self, method: &Function, class: &Rc<Layout>, depth: usize) -> bool {
        let own = self.of_class(method, class);
        if own.iter().any(|f| f.is_virtual && self.is_same(f, method, class) != Some(false)) {
            return true;
        }
        let Some(record) = class.record.clone().filter(|_| depth > 0) else { return false };
        let bases = self.bases(&record, &class.env, depth);
        bases.iter().any(|base| self.is_virtual_in(method, base, depth - 1))
    }

    /// What a virtual call runs on an object that is `whole`.
    fn overriders(&mut self, methods: &[Method], whole: &Pointer, args: &[Expr]) -> Vec<Method> {
        let ([(method, part)], Ty::Record(class)) = (methods, &whole.pointee) else {
            return methods.to_vec();
        };
        let Found::Functions(found, class) = self.overrider(method, &Rc::clone(class), BASES) else {
            return methods.to_vec();
        };
        let Some(of_class) = self.part_of_class(whole, &class.name, BASES) else { return methods.to_vec() };
        let mut all: Vec<Method> = found.into_iter().map(|f| (f, of_class.clone())).collect();
        // What it is given by default is what the declared class says.
        if args.len() < method.params.len() && all.iter().any(|(f, _)| !Arc::ptr_eq(f, method)) {
            all.push((Arc::clone(method), part.clone()));
        }
        all
    }

    /// The function of a class or of its bases that stands for a virtual one.
    fn overrider(&mut self, method: &Arc<Function>, class: &Rc<Layout>, depth: usize) -> Found {
        let mut found = Vec::new();
        for f in self.of_class(method, class) {
            match self.is_same(&f, method, class) {
                Some(true) if f.body.is_some() => return Found::Functions(vec![f], Rc::clone(class)),
                Some(false) => {}
                _ => found.push(f),
            }
        }
        if !found.is_empty() {
            // Which it is is not known, or what it does.
            if !found.iter().any(|f| Arc::ptr_eq(f, method)) {
                found.push(Arc::clone(method));
            }
            return Found::Functions(found, Rc::clone(class));
        }
        let Some(record) = class.record.clone().filter(|_| depth > 0) else { return Found::Nothing };
        for base in self.bases(&record, &class.env, depth) {
            if let found @ Found::Functions(..) = self.overrider(method, &base, depth - 1) {
                return found;
            }
        }
        Found::Nothing
    }

    /// The functions of a class that have the name of a method.
    fn of_class(&mut self, method: &Function, class: &Layout) -> Vec<Arc<Function>> {
        let of_name = self.program.functions(&method.name).iter();
        let all: Vec<Arc<Function>> =
            of_name.filter(|f| f.owner.as_ref() == Some(&class.name)).cloned().collect();
        let own: Vec<Arc<Function>> = all.iter().filter(|f| class.holds(f.span)).cloned().collect();
        // A definition outside of the class stands for the declaration in it.
        let defined = |f: &Arc<Function>| f.body.is_some();
        let chosen = if own.iter().any(|f| !defined(f)) || own.is_empty() { all.clone() } else { own };
        self.with_special(class, chosen, &all)
    }

    /// Whether two methods have the same parameters, and both or none are `const`; none if that is not known.
    fn is_same(&mut self, a: &Function, b: &Function, class: &Layout) -> Option<bool> {
        if a.params.len() != b.params.len() || a.is_const != b.is_const {
            return Some(false);
        }
        let mut all = Some(true);
        for (x, y) in a.params.iter().zip(&b.params) {
            match self.is_same_type(&x.ty, &y.ty, (a, b), class) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    fn is_same_type(
        &mut self,
        x: &Type,
        y: &Type,
        (a, b): (&Function, &Function),
        class: &Layout,
    ) -> Option<bool> {
        match (x, y) {
            (Type::Reference(x), Type::Reference(y)) => self.is_same_type(x, y, (a, b), class),
            (Type::Reference(_), _) | (_, Type::Reference(_)) => Some(false),
            _ if print::ty(x) == print::ty(y) => Some(true),
            _ => {
                let env = Rc::clone(&class.env);
                let x = self.within(Rc::clone(&env), &a.namespace, |machine| machine.resolve_type(x));
                let y = self.within(env, &b.namespace, |machine| machine.resolve_type(y));
                same_type(&x, &y)
            }
        }
    }

    /// A pointer or reference to an object, as one to the base of it that it is declared to lead to, or to the object
    /// of which it is a base.
    pub(super) fn as_declared(&mut self, pointer: Pointer, declared: &Ty) -> Pointer {
        match (&pointer.pointee, declared) {
            (_, Ty::Unknown(_)) => pointer,
            (Ty::Record(of), Ty::Record(class)) if of.name != class.name => {
                let (of, class) = (Rc::clone(of), Rc::clone(class));
                self.part_of_class(&pointer, &class.name, BASES).unwrap_or_else(|| Pointer {
                    target: self.begin_of(&class, &of, &pointer.target).unwrap_or(pointer.target),
                    pointee: declared.clone(),
                    volatile: pointer.volatile,
                })
            }
            (Ty::Record(_), Ty::Record(_)) => pointer,
            _ => Pointer { pointee: declared.clone(), ..pointer },
        }
    }

    /// Where an object of a class lies in memory whose base `of` is at `target`.
    fn begin_of(&mut self, class: &Rc<Layout>, of: &Layout, target: &Target) -> Option<Target> {
        let Target::Memory(object, offset) = target else { return None };
        let nowhere = Target::Memory(*object, Offset::Known(Int::constant(0)));
        let whole = Pointer { target: nowhere, pointee: Ty::Record(Rc::clone(class)), volatile: false };
        match self.part_of_class(&whole, &of.name, BASES)?.target {
            Target::Memory(_, Offset::Known(at)) => {
                let back = self.world.scale(&at, -1);
                Some(Target::Memory(*object, self.offset_by(offset, &back)))
            }
            _ => None,
        }
    }
}
