//! Which launches does a file's host code lead to?
//!
//! Functions that lead to a launch are run from the outermost, so that shapes and template
//! arguments passed down are seen. A launch that this does not reach is found by running the
//! function around it alone, with parameters that are not known.

use crate::events::{LaunchArg, LaunchSite};
use crate::exec::budget::HostBudget;
use crate::exec::entry::{Instance, Led, Manner, class_instantiation, instantiation, run_host};
use crate::ir::program::Program;
use crate::ir::visit::{self, called_names};
use crate::ir::{Expr, ExprKind, Function, FunctionKind, Module, Name, Path};
use crate::relevance::JudgedKernels;
use crate::source::{FileId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The most launches of one file.
const MOST: usize = 4096;
/// The most explicit instantiations of one host function that are followed. Far fewer of a kernel's
/// instances are run, and those that are not are counted: what is left out here is told there.
const MOST_INSTANCES: usize = 256;

/// A host function that is to be run, about whose template arguments nothing is known.
pub(crate) struct Question<'a> {
    /// The function.
    pub function: &'a Arc<Function>,
    /// The functions of its program that lead to a launch.
    pub launching: &'a FxHashSet<Name>,
    /// How it is to be run.
    pub manner: Manner,
}

/// Runs a host function, or tells what running it in another program led to that says the same of it.
pub(crate) type Remembered<'a> = &'a dyn Fn(&Question<'_>, &dyn Fn() -> Led) -> Led;

/// The launches that a file's host code leads to, at least those of `wanted` kernels. `told`: headers
/// that mean something else here than by themselves, and so count as the file's own.
#[must_use]
pub(crate) fn launches(
    program: &Program,
    wanted: &JudgedKernels,
    told: &FxHashSet<FileId>,
    remembered: Remembered<'_>,
) -> Vec<LaunchSite> {
    let mut functions = program.modules.iter().flat_map(|m| &m.functions).filter(|f| f.body.is_some());
    if !functions.any(|f| may_launch(program, f, wanted)) {
        return Vec::new();
    }
    let calls = Calls::of(program, wanted);
    let is_told = |module: &Module| module.file.is_some_and(|file| told.contains(&file));
    let own = program.modules.iter().enumerate().filter(|(at, module)| *at == 0 || is_told(module));
    let own: Vec<&Arc<Function>> = own.flat_map(|(_, module)| &module.functions).collect();
    let is_own = |function: &Arc<Function>| own.iter().any(|other| Arc::ptr_eq(function, other));
    let mut elsewhere: Vec<&Arc<Function>> = instantiated_here(program).filter(|f| !is_own(f)).collect();
    elsewhere.dedup_by(|one, other| Arc::ptr_eq(one, other));
    let hosts: Vec<&Arc<Function>> = own
        .iter()
        .copied()
        .chain(elsewhere)
        .filter(|f| f.body.is_some() && (f.kind == FunctionKind::Host || f.mentions.launch))
        .filter(|f| calls.launching.contains(&f.name))
        .collect();
    let mut called: FxHashSet<&Name> = FxHashSet::default();
    for function in &hosts {
        called.extend(called_names(function).iter().filter(|name| **name != function.name));
    }
    let mut found: Vec<LaunchSite> = Vec::new();
    let (told, budget) = (Rc::default(), HostBudget::default());
    let run = |function: &Arc<Function>, lenient: bool, found: &mut Vec<LaunchSite>| {
        let mut cut = false;
        for instance in instances(program, function, is_own(function)) {
            let manner = Manner { lenient, is_short: budget.is_short() };
            let run = || run_host(program, function, &instance, (&calls.launching, &told), manner);
            let question = Question { function, launching: &calls.launching, manner };
            let led = if instance.is_open() { remembered(&question, &run) } else { run() };
            cut |= led.cut;
            budget.charge(led.steps);
            for launch in led.launches {
                let is_full = found.len() >= MOST;
                match found.iter_mut().find(|other| other.same(&launch)) {
                    Some(known) => known.agree(&launch),
                    None if is_full => {}
                    None => found.push(launch),
                }
            }
        }
        cut
    };
    let leads = |f: &&&Arc<Function>| calls.wanted.contains(&f.name);
    // An explicit instantiation, or specialisation, says more of the template arguments than most callers.
    let says_more = |f: &Function| is_instantiated(program, f) || is_specialised(f);
    let outer = hosts.iter().filter(|f| !called.contains(&f.name) || says_more(f)).filter(leads);
    let cut: Vec<_> = outer.filter(|function| run(function, false, &mut found)).collect();
    // What the numbers keep from happening on every way.
    let mut refuted = Vec::new();
    for function in cut {
        run(function, true, &mut refuted);
    }
    let is_of = |launch: &LaunchSite, list: &[LaunchSite]| list.iter().any(|other| other.span == launch.span);
    // What no outer function led to, by itself.
    for function in hosts.iter().filter(|f| may_launch(program, f, wanted)) {
        let seen = |site: &&Expr| found.iter().any(|launch| launch.span == site.span);
        let sites = visit::launches(function);
        let inside = |launch: &LaunchSite| {
            launch.span.file == function.span.file
                && launch.span.start >= function.span.start
                && launch.span.end <= function.span.end
        };
        let all_seen = if sites.is_empty() { found.iter().any(inside) } else { sites.iter().all(seen) };
        if !all_seen {
            let before: Vec<Span> = found.iter().map(|launch| launch.span).collect();
            let mut alone = Vec::new();
            run(function, false, &mut alone);
            let kept = |launch: &LaunchSite| tells_shape(launch) || !is_of(launch, &refuted);
            found.extend(alone.into_iter().filter(|it| !before.contains(&it.span) && kept(it)));
        }
    }
    refuted.retain(|launch| !is_of(launch, &found));
    found.extend(refuted);
    found
}

/// Whether a launch tells the block and all the template arguments that are written.
fn tells_shape(launch: &LaunchSite) -> bool {
    let known = |args: &Vec<LaunchArg>| !args.contains(&LaunchArg::Unknown);
    let arguments = launch.template_args.as_ref().map_or(launch.kernel.args.is_none(), known);
    arguments && launch.block.iter().all(Option::is_some)
}

/// Whether a function's own text launches a wanted kernel, or one that its name does not tell.
fn may_launch(program: &Program, function: &Function, wanted: &JudgedKernels) -> bool {
    let other = |launch: &&Expr| match &launch.kind {
        ExprKind::Launch(launch) => match &launch.kernel.kind {
            ExprKind::Path(path) => {
                let named = program.functions(&path.name);
                !named.is_empty() && !wanted.contains(&path.name) && program.variables(&path.name).is_empty()
            }
            _ => false,
        },
        _ => false,
    };
    if !function.mentions.launch {
        return false;
    }
    // A launch by a call, or one that the lowering lost, is not among the launches of the body.
    let by_call = || called_names(function).iter().any(|name| name.contains("Launch"));
    let sites = visit::launches(function);
    sites.is_empty() || by_call() || !sites.iter().all(other)
}

/// The function templates that the file's own text instantiates, and the methods of class templates, whichever header
/// they are in.
fn instantiated_here(program: &Program) -> impl Iterator<Item = &Arc<Function>> {
    let own = program.modules.first();
    let written = own.map_or(&[][..], |module| &module.instantiations);
    let named = written.iter().flat_map(|it| program.functions(&it.path.name));
    let classes = own.map_or(&[][..], |module| &module.class_instantiations);
    let functions = program.modules.iter().flat_map(|module| &module.functions);
    let methods = functions.filter(|f| classes.iter().any(|path| is_method_of(program, f, path)));
    named.filter(|f| !f.template_params.is_empty()).chain(methods)
}

fn is_instantiated(program: &Program, function: &Function) -> bool {
    let mut written = program.modules.iter().flat_map(|module| &module.instantiations);
    let mut classes = program.modules.iter().flat_map(|module| &module.class_instantiations);
    !function.template_params.is_empty() && written.any(|it| it.path.name == function.name)
        || classes.any(|path| is_method_of(program, function, path))
}

/// Whether a function is written for certain template arguments.
fn is_specialised(function: &Function) -> bool {
    !function.specialization.is_empty() && function.template_params.is_empty()
}

/// Whether a function is a method of the class template that a path means. Of one with specialisations it is not asked
/// which of them that is.
fn is_method_of(program: &Program, function: &Function, path: &Path) -> bool {
    function.owner.as_ref() == Some(&path.name)
        && !function.owner_params.is_empty()
        && matches!(program.records(&path.name), [only]
            if only.specialization.is_empty() && only.template_params.len() == function.owner_params.len())
}

/// The template arguments that a host function, or the class that it is a method of, is explicitly instantiated with;
/// else nothing is known. Of a function that is not the file's own, those that the file's own text gives it.
fn instances(program: &Program, function: &Function, is_own: bool) -> Vec<Instance> {
    let modules = || program.modules.iter().take(if is_own { program.modules.len() } else { 1 });
    let written = modules().flat_map(|module| &module.instantiations);
    let mut found: Vec<Instance> = written
        .filter_map(|it| it.args_of(function))
        .map(|args| Instance { args: instantiation(program, &args), of_class: Vec::new() })
        .take(MOST_INSTANCES)
        .collect();
    if found.is_empty() {
        let classes = modules().flat_map(|module| &module.class_instantiations);
        found = classes
            .filter(|path| is_method_of(program, function, path))
            .filter_map(|path| program.records(&path.name).first().zip(path.args.as_ref()))
            .map(|(class, args)| class_instantiation(program, class, args))
            .map(|of_class| Instance { args: Vec::new(), of_class })
            .take(MOST_INSTANCES)
            .collect();
    }
    if found.is_empty() { vec![Instance::default()] } else { found }
}

/// Which functions lead where, by name.
struct Calls {
    /// Those that lead to a launch.
    launching: Rc<FxHashSet<Name>>,
    /// Those that lead to a launch of a wanted kernel.
    wanted: FxHashSet<Name>,
}

impl Calls {
    fn of(program: &Program, wanted: &JudgedKernels) -> Calls {
        let functions = || program.modules.iter().flat_map(|m| &m.functions).filter(|f| f.body.is_some());
        let mut callers: FxHashMap<&Name, Vec<&Name>> = FxHashMap::default();
        for function in functions().filter(|f| f.kind == FunctionKind::Host || f.mentions.launch) {
            for name in called_names(function) {
                let known = callers.entry(name).or_default();
                if known.last() != Some(&&function.name) {
                    known.push(&function.name);
                }
            }
        }
        let leading_to = |launches: &dyn Fn(&Function) -> bool| {
            let mut leading: FxHashSet<Name> = FxHashSet::default();
            let mut waiting: Vec<&Name> = functions().filter(|f| launches(f)).map(|f| &f.name).collect();
            while let Some(name) = waiting.pop() {
                if leading.insert(name.clone())
                    && let Some(callers) = callers.get(name)
                {
                    waiting.extend(callers.iter().filter(|caller| !leading.contains(**caller)));
                }
            }
            leading
        };
        let launching = Rc::new(leading_to(&|f| f.mentions.launch));
        let wanted = leading_to(&|f| may_launch(program, f, wanted));
        Calls { launching, wanted }
    }
}
