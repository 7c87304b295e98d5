//! Which neighbouring accesses does the compiler combine into one wider access?
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
//! The compiler must be able to see it. Where each round of the loops around is code of its own (behind
//! `#pragma unroll`, or where they are so small that they are unrolled without), it joins as many of a site's requests
//! as fit, the widest first; elsewhere every request of the site has to be a part of a wider one. Seen in the machine
//! code of nvcc 13 for 7.5 to 10.0, of `s[8 * t + e]`, and counted on an H200 (`fixtures/hardware/neighbours-sm90.csv`):
//!
//! | `float`, `e` | loaded by | stored by |
//! |---|---|---|
//! | 0 to 4 | 4, 1 | 4, 1 |
//! | 0 to 6 | 4, 4: one is read in excess | 4, 2, 1 |
//! | 1 to 5 | 4 (from 0 on), 2 | 1, 2, 2 |
//! | 1 and 2 | 1, 1 | 1, 1 |
//! | 0, 2 and 3 | 4 | 1, 2 |
//! | 0 to 4 of `s[6 * t + e]` | 2, 2, 1 | 2, 2, 1 |
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
//! Nor are stores joined that a branch parts: rounds of an unrolled loop that read global memory under a
//! condition each (`s[i] = in_bounds ? in[i] : 0`), which is not read in advance. A condition under which
//! only something is computed is no branch. A load is made in advance, though, where all that come to it
//! have made its neighbour's, and it is made in one branch only once. Seen in the same way:
//!
//! | in program order | joined |
//! |---|---|
//! | `p = a[x]; if (p > k) q = a[x + 1];`, also two branches deep, in `else`, or behind a `return` | yes |
//! | `if (a[x] \|\| a[x + 1])` | yes |
//! | `p = a[x]; if (p > k) out[y] = p; q = a[x + 1];` | yes |
//! | `if (k) p = a[x]; if (l) q = a[x + 1];`, also `k ? a[x] : 0` | no |
//! | `p = a[0]; if (p > i) q = a[1];` in each round of a loop over `i` | of arrays of known length |
//! | `p = k < n ? a[x] : 0; q = k < n ? a[x + 1] : 0;` with nothing else between | yes |
//! | the same with an access of any memory between, or a condition that reads some | no |
//! | `p = a[x]; if (p > k) { b[y] = p; q = a[x + 1]; }` | no |
//! | `p = a[x]; if (p > k) a[x + 1] = p;`, stores on both sides of a branch | no |
//!
//! Where a loop is unrolled whole and the compiler can count its rounds, each round is code of its own: in
//! the last one of `for (s = 128; s > 0; s /= 2)` it joins `a[x]` and `a[x + s]`. It has to see the alignment
//! in the index, of all threads: that of `if (t % (2 * s) == 0) a[t] += a[t + s]` it does not see.
//!
//! Across iterations it joins what it unrolls. Seen in the same way, of `s[64 * t + e]` over `e`
//! (`fixtures/measure/machine-code.csv`):
//!
//! | loop | joined |
//! |---|---|
//! | `e < 4`, `e < 64`, `e < 1000`; with and without `#pragma unroll` | yes, up to 16 bytes |
//! | `e < n`, `e < blockDim.x`, `i = t; i < 256; i += 64`: trips that are counted at run time | by fours, up to 8 or 16 bytes |
//! | `e = m; e < n`, or `e < n` with a `break` | no |
//! | `e < 16` with a `break` | loads, not stores |
//! | behind `#pragma unroll 1` | no |
//!
//! So a join across iterations is sure only where the compiler can count the trips, and it must see the distance
//! and the alignment ([`codegen::sight`](crate::codegen::sight)).
//!
//! Some joins are only possible, not sure: where a number that the compiler knows and the text seen does not (a
//! template argument, a constant defined elsewhere) decides the alignment, of narrow elements ([`widths`]), over an
//! operation with [branches of its own](crate::codegen::inner_branches), across iterations whose number is not known
//! when the program is compiled, of a loop near the size up to which it is unrolled, and of one that took too many
//! steps ([`cut`]).

mod cut;
mod order;
mod site;
mod unplaced;
mod wide;
mod widths;

use super::layout::{self, Start};
use crate::events::{Access, AccessOp, Pattern, Trace};
use crate::source::Span;
use cut::Cut;
use order::{Order, may_stay, nothing_between};
use rustc_hash::FxHashMap;
use site::{Site, code_of, code_with_a_rest, is_written_out, uniform_code};
pub(crate) use wide::Wide;
use widths::{Certainty, certainty, width};

