//! Which neighbouring accesses does the compiler join into one wider access?
//!
//! `x = s[2 * t]; y = s[2 * t + 1];` reads 8 aligned bytes per lane, and nvcc emits one 8-byte load
//! for it: conflict-free, where each half alone would be 2-way. Measured: the pairs of a
//! work-efficient scan, butterflies and register tiles in public programs all become `.64` or
//! `.128` accesses on 9.0. So two or four requests of one array, the same operation, warps, mask
//! and stretch between barriers, whose offsets differ by one element in every lane and together
//! fill an aligned 8 or 16 bytes, are judged as the one request that the hardware sees:
//!
//! | lane | first | second | joined |
//! |---|---|---|---|
//! | 0 | bytes 0-3 | bytes 4-7 | bytes 0-7 |
//! | 1 | bytes 8-11 | bytes 12-15 | bytes 8-15 |
//! | 16 | bytes 128-131, bank 0 again | bank 1 again | second half-warp: no conflict |
//!
//! The compiler must be able to see it: every request of a site has to be a part of such a wider one, and
//! one site is joined with itself (an unrolled loop) only from one time to the next, or within loops behind
//! `#pragma unroll`. What is read and written in turn stays apart.
//!
//! Some joins are only possible, not sure ([`Wide::sure`]): of elements of 2 bytes (copies and half
//! arithmetic are joined, conversions to `int` or `float` are not), of three neighbours out of four (read
//! as four), and over the rounds of a loop that was run for all rounds at once, where a counter moves
//! every lane by one element (it is unrolled by four, unless it has another way out).

use crate::trace::{Access, Pattern, Trace};
use crate::verdict::AccessOp;
use rustc_hash::FxHashMap;

/// For each access of a trace and each of its patterns: the wider request it is a part of.
#[derive(Debug, Default)]
pub struct Merges {
    by_access: Vec<Vec<Option<Wide>>>,
}

/// A joined request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Bytes per lane.
    pub bytes: u32,
    /// Byte offset by lane.
    pub offsets: [i64; 32],
    /// Whether the compiler surely joins them.
    pub sure: bool,
    /// Whether it is of the site that the wide request begins with.
    pub head: bool,
    /// Whether this narrow request is the first of its site in the wide one, and so stands for it when
    /// requests are counted.
    pub first: bool,
}

#[derive(PartialEq, Eq, Hash)]
struct Group {
    array: usize,
    op: AccessOp,
    bytes: u32,
    active: u32,
    stretch: (u32, u32),
    warps: u32,
    unit: u64,
    /// Offsets relative to the first active lane: equal for neighbours.
    shape: [i64; 32],
}

impl Merges {
    /// Finds the joined requests of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Merges {
        let mut groups: FxHashMap<Group, Vec<Member>> = FxHashMap::default();
        let mut by_access: Vec<Vec<Option<Wide>>> =
            trace.accesses.iter().map(|access| vec![None; access.patterns.len()]).collect();
        for (at, access) in trace.accesses.iter().enumerate() {
            let Some(bytes) = joinable(access) else { continue };
            for (number, pattern) in access.patterns.iter().enumerate() {
                if pattern.active == 0 || !pattern.varying.is_empty() {
                    continue;
                }
                let (first, shape) = relative(pattern);
                if let Some(rest) = pattern.walk {
                    by_access[at][number] = over_rounds(pattern, bytes, rest, &shape);
                    continue;
                }
                let group = Group {
                    array: access.array,
                    op: access.op,
                    bytes,
                    active: pattern.active,
                    stretch: (pattern.epoch, pattern.turn),
                    warps: pattern.warps,
                    unit: pattern.unit,
                    shape,
                };
                let (time, region) = (pattern.occurrence, pattern.region);
                let member = Member { first, access: at, pattern: number, time, region };
                groups.entry(group).or_default().push(member);
            }
        }
        for (group, mut members) in groups {
            members.sort_unstable();
            for count in [4, 3, 2] {
                join(&group, &members, count, trace, &mut by_access);
            }
        }
        // All or nothing: alignment is known at compile time or not at all.
        for patterns in &mut by_access {
            let role = |wide: &Option<Wide>| wide.map(|w| (w.bytes, w.sure));
            let first = patterns.first().and_then(role);
            if first.is_none() || patterns.iter().any(|wide| role(wide) != first) {
                patterns.fill(None);
            }
        }
        Merges { by_access }
    }

    /// The wider request that a pattern is a part of.
    #[must_use]
    pub fn get(&self, access: usize, pattern: usize) -> Option<&Wide> {
        self.by_access.get(access)?.get(pattern)?.as_ref()
    }
}

