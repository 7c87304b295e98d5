//! What does `for (T x : range)` repeat, and how often?
//!
//! A list in braces and an array that is declared in the function are walked with an index, as `for` writes it out:
//!
//! ```text
//! for (int n : {32, m}) f(n);      auto e = m; for (int i = 0; i < 2; ++i) { int n = i == 0 ? 32 : e; f(n); }
//! for (auto &x : s) x = 0;         for (int i = 0; i < (int)(sizeof s / sizeof s[0]); ++i) { auto &x = s[i]; x = 0; }
//! ```
//!
//! Of anything else it is not known which element comes when, or how many there are.

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
    index: LocalId,
    /// How many there are.
    count: Expr,
    /// The one at the index.
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
        let span = walk.count.span;
        let first = Expr { kind: ExprKind::Int(0, Scalar::I32), span };
        init.push(self.hidden_variable(walk.index, Type::Scalar(Scalar::I32), first));
        let index = || Box::new(Expr { kind: ExprKind::Local(walk.index), span });
        let cond = ExprKind::Binary(BinaryOp::Lt, index(), Box::new(walk.count));
        let step = ExprKind::Step { target: index(), by: 1, post: false };
        let made = StmtKind::Loop {
            cond: Some(Expr { kind: cond, span }),
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
            return Ok(Walk { index, count, element });
        }
        let array = self.full_expr(range);
        if !matches!(&array.kind, ExprKind::Local(local) if self.kinds.arrays.contains(local)) {
            return Err(array);
        }
        let index = self.hidden("index");
        let element = |which| at(ExprKind::Index(Box::new(array.clone()), Box::new(which)));
        let size = |of| Box::new(at(ExprKind::SizeofExpr(Box::new(of))));
        let count = ExprKind::Binary(BinaryOp::Div, size(array.clone()), size(element(number(0))));
        let count = ExprKind::Cast(Type::Scalar(Scalar::I32), Box::new(at(count)));
        Ok(Walk { index, count: at(count), element: element(at(ExprKind::Local(index))) })
    }

    /// A slot that no name in the text means.
    fn hidden(&mut self, name: &str) -> LocalId {
        let local = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
        let name = self.name(name);
        self.locals.push(Local { name, constant: false, through: Through::Untold });
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
        };
        Stmt { kind: StmtKind::Declare(vec![declaration]), span }
    }
}
