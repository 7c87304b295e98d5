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
    /// The defined names that what has a name is made of, as far as that was asked.
    made_of: FxHashMap<&'p Name, Vec<&'p Name>>,
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
            let enums = module.enums.iter().map(|it| &it.name);
            for name in functions.chain(records).chain(variables).chain(aliases).chain(enums) {
                let known = files.entry(name).or_default();
                if known.last() != Some(&file) {
                    known.push(file);
                }
            }
        }
        Definers { program, files, made_of: FxHashMap::default() }
    }

    /// What the program says of a kernel whose own files are `home`, launched with `args`.
    pub fn context(
        &mut self,
        kernel: &Function,
        args: &[LaunchArg],
        home: &FxHashSet<FileId>,
        outside: &Outside,
    ) -> Context {
        let types = args.iter().filter_map(|arg| match arg {
            LaunchArg::Type(ty) => Some(type_names(ty)),
            _ => None,
        });
        let mut strangers: Vec<(FileId, Name)> = Vec::new();
        for name in self.reached(kernel, types.flatten()) {
            let files = self.files_of(name);
            if !files.iter().any(|file| home.contains(file)) {
                strangers.extend(files.iter().map(|file| (*file, name.clone())));
            }
        }
        strangers.sort_unstable();
        Context { outside: outside.clone(), strangers }
    }

    /// The defined names that a function and some other names lead to, in no order.
    pub fn reached(
        &mut self,
        function: &Function,
        more: impl IntoIterator<Item = Name>,
    ) -> FxHashSet<&'p Name> {
        let mut names = mentioned_names(function);
        names.extend(header_names(function));
        names.extend(more);
        let mut seen: FxHashSet<&'p Name> = FxHashSet::default();
        let mut waiting = self.defined(&names);
        while let Some(name) = waiting.pop() {
            if seen.insert(name) {
                waiting.extend(self.parts(name).iter().filter(|part| !seen.contains(*part)));
            }
        }
        seen
    }

    /// The files that define a name.
    pub fn files_of(&self, name: &Name) -> &[FileId] {
        self.files.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every name of an operator that is defined.
    pub fn operators(&self) -> impl Iterator<Item = &'p Name> {
        self.files.keys().copied().filter(|name| name.starts_with("operator"))
    }

    /// Those of some names that a file defines.
    fn defined(&self, names: &[Name]) -> Vec<&'p Name> {
        names.iter().filter_map(|name| Some(*self.files.get_key_value(name)?.0)).collect()
    }

    /// The defined names that what has this name is made of.
    fn parts(&mut self, name: &'p Name) -> &[&'p Name] {
        if !self.made_of.contains_key(name) {
            let mut parts = self.defined(&self.names_in(name));
            parts.sort_unstable();
            parts.dedup();
            self.made_of.insert(name, parts);
        }
        self.made_of.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every name that what has this name is made of.
    fn names_in(&self, name: &Name) -> Vec<Name> {
        let mut names = Vec::new();
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
        names
    }
}
