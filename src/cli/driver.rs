//! What is found in all files together?
//!
//! Files are analysed in parallel, the largest first, and reported in the order of their paths,
//! whatever the order of the arguments. A file that cannot be read, or on which the analysis panics, costs only itself.

use super::args::AnalysisArgs;
use super::disk::{Disk, Overlay};
use super::parallel::{guarded, in_parallel, pool};
use super::progress::Progress;
use super::settings::Settings;
use super::terminal;
use crate::analysis::{FileReport, Kept, Links, Loaded, Options, Place, Run, Wanted};
use crate::banks::ComputeCapability;
use crate::config::Config;
use crate::explanation::Explanation;
use crate::headers::normalise;
use crate::source::{self, Sources, Span};
use crate::walk::{self, Candidate, Problem};
use rayon::ThreadPool;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What a run is about, read once for all the times that it is analysed.
pub(super) struct Input {
    /// What the user asked for.
    pub args: AnalysisArgs,
    /// What is in force for each file.
    pub settings: Settings,
    /// The files to look at.
    candidates: Vec<Candidate>,
    /// The options in force, each once.
    options: Vec<Options>,
    /// For each candidate, which of them.
    numbers: Vec<usize>,
    /// What is to be taken for files instead of what they hold on disk, by absolute path.
    buffers: Overlay,
    /// The files whose findings are reported, by absolute path.
    given: FxHashSet<PathBuf>,
    /// The files that are read for what they tell of those.
    context: FxHashSet<PathBuf>,
    /// Whether something that the user named could not be found.
    failed: bool,
    pool: ThreadPool,
    /// What an earlier run leaves to the next ones.
    kept: RefCell<Kept>,
}

/// Who looks on while a run is made.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    /// Whether its result is not wanted any more.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Is told how many steps are done, and of how many.
    pub step: &'a (dyn Fn(usize, usize) + Sync),
}

impl Watch<'_> {
    /// Runs `work` if its result is still wanted; a panic in it becomes its message and place.
    fn guarded<T>(self, work: impl FnOnce() -> T) -> Result<T, String> {
        if (self.cancelled)() { Err("it was cancelled".to_owned()) } else { guarded(work) }
    }
}

/// Nobody.
pub(super) const UNWATCHED: Watch<'_> = Watch { cancelled: &|| false, step: &|_, _| {} };

/// A finished run.
pub(super) struct Analyzed {
    /// The run, for its sources.
    pub run: Run,
    /// A report for each file that could be analysed, in the order of their paths.
    pub reports: Vec<FileReport>,
    /// The paths of those files.
    paths: Vec<PathBuf>,
    /// Whether something could not be checked.
    pub failed: bool,
    /// The names of the kernels that were met.
    pub kernels: FxHashSet<String>,
    /// What went wrong, in the order of the files.
    pub complaints: Vec<String>,
    /// The files as they were loaded, if the run was one of several.
    linked: Option<Linked>,
}

/// What a run knows before it runs kernels, and which functions those entered.
struct Linked {
    loaded: Vec<Loaded>,
    links: Links,
    entered: FxHashSet<Span>,
}

impl Input {
    /// Finds the files, and what is in force for each; says on stderr what is wrong with the arguments.
    /// `None` when they are not to be run with.
    pub(super) fn gather(args: &AnalysisArgs) -> Option<Input> {
        let args = &args.with_stdin().with_default_path();
        let mut buffers = Overlay::default();
        if let Some(path) = &args.stdin_filename {
            let bytes = terminal::read_stdin(walk::MAX_BYTES);
            let bytes = bytes.map_err(|error| terminal::say_error(&error)).ok()?;
            if walk::is_utf16(&bytes) {
                terminal::say_error(&Problem::Utf16(path.clone()));
                return None;
            }
            buffers.insert(path.clone(), Some(bytes));
        }
        Input::with_buffers(args, buffers)
    }

