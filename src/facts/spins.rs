//! Where may threads of a block have waited for each other by atomics?
//!
//! A loop that does nothing but ask an atomic waits: for a lock, a turn or a flag. What stands behind it, up to the next
//! barrier of the block, one thread may do after another, though nothing in the text of it tells them apart:
//!
//! ```text
//! while (atomicCAS(&lock, 0, 1)) {}       the threads come through one by one
//! sum += x;
//! atomicExch(&lock, 0);
//! ```
//!
//! The next atomic on what was asked gives it back: what follows is for all again.
//!
//! A loop in which something else is done, or that counts on by one, such as `while ((i = atomicAdd(&next, 1)) < n)`, is
//! no such loop.

use crate::events::{Atomic, Event, GoesOn, Operation, Orderer, Trace};

/// Of each event of a run, in order, whether it stands behind such a wait.
pub(super) fn behind_waits(trace: &Trace) -> Vec<bool> {
    let events = trace.tree.events();
    let mut behind = vec![false; events.len()];
    let (mut waited, mut begins) = (false, Vec::new());
    // The variables that were asked.
    let mut asked: Vec<u32> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Loop { .. } => begins.push(at),
            Event::EndOfLoop { goes_on, .. } => {
                let begin = begins.pop().unwrap_or(at);
                if *goes_on != GoesOn::Surely && only_asks(trace, &events[begin + 1..at]) {
                    waited = true;
                    asked.extend(events[begin + 1..at].iter().filter_map(|event| atomic_on(trace, event)));
                }
                // A wait at the end of a round is one before the next.
                if waited {
                    let next = behind[begin..at].iter_mut().zip(&events[begin..at]);
                    next.take_while(|(_, event)| !is_of_block(event)).for_each(|(behind, _)| *behind = true);
                }
            }
            event if is_of_block(event) => waited = false,
            event => waited &= !atomic_on(trace, event).is_some_and(|object| asked.contains(&object)),
        }
        behind[at] = waited;
    }
    behind
}

/// The variable in shared memory on which an event is an atomic.
fn atomic_on(trace: &Trace, event: &Event) -> Option<u32> {
    match event {
        Event::Access(event) if trace.accesses[event.access].atomic.is_some() => Some(event.object),
        _ => None,
    }
}

fn is_of_block(event: &Event) -> bool {
    matches!(event, Event::Barrier { all: Some(true), .. })
}

/// Whether a round of a loop does nothing but ask atomics, none of which counts.
fn only_asks(trace: &Trace, round: &[Event]) -> bool {
    let is_atomic = |event: &Event| match event {
        Event::MayOrder { by: Orderer::Atomic(_), .. } => true,
        Event::Access(event) => trace.accesses[event.access].atomic.is_some(),
        _ => false,
    };
    let asks = |event: &Event| match event {
        Event::MayOrder { .. } | Event::NextRound { .. } => true,
        Event::Access(event) => trace.accesses[event.access].atomic.as_ref().is_some_and(|it| !counts(it)),
        _ => false,
    };
    round.iter().any(is_atomic) && round.iter().all(asks)
}

fn counts(atomic: &Atomic) -> bool {
    atomic.operation == Operation::Add && atomic.adds_one
}
