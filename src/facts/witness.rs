//! Does an access surely happen, in some block?

use crate::events::{AccessEvent, Assumption, Blocks, EventTree};

/// Whether an access surely happens, whatever conditions a block may pass by, and is no guess that was made from the
/// arrays' lengths.
pub(super) fn is_possible(event: &AccessEvent) -> bool {
    event.is_sure && !event.is_passable && can_hold(&event.assumptions)
}

/// Whether an access surely happens in some block, and is no such guess.
///
/// A condition on the number of the block, as `blockIdx.x < rows`, is decided for single blocks. The launch or other
/// conditions may rule out what holds under any other condition that is the same for all threads.
pub(super) fn is_possible_in_a_block(event: &AccessEvent, tree: &EventTree) -> bool {
    event.is_sure && takers(event, tree) != Blocks::NONE && can_hold_in_a_block(&event.assumptions)
}

/// The blocks that surely come to an access.
fn takers(event: &AccessEvent, tree: &EventTree) -> Blocks {
    let takers = if event.is_passable { tree.takers(&event.branches) } else { Blocks::ALL };
    takers.and(let_in(event))
}

/// The blocks all of whose threads are let in by what an access asks of their numbers.
pub(super) fn let_in(event: &AccessEvent) -> Blocks {
    let of = |assumption: &Assumption| match assumption {
        // The first one is let in.
        Assumption::UsualBlock { possible: true, blocks: Blocks::NONE, .. } => {
            Some(Blocks::collect(|block| block == [0; 3]))
        }
        Assumption::UsualBlock { blocks, .. } => Some(*blocks),
        _ => None,
    };
    event.assumptions.iter().filter_map(of).fold(Blocks::ALL, Blocks::and)
}

/// Whether it surely happens in any of its threads for some data.
pub(super) fn is_possible_by_choice(event: &AccessEvent, tree: &EventTree) -> bool {
    event.is_chosen && tree.takers(&event.branches) == Blocks::ALL && can_hold(&event.assumptions)
}

/// The blocks in which it surely happens, and what else that rests on. `are_many`: there may be a block for each thread,
/// and only the first rounds of loops are asked for.
pub(super) fn blocks_with(
    event: &AccessEvent,
    tree: &EventTree,
    are_many: bool,
) -> (Blocks, Vec<Assumption>) {
    let mut blocks = if event.is_sure { tree.takers(&event.branches) } else { Blocks::NONE };
    let mut others = Vec::new();
    for assumption in event.assumptions.iter() {
        match assumption {
            Assumption::UsualBlock { of_grid: true, .. } if are_many => {}
            Assumption::UsualBlock { blocks: these, .. } => blocks = blocks.and(*these),
            other => others.push(other.clone()),
        }
    }
    if can_hold(&others) { (blocks, others) } else { (Blocks::NONE, others) }
}

/// Whether assumptions can surely hold at once, and none is a guess that was made from the arrays' lengths.
pub(super) fn can_hold(assumptions: &[Assumption]) -> bool {
    let is_of_block = |it: &Assumption| matches!(it, Assumption::UsualBlock { possible: false, .. });
    can_hold_in_a_block(assumptions) && !assumptions.iter().any(is_of_block)
}

/// The same in the blocks that are [`let_in`], if there are any.
pub(super) fn can_hold_in_a_block(assumptions: &[Assumption]) -> bool {
    can_hold_all(assumptions, false)
}

/// Likewise, for some data.
pub(super) fn can_hold_for_data(assumptions: &[Assumption]) -> bool {
    can_hold_all(assumptions, true)
}

/// Whether a bound lets all threads in for some data only.
pub(super) fn is_bound_by_data(assumption: &Assumption) -> bool {
    matches!(assumption, Assumption::InsideBounds { possible: false, for_data: true, .. })
}

fn can_hold_all(assumptions: &[Assumption], for_data: bool) -> bool {
    let guessed = |it: &Assumption| {
        !(for_data && is_bound_by_data(it))
            && matches!(
                it,
                Assumption::RunsOn { .. }
                    | Assumption::BeginsAt { .. }
                    | Assumption::AtMost { .. }
                    | Assumption::DamageIsHarmless
                    | Assumption::InsideBounds { possible: false, .. }
                    | Assumption::UsualIteration { possible: false, .. }
            )
    };
    !assumptions.iter().any(guessed) && agree(assumptions.iter())
}

/// Whether one block does both of two accesses that each happen in some block.
pub(super) fn are_of_one_block(first: &AccessEvent, second: &AccessEvent, tree: &EventTree) -> bool {
    takers(first, tree).and(takers(second, tree)) != Blocks::NONE && are_possible(first, second)
}

/// Whether the assumptions of both can hold at once.
pub(super) fn are_possible(first: &AccessEvent, second: &AccessEvent) -> bool {
    agree(first.assumptions.iter().chain(second.assumptions.iter()))
}

/// Whether no guard that lets all threads in stands beside one that bounds the same number for all.
fn agree<'a>(assumptions: impl Iterator<Item = &'a Assumption> + Clone) -> bool {
    let bounds = |it: &'a Assumption, of_all: bool| match it {
        Assumption::InsideBounds { bounds, uniform, .. } if *uniform == of_all => Some(bounds),
        _ => None,
    };
    let mut ours = assumptions.clone().filter_map(|it| bounds(it, false));
    ours.all(|bound| assumptions.clone().filter_map(|it| bounds(it, true)).all(|other| other != bound))
}
