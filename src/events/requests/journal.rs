//! How are requests taken back to an earlier moment?
//!
//! A loop's body is probed before it is counted, and what was supposed of a loop may turn out not to be.
//! Whatever is noted is therefore written down, so that it can be undone, the last first.

use super::reduce::Requested;
use super::{LeftOut, Requests};
use crate::domain::Unknown;
use crate::events::{Access, First, Pattern, Ways};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// A change that can be taken back.
#[derive(Debug)]
pub(super) enum Undo {
    /// A pattern happened again, in this loop of unknown length.
    Again {
        site: u32,
        pattern: u32,
        by: u64,
        warp: u32,
        within: Option<Span>,
        elsewhere: bool,
        strays: bool,
        turn: u32,
    },
    /// A site was reached.
    Occurrence { site: u32 },
    /// What a site reads was in a register, or what it writes is left out.
    Kept { site: u32 },
    /// A site got its last pattern.
    Pattern { site: u32, pattern: u32, by: u64, warp: u32, within: Option<Span> },
    /// A pattern of which all was left out happened again.
    Anew { site: u32, pattern: u32, by: u64, warp: u32, within: Option<Span>, was: Box<Pattern> },
    /// What a pattern was counted for is left out.
    LeftOut { site: u32, pattern: u32, by: u64, warp: u32, within: Option<Span> },
    /// A pattern was reached by another way.
    Ways { site: u32, pattern: u32, was: Ways },
    /// The last site was new.
    Site,
    /// A site became unknown.
    Unknown { site: u32 },
    /// A site became doubtful.
    Doubt { site: u32, was: Option<Box<Unknown>> },
    /// A site was seen to leave its array.
    Outside { site: u32 },
    /// A lane that may be active lies outside.
    MayBeOutside { site: u32 },
    /// A site was seen to leave its array in an earlier thread, or for the first time.
    Overrun { site: u32, was: Option<u32> },
    /// A site was reached in rounds of which there may be fewer.
    AtMost { site: u32 },
    /// A site got its last loop whose rounds are not alike.
    Rounds { site: u32 },
    /// A site got its last assumption.
    Assumption { site: u32 },
    /// A store was made after all, by its number among those that are left out for one in a loop.
    Made { at: usize },
}

/// A store that was counted.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub site: u32,
    /// The changes that it made.
    pub noted: Range<usize>,
    /// Its place in program order.
    pub position: u32,
}

/// A store that is left out as one in a loop overwrites it.
#[derive(Debug)]
pub(super) struct LeftOutForLoop {
    /// Its number.
    store: u32,
    /// The patterns that first happened there.
    firsts: SmallVec<[(u32, First); 1]>,
    /// Whether the compiler makes it after all.
    is_made: bool,
}

/// A load of what is in a register, if the code since a region is straight.
#[derive(Debug)]
pub(super) struct PerhapsKept {
    pub counted: Counted,
    /// The region.
    pub since: u32,
    /// Which of the loads of its site in a round it is, if that made it in the round before, too.
    pub again: Option<u32>,
    /// Of the loops around it that are written out, the latest.
    pub early: Early,
    /// Whether it is known.
    pub is_settled: bool,
    /// Whether it is taken to be made though the compiler may have it in a register.
    pub is_uncertain: bool,
}

/// Whether the compiler has written out a loop by the time at which it takes what does not change out of the loops
/// around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Early {
    /// It has not, so that each round of a loop around reads all of it again.
    Never,
    /// Not known.
    Perhaps,
    /// It has.
    Surely,
}

/// What the compiler makes of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LoopCode {
    /// Each round is code of its own.
    WrittenOut(Early),
    /// One text for all of so many rounds, or for some of them where that is not known.
    Loop { rounds: u64, may_be_written_out: bool },
}

/// A moment to which requests can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestMark {
    pub(super) journal: usize,
    accesses: u32,
    writes: u32,
    stores: usize,
    left_out: [usize; 2],
    left_out_for_loop: usize,
    perhaps_kept: usize,
}

