//! Which expressions may give the distance between an array's rows?
//!
//! Found in the program alone, by where they stand: a factor of a product that is (a term of) an
//! index of the array or of what is added to a pointer into it, directly or by way of a variable that
//! is used for nothing else, and the leading dimensions of `wmma` calls that are given such a pointer.
//! What they are worth and whether they are all of them is not asked here.

use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Function, LocalId, Stmt, StmtKind, Type};
use crate::rules::{PitchSite, Shifted};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// A product: its factors, and the products in each of them.
#[derive(Debug, Default)]
pub struct Product<'p> {
    /// The factors, in order.
    pub factors: Vec<Factor<'p>>,
    /// Whether it is the leading dimension given to a call.
    pub argument: bool,
}

impl Product<'_> {
    /// How many of its factors are this variable, at any depth.
    fn names(&self, local: LocalId) -> usize {
        let of = |factor: &Factor<'_>| {
            let own = matches!(factor.expr.kind, ExprKind::Local(it) if it == local);
            usize::from(own) + factor.inner.iter().map(|product| product.names(local)).sum::<usize>()
        };
        self.factors.iter().map(of).sum()
    }
}

/// A factor of a product.
#[derive(Debug)]
pub struct Factor<'p> {
    /// The factor; of a shift the number of bits.
    pub expr: &'p Expr,
    /// What is shifted by it.
    pub shifted: Option<&'p Expr>,
    /// The products in it.
    pub inner: Vec<Product<'p>>,
}

impl<'p> Factor<'p> {
    fn of(expr: &'p Expr) -> Factor<'p> {
        Factor { expr, shifted: None, inner: Vec::new() }
    }

    /// Where it is written.
    #[must_use]
    pub fn site(&self) -> PitchSite {
        let loose = |expr: &Expr| match &expr.kind {
            ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem),
            ExprKind::Conditional(..) | ExprKind::Assign(..) | ExprKind::Comma(..) => true,
            _ => false,
        };
        let shifted = self.shifted.map(|expr| Shifted { span: expr.span, is_loose: loose(expr) });
        PitchSite { span: self.expr.span, shifted }
    }
}

/// What a function's text says of an array that it declares.
#[derive(Debug)]
pub struct Sites<'p> {
    /// Its declaration.
    pub declaration: &'p Declaration,
    /// The products in its indices.
    pub products: Vec<Product<'p>>,
    /// The product that is its innermost dimension.
    pub length: Option<Product<'p>>,
    /// Whether it is never used but by an element, whose address is not taken.
    pub plain: bool,
}

