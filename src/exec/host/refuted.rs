//! What becomes of a launch that comes after something that the numbers refute?
//!
//! It does not happen: `assert` and `exit` end the way there. Where no way leads to it at all, it still
//! tells which block its author launches. Then host code is run once more, lenient: what was asked
//! about is no longer known, and the launches after it say so.
//!
//! Example: after `assert(columns % 256 == 0)` with 1600 columns, `kernel<<<1, 128>>>(columns)` has
//! blocks of 128, and `columns` is any multiple of 256.

use super::Machine;
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{Doubted, EndedBy, Refuted};
use crate::exec::interior::Leaving;
use crate::exec::value::NOWHERE;
use crate::exec::value::{Condition, Relation, Value};
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind, Stmt, UnaryOp};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    /// `assert` in host code: what the numbers refute does not go on, so that no launch after it
    /// is taken for one that happens.
    pub(crate) fn host_assert(&mut self, claim: &Expr, span: Span) {
        let value = self.evaluate(claim);
        let condition = self.condition_of(&value, claim.span);
        match self.decided_in_host(&condition) {
            Some(true) => {}
            Some(false) if self.host.lenient => self.doubt_numbers(claim, true, EndedBy::Assert, span),
            Some(false) => {
                self.host.cut = true;
                self.end_program();
            }
            None => {
                self.note_asked(claim);
                let before = self.state.claims.len();
                self.claim(&condition, true);
                if self.host.lenient && !self.some_way_meets(&condition) {
                    self.state.claims.truncate(before);
                    self.doubt_numbers(claim, true, EndedBy::Assert, span);
                }
            }
        }
    }

    /// Runs the side of an `if` that the numbers decide for.
    pub(super) fn run_decided(&mut self, holds: bool, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let (side, other) = if holds { (then, otherwise) } else { (otherwise, then) };
        if side.is_empty() {
            return;
        }
        let start = self.host.lenient.then(|| self.state.clone());
        self.run(side);
        if !self.has_ended() {
            return;
        }
        self.host.cut = true;
        if let Some(start) = start {
            self.state = start;
            self.doubt_numbers(condition, !holds, EndedBy::Check, condition.span);
            self.run(other);
        }
    }

    /// Whether nothing comes any more of the outermost function.
    fn has_ended(&self) -> bool {
        let outermost = self.state.frames.len() <= 2 && !self.in_lambda() && self.state.loops.is_empty();
        self.state.active.is_empty() && (outermost || !self.state.exited.is_empty())
    }

    fn decided_in_host(&mut self, condition: &Condition) -> Option<bool> {
        let truth = self.truth(condition, Leaving::No);
        if truth.decided { Some(!truth.can_hold.is_empty()) } else { self.follows(condition, &[]) }
    }

    /// Whether what was claimed so far leaves a way on which the numbers in a condition are.
    fn some_way_meets(&self, condition: &Condition) -> bool {
        let mut numbers = Vec::new();
        differences(condition, &mut |difference| numbers.push(Some(difference.clone())));
        !self.cases(&numbers, &[]).0.is_empty()
    }

    /// From here on the variables are not known of which it is asked that `claim` holds, or fails,
    /// which it does not.
    fn doubt_numbers(&mut self, claim: &Expr, holds: bool, by: EndedBy, span: Span) {
        let mut numbers = Vec::new();
        self.doubt_claim(claim, holds, &mut numbers);
        let mut refuted = match &self.state.refuted {
            Some(before) => Refuted::clone(before),
            None => Refuted { span, by, numbers: Vec::new() },
        };
        for number in numbers {
            if !refuted.numbers.contains(&number) {
                refuted.numbers.push(number);
            }
        }
        self.state.refuted = Some(Arc::new(refuted));
    }

    fn doubt_claim(&mut self, claim: &Expr, holds: bool, doubted: &mut Vec<Doubted>) {
        if let Some((variable, divisor)) = divisibility(claim, holds)
            && let Some(multiple) = self.constant(divisor).filter(|divisor| *divisor > 0)
            && self.variable_name(variable).is_some()
        {
            return self.doubt_variables(variable, multiple, doubted);
        }
        match &claim.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.doubt_claim(inner, !holds, doubted),
            ExprKind::Binary(op, a, b)
                if *op == if holds { BinaryOp::LogicalAnd } else { BinaryOp::LogicalOr } =>
            {
                // Only what is not as asked.
                for part in [a, b] {
                    let value = self.evaluate(part);
                    let condition = self.condition_of(&value, part.span);
                    if self.decided_in_host(&condition) != Some(holds) {
                        self.doubt_claim(part, holds, doubted);
                    }
                }
            }
            _ => self.doubt_variables(claim, 1, doubted),
        }
    }

    /// The variables in an expression are no longer known, but to be multiples of a number.
    fn doubt_variables(&mut self, expr: &Expr, multiple: i64, doubted: &mut Vec<Doubted>) {
        if let Some(name) = self.variable_name(expr) {
            if let Ok(pointer) = self.locate(expr) {
                let why = Unknown::new(Reason::DataDependent, NOWHERE, "a number that does not occur");
                let value = self.unknown_of(&pointer.pointee, Variation::Uniform, &name, &why);
                let value = match value {
                    Value::Int(int, scalar) => Value::Int(self.world.scale(&int, multiple), scalar),
                    value => value,
                };
                self.write(&pointer, value, expr.span);
                doubted.push(Doubted { name, multiple });
            }
            return;
        }
        match &expr.kind {
            ExprKind::Call { args, .. } => args.iter().for_each(|arg| self.doubt_variables(arg, 1, doubted)),
            _ => {
                let mut inside = Vec::new();
                children(expr, &mut |child| inside.push(child));
                inside.into_iter().for_each(|child| self.doubt_variables(child, 1, doubted));
            }
        }
    }

    /// The name of a variable that may be changed: `n`, `sizes.n`.
    fn variable_name(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Local(local) => {
                let locals = &self.frame()?.function.locals;
                Some(locals.get(local.0 as usize)?.name.to_string())
            }
            ExprKind::Path(path) => {
                let known = self.program.variables(&path.name);
                let variable = !known.is_empty() && known.iter().all(|it| !it.constant);
                variable.then(|| path.name.to_string())
            }
            ExprKind::Member { base, name, arrow, .. } => {
                let point = if *arrow { "->" } else { "." };
                Some(format!("{}{point}{name}", self.variable_name(base)?))
            }
            _ => None,
        }
    }
}

