//! What does `for (T x : range)` repeat, and how often?
//!
//! A list in braces and an array that is declared in the function are walked with an index, as `for` writes it out:
//!
//! ```text
//! for (int n : {32, m}) f(n);      auto e = m; for (int i = 0; i < 2; ++i) { int n = i == 0 ? 32 : e; f(n); }
//! for (auto &x : s) x = 0;         for (int i = 0; i < (int)(sizeof s / sizeof s[0]); ++i) { auto &x = s[i]; x = 0; }
//! ```
//!
//! Anything else is walked as the language has it. What `begin` and `end` are is known when its type is: those of an
//! array, which has no methods, are its first element and the one behind its last.
//!
//! ```text
//! for (auto &x : r) x = 0;         auto &range = r; auto end = range.end();
//!                                  for (auto at = range.begin(); at != end; ++at) { auto &x = *at; x = 0; }
//! ```
//!
//! Of a list that is too long it is not known which element comes when.

use super::lowerer::Lowerer;
use super::nodes::children;
use super::stmt::Body;
use crate::ir::{
    BinaryOp, Declaration, Expr, ExprKind, Local, LocalId, Scalar, Stmt, StmtKind, Storage, Through, Type,
};
use crate::syntax::field;
use tree_sitter::Node;

/// Longer lists are not written out.
const MOST_ELEMENTS: usize = 64;

/// The elements, one after the other.
struct Walk {
    /// What goes from one to the next: an index or an iterator.
    at: LocalId,
    ty: Type,
    first: Expr,
    /// Whether there is one.
    cond: Expr,
    /// The one that it is at.
    element: Expr,
}