    /// The same with what `buffers` hold for their files. Of these, the one that the arguments name for stdin
    /// is looked at in any case, another if it would be found with these bytes on disk.
    pub(super) fn with_buffers(args: &AnalysisArgs, buffers: Overlay) -> Option<Input> {
        let settings = Settings::new(&args.build, &args.exclude, &buffers);
        let settings = settings.map_err(|error| terminal::say_error(&error)).ok()?;
        let skip = |path: &Path, folder: bool| settings.skips(path, folder, args.no_ignore);
        let mut found = walk::find(&args.paths, &args.context, &skip);
        if let Some(path) = &args.stdin_filename {
            let same = |other: &Path| settings.configs.absolute(other) == settings.configs.absolute(path);
            found.candidates.retain(|candidate| !same(&candidate.path));
            let given = Candidate { path: path.clone(), only_if_cuda: false, context: false };
            found.candidates.insert(0, given);
        }
        for path in buffers.keys() {
            found.candidates.extend(new_candidate(args, &settings, path, &found.candidates));
        }
        found.candidates.retain(|candidate| !settings.leaves_out(&candidate.path));
        found.candidates.sort_by(|a, b| a.path.cmp(&b.path));
        let (options, numbers) = options(args, &settings, &found.candidates);
        // A configuration that is not understood must not be passed over.
        if settings.report_errors() {
            return None;
        }
        warn_of_missing_folders(args, &settings, &found.candidates);
        warn_of_new_targets(&options);
        let pool = pool(args.threads)
            .map_err(|error| terminal::say_error(&format!("cannot start threads: {error}")));
        let failed = report_problems(&found.problems) | report_context_problems(&found.context_problems);
        let candidates = found.candidates;
        let of = |context: bool| {
            let all = candidates.iter().filter(move |candidate| candidate.context == context);
            all.map(|candidate| settings.configs.absolute(&candidate.path)).collect::<FxHashSet<PathBuf>>()
        };
        let (given, context, pool) = (of(false), of(true), pool.ok()?);
        let (args, kept) = (args.clone(), RefCell::default());
        let absolute = |(path, bytes): (PathBuf, Option<Vec<u8>>)| (settings.configs.absolute(&path), bytes);
        let buffers = buffers.into_iter().map(absolute).collect();
        Some(Input {
            args,
            settings,
            candidates,
            options,
            numbers,
            buffers,
            given,
            context,
            failed,
            pool,
            kept,
        })
    }

    /// Whether the user gave this file, or a folder that it is in, to be reported on.
    pub(super) fn is_given(&self, path: &Path) -> bool {
        self.given.contains(&self.settings.configs.absolute(path))
    }

    /// Whether the file is only read for what it tells of others.
    pub(super) fn is_context(&self, path: &Path) -> bool {
        !self.context.is_empty() && self.context.contains(&self.settings.configs.absolute(path))
    }

    /// The configuration files of all files, each once.
    pub(super) fn configs(&self) -> Vec<Rc<Config>> {
        self.settings.configs_of(&self.candidates)
    }

    /// The files to look at, those that turn out to hold no CUDA among them.
    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Whether the file at this absolute path would be among them if it were there.
    pub(super) fn would_find(&self, path: &Path) -> bool {
        would_find(&self.args, &self.settings, path)
    }

    /// Whether no one named a target.
    pub(super) fn assumes_target(&self) -> bool {
        self.options.iter().all(|options| options.targets.is_empty())
    }

    /// Lets the next runs take over what an earlier one kept.
    pub(super) fn go_on_from(&self, kept: Kept) {
        self.kept.replace(kept);
    }

