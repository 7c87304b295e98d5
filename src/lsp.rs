//! What does an editor want to know of the files that it shows, while they change?
//!
//! A language server: the editor sends the texts of its buffers, and is told of findings, fixes, costs. One
//! thread speaks with the editor, another analyses, so that an answer that takes long keeps nothing else
//! waiting. How files are analysed is not known here; an [`Analyst`] does that.

mod actions;
mod client;
mod definitions;
mod documents;
mod hints;
mod hover;
mod lenses;
mod places;
mod position;
mod progress;
mod publish;
mod server;
mod worker;

pub(crate) use server::serve;

use crate::analysis::MetKernel;
use crate::diagnostic::Diagnostic;
use crate::explanation::Explanation;
use crate::source::{FileId, Sources, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an editor shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// The folders that are open.
    pub(crate) folders: Vec<PathBuf>,
    /// The buffers, each of another file.
    pub(crate) buffers: Vec<Buffer>,
}

/// The text of a file as an editor shows it.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// Where the file is, or will be.
    pub(crate) path: PathBuf,
    /// What the editor calls it.
    uri: ls_types::Uri,
    /// The editor's number of this state of it.
    version: i32,
    /// The text.
    pub(crate) text: Arc<str>,
    /// Whether the editor takes it for CUDA.
    pub(crate) is_cuda: bool,
}

/// What was found in files that were analysed together.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The texts.
    pub(crate) sources: Sources,
    /// Where the editor knows each of them.
    pub(crate) paths: FxHashMap<FileId, PathBuf>,
    /// The findings.
    pub(crate) findings: Vec<Diagnostic>,
    /// The kernels that were run.
    pub(crate) kernels: Vec<MetKernel>,
    /// What else there is to say, as on a command line.
    pub(crate) messages: Vec<String>,
    /// The configuration files that are not understood, because of which nothing was checked.
    pub(crate) refused: Vec<Refused>,
}

/// A configuration file that is not understood.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// Where the editor knows it.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
    /// The bytes of it that are wrong.
    pub(crate) span: Range<usize>,
    /// What is wrong, and what to write instead.
    pub(crate) message: String,
    /// The same as on a command line.
    pub(crate) words: String,
}

/// A repair.
#[derive(Debug)]
pub(crate) struct Offer {
    /// What it does.
    pub(crate) title: String,
    /// What is replaced, and its new text.
    pub(crate) edits: Vec<(Span, String)>,
    /// Why it may break the program, if it may.
    pub(crate) doubt: Option<String>,
    /// The numbers of the findings that it repairs.
    pub(crate) findings: Vec<usize>,
}

/// Who looks on while files are analysed.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// Whether the result is not wanted any more.
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Is told how many steps are done, and of how many.
    pub(crate) step: &'a (dyn Fn(usize, usize) + Sync),
}

/// Who analyses files.
pub(crate) trait Analyst {
    /// Analyses all that the editor shows: the folders together, and each other file by itself. `None` when
    /// that was cancelled.
    fn check(&mut self, world: &World, watch: Watch<'_>) -> Option<Vec<Checked>>;

    /// What there is to be told of a place of what was checked last: the line and the column, in
    /// characters, from 1.
    fn explain(&mut self, file: &Path, line: usize, column: usize) -> Vec<Explanation>;

    /// The repairs of findings of what was checked last, by their numbers among those of one answer, that a
    /// second run has confirmed.
    fn offers(&mut self, answer: usize, findings: &[usize]) -> Vec<Offer>;

    /// Clears away what is not needed any more, now that nobody waits.
    fn rest(&mut self);
}

#[cfg(test)]
mod tests;