impl<'p> Sites<'p> {
    /// Those of the array whose name is declared at `name`, if the function declares it.
    #[must_use]
    pub fn of(function: &'p Function, name: Span) -> Option<Sites<'p>> {
        let body = function.body.as_deref()?;
        let mut finder = Finder::default();
        visit(body, &mut |part| finder.note(part));
        let declaration = *finder.declarations.iter().find(|it| it.name_span == name)?;
        finder.find_pointers(declaration.local);
        let (mut terms, mut of_variables) = (Vec::new(), FxHashMap::default());
        for expr in &finder.exprs {
            finder.uses(expr, &mut terms, &mut of_variables);
        }
        for declared in &finder.declarations {
            if let (Some(init), false) = (&declared.init, finder.pointers.contains(&declared.local)) {
                terms_of(init, of_variables.entry(declared.local).or_default());
            }
        }
        let pure = finder.pure(&terms, &of_variables);
        let mut products = terms;
        for (local, terms) in of_variables {
            if pure.contains(&local) {
                products.extend(terms);
            }
        }
        // By where they stand, whatever the order of a map is.
        let mut products: Vec<Product<'p>> = products.into_iter().filter_map(Term::product).collect();
        products.sort_by_key(|product| product.factors.first().map(|factor| factor.expr.span));
        let plain = finder.is_plain(declaration);
        Some(Sites { declaration, products, length: length(&declaration.ty).map(product_of), plain })
    }
}

/// The expression of an array's innermost dimension.
fn length(ty: &Type) -> Option<&Expr> {
    match ty {
        Type::Array(inner, length) if !matches!(**inner, Type::Array(..)) => length.as_deref(),
        Type::Array(inner, _) => length(inner),
        _ => None,
    }
}

/// A part of a body.
pub enum Part<'p> {
    /// An expression, at any depth.
    Expr(&'p Expr),
    /// A variable's declaration.
    Declaration(&'p Declaration),
}

/// Visits the declarations and expressions of statements, those in lambdas too.
pub fn visit<'p>(body: &'p [Stmt], found: &mut dyn FnMut(Part<'p>)) {
    for stmt in body {
        if let StmtKind::Declare(list) = &stmt.kind {
            list.iter().for_each(|declaration| found(Part::Declaration(declaration)));
        }
        let mut exprs = Vec::new();
        own_exprs(stmt, &mut |expr| exprs.push(expr));
        exprs.into_iter().for_each(|expr| visit_expr(expr, found));
        let mut inner = Vec::new();
        own_stmts(stmt, &mut |stmt| inner.push(stmt));
        inner.into_iter().for_each(|stmt| visit(std::slice::from_ref(stmt), found));
    }
}

fn visit_expr<'p>(expr: &'p Expr, found: &mut dyn FnMut(Part<'p>)) {
    found(Part::Expr(expr));
    if let ExprKind::Lambda(lambda) = &expr.kind {
        visit(&lambda.body, found);
    }
    let mut inner = Vec::new();
    children(expr, &mut |child| inner.push(child));
    inner.into_iter().for_each(|child| visit_expr(child, found));
}

/// Where a function's text names its variables, each by its slot.
#[must_use]
pub fn mentions(function: &Function) -> FxHashMap<LocalId, Vec<Span>> {
    let mut found: FxHashMap<LocalId, Vec<Span>> = FxHashMap::default();
    let mut targets: FxHashSet<usize> = FxHashSet::default();
    visit(function.body.as_deref().unwrap_or(&[]), &mut |part| {
        let Part::Expr(expr) = part else { return };
        match &expr.kind {
            ExprKind::Local(local) if !targets.contains(&address(expr)) => {
                found.entry(*local).or_default().push(expr.span);
            }
            // What is assigned is not read.
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => {
                targets.insert(address(target));
            }
            _ => {}
        }
    });
    found
}

/// Whether an expression is the text under its span and nothing else comes from there, as the parts of
/// a macro's body would.
#[must_use]
pub fn is_written_out(function: &Function, site: &Expr) -> bool {
    fn count(expr: &Expr, span: Span) -> usize {
        let mut all = usize::from(expr.span == span);
        children(expr, &mut |child| all += count(child, span));
        all
    }
    let mut everywhere = 0;
    visit(function.body.as_deref().unwrap_or(&[]), &mut |part| match part {
        Part::Expr(expr) => everywhere += usize::from(expr.span == site.span),
        Part::Declaration(declaration) => {
            if let Some(length) = length(&declaration.ty) {
                visit_expr(length, &mut |part| {
                    everywhere += usize::from(matches!(part, Part::Expr(expr) if expr.span == site.span));
                });
            }
        }
    });
    everywhere == count(site, site.span)
}

/// The address by which a run knows an expression.
#[must_use]
pub fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// A term of an index.
enum Term<'p> {
    Product(Product<'p>),
    /// A variable.
    Local(LocalId),
}

impl<'p> Term<'p> {
    fn product(self) -> Option<Product<'p>> {
        match self {
            Term::Product(product) => Some(product),
            Term::Local(_) => None,
        }
    }
}

#[derive(Default)]
struct Finder<'p> {
    exprs: Vec<&'p Expr>,
    declarations: Vec<&'p Declaration>,
    /// The array and pointers into it.
    pointers: FxHashSet<LocalId>,
}

impl<'p> Finder<'p> {
    fn note(&mut self, part: Part<'p>) {
        match part {
            Part::Expr(expr) => self.exprs.push(expr),
            Part::Declaration(declaration) => self.declarations.push(declaration),
        }
    }