    /// What a file holds: what is to be taken for it, or what is on disk.
    pub(super) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let home = self.settings.configs.absolute(Path::new("."));
        Disk::with(&home, &[], &self.buffers).bytes(&Candidate::header(path)).ok().flatten()
    }

    /// Analyses the files as they are but for `overlay`, and `more` files.
    pub(super) fn analyze(&self, wanted: Wanted<'_>, overlay: &Overlay, more: &[Candidate]) -> Analyzed {
        self.analyze_watched(wanted, overlay, more, UNWATCHED)
    }

    /// The same while somebody looks on.
    pub(super) fn analyze_watched(
        &self,
        wanted: Wanted<'_>,
        overlay: &Overlay,
        more: &[Candidate],
        watch: Watch<'_>,
    ) -> Analyzed {
        let mut all = self.buffers.clone();
        all.extend(overlay.iter().map(|(path, bytes)| (self.settings.configs.absolute(path), bytes.clone())));
        let candidates: Vec<Candidate> = self.candidates.iter().chain(more).cloned().collect();
        let (mut options, mut numbers) = (self.options.clone(), self.numbers.clone());
        for candidate in more {
            numbers.push(options.len());
            options.push(self.settings.options(&self.args, &candidate.path));
        }
        // Only what may be asked by several threads is taken along.
        let home = self.settings.configs.absolute(Path::new("."));
        let disk = Disk::with(&home, &candidates, &all);
        let (given, quiet) = (&self.given, self.args.quiet);
        let kept = self.kept.borrow().clone();
        let keeps = kept.is_kept();
        let work =
            Work { candidates, options, numbers, home: &home, given, quiet, wanted, kept, keeps, watch };
        let mut analyzed = self.pool.install(|| work.run(disk));
        analyzed.failed |= self.failed;
        if !self.context.is_empty() {
            self.keep_what_concerns(&mut analyzed);
        }
        analyzed
    }

    /// What there is to be told of a place, as far as the run that was made kept what it needs for that.
    pub(super) fn explain(&self, analyzed: &Analyzed, place: &Place) -> Vec<Explanation> {
        let Analyzed { run, linked: Some(Linked { loaded, links, entered }), .. } = analyzed else {
            return Vec::new();
        };
        let explained = |loaded: &&Loaded| {
            guarded(|| {
                let wanted = Wanted::Place(place);
                let mut report = run.analyze(loaded, links, wanted);
                run.analyze_unreached(loaded, entered, wanted, &mut report);
                report.explanations
            })
        };
        let concerned = loaded.iter().filter(|loaded| run.holds(loaded, place));
        self.pool.install(|| concerned.filter_map(|loaded| explained(&loaded).ok()).flatten().collect())
    }

    /// The paths of the files that could be analysed and are reported on, with `/` between their parts.
    pub(super) fn files(&self, analyzed: &Analyzed) -> Vec<String> {
        let paths = analyzed.paths.iter().filter(|path| !self.is_context(path));
        paths.map(|path| source::display_path(path)).collect()
    }

    /// Every file that a run read.
    pub(super) fn met(&self, analyzed: &Analyzed) -> Vec<PathBuf> {
        let (sources, configs) = (analyzed.run.sources().all(), self.configs());
        let paths = sources.iter().map(|file| &file.path).chain(configs.iter().map(|config| &config.path));
        paths.cloned().collect()
    }

    /// Takes away what is about context alone.
    fn keep_what_concerns(&self, analyzed: &mut Analyzed) {
        let sources = analyzed.run.sources();
        let path = |file| sources.get(file).path.clone();
        for (report, own) in analyzed.reports.iter_mut().zip(&analyzed.paths) {
            let from_given = !self.is_context(own);
            let here = |file| match path(file) {
                path if self.is_given(&path) => true,
                path if self.is_context(&path) => false,
                _ => from_given,
            };
            report.diagnostics.retain(|finding| {
                here(finding.primary.file)
                    || finding.launches.iter().any(|launch| self.is_given(&path(launch.file)))
            });
            report.verdicts.retain(|verdict| here(verdict.span.file));
            report.modules.retain(|module| module.file.is_some_and(here));
            report.runs.retain(|(name, _)| here(name.file));
            report.views.retain(|view| here(view.at.file));
        }
    }
}

/// Whether the arguments would lead to a file at this absolute path if it were there.
fn would_find(args: &AnalysisArgs, settings: &Settings, path: &Path) -> bool {
    let absolute = |given: &PathBuf| settings.configs.absolute(given);
    let mut given = args.paths.iter().chain(&args.context);
    walk::may_be_cuda(path)
        && given.any(|given| given.is_dir() && path.starts_with(absolute(given)))
        && !settings.skips(path, false, args.no_ignore)
}

