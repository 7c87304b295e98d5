//! Is a fault that is told of one that happened on the host?
//!
//! A race that is told of has to be a race at the same two lines, an overrun an access that left its array,
//! and so on. That holds for any program, right or wrong.

use super::barriers::meetings;
use super::escapes::{escapes, wrong_subscripts};
use super::execution::{Launch, Step};
use super::races::{Between, Part, Race, races};
use super::unwritten::{made_of_unwritten, unwritten};
use crate::support::accesses::of_text;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

/// The rules whose findings the host can confirm.
pub const RULES: [&str; 5] =
    ["missing-atomic", "missing-barrier", "shared-out-of-bounds", "uninitialized-shared", "warp-synchronous"];

/// The same, and of what is wrong with barriers, masks and addresses.
pub const ALL_RULES: [&str; 9] = [
    "barrier-after-exit",
    "divergent-barrier",
    "divergent-warp-sync",
    "misaligned-vector-access",
    "missing-atomic",
    "missing-barrier",
    "shared-out-of-bounds",
    "uninitialized-shared",
    "warp-synchronous",
];

/// A finding, as far as it matters here.
#[derive(Debug, Deserialize)]
pub struct Finding {
    file: String,
    pub rule: String,
    pub line: u32,
    end_line: u32,
    pub column: u32,
    pub kernel: String,
    pub message: String,
    notes: Vec<String>,
    labels: Vec<Label>,
}

#[derive(Debug, Deserialize)]
struct Label {
    file: String,
    line: u32,
    end_line: u32,
    text: String,
}

/// What is told of a file by these rules.
pub fn findings(path: &Path, rules: &[&str]) -> Vec<Finding> {
    let output = check(rules).arg(path).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.lines().map(parsed).collect()
}

/// A finding of one line of output. Two rules report a barrier that some threads do not reach; for the host they are
/// one.
fn parsed(line: &str) -> Finding {
    let mut finding: Finding = serde_json::from_str(line).unwrap();
    if finding.rule == "barrier-after-exit" {
        finding.rule = "divergent-barrier".to_owned();
    }
    finding
}

/// The same of a text that a file may hold, among the files of a folder.
pub fn findings_of_text(path: &Path, text: &str, folder: &Path, rules: &[&str]) -> Vec<Finding> {
    let stdout = of_text(check(rules), path, text, folder);
    let findings = stdout.lines().map(parsed);
    // A function that the kernel calls may stand in a header.
    let is_of_file = |it: &Finding| {
        let mut files = it.labels.iter().map(|label| &label.file).chain([&it.file]);
        files.any(|file| Path::new(file) == path)
    };
    findings.filter(is_of_file).collect()
}

fn check(rules: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.args(["--format", "json", "--quiet", "-A", "all"]);
    command.args(rules.iter().flat_map(|rule| ["-N", rule]));
    command
}

/// What is said of the races of a kernel.
#[derive(Debug, Deserialize)]
struct Standing {
    kernel: String,
    block: [u32; 3],
    races: String,
}

/// The kernels of a file that are proved free of races, with their blocks.
pub fn proved(path: &Path) -> BTreeSet<(String, [u32; 3])> {
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .args(["accesses", "--races", "--format", "json", "--quiet"])
        .arg(path)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let standings: Vec<Standing> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |proved: bool| {
        let alike = standings.iter().filter(move |it| (it.races == "proved") == proved);
        alike.map(|it| (base(&it.kernel).to_owned(), it.block)).collect::<BTreeSet<_>>()
    };
    // Of several instances all have to be.
    &of(true) - &of(false)
}

/// The launches of kernels that are proved free of races and race all the same, a line each.
pub fn refuted(proved: &BTreeSet<(String, [u32; 3])>, launches: &[Launch]) -> Vec<String> {
    let is_proved = |launch: &&Launch| proved.contains(&(base(&launch.kernel).to_owned(), launch.block));
    let race = |launch: &Launch| {
        let race = races(launch).into_iter().find(reads)?;
        let (between, lines) = (race.between, lines(launch, &race));
        Some(format!("{lines:?}: `{}` is proved free of races, but {between:?} race", launch.kernel))
    };
    launches.iter().filter(is_proved).filter_map(race).collect()
}

/// Whether it is not of two stores: on the host it is not seen whether they write one value.
fn reads(race: &Race) -> bool {
    let plain = |part: &Part| part.stores && !part.is_atomic;
    !(plain(&race.first) && plain(&race.second))
}

/// The name of a kernel without its namespaces and template arguments.
pub fn base(kernel: &str) -> &str {
    let name = kernel.split('<').next().unwrap_or(kernel);
    name.rsplit("::").next().unwrap_or(name)
}

/// The lines of the two accesses, the lesser first.
fn lines(launch: &Launch, race: &Race) -> (u32, u32) {
    let line = |site| launch.place(site).line;
    let (one, other) = (line(race.first.site), line(race.second.site));
    (one.min(other), one.max(other))
}

impl Finding {
    /// Whether it is said of a launch: of the kernel, and of the block that it names.
    pub fn is_of(&self, launch: &Launch) -> bool {
        let [x, y, z] = launch.block;
        let block = format!("block is ({x}, {y}, {z})");
        let names_another = self.notes.iter().any(|note| note.starts_with("block is ("));
        let names_this = self.notes.iter().any(|note| note.starts_with(&block));
        base(&self.kernel) == base(&launch.kernel) && (names_this || !names_another)
    }