impl Requests {
    /// The requests as they are now.
    #[must_use]
    pub(crate) fn mark(&self) -> RequestMark {
        RequestMark {
            journal: self.journal.len(),
            accesses: self.accesses,
            writes: self.writes,
            stores: self.stores.len(),
            left_out: [self.left_out.stores.len(), self.left_out.loads.len()],
            left_out_for_loop: self.left_out_for_loop.len(),
            perhaps_kept: self.perhaps_kept.len(),
        }
    }

    /// Takes back what was noted since the mark.
    pub(crate) fn rollback(&mut self, mark: &RequestMark, accesses: &mut Vec<Access>) {
        (self.accesses, self.writes) = (mark.accesses, mark.writes);
        while self.journal.len() > mark.journal {
            let Some(undo) = self.journal.pop() else { return };
            self.undo(undo, accesses);
        }
        self.stores.truncate(mark.stores);
        let [stores, loads] = mark.left_out;
        self.left_out.stores.truncate(stores);
        self.left_out.loads.truncate(loads);
        self.left_out_for_loop.truncate(mark.left_out_for_loop);
        self.perhaps_kept.truncate(mark.perhaps_kept);
    }

    /// Stores so far, which is the number of the next one.
    #[must_use]
    pub(crate) fn stores(&self) -> u32 {
        self.stores.len() as u32
    }

    /// The compiler leaves out a store that was counted, by its number, for a later one.
    pub(crate) fn leave_out(&mut self, number: u32, later_is_in_loop: bool, accesses: &mut [Access]) {
        let Some(Counted { site, noted, position }) = self.stores.get(number as usize).cloned() else {
            return;
        };
        let access = &mut accesses[site as usize];
        if later_is_in_loop {
            let patterns = noted.clone().filter_map(|at| Some(self.journal[at].counted()?.0));
            let began = patterns.map(|pattern| (pattern, &access.patterns[pattern as usize].first));
            let began = began.filter(|(_, first)| first.position == position);
            let firsts = began.map(|(pattern, first)| (pattern, first.clone())).collect();
            self.left_out_for_loop.push(LeftOutForLoop { store: number, firsts, is_made: false });
        }
        self.left_out.stores.push(position);
        self.take_out(&Counted { site, noted, position }, accesses);
    }

    /// What was counted is no request.
    fn take_out(&mut self, counted: &Counted, accesses: &mut [Access]) {
        let Counted { site, noted, .. } = counted.clone();
        let access = &mut accesses[site as usize];
        access.kept += 1;
        self.journal.push(Undo::Kept { site });
        for at in noted {
            let Some((pattern, by, warp, within)) = self.journal[at].counted() else { continue };
            access.patterns[pattern as usize].happens_not(warp, by, within);
            self.journal.push(Undo::LeftOut { site, pattern, by, warp, within });
        }
    }

    /// A loop ends that began in this region. Where each round is code of its own, what was read before in one of them,
    /// or just before it, is still in a register. Otherwise only what every round reads again is: the compiler reads it
    /// once, before the loop, unless it stands in a loop that is written out too late for that.
    ///
    /// All that this settles was noted since the loop began, at this mark, so that it goes with the loop if that is
    /// taken back.
    pub(crate) fn settle_kept(
        &mut self,
        begin: &RequestMark,
        region: u32,
        code: LoopCode,
        accesses: &mut [Access],
    ) {
        let is_of_loop = |load: &PerhapsKept| load.since >= region && !load.is_settled;
        let mut again: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        for load in self.perhaps_kept[begin.perhaps_kept..].iter().filter(|load| is_of_loop(load)) {
            load.again.into_iter().for_each(|turn| *again.entry((load.counted.site, turn)).or_default() += 1);
        }
        for at in begin.perhaps_kept..self.perhaps_kept.len() {
            let load = &mut self.perhaps_kept[at];
            if !is_of_loop(load) {
                continue;
            }
            load.is_settled = true;
            let is_kept = match code {
                LoopCode::WrittenOut(_) => true,
                LoopCode::Loop { rounds, may_be_written_out } => {
                    let times = load.again.and_then(|turn| again.get(&(load.counted.site, turn)));
                    let in_each_round = times.is_some_and(|times| times + 1 == rounds);
                    let is_before = in_each_round && load.early == Early::Surely;
                    load.is_uncertain =
                        !is_before && (may_be_written_out || in_each_round && load.early == Early::Perhaps);
                    is_before
                }
            };
            if is_kept {
                let counted = load.counted.clone();
                self.left_out.loads.push(counted.position);
                self.take_out(&counted, accesses);
            }
        }
    }

