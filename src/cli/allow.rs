//! `--add-allow`: what are the files with the findings that are there allowed by comments?
//!
//! The comments stand where `suppress` hears them: the run is made again with them in memory, and files in which
//! a finding is still told, or a new one is, stay as they are.

use super::args::CheckArgs;
use super::disk::Overlay;
use super::driver::{Analyzed, Input};
use super::fix::read;
use super::found::{Found, Hiding, found};
use super::replace::{Named, Rewritten};
use super::terminal;
use crate::analysis::Wanted;
use crate::diagnostic::{Diagnostic, Edit};
use crate::fixes;
use crate::output;
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::suppress::{self, comment};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The reason of a comment for which the user gives none.
const NOT_REVIEWED: &str = "not reviewed yet";

/// Files with comments that a second run has heard.
#[derive(Default)]
pub(super) struct Allowed {
    files: Rewritten,
    /// How many findings they allow.
    findings: usize,
    /// Why findings were left out.
    withheld: Vec<String>,
    /// The second run; `None` when nothing is allowed.
    pub again: Option<(Analyzed, Found)>,
}

/// A comment: where it is put in, and the findings that it is about.
type Comments = BTreeMap<(FileId, usize), BTreeSet<&'static str>>;

/// Allows what can be. `None` when the reason does not fit or a second run could not be made, which is said on
/// stderr.
pub(super) fn allow(
    args: &CheckArgs,
    reason: &str,
    input: &Input,
    analyzed: &Analyzed,
    before: &Found,
    hiding: &Hiding,
) -> Option<Allowed> {
    let reason = if reason.trim().is_empty() { NOT_REVIEWED } else { reason };
    comment::check_reason(reason)
        .map_err(|why| terminal::say_error(&format!("`--add-allow`: {why}")))
        .ok()?;
    let sources = analyzed.run.sources();
    let named = Named::new(&args.analysis.paths);
    let mut allowed = Allowed::default();
    // For each finding, the files and places that it needs.
    let mut wanted: Vec<(&Diagnostic, BTreeSet<(FileId, usize)>)> = Vec::new();
    for finding in &before.findings {
        match places(sources, input, &named, finding) {
            Ok(places) => wanted.push((finding, places)),
            Err(why) => allowed.withhold(sources, finding, &why),
        }
    }
    loop {
        let mut comments = Comments::new();
        for (finding, places) in &wanted {
            for place in places {
                comments.entry(*place).or_default().insert(finding.rule);
            }
        }
        if comments.is_empty() {
            return Some(allowed);
        }
        let files = written(input, sources, &comments, reason);
        let overlay: Overlay =
            files.iter().map(|(path, (_, new))| (path.clone(), Some(new.clone()))).collect();
        let again = input.analyze(Wanted::Findings, &overlay, &[]);
        let after = found(args, input, &again, hiding)?;
        let unheard = unheard(sources, &wanted, before, again.run.sources(), &after, &files);
        let is_unheard = |file: &FileId| {
            let path = &sources.get(*file).path;
            unheard.contains(path) || !files.contains_key(path)
        };
        let count = wanted.len();
        wanted.retain(|(finding, places)| {
            let kept = !places.iter().any(|(file, _)| is_unheard(file));
            if !kept {
                allowed.withhold(sources, finding, "a second run did not confirm it");
            }
            kept
        });
        if wanted.len() == count {
            allowed.findings = count;
            allowed.files = files;
            allowed.again = Some((again, after));
            return Some(allowed);
        }
    }
}

/// The places of the comments that a finding needs, one for each of its lines; an error says why there are none.
fn places(
    sources: &Sources,
    input: &Input,
    named: &Named<'_>,
    finding: &Diagnostic,
) -> Result<BTreeSet<(FileId, usize)>, String> {
    if suppress::is_about_comments(finding.rule) {
        return Err("it is about a comment".to_owned());
    }
    let mut places = BTreeSet::new();
    for Span { file, start, .. } in finding.each().map(|part| part.primary) {
        let text = sources.get(file);
        if !input.is_given(&text.path) {
            return Err(format!("`{}` was not given", text.display_path()));
        }
        named.check(&text.path).map_err(|refusal| refusal.to_string())?;
        let place = comment::place_above(&text, start as usize);
        let line = text.line_column(start).0;
        let place = place.map_err(|why| format!("no comment can be put above line {line}: {why}"))?;
        places.insert((file, place));
    }
    Ok(places)
}

/// The files with these comments: old and new bytes.
fn written(input: &Input, sources: &Sources, comments: &Comments, reason: &str) -> Rewritten {
    let mut edits: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
    for ((id, place), rules) in comments {
        let file: &SourceFile = &sources.get(*id);
        let Ok(at) = u32::try_from(*place) else { continue };
        let rules: Vec<&str> = rules.iter().copied().collect();
        let text = comment::line(file, *place, &rules, reason);
        edits
            .entry(*id)
            .or_default()
            .push(Edit { span: Span { file: *id, start: at, end: at, nth: 0 }, text });
    }
    let changed = edits.iter().filter_map(|(id, edits)| {
        let file = sources.get(*id);
        let old = read(input, &file)?;
        let new = fixes::apply(&old, &edits.iter().collect::<Vec<_>>())?;
        Some((file.path.clone(), (old, new)))
    });
    changed.collect()
}

/// The files, of those with new comments, in which the second run tells of what it should not.
fn unheard(
    sources: &Sources,
    wanted: &[(&Diagnostic, BTreeSet<(FileId, usize)>)],
    before: &Found,
    sources_after: &Sources,
    after: &Found,
    files: &Rewritten,
) -> BTreeSet<PathBuf> {
    // How often each finding of a file may still be told: as often as before, less those that are allowed.
    let mut left: BTreeMap<(PathBuf, &str, String), usize> = BTreeMap::new();
    let key = |sources: &Sources, finding: &Diagnostic| {
        let file = sources.get(finding.primary.file);
        (file.path.clone(), finding.rule, file.slice(finding.primary).to_owned())
    };
    for finding in before.findings.iter().flat_map(Diagnostic::each) {
        *left.entry(key(sources, finding)).or_default() += 1;
    }
    for finding in wanted.iter().flat_map(|(finding, _)| finding.each()) {
        if let Some(count) = left.get_mut(&key(sources, finding)) {
            *count = count.saturating_sub(1);
        }
    }
    let mut unheard = BTreeSet::new();
    for finding in after.findings.iter().flat_map(Diagnostic::each) {
        let key = key(sources_after, finding);
        let path = key.0.clone();
        match left.get_mut(&key) {
            Some(count) if *count > 0 => *count -= 1,
            _ if files.contains_key(&path) => _ = unheard.insert(path),
            // It came through a change elsewhere.
            _ => unheard.extend(files.keys().cloned()),
        }
    }
    unheard
}

impl Allowed {
    fn withhold(&mut self, sources: &Sources, finding: &Diagnostic, why: &str) {
        let file = sources.get(finding.primary.file);
        let line = file.line_column(finding.primary.start).0;
        self.withheld.push(format!("{}:{line}: {}: {why}", file.display_path(), finding.rule));
    }

    /// Writes the files; says which could not be.
    pub(super) fn write(&self, args: &CheckArgs) -> bool {
        Named::new(&args.analysis.paths).write(&self.files)
    }

    /// `allowed 2 findings in 1 file`, and what was left out.
    pub(super) fn tell(&self) {
        for why in &self.withheld {
            terminal::say(&format!("not allowed: {why}"));
        }
        let findings = output::count(self.findings, "finding");
        terminal::say(&format!("allowed {findings} in {}", output::count(self.files.len(), "file")));
    }
}
