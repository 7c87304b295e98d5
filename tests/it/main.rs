//! Does `cudalint` do what its documents say?
//!
//! All integration tests are one program, so that the library is linked once. A module is one
//! question; `cargo test --test it agreement` runs the tests of one module.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed unwrap is a failed test

mod agreement;
mod allow;
mod arguments;
mod bank_oracle;
mod bank_output;
mod baseline;
mod bounds;
mod causes;
mod changed;
mod cli;
mod configuration;
mod context;
mod counted;
mod determinism;
mod differential;
mod documents;
mod dump;
mod editors;
mod emacs;
mod examples;
mod expand;
mod explain;
mod fixes;
mod fixtures;
mod formats;
mod hardware;
#[cfg(unix)]
mod hooks;
#[cfg(unix)]
mod hostile;
mod html;
mod includes;
mod kept;
mod launches;
mod layouts;
mod lsp;
mod measured;
mod metamorphic;
mod neighbours;
mod neovim;
mod oracle;
mod packages;
mod parse;
mod playground;
mod races;
mod remedies;
mod robust;
mod scripts;
mod snapshots;
mod support;
mod targets;
mod tidy;
mod watch;
