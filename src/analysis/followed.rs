//! What does a host function of a header lead to that several files include?
//!
//! A header that means something else to its includer than by itself counts as the includer's own, so each includer
//! runs its host functions. Most of them see the same: the macros before the header, and every definition that the
//! function leads to. Then it is run once, and the others are told the result.
//!
//! ```text
//! a.cu    #define SIZE 64     #include "run.h"     run() is followed
//! b.cu    #define SIZE 64     #include "run.h"     the macro is another definition: followed
//! all.h   #define SIZE 64     #include "run.h"
//! c.cu    #include "all.h"                         followed
//! d.cu    #include "all.h"                         the same: told
//! ```

use super::context::Definers;
use crate::exec::entry::{Led, Manner};
use crate::ir::program::Program;
use crate::ir::{Function, Name};
use crate::preproc::Included;
use crate::scenario::hosts::Question;
use crate::slice::written::is_written;
use crate::source::{FileId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is known so far, over all files.
#[derive(Debug, Default)]
pub(super) struct Followed {
    known: Mutex<FxHashMap<Asked, Arc<OnceLock<Led>>>>,
}

/// A function, and all that it is to a program.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    function: Span,
    settings: usize,
    manner: Manner,
    /// Of the names that it leads to, where each is defined and whether it leads to a launch.
    names: u64,
}

/// A program that asks.
pub(super) struct Asking<'a> {
    program: &'a Program,
    settings: usize,
    /// Of each of its headers, how often it is included and what it sees then, as one number.
    outsides: FxHashMap<FileId, (usize, u64)>,
    definers: RefCell<Option<Definers<'a>>>,
    /// Names of variables, and whether the program ever changes them.
    written: RefCell<FxHashMap<Name, bool>>,
}

impl<'a> Asking<'a> {
    pub fn new(program: &'a Program, headers: &'a [Included], settings: usize) -> Asking<'a> {
        let mut outsides: FxHashMap<FileId, (usize, u64)> = FxHashMap::default();
        for header in headers {
            let (times, seen) = outsides.entry(header.file.id).or_default();
            *times += 1;
            *seen = hash_of(&(*seen, &header.outside));
        }
        Asking { program, settings, outsides, definers: RefCell::new(None), written: RefCell::default() }
    }

    /// What tells a run of a function of a header; none of another. Of a header that is included twice, a place does
    /// not tell which of its functions is meant.
    fn asked(&self, question: &Question<'_>) -> Option<Asked> {
        let function = question.function;
        let outsides = &self.outsides;
        let (1, outside) = outsides.get(&function.span.file)? else { return None };
        let mut definers = self.definers.borrow_mut();
        let definers = definers.get_or_insert_with(|| Definers::new(self.program));
        let mut names: Vec<&Name> = reached(definers, function).into_iter().collect();
        names.sort_unstable();
        let mut hasher = DefaultHasher::new();
        outside.hash(&mut hasher);
        for name in names {
            self.is_written(name).hash(&mut hasher);
            (name, question.launching.contains(name)).hash(&mut hasher);
            for file in definers.files_of(name) {
                (file, outsides.get(file)).hash(&mut hasher);
            }
        }
        let manner = question.manner;
        Some(Asked { function: function.span, settings: self.settings, manner, names: hasher.finish() })
    }
}

impl Asking<'_> {
    /// Whether the program ever changes a variable of this name.
    fn is_written(&self, name: &Name) -> bool {
        if let Some(known) = self.written.borrow().get(name) {
            return *known;
        }
        let mut variables = self.program.variables(name).iter();
        let written = variables.any(|it| is_written(self.program, name, &it.ty));
        self.written.borrow_mut().insert(name.clone(), written);
        written
    }
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The names that a function leads to, and those that no text mentions where it uses them.
fn reached<'a>(definers: &mut Definers<'a>, function: &Function) -> FxHashSet<&'a Name> {
    let mut names = definers.reached(function, function.owner.clone());
    names.extend(definers.operators());
    names
}

impl Followed {
    /// What a function leads to; `run` runs it.
    pub fn led(&self, asking: &Asking<'_>, question: &Question<'_>, run: &dyn Fn() -> Led) -> Led {
        let Some(asked) = asking.asked(question) else { return run() };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let led = Arc::clone(known.entry(asked).or_default());
        drop(known);
        led.get_or_init(run).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{NoFiles, Options, Run, Wanted};
    use std::path::{Path, PathBuf};

    /// The first block dimension of each run that is known after these files are read.
    fn known_blocks(files: &[(&str, &str)]) -> Vec<Option<i64>> {
        let given: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
        let run = Run::new(Options::default(), &given, Box::new(NoFiles));
        let bytes = files.iter().map(|(path, text)| (Path::new(path), text.as_bytes().to_vec()));
        assert_eq!(run.analyze_all(bytes.collect(), Wanted::Findings).len(), files.len());
        let known = run.followed.known.lock().unwrap();
        let block = |led: &Arc<OnceLock<Led>>| {
            led.get().unwrap().launches.iter().map(|launch| launch.block[0]).next()
        };
        let mut blocks: Vec<Option<i64>> = known.values().filter_map(block).collect();
        blocks.sort_unstable();
        blocks
    }

    const RUN: &str = "__global__ void fill(int *o) { __shared__ int s[SIZE]; s[threadIdx.x] = 1; o[0] = s[1]; }\ninline void run(int *o) { fill<<<1, SIZE / part()>>>(o); }";

    #[test]
    fn includers_that_say_the_same_run_a_function_once() {
        let blocks = known_blocks(&[
            ("halves.h", "constexpr int part() { return 2; }"),
            ("run.h", RUN),
            ("all.h", "#define SIZE 64\n#include \"run.h\""),
            ("c.cu", "constexpr int part() { return 1; }\n#include \"all.h\""),
            ("d.cu", "#include \"halves.h\"\n#include \"all.h\""),
            ("e.cu", "#include \"halves.h\"\n#include \"all.h\"\nint other;"),
            ("f.cu", "#include \"halves.h\"\n#define SIZE 64\n#include \"run.h\""),
        ]);
        // `d.cu` and `e.cu` are one; `c.cu` divides by another number, and `f.cu` has a macro of its own.
        assert_eq!(blocks, [Some(32), Some(32), Some(64)]);
    }

    #[test]
    fn a_header_that_is_included_twice_says_what_it_says_each_time() {
        let blocks = known_blocks(&[
            ("twice.h", "constexpr int WORD() { return 2; }"),
            ("run.h", RUN),
            ("all.h", "#define SIZE 64\n#include \"run.h\""),
            (
                "part.h",
                "#define WORD a\n#include \"twice.h\"\n#undef WORD\n#define WORD part\n#include \"twice.h\"",
            ),
            (
                "b.h",
                "#define WORD a\n#include \"twice.h\"\n#undef WORD\n#define WORD b\n#include \"twice.h\"",
            ),
            ("c.cu", "#include \"part.h\"\n#include \"all.h\""),
            ("d.cu", "#include \"part.h\"\n#include \"all.h\"\nint other;"),
            ("e.cu", "#include \"b.h\"\n#include \"all.h\""),
        ]);
        // `c.cu` and `d.cu` are one; in `e.cu`, nothing says what `part` is.
        assert_eq!(blocks, [None, Some(32)]);
    }
}
