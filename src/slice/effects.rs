//! What may functions change outside of themselves, with all that they call?
//!
//! Whoever is called by a name may be any function of that name. What objects do where they are made and where they end
//! is part of it.

use super::written::{by_path, may_write};
use crate::builtins::by_value::Takes;
use crate::ir::declared::declared_type;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::writes::{Variable, writes};
use crate::ir::{Expr, ExprKind, Function, Name, Path, Stmt, StmtKind, Type, print};
use crate::slice::operator_calls::unary_name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Aliases of aliases that are followed, at the most.
const DEPTH: usize = 8;

/// What functions may change.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// The variables, by their names.
    pub names: FxHashSet<Name>,
    /// Whether something is called that is not seen and belongs to no known library.
    pub leaves: bool,
    /// Whether something is written through a pointer or a reference: any variable whose address is taken.
    pub behind: bool,
    /// The names of the functions that may run.
    pub functions: FxHashSet<Name>,
}

/// By the name of functions: what they change themselves, and the names of what they may run.
pub(crate) type OfEach = FxHashMap<Name, (Effects, Vec<Name>)>;

/// What the functions of these names may change. `of_each`: what was worked out of the program before.
pub(crate) fn effects(program: &Program, begin: &[Name], of_each: &mut OfEach) -> Effects {
    let mut all = Effects::default();
    let mut open: Vec<Name> = begin.to_vec();
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let (own, called) = of_each.entry(name).or_insert_with_key(|name| {
            let mut found = Walk::new(program);
            found.functions_of(name);
            found.open.sort_unstable();
            found.open.dedup();
            (found.effects, found.open)
        });
        all.names.extend(own.names.iter().cloned());
        all.functions.extend(own.functions.iter().cloned());
        all.leaves |= own.leaves;
        all.behind |= own.behind;
        open.extend(called.iter().filter(|it| !seen.contains(*it)).cloned());
    }
    all
}

/// The names of what runs where an expression is evaluated.
pub(crate) fn run_by(program: &Program, expr: &Expr) -> Vec<Name> {
    let mut found = Walk::new(program);
    found.expr(expr);
    found.open
}

/// The names of what makes and ends an object of this type.
pub(crate) fn made_and_ended(program: &Program, ty: &Type) -> Vec<Name> {
    let mut found = Walk::new(program);
    found.object(ty, DEPTH);
    found.open
}