/// The joined requests, by access and pattern.
type Joins = Vec<Vec<Option<Wide>>>;

/// For each access of a trace and each of its patterns: the wider request it is a part of.
#[derive(Debug, Default)]
pub struct Merges {
    /// Where the compiler knows of the start of an array only how it is aligned.
    newer: Found,
    /// Where it knows the address, if that makes a difference.
    older: Option<Found>,
}

/// The joined requests of a trace.
#[derive(Debug, Default)]
struct Found {
    /// As the compiler surely joins them.
    surely: Joins,
    /// As it may.
    perhaps: Joins,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Group {
    /// `None`: constant addresses in any static variable, counted from the start of shared memory.
    array: Option<usize>,
    op: AccessOp,
    bytes: u32,
    active: u32,
    epoch: u32,
    /// Of stores: loads are made in advance.
    stretch: Option<u32>,
    warps: u32,
    unit: u64,
    open_unit: u64,
    added: u64,
    /// Where the array starts. Accesses whose address the compiler knows are counted from a multiple of 16.
    start: Start,
    /// Whether the address is a constant.
    constant: bool,
    /// Offsets relative to the first active lane: equal for neighbours.
    shape: [i64; 32],
    /// What lanes add besides, by symbol.
    varying: Vec<(u32, [i64; 32])>,
}

impl Merges {
    /// Finds the joined requests of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Merges {
        let starts = layout::starts(trace);
        let shifted = starts.iter().any(|start| !matches!(start, Start::At(0) | Start::Unknown));
        let older = shifted.then(|| Found::of(trace, &starts, true));
        Merges { newer: Found::of(trace, &starts, false), older }
    }
}

impl Found {
    /// The requests that may be neighbours, and the wide ones of several rounds of a loop.
    fn grouped(trace: &Trace, starts: &[Start], by_address: bool) -> (FxHashMap<Group, Vec<Member>>, Joins) {
        let mut groups: FxHashMap<Group, Vec<Member>> = FxHashMap::default();
        let cut = Cut::of(trace);
        let addresses = layout::addresses(trace);
        let mut over_iterations: Joins = none(trace).collect();
        for (at, access) in trace.accesses.iter().enumerate() {
            let Some(bytes) = joinable(access) else { continue };
            let constants = layout::constants(access);
            for (number, pattern) in access.patterns.iter().enumerate() {
                if pattern.active == 0 || pattern.anywhere {
                    continue;
                }
                let (first, shape) = relative(pattern);
                let start = starts[access.array];
                if let Some(rest) = pattern.walk {
                    if !has_barrier(trace, pattern) && pattern.varying.is_empty() {
                        over_iterations[at][number] = over_rounds(pattern, bytes, (rest, start), &shape);
                    }
                    continue;
                }
                if cut.has_neighbour(access, pattern) {
                    let rest = (pattern.unit, start);
                    over_iterations[at][number] = over_rounds(pattern, bytes, rest, &shape);
                }
                let is_address_known = by_address || constants[number];
                let (first, start) = if is_address_known { start.moved(first) } else { (first, start) };
                let group = Group {
                    array: Some(access.array),
                    op: access.op,
                    bytes,
                    active: pattern.active,
                    epoch: pattern.first.epoch,
                    stretch: (access.op == AccessOp::Store).then_some(pattern.first.stretch),
                    warps: pattern.warps,
                    unit: pattern.unit,
                    open_unit: pattern.open_unit,
                    added: pattern.added,
                    start,
                    constant: constants[number],
                    shape,
                    varying: pattern.varying.clone(),
                };
                let (time, region) = (pattern.first.occurrence, pattern.first.region);
                let member = Member { first, access: at, pattern: number, time, region };
                let is_seen = constants[number] && pattern.sight.hidden == 0;
                if let (true, Some(address)) = (is_seen, addresses[access.array]) {
                    let (start, first) = (Start::At(0), relative(pattern).0 + address as i64);
                    let of_all = Group { array: None, start, ..group.clone() };
                    groups.entry(of_all).or_default().push(Member { first, ..member.clone() });
                }
                groups.entry(group).or_default().push(member);
            }
        }
        unplaced::note(trace, &addresses, &mut over_iterations);
        let is_of_one = |members: &[Member]| {
            let arrays = members.iter().map(|member| trace.accesses[member.access].array);
            arrays.clone().min() == arrays.max()
        };
        groups.retain(|group, members| group.array.is_some() || !is_of_one(members));
        for members in groups.values_mut() {
            members.sort_unstable();
        }
        (groups, over_iterations)
    }

