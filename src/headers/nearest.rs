//! Which header does an include mean that no folder of `-I` leads to?

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Reads headers for the analysis, which does not touch the disk itself.
pub trait Files: Send + Sync {
    /// A file's bytes; `None` when it is not a readable file of reasonable size.
    fn read(&self, path: &Path) -> Option<Vec<u8>>;

    /// The headers of this name below the folders that the user gave.
    fn named(&self, _name: &OsStr) -> &[PathBuf] {
        &[]
    }

    /// How many headers are below a folder, among those that the user gave.
    fn headers_below(&self, _folder: &Path) -> usize {
        0
    }

    /// The CUDA files that the user gave.
    fn sources(&self) -> &[PathBuf] {
        &[]
    }

    /// The path of a header as it is shown that an include led to.
    fn shown(&self, path: &Path) -> PathBuf {
        normalise(path)
    }

    /// What a path is called by whichever way it is written: two paths to one file have one key.
    fn key(&self, path: &Path) -> PathBuf {
        normalise(path)
    }
}

/// No header can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }
}

/// The most headers in a folder that a build would hand to its compiler, so that all includes with a path
/// lead there unasked. In a larger one headers are followed where that costs little: the thousand files of CUTLASS, most
/// of which lead to hundreds, would take minutes instead of seconds.
const MOST_HEADERS: usize = 512;

/// How folders are named that hold what is written for CUDA, among others for the host or for other devices.
const BACK_ENDS: [&str; 2] = ["cuda", "gpu"];

/// The header that an include surely means although no folder of `-I` leads to it. One in a large folder has to
/// be `small`.
pub(super) fn nearest<'a>(
    disk: &'a dyn Files,
    from: &Path,
    spec: &Path,
    small: &dyn Fn(&Path) -> bool,
) -> Option<&'a Path> {
    let from = disk.key(from);
    let shared = |path: &Path| {
        let path = disk.key(path);
        path.components().zip(from.components()).take_while(|(a, b)| a == b).count()
    };
    let spec = normalise(spec);
    let spec: PathBuf = spec.components().filter(|part| *part != Component::ParentDir).collect();
    let named = disk.named(spec.file_name()?).iter().map(PathBuf::as_path);
    let depth = spec.components().count();
    let is_large = |path: &Path| {
        let folder = path.ancestors().nth(depth);
        depth > 1 && folder.is_some_and(|folder| disk.headers_below(folder) > MOST_HEADERS)
    };
    let all = named.filter(|path| path.ends_with(&spec) && (!is_large(path) || small(path)));
    let mut by_distance: Vec<(usize, &Path)> = all.map(|path| (shared(path), path)).collect();
    by_distance.sort_unstable_by(|a, b| b.cmp(a));
    let nearest = by_distance.first()?.0;
    let as_near: Vec<&Path> =
        by_distance.iter().filter(|(near, _)| *near == nearest).map(|(_, path)| *path).collect();
    if let [only] = as_near.as_slice() {
        return Some(only);
    }
    // Of several back ends the one is meant that is named for CUDA, and has CUDA files.
    let is_named_for_cuda = |path: &Path| {
        let of_others = as_near.iter().filter(|other| **other != path);
        let mut parting = of_others.map(|other| {
            let mut parts = path.components().zip(other.components());
            parts.find(|(own, others)| own != others).map(|(own, _)| own.as_os_str().to_ascii_lowercase())
        });
        parting.all(|part| {
            part.is_some_and(|part| BACK_ENDS.iter().any(|name| part.to_string_lossy().contains(name)))
        })
    };
    let is_of_cuda = |path: &Path| {
        let mut sources = disk.sources().iter().filter(|source| *source != path);
        let has_sources =
            path.ancestors().nth(depth).is_some_and(|home| sources.any(|source| source.starts_with(home)));
        has_sources && is_named_for_cuda(path)
    };
    let mut of_cuda = as_near.iter().copied().filter(|path| is_of_cuda(path));
    of_cuda.next().filter(|_| of_cuda.next().is_none())
}

/// The path without `.` and `..`, as far as its words tell.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.last(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(normalise(Path::new("./a/../b/c.h")), Path::new("b/c.h"));
        assert_eq!(normalise(Path::new("../a/./b.h")), Path::new("../a/b.h"));
    }

    /// Headers by name alone, and CUDA files.
    #[derive(Default)]
    struct Named(Vec<PathBuf>, Vec<PathBuf>);

    impl Files for Named {
        fn read(&self, _: &Path) -> Option<Vec<u8>> {
            None
        }

        fn named(&self, _: &OsStr) -> &[PathBuf] {
            &self.0
        }

        fn sources(&self) -> &[PathBuf] {
            &self.1
        }
    }

    #[test]
    fn a_path_is_found_wherever_it_ends_in_the_same_way() {
        let disk = Named(vec!["p/include/lib/u.cuh".into(), "p/other/u.cuh".into()], vec![]);
        let meant = |spec: &str| nearest(&disk, Path::new("p/src/a.cu"), Path::new(spec), &|_| false);
        assert_eq!(meant("lib/u.cuh"), Some(Path::new("p/include/lib/u.cuh")));
        assert_eq!(meant("../lib/u.cuh"), Some(Path::new("p/include/lib/u.cuh")));
        assert_eq!(meant("b/u.cuh"), None);
        assert_eq!(meant("u.cuh"), None, "either could be meant");
    }

    #[test]
    fn a_header_that_no_option_leads_to_is_the_only_or_the_nearest_of_its_name() {
        let meant = |files: &[&str]| {
            let disk = Named(files.iter().map(PathBuf::from).collect(), vec![]);
            let found = nearest(&disk, Path::new("p/src/gemm/a.cu"), Path::new("u.cuh"), &|_| false);
            found.map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(meant(&["p/include/u.cuh"]).as_deref(), Some("p/include/u.cuh"));
        assert_eq!(meant(&["p/test/u.cuh", "p/src/lib/u.cuh"]).as_deref(), Some("p/src/lib/u.cuh"));
        assert_eq!(meant(&["p/src/old/u.cuh", "p/src/lib/u.cuh"]), None);
        assert_eq!(meant(&[]), None);
    }

    #[test]
    fn of_back_ends_the_one_with_cuda_files_is_meant() {
        let headers = ["p/src/cpu/u.h", "p/src/cuda/u.h", "p/src/opencl/u.h"];
        let meant = |sources: &[&str]| {
            let files = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
            let disk = Named(files(&headers), files(sources));
            let found = nearest(&disk, Path::new("p/src/common/a.h"), Path::new("u.h"), &|_| false);
            found.map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(meant(&["p/src/cuda/kernels/a.cu"]).as_deref(), Some("p/src/cuda/u.h"));
        assert_eq!(meant(&["p/src/cuda/a.cu", "p/src/cpu/b.cu"]).as_deref(), Some("p/src/cuda/u.h"));
        assert_eq!(meant(&["p/test/a.cu"]), None);
        assert_eq!(meant(&["p/src/cpu/a.cu"]), None, "no folder of that name is for CUDA");
    }
}
