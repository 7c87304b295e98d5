//! What does an expression read and write, and to whom does it hand pointers?

use super::super::endings::ends_with_effect;
use super::super::places::root;
use super::Flow;
use crate::builtins::Coordinate;
use crate::ir::{Expr, ExprKind, LocalId, Type};

impl<'a> Flow<'a> {
    /// An expression whose pointer is `followed` by whoever uses it, or may be lost.
    pub(super) fn pointed(&mut self, expr: &'a Expr, followed: bool) {
        self.followed = followed;
        self.expr(expr);
        self.followed = false;
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) {
        let followed = std::mem::take(&mut self.followed);
        self.called_by_operator(expr);
        if !followed {
            self.pointers.taken.extend(self.places.array(expr));
        }
        match &expr.kind {
            ExprKind::Assign(op, target, value) => {
                self.write(target, Some(value), op.is_none());
                self.pointed(target, true);
                let leads = matches!(target.kind, ExprKind::Local(local) if self.places.leads(local));
                self.pointed(value, leads);
            }
            ExprKind::Step { target, .. } => {
                self.write(target, None, false);
                self.pointed(target, true);
            }
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } => self.place(expr),
            ExprKind::AddressOf(inner) => {
                let own = |local: &LocalId| !self.shared.contains(local);
                self.pointers.taken.extend(self.places.part_of(inner).filter(own));
                self.pointed(inner, true);
            }
            ExprKind::Conditional(cond, a, b) => {
                self.condition(cond);
                self.pointed(a, followed);
                self.pointed(b, followed);
            }
            ExprKind::Binary(op, a, b) => {
                if matches!(op, crate::ir::BinaryOp::LogicalAnd | crate::ir::BinaryOp::LogicalOr) {
                    self.seed_course(a);
                }
                self.pointed(a, followed);
                self.expr(b);
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args),
            ExprKind::Asm(asm) => self.assembly(asm),
            ExprKind::Lambda(lambda) => {
                let params = || lambda.params.iter().map(|param| param.local);
                self.matters.extend(params());
                self.course.extend(params());
                self.seed_course(expr);
                self.stmts(&lambda.body);
            }
            ExprKind::Launch(_) => self.seed_course(expr),
            ExprKind::Cast(_, a) => self.pointed(a, followed),
            ExprKind::SizeofExpr(a) => self.pointed(a, true),
            ExprKind::Unary(_, a) => self.expr(a),
            // A copy of all three.
            ExprKind::Path(path) if Coordinate::of(&path.name).is_some_and(Coordinate::is_within_block) => {
                self.axes = [true; 3]
            }
            ExprKind::Comma(a, b) => {
                self.expr(a);
                self.pointed(b, followed);
            }
            ExprKind::Construct(Type::Scalar(_), items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
                items.iter().for_each(|item| self.expr(item));
                if let ExprKind::Construct(ty, _) = &expr.kind
                    && ends_with_effect(ty, self.program)
                {
                    self.seed_course(expr);
                    self.pointers.written.extend(items);
                }
                // A member may be a reference to it.
                self.pointers.taken.extend(items.iter().filter_map(root).map(|(local, _)| local));
            }
            _ => {}
        }
    }

    /// A part of an object, or where a pointer leads.
    fn place(&mut self, expr: &'a Expr) {
        let is_elsewhere = self.places.part_of(expr).is_none();
        match &expr.kind {
            ExprKind::Index(base, index) => {
                if is_elsewhere {
                    self.seed(base);
                    self.seed(index);
                }
                self.pointed(base, true);
                self.expr(index);
            }
            ExprKind::Deref(pointer) => {
                if is_elsewhere {
                    self.seed(pointer);
                }
                self.pointed(pointer, true);
            }
            ExprKind::Member { base, arrow, name, .. } => match axis_of(base, name) {
                Some(axis) => self.axes[axis] = true,
                None => {
                    if *arrow && is_elsewhere {
                        self.seed(base);
                    }
                    self.pointed(base, true);
                }
            },
            _ => {}
        }
    }
}

/// The axis, if a member of an expression is a thread's coordinate or the block's length along it.
fn axis_of(base: &Expr, name: &str) -> Option<usize> {
    let ExprKind::Path(path) = &base.kind else { return None };
    Coordinate::of(&path.name).filter(|it| it.is_within_block())?;
    ["x", "y", "z"].iter().position(|axis| *axis == name)
}
