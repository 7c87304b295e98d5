//! What does a template say once it is known how long its packs are?
//!
//! `f(xs...)` becomes `f(xs#0, xs#1)`, `(xs + ...)` becomes `xs#0 + xs#1`: each element of a pack has a name, or a
//! slot, of its own, and what is left is plain code.

use super::found_later::FoundLater;
use super::{
    Asm, Case, Declaration, Expr, ExprKind, Function, Join, Lambda, Launch, LocalId, Name, Pack, Param, Path,
    Scalar, Stmt, StmtKind, TemplateArg, TemplateParam, Type,
};
use crate::source::Span;
use std::cell::Cell;
use std::sync::Arc;

/// No pack is followed that is longer.
pub(crate) const LONGEST: usize = 256;

/// The name of an element of a pack.
#[must_use]
pub(crate) fn element(pack: &Name, at: usize) -> Name {
    format!("{pack}#{at}").into()
}

/// A function with as many parameters as its packs stand for. `names`: how long template packs are;
/// `arguments`: how many arguments the last parameter takes, if that is a pack.
#[must_use]
pub(crate) fn function(of: &Function, names: &[(Name, usize)], arguments: Option<usize>) -> Function {
    let mut made = of.clone();
    let mut locals = Vec::new();
    let mut names = names.to_vec();
    if let (Some(count), Some(last)) = (arguments, of.params.last().filter(|last| last.pack)) {
        let slots: Vec<LocalId> = (0..count)
            .map(|_| {
                let slot = LocalId(u32::try_from(made.locals.len()).unwrap_or(u32::MAX));
                made.locals.extend(of.locals.get(last.local.0 as usize).cloned());
                slot
            })
            .collect();
        locals.push((last.local, slots));
        // `sizeof...(rest)` asks for it by its name.
        names.push((last.name.clone(), count));
    }
    let all = Unpacking { names: &names, locals: &locals, at: None, length: Cell::new(Length::None) };
    made.params = of.params.iter().flat_map(|param| all.params(param)).collect();
    made.template_params = of.template_params.iter().flat_map(|param| all.template_params(param)).collect();
    made.return_type = all.ty(&of.return_type);
    made.body = of.body.as_ref().map(|body| all.stmts(body));
    made.calls = FoundLater::default();
    made.writes = FoundLater::default();
    made.declared_types = FoundLater::default();
    made.shared_locals = FoundLater::default();
    made
}

/// An expression in which packs of these lengths are named.
#[must_use]
pub(crate) fn expression(of: &Expr, names: &[(Name, usize)]) -> Expr {
    Unpacking { names, locals: &[], at: None, length: Cell::new(Length::None) }.expr(of)
}

/// How often a pattern is repeated.
#[derive(Clone, Copy, PartialEq)]
enum Length {
    /// It names no pack.
    None,
    Known(usize),
    /// It names packs of several lengths.
    Several,
}

struct Unpacking<'a> {
    names: &'a [(Name, usize)],
    locals: &'a [(LocalId, Vec<LocalId>)],
    /// In a pattern: for which element.
    at: Option<usize>,
    /// How long the packs are that were met in it.
    length: Cell<Length>,
}

