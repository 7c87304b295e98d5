//! Which of several functions takes its arguments best, by what it may write through them?
//!
//! | candidates | argument | chosen |
//! |---|---|---|
//! | `load(T *)`, `load(const T *)` | `p`, a `const float *` | the second: the first must not write there |
//! | the same | `q`, a `float *` | the first: nothing is added to its type |
//! | `get(Pair &)`, `get(const Pair &)`, `get(Pair &&)` | `pair`, a variable | the first |
//! | the same | `Pair(1, 2)` | the third |
//! | `sum(volatile float *)`, `sum(float *)` | `q` | the second |
//! | `f(T)`, `f(const U *)` | `q` | the first, though the second is more specialised |
//! | the same | `p` | the second |
//!
//! Types are known without `const`, so it is asked of the text: of how a variable is declared. Where that does not
//! tell, each of them may be meant.

use super::deduce::{NO_FIT, decayed, instance_fit, is_named, perhaps_const, strip};
use super::machine::Machine;
use super::same_type::same_type;
use super::types::{Layout, Ty};
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Local, LocalId, Param, Path, Through, Type, print};
use std::sync::Arc;

/// How a parameter takes its argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// By a pointer or lvalue reference by which may be written.
    ToMutable,
    /// By one to something `const`.
    ToConst,
    /// By one to something `volatile`.
    ToVolatile,
    /// By a pointer or lvalue reference to a type that it is told by the argument, with its `const`.
    Deduced,
    /// By `&&`.
    Moved,
    /// By a reference to whatever it is.
    Anything,
    /// Some other way, in which `const` makes no difference.
    Plain,
}

/// What an argument is.
#[derive(Clone, Copy)]
enum Argument {
    /// A place that has a name, and whether it may be written.
    Place(Through),
    /// A value that nothing names.
    Temporary,
    /// A pointer, and whether what it leads to may be written.
    Pointer(Through),
}

/// How well a parameter takes an argument.
struct Fit {
    by_reference: bool,
    taken: Taken,
    /// Whether it adds `const` to the argument, or binds a temporary as if it were a place; none where the text does
    /// not tell.
    is_worse: Option<bool>,
    /// Whether another that says `const` itself is more specialised.
    is_general: bool,
}

