//! What text are we looking at, and where in it is a finding?
//!
//! Owns bytes, lines, columns and spans. A [`SourceFile`] holds a file's text once;
//! everything downstream refers to it by [`Span`].

mod moved;

pub(crate) use moved::{Moves, common_ends};
use rustc_hash::FxHashMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Which file of a run. Numbers are handed out in the order files are first read,
/// which depends on thread timing: never order output by them, order by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl FileId {
    /// That of what is known of the standard library, which no run has read.
    pub(crate) const NO_TEXT: FileId = FileId(u32::MAX);
}

/// A half-open byte range `start..end` of one file's original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Which of the things it is that stand there: one call of a macro may make several functions.
    pub nth: u32,
}

impl Span {
    /// The smallest span that covers both; `self` when the files differ.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end), nth: 0 }
    }

    /// Whether it is in what is built in of libraries, which has no text that a user could see.
    #[must_use]
    pub(crate) fn is_built_in(self) -> bool {
        self.file == FileId::NO_TEXT
    }

    /// The range as `usize`, for slicing.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One file's text. Bytes that are not UTF-8 (latin-1 comments are common in CUDA code)
/// are replaced one for one by `?`, so that every offset is an offset in the file on disk.
#[derive(Debug)]
pub struct SourceFile {
    /// This file's number in the run.
    pub id: FileId,
    /// The path as the user gave it or as an `#include` led to it.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Wraps `bytes`, repairing what is not UTF-8 without moving any offset.
    #[must_use]
    pub fn new(id: FileId, path: PathBuf, bytes: Vec<u8>) -> SourceFile {
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => repair_utf8(error.into_bytes()),
        };
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(newlines).collect();
        SourceFile { id, path, text, line_starts }
    }

    /// The text under `span`; empty when the span is not of this file's shape.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Line and column, both from 1; the column counts characters.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len()).max(start);
        let column = self.text.get(start..end).map_or(end - start, |head| head.chars().count());
        (line, column + 1)
    }

    /// Whether it is compiled by itself. What a header holds shows only where it is included.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        let extension = self.path.extension().map(|it| it.to_ascii_lowercase());
        extension.is_some_and(|it| ["cu", "hip", "cpp", "cc", "cxx", "c"].iter().any(|known| it == *known))
    }

    /// The path with `/` between its parts, for output.
    #[must_use]
    pub fn display_path(&self) -> String {
        display_path(&self.path)
    }

    /// The path as a repository names it, with no `./` in front.
    #[must_use]
    pub fn tracked_path(&self) -> String {
        let path = self.display_path();
        let mut rest = path.as_str();
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter.trim_start_matches('/');
        }
        rest.to_owned()
    }
}

/// A path with `/` between its parts. Where `\` is none of the system's separators, it is a letter like others.
#[must_use]
pub fn display_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace(MAIN_SEPARATOR, "/") }
}

fn repair_utf8(mut bytes: Vec<u8>) -> String {
    let mut at = 0;
    while let Err(error) = std::str::from_utf8(&bytes[at..]) {
        let bad = at + error.valid_up_to();
        let length = error.error_len().unwrap_or(bytes.len() - bad);
        bytes[bad..bad + length].fill(b'?');
        at = bad + length;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// All files of a run, by number and by path. Shared between threads.
#[derive(Debug, Default)]
pub struct Sources {
    files: RwLock<Vec<Arc<SourceFile>>>,
    /// Files that were read before, by path: what is still the same keeps its number.
    before: Arc<FxHashMap<PathBuf, Arc<SourceFile>>>,
}

impl Sources {
    /// The files that go on with the numbers of `all`, of which those in `before` may be met again.
    pub(crate) fn after(
        all: Vec<Arc<SourceFile>>,
        before: Arc<FxHashMap<PathBuf, Arc<SourceFile>>>,
    ) -> Sources {
        Sources { files: RwLock::new(all), before }
    }

    /// The same files apart from these, which may grow.
    pub(crate) fn snapshot(&self) -> Sources {
        Sources::after(self.all(), Arc::default())
    }

    /// Adds a file and returns it with its number, which is that of before if nothing of it has changed.
    pub fn add(&self, path: &Path, bytes: Vec<u8>) -> Arc<SourceFile> {
        let mut bytes = bytes;
        if let Some(known) = self.before.get(path) {
            if known.text.as_bytes() == bytes {
                return Arc::clone(known);
            }
            let repaired = SourceFile::new(known.id, path.to_path_buf(), bytes);
            if known.text == repaired.text {
                return Arc::clone(known);
            }
            bytes = repaired.text.into_bytes();
        }
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        let id = FileId(files.len() as u32);
        let file = Arc::new(SourceFile::new(id, path.to_path_buf(), bytes));
        files.push(Arc::clone(&file));
        file
    }

    /// Every file, in no order.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<SourceFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file with this number. One that no run has read, as the standard library, has no text.
    #[must_use]
    pub fn get(&self, id: FileId) -> Arc<SourceFile> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        let known = files.get(id.0 as usize).cloned();
        known.unwrap_or_else(|| Arc::new(SourceFile::new(id, PathBuf::new(), Vec::new())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_bytes_keep_every_offset() {
        let file = SourceFile::new(FileId(0), "a.cu".into(), b"// caf\xe9\nint x;".to_vec());
        assert_eq!(file.text, "// caf?\nint x;");
        assert_eq!(file.line_column(8), (2, 1));
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new(FileId(0), "a.cu".into(), "é = 1;".as_bytes().to_vec());
        assert_eq!(file.line_column(3), (1, 3));
    }
}
