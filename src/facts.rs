//! What follows from what happened?
//!
//! Each fact is a fold over the event tree of one run: threads that no barrier orders, indices outside their array,
//! misaligned wide accesses. A fact has a witness: threads that surely do it, under conditions that can hold
//! together. An assumption that no index leaves its array is never used to conclude that one does.

mod aliased;
mod alignment;
mod blocks;
mod bounds;
mod copies;
mod early;
mod first_rounds;
mod freedom;
mod gathered;
mod guards;
mod intervals;
mod lanes;
mod passed;
mod possible;
mod races;
mod spins;
mod unwritten;
mod witness;

pub(crate) use aliased::Overwritten;
pub(crate) use alignment::Misaligned;
pub(crate) use blocks::{Grid, Lack, MemoryRace, TwoBlocks};
pub(crate) use bounds::{InnerOverrun, Overrun};
pub(crate) use copies::{EarlyRead, Lacks};
pub(crate) use freedom::{Doubt, Freedom, Needless, NeedlessBarrier};
pub(crate) use guards::Happens;
pub(crate) use intervals::Across;
pub(crate) use lanes::{LaneFault, Lanes, NotThere};
pub(crate) use possible::{Choice, PossibleRace};
pub(crate) use races::{Between, Race};
pub(crate) use unwritten::Unwritten;

use crate::domain::Shape;
use crate::events::{Ties, Trace};
use crate::source::Span;

/// The most accesses that leave their arrays of which a proof speaks.
const MOST_OVERRUNS: usize = 3;

/// What follows from one run.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Accesses of different threads that nothing orders.
    pub races: Vec<Race>,
    /// The same, with rounds of a loop of which data decide whether it goes on.
    pub rounds: Vec<Race>,
    /// Lanes that write what others of their warp read before, with nothing but their step to order them.
    pub overwritten: Vec<Race>,
    /// Accesses of different warps that nothing orders and that meet for some data.
    pub possible: Vec<PossibleRace>,
    /// Accesses that leave their array.
    pub overruns: Vec<Overrun>,
    /// Accesses that stay in their array by a subscript that lies outside its dimension.
    pub inner_overruns: Vec<InnerOverrun>,
    /// Accesses of dynamic shared memory of which the launch gives none.
    pub without_bytes: Vec<Overrun>,
    /// Asynchronous copies that are read before they have surely arrived.
    pub copies: Vec<EarlyRead>,
    /// What is written to an `extern __shared__` array and overwritten through another.
    pub aliased: Vec<Overwritten>,
    /// Wide accesses of addresses that are no multiple of their width.
    pub misaligned: Vec<Misaligned>,
    /// Reads of what no thread writes.
    pub unwritten: Vec<Unwritten>,
    /// Lanes that do not meet as an intrinsic asks them to.
    pub lanes: Vec<LaneFault>,
    /// Accesses of global memory that nothing orders, if that was asked.
    pub memory: Vec<MemoryRace>,
    /// Whether the threads are proved not to race for shared memory, if that was asked.
    pub freedom: Option<Freedom>,
    /// Which barriers may be taken out, if that was asked and can be told.
    pub needless: Option<Needless>,
}

impl Facts {
    /// The facts of a run with a block of this shape that somebody gave; `dynamic`: the fewest bytes of dynamic shared
    /// memory that a launch gives it; `none`: whether a launch gives it none; `ties`: how much host code
    /// may tie what the kernel is given to the block.
    #[must_use]
    pub(crate) fn of(trace: &Trace, shape: Shape, (dynamic, none): (Option<u64>, bool), ties: Ties) -> Facts {
        let overruns = bounds::find(trace, shape, dynamic, ties);
        let without_bytes = if none { bounds::find(trace, shape, Some(0), ties) } else { Vec::new() };
        let without_bytes =
            without_bytes.into_iter().filter(|it| it.size == 0 && it.happens.is_sure()).collect();
        let inner_overruns = bounds::find_inner(trace, &overruns);
        let mut unwritten = unwritten::find(trace, shape, ties);
        unwritten.extend(early::find(trace, shape, dynamic, &unwritten));
        Facts {
            overruns,
            inner_overruns,
            without_bytes,
            copies: copies::find(trace, shape, ties),
            aliased: aliased::find(trace, shape),
            misaligned: alignment::find(trace, shape),
            unwritten,
            ..Facts::of_races(trace, shape, ties)
        }
    }

