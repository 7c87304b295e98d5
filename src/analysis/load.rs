//! What is in the files, and which launches do they lead to?
//!
//! Nothing is parsed that cannot lead to a verdict: a file is, if its text and its headers' may
//! hold something to judge, or if they may launch a kernel that another file's make worth judging.

use super::{Asked, Run};
use crate::headers::{Headers, Reading};
use crate::ir::program::Program;
use crate::ir::{Function, FunctionKind, Module, Name};
use crate::lower::lower;
use crate::preproc::comments::{self, Directive};
use crate::preproc::{Expanded, Included, Outside, Replayed, Surroundings};
use crate::reach::Reach;
use crate::relevance::{JudgedKernels, Words};
use crate::scenario;
use crate::source::{FileId, SourceFile, Sources, Span};
use crate::syntax::SyntaxTree;
use crate::trace::LaunchSite;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::Arc;

/// A file that was read, and parsed and lowered if there was reason to, with the launches that
/// its host code leads to.
#[derive(Debug, Default)]
pub struct Loaded {
    pub(super) program: Program,
    /// The file and its headers, as long as there was no reason to parse them.
    waiting: Option<(Replayed, Words)>,
    /// Kernels worth judging: the file's own, and those of headers that are not given themselves or
    /// mean something else here than by themselves.
    worth: Vec<Arc<Function>>,
    /// Headers that mean something else here than by themselves.
    told: FxHashSet<FileId>,
    /// Headers that mean the same here.
    plain: Vec<FileId>,
    launches: Vec<LaunchSite>,
    /// The number of the settings that hold for the file.
    pub(super) settings: usize,
    /// The file, and what its comments ask for.
    comments: Option<(FileId, Vec<Directive>)>,
    /// The file, if not all of its headers' directives were run.
    cut_short: Option<FileId>,
}

impl Loaded {
    /// What the comments of the file and of its headers ask for.
    pub(super) fn asked(&self) -> Vec<Asked> {
        let mut found = Vec::new();
        if let Some((file, directives)) = &self.comments
            && self.program.modules.is_empty()
        {
            found.push(Asked { file: *file, directives: directives.clone(), own: true, blocks: None });
        }
        for (at, module) in self.program.modules.iter().enumerate() {
            if let Some(file) = module.file.filter(|_| !module.comments.is_empty()) {
                let blocks = module.functions.iter().filter_map(|f| Some(f.block_directive?.1)).collect();
                let directives = module.comments.clone();
                found.push(Asked { file, directives, own: at == 0, blocks: Some(blocks) });
            }
        }
        found
    }

    /// The file, and those of its headers, of which not all directives were run.
    pub(super) fn cut_short(&self) -> Vec<FileId> {
        let modules = self.program.modules.iter().filter(|module| module.is_cut_short);
        self.cut_short.into_iter().chain(modules.filter_map(|module| module.file)).collect()
    }

    /// The kernels to judge for the file: its own that no includer is judged for instead, and those
    /// of headers that it launches.
    pub(super) fn kernels(&self, links: &Links) -> impl Iterator<Item = &Arc<Function>> {
        self.worth.iter().filter(move |kernel| {
            if self.is_own(kernel) { !links.left_to_includers(kernel) } else { self.launches_header(kernel) }
        })
    }

    /// The file's own kernels that are judged where another file includes it.
    pub(super) fn left_to_includers(&self, links: &Links) -> impl Iterator<Item = &Arc<Function>> {
        self.worth.iter().filter(move |kernel| self.is_own(kernel) && links.left_to_includers(kernel))
    }

    fn is_own(&self, kernel: &Function) -> bool {
        self.program.modules.first().is_some_and(|module| module.file == Some(kernel.span.file))
    }

    /// The launches that the kernel is judged for.
    pub(super) fn launches(&self, kernel: &Function, links: &Links, sources: &Sources) -> Vec<LaunchSite> {
        if !self.told.contains(&kernel.span.file) {
            return links.of(kernel, sources);
        }
        unlike(self.launches.iter().filter(|launch| launch.definitions.contains(&kernel.name_span)))
    }

