//! How is a finding represented?
//!
//! Invariant: a `Diagnostic` knows a rule's id, never the rule.

mod conflict;
mod hazard;

pub use conflict::{Cause, Certainty, Conflict, Cost, Estimated};
pub use hazard::{Hazard, Step};

use crate::source::Span;

/// How loud a rule is, in rustc's sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Not reported.
    Allow,
    /// Reported; never fails a run.
    Note,
    /// Reported; the run exits 1.
    Warn,
    /// Reported as an error; the run exits 1.
    Deny,
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The rule's id, `bank-conflict`.
    pub rule: &'static str,
    /// How it is reported. Rules set their default; the run's levels replace it.
    pub level: Level,
    /// The loudest that the run's levels may make it: what happens for some data only is no more than a note.
    pub loudest: Level,
    /// What is the matter, in one line, without a final full stop.
    pub message: String,
    /// Where.
    pub primary: Span,
    /// The few words under the primary span; may be empty.
    pub primary_label: String,
    /// Other places that matter, with a few words each.
    pub labels: Vec<(Span, String)>,
    /// The launches with which the kernel was run.
    pub launches: Vec<Span>,
    /// `= note:` lines.
    pub notes: Vec<String>,
    /// `= help:` lines.
    pub helps: Vec<String>,
    /// Edits that repair it, if any are known to.
    pub fix: Option<Fix>,
    /// The kernel through which it was found; empty when there is none.
    pub kernel: String,
    /// Where the name of that kernel is defined.
    pub kernel_at: Option<Span>,
    /// What it costs, if it is a bank conflict: of a finding with parts, its worst line.
    pub conflict: Option<Box<Conflict>>,
    /// What decides whether an access conflicts, if a value does.
    pub dependence: Option<Box<Dependence>>,
    /// The threads that nothing orders, if it is a race.
    pub hazard: Option<Box<Hazard>>,
    /// What is said of each access, if findings of one cause were put together, the first or worst line first; else
    /// empty.
    pub parts: Vec<Diagnostic>,
}

impl Diagnostic {
    /// A finding that says no more than its message.
    #[must_use]
    pub fn plain(rule: &'static str, level: Level, primary: Span, message: String) -> Diagnostic {
        Diagnostic {
            rule,
            level,
            message,
            primary,
            primary_label: String::new(),
            labels: Vec::new(),
            launches: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
            kernel: String::new(),
            kernel_at: None,
            loudest: Level::Deny,
            conflict: None,
            dependence: None,
            hazard: None,
            parts: Vec::new(),
        }
    }

    /// What it costs a block, if it is a bank conflict: of a cause, the sum over [`Diagnostic::summed`].
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        let own = self.conflict.as_ref()?.cost;
        let none = Cost { extra: 0, at_most: false, ..own };
        let parts = self.summed().filter_map(|part| part.conflict.as_ref()).map(|it| it.cost);
        Some(parts.fold(none, |sum, it| Cost {
            extra: sum.extra.saturating_add(it.extra),
            at_most: sum.at_most || it.at_most,
            ..sum
        }))
    }

    /// Those of its parts whose costs can be added: of one run, and sure if its worst is.
    pub fn summed(&self) -> impl Iterator<Item = &Diagnostic> {
        self.each().filter(|part| part.is_summed_with(self))
    }

    /// Whether its cost and that of another can be added.
    pub(crate) fn is_summed_with(&self, other: &Diagnostic) -> bool {
        let key = |it: &Diagnostic| {
            let conflict = it.conflict.as_ref()?;
            let possible = conflict.certainty == Certainty::Possible;
            Some((conflict.run, conflict.target, conflict.block, possible))
        };
        key(self) == key(other) && self.kernel_at == other.kernel_at && self.kernel == other.kernel
    }

    /// Its parts; the finding itself if it has none.
    pub fn each(&self) -> impl Iterator<Item = &Diagnostic> {
        let own = self.parts.is_empty().then_some(self);
        own.into_iter().chain(&self.parts)
    }
}

/// That values decide whether accesses of an array conflict. Findings of one kernel that say the same of an array are told
/// together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dependence {
    /// The array's name in its declaration.
    pub array: Span,
    /// Which values, and what each of them costs.
    pub words: String,
}

/// A checked repair: all edits belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in words ("pad the rows of `tile` by one element").
    pub title: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
    /// On what it rests that nothing else changes.
    pub basis: Basis,
    /// Whether the finding stays, at a lower cost.
    pub leaves: bool,
}

/// On what a repair rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// On nothing but that the finding is gone with it: why it may not be what the author wants.
    Judgement(String),
    /// On the language: a subscript finds its element whatever the declaration says. The text around is
    /// to be asked whether anything else rests on the declaration.
    Subscripts,
    /// On what was seen of every access, wherever the analysis saw the array.
    Accesses {
        /// The array's name.
        name: String,
        /// From the declaration to the end of the function.
        scope: Span,
        /// Where the array was seen to be named.
        seen: Vec<Span>,
        /// Why what was seen may not be all there is.
        doubt: Option<String>,
    },
}

/// Replace the text under `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// Its new text.
    pub text: String,
}
