//! Which of several functions takes its arguments best, by what it may write through them?
//!
//! | candidates | argument | chosen |
//! |---|---|---|
//! | `load(T *)`, `load(const T *)` | `p`, a `const float *` | the second: the first must not write there |
//! | the same | `q`, a `float *` | the first: nothing is added to its type |
//! | `get(Pair &)`, `get(const Pair &)`, `get(Pair &&)` | `pair`, a variable | the first |
//! | the same | `Pair(1, 2)` | the third |
//!
//! Types are known without `const`, so it is asked of the text: of how a variable is declared. Where that does not
//! tell, each of them may be meant.

use super::deduce::strip;
use super::machine::Machine;
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Local, LocalId, Param, Through, Type, print};
use std::sync::Arc;

/// How a parameter takes its argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// By a pointer or lvalue reference by which may be written, or not.
    To(Through),
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
    taken: Taken,
    /// The less the better; none where the text does not tell.
    penalty: Option<u8>,
}

impl Machine<'_> {
    /// Of functions that fit equally well those that C++ would choose, as far as `const` and `&&` tell.
    pub(super) fn by_access(&self, functions: Vec<Arc<Function>>, args: &[Expr]) -> Vec<Arc<Function>> {
        if functions.len() < 2 || !functions.iter().all(|it| differs_in_access(it, &functions[0])) {
            return functions;
        }
        let fits = |function: &Arc<Function>| Some((Arc::clone(function), self.fits(function, args)?));
        let viable: Vec<(Arc<Function>, Vec<Fit>)> = functions.iter().filter_map(fits).collect();
        let beats = |one: &[Fit], other: &[Fit]| {
            one.iter()
                .zip(other)
                .all(|(x, y)| x.taken == y.taken || x.penalty.is_some() && x.penalty <= y.penalty)
                && one.iter().zip(other).any(|(x, y)| x.penalty < y.penalty)
        };
        let is_best = |own: &[Fit]| !viable.iter().any(|(_, other)| beats(other, own));
        let best: Vec<Arc<Function>> =
            viable.iter().filter(|(_, own)| is_best(own)).map(|(function, _)| Arc::clone(function)).collect();
        if best.is_empty() { functions } else { best }
    }

    /// How well each parameter takes its argument; none if one does not.
    fn fits(&self, function: &Function, args: &[Expr]) -> Option<Vec<Fit>> {
        let fit = |(param, arg): (&Param, &Expr)| self.fit_of(taken(function, param), arg, param);
        function.params.iter().zip(args).map(fit).collect()
    }

    fn fit_of(&self, taken: Taken, arg: &Expr, param: &Param) -> Option<Fit> {
        let given = self.argument_kind(arg, matches!(param.ty, Type::Reference(_)));
        let penalty = match (taken, given) {
            (Taken::Plain, _) => Some(0),
            (Taken::Moved, Some(Argument::Place(_))) => return None,
            (Taken::To(Through::Mutable) | Taken::Deduced, Some(Argument::Temporary)) => return None,
            (_, None | Some(Argument::Place(Through::Untold) | Argument::Pointer(Through::Untold))) => None,
            (Taken::To(Through::Const), Some(Argument::Temporary)) => Some(1),
            (_, Some(Argument::Temporary)) => Some(0),
            (_, Some(Argument::Place(through) | Argument::Pointer(through))) => match (taken, through) {
                (Taken::To(Through::Mutable), Through::Const) => return None,
                (Taken::To(Through::Const), Through::Mutable) => Some(1),
                // What says `const` itself is more specialised.
                (Taken::Deduced | Taken::Anything, Through::Const) => Some(1),
                _ => Some(0),
            },
        };
        Some(Fit { taken, penalty })
    }

    fn argument_kind(&self, arg: &Expr, by_reference: bool) -> Option<Argument> {
        match by_reference {
            false => Some(Argument::Pointer(self.leads_through(arg))),
            true => match &arg.kind {
                ExprKind::Local(local) => {
                    let through = self.declared(*local)?.through;
                    Some(Argument::Place(match (self.is_reference(*local)?, self.is_const(*local)?) {
                        (true, _) => through,
                        (false, true) => Through::Const,
                        (false, false) => Through::Mutable,
                    }))
                }
                ExprKind::Path(path) => {
                    let variable = self.program.variable_meant(path, &self.namespace())?;
                    variable.constant.then_some(Argument::Place(Through::Const))
                }
                ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Construct(..) => {
                    Some(Argument::Temporary)
                }
                ExprKind::Binary(_, a, b) if is_number(a) && is_number(b) => Some(Argument::Temporary),
                _ => None,
            },
        }
    }

    /// Whether what a pointer leads to may be written.
    fn leads_through(&self, pointer: &Expr) -> Through {
        match &pointer.kind {
            ExprKind::Local(local) => self.declared(*local).map_or(Through::Untold, |known| known.through),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, pointer, _) => self.leads_through(pointer),
            ExprKind::AddressOf(place) => match &place.kind {
                ExprKind::Index(base, _) => self.leads_through(base),
                _ => Through::Untold,
            },
            _ => Through::Untold,
        }
    }

    /// How a variable is declared.
    fn declared(&self, local: LocalId) -> Option<&Local> {
        self.frame()?.function.locals.get(local.0 as usize)
    }

    /// Whether a variable is `const`, as what a lambda was given by value is. Of those around a lambda that is not
    /// told: another lambda may have been given them.
    fn is_const(&self, local: LocalId) -> Option<bool> {
        let declared = self.declared(local)?.constant;
        match &self.lambdas.current {
            Some(lambda) if lambda.copies.contains(&local) => Some(declared || !lambda.mutable),
            Some(lambda) if !lambda.slots.contains(&local.0) => None,
            _ => Some(declared),
        }
    }

    fn is_reference(&self, local: LocalId) -> Option<bool> {
        Some(self.frame()?.slots.get(local.0 as usize)?.reference)
    }
}

/// Whether an expression is a number and no variable.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) => true,
        ExprKind::Binary(_, a, b) => is_number(a) && is_number(b),
        ExprKind::Unary(_, inner) => is_number(inner),
        _ => false,
    }
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

fn taken(function: &Function, param: &Param) -> Taken {
    let own = |ty: &Type| {
        let Type::Named(path) = ty else { return false };
        path.args.is_none() && function.template_params.iter().any(|it| it.name == path.name)
    };
    match &param.ty {
        Type::Reference(_) | Type::Pointer(_) if param.to_const => Taken::To(Through::Const),
        Type::Reference(inner) if param.moves && own(inner) => Taken::Anything,
        Type::Reference(_) if param.moves => Taken::Moved,
        Type::Reference(inner) | Type::Pointer(inner) if own(inner) => Taken::Deduced,
        Type::Reference(_) | Type::Pointer(_) => Taken::To(Through::Mutable),
        _ => Taken::Plain,
    }
}
