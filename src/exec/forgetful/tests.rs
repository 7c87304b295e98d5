//! A run in which something is remembered gives the verdicts of one in which nothing is.

use super::{ALL, Kept, without};
use crate::analysis::{Files, Options, Run, Wanted};
use crate::kernels::Case;
use crate::random::Random;
use crate::styles::STYLES;
use std::fs;
use std::path::{Path, PathBuf};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }
}

/// All that is said of a text: its findings with their notes, and its verdicts.
fn told(path: &Path, text: &str) -> Vec<String> {
    let path = path.to_path_buf();
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(Disk));
    let loaded = run.load(&path, text.as_bytes().to_vec());
    let judged = run.judged_kernels([&loaded]);
    let loaded = run.follow(loaded, &judged);
    let links = run.link([&loaded]);
    let report = run.analyze(&loaded, &links, Wanted::Findings);
    let findings = report.diagnostics.iter().map(|it| format!("{it:?}"));
    findings.chain(report.verdicts.iter().map(|it| format!("{it:?}"))).collect()
}

/// Asks that a text's verdicts do not depend on what is remembered; how much was dropped.
fn compare(path: &Path, text: &str, wrong: &mut Vec<String>) -> u64 {
    static EACH: [&[Kept]; 8] = [
        &ALL,
        &[Kept::Lookups],
        &[Kept::Results],
        &[Kept::Sharing],
        &[Kept::Plans],
        &[Kept::Slices],
        &[Kept::Counts],
        &[Kept::Layouts],
    ];
    let (remembered, _) = without(&[], || told(path, text));
    let mut dropped = 0;
    let (forgotten, times) = without(&ALL, || told(path, text));
    dropped += times;
    if forgotten != remembered {
        for kept in &EACH[1..] {
            let (forgotten, _) = without(kept, || told(path, text));
            let lines = remembered.iter().zip(&forgotten);
            if let Some((before, after)) = lines.clone().find(|(before, after)| before != after) {
                wrong.push(format!("{} without {kept:?}:\n- {before}\n+ {after}", path.display()));
            } else if remembered.len() != forgotten.len() {
                wrong.push(format!("{} without {kept:?}: another number of verdicts", path.display()));
            }
        }
        let lines = remembered.iter().zip(&forgotten).find(|(before, after)| before != after);
        wrong.push(format!("{} without anything: {lines:#?}", path.display()));
    }
    dropped
}

fn on_deep_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn nothing_that_is_remembered_changes_what_is_said_of_fixtures() {
    on_deep_stack(|| {
        let files = walkdir::WalkDir::new("fixtures").sort_by_file_name().into_iter();
        let paths = files.filter_map(Result::ok).map(|entry| entry.into_path());
        let kernels = paths.filter(|path| path.extension().is_some_and(|it| it == "cu"));
        let (mut wrong, mut dropped, mut count) = (Vec::new(), 0, 0);
        for path in kernels {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            dropped += compare(&path, &text, &mut wrong);
            count += 1;
        }
        assert!(count > 100 && dropped > 100_000, "{count} files, dropped {dropped} times");
        assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}

#[test]
fn nothing_that_is_remembered_changes_what_is_said_of_random_kernels() {
    on_deep_stack(|| {
        let mut random = Random(0x6d65_6d6f);
        let (mut wrong, mut dropped) = (Vec::new(), 0);
        for at in 0..60 {
            let text = Case::random(&mut random).text(STYLES[at % STYLES.len()]);
            dropped += compare(&PathBuf::from("case.cu"), &text, &mut wrong);
        }
        assert!(dropped > 10_000, "dropped {dropped} times");
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}
