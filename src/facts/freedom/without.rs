//! Which barriers can be removed together?
//!
//! A barrier is needless if nothing that it orders must be ordered: for each access before it and each after it that
//! no other barrier separates, both read, or no two threads can touch the same byte. The walk that proves freedom
//! from races checks this without the barrier. For shared memory, the whole proof must hold; for global memory, only
//! accesses on different sides of the barrier are compared. Example, in a block of 128:
//!
//! ```text
//! s[t] = in[t];        A
//! __syncthreads();         stays: C reads what another thread wrote in A
//! x = s[127 - t];      C
//! __syncthreads();         needless: D goes to another array than A and C
//! r[t] = x;            D
//! __syncthreads();         needless, too: E reads what its own thread wrote in D
//! out[t] = r[t];       E
//! ```
//!
//! Barriers are tried in program order, each without those already found needless. Removing fewer of them is fine
//! too: the remaining ones only order more.
//!
//! Barriers order more than shared memory. [`pair::memory`](super::pair::memory) decides for global memory. If
//! something is not followed, or threads may wait for each other, only a barrier with nothing after it is needless.
//! If printed text or a clock may reveal the order, none is.

use super::{MOST_STEPS, Walk};
use crate::domain::Shape;
use crate::events::{Assumption, Barrier, Event, Trace};
use crate::source::Span;

/// Barriers of one kernel that are tried, at the most.
const MOST_TRIED: usize = 64;

/// What is known of the barriers of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needless {
    /// Those that may be taken out together.
    pub barriers: Vec<NeedlessBarrier>,
    /// The others.
    pub needed: Vec<Span>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// A barrier that may be taken out.
#[derive(Clone, Debug)]
pub(crate) struct NeedlessBarrier {
    /// Where it stands.
    pub span: Span,
    /// The nearest barrier before it that stays.
    pub before: Option<Span>,
    /// The nearest behind it that stays, if it is needless because of what happens up to there.
    pub after: Option<Span>,
    /// Whether no memory is accessed behind it.
    pub is_last: bool,
}

/// The barriers in the text of a kernel's own body that may be taken out, by a run that was made to see global
/// memory, too; `None` where nothing can be told.
pub(crate) fn find(trace: &Trace, shape: Shape, body: Span) -> Option<Needless> {
    let tree = &trace.tree;
    let odd = |barrier: &Barrier| barrier.of_grid || barrier.count.is_some() || barrier.number != 0;
    let differs = |event: &Event| matches!(event, Event::MayDiffer { .. });
    let is_open = trace.stopped.is_some() || tree.is_cut() || tree.is_volatile() || tree.is_watched();
    if is_open || trace.barriers.iter().any(odd) || tree.events().iter().any(differs) {
        return None;
    }
    let unclear = |event: &Event| matches!(event, Event::MayAccess { .. } | Event::MayOrder { .. });
    let is_clear = !tree.events().iter().any(unclear);
    let mut search = Search { trace, shape, left: MOST_STEPS };
    let mut gone: Vec<Span> = Vec::new();
    let mut found = Needless::default();
    let all = search.in_order();
    for span in all.iter().rev() {
        if search.is_plain(*span, body) && search.is_last(*span, &gone) {
            gone.push(*span);
        }
    }
    for (number, span) in all.iter().enumerate() {
        if gone.contains(span) {
            continue;
        }
        let may_go = number < MOST_TRIED && search.is_plain(*span, body) && search.is_sure(*span);
        if is_clear && may_go && search.hold_without(&gone, *span, &mut found) {
            gone.push(*span);
        } else {
            found.needed.push(*span);
        }
    }
    found.barriers = gone.iter().map(|span| search.around(*span, &gone)).collect();
    Some(found)
}

struct Search<'a> {
    trace: &'a Trace,
    shape: Shape,
    /// Comparisons that are left.
    left: u64,
}

