//! Which findings does a change bring, as git says what changed?
//!
//! Those on lines that changed, and those that the files as they were before do not have: an edit of a
//! launch, a macro or a header shows in lines that are the same.

use super::disk::Overlay;
use super::driver::{Analyzed, Input};
use super::git::{Git, path_of};
use crate::analysis::Wanted;
use crate::diagnostic::Diagnostic;
use crate::fingerprint;
use crate::source::{Sources, Span};
use crate::walk::{self, Candidate};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A finding, whichever line it is on: its fingerprint and what it says.
type Key = (String, String);

/// What changed since a revision, and what was found before.
pub(super) struct Changed {
    changes: Changes,
    before: OnceCell<FxHashSet<Key>>,
}

impl Changed {
    /// What changed in the work tree around the working folder since a commit; since the commit where the
    /// current branch left another one if the name ends in `...`. An error is a sentence.
    pub(super) fn since(revision: &str) -> Result<Changed, String> {
        Ok(Changed { changes: Changes::since(revision)?, before: OnceCell::new() })
    }

    /// Which findings the change concerns. `told` is what is told of a run, `name` what a file is called.
    /// `None` when there is nothing to be told of.
    pub(super) fn concern(
        &self,
        input: &Input,
        sources: &Sources,
        findings: &[Diagnostic],
        told: &dyn Fn(&Analyzed) -> Option<Vec<Diagnostic>>,
        name: &dyn Fn(&Path) -> String,
    ) -> Option<Vec<bool>> {
        let mut concern: Vec<bool> =
            findings.iter().map(|finding| self.changes.touch_finding(sources, finding)).collect();
        if concern.iter().all(|concern| *concern) || !self.changes.are_of(input, sources) {
            return Some(concern);
        }
        if self.before.get().is_none() {
            let (overlay, deleted) = self.changes.undone(input, sources);
            let earlier = input.analyze(Wanted::Findings, &overlay, &deleted);
            let findings = told(&earlier)?;
            let known = keys(earlier.run.sources(), &findings, name).into_iter().collect();
            let _ = self.before.set(known);
        }
        let before = self.before.get()?;
        for (concern, key) in concern.iter_mut().zip(keys(sources, findings, name)) {
            *concern |= !before.contains(&key);
        }
        Some(concern)
    }
}

fn keys(sources: &Sources, findings: &[Diagnostic], name: &dyn Fn(&Path) -> String) -> Vec<Key> {
    let prints = fingerprint::of_all(sources, findings, name).into_iter();
    prints.zip(findings).map(|(print, finding)| (print, finding.message.clone())).collect()
}

/// The changes of a work tree.
struct Changes {
    /// The work tree.
    git: Git,
    /// The commit since which they are.
    commit: String,
    /// What the diff says.
    diff: Diff,
    /// The paths that git knows; others are new as a whole.
    tracked: FxHashSet<PathBuf>,
}

/// What a diff says, by path from the work tree's folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Diff {
    /// The lines that came or changed, from 1.
    lines: FxHashMap<PathBuf, Vec<Range<usize>>>,
    /// What each file whose text changed was called before; `None` for one that came.
    before: FxHashMap<PathBuf, Option<PathBuf>>,
    /// The files that went.
    deleted: Vec<PathBuf>,
}

impl Changes {
    fn since(revision: &str) -> Result<Changes, String> {
        let git = Git::here().map_err(|error| format!("--changed-since needs a git work tree: {error}"))?;
        let commit = commit(&git, revision)?;
        // Whatever the user has configured, the same format.
        let arguments = [
            "-c",
            "core.quotePath=false",
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--text",
            "--find-renames",
            "--unified=0",
            "--inter-hunk-context=0",
            "--ignore-submodules=all",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            &commit,
            "--",
        ];
        let failed = |error: String| format!("cannot tell what changed since `{revision}`: {error}");
        let diff = Diff::read(&git.ask(&arguments).map_err(failed)?);
        let known = git.ask(&["ls-files", "-z", "--recurse-submodules"]).map_err(failed)?;
        let tracked = known.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let tracked = tracked.map(|path| PathBuf::from(path_of(path))).collect();
        Ok(Changes { git, commit, diff, tracked })
    }

    /// Whether some line of a finding changed: of its own, of the places that it points at, or of the
    /// launches of its kernel.
    fn touch_finding(&self, sources: &Sources, finding: &Diagnostic) -> bool {
        let places = finding.labels.iter().map(|(span, _)| *span).chain(finding.launches.iter().copied());
        std::iter::once(finding.primary).chain(places).any(|span| self.touch(sources, span))
    }

