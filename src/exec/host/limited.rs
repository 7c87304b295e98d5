//! How many blocks does a launch have at the most, whatever it is given?
//!
//! A kernel whose loop steps by the number of blocks has a second round where there are fewer blocks than work:
//!
//! | grid | at the most |
//! |---|---|
//! | `std::min((n + 255) / 256, 65535)` | 65535, however large `n` is |
//! | `2 * std::min(n, 1024)` | 2048 |
//! | `if (blocks > 1024) blocks = 1024;` | 1024 |
//! | `(n + 255) / 256` | any number: as many as `n` asks for |

use super::Machine;
use crate::domain::Int;
use crate::exec::machine::{How, Made};
use crate::exec::value::{Condition, Relation};

/// How deeply a limit is looked for in another.
const DEEPEST: usize = 4;

impl Machine<'_> {
    /// The most blocks along each axis of a grid, where host code limits them by a constant.
    pub(in crate::exec) fn most_blocks(&self, grid: &[Option<Int>; 3]) -> [Option<i64>; 3] {
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
