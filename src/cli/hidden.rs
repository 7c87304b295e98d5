//! Which files have kernels that are not seen, and what would show them?

use super::driver::{Analyzed, Input};
use super::includes::is_of_project;
use super::terminal;
use crate::banks::ComputeCapability;
use crate::output::count;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Says of how many files no kernel is seen because a macro is not defined, in one line, and of how many some code is
/// left out for their target, in another.
pub(super) fn tell_of_hidden(input: &Input, analyzed: &Analyzed) {
    let sources = analyzed.run.sources();
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for hidden in analyzed.run.hidden_kernels() {
        if is_of_project(input, &sources.get(hidden.file).path) {
            *files.entry(hidden.name).or_default() += 1;
        }
    }
    let mut left_out = analyzed.run.left_out_kernels();
    left_out.retain(|(file, ..)| is_of_project(input, &sources.get(*file).path));
    let targets: Vec<_> = left_out.into_iter().map(|(_, now, then)| (now, then)).collect();
    [line(files), line_of_targets(&targets)].into_iter().flatten().for_each(|line| terminal::say(&line));
}

/// `files`: for each the target for which it is read, and the one for which more of it would be.
fn line_of_targets(files: &[(ComputeCapability, ComputeCapability)]) -> Option<String> {
    let mut wanted: BTreeMap<ComputeCapability, usize> = BTreeMap::new();
    for (_, then) in files {
        *wanted.entry(*then).or_default() += 1;
    }
    let mut wanted: Vec<(ComputeCapability, usize)> = wanted.into_iter().collect();
    wanted.sort_by_key(|(_, files)| Reverse(*files));
    let (now, _) = files.first()?;
    let now = match files.iter().all(|(other, _)| other == now) {
        true => now.to_string(),
        false => "their targets".to_owned(),
    };
    let pass: Vec<String> = match wanted.as_slice() {
        [(only, _)] => vec![only.to_string()],
        many => many.iter().map(|(then, files)| format!("{then} ({})", count(*files, "file"))).collect(),
    };
    let verb = if files.len() == 1 { "has" } else { "have" };
    let (files, pass) = (count(files.len(), "file"), pass.join(" or "));
    Some(format!("{files} {verb} kernel code that is left out for {now}: pass --target {pass}"))
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
    use super::{line, line_of_targets};
    use crate::banks::ComputeCapability;

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

    #[test]
    fn targets_are_named_by_how_many_files_have_code_for_them() {
        let sm = |major: u8| ComputeCapability::new(major, 0);
        assert_eq!(line_of_targets(&[]), None);
        assert_eq!(
            line_of_targets(&[(sm(9), sm(10))]).as_deref(),
            Some("1 file has kernel code that is left out for sm_90: pass --target sm_100")
        );
        assert_eq!(
            line_of_targets(&[(sm(8), sm(9)), (sm(9), sm(10)), (sm(9), sm(10))]).as_deref(),
            Some(
                "3 files have kernel code that is left out for their targets: pass --target sm_100 (2 files) or \
                 sm_90 (1 file)"
            )
        );
    }
}
