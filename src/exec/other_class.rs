//! What does something become where an object of a class is asked for and it is none?
//!
//! What a constructor of the class makes of it, or a conversion of its own:
//!
//! | `struct A { int k; };` | `B b = a;` |
//! |---|---|
//! | `struct B { B(const A &a); };` | the constructor runs |
//! | `struct A { operator B() const; };` | the conversion runs |
//! | `struct A : B { int k; };` | the part of `a` that is a `B` |
//! | `struct B { B(int k); };`, and a number is handed over | the constructor runs |

use super::machine::Machine;
use super::members::BASES;
use super::overload::only;
use super::same_type::same_type;
use super::slots::Slot;
use super::types::{Layout, Ty};
use super::value::{Place, Pointer, Steps, Target, Value};
use crate::ir::{Expr, ExprKind, Function, LocalId, Path, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// What an expression is as an object of a class, if it is one of another class that can become one.
    pub(super) fn of_other_class(&mut self, layout: &Rc<Layout>, expr: &Expr) -> Option<Value> {
        let from = self.type_of(expr);
        let Ty::Record(of) = &from else { return None };
        let of = Rc::clone(of);
        self.way_to(&of, layout)?;
        let source = match self.locate_argument(expr) {
            Ok(pointer) => Slot { value: Value::Pointer(pointer), ty: from, reference: true },
            Err(_) => Slot { value: self.evaluate(expr), ty: from, reference: false },
        };
        self.made_of_other(layout, source, expr.span)
    }

    /// What is handed over for a parameter, as an object of the parameter's class, if it is one of another class that
    /// can become one.
    pub(super) fn made_of_other(&mut self, layout: &Rc<Layout>, source: Slot, span: Span) -> Option<Value> {
        let of = source.ty.clone();
        let way = match &of {
            Ty::Record(of) => self.way_to(&Rc::clone(of), layout)?,
            Ty::Scalar(_) | Ty::Sized { .. } | Ty::Pointer(_) | Ty::Array(..) => {
                self.way_from_plain(layout)?
            }
            _ => return None,
        };
        let frame = self.top();
        let place = match (&source.value, source.reference) {
            (Value::Pointer(pointer), true) => Some(pointer.clone()),
            _ => None,
        };
        let number = self.state.frames.last_mut()?.slots.push(source);
        let local = LocalId(u32::try_from(number).ok()?);
        let object = place.unwrap_or_else(|| Pointer {
            target: Target::Place(Place { frame, local, path: Steps::new(), blurred: false }),
            pointee: of,
            volatile: false,
        });
        let made = match way {
            Way::Constructors(all) => {
                let arg = Expr { kind: ExprKind::Local(local), span };
                self.made_by(layout, all, std::slice::from_ref(&arg), span)
            }
            Way::Conversion(function) => {
                let path = Path::simple(function.name.clone());
                self.call_function(&function, &path, Some(object), &[], span)
            }
        };
        if let Some(frame) = self.state.frames.get_mut(frame) {
            frame.slots.truncate(number);
        }
        Some(self.without_itself(made, layout))
    }

    /// How an object of one class becomes one of another, if it is another and can.
    fn way_to(&mut self, of: &Rc<Layout>, layout: &Rc<Layout>) -> Option<Way> {
        if same_type(&Ty::Record(Rc::clone(of)), &Ty::Record(Rc::clone(layout))) != Some(false)
            || self.is_derived(of, layout, BASES)
        {
            return None;
        }
        if self.has_constructors(layout) {
            let all = self.converting_constructors(layout);
            let all: Vec<Arc<Function>> =
                all.into_iter().filter(|function| self.takes_class(function, layout, of)).collect();
            if !all.is_empty() {
                return Some(Way::Constructors(all));
            }
        }
        let conversions: Vec<Arc<Function>> = self.program.conversions(&of.name).to_vec();
        let mut found =
            conversions.into_iter().filter(|function| function.body.is_some()).filter(|function| {
                let ty = self
                    .within_head(function, Rc::clone(&of.env), |it| it.resolve_type(&function.return_type));
                matches!(&ty, Ty::Record(_)) && same_type(&ty, &Ty::Record(Rc::clone(layout))) == Some(true)
            });
        found.next().map(Way::Conversion)
    }

    /// How a number or pointer becomes an object of a class, if it can.
    fn way_from_plain(&mut self, layout: &Rc<Layout>) -> Option<Way> {
        if self.is_number_object(layout) || !self.has_constructors(layout) {
            return None;
        }
        let mut all = self.converting_constructors(layout);
        all.retain(|constructor| {
            let Some(first) = constructor.params.first() else { return false };
            let (written, env) = (super::deduce::strip(&first.ty), Rc::clone(&layout.env));
            let taken = self.within_head(constructor, env, |machine| machine.resolve_type(written));
            !matches!(taken, Ty::Record(_))
        });
        (!all.is_empty()).then_some(Way::Constructors(all))
    }

    /// The constructors of a class that can be given one argument.
    fn converting_constructors(&mut self, layout: &Rc<Layout>) -> Vec<Arc<Function>> {
        let program = self.program;
        let fits = |f: &&Arc<Function>| {
            f.owner.as_ref() == Some(&layout.name)
                && f.body.is_some()
                && !f.params.is_empty()
                && f.params.iter().skip(1).all(|param| param.default.is_some())
        };
        let all: Vec<Arc<Function>> = program.functions(&layout.name).iter().filter(fits).cloned().collect();
        let chosen = self.own_definitions(layout, &all);
        self.with_special(layout, chosen, &all)
    }

    /// Whether the first parameter of a constructor of a class may take an object of another.
    fn takes_class(&mut self, constructor: &Arc<Function>, layout: &Layout, of: &Rc<Layout>) -> bool {
        let Some(first) = constructor.params.first() else { return false };
        let written = super::deduce::strip(&first.ty);
        let own = |path: &Path| constructor.template_params.iter().any(|param| param.name == path.name);
        match written {
            Type::Named(path) if path.args.is_none() && own(path) => true,
            Type::Named(path) if path.args.is_some() && !constructor.template_params.is_empty() => {
                of.record.as_ref().is_some_and(|record| record.name == path.name)
            }
            _ => {
                let env = Rc::clone(&layout.env);
                match self.within_head(constructor, env, |machine| machine.resolve_type(written)) {
                    Ty::Record(param) => {
                        let (a, b) = (Ty::Record(Rc::clone(&param)), Ty::Record(Rc::clone(of)));
                        same_type(&a, &b) == Some(true) || self.is_derived(of, &param, BASES)
                    }
                    _ => false,
                }
            }
        }
    }

    /// Whether a class has another among its bases.
    fn is_derived(&mut self, of: &Layout, from: &Layout, depth: usize) -> bool {
        let Some(record) = of.record.clone().filter(|_| depth > 0) else { return false };
        let bases = self.bases(&record, &of.env, depth);
        bases.iter().any(|base| base.name == from.name || self.is_derived(base, from, depth - 1))
    }

    /// What the one of these constructors makes that fits best.
    fn made_by(&mut self, layout: &Rc<Layout>, all: Vec<Arc<Function>>, args: &[Expr], span: Span) -> Value {
        match only(self.best_of(all, &[], args)) {
            Some(constructor) => self.run_on_new(layout, &constructor, args, span),
            None => self.unseen_object(layout, args, span),
        }
    }
}

/// How an object becomes one of another class.
enum Way {
    /// One of these makes it.
    Constructors(Vec<Arc<Function>>),
    Conversion(Arc<Function>),
}
