//! What is an access of global memory made of, as far as two blocks are compared by it?
//!
//! ```text
//! a[(blockIdx.y * 16 + threadIdx.y) * w + k]       float a[], k counts rounds
//!
//! known        0 bytes in every thread
//! by block     nothing
//! rest         w, 4 * threadIdx.y times; k, 4 times
//! products     of blockIdx.y and w, 64 times
//! ```

use super::super::witness::blocks_with;
use super::Grid;
use super::order::Place;
use crate::domain::{AmongBlocks, Origin, Shape, Spread, Symbol, SymbolId};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Blocks, Event, Operation, Scope, Trace};
use smallvec::SmallVec;
use std::sync::Arc;

/// An access, by what its address is made of.
pub(super) struct Step<'a> {
    pub(super) event: &'a AccessEvent,
    pub(super) access: &'a Access,
    pub(super) bytes: i64,
    /// By thread: what is known.
    pub(super) offsets: Arc<Spread>,
    /// What the block's number is multiplied with, by axis.
    by_block: [i64; 3],
    /// Other numbers and what they are multiplied with, by thread. They are the same for both blocks but for
    /// products with the block's number.
    rest: Vec<(SymbolId, Arc<Spread>)>,
    /// Products of the block's number: the axis, the other factor, and what they are multiplied with.
    products: Vec<(usize, SymbolId, i64)>,
    /// Axes along which two blocks cannot be compared.
    pub(super) opaque: [bool; 3],
    /// The blocks in which it surely happens.
    pub(super) blocks: Blocks,
    /// What else is taken for granted of it.
    pub(super) assumptions: Vec<Assumption>,
    /// What may order it.
    pub(super) place: Place,
    /// Whether it reads what a compare-and-swap of the same thread is told to find, so that it does no harm if an
    /// atomic of another thread comes between: the swap fails, and the thread tries again.
    pub(super) is_checked: bool,
    /// Whether no two blocks do it: the one whose turn it is.
    pub(super) is_turn: bool,
}

/// What numbers that are not known are multiplied with, sorted by them. Where two threads agree in it, the distance
/// of their addresses is known.
pub(super) type Rest = SmallVec<[(SymbolId, i64); 4]>;

/// The event, if it is a compare-and-swap of global memory; 64-bit atomics are not told apart.
pub(super) fn swap<'a>(trace: &Trace, event: &'a Event) -> Option<&'a AccessEvent> {
    let Event::Access(event) = event else { return None };
    let atomic = trace.accesses.get(event.access)?.atomic.as_ref()?;
    let may_swap = matches!(atomic.operation, Operation::CompareAndSwap | Operation::Wide);
    (may_swap && atomic.used).then_some(event)
}

pub(super) fn step<'a>(
    trace: &'a Trace,
    event: &'a AccessEvent,
    place: Place,
    (shape, grid): (Shape, Grid),
) -> Option<Step<'a>> {
    let access = trace.accesses.get(event.access).filter(|access| trace.arrays[access.array].global)?;
    let is_turn = trace.tree.is_turn(&event.branches);
    // For each thread of a block, there may be a block.
    let threads = i64::try_from(shape.threads()).unwrap_or(i64::MAX);
    let are_many = grid.iter().all(|blocks| blocks.is_none_or(|blocks| blocks == 1 || blocks >= threads));
    let (blocks, assumptions) = blocks_with(event, &trace.tree, is_turn && are_many);
    let offset = event.offset.as_ref().filter(|_| blocks != Blocks::NONE)?;
    let mut step = Step {
        event,
        access,
        bytes: i64::from(access.bytes?),
        offsets: offset.base.spread(shape),
        by_block: [0; 3],
        rest: Vec::new(),
        products: Vec::new(),
        opaque: [false; 3],
        blocks,
        assumptions,
        place,
        is_checked: false,
        is_turn,
    };
    let usual = |it: &Assumption| matches!(it, Assumption::UsualIteration { .. });
    let in_first_round = is_turn && !step.assumptions.iter().any(usual);
    for (id, factor) in &offset.terms {
        let symbol = trace.tree.symbol(*id).filter(|_| !id.is_per_thread())?;
        // What one block does alone is no other's round: the first is as good as any.
        if in_first_round && symbol.origin == Origin::Loop {
            continue;
        }
        if let Some(axis) = axis_of(symbol) {
            step.by_block[axis] = factor.as_constant()?;
            continue;
        }
        let mut axes = Vec::new();
        let mut others = Vec::new();
        for part in &symbol.factors {
            let known = trace.tree.symbol(*part)?;
            match axis_of(known) {
                Some(axis) => axes.push(axis),
                None if is_for_all_blocks(known) => others.push(*part),
                None => return None,
            }
        }
        match (axes.as_slice(), others.as_slice(), factor.as_constant()) {
            ([], ..) => {}
            ([axis], [other], Some(factor)) => step.products.push((*axis, *other, factor)),
            _ => axes.iter().for_each(|axis| step.opaque[*axis] = true),
        }
        step.rest.push((*id, factor.spread(shape)));
    }
    Some(step)
}