    /// A loop ends that began at this mark: what loops around it read again in it is as early as it is. In a loop that
    /// stays one, only what is read in each of its rounds may be taken out of it.
    pub(crate) fn note_early(&mut self, begin: &RequestMark, code: LoopCode) {
        for load in self.perhaps_kept[begin.perhaps_kept..].iter_mut().filter(|load| !load.is_settled) {
            let early = match code {
                LoopCode::WrittenOut(early) => early,
                LoopCode::Loop { .. } if load.again.is_some_and(|turn| turn > 0) => Early::Never,
                LoopCode::Loop { .. } => Early::Surely,
            };
            load.early = load.early.min(early);
        }
    }

    /// A loop ends of which the compiler does not write out each round: it makes the stores before that those in it
    /// overwrite. `stores`: how many there were before.
    pub(crate) fn make_before(&mut self, stores: u32, accesses: &mut [Access]) {
        for at in 0..self.left_out_for_loop.len() {
            let LeftOutForLoop { store, firsts, is_made } = &mut self.left_out_for_loop[at];
            let counted = self.stores.get(*store as usize).filter(|_| *store < stores);
            let Some(Counted { site, noted, .. }) = counted.filter(|_| !std::mem::replace(is_made, true))
            else {
                continue;
            };
            let access = &mut accesses[*site as usize];
            access.kept -= 1;
            for noted in noted.clone() {
                let Some((number, by, warp, within)) = self.journal[noted].counted() else { continue };
                let pattern = &mut access.patterns[number as usize];
                let was = Box::new(pattern.clone());
                if let Some((_, first)) = firsts.iter().find(|(began, _)| *began == number) {
                    pattern.elsewhere |= pattern.count > 0
                        && (first.epoch, first.region) != (was.first.epoch, was.first.region);
                    pattern.first = first.clone();
                }
                pattern.happens(warp, by, within);
                self.journal.push(Undo::Anew { site: *site, pattern: number, by, warp, within, was });
            }
            self.journal.push(Undo::Made { at });
        }
    }

    /// What the compiler leaves out, in program order.
    #[must_use]
    pub(crate) fn take_left_out(&mut self) -> LeftOut {
        let made = self.left_out_for_loop.iter().filter(|it| it.is_made);
        let made: Vec<u32> = made.map(|it| self.stores[it.store as usize].position).collect();
        let mut left_out = std::mem::take(&mut self.left_out);
        left_out.stores.retain(|position| !made.contains(position));
        left_out.stores.sort_unstable();
        left_out.loads.sort_unstable();
        left_out
    }

    /// The sites some of whose loads are taken to be made though the compiler may have their values in registers.
    pub(crate) fn read_again(&self) -> impl Iterator<Item = usize> {
        self.perhaps_kept.iter().filter(|load| load.is_uncertain).map(|load| load.counted.site as usize)
    }

    /// Whether what was noted since the mark only repeats sites known before.
    #[must_use]
    pub(crate) fn repeats_since(&self, mark: &RequestMark) -> bool {
        let repeats = |undo: &Undo| {
            let seen = matches!(undo, Undo::Occurrence { .. } | Undo::Kept { .. });
            let counted = matches!(undo, Undo::Again { .. } | Undo::Pattern { .. } | Undo::Anew { .. });
            seen || counted || matches!(undo, Undo::LeftOut { .. } | Undo::Ways { .. })
        };
        self.journal[mark.journal..].iter().all(repeats)
    }