impl Machine<'_> {
    /// Without functions that do not take the arguments, and those that take what they are given as it is, but worse
    /// than others that do; and those of which it is not told whether others are worse.
    pub(super) fn without_worse(
        &mut self,
        candidates: Vec<Arc<Function>>,
        types: &[Ty],
        args: &[Expr],
    ) -> (Vec<Arc<Function>>, Vec<Arc<Function>>) {
        if take_alike(&candidates) {
            return (candidates, Vec::new());
        }
        let mut viable = Vec::new();
        for function in &candidates {
            if let Some(fits) = self.fits(function, args) {
                viable.push((Arc::clone(function), self.is_exact(function, types), fits));
            }
        }
        let exact = || viable.iter().filter(|(_, is_exact, _)| *is_exact);
        let kept = viable.iter().filter(|(_, is_exact, own)| {
            !is_exact || !exact().any(|(.., other)| beats(other, own, &|fit| Some(u8::from(fit.is_worse?))))
        });
        let kept: Vec<Arc<Function>> = kept.map(|(function, ..)| Arc::clone(function)).collect();
        let open = exact().filter(|(function, _, own)| {
            let is_kept = kept.iter().any(|it| Arc::ptr_eq(it, function));
            is_kept && exact().any(|(.., other)| may_beat(own, other))
        });
        let open = open.map(|(function, ..)| Arc::clone(function)).collect();
        (if kept.is_empty() { candidates } else { kept }, open)
    }

    /// Of functions that fit equally well those that C++ would choose, as far as `const` and `&&` tell.
    pub(super) fn by_access(&mut self, functions: Vec<Arc<Function>>, args: &[Expr]) -> Vec<Arc<Function>> {
        if functions.len() < 2 || !functions.iter().all(|it| differs_in_access(it, &functions[0])) {
            return functions;
        }
        let viable: Vec<(&Arc<Function>, Vec<Fit>)> =
            functions.iter().filter_map(|function| Some((function, self.fits(function, args)?))).collect();
        let penalty = |fit: &Fit| Some(2 * u8::from(fit.is_worse?) + u8::from(fit.is_general));
        let is_best = |own: &[Fit]| !viable.iter().any(|(_, other)| beats(other, own, &penalty));
        let best: Vec<Arc<Function>> =
            viable.iter().filter(|(_, own)| is_best(own)).map(|(function, _)| Arc::clone(function)).collect();
        if best.is_empty() { functions } else { best }
    }

    /// How well each parameter takes its argument; none if one does not.
    fn fits(&mut self, function: &Function, args: &[Expr]) -> Option<Vec<Fit>> {
        let params = function.params.iter().zip(args).take_while(|(param, _)| !param.pack);
        params
            .map(|(param, arg)| {
                let by_reference = matches!(param.ty, Type::Reference(_));
                fit_of(by_reference, taken(function, param), self.argument_kind(arg, by_reference))
            })
            .collect()
    }

    /// Whether each parameter has the very type of its argument, but for `const` and references.
    fn is_exact(&mut self, function: &Arc<Function>, types: &[Ty]) -> bool {
        let is_whole =
            function.params.len() == types.len() && function.params.iter().all(|param| !param.pack);
        is_whole
            && function.params.iter().zip(types).all(|(param, ty)| self.has_type(function, &param.ty, ty))
    }

    fn has_type(&mut self, function: &Arc<Function>, pattern: &Type, ty: &Ty) -> bool {
        match (strip(pattern), ty) {
            (_, Ty::Unknown(_)) => false,
            (pattern, _) if is_own(function, pattern) => true,
            (Type::Pointer(inner), Ty::Pointer(to) | Ty::Array(to, _)) => self.has_type(function, inner, to),
            (Type::Pointer(_), _) => false,
            (Type::Named(path), Ty::Record(layout)) if path.args.is_some() => {
                is_named(self.program, layout, path, &function.namespace)
                    && instance_fit(self, function, path, layout) != Some(NO_FIT)
            }
            (pattern, ty) => {
                let env = self.env();
                let told = self.within(env, &function.namespace, |machine| machine.resolve_type(pattern));
                let ty = decayed(ty);
                told == ty && same_type(&told, &ty) != Some(false)
            }
        }
    }

    fn argument_kind(&mut self, arg: &Expr, by_reference: bool) -> Option<Argument> {
        if !by_reference {
            return Some(Argument::Pointer(self.leads_through(arg)));
        }
        match &arg.kind {
            ExprKind::Local(local) => {
                self.is_reference(*local)?;
                Some(Argument::Place(self.place_through(arg)))
            }
            ExprKind::Path(path) => {
                let variable = self.program.variable_meant(path, &self.namespace())?;
                variable.constant.then_some(Argument::Place(Through::Const))
            }
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Construct(..) => Some(Argument::Temporary),
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => self.makes_temporary(path, args).then_some(Argument::Temporary),
                _ => None,
            },
            ExprKind::Cast(Type::Scalar(_), _) => Some(Argument::Temporary),
            ExprKind::Binary(_, a, b)
                if [a, b].iter().all(|side| matches!(self.type_of(side), Ty::Scalar(_))) =>
            {
                Some(Argument::Temporary)
            }
            _ => None,
        }
    }

    /// Whether a call makes an object or number, rather than handing back where one lies.
    fn makes_temporary(&mut self, path: &Path, args: &[Expr]) -> bool {
        // The run gets no further by it.
        let steps = self.steps;
        let functions = self.choose_functions(path, args);
        let makes = match functions.is_empty() {
            true => !matches!(self.resolve_named_type(path), Ty::Unknown(_)),
            false => functions.iter().all(|it| matches!(it.return_type, Type::Named(_) | Type::Scalar(_))),
        };
        self.steps = steps;
        makes
    }

    /// Whether what a pointer leads to may be written.
    pub(super) fn leads_through(&mut self, pointer: &Expr) -> Through {
        match &pointer.kind {
            // What is told of a reference is told of the pointer that it leads to, not of what that leads to.
            ExprKind::Local(local)
                if self.is_reference(*local) == Some(true)
                    && !matches!(self.type_of(pointer), Ty::Array(..)) =>
            {
                Through::Untold
            }
            ExprKind::Local(local) => self.through(*local),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, pointer, _) => self.leads_through(pointer),
            ExprKind::AddressOf(place) => match &place.kind {
                ExprKind::Index(base, _) => self.leads_through(base),
                ExprKind::Local(local) if self.is_reference(*local) == Some(false) => {
                    self.through_itself(*local)
                }
                _ => self.place_through(place),
            },
            _ => Through::Untold,
        }
    }

    /// Whether a place may be written, as far as the declarations on the way to it tell.
    pub(super) fn place_through(&mut self, place: &Expr) -> Through {
        // The run gets no further by it.
        let steps = self.steps;
        let through = self.place_told(place);
        self.steps = steps;
        through
    }

    fn place_told(&mut self, place: &Expr) -> Through {
        match &place.kind {
            ExprKind::Local(local) => match self.is_reference(*local) {
                Some(true) => self.through(*local),
                Some(false) => self.through_itself(*local),
                None => Through::Untold,
            },
            ExprKind::Member { base, name, arrow, .. } => {
                let object = if *arrow { self.leads_through(base) } else { self.place_through(base) };
                match self.type_of(base) {
                    _ if object != Through::Const => Through::Untold,
                    Ty::Record(layout) => fixed_with(&layout, name),
                    Ty::Pointer(to) => match &*to {
                        Ty::Record(layout) => fixed_with(layout, name),
                        _ => Through::Untold,
                    },
                    _ => Through::Untold,
                }
            }
            ExprKind::Index(base, _) => match self.type_of(base) {
                Ty::Array(..) => self.place_through(base),
                Ty::Pointer(_) => self.leads_through(base),
                _ => Through::Untold,
            },
            ExprKind::Deref(pointer) => match self.type_of(pointer) {
                Ty::Pointer(_) => self.leads_through(pointer),
                _ => Through::Untold,
            },
            _ => Through::Untold,
        }
    }

    /// Whether a variable may be written.
    fn through_itself(&mut self, local: LocalId) -> Through {
        match self.is_const(local) {
            Some(true) => Through::Const,
            Some(false) => Through::Mutable,
            None => Through::Untold,
        }
    }

    /// Whether what a pointer, reference or array leads to may be written by way of it.
    fn through(&mut self, local: LocalId) -> Through {
        let told = self.declared(local).map_or(Through::Untold, |known| known.through);
        if told != Through::Untold {
            return told;
        }
        let Some(Type::Pointer(to) | Type::Reference(to)) = self.declared_type(local) else { return told };
        let Type::Named(path) = &**to else { return told };
        let ty = Type::Named(path.clone());
        let name = perhaps_const(&path.name);
        if self.frame().is_none_or(|frame| frame.env.bindings.contains_key(&name)) {
            return told;
        }
        match self.resolve_argument(&ty) {
            Ty::Unknown(_) => Through::Untold,
            Ty::Qualified(qualifiers, _) if qualifiers.constant => Through::Const,
            _ => Through::Mutable,
        }
    }

    /// How a variable is declared.
    fn declared(&self, local: LocalId) -> Option<&Local> {
        self.frame()?.function.locals.get(local.0 as usize)
    }

    /// Whether a variable is `const`: as it is declared, by way of its type, or as what a lambda was given by value
    /// is. Of those around a lambda that is not told: another lambda may have been given them.
    fn is_const(&mut self, local: LocalId) -> Option<bool> {
        match &self.lambdas.current {
            Some(lambda) if lambda.copies.contains(&local) && !lambda.mutable => return Some(true),
            // It is as `const` as what it is a copy of, and that is not looked for.
            Some(lambda) if lambda.copies.contains(&local) => return None,
            Some(lambda) if !lambda.slots.contains(&local.0) => return None,
            _ if self.declared(local)?.constant => return Some(true),
            _ => {}
        }
        match self.declared_type(local)?.clone() {
            ty @ (Type::Named(_) | Type::Decltype(_)) => match self.resolve_argument(&ty) {
                Ty::Unknown(_) => None,
                Ty::Qualified(qualifiers, _) => Some(qualifiers.constant),
                _ => Some(false),
            },
            Type::Opaque => None,
            _ => Some(false),
        }
    }

    fn is_reference(&self, local: LocalId) -> Option<bool> {
        Some(self.frame()?.slots.get(local.0 as usize)?.reference)
    }
}

