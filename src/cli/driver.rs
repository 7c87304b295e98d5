//! What is found in all files together?
//!
//! Files are analysed in parallel, the largest first, and reported in the order they were
//! given. A file that cannot be read, or on which the analysis panics, costs only itself.

use super::args::AnalysisArgs;
use super::disk::{Disk, Overlay};
use super::progress::Progress;
use super::settings::Settings;
use super::terminal;
use crate::analysis::{FileReport, Loaded, Options, Run, Wanted};
use crate::source::Sources;
use crate::walk::{self, Candidate, Found, Problem};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

/// Enough for the deepest nesting that the analysis follows.
const STACK_BYTES: usize = 32 << 20;

/// A finished run.
pub struct Analyzed {
    /// The run, for its sources.
    pub run: Run,
    /// A report for each file that could be analysed, in the order given.
    pub reports: Vec<FileReport>,
    /// The paths of those files, with `/` between their parts.
    pub files: Vec<String>,
    /// Whether something could not be checked.
    pub failed: bool,
    /// Whether no one named a target.
    pub assumed_target: bool,
    /// What is in force for each file.
    pub settings: Settings,
}

/// Runs the analysis that the arguments ask for; says on stderr what could not be checked. `None`
/// when nothing could.
pub fn analyze(args: &AnalysisArgs, wanted: Wanted<'_>, mut overlay: Overlay) -> Option<Analyzed> {
    let settings =
        Settings::new(args.compile_commands.as_deref()).map_err(|error| terminal::say_error(&error)).ok()?;
    let skip = |path: &Path, folder: bool| settings.skips(path, folder, args.no_ignore);
    let mut found = walk::find(&args.paths, &skip);
    if let Some(path) = &args.stdin_filename {
        let bytes =
            terminal::read_stdin(walk::MAX_BYTES).map_err(|error| terminal::say_error(&error)).ok()?;
        let same = |other: &Path| settings.configs.absolute(other) == settings.configs.absolute(path);
        found.candidates.retain(|candidate| !same(&candidate.path));
        found.candidates.insert(0, Candidate { path: path.clone(), only_if_cuda: false });
        overlay.insert(path.clone(), bytes);
    }
    let (options, files) = options(args, &settings, &found.candidates);
    // A configuration that is not understood must not be passed over.
    if settings.report_errors() {
        return None;
    }
    let mut builder = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES);
    if let Some(threads) = args.threads {
        builder = builder.num_threads(threads.get());
    }
    let pool =
        builder.build().map_err(|error| terminal::say_error(&format!("cannot start threads: {error}")));
    let quiet = args.quiet;
    let (run, reports, analyzed, failed) =
        pool.ok()?.install(|| analyze_here(&found, &options, files, quiet, wanted, overlay));
    let assumed_target = options.iter().all(|options| options.targets.is_empty());
    Some(Analyzed { run, reports, files: analyzed, failed, assumed_target, settings })
}

/// The options in force, each once, and for each candidate which of them.
fn options(args: &AnalysisArgs, settings: &Settings, candidates: &[Candidate]) -> (Vec<Options>, Vec<usize>) {
    let mut all: Vec<Options> = Vec::new();
    let of = |candidate: &Candidate| {
        let own = settings.options(args, &candidate.path);
        all.iter().position(|known| *known == own).unwrap_or_else(|| {
            all.push(own);
            all.len() - 1
        })
    };
    let numbers = candidates.iter().map(of).collect();
    (all, numbers)
}

fn analyze_here(
    found: &Found,
    options: &[Options],
    numbers: Vec<usize>,
    quiet: bool,
    wanted: Wanted<'_>,
    overlay: Overlay,
) -> (Run, Vec<FileReport>, Vec<String>, bool) {
    let mut failed = report_problems(&found.problems);
    let disk = Disk::with(&found.candidates, overlay);
    let (files, problems) = read_all(&found.candidates, &disk);
    failed |= report_problems(&problems);

    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    let numbered = found.candidates.iter().map(|it| it.path.clone()).zip(numbers);
    let numbered: FxHashMap<PathBuf, usize> = numbered.collect();
    let given = paths.iter().map(|path| (path.clone(), numbered.get(path).copied().unwrap_or(0)));
    let run = Run::with_options(options, given, Box::new(disk));
    let progress = Progress::new(3 * files.len(), quiet);
    let sizes: Vec<usize> = files.iter().map(|(_, bytes)| bytes.len()).collect();
    let loaded = in_parallel(files, &sizes, |(path, bytes)| {
        let loaded = guarded(|| run.load(&path, bytes));
        progress.step();
        loaded
    });
    let judged = run.judged_kernels(loaded.iter().filter_map(|it| it.as_ref().ok()));
    let loaded = in_parallel(loaded, &sizes, |loaded: Result<Loaded, String>| {
        let followed = loaded.and_then(|loaded| guarded(|| run.follow(loaded, &judged)));
        progress.step();
        followed
    });
    let links = run.link(loaded.iter().filter_map(|it| it.as_ref().ok()));
    let results = in_parallel(loaded, &sizes, |loaded: Result<Loaded, String>| {
        let report = loaded.and_then(|loaded| guarded(|| run.analyze(&loaded, &links, wanted)));
        progress.step();
        report
    });
    drop(progress);

    let (mut reports, mut analyzed) = (Vec::new(), Vec::new());
    for (path, result) in paths.iter().zip(results) {
        match result {
            Ok(report) => {
                reports.push(report);
                analyzed.push(path.to_string_lossy().replace('\\', "/"));
            }
            Err(panic) => {
                failed = true;
                let path = path.display();
                terminal::say_error(&format!("internal error while checking `{path}`: {panic}"));
            }
        }
    }
    report_cut_short(run.sources(), &reports);
    (run, reports, analyzed, failed)
}