    /// Whether a launch leads to a kernel as only this file sees it.
    fn is_told(&self, launch: &LaunchSite) -> bool {
        launch.definitions.iter().any(|name| self.told.contains(&name.file))
    }

    fn launches_header(&self, kernel: &Function) -> bool {
        self.launches.iter().any(|launch| launch.definitions.contains(&kernel.name_span))
    }
}

/// A file and its headers.
pub(super) type Modules = Arc<[Arc<Module>]>;

/// The launches of all files, by kernel name.
#[derive(Debug, Default)]
pub struct Links {
    /// Without those of a kernel in a header that means something else in the launching file.
    launches: FxHashMap<Name, Vec<LaunchSite>>,
    /// What the files with any launch of a kernel are made of, by its name.
    hosts: FxHashMap<Name, Vec<Modules>>,
    /// The kernels of those, by the place of their name.
    told: FxHashSet<Span>,
    /// Headers that some file includes as they are by themselves.
    plain: FxHashSet<FileId>,
}

impl Links {
    /// Whether all who launch the kernel of a header give it a meaning of their own. What the header
    /// itself launches is launched by those who include it.
    fn left_to_includers(&self, kernel: &Function) -> bool {
        let file = kernel.span.file;
        let sees = |launch: &LaunchSite| {
            launch.definitions.contains(&kernel.name_span)
                && (launch.span.file != file || self.plain.contains(&file))
        };
        self.told.contains(&kernel.name_span)
            && !self.launches.get(&kernel.name).is_some_and(|launches| launches.iter().any(sees))
    }

    /// The files that launch a kernel of this name, each with its headers.
    pub(super) fn hosts(&self, name: &Name) -> &[Modules] {
        self.hosts.get(name).map_or(&[], Vec::as_slice)
    }

    /// The launches of a kernel: those that see its definition; if there are none, those that only
    /// see a declaration of that name, of the nearest files.
    pub(super) fn of(&self, kernel: &Function, sources: &Sources) -> Vec<LaunchSite> {
        let named = self.launches.get(&kernel.name).map_or(&[][..], Vec::as_slice);
        let found = unlike(named.iter().filter(|launch| launch.definitions.contains(&kernel.name_span)));
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

/// Launches without repetition.
fn unlike<'l>(launches: impl Iterator<Item = &'l LaunchSite>) -> Vec<LaunchSite> {
    let mut found: Vec<LaunchSite> = Vec::new();
    for launch in launches {
        if !found.iter().any(|other| other.same(launch)) {
            found.push(launch.clone());
        }
    }
    found
}

impl Run {
    /// Reads one file and its headers' directives; parses and lowers what may hold something to judge.
    #[must_use]
    pub fn load(&self, path: &Path, bytes: Vec<u8>) -> Loaded {
        let file = self.headers.given(path, bytes);
        // Host code that mentions nothing of CUDA may call a launcher of a header.
        let own = mentions_cuda(&file.text);
        let silent = |file: &SourceFile, cut_short: Option<FileId>| {
            let comments = Some((file.id, comments::directives(&file.text)));
            Loaded { comments, cut_short, ..Loaded::default() }
        };
        if !own && !file.text.contains("#include \"") {
            return silent(&file, None);
        }
        let settings = self.settings_of(path);
        let replayed = self.surroundings(settings).replay(&file);
        let cut_short = replayed.is_cut_short.then_some(file.id);
        if !own && !replayed.headers.iter().any(|header| mentions_cuda(&header.file.text)) {
            return silent(&file, cut_short);
        }
        let spelled = |words: Words, header: &Included| words | self.spelled.of(&header.file);
        let words =
            replayed.headers.iter().fold(self.settings[settings].defined | self.spelled.of(&file), spelled);
        if !words.may_be_judged() {
            let comments = Some((file.id, replayed.comments()));
            let waiting = Some((replayed, words));
            return Loaded { waiting, settings, comments, cut_short, ..Loaded::default() };
        }
        let included = replayed.headers.clone();
        let program = self.program(replayed, settings);
        let reach = Reach::new(&program);
        let mut worth = kernels(&program, &included, &self.headers);
        worth.retain(|kernel| reach.worth_running(kernel));
        let (plain, told): (Vec<&Included>, Vec<_>) = included.iter().partition(|it| it.outside.is_empty());
        let plain = plain.into_iter().map(|header| header.file.id).collect();
        let told = told.into_iter().map(|header| header.file.id).collect();
        Loaded { program, worth, told, plain, settings, cut_short, ..Loaded::default() }
    }