    /// Whether something noted since the mark is not known, or depends on a number that is not.
    #[must_use]
    pub(crate) fn undecided_since(&self, mark: &RequestMark, accesses: &[Access]) -> bool {
        self.journal[mark.journal..].iter().any(|undo| match undo {
            Undo::Unknown { .. } => true,
            Undo::Pattern { site, pattern, .. } => {
                let patterns = &accesses[*site as usize].patterns;
                patterns.get(*pattern as usize).is_some_and(|pattern| !pattern.varying.is_empty())
            }
            _ => false,
        })
    }

    fn undo(&mut self, undo: Undo, accesses: &mut Vec<Access>) {
        match undo {
            Undo::Again { site, pattern, by, warp, within, elsewhere, strays, turn } => {
                let pattern = &mut accesses[site as usize].patterns[pattern as usize];
                pattern.happens_not(warp, by, within);
                (pattern.elsewhere, pattern.strays) = (elsewhere, strays);
                pattern.first.within = turn;
            }
            Undo::Kept { site } => accesses[site as usize].kept -= 1,
            Undo::Occurrence { site } => accesses[site as usize].occurrences -= 1,
            Undo::Anew { site, pattern, was, .. } => {
                accesses[site as usize].patterns[pattern as usize] = *was;
            }
            Undo::LeftOut { site, pattern, by, warp, within } => {
                accesses[site as usize].patterns[pattern as usize].happens(warp, by, within);
            }
            Undo::Pattern { site, .. } => {
                let Some(pattern) = accesses[site as usize].patterns.pop() else { return };
                let (site, last) = (site as usize, accesses[site as usize].patterns.len() as u32);
                let key = (site, Requested::of(&pattern).hash());
                if let Some(alike) = self.patterns.get_mut(&key) {
                    alike.retain(|at| *at < last);
                }
            }
            Undo::Ways { site, pattern, was } => {
                accesses[site as usize].patterns[pattern as usize].ways = was;
            }
            Undo::Site => {
                let Some(access) = accesses.pop() else { return };
                self.sites.remove(&(access.span, access.op, access.array, access.bytes));
            }
            Undo::Made { at } => {
                let again = &mut self.left_out_for_loop[at];
                again.is_made = false;
                accesses[self.stores[again.store as usize].site as usize].kept += 1;
            }
            Undo::Unknown { site } => accesses[site as usize].unknown = None,
            Undo::Doubt { site, was } => accesses[site as usize].doubt = was.map(|it| *it),
            Undo::Outside { site } => accesses[site as usize].outside = false,
            Undo::MayBeOutside { site } => accesses[site as usize].may_be_outside = false,
            Undo::Overrun { site, was } => accesses[site as usize].overrun = was,
            Undo::AtMost { site } => accesses[site as usize].at_most = false,
            Undo::Rounds { site } => {
                accesses[site as usize].rounds.pop();
            }
            Undo::Assumption { site } => {
                accesses[site as usize].assumptions.pop();
            }
        }
    }
}

impl Undo {
    /// Of a change by which a pattern is counted: its number, how often, the warp, and the loop of unknown length.
    fn counted(&self) -> Option<(u32, u64, u32, Option<Span>)> {
        match *self {
            Undo::Again { pattern, by, warp, within, .. }
            | Undo::Pattern { pattern, by, warp, within, .. }
            | Undo::Anew { pattern, by, warp, within, .. } => Some((pattern, by, warp, within)),
            _ => None,
        }
    }
}

impl Pattern {
    /// Takes back that it happens so often, in a loop of unknown length or in none.
    pub(super) fn happens_not(&mut self, warp: u32, times: u64, within: Option<Span>) {
        self.count = self.count.saturating_sub(times);
        let of_warp = &mut self.times[warp as usize % 32];
        *of_warp = of_warp.saturating_sub(times);
        if *of_warp == 0 {
            self.warps &= !(1 << (warp % 32));
        }
        for (_, known) in self.within.iter_mut().filter(|(innermost, _)| *innermost == within) {
            *known = known.saturating_sub(times);
        }
        self.within.retain(|(_, known)| *known > 0);
    }
}
