//! Where does a kernel's text name the elements of a shared array, and may each be given another index?
//!
//! In another layout an element lies elsewhere, and every place that names it has to name it there. So each place
//! has to be a whole element with all its subscripts, and nothing may lead from one element to its neighbours: no
//! address (but the one that an atomic takes), no reference, no row as a pointer.
//!
//! | in the text of `float tile[32][32]` | |
//! |---|---|
//! | `tile[r][c] += x` | an element |
//! | `atomicAdd(&tile[r][c], x)` | an element: an atomic goes nowhere else |
//! | `float *p = tile[r];` | a row: not all its subscripts |
//! | `load4(&tile[r][c])` | an address |
//!
//! What the index is in the new layout may take a subscript twice, or in another order. So it is told which may be
//! evaluated twice, and whether the order matters: `stack[t][top++]` may become `stack[top++][t]`, and
//! `s[i][i++]` nothing.

use super::members::{member_type, of_elements};
use super::pitch::sites::{Part, address, visit};
use super::runs::Subject;
use crate::builtins::{Kind, is_repeatable, kind};
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, LocalId, Type};
use crate::rules::{Element, Elements, Fixed, Form, Member, Subscript};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The elements of the array whose name is declared at `array`.
pub(super) fn elements(subject: &Subject<'_>, array: Span) -> Result<Elements, Fixed> {
    let kernel = subject.kernel;
    let body = kernel.body.as_deref().unwrap_or(&[]);
    let (mut exprs, mut declarations) = (Vec::new(), Vec::new());
    visit(body, &mut |part| match part {
        Part::Expr(expr) => exprs.push(expr),
        Part::Declaration(declaration) => declarations.push(declaration),
    });
    let declared: Option<&&Declaration> = declarations.iter().find(|it| it.name_span == array);
    let declaration = declared.ok_or(Fixed::Declared)?;
    if rank(&declaration.ty) == 0 {
        return Err(Fixed::Whole(array));
    }
    let places = Places { subject, array: declaration.local, rank: rank(&declaration.ty) };
    places.keep_to_elements(&exprs, &declarations)?;
    let mut list: Vec<Element> = exprs.iter().filter_map(|expr| places.element(expr)).collect();
    let of_type = of_elements(&declaration.ty);
    for expr in &exprs {
        let ExprKind::Member { base, name, arrow: false, args: None, class: None } = &expr.kind else {
            continue;
        };
        let element = list.iter_mut().find(|it| it.span == base.span && places.is_element(base));
        if let Some(element) = element {
            let ty = member_type(subject.program, &kernel.namespace, of_type, name);
            element.member = Some(Member { name: name.to_string(), end: expr.span.end, ty });
        }
    }
    list.sort_by_key(|element| element.span);
    let own = subject.program.modules.first().and_then(|module| module.file);
    Ok(Elements { list, scope: kernel.span, is_in_given_file: own == Some(kernel.span.file) })
}

fn rank(ty: &Type) -> usize {
    match ty {
        Type::Array(inner, _) => 1 + rank(inner),
        _ => 0,
    }
}

/// The places where an array is named.
struct Places<'a> {
    subject: &'a Subject<'a>,
    array: LocalId,
    /// How many subscripts an element has.
    rank: usize,
}

