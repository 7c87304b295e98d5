//! Does a header lead to few others?
//!
//! Includes with a path are followed into a folder of a thousand headers only where that costs little: where all CUDA
//! files that the user gave lead to few headers, as in a program of which only a part is for the GPU, or where that
//! header does. The answer is read from the `#include` lines alone, whatever `#if` is around them, so it is the same
//! for all files that ask.
//!
//! ```text
//! warp.cuh                       leads to none: followed
//! pme.cuh -> 5 others            followed
//! gemm.h -> 400 others           not followed: `-I` tells
//! ```

use super::nearest::{Files, nearest};
use super::provided::{is_of_host_library, is_provided};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most headers that one may lead to, itself among them.
const MOST: usize = 8;
/// The most headers that all CUDA files together may lead to.
const MOST_IN_ALL: usize = 256;

/// What headers include, and whether that is few.
#[derive(Default)]
pub(super) struct Leads {
    included: Mutex<FxHashMap<PathBuf, Arc<[PathBuf]>>>,
    few: Mutex<FxHashMap<PathBuf, bool>>,
    all_few: OnceLock<bool>,
}

impl Leads {
    /// Whether a header leads to few others, directly or not, or all CUDA files together do.
    pub(super) fn to_few(&self, disk: &dyn Files, path: &Path) -> bool {
        if *self.all_few.get_or_init(|| self.all_to_few(disk)) {
            return true;
        }
        let known = self.few.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        known.unwrap_or_else(|| {
            let few = self.lead_to_at_most(MOST, disk, FxHashSet::from_iter([path.to_path_buf()]));
            self.few.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), few);
            few
        })
    }

    fn all_to_few(&self, disk: &dyn Files) -> bool {
        let sources: FxHashSet<PathBuf> = disk.sources().iter().cloned().collect();
        !sources.is_empty() && self.lead_to_at_most(sources.len() + MOST_IN_ALL, disk, sources)
    }

    /// Whether these files and what they include are no more.
    fn lead_to_at_most(&self, most: usize, disk: &dyn Files, mut seen: FxHashSet<PathBuf>) -> bool {
        let mut open: Vec<PathBuf> = seen.iter().cloned().collect();
        while let Some(path) = open.pop() {
            for next in self.includes(disk, &path).iter() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
            if seen.len() > most {
                return false;
            }
        }
        true
    }

    fn includes(&self, disk: &dyn Files, path: &Path) -> Arc<[PathBuf]> {
        if let Some(known) = self.included.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Arc::clone(known);
        }
        let bytes = disk.read(path).unwrap_or_default();
        let specs = bytes.split(|byte| *byte == b'\n').filter_map(spec);
        let found = specs.filter_map(|spec| nearest(disk, path, Path::new(spec), &|_| true));
        let found: Arc<[PathBuf]> = found.map(Path::to_path_buf).collect();
        let mut included = self.included.lock().unwrap_or_else(PoisonError::into_inner);
        included.insert(path.to_path_buf(), Arc::clone(&found));
        found
    }
}

/// Whether a text includes a header that may be one of a project.
#[must_use]
pub(crate) fn includes_of_projects(text: &str) -> bool {
    let foreign = |name: &str| is_provided(name) || is_of_host_library(name);
    let is_own = |line: &str| spec(line.as_bytes()).is_some_and(|name| !foreign(name) || line.contains('"'));
    text.lines().any(is_own)
}

/// What a line includes.
fn spec(line: &[u8]) -> Option<&str> {
    let line = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    let named = line.strip_prefix(b"include")?.trim_ascii_start();
    let end = match named.first()? {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let name = named[1..].split(|byte| *byte == end).next()?;
    std::str::from_utf8(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    /// Headers in one folder, each of which includes the next, in a ring, and CUDA files.
    struct Ring(Vec<PathBuf>, Vec<PathBuf>);

    impl Files for Ring {
        fn sources(&self) -> &[PathBuf] {
            &self.1
        }

        fn read(&self, path: &Path) -> Option<Vec<u8>> {
            if self.1.iter().any(|it| it == path) {
                return Some(b"#include \"lib/h0.h\"\n".to_vec());
            }
            let at = self.0.iter().position(|it| it == path)?;
            let next = self.0[(at + 1) % self.0.len()].file_name()?.to_string_lossy().into_owned();
            Some(format!("#pragma once\n # include <lib/{next}>\n#include <vector>\n").into_bytes())
        }

        fn named(&self, name: &OsStr) -> &[PathBuf] {
            let at = self.0.iter().position(|it| it.file_name() == Some(name));
            at.map_or(&[], |at| &self.0[at..=at])
        }
    }

    #[test]
    fn a_header_leads_to_what_its_own_headers_include() {
        let few = |count| Leads::default().to_few(&ring(count, &[]), Path::new("p/lib/h0.h"));
        assert!(few(MOST));
        assert!(!few(MOST + 1));
    }

    fn ring(count: usize, sources: &[&str]) -> Ring {
        let headers = (0..count).map(|at| format!("p/lib/h{at}.h").into());
        Ring(headers.collect(), sources.iter().map(PathBuf::from).collect())
    }

    #[test]
    fn a_header_is_one_of_few_where_all_files_lead_to_few() {
        let few =
            |count| Leads::default().to_few(&ring(count, &["p/a.cu", "p/b.cu"]), Path::new("p/lib/h0.h"));
        assert!(few(MOST_IN_ALL));
        assert!(!few(MOST_IN_ALL + 1));
    }

    #[test]
    fn a_line_names_what_it_includes() {
        assert_eq!(spec(b"  #  include \"a/b.h\" // c"), Some("a/b.h"));
        assert_eq!(spec(b"#include<x>"), Some("x"));
        assert_eq!(spec(b"#include NAME"), None);
        assert_eq!(spec(b"// #include <x>"), None);
    }
}
