//! What type does an expression have, without running it?

use super::arithmetic::{common, promote};
use super::converted::Wanted;
use super::machine::{Machine, Mode};
use super::operator_functions::operator_of;
use super::same_type::same_type;
use super::types::{Binding, Layout, Ty, nameless};
use super::value::Value;
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Name, Path, Scalar, Stmt, StmtKind, Type, UnaryOp};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Types of parts that may be asked for where that of one expression is.
const TYPED_WITHIN: u32 = 1 << 14;

impl Machine<'_> {
    /// The static type of an expression, as far as it is cheap to tell; nothing is executed.
    pub(crate) fn type_of(&mut self, expr: &Expr) -> Ty {
        if self.lookups.typed_depth == 0 {
            self.lookups.typed = 0;
            self.lookups.typed_frames = self.state.frames.len();
            self.lookups.typed_calls.clear();
        }
        if let Some(ty) = self.type_told_before(expr) {
            return ty;
        }
        if self.lookups.typed >= TYPED_WITHIN {
            return Ty::Unknown(nameless::AUTO.into());
        }
        self.lookups.typed += 1;
        self.lookups.typed_depth += 1;
        let ty = self.type_told(expr);
        self.lookups.typed_depth -= 1;
        // To choose among functions asks for the type of each argument several times, and each of these questions does
        // so for its own arguments.
        let may_choose = match &expr.kind {
            ExprKind::Binary(..) | ExprKind::Unary(..) => !matches!(ty, Ty::Scalar(_) | Ty::Pointer(_)),
            ExprKind::Call { .. } => true,
            _ => false,
        };
        if may_choose && self.lookups.typed_depth > 0 && self.state.frames.len() == self.lookups.typed_frames
        {
            let Span { start, end, .. } = expr.span;
            self.lookups.typed_calls.entry((start, end)).or_default().push((expr.clone(), ty.clone()));
        }
        ty
    }

    /// What the type of an expression was since the outermost question: nothing runs before that is answered.
    fn type_told_before(&self, expr: &Expr) -> Option<Ty> {
        if self.lookups.typed_calls.is_empty() || self.state.frames.len() != self.lookups.typed_frames {
            return None;
        }
        let told = self.lookups.typed_calls.get(&(expr.span.start, expr.span.end))?;
        told.iter().find(|(other, _)| other == expr).map(|(_, ty)| ty.clone())
    }

    fn type_told(&mut self, expr: &Expr) -> Ty {
        let unknown = || Ty::Unknown(nameless::AUTO.into());
        match &expr.kind {
            ExprKind::Int(_, scalar) | ExprKind::Float(_, scalar) => Ty::Scalar(*scalar),
            ExprKind::Local(local) => {
                let slot = self.frame().and_then(|f| f.slots.get(local.0 as usize));
                slot.map_or_else(unknown, |slot| slot.ty.clone())
            }
            ExprKind::Lambda(lambda) => {
                self.class_of_lambda(&Arc::clone(lambda), self.top()).unwrap_or_else(unknown)
            }
            ExprKind::Cast(Type::Auto, inner) => super::deduce::decayed(&self.type_of(inner)),
            ExprKind::Cast(ty, _) => self.resolve_type(ty),
            ExprKind::Construct(ty, args) => self.class_made(ty, args),
            ExprKind::Index(base, index) => match self.type_of(base) {
                Ty::Array(element, _) | Ty::Pointer(element) => (*element).clone(),
                Ty::Record(layout) => {
                    let path = Path::simple("operator[]".into());
                    let told = self.type_of_method_in(&layout, &path, std::slice::from_ref(index));
                    told.or_else(|| self.type_behind(&layout, expr.span)).unwrap_or_else(unknown)
                }
                _ => unknown(),
            },
            ExprKind::Deref(inner) => match self.type_of(inner) {
                Ty::Pointer(inner) | Ty::Array(inner, _) => (*inner).clone(),
                Ty::Record(layout) => {
                    let path = Path::simple("operator*".into());
                    let told = self.type_of_method_in(&layout, &path, &[]);
                    told.or_else(|| self.type_behind(&layout, expr.span)).unwrap_or_else(unknown)
                }
                _ => unknown(),
            },
            ExprKind::This => {
                let this = self.frame().and_then(|frame| frame.this.as_ref());
                this.map_or_else(unknown, |this| Ty::Pointer(Rc::new(this.pointee.clone())))
            }
            ExprKind::AddressOf(inner) => Ty::Pointer(Rc::new(self.type_of(inner))),
            ExprKind::Member { base, name, arrow, .. } => {
                self.type_of_member(base, name, *arrow).unwrap_or_else(unknown)
            }
            ExprKind::Binary(op, a, b) => self.type_of_binary(expr, *op, a, b),
            ExprKind::Unary(op, inner) => self.type_of_unary(expr, *op, inner),
            ExprKind::Step { target, .. } => {
                let of = self.type_of(target);
                self.type_of_called(expr, &of).unwrap_or(of)
            }
            ExprKind::Assign(_, inner, _) => self.type_of(inner),
            ExprKind::Conditional(_, a, b) => {
                let (a, b) = (self.type_of(a), self.type_of(b));
                self.type_of_either(a, b)
            }
            ExprKind::Comma(_, b) => self.type_of(b),
            ExprKind::Path(path) => self.type_of_value(path).unwrap_or(Ty::Scalar(Scalar::I32)),
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => self.type_of_call(path, args),
                _ => {
                    let known = self.type_of_bound(expr).or_else(|| self.type_of_method(expr));
                    known.or_else(|| self.type_of_tensor_data(callee, args)).unwrap_or_else(unknown)
                }
            },
            _ => unknown(),
        }
    }

    /// `x.data_ptr<T>()` of an object of a class that is not seen: as in PyTorch, a pointer to `T`, which
    /// is not told to be `const`.
    fn type_of_tensor_data(&mut self, callee: &Expr, args: &[Expr]) -> Option<Ty> {
        const DATA: [&str; 4] = ["data_ptr", "mutable_data_ptr", "const_data_ptr", "data"];
        let ExprKind::Member { base, name, args: Some(written), .. } = &callee.kind else { return None };
        let [element] = written.as_slice() else { return None };
        let is_data = args.is_empty() && DATA.contains(&&**name) && self.program.functions(name).is_empty();
        if !is_data || self.mode != Mode::Host {
            return None;
        }
        let (of, element) = (self.type_of(base), self.bind_written(element));
        let of = if let Ty::Pointer(of) = &of { of } else { &of };
        match (of, element) {
            (Ty::Unknown(_), Binding::Type(element)) => Some(Ty::Pointer(Rc::new(element.unqualified()))),
            _ => None,
        }
    }

    /// That of a member; a number is the place of one in the order of the declaration.
    fn type_of_member(&mut self, base: &Expr, name: &str, arrow: bool) -> Option<Ty> {
        let mut ty = self.type_of(base);
        if arrow && let Ty::Pointer(inner) = &ty {
            ty = (**inner).clone();
        }
        match (&ty, name.parse::<usize>()) {
            (Ty::Record(layout), Ok(number)) => layout.fields.get(number).map(|field| field.ty.clone()),
            (Ty::Array(element, _), Ok(_)) => Some((**element).clone()),
            (Ty::Record(layout), Err(_)) => layout.field(name).map(|field| field.ty.clone()),
            _ => None,
        }
    }

    /// What a function of this name returns, or the type of this name that is constructed.
    fn type_of_call(&mut self, path: &Path, args: &[Expr]) -> Ty {
        let name = path.name.strip_prefix("make_").unwrap_or(&path.name);
        if let Some(ty) = super::types::builtin(name) {
            return ty;
        }
        if let Some(ty) = self.type_of_maths(path, args) {
            return ty;
        }
        let from = self.namespace();
        let program = self.program;
        let named = program.in_sight(&path.name, program.functions(&path.name), &path.qualifiers, &from);
        let named: Vec<Arc<Function>> = named.cloned().collect();
        let is_bare = path.qualifiers.is_empty() && named.iter().any(|function| function.owner.is_some());
        let near = if is_bare { Some(self.classes_in_sight()) } else { None };
        let is_in_sight = |owner: &Name| near.as_ref().is_none_or(|classes| classes.contains(owner));
        let mut named = named.iter().filter(|function| function.owner.as_ref().is_none_or(is_in_sight));
        if let (Some(function), None) = (named.next(), named.next())
            && function.template_params.is_empty()
            && function.owner.as_ref() != Some(&path.name)
        {
            let function = Arc::clone(function);
            let own = function.owner.is_some();
            let env = if own { self.env() } else { self.lookups.memo.no_env() };
            return self.within_head(&function, env, |machine| match made_by(&function) {
                Some(made) => machine.type_of(made),
                None => machine.resolve_type(&function.return_type),
            });
        }
        if let Some(ty) = self.type_of_chosen(path, args) {
            return ty;
        }
        self.resolve_type(&Type::Named(Box::new(path.clone())))
    }

    /// What each function returns that a call may mean, if that is one type.
    fn type_of_chosen(&mut self, path: &Path, args: &[Expr]) -> Option<Ty> {
        let is_told = |f: &Arc<Function>| {
            f.owner.is_none() && (!matches!(f.return_type, Type::Auto) || made_by(f).is_some())
        };
        if !self.program.functions(&path.name).iter().any(is_told) {
            return None;
        }
        // The run gets no further by it.
        let steps = self.steps;
        let functions = self.choose_functions(path, args);
        let mut types = functions.iter().map(|function| match is_told(function) {
            true => {
                let env = self.deduced_env(function, path, args);
                let env = self.lookups.memo.shared_env(function, env);
                self.within_head(function, env, |machine| match made_by(function) {
                    Some(made) => machine.type_of(made),
                    None => machine.resolve_written(&function.return_type),
                })
            }
            false => Ty::Unknown(nameless::AUTO.into()),
        });
        let first = types.next();
        let are_same =
            first.as_ref().is_some_and(|first| types.all(|ty| same_type(&ty, first) == Some(true)));
        self.steps = steps;
        first.filter(|_| are_same)
    }
}