    /// `by_address`: whether the compiler knows the address at which an array starts.
    fn of(trace: &Trace, starts: &[Start], by_address: bool) -> Found {
        let (groups, over_iterations) = Found::grouped(trace, starts, by_address);
        let sites: Vec<_> = trace.accesses.iter().map(|access| Site::of_each_path(access, trace)).collect();
        let order = Order::of(trace);
        let joiner = |by_access, sure_only| Joiner {
            trace,
            order: &order,
            sites: &sites,
            by_access,
            joined: Vec::new(),
            sure_only,
            passed: false,
        };
        let mut surely = joiner(none(trace).collect(), true);
        surely.join_all(&groups);
        let walked = over_iterations.iter().flatten().any(Option::is_some);
        let mut perhaps = joiner(over_iterations.clone(), false);
        if surely.passed {
            perhaps.join_all(&groups);
            // What joins the rounds of one request says nothing of the site's other requests, nor they of it.
            let all = perhaps.by_access.iter_mut().flatten().zip(over_iterations.iter().flatten());
            all.filter(|(wide, _)| wide.is_none()).for_each(|(wide, walked)| *wide = *walked);
        }
        if !surely.passed && !walked {
            perhaps.by_access.clear();
        }
        let places = perhaps.by_access.iter_mut().flatten().zip(surely.by_access.iter().flatten());
        for (wide, _) in places.filter(|(wide, surely)| wide.map(|it| it.bytes) == surely.map(|it| it.bytes))
        {
            *wide = None;
        }
        Found { surely: surely.by_access, perhaps: perhaps.by_access }
    }
}

/// No joined request, for each access and pattern.
fn none(trace: &Trace) -> impl Iterator<Item = Vec<Option<Wide>>> + '_ {
    trace.accesses.iter().map(|access| vec![None; access.patterns.len()])
}

/// A narrow request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
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

/// The element size of an access that can be joined with its neighbours. What is `volatile` never is.
fn joinable(access: &Access) -> Option<u32> {
    let is_plain = matches!(access.op, AccessOp::Load | AccessOp::Store) && !access.volatile;
    let plain = is_plain && access.unknown.is_none();
    access.bytes.filter(|bytes| plain && matches!(bytes, 1 | 2 | 4 | 8))
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

/// Whether a block barrier parts the iterations of the loop that a request stands in.
fn has_barrier(trace: &Trace, pattern: &Pattern) -> bool {
    let loops = || pattern.within.iter().filter_map(|(innermost, _)| *innermost);
    let inside =
        |span: Span| loops().any(|it| it.file == span.file && it.start <= span.start && span.end <= it.end);
    trace
        .barriers
        .iter()
        .any(|barrier| inside(barrier.span) || barrier.calls.iter().any(|it| inside(it.span)))
}

/// The wide request of several rounds of a loop; `rest` are the other unknown shifts, and where the array starts.
fn over_rounds(
    pattern: &Pattern,
    bytes: u32,
    (rest, start): (u64, Start),
    shape: &[i64; 32],
) -> Option<Wide> {
    let is_aligned = |wide: u64| start.alignment().is_none_or(|most| wide <= most);
    let wide = [16, 8, 4, 2].into_iter().filter_map(|count| width(bytes, count)).find(|wide| {
        rest.is_multiple_of(wide.unsigned_abs())
            && is_aligned(wide.unsigned_abs())
            && shape.iter().all(|offset| offset % wide == 0)
    })?;
    let (first, _) = relative(pattern);
    let begin = first.rem_euclid(wide);
    let (bytes, offsets) = (wide as u32, pattern.offsets.map(|offset| offset.wrapping_sub(begin)));
    Some(Wide::possible(bytes, offsets))
}

/// Joins the requests of a trace.
struct Joiner<'a> {
    trace: &'a Trace,
    order: &'a Order,
    /// By access and path.
    sites: &'a [FxHashMap<u32, Site>],
    by_access: Joins,
    /// What was joined: the access and pattern of its parts, and of those that read the same again.
    joined: Vec<[Vec<(usize, usize)>; 2]>,
    /// Whether only what is sure is joined, and whether something else was passed over for that.
    sure_only: bool,
    passed: bool,
}

