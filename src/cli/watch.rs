//! `--watch`: when is it time to check again?
//!
//! Watched is what the last run read, with the folders that were given, for files that come new. A change of
//! something that no run would look at, such as an object file, is passed over.

use super::args::AnalysisArgs;
use super::{Outcome, terminal};
use crate::config::{self, commands, scripts};
use crate::headers::normalise;
use crate::walk;
use notify::{Event, EventKind, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Editors write a file in several steps: it is taken for written when nothing happens for so long.
const QUIET: Duration = Duration::from_millis(100);
/// And in any case after so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The files that a run read, by absolute path or from the working folder.
pub(super) type Met = BTreeSet<PathBuf>;

/// Runs, and again after each change, for as long as the process lives. It ends only where nothing can be watched.
pub(super) fn watch(args: &AnalysisArgs, run: impl Fn() -> Met) -> Outcome {
    let why = match watched(&args.clone().with_default_path(), run) {
        Ok(()) => "the system reports no more changes".to_owned(),
        Err(error) => error.to_string(),
    };
    terminal::say_error(&format!("cannot watch the files: {why}"));
    Outcome::Failed
}

fn watched(args: &AnalysisArgs, run: impl Fn() -> Met) -> notify::Result<()> {
    let home = std::env::current_dir().unwrap_or_default();
    let (sender, events) = channel();
    let mut watcher = notify::recommended_watcher(sender)?;
    let given = args.paths.iter().chain(&args.context).map(|path| normalise(&home.join(walk::literal(path))));
    let (roots, files): (Vec<PathBuf>, Vec<PathBuf>) = given.partition(|path| path.is_dir());
    for root in &roots {
        watcher.watch(root, RecursiveMode::Recursive)?;
    }
    // In the working folder, a configuration may come to be.
    let mut folders = BTreeSet::from([home.clone()]);
    let (mut met, mut known) = (Met::from_iter(files), BTreeSet::new());
    loop {
        met.extend(run().iter().map(|path| normalise(&home.join(path))));
        folders.extend(met.iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
        // A folder below another one is watched with it.
        let new = folders.iter().filter(|folder| !roots.iter().any(|root| folder.starts_with(root)));
        for folder in new {
            if folder.is_dir() && known.insert(folder.clone()) {
                watcher.watch(folder, RecursiveMode::NonRecursive)?;
            }
        }
        if !args.quiet {
            terminal::say(&"watching for changes; Ctrl-C ends it");
        }
        let Some(changed) = next_change(&events, &met) else { return Ok(()) };
        if !args.quiet {
            let shown = changed.strip_prefix(&home).unwrap_or(&changed);
            terminal::say(&format!("`{}` changed", shown.display()));
        }
    }
}

/// Waits for a change that matters, and until all is quiet again. `None` when there are no more events.
fn next_change(events: &Receiver<notify::Result<Event>>, met: &Met) -> Option<PathBuf> {
    loop {
        let Ok(event) = events.recv().ok()? else { continue };
        let Some(changed) = changed(event, met) else { continue };
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end && events.recv_timeout(QUIET).is_ok() {}
        return Some(changed);
    }
}

/// The file that is not what it was, if a run would look at it.
fn changed(event: Event, met: &Met) -> Option<PathBuf> {
    let is_change = match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) => true,
        EventKind::Modify(what) => !matches!(what, notify::event::ModifyKind::Metadata(_)),
        _ => false,
    };
    let mut names = vec![config::NAME, commands::NAME, ".gitignore"];
    names.extend(scripts::NAMES);
    let matters = |path: &PathBuf| {
        let named = path.file_name().is_some_and(|name| names.iter().any(|known| name == *known));
        named || walk::may_be_cuda(path) || met.contains(path)
    };
    event.paths.into_iter().filter(|_| is_change).find(matters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{AccessKind, CreateKind, DataChange, MetadataKind, ModifyKind, RemoveKind};

    #[test]
    fn only_changes_of_what_a_run_looks_at_count() {
        let met = Met::from([PathBuf::from("/p/table.inc"), PathBuf::from("/p/known.json")]);
        let is_change =
            |kind: EventKind, path: &str| changed(Event::new(kind).add_path(path.into()), &met).is_some();
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        for path in [
            "/p/a.cu",
            "/q/new.cuh",
            "/p/cudalint.toml",
            "/p/.gitignore",
            "/p/Makefile",
            "/p/table.inc",
            "/p/known.json",
        ] {
            assert!(is_change(written, path), "{path}");
            assert!(
                is_change(EventKind::Create(CreateKind::File), path)
                    && is_change(EventKind::Remove(RemoveKind::File), path)
            );
        }
        for path in ["/p/a.o", "/p/main.py", "/p/other.json"] {
            assert!(!is_change(written, path), "{path}");
        }
        assert!(!is_change(EventKind::Access(AccessKind::Read), "/p/a.cu"), "reading is none");
        assert!(!is_change(EventKind::Modify(ModifyKind::Metadata(MetadataKind::AccessTime)), "/p/a.cu"));
    }
}
