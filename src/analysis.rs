//! What do we find in one file?
//!
//! The pipeline: text and headers in, findings and verdicts out. Runs in passes over the files
//! given: [`Run::load`] parses each that may hold something to judge, [`Run::survey`] collects
//! the kernels worth judging, [`Run::follow`] finds the launches that lead to them, [`Run::link`]
//! says which launches each kernel gets, [`Run::analyze`] runs the kernels, and
//! [`Run::analyze_unreached`] the device functions that no kernel of any file led to.
//! [`Run::analyze_all`] is all passes at once. Touches no stdout
//! and no exit code, and reads headers only through the [`Files`] it is given.

mod again;
mod between;
mod context;
mod elements;
mod folds;
mod followed;
mod judge;
mod kept;
mod links;
mod load;
mod members;
mod met;
mod padded;
mod pitch;
mod removal;
mod runs;
mod shape_asked;
mod standard;
mod survey;
mod texts;
mod typed;
mod uses;

use crate::banks::{BankSize, ComputeCapability, Target};
use crate::diagnostic::Diagnostic;
use crate::explanation::{Explanation, KernelView};
pub use crate::headers::{Files, NoFiles};
use crate::headers::{Headers, normalise};
use crate::ir::{Function, FunctionKind, Lambda, Module};
use crate::preproc::comments::Directive;
use crate::preproc::{Defines, HeaderCache, Hidden, LeftOut, Missing};
use crate::relevance::{Spelled, Words};
use crate::rules::KernelRun;
use crate::shape::BlockOption;
use crate::source::{FileId, Sources, Span};
use crate::verdict::SiteVerdict;
use followed::Followed;
pub use kept::Kept;
use kept::{Memory, World};
pub use links::Links;
use load::Asks;
pub use load::Loaded;
pub use met::{MetArray, MetKernel, MetSite, MetWays};
use runs::Follow;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use survey::Survey;

/// What the user asked for, the same for every file of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Targets as given: `sm_70`, `7.0`. Empty: the current family, as `sm_90`.
    pub targets: Vec<String>,
    /// Banks are 8 bytes wide (`cudaSharedMemBankSizeEightByte`, compute capability 3.x only).
    pub bank_size_eight: bool,
    /// Block shapes, in the order given; the last that fits a kernel wins.
    pub blocks: Vec<BlockOption>,
    /// Macros, as `-D` of a compiler: name and value.
    pub defines: Vec<(String, String)>,
    /// Where `#include` looks besides the including file's folder, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Whether races for global memory are asked for, which takes another run of each kernel.
    pub global_memory: bool,
    /// Whether barriers are asked for that may be taken out, which takes another run of each kernel with barriers.
    pub needless_barriers: bool,
}

/// What is judged for unless the user says otherwise: the family of 5.x and newer.
pub const DEFAULT_TARGET: ComputeCapability = ComputeCapability::new(9, 0);

/// The targets with these names, or the default one.
#[must_use]
pub fn targets(names: &[String], bank_size_eight: bool) -> Vec<Target> {
    let bank_size = if bank_size_eight { BankSize::Eight } else { BankSize::Four };
    let mut found: Vec<Target> = Vec::new();
    for capability in names.iter().filter_map(|name| name.parse().ok()) {
        let target = Target { capability, bank_size };
        if !found.contains(&target) {
            found.push(target);
        }
    }
    if found.is_empty() { vec![Target { capability: DEFAULT_TARGET, bank_size }] } else { found }
}

/// The newest of some targets, for which files are read.
fn newest(targets: &[Target]) -> ComputeCapability {
    targets.iter().map(|target| target.capability).max().unwrap_or(DEFAULT_TARGET)
}

/// A target as `__CUDA_ARCH__` says it.
fn architecture(of: ComputeCapability) -> u32 {
    u32::from(of.major) * 100 + u32::from(of.minor) * 10
}

/// What a report is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// The findings of the rules, and the verdicts that they rest on.
    Findings,
    /// The same, and whether no threads race is proved: what an editor is told.
    Editor,
    /// The findings, the verdicts, and what there is to be seen of each kernel.
    Views,
    /// The verdicts alone.
    Verdicts,
    /// What there is to be told of one place, and the verdicts.
    Place(&'a Place),
    /// The program as it was lowered, which is not run.
    Program,
    /// What the runs of the kernels recorded, and the verdicts.
    Runs,
    /// The same without the order of events, but with what follows from it, and whether no threads race is proved.
    Races,
}

