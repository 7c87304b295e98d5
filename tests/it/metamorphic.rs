//! Does a text that is written otherwise, and means the same, get the same verdicts?
//!
//! Every fixture and random kernels are rewritten in many ways (a fixture in a third of them, unless `CUDALINT_THOROUGH`
//! is set); the verdicts of a rewritten text have
//! to be those of the text. `CUDALINT_CASES` asks for more random kernels, `CUDALINT_SEED` for
//! others, `CUDALINT_CORPUS` names a folder of CUDA files to try as well, and
//! `CUDALINT_REWRITE` only one rewrite.

use crate::support::kernels::{Case, decided, number, verdicts};
use crate::support::random::Random;
use crate::support::styles::{STYLES, Style};
use crate::support::{is_sampled, restructure, rewrite};
use cudalint::analysis::{Files, Options, Run, Wanted};
use cudalint::verdict::SiteVerdict;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// If not thorough, each fixture is rewritten in one of so many ways.
const ONE_OF: usize = 3;

type Rewrite = (&'static str, fn(&str) -> String);

const REWRITES: [Rewrite; 25] = [
    ("commented", rewrite::commented),
    ("line_commented", rewrite::line_commented),
    ("a_token_a_line", rewrite::a_token_a_line),
    ("spliced", rewrite::spliced),
    ("dense", rewrite::dense),
    ("crlf", rewrite::crlf),
    ("with_bom", rewrite::with_bom),
    ("untidy", rewrite::untidy),
    ("in_conditions", rewrite::in_conditions),
    ("numbers_in_macros", rewrite::numbers_in_macros),
    ("numbers_in_constants", rewrite::numbers_in_constants),
    ("numbers_in_enumerators", rewrite::numbers_in_enumerators),
    ("in_parentheses", rewrite::in_parentheses),
    ("in_braces", restructure::in_braces),
    ("in_a_true_branch", restructure::in_a_true_branch),
    ("in_a_loop_of_one_round", restructure::in_a_loop_of_one_round),
    ("in_a_counted_loop_of_one_round", restructure::in_a_counted_loop_of_one_round),
    ("in_a_lambda", restructure::in_a_lambda),
    ("beside_idle_code", restructure::beside_idle_code),
    ("outlined", restructure::outlined),
    ("reordered", restructure::reordered),
    ("in_a_namespace", restructure::in_a_namespace),
    ("among_others", restructure::among_others),
    ("dense_and_commented", |text| rewrite::commented(&rewrite::dense(text))),
    ("crlf_and_spliced", |text| rewrite::crlf(&rewrite::spliced(text))),
];

/// A text to rewrite, and the files beside it.
struct Subject {
    path: PathBuf,
    text: String,
    /// Other files of the run.
    files: Vec<PathBuf>,
    /// Files that are not on the disk as they are here.
    headers: BTreeMap<PathBuf, String>,
}

impl Subject {
    fn alone(path: &str, text: String) -> Subject {
        Subject { path: PathBuf::from(path), text, files: Vec::new(), headers: BTreeMap::new() }
    }

    fn read(path: &Path) -> Option<Subject> {
        let text = String::from_utf8(fs::read(path).ok()?).ok()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let listed = text.lines().filter_map(|line| line.trim().strip_prefix("//@ files:"));
        let files = listed.flat_map(str::split_whitespace).map(|file| folder.join(file)).collect();
        Some(Subject { path: path.to_path_buf(), text, files, headers: BTreeMap::new() })
    }

    /// What is found in the text, in an order that does not depend on places in it.
    fn verdicts(&self, text: &str) -> Vec<String> {
        let paths: Vec<PathBuf> = [&self.path].into_iter().chain(&self.files).cloned().collect();
        let disk = Overlay(self.headers.clone());
        let bytes: Vec<Vec<u8>> = paths
            .iter()
            .map(|path| if *path == self.path { text.as_bytes().to_vec() } else { disk.read(path).unwrap() })
            .collect();
        let run = Run::new(Options::default(), &paths, Box::new(disk));
        let reports =
            run.analyze_all(paths.iter().map(PathBuf::as_path).zip(bytes).collect(), Wanted::Verdicts);
        let mut told: Vec<String> = reports.iter().flat_map(|report| &report.verdicts).map(key).collect();
        told.sort();
        told
    }
}

struct Overlay(BTreeMap<PathBuf, String>);

impl Files for Overlay {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.get(path).map(|text| text.clone().into_bytes()).or_else(|| fs::read(path).ok())
    }
}

