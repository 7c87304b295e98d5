//! `--fix` and `--diff`: what are the files with the findings repaired?
//!
//! Nothing is repaired on trust: the whole run is made again with the edits in memory, and they
//! stand only if the findings are gone and no new one has come, of a rule that is on or is about correctness.

use super::args::CheckArgs;
use super::disk::Overlay;
use super::driver::{Analyzed, Input};
use super::found::{Found, Hiding, found, judged};
use super::replace::{Named, Refusal, Rewritten};
use super::terminal;
use crate::diagnostic::{Diagnostic, Edit, Level};
use crate::fixes::{self, Repair};
use crate::output::{self, diff};
use crate::source::{FileId, SourceFile, Sources, Span};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Files with edits that were proved by a second run.
#[derive(Default)]
pub(super) struct Repaired {
    /// The files: old and new bytes.
    files: Rewritten,
    /// How many findings are repaired.
    pub findings: usize,
    /// How many stay, and cost less.
    pub eased: usize,
    /// Why fixes were left out.
    pub withheld: Vec<String>,
    /// The second run; `None` when nothing is repaired.
    pub again: Option<(Analyzed, Found)>,
}

/// The run whose findings are to be repaired.
struct First<'a> {
    args: &'a CheckArgs,
    input: &'a Input,
    analyzed: &'a Analyzed,
    found: &'a Found,
    /// What it found of all rules that can tell of an edit that it makes the program wrong.
    judged: Vec<Diagnostic>,
    hiding: &'a Hiding,
}

/// Repairs what can be. `None` when a second run could not be made.
pub(super) fn repair(
    args: &CheckArgs,
    input: &Input,
    analyzed: &Analyzed,
    found: &Found,
    hiding: &Hiding,
) -> Option<Repaired> {
    let judged = judged(args, input, analyzed)?;
    let first = First { args, input, analyzed, found, judged, hiding };
    let sources = analyzed.run.sources();
    let mut repaired = Repaired::default();
    let named = Named::new(&args.analysis.paths);
    let mut usable: Vec<Repair<'_>> = Vec::new();
    for repair in fixes::repairs(sources, &found.findings) {
        let elsewhere = repair.fix.edits.iter().map(|edit| sources.get(edit.span.file));
        let elsewhere = elsewhere.filter(|file| !input.is_given(&file.path)).map(|file| file.display_path());
        let mut refused = repair.fix.edits.iter().filter_map(|edit| {
            let path = sources.get(edit.span.file).path.clone();
            named.check(&path).err().map(|refusal| match refusal {
                Refusal::Link(_) => refusal.to_string(),
                _ => format!("cannot write `{}`: {refusal}", path.display()),
            })
        });
        let why = match (elsewhere.last(), refused.next(), &repair.doubt) {
            (Some(file), ..) => Some(format!("`{file}` was not given")),
            (None, Some(why), _) => Some(why),
            (None, None, Some(doubt)) if !args.unsafe_fixes => {
                Some(format!("{doubt}; --unsafe-fixes tries it"))
            }
            _ => None,
        };
        match why {
            Some(why) => {
                repaired.withheld.push(format!("{}: {}: {why}", place(sources, &repair), repair.fix.title))
            }
            None => usable.push(repair),
        }
    }
    let mut kept: Vec<&Repair<'_>> = Vec::new();
    repaired.add(&first, &usable.iter().collect::<Vec<_>>(), &mut kept)?;
    for repair in &usable {
        if !kept.iter().any(|it| std::ptr::eq(*it, repair)) {
            let why = "a second run did not confirm it";
            repaired.withheld.push(format!("{}: {}: {why}", place(sources, repair), repair.fix.title));
        }
    }
    let count = |leaves: bool| {
        let of_kind = kept.iter().filter(|repair| repair.fix.leaves == leaves);
        of_kind.map(|repair| repair.findings.len()).sum()
    };
    (repaired.findings, repaired.eased) = (count(false), count(true));
    Some(repaired)
}

/// Whether a second run confirms one repair of what was found.
pub(super) fn is_confirmed(
    args: &CheckArgs,
    input: &Input,
    analyzed: &Analyzed,
    found: &Found,
    hiding: &Hiding,
    repair: &Repair<'_>,
) -> bool {
    let Some(judged) = judged(args, input, analyzed) else { return false };
    let first = First { args, input, analyzed, found, judged, hiding };
    matches!(Repaired::default().attempt(&first, &[repair]), Some(Outcome::Confirmed))
}

fn place(sources: &Sources, repair: &Repair<'_>) -> String {
    repair.fix.edits.first().map_or_else(String::new, |edit| {
        let file = sources.get(edit.span.file);
        format!("{}:{}", file.display_path(), file.line_column(edit.span.start).0)
    })
}

