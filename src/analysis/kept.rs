//! What of an earlier run still holds?
//!
//! Between two runs over the same files little has changed. A run keeps what it works out in pieces, each
//! with all that it was made from, and the next run takes a piece over where all of that is the same. So
//! its answer is that of a run which starts with nothing.
//!
//! | piece | made from |
//! |---|---|
//! | the number of a file | its path, its text |
//! | what a file spells | its text |
//! | a file's items | the file, what its directives leave of it, the macros that its text sees |
//! | the tree of a file that is edited | the text: what did not change is not parsed again |
//! | a program | the items of a file and of its headers |
//! | the kernels worth running | the program, which of its headers mean something else there |
//! | the launches | the program, the names of the kernels worth judging, the headers that count as its own |
//! | what is found in a kernel | all that its runs came by: see [`parts`] |
//!
//! Which files are given and which options they have is asked first: where that has changed, no piece but
//! the numbers of files is taken over. Macros and headers are followed anew in each run, because the disk
//! may have changed.

mod difference;
mod parts;
mod pieces;

use super::standard::standard;
use super::texts::Texts;
use super::{FileReport, Options, Run};
use crate::events::LaunchSite;
use crate::exec::budget::FileBudget;
use crate::ir::program::Program;
use crate::ir::{Function, Module, Name};
use crate::preproc::{Print, Replayed};
use crate::relevance::Spelled;
use crate::source::{FileId, SourceFile, Sources};
use crate::syntax::Clean;
use difference::Differences;
pub(super) use parts::Judged;
use parts::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of how many files that are not edited any more the tree is kept.
const MOST_TREES: usize = 8;

/// What a run leaves to the next.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Whether anything is to be kept at all.
    keeps: bool,
    world: Arc<World>,
    /// Every file by its number; nothing is in those that are not needed any more.
    all: Arc<[Arc<SourceFile>]>,
    /// Those that may be met again, by the path that they are shown with.
    files: Arc<FxHashMap<PathBuf, Arc<SourceFile>>>,
    spelled: Arc<Spelled>,
    pieces: Arc<Pieces>,
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

#[derive(Debug, Default)]
struct Pieces {
    modules: FxHashMap<Expansion, Arc<Module>>,
    /// Of files that are edited, with the number of their options.
    trees: FxHashMap<(PathBuf, usize), Arc<Clean>>,
    programs: FxHashMap<FileId, Arc<Program>>,
    worth: FxHashMap<FileId, Worth>,
    names: Arc<FxHashSet<Name>>,
    launches: FxHashMap<FileId, Launches>,
    parts: FxHashMap<Owner, Vec<Arc<Part>>>,
}

/// For which file a kernel was judged, what it is called, and whether it is a function that no kernel entered.
type Owner = (PathBuf, Name, bool);

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

/// What a run takes over, and what it keeps.
#[derive(Debug, Default)]
pub(super) struct Memory {
    keeps: bool,
    world: Arc<World>,
    files: Arc<FxHashMap<PathBuf, Arc<SourceFile>>>,
    before: Arc<Pieces>,
    differences: Differences,
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

