//! How do bytes get out?

use super::Outcome;
use super::args::When;
use crate::config;
use crate::visible;
use anstream::{AutoStream, ColorChoice};
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::path::Path;
use supports_hyperlinks::Stream;

/// Writes to stdout. A reader that went away (`| head`) has all it wanted: that is success.
pub(super) fn print(bytes: &[u8], outcome: Outcome) -> Outcome {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => outcome,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => outcome,
        Err(error) => {
            say_error(&format!("cannot write the output: {error}"));
            Outcome::Failed
        }
    }
}

/// Everything that stdin holds.
pub(super) fn read_stdin(most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read stdin: {error}"))?;
    if bytes.len() as u64 > most { Err("stdin is too large".to_owned()) } else { Ok(bytes) }
}

/// Writes to a file.
pub(super) fn write(path: &Path, bytes: &[u8], outcome: Outcome) -> Outcome {
    match std::fs::write(path, bytes) {
        Ok(()) => outcome,
        Err(error) => {
            say_error(&format!("cannot write `{}`: {error}", path.display()));
            Outcome::Failed
        }
    }
}

/// A line on stderr.
pub(super) fn say(message: &impl Display) {
    tell(&visible::one_line(&message.to_string()));
}

/// What is wrong with a configuration file, on stderr, with the lines that it has.
pub(super) fn say_refused(error: &config::Error) {
    if !hear(|heard| heard.refused.push(error.clone())) {
        write_line(&lines_of(error));
    }
}

/// What is wrong with a configuration file, as it is put on stderr.
pub(super) fn lines_of(error: &config::Error) -> String {
    // Whoever made it has escaped what is not ours.
    visible::lines(&error.to_string()).into_owned()
}

/// What was said and is not put on stderr.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// In order.
    pub(super) messages: Vec<String>,
    /// What is wrong with configuration files, which is not among those.
    pub(super) refused: Vec<config::Error>,
}

thread_local! {
    static HEARD: RefCell<Option<Heard>> = const { RefCell::new(None) };
}

/// Runs `work`; what it says is not put on stderr but handed over.
pub(super) fn overheard<T>(work: impl FnOnce() -> T) -> (T, Heard) {
    let before = HEARD.replace(Some(Heard::default()));
    let result = work();
    (result, HEARD.replace(before).unwrap_or_default())
}

/// Whether somebody takes what is said.
fn hear(take: impl FnOnce(&mut Heard)) -> bool {
    HEARD.with_borrow_mut(|heard| heard.as_mut().map(take).is_some())
}

fn tell(message: &str) {
    if !hear(|heard| heard.messages.push(message.to_owned())) {
        write_line(message);
    }
}

fn write_line(message: &str) {
    // stderr may be closed; there is no one left to tell.
    let _ = writeln!(io::stderr().lock(), "cudalint: {message}");
}

/// An error on stderr.
pub(super) fn say_error(message: &impl Display) {
    say(&format_args!("error: {message}"));
}

/// A warning on stderr.
pub(super) fn say_warning(message: &impl Display) {
    say(&format_args!("warning: {message}"));
}

/// Whether stdout gets colours. `auto` follows NO_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM and whether it is a
/// terminal, in this order.
pub(super) fn colored(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
    }
}

/// Whether stdout gets links. `auto`: where it is a terminal that is known to show them.
pub(super) fn linked(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => supports_hyperlinks::on(Stream::Stdout),
    }
}