impl Machine<'_> {
    /// The classes whose methods a bare name may mean.
    fn classes_in_sight(&mut self) -> Vec<Name> {
        let mut classes = self.own_bases();
        classes.extend(self.enclosing_names());
        classes.extend(self.frame().and_then(|frame| frame.function.owner.clone()));
        classes
    }

    /// The type that a name is, or that the value has which it stands for. In `sizeof(Name)` either may be
    /// meant, and a name that is not visible is as likely a type.
    pub(super) fn type_named_or_of(&mut self, path: &Path) -> Ty {
        self.type_of_value(path).unwrap_or_else(|| self.resolve_named_type(path))
    }

    /// The name that an expression is, where nothing tells what it stands for.
    pub(super) fn unseen_name(&mut self, expr: &Expr) -> Option<Name> {
        let ExprKind::Path(path) = &expr.kind else { return None };
        self.type_of_value(path).is_none().then(|| path.name.clone())
    }

    /// The type of what a name stands for, if it is known to be a value.
    fn type_of_value(&mut self, path: &Path) -> Option<Ty> {
        if let Some(ty) = self.type_of_coordinates(path).or_else(|| self.type_of_own_member(path)) {
            return Some(ty);
        }
        let variable = self.program.variable_meant(path, &self.namespace()).cloned()?;
        Some(self.resolve_type(&variable.ty))
    }

    /// A data member of `this`, or a template parameter that is a number.
    fn type_of_own_member(&self, path: &Path) -> Option<Ty> {
        let frame = self.frame().filter(|_| path.qualifiers.is_empty() && !path.global)?;
        if let Some(Binding::Value(Value::Int(_, scalar))) = frame.env.bindings.get(&path.name) {
            return Some(Ty::Scalar(*scalar));
        }
        match &frame.this.as_ref()?.pointee {
            Ty::Record(layout) => layout.field(&path.name).map(|field| field.ty.clone()),
            _ => None,
        }
    }

    /// What an operator hands back that is a method of the class of its first operand; none if it is none, or one of
    /// several.
    fn type_of_operator_method(&mut self, expr: &Expr, left: &Ty) -> Option<Ty> {
        let Ty::Record(layout) = left else { return None };
        let (path, _, others) = operator_of(expr, self.program)?;
        self.nested(|machine| machine.type_of_method_in(layout, &path, &others)).flatten()
    }

    /// The same of one that is a function and no method.
    fn type_of_free_operator(&mut self, expr: &Expr) -> Option<Ty> {
        let (path, first, others) = operator_of(expr, self.program)?;
        let args: Vec<Expr> = std::iter::once(first.clone()).chain(others).collect();
        if !self.may_call_free(&path.name, &args) {
            return None;
        }
        let unknown = || Ty::Unknown(nameless::AUTO.into());
        Some(self.type_of_chosen(&path, &args).unwrap_or_else(unknown))
    }

    /// The type of what an operator with one operand makes of it, if that calls a function.
    fn type_of_called(&mut self, expr: &Expr, of: &Ty) -> Option<Ty> {
        let method = self.type_of_operator_method(expr, of);
        method.or_else(|| if is_object(of) { self.type_of_free_operator(expr) } else { None })
    }

    fn type_of_unary(&mut self, expr: &Expr, op: UnaryOp, inner: &Expr) -> Ty {
        let of = self.type_of(inner);
        if let Some(ty) = self.type_of_called(expr, &of) {
            return ty;
        }
        match (op, self.converted_type(of)) {
            (UnaryOp::Not, _) => Ty::Scalar(Scalar::Bool),
            (_, Ty::Scalar(scalar)) => Ty::Scalar(promote(scalar, scalar, BinaryOp::Add)),
            (_, other) => other,
        }
    }

    /// Each operand is asked for its type once: twice would take twice as long for each term of a long sum.
    fn type_of_binary(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) -> Ty {
        use BinaryOp::{Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne, Sub};
        let x = self.type_of(a);
        if let Some(ty) = self.type_of_operator_method(expr, &x) {
            return ty;
        }
        let y = self.type_of(b);
        if (is_object(&x) || is_object(&y))
            && let Some(ty) = self.type_of_free_operator(expr)
        {
            return ty;
        }
        if matches!(op, Eq | Ge | Gt | Le | LogicalAnd | LogicalOr | Lt | Ne) {
            return Ty::Scalar(Scalar::Bool);
        }
        let (x, y) = (self.converted_type(x), self.converted_type(y));
        match (x, y) {
            (Ty::Scalar(x), Ty::Scalar(y)) => Ty::Scalar(promote(x, y, op)),
            (Ty::Pointer(_) | Ty::Array(..), Ty::Pointer(_) | Ty::Array(..)) if op == Sub => {
                Ty::Scalar(Scalar::I64)
            }
            (pointer @ (Ty::Pointer(_) | Ty::Array(..)), _)
            | (_, pointer @ (Ty::Pointer(_) | Ty::Array(..))) => decayed(pointer),
            (other, _) => other,
        }
    }
}

