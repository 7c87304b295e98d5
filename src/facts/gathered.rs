//! How often had the lanes of a warp come together before an access?
//!
//! `__syncwarp` orders the memory of the lanes that reach it; shuffles and votes only exchange values. Each lane counts
//! both. If one of two lanes has reached no `__syncwarp` between two accesses, none can have ordered them:
//!
//! ```text
//! s[lane] = x;
//! if (lane < 16) __syncwarp(0xffff);
//! y = s[31 - lane];                     lane 0 has counted one more, lane 31 has not: unordered
//! ```

use crate::domain::Shape;
use crate::events::{Event, PerTile, WarpTile};
use crate::source::Span;

/// By thread: how often it came to a place where lanes come together.
#[derive(Clone, Debug)]
pub(super) struct Met {
    /// Where memory is ordered, by the size of the tile that comes together.
    fences: Vec<PerTile<u32>>,
    /// Where only values are exchanged.
    exchanges: Vec<u32>,
    /// The last of these.
    exchange: Option<Span>,
}

impl Met {
    /// Nobody has come anywhere.
    pub(super) fn none(shape: Shape) -> Met {
        let (fences, exchanges) = (vec![PerTile::default(); shape.threads()], vec![0; shape.threads()]);
        Met { fences, exchanges, exchange: None }
    }

    /// Counts an event, if it brings lanes together.
    pub(super) fn pass(&mut self, event: &Event) {
        match event {
            Event::WarpOrder { threads, tile, is_fence: true, .. } => {
                threads.threads().for_each(|thread| *self.fences[thread].at_mut(*tile) += 1);
            }
            Event::WarpOrder { span, threads, is_fence: false, .. } => {
                self.exchange = Some(*span);
                threads.threads().for_each(|thread| self.exchanges[thread] += 1);
            }
            _ => {}
        }
    }

    /// Whether nothing has ordered the memory of two threads of one warp since.
    pub(super) fn is_unordered_since(&self, before: &Met, (one, other): (usize, usize)) -> bool {
        let meets_nobody = |thread: usize| {
            let mut tiles = WarpTile::all().filter(|tile| tile.holds_both(one, other));
            tiles.all(|tile| before.fences[thread].at(tile) == self.fences[thread].at(tile))
        };
        meets_nobody(one) || meets_nobody(other)
    }

    /// Whether a thread has exchanged values since.
    pub(super) fn has_exchanged_since(&self, before: &Met, thread: usize) -> bool {
        before.exchanges[thread] != self.exchanges[thread]
    }

    /// Where both of two threads have exchanged values since.
    pub(super) fn exchange_since(&self, before: &Met, (one, other): (usize, usize)) -> Option<Span> {
        let has = |thread: usize| self.has_exchanged_since(before, thread);
        self.exchange.filter(|_| has(one) && has(other))
    }
}