/// The axis of the block's number, if a symbol is that.
pub(super) fn axis_of(symbol: &Symbol) -> Option<usize> {
    match symbol.among_blocks {
        AmongBlocks::Index(axis) => Some(axis),
        AmongBlocks::Same | AmongBlocks::Any => None,
    }
}

/// Whether two blocks have the same for a number, or may: that of a round is any there is.
fn is_for_all_blocks(symbol: &Symbol) -> bool {
    symbol.among_blocks == AmongBlocks::Same || symbol.origin == Origin::Loop
}

impl Step<'_> {
    /// Of a thread in a block. Example: with `blockIdx.y * w` for a row, the thread has one `w` more than that of the
    /// block before it in y.
    pub(super) fn rest(&self, thread: usize, block: [i64; 3]) -> Rest {
        let mut rest: Rest = self.rest.iter().map(|(id, factors)| (*id, factors[thread])).collect();
        for (axis, id, factor) in self.products.iter().filter(|(axis, ..)| block[*axis] != 0) {
            let more = factor.wrapping_mul(block[*axis]);
            match rest.iter_mut().find(|(known, _)| known == id) {
                Some((_, known)) => *known = known.wrapping_add(more),
                None => rest.push((*id, more)),
            }
        }
        rest.retain(|(_, factor)| *factor != 0);
        rest.sort_unstable();
        rest
    }

    /// The byte at which a thread of a block begins, but for the rest.
    pub(super) fn offset(&self, thread: usize, block: [i64; 3]) -> i64 {
        let of_block = (0..3).map(|axis| self.by_block[axis].wrapping_mul(block[axis]));
        of_block.fold(self.offsets[thread], i64::wrapping_add)
    }

    /// Whether its address depends on the block as that of another does.
    pub(super) fn moves_as(&self, other: &Step<'_>) -> bool {
        self.by_block == other.by_block && self.products == other.products
    }

    /// Whether a bound that does not look at the block's number may keep some of its threads from it.
    pub(super) fn is_cut_short(&self) -> bool {
        self.assumptions
            .iter()
            .any(|it| matches!(it, Assumption::InsideBounds { own: true, uniform: false, .. }))
    }

    pub(super) fn writes(&self) -> bool {
        self.access.op == AccessOp::Store
    }

    /// Whether what is there may be another thing then.
    pub(super) fn changes(&self) -> bool {
        self.writes() || self.access.op == AccessOp::Atomic
    }

    /// Whether it writes what the block whose turn it is reads. Whoever has its turn knows that all have drawn their
    /// tickets: what they did by atomics is done.
    pub(super) fn hands_over(&self, other: &Step<'_>) -> bool {
        let is_plain = |step: &Step<'_>| step.scope().is_none();
        self.writes()
            && is_plain(self)
            && !self.is_turn
            && other.is_turn
            && !other.changes()
            && is_plain(other)
    }

    /// Whether it reads what an atomic of another thread may change without harm.
    pub(super) fn is_guess_for(&self, other: &Step<'_>) -> bool {
        self.is_checked && self.access.op == AccessOp::Load && other.scope().is_some()
    }

    /// The threads for which it is one step, if it is an atomic.
    pub(super) fn scope(&self) -> Option<Scope> {
        let scope = self.access.atomic.as_ref().map_or(Scope::Device, |atomic| atomic.scope);
        self.access.is_atomic().then_some(scope)
    }
}