    /// The kernels of all files that are worth judging.
    #[must_use]
    pub fn judged_kernels<'a>(&self, files: impl IntoIterator<Item = &'a Loaded>) -> JudgedKernels {
        let kernels = files.into_iter().flat_map(|loaded| &loaded.worth);
        JudgedKernels::new(kernels.map(|kernel| kernel.name.clone()).collect::<FxHashSet<Name>>())
    }

    /// Finds the launches of `wanted` kernels that a file's host code leads to.
    #[must_use]
    pub fn follow(&self, mut loaded: Loaded, wanted: &JudgedKernels) -> Loaded {
        if let Some((replayed, words)) = loaded.waiting.take() {
            let mut files: Vec<&SourceFile> = replayed.headers.iter().map(|header| &*header.file).collect();
            files.push(&replayed.file);
            if !wanted.may_be_launched(words, &files) {
                return loaded;
            }
            loaded.program = self.program(replayed, loaded.settings);
        }
        loaded.launches = scenario::hosts::launches(&loaded.program, wanted, &loaded.told);
        loaded
    }

    /// Makes the launches of all files known to each.
    #[must_use]
    pub fn link<'a>(&self, files: impl IntoIterator<Item = &'a Loaded>) -> Links {
        let mut links = Links::default();
        for loaded in files {
            links.plain.extend(&loaded.plain);
            let names: FxHashSet<&Name> = loaded.launches.iter().map(|launch| &launch.kernel.name).collect();
            let modules: Modules = loaded.program.modules.clone().into();
            for name in names {
                links.hosts.entry(name.clone()).or_default().push(Arc::clone(&modules));
            }
            for launch in &loaded.launches {
                if loaded.is_told(launch) {
                    links.told.extend(launch.definitions.iter().copied());
                } else {
                    links.launches.entry(launch.kernel.name.clone()).or_default().push(launch.clone());
                }
            }
        }
        links
    }

    fn surroundings(&self, settings: usize) -> Surroundings<'_> {
        let defines = &self.settings[settings].defines;
        Surroundings { defines, includes: &self.headers, cache: &self.cache }
    }

    /// Parses and lowers a file and the headers it includes, each once for all files that have the
    /// same settings and define the same before it.
    fn program(&self, replayed: Replayed, settings: usize) -> Program {
        let included = replayed.headers.clone();
        let file = Arc::clone(&replayed.file);
        let alone = Reading { file: file.id, settings, outside: Outside::default() };
        let mut modules = vec![self.headers.module(alone, || lowered(replayed.expand()))];
        for Included { file, outside } in &included {
            let reading = Reading { file: file.id, settings, outside: outside.clone() };
            let lower = || lowered(self.surroundings(settings).replay_header(file, outside).expand());
            modules.push(self.headers.module(reading, lower));
        }
        Program::new(modules)
    }
}

fn lowered(expanded: Expanded) -> Module {
    SyntaxTree::parse(expanded).map(|tree| lower(&tree)).unwrap_or_default()
}

/// The kernels that a file may be judged for: its own, and those of headers that are not given
/// themselves or mean something else here than by themselves.
fn kernels(program: &Program, included: &[Included], headers: &Headers) -> Vec<Arc<Function>> {
    let mut found: Vec<Arc<Function>> = program.own_kernels().cloned().collect();
    for (module, header) in program.modules.iter().skip(1).zip(included) {
        if !headers.is_given(header.file.id) || !header.outside.is_empty() {
            let defined = |f: &&Arc<Function>| f.kind == FunctionKind::Kernel && f.body.is_some();
            found.extend(module.functions.iter().filter(defined).cloned());
        }
    }
    found
}

/// Whether a text can hold kernels, shared memory or launches at all.
fn mentions_cuda(text: &str) -> bool {
    let bytes = text.as_bytes();
    ["__global__", "__shared__", "<<<", "KERNEL", "cudaLaunch", "GLOBAL", "__device__"]
        .iter()
        .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}
