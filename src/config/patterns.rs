//! Which paths do patterns mean that are written as in `.gitignore`?
//!
//! Patterns count from a folder. For paths elsewhere, those count that name no folder to begin from:
//! `*_test.cu` and `gen/`, but not `/gen` or `src/gen`.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// Patterns of one folder.
#[derive(Debug)]
pub struct Patterns {
    folder: PathBuf,
    globs: Gitignore,
}

impl Patterns {
    /// Patterns that count from this absolute folder.
    ///
    /// # Errors
    /// When one is no pattern: its number, and why.
    pub fn new<'p>(
        folder: &Path,
        patterns: impl IntoIterator<Item = &'p str>,
    ) -> Result<Patterns, (usize, String)> {
        let mut builder = GitignoreBuilder::new(folder);
        builder.allow_unclosed_class(false);
        for (number, pattern) in patterns.into_iter().enumerate() {
            builder.add_line(None, pattern).map_err(|error| (number, reason(&error)))?;
        }
        let globs = builder.build().map_err(|error| (0, reason(&error)))?;
        Ok(Patterns { folder: folder.to_path_buf(), globs })
    }

    /// Whether they mean a file or folder below theirs, given by its absolute path, or a folder around it.
    #[must_use]
    pub fn match_below(&self, path: &Path, folder: bool) -> bool {
        // Without a pattern, or of a path elsewhere, it must not be asked: it would panic.
        !self.globs.is_empty()
            && path.starts_with(&self.folder)
            && self.globs.matched_path_or_any_parents(path, folder).is_ignore()
    }

    /// The same of a path that may lie anywhere.
    #[must_use]
    pub fn match_anywhere(&self, path: &Path, folder: bool) -> bool {
        if path.starts_with(&self.folder) {
            return self.match_below(path, folder);
        }
        // The nearest that is spoken of decides.
        let said = |at: &Path| match self.globs.matched(at, folder || at != path) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        path.ancestors().find_map(said).unwrap_or(false)
    }
}

/// What is wrong, without the pattern, which is shown anyway.
fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(written: &[&str]) -> Patterns {
        Patterns::new(Path::new("/p/q"), written.iter().copied()).unwrap()
    }

    #[test]
    fn patterns_count_from_their_folder() {
        let all = patterns(&["gen/", "/top.cu", "*_old.cu", "!kept_old.cu"]);
        let below = |path: &str| all.match_below(Path::new(path), false);
        assert!(below("/p/q/gen/a.cu") && below("/p/q/x/gen/a.cu") && below("/p/q/top.cu"));
        assert!(below("/p/q/a_old.cu") && !below("/p/q/kept_old.cu") && !below("/p/q/x/top.cu"));
        assert!(!below("/p/gen/a.cu") && !below("/q/a_old.cu"));
        assert!(!patterns(&[]).match_below(Path::new("/p/q/a.cu"), false));
    }

    #[test]
    fn elsewhere_those_count_that_name_no_folder() {
        let all = patterns(&["gen/", "/top.cu", "src/x.cu", "*_old.cu", "!kept_old.cu"]);
        let anywhere = |path: &str| all.match_anywhere(Path::new(path), false);
        assert!(anywhere("/r/gen/a.cu") && anywhere("/r/a_old.cu") && anywhere("/p/q/top.cu"));
        assert!(!anywhere("/r/top.cu") && !anywhere("/r/src/x.cu") && !anywhere("/r/kept_old.cu"));
        assert!(!anywhere("/r/gen"), "a file is no folder");
    }

    #[test]
    fn what_is_no_pattern_is_told_with_its_number() {
        let (number, why) = Patterns::new(Path::new("/"), ["a", "b[", "c"]).unwrap_err();
        assert_eq!((number, why.as_str()), (1, "unclosed character class; missing ']'"));
    }
}
