//! What of an earlier run still holds?
//!
//! Between two runs over the same files little has changed. A run keeps what it works out in pieces, each
//! with all that it was made from, and the next run takes a piece over where all of that is the same. So
//! its answer is that of a run which starts with nothing.
//!
//! | piece | made from |
//! |---|---|
//! | the number of a file | its path, its text |
//! | a file's items | the file, what its directives leave of it, the macros that its text sees |
//! | a program | the items of a file and of its headers |
//! | the kernels worth running | the program, which of its headers mean something else there |
//! | the launches | the program, the names of the kernels worth judging, the headers that count as its own |
//! | the report | the program, the kernels to judge for it, their launches, the programs with launches |
//! | what no kernel entered | the program, the functions |
//!
//! Which files are given and which options they have is asked first: where that has changed, no piece but
//! the numbers of files is taken over. Macros and headers are followed anew in each run, because the disk
//! may have changed.

use super::links::{Modules, Work};
use super::{FileReport, Loaded, Options, Run};
use crate::events::LaunchSite;
use crate::ir::program::Program;
use crate::ir::{Function, Module, Name};
use crate::preproc::{Print, Replayed};
use crate::source::{FileId, SourceFile, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run leaves to the next.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Whether anything is to be kept at all.
    keeps: bool,
    world: World,
    /// Every file by its number; nothing is in those that are not needed any more.
    all: Vec<Arc<SourceFile>>,
    /// Those that may be met again, by the path that they are shown with.
    files: FxHashMap<PathBuf, Arc<SourceFile>>,
    pieces: Pieces,
}

/// What holds for all files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct World {
    pub options: Vec<Options>,
    /// The files given, each with the number of its options.
    pub files: Vec<(PathBuf, usize)>,
}

/// What decides what a file's items are: the file, the number of the options, the print of its macros.
type Expansion = (FileId, usize, Print);

#[derive(Clone, Debug, Default)]
struct Pieces {
    modules: FxHashMap<Expansion, Arc<Module>>,
    programs: FxHashMap<FileId, Arc<Program>>,
    worth: FxHashMap<FileId, Worth>,
    names: Arc<FxHashSet<Name>>,
    launches: FxHashMap<FileId, Launches>,
    reports: FxHashMap<FileId, Arc<Reported>>,
    unreached: FxHashMap<FileId, Arc<Unreached>>,
}

#[derive(Clone, Debug)]
struct Worth {
    program: Arc<Program>,
    /// The headers, and whether each sees something from outside.
    headers: Vec<(FileId, bool)>,
    kernels: Vec<Arc<Function>>,
}

#[derive(Clone, Debug)]
struct Launches {
    program: Arc<Program>,
    names: Arc<FxHashSet<Name>>,
    own: FxHashSet<FileId>,
    found: Arc<[LaunchSite]>,
}

#[derive(Debug)]
struct Reported {
    program: Arc<Program>,
    work: Vec<Judged>,
    report: FileReport,
}

/// A kernel that was judged.
#[derive(Debug)]
struct Judged {
    kernel: Arc<Function>,
    launches: Vec<LaunchSite>,
    left_out: usize,
    hosts: Vec<Modules>,
}

#[derive(Debug)]
struct Unreached {
    program: Arc<Program>,
    functions: Vec<Span>,
    report: FileReport,
}

/// What a run takes over, and what it keeps.
#[derive(Debug, Default)]
pub(super) struct Memory {
    keeps: bool,
    world: World,
    files: FxHashMap<PathBuf, Arc<SourceFile>>,
    before: Pieces,
    now: Mutex<Pieces>,
}

impl Kept {
    /// Nothing yet, for the first of several runs. The default is for a run after which none comes.
    #[must_use]
    pub fn nothing_yet() -> Kept {
        Kept { keeps: true, ..Kept::default() }
    }

    /// Whether it is for several runs.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.keeps
    }

    /// For a run in this world: the sources that it starts with, and what it remembers.
    pub(super) fn start(self, world: World) -> (Sources, Memory) {
        let before = if self.world == world { self.pieces } else { Pieces::default() };
        let sources = Sources::after(self.all, self.files.clone());
        (sources, Memory { keeps: self.keeps, world, files: self.files, before, now: Mutex::default() })
    }
}

