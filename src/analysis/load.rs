//! What is in the files?
//!
//! Nothing is parsed that cannot lead to a verdict: a file is, if its text and its headers' may
//! hold something to judge, or if they may launch a kernel that another file's make worth judging.

use super::again::beside;
use super::context::Context;
use super::{Asked, Run};
use crate::events::LaunchSite;
use crate::headers::{Headers, Reading, includes_of_projects};
use crate::ir::program::Program;
use crate::ir::{Function, FunctionKind, Module, Name};
use crate::lower::lower;
use crate::preproc::comments::{self, Ask, Directive};
use crate::preproc::{Expanded, Included, Outside, Replayed, Surroundings};
use crate::reach::Reach;
use crate::relevance::Words;
use crate::source::{FileId, SourceFile};
use crate::syntax::{Clean, SyntaxTree};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// A file that was read, and parsed and lowered if there was reason to, with the launches that
/// its host code leads to.
#[derive(Debug, Default)]
pub struct Loaded {
    pub(super) program: Arc<Program>,
    /// The file and its headers, as long as there was no reason to parse them.
    pub(super) waiting: Option<(Replayed, Words)>,
    /// Kernels worth judging: the file's own, those of headers that are not given themselves or mean
    /// something else here than by themselves, and those of headers that are left to it or launched by it.
    pub(super) worth: Vec<Arc<Function>>,
    /// Templates of headers that are given themselves, worth judging with what the file may hand to them.
    pub(super) handed: Vec<Name>,
    /// Its headers, and what they see of the definitions before them.
    pub(super) headers: Vec<Included>,
    pub(super) launches: Vec<Launched>,
    /// Whether it is a header that is judged where it is included.
    pub(super) is_left: bool,
    /// The headers given that it is the one to be judged for where no one launches their kernels.
    pub(super) keeps: FxHashSet<FileId>,
    /// The number of the settings that hold for the file.
    pub(super) settings: usize,
    /// The file, and what its comments ask for.
    comments: Option<(FileId, Vec<Directive>)>,
    /// The file, if not all of its headers' directives were run.
    cut_short: Option<FileId>,
}

/// A launch, and what its file says of the kernels that it may mean: one context for each definition.
#[derive(Debug)]
pub(super) struct Launched {
    pub site: LaunchSite,
    pub contexts: Vec<Context>,
}

impl Loaded {
    /// The file, if there was reason to parse it.
    pub(super) fn file(&self) -> Option<FileId> {
        self.program.modules.first()?.file
    }

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
                let mut directives = module.comments.clone();
                directives.iter_mut().for_each(|directive| cover_function(directive, module));
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

    /// The names of the kernels that the file and its headers define, if there was reason to parse them.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        let functions = self.program.modules.iter().flat_map(|module| &module.functions);
        functions.filter(|f| f.kind == FunctionKind::Kernel).map(|f| &*f.name)
    }
}

/// Lets a comment that stands above a function be about all of it.
fn cover_function(directive: &mut Directive, module: &Module) {
    let is_head = |function: &&Arc<Function>| {
        let name = function.name_span;
        let is_below = directive.next <= name.start && name.start < directive.covers.end;
        is_below && function.body.is_some() && Some(name.file) == module.file
    };
    let first = module.functions.iter().filter(is_head).min_by_key(|function| function.name_span.start);
    if let Some(function) = first.filter(|_| matches!(directive.ask, Ask::Allow(_) | Ask::Expect(_))) {
        directive.covers.end = directive.covers.end.max(function.span.end);
    }
}

