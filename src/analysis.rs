//! What do we find in one file?
//!
//! The seam between the command line and the core: options and bytes in, findings and
//! verdicts out. Touches no file, no stdout, no exit code.

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::verdict::SiteVerdict;
use std::path::{Path, PathBuf};

/// What the user asked for, the same for every file of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Targets as given: `sm_70`, `7.0`. Empty: the default targets.
    pub targets: Vec<String>,
    /// Banks are 8 bytes wide (`cudaSharedMemBankSizeEightByte`, compute capability 3.x only).
    pub bank_size_eight: bool,
    /// Block shapes, in the order given; the last that fits a kernel wins.
    pub blocks: Vec<BlockOption>,
    /// Macros, as `-D` of a compiler: name and value.
    pub defines: Vec<(String, String)>,
    /// Where `#include` looks besides the including file's folder, in order.
    pub include_dirs: Vec<PathBuf>,
}

/// A block shape given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOption {
    /// The kernel it is for; `None` for every kernel.
    pub kernel: Option<String>,
    /// Threads in x, y, z.
    pub shape: [u32; 3],
}

/// What was found in one file and in the headers reached from it.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Findings, at their rules' default levels.
    pub diagnostics: Vec<Diagnostic>,
    /// One verdict for each access site, block shape and target.
    pub verdicts: Vec<SiteVerdict>,
}

/// One run over a set of files. Shared between threads.
#[derive(Debug)]
pub struct Run {
    sources: Sources,
}

impl Run {
    /// A run over `files`, none of which is read here.
    #[must_use]
    pub fn new(options: Options, files: &[PathBuf]) -> Run {
        // TEMPORARY: the core is not connected yet, so nobody needs these.
        let _ = (options, files);
        Run { sources: Sources::default() }
    }

    /// Every file that was read so far.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Analyses one file, given its content.
    #[must_use]
    pub fn analyze_file(&self, path: &Path, bytes: Vec<u8>) -> FileReport {
        // TEMPORARY: the core is not connected yet, so nothing is found.
        let _file = self.sources.add(path, bytes);
        FileReport::default()
    }
}
