//! Where is shared memory accessed, and how?

use super::{Assumption, Atomic, Pattern};
use crate::domain::Unknown;
use crate::source::Span;
use std::sync::Arc;

/// What a shared-memory access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessOp {
    /// Read.
    Load,
    /// Write.
    Store,
    /// Read-modify-write by `atomicAdd` and its kin.
    Atomic,
    /// `ldmatrix`, `wmma::load_matrix_sync`
    MatrixLoad,
    /// `stmatrix`, `wmma::store_matrix_sync`
    MatrixStore,
    /// `cp.async` into shared memory.
    AsyncCopy,
}

/// What [`Access::joins_members`] says of a copied struct some parts of which become wider accesses than others.
pub(crate) const JOINED_IN_PART: u32 = u32::MAX;

/// One access site.
#[derive(Clone, Debug)]
pub struct Access {
    /// The access expression.
    pub span: Span,
    /// What it does.
    pub op: AccessOp,
    /// For atomics, what decides how they are carried out. Loads and stores may be atomic, too.
    pub atomic: Option<Atomic>,
    /// Bytes per lane, if the type is known.
    pub bytes: Option<u32>,
    /// Alignment in bytes that the accessed type guarantees; 0 when it is natural.
    pub align: u32,
    /// Whether it is of a type that the language itself defines, as `short` is and `half` is not.
    pub scalar: bool,
    /// Whether it is of the members of objects that are only copied.
    pub copies: bool,
    /// Of a copied struct whose alignment is less than its size: bytes up to which the compiler joins
    /// its members into one access, `JOINED_IN_PART` if not everywhere alike; 0 for anything else.
    pub joins_members: u32,
    /// The matrices or tiles that it moves, if it does.
    pub tiles: Tiles,
    /// Whether it is a copy that goes around the first-level cache: `cp.async.cg`.
    pub around: bool,
    /// Whether the compiler does not see of which array it is.
    pub of_several: bool,
    /// Whether it is of something `volatile`: the compiler does each such access for itself, as it is written.
    pub volatile: bool,
    /// Whether threads do it on their way out of a loop, each perhaps in another round.
    pub leaves_loop: bool,
    /// Index into [`Trace::arrays`](super::Trace::arrays).
    pub array: usize,
    /// The calls that led from the kernel to it, outermost first; one list for each way there.
    pub paths: Vec<Vec<Call>>,
    /// How often the site was reached.
    pub occurrences: u32,
    /// How often it made no request, because what it reads was in a register, or what it writes was left out.
    pub kept: u32,
    /// The distinct warp requests.
    pub patterns: Vec<Pattern>,
    /// Loops of unknown length of which several rounds in a row count as one, as they are not alike: how many.
    pub rounds: Vec<(Span, u64)>,
    /// Whether a lane that is surely active was seen to leave the array.
    pub outside: bool,
    /// The same of one that may be active.
    pub may_be_outside: bool,
    /// The first thread that does in every block, not only in one that a bounds guard would cut short.
    pub overrun: Option<u32>,
    /// Whether it was reached in rounds of a loop whose number is given at run time, and of which as many
    /// were run as its threads and arrays allow.
    pub at_most: bool,
    /// Why some request of it is not known, if one is not.
    pub unknown: Option<Unknown>,
    /// Why its active lanes are only an upper bound, if they are.
    pub doubt: Option<Unknown>,
    /// What was taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// What is known of the 8x8 matrices or tiles that an access moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// For `ldmatrix` and `stmatrix`: how many 8x8 matrices; each takes its rows' addresses from 8 lanes.
    pub matrices: u8,
    /// Whether it is what a `wmma` call makes of itself from 8.0 on.
    pub fragment: bool,
    /// Of a `wmma` call: whether each tile surely starts at a multiple of 32 bytes and its lines lie a multiple
    /// of 16 bytes apart, as the call demands.
    pub tiles_fit: bool,
}

/// In which loops of unknown length requests stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// There is none yet.
    #[default]
    Nothing,
    /// In no such loop.
    Counted,
    /// All in this one, the innermost around them.
    Loop(Span),
    /// Some in one, some not or in another.
    Several,
}

impl Within {
    /// The same with requests in this loop besides.
    fn and(self, innermost: Option<Span>) -> Within {
        let new = innermost.map_or(Within::Counted, Within::Loop);
        if self == Within::Nothing || self == new { new } else { Within::Several }
    }
}

impl Access {
    /// Whether a library does it that is not at hand: nobody can change where.
    #[must_use]
    pub(crate) fn is_of_library(&self) -> bool {
        self.assumptions.iter().any(|it| matches!(it, Assumption::LibraryWorks { .. }))
    }

    /// Whether it is a load whose value is never used.
    #[must_use]
    pub(crate) fn is_for_nothing(&self) -> bool {
        self.assumptions.contains(&Assumption::NotSunk { used: false })
    }

    /// A site of which nothing is known but where it is, and that no run has come to.
    #[must_use]
    pub(crate) fn new(span: Span, op: AccessOp, array: usize) -> Access {
        Access {
            span,
            op,
            atomic: None,
            bytes: None,
            align: 0,
            scalar: false,
            copies: false,
            joins_members: 0,
            around: false,
            tiles: Tiles::default(),
            of_several: false,
            volatile: false,
            leaves_loop: false,
            array,
            paths: Vec::new(),
            occurrences: 0,
            kept: 0,
            patterns: Vec::new(),
            rounds: Vec::new(),
            outside: false,
            may_be_outside: false,
            overrun: None,
            at_most: false,
            unknown: None,
            doubt: None,
            assumptions: Vec::new(),
        }
    }

