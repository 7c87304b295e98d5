//! What do the fuzz targets share: inputs of several files, a deep stack, a mutator of tokens?

pub mod tokens;

use cudalint::analysis::Files;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A line that begins so opens another file of the input, whose name follows.
pub const FILE_MARK: &str = "//@@ ";

/// One input: a file to check, and headers that it may include.
#[derive(Debug, Default)]
pub struct Bundle {
    /// The file to check.
    pub main: Vec<u8>,
    /// Headers, by path.
    pub headers: HashMap<PathBuf, Vec<u8>>,
}

impl Bundle {
    /// Splits an input at its marks.
    #[must_use]
    pub fn split(data: &[u8]) -> Bundle {
        let mut bundle = Bundle::default();
        let mut name: Option<PathBuf> = None;
        for line in data.split_inclusive(|byte| *byte == b'\n') {
            if let Some(mark) = line.strip_prefix(FILE_MARK.as_bytes()) {
                name = Some(PathBuf::from(String::from_utf8_lossy(mark).trim()));
                continue;
            }
            let part = match &name {
                Some(name) => bundle.headers.entry(name.clone()).or_default(),
                None => &mut bundle.main,
            };
            part.extend_from_slice(line);
        }
        bundle
    }
}

/// The headers of an input, as files.
pub struct Headers(pub HashMap<PathBuf, Vec<u8>>);

impl Files for Headers {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }
}

/// Runs it with the stack that the program gives its own workers.
pub fn on_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    static POOL: LazyLock<ThreadPool> = LazyLock::new(|| {
        let builder = ThreadPoolBuilder::new().num_threads(1).stack_size(32 << 20);
        builder.build().expect("a thread can be started")
    });
    POOL.install(work)
}