impl Wanted<'_> {
    /// What becomes of the event trees.
    fn follow(self) -> Follow {
        match self {
            Wanted::Findings | Wanted::Views | Wanted::Place(_) => Follow::Facts,
            Wanted::Runs => Follow::Tree,
            Wanted::Editor | Wanted::Races => Follow::Proof,
            Wanted::Verdicts | Wanted::Program => Follow::Nothing,
        }
    }
}

/// A line of a file, or a column of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The working folder, absolute.
    pub home: PathBuf,
    /// The file's path: absolute, or from the working folder.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: Option<usize>,
}

impl Place {
    /// Whether a path leads to its file.
    #[must_use]
    pub fn is_of(&self, path: &Path) -> bool {
        let absolute = |path: &Path| normalise(&self.home.join(path));
        absolute(path) == absolute(&self.file)
    }

    /// Whether a part of the text covers it.
    fn is_in(&self, sources: &Sources, span: Span) -> bool {
        let file = sources.get(span.file);
        let (first, last) = (file.line_column(span.start), file.line_column(span.end.max(span.start)));
        let within = match self.column {
            Some(column) => first <= (self.line, column) && (self.line, column) < last,
            None => (first.0..=last.0).contains(&self.line),
        };
        within && self.is_of(&file.path)
    }
}

/// What was found in one file and in the headers reached from it.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Findings, at their rules' default levels, if they were wanted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that count only if a text is compiled of which nothing tells whether it is.
    pub undecided: Vec<Diagnostic>,
    /// One verdict for each access site, block shape and target.
    pub verdicts: Vec<SiteVerdict>,
    /// What there is to be seen of its kernels, if that was wanted.
    pub(crate) views: Vec<KernelView>,
    /// What there is to be told of a place, if that was wanted.
    pub explanations: Vec<Explanation>,
    /// What comments ask for, by file.
    pub asked: Vec<Asked>,
    /// The file or headers of it, where what they include was too much to be run to its end.
    pub cut_short: Vec<FileId>,
    /// What its kernels hold.
    pub kernels: Vec<MetKernel>,
    /// The functions that its kernels entered, by the place of their name.
    pub entered: Vec<Span>,
    /// The barriers of the block to which, for all that is known, not all threads of some run come.
    pub in_doubt: Vec<Span>,
    /// The file and its headers as they were lowered, if that was wanted.
    pub(crate) modules: Vec<Arc<Module>>,
    /// What the runs of its kernels recorded, with the place of the kernel's name, if that was wanted.
    pub(crate) runs: Vec<(Span, Arc<KernelRun>)>,
}

/// What the comments of one file ask for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The file.
    pub file: FileId,
    /// What they ask for, outside untaken branches, in order.
    pub directives: Vec<Directive>,
    /// Whether it is the report's own file, not a header of it.
    pub own: bool,
    /// Where the block shapes are written that stand above a function; `None` when the file holds
    /// nothing to judge and was not parsed.
    pub blocks: Option<Vec<Span>>,
}

/// One run over a set of files. Shared between threads.
pub struct Run {
    headers: Headers,
    cache: HeaderCache,
    spelled: Arc<Spelled>,
    settings: Vec<Settings>,
    /// Which settings hold for a file; the first for one that is not here.
    of: FxHashMap<PathBuf, usize>,
    memory: Memory,
    followed: Followed,
}

/// What holds for some of the files.
struct Settings {
    defines: Defines,
    /// What the macros spell that are defined from the start.
    defined: Words,
    targets: Vec<Target>,
    blocks: Vec<BlockOption>,
    eight_byte_banks: bool,
    asks: Asks,
}

impl Settings {
    fn new(options: &Options) -> Settings {
        let targets = targets(&options.targets, options.bank_size_eight);
        let arch = architecture(newest(&targets));
        let defines = Defines::new(arch, options.defines.iter().map(|(n, v)| (n.as_str(), v.as_str())));
        let defined = defines.texts().map(Words::of).fold(Words::default(), |all, words| all | words);
        Settings {
            defined: if options.defines.is_empty() { defined } else { defined.with_names_from_elsewhere() },
            defines,
            targets,
            blocks: options.blocks.clone(),
            eight_byte_banks: options.bank_size_eight,
            asks: Asks { races: options.global_memory, needless_barriers: options.needless_barriers },
        }
    }
}

