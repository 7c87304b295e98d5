//! `cudalint lsp`: what does an editor get of what `check`, `--fix` and `explain` find?
//!
//! Each text that the editor shows is analysed as `check` would do it, by the same driver, and what is found
//! is that of `check`. Only pieces of earlier runs are taken over that still hold.

use super::args::{CheckArgs, LspArgs};
use super::blocks::warn_of_unknown_kernels;
use super::disk::Overlay;
use super::driver::{Analyzed, Input, Watch};
use super::found::{Found, Hiding, found};
use super::terminal::{self, Heard};
use super::{Outcome, fix, includes, run};
use crate::analysis::{Kept, Place, Wanted};
use crate::explanation::Explanation;
use crate::fixes;
use crate::headers::normalise;
use crate::lsp::{self, Analyst, Buffer, Checked, Offer, Refused, World};
use crate::source::{FileId, Sources};
use crate::walk;
use lsp_server::Connection;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Serves an editor over stdin and stdout.
pub(super) fn lsp(args: &LspArgs) -> Outcome {
    let (connection, threads) = Connection::stdio();
    let served = lsp::serve(&connection, args.inlay_hints, || Session::new(args));
    // The thread that writes ends when nobody can have anything more to write.
    drop(connection);
    let joined = threads.join();
    if let Err(error) = &served {
        terminal::say_error(error);
    } else if let Err(error) = &joined {
        terminal::say_error(error);
    }
    if served.is_ok() && joined.is_ok() { Outcome::Clean } else { Outcome::Failed }
}

/// What is known of what an editor shows.
struct Session {
    args: LspArgs,
    /// Where the program runs, and what the editor calls that folder.
    home: Home,
    groups: Vec<Group>,
}

/// The working folder. Names in messages are relative to it, as on a command line.
#[derive(Default)]
struct Home {
    here: PathBuf,
    editor: PathBuf,
}

/// Files that are analysed together.
struct Group {
    /// The one file, if it is in none of the open folders.
    alone: Option<PathBuf>,
    kept: Kept,
    state: Option<State>,
    /// Earlier runs, which only take room.
    past: Vec<State>,
}

/// The last run of a group.
struct State {
    args: CheckArgs,
    hiding: Hiding,
    input: Input,
    analyzed: Analyzed,
    found: Found,
}

impl Session {
    fn new(args: &LspArgs) -> Session {
        Session { args: args.clone(), home: Home::default(), groups: Vec::new() }
    }

    /// Goes to the first of the open folders, and makes a group for all of them and for each file beside them.
    fn arrange(&mut self, world: &World) {
        let first = world.folders.first().cloned().unwrap_or_default();
        if first != self.home.editor || self.home.here == PathBuf::new() {
            // Where there is no such folder, names are longer than they need to be.
            let _ = std::env::set_current_dir(&first);
            self.home = Home { here: std::env::current_dir().unwrap_or_default(), editor: first };
            self.groups.clear();
        }
        let is_inside = |buffer: &&Buffer| world.folders.iter().any(|it| buffer.path.starts_with(it));
        let alone = world.buffers.iter().filter(|it| !is_inside(it) && is_cuda(it));
        let folders = (!world.folders.is_empty()).then_some(None);
        let wanted: Vec<Option<PathBuf>> =
            folders.into_iter().chain(alone.map(|buffer| Some(buffer.path.clone()))).collect();
        self.groups.retain(|group| wanted.contains(&group.alone));
        for alone in wanted {
            if !self.groups.iter().any(|group| group.alone == alone) {
                self.groups.push(Group { alone, kept: Kept::nothing_yet(), state: None, past: Vec::new() });
            }
        }
    }
}

impl Home {
    /// The path of a file that the editor names.
    fn ours(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.editor) {
            Ok(below) if self.editor != PathBuf::new() => self.here.join(below),
            _ => path.to_path_buf(),
        }
    }

    /// The path as the editor names the file.
    fn editors(&self, path: &Path) -> PathBuf {
        let path = normalise(&self.here.join(path));
        match path.strip_prefix(&self.here) {
            Ok(below) if self.editor != PathBuf::new() => self.editor.join(below),
            _ => path,
        }
    }
}

/// Whether a file that is in no open folder is to be looked at.
fn is_cuda(buffer: &Buffer) -> bool {
    let found = walk::as_found(&buffer.path);
    buffer.is_cuda || found.is_some_and(|it| walk::is_wanted(&it, buffer.text.as_bytes()))
}

