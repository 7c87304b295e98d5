//! `cudalint` finds shared-memory bank conflicts and divergent barriers in CUDA source.
//!
//! Data flows one way: `source` → `preproc` → `syntax` → `lower` → `exec` → `events` → `codegen` →
//! `verdict` (with `banks`) → `rules` → `suppress` → `output`. `docs/architecture.md` is the map.

pub mod analysis;
pub mod banks;
pub mod baseline;
pub mod builtins;
pub mod cli;
pub mod codegen;
pub mod config;
pub mod diagnostic;
pub mod domain;
pub mod events;
pub mod exec;
pub mod explanation;
pub mod fingerprint;
pub mod fixes;
pub mod headers;
pub mod ir;
pub mod lower;
pub mod output;
pub mod preproc;
pub mod reach;
pub mod relevance;
pub mod rules;
pub mod scenario;
pub mod shape;
pub mod slice;
pub mod source;
pub mod suppress;
pub mod syntax;
pub mod verdict;
pub mod visible;
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
