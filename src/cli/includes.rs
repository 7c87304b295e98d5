//! Which headers were not found that kernels may rest on, and what would find them?

use super::driver::{Analyzed, Input};
use super::terminal;
use crate::headers::{is_of_host_library, is_provided};
use crate::output::count;
use crate::preproc::Missing;
use crate::source::display_path;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many headers, and folders that lead to them, are named.
const MOST_NAMED: usize = 3;
/// Folders of a project in which headers usually lie.
const USUAL_FOLDERS: [&str; 7] = ["", "include", "inc", "src", "lib", "common", "csrc"];

/// A header that was not found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotFound {
    /// As it is included.
    pub spec: String,
    /// Where it is included: the paths of the files, and the first line in each.
    pub files: BTreeMap<String, usize>,
    /// The folder that would lead to it.
    pub folder: Option<String>,
    /// Whether several files have this name, none of which is nearer than the others.
    is_ambiguous: bool,
    /// Whether an include of it has quotes.
    quoted: bool,
}

impl NotFound {
    /// The first place in each file where it is included.
    pub(super) fn places(&self) -> Vec<String> {
        self.files.iter().map(|(file, line)| format!("{file}:{line}")).collect()
    }

    /// How likely it is that findings rest on it; less is likelier.
    fn rank(&self) -> impl Ord + use<> {
        let of_cuda = [".cuh", ".cu"].iter().any(|end| self.spec.ends_with(end));
        (!of_cuda, self.folder.is_none(), !self.quoted, Reverse(self.files.len()), self.spec.clone())
    }
}

/// The headers that the files given include and that were not found, without those of compilers, systems,
/// the toolkit and of libraries for the host; those first on which most may rest.
pub(super) fn not_found(input: &Input, analyzed: &Analyzed) -> Vec<NotFound> {
    let sources = analyzed.run.sources();
    let mut by_spec: BTreeMap<String, Vec<Missing>> = BTreeMap::new();
    for missing in analyzed.run.missing_includes() {
        let path = &sources.get(missing.at.file).path;
        let matters = !is_provided(&missing.spec) && !is_of_host_library(&missing.spec);
        if matters && is_of_project(input, path) {
            by_spec.entry(missing.spec.clone()).or_default().push(missing);
        }
    }
    if by_spec.is_empty() {
        return Vec::new();
    }
    let named = by_name(input);
    let mut found: Vec<NotFound> = Vec::new();
    for (spec, all) in by_spec {
        let mut files: BTreeMap<String, usize> = BTreeMap::new();
        let mut includers: BTreeSet<PathBuf> = BTreeSet::new();
        for missing in &all {
            let file = sources.get(missing.at.file);
            let line = file.line_column(missing.at.start).0;
            let first = files.entry(file.display_path()).or_insert(line);
            *first = line.min(*first);
            includers.insert(file.path.clone());
        }
        let same_name = named.get(Path::new(&spec).file_name().unwrap_or_default());
        let same_name = same_name.map_or(&[][..], Vec::as_slice);
        let quoted = all.iter().any(|missing| !missing.angled);
        let is_ambiguous = quoted && same_name.len() > 1 && !spec.contains('/');
        let folder = if is_ambiguous { None } else { folder_of(input, &spec, same_name, &includers) };
        found.push(NotFound { spec, files, folder, is_ambiguous, quoted });
    }
    found.sort_by_cached_key(NotFound::rank);
    found
}

/// Says which headers were not found, in one line.
pub(super) fn tell_of_not_found(not_found: &[NotFound]) {
    if let Some(line) = line(not_found) {
        terminal::say(&line);
    }
}

fn line(not_found: &[NotFound]) -> Option<String> {
    let [first, others @ ..] = not_found else { return None };
    let advice = advice(not_found);
    if others.is_empty() {
        let files = count(first.files.len(), "file");
        let verb = if first.files.len() == 1 { "includes" } else { "include" };
        let what =
            if first.is_ambiguous { "which could be any of several files" } else { "which was not found" };
        return Some(format!("{files} {verb} `{}`, {what}: {advice}", first.spec));
    }
    let files: FxHashSet<&String> = not_found.iter().flat_map(|it| it.files.keys()).collect();
    let verb = if files.len() == 1 { "includes" } else { "include" };
    let named = not_found.iter().take(MOST_NAMED);
    let named: Vec<String> =
        named.map(|it| format!("`{}` ({})", it.spec, count(it.files.len(), "file"))).collect();
    let named = match not_found.len().checked_sub(MOST_NAMED) {
        None | Some(0) => {
            let (last, rest) = named.split_last()?;
            format!("{} and {last}", rest.join(", "))
        }
        Some(more) => format!("{} and {more} more", named.join(", ")),
    };
    let files = count(files.len(), "file");
    Some(format!("{files} {verb} headers that were not found, {named}: {advice}"))
}