    /// The same site of this array, in a run that did not come to it.
    #[must_use]
    pub(crate) fn not_reached(&self, array: usize) -> Access {
        Access {
            atomic: self.atomic,
            bytes: self.bytes,
            align: self.align,
            scalar: self.scalar,
            joins_members: self.joins_members,
            around: self.around,
            volatile: self.volatile,
            tiles: self.tiles,
            paths: self.paths.clone(),
            ..Access::new(self.span, self.op, array)
        }
    }

    /// Whether lanes of one warp may do it in different rounds of a loop, at places that differ from round to round. The
    /// compiler may let them meet behind the loop and do it in one request.
    #[must_use]
    pub(crate) fn may_meet_behind_loop(&self) -> bool {
        let is_open = |it: &Pattern| it.walk.is_some() || it.unit != 0 || !it.varying.is_empty() || it.strays;
        // Those of a warp stand in the order of the rounds, between those of others.
        let is_elsewhere = |it: &Pattern| {
            let first = self.patterns.iter().find(|other| other.first_warp == it.first_warp);
            first.is_some_and(|first| (first.offsets, first.taken) != (it.offsets, it.taken))
        };
        let varies = |it: &Pattern| is_open(it) || is_elsewhere(it);
        self.leaves_loop && self.doubt.is_some() && self.patterns.iter().any(varies)
    }

    /// Whether the instruction demands all lanes of a warp: `ldmatrix`, `stmatrix` and `wmma`.
    #[must_use]
    pub fn is_warp_wide(&self) -> bool {
        self.tiles.fragment || matches!(self.op, AccessOp::MatrixLoad | AccessOp::MatrixStore)
    }

    /// Whether other atomics may come at the same time: what it does to a place is one step.
    #[must_use]
    pub(crate) fn is_atomic(&self) -> bool {
        self.op == AccessOp::Atomic || self.atomic.is_some()
    }

    /// The calls that led to it, by the number of the way there.
    #[must_use]
    pub fn path(&self, number: u32) -> &[Call] {
        self.paths.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// The number of the way there by these calls.
    pub fn path_number(&mut self, calls: &[Call]) -> u32 {
        let known = self.paths.iter().position(|path| path == calls);
        let number = known.unwrap_or(self.paths.len());
        if known.is_none() {
            self.paths.push(calls.to_vec());
        }
        number as u32
    }

    /// For how many rounds of the loop of unknown length around it its requests are counted.
    #[must_use]
    pub fn rounds_counted(&self) -> u64 {
        match self.uncounted_loops().as_slice() {
            [only] => self.rounds_in_a_row(Some(*only)),
            _ => 1,
        }
    }

    /// For how many rounds those of its requests are counted whose innermost loop of unknown length is this.
    #[must_use]
    pub(crate) fn rounds_in_a_row(&self, innermost: Option<Span>) -> u64 {
        let Some(inner) = innermost else { return 1 };
        let is_around =
            |outer: Span| outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end;
        let is_only = matches!(self.within(), Within::Loop(_));
        let own = self.rounds.iter().filter(|(span, _)| is_only || is_around(*span));
        own.fold(1, |all, (_, rounds)| all.saturating_mul(*rounds))
    }

    /// The same where a verdict is on so many requests: if banks depend on the counter of the loop, several of its
    /// rounds are judged.
    #[must_use]
    pub fn rounds_judged(&self, requests: u64) -> u64 {
        match (self.within(), self.requests()) {
            (Within::Loop(_), own) if own > 0 && requests.is_multiple_of(own) => {
                (requests / own).max(1).saturating_mul(self.rounds_counted())
            }
            _ => self.rounds_counted(),
        }
    }

    /// Whether a block may make fewer requests than are counted.
    #[must_use]
    pub fn may_be_fewer(&self) -> bool {
        self.at_most || self.assumptions.contains(&Assumption::BothSides)
    }

    /// In which loops of unknown length it was reached: their rounds count as one.
    #[must_use]
    pub fn within(&self) -> Within {
        let loops = self.patterns.iter().flat_map(|pattern| &pattern.within);
        loops.fold(Within::Nothing, |all, (innermost, _)| all.and(*innermost))
    }

    /// The innermost loops of unknown length around it, in the order of the text.
    #[must_use]
    pub fn uncounted_loops(&self) -> Vec<Span> {
        let loops = self.patterns.iter().flat_map(|pattern| &pattern.within);
        let mut spans: Vec<Span> = loops.filter_map(|(innermost, _)| *innermost).collect();
        spans.sort_unstable_by_key(|span| (span.file, span.start, span.end));
        spans.dedup();
        spans
    }

    /// The warps that reach it and the requests of each, if all make as many; else `None`.
    #[must_use]
    pub fn even_requests(&self) -> Option<(u32, u64)> {
        let mut by_warp = [0u64; 32];
        for pattern in &self.patterns {
            for (all, times) in by_warp.iter_mut().zip(&pattern.times) {
                *all = all.saturating_add(*times);
            }
        }
        let each = by_warp.into_iter().find(|&requests| requests > 0)?;
        let even = by_warp.iter().all(|&requests| requests == 0 || requests == each);
        even.then(|| (self.warps(), each))
    }

    /// How many warps reach it.
    #[must_use]
    pub fn warps(&self) -> u32 {
        self.patterns.iter().fold(0, |all, pattern| all | pattern.warps).count_ones()
    }

    /// The requests of a block, as far as loops are counted.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.patterns.iter().fold(0, |sum: u64, pattern| sum.saturating_add(pattern.count))
    }
}

/// A call on the way from the kernel to a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function called.
    pub function: Arc<str>,
    /// The call expression.
    pub span: Span,
}