    /// Finds the variables that are made from the array's address.
    fn find_pointers(&mut self, array: LocalId) {
        self.pointers.insert(array);
        loop {
            let before = self.pointers.len();
            let declared = self.declarations.iter().filter_map(|it| {
                let addresses = matches!(
                    it.ty,
                    Type::Pointer(_) | Type::Auto | Type::Reference(_) | Type::Scalar(_) | Type::Named(_)
                );
                let init = it.init.as_ref().filter(|_| addresses)?;
                self.leads_in(init).then_some(it.local)
            });
            let assigned = self.exprs.iter().filter_map(|expr| match &expr.kind {
                ExprKind::Assign(None, target, value) => match target.kind {
                    ExprKind::Local(local) if self.leads_in(value) => Some(local),
                    _ => None,
                },
                _ => None,
            });
            let found: Vec<LocalId> = declared.chain(assigned).collect();
            self.pointers.extend(found);
            if self.pointers.len() == before {
                return;
            }
        }
    }

    /// Whether an expression is an address in the array.
    fn leads_in(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(local) => self.pointers.contains(local),
            ExprKind::AddressOf(inner) => self.names(inner),
            ExprKind::Cast(Type::Pointer(_) | Type::Scalar(_) | Type::Named(_), inner) => {
                self.leads_in(inner)
            }
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => self.leads_in(a) || self.leads_in(b),
            ExprKind::Construct(_, args) => matches!(args.as_slice(), [one] if self.leads_in(one)),
            ExprKind::Call { callee, args } => {
                matches!(&callee.kind, ExprKind::Path(path) if &*path.name == "__cvta_generic_to_shared")
                    && args.iter().any(|arg| self.leads_in(arg))
            }
            // A row.
            ExprKind::Index(base, _) => self.is_row(base, 1),
            _ => false,
        }
    }

    /// Whether `base` with `more` subscripts is a row of the array, not an element.
    fn is_row(&self, base: &Expr, more: usize) -> bool {
        match &base.kind {
            ExprKind::Index(inner, _) => self.is_row(inner, more + 1),
            ExprKind::Local(local) => self
                .declarations
                .iter()
                .any(|it| it.local == *local && self.pointers.contains(local) && rank(&it.ty) > more),
            _ => false,
        }
    }

    /// Whether an lvalue lies in the array.
    fn names(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Index(base, _) => self.names(base) || self.leads_in(base),
            ExprKind::Deref(inner) => self.leads_in(inner),
            ExprKind::Local(local) => self.pointers.contains(local),
            _ => false,
        }
    }

    /// Adds what an expression adds to an address in the array, and what the variables are made of.
    fn uses(
        &self,
        expr: &'p Expr,
        terms: &mut Vec<Term<'p>>,
        of_variables: &mut FxHashMap<LocalId, Vec<Term<'p>>>,
    ) {
        match &expr.kind {
            // A subscript that gives a row counts rows.
            ExprKind::Index(base, _) if self.is_row(base, 1) => {}
            ExprKind::Index(base, index) if self.names(base) || self.leads_in(base) => terms_of(index, terms),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                match (self.leads_in(a), self.leads_in(b)) {
                    (true, false) => terms_of(b, terms),
                    (false, true) => terms_of(a, terms),
                    _ => {}
                }
            }
            ExprKind::Assign(op, target, value) => {
                let ExprKind::Local(local) = target.kind else { return };
                let sum = matches!(op, None | Some(BinaryOp::Add | BinaryOp::Sub));
                match self.pointers.contains(&local) {
                    true if op.is_some() => terms_of(value, terms),
                    true => {}
                    false if sum => terms_of(value, of_variables.entry(local).or_default()),
                    false => {}
                }
            }
            // Any other argument may be a value that has nothing to do with rows.
            ExprKind::Call { callee, args } if takes_leading_dimension(callee) => {
                if let [first, second, leading, ..] = args.as_slice()
                    && (self.leads_in(first) || self.leads_in(second))
                {
                    let factors = vec![Factor::of(leading)];
                    terms.push(Term::Product(Product { factors, argument: true }));
                }
            }
            _ => {}
        }
    }

    /// The variables that are used for nothing but addresses in the array.
    fn pure(
        &self,
        terms: &[Term<'p>],
        of_variables: &FxHashMap<LocalId, Vec<Term<'p>>>,
    ) -> FxHashSet<LocalId> {
        // A variable that is a product may be a factor: `stage * plane`, with `plane = rows * 32`.
        let is_product = |local: LocalId| {
            let terms = of_variables.get(&local).map_or(&[][..], Vec::as_slice);
            matches!(terms, [Term::Product(product)] if product.factors.len() > 1)
        };
        let named = |terms: &[Term<'p>], local: LocalId| {
            let of = |term: &Term<'p>| match term {
                Term::Local(it) => usize::from(*it == local),
                Term::Product(product) if is_product(local) => product.names(local),
                Term::Product(_) => 0,
            };
            terms.iter().map(of).sum::<usize>()
        };
        let mut targets: FxHashSet<usize> = FxHashSet::default();
        let mut mentions: FxHashMap<LocalId, usize> = FxHashMap::default();
        for expr in &self.exprs {
            match &expr.kind {
                ExprKind::Assign(_, target, _) => {
                    targets.insert(address(target));
                }
                ExprKind::Local(local) if !targets.contains(&address(expr)) => {
                    *mentions.entry(*local).or_default() += 1;
                }
                _ => {}
            }
        }
        let mut pure: FxHashSet<LocalId> = of_variables.keys().copied().collect();
        loop {
            let counted = |local: LocalId| {
                let others = of_variables.iter().filter(|(other, _)| pure.contains(other));
                named(terms, local) + others.map(|(_, terms)| named(terms, local)).sum::<usize>()
            };
            let kept: FxHashSet<LocalId> = pure
                .iter()
                .copied()
                .filter(|local| mentions.get(local).copied().unwrap_or(0) == counted(*local))
                .collect();
            if kept.len() == pure.len() {
                return kept;
            }
            pure = kept;
        }
    }

    /// Whether every mention of the array is an element's.
    fn is_plain(&self, declaration: &Declaration) -> bool {
        let array = declaration.local;
        let rank = rank(&declaration.ty);
        let element = |expr: &Expr| {
            let (mut inner, mut depth) = (expr, 0);
            while let ExprKind::Index(base, _) = &inner.kind {
                (inner, depth) = (base, depth + 1);
            }
            depth == rank && matches!(inner.kind, ExprKind::Local(local) if local == array)
        };
        let count = |holds: &dyn Fn(&Expr) -> bool| self.exprs.iter().filter(|expr| holds(expr)).count();
        let named = count(&|expr| matches!(expr.kind, ExprKind::Local(local) if local == array));
        let elements = count(&element);
        let addressed = count(&|expr| matches!(&expr.kind, ExprKind::AddressOf(inner) if element(inner)));
        let referred = self.declarations.iter().any(|it| {
            matches!(it.ty, Type::Reference(_)) && it.init.as_ref().is_some_and(|init| self.names(init))
        });
        named == elements && addressed == 0 && !referred
    }
}

