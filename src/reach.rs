//! What can running a function reach: shared memory, a barrier of a block or warp, another function?
//!
//! A kernel that cannot has nothing to judge, and is not run. The answer errs towards yes: names
//! are followed whatever they mean, conversions are reached with the name of their class, and other
//! operators, which are used without their name, count as reached.

use crate::ir::names::{header_names, mentioned_names, type_names, variable_names};
use crate::ir::program::{Program, is_conversion};
use crate::ir::{Declaration, Function, FunctionKind, Name, Record};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// What is worth running, in one program.
#[derive(Debug)]
pub(crate) struct Reach<'p> {
    program: &'p Program,
    /// Operators and destructors, which run without being named.
    operators: Vec<Arc<Function>>,
    /// Whether some of these leads to shared memory or a barrier, once that was asked for.
    do_operators_matter: OnceCell<bool>,
}

impl<'p> Reach<'p> {
    /// Everything is followed on demand.
    #[must_use]
    pub(crate) fn new(program: &'p Program) -> Reach<'p> {
        let functions = program.modules.iter().flat_map(|module| &module.functions);
        let is_operator = |f: &Function| {
            f.name.starts_with('~') || f.name.starts_with("operator") && !is_conversion(&f.name)
        };
        let nameless = |f: &&Arc<Function>| f.kind != FunctionKind::Host && is_operator(f);
        Reach {
            program,
            operators: functions.filter(nameless).cloned().collect(),
            do_operators_matter: OnceCell::new(),
        }
    }

    /// Whether running the function may meet shared memory or a block barrier.
    #[must_use]
    pub(crate) fn worth_running(&self, function: &Arc<Function>) -> bool {
        let is_wanted = |met: Met<'_>| match met {
            Met::Function(function) => matters(function),
            Met::Variable(variable) => variable.storage.is_shared(),
        };
        let by_operator = || self.search(&self.operators, &is_wanted);
        self.search(std::slice::from_ref(function), &is_wanted)
            || *self.do_operators_matter.get_or_init(by_operator)
    }

    /// Whether running the function may meet an intrinsic by which the lanes of a warp do.
    #[must_use]
    pub(crate) fn may_bring_lanes_together(&self, function: &Arc<Function>) -> bool {
        let is_wanted = |met: Met<'_>| matches!(met, Met::Function(function) if function.mentions.lanes);
        self.search(std::slice::from_ref(function), &is_wanted) || self.search(&self.operators, &is_wanted)
    }

    /// Whether running the function may meet a variable of file scope.
    #[must_use]
    pub(crate) fn may_use(&self, function: &Arc<Function>, variable: &Declaration) -> bool {
        self.search(
            std::slice::from_ref(function),
            &|met| matches!(met, Met::Variable(met) if met.name_span == variable.name_span),
        )
    }

    /// Whether `wanted` says yes to something that the functions' names lead to, themselves included.
    fn search(&self, functions: &[Arc<Function>], wanted: &dyn Fn(Met<'_>) -> bool) -> bool {
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut waiting = functions.to_vec();
        while let Some(function) = waiting.pop() {
            if wanted(Met::Function(&function)) {
                return true;
            }
            let mut names = mentioned_names(&function);
            while let Some(name) = names.pop() {
                if seen.contains(&name) {
                    continue;
                }
                for alias in self.program.aliases(&name) {
                    names.extend(type_names(&alias.ty));
                }
                for record in self.program.records(&name) {
                    names.extend(record.bases.iter().flat_map(type_names));
                    names.extend(record.fields.iter().flat_map(|field| type_names(&field.ty)));
                }
                waiting.extend(self.program.conversions(&name).iter().cloned());
                if self.program.variables(&name).iter().any(|variable| wanted(Met::Variable(variable))) {
                    return true;
                }
                waiting.extend(self.program.functions(&name).iter().cloned());
                seen.insert(name);
            }
        }
        false
    }
}

/// The names that running the function may lead to, whatever they mean: those of every class of which it may come
/// to have an object among them. What `given` names is met, too.
#[must_use]
pub(crate) fn names_met(program: &Program, function: &Function, given: Vec<Name>) -> FxHashSet<Name> {
    let classes = Classes::of(program);
    let mut waiting = given;
    waiting.extend(names_in(function));
    classes.free_operators.iter().for_each(|operator| waiting.extend(names_in(operator)));
    let mut met: FxHashSet<Name> = FxHashSet::default();
    while let Some(name) = waiting.pop() {
        if met.contains(&name) {
            continue;
        }
        for alias in program.aliases(&name) {
            waiting.extend(type_names(&alias.ty));
        }
        for variable in program.variables(&name) {
            waiting.extend(variable_names(variable));
        }
        for function in program.functions(&name).iter().chain(program.conversions(&name)) {
            waiting.extend(names_in(function));
        }
        for record in classes.records.get(last_part(&name)).into_iter().flatten() {
            waiting.push(record.name.clone());
            waiting.extend(record.bases.iter().flat_map(type_names));
            waiting.extend(record.fields.iter().flat_map(|field| type_names(&field.ty)));
            waiting.extend(record.aliases.iter().flat_map(|alias| type_names(&alias.ty)));
            waiting.extend(record.constants.iter().flat_map(variable_names));
        }
        let unnamed = classes.nameless.get(last_part(&name)).into_iter().flatten();
        unnamed.for_each(|function| waiting.extend(names_in(function)));
        met.insert(name);
    }
    met
}

/// The name of a nested class without those around it.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// All names in a function's text.
fn names_in(function: &Function) -> Vec<Name> {
    let mut names = mentioned_names(function);
    names.extend(header_names(function));
    names.extend(type_names(&function.return_type));
    names
}

/// The classes of a program by the last part of their names, and what runs of them without being named.
struct Classes<'p> {
    records: FxHashMap<&'p str, Vec<&'p Record>>,
    nameless: FxHashMap<&'p str, Vec<&'p Function>>,
    free_operators: Vec<&'p Function>,
}

impl<'p> Classes<'p> {
    fn of(program: &'p Program) -> Classes<'p> {
        let mut classes = Classes {
            records: FxHashMap::default(),
            nameless: FxHashMap::default(),
            free_operators: Vec::new(),
        };
        for module in &program.modules {
            for record in &module.records {
                classes.records.entry(last_part(&record.name)).or_default().push(record);
            }
            for function in module.functions.iter().filter(|it| it.is_nameless()) {
                match &function.owner {
                    Some(owner) => classes.nameless.entry(last_part(owner)).or_default().push(function),
                    None if function.kind == FunctionKind::Host => {}
                    None => classes.free_operators.push(function),
                }
            }
        }
        classes
    }
}

/// What a name led to.
enum Met<'m> {
    Function(&'m Function),
    Variable(&'m Declaration),
}

/// Whether a function's own text holds something to judge, or may have lost it.
fn matters(function: &Function) -> bool {
    let runs_on_device = !matches!(function.kind, FunctionKind::Host);
    let mentions = function.mentions;
    let lanes = mentions.lanes && runs_on_device;
    mentions.shared || mentions.barrier || lanes || (function.damaged && runs_on_device)
}
