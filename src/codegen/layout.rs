//! Where in a kernel's shared memory do its static variables lie, modulo 16 bytes?
//!
//! The compiler joins neighbours only where it sees that the wide access is aligned, and the start of a static array
//! is aligned as its elements are, wherever the variables before it end. They lie in the order of their declarations,
//! each at the next multiple of its alignment. Seen in the machine code of nvcc 13 for 9.0:
//!
//! | before `__shared__ float s[1024]` | `s` starts at | four neighbours `s[4 * t + e]` are |
//! |---|---|---|
//! | nothing, `float w[4]`, `float w[32]` | 0, 16, 128 | one access |
//! | `float w[2]`, `double w` | 8 | two of 8 bytes |
//! | `float w`, `float w[33]`, `bool w` | 4, 132, 4 | four |
//! | `float w` that is never used, or only written | 0: it is left out | one access |
//! | `float m[3]` or a struct, with constant subscripts only | 0: its parts lie behind all others | one access |
//! | `float m[3]`, also subscripted by the counter of a loop | 12 | four |
//! | `{ float w; ... }`, a block inside that ended before | 4 | four |
//! | `float w` of a function that is called, or at file scope | 0 or 4, as others use it or not | |
//!
//! Where a variable may be left out, taken apart or belong to another function, the start of what may lie behind it is
//! unknown.
//!
//! In one scope its own variables come first, then those of the blocks in it, one after the other: in
//! `{ float a; } { float s[1024]; { float b; } float c; }` the order is `a`, `s`, `c`, `b`.
//! At a constant subscript the whole address is known, so that `s[1]` and `s[2]` are one access where `s` starts at 4.
//! Before 9.0 it is at any: there `s[4 * t + 1]` and `s[4 * t + 2]` are one access, too.
//!
//! Constant addresses are neighbours even where they are of several variables. Seen for 7.5, 9.0 and 10.0, of what all
//! threads read:
//!
//! | declared | read | in one access |
//! |---|---|---|
//! | `float a, b;` or `float a; int b;` | `a`, `b` | both, of 8 bytes; stores of one thread, too |
//! | `float a, b, c, d;` or `int p[2], c[2];` | all | all, of 16 bytes |
//! | `float b, s[63];` | `b`, `s[0]` | both |
//! | `float s[64], b;` | `s[63]`, `b` | none: 8 bytes from there are not aligned |
//! | `float a; double b;` and `bool a, b;` | `a`, `b` | none |

use crate::events::{Access, AccessOp, Array, Declared, Pattern, Trace};
use rustc_hash::FxHashMap;

/// The widest access, and so what an alignment is of interest for.
const WIDEST: u64 = 16;

/// Where a shared variable starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Start {
    /// So many bytes behind a multiple of 16.
    At(u64),
    /// It is not known.
    Unknown,
}

impl Start {
    /// The bytes up to which the compiler sees an address aligned that is a multiple of 16 behind the start; `None` if
    /// that is not known.
    pub(super) fn alignment(self) -> Option<u64> {
        match self {
            Start::At(at) => Some(1 << (at | WIDEST).trailing_zeros()),
            Start::Unknown => None,
        }
    }

    /// Where a byte lies that is so many behind the start, counted from a multiple of 16 if that is known, and what it is
    /// counted from then.
    pub(super) fn moved(self, first: i64) -> (i64, Start) {
        match self {
            Start::At(bytes) => (first + bytes as i64, Start::At(0)),
            Start::Unknown => (first, Start::Unknown),
        }
    }
}

/// What is known of a shared variable.
struct Variable<'a> {
    array: &'a Array,
    /// Whether the compiler surely keeps it, and keeps it in one piece.
    stays: bool,
    /// Whether the compiler may keep it.
    is_there: bool,
    /// Whether it may move others: its size is no multiple of the widest access, and it may be there.
    is_uneven: bool,
    /// Whether it may be taken apart, to lie behind all others.
    may_be_split: bool,
}

/// The starts of the arrays of a trace.
pub(super) fn starts(trace: &Trace) -> Vec<Start> {
    let variables: Vec<Variable<'_>> = (0..trace.arrays.len()).map(|at| Variable::of(trace, at)).collect();
    (0..variables.len()).map(|at| start(&variables, at)).collect()
}