/// What a second run says of some repairs.
enum Outcome {
    Confirmed,
    /// The files of what speaks against them, as far as that is known.
    Refused(BTreeSet<PathBuf>),
}

impl Repaired {
    /// Keeps the repairs that a second run confirms together with those already kept. It tries all of them at once; if
    /// they are refused, first those in files that nothing speaks against, then one half of the others after the other.
    /// If few of many are refused, few runs suffice.
    fn add<'r>(
        &mut self,
        first: &First<'_>,
        repairs: &[&'r Repair<'r>],
        kept: &mut Vec<&'r Repair<'r>>,
    ) -> Option<()> {
        if repairs.is_empty() {
            return Some(());
        }
        let before = kept.len();
        kept.extend(repairs);
        let Outcome::Refused(blamed) = self.attempt(first, kept)? else { return Some(()) };
        kept.truncate(before);
        if repairs.len() == 1 {
            return Some(());
        }
        let sources = first.analyzed.run.sources();
        let is_blamed = |repair: &Repair<'_>| {
            repair.fix.edits.iter().any(|edit| blamed.contains(&sources.get(edit.span.file).path))
        };
        let (suspect, innocent): (Vec<_>, Vec<_>) = repairs.iter().copied().partition(|it| is_blamed(it));
        let (one, other) = match suspect.is_empty() || innocent.is_empty() {
            true => repairs.split_at(repairs.len() / 2),
            false => (innocent.as_slice(), suspect.as_slice()),
        };
        self.add(first, one, kept)?;
        self.add(first, other, kept)
    }

    /// Makes the run again with these repairs.
    fn attempt(&mut self, first: &First<'_>, repairs: &[&Repair<'_>]) -> Option<Outcome> {
        let First { args, input, analyzed, found: before, judged: judged_before, hiding } = first;
        let sources = analyzed.run.sources();
        let mut edits: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
        for edit in repairs.iter().flat_map(|repair| &repair.fix.edits) {
            edits.entry(edit.span.file).or_default().push(edit);
        }
        let mut files = BTreeMap::new();
        for (file, edits) in edits {
            let file = sources.get(file);
            let read = read(input, &file).and_then(|old| Some((fixes::apply(&old, &edits)?, old)));
            let Some((new, old)) = read else {
                return Some(Outcome::Refused(BTreeSet::from([file.path.clone()])));
            };
            files.insert(file.path.clone(), (old, new));
        }
        let changes: Vec<&Edit> = repairs.iter().flat_map(|repair| &repair.fix.edits).collect();
        let edited = files.iter().map(|(path, (_, new)): (&PathBuf, &(_, Vec<u8>))| (path, new));
        let overlay: Overlay = edited.map(|(path, new)| (path.clone(), Some(new.clone()))).collect();
        let again = input.analyze(first.args.wanted(), &overlay, &[]);
        let in_doubt = barriers_in_doubt(sources, &again, &changes);
        if !in_doubt.is_empty() {
            return Some(Outcome::Refused(in_doubt));
        }
        let after = found(args, input, &again, hiding)?;
        let judged_after = judged(args, input, &again)?;
        let mut left: FxHashMap<Key, usize> = FxHashMap::default();
        for finding in judged_before {
            *left.entry(key(sources, finding, &changes)).or_default() += 1;
        }
        // Of a cause, all lines are repaired.
        let of = |leaves: bool| {
            let of_kind = repairs.iter().filter(move |repair| repair.fix.leaves == leaves);
            let findings = of_kind.flat_map(|repair| &repair.findings).map(|at| &before.findings[*at]);
            findings.flat_map(Diagnostic::each)
        };
        // What the conflicts of an array cost, before and after, where they are made fewer.
        let mut eased: FxHashMap<Array, (u64, u64)> =
            of(true).filter_map(|finding| Some((array(sources, finding)?, (0, 0)))).collect();
        for finding in judged_before {
            if let Some((now, _)) = array(sources, finding).and_then(|array| eased.get_mut(&array)) {
                *now += extra(finding);
            }
        }
        let mut blamed = BTreeSet::new();
        for finding in of(false) {
            match left.get_mut(&key(sources, finding, &changes)) {
                Some(count) => *count = count.saturating_sub(1),
                None => _ = blamed.insert(sources.get(finding.primary.file).path.clone()),
            }
        }
        // A race that a worse one in its kernel has hidden.
        let was_hidden = |finding: &Diagnostic| {
            let hides = |worse: &Diagnostic| {
                worse.kernel == finding.kernel && worse.hazard.is_some() && worse.level > finding.level
            };
            finding.hazard.is_some() && finding.level == Level::Note && of(false).any(hides)
        };
        let of_after = again.run.sources();
        for finding in &judged_after {
            // They may be in other lines now.
            if let Some((_, then)) = array(of_after, finding).and_then(|array| eased.get_mut(&array)) {
                *then += extra(finding);
                continue;
            }
            let count = left.get_mut(&key(of_after, finding, &[]));
            let known = count.is_some_and(|count| {
                let known = *count > 0;
                *count = count.saturating_sub(1);
                known
            });
            if !known && !was_hidden(finding) {
                blamed.insert(of_after.get(finding.primary.file).path.clone());
            }
        }
        if !blamed.is_empty() || !eased.values().all(|(now, then)| then < now) {
            return Some(Outcome::Refused(blamed));
        }
        self.files = files;
        self.again = Some((again, after));
        Some(Outcome::Confirmed)
    }

    /// The changes as a unified diff.
    pub(super) fn diff(&self) -> Vec<u8> {
        self.files.iter().flat_map(|(path, (old, new))| diff::render(path, old, new)).collect()
    }

    /// Writes the files; says which could not be.
    pub(super) fn write(&self, args: &CheckArgs) -> bool {
        Named::new(&args.analysis.paths).write(&self.files)
    }

    /// `fixed 2 findings, eased 1 in 1 file`, with other words for `fixed` and `eased`, and what was left out.
    pub(super) fn tell(&self, [fixed, eased]: [&str; 2]) {
        for why in &self.withheld {
            terminal::say(&format!("not fixed: {why}"));
        }
        let findings = output::count(self.findings, "finding");
        let eased = if self.eased > 0 { format!(", {eased} {}", self.eased) } else { String::new() };
        terminal::say(&format!("{fixed} {findings}{eased} in {}", output::count(self.files.len(), "file")));
    }
}

