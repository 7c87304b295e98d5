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
use crate::preproc::{Included, Outside};
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
    /// What each of its headers sees; none if a header is included twice, so that its number does not tell its text.
    outsides: Option<FxHashMap<FileId, &'a Outside>>,
    definers: RefCell<Option<Definers<'a>>>,
    /// Names of variables, and whether the program ever changes them.
    written: RefCell<FxHashMap<Name, bool>>,
}

impl<'a> Asking<'a> {
    pub fn new(program: &'a Program, headers: &'a [Included], settings: usize) -> Asking<'a> {
        let outsides: FxHashMap<FileId, &Outside> =
            headers.iter().map(|header| (header.file.id, &header.outside)).collect();
        let outsides = (outsides.len() == headers.len()).then_some(outsides);
        Asking { program, settings, outsides, definers: RefCell::new(None), written: RefCell::default() }
    }

    /// What tells a run of a function of a header; none of another.
    fn asked(&self, question: &Question<'_>) -> Option<Asked> {
        let outsides = self.outsides.as_ref()?;
        let function = question.function;
        outsides.get(&function.span.file)?;
        let mut definers = self.definers.borrow_mut();
        let definers = definers.get_or_insert_with(|| Definers::new(self.program));
        let mut names: Vec<&Name> = reached(definers, function).into_iter().collect();
        names.sort_unstable();
        let mut hasher = DefaultHasher::new();
        outsides.get(&function.span.file).hash(&mut hasher);
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

    #[test]
    fn includers_that_say_the_same_run_a_function_once() {
        let files = [
            ("halves.h", "constexpr int part() { return 2; }"),
            (
                "run.h",
                "__global__ void fill(int *o) { __shared__ int s[SIZE]; s[threadIdx.x] = 1; o[0] = s[1]; }\ninline void run(int *o) { fill<<<1, SIZE / part()>>>(o); }",
            ),
            ("all.h", "#define SIZE 64\n#include \"run.h\""),
            ("c.cu", "constexpr int part() { return 1; }\n#include \"all.h\""),
            ("d.cu", "#include \"halves.h\"\n#include \"all.h\""),
            ("e.cu", "#include \"halves.h\"\n#include \"all.h\"\nint other;"),
            ("f.cu", "#include \"halves.h\"\n#define SIZE 64\n#include \"run.h\""),
        ];
        let given: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
        let run = Run::new(Options::default(), &given, Box::new(NoFiles));
        let bytes = files.map(|(path, text)| (Path::new(path), text.as_bytes().to_vec()));
        assert_eq!(run.analyze_all(bytes.into(), Wanted::Findings).len(), files.len());
        let known = run.followed.known.lock().unwrap();
        let block = |led: &Arc<OnceLock<Led>>| {
            led.get().unwrap().launches.iter().map(|launch| launch.block[0]).next()
        };
        let mut blocks: Vec<Option<i64>> = known.values().filter_map(block).collect();
        blocks.sort_unstable();
        // `d.cu` and `e.cu` are one; `c.cu` divides by another number, and `f.cu` has a macro of its own.
        assert_eq!(blocks, [Some(32), Some(32), Some(64)]);
    }
}