    fn touch(&self, sources: &Sources, span: Span) -> bool {
        let file = sources.get(span.file);
        // What lies elsewhere has no history here.
        let Some(path) = self.path(&file.path) else { return false };
        if !self.tracked.contains(&path) {
            return true;
        }
        let (first, last) = (file.line_column(span.start).0, file.line_column(span.end.max(span.start)).0);
        let changed = self.diff.lines.get(&path).map_or(&[][..], Vec::as_slice);
        changed.iter().any(|lines| lines.start <= last && first < lines.end)
    }

    /// The path of a file from the work tree's folder.
    fn path(&self, file: &Path) -> Option<PathBuf> {
        let absolute = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        absolute.strip_prefix(&self.git.root).ok().map(Path::to_path_buf)
    }

    /// Whether anything changed in the files of a run, or some are gone that would belong to it.
    fn are_of(&self, input: &Input, sources: &Sources) -> bool {
        let changed = |path: &PathBuf| !self.tracked.contains(path) || self.diff.before.contains_key(path);
        sources.all().iter().filter_map(|file| self.path(&file.path)).any(|path| changed(&path))
            || input.candidates().iter().filter_map(|it| self.path(&it.path)).any(|path| changed(&path))
            || self.diff.deleted.iter().any(|path| input.would_find(&self.git.root.join(path)))
    }

    /// The files of a run as they were: those whose text was another, and those that are gone.
    fn undone(&self, input: &Input, sources: &Sources) -> (Overlay, Vec<Candidate>) {
        let mut overlay = Overlay::default();
        let mut wanted: Vec<(PathBuf, PathBuf)> = Vec::new();
        let met = sources.all().into_iter().map(|file| file.path.clone());
        for file in met.chain(input.candidates().iter().map(|it| it.path.clone())) {
            let Some(path) = self.path(&file) else { continue };
            match self.diff.before.get(&path) {
                Some(Some(old)) => wanted.push((file, old.clone())),
                Some(None) => drop(overlay.insert(file, None)),
                None if !self.tracked.contains(&path) => drop(overlay.insert(file, None)),
                None => {}
            }
        }
        let deleted: Vec<PathBuf> =
            self.diff.deleted.iter().filter(|path| walk::may_be_cuda(path)).cloned().collect();
        wanted.extend(deleted.iter().map(|path| (self.git.root.join(path), path.clone())));
        let texts = self.texts(wanted.iter().map(|(_, old)| old));
        overlay.extend(wanted.into_iter().zip(texts).map(|((file, _), text)| (file, text)));
        let deleted =
            deleted.iter().map(|path| self.git.root.join(path)).filter(|path| input.would_find(path));
        (overlay, deleted.map(|path| Candidate::header(&input.settings.configs.shown(&path))).collect())
    }

    /// The texts of files at the commit.
    fn texts<'a>(&self, paths: impl Iterator<Item = &'a PathBuf>) -> Vec<Option<Vec<u8>>> {
        let mut asked = Vec::new();
        let mut count = 0;
        for path in paths {
            asked.extend_from_slice(self.commit.as_bytes());
            asked.push(b':');
            asked.extend_from_slice(path.as_os_str().as_encoded_bytes());
            asked.push(b'\n');
            count += 1;
        }
        let told = self.git.ask_about(&["cat-file", "--batch"], asked).unwrap_or_default();
        let mut rest = told.as_slice();
        (0..count).map(|_| object(&mut rest)).collect()
    }
}

/// The next of the objects that `git cat-file --batch` prints: `NAME blob SIZE`, the bytes, a newline.
fn object(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let (line, behind) = (rest.get(..end)?, rest.get(end + 1..)?);
    *rest = behind;
    let line = std::str::from_utf8(line).ok()?;
    let (_, size) = line.split_once(" blob ")?;
    let size: usize = size.parse().ok()?;
    let bytes = behind.get(..size)?.to_vec();
    *rest = behind.get(size + 1..)?;
    Some(bytes)
}

/// The commit that a revision names.
fn commit(git: &Git, revision: &str) -> Result<String, String> {
    let name = |name: &str| {
        let arguments =
            ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        git.ask(&arguments)
            .ok()
            .and_then(|out| String::from_utf8(out).ok())
            .map(|out| out.trim().to_owned())
            .filter(|commit| !commit.is_empty())
            .ok_or_else(|| format!("`{name}` names no commit of this repository (a shallow clone has few)"))
    };
    let Some(other) = revision.strip_suffix("...") else { return name(revision) };
    let (other, own) = (name(other)?, name("HEAD")?);
    let base = git.ask(&["merge-base", &own, &other]).ok().and_then(|out| String::from_utf8(out).ok());
    base.map(|out| out.trim().to_owned()).ok_or_else(|| {
        format!("`{revision}`: no common commit with the current branch is known (a shallow clone has few)")
    })
}