impl Unpacking<'_> {
    fn meets(&self, length: usize) {
        self.length.set(match self.length.get() {
            Length::None => Length::Known(length),
            Length::Known(known) if known == length => Length::Known(length),
            _ => Length::Several,
        });
    }

    fn for_element(&self, at: usize) -> Unpacking<'_> {
        Unpacking { names: self.names, locals: self.locals, at: Some(at), length: Cell::new(Length::None) }
    }

    /// How often a pattern is repeated, if that is known.
    fn length_of(&self, work: impl FnOnce(&Unpacking<'_>)) -> Option<usize> {
        let first = self.for_element(0);
        work(&first);
        match first.length.get() {
            Length::Known(length) if length <= LONGEST => Some(length),
            _ => None,
        }
    }

    fn name(&self, name: &Name) -> Name {
        match (self.at, self.names.iter().find(|(pack, _)| pack == name)) {
            (Some(at), Some((_, length))) => {
                self.meets(*length);
                element(name, at)
            }
            _ => name.clone(),
        }
    }

    fn local(&self, local: LocalId) -> LocalId {
        match (self.at, self.locals.iter().find(|(pack, _)| *pack == local)) {
            (Some(at), Some((_, slots))) => {
                self.meets(slots.len());
                slots.get(at).copied().unwrap_or(local)
            }
            _ => local,
        }
    }

    fn path(&self, path: &Path) -> Path {
        let is_bare = path.qualifiers.is_empty() && !path.global;
        let qualifiers = path.qualifiers.iter().enumerate();
        Path {
            qualifiers: qualifiers
                .map(|(at, (name, args))| {
                    (if at == 0 { self.name(name) } else { name.clone() }, self.args(args))
                })
                .collect(),
            name: if is_bare { self.name(&path.name) } else { path.name.clone() },
            args: path.args.as_ref().map(|args| self.args(args)),
            global: path.global,
        }
    }

    fn args(&self, args: &[TemplateArg]) -> Vec<TemplateArg> {
        let mut all = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                TemplateArg::Type(ty) => all.push(TemplateArg::Type(self.ty(ty))),
                TemplateArg::Value(Expr { kind: ExprKind::Expansion(name), span }) => {
                    match self.names.iter().find(|(pack, _)| pack == name) {
                        Some((_, length)) => all.extend((0..*length).map(|at| {
                            let path = Path::simple(element(name, at));
                            TemplateArg::Value(Expr { kind: ExprKind::Path(Box::new(path)), span: *span })
                        })),
                        None => all.push(arg.clone()),
                    }
                }
                TemplateArg::Value(expr) => {
                    all.extend(self.list(std::slice::from_ref(expr)).into_iter().map(TemplateArg::Value));
                }
            }
        }
        all
    }

    fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Named(path) => Type::Named(Box::new(self.path(path))),
            Type::Pointer(inner) => Type::Pointer(Box::new(self.ty(inner))),
            Type::Reference(inner) => Type::Reference(Box::new(self.ty(inner))),
            Type::Array(inner, length) => Type::Array(
                Box::new(self.ty(inner)),
                length.as_ref().map(|length| Box::new(self.expr(length))),
            ),
            Type::Qualified(qualifiers, inner) => Type::Qualified(*qualifiers, Box::new(self.ty(inner))),
            Type::Decltype(expr) => Type::Decltype(Box::new(self.expr(expr))),
            Type::Void | Type::Scalar(_) | Type::Auto | Type::Opaque => ty.clone(),
        }
    }

    fn params(&self, param: &Param) -> Vec<Param> {
        match self.locals.iter().find(|(pack, _)| *pack == param.local) {
            Some((_, slots)) if param.pack => {
                let of = |(at, slot): (usize, &LocalId)| Param {
                    local: *slot,
                    name: element(&param.name, at),
                    ty: self.for_element(at).ty(&param.ty),
                    pack: false,
                    ..param.clone()
                };
                slots.iter().enumerate().map(of).collect()
            }
            _ => vec![Param { ty: self.ty(&param.ty), ..param.clone() }],
        }
    }

    fn template_params(&self, param: &TemplateParam) -> Vec<TemplateParam> {
        match self.names.iter().find(|(pack, _)| *pack == param.name) {
            Some((pack, length)) if param.pack => (0..*length)
                .map(|at| TemplateParam { name: element(pack, at), pack: false, ..param.clone() })
                .collect(),
            _ => vec![param.clone()],
        }
    }

    /// Expressions, each pattern for all elements.
    fn list(&self, items: &[Expr]) -> Vec<Expr> {
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            let ExprKind::Pack(pack) = &item.kind else {
                all.push(self.expr(item));
                continue;
            };
            let pattern = pack.left.as_ref().filter(|_| pack.join.is_none());
            match pattern.and_then(|it| Some((it, self.length_of(|first| drop(first.expr(it)))?))) {
                Some((pattern, length)) => {
                    all.extend((0..length).map(|at| self.for_element(at).expr(pattern)))
                }
                None => all.push(self.expr(item)),
            }
        }
        all
    }

    fn boxed(&self, expr: &Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn expr(&self, expr: &Expr) -> Expr {
        Expr { kind: self.kind(&expr.kind, expr.span), span: expr.span }
    }

    fn kind(&self, kind: &ExprKind, span: Span) -> ExprKind {
        use ExprKind as K;
        match kind {
            K::Local(local) => K::Local(self.local(*local)),
            K::Path(path) => K::Path(Box::new(self.path(path))),
            K::Unary(op, inner) => K::Unary(*op, self.boxed(inner)),
            K::Binary(op, a, b) => K::Binary(*op, self.boxed(a), self.boxed(b)),
            K::Assign(op, a, b) => K::Assign(*op, self.boxed(a), self.boxed(b)),
            K::Step { target, by, post } => K::Step { target: self.boxed(target), by: *by, post: *post },
            K::Conditional(a, b, c) => K::Conditional(self.boxed(a), self.boxed(b), self.boxed(c)),
            K::Comma(a, b) => K::Comma(self.boxed(a), self.boxed(b)),
            K::Index(a, b) => K::Index(self.boxed(a), self.boxed(b)),
            K::Member { base, name, arrow, args, class } => K::Member {
                base: self.boxed(base),
                name: name.clone(),
                arrow: *arrow,
                args: args.as_ref().map(|args| self.args(args)),
                class: class.as_ref().map(|class| Box::new(self.ty(class))),
            },
            K::Deref(inner) => K::Deref(self.boxed(inner)),
            K::AddressOf(inner) => K::AddressOf(self.boxed(inner)),
            K::Cast(ty, inner) => K::Cast(self.ty(ty), self.boxed(inner)),
            K::Construct(ty, items) => K::Construct(self.ty(ty), self.list(items)),
            K::InitList(items) => K::InitList(self.list(items)),
            K::Designated(member, value) => K::Designated(member.clone(), self.boxed(value)),
            K::SizeofType(ty) => K::SizeofType(self.ty(ty)),
            K::SizeofExpr(inner) => K::SizeofExpr(self.boxed(inner)),
            K::SizeofPack(name) => match self.names.iter().find(|(pack, _)| pack == name) {
                Some((_, length)) => K::Int(*length as i128, Scalar::U64),
                None => kind.clone(),
            },
            K::AlignofType(ty) => K::AlignofType(self.ty(ty)),
            K::Offsetof(ty, member) => K::Offsetof(self.ty(ty), member.clone()),
            K::Call { callee, args } => K::Call { callee: self.boxed(callee), args: self.list(args) },
            K::Launch(launch) => K::Launch(Box::new(self.launch(launch))),
            K::Lambda(lambda) => K::Lambda(Arc::new(self.lambda(lambda))),
            K::Asm(asm) => K::Asm(Box::new(self.asm(asm))),
            K::Pack(pack) => self.pack(pack, span),
            K::Int(..)
            | K::Float(..)
            | K::Str(_)
            | K::Null
            | K::This
            | K::Expansion(_)
            | K::Unsupported(_)
            | K::Damaged => kind.clone(),
        }
    }

    fn pack(&self, pack: &Pack, span: Span) -> ExprKind {
        match self.folded(pack, span) {
            Some(folded) => folded.kind,
            None => ExprKind::Pack(Box::new(Pack { otherwise: self.expr(&pack.otherwise), ..pack.clone() })),
        }
    }

    /// What a fold does, part by part; none if it is not known how many there are.
    fn folded(&self, pack: &Pack, span: Span) -> Option<Expr> {
        let join = pack.join?;
        // `(xs + ...)` is `x0 + (x1 + x2)`, `(... + xs)` is `(x0 + x1) + x2`.
        let (pattern, count, from_left) = match (self.repeated(&pack.left), self.repeated(&pack.right)) {
            (Some((pattern, count)), None) => (pattern, count, false),
            (None, Some((pattern, count))) => (pattern, count, true),
            _ => return None,
        };
        let other = if from_left { &pack.left } else { &pack.right };
        let parts = (0..count).map(|at| self.for_element(at).expr(pattern));
        let first = other.as_ref().map(|it| self.expr(it));
        let joined = |a: Expr, b: Expr| Expr { kind: join.of(a, b), span };
        let folded = match from_left {
            true => first.into_iter().chain(parts).reduce(joined),
            false => {
                let all: Vec<Expr> = parts.chain(first).collect();
                all.into_iter().rev().reduce(|behind, part| joined(part, behind))
            }
        };
        folded.or_else(|| join.of_none().map(|kind| Expr { kind, span }))
    }

    fn repeated<'e>(&self, side: &'e Option<Expr>) -> Option<(&'e Expr, usize)> {
        let pattern = side.as_ref()?;
        Some((pattern, self.length_of(|first| drop(first.expr(pattern)))?))
    }

    fn launch(&self, launch: &Launch) -> Launch {
        let part = |part: &Option<Expr>| part.as_ref().map(|it| self.expr(it));
        Launch {
            kernel: self.expr(&launch.kernel),
            grid: part(&launch.grid),
            block: part(&launch.block),
            dynamic_bytes: part(&launch.dynamic_bytes),
            args: self.list(&launch.args),
        }
    }

    fn lambda(&self, lambda: &Lambda) -> Lambda {
        Lambda {
            params: lambda.params.iter().flat_map(|param| self.params(param)).collect(),
            return_type: lambda.return_type.as_ref().map(|ty| self.ty(ty)),
            body: self.stmts(&lambda.body),
            ..lambda.clone()
        }
    }

    fn asm(&self, asm: &Asm) -> Asm {
        let operands =
            |all: &[(String, Expr)]| all.iter().map(|(c, it)| (c.clone(), self.expr(it))).collect();
        Asm { template: asm.template.clone(), outputs: operands(&asm.outputs), inputs: operands(&asm.inputs) }
    }

    fn stmts(&self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts.iter().map(|stmt| Stmt { kind: self.stmt(&stmt.kind), span: stmt.span }).collect()
    }

    fn stmt(&self, kind: &StmtKind) -> StmtKind {
        use StmtKind as K;
        match kind {
            K::Expr(expr) => K::Expr(self.expr(expr)),
            K::Declare(list) => K::Declare(list.iter().map(|it| self.declaration(it)).collect()),
            K::Block(body) => K::Block(self.stmts(body)),
            K::If { cond, then, otherwise } => {
                K::If { cond: self.expr(cond), then: self.stmts(then), otherwise: self.stmts(otherwise) }
            }
            K::Loop { cond, body, step, body_first, unrolling, number } => K::Loop {
                cond: cond.as_ref().map(|it| self.expr(it)),
                body: self.stmts(body),
                step: step.as_ref().map(|it| self.expr(it)),
                body_first: *body_first,
                unrolling: *unrolling,
                number: *number,
            },
            K::Switch { value, cases } => K::Switch {
                value: self.expr(value),
                cases: cases
                    .iter()
                    .map(|case| Case {
                        value: case.value.as_ref().map(|it| self.expr(it)),
                        body: self.stmts(&case.body),
                    })
                    .collect(),
            },
            K::Return(value) => K::Return(value.as_ref().map(|it| self.expr(it))),
            K::Unsupported(what, body) => K::Unsupported(what, self.stmts(body)),
            K::Try(body) => K::Try(self.stmts(body)),
            K::Throw | K::Break | K::Continue | K::Goto(_) | K::Label(_) | K::Damaged => kind.clone(),
        }
    }

    fn declaration(&self, of: &Declaration) -> Declaration {
        Declaration {
            ty: self.ty(&of.ty),
            align: of.align.as_ref().map(|it| self.expr(it)),
            init: of.init.as_ref().map(|it| self.expr(it)),
            ..of.clone()
        }
    }
}

impl Join {
    fn of(self, a: Expr, b: Expr) -> ExprKind {
        match self {
            Join::Binary(op) => ExprKind::Binary(op, Box::new(a), Box::new(b)),
            Join::Assign(op) => ExprKind::Assign(op, Box::new(a), Box::new(b)),
            Join::Comma => ExprKind::Comma(Box::new(a), Box::new(b)),
        }
    }

    /// What a fold of nothing is.
    fn of_none(self) -> Option<ExprKind> {
        use super::BinaryOp::{LogicalAnd, LogicalOr};
        match self {
            Join::Binary(LogicalAnd) => Some(ExprKind::Int(1, Scalar::Bool)),
            Join::Binary(LogicalOr) => Some(ExprKind::Int(0, Scalar::Bool)),
            Join::Comma => Some(ExprKind::Int(0, Scalar::I32)),
            _ => None,
        }
    }
}
