//! What do `&&` and `||` evaluate?
//!
//! The second operand is evaluated by the threads that need it. What it reads, a side of the condition need not read
//! again, where that is only taken by threads that evaluated it. Seen in the machine code of nvcc 13.5 for 9.0, of
//! `s[t]` at last:
//!
//! | | |
//! |---|---|
//! | `if (i < n && s[t] > 3) a = s[t];`, also with more operands | in a register |
//! | `if (n < 3 \|\| s[t] > 3) a = 1; else a = s[t];` | in a register |
//! | `if (i < n && s[t] > 3) a = 1; b = s[t];` | read |

use super::condition::{Truth, Within, listed};
use super::interior::Leaving;
use super::machine::Machine;
use super::value::{Condition, Value};
use crate::domain::ThreadSet;
use crate::events::{Split, SplitKind};
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// Evaluates a condition; also the branches of its own operands in which its sides stand.
    pub(super) fn with_operands(&mut self, cond: &Expr) -> (Value, Within) {
        self.compiler.operands = Within::default();
        let value = self.as_truth(cond);
        let within = std::mem::take(&mut self.compiler.operands);
        let has_two = matches!(cond.kind, ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, ..));
        (value, if has_two { within } else { Within::default() })
    }

    /// Runs what stands on one side of a condition, as a branch of its own if it is `apart`.
    pub(super) fn in_side<T>(
        &mut self,
        truth: &Truth,
        holds: bool,
        apart: bool,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let within = &truth.within[usize::from(!holds)];
        self.compiler.registers.enter_again(within);
        let result = self.in_branch(apart, run);
        within.iter().for_each(|_| self.compiler.registers.leave_branch());
        result
    }

    /// `a && b`, `a || b`: `b` is evaluated by the threads that need it. Where it may change something, what it
    /// leaves is held against what was there before.
    pub(super) fn short_circuit(&mut self, a: &Expr, b: &Expr, and: bool, span: Span) -> Value {
        let (left, truth) = self.tested(a, Leaving::No);
        let (go_on, surely) = if and { (truth.can_hold, truth.holds) } else { (truth.can_fail, truth.fails) };
        if may_change(b) {
            let mut right = None;
            let mut second = |machine: &mut Self, side: bool| {
                if side == and {
                    right = Some(machine.as_truth(b));
                }
            };
            self.fork(&truth, a.span, &mut second, [!and, and]);
            self.go_on(span);
            self.compiler.operands = Within::default();
            let right = right.map(|value| self.condition_of(&value, b.span));
            return self.both_operands(left, right.unwrap_or(Condition::Known(go_on)), and);
        }
        let before = (self.state.active, self.state.doubt.clone(), self.state.chosen);
        self.state.active = before.0.and(&go_on);
        let assumed = self.state.assumptions.len();
        if let (Some((taken, words)), Some(_), false) = (&truth.guard, &surely, truth.decided)
            && *taken == and
        {
            words.iter().for_each(|it| self.assume(it.clone()));
        }
        if let Some(why) = truth.why.as_ref().filter(|_| surely.is_none()) {
            match truth.chosen && !truth.uniform {
                true => self.state.add_choice(why),
                false => self.state.add_doubt(why),
            }
        }
        let path = self.state.path.len();
        self.assume_on_path(&truth.told[usize::from(!and)]);
        let mut around = [Vec::new(), Vec::new()];
        let right = if self.state.active.is_empty() {
            Condition::Known(go_on)
        } else {
            let mark = self.branch_mark();
            let split = self.operand_split(&truth, and, before.0, a.span);
            let pushed = split.is_some();
            self.around.splits.extend(split);
            let apart = !truth.decided || truth.at_launch;
            let (right, within) = self.in_side(&truth, and, apart, |machine| {
                let (value, mut within) = machine.with_operands(b);
                within[usize::from(!and)].extend(machine.compiler.registers.innermost());
                (value, within)
            });
            around = within;
            if pushed {
                self.around.splits.pop();
            }
            self.end_branch(&mark);
            self.condition_of(&right, b.span)
        };
        (self.state.active, self.state.doubt, self.state.chosen) = before;
        self.state.path.truncate(path);
        self.assume_no_more_than(assumed);
        self.go_on(span);
        // Where `a && b` holds, and where `a || b` fails, both operands were evaluated.
        let [of_left, of_right] =
            [truth.within, around].map(|[holds, fails]| if and { holds } else { fails });
        let both = [of_left, of_right].concat();
        self.compiler.operands = if and { [both, Vec::new()] } else { [Vec::new(), both] };
        self.both_operands(left, right, and)
    }

    /// `a && b` or `a || b` of two conditions that were evaluated.
    pub(super) fn both_operands(&mut self, left: Condition, right: Condition, and: bool) -> Value {
        match (left, right, and) {
            (Condition::Known(x), Condition::Known(y), true) => self.truth_in(&x.and(&y)),
            (Condition::Known(x), Condition::Known(y), false) => self.truth_in(&x.or(&y)),
            (Condition::Known(x), _, true) | (_, Condition::Known(x), true) if x.is_empty() => {
                self.truth_in(&x)
            }
            (x, y, true) => Value::Condition(Rc::new(Condition::And(Rc::new(x), Rc::new(y)))),
            (x, y, false) => Value::Condition(Rc::new(Condition::Or(Rc::new(x), Rc::new(y)))),
        }
    }

    /// What splits the threads that evaluate the second operand of `&&` or `||` from the others.
    fn operand_split(&mut self, truth: &Truth, and: bool, before: ThreadSet, span: Span) -> Option<Split> {
        let taken = self.state.active;
        let kind = match truth.decided {
            true if self.everyone().minus(&taken).is_empty() => return None,
            true => SplitKind::Known,
            false if truth.uniform => return None,
            false => {
                let assumed = truth.guard.as_ref().map_or(&[][..], |(_, assumed)| assumed);
                truth.split_kind(listed(assumed), before.minus(&taken))
            }
        };
        self.around.next_split += 1;
        Some(Split { id: self.around.next_split, span, branch: and, taken, before, kind, of_loop: false })
    }
}

/// Whether evaluating this may change a variable, or bring threads together.
fn may_change(expr: &Expr) -> bool {
    let mut found = matches!(
        expr.kind,
        ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Call { .. }
            | ExprKind::Construct(..)
            | ExprKind::Asm(..)
            | ExprKind::Unsupported(_)
            | ExprKind::Pack(_)
            | ExprKind::Damaged
    );
    children(expr, &mut |child| found = found || may_change(child));
    found
}
