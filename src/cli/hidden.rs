//! Which files have kernels that are not seen, and what would show them?

use super::driver::{Analyzed, Input};
use super::includes::is_of_project;
use super::terminal;
use crate::output::count;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Says of how many files no kernel is seen because a macro is not defined, in one line.
pub(super) fn tell_of_hidden(input: &Input, analyzed: &Analyzed) {
    let sources = analyzed.run.sources();
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for hidden in analyzed.run.hidden_kernels() {
        if is_of_project(input, &sources.get(hidden.file).path) {
            *files.entry(hidden.name).or_default() += 1;
        }
    }
    if let Some(line) = line(files) {
        terminal::say(&line);
    }
}

fn line(files: BTreeMap<String, usize>) -> Option<String> {
    let mut files: Vec<(String, usize)> = files.into_iter().collect();
    files.sort_by_key(|(_, files)| Reverse(*files));
    let [(name, first), rest @ ..] = files.as_slice() else { return None };
    let all = first + rest.iter().map(|(_, files)| files).sum::<usize>();
    let verb = if all == 1 { "has" } else { "have" };
    let others = match rest.len() {
        0 => String::new(),
        1 => format!(" or `{}`", rest[0].0),
        more => format!(" or one of {more} other macros"),
    };
    let is = if rest.is_empty() { "is defined, which nothing does" } else { "is defined; nothing does that" };
    let files = count(all, "file");
    Some(format!("{files} {verb} kernels only where `{name}`{others} {is}: pass --define {name}"))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn macros_are_named_by_how_many_files_wait_for_them() {
        let of = |files: &[(&str, usize)]| {
            line(files.iter().map(|(name, files)| ((*name).to_owned(), *files)).collect())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[("USE_CUDA", 1)]).as_deref(),
            Some(
                "1 file has kernels only where `USE_CUDA` is defined, which nothing does: pass --define USE_CUDA"
            )
        );
        assert_eq!(
            of(&[("A", 1), ("WITH_GPU", 3)]).as_deref(),
            Some(
                "4 files have kernels only where `WITH_GPU` or `A` is defined; nothing does that: pass --define \
                 WITH_GPU"
            )
        );
    }
}