impl Run {
    /// A run over `files`, none of which is read here. Headers come from `disk`.
    #[must_use]
    pub fn new(options: Options, files: &[PathBuf], disk: Box<dyn Files>) -> Run {
        Run::with_options(&[options], files.iter().map(|file| (file.clone(), 0)), disk)
    }

    /// A run over files each of which has its own options, by their number in `options`. Include
    /// folders are those of all of them, in order.
    #[must_use]
    pub fn with_options(
        options: &[Options],
        files: impl IntoIterator<Item = (PathBuf, usize)>,
        disk: Box<dyn Files>,
    ) -> Run {
        Run::after(Kept::default(), options, files, disk)
    }

    /// The same with what an earlier run kept. Whatever that was, it changes nothing of the answer.
    #[must_use]
    pub fn after(
        kept: Kept,
        options: &[Options],
        files: impl IntoIterator<Item = (PathBuf, usize)>,
        disk: Box<dyn Files>,
    ) -> Run {
        let mut include_dirs: Vec<PathBuf> = Vec::new();
        for folder in options.iter().flat_map(|options| &options.include_dirs) {
            if !include_dirs.contains(folder) {
                include_dirs.push(folder.clone());
            }
        }
        let files: Vec<(PathBuf, usize)> = files.into_iter().collect();
        let given: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let mut settings: Vec<Settings> = options.iter().map(Settings::new).collect();
        if settings.is_empty() {
            settings.push(Settings::new(&Options::default()));
        }
        let known = settings.len();
        let world = World { options: options.to_vec(), files: files.clone() };
        let (sources, spelled, memory) = kept.start(world);
        Run {
            headers: Headers::new(&given, include_dirs, disk, sources),
            cache: HeaderCache::default(),
            spelled,
            settings,
            of: files.into_iter().filter(|(_, at)| (1..known).contains(at)).collect(),
            memory,
            followed: Followed::default(),
        }
    }

    /// Which settings hold for a file.
    fn settings_of(&self, path: &Path) -> usize {
        if self.of.is_empty() { 0 } else { self.of.get(path).copied().unwrap_or(0) }
    }