/// A narrow request.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    /// Byte offset of the first active lane.
    first: i64,
    access: usize,
    pattern: usize,
    /// How often the site had been reached before.
    time: u32,
    /// The piece of straight code.
    region: u32,
}

/// The element size of an access that can be joined with its neighbours.
fn joinable(access: &Access) -> Option<u32> {
    let plain = matches!(access.op, AccessOp::Load | AccessOp::Store) && access.unknown.is_none();
    access.bytes.filter(|bytes| plain && matches!(bytes, 2 | 4 | 8))
}

fn relative(pattern: &Pattern) -> (i64, [i64; 32]) {
    let first = pattern.offsets[pattern.active.trailing_zeros().min(31) as usize];
    let mut shape = [0; 32];
    for (lane, slot) in shape.iter_mut().enumerate() {
        if pattern.active >> lane & 1 == 1 {
            *slot = pattern.offsets[lane].wrapping_sub(first);
        }
    }
    (first, shape)
}

/// The widest request of `count` elements; at most four of them are joined.
fn width(bytes: u32, count: i64) -> Option<i64> {
    let wide = i64::from(bytes) * (count + count % 2);
    (wide <= 16).then_some(wide)
}

/// The wide request of several rounds of a loop; `rest` are the other unknown shifts.
fn over_rounds(pattern: &Pattern, bytes: u32, rest: u64, shape: &[i64; 32]) -> Option<Wide> {
    let wide = [4, 2].into_iter().filter_map(|count| width(bytes, count)).find(|wide| {
        rest.is_multiple_of(wide.unsigned_abs()) && shape.iter().all(|offset| offset % wide == 0)
    })?;
    let (first, _) = relative(pattern);
    let begin = first.rem_euclid(wide);
    let offsets = pattern.offsets.map(|offset| offset.wrapping_sub(begin));
    Some(Wide { bytes: wide as u32, offsets, sure: false, head: true, first: true })
}

/// Joins runs of `count` neighbours that begin aligned in every lane.
fn join(group: &Group, members: &[Member], count: i64, trace: &Trace, by_access: &mut [Vec<Option<Wide>>]) {
    let bytes = i64::from(group.bytes);
    let Some(wide) = width(group.bytes, count) else { return };
    let shift_keeps_alignment = group.unit.is_multiple_of(wide as u64);
    let aligned_shape = group.shape.iter().all(|offset| offset % wide == 0);
    // Only what is read may be read in excess.
    let allowed = count != 3 || group.op == AccessOp::Load;
    if !shift_keeps_alignment || !aligned_shape || !allowed {
        return;
    }
    let sure = count != 3 && group.bytes > 2;
    for head in members {
        let skipped = head.first.rem_euclid(wide);
        let fits = skipped == 0 || (count == 3 && skipped == bytes);
        if !fits || by_access[head.access][head.pattern].is_some() {
            continue;
        }
        let mut parts: Vec<&Member> = Vec::new();
        for k in 0..count {
            let next = members.iter().find(|other| {
                let last = parts.iter().rev().find(|part| part.access == other.access);
                other.first == head.first + k * bytes
                    && last.is_none_or(|last| other.time == last.time + 1 || other.region == last.region)
                    && by_access[other.access][other.pattern].is_none()
            });
            parts.extend(next);
        }
        if parts.len() as i64 != count {
            continue;
        }
        let offsets = trace.accesses[head.access].patterns[head.pattern].offsets;
        let offsets = offsets.map(|offset| offset.wrapping_sub(skipped));
        for (part, member) in parts.iter().enumerate() {
            let first = parts[..part].iter().all(|before| before.access != member.access);
            let at_head = member.access == head.access;
            by_access[member.access][member.pattern] =
                Some(Wide { bytes: wide as u32, offsets, sure, head: at_head, first });
        }
    }
}
