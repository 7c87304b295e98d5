//! What does a header's kernel use that only its includer defines?
//!
//! A header is not compiled by itself: what it leaves open, the files say that include it. Two
//! includers that say the same of a kernel see one kernel; two that do not see two.
//!
//! | before `#include "k.cuh"` | the kernel says | context |
//! |---|---|---|
//! | nothing | `s[threadIdx.x]` | plain |
//! | `#define STRIDE 4` | `s[threadIdx.x * STRIDE]` | that definition |
//! | `constexpr int STRIDE = 4;` | `s[threadIdx.x * STRIDE]` | that variable |
//! | `struct Max { ... };` | `op(a, b)` of a parameter `Op op`, launched as `k<Max>` | that class |
//!
//! What a name means in a header's own files is not asked: a name of theirs is no stranger's.

use crate::events::LaunchArg;
use crate::ir::names::{header_names, mentioned_names, type_names, variable_names};
use crate::ir::program::Program;
use crate::ir::{Function, Name};
use crate::preproc::Outside;
use crate::source::FileId;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the includer of a header says of one of its kernels. Plain: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Context {
    /// The macros that the header sees.
    outside: Outside,
    /// The names that the kernel leads to and that other files than the header's own define, with those.
    strangers: Vec<(FileId, Name)>,
}

impl Context {
    /// One of which only the macros are told.
    pub fn of_macros(outside: &Outside) -> Context {
        Context { outside: outside.clone(), strangers: Vec::new() }
    }
}

/// The files of a program that define a name.
pub struct Definers<'p> {
    program: &'p Program,
    files: FxHashMap<&'p Name, Vec<FileId>>,
}

impl<'p> Definers<'p> {
    /// Looks through the whole program.
    pub fn new(program: &'p Program) -> Definers<'p> {
        let mut files: FxHashMap<&Name, Vec<FileId>> = FxHashMap::default();
        for module in &program.modules {
            let Some(file) = module.file else { continue };
            let functions = module.functions.iter().filter(|it| it.body.is_some()).map(|it| &it.name);
            let records = module.records.iter().map(|it| &it.name);
            let variables = module.variables.iter().map(|it| &it.name);
            let aliases = module.aliases.iter().map(|it| &it.name);
            let enums = module.enums.iter().map(|(name, _)| name);
            for name in functions.chain(records).chain(variables).chain(aliases).chain(enums) {
                let known = files.entry(name).or_default();
                if known.last() != Some(&file) {
                    known.push(file);
                }
            }
        }
        Definers { program, files }
    }

    /// What the program says of a kernel whose own files are `home`, launched with `args`.
    pub fn context(
        &self,
        kernel: &Function,
        args: &[LaunchArg],
        home: &FxHashSet<FileId>,
        outside: &Outside,
    ) -> Context {
        let mut strangers: Vec<(FileId, Name)> = Vec::new();
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut names = mentioned_names(kernel);
        names.extend(header_names(kernel));
        for arg in args {
            if let LaunchArg::Type(ty) = arg {
                names.extend(type_names(ty));
            }
        }
        while let Some(name) = names.pop() {
            let Some(files) = self.files.get(&name).filter(|_| !seen.contains(&name)) else { continue };
            if !files.iter().any(|file| home.contains(file)) {
                strangers.extend(files.iter().map(|file| (*file, name.clone())));
            }
            self.follow(&name, &mut names);
            seen.insert(name);
        }
        strangers.sort_unstable();
        Context { outside: outside.clone(), strangers }
    }

    /// Adds the names that what has this name is made of.
    fn follow(&self, name: &Name, names: &mut Vec<Name>) {
        let program = self.program;
        for function in program.functions(name).iter().chain(program.conversions(name)) {
            names.extend(mentioned_names(function));
        }
        for variable in program.variables(name) {
            names.extend(variable_names(variable));
        }
        for alias in program.aliases(name) {
            names.extend(type_names(&alias.ty));
        }
        for record in program.records(name) {
            names.extend(record.bases.iter().flat_map(type_names));
            names.extend(record.fields.iter().flat_map(|field| type_names(&field.ty)));
            names.extend(record.constants.iter().flat_map(variable_names));
            names.extend(record.aliases.iter().flat_map(|alias| type_names(&alias.ty)));
        }
    }
}