    /// Every file that was read so far.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        self.headers.sources()
    }

    /// Whether the user gave this file himself, or a folder that it is in.
    #[must_use]
    pub fn is_given(&self, path: &Path) -> bool {
        self.headers.is_given_path(path)
    }

    /// The includes that were run and led to no file, in no order.
    #[must_use]
    pub fn missing_includes(&self) -> Vec<Missing> {
        self.cache.missing()
    }

    /// The files whose kernels wait for a macro that nothing defines, in no order.
    #[must_use]
    pub fn hidden_kernels(&self) -> Vec<Hidden> {
        self.cache.hidden()
    }

    /// The files that have kernel code for newer targets than theirs, in no order: each with the target for which it is
    /// read now, and the first for which more of it is.
    #[must_use]
    pub fn left_out_kernels(&self) -> Vec<(FileId, ComputeCapability, ComputeCapability)> {
        let now = |path: &Path| newest(&self.settings[self.settings_of(path)].targets);
        let newer = |path: &Path| {
            let mut newer: Vec<ComputeCapability> =
                ComputeCapability::known().filter(|it| *it > now(path)).collect();
            newer.sort_unstable();
            newer.into_iter().map(architecture).collect()
        };
        let found = self.cache.left_out(&newer).into_iter().filter_map(|LeftOut { file, arch }| {
            let then = ComputeCapability::known().find(|it| architecture(*it) == arch)?;
            Some((file, now(&self.sources().get(file).path), then))
        });
        found.collect()
    }

    /// Whether a file may have something to say about those files for which `is_given` says so: it reaches
    /// one of them, or one of them launches a kernel that is judged for it.
    #[must_use]
    pub fn concerns(&self, loaded: &Loaded, links: &Links, is_given: &dyn Fn(&Path) -> bool) -> bool {
        let given = |file: FileId| is_given(&self.sources().get(file).path);
        let work = loaded.file().map_or(&[][..], |file| links.work(file));
        loaded.program.modules.iter().filter_map(|module| module.file).any(given)
            || work.iter().flat_map(|work| &work.launches).any(|launch| given(launch.span.file))
    }

    /// Whether a place is in one of the files that a file is made of, so that its kernels may come there.
    #[must_use]
    pub fn holds(&self, loaded: &Loaded, place: &Place) -> bool {
        let files = loaded.program.modules.iter().filter_map(|module| module.file);
        files.into_iter().any(|file| place.is_of(&self.sources().get(file).path))
    }

    /// Says which launches each kernel gets.
    #[must_use]
    pub fn link<'a>(&self, files: impl IntoIterator<Item = &'a Loaded>) -> Links {
        Links::new(files, &self.headers)
    }

    /// Runs the kernels to be judged for one file.
    #[must_use]
    pub fn analyze(&self, loaded: &Loaded, links: &Links, wanted: Wanted<'_>) -> FileReport {
        let (asked, cut_short) = (loaded.asked(), loaded.cut_short());
        if wanted == Wanted::Program {
            let modules = loaded.program.modules.clone();
            return FileReport { asked, cut_short, modules, ..FileReport::default() };
        }
        let report = self.judge(loaded, links, wanted);
        FileReport { asked, cut_short, ..report }
    }

    /// Runs the device functions with shared memory of their own that no kernel of any file `entered`.
    pub fn analyze_unreached(
        &self,
        loaded: &Loaded,
        entered: &FxHashSet<Span>,
        wanted: Wanted<'_>,
        report: &mut FileReport,
    ) {
        if loaded.is_left || wanted == Wanted::Program {
            return;
        }
        let program = &loaded.program;
        let kept = |file: Option<FileId>| file.is_some_and(|file| loaded.keeps.contains(&file));
        let modules = program.modules.iter().enumerate();
        let own = modules.filter(|(at, module)| *at == 0 || kept(module.file));
        let functions = own.flat_map(|(_, module)| &module.functions);
        let functions =
            functions.filter(|f| f.kind == FunctionKind::Device && f.body.is_some() && f.mentions.shared);
        // A lambda is a function of its own, too.
        let (of_lambdas, functions): (Vec<&Arc<Function>>, Vec<_>) =
            functions.partition(|f| f.owner.as_ref().is_some_and(|class| Lambda::is_class(class)));
        let is_entered = |f: &Function| entered.contains(&f.name_span);
        let last = |f: &Function| f.body.as_ref().and_then(|body| body.last()).cloned();
        let is_called = |f: &Function| {
            let mut same = of_lambdas.iter().filter(|it| it.span == f.span && is_entered(it));
            same.any(|it| last(it) == last(f))
        };
        let unreached: Vec<&Arc<Function>> =
            functions.into_iter().filter(|f| !is_entered(f) && !is_called(f)).collect();
        if unreached.is_empty() {
            return;
        }
        report.add(self.judge_unreached(loaded, &unreached, wanted));
    }

    /// Analyses files together, one after the other.
    #[must_use]
    pub fn analyze_all(&self, files: Vec<(&Path, Vec<u8>)>, wanted: Wanted<'_>) -> Vec<FileReport> {
        let loaded: Vec<Loaded> = files.into_iter().map(|(path, bytes)| self.load(path, bytes)).collect();
        let survey = self.survey(&loaded);
        let loaded: Vec<Loaded> = loaded.into_iter().map(|it| self.follow(it, &survey)).collect();
        let links = self.link(&loaded);
        let mut reports: Vec<FileReport> = loaded.iter().map(|it| self.analyze(it, &links, wanted)).collect();
        let entered = reports.iter().flat_map(|report| report.entered.iter().copied()).collect();
        for (loaded, report) in loaded.iter().zip(&mut reports) {
            self.analyze_unreached(loaded, &entered, wanted, report);
        }
        reports
    }

    /// Analyses one file by itself.
    #[must_use]
    pub fn analyze_file(&self, path: &Path, bytes: Vec<u8>) -> FileReport {
        self.analyze_all(vec![(path, bytes)], Wanted::Findings).pop().unwrap_or_default()
    }
}
