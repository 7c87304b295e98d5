//! What is wrong with a configuration file, and in which line?

use crate::visible;
use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term::termcolor::NoColor;
use codespan_reporting::term::{Config, emit_to_write_style};
use std::fmt::{self, Display};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Why a configuration file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file as it is shown.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The bytes of it that are wrong.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Error {
    /// The file is there and cannot be read.
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
        Error {
            file: path.display().to_string(),
            text: String::new(),
            span: 0..0,
            message: format!("cannot read `{}`: {error}", path.display()),
            help: None,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = visible::one_line(&self.message);
        if self.text.is_empty() {
            return write!(f, "error: {message}");
        }
        let shown = |range: Range<usize>| visible::lines(self.text.get(range).unwrap_or(""));
        // What is escaped before the place moves it.
        let (start, end) = (shown(0..self.span.start).len(), shown(0..self.span.end).len());
        let file = SimpleFile::new(visible::one_line(&self.file), shown(0..self.text.len()));
        let report = Diagnostic::error()
            .with_message(message)
            .with_label(Label::primary((), start..end))
            .with_notes(self.help.iter().map(|help| format!("help: {}", visible::one_line(help))).collect());
        let mut out = NoColor::new(Vec::new());
        emit_to_write_style(&mut out, &Config::default(), &file, &report).map_err(|_| fmt::Error)?;
        f.write_str(String::from_utf8_lossy(&out.into_inner()).trim_end())
    }
}