impl Machine<'_> {
    /// The type of `c ? a : b`.
    fn type_of_either(&mut self, a: Ty, b: Ty) -> Ty {
        if let Some(scalar) = common(&a, &b) {
            return Ty::Scalar(scalar);
        }
        if !is_object(&a) && !is_object(&b) {
            let is_address = |ty: &Ty| matches!(ty, Ty::Pointer(_) | Ty::Array(..));
            return if is_address(&b) && !is_address(&a) { b } else { a };
        }
        if same_type(&a, &b) == Some(true) {
            return a;
        }
        // One is converted to what the other is, or both to a number.
        let (a, b) = (self.converted_type(a), self.converted_type(b));
        common(&a, &b).map_or(Ty::Unknown(nameless::AUTO.into()), Ty::Scalar)
    }

    /// The type of what the pointer leads to that a class's conversion makes of its objects.
    fn type_behind(&mut self, layout: &Rc<Layout>, span: Span) -> Option<Ty> {
        let function = self.conversion(layout, Wanted::Pointer, span)?.ok()?;
        let ty = self.within_head(&function, Rc::clone(&layout.env), |machine| {
            machine.resolve_type(&function.return_type)
        });
        if let Ty::Pointer(to) = ty { Some((*to).clone()) } else { None }
    }

    /// The type of an operand of an operator of the language: of an object, what its class's only conversion
    /// makes of it.
    fn converted_type(&mut self, ty: Ty) -> Ty {
        let Ty::Record(layout) = &ty else { return ty };
        match self.program.conversions(&layout.name) {
            [only] => {
                let env = Rc::clone(&layout.env);
                self.within_head(&Arc::clone(only), env, |machine| machine.resolve_type(&only.return_type))
            }
            _ => Ty::Unknown(nameless::AUTO.into()),
        }
    }
}

fn is_object(ty: &Ty) -> bool {
    matches!(ty, Ty::Record(_))
}

fn decayed(ty: Ty) -> Ty {
    match ty {
        Ty::Array(element, _) => Ty::Pointer(element),
        other => other,
    }
}

/// The object of which a function with `auto` as its type does nothing but make one from nothing: `return Max{};`.
fn made_by(function: &Function) -> Option<&Expr> {
    let body = function.body.as_ref().filter(|_| matches!(function.return_type, Type::Auto))?;
    let [Stmt { kind: StmtKind::Return(Some(made)), .. }] = body.as_slice() else { return None };
    match &made.kind {
        ExprKind::Construct(_, args) => args.is_empty().then_some(made),
        ExprKind::Call { callee, args } => {
            (args.is_empty() && matches!(callee.kind, ExprKind::Path(_))).then_some(made)
        }
        _ => None,
    }
}