/// The file of a buffer that was never written, if the arguments would lead to it.
fn new_candidate(
    args: &AnalysisArgs,
    settings: &Settings,
    path: &Path,
    known: &[Candidate],
) -> Option<Candidate> {
    let path = settings.configs.absolute(path);
    let is_known = || known.iter().any(|it| settings.configs.absolute(&it.path) == path);
    // What is there and was not found is left out for a reason.
    if path.exists() || !would_find(args, settings, &path) || is_known() {
        return None;
    }
    walk::as_found(&settings.configs.shown(&path))
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

/// One analysis of all files, without what only one thread may ask.
struct Work<'a> {
    candidates: Vec<Candidate>,
    options: Vec<Options>,
    /// For each candidate, which of the options.
    numbers: Vec<usize>,
    home: &'a Path,
    /// The files whose findings are reported, by absolute path.
    given: &'a FxHashSet<PathBuf>,
    quiet: bool,
    wanted: Wanted<'a>,
    kept: Kept,
    /// Whether it is one of several runs.
    keeps: bool,
    watch: Watch<'a>,
}

impl Work<'_> {
    fn run(self, disk: Disk) -> Analyzed {
        let is_given = |path: &Path| self.given.contains(&normalise(&self.home.join(path)));
        // What is wrong with a file of context does not fail the run.
        let level = |path: &Path| if is_given(path) { "error" } else { "warning" };
        let (files, problems) = read_all(&self.candidates, &disk);
        let complaint = |(path, problem): &(PathBuf, Problem)| format!("{}: {problem}", level(path));
        let mut complaints: Vec<String> = problems.iter().map(complaint).collect();
        let mut failed = problems.iter().any(|(path, _)| is_given(path));
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let numbered = self.candidates.iter().map(|it| it.path.clone()).zip(self.numbers.iter().copied());
        let numbered: FxHashMap<PathBuf, usize> = numbered.collect();
        let given = paths.iter().map(|path| (path.clone(), numbered.get(path).copied().unwrap_or(0)));
        let run = Run::after(self.kept.clone(), &self.options, given, Box::new(disk));
        let progress = Progress::new(4 * files.len(), self.quiet, self.watch.step);
        let Work { wanted, watch, keeps, .. } = self;
        let sizes: Vec<usize> = files.iter().map(|(_, bytes)| bytes.len()).collect();
        let loaded = in_parallel(files, &sizes, |(path, bytes)| {
            let loaded = watch.guarded(|| run.load(&path, bytes));
            progress.step();
            loaded
        });
        let survey = run.survey(loaded.iter().filter_map(|it| it.as_ref().ok()));
        let loaded = in_parallel(loaded, &sizes, |loaded: Result<Loaded, String>| {
            let followed = loaded.and_then(|loaded| watch.guarded(|| run.follow(loaded, &survey)));
            progress.step();
            followed
        });
        let links = run.link(loaded.iter().filter_map(|it| it.as_ref().ok()));
        let kernels = loaded.iter().flatten().flat_map(Loaded::kernel_names).map(str::to_owned).collect();
        let numbered = loaded.into_iter().zip(&paths).collect();
        // What is about context alone is not reported, so that it need not be found.
        let concerns =
            |path: &Path, loaded: &Loaded| is_given(path) || run.concerns(loaded, &links, &is_given);
        let results = in_parallel(numbered, &sizes, |(loaded, path): (Result<Loaded, String>, &PathBuf)| {
            let report = loaded.and_then(|loaded| {
                watch.guarded(|| match concerns(path, &loaded) {
                    true => (run.analyze(&loaded, &links, wanted), Some(loaded)),
                    false => (FileReport::default(), None),
                })
            });
            progress.step();
            report
        });
        let reports = results.iter().filter_map(|it| it.as_ref().ok());
        let entered = reports.flat_map(|(report, _)| report.entered.iter().copied()).collect();
        let results = in_parallel(results, &sizes, |result: Result<(FileReport, Option<Loaded>), String>| {
            let report = result.and_then(|(mut report, loaded)| {
                let Some(loaded) = loaded else { return Ok((report, None)) };
                watch
                    .guarded(|| run.analyze_unreached(&loaded, &entered, wanted, &mut report))
                    .map(|()| (report, keeps.then_some(loaded)))
            });
            progress.step();
            report
        });
        drop(progress);

        let (mut reports, mut analyzed, mut loaded) = (Vec::new(), Vec::new(), Vec::new());
        for (path, result) in paths.into_iter().zip(results) {
            match result {
                Ok((report, kept)) => {
                    reports.push(report);
                    loaded.extend(kept);
                    analyzed.push(path);
                }
                Err(panic) => {
                    failed |= is_given(&path);
                    let (level, path) = (level(&path), path.display());
                    complaints.push(format!("{level}: internal error while checking `{path}`: {panic}"));
                }
            }
        }
        complaints.extend(cut_short(run.sources(), &reports));
        let linked = keeps.then_some(Linked { loaded, links, entered });
        Analyzed { run, reports, paths: analyzed, failed, kernels, complaints, linked }
    }
}