/// What is asked to be a multiple, and of what, if that is what a claim is: `n % 32 == 0`, or that
/// `n % 32` fails.
fn divisibility(claim: &Expr, holds: bool) -> Option<(&Expr, &Expr)> {
    let is_zero = |expr: &Expr| matches!(expr.kind, ExprKind::Int(0, _));
    let remainder = match &claim.kind {
        ExprKind::Binary(BinaryOp::Eq, a, zero) if holds && is_zero(zero) => a,
        ExprKind::Binary(BinaryOp::Ne, a, zero) if !holds && is_zero(zero) => a,
        ExprKind::Binary(BinaryOp::Rem, ..) if !holds => claim,
        _ => return None,
    };
    match &remainder.kind {
        ExprKind::Binary(BinaryOp::Rem, a, b) => Some((a, b)),
        _ => None,
    }
}

/// The numbers that a condition compares with 0.
pub(super) fn differences<'c>(condition: &'c Condition, each: &mut dyn FnMut(&'c crate::domain::Int)) {
    comparisons(condition, &mut |difference, _| each(difference));
}

/// The same with what each difference is compared for.
pub(super) fn comparisons<'c>(
    condition: &'c Condition,
    each: &mut dyn FnMut(&'c crate::domain::Int, Relation),
) {
    match condition {
        Condition::Known(_) | Condition::Opaque(..) => {}
        Condition::Compare { difference, relation, .. } => each(difference, *relation),
        Condition::Not(inner) => comparisons(inner, each),
        Condition::And(a, b) | Condition::Or(a, b) => {
            comparisons(a, each);
            comparisons(b, each);
        }
    }
}
