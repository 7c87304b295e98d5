//! `cudalint` finds shared-memory bank conflicts and divergent barriers in CUDA source.
//!
//! Data flows one way: `source` → `preproc` → `syntax` → `lower` → `exec` → `verdict`
//! (with `banks`) → `rules` → `output`.

pub mod diagnostic;
pub mod ir;
pub mod lower;
pub mod preproc;
pub mod source;
pub mod syntax;
pub mod verdict;