impl Variable<'_> {
    fn of(trace: &Trace, number: usize) -> Variable<'_> {
        let array = &trace.arrays[number];
        let accesses = || trace.accesses.iter().filter(|access| access.array == number);
        let is_static = !array.dynamic && !array.global;
        let is_read = accesses().any(|access| access.op != AccessOp::Store);
        let may_be_split =
            (!array.dimensions.is_empty() || !array.of_numbers) && accesses().all(has_constant_subscripts);
        // What no number is may be used in ways that are not listed.
        let is_absent = array.of_numbers && !array.flattened && accesses().next().is_none();
        let is_even = array.bytes().is_some_and(|bytes| bytes.is_multiple_of(WIDEST));
        Variable {
            array,
            stays: is_read && !may_be_split,
            is_there: is_static && !is_absent,
            is_uneven: is_static && !is_absent && !is_even,
            may_be_split,
        }
    }
}

/// The one address that all lanes of a request access, if it depends on nothing that is not known.
fn address(pattern: &Pattern) -> Option<i64> {
    let mut offsets =
        (0..32).filter(|lane| pattern.active >> lane & 1 == 1).map(|lane| pattern.offsets[lane]);
    let first = offsets.next();
    let is_known = pattern.varying.is_empty()
        && pattern.walk.is_none()
        && (pattern.unit, pattern.open_unit, pattern.added) == (0, 0, 0);
    first.filter(|first| is_known && offsets.all(|offset| offset == *first))
}

/// Of each request of a site, whether its address is a constant: the one that all warps access at that time.
pub(super) fn constants(access: &Access) -> Vec<bool> {
    let mut at_once: FxHashMap<u32, Option<i64>> = FxHashMap::default();
    for pattern in &access.patterns {
        let address = address(pattern);
        let known = at_once.entry(pattern.first.position).or_insert(address);
        *known = known.filter(|known| address == Some(*known));
    }
    access.patterns.iter().map(|it| at_once.get(&it.first.position).is_some_and(Option::is_some)).collect()
}

/// Whether a site always accesses one constant address.
fn has_constant_subscripts(access: &Access) -> bool {
    let mut addresses = access.patterns.iter().map(address);
    let first = addresses.next().flatten();
    access.unknown.is_none() && first.is_some() && addresses.all(|it| it == first)
}

/// By array: the byte of static shared memory at which a static variable starts, where that is known.
pub(super) fn addresses(trace: &Trace) -> Vec<Option<u64>> {
    let variables: Vec<Variable<'_>> = (0..trace.arrays.len()).map(|at| Variable::of(trace, at)).collect();
    let address = |at: usize| {
        let own = variables[at].array;
        if own.dynamic || own.global {
            return None;
        }
        end_of_those_before(&variables, at, |it| it.is_there).map(|end| next(end, own))
    };
    (0..variables.len()).map(address).collect()
}

/// Where a variable starts. Only those of uneven size move others: behind each, the next one stands at its alignment.
fn start(variables: &[Variable<'_>], at: usize) -> Start {
    let own = &variables[at];
    if own.array.dynamic || own.array.global {
        return Start::At(0);
    }
    if (0..variables.len()).all(|it| it == at || !variables[it].is_uneven) {
        return Start::At(0);
    }
    let end = end_of_those_before(variables, at, |it| it.is_uneven);
    end.map_or(Start::Unknown, |end| Start::At(next(end, own.array) % WIDEST))
}

/// Where the last variable before one ends, of those that count; `None` if that is not known.
fn end_of_those_before(
    variables: &[Variable<'_>],
    at: usize,
    counts: impl Fn(&Variable<'_>) -> bool,
) -> Option<u64> {
    let own = &variables[at];
    let declared = own.array.declared.filter(|it| !it.is_several && !own.may_be_split)?;
    let is_before = |it: &Declared| it.number < declared.number;
    let is_known = |it: usize| {
        let of = variables[it].array.declared.filter(|of| of.function == declared.function && !of.is_several);
        of.is_some_and(|of| of.number != declared.number && (variables[it].stays || !is_before(&of)))
    };
    if !(0..variables.len()).filter(|&it| it != at && counts(&variables[it])).all(is_known) {
        return None;
    }
    let mut before: Vec<(u32, &Array)> = variables
        .iter()
        .filter_map(|it| Some((it.array.declared.filter(|of| counts(it) && is_before(of))?.number, it.array)))
        .collect();
    before.sort_unstable_by_key(|(number, _)| *number);
    before.into_iter().try_fold(0u64, |end, (_, array)| next(end, array).checked_add(array.bytes()?))
}

/// Where an array starts behind what ends there.
fn next(end: u64, array: &Array) -> u64 {
    end.next_multiple_of(array.alignment.max(1))
}