impl Search<'_> {
    fn events(&self) -> &[Event] {
        self.trace.tree.events()
    }

    /// Where barriers stand, in the order in which they are met.
    fn in_order(&self) -> Vec<Span> {
        let mut found = Vec::new();
        for event in self.events() {
            if let Event::Barrier { span, .. } = event
                && !found.contains(span)
            {
                found.push(*span);
            }
        }
        found
    }

    /// Whether all threads come to a barrier.
    fn is_sure(&self, barrier: Span) -> bool {
        self.events().iter().all(|event| match event {
            Event::Barrier { span, is_sure, .. } => *span != barrier || *is_sure,
            _ => true,
        })
    }

    /// Whether a barrier waits for the whole block and for nothing else, and stands in this text.
    fn is_plain(&self, span: Span, body: Span) -> bool {
        let mut here = self.trace.barriers.iter().filter(|barrier| barrier.span == span).peekable();
        let inside = span.file == body.file && body.start <= span.start && span.end <= body.end;
        let of_block = |it: &Barrier| matches!(&*it.name, "__syncthreads" | "sync") && it.calls.is_empty();
        inside && here.peek().is_some() && here.all(of_block)
    }

    /// Whether nothing happens any more behind a barrier but others that go.
    fn is_last(&self, barrier: Span, gone: &[Span]) -> bool {
        let is_it = |event: &Event| matches!(event, Event::Barrier { span, .. } if *span == barrier);
        let Some(first) = self.events().iter().position(is_it) else { return false };
        // What stands in a loop comes again.
        let depth = self.events()[..first].iter().fold(0, |depth: usize, event| match event {
            Event::Loop { .. } => depth + 1,
            Event::EndOfLoop { .. } => depth.saturating_sub(1),
            _ => depth,
        });
        let is_nothing = |event: &Event| match event {
            Event::Barrier { span, .. } => *span == barrier || gone.contains(span),
            _ => false,
        };
        depth == 0 && self.events()[first..].iter().all(is_nothing)
    }

    /// Whether nothing is in doubt that these barriers and one more order. If so, what that rests on is noted.
    fn hold_without(&mut self, gone: &[Span], more: Span, found: &mut Needless) -> bool {
        let gone = [gone, &[more]].concat();
        let mut walk = Walk::new(self.trace, self.shape, Some(&gone), self.left);
        walk.note_assumptions();
        walk.pass(0..self.events().len(), Vec::new(), true);
        self.left = walk.left;
        // What a library does to its own memory may change with its next release.
        let of_library = |it: &Assumption| matches!(it, Assumption::LibraryWorks { .. });
        if !walk.found.doubts.is_empty() || walk.found.assumptions.iter().any(of_library) {
            return false;
        }
        found.assumptions.clone_from(&walk.found.assumptions);
        true
    }

    /// What stays around a barrier that goes. Behind the end of a loop's body comes its beginning.
    fn around(&self, barrier: Span, gone: &[Span]) -> NeedlessBarrier {
        let events = self.events();
        let stays = |event: &Event| match event {
            Event::Barrier { span, is_sure: true, .. } if !gone.contains(span) => Some(*span),
            _ => None,
        };
        let is_it = |event: &Event| matches!(event, Event::Barrier { span, .. } if *span == barrier);
        let first = events.iter().position(is_it).unwrap_or(0);
        let last = events.iter().rposition(is_it).unwrap_or(first);
        let before = events[..first].iter().rev().find_map(stays);
        let mut after = None;
        let mut depth = 0usize;
        for (at, event) in events.iter().enumerate().skip(last + 1) {
            match event {
                Event::Loop { .. } => depth += 1,
                Event::EndOfLoop { .. } if depth > 0 => depth -= 1,
                Event::EndOfLoop { .. } => {
                    let begin = self.begin_of_loop(at);
                    after = events[begin..last].iter().find_map(stays);
                }
                _ => after = stays(event),
            }
            if after.is_some() {
                break;
            }
        }
        let is_last = self.is_last(barrier, gone);
        NeedlessBarrier { span: barrier, before, after, is_last }
    }

    /// Where the loop begins that ends with this event.
    fn begin_of_loop(&self, end: usize) -> usize {
        let mut depth = 0usize;
        let begins = |event: &Event| {
            match event {
                Event::EndOfLoop { .. } => depth += 1,
                Event::Loop { .. } if depth == 0 => return true,
                Event::Loop { .. } => depth -= 1,
                _ => {}
            }
            false
        };
        self.events()[..end].iter().rposition(begins).unwrap_or(0)
    }
}
