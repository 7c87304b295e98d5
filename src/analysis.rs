//! What do we find in one file?
//!
//! The pipeline: text and headers in, findings and verdicts out. Runs in two passes over the
//! files given: [`Run::load`] parses each and finds its launches, [`Run::link`] makes every
//! file's launches known to all, [`Run::analyze`] runs the kernels. Touches no stdout and no exit
//! code, and reads headers only through the [`Files`] it is given.

use crate::banks::{BankSize, ComputeCapability, Target};
use crate::diagnostic::Diagnostic;
use crate::headers::Headers;
pub use crate::headers::{Files, NoFiles};
use crate::ir::program::Program;
use crate::ir::{Function, FunctionKind, Name};
use crate::lower::lower;
use crate::preproc::{Defines, HeaderCache, expand_cached};
use crate::reach::Reach;
use crate::rules::{self, Case, KernelRun};
use crate::scenario::{self, Probes, Scenario};
use crate::source::{FileId, Sources, Span};
use crate::syntax::SyntaxTree;
use crate::trace::LaunchSite;
use crate::trials::run_scenario;
use crate::verdict::{SiteVerdict, Status};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A block shape given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOption {
    /// The kernel it is for; `None` for every kernel.
    pub kernel: Option<String>,
    /// Threads in x, y, z.
    pub shape: [u32; 3],
}

/// What was found in one file and in the headers reached from it.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Findings, at their rules' default levels.
    pub diagnostics: Vec<Diagnostic>,
    /// One verdict for each access site, block shape and target.
    pub verdicts: Vec<SiteVerdict>,
}

/// A file that was read, parsed and lowered, with the launches that its host code leads to.
#[derive(Debug, Default)]
pub struct Loaded {
    program: Program,
    launches: Vec<LaunchSite>,
}

/// The launches of all files, by kernel name.
#[derive(Debug, Default)]
pub struct Links {
    launches: FxHashMap<Name, Vec<LaunchSite>>,
}

impl Links {
    /// The launches of a kernel: those that see its definition; if there are none, those that only
    /// see a declaration of that name, of the nearest files.
    fn of(&self, kernel: &Function, sources: &Sources) -> Vec<LaunchSite> {
        let named = self.launches.get(&kernel.name).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<LaunchSite> = Vec::new();
        for launch in named.iter().filter(|launch| launch.definitions.contains(&kernel.name_span)) {
            if !found.iter().any(|other| other.same(launch)) {
                found.push(launch.clone());
            }
        }
        if !found.is_empty() {
            return found;
        }
        let home = sources.get(kernel.span.file).path.clone();
        let shared = |launch: &LaunchSite| {
            let path = sources.get(launch.span.file).path.clone();
            home.components().zip(path.components()).take_while(|(a, b)| a == b).count()
        };
        let declared: Vec<&LaunchSite> = named.iter().filter(|l| l.definitions.is_empty()).collect();
        let nearest = declared.iter().map(|launch| shared(launch)).max();
        declared.into_iter().filter(|launch| Some(shared(launch)) == nearest).cloned().collect()
    }
}

/// One run over a set of files. Shared between threads.
pub struct Run {
    headers: Headers,
    cache: HeaderCache,
    defines: Defines,
    targets: Vec<Target>,
    blocks: Vec<BlockOption>,
    eight_byte_banks: bool,
}

impl Run {
    /// A run over `files`, none of which is read here. Headers come from `disk`.
    #[must_use]
    pub fn new(options: Options, files: &[PathBuf], disk: Box<dyn Files>) -> Run {
        let targets = targets(&options.targets, options.bank_size_eight);
        let newest = targets.iter().map(|target| target.capability).max().unwrap_or(DEFAULT_TARGET);
        let arch = u32::from(newest.major) * 100 + u32::from(newest.minor) * 10;
        Run {
            headers: Headers::new(files, options.include_dirs, disk),
            cache: HeaderCache::default(),
            defines: Defines::new(arch, options.defines.iter().map(|(n, v)| (n.as_str(), v.as_str()))),
            targets,
            blocks: options.blocks,
            eight_byte_banks: options.bank_size_eight,
        }
    }