/// What is asked of a run that is made to see global memory; for nothing, there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// Races for global memory.
    pub races: bool,
    /// Barriers that may be taken out.
    pub needless_barriers: bool,
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
        if !own && !includes_of_projects(&file.text) {
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
        let global_memory = self.settings[settings].asks.races;
        if !words.may_be_judged() && !global_memory {
            let comments = Some((file.id, replayed.comments()));
            let waiting = Some((replayed, words));
            return Loaded { waiting, settings, comments, cut_short, ..Loaded::default() };
        }
        let headers = replayed.headers.clone();
        let program = self.program(replayed, settings);
        let told = headers.iter().map(|header| (header.file.id, !header.outside.is_empty())).collect();
        let worth = self.memory.worth(file.id, &program, told, || {
            let reach = Reach::new(&program);
            let mut worth = kernels(&program, &headers, &self.headers);
            worth.retain(|kernel| global_memory || reach.worth_running(kernel));
            worth
        });
        let is_handed = |kernel: &Arc<Function>| {
            let mut included = headers.iter();
            let is_its = |header: &&Included| header.file.id == kernel.name_span.file;
            included.find(is_its).is_some_and(|header| !is_left_to_includers(header, &self.headers))
        };
        let (handed, worth): (Vec<_>, Vec<_>) = worth.into_iter().partition(is_handed);
        let handed = handed.iter().map(|kernel| kernel.name.clone()).collect();
        Loaded { program, worth, handed, headers, settings, cut_short, ..Loaded::default() }
    }

    /// What is asked of the runs for a file. Who else uses the kernels of a header is not seen.
    pub(super) fn asks_of(&self, loaded: &Loaded) -> Asks {
        let asks = self.settings[loaded.settings].asks;
        let path = loaded.file().map(|file| self.headers.sources().get(file).path.clone());
        let extension = path.as_ref().and_then(|path| path.extension()?.to_str()).unwrap_or("");
        let is_unit =
            ["cu", "hip", "cc", "cpp", "cxx", "c"].iter().any(|it| extension.eq_ignore_ascii_case(it));
        Asks { needless_barriers: asks.needless_barriers && is_unit, ..asks }
    }

    pub(super) fn surroundings(&self, settings: usize) -> Surroundings<'_> {
        let defines = &self.settings[settings].defines;
        Surroundings { defines, includes: &self.headers, cache: &self.cache }
    }

    /// Parses and lowers a file and the headers it includes, each once for all files that have the
    /// same settings and define the same before it.
    pub(super) fn program(&self, replayed: Replayed, settings: usize) -> Arc<Program> {
        let included = replayed.headers.clone();
        let file = replayed.file.id;
        let lowered = |replayed: Replayed| {
            self.memory.module(settings, replayed, |replayed, earlier| lowered(replayed.expand(), earlier))
        };
        let alone = Reading { file, settings, outside: Outside::default() };
        let mut modules = vec![self.headers.module(alone, || lowered(replayed))];
        for Included { file, outside } in &included {
            let reading = Reading { file: file.id, settings, outside: outside.clone() };
            let lower = || lowered(self.surroundings(settings).replay_header(file, outside));
            let module = self.headers.module(reading, lower);
            let earlier = modules.iter().filter(|it: &&Arc<Module>| it.file == Some(file.id));
            let earlier: Vec<&Module> = earlier.map(|it| &**it).collect();
            let module = if earlier.is_empty() { module } else { Arc::new(beside(&module, &earlier)) };
            modules.push(module);
        }
        self.memory.program(file, modules)
    }
}

/// What a file holds, and what is to be kept of its tree.
fn lowered(expanded: Expanded, earlier: Option<&Clean>) -> (Module, Option<Clean>) {
    let tree = SyntaxTree::parse_after(expanded, earlier);
    tree.map(|tree| (lower(&tree), Clean::of(tree))).unwrap_or_default()
}

/// The kernels that a file may be judged for: its own, and those of headers that are not given
/// themselves or mean something else here than by themselves. Of the others those that are templates: what is handed to
/// them may be seen here alone.
fn kernels(program: &Program, included: &[Included], headers: &Headers) -> Vec<Arc<Function>> {
    let mut found: Vec<Arc<Function>> = program.own_kernels().cloned().collect();
    for (module, header) in program.modules.iter().skip(1).zip(included) {
        let is_all = is_left_to_includers(header, headers);
        let defined = |f: &&Arc<Function>| f.kind == FunctionKind::Kernel && f.body.is_some();
        let wanted = |f: &&Arc<Function>| defined(f) && (is_all || !f.template_params.is_empty());
        found.extend(module.functions.iter().filter(wanted).cloned());
    }
    found
}

/// Whether the kernels of a header are judged where it is included: it is not given itself, or means something else
/// there.
fn is_left_to_includers(header: &Included, headers: &Headers) -> bool {
    !headers.is_given(header.file.id) || !header.outside.is_empty()
}

/// Whether a text can hold kernels, shared memory or launches at all.
fn mentions_cuda(text: &str) -> bool {
    let bytes = text.as_bytes();
    ["__global__", "__shared__", "<<<", "KERNEL", "cudaLaunch", "GLOBAL", "__device__"]
        .iter()
        .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}
