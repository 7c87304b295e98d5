//! Which variable does a place belong to?
//!
//! Data lies in variables and arrays of the function, and is often reached through pointers that
//! lead to nothing else:
//!
//! ```text
//! uint32_t R[8][2];
//! half *p = reinterpret_cast<half *>(&R[j][0]);
//! p[1] = __float2half(x);        // a part of `R`
//! ```
//!
//! Such a pointer *leads* to its variable. It is one that is only ever given addresses in one variable, is changed by
//! nobody else, and whose variable holds no pointers that could be followed further. A place that is not found here
//! belongs to no known variable.

use crate::builtins::types;
use crate::ir::program::Program;
use crate::ir::{BinaryOp, Expr, ExprKind, LocalId, TemplateArg, Type};
use rustc_hash::FxHashMap;

/// A variable that holds its value itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// Its dimensions, if it is an array.
    dimensions: usize,
    /// Whether nothing in its elements points elsewhere.
    plain: bool,
}

/// The variables of a function that are known to hold their values themselves, and the pointers
/// that lead to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    owned: FxHashMap<LocalId, Own>,
    leads: FxHashMap<LocalId, LocalId>,
}

impl Places {
    /// Notes a variable that is neither shared nor a reference.
    pub(super) fn own(&mut self, local: LocalId, ty: &Type, program: &Program) {
        if !matches!(ty, Type::Pointer(_)) {
            self.owned.insert(local, own(ty, program));
        }
    }

    /// Whether a variable may be an object of a class, and is no reference to one.
    pub(super) fn may_be_object(&self, local: LocalId) -> bool {
        self.owned.get(&local).is_some_and(|own| !own.plain)
    }

    /// Notes that a pointer leads to a variable.
    pub(super) fn lead(&mut self, pointer: LocalId, to: LocalId) {
        self.leads.insert(pointer, to);
    }

    /// Whether it is known where a pointer leads.
    pub(super) fn leads(&self, pointer: LocalId) -> bool {
        self.leads.contains_key(&pointer)
    }

    /// The variable of which a place is surely a part.
    pub(super) fn part_of(&self, expr: &Expr) -> Option<LocalId> {
        match &expr.kind {
            ExprKind::Local(local) => Some(*local),
            _ => self.held(expr).map(|(local, _)| local).or_else(|| self.behind(expr)),
        }
    }

    /// The variable that holds a place itself, if that is surely one of the function's.
    pub(super) fn inside(&self, expr: &Expr) -> Option<LocalId> {
        self.held(expr).map(|(local, _)| local).or_else(|| self.behind(expr))
    }

    /// A variable indexed at most as often as it has dimensions; whether an array is left.
    fn held(&self, expr: &Expr) -> Option<(LocalId, bool)> {
        let (local, count) = root(expr)?;
        let own = self.owned.get(&local)?;
        (own.plain || count <= own.dimensions).then_some((local, count < own.dimensions))
    }

    /// The variable of which a place is a part, if it does not lie behind a pointer in it.
    pub(super) fn perhaps_part_of(&self, expr: &Expr) -> Option<LocalId> {
        root(expr).map(|(local, _)| local).filter(|local| self.owned.contains_key(local))
    }

    /// The variable of which an expression is an array, that becomes a pointer when it is used.
    pub(super) fn array(&self, expr: &Expr) -> Option<LocalId> {
        self.held(expr).filter(|(_, array)| *array).map(|(local, _)| local)
    }

    fn behind(&self, expr: &Expr) -> Option<LocalId> {
        match &expr.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.points_to(base),
            ExprKind::Member { base, arrow: true, .. } => self.points_to(base),
            ExprKind::Member { base, arrow: false, .. } => self.behind(base),
            _ => None,
        }
    }

    /// The variable into which a pointer surely leads, and that holds no pointers.
    pub(super) fn points_to(&self, expr: &Expr) -> Option<LocalId> {
        let plain = |local: &LocalId| self.owned.get(local).is_none_or(|own| own.plain);
        match &expr.kind {
            ExprKind::Local(local) if self.leads(*local) => self.leads.get(local).copied(),
            ExprKind::AddressOf(inner) => self.inside(inner).filter(plain),
            ExprKind::Cast(Type::Pointer(pointee), inner) if !is_indirect(pointee) => self.points_to(inner),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, _) => self.points_to(a),
            ExprKind::Conditional(_, a, b) => self.points_to(a).filter(|to| self.points_to(b) == Some(*to)),
            _ => {
                let (local, array) = self.held(expr)?;
                (array && plain(&local)).then_some(local)
            }
        }
    }
}