/// What must not change of a verdict.
fn key(verdict: &SiteVerdict) -> String {
    let kernel = verdict.kernel.split('<').next().unwrap_or("").rsplit("::").next().unwrap_or("");
    let kernel = kernel.trim_start_matches("lambda in ");
    let rows = verdict.table.as_ref().map(|table| &table.rows);
    format!(
        "{kernel} {} {:?} {:?} {:?} {:?} {:?} {:?} requests {:?} wavefronts {:?} ideal {:?} usual {:?} worst {:?}/{:?} {rows:?}",
        verdict.array,
        verdict.op,
        verdict.bytes,
        verdict.block,
        verdict.block_from,
        verdict.status,
        verdict.kind,
        verdict.requests,
        verdict.wavefronts,
        verdict.ideal,
        verdict.usual,
        verdict.worst,
        verdict.worst_ideal,
    )
}

/// The fixtures with a kernel that is judged.
fn subjects() -> Vec<Subject> {
    let mut folders = vec![PathBuf::from("fixtures")];
    folders.extend(std::env::var_os("CUDALINT_CORPUS").map(PathBuf::from));
    let files = folders.iter().flat_map(|folder| walkdir::WalkDir::new(folder).sort_by_file_name());
    files
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "cu"))
        .filter_map(|entry| Subject::read(entry.path()))
        .filter(|subject| subject.text.contains("__shared__"))
        .collect()
}

fn difference(before: &[String], after: &[String]) -> String {
    let gone = before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}\n"));
    let new = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}\n"));
    let lines: Vec<String> = gone.chain(new).collect();
    if lines.is_empty() { "the same, another number of times\n".to_owned() } else { lines.concat() }
}

/// Asks that each way of writing a subject anew, by name, keeps its verdicts.
fn assert_kept(
    subjects: &[Subject],
    ways: impl Fn(&Subject, &[String]) -> Vec<(String, Vec<String>, Vec<String>)> + Sync,
) {
    let wrong: Vec<String> = subjects
        .par_iter()
        .flat_map_iter(|subject| {
            let before = subject.verdicts(&subject.text);
            let changed = ways(subject, &before).into_iter().filter(|(_, wanted, after)| wanted != after);
            let name = subject.path.display().to_string();
            changed
                .map(move |(way, wanted, after)| format!("{name} {way}:\n{}", difference(&wanted, &after)))
                .collect::<Vec<_>>()
        })
        .collect();
    // What is known to be read differently is listed; the list only shrinks.
    let known = fs::read_to_string("fixtures/rewritten-differently.txt").unwrap();
    let known: Vec<&str> = known.lines().filter(|line| !line.starts_with('#')).collect();
    let headline = |text: &String| text.lines().next().unwrap_or("").trim_end_matches(':').to_owned();
    let wrong: Vec<String> = wrong.into_iter().filter(|it| !known.contains(&&*headline(it))).collect();
    let listing: String = wrong.iter().take(200).map(|it| format!("{it}\n")).collect();
    assert!(wrong.is_empty(), "{} rewritten texts have other verdicts:\n{listing}", wrong.len());
}

fn rewrites() -> Vec<Rewrite> {
    let only = std::env::var("CUDALINT_REWRITE").ok();
    REWRITES.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)).collect()
}

#[test]
fn fixtures_written_otherwise_have_the_same_verdicts() {
    let subjects = subjects();
    assert!(subjects.len() > 100, "there are fixtures");
    assert_kept(&subjects, |subject, before| {
        let rewrites = rewrites().into_iter().enumerate();
        let taken = rewrites.filter(|(rank, _)| is_sampled(&subject.path, *rank, ONE_OF));
        let rewrites = taken.map(|(_, (name, rewrite))| {
            let mut after = subject.verdicts(&rewrite(&subject.text));
            after.retain(|line| !line.contains(" other "));
            let mut wanted = before.to_vec();
            if name == "in_a_lambda" {
                // Whether a `return` of a lambda is a guard of the whole is not known: the same, on that
                // assumption.
                for lines in [&mut wanted, &mut after] {
                    lines.iter_mut().for_each(|line| *line = line.replace(" Exact ", " Assumed "));
                    lines.sort();
                }
            }
            (name.to_owned(), wanted, after)
        });
        rewrites.collect()
    });
}

#[test]
fn fixtures_with_other_names_have_the_same_verdicts() {
    let mut random = Random(number("CUDALINT_SEED", 1));
    let seeds: BTreeMap<PathBuf, u64> =
        subjects().iter().map(|subject| (subject.path.clone(), random.next())).collect();
    assert_kept(&subjects(), |subject, before| {
        let beside: String = subject.files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        let names = rewrite::new_names(&subject.text, &beside, &mut Random(seeds[&subject.path]));
        let rename = |line: &String| {
            let mut words: Vec<&str> = line.split(' ').collect();
            // The kernel, and behind it the array, which may be a member: `s.a`.
            let array: Vec<&str> =
                words[1].split('.').map(|part| names.get(part).map_or(part, String::as_str)).collect();
            let array = array.join(".");
            words[1] = &array;
            words.join(" ")
        };
        let mut wanted: Vec<String> = before.iter().map(rename).collect();
        wanted.sort();
        vec![("renamed".to_owned(), wanted, subject.verdicts(&rewrite::renamed(&subject.text, &names)))]
    });
}

