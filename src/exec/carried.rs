//! Which numbers does the compiler not know in a round of a loop that stays a loop?
//!
//! We run such a loop round by round where we know the trip count. The compiler has one text for all rounds, and
//! in it a variable that the loop changes is no number. Seen in the machine code of nvcc 13.5 for 9.0:
//!
//! | `for (d = 1; d < n; d *= 2) { t = s[a]; s[a] = s[b]; s[b] += t; step /= 2; }` | the last `s[b]` |
//! |---|---|
//! | `b = a + step` | read again: `step` may be 0 |
//! | the same up to 512, where the loop is unrolled whole | in a register |
//! | `b = a + 1` | in a register |
//!
//! So at the start of each round such variables get a part that the compiler does not see
//! ([`Sight`](crate::domain::Sight)), the same in all rounds.

use super::loops::parts::Parts;
use super::machine::Machine;
use super::value::{Steps, Value};
use crate::domain::{Int, Sight, hashed};
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, LocalId, Stmt};
use crate::slice::root;
use std::rc::Rc;

impl Machine<'_> {
    /// A round of a loop begins that the compiler does not unroll whole.
    pub(super) fn hide_carried(&mut self, parts: Parts<'_>) {
        let carried = match self.compiler.carried.get(&parts.place()) {
            Some(known) => Rc::clone(known),
            None => {
                let found: Rc<[LocalId]> = carried(parts).into();
                self.compiler.carried.insert(parts.place(), Rc::clone(&found));
                found
            }
        };
        let Some(frame) = self.state.frames.last_mut() else { return };
        for local in carried.iter() {
            let number = local.0 as usize;
            let Some(value) = frame.slots.get(number).map(|slot| &slot.value) else { continue };
            if let Some(hidden) = hidden(value, hashed(&(*local, parts.place()))) {
                frame.slots.set_value(number, hidden);
            }
        }
    }
}

/// A number, or an object with numbers, with a part of its own that the compiler does not see.
fn hidden(value: &Value, own: u64) -> Option<Value> {
    match value {
        Value::Int(int, scalar) => {
            let sight = Sight { hidden: own, ..int.sight };
            Some(Value::Int(Int { sight, ..int.clone() }, *scalar))
        }
        Value::Aggregate(parts) if parts.iter().any(|(_, part)| matches!(part, Value::Int(..))) => {
            let part = |(at, (steps, part)): (usize, &(Steps, Value))| {
                (steps.clone(), hidden(part, hashed(&(own, at))).unwrap_or_else(|| part.clone()))
            };
            Some(Value::Aggregate(Rc::new(parts.iter().enumerate().map(part).collect())))
        }
        _ => None,
    }
}

/// The variables that a loop assigns, in whole or in part, or whose address it takes.
fn carried(parts: Parts<'_>) -> Vec<LocalId> {
    let mut found = Vec::new();
    parts.step.iter().for_each(|step| assigned(step, &mut found));
    parts.cond.iter().for_each(|cond| assigned(cond, &mut found));
    parts.body.iter().for_each(|stmt| assigned_in(stmt, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}

fn assigned_in(stmt: &Stmt, found: &mut Vec<LocalId>) {
    own_exprs(stmt, &mut |expr| assigned(expr, found));
    own_stmts(stmt, &mut |stmt| assigned_in(stmt, found));
}

fn assigned(expr: &Expr, found: &mut Vec<LocalId>) {
    if let ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } | ExprKind::AddressOf(target) =
        &expr.kind
    {
        found.extend(root(target).map(|(local, _)| local));
    }
    children(expr, &mut |child| assigned(child, found));
}
