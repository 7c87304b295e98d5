//! Which files does the user mean, and what is in them?
//!
//! Invariant: the order of what is found depends on the arguments and on file names alone.

mod ignored;
pub mod regular;

pub use ignored::Ignored;

use globset::GlobBuilder;
use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use walkdir::{DirEntry, WalkDir};

/// Files larger than this are refused: spans are 32-bit, and no one wrote such a file by hand.
pub const MAX_BYTES: u64 = 64 << 20;

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its path, as the user's argument led to it.
    pub path: PathBuf,
    /// Look at it only if it holds a CUDA word: a header met in a folder.
    pub only_if_cuda: bool,
    /// It is there for what it tells of the others.
    pub context: bool,
}

impl Candidate {
    /// A file that something else than the user led to.
    #[must_use]
    pub fn header(path: &Path) -> Candidate {
        Candidate { path: path.to_path_buf(), only_if_cuda: false, context: true }
    }
}

/// What the arguments led to.
#[derive(Debug, Default)]
pub struct Found {
    /// Files, in the order of the arguments, a folder's files sorted by name, each file once.
    pub candidates: Vec<Candidate>,
    /// What went wrong, in the order met.
    pub problems: Vec<Problem>,
    /// The same of context, whose files may be anyone's.
    pub context_problems: Vec<Problem>,
}

/// Why a path is not checked.
#[derive(Debug, Error)]
pub enum Problem {
    /// Nothing has this name.
    #[error("`{}` does not exist", .0.display())]
    NotFound(PathBuf),
    /// A pipe, a socket, a device: reading it may never end.
    #[error("`{}` is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// Over [`MAX_BYTES`].
    #[error("`{}` is larger than {} MiB", .0.display(), MAX_BYTES >> 20)]
    TooLarge(PathBuf),
    /// Text in two bytes a character.
    #[error("`{}` is UTF-16, which is not read; as UTF-8 it is: `iconv -f UTF-16 -t UTF-8`", .0.display())]
    Utf16(PathBuf),
    /// A symbolic link that leads back to a folder it lies in.
    #[error("`{}` is a symbolic link that leads back to `{}`", .0.display(), .1.display())]
    Loop(PathBuf, PathBuf),
    /// The system would not let us.
    #[error("cannot read `{}`: {}", .0.display(), system_message(.1))]
    Unreadable(PathBuf, io::Error),
    /// A pattern that is no pattern.
    #[error("`{}` is not a valid pattern: {}", .0.display(), .1)]
    BadPattern(PathBuf, String),
    /// A pattern without a match.
    #[error("no file matches `{}`", .0.display())]
    NoMatch(PathBuf),
    /// A folder without CUDA files; the run goes on and does not fail.
    #[error("no CUDA files in `{}`", .0.display())]
    NothingInFolder(PathBuf),
}

impl Problem {
    /// Whether the run must fail because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        !matches!(self, Problem::NothingInFolder(_))
    }

    /// Whether it is the argument that is wrong, not a file that it leads to.
    #[must_use]
    pub fn is_of_argument(&self) -> bool {
        matches!(self, Problem::NotFound(_) | Problem::BadPattern(..) | Problem::NoMatch(_))
    }
}

/// `No such file or directory`, without the `(os error 2)` behind it.
fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((head, _)) => head.to_owned(),
        None => text,
    }
}

/// Resolves the user's arguments: files, folders, and patterns that the shell left alone. What is
/// met in a folder or by a pattern is left out when `skip` says so of its path, with `true` for
/// a folder; a file or folder that the user named is not. What `context` leads to besides is context.
#[must_use]
pub fn find(arguments: &[PathBuf], context: &[PathBuf], skip: &dyn Fn(&Path, bool) -> bool) -> Found {
    let (found, taken) = (Found::default(), FxHashMap::default());
    let mut finder = Finder { found, taken, skip, context: false };
    for argument in arguments {
        finder.argument(argument);
    }
    finder.context = true;
    let problems = std::mem::take(&mut finder.found.problems);
    for argument in context {
        finder.argument(argument);
    }
    let Finder { mut found, taken, .. } = finder;
    found.context_problems = std::mem::replace(&mut found.problems, problems);
    // Links whose file has turned up under its own name.
    let names: FxHashSet<&PathBuf> = taken.values().map(|it| &it.candidate.path).collect();
    found.candidates.retain(|candidate| names.contains(&candidate.path));
    found
}

/// A file as a walk through its folder would take it, if it would.
#[must_use]
pub fn as_found(path: &Path) -> Option<Candidate> {
    let only_if_cuda = Kind::of(path)? != Kind::Cuda;
    Some(Candidate { path: path.to_path_buf(), only_if_cuda, context: false })
}