impl Diff {
    /// Reads a unified diff without context.
    fn read(diff: &[u8]) -> Diff {
        let mut found = Diff::default();
        let (mut old, mut file): (Option<PathBuf>, Option<PathBuf>) = (None, None);
        let mut lines = diff.split(|&byte| byte == b'\n').peekable();
        let path = |name: &[u8], prefix: &[u8]| {
            unquoted(name).strip_prefix(prefix).map(|name| PathBuf::from(path_of(name)))
        };
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix(b"--- ") {
                old = path(name, b"a/");
            } else if let Some(name) = line.strip_prefix(b"+++ ") {
                file = path(name, b"b/");
                match &file {
                    Some(file) => drop(found.before.insert(file.clone(), old.take())),
                    None => found.deleted.extend(old.take()),
                }
            } else if let Some((removed, added)) = hunk(line) {
                // The text may look like a header itself.
                let mut left = removed.saturating_add(added.len());
                while let Some(line) = lines.next_if(|_| left > 0) {
                    left -= usize::from(!line.starts_with(b"\\"));
                }
                if let Some(file) = file.as_ref().filter(|_| !added.is_empty()) {
                    found.lines.entry(file.clone()).or_default().push(added);
                }
            }
        }
        found
    }
}

/// How many lines `@@ -3,2 +5,4 @@` takes away, and which it adds.
fn hunk(line: &[u8]) -> Option<(usize, Range<usize>)> {
    let head = line.strip_prefix(b"@@ -")?;
    let text = std::str::from_utf8(head.get(..head.iter().position(|&byte| byte == b'@')?)?).ok()?;
    let (old, new) = text.trim_end().split_once(" +")?;
    // Without a count it is one line.
    let side = |side: &str| {
        let (start, count) = side.split_once(',').unwrap_or((side, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let ((_, removed), (start, added)) = (side(old)?, side(new)?);
    Some((removed, start..start.checked_add(added)?))
}

/// A name without the quotes and escapes that git writes around unusual ones.
fn unquoted(name: &[u8]) -> Vec<u8> {
    // A tab ends a name with spaces.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    let Some(inner) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else {
        return name.to_vec();
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'v') => out.push(11),
            Some(digit @ b'0'..=b'3') => {
                let digits = [Some(digit), rest.next(), rest.next()];
                let value = |digit: Option<u8>| digit.map_or(0, |it| it.wrapping_sub(b'0') & 7);
                out.push(digits.into_iter().fold(0u8, |sum, digit| sum.wrapping_mul(8) | value(digit)));
            }
            other => out.extend(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn added_lines_are_those_behind_the_plus() {
        let diff =
            b"diff --git a/a.cu b/a.cu\n--- a/a.cu\n+++ b/a.cu\n@@ -3 +3,2 @@ void f()\n-x\n+++ b/c.cu\n+z\n\
                     @@ -9,2 +9,0 @@\n-@@ -1 +1 @@\n-y\n\\ No newline at end of file\n@@ -20,0 +20 @@\n+w\n\
                     --- a/old.cu\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                     rename from b.cu\nrename to d.cu\n--- a/b.cu\n+++ b/d.cu\n@@ -1 +0,0 @@\n---- x\n\
                     --- /dev/null\n+++ b/new.cu\n@@ -0,0 +1 @@\n+x\n";
        let found = Diff::read(diff);
        assert_eq!(found.lines.len(), 2);
        assert_eq!(found.lines[Path::new("a.cu")], [3..5, 20..21]);
        let before = |file: &str| found.before[Path::new(file)].as_deref();
        assert_eq!(before("a.cu"), Some(Path::new("a.cu")));
        assert_eq!(before("d.cu"), Some(Path::new("b.cu")));
        assert_eq!(before("new.cu"), None);
        assert_eq!((found.before.len(), found.deleted), (3, vec![PathBuf::from("old.cu")]));
    }

    #[test]
    fn objects_are_read_one_after_the_other() {
        let mut rest: &[u8] = b"c0ffee blob 3\na\nb\nHEAD:gone missing\nbeef blob 0\n\nbeef blob 9\nx\n";
        assert_eq!(object(&mut rest).as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(object(&mut rest), None);
        assert_eq!(object(&mut rest).as_deref(), Some(&b""[..]));
        assert_eq!(object(&mut rest), None, "cut short");
    }

    #[test]
    fn names_are_taken_out_of_their_quotes() {
        assert_eq!(unquoted(b"b/a b.cu\t"), b"b/a b.cu");
        assert_eq!(unquoted(b"\"b/a b\\\"\"\t"), b"b/a b\"");
        assert_eq!(unquoted(b"\"b/a\\t\\\"\\\\\\303\\251.cu\""), "b/a\t\"\\é.cu".as_bytes());
    }

    #[test]
    fn what_is_no_hunk_is_none() {
        for text in ["", "@@ -1", "@@ -a +b @@", "@@ -1,2 +3,18446744073709551615 @@", "+@@ -1 +1 @@"] {
            assert_eq!(hunk(text.as_bytes()), None, "{text}");
        }
    }
}
