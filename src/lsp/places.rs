//! What does the editor call the places that were found?

use super::position::{Encoding, Lines};
use super::{Buffer, Checked};
use crate::source::{FileId, SourceFile, Span};
use ls_types::{Location, Range, Uri};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Translates the places of one answer.
pub(super) struct Places<'a> {
    checked: &'a Checked,
    encoding: Encoding,
    /// What the editor calls the files that it has open.
    uris: FxHashMap<&'a Path, &'a Uri>,
    lines: RefCell<FxHashMap<FileId, Rc<Lines>>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(checked: &'a Checked, buffers: &'a [Buffer], encoding: Encoding) -> Places<'a> {
        let uris = buffers.iter().map(|buffer| (buffer.path.as_path(), &buffer.uri)).collect();
        Places { checked, encoding, uris, lines: RefCell::default() }
    }

    /// The text of a file.
    pub(super) fn file(&self, file: FileId) -> Arc<SourceFile> {
        self.checked.sources.get(file)
    }

    /// Where the editor knows a file.
    pub(super) fn path(&self, file: FileId) -> Option<&'a PathBuf> {
        self.checked.paths.get(&file)
    }

    pub(super) fn uri(&self, file: FileId) -> Option<Uri> {
        let path = self.path(file)?;
        match self.uris.get(path.as_path()) {
            Some(uri) => Some((*uri).clone()),
            None => Uri::from_file_path(path),
        }
    }

    pub(super) fn lines(&self, file: FileId) -> Rc<Lines> {
        let mut known = self.lines.borrow_mut();
        Rc::clone(known.entry(file).or_insert_with(|| Rc::new(Lines::of(&self.file(file).text))))
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let (file, lines) = (self.file(span.file), self.lines(span.file));
        let position = |offset: usize| lines.position(&file.text, offset, self.encoding);
        let Span { start, end, .. } = span;
        Range::new(position(start as usize), position(end.max(start) as usize))
    }

    pub(super) fn location(&self, span: Span) -> Option<Location> {
        Some(Location::new(self.uri(span.file)?, self.range(span)))
    }

    /// The part of a file that a range of the editor covers.
    pub(super) fn span(&self, file: FileId, range: Range) -> Span {
        let (source, lines) = (self.file(file), self.lines(file));
        let offset = |position| {
            let offset = lines.offset(&source.text, position, self.encoding);
            u32::try_from(offset).unwrap_or(u32::MAX)
        };
        Span { file, start: offset(range.start), end: offset(range.end), nth: 0 }
    }
}
