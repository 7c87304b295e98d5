//! `cudalint` finds shared-memory bank conflicts and divergent barriers in CUDA source.
//!
//! Data flows one way: `source` → `preproc` → `syntax` → `lower` → `exec` → `events` → `codegen` →
//! `verdict` (with `banks`) → `rules` → `suppress` → `output`. `docs/architecture.md` is the map.

#![cfg_attr(not(test), warn(unreachable_pub))]

#[allow(unreachable_pub)] // `pub` below it is for its own files
pub mod analysis;
pub mod banks;
pub mod baseline;
mod builtins;
pub mod cli;
mod codegen;
pub mod config;
pub mod diagnostic;
mod domain;
pub mod events;
mod exec;
mod explanation;
mod facts;
pub mod fingerprint;
mod fixes;
mod headers;
mod ir;
pub mod lower;
mod lsp;
pub mod output;
pub mod preproc;
mod reach;
mod relevance;
mod remedy;
pub mod rules;
mod scenario;
pub mod shape;
mod slice;
pub mod source;
mod suppress;
pub mod syntax;
pub mod verdict;
mod visible;
pub mod walk;

// The generators of random kernels, which are written for the tests of the whole.
#[cfg(test)]
extern crate self as cudalint;
#[cfg(test)]
#[path = "../tests/it/support/kernels.rs"]
mod kernels;
#[cfg(test)]
#[path = "../tests/it/support/random.rs"]
mod random;
#[cfg(test)]
#[path = "../tests/it/support/styles.rs"]
mod styles;