    /// For a run in this world: the sources that it starts with, what they spell, and what it remembers.
    pub(super) fn start(self, world: World) -> (Sources, Arc<Spelled>, Memory) {
        let before = if *self.world == world { self.pieces } else { Arc::default() };
        let sources = Sources::after(self.all.to_vec(), Arc::clone(&self.files));
        let (world, differences, now) = (Arc::new(world), Differences::default(), Mutex::default());
        (
            sources,
            self.spelled,
            Memory { keeps: self.keeps, world, files: self.files, before, differences, now },
        )
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
            for (path, file) in &*self.memory.files {
                files.entry(path.clone()).or_insert_with(|| Arc::clone(file));
            }
        }
        let memory = &self.memory;
        let needed: FxHashSet<FileId> = files.values().map(|file| file.id).collect();
        let spelled = Arc::clone(&self.spelled);
        spelled.keep(&needed);
        let nothing = Arc::new(SourceFile::new(FileId(u32::MAX), PathBuf::new(), Vec::new()));
        let mut all = self.sources().all();
        for file in all.iter_mut().filter(|file| !needed.contains(&file.id)) {
            *file = Arc::clone(&nothing);
        }
        let world = Arc::clone(&memory.world);
        let (files, pieces) = (Arc::new(files), Arc::new(pieces));
        Kept { keeps: memory.keeps, world, all: all.into(), files, spelled, pieces }
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
        add(&mut self.trees, &before.trees);
        add(&mut self.programs, &before.programs);
        add(&mut self.worth, &before.worth);
        add(&mut self.launches, &before.launches);
        add(&mut self.parts, &before.parts);
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
        lower: impl FnOnce(Replayed, Option<&Clean>) -> (Module, Option<Clean>),
    ) -> Arc<Module> {
        if !self.keeps {
            return Arc::new(lower(replayed, None).0);
        }
        let key = (replayed.file.id, settings, replayed.print());
        let path = (replayed.file.path.clone(), settings);
        let is_edited = self.files.get(&path.0).is_some_and(|before| before.id != replayed.file.id);
        let mut tree = self.before.trees.get(&path).cloned();
        let module = self.before.modules.get(&key).cloned().unwrap_or_else(|| {
            let (module, clean) = lower(replayed, tree.as_deref());
            tree = clean.filter(|_| is_edited).map(Arc::new).or(tree.take());
            Arc::new(module)
        });
        let mut now = self.now();
        if let Some(tree) = tree.filter(|_| is_edited || now.trees.len() < MOST_TREES) {
            now.trees.insert(path, tree);
        }
        now.modules.insert(key, Arc::clone(&module));
        module
    }

    /// The program of these files, the first of which is `file`.
    pub(super) fn program(&self, file: FileId, modules: Vec<Arc<Module>>) -> Arc<Program> {
        if !self.keeps {
            return Arc::new(Program::new(modules, Some(standard())));
        }
        let known = self.before.programs.get(&file);
        let known = known.filter(|it| are_same(&it.modules, &modules)).cloned();
        let program = known.unwrap_or_else(|| Arc::new(Program::new(modules, Some(standard()))));
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

    /// What is found in a kernel that is judged for the file of this path. `make` makes it in a program that
    /// notes what is looked up in it, and with texts that note what they are asked.
    pub(super) fn part(
        &self,
        path: &Path,
        judged: Judged,
        sources: &Sources,
        budget: &FileBudget,
        make: impl FnOnce(&Program, &Texts<'_>) -> FileReport,
    ) -> FileReport {
        if !self.keeps {
            let program = &judged.program;
            return make(program, &Texts::new(sources, program, false));
        }
        let owner = (path.to_path_buf(), judged.kernel.name.clone(), judged.alone);
        let before = self.before.parts.get(&owner).map_or(&[][..], Vec::as_slice);
        let known = before.iter().find_map(|part| part.still(&judged, &self.differences, budget, sources));
        let part = known.unwrap_or_else(|| {
            let start = budget.mark();
            let (program, sought) = judged.program.watched();
            let texts = Texts::new(sources, &program, true);
            let report = make(&program, &texts);
            Arc::new(Part::new(judged, sought, texts.notes(), budget.spent_since(start), report))
        });
        self.now().parts.entry(owner).or_default().push(Arc::clone(&part));
        part.report()
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
        let part = |kept: &Kept, path: &str, name: &str| {
            Arc::clone(&kept.pieces.parts[&(path.into(), name.into(), false)][0])
        };
        assert!(Arc::ptr_eq(&part(&first, "b.cu", "b"), &part(&second, "b.cu", "b")));
        assert!(!Arc::ptr_eq(&part(&first, "a.cu", "a"), &part(&second, "a.cu", "a")));
        assert_eq!((first.all.len(), second.all.len()), (2, 3));
        assert!(second.all.iter().all(|file| !file.text.contains("first")));
        // Where files come or go, all is done again.
        let other = Run::after(second.clone(), &[], [], Box::new(NoFiles));
        assert!(other.memory.before.parts.is_empty());
    }

    /// Two kernels, one of which calls a function, and launches of both.
    const KERNELS: &str = "__device__ int get(int *s) { return s[threadIdx.x * 2]; }
__global__ void a(int *o) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); o[0] = get(s); }
int other(int n) { return n; }
__global__ void b(int *o) { __shared__ int s[64]; s[threadIdx.x * 2] = 1; __syncthreads(); o[0] = s[1]; }
void run(int *o) { a<<<1, 32>>>(o); b<<<1, 32>>>(o); }
";

    /// Which of the two kernels are run again after this change, and what is told then.
    fn run_again(from: &str, to: &str) -> Vec<&'static str> {
        let changed = KERNELS.replacen(from, to, 1);
        assert_ne!(changed, KERNELS);
        let (before, after) =
            (run(Kept::nothing_yet(), KERNELS), run(run(Kept::nothing_yet(), KERNELS), &changed));
        let first = run(before, KERNELS);
        let second = run(first.clone(), &changed);
        let part =
            |kept: &Kept, name: &str| Arc::clone(&kept.pieces.parts[&("a.cu".into(), name.into(), false)][0]);
        // What was made anew looked everything up by itself.
        let again = |name: &&str| !part(&first, name).is_carried_on_by(&part(&second, name));
        let findings = |kept: &Kept| ["a", "b"].map(|name| part(kept, name).report().diagnostics);
        let fresh = run(Kept::nothing_yet(), &changed);
        let words = |kept: &Kept| {
            findings(kept)
                .map(|all| all.into_iter().map(|it| (it.message, it.primary.start)).collect::<Vec<_>>())
        };
        assert_eq!(words(&second), words(&fresh), "{to}");
        assert_eq!(words(&after), words(&fresh), "{to}");
        ["a", "b"].into_iter().filter(again).collect()
    }

    #[test]
    fn a_kernel_is_run_again_only_if_what_it_came_by_has_changed() {
        let none: [&str; 0] = [];
        assert_eq!(run_again("return n;", "return n + 1;"), none);
        assert_eq!(run_again("return n;", "int unused = 3; return n;"), none);
        assert_eq!(run_again("__device__ int get", "// a word\n__device__ int get"), none);
        assert_eq!(run_again("return n;", "\n\n  return n;"), none);
        assert_eq!(run_again("s[threadIdx.x] = 1;", "s[threadIdx.x] = 2;"), ["a"]);
        assert_eq!(run_again("threadIdx.x * 2]; }", "threadIdx.x * 4]; }"), ["a"]);
        assert_eq!(run_again("b<<<1, 32>>>", "b<<<1, 16>>>"), ["b"]);
        // Where more changes than bodies, anything may mean something else.
        assert_eq!(run_again("int other(int n)", "int other(long n)"), ["a", "b"]);
        assert_eq!(run_again("int other", "__device__ int more;\nint other"), ["a", "b"]);
        assert_eq!(run_again("return n;", "atomicAdd(&n, 1); return n;"), ["a", "b"]);
    }
}