    /// Every file that was read so far.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        self.headers.sources()
    }

    /// Reads, parses and lowers one file and the headers it includes.
    #[must_use]
    pub fn load(&self, path: &Path, bytes: Vec<u8>) -> Loaded {
        let file = self.headers.given(path, bytes);
        if !mentions_cuda(&file.text) {
            return Loaded::default();
        }
        let expanded = expand_cached(&file, &self.defines, &self.headers, &self.cache);
        let included = expanded.headers.clone();
        let Some(tree) = SyntaxTree::parse(expanded) else { return Loaded::default() };
        let mut modules = vec![Arc::new(lower(&tree))];
        for header in included {
            modules.push(self.headers.module(&header, |file| {
                let expanded = expand_cached(file, &self.defines, &self.headers, &self.cache);
                SyntaxTree::parse(expanded).map(|tree| lower(&tree)).unwrap_or_default()
            }));
        }
        let program = Program::new(modules);
        let launches = scenario::hosts::launches(&program);
        Loaded { program, launches }
    }

    /// Makes the launches of all files known to each.
    #[must_use]
    pub fn link<'a>(&self, files: impl IntoIterator<Item = &'a Loaded>) -> Links {
        let mut links = Links::default();
        for loaded in files {
            for launch in &loaded.launches {
                links.launches.entry(launch.kernel.name.clone()).or_default().push(launch.clone());
            }
        }
        links
    }

    /// Runs the kernels of one file.
    #[must_use]
    pub fn analyze(&self, loaded: &Loaded, links: &Links) -> FileReport {
        let mut report = FileReport::default();
        let program = &loaded.program;
        let Some(own) = program.modules.first() else { return report };
        let eight = self.eight_byte_banks || own.eight_byte_banks;
        let bank_size = if eight { BankSize::Eight } else { BankSize::Four };
        let targets: Vec<Target> = self.targets.iter().map(|t| Target { bank_size, ..*t }).collect();
        let mut entered: Vec<Span> = Vec::new();
        let reach = Reach::new(program);
        for kernel in kernels(program, loaded, &self.headers) {
            if !reach.worth_running(&kernel) {
                continue;
            }
            let launches = links.of(&kernel, self.headers.sources());
            let mut probes = Probes::new();
            let scenarios = scenario::scenarios(program, &kernel, &launches, &self.blocks, &mut probes);
            let runs = run_all(program, &kernel, &scenarios, &targets, probes);
            self.report(program, &kernel, &scenarios, &runs, &targets, &mut report);
            entered.extend(runs.iter().flat_map(|run| &run.trace.entered));
        }
        // Device functions with shared memory of their own that no kernel here reaches.
        let orphans: Vec<Arc<Function>> = own
            .functions
            .iter()
            .filter(|f| f.kind == FunctionKind::Device && f.body.is_some() && f.mentions.shared)
            .filter(|f| !entered.contains(&f.name_span))
            .cloned()
            .collect();
        for function in orphans {
            let mut probes = Probes::new();
            let scenarios = scenario::scenarios(program, &function, &[], &self.blocks, &mut probes);
            let runs = run_all(program, &function, &scenarios, &targets, probes);
            self.report(program, &function, &scenarios, &runs, &targets, &mut report);
        }
        report
    }

    /// Analyses one file by itself: all passes at once.
    #[must_use]
    pub fn analyze_file(&self, path: &Path, bytes: Vec<u8>) -> FileReport {
        let loaded = self.load(path, bytes);
        let links = self.link([&loaded]);
        self.analyze(&loaded, &links)
    }

    fn report(
        &self,
        program: &Program,
        kernel: &Arc<Function>,
        scenarios: &[Scenario],
        runs: &[KernelRun],
        targets: &[Target],
        report: &mut FileReport,
    ) {
        for run in runs {
            verdicts(run, targets, &mut report.verdicts);
        }
        let sources = self.headers.sources();
        let text = |span: Span| sources.get(span.file).slice(span).to_string();
        let place = |span: Span| {
            let file = sources.get(span.file);
            format!("{}:{}", file.display_path(), file.line_column(span.start).0)
        };
        let padder = |run: usize, array: Span, extra: u64| {
            scenarios
                .get(run)
                .map(|scenario| run_scenario(program, kernel, scenario, targets, &[(array, extra)], None))
        };
        let case = Case { runs, targets, padder: &padder, text: &text, place: &place };
        report.diagnostics.extend(rules::check(&case));
    }
}