impl Group {
    /// Analyses the files with what the buffers hold. `None` when that was cancelled.
    fn check(
        &mut self,
        args: &CheckArgs,
        home: &Home,
        buffers: &Overlay,
        watch: lsp::Watch<'_>,
    ) -> Option<Checked> {
        let watch = Watch { cancelled: watch.cancelled, step: watch.step };
        // Nothing is asked of the last run any more, but to clear it away takes time.
        self.past.extend(self.state.take());
        let (ran, heard) = terminal::overheard(|| {
            let args = run::completed(args, buffers)?;
            let hiding = Hiding::read(&args)?;
            let input = Input::with_buffers(&args.analysis, buffers.clone())?;
            input.go_on_from(std::mem::take(&mut self.kept));
            let analyzed = input.analyze_watched(Wanted::Editor, &Overlay::default(), &[], watch);
            Some((args, hiding, input, analyzed))
        });
        let Some((args, hiding, input, mut analyzed)) = ran else {
            return Some(said(vec![heard], home));
        };
        let finished = !(watch.cancelled)();
        self.kept = analyzed.run.keep(finished);
        if !finished {
            return None;
        }
        input.go_on_from(self.kept.clone());
        let (found, more) = terminal::overheard(|| {
            analyzed.complaints.iter().for_each(terminal::say);
            warn_of_unknown_kernels(&input, &analyzed.kernels, analyzed.run.sources());
            includes::tell_of_not_found(&includes::not_found(&input, &analyzed));
            found(&args, &input, &analyzed, &hiding)
        });
        let said = said(vec![heard, more], home);
        let Some(found) = found else { return Some(said) };
        let sources = analyzed.run.sources().snapshot();
        let paths = paths(&sources, home);
        let kernels = analyzed.reports.iter().flat_map(|report| report.kernels.iter().cloned()).collect();
        let findings = found.findings.clone();
        self.state = Some(State { args, hiding, input, analyzed, found });
        Some(Checked { sources, paths, findings, kernels, ..said })
    }
}

/// What was said, with nothing found.
fn said(heard: Vec<Heard>, home: &Home) -> Checked {
    let mut checked = Checked::default();
    for Heard { messages, refused } in heard {
        checked.messages.extend(messages);
        checked.refused.extend(refused.into_iter().map(|error| Refused {
            words: terminal::lines_of(&error),
            path: home.editors(Path::new(&error.file)),
            message: error.help.iter().fold(error.message, |all, help| format!("{all}\nhelp: {help}")),
            text: error.text,
            span: error.span,
        }));
    }
    checked
}

/// Where the editor knows each file.
fn paths(sources: &Sources, home: &Home) -> FxHashMap<FileId, PathBuf> {
    let all = sources.all();
    let met = all.iter().filter(|file| file.path != PathBuf::new());
    met.map(|file| (file.id, home.editors(&file.path))).collect()
}

impl Analyst for Session {
    fn check(&mut self, world: &World, watch: lsp::Watch<'_>) -> Option<Vec<Checked>> {
        self.arrange(world);
        let Session { args, home, groups } = self;
        let buffer = |it: &Buffer| (home.ours(&it.path), Some(it.text.as_bytes().to_vec()));
        // What is too large for a file is too large for a buffer.
        let read = world.buffers.iter().filter(|it| it.text.len() as u64 <= walk::MAX_BYTES);
        let buffers: Overlay = read.map(buffer).collect();
        let mut all = Vec::new();
        for group in groups {
            let args = match &group.alone {
                Some(path) => args.check(Vec::new(), Some(home.ours(path))),
                None => {
                    let others = world.folders.iter().skip(1).map(|folder| home.ours(folder));
                    args.check(std::iter::once(PathBuf::from(".")).chain(others).collect(), None)
                }
            };
            all.push(group.check(&args, home, &buffers, watch)?);
        }
        Some(all)
    }

    fn rest(&mut self) {
        self.groups.iter_mut().for_each(|group| group.past.clear());
    }

    fn explain(&mut self, file: &Path, line: usize, column: usize) -> Vec<Explanation> {
        let file = self.home.ours(file);
        let place = Place { home: self.home.here.clone(), file, line, column: Some(column) };
        let states = self.groups.iter().filter_map(|group| group.state.as_ref());
        states.flat_map(|state| state.input.explain(&state.analyzed, &place)).collect()
    }

    fn offers(&mut self, answer: usize, findings: &[usize]) -> Vec<Offer> {
        let Some(state) = self.groups.get(answer).and_then(|group| group.state.as_ref()) else {
            return Vec::new();
        };
        let State { args, hiding, input, analyzed, found } = state;
        let repairs = fixes::repairs(analyzed.run.sources(), &found.findings);
        let wanted = repairs.into_iter().filter(|it| it.findings.iter().any(|at| findings.contains(at)));
        let (offers, _) = terminal::overheard(|| {
            let confirmed =
                wanted.filter(|repair| fix::is_confirmed(args, input, analyzed, found, hiding, repair));
            confirmed
                .map(|repair| Offer {
                    title: repair.fix.title.clone(),
                    edits: repair.fix.edits.iter().map(|edit| (edit.span, edit.text.clone())).collect(),
                    doubt: repair.doubt,
                    findings: repair.findings,
                })
                .collect()
        });
        offers
    }
}