impl Run {
    /// Hands over what the next run may take over, and forgets the rest. `finished`: whether this one came to
    /// its end; else what it did not come to stays as it was before.
    #[must_use]
    pub fn keep(&mut self, finished: bool) -> Kept {
        let before = std::mem::take(&mut self.memory.before);
        let mut pieces = std::mem::take(&mut *self.memory.now());
        let mut files = self.headers.met();
        if !finished {
            pieces.take_over(&before);
            for (path, file) in &self.memory.files {
                files.entry(path.clone()).or_insert_with(|| Arc::clone(file));
            }
        }
        let memory = &self.memory;
        let needed: FxHashSet<FileId> = files.values().map(|file| file.id).collect();
        let nothing = Arc::new(SourceFile::new(FileId(u32::MAX), PathBuf::new(), Vec::new()));
        let mut all = self.sources().all();
        for file in all.iter_mut().filter(|file| !needed.contains(&file.id)) {
            *file = Arc::clone(&nothing);
        }
        Kept { keeps: memory.keeps, world: memory.world.clone(), all, files, pieces }
    }
}

impl Pieces {
    /// Adds what it lacks.
    fn take_over(&mut self, before: &Pieces) {
        fn add<K: Clone + Eq + std::hash::Hash, V: Clone>(to: &mut FxHashMap<K, V>, from: &FxHashMap<K, V>) {
            for (key, value) in from {
                to.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        add(&mut self.modules, &before.modules);
        add(&mut self.programs, &before.programs);
        add(&mut self.worth, &before.worth);
        add(&mut self.launches, &before.launches);
        add(&mut self.reports, &before.reports);
        add(&mut self.unreached, &before.unreached);
    }
}

impl Memory {
    fn now(&self) -> MutexGuard<'_, Pieces> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items of a file.
    pub(super) fn module(
        &self,
        settings: usize,
        replayed: Replayed,
        lower: impl FnOnce(Replayed) -> Module,
    ) -> Arc<Module> {
        if !self.keeps {
            return Arc::new(lower(replayed));
        }
        let key = (replayed.file.id, settings, replayed.print());
        let module = self.before.modules.get(&key).cloned().unwrap_or_else(|| Arc::new(lower(replayed)));
        self.now().modules.insert(key, Arc::clone(&module));
        module
    }

    /// The program of these files, the first of which is `file`.
    pub(super) fn program(&self, file: FileId, modules: Vec<Arc<Module>>) -> Arc<Program> {
        if !self.keeps {
            return Arc::new(Program::new(modules));
        }
        let known = self.before.programs.get(&file);
        let known = known.filter(|it| are_same(&it.modules, &modules)).cloned();
        let program = known.unwrap_or_else(|| Arc::new(Program::new(modules)));
        self.now().programs.insert(file, Arc::clone(&program));
        program
    }

    /// The kernels of a program that are worth running.
    pub(super) fn worth(
        &self,
        file: FileId,
        program: &Arc<Program>,
        headers: Vec<(FileId, bool)>,
        find: impl FnOnce() -> Vec<Arc<Function>>,
    ) -> Vec<Arc<Function>> {
        if !self.keeps {
            return find();
        }
        let known = self.before.worth.get(&file);
        let known = known.filter(|it| Arc::ptr_eq(&it.program, program) && it.headers == headers);
        let kernels = known.map_or_else(find, |it| it.kernels.clone());
        let worth = Worth { program: Arc::clone(program), headers, kernels: kernels.clone() };
        self.now().worth.insert(file, worth);
        kernels
    }

    /// The names of the kernels worth judging: what was there before, if it is the same.
    pub(super) fn names(&self, names: FxHashSet<Name>) -> Arc<FxHashSet<Name>> {
        let names =
            if *self.before.names == names { Arc::clone(&self.before.names) } else { Arc::new(names) };
        self.now().names = Arc::clone(&names);
        names
    }

    /// The launches that a program leads to.
    pub(super) fn launches(
        &self,
        file: FileId,
        program: &Arc<Program>,
        names: &Arc<FxHashSet<Name>>,
        own: FxHashSet<FileId>,
        find: impl FnOnce(&FxHashSet<FileId>) -> Vec<LaunchSite>,
    ) -> Vec<LaunchSite> {
        if !self.keeps {
            return find(&own);
        }
        let known =
            self.before.launches.get(&file).filter(|it| {
                Arc::ptr_eq(&it.program, program) && Arc::ptr_eq(&it.names, names) && it.own == own
            });
        let found = known.map_or_else(|| find(&own).into(), |it| Arc::clone(&it.found));
        let (program, names) = (Arc::clone(program), Arc::clone(names));
        let launches = Launches { program, names, own, found: Arc::clone(&found) };
        self.now().launches.insert(file, launches);
        found.to_vec()
    }

    /// The report on a file; `hosts` says which programs launch a kernel of a name.
    pub(super) fn report(
        &self,
        loaded: &Loaded,
        work: &[Work],
        hosts: &dyn Fn(&Name) -> Vec<Modules>,
        make: impl FnOnce() -> FileReport,
    ) -> FileReport {
        let Some(file) = loaded.file().filter(|_| self.keeps) else { return make() };
        let judged: Vec<Judged> = work
            .iter()
            .map(|work| Judged {
                kernel: Arc::clone(&work.kernel),
                launches: work.launches.clone(),
                left_out: work.left_out,
                hosts: hosts(&work.kernel.name),
            })
            .collect();
        let known = self.before.reports.get(&file);
        let known = known.filter(|it| Arc::ptr_eq(&it.program, &loaded.program) && it.work == judged);
        let reported = known.cloned().unwrap_or_else(|| {
            Arc::new(Reported { program: Arc::clone(&loaded.program), work: judged, report: make() })
        });
        self.now().reports.insert(file, Arc::clone(&reported));
        reported.report.clone()
    }

    /// What is to be added to the report on a file for functions that no kernel entered.
    pub(super) fn unreached(
        &self,
        loaded: &Loaded,
        functions: Vec<Span>,
        make: impl FnOnce() -> FileReport,
    ) -> FileReport {
        let Some(file) = loaded.file().filter(|_| self.keeps) else { return make() };
        let known = self.before.unreached.get(&file);
        let known = known.filter(|it| Arc::ptr_eq(&it.program, &loaded.program) && it.functions == functions);
        let found = known.cloned().unwrap_or_else(|| {
            Arc::new(Unreached { program: Arc::clone(&loaded.program), functions, report: make() })
        });
        self.now().unreached.insert(file, Arc::clone(&found));
        found.report.clone()
    }
}

impl PartialEq for Judged {
    fn eq(&self, other: &Judged) -> bool {
        let same_hosts = |(a, b): (&Modules, &Modules)| are_same(a, b);
        Arc::ptr_eq(&self.kernel, &other.kernel)
            && self.launches == other.launches
            && self.left_out == other.left_out
            && self.hosts.len() == other.hosts.len()
            && self.hosts.iter().zip(&other.hosts).all(same_hosts)
    }
}

/// Whether these are the same files, lowered once.
fn are_same(a: &[Arc<Module>], b: &[Arc<Module>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{NoFiles, Wanted};
    use std::path::Path;

    /// Runs over two files, one of which has this text.
    fn run(kept: Kept, text: &str) -> Kept {
        let other = "__global__ void b(int *o) { __shared__ int s[9]; s[threadIdx.x] = 1; o[0] = s[1]; }";
        let files = [("a.cu", text), ("b.cu", other)];
        let given = files.map(|(path, _)| (PathBuf::from(path), 0));
        let mut run = Run::after(kept, &[Options::default()], given, Box::new(NoFiles));
        let bytes = files.map(|(path, text)| (Path::new(path), text.as_bytes().to_vec()));
        assert_eq!(run.analyze_all(bytes.into(), Wanted::Findings).len(), 2);
        run.keep(true)
    }

    #[test]
    fn what_did_not_change_is_not_run_again_and_old_texts_go() {
        let text = "__global__ void a(int *o) { __shared__ int first[9]; o[0] = first[threadIdx.x]; }";
        let first = run(Kept::nothing_yet(), text);
        let second = run(first.clone(), &text.replace("first", "second"));
        let report = |kept: &Kept, path: &str| {
            let file = &kept.files[Path::new(path)];
            Arc::clone(&kept.pieces.reports[&file.id])
        };
        assert!(Arc::ptr_eq(&report(&first, "b.cu"), &report(&second, "b.cu")));
        assert!(!Arc::ptr_eq(&report(&first, "a.cu"), &report(&second, "a.cu")));
        assert_eq!((first.all.len(), second.all.len()), (2, 3));
        assert!(second.all.iter().all(|file| !file.text.contains("first")));
        // Where files come or go, all is done again.
        let other = Run::after(second.clone(), &[], [], Box::new(NoFiles));
        assert!(other.memory.before.reports.is_empty());
    }
}