/// Scenarios of one kernel that may run out of budget.
const MOST_STOPPED: usize = 4;

/// The kernels to analyse for a file: its own, and those of headers not given themselves that it
/// launches.
fn kernels(program: &Program, loaded: &Loaded, headers: &Headers) -> Vec<Arc<Function>> {
    let mut found: Vec<Arc<Function>> = program.own_kernels().cloned().collect();
    for module in program.modules.iter().skip(1) {
        let given = module.file.is_some_and(|file: FileId| headers.is_given(file));
        for function in &module.functions {
            let launched = || loaded.launches.iter().any(|launch| launch.kernel.name == function.name);
            if !given && function.kind == FunctionKind::Kernel && function.body.is_some() && launched() {
                found.push(Arc::clone(function));
            }
        }
    }
    found
}

fn run_all(
    program: &Program,
    kernel: &Arc<Function>,
    scenarios: &[Scenario],
    targets: &[Target],
    mut probes: Probes,
) -> Vec<KernelRun> {
    let mut run = |scenario: &Scenario| {
        let at = probes.iter().position(|(setting, _)| *setting == scenario.setting);
        let probe = at.map(|at| probes.swap_remove(at).1);
        run_scenario(program, kernel, scenario, targets, &[], probe)
    };
    let mut runs: Vec<KernelRun> = Vec::new();
    for scenario in scenarios {
        // A kernel too long to be run is too long in every variant: a few say so.
        if runs.iter().filter(|run| run.trace.stopped.is_some()).count() >= MOST_STOPPED {
            break;
        }
        runs.push(run(scenario));
    }
    runs
}

fn verdicts(run: &KernelRun, targets: &[Target], out: &mut Vec<SiteVerdict>) {
    for (target, judgements) in targets.iter().zip(&run.judgements) {
        for (access, judgement) in run.trace.accesses.iter().zip(judgements) {
            let mut assumptions: Vec<String> = Vec::new();
            if matches!(judgement.status, Status::Assumed | Status::Depends) {
                assumptions.extend(access.assumptions.iter().map(ToString::to_string));
                assumptions.extend(judgement.assumptions.iter().cloned());
            }
            let totals = judgement.totals;
            out.push(SiteVerdict {
                span: access.span,
                kernel: run.kernel.clone(),
                array: run.trace.arrays[access.array].name.clone(),
                op: access.op,
                bytes: access.bytes,
                block: run.block,
                block_from: run.block_from,
                target: target.to_string(),
                status: judgement.status,
                assumptions,
                reason: judgement.reason.clone(),
                kind: judgement.kind,
                requests: totals.map(|t| t.requests),
                wavefronts: totals.map(|t| t.wavefronts),
                ideal: totals.map(|t| t.ideal),
                worst: totals.map(|t| t.worst.wavefronts),
                worst_ideal: totals.map(|t| t.worst.ideal),
                table: judgement.table.clone(),
            });
        }
    }
}

/// Whether a text can hold kernels, shared memory or launches at all.
fn mentions_cuda(text: &str) -> bool {
    let bytes = text.as_bytes();
    ["__global__", "__shared__", "<<<", "KERNEL", "cudaLaunch", "GLOBAL", "__device__"]
        .iter()
        .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}
