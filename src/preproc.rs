//! What does the text say before it is parsed: macros, `#if`, `#include`?
//!
//! Produces the text to parse and a [`SpanMap`] that leads every byte of it back to the original.

mod builtin;
pub mod comments;
mod condition;
mod constant;
mod declared;
mod directives;
mod dispatch;
mod expansion;
mod hidden;
mod left_out;
mod lexer;
mod macros;
mod mask;
mod outside;
mod own_names;
mod piece;
mod replacement;
mod replay;
mod rewrite;
mod seen;

use crate::source::{FileId, SourceFile, Span};
use std::hash::{DefaultHasher, Hash};
use std::ops::Range;
use std::sync::Arc;

pub use builtin::Defines;
pub use constant::{Constant, constant, names};
pub use directives::{HeaderCache, Missing};
pub use hidden::Hidden;
pub use left_out::LeftOut;
pub(crate) use lexer::{Kind, Lexer, Token};
pub(crate) use macros::Print;
pub(crate) use mask::{VALUE_OF_DECLTYPE, is_specifier, partners};
pub use outside::Outside;

/// Finds the project's headers. Given by the caller, because only the caller touches files.
pub trait Includes: Sync {
    /// The header found for `spec` written in `from`; `None` when it is not a project file.
    /// The same file must always be the same [`SourceFile`], with the same number.
    fn open(&self, from: &SourceFile, spec: &str, angled: bool) -> Option<Arc<SourceFile>>;
}

/// No header is ever found.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoIncludes;

impl Includes for NoIncludes {
    fn open(&self, _: &SourceFile, _: &str, _: bool) -> Option<Arc<SourceFile>> {
        None
    }
}

/// The text to parse for a file. For several files of a run, share a cache: [`expand_cached`].
#[must_use]
pub fn expand(file: &Arc<SourceFile>, defines: &Defines, includes: &dyn Includes) -> Expanded {
    expand_cached(file, defines, includes, &HeaderCache::default())
}

/// The text to parse for a file, with the headers' directives read once for all files that
/// share `cache` and `includes`.
#[must_use]
pub fn expand_cached(
    file: &Arc<SourceFile>,
    defines: &Defines,
    includes: &dyn Includes,
    cache: &HeaderCache,
) -> Expanded {
    Surroundings { defines, includes, cache }.replay(file).expand()
}

/// Where a file's macros and headers come from.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// What is defined before any file.
    pub defines: &'a Defines,
    /// Finds headers.
    pub includes: &'a dyn Includes,
    /// Holds the directives of headers that were read before.
    pub cache: &'a HeaderCache,
}

impl Surroundings<'_> {
    /// Runs a file's directives and those of the headers it includes.
    #[must_use]
    pub fn replay(self, file: &Arc<SourceFile>) -> Replayed {
        Replayed::run(file, &Outside::default(), self, true)
    }

    /// The same of a header, with what `outside` defines; another file lists its headers.
    #[must_use]
    pub fn replay_header(self, file: &Arc<SourceFile>, outside: &Outside) -> Replayed {
        Replayed::run(file, outside, self, false)
    }

    /// A header and every file that its `#include`s may lead to, taken or not; `None`: too many.
    #[must_use]
    pub fn reached(self, header: &Arc<SourceFile>) -> Option<Vec<FileId>> {
        let directives = self.cache.directives(header);
        let reached = directives.reached(self.includes, self.cache)?;
        Some(reached.iter().map(|file| file.id).collect())
    }
}

/// A header where it was first included.
#[derive(Clone, Debug)]
pub struct Included {
    /// The header.
    pub file: Arc<SourceFile>,
    /// What it sees of the definitions before it.
    pub outside: Outside,
}

