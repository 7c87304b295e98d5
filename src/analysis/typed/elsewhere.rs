//! Where else does a program use a class, so that something else changes with its size?
//!
//! A class that a kernel has in shared memory alone may become larger. In global memory, where the host or another
//! kernel knows its size, it may not.

use super::super::pitch::sites::{Part, visit};
use super::super::runs::Subject;
use crate::ir::names::{header_names, mentioned_names, type_names, variable_names};
use crate::ir::{ExprKind, Function, Name, Record, Storage, Type};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The first place that uses a class for more than what is in the shared variable whose name is declared at `array`.
/// `entered`: the functions that were run.
pub(super) fn used_elsewhere(
    subject: &Subject<'_>,
    class: &Record,
    array: Span,
    entered: &[Span],
) -> Option<Span> {
    let names = names_of(subject, class);
    let has = |all: &[Name]| all.iter().any(|name| names.contains(name));
    let modules = &subject.program.modules;
    let mut variables = modules.iter().flat_map(|module| &module.variables);
    let other = |it: &&std::sync::Arc<crate::ir::Declaration>| {
        (it.name_span != array || it.storage != Storage::Shared) && has(&variable_names(it))
    };
    if let Some(variable) = variables.find(other) {
        return Some(variable.name_span);
    }
    let kernel = subject.kernel.name_span;
    let of = |function: &Function| {
        if function.name_span == kernel || entered.contains(&function.name_span) {
            let given = (function.name_span == kernel)
                .then(|| function.params.iter().find(|param| has(&type_names(&param.ty))))
                .flatten();
            return given.map(|param| param.span).or_else(|| asked_in(function, &has));
        }
        let is_own = function.owner.as_ref().is_some_and(|owner| names.contains(owner));
        let uses = || {
            has(&mentioned_names(function))
                || has(&header_names(function))
                || has(&type_names(&function.return_type))
        };
        (!is_own && uses()).then_some(function.name_span)
    };
    modules.iter().flat_map(|module| &module.functions).find_map(|function| of(function))
}

/// The names of a class, and of what is made of it.
fn names_of(subject: &Subject<'_>, class: &Record) -> FxHashSet<Name> {
    let mut names: FxHashSet<Name> = [class.name.clone()].into_iter().collect();
    let modules = &subject.program.modules;
    loop {
        let before = names.len();
        let has = |ty: &Type, names: &FxHashSet<Name>| type_names(ty).iter().any(|name| names.contains(name));
        for record in modules.iter().flat_map(|module| &module.records) {
            let mut types = record.bases.iter().chain(record.fields.iter().map(|field| &field.ty));
            if types.any(|ty| has(ty, &names)) {
                names.insert(record.name.clone());
            }
            let aliases = record.aliases.iter().filter(|alias| has(&alias.ty, &names));
            let aliases: Vec<Name> = aliases.map(|alias| alias.name.clone()).collect();
            names.extend(aliases);
        }
        for alias in modules.iter().flat_map(|module| &module.aliases) {
            if has(&alias.ty, &names) {
                names.insert(alias.name.clone());
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// Where a function that was run asks for the size of a class, or takes memory to be of it.
fn asked_in(function: &Function, has: &dyn Fn(&[Name]) -> bool) -> Option<Span> {
    let mut found = None;
    visit(function.body.as_deref().unwrap_or(&[]), &mut |part| {
        let Part::Expr(expr) = part else { return };
        if let ExprKind::Cast(ty, _) | ExprKind::SizeofType(ty) | ExprKind::Offsetof(ty, _) = &expr.kind
            && has(&type_names(ty))
        {
            found.get_or_insert(expr.span);
        }
    });
    found
}
