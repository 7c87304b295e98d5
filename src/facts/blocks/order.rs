//! Can anything order an access of one block before an access of another?
//!
//! Only a grid barrier or a signal can: the first block issues a fence after its access and then signals, and the
//! other block waits for the signal. So a device-scope fence must follow the first access, and something by which a
//! thread may wait must precede the second. An atomic alone orders nothing else. Examples with two blocks:
//!
//! ```text
//! block 0                     block 1
//! data[0] = 7;                while (atomicAdd(flag, 0) == 0) {}
//! __threadfence();            x = data[0];            in order
//! atomicExch(flag, 1);
//!
//! data[0] = 7;                while (atomicAdd(flag, 0) == 0) {}
//! atomicExch(flag, 1);        x = data[0];            a race: no fence
//! ```
//!
//! Unfollowed code may be both. Code in a loop comes before and after everything in that loop.

use crate::events::{Event, Orderer, Scope, Trace};
use crate::source::Span;

/// What may order what happens at one place of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// How many barriers of the grid came before.
    phase: usize,
    /// What comes before it by which a thread may wait for another block.
    waits: Option<Span>,
    /// Whether something comes after it that may hand on to other blocks what was done.
    is_released: bool,
    /// The fence of the block's scope that comes after it.
    narrow: Option<Span>,
}

/// Why nothing orders two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Nothing is there that could.
    Nothing,
    /// They are atomic only among the threads of a block.
    Scope,
    /// A thread may wait for the other at `waits`, but no fence hands on what was done: there is none, or only one of
    /// the block's scope.
    Fence { waits: Span, narrow: Option<Span> },
}

impl Place {
    /// What is lacking to order two accesses of different blocks; `None`: they may be in order.
    pub(super) fn lacks(&self, other: &Place) -> Option<Lack> {
        let ordered = |first: &Place, second: &Place| first.is_released && second.waits.is_some();
        if self.phase != other.phase || ordered(self, other) || ordered(other, self) {
            return None;
        }
        let half = |first: &Place, second: &Place| {
            second.waits.map(|waits| Lack::Fence { waits, narrow: first.narrow })
        };
        Some(half(self, other).or_else(|| half(other, self)).unwrap_or(Lack::Nothing))
    }
}

/// What may order each event of a run, in the order of the events.
pub(super) fn places(trace: &Trace) -> Vec<Place> {
    let events = trace.tree.events();
    let is_of_grid =
        |span: Span| trace.barriers.iter().any(|barrier| barrier.of_grid && barrier.span == span);
    let mut places = vec![Place::default(); events.len()];
    let mut now = Place::default();
    for (event, place) in events.iter().zip(&mut places) {
        *place = now;
        match event {
            Event::Barrier { span, .. } => now.phase += usize::from(is_of_grid(*span)),
            event => now.waits = now.waits.or(waits(event)),
        }
    }
    for (event, place) in events.iter().zip(&mut places).rev() {
        (place.is_released, place.narrow) = (now.is_released, now.narrow);
        now.is_released |= releases(event);
        now.narrow = narrow(event).or(now.narrow);
    }
    let mut begins = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Loop { .. } => begins.push(at),
            Event::EndOfLoop { .. } => {
                let body = begins.pop().unwrap_or(at)..at;
                let events = &events[body.clone()];
                let is_released = events.iter().any(releases);
                let (waits, narrow) = (events.iter().find_map(waits), events.iter().find_map(narrow));
                for place in &mut places[body] {
                    place.is_released |= is_released;
                    place.waits = place.waits.or(waits);
                    place.narrow = place.narrow.or(narrow);
                }
            }
            _ => {}
        }
    }
    places
}

/// Where a thread may wait for another block.
fn waits(event: &Event) -> Option<Span> {
    match event {
        Event::MayOrder { span, by: Orderer::Atomic(scope) } => (*scope > Scope::Block).then_some(*span),
        Event::MayOrder { span, by: Orderer::Unknown } => Some(*span),
        _ => None,
    }
}

/// Whether it may hand on to other blocks what was done before.
fn releases(event: &Event) -> bool {
    match event {
        Event::MayOrder { by: Orderer::Fence(scope), .. } => *scope > Scope::Block,
        Event::MayOrder { by: Orderer::Unknown, .. } => true,
        _ => false,
    }
}

/// Where a fence of the block's scope stands.
fn narrow(event: &Event) -> Option<Span> {
    match event {
        Event::MayOrder { span, by: Orderer::Fence(Scope::Block) } => Some(*span),
        _ => None,
    }
}
