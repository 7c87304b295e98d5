//! Of which wider request is a narrow one a part, on a target?

use super::{Found, Joins, Merges};
use crate::banks::{ComputeCapability, Target};

/// From here on nvcc 13.5 left pairs of loads apart in an array whose alignment it does not know, and joined them
/// in others (`float s[]`: `s[2 * t]` and its neighbour, but not `s[16 * t]` and its).
const PAIRS_APART: ComputeCapability = ComputeCapability::new(10, 0);

/// A joined request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Bytes per lane.
    pub bytes: u32,
    /// Byte offset by lane.
    pub offsets: [i64; 32],
    /// Whether the compiler surely joins them.
    pub(super) sure: bool,
    /// Whether they are two loads from an array whose alignment is not known.
    pub(super) loose_pair: bool,
    /// Whether it is of the site that the wide request begins with.
    pub head: bool,
    /// Whether this narrow request is the first of its site in the wide one, and so stands for it when
    /// requests are counted.
    pub first: bool,
    /// Whether it is joined whatever becomes of the other requests of its sites.
    pub(super) alone: bool,
    /// Whether it is joined by itself in a loop that may be unrolled in part, so that some rounds may be joined otherwise.
    pub in_part: bool,
    /// Whether other requests of its site are not joined, or with fewer or more.
    pub single: bool,
    /// Which elements of the wide request are of this site, as bits.
    pub(super) parts: u16,
}

impl Wide {
    /// One that the compiler may make, of so many bytes per lane.
    pub(super) fn possible(bytes: u32, offsets: [i64; 32]) -> Wide {
        Wide {
            bytes,
            offsets,
            sure: false,
            loose_pair: false,
            head: true,
            first: true,
            alone: false,
            in_part: false,
            single: false,
            parts: 1,
        }
    }

    /// What all requests of one piece of code must share.
    pub(super) fn role(&self) -> (u32, bool, u16) {
        (self.bytes, self.sure, self.parts)
    }
}

/// From here on the compiler knows of the start of an array only how it is aligned: so the machine code that nvcc 13
/// and the assemblers of 11.8 and 12.9 make for 7.5 to 12.0.
const STARTS_UNKNOWN: ComputeCapability = ComputeCapability::new(9, 0);

impl Merges {
    fn on(&self, target: &Target) -> &Found {
        self.older.as_ref().filter(|_| target.capability < STARTS_UNKNOWN).unwrap_or(&self.newer)
    }

    /// The wider request that a pattern surely is a part of on a target.
    #[must_use]
    pub fn get(&self, access: usize, pattern: usize, target: &Target) -> Option<&Wide> {
        at(&self.on(target).surely, access, pattern).filter(|wide| !wide.is_in_doubt(target))
    }

    /// The wider request that a pattern may be a part of on a target.
    #[must_use]
    pub fn possible(&self, access: usize, pattern: usize, target: &Target) -> Option<&Wide> {
        let found = self.on(target);
        let doubtful = || at(&found.surely, access, pattern).filter(|wide| wide.is_in_doubt(target));
        at(&found.perhaps, access, pattern).or_else(doubtful)
    }

    /// The wider request that a pattern is a part of on some target, or may be.
    #[must_use]
    pub fn any(&self, access: usize, pattern: usize) -> Option<&Wide> {
        let mut found = [&self.newer].into_iter().chain(&self.older);
        found.find_map(|it| at(&it.surely, access, pattern).or_else(|| at(&it.perhaps, access, pattern)))
    }
}

fn at(joins: &Joins, access: usize, pattern: usize) -> Option<&Wide> {
    joins.get(access)?.get(pattern)?.as_ref()
}

impl Wide {
    /// Whether the compiler may leave it apart on a target, though it joins it on others.
    fn is_in_doubt(&self, target: &Target) -> bool {
        self.loose_pair && target.capability >= PAIRS_APART
    }
}
