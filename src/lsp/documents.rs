//! What do the buffers of the editor hold now?

use super::Buffer;
use super::position::{Encoding, Lines};
use ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    TextDocumentContentChangeEvent, Uri,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The open buffers of files, by path.
#[derive(Debug)]
pub(super) struct Documents {
    open: BTreeMap<PathBuf, Buffer>,
    encoding: Encoding,
}

/// The path that a URI names, if it is that of a file.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    let path = uri.to_file_path().filter(|path| is_file && path.is_absolute())?;
    Some(crate::headers::normalise(&path))
}

impl Documents {
    pub(super) fn new(encoding: Encoding) -> Documents {
        Documents { open: BTreeMap::new(), encoding }
    }

    /// Every buffer, in the order of the paths.
    pub(super) fn buffers(&self) -> Vec<Buffer> {
        self.open.values().cloned().collect()
    }

    /// Takes in a buffer; whether it is one of a file.
    pub(super) fn open(&mut self, params: DidOpenTextDocumentParams) -> bool {
        let document = params.text_document;
        let Some(path) = path_of(&document.uri) else { return false };
        let is_cuda = document.language_id.to_ascii_lowercase().starts_with("cuda");
        let (uri, version, text) = (document.uri, document.version, document.text.into());
        self.open.insert(path.clone(), Buffer { path, uri, version, text, is_cuda });
        true
    }

    /// Makes changes to a buffer, one after the other; whether it is known.
    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) -> bool {
        let path = path_of(&params.text_document.uri);
        let Some(buffer) = path.and_then(|path| self.open.get_mut(&path)) else { return false };
        buffer.version = params.text_document.version;
        let mut text = buffer.text.to_string();
        for change in params.content_changes {
            text = changed(text, change, self.encoding);
        }
        buffer.text = text.into();
        true
    }

    /// Forgets a buffer; whether it was known.
    pub(super) fn close(&mut self, params: &DidCloseTextDocumentParams) -> bool {
        path_of(&params.text_document.uri).is_some_and(|path| self.open.remove(&path).is_some())
    }
}

/// The text after one change.
fn changed(text: String, change: TextDocumentContentChangeEvent, encoding: Encoding) -> String {
    let Some(range) = change.range else { return change.text };
    let lines = Lines::of(&text);
    let start = lines.offset(&text, range.start, encoding);
    let end = lines.offset(&text, range.end, encoding).max(start);
    let mut text = text;
    text.replace_range(start..end, &change.text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ls_types::{Position, Range};

    fn change(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|[a, b, c, d]| Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_are_made_where_the_editor_counts_them() {
        let made = |text: &str, range, new: &str| {
            changed(text.to_owned(), change(Some(range), new), Encoding::Utf16)
        };
        assert_eq!(made("int 𝛼 = 1;\n", [0, 7, 0, 8], "+="), "int 𝛼 += 1;\n");
        assert_eq!(made("a\r\nb\r\n", [0, 1, 1, 1], ""), "a\r\n");
        assert_eq!(made("a\nb", [7, 0, 9, 0], "\nc"), "a\nb\nc");
        // A range that ends before it starts changes nothing but what is put in.
        assert_eq!(made("abc", [0, 2, 0, 1], "x"), "abxc");
        assert_eq!(changed("a".to_owned(), change(None, "b"), Encoding::Utf8), "b");
    }

    #[test]
    fn only_files_have_paths() {
        let path = |uri: &str| uri.parse().ok().and_then(|uri: Uri| path_of(&uri));
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("file:"), None);
        if cfg!(unix) {
            assert_eq!(path("file:///a/b%20c/../d.cu"), Some(PathBuf::from("/a/d.cu")));
        }
    }
}
