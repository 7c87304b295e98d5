//! Which method does a call on an object run, and on which part of the object?

use super::converted::Wanted;
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::overload::only;
use super::packs::{expansion_in, takes_count};
use super::receivers::{Method, has_types_of, narrowed};
use super::slots::Slot;
use super::types::{Layout, Ty};
use super::unseen::Callee;
use super::value::{Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, Unknown};
use crate::ir::{Expr, ExprKind, Function, LocalId, Name, Path, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The methods that a call may mean, and the class whose they are.
type OfClass = (Vec<Arc<Function>>, Option<Rc<Layout>>);

impl Machine<'_> {
    pub(super) fn call_method(
        &mut self,
        expr: &Expr,
        base: &Expr,
        path: &Path,
        arrow: bool,
        class: Option<&Type>,
        (args, used): (&[Expr], bool),
    ) -> Value {
        let known = self.group_method(expr, base, &path.name, args).or_else(|| self.bound_of_range(expr));
        if let Some(value) = known {
            return value;
        }
        if !arrow
            && class.is_none()
            && let Some(value) = self.call_lambda_by_name(base, path, args, expr.span)
        {
            return value;
        }
        let object = if arrow { self.pointed_at(base, expr.span) } else { self.locate(base) };
        match object {
            Ok(object) => match class {
                Some(class) => match self.named_part(&object, class) {
                    Some(part) => self.call_of_class(expr, &part, path, args),
                    None => self.call_unseen(Callee::Method(&path.name), args, expr.span),
                },
                None => {
                    self.at_hand.receiver = self.receiver(base, arrow, &path.name);
                    self.call_member(expr, &object, path, (args, used))
                }
            },
            Err(_) if !arrow => self.call_on_temporary(expr, base, path, (args, used)),
            Err(_) => self.call_unseen(Callee::Method(&path.name), args, expr.span),
        }
    }

    /// What a pointer, or an object with an `operator->`, leads to.
    pub(super) fn pointed_at(&mut self, base: &Expr, span: Span) -> Result<Pointer, Unknown> {
        if !self.program.functions("operator->").is_empty()
            && matches!(self.type_of(base), Ty::Record(_))
            && let Ok(object) = self.locate(base)
        {
            let methods = self.methods(&object, &Path::simple("operator->".into()), &[]);
            return match self.call_methods(methods, &Path::simple("operator->".into()), &[], span) {
                Value::Pointer(pointer) => Ok(pointer),
                Value::Opaque(_, why, ..) => Err(why),
                _ => Err(Unknown::new(Reason::UnknownPointer, span, "a pointer that is not followed")),
            };
        }
        let converted = self.converted_in_place(base, Wanted::Pointer);
        match converted.unwrap_or_else(|| self.evaluate(base)) {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Opaque(_, why, ..) => {
                self.note_lost_pointer(span);
                Err(why)
            }
            _ => Err(Unknown::new(Reason::UnknownPointer, span, "a pointer that is not followed")),
        }
    }

    /// A call on an object that an expression makes and nothing names.
    pub(super) fn call_on_temporary(
        &mut self,
        expr: &Expr,
        base: &Expr,
        path: &Path,
        (args, used): (&[Expr], bool),
    ) -> Value {
        self.on_temporary(base, |machine, object| machine.call_member(expr, object, path, (args, used)))
            .unwrap_or_else(|| self.call_unseen(Callee::Method(&path.name), args, expr.span))
    }

    /// Uses an object that an expression makes and nothing names, if its class is known; it is
    /// evaluated either way.
    pub(super) fn on_temporary<R>(
        &mut self,
        expr: &Expr,
        work: impl FnOnce(&mut Self, &Pointer) -> R,
    ) -> Option<R> {
        let ty = self.type_of(expr);
        let value = self.evaluate(expr);
        if !matches!(ty, Ty::Record(_)) {
            return None;
        }
        self.with_temporary(value, ty, work)
    }

    /// Uses an object that lasts no longer than that.
    pub(super) fn with_temporary<R>(
        &mut self,
        value: Value,
        ty: Ty,
        work: impl FnOnce(&mut Self, &Pointer) -> R,
    ) -> Option<R> {
        let frame = self.top();
        let slot = Slot { value, ty: ty.clone(), reference: false };
        let number = self.state.frames.last_mut()?.slots.push(slot);
        let local = LocalId(u32::try_from(number).ok()?);
        let place = Place { frame, local, path: Steps::new(), blurred: false };
        let result = work(self, &Pointer { target: Target::Place(place), pointee: ty, volatile: false });
        if let Some(frame) = self.state.frames.get_mut(frame) {
            frame.slots.truncate(number);
        }
        Some(result)
    }

    pub(super) fn call_member(
        &mut self,
        expr: &Expr,
        object: &Pointer,
        path: &Path,
        (args, used): (&[Expr], bool),
    ) -> Value {
        let receiver = std::mem::take(&mut self.at_hand.receiver);
        if let Some(value) = self.atomic_method(object, path, args, (expr.span, used)) {
            return value;
        }
        if let Some(value) = self.sync_method(object, path, args, expr.span) {
            return value;
        }
        if let Some(value) = self.collective_method(object, path, args, expr.span) {
            return value;
        }
        let methods = narrowed(self.methods(object, path, args), receiver);
        if methods.is_empty() {
            let is_held = |layout: &Layout| layout.record.is_some() && layout.field(&path.name).is_some();
            if matches!(&object.pointee, Ty::Record(layout) if is_held(layout)) && self.mode == Mode::Device {
                let member = self.member(object.clone(), &path.name, expr.span);
                return self.call_held(expr, member, (args, used));
            }
            // Of what class it is is not known, but what it holds: `Pair` made by a template.
            if let (Ty::Unknown(_), Target::Place(_), Mode::Device) =
                (&object.pointee, &object.target, self.mode)
                && let Ok(member) = self.member(object.clone(), &path.name, expr.span)
                && matches!(self.read(&member, expr.span), Value::Closure(..))
            {
                return self.call_held(expr, Ok(member), (args, used));
            }
            return self.call_on_object(object, &path.name, args, (expr.span, used));
        }
        let is_open = matches!(methods.as_slice(), [(only, _)] if self.may_be_overridden(only, Some(object)));
        let value = self.call_methods(methods, path, args, expr.span);
        match is_open {
            true => self.overridden(Some(object), &path.name, args, expr.span),
            false => value,
        }
    }

    /// `object.Class::method()`: not a virtual call.
    fn call_of_class(&mut self, expr: &Expr, part: &Pointer, path: &Path, args: &[Expr]) -> Value {
        let methods = self.static_methods(part, path, args);
        if methods.is_empty() {
            return self.call_unseen(Callee::Method(&path.name), args, expr.span);
        }
        self.call_methods(methods, path, args, expr.span)
    }

    /// Calls the one of these methods that is meant.
    fn call_methods(&mut self, mut methods: Vec<Method>, path: &Path, args: &[Expr], span: Span) -> Value {
        match methods.len() {
            0 => Value::Undefined,
            1 => match methods.pop() {
                Some((method, part)) => self.call_function(&method, path, Some(part), args, span),
                None => Value::Undefined,
            },
            _ => {
                let several = methods.into_iter().map(|(method, part)| (method, Some(part))).collect();
                self.call_several(several, path, args, (span, true))
            }
        }
    }

    /// The methods that the declared class of an object tells.
    pub(super) fn static_methods(&mut self, object: &Pointer, path: &Path, args: &[Expr]) -> Vec<Method> {
        let Ty::Record(layout) = &object.pointee else { return Vec::new() };
        let (methods, class) = self.methods_of(layout, path, args, BASES);
        let Some(part) = class.and_then(|class| self.part_of_class(object, &class.name, BASES)) else {
            return Vec::new();
        };
        methods.into_iter().map(|method| (method, part.clone())).collect()
    }

    /// The methods of a class, its own or those of a base, and whose they are.
    fn methods_of(&mut self, layout: &Rc<Layout>, path: &Path, args: &[Expr], depth: usize) -> OfClass {
        let program = self.program;
        let fits = |f: &&Arc<Function>| {
            let is_own = f.body.is_some() && may_be_of(f, layout);
            is_own && (takes_count(f, args) || expansion_in(args).is_none() && args.len() <= f.params.len())
        };
        let all: Vec<Arc<Function>> = program.functions(&path.name).iter().filter(fits).cloned().collect();
        let mut candidates = self.own_definitions(layout, &all);
        candidates = self.with_special(layout, candidates, &all);
        // A definition outside of its class does not tell the defaults.
        if candidates.iter().any(|f| takes_count(f, args)) {
            candidates.retain(|f| takes_count(f, args));
        }
        if let Some(record) = layout.record.clone().filter(|it| depth > 0 && it.usings.contains(&path.name)) {
            for base in self.bases(&record, &layout.env, depth) {
                let hidden = |f: &Arc<Function>, own: &[Arc<Function>]| {
                    own.iter().any(|it| it.is_const == f.is_const && has_types_of(it, f))
                };
                let of_base = self.methods_named(&base, path, args, depth - 1);
                let added: Vec<_> = of_base.into_iter().filter(|f| !hidden(f, &candidates)).collect();
                candidates.extend(added);
            }
        }
        let best = self.best_of(candidates, path.args.as_deref().unwrap_or(&[]), args);
        if !best.is_empty() {
            let class = best[0].owner.clone().filter(|owner| *owner != layout.name && best.len() == 1);
            let class = class.and_then(|owner| self.base_named(layout, &owner, depth));
            return (best, Some(class.unwrap_or_else(|| Rc::clone(layout))));
        }
        let Some(record) = &layout.record else { return (Vec::new(), None) };
        let bases = self.bases(record, &layout.env, depth);
        let found = bases.iter().map(|base| self.methods_of(base, path, args, depth - 1));
        found.into_iter().find(|(methods, _)| !methods.is_empty()).unwrap_or_default()
    }

    /// All methods of a name that a class has of its own, or makes its own, or else its bases.
    fn methods_named(
        &mut self,
        layout: &Rc<Layout>,
        path: &Path,
        args: &[Expr],
        depth: usize,
    ) -> Vec<Arc<Function>> {
        let fits = |f: &&Arc<Function>| f.body.is_some() && may_be_of(f, layout) && takes_count(f, args);
        let all: Vec<Arc<Function>> =
            self.program.functions(&path.name).iter().filter(fits).cloned().collect();
        let found = self.own_definitions(layout, &all);
        let mut found = self.with_special(layout, found, &all);
        if let Some(record) = layout.record.clone().filter(|_| depth > 0)
            && (found.is_empty() || record.usings.contains(&path.name))
        {
            for base in self.bases(&record, &layout.env, depth) {
                found.extend(self.methods_named(&base, path, args, depth - 1));
            }
        }
        found
    }

    /// The base of a class that has this name.
    fn base_named(&mut self, layout: &Layout, name: &Name, depth: usize) -> Option<Rc<Layout>> {
        let record = layout.record.clone().filter(|_| depth > 0)?;
        let bases = self.bases(&record, &layout.env, depth);
        let own = bases.iter().find(|base| base.name == *name).cloned();
        own.or_else(|| bases.iter().find_map(|base| self.base_named(base, name, depth - 1)))
    }

    pub(super) fn methods_by_type(
        &mut self,
        object: &Expr,
        arrow: bool,
        path: &Path,
        args: &[Expr],
    ) -> Vec<Arc<Function>> {
        self.class_methods(object, arrow, path, args).map(|(methods, _)| methods).unwrap_or_default()
    }

    fn class_methods(&mut self, object: &Expr, arrow: bool, path: &Path, args: &[Expr]) -> Option<OfClass> {
        if self.program.functions(&path.name).is_empty() {
            return None;
        }
        let layout = match self.type_of(object) {
            Ty::Record(layout) if !arrow => layout,
            Ty::Pointer(inner) if arrow => match &*inner {
                Ty::Record(layout) => Rc::clone(layout),
                _ => return None,
            },
            _ => return None,
        };
        Some(self.methods_of(&layout, path, args, BASES))
    }

    /// Whether objects of a type have a method that can be called so.
    pub(super) fn has_method(&mut self, ty: &Ty, path: &Path, args: &[Expr]) -> bool {
        match ty {
            Ty::Record(layout) => !self.methods_of(layout, path, args, BASES).0.is_empty(),
            _ => false,
        }
    }

    fn method_by_type(
        &mut self,
        object: &Expr,
        arrow: bool,
        path: &Path,
        args: &[Expr],
    ) -> Option<(Arc<Function>, Rc<Layout>)> {
        let (methods, class) = self.class_methods(object, arrow, path, args)?;
        only(methods).zip(class)
    }

    /// What a method hands back that an expression calls: `view.row(2)`, `view(1, 2)`, `view[3]`.
    pub(super) fn type_of_method(&mut self, expr: &Expr) -> Option<Ty> {
        let (method, class) = match &expr.kind {
            ExprKind::Index(base, index) => {
                let path = Path::simple("operator[]".into());
                self.method_by_type(base, false, &path, std::slice::from_ref(index))?
            }
            ExprKind::Deref(base) => {
                self.method_by_type(base, false, &Path::simple("operator*".into()), &[])?
            }
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(_) => return None,
                ExprKind::Member { base, name, arrow, .. } => {
                    self.method_by_type(base, *arrow, &Path::simple(name.clone()), args)?
                }
                _ => self.method_by_type(callee, false, &Path::simple("operator()".into()), args)?,
            },
            _ => return None,
        };
        self.handed_back(&method, &class)
    }

    /// What a method of a class hands back; none if it is not known which is meant.
    pub(super) fn type_of_method_in(
        &mut self,
        layout: &Rc<Layout>,
        path: &Path,
        args: &[Expr],
    ) -> Option<Ty> {
        let (methods, class) = self.methods_of(layout, path, args, BASES);
        let (method, class) = only(methods).zip(class)?;
        self.handed_back(&method, &class)
    }

    fn handed_back(&mut self, method: &Arc<Function>, class: &Layout) -> Option<Ty> {
        let written = |machine: &mut Self| machine.resolve_type(&method.return_type);
        method.template_params.is_empty().then(|| self.within_head(method, Rc::clone(&class.env), written))
    }
}

/// Whether a method may belong to a class, by its name: what a library has belongs to no class of the program.
fn may_be_of(method: &Function, layout: &Layout) -> bool {
    let class = layout.record.as_ref();
    method.owner.as_ref() == Some(&layout.name)
        && class.is_none_or(|class| class.extent.is_built_in() == method.span.is_built_in())
}
