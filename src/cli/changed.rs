//! Which lines of which files changed since a revision, as git says?

use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The changes of a work tree.
#[derive(Debug, Default)]
pub struct Changes {
    /// The work tree's folder, without symbolic links.
    root: PathBuf,
    /// By path from there: the lines that came or changed, from 1.
    lines: FxHashMap<PathBuf, Vec<Range<usize>>>,
    /// The paths that git knows; others are new as a whole.
    tracked: FxHashSet<PathBuf>,
}

impl Changes {
    /// The changes of the work tree around the working folder since a commit; since the commit where the
    /// current branch left another one if the name ends in `...`. An error is a sentence.
    pub fn since(revision: &str) -> Result<Changes, String> {
        let root = git(None, &["rev-parse", "--show-toplevel"])
            .map_err(|error| format!("--changed-since needs a git work tree: {error}"))?;
        let root = PathBuf::from(path_of(root.strip_suffix(b"\n").unwrap_or(&root)));
        let root = root.canonicalize().unwrap_or(root);
        let commit = commit(&root, revision)?;
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
        let diff = git(Some(&root), &arguments).map_err(failed)?;
        let known = git(Some(&root), &["ls-files", "-z", "--recurse-submodules"]).map_err(failed)?;
        let tracked = known.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let tracked = tracked.map(|path| PathBuf::from(path_of(path))).collect();
        Ok(Changes { root, lines: lines_of(&diff), tracked })
    }

    /// Whether some line of a finding changed: of its own, or of the places that it points at.
    pub fn concern(&self, sources: &Sources, finding: &Diagnostic) -> bool {
        let places = finding.labels.iter().map(|(span, _)| *span);
        std::iter::once(finding.primary).chain(places).any(|span| self.touch(sources, span))
    }

    fn touch(&self, sources: &Sources, span: Span) -> bool {
        let file = sources.get(span.file);
        let absolute = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        // What lies elsewhere has no history here.
        let Ok(path) = absolute.strip_prefix(&self.root) else { return false };
        if !self.tracked.contains(path) {
            return true;
        }
        let (first, last) = (file.line_column(span.start).0, file.line_column(span.end.max(span.start)).0);
        let changed = self.lines.get(path).map_or(&[][..], Vec::as_slice);
        changed.iter().any(|lines| lines.start <= last && first < lines.end)
    }
}

/// The commit that a revision names.
fn commit(root: &Path, revision: &str) -> Result<String, String> {
    let name = |name: &str| {
        let arguments =
            ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        git(Some(root), &arguments)
            .ok()
            .and_then(|out| String::from_utf8(out).ok())
            .map(|out| out.trim().to_owned())
            .filter(|commit| !commit.is_empty())
            .ok_or_else(|| format!("`{name}` names no commit of this repository (a shallow clone has few)"))
    };
    let Some(other) = revision.strip_suffix("...") else { return name(revision) };
    let (other, own) = (name(other)?, name("HEAD")?);
    let base =
        git(Some(root), &["merge-base", &own, &other]).ok().and_then(|out| String::from_utf8(out).ok());
    base.map(|out| out.trim().to_owned()).ok_or_else(|| {
        format!("`{revision}`: no common commit with the current branch is known (a shallow clone has few)")
    })
}

/// What git prints; an error is its own first line, or that there is no git.
fn git(folder: Option<&Path>, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    match command.args(arguments).output() {
        Ok(ran) if ran.status.success() => Ok(ran.stdout),
        Ok(ran) => {
            let told = String::from_utf8_lossy(&ran.stderr);
            let line = told.lines().next().unwrap_or_default();
            Err(if line.is_empty() { "git failed".to_owned() } else { format!("git says: {line}") })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err("git is not installed".to_owned()),
        Err(error) => Err(format!("git cannot be run: {error}")),
    }
}

/// The lines that a unified diff without context adds, by file.
fn lines_of(diff: &[u8]) -> FxHashMap<PathBuf, Vec<Range<usize>>> {
    let mut found: FxHashMap<PathBuf, Vec<Range<usize>>> = FxHashMap::default();
    let mut file: Option<PathBuf> = None;
    let mut lines = diff.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix(b"+++ ") {
            file = unquoted(name).strip_prefix(b"b/").map(|name| PathBuf::from(path_of(name)));
        } else if let Some((removed, added)) = hunk(line) {
            // The text may look like a header itself.
            let mut left = removed.saturating_add(added.len());
            while let Some(line) = lines.next_if(|_| left > 0) {
                left -= usize::from(!line.starts_with(b"\\"));
            }
            if let Some(file) = file.as_ref().filter(|_| !added.is_empty()) {
                found.entry(file.clone()).or_default().push(added);
            }
        }
    }
    found
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

/// A path as git writes it.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}

/// A path as git writes it.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> std::ffi::OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_those_behind_the_plus() {
        let diff =
            b"diff --git a/a.cu b/a.cu\n--- a/a.cu\n+++ b/a.cu\n@@ -3 +3,2 @@ void f()\n-x\n+++ b/c.cu\n+z\n\
                     @@ -9,2 +9,0 @@\n-@@ -1 +1 @@\n-y\n\\ No newline at end of file\n@@ -20,0 +20 @@\n+w\n\
                     --- a/old.cu\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let found = lines_of(diff);
        assert_eq!(found.len(), 1);
        assert_eq!(found[Path::new("a.cu")], [3..5, 20..21]);
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