struct Walk<'p> {
    program: &'p Program,
    effects: Effects,
    /// Names of functions that may run.
    open: Vec<Name>,
    /// The function whose body is walked.
    function: Option<&'p Function>,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program) -> Walk<'p> {
        Walk { program, effects: Effects::default(), open: Vec::new(), function: None }
    }

    fn functions_of(&mut self, name: &Name) {
        let program = self.program;
        let is_seen = |f: &&Arc<Function>| !f.span.is_built_in();
        let functions: Vec<&Arc<Function>> = program.functions(name).iter().filter(is_seen).collect();
        self.effects.leaves |= !functions.is_empty() && functions.iter().all(|f| f.body.is_none());
        for record in program.records(name) {
            let fields = record.fields.iter().filter(|field| !matches!(field.ty, Type::Reference(_)));
            fields.map(|field| &field.ty).chain(&record.bases).for_each(|ty| self.object(ty, DEPTH));
            record.fields.iter().filter_map(|field| field.init.as_ref()).for_each(|init| self.expr(init));
        }
        for function in functions {
            self.effects.functions.insert(name.clone());
            for write in writes(function) {
                if let Variable::Named(name, _) = &write.variable
                    && may_write(program, name, &write.by)
                {
                    self.effects.names.insert(name.clone());
                }
            }
            self.function = Some(function);
            function.params.iter().for_each(|param| self.object(&param.ty, DEPTH));
            self.object(&function.return_type, DEPTH);
            function.body.iter().flatten().for_each(|stmt| self.stmt(stmt));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Declare(list) = &stmt.kind {
            list.iter().for_each(|it| self.object(&it.ty, DEPTH));
        }
        own_exprs(stmt, &mut |expr| self.expr(expr));
        own_stmts(stmt, &mut |stmt| self.stmt(stmt));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => self.called(path),
                ExprKind::Member { name, .. } => self.open.push(name.clone()),
                _ => self.open.push("operator()".into()),
            },
            ExprKind::Path(path) if !self.program.functions(&path.name).is_empty() => {
                self.open.push(path.name.clone());
            }
            ExprKind::Construct(ty, _) => self.object(ty, DEPTH),
            ExprKind::Step { target, .. } => {
                self.written(target);
                self.operator("operator++");
                self.operator("operator--");
            }
            ExprKind::Deref(_) => self.operator("operator*"),
            ExprKind::Member { arrow: true, .. } => self.operator("operator->"),
            ExprKind::Binary(op, ..) => self.operator(&format!("operator{}", print::operator(*op))),
            ExprKind::Unary(op, _) => self.operator(unary_name(*op)),
            ExprKind::Assign(op, target, _) => {
                self.written(target);
                match op {
                    None => self.operator("operator="),
                    Some(op) => self.operator(&format!("operator{}=", print::operator(*op))),
                }
            }
            ExprKind::Index(..) => self.operator("operator[]"),
            ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| self.stmt(stmt)),
            _ => {}
        }
        children(expr, &mut |child| self.expr(child));
    }

    fn called(&mut self, path: &Path) {
        let is_known = !self.program.functions(&path.name).is_empty()
            || !self.program.records(&path.name).is_empty()
            || !self.program.aliases(&path.name).is_empty();
        match is_known {
            true => self.open.push(path.name.clone()),
            false => {
                self.effects.leaves |= matches!(by_path(path), Takes::Anything);
                // `memset`
                self.effects.behind = true;
            }
        }
    }

    /// A place is written.
    fn written(&mut self, place: &Expr) {
        let is_array = |base: &Expr| match &base.kind {
            ExprKind::Local(local) => {
                let ty = self.function.and_then(|function| declared_type(function, *local));
                matches!(ty, Some(Type::Array(..)))
            }
            _ => false,
        };
        match &place.kind {
            ExprKind::Deref(_) => self.effects.behind = true,
            ExprKind::Index(base, _) if is_array(base) => {}
            ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Index(..)) => self.written(base),
            ExprKind::Index(..) => self.effects.behind = true,
            ExprKind::Member { base, arrow, name, .. } => {
                self.effects.behind |= *arrow && !matches!(base.kind, ExprKind::This);
                self.effects.behind |= self.program.has_reference_member(name);
                self.written(base);
            }
            ExprKind::Path(path) => self.effects.behind |= self.program.has_reference_member(&path.name),
            ExprKind::Cast(_, inner) | ExprKind::Comma(_, inner) => self.written(inner),
            ExprKind::Conditional(_, a, b) => {
                self.written(a);
                self.written(b);
            }
            ExprKind::Call { .. } => self.effects.behind = true,
            _ => {}
        }
    }

    fn operator(&mut self, name: &str) {
        if !self.program.functions(name).is_empty() {
            self.open.push(name.into());
        }
    }

    /// An object is made, and ends, and may be converted.
    fn object(&mut self, ty: &Type, depth: usize) {
        match ty {
            Type::Array(inner, _) | Type::Qualified(_, inner) => self.object(inner, depth),
            Type::Named(path) => {
                self.open.push(path.name.clone());
                self.operator(&format!("~{}", path.name));
                let program = self.program;
                self.open.extend(program.conversions(&path.name).iter().map(|it| it.name.clone()));
                for alias in program.aliases(&path.name).iter().filter(|_| depth > 0) {
                    self.object(&alias.ty, depth - 1);
                }
            }
            _ => {}
        }
    }
}