/// Whether following a pointer to it gives something that can be followed further.
pub(super) fn is_indirect(pointee: &Type) -> bool {
    match pointee {
        Type::Qualified(_, inner) => is_indirect(inner),
        _ => matches!(pointee, Type::Pointer(_) | Type::Reference(_) | Type::Auto | Type::Decltype(_)),
    }
}

/// The variable that a place is (a part of), and how often it is indexed on the way, if no
/// pointer is followed by name.
pub(crate) fn root(expr: &Expr) -> Option<(LocalId, usize)> {
    match &expr.kind {
        ExprKind::Local(local) => Some((*local, 0)),
        ExprKind::Member { base, arrow: false, .. } => root(base),
        ExprKind::Index(base, _) => root(base).map(|(local, count)| (local, count + 1)),
        _ => None,
    }
}

fn own(ty: &Type, program: &Program) -> Own {
    match ty {
        Type::Array(inner, _) => {
            let inner = own(inner, program);
            Own { dimensions: inner.dimensions + 1, ..inner }
        }
        Type::Scalar(_) => Own { dimensions: 0, plain: true },
        Type::Named(path) => Own { dimensions: 0, plain: is_plain(&path.name, program) },
        _ => Own { dimensions: 0, plain: false },
    }
}

/// Whether an object stands for what lies elsewhere: to write to it, or to a member of it, may write there.
pub(super) fn stands_for_others(ty: &Type, program: &Program) -> bool {
    const OPERATORS: [&str; 13] = [
        "operator=",
        "operator+=",
        "operator-=",
        "operator*=",
        "operator/=",
        "operator%=",
        "operator&=",
        "operator|=",
        "operator^=",
        "operator<<=",
        "operator>>=",
        "operator++",
        "operator--",
    ];
    let Type::Named(path) = ty else { return false };
    // `Box<int &>`
    let is_reference = |arg: &TemplateArg| matches!(arg, TemplateArg::Type(Type::Reference(_)));
    let is_given =
        |ty: &Type| matches!(ty, Type::Named(path) if path.args.iter().flatten().any(is_reference));
    if is_given(ty)
        || program.aliases(&path.name).iter().any(|alias| is_given(&alias.ty.clone().unqualified()))
    {
        return true;
    }
    let of_library = |name: &str| name == "atomic_ref";
    let is_alias = |alias: &Type| matches!(alias, Type::Named(path) if of_library(&path.name));
    let assigns = |name: &str| {
        let functions = || OPERATORS.iter().flat_map(|it| program.functions(it));
        functions().any(|function| function.owner.as_deref() == Some(name))
    };
    of_library(&path.name)
        || program.aliases(&path.name).iter().any(|alias| is_alias(&alias.ty.clone().unqualified()))
        || program.records(&path.name).iter().any(|record| {
            let has = |of: fn(&Type) -> bool| record.fields.iter().any(|field| of(&field.ty));
            has(|ty| matches!(ty, Type::Reference(_)))
                || (has(|ty| matches!(ty, Type::Pointer(_))) && assigns(&path.name))
        })
}

/// Types that CUDA defines and that hold numbers alone.
fn is_plain(name: &str, program: &Program) -> bool {
    types::holds_numbers(name) && program.records(name).is_empty() && program.aliases(name).is_empty()
}

/// The variables of the caller that a call of a function that only computes may change; `None` if
/// it may reach anything else.
pub(super) fn given_to(
    name: &str,
    args: &[Expr],
    places: &Places,
    program: &Program,
) -> Option<Vec<LocalId>> {
    let mut given = Vec::new();
    for function in program.functions(name) {
        for (at, arg) in args.iter().enumerate() {
            match function.params.get(at).map(|param| &param.ty)? {
                Type::Pointer(_) => given.push(places.points_to(arg)?),
                Type::Reference(_) => match &arg.kind {
                    ExprKind::Int(..)
                    | ExprKind::Float(..)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Call { .. } => {}
                    _ => given.push(places.inside(arg)?),
                },
                _ => {}
            }
        }
    }
    Some(given)
}
