//! Which barriers may a block pass by?
//!
//! A condition that is the same for all threads of a block may lead past a barrier. A block that takes the other side has
//! none there, and what the barrier orders in other blocks races in this one:
//!
//! ```text
//! s[t] = in[t];
//! if (mode == 1) __syncthreads();
//! out[t] = s[255 - t];               a race in each block for which `mode` is not 1
//! ```
//!
//! Such a block is looked at for itself: with what stands on the side that it takes, and what stands beside the condition
//! and rests on nothing that it asks for. Whether it may take that side is asked as for any other: `if (n > 64)` fails
//! only for small sizes, and what `n` is there the caller knows. So may an assertion that asks for the same, or stands on
//! that side, say that no block takes it.

use super::guards::{PassedBy, is_apart, is_open, of_branch, side_of};
use crate::events::{Asks, Blocks, Event, EventTree, Is};

/// Sides that are looked at in one run, at the most.
const MOST: usize = 16;

/// All such sides of a run.
pub(super) fn sides(tree: &EventTree) -> Vec<PassedBy> {
    let mut found: Vec<PassedBy> = Vec::new();
    for (at, event) in tree.events().iter().enumerate() {
        let Event::Barrier { branches, .. } = event else { continue };
        for (depth, branch) in branches.iter().enumerate() {
            let other = branch ^ 1;
            let is_known = found.len() >= MOST || found.iter().any(|it| it.branch == *branch);
            // What a pointer or data are may be known to the caller.
            let is_free = tree
                .taken(*branch)
                .is_none_or(|taken| taken.blocks == Blocks::ALL || taken.asks == Asks::Data);
            // A block that leaves on that side does not come to what follows.
            if is_known || is_free || may_leave_on(other, tree) || is_ruled_out(other, tree) {
                continue;
            }
            let side = side_of(other, tree).filter(|side| matches!(side.is, Is::Holds(_)));
            // In rounds that are run one by one, what a side does may decide whether there is another.
            let side = side.filter(|side| tree.is_asked_once(*side));
            let Some(side) = side else { continue };
            let taken = branches[..depth].iter().copied().chain([other]);
            let open = taken.filter(|branch| is_open(*branch, tree)).collect();
            let blocks = match of_branch(other, tree) {
                Blocks::NONE => Blocks::ALL,
                blocks => blocks,
            };
            found.push(PassedBy { branch: *branch, at, open, blocks, side });
        }
    }
    found
}

/// Whether a block that takes a branch may leave a loop or a function: on that branch, or on another that asks for the same.
fn may_leave_on(branch: u32, tree: &EventTree) -> bool {
    let asks = |branch: u32| tree.taken(branch).map_or(&Asks::Hidden, |taken| &taken.asks);
    tree.leaves().any(|left| left == branch || !is_apart(asks(left), asks(branch)))
}

/// Whether an assertion may say that no block takes a branch: it stands under it, or asks for the same.
fn is_ruled_out(branch: u32, tree: &EventTree) -> bool {
    let asked = tree.taken(branch).map_or(&Asks::Hidden, |taken| &taken.asks);
    tree.asserted().iter().any(|(asks, branches)| branches.contains(&branch) || !is_apart(asks, asked))
}