impl Lowerer<'_> {
    pub(super) fn range_for(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mark = self.scope.enter();
        let mut init = Vec::new();
        if let Some(first) = field(node, "initializer") {
            self.init_stmt(first, &mut init);
        }
        let walk = field(node, "right").map(|right| self.walk(right, &mut init));
        let element = walk.as_ref().map(|walk| match walk {
            Ok(walk) => walk.element.clone(),
            Err(range) => {
                let which = Expr { kind: ExprKind::Unsupported("element of a range"), span: range.span };
                let kind = ExprKind::Index(Box::new(range.clone()), Box::new(which));
                Expr { kind, span: range.span }
            }
        });
        let mut declared = Vec::new();
        self.declaration_stmt(node, &mut declared);
        let variable = declared.iter_mut().rev().find_map(|stmt| match &mut stmt.kind {
            StmtKind::Declare(list) => list.iter_mut().find(|it| it.init.is_none()),
            _ => None,
        });
        let is_set = variable.is_some() && element.is_some();
        if let (Some(variable), Some(element)) = (variable, element) {
            variable.init = Some(element);
        }
        let Body { body, unrolling, number } = self.loop_body(node);
        self.scope.leave(mark);
        declared.extend(body);
        let Some(Ok(walk)) = walk.filter(|_| is_set) else {
            init.extend(declared);
            out.push(self.stmt_at(node, StmtKind::Unsupported("range-based for", init)));
            return;
        };
        let span = walk.first.span;
        init.push(self.hidden_variable(walk.at, walk.ty, walk.first));
        let at = Box::new(Expr { kind: ExprKind::Local(walk.at), span });
        let step = ExprKind::Step { target: at, by: 1, post: false };
        let made = StmtKind::Loop {
            cond: Some(walk.cond),
            body: declared,
            step: Some(Expr { kind: step, span }),
            body_first: false,
            unrolling,
            number,
        };
        self.with_init(node, init, made, out);
    }

    /// How to come from one element to the next; the range where that is not known. What is computed before the first
    /// element goes to `init`.
    fn walk(&mut self, range: Node<'_>, init: &mut Vec<Stmt>) -> Result<Walk, Expr> {
        let span = self.span(range);
        let at = |kind| Expr { kind, span };
        let number = |n: i128| at(ExprKind::Int(n, Scalar::I32));
        if range.kind() == "initializer_list" {
            let mut elements: Vec<Expr> =
                children(range).into_iter().map(|element| self.full_expr(element)).collect();
            let is_plain = |it: &Expr| !matches!(it.kind, ExprKind::InitList(_) | ExprKind::Pack(_));
            if elements.len() > MOST_ELEMENTS || !elements.iter().all(is_plain) {
                return Err(at(ExprKind::InitList(elements)));
            }
            let count = number(elements.len() as i128);
            for element in &mut elements {
                if !matches!(element.kind, ExprKind::Int(..)) {
                    let once = self.hidden("element");
                    let value = std::mem::replace(element, at(ExprKind::Local(once)));
                    init.push(self.hidden_variable(once, Type::Auto, value));
                }
            }
            let Some(mut element) = elements.pop() else { return Err(at(ExprKind::InitList(elements))) };
            let index = self.hidden("index");
            while let Some(before) = elements.pop() {
                let which = Box::new(number(elements.len() as i128));
                let is_it = ExprKind::Binary(BinaryOp::Eq, Box::new(at(ExprKind::Local(index))), which);
                element = at(ExprKind::Conditional(Box::new(at(is_it)), Box::new(before), Box::new(element)));
            }
            return Ok(by_index(index, count, element));
        }
        let range = self.full_expr(range);
        if !matches!(&range.kind, ExprKind::Local(local) if self.kinds.arrays.contains(local)) {
            return Ok(self.walk_with_iterators(range, init));
        }
        let index = self.hidden("index");
        let element = |which| at(ExprKind::Index(Box::new(range.clone()), Box::new(which)));
        let size = |of| Box::new(at(ExprKind::SizeofExpr(Box::new(of))));
        let count = ExprKind::Binary(BinaryOp::Div, size(range.clone()), size(element(number(0))));
        let count = ExprKind::Cast(Type::Scalar(Scalar::I32), Box::new(at(count)));
        Ok(by_index(index, at(count), element(at(ExprKind::Local(index)))))
    }

    /// From `begin()` to `end()`.
    fn walk_with_iterators(&mut self, range: Expr, init: &mut Vec<Stmt>) -> Walk {
        let span = range.span;
        let local = |local| Expr { kind: ExprKind::Local(local), span };
        let whole = self.hidden("range");
        init.push(self.hidden_variable(whole, Type::Reference(Box::new(Type::Auto)), range));
        let call = |name: &str| {
            let base = Box::new(local(whole));
            let member = ExprKind::Member { base, name: name.into(), arrow: false, args: None, class: None };
            let callee = Box::new(Expr { kind: member, span });
            Expr { kind: ExprKind::Call { callee, args: Vec::new() }, span }
        };
        let end = self.hidden("end");
        init.push(self.hidden_variable(end, Type::Auto, call("end")));
        let at = self.hidden("at");
        let cond = ExprKind::Binary(BinaryOp::Ne, Box::new(local(at)), Box::new(local(end)));
        let element = ExprKind::Deref(Box::new(local(at)));
        let (cond, element) = (Expr { kind: cond, span }, Expr { kind: element, span });
        Walk { at, ty: Type::Auto, first: call("begin"), cond, element }
    }

    /// A slot that no name in the text means.
    fn hidden(&mut self, name: &str) -> LocalId {
        let local = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
        let name = self.name(name);
        self.locals.push(Local { name, constant: false, through: Through::Untold, volatile: false });
        local
    }

    fn hidden_variable(&self, local: LocalId, ty: Type, init: Expr) -> Stmt {
        let span = init.span;
        let declaration = Declaration {
            local,
            name: self.locals.get(local.0 as usize).map_or_else(|| self.name(""), |it| it.name.clone()),
            namespace: self.namespace.clone(),
            template_params: Vec::new(),
            specialization: Vec::new(),
            ty,
            storage: Storage::Automatic,
            align: None,
            init: Some(init),
            name_span: span,
            span,
            dimension_spans: Vec::new(),
            constant: false,
            internal: false,
            volatile: false,
        };
        Stmt { kind: StmtKind::Declare(vec![declaration]), span }
    }
}

/// From 0 to a count.
fn by_index(index: LocalId, count: Expr, element: Expr) -> Walk {
    let span = count.span;
    let at = Expr { kind: ExprKind::Local(index), span };
    let cond = ExprKind::Binary(BinaryOp::Lt, Box::new(at), Box::new(count));
    let first = Expr { kind: ExprKind::Int(0, Scalar::I32), span };
    Walk { at: index, ty: Type::Scalar(Scalar::I32), first, cond: Expr { kind: cond, span }, element }
}