#[test]
fn fixtures_in_a_header_have_the_same_verdicts() {
    assert_kept(&subjects(), |subject, before| {
        let header = subject.path.with_file_name("moved_here.cuh");
        let mut given = subject.files.clone();
        given.push(header.clone());
        let moved = Subject {
            path: subject.path.clone(),
            text: String::new(),
            files: given,
            headers: [(header, subject.text.clone())].into(),
        };
        vec![("moved".to_owned(), before.to_vec(), moved.verdicts("#include \"moved_here.cuh\"\n"))]
    });
}

#[test]
fn random_kernels_in_every_style_have_the_same_verdict() {
    let cases = number("CUDALINT_CASES", 400) / 4;
    let (mut wrong, mut lost): (Vec<String>, u64) = (Vec::new(), 0);
    for case in random_cases(cases, 0x5eed) {
        let direct = decided(&verdicts(&case.text(Style::Direct)));
        for style in STYLES {
            let text = case.text(style);
            let found = decided(&verdicts(&text));
            if found.is_none() && direct.is_some() {
                // Not to know is no wrong verdict; it may not be more than one in 500.
                lost += 1;
            } else if found != direct {
                let direct_text = case.text(Style::Direct);
                wrong.push(format!("{style:?}: {direct:?} became {found:?}:\n{direct_text}\n{text}"));
            }
        }
    }
    println!("{cases} kernels in {} styles, {} wrong, {lost} lost", STYLES.len(), wrong.len());
    assert!(wrong.is_empty(), "{} are wrong; the first:\n{}", wrong.len(), wrong[0]);
    assert!(lost * 500 <= cases * STYLES.len() as u64, "{lost} are not decided in another style");
}

#[test]
fn random_kernels_written_otherwise_have_the_same_verdicts() {
    let cases = random_cases(number("CUDALINT_CASES", 400) / 16, 0x0dd);
    let subject = |case: &Case| Subject::alone("case.cu", case.text(Style::Direct));
    let subjects: Vec<Subject> = cases.iter().map(subject).collect();
    assert_kept(&subjects, |subject, before| {
        let mut kept: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
        for (name, rewrite) in rewrites() {
            let text = rewrite(&subject.text);
            let mut after = subject.verdicts(&text);
            after.retain(|line| !line.contains(" other "));
            kept.push((format!("{name}\n{text}"), before.to_vec(), after));
        }
        kept
    });
}

/// Several kernels of one file, in one order and in the other.
#[test]
fn the_order_of_kernels_does_not_matter() {
    let cases = random_cases(number("CUDALINT_CASES", 400) / 8, 0xc0de);
    let texts: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(at, case)| {
            let text = case.text(STYLES[at % STYLES.len()]).replace("#define BASE 17\n", "");
            let text = text.replace("#define AT(array, i) array[i]\n", "");
            text.replace("void k(", &format!("void k{at}("))
                .replace(" k<<<", &format!(" k{at}<<<"))
                .replace("void launch(", &format!("void launch{at}("))
                .replace(" index(", &format!(" index{at}("))
                .replace("[index(", &format!("[index{at}("))
                .replace("(index(", &format!("(index{at}("))
        })
        .collect();
    let macros = "#define BASE 17\n#define AT(array, i) array[i]\n";
    for few in texts.chunks(5) {
        let there: String = few.iter().map(String::as_str).collect();
        let back: String = few.iter().rev().map(String::as_str).collect();
        let alone: Vec<String> = few
            .iter()
            .flat_map(|text| Subject::alone("a.cu", String::new()).verdicts(&format!("{macros}{text}")))
            .collect();
        for text in [there, back] {
            let text = format!("{macros}{text}");
            let mut wanted = alone.clone();
            wanted.sort();
            let found = Subject::alone("a.cu", String::new()).verdicts(&text);
            assert_eq!(found, wanted, "{}\n{text}", difference(&wanted, &found));
        }
    }
}

/// The first cases that are defined and ask for something.
fn random_cases(count: u64, salt: u64) -> Vec<Case> {
    let mut random = Random(number("CUDALINT_SEED", 1) ^ salt);
    let mut cases = Vec::new();
    while (cases.len() as u64) < count {
        let case = Case::random(&mut random);
        if case.interpret().is_some_and(|(requests, _, _)| requests > 0) {
            cases.push(case);
        }
    }
    cases
}
