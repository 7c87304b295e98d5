//! How many blocks does a launch have at the most, whatever it is given?
//!
//! A kernel whose loop steps by the number of blocks has a second round where there are fewer blocks than work:
//!
//! | grid | at the most |
//! |---|---|
//! | `std::min((n + 255) / 256, 65535)` | 65535, however large `n` is |
//! | `2 * std::min(n, 1024)` | 2048 |
//! | `if (blocks > 1024) blocks = 1024;` | 1024 |
//! | `n = std::min(n, 1024); k<<<n, 256>>>(n)` | it is not asked: the work is limited, too |
//! | `(n + 255) / 256` | any number: as many as `n` asks for |

use super::Machine;
use crate::domain::{Int, Origin, SymbolId};
use crate::exec::machine::{How, Made};
use crate::exec::types::Ty;
use crate::exec::value::{Condition, Relation};
use crate::ir::Expr;

/// How deeply a limit is looked for in another.
const DEEPEST: usize = 4;

impl Machine<'_> {
    /// The most blocks along each axis of a grid, where host code limits them by a constant, and not what it gives to the
    /// kernel: each of the arguments is a constant, or a number of which nothing is known.
    pub(in crate::exec) fn most_blocks(
        &mut self,
        grid: &[Option<Int>; 3],
        args: &[Expr],
        numbers: &[Option<Int>],
    ) -> [Option<i64>; 3] {
        let is_short = |ty: Ty| matches!(ty, Ty::Scalar(scalar) if scalar.is_integer() && scalar.bytes() < 4);
        let is_narrow = args.iter().any(|arg| is_short(self.type_of(arg)));
        let asked = self.asked_for();
        let is_any = |id: SymbolId| {
            let symbol = self.world.symbols.get(id);
            let is_given = symbol.origin == Origin::Given && self.world.symbols.is_unbounded(id);
            is_given && !self.host.made.contains_key(&id) && !asked.contains(&id)
        };
        let is_free = |number: &Int| number.terms.iter().all(|(id, _)| is_any(*id));
        if !asked.is_empty() && !grid.iter().flatten().all(|blocks| self.is_of_none(blocks, &asked, DEEPEST))
            || !numbers.iter().flatten().all(is_free)
            || is_narrow
        {
            return [None; 3];
        }
        grid.each_ref().map(|blocks| blocks.as_ref().and_then(|blocks| self.limit(blocks, DEEPEST)))
    }

    fn limit(&self, number: &Int, depth: usize) -> Option<i64> {
        let [(id, factor)] = number.terms.as_slice() else { return None };
        let factor = factor.as_constant().filter(|factor| *factor > 0)?;
        let made = self.host.made.get(id).filter(|made| depth > 0 && self.is_least(made))?;
        let limits = [&made.x, &made.y].map(|it| it.as_constant().or_else(|| self.limit(it, depth - 1)));
        let least = limits.into_iter().flatten().min()?;
        least.checked_mul(factor)?.checked_add(number.base.as_constant()?)
    }

    /// Whether a number is made of none of these.
    fn is_of_none(&self, number: &Int, of: &[SymbolId], depth: usize) -> bool {
        number.terms.iter().all(|(id, _)| match self.host.made.get(id) {
            Some(made) if depth > 0 => {
                self.is_of_none(&made.x, of, depth - 1) && self.is_of_none(&made.y, of, depth - 1)
            }
            Some(_) => false,
            None => !of.contains(id),
        })
    }

    /// Whether a number is the smaller of the two that it is made of.
    fn is_least(&self, made: &Made) -> bool {
        let choice = match made.how {
            How::Min => return true,
            How::Either(choice) => choice,
            How::Operation(_) | How::Max => return false,
        };
        let Some(Condition::Compare { difference, relation, .. }) = self.host.conditions.get(&choice) else {
            return false;
        };
        // It is `x` where the condition holds.
        let is = |a: &Int, b: &Int| self.world.sub(a, b) == *difference;
        match relation {
            Relation::Less | Relation::LessEqual => is(&made.x, &made.y),
            Relation::Greater | Relation::GreaterEqual => is(&made.y, &made.x),
            Relation::Equal | Relation::NotEqual => false,
        }
    }
}