/// The bytes of a file, if they are what was analysed.
pub(super) fn read(input: &Input, file: &SourceFile) -> Option<Vec<u8>> {
    let bytes = input.bytes(&file.path)?;
    let now = SourceFile::new(file.id, file.path.clone(), bytes.clone());
    (now.text == file.text).then_some(bytes)
}

/// What makes two arrays of different runs the same: the file, the kernel and the array's name. Of a template, the
/// finding is of the instance with the most conflicts, which may be another in each run.
type Array = (String, String, String);

/// The array whose conflicts a finding is about.
fn array(sources: &Sources, finding: &Diagnostic) -> Option<Array> {
    let conflict = finding.conflict.as_ref()?;
    let file = sources.get(finding.primary.file).display_path();
    let kernel = finding.kernel.split_once('<').map_or(finding.kernel.as_str(), |(name, _)| name);
    Some((file, kernel.to_owned(), conflict.array.clone()))
}

/// The wavefronts that a conflict costs a block.
fn extra(finding: &Diagnostic) -> u64 {
    finding.cost().map_or(0, |cost| cost.extra)
}

/// The files in which an edit puts a barrier where, for all that the second run knows, not all threads of some kernel
/// come. No finding is made of that: the data may have it that they do, but nobody has said so.
fn barriers_in_doubt(before: &Sources, again: &Analyzed, changes: &[&Edit]) -> BTreeSet<PathBuf> {
    let is_new = |barrier: Span, path: &PathBuf| {
        let mut own: Vec<&&Edit> =
            changes.iter().filter(|edit| before.get(edit.span.file).path == *path).collect();
        own.sort_by_key(|edit| edit.span);
        let mut moved = 0i64;
        own.into_iter().any(|edit| {
            let start = i64::from(edit.span.start) + moved;
            let length = edit.text.len() as i64;
            moved += length - i64::from(edit.span.end - edit.span.start);
            (start..start + length).contains(&i64::from(barrier.start))
        })
    };
    let in_doubt = again.reports.iter().flat_map(|report| &report.in_doubt);
    let of_files = in_doubt.map(|barrier| (*barrier, again.run.sources().get(barrier.file).path.clone()));
    of_files.filter(|(barrier, path)| is_new(*barrier, path)).map(|(_, path)| path).collect()
}

/// What makes two findings of different runs the same.
type Key = (&'static str, String, String, String);

/// `changes`: what will have changed in the other run.
fn key(sources: &Sources, finding: &Diagnostic, changes: &[&Edit]) -> Key {
    let file = sources.get(finding.primary.file);
    let at = finding.primary;
    let inside =
        |edit: &&&Edit| edit.span.file == at.file && at.start <= edit.span.start && edit.span.end <= at.end;
    let moved = |edit: &&Edit| {
        let span = Span { start: edit.span.start - at.start, end: edit.span.end - at.start, ..edit.span };
        Edit { span, text: edit.text.clone() }
    };
    let moved: Vec<Edit> = changes.iter().filter(inside).map(moved).collect();
    let old = file.slice(at);
    let new = fixes::apply(old.as_bytes(), &moved.iter().collect::<Vec<_>>());
    let words = new.map_or_else(|| old.to_owned(), |new| String::from_utf8_lossy(&new).into_owned());
    (finding.rule, file.display_path(), finding.kernel.clone(), words)
}
