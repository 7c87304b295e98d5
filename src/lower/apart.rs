//! Which of the functions of one place is this one?
//!
//! All that comes from one call of a macro, or from a header that is included twice, stands at one place of the text:
//!
//! ```text
//! #define BOTH(T) __global__ void forth_##T(T *p) { ... } __global__ void back_##T(T *p) { ... }
//! BOTH(float)
//! ```
//!
//! The place of its name tells a function from others, from here on and in all that is found. So the functions of one
//! place are numbered.

use crate::ir::Function;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Gives each of the functions with a body a number for its name's place with which it is not in `taken`, and adds it
/// there.
pub(crate) fn tell_apart(functions: &mut [Arc<Function>], taken: &mut FxHashSet<Span>) {
    let mut next: FxHashMap<Span, u32> = FxHashMap::default();
    for function in functions.iter_mut().filter(|function| function.body.is_some()) {
        let mut place = function.name_span;
        let next = next.entry(place).or_insert(place.nth);
        place.nth = *next;
        while !taken.insert(place) {
            place.nth += 1;
        }
        *next = place.nth + 1;
        if place != function.name_span {
            Arc::make_mut(function).name_span = place;
        }
    }
}
