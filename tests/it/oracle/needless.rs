//! Does nothing race without the barriers that `redundant-barrier` tells of?
//!
//! Of each file of `fixtures/oracle` there are two texts: the one that is there, and one in which a barrier follows
//! each statement of a kernel's own block, so that there are many to be told of. All barriers that are told of are
//! taken out, and both texts are run on the host. Threads that race without them and not with them are a fault.
//!
//! ```text
//! s[t] = in[t];  __syncthreads();         stays
//! x = s[255 - t];  __syncthreads();       taken out
//! out[t] = x;  __syncthreads();           taken out
//! ```

use super::compile;
use super::execution;
use super::findings::{base, findings};
use super::kernel_files;
use super::races::{Between, races};
use crate::support::folder::folder;
use crate::support::{is_sampled, thorough};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// If not thorough, one of so many files is taken.
const ONE_OF: usize = 3;
/// Barriers that have to be told of in all files.
const LEAST_AS_WRITTEN: usize = 20;
const LEAST_WITH_MORE: usize = 200;

/// A text with a barrier behind each statement of a line in a kernel's own block.
fn with_more_barriers(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (mut out, mut in_kernel) = (String::new(), false);
    for (at, line) in lines.iter().enumerate() {
        in_kernel |= line.contains("__global__");
        in_kernel &= !line.starts_with('}');
        let next = lines.get(at + 1).map_or("", |next| next.trim_start());
        let own = line.strip_prefix("    ").is_some_and(|rest| !rest.starts_with(' '));
        let goes_on = next.starts_with("else") || line.contains("return;") || line.contains("asm");
        let is_statement = own && line.ends_with(';') && !goes_on;
        out.push_str(line);
        out.push_str(if in_kernel && is_statement { "  __syncthreads();" } else { "" });
        out.push('\n');
    }
    out
}

/// A text without the barriers at these lines and columns.
fn without(text: &str, told: &BTreeSet<(usize, usize)>) -> String {
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        let mut line = line.to_owned();
        for (_, column) in told.iter().filter(|(number, _)| *number == at + 1) {
            let begin = column - 1;
            let length = line[begin..].find(';').unwrap();
            assert!(line[begin..begin + length].contains("sync"), "{line}");
            line.replace_range(begin..begin + length, &" ".repeat(length));
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The races of a text: kernels, lines, and between whom.
fn all_races(path: &Path, text: &str) -> Option<BTreeSet<(String, u32, u32, Between)>> {
    // A folder of its own: other tests build the file as it is, and keep what they built.
    let built = tempfile::tempdir().unwrap();
    let compiled = compile::compiler().unwrap().build_version(path, text, built.path()).ok()?;
    let launches = execution::read(&compiled);
    let of = |launch: &execution::Launch| -> Vec<_> {
        let line = |site| launch.place(site).line;
        let all = races(launch).into_iter();
        all.map(|race| {
            (base(&launch.kernel).to_owned(), line(race.first.site), line(race.second.site), race.between)
        })
        .collect()
    };
    Some(launches.iter().flat_map(of).collect())
}

/// How many barriers are told of, and the races that come of taking them out.
fn judge(path: &Path, text: &str) -> (usize, Vec<String>) {
    let root = folder(&[("mutant.cu", text)]);
    let told = findings(&root.path().join("mutant.cu"), &["redundant-barrier"]);
    let told: BTreeSet<(usize, usize)> =
        told.iter().map(|it| (it.line as usize, it.column as usize)).collect();
    if told.is_empty() {
        return (0, Vec::new());
    }
    let Some(before) = all_races(path, text) else { return (0, Vec::new()) };
    let after = all_races(path, &without(text, &told)).unwrap();
    let new = after.difference(&before).map(|race| format!("{}: {race:?}", path.display()));
    (told.len(), new.collect())
}

#[test]
fn nothing_races_without_needless_barriers() {
    if let Err(why) = compile::compiler() {
        assert!(std::env::var_os("CUDALINT_NEEDS_COMPILER").is_none(), "{why}");
        println!("skipped: {why}");
        return;
    }
    let word = std::env::var("CUDALINT_ORACLE").unwrap_or_default();
    let mut files: Vec<PathBuf> = kernel_files(&word);
    files.retain(|path| is_sampled(path, 1, ONE_OF));
    for (has_more, least) in [(false, LEAST_AS_WRITTEN), (true, LEAST_WITH_MORE)] {
        let text = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            if has_more { with_more_barriers(&text) } else { text }
        };
        let texts: Vec<(&PathBuf, String)> = files.iter().map(|path| (path, text(path))).collect();
        let tallies: Vec<(usize, Vec<String>)> =
            texts.par_iter().map(|(path, text)| judge(path, text)).collect();
        let told: usize = tallies.iter().map(|(told, _)| told).sum();
        let wrong: Vec<&str> = tallies.iter().flat_map(|(_, wrong)| wrong).map(String::as_str).collect();
        println!("{told} barriers are told of, {} races come of taking them out", wrong.len());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(
            told >= least / (if thorough() { 1 } else { 2 * ONE_OF }) || !word.is_empty(),
            "only {told} are told of"
        );
    }
}