/// Whether a function's third argument is the distance between the rows that its pointer leads to.
fn takes_leading_dimension(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Path(path)
        if matches!(&*path.name, "load_matrix_sync" | "store_matrix_sync"))
}

fn rank(ty: &Type) -> usize {
    match ty {
        Type::Array(inner, _) => 1 + rank(inner),
        Type::Reference(inner) => rank(inner),
        _ => 0,
    }
}

/// Adds the terms of a sum.
fn terms_of<'p>(expr: &'p Expr, terms: &mut Vec<Term<'p>>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            terms_of(a, terms);
            terms_of(b, terms);
        }
        ExprKind::Cast(Type::Scalar(_) | Type::Named(_), inner) => terms_of(inner, terms),
        ExprKind::Local(local) => terms.push(Term::Local(*local)),
        _ => terms.push(Term::Product(product_of(expr))),
    }
}

/// An expression as a product, of one factor if it is none.
#[must_use]
pub fn product_of(expr: &Expr) -> Product<'_> {
    fn factors<'p>(expr: &'p Expr, all: &mut Vec<Factor<'p>>) {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                factors(a, all);
                factors(b, all);
            }
            // The bits stand for the number that they make.
            ExprKind::Binary(BinaryOp::Shl, a, bits) => {
                factors(a, all);
                all.push(Factor { expr: bits, shifted: Some(a), inner: Vec::new() });
            }
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let inner = [&**a, &**b].map(product_of);
                all.push(Factor { inner: inner.into_iter().collect(), ..Factor::of(expr) });
            }
            _ => all.push(Factor::of(expr)),
        }
    }
    let mut product = Product::default();
    factors(expr, &mut product.factors);
    product
}
