//! Can a function reach shared memory or a block barrier at all?
//!
//! A kernel that cannot has nothing to judge, and is not run. The answer errs towards yes: names
//! are followed whatever they mean, conversions are reached with the name of their class, and other
//! operators, which are used without their name, count as reached.

use crate::ir::names::{mentioned_names, type_names};
use crate::ir::program::{Program, is_conversion};
use crate::ir::{Function, FunctionKind, Name, Storage};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What is worth running, in one program.
#[derive(Debug)]
pub struct Reach<'p> {
    program: &'p Program,
    /// Whether some operator has shared memory or a barrier in its own text.
    operators: bool,
}

impl<'p> Reach<'p> {
    /// Looks at the program's operators; functions are followed on demand.
    #[must_use]
    pub fn new(program: &'p Program) -> Reach<'p> {
        let functions = program.modules.iter().flat_map(|module| &module.functions);
        let nameless = |f: &&Arc<Function>| f.name.starts_with("operator") && !is_conversion(&f.name);
        let operators = functions.filter(nameless).any(|f| matters(f));
        Reach { program, operators }
    }

    /// Whether running the function may meet shared memory or a block barrier.
    #[must_use]
    pub fn worth_running(&self, function: &Arc<Function>) -> bool {
        if self.operators {
            return true;
        }
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut waiting = vec![Arc::clone(function)];
        while let Some(function) = waiting.pop() {
            if matters(&function) {
                return true;
            }
            let mut names = mentioned_names(&function);
            while let Some(name) = names.pop() {
                if seen.contains(&name) {
                    continue;
                }
                if let Some(alias) = self.program.alias(&name) {
                    names.extend(type_names(&alias.ty));
                }
                for record in self.program.records(&name) {
                    names.extend(record.bases.iter().flat_map(type_names));
                    names.extend(record.fields.iter().flat_map(|field| type_names(&field.ty)));
                }
                waiting.extend(self.program.conversions(&name).iter().cloned());
                let shared = |storage| matches!(storage, Storage::Shared | Storage::DynamicShared);
                if self.program.variable(&name).is_some_and(|variable| shared(variable.storage)) {
                    return true;
                }
                waiting.extend(self.program.functions(&name).iter().cloned());
                seen.insert(name);
            }
        }
        false
    }
}

/// Whether a function's own text holds something to judge, or may have lost it.
fn matters(function: &Function) -> bool {
    let runs_on_device = !matches!(function.kind, FunctionKind::Host);
    function.mentions.shared || function.mentions.barrier || (function.damaged && runs_on_device)
}
