//! Which numbers does the compiler not know in a round of a loop that stays a loop?
//!
//! We run such a loop round by round where we know the trip count. The compiler has one text for all rounds, and
//! in it a variable that the loop changes is no number. Seen in the machine code of nvcc 13.5 for 9.0:
//!
//! | the round | `temp[bi]` at last |
//! |---|---|
//! | `for (d = 1; d < n; d *= 2, step /= 2) { t = temp[ai]; temp[ai] = temp[bi]; temp[bi] += t; }` with `bi = ai + step` | read again: `step` may be 0 |
//! | the same loop to 512, which is unrolled whole | in a register |
//! | the first loop with `bi = ai + 1` | in a register |
//!
//! So at the start of each round such variables get a part that the compiler does not see
//! ([`Sight`](crate::domain::Sight)), the same in all rounds.

use super::loops::parts::Parts;
use super::machine::Machine;
use super::value::Value;
use crate::domain::{Int, Sight, hashed};
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, LocalId, Stmt};
use std::rc::Rc;

impl Machine<'_> {
    /// A round of a loop begins that the compiler does not unroll whole.
    pub(super) fn hide_carried(&mut self, parts: Parts<'_>) {
        let carried = match self.compiler.carried.get(&parts.span) {
            Some(known) => Rc::clone(known),
            None => {
                let found: Rc<[LocalId]> = carried(parts).into();
                self.compiler.carried.insert(parts.span, Rc::clone(&found));
                found
            }
        };
        let Some(frame) = self.state.frames.last_mut() else { return };
        for local in carried.iter() {
            let number = local.0 as usize;
            let Some(Value::Int(int, scalar)) = frame.slots.get(number).map(|slot| &slot.value) else {
                continue;
            };
            let sight = Sight { hidden: hashed(&("carried", *local, parts.span)), ..int.sight };
            let value = Value::Int(Int { sight, ..int.clone() }, *scalar);
            frame.slots.set_value(number, value);
        }
    }
}

/// The variables that a loop assigns.
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
    let target = match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => Some(target),
        _ => None,
    };
    if let Some(ExprKind::Local(local)) = target.map(|target| &target.kind) {
        found.push(*local);
    }
    children(expr, &mut |child| assigned(child, found));
}
