//! ## What it does
//! Finds accesses of a shared array by a thread whose index lies outside it, in every block that is not at the edge
//! of the data.
//!
//! ## Why is this bad
//! The bytes past the end of an array belong to another array, or to nobody: the thread reads or overwrites foreign
//! data, or the kernel stops. `compute-sanitizer` reports only the second case.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void shift(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x + 1] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     shift<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void shift(float *out, const float *in) {
//!     __shared__ float s[257];
//!     s[threadIdx.x + 1] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     shift<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - On public code, each finding was read. For the fixtures, memcheck on an H200 reports the same threads if they
//!   leave all shared memory of the block.
//! - The block must be given by a launch or the user. Dynamic shared memory is as long as the launch says. Of several
//!   launches with the same block, the one with the fewest bytes counts. `missing-dynamic-shared-size` covers launches
//!   that pass none.
//! - A subscript that leaves its row but stays in the array is a note: some code treats an array as one-dimensional on
//!   purpose. It is reported only if thread and iteration numbers alone make it.
//! - Under a condition that is the same for the whole block and not decided, as `if (last)`, it is a warning that names
//!   the condition, if nothing in host code ties the condition to the block: there is one launch shape, its text tells the
//!   block, and the arguments are plain numbers that no condition around the launch asks for. So is an access by
//!   threads that data choose, if it is outside for each of them.
//! - If a bound may keep the thread out, as `threadIdx.x < n` may, it is assumed to do so. The same goes for a bound on an
//!   index that counts the threads of all blocks, if the index of the element counts them, too.
//! - If the preprocessor takes parts out of the kernel, a block that leaves an array counts only if every other block of
//!   its launch does: host code may choose the block by the device.
//! - There is no fix.

use super::{About, Case, Rule, fact, plural};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::Subscript;
use crate::facts::{Happens, InnerOverrun, Overrun};
use crate::shape::BlockFrom;

/// A 32-bit subscript this little below 2^32 went below 0.
const LEAST_BELOW: i64 = 1 << 16;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "shared-out-of-bounds",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a thread that reads or writes shared memory outside its array",
    docs: include_str!("shared_out_of_bounds.rs"),
};

/// Finds accesses outside their array: one finding for each site.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let describe = |number, overrun: &Overrun| describe(case, number, overrun);
    fact::of_each_site(case, |facts| &facts.overruns, |overrun| overrun.access, describe, out);
    let describe = |number, overrun: &InnerOverrun| describe_inner(case, number, overrun);
    fact::of_each_site(case, |facts| &facts.inner_overruns, |overrun| overrun.access, describe, out);
}

/// A subscript that leads into another row: a note, as programs do that on purpose, too.
fn describe_inner(case: &Case<'_>, number: usize, overrun: &InnerOverrun) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[overrun.access];
    let array = &trace.arrays[access.array];
    let Subscript { dimension, length, thread, index, .. } = overrun.subscript;
    let (does, all) = (fact::does(access), plural(length, "element"));
    let ordinal = match dimension {
        Some(1) => "second",
        Some(2) => "third",
        _ => "inner",
    };
    let message = format!(
        "thread {thread} {does} `{}` with the subscript {index} in its {ordinal} dimension, which has {all}",
        array.name
    );
    let mut finding = fact::finding(&RULE, case, number, access, &overrun.assumptions, message);
    finding.notes.insert(0, "it stays in the array, in another row".to_owned());
    Diagnostic {
        level: Level::Note,
        primary_label: format!("{index} for thread {thread}"),
        labels: vec![(array.name_span, "declared here".to_owned())],
        ..finding
    }
}

fn describe(case: &Case<'_>, number: usize, overrun: &Overrun) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[overrun.access];
    let array = &trace.arrays[access.array];
    let (bytes, element) = (overrun.size, array.element_bytes.unwrap_or(1).max(1));
    let starts_inside = u64::try_from(overrun.offset).is_ok_and(|offset| offset < bytes);
    // In elements where that says where it is.
    let (at, all) = if overrun.offset % element as i64 == 0 && !starts_inside {
        (format!("element {}", overrun.offset / element as i64), plural(bytes / element, "element"))
    } else {
        let last = overrun.offset + i64::from(access.bytes.unwrap_or(1)) - 1;
        (format!("bytes {} to {last}", overrun.offset), plural(bytes, "byte"))
    };
    let beyond = match (overrun.is_bound, overrun.offset < 0) {
        (false, _) => "",
        (true, false) => " or beyond",
        (true, true) => " or before",
    };
    let (thread, does) = (overrun.thread, fact::does(access));
    let possible = if matches!(overrun.happens, Happens::ForData) { "possible: " } else { "" };
    let message =
        format!("{possible}thread {thread} {does} {at}{beyond} of `{}`, which has {all}", array.name);
    let mut labels = Vec::new();
    match case.runs[number].least_dynamic.filter(|_| array.dynamic) {
        Some((_, launch)) => labels.push((launch, format!("this launch passes {}", plural(bytes, "byte")))),
        None => labels.push((array.name_span, format!("{all}, counted from 0"))),
    }
    let mut finding = fact::finding(&RULE, case, number, access, &overrun.assumptions, message);
    let run = &case.runs[number];
    // Of launches of one block, the one that is shown.
    if let Some((_, launch)) = run.least_dynamic.filter(|_| array.dynamic && run.misfit.is_none())
        && run.block_from == BlockFrom::Launch
        && run.launch.is_some_and(|of_block| of_block != launch)
        && let Some(block) = finding.notes.first_mut()
    {
        let [x, y, z] = run.block;
        *block = format!("block is ({x}, {y}, {z}), from the launch at {}", (case.place)(launch));
    }
    let when = match &overrun.happens {
        Happens::Where(sides) => fact::sides_words(case, sides),
        Happens::ForData => Some(fact::data_choose(access)),
    };
    let level = if overrun.happens.is_sure() { finding.level } else { Level::Warn };
    finding.notes.splice(0..0, when.into_iter().chain(wrapped(overrun.offset, element)));
    Diagnostic { level, primary_label: format!("{at}{beyond} for thread {thread}"), labels, ..finding }
}

/// That a subscript has become so large because it went below 0 without a sign.
fn wrapped(offset: i64, element: u64) -> Option<String> {
    let subscript = offset.checked_div(i64::try_from(element).ok()?)?;
    let below = subscript.checked_sub(1 << 32)?;
    (-LEAST_BELOW..0)
        .contains(&below)
        .then(|| format!("the subscript is unsigned, and {below} wraps around to {subscript}"))
}