/// Whether a member of a `const` object may be written.
fn fixed_with(layout: &Layout, member: &str) -> Through {
    match layout.field(member) {
        Some(field) if !field.reference && !field.mutable => Through::Const,
        _ => Through::Untold,
    }
}

/// How well a parameter takes an argument; none if it does not.
fn fit_of(by_reference: bool, taken: Taken, given: Option<Argument>) -> Option<Fit> {
    let through = match given {
        Some(Argument::Place(through) | Argument::Pointer(through)) => through,
        _ => Through::Untold,
    };
    let is_worse = match (taken, given) {
        (Taken::Plain, _) => Some(false),
        (Taken::Moved, Some(Argument::Place(_))) => return None,
        (Taken::ToMutable | Taken::Deduced, Some(Argument::Temporary)) if by_reference => return None,
        (Taken::ToVolatile, Some(Argument::Temporary)) if by_reference => return None,
        (taken, Some(Argument::Temporary)) => Some(taken == Taken::ToConst),
        _ => match (taken, through) {
            (_, Through::Untold) => None,
            (Taken::ToMutable, Through::Const) => return None,
            (Taken::ToConst, Through::Mutable) | (Taken::ToVolatile, _) => Some(true),
            _ => Some(false),
        },
    };
    let is_general = matches!(taken, Taken::Deduced | Taken::Anything) && through == Through::Const;
    Some(Fit { by_reference, taken, is_worse, is_general })
}