/// Whether a candidate is to be looked at if it holds these bytes.
#[must_use]
pub fn is_wanted(candidate: &Candidate, bytes: &[u8]) -> bool {
    !candidate.only_if_cuda || holds_cuda_word(&candidate.path, bytes, |word| word.concat())
}

/// Reads a candidate; `None` when it turns out not to be CUDA.
///
/// # Errors
/// When it cannot be read or is not a file of reasonable size.
pub fn read(candidate: &Candidate) -> Result<Option<Vec<u8>>, Problem> {
    let path = &candidate.path;
    let bytes = regular::bytes(path)?;
    if is_utf16(&bytes) {
        let wanted = !candidate.only_if_cuda || holds_cuda_word(path, &bytes, |word| word.join("\0"));
        return if wanted { Err(Problem::Utf16(path.clone())) } else { Ok(None) };
    }
    Ok(is_wanted(candidate, &bytes).then_some(bytes))
}

/// Whether a text has two bytes a character: it opens with the mark of it, or with two letters so written.
#[must_use]
pub fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => [a, b].iter().all(|it| it.is_ascii() && **it != 0),
        _ => false,
    }
}

/// Whether a text holds a word of CUDA, whose characters are `written` so. A source may also launch by a call; what a
/// header has of that, its includers have.
fn holds_cuda_word(path: &Path, bytes: &[u8], written: impl Fn(&[&str]) -> String) -> bool {
    let is_source = Kind::of(path) == Some(Kind::Source);
    let calls = ["cudaLaunch", "hipLaunch"].iter().filter(|_| is_source);
    ["__global__", "__shared__", "__device__", "<<<"].iter().chain(calls).any(|word| {
        let characters: Vec<&str> = word.split_inclusive(|_| true).collect();
        memmem::find(bytes, written(&characters).as_bytes()).is_some()
    })
}

struct Finder<'s> {
    found: Found,
    /// The candidates by their real paths, so that no file is taken twice under two names.
    taken: FxHashMap<PathBuf, Taken>,
    skip: &'s dyn Fn(&Path, bool) -> bool,
    /// Whether what is found now is context.
    context: bool,
}

/// How a file was first met.
struct Taken {
    candidate: Candidate,
    /// Whether a symbolic link led to it.
    linked: bool,
}