/// A file whose directives were run: its headers are known, its text is not yet expanded.
#[derive(Debug)]
pub struct Replayed {
    /// The file.
    pub file: Arc<SourceFile>,
    /// Every project header that was reached, in order of first inclusion; none for one that is
    /// [a header itself](Surroundings::replay_header).
    pub headers: Vec<Included>,
    /// Whether a header was left out or not run to its end: more would have been too much.
    pub is_cut_short: bool,
    macros: macros::Macros,
    /// Directives and untaken branches, in order.
    blanks: Vec<Range<usize>>,
    /// As in [`Expanded::undecided`].
    undecided: Vec<Range<usize>>,
}

impl Replayed {
    fn run(
        file: &Arc<SourceFile>,
        outside: &Outside,
        surroundings: Surroundings<'_>,
        lists_headers: bool,
    ) -> Replayed {
        let Surroundings { defines, includes, cache } = surroundings;
        let mut macros = defines.macros.for_file(cache.directives(file));
        outside.define(&mut macros);
        let mut replay = replay::Replay::new(macros, includes, cache, lists_headers);
        replay.run();
        let is_cut_short = replay.is_cut_short();
        let replay::Replay { macros, blanks, undecided, headers, .. } = replay;
        Replayed { file: Arc::clone(file), headers, is_cut_short, macros, blanks, undecided }
    }

    /// What decides, beside the text and what is defined from the start, what the text becomes: two replays
    /// of one file for which this is the same are expanded to the same.
    #[must_use]
    pub(crate) fn print(&self) -> Print {
        let rest = |hasher: &mut DefaultHasher| {
            (&self.blanks, &self.undecided, self.is_cut_short).hash(hasher);
        };
        self.macros.print(&rest)
    }

    /// What the comments outside untaken branches ask of the tool.
    #[must_use]
    pub fn comments(&self) -> Vec<comments::Directive> {
        let mut found = comments::directives(&self.file.text);
        found.retain(|directive| {
            let start = directive.span.start as usize;
            let blank = self.blanks.partition_point(|blank| blank.end <= start);
            let dead = self.blanks.get(blank).filter(|blank| blank.start <= start);
            // Behind a directive on its own line is not inside an untaken branch.
            dead.is_none_or(|blank| {
                !self.file.text.get(blank.start..start).is_some_and(|before| before.contains('\n'))
            })
        });
        found
    }

    /// The text to parse.
    #[must_use]
    pub fn expand(self) -> Expanded {
        let comments = self.comments();
        let Replayed { file, headers, is_cut_short, macros, blanks, undecided } = self;
        let blanked = (!blanks.is_empty()).then(|| replay::blanked(&file.text, &blanks));
        let base = blanked.as_deref().unwrap_or(&file.text);
        let (text, map) = match rewrite::expand_text(base, &macros) {
            Some((text, map)) => (Some(text), map),
            None => (blanked, SpanMap::default()),
        };
        let (text, masked) = mask::apply(&file.text, text);
        let headers = headers.into_iter().map(|header| header.file).collect();
        Expanded { file, text, map, masked, headers, comments, is_cut_short, undecided }
    }
}

/// Text that is ready to parse, and how to get back from it.
#[derive(Debug)]
pub struct Expanded {
    /// The file it came from.
    pub file: Arc<SourceFile>,
    /// The text: macros expanded, untaken branches and directives blanked, masks applied.
    /// `None` when it is the file's own text, unchanged.
    pub text: Option<String>,
    /// The way back.
    pub map: SpanMap,
    /// What the masks removed, by position in the expanded text, in order.
    pub masked: Vec<Masked>,
    /// Every project header that was reached, in order of first inclusion.
    pub headers: Vec<Arc<SourceFile>>,
    /// What the comments ask of the tool.
    pub comments: Vec<comments::Directive>,
    /// As in [`Replayed::is_cut_short`].
    pub is_cut_short: bool,
    /// What of the original text stands under an `#if` that asks a macro which nothing defines, or under the other
    /// branches of that `#if`, in bytes.
    pub undecided: Vec<Range<usize>>,
}