    /// Whether it tells of the element after the last of a row. To copy an object of a class binds a reference to it
    /// first, and the sanitizer allows a reference to the element after the last.
    fn is_one_past_a_row(&self) -> bool {
        let told = self.message.split_once("with the subscript ").and_then(|(_, told)| {
            let (subscript, dimension) = told.split_once(" in its ")?;
            let (_, elements) = dimension.split_once("which has ")?;
            Some((subscript, elements.split(' ').next()?))
        });
        told.is_some_and(|(subscript, elements)| subscript == elements)
    }

    /// Whether the array that it tells of is sized where it is declared.
    pub fn is_of_sized_array(&self) -> bool {
        self.labels.iter().any(|label| label.text.ends_with("counted from 0"))
    }

    /// Whether it tells of this. An access that is written on several lines happens on one of them on the host.
    pub fn tells_of(&self, (rule, (lesser, greater)): &Happened) -> bool {
        let (here, there) = self.places();
        let both = |one: u32, other: u32| here.contains(&one) && there.contains(&other);
        *rule == self.rule && (both(*lesser, *greater) || both(*greater, *lesser))
    }

    /// The lines of the two accesses that race, or twice those of what it tells of.
    fn places(&self) -> (RangeInclusive<u32>, RangeInclusive<u32>) {
        if !matches!(&*self.rule, "missing-barrier" | "warp-synchronous") {
            return (self.line..=self.line, self.line..=self.line);
        }
        let here = self.line..=self.end_line;
        let label = self.labels.iter().find(|label| label.text.ends_with("it here"));
        (here.clone(), label.map_or(here, |label| label.line..=label.end_line))
    }

    /// The first lines of these, the lesser first.
    fn lines(&self) -> (u32, u32) {
        let (here, there) = self.places();
        let (here, there) = (*here.start(), *there.start());
        (here.min(there), here.max(there))
    }
}

/// A rule that has to tell of something, and the lines where that happened: of both accesses of a race.
pub type Happened = (&'static str, (u32, u32));

/// What happened that some rule has to tell of.
fn happened(launch: &Launch) -> BTreeSet<Happened> {
    let mut happened = BTreeSet::new();
    let at = |site| (launch.place(site).line, launch.place(site).line);
    for race in races(launch) {
        let rule = match race.between {
            Between::Warps => "missing-barrier",
            Between::Lanes => "warp-synchronous",
            Between::OneInstruction => continue,
        };
        let lines = lines(launch, &race);
        happened.insert((rule, lines));
        if lines.0 == lines.1 {
            happened.insert(("missing-atomic", lines));
        }
    }
    happened.extend(made_of_unwritten(launch).into_iter().map(|site| ("uninitialized-shared", at(site))));
    // C++ leaves it undefined, and the access may still be within the array.
    happened.extend(wrong_subscripts(launch).iter().map(|it| ("shared-out-of-bounds", at(it.site))));
    happened.extend(faults(launch));
    happened
}

/// The faults of a launch, each with the rule that has to tell of it and with its lines. Of races those between
/// warps, of which one reads, and those in which a lane reads what another wrote before.
pub fn faults(launch: &Launch) -> BTreeSet<Happened> {
    let mut found = BTreeSet::new();
    let at = |site| (launch.place(site).line, launch.place(site).line);
    for race in races(launch) {
        let rule = match race.between {
            Between::Warps if reads(&race) => "missing-barrier",
            Between::Lanes if race.first.stores && !race.second.stores => "warp-synchronous",
            _ => continue,
        };
        found.insert((rule, lines(launch, &race)));
    }
    found.extend(escapes(launch).iter().map(|it| ("shared-out-of-bounds", at(it.site))));
    let unwritten = unwritten(launch).into_iter().filter(|it| !it.is_race);
    found.extend(unwritten.map(|it| ("uninitialized-shared", at(it.site))));
    for meeting in meetings(launch) {
        let places: BTreeSet<_> = meeting.arrived.keys().map(|site| launch.place(*site)).collect();
        if places.len() > 1 || !meeting.ended.is_empty() {
            found.extend(meeting.arrived.keys().map(|site| ("divergent-barrier", at(*site))));
        }
    }
    found.extend(launch.warps.iter().flatten().filter_map(|step| match step {
        Step::WarpSync(it) | Step::WarpOp(it)
            if !(it.is_complete && it.are_named && it.are_all && it.reads_some) =>
        {
            Some(("divergent-warp-sync", at(it.site)))
        }
        Step::Misaligned { site } => Some(("misaligned-vector-access", at(*site))),
        _ => None,
    }));
    found
}

/// The findings on these launches that are of nothing that happened, a line each.
pub fn unconfirmed(told: &[Finding], launches: &[Launch]) -> Vec<String> {
    let mut confirmed: BTreeSet<(&str, Happened)> = BTreeSet::new();
    for launch in launches {
        confirmed.extend(happened(launch).into_iter().map(|it| (base(&launch.kernel), it)));
    }
    let is_confirmed = |it: &&Finding| {
        confirmed.iter().any(|(kernel, happened)| base(&it.kernel) == *kernel && it.tells_of(happened))
    };
    let words = |it: &Finding| format!("{:?}: {}: `{}`: {}", it.lines(), it.rule, it.kernel, it.message);
    // What other data would lead to, or another block of the grid, does not happen here.
    let is_possible = |it: &Finding| {
        [": possible: ", "in an edge block", "where the bound falls"]
            .iter()
            .any(|words| it.message.contains(words))
    };
    // What a kernel does that was stopped is not known.
    let ran = |it: &Finding| {
        let mut its = launches.iter().filter(|launch| it.is_of(launch)).peekable();
        its.peek().is_some() && its.all(|launch| !launch.given_up)
    };
    let is_certain = |it: &&Finding| !is_possible(it) && !it.is_one_past_a_row() && ran(it);
    told.iter().filter(is_certain).filter(|it| !is_confirmed(it)).map(words).collect()
}
