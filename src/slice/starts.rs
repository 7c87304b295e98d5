//! How far does a variable hold what it is declared with?
//!
//! ```text
//! float v = in[t];
//! if (v > 0) {                here it is `in[t]`
//!     s[t] = v;
//!     __syncthreads();
//!     v = s[255 - t];         up to here
//! }
//!
//! int k = 0;
//! while (k < n) {             here it may have been changed in the round before
//!     k += in[k];
//! }
//! ```

use crate::ir::{Declaration, Expr, LocalId};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Where the variables of a function are declared and changed.
#[derive(Default)]
pub(super) struct Starts<'a> {
    /// What each is declared with, and where.
    declared: FxHashMap<LocalId, (&'a Expr, Span)>,
    /// Where each is changed after that.
    changed: FxHashMap<LocalId, SmallVec<[Span; 4]>>,
    /// The loops.
    loops: Vec<Span>,
}

/// What a variable is declared with, and up to where it holds that.
pub(super) struct Start<'a> {
    pub local: LocalId,
    pub value: &'a Expr,
    /// An empty span: it ends there.
    pub until: Span,
}

impl<'a> Starts<'a> {
    pub(super) fn declare(&mut self, declaration: &'a Declaration) {
        if let Some(value) = &declaration.init {
            self.declared.insert(declaration.local, (value, declaration.span));
        }
    }

    pub(super) fn note_loop(&mut self, span: Span) {
        self.loops.push(span);
    }

    pub(super) fn note_change(&mut self, local: LocalId, at: Span) {
        self.changed.entry(local).or_default().push(at);
    }

    /// Of all variables that are changed.
    pub(super) fn of_changed(&self) -> impl Iterator<Item = Start<'a>> + use<'a, '_> {
        self.changed.iter().filter_map(|(local, places)| {
            let (value, declared) = *self.declared.get(local)?;
            let end = places.iter().map(|at| self.first_reach(*at, declared)).min()?;
            let is_one_file = places.iter().all(|at| at.file == declared.file);
            let until = Span { start: end, end, ..declared };
            is_one_file.then_some(Start { local: *local, value, until })
        })
    }

    /// The first byte that a change reaches: where it stands, or where the outermost loop begins that repeats it and not
    /// the declaration.
    fn first_reach(&self, at: Span, declared: Span) -> u32 {
        let holds =
            |it: &Span, inner: Span| it.file == inner.file && it.start <= inner.start && inner.end <= it.end;
        let repeats = self.loops.iter().filter(|it| holds(it, at) && !holds(it, declared));
        repeats.map(|it| it.start).fold(at.start, u32::min)
    }
}