    /// Which threads race in a block that nobody gave. One that does not fit, so that threads leave an array or a row
    /// of it, tells nothing.
    #[must_use]
    pub(crate) fn of_supposed_block(trace: &Trace, shape: Shape, ties: Ties) -> Facts {
        let overruns = bounds::find(trace, shape, None, ties);
        match overruns.is_empty() && bounds::find_inner(trace, &overruns).is_empty() {
            true => Facts::of_races(trace, shape, ties),
            false => Facts::default(),
        }
    }

    /// Which threads race, and nothing else.
    fn of_races(trace: &Trace, shape: Shape, ties: Ties) -> Facts {
        let (overwritten, races): (Vec<_>, Vec<_>) =
            races::find(trace, shape, ties).into_iter().partition(|race| race.reads_first);
        let (rounds, races) = races.into_iter().partition(Race::needs_data);
        Facts { races, rounds, overwritten, possible: possible::find(trace, shape), ..Facts::default() }
    }

    /// Without the races of threads of different warps.
    pub(crate) fn of_lanes(mut self) -> Facts {
        let of_lanes = |between: Between| between != Between::Warps;
        for races in [&mut self.races, &mut self.rounds, &mut self.overwritten] {
            races.retain(|race| of_lanes(race.between));
        }
        self.possible.retain(|race| of_lanes(race.between));
        self
    }

    /// The races of a run for shared memory, as far as no data have to choose rounds for them.
    pub(crate) fn races_of(trace: &Trace, shape: Shape, ties: Ties) -> Vec<Race> {
        races::find(trace, shape, ties).into_iter().filter(|race| !race.needs_data()).collect()
    }

    /// Adds the races of other runs that are not known yet.
    pub(crate) fn add_races(&mut self, races: Vec<Race>) {
        for race in races {
            let list = if race.reads_first { &mut self.overwritten } else { &mut self.races };
            if list.iter().all(|known| (known.first, known.second) != (race.first, race.second)) {
                list.push(race);
            }
        }
    }

    /// Adds what follows from a run that was made to see where lanes meet. `given`: whether somebody gave the
    /// block; where not, only what holds in any block is told. `all_seen`: whether nothing that runs unnamed
    /// brings lanes together.
    pub(crate) fn add_lanes(&mut self, trace: &Trace, shape: Shape, given: bool, all_seen: bool) {
        self.lanes = lanes::find(trace, shape, given, all_seen);
    }

    /// Adds the races for global memory of a run that was made to see it, within a block and between blocks.
    pub(crate) fn add_memory(&mut self, trace: &Trace, shape: Shape, grid: Grid) {
        self.memory = blocks::find_within(trace, shape);
        self.memory.extend(blocks::find(trace, shape, grid));
    }

    /// Adds which barriers in a kernel's own body may be taken out, by a run that was made to see global memory.
    pub(crate) fn find_needless(&mut self, trace: &Trace, shape: Shape, body: Span) {
        self.needless = freedom::find_needless(trace, shape, body);
    }

    /// The proof that no threads race in a run, or the doubts about it; `dynamic` and `ties` as in [`Facts::of`].
    #[must_use]
    pub(crate) fn freedom_of(trace: &Trace, shape: Shape, dynamic: Option<u64>, ties: Ties) -> Freedom {
        prove(trace, shape, &bounds::find(trace, shape, dynamic, ties))
    }

    /// Adds the proof that no threads race, or the doubts about it.
    pub(crate) fn prove_freedom(&mut self, trace: &Trace, shape: Shape) {
        self.freedom = Some(prove(trace, shape, &self.overruns));
    }

    /// Takes back what holds only if all that the kernel does was seen: part of the function of this name was not.
    pub(crate) fn doubt_all(&mut self, function: Span) {
        self.unwritten.clear();
        self.needless = None;
        if let Some(freedom) = &mut self.freedom {
            freedom.doubts.insert(0, Doubt::NotParsed(function));
        }
    }
}

/// The proof that no threads race, or the doubts about it. What leaves its array may meet what is in another.
fn prove(trace: &Trace, shape: Shape, overruns: &[Overrun]) -> Freedom {
    let mut freedom = freedom::prove(trace, shape);
    let is_alone = trace.arrays.iter().filter(|array| !array.global).nth(1).is_none();
    let doubts = overruns.iter().map(|overrun| Doubt::Overrun(overrun.access));
    freedom.doubts.extend(doubts.take(if is_alone { 0 } else { MOST_OVERRUNS }));
    freedom
}