/// What to say where not all that is included was followed.
fn cut_short(sources: &Sources, reports: &[FileReport]) -> Option<String> {
    let files = reports.iter().flat_map(|report| &report.cut_short);
    let mut paths: Vec<String> = files.map(|file| sources.get(*file).display_path()).collect();
    paths.sort();
    paths.dedup();
    let [first, others @ ..] = paths.as_slice() else { return None };
    let lead = match others.len() {
        0 => " leads".to_owned(),
        1 => " and one other file lead".to_owned(),
        many => format!(" and {many} other files lead"),
    };
    Some(format!(
        "warning: `{first}`{lead} to more headers, or deeper ones, than cudalint follows: macros may be \
         missing"
    ))
}

/// Says which folders for `#include` are not there.
fn warn_of_missing_folders(args: &AnalysisArgs, settings: &Settings, candidates: &[Candidate]) {
    for folder in args.include_dirs.iter().filter(|folder| !folder.is_dir()) {
        terminal::say_warning(&format!("`-I {0}`: there is no folder `{0}`", folder.display()));
    }
    for config in settings.configs_of(candidates) {
        let missing = |config: &Rc<Config>| -> Vec<String> {
            let sets = config.include.iter().filter(|set| !settings.configs.absolute(&set.value).is_dir());
            sets.map(|set| {
                format!(
                    "{}:{}: there is no folder `{}`",
                    config.path.display(),
                    set.line,
                    set.value.display()
                )
            })
            .collect()
        };
        missing(&config).iter().for_each(terminal::say_warning);
    }
}

/// Says which targets are judged like another one, because no such device is known yet.
fn warn_of_new_targets(options: &[Options]) {
    let names = options.iter().flat_map(|options| &options.targets);
    let new = names.filter_map(|name| name.parse::<ComputeCapability>().ok()).filter(|it| !it.is_known());
    for target in new.collect::<BTreeSet<ComputeCapability>>() {
        let newest = ComputeCapability::newest();
        terminal::say_warning(&format!("unknown device `{target}`: it is judged like `{newest}`"));
    }
}

fn report_problems(problems: &[Problem]) -> bool {
    for problem in problems {
        if problem.is_error() {
            terminal::say_error(problem);
        } else {
            terminal::say_warning(problem);
        }
    }
    problems.iter().any(Problem::is_error)
}

/// The same of context: what is wrong with a file of it does not fail the run.
fn report_context_problems(problems: &[Problem]) -> bool {
    for problem in problems {
        match problem {
            _ if problem.is_of_argument() => terminal::say_error(problem),
            _ if problem.is_error() => terminal::say_warning(problem),
            _ => {}
        }
    }
    problems.iter().any(Problem::is_of_argument)
}

type File = (PathBuf, Vec<u8>);

fn read_all(candidates: &[Candidate], disk: &Disk) -> (Vec<File>, Vec<(PathBuf, Problem)>) {
    let read: Vec<_> = candidates.par_iter().map(|candidate| disk.bytes(candidate)).collect();
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for (candidate, result) in candidates.iter().zip(read) {
        match result {
            Ok(Some(bytes)) => files.push((candidate.path.clone(), bytes)),
            Ok(None) => {}
            Err(problem) => problems.push((candidate.path.clone(), problem)),
        }
    }
    (files, problems)
}