impl Expanded {
    /// The text to parse.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.file.text)
    }

    /// A file without macros or masks: its own text.
    #[must_use]
    pub fn unchanged(file: Arc<SourceFile>) -> Expanded {
        let comments = comments::directives(&file.text);
        let (map, masked, headers) = (SpanMap::default(), Vec::new(), Vec::new());
        let undecided = Vec::new();
        Expanded { file, text: None, map, masked, headers, comments, is_cut_short: false, undecided }
    }
}

/// Something with a meaning that the grammar cannot parse, blanked from the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// First byte in the expanded text.
    pub start: u32,
    /// One past the last byte in the expanded text.
    pub end: u32,
    /// What it was.
    pub kind: MaskKind,
    /// Its arguments as written (expanded), without the parentheses: `16`, `256, 2`.
    pub args: String,
}

/// The masked constructs whose meaning matters later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskKind {
    /// `__attribute__((packed))`
    Packed,
    /// `__align__(n)` and `alignas(n)` where the grammar cannot take it.
    Align,
    /// `__launch_bounds__(...)` where the grammar cannot take it.
    LaunchBounds,
    /// `__cluster_dims__(...)`
    ClusterDims,
    /// A macro that nothing visible defines, called where a statement stands.
    Statement,
    /// A macro that nothing visible defines, before a function that is launched: it says `__global__`.
    Kernel,
    /// `_Pragma("...")`
    Pragma,
    /// `__device__` of a lambda.
    DeviceLambda,
    /// Anything without meaning for this tool.
    Other,
}

/// Leads a range of the expanded text back to the original. Empty: the identity.
#[derive(Debug, Default)]
pub struct SpanMap {
    /// In order of `expanded_start`, covering the text.
    pub segments: Vec<Segment>,
}

/// A run of expanded text with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where it starts in the expanded text; it ends where the next one starts.
    pub expanded_start: u32,
    /// Where its origin starts in the original text.
    pub original_start: u32,
    /// For the expansion of a macro: one past the end of the macro's use in the original text.
    /// `None`: the text is the original's, byte for byte.
    pub macro_use_end: Option<u32>,
    /// For the expansion of a macro, or an argument in it: where the macro is defined.
    pub definition: Option<Span>,
    /// The text is an argument of a macro's use. It stands in the original as it is, but may
    /// appear several times here, so that a change of it changes more than this place.
    pub is_argument: bool,
}

impl SpanMap {
    /// The original range of the expanded range `start..end`. A position inside a macro's
    /// expansion becomes that macro's whole use.
    #[must_use]
    pub fn original(&self, start: u32, end: u32) -> (u32, u32) {
        if self.segments.is_empty() {
            return (start, end);
        }
        let first = self.segment_at(start);
        let last = self.segment_at(end.saturating_sub(1).max(start));
        let low = match first.macro_use_end {
            Some(_) => first.original_start,
            None => first.original_start + (start - first.expanded_start),
        };
        let high = match last.macro_use_end {
            Some(use_end) => use_end,
            None => last.original_start + (end.max(last.expanded_start) - last.expanded_start),
        };
        (low, high.max(low))
    }

    /// Whether no macro has a hand in `start..end`: a change of the original text there changes
    /// this text in the same way and nothing else.
    #[must_use]
    pub fn is_verbatim(&self, start: u32, end: u32) -> bool {
        if self.segments.is_empty() {
            return true;
        }
        let first = self.segments.partition_point(|segment| segment.expanded_start <= start);
        let touched = self.segments.get(first.saturating_sub(1)..).unwrap_or_default();
        let mut touched = touched.iter().take_while(|segment| segment.expanded_start < end.max(start + 1));
        touched.next().is_some_and(|only| only.macro_use_end.is_none() && !only.is_argument)
            && touched.next().is_none()
    }

    fn segment_at(&self, expanded: u32) -> &Segment {
        let after = self.segments.partition_point(|segment| segment.expanded_start <= expanded);
        &self.segments[after.saturating_sub(1)]
    }
}
