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
//! one site is joined with itself (an unrolled loop) only from one time to the next, or within straight
//! code: loops behind `#pragma unroll`, or so small that they are unrolled without.
//!
//! Nor does it move every access over every other. An array whose alignment is known when the
//! function is compiled (dynamic, or declared with `__align__`, or of vectors) is joined by the front
//! half of nvcc, which sees which accesses touch the same bytes: those of other residues modulo the
//! wide one's size do not. Any other is joined when the machine
//! code is made, in program order: loads when no store of any array lies between them, stores only
//! when they follow each other. Seen in the machine code of nvcc 13 for 9.0, and measured:
//!
//! | in program order, `__shared__ float a[64], b[64]` | joined | `__align__(8)` |
//! |---|---|---|
//! | `a[x] = p; a[x + 1] = q;` | yes | yes |
//! | `a[x] = p; b[x] = r; a[x + 1] = q;` | no | yes |
//! | `a[x] = p; r = b[y]; a[x + 1] = q;` | no | yes |
//! | `p = a[x]; r = b[y]; q = a[x + 1];` | yes | yes |
//! | `p = a[x]; b[y] = p; q = a[x + 1];` | no | yes |
//!
//! Nor are accesses joined that a branch parts: rounds of an unrolled loop that read global memory under a
//! condition each (`s[i] = in_bounds ? in[i] : 0`), which is not read in advance. A condition under which
//! only something is computed is no branch.
//!
//! Some joins are only possible, not sure ([`Wide::sure`]): where a number that the compiler knows and the
//! text seen does not (a template argument, a constant defined elsewhere) decides the alignment, of elements of 2 bytes (copies and half
//! arithmetic are joined, conversions to `int` or `float` are not), of three neighbours out of four (read
//! as four), and over the rounds of a loop that was run for all rounds at once, where a counter moves
//! every lane by one element (it is unrolled by four, unless it has another way out), and of a loop near
//! the size up to which it is unrolled.

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
    /// Which elements of the wide request are of this site, as bits.
    parts: u8,
}

#[derive(PartialEq, Eq, Hash)]
struct Group {
    array: usize,
    op: AccessOp,
    bytes: u32,
    active: u32,
    epoch: u32,
    stretch: u32,
    warps: u32,
    unit: u64,
    open_unit: u64,
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
                    epoch: pattern.epoch,
                    stretch: pattern.stretch,
                    warps: pattern.warps,
                    unit: pattern.unit,
                    open_unit: pattern.open_unit,
                    shape,
                };
                let (time, region) = (pattern.occurrence, pattern.region);
                let member = Member { first, access: at, pattern: number, time, region };
                groups.entry(group).or_default().push(member);
            }
        }
        for members in groups.values_mut() {
            members.sort_unstable();
        }
        let order = Order::of(trace);
        for count in [4, 3, 2] {
            for (group, members) in &groups {
                join(group, members, count, trace, &order, &mut by_access);
            }
            // All or nothing: alignment is known at compile time or not at all.
            for patterns in &mut by_access {
                let role = |wide: &Option<Wide>| wide.map(|w| (w.bytes, w.sure, w.parts));
                let first = patterns.first().and_then(role);
                if first.is_none() || patterns.iter().any(|wide| role(wide) != first) {
                    patterns.fill(None);
                }
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
    Some(Wide { bytes: wide as u32, offsets, sure: false, head: true, first: true, parts: 1 })
}

/// Joins runs of `count` neighbours that begin aligned in every lane.
fn join(
    group: &Group,
    members: &[Member],
    count: i64,
    trace: &Trace,
    order: &Order,
    by_access: &mut [Vec<Option<Wide>>],
) {
    let bytes = i64::from(group.bytes);
    let Some(wide) = width(group.bytes, count) else { return };
    let known = group.unit.is_multiple_of(wide as u64);
    let shift_keeps_alignment = known || group.open_unit.is_multiple_of(wide as u64);
    let aligned_shape = group.shape.iter().all(|offset| offset % wide == 0);
    // Only what is read may be read in excess.
    let allowed = count != 3 || group.op == AccessOp::Load;
    if !shift_keeps_alignment || !aligned_shape || !allowed {
        return;
    }
    let sure = count != 3 && group.bytes > 2 && known;
    // A site's requests of one time and the next, or of one piece of straight code.
    let straight = |last: &Member, next: &Member| match next.time == last.time + 1 {
        true => Some(true),
        false => trace.straight.together(last.region, next.region),
    };
    for head in members {
        let skipped = head.first.rem_euclid(wide);
        let fits = skipped == 0 || (count == 3 && skipped == bytes);
        if !fits || by_access[head.access][head.pattern].is_some() {
            continue;
        }
        let mut parts: Vec<&Member> = Vec::new();
        let mut sure = sure;
        for k in 0..count {
            let wanted = head.first + k * bytes;
            let from = members.partition_point(|other| other.first < wanted);
            let mut there = members[from..].iter().take_while(|other| other.first == wanted);
            let next = there.find(|other| {
                let last = parts.iter().rev().find(|part| part.access == other.access);
                last.is_none_or(|last| straight(last, other).is_some())
                    && by_access[other.access][other.pattern].is_none()
            });
            let last = next.and_then(|next| parts.iter().rev().find(|part| part.access == next.access));
            sure &= last.zip(next).is_none_or(|(last, next)| straight(last, next) == Some(true));
            parts.extend(next);
        }
        if parts.len() as i64 != count {
            continue;
        }
        let patterns = parts.iter().map(|part| &trace.accesses[part.access].patterns[part.pattern]);
        let free = match trace.arrays[group.array].alignment < wide as u64 {
            true => nothing_between(group.op, patterns),
            false => order.may_move(trace, group, wide, patterns),
        };
        if !free {
            continue;
        }
        let offsets = trace.accesses[head.access].patterns[head.pattern].offsets;
        let offsets = offsets.map(|offset| offset.wrapping_sub(skipped));
        for (at, member) in parts.iter().enumerate() {
            let own = |(at, part): (usize, &&Member)| u8::from(part.access == member.access) << at;
            let parts_of_site = parts.iter().enumerate().map(own).sum::<u8>();
            by_access[member.access][member.pattern] = Some(Wide {
                bytes: wide as u32,
                offsets,
                sure,
                head: parts_of_site & 1 == 1,
                first: parts_of_site.trailing_zeros() == at as u32,
                parts: parts_of_site,
            });
        }
    }
}

/// Whether the program has nothing between the parts that keeps the compiler from joining them.
fn nothing_between<'a>(op: AccessOp, parts: impl Iterator<Item = &'a Pattern> + Clone) -> bool {
    let span = |number: fn(&Pattern) -> u32| {
        let numbers = parts.clone().map(number);
        numbers.clone().max().unwrap_or(0) - numbers.min().unwrap_or(0)
    };
    match op {
        AccessOp::Store => span(|part| part.position) as usize + 1 == parts.clone().count(),
        _ => span(|part| part.writes) == 0,
    }
}