impl Finder<'_> {
    fn argument(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.folder(path),
            Ok(metadata) if metadata.is_file() => {
                let linked = is_link(path);
                self.take(path, false, |_| linked);
            }
            Ok(_) => self.found.problems.push(Problem::NotRegular(path.to_path_buf())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.found.problems.push(Problem::Unreadable(path.to_path_buf(), error));
            }
            Err(_) if is_pattern(path) => self.pattern(path),
            Err(_) => self.found.problems.push(Problem::NotFound(path.to_path_buf())),
        }
    }

    /// Takes a file, once and rather by its own name than by a link's. `linked` is asked whether a link led
    /// to it, given its real path.
    fn take(&mut self, path: &Path, only_if_cuda: bool, linked: impl Fn(&Path) -> bool) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let linked = linked(&real);
        let known = self.taken.get(&real);
        // What the user gave stays given, by whatever name.
        let stays = |known: &Taken| !known.linked || linked || self.context && !known.candidate.context;
        if known.is_some_and(stays) {
            return;
        }
        let only_if_cuda = only_if_cuda && known.is_none_or(|known| known.candidate.only_if_cuda);
        let candidate = Candidate { path: path.to_path_buf(), only_if_cuda, context: self.context };
        self.found.candidates.push(candidate.clone());
        self.taken.insert(real, Taken { candidate, linked });
    }

    fn folder(&mut self, root: &Path) {
        let mut any = false;
        let real_root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        let linked = is_link(root);
        for entry in walk(root, usize::MAX, self.skip) {
            match entry {
                Ok(entry) => {
                    let Some(kind) = Kind::of(entry.path()) else { continue };
                    if entry.file_type().is_dir() {
                        continue;
                    }
                    any = true;
                    if entry.file_type().is_file() {
                        let path = without_dot(root, entry.path());
                        let plain = real_path(&real_root, root, entry.path());
                        self.take(&path, kind != Kind::Cuda, |real| linked || real != plain);
                    } else {
                        self.found.problems.push(Problem::NotRegular(entry.into_path()));
                    }
                }
                Err(error) => any |= self.walk_error(root, error),
            }
        }
        if !any {
            self.found.problems.push(Problem::NothingInFolder(root.to_path_buf()));
        }
    }

    /// Notes an error met in a walk; `false` when it is of no concern: a dead link that does
    /// not look like CUDA.
    fn walk_error(&mut self, root: &Path, error: walkdir::Error) -> bool {
        let path = error.path().unwrap_or(root).to_path_buf();
        let problem = match error.loop_ancestor() {
            Some(ancestor) => Problem::Loop(path, ancestor.to_path_buf()),
            None => {
                let dead_link = is_link(&path);
                if dead_link && Kind::of(&path).is_none() {
                    return false;
                }
                let error = error.into_io_error().unwrap_or_else(|| io::Error::other("walk failed"));
                Problem::Unreadable(path, error)
            }
        };
        self.found.problems.push(problem);
        true
    }

    fn pattern(&mut self, pattern: &Path) {
        let text = pattern.to_string_lossy();
        let glob = match GlobBuilder::new(&text).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => {
                let problem = Problem::BadPattern(pattern.to_path_buf(), error.kind().to_string());
                self.found.problems.push(problem);
                return;
            }
        };
        let base = literal(pattern);
        let named = base.components().count();
        let root = if named == 0 { PathBuf::from(".") } else { base };
        let depth = if text.contains("**") { usize::MAX } else { pattern.components().count() - named };
        let mut any = false;
        let real_root = fs::canonicalize(&root).unwrap_or_else(|_| root.clone());
        let linked = is_link(&root);
        for entry in walk(&root, depth, self.skip) {
            match entry {
                Ok(entry) => {
                    let below = entry.path().strip_prefix(&root).unwrap_or(entry.path());
                    let path = if named == 0 { below } else { entry.path() }.to_path_buf();
                    if !glob.is_match(&path) {
                        continue;
                    }
                    any = true;
                    if entry.file_type().is_file() {
                        let plain = real_path(&real_root, &root, entry.path());
                        self.take(&path, false, |real| linked || real != plain);
                    } else if entry.file_type().is_dir() {
                        self.folder(&path);
                    } else {
                        self.found.problems.push(Problem::NotRegular(path));
                    }
                }
                Err(error) if error.path().is_some_and(|path| path == root) => {}
                Err(error) => any |= self.walk_error(&root, error),
            }
        }
        if !any {
            self.found.problems.push(Problem::NoMatch(pattern.to_path_buf()));
        }
    }
}

/// Whether a walk would look at a file of this name.
#[must_use]
pub fn may_be_cuda(path: &Path) -> bool {
    Kind::of(path).is_some()
}

/// Whether a file is C or C++ by its name, and no header.
#[must_use]
pub fn is_host_source(path: &Path) -> bool {
    Kind::of(path) == Some(Kind::Source)
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// Always CUDA.
    Cuda,
    /// CUDA or plain C++.
    Header,
    /// Plain C++, which may launch kernels, or CUDA that the build says is CUDA.
    Source,
}

impl Kind {
    fn of(path: &Path) -> Option<Kind> {
        let extension = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match extension.as_str() {
            "cu" | "cuh" | "hip" => Some(Kind::Cuda),
            "h" | "hpp" | "hh" | "inl" | "hxx" => Some(Kind::Header),
            "c" | "cc" | "cpp" | "cxx" => Some(Kind::Source),
            _ => None,
        }
    }
}

/// The part of an argument before the first that is a pattern.
#[must_use]
pub fn literal(argument: &Path) -> PathBuf {
    argument.components().take_while(|part| !is_pattern(Path::new(part.as_os_str()))).collect()
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
}

/// Everything under `root` down to `depth`, sorted, without what is hidden or skipped.
fn walk(
    root: &Path,
    depth: usize,
    skip: &dyn Fn(&Path, bool) -> bool,
) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    let hidden = move |entry: &DirEntry| {
        let folder = entry.file_type().is_dir();
        entry.depth() > 0
            && (entry.file_name().as_encoded_bytes().starts_with(b".")
                || (folder || Kind::of(entry.path()).is_some()) && skip(entry.path(), folder))
    };
    WalkDir::new(root)
        .max_depth(depth)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(move |entry| !hidden(entry))
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

/// Where a path lies that was met below a folder, if no link led to it.
fn real_path(real_root: &Path, root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).map_or_else(|_| path.to_path_buf(), |below| real_root.join(below))
}

/// `./a.cu`, met when the argument was `.`, is `a.cu`.
fn without_dot(root: &Path, path: &Path) -> PathBuf {
    match path.strip_prefix(root) {
        Ok(rest) if root == Path::new(".") => rest.to_path_buf(),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests;