/// The parameters of two functions that can be held against each other: a reference and a copy are as good.
fn compared<'f>(one: &'f [Fit], other: &'f [Fit]) -> impl Iterator<Item = (&'f Fit, &'f Fit)> + Clone {
    one.iter().zip(other).filter(|(x, y)| x.by_reference == y.by_reference && x.taken != y.taken)
}

/// Whether one function takes each argument at least as well as another, and one of them better.
fn beats(one: &[Fit], other: &[Fit], penalty: &dyn Fn(&Fit) -> Option<u8>) -> bool {
    let pairs = compared(one, other).map(|(x, y)| (penalty(x), penalty(y)));
    pairs.clone().all(|(x, y)| x.is_some() && x <= y) && pairs.clone().any(|(x, y)| x < y)
}

/// Whether one function may take an argument better than another, and none worse.
fn may_beat(one: &[Fit], other: &[Fit]) -> bool {
    let pairs = compared(one, other).map(|(x, y)| (x.is_worse, y.is_worse));
    pairs.clone().all(|(x, y)| x.is_none() || y.is_none() || x <= y)
        && pairs.clone().any(|(x, y)| x.is_none() || y.is_none())
}

/// Whether all functions take their arguments in the same ways, so that none is better by those.
fn take_alike(functions: &[Arc<Function>]) -> bool {
    let ways = |function: &Arc<Function>, at: usize| {
        let param = function.params.get(at).filter(|param| !param.pack)?;
        Some((matches!(param.ty, Type::Reference(_)), taken(function, param)))
    };
    let Some((first, rest)) = functions.split_first() else { return true };
    let count = functions.iter().map(|function| function.params.len()).max().unwrap_or(0);
    (0..count).all(|at| {
        let way = ways(first, at);
        rest.iter().all(|function| ways(function, at) == way)
    })
}

/// Whether two functions take the same types, but for `const` and references.
fn differs_in_access(a: &Function, b: &Function) -> bool {
    let bare = |ty: &Type| print::ty(strip(ty));
    let is_reference = |param: &Param| matches!(param.ty, Type::Reference(_));
    a.params.len() == b.params.len()
        && a.params
            .iter()
            .zip(&b.params)
            .all(|(x, y)| is_reference(x) == is_reference(y) && bare(&x.ty) == bare(&y.ty))
}

/// Whether a type is a parameter of the function's own template.
fn is_own(function: &Function, ty: &Type) -> bool {
    let Type::Named(path) = ty else { return false };
    path.args.is_none() && function.template_params.iter().any(|it| it.name == path.name)
}

fn taken(function: &Function, param: &Param) -> Taken {
    let own = |ty: &Type| is_own(function, ty);
    match &param.ty {
        Type::Reference(_) | Type::Pointer(_) if param.to_volatile => Taken::ToVolatile,
        Type::Reference(_) | Type::Pointer(_) if param.to_const => Taken::ToConst,
        Type::Reference(inner) if param.moves && own(inner) => Taken::Anything,
        Type::Reference(_) if param.moves => Taken::Moved,
        Type::Reference(inner) | Type::Pointer(inner) if own(inner) => Taken::Deduced,
        Type::Reference(_) | Type::Pointer(_) => Taken::ToMutable,
        _ => Taken::Plain,
    }
}