/// Accesses that may stand between others of their array that are joined; more are taken to be in the way.
const MOST_BETWEEN: usize = 64;

/// The requests by array and program order: their place, access and pattern.
struct Order(Vec<Vec<(u32, usize, usize)>>);

impl Order {
    fn of(trace: &Trace) -> Order {
        let mut by_array: Vec<Vec<(u32, usize, usize)>> = vec![Vec::new(); trace.arrays.len()];
        for (at, access) in trace.accesses.iter().enumerate() {
            let places = access.patterns.iter().enumerate().map(|(n, pattern)| (pattern.position, at, n));
            by_array[access.array].extend(places);
        }
        by_array.iter_mut().for_each(|places| places.sort_unstable());
        Order(by_array)
    }

    /// Whether what stands between the parts surely touches other bytes than those that have to pass
    /// it: loads go up to the first, stores down to the last.
    fn may_move<'a>(
        &self,
        trace: &Trace,
        group: &Group,
        wide: i64,
        parts: impl Iterator<Item = &'a Pattern> + Clone,
    ) -> bool {
        let positions = parts.clone().map(|part| part.position);
        let (from, to) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
        if parts.clone().map(|part| part.turn).max() == parts.clone().map(|part| part.turn).min() {
            return true;
        }
        let places = &self.0[group.array];
        let between =
            places.partition_point(|place| place.0 <= from)..places.partition_point(|place| place.0 < to);
        let in_the_way = |&(position, access, pattern): &(u32, usize, usize)| {
            let (other, pattern) = (&trace.accesses[access], &trace.accesses[access].patterns[pattern]);
            let passed = |part: &&Pattern| match group.op {
                AccessOp::Store => part.position < position,
                _ => part.position > position,
            };
            other.op != group.op
                && parts.clone().filter(passed).any(|part| {
                    let residue = relative(part).0.rem_euclid(wide);
                    !touches_others(other, pattern, wide, residue..residue + i64::from(group.bytes))
                })
        };
        between.len() <= MOST_BETWEEN && !places[between].iter().any(in_the_way)
    }
}

/// Whether a request surely touches none of these bytes, counted modulo the size of a wide request.
fn touches_others(access: &Access, pattern: &Pattern, wide: i64, bytes: std::ops::Range<i64>) -> bool {
    let Some(size) = access.bytes.map(i64::from) else { return false };
    let known = access.unknown.is_none() && pattern.varying.is_empty();
    let lanes = (0..32).filter(|lane| pattern.active >> lane & 1 == 1);
    known
        && pattern.unit.is_multiple_of(wide.unsigned_abs())
        && lanes
            .map(|lane| pattern.offsets[lane].rem_euclid(wide))
            .all(|begin| begin + size <= wide && (begin + size <= bytes.start || bytes.end <= begin))
}
