//! Which lines are known to be judged wrongly?
//!
//! `fixtures/oracle/known-wrong.txt` lists them, one on a line:
//!
//! ```text
//! loops.cu | strided<4> | load s | sum += s[i * n]; | what is wrong, in words
//! ```
//!
//! The list only shrinks: an entry that is no longer wrong fails the test, and so does a wrong line that
//! is not listed.

use std::collections::BTreeSet;
use std::path::Path;

pub const LIST: &str = "fixtures/oracle/known-wrong.txt";

/// File, kernel, operation and array, and the text of the line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    file: String,
    kernel: String,
    access: String,
    text: String,
}

impl Entry {
    pub fn new(path: &Path, kernel: &str, access: String, text: &str) -> Entry {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        // A bar would end the column.
        Entry { file, kernel: kernel.to_owned(), access, text: text.trim().replace(" | ", " \u{a6} ") }
    }

    pub fn is_of(&self, files: &[impl AsRef<Path>]) -> bool {
        files
            .iter()
            .any(|path| path.as_ref().file_name().is_some_and(|name| name.to_string_lossy() == self.file))
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} | {} | {} | {}", self.file, self.kernel, self.access, self.text)
    }
}

/// The entries of the list.
pub fn entries() -> BTreeSet<Entry> {
    let list = std::fs::read_to_string(LIST).unwrap();
    let lines = list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split(" | ").collect();
            let [file, kernel, access, text, _what] = columns[..] else {
                panic!("{LIST}: five columns are expected: {line}")
            };
            let owned = |text: &str| text.to_owned();
            Entry { file: owned(file), kernel: owned(kernel), access: owned(access), text: owned(text) }
        })
        .collect()
}
