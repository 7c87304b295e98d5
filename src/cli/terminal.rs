//! How do bytes get out?

use super::Outcome;
use super::args::When;
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
    if bytes.len() as u64 > most { Err("stdin holds too much".to_owned()) } else { Ok(bytes) }
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

/// The same with the lines that it has. Whoever made it has escaped what is not ours.
pub(super) fn say_lines(message: &impl Display) {
    tell(&visible::lines(&message.to_string()));
}

thread_local! {
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs `work`; what it says is not put on stderr but handed over.
pub(super) fn overheard<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = HEARD.replace(Some(Vec::new()));
    let result = work();
    (result, HEARD.replace(before).unwrap_or_default())
}

fn tell(message: &str) {
    let heard = HEARD.with_borrow_mut(|heard| match heard {
        Some(heard) => {
            heard.push(message.to_owned());
            true
        }
        None => false,
    });
    if heard {
        return;
    }
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
