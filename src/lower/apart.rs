//! Which place stands for a function that shares its own with others?
//!
//! All that comes from one call of a macro, or from a header that is included twice, stands at one place of the text:
//!
//! ```text
//! #define BOTH(T) __global__ void forth_##T(T *p) { ... } __global__ void back_##T(T *p) { ... }
//! BOTH(float)
//! ```
//!
//! The place of its name tells a function from others, from here on and in all that is found. So where it is taken, the
//! next one gets a part of it: `BOTH(float)`, then `OTH(float)`, and so on.

use crate::ir::Function;
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Gives each of the functions with a body a place for its name that is not in `taken`, and adds it there.
pub(crate) fn tell_apart(functions: &mut [Arc<Function>], taken: &mut FxHashSet<Span>) {
    for function in functions.iter_mut().filter(|function| function.body.is_some()) {
        if taken.insert(function.name_span) {
            continue;
        }
        if let Some(part) = parts(function.name_span).find(|part| taken.insert(*part)) {
            Arc::make_mut(function).name_span = part;
        }
    }
}

/// All parts of a span: by their start, and from each start the longest first.
fn parts(place: Span) -> impl Iterator<Item = Span> {
    let begins = place.start..place.end;
    begins.flat_map(move |start| (start + 1..=place.end).rev().map(move |end| Span { start, end, ..place }))
}