/// What to do about it.
fn advice(not_found: &[NotFound]) -> String {
    let mut folders: BTreeMap<&String, usize> = BTreeMap::new();
    for folder in not_found.iter().filter_map(|it| it.folder.as_ref()) {
        *folders.entry(folder).or_default() += 1;
    }
    let mut folders: Vec<(&String, usize)> = folders.into_iter().collect();
    folders.sort_by_key(|(_, headers)| Reverse(*headers));
    let flags: Vec<String> =
        folders.iter().take(MOST_NAMED).map(|(folder, _)| format!("-I {folder}")).collect();
    if flags.is_empty() {
        return "pass -I or -p".to_owned();
    }
    let all = not_found.iter().all(|it| it.folder.is_some()) && folders.len() <= MOST_NAMED;
    let others = if all { "" } else { ", and -I or -p for the others" };
    format!("pass `{}`{others}", flags.join(" "))
}

/// Whether the user can do something about what a file includes: one that was given, or a header beside
/// those, not one of a library that an include folder leads to.
pub(super) fn is_of_project(input: &Input, path: &Path) -> bool {
    if input.is_given(path) || input.is_context(path) {
        return input.is_given(path);
    }
    let path = input.settings.configs.absolute(path);
    let home = input.settings.configs.absolute(Path::new("."));
    let given = || input.candidates().iter().filter(|candidate| !candidate.context);
    path.starts_with(home)
        || given().any(|candidate| {
            let folder = candidate.path.parent().unwrap_or(Path::new("."));
            path.starts_with(input.settings.configs.absolute(folder))
        })
}

/// The files below the folders given, by name.
fn by_name(input: &Input) -> FxHashMap<&std::ffi::OsStr, Vec<&Path>> {
    let mut named: FxHashMap<&std::ffi::OsStr, Vec<&Path>> = FxHashMap::default();
    for candidate in input.candidates() {
        if let Some(name) = candidate.path.file_name() {
            named.entry(name).or_default().push(&candidate.path);
        }
    }
    named
}

/// The folder that leads to a header: the only one among the files given, else a usual one of the project.
fn folder_of(
    input: &Input,
    spec: &str,
    same_name: &[&Path],
    includers: &BTreeSet<PathBuf>,
) -> Option<String> {
    let configs = &input.settings.configs;
    let shown = |folder: &Path| {
        let shown = display_path(&configs.shown(folder));
        if shown.is_empty() { ".".to_owned() } else { shown }
    };
    let depth = Path::new(spec).components().count();
    let fitting = same_name.iter().filter(|path| path.ends_with(spec));
    let mut folders = fitting.filter_map(|path| path.ancestors().nth(depth)).map(&shown);
    if let Some(only) = folders.next() {
        return folders.all(|other| other == only).then_some(only);
    }
    // Up to the repository's root, and outside of one to the working folder.
    let home = configs.absolute(Path::new("."));
    includers.iter().find_map(|includer| {
        let includer = configs.absolute(includer);
        let mut above = includer.ancestors().skip(1);
        let mut is_last = false;
        let folders = std::iter::from_fn(|| {
            let folder = above.next().filter(|_| !is_last)?;
            is_last = folder.join(".git").exists() || folder == home;
            Some(folder)
        });
        let mut places = folders.flat_map(|folder| USUAL_FOLDERS.iter().map(move |usual| folder.join(usual)));
        places.find(|place| place.join(spec).is_file()).map(|place| shown(&place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(spec: &str, files: usize, folder: Option<&str>) -> NotFound {
        let files = (0..files).map(|number| (format!("{number}.cu"), 1)).collect();
        let folder = folder.map(str::to_owned);
        NotFound { spec: spec.to_owned(), files, folder, is_ambiguous: false, quoted: true }
    }

    #[test]
    fn the_line_names_the_headers_and_what_to_do() {
        let line = |all: &[NotFound]| line(all).unwrap_or_default();
        assert_eq!(line(&[]), "");
        assert_eq!(
            line(&[header("gemm.cuh", 3, None)]),
            "3 files include `gemm.cuh`, which was not found: pass -I or -p"
        );
        assert_eq!(
            line(&[header("k/gemm.cuh", 1, Some("include"))]),
            "1 file includes `k/gemm.cuh`, which was not found: pass `-I include`"
        );
        assert_eq!(
            line(&[header("a.cuh", 2, Some("inc")), header("b.h", 1, None)]),
            "2 files include headers that were not found, `a.cuh` (2 files) and `b.h` (1 file): pass `-I inc`, \
             and -I or -p for the others"
        );
        let many: Vec<NotFound> =
            ["a.h", "b.h", "c.h", "d.h", "e.h"].map(|spec| header(spec, 1, None)).into();
        assert_eq!(
            line(&many),
            "1 file includes headers that were not found, `a.h` (1 file), `b.h` (1 file), `c.h` (1 file) and 2 \
             more: pass -I or -p"
        );
        let several = NotFound { is_ambiguous: true, ..header("u.cuh", 2, None) };
        assert_eq!(
            line(&[several]),
            "2 files include `u.cuh`, which could be any of several files: pass -I or -p"
        );
    }
}