impl Joiner<'_> {
    fn pattern(&self, member: &Member) -> &Pattern {
        &self.trace.accesses[member.access].patterns[member.pattern]
    }

    fn site(&self, member: &Member) -> &Site {
        &self.sites[member.access][&self.pattern(member).first.path]
    }

    fn join_all(&mut self, groups: &FxHashMap<Group, Vec<Member>>) {
        for count in [16, 8, 4, 3, 2] {
            // What is surely beside each other goes before what banks do not tell from that.
            for alone in [true, false] {
                for (group, members) in groups {
                    self.join(group, members, count, alone);
                }
            }
            self.all_or_nothing();
        }
        for patterns in &mut self.by_access {
            let role = |wide: &Option<Wide>| wide.map(|it| it.role());
            let single = !patterns.iter().all(|wide| role(wide) == role(&patterns[0]));
            for wide in patterns.iter_mut().flatten() {
                (wide.single, wide.in_part) = (single, single && wide.in_part);
            }
        }
    }

    fn is_free(&self, member: &Member) -> bool {
        self.by_access[member.access][member.pattern].is_none()
    }

    /// Takes back what not all of a site's requests are a part of, unless it is joined by itself, and all that was
    /// joined with it: alignment is known at compile time or not at all.
    fn all_or_nothing(&mut self) {
        loop {
            for (access, patterns) in self.trace.accesses.iter().zip(&mut self.by_access) {
                let mut uniform = uniform_code(access, patterns);
                if !self.sure_only {
                    uniform.extend(code_with_a_rest(access, patterns));
                }
                for (pattern, wide) in access.patterns.iter().zip(patterns) {
                    let stands = |it: Wide| it.alone || uniform.contains(&code_of(pattern));
                    *wide = wide.filter(|it| stands(*it));
                }
            }
            let by_access = &mut self.by_access;
            let before = self.joined.len();
            self.joined.retain(|[parts, again]| {
                let whole = parts.iter().all(|&(access, pattern)| by_access[access][pattern].is_some());
                for &(access, pattern) in parts.iter().chain(again).filter(|_| !whole) {
                    by_access[access][pattern] = None;
                }
                whole
            });
            if self.joined.len() == before {
                return;
            }
        }
    }

    /// Whether the compiler moves the later of two to the earlier, as far as branches go.
    fn in_line(&self, group: &Group, one: &Member, other: &Member) -> bool {
        let (one, other) = (self.pattern(one), self.pattern(other));
        let (first, then) =
            if one.first.position <= other.first.position { (one, other) } else { (other, one) };
        group.op == AccessOp::Store
            || first.first.stretch == then.first.stretch
            || (first.moved == then.moved
                && then.first.branches.starts_with(&first.first.branches)
                && self.trace.straight.together(first.first.region, then.first.region) == Some(true))
    }

    /// Whether no operation stands between two whose own branches keep the compiler from joining them.
    fn is_beside(&self, op: AccessOp, one: &Member, other: &Member) -> bool {
        let array = &self.trace.arrays[self.trace.accesses[one.access].array];
        let (one, other) = (self.pattern(one), self.pattern(other));
        match op {
            AccessOp::Store => one.first.skips == other.first.skips,
            _ => one.first.calls == other.first.calls && !may_stay(array, one, other),
        }
    }

    /// Whether they are of rounds that are made in one, and so wide that the compiler may not see them aligned: the
    /// address that it counts up may lie in the middle of the rounds.
    fn has_lost_alignment(&self, group: &Group, parts: &[&Member], wide: i64) -> bool {
        let is_in_part = |part: &&Member| self.trace.straight.is_in_part(&self.pattern(part).first);
        wide > 8 && !group.constant && parts.iter().any(is_in_part)
    }

    /// Whether they are of one round and of nothing else, by all warps that ever come to their sites,
    /// with an alignment that the compiler sees in their index, or in their address.
    fn are_by_themselves(&self, group: &Group, parts: &[&Member], wide: i64) -> bool {
        parts.iter().all(|part| {
            let (pattern, first) = (self.pattern(part), self.pattern(parts[0]));
            let site = self.site(part);
            site.written_out.is_some()
                && !pattern.elsewhere
                && site.is_by_all(pattern)
                && pattern.times == first.times
                && pattern.moved.is_some()
                && pattern.moved == first.moved
                && (group.constant || i64::from(pattern.apart) % wide == 0)
                && is_written_out(self.trace, [pattern, first]).is_some()
        })
    }

    /// Whether what the later reads of bytes that the earlier read, too, is in a register: not written
    /// since, and read whenever the earlier is.
    fn is_again(&self, one: &Member, other: &Member) -> bool {
        let (first, then) = (self.pattern(one), self.pattern(other));
        let window = |pattern: &Pattern| pattern.moved.map(|moved| (moved, pattern.first_warp));
        let alone = |pattern: &Pattern| !pattern.elsewhere && pattern.times == first.times;
        first.first.position < then.first.position
            && first.first.stretch != then.first.stretch
            && window(first).is_some()
            && window(first) == window(then)
            && first.first.turn == then.first.turn
            && alone(first)
            && alone(then)
            && then.first.branches.starts_with(&first.first.branches)
            && self.trace.straight.together(first.first.region, then.first.region) == Some(true)
    }

    /// Whether a request that looks like a neighbour to the banks really is one; none if it may be in some rounds only.
    /// Offsets are counted from a multiple of 256 bytes.
    fn lies_beside(&self, one: &Member, other: &Member) -> Option<bool> {
        let (one, other) = (self.pattern(one), self.pattern(other));
        let is_alike = (one.first_warp, one.taken) == (other.first_warp, other.taken);
        let may_be = one.strays || other.strays || one.first_warp != other.first_warp;
        if is_alike { Some(true) } else { (!may_be).then_some(false) }
    }

    /// Joins runs of `count` neighbours that begin aligned in every lane; `alone`: only those that are joined whatever
    /// becomes of the other requests of their sites.
    fn join(&mut self, group: &Group, members: &[Member], count: i64, alone: bool) {
        let bytes = i64::from(group.bytes);
        let Some(wide) = width(group.bytes, count) else { return };
        let known = group.unit.is_multiple_of(wide as u64);
        let shift_keeps_alignment = known || group.open_unit.is_multiple_of(wide as u64);
        let mut varying = group.varying.iter().flat_map(|(_, factors)| factors);
        let aligned_shape =
            group.shape.iter().all(|offset| offset % wide == 0) && varying.all(|factor| factor % wide == 0);
        let array = group.array.map_or(u64::from(group.bytes), |array| self.trace.arrays[array].alignment);
        let start = group.start.alignment().or((array >= wide as u64).then_some(array));
        if !shift_keeps_alignment || !aligned_shape || start.is_some_and(|most| most < wide as u64) {
            return;
        }
        for head in members {
            let skipped = head.first.rem_euclid(wide);
            // Of three, any of the four may be missing.
            let fits = skipped == 0 || (count == 3 && skipped == bytes);
            let sight = self.pattern(head).sight;
            // An alignment that only a launch tells is none.
            if !fits || !sight.given.is_multiple_of(wide as u64) || !self.is_free(head) {
                continue;
            }
            let Some((parts, straight)) = self.neighbours(group, members, head, (count, alone)) else {
                continue;
            };
            let accesses = parts.iter().map(|part| &self.trace.accesses[part.access]);
            let of_several = accesses.clone().any(|access| access.of_several);
            let certainty = certainty(accesses, group.bytes, count, array);
            let iteration = self.pattern(head).first.iteration;
            let sure = known
                && straight
                && start.is_some()
                && !self.has_lost_alignment(group, &parts, wide)
                && certainty == Certainty::Sure
                && (sight.loose.is_multiple_of(wide as u64) || array >= wide as u64)
                && parts
                    .iter()
                    .map(|part| self.pattern(part))
                    .all(|part| part.first.iteration == iteration && part.sight.hidden == sight.hidden)
                && parts.iter().all(|part| self.is_beside(group.op, part, head));
            if certainty == Certainty::Never {
                continue;
            }
            let patterns = parts.iter().map(|part| self.pattern(part));
            let one_stretch =
                patterns.clone().all(|part| part.first.stretch == self.pattern(head).first.stretch);
            let free = match one_stretch && array >= wide as u64 {
                false => nothing_between(self.trace, group.op, patterns),
                true => self.order.may_move(self.trace, group, wide, patterns),
            };
            // Of such a pointer's accesses, those of other arrays lie between.
            if !free && !of_several {
                continue;
            }
            if self.sure_only && !sure {
                self.passed = true;
                continue;
            }
            let wide = Wide {
                bytes: wide as u32,
                offsets: self.pattern(head).offsets.map(|offset| offset.wrapping_sub(skipped)),
                sure,
                alone: sure && self.are_by_themselves(group, &parts, wide),
                in_part: parts.iter().any(|part| self.site(part).written_out == Some(false)),
                loose_pair: count == 2 && group.op == AccessOp::Load && array < wide as u64,
                head: false,
                first: false,
                single: false,
                parts: 0,
            };
            if wide.alone || !alone {
                self.note_joined(group, members, &parts, &wide);
            }
        }
    }

    /// The `count` requests that lie side by side from `head` on, or three in an aligned four, if there are so many, and
    /// whether they surely stand in one piece of straight code.
    fn neighbours<'m>(
        &self,
        group: &Group,
        members: &'m [Member],
        head: &Member,
        (count, alone): (i64, bool),
    ) -> Option<(Vec<&'m Member>, bool)> {
        // A site's requests of one time and the next, or of one piece of straight code.
        let straight = |last: &Member, next: &Member| match next.time == last.time + 1 {
            true => Some(true),
            false => self.trace.straight.together(last.region, next.region),
        };
        let mut parts: Vec<&Member> = Vec::new();
        let mut sure = true;
        let bytes = i64::from(group.bytes);
        let slots = match count {
            3 => 4 - head.first.rem_euclid(4 * bytes) / bytes,
            _ => count,
        };
        for k in 0..slots {
            // Of those that lie there, rather one of the same code.
            let own = self.pattern(head);
            let of_code = |other: &&Member| self.pattern(other).first.stretch == own.first.stretch;
            let alike = |other: &&Member| {
                let other = self.pattern(other);
                let place = |of: &Pattern| (of.first.iteration, of.first.region, of.moved);
                place(other) == place(own) && other.sight.hidden == own.sight.hidden
            };
            let mut there = lying_at(members, head.first + k * bytes).filter(|other| {
                if self.lies_beside(head, other) == Some(false) {
                    return false;
                }
                let last = parts.iter().rev().find(|part| part.access == other.access);
                last.is_none_or(|last| straight(last, other).is_some())
                    && self.is_free(other)
                    && (!alone || alike(other))
                    && parts.iter().all(|part| self.in_line(group, part, other))
            });
            let next = there.clone().find(|other| of_code(other) && alike(other));
            let next = next.or_else(|| there.clone().find(of_code)).or_else(|| there.next());
            let last = next.and_then(|next| parts.iter().rev().find(|part| part.access == next.access));
            sure &= last.zip(next).is_none_or(|(last, next)| straight(last, next) == Some(true));
            sure &= next.is_none_or(|next| self.lies_beside(head, next) == Some(true));
            parts.extend(next);
        }
        (parts.len() as i64 == count).then_some((parts, sure))
    }

    /// Notes that neighbours are one wide access, with what is read again of the same bytes.
    fn note_joined(&mut self, group: &Group, members: &[Member], parts: &[&Member], wide: &Wide) {
        let place = |member: &Member| (member.access, member.pattern);
        let mut found: Vec<(usize, usize, Wide)> = Vec::new();
        for (at, member) in parts.iter().enumerate() {
            let own = |(at, part): (usize, &&Member)| u16::from(part.access == member.access) << at;
            let parts = parts.iter().enumerate().map(own).sum::<u16>();
            let (head, first) = (parts & 1 == 1, parts.trailing_zeros() == at as u32);
            found.push((member.access, member.pattern, Wide { head, first, parts, ..*wide }));
        }
        let joined = parts.iter().map(|part| place(part)).collect();
        let mut again = Vec::new();
        if let Some(earliest) = parts.iter().min_by_key(|part| self.pattern(part).first.position)
            && group.op == AccessOp::Load
        {
            let there = |k: usize| lying_at(members, parts[k].first).map(move |it| (k, it));
            for (k, other) in (0..parts.len()).flat_map(there) {
                let part = parts.iter().any(|part| place(part) == place(other));
                if !part && self.is_free(other) && self.is_again(earliest, other) {
                    again.push(place(other));
                    found.push((other.access, other.pattern, Wide { parts: 1 << k, ..*wide }));
                }
            }
        }
        self.joined.push([joined, again]);
        for (access, pattern, wide) in found {
            self.by_access[access][pattern] = Some(wide);
        }
    }
}

/// The members that begin at this byte, of those that stand in the order of their first bytes.
fn lying_at(members: &[Member], wanted: i64) -> impl Iterator<Item = &Member> + Clone {
    let from = members.partition_point(|other| other.first < wanted);
    members[from..].iter().take_while(move |other| other.first == wanted)
}
