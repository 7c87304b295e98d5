//! What does a lambda capture, and what is it then?

use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, first_child};
use super::scope::{Binding, Copies};
use crate::builtins;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, Lambda, Local, LocalId, Stmt, StmtKind, Type};
use crate::source::Span;
use crate::syntax::field;
use std::sync::Arc;
use tree_sitter::Node;

impl Lowerer<'_> {
    /// A lambda. Init-captures are assigned where the lambda stands, before it.
    pub(super) fn lambda(&mut self, node: Node<'_>) -> ExprKind {
        if !self.in_function {
            return ExprKind::Unsupported("lambda outside a function");
        }
        let mark = self.scope.enter();
        let span = self.span(node);
        let mut captured = Vec::new();
        let mut copies =
            Copies { from: u32::try_from(self.locals.len()).unwrap_or(u32::MAX), ..Copies::default() };
        if let Some(captures) = field(node, "captures") {
            self.captures(captures, &mut copies, &mut captured);
        }
        self.copies.push(copies);
        let heads = field(node, "template_parameters").map(crate::lower::nodes::children).unwrap_or_default();
        let template_params = heads.into_iter().filter_map(|param| self.template_param(param)).collect();
        let declarator = field(node, "declarator");
        let list = declarator.and_then(|declarator| {
            field(declarator, "parameters").or_else(|| child_of_kind(declarator, "parameter_list"))
        });
        let params = list.map(|list| self.params(list)).unwrap_or_default();
        let returned = declarator.and_then(|declarator| child_of_kind(declarator, "trailing_return_type"));
        let return_type = returned.and_then(first_child).map(|ty| self.type_specifier(ty));
        let written = field(node, "body");
        let head = written.map_or(0, |body| self.start(body).saturating_sub(self.start(node)));
        let mutable = self.text(node).get(..head).is_some_and(|head| head.contains("mutable"));
        let device = self.is_masked_device(self.start(node), self.start(node) + head);
        let list = field(node, "captures").map_or("", |list| self.text(list));
        if mutable && list.contains("*this") {
            self.scope.leave(mark);
            self.copies.pop();
            return ExprKind::Unsupported("a lambda that changes its own copy of `*this`");
        }
        let body = written.map(|body| self.body(body)).unwrap_or_default();
        self.scope.leave(mark);
        let first = self.copies.last().map_or(0, |copies| copies.from);
        for (outer, inner) in self.copies.pop().unwrap_or_default().made {
            captured.push(copied(outer, inner, span));
        }
        let copies = captured.iter().filter_map(assigned).collect();
        let slots = first..u32::try_from(self.locals.len()).unwrap_or(u32::MAX);
        let mut changes = Vec::new();
        body.iter().for_each(|stmt| changed_by(stmt, &mut changes));
        changes.retain(|local| local.0 < first);
        changes.sort_unstable();
        changes.dedup();
        self.lambdas += 1;
        let number = self.lambdas;
        let lambda = Lambda {
            template_params,
            params,
            return_type,
            copies,
            mutable,
            device,
            slots,
            changes,
            body,
            number,
        };
        let mut kind = ExprKind::Lambda(Arc::new(lambda));
        for assign in captured.into_iter().rev() {
            kind = ExprKind::Comma(Box::new(assign), Box::new(Expr { kind, span }));
        }
        kind
    }

    /// What stands in the brackets: `=`, `&`, `x`, `&x`, `x = e`.
    fn captures(&mut self, list: Node<'_>, copies: &mut Copies, out: &mut Vec<Expr>) {
        let mut cursor = list.walk();
        let mut reference = false;
        for capture in list.children(&mut cursor).take(256) {
            match capture.kind() {
                "&" => {
                    reference = true;
                    continue;
                }
                "lambda_default_capture" => copies.all = self.text(capture) == "=",
                "lambda_capture_initializer" => self.init_capture(capture, out),
                "identifier" => {
                    if let Some(Binding::Slot(local)) = self.scope.get(self.text(capture)) {
                        let local = *local;
                        if reference {
                            copies.shared.push(local);
                        } else if !self.kinds.shared.contains(&local) {
                            let inner = self.declare(&self.name(self.text(capture)));
                            out.push(copied(local, inner, self.span(capture)));
                        }
                    }
                }
                _ => {}
            }
            reference = false;
        }
    }

    /// The slot in which a lambda around keeps its copy of a variable, if one does.
    pub(super) fn captured(&mut self, local: LocalId) -> LocalId {
        let mut local = local;
        for at in 0..self.copies.len() {
            let copies = &self.copies[at];
            if !copies.all
                || local.0 >= copies.from
                || copies.shared.contains(&local)
                || self.kinds.shared.contains(&local)
            {
                continue;
            }
            let known = copies.made.iter().find(|(outer, _)| *outer == local).map(|(_, inner)| *inner);
            local = known.unwrap_or_else(|| {
                let copied = self.locals.get(local.0 as usize);
                let volatile = copied.is_some_and(|it| it.volatile);
                let (name, through) = copied.map(|it| (it.name.clone(), it.through)).unzip();
                let name = name.unwrap_or_else(|| self.name(""));
                let inner = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
                let through = through.unwrap_or_default();
                self.locals.push(Local { name, constant: false, through, volatile });
                self.copies[at].made.push((local, inner));
                inner
            });
        }
        local
    }

    fn init_capture(&mut self, node: Node<'_>, out: &mut Vec<Expr>) {
        if node.kind() != "lambda_capture_initializer" || out.len() > 32 {
            return;
        }
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return;
        };
        let span = self.span(node);
        let mut value = self.expr(right);
        let name = self.name(self.text(left));
        let local = self.declare(&name);
        // `b = a`: unlike `a` itself, an array becomes a pointer.
        if matches!(value.kind, ExprKind::Local(_)) {
            value = Expr { span: value.span, kind: ExprKind::Cast(Type::Auto, Box::new(value)) };
        }
        // `&r = e` names what `e` is, for as long as the lambda lives.
        if child_of_kind(node, "&").is_some() {
            self.kinds.addresses.insert(local);
            if let ExprKind::Cast(Type::Auto, inner) = value.kind {
                value = *inner;
            }
            value = Expr { span: value.span, kind: ExprKind::AddressOf(Box::new(value)) };
        }
        let target = Expr { kind: ExprKind::Local(local), span: self.span(left) };
        out.push(Expr { kind: ExprKind::Assign(None, Box::new(target), Box::new(value)), span });
    }
}