/// Says where not all that is included was followed.
fn report_cut_short(sources: &Sources, reports: &[FileReport]) {
    let files = reports.iter().flat_map(|report| &report.cut_short);
    let mut paths: Vec<String> = files.map(|file| sources.get(*file).display_path()).collect();
    paths.sort();
    paths.dedup();
    if let [first, others @ ..] = paths.as_slice() {
        let lead = match others.len() {
            0 => " leads".to_owned(),
            1 => " and one other file lead".to_owned(),
            many => format!(" and {many} other files lead"),
        };
        terminal::say(&format!(
            "warning: the headers that `{first}`{lead} to are too many or too deep to be followed to the \
             end: macros may be missing"
        ));
    }
}

fn report_problems(problems: &[Problem]) -> bool {
    let mut failed = false;
    for problem in problems {
        if problem.is_error() {
            terminal::say_error(problem);
            failed = true;
        } else {
            terminal::say(&format!("warning: {problem}"));
        }
    }
    failed
}

type File = (PathBuf, Vec<u8>);

fn read_all(candidates: &[Candidate], disk: &Disk) -> (Vec<File>, Vec<Problem>) {
    let read: Vec<_> = candidates.par_iter().map(|candidate| disk.bytes(candidate)).collect();
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for (candidate, result) in candidates.iter().zip(read) {
        match result {
            Ok(Some(bytes)) => files.push((candidate.path.clone(), bytes)),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    (files, problems)
}

/// Applies `work` to every item, the largest first, so that no thread is left alone with
/// a large file at the end. Results are in the order of `items`.
fn in_parallel<I: Send, T: Send>(items: Vec<I>, sizes: &[usize], work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let mut queue: Vec<(usize, I)> = items.into_iter().enumerate().collect();
    queue.sort_by_key(|(at, _)| Reverse(sizes.get(*at).copied().unwrap_or(0)));
    // A bridge hands out one item at a time, in order; splitting the vector would not.
    let queue = queue.into_iter().par_bridge();
    let mut results: Vec<(usize, T)> = queue.map(|(at, item)| (at, work(item))).collect();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes its message and place.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    // The default hook would print at once, among the output of other threads.
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let message = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("panic");
            let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
            let guarded = PANIC.try_with(|slot| match &mut *slot.borrow_mut() {
                Some(text) => {
                    *text = format!("{message}{}", place.unwrap_or_default());
                    true
                }
                None => false,
            });
            if !guarded.unwrap_or(false) {
                default(info);
            }
        }));
    });
    PANIC.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let message = PANIC.take();
    result.map_err(|_| message.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn results_come_in_the_order_given() {
        let sizes = [3, 9, 1, 9, 2];
        assert_eq!(in_parallel(sizes.to_vec(), &sizes, |size| size), sizes);
    }

    #[test]
    fn large_files_go_first() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let order = Mutex::new(Vec::new());
        let sizes = [3, 9, 1, 7];
        pool.install(|| in_parallel(sizes.to_vec(), &sizes, |size| order.lock().unwrap().push(size)));
        assert_eq!(order.into_inner().unwrap(), [9, 7, 3, 1]);
    }

    #[test]
    fn a_panic_is_a_message_with_its_place() {
        let result: Result<(), String> = guarded(|| panic!("lane {} is gone", 3));
        let message = result.unwrap_err();
        assert!(message.starts_with("lane 3 is gone (src/cli/driver.rs:"), "{message}");
        assert_eq!(guarded(|| 7), Ok(7));
    }
}