impl Places<'_> {
    /// The array's name and the subscripts behind it, outermost first, with where their brackets end.
    fn subscripts<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, Vec<(&'e Expr, u32)>)> {
        let (mut inner, mut found) = (expr, Vec::new());
        while let ExprKind::Index(base, index) = &inner.kind {
            found.push((&**index, inner.span.end));
            inner = base;
        }
        found.reverse();
        matches!(inner.kind, ExprKind::Local(local) if local == self.array).then_some((inner, found))
    }

    fn is_element(&self, expr: &Expr) -> bool {
        self.subscripts(expr).is_some_and(|(_, subscripts)| subscripts.len() == self.rank)
    }

    /// Whether it is an element or a part of one.
    fn lies_in_element(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Member { base, arrow: false, .. } => self.lies_in_element(base),
            ExprKind::Index(base, _) => self.is_element(expr) || self.lies_in_element(base),
            ExprKind::Conditional(_, a, b) => self.lies_in_element(a) || self.lies_in_element(b),
            ExprKind::Comma(_, last) => self.lies_in_element(last),
            _ => false,
        }
    }

    fn keep_to_elements(&self, exprs: &[&Expr], declarations: &[&Declaration]) -> Result<(), Fixed> {
        // What is the base of a subscript is no place by itself.
        let mut inside: FxHashSet<usize> = FxHashSet::default();
        let mut of_atomics: FxHashSet<usize> = FxHashSet::default();
        for expr in exprs {
            match &expr.kind {
                ExprKind::AddressOf(inner)
                    if self.lies_in_element(inner) && !of_atomics.contains(&address(expr)) =>
                {
                    return Err(Fixed::Address(expr.span));
                }
                ExprKind::Cast(Type::Reference(_), inner) if self.lies_in_element(inner) => {
                    return Err(Fixed::Address(expr.span));
                }
                ExprKind::Call { callee, args } => {
                    let is_atomic = matches!(&callee.kind, ExprKind::Path(path)
                        if path.qualifiers.is_empty() && kind(&path.name) == Some(Kind::Atomic)
                            && self.subject.program.functions(&path.name).is_empty());
                    let first = args.first().filter(|_| is_atomic);
                    of_atomics.extend(first.filter(|first| self.is_address_of_element(first)).map(address));
                    self.keep_by_value(expr.span, callee, args)?;
                }
                _ => {}
            }
            if inside.contains(&address(expr)) {
                if let ExprKind::Index(base, _) = &expr.kind {
                    inside.insert(address(base));
                }
                continue;
            }
            if let Some((_, subscripts)) = self.subscripts(expr) {
                if subscripts.len() != self.rank {
                    return Err(Fixed::Whole(expr.span));
                }
                if let ExprKind::Index(base, _) = &expr.kind {
                    inside.insert(address(base));
                }
            }
        }
        let referred = declarations.iter().find(|it| {
            matches!(it.ty, Type::Reference(_))
                && it.init.as_ref().is_some_and(|init| self.lies_in_element(init))
        });
        referred.map_or(Ok(()), |it| Err(Fixed::Address(it.name_span)))
    }

    fn is_address_of_element(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::AddressOf(inner) if self.lies_in_element(inner))
    }

    /// Whether a call is handed elements by value only, as far as can be seen.
    fn keep_by_value(&self, span: Span, callee: &Expr, args: &[Expr]) -> Result<(), Fixed> {
        let handed: Vec<usize> =
            args.iter().enumerate().filter(|(_, arg)| self.lies_in_element(arg)).map(|(at, _)| at).collect();
        let by_value = match &callee.kind {
            ExprKind::Member { base, .. } if self.lies_in_element(base) => false,
            _ if handed.is_empty() => true,
            ExprKind::Path(path) => {
                let functions = self.subject.program.functions(&path.name);
                let takes_value = |at: usize| {
                    functions.iter().all(|function| {
                        let ty = function.params.get(at).map(|param| &param.ty);
                        ty.is_some_and(|ty| !matches!(ty, Type::Reference(_) | Type::Auto | Type::Opaque))
                    })
                };
                // CUDA's own take values, but for those that swap them.
                let own = functions.is_empty() && kind(&path.name).is_some_and(|kind| kind != Kind::Swap);
                own || (!functions.is_empty() && handed.into_iter().all(takes_value))
            }
            _ => false,
        };
        if by_value { Ok(()) } else { Err(Fixed::Handed(span)) }
    }

    fn element(&self, expr: &Expr) -> Option<Element> {
        let (name, subscripts) = self.subscripts(expr).filter(|(_, them)| them.len() == self.rank)?;
        let in_order = subscripts.iter().any(|(index, _)| {
            let changed = self.changed(index);
            let others = subscripts.iter().filter(|(other, _)| !std::ptr::eq(*other, *index));
            let named = |(other, _): &(&Expr, u32)| match &changed {
                Changed::These(locals) => {
                    names(other, &|kind| matches!(kind, ExprKind::Local(it) if locals.contains(it)))
                }
                Changed::Anything => true,
            };
            others.into_iter().any(named)
        });
        let subscript = |(index, end): (&Expr, u32)| Subscript {
            end,
            form: form(index),
            is_repeatable: self.is_repeatable(index),
        };
        let subscripts = subscripts.into_iter().map(subscript).collect();
        Some(Element { span: expr.span, name: name.span, subscripts, in_order, member: None })
    }

    fn changed(&self, expr: &Expr) -> Changed {
        let mut locals = Vec::new();
        if self.collect_changed(expr, &mut locals) { Changed::These(locals) } else { Changed::Anything }
    }

    /// Adds the variables that an expression changes; whether they are all that it changes.
    fn collect_changed(&self, expr: &Expr, locals: &mut Vec<LocalId>) -> bool {
        let mut known = match &expr.kind {
            ExprKind::Step { target, .. } | ExprKind::Assign(_, target, _) => match target.kind {
                ExprKind::Local(local) => {
                    locals.push(local);
                    true
                }
                _ => false,
            },
            _ => self.is_calm(expr),
        };
        children(expr, &mut |child| known &= self.collect_changed(child, locals));
        known
    }

    /// Whether an expression by itself, without those in it, does nothing but compute.
    fn is_calm(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(..)
            | ExprKind::Local(_)
            | ExprKind::Path(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Index(..)
            | ExprKind::Member { .. }
            | ExprKind::SizeofType(_) => true,
            ExprKind::Cast(ty, _) => matches!(ty, Type::Scalar(scalar) if scalar.is_integer()),
            ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Path(path)
                if is_repeatable(&path.name) && self.subject.program.functions(&path.name).is_empty()),
            _ => false,
        }
    }

    /// Whether an expression gives the same when it is evaluated twice, and does nothing else. What is read from
    /// an array may have been written in between.
    fn is_repeatable(&self, expr: &Expr) -> bool {
        let mut all = self.is_calm(expr) && !matches!(expr.kind, ExprKind::Index(..));
        children(expr, &mut |child| all &= self.is_repeatable(child));
        all
    }
}

/// What an expression changes.
enum Changed {
    These(Vec<LocalId>),
    Anything,
}

fn names(expr: &Expr, holds: &dyn Fn(&ExprKind) -> bool) -> bool {
    let mut found = holds(&expr.kind);
    children(expr, &mut |child| found |= names(child, holds));
    found
}

fn form(expr: &Expr) -> Form {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Local(_) | ExprKind::Path(_) | ExprKind::Member { .. } => Form::Whole,
        ExprKind::Binary(
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem,
            ..,
        ) => Form::Sum,
        _ => Form::Loose,
    }
}