/// The variables that a statement may change, or hand to what may.
fn changed_by(stmt: &Stmt, found: &mut Vec<LocalId>) {
    if let StmtKind::Declare(list) = &stmt.kind {
        let refers = |it: &&Declaration| !matches!(it.ty, Type::Scalar(_));
        let inits = list.iter().filter(refers).filter_map(|it| it.init.as_ref());
        inits.for_each(|init| root_of(init, found));
    }
    own_exprs(stmt, &mut |expr| changed_in(expr, found));
    own_stmts(stmt, &mut |inner| changed_by(inner, found));
}

fn changed_in(expr: &Expr, found: &mut Vec<LocalId>) {
    match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => root_of(target, found),
        ExprKind::AddressOf(inner) => root_of(inner, found),
        ExprKind::Call { callee, args } => {
            let pure = matches!(&callee.kind, ExprKind::Path(path) if builtins::only_computes(&path.name));
            if !pure {
                args.iter().chain([&**callee]).for_each(|part| root_of(part, found));
            }
        }
        ExprKind::Construct(ty, items) if !matches!(ty, Type::Scalar(_)) => {
            items.iter().for_each(|item| root_of(item, found));
        }
        ExprKind::InitList(items) => items.iter().for_each(|item| root_of(item, found)),
        ExprKind::Asm(asm) => asm.outputs.iter().for_each(|(_, target)| root_of(target, found)),
        ExprKind::Lambda(inner) => found.extend(&inner.changes),
        _ => {}
    }
    children(expr, &mut |child| changed_in(child, found));
}

/// The variable that a place is a part of.
fn root_of(expr: &Expr, found: &mut Vec<LocalId>) {
    match &expr.kind {
        ExprKind::Local(local) => found.push(*local),
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) | ExprKind::Cast(_, base) => {
            root_of(base, found);
        }
        ExprKind::Conditional(_, a, b) => [a, b].into_iter().for_each(|side| root_of(side, found)),
        ExprKind::Comma(_, last) => root_of(last, found),
        _ => {}
    }
}

/// Where the lambda stands, the variable is copied.
fn copied(outer: LocalId, inner: LocalId, span: Span) -> Expr {
    let local = |local| Box::new(Expr { kind: ExprKind::Local(local), span });
    Expr { kind: ExprKind::Assign(None, local(inner), local(outer)), span }
}

/// The slot that an assignment is to.
fn assigned(assign: &Expr) -> Option<LocalId> {
    match &assign.kind {
        ExprKind::Assign(None, target, _) => match target.kind {
            ExprKind::Local(local) => Some(local),
            _ => None,
        },
        _ => None,
    }
}
