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
//! The compiler must be able to see it: two sites are joined only when every request of one has its
//! neighbour in the other, and one site with itself (an unrolled loop) only from one time to the next.
//!
//! Nor does it move every access over every other. An array whose alignment is known when the
//! function is compiled (dynamic, or declared with `__align__`, or of vectors) is joined by the front
//! half of nvcc, which sees which accesses touch the same bytes. Any other is joined when the machine
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
    /// Which part of it the narrow request is; `None` when all parts are of one site.
    part: Option<u8>,
}

#[derive(PartialEq, Eq, Hash)]
struct Group {
    array: usize,
    op: AccessOp,
    bytes: u32,
    active: u32,
    epoch: u32,
    warps: u32,
    unit: u64,
    /// Offsets relative to the first active lane: equal for neighbours.
    shape: [i64; 32],
}

impl Merges {
    /// Finds the joined requests of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Merges {
        let mut groups: FxHashMap<Group, Vec<(i64, usize, usize)>> = FxHashMap::default();
        for (at, access) in trace.accesses.iter().enumerate() {
            let Some(bytes) = joinable(access) else { continue };
            for (number, pattern) in access.patterns.iter().enumerate() {
                if pattern.active == 0 || !pattern.varying.is_empty() {
                    continue;
                }
                let (first, shape) = relative(pattern);
                let group = Group {
                    array: access.array,
                    op: access.op,
                    bytes,
                    active: pattern.active,
                    epoch: pattern.epoch,
                    warps: pattern.warps,
                    unit: pattern.unit,
                    shape,
                };
                groups.entry(group).or_default().push((first, at, number));
            }
        }
        let mut by_access: Vec<Vec<Option<Wide>>> =
            trace.accesses.iter().map(|access| vec![None; access.patterns.len()]).collect();
        for members in groups.values_mut() {
            members.sort_unstable();
        }
        for count in [4, 2] {
            for (group, members) in &groups {
                join(group, members, count, trace, &mut by_access);
            }
            // All or nothing: alignment is known at compile time or not at all.
            for patterns in &mut by_access {
                let role = |wide: &Option<Wide>| wide.map(|w| (w.bytes, w.part));
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

/// The element size of an access that can be joined with its neighbours.
fn joinable(access: &Access) -> Option<u32> {
    let plain = matches!(access.op, AccessOp::Load | AccessOp::Store) && access.unknown.is_none();
    access.bytes.filter(|bytes| plain && matches!(bytes, 4 | 8))
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

/// Joins runs of `count` neighbours that begin aligned in every lane.
fn join(
    group: &Group,
    members: &[(i64, usize, usize)],
    count: i64,
    trace: &Trace,
    by_access: &mut [Vec<Option<Wide>>],
) {
    let bytes = i64::from(group.bytes);
    let wide = bytes * count;
    let shift_keeps_alignment = group.unit.is_multiple_of(wide as u64);
    let aligned_shape = group.shape.iter().all(|offset| offset % wide == 0);
    if wide > 16 || !shift_keeps_alignment || !aligned_shape {
        return;
    }
    for &(first, at, number) in members {
        if first % wide != 0 || by_access[at][number].is_some() {
            continue;
        }
        let start = trace.accesses[at].patterns[number].occurrence;
        let neighbour = |k: i64| {
            members.iter().find(|(offset, a, n)| {
                let next = trace.accesses[*a].patterns[*n].occurrence == start + k as u32;
                *offset == first + k * bytes && (*a != at || next) && by_access[*a][*n].is_none()
            })
        };
        let Some(parts) = (0..count).map(neighbour).collect::<Option<Vec<_>>>() else { continue };
        let patterns = parts.iter().map(|(_, access, number)| &trace.accesses[*access].patterns[*number]);
        if trace.arrays[group.array].alignment < wide as u64 && !nothing_between(group.op, patterns) {
            continue;
        }
        let offsets = trace.accesses[at].patterns[number].offsets;
        let one_site = parts.iter().all(|(_, access, _)| *access == at);
        for (part, &&(_, access, pattern)) in (0u8..).zip(&parts) {
            let part = (!one_site).then_some(part);
            by_access[access][pattern] = Some(Wide { bytes: wide as u32, offsets, part });
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
