//! What does a header hold where it is included again?
//!
//! What it only declared before, and what other macros make of it:
//!
//! ```text
//! #define T float                     #define T double
//! #define NAME scale_floats           #define NAME scale_doubles
//! #include "scale.inc"                #include "scale.inc"        another kernel, at the same place
//! ```
//!
//! What it held before just so counts once.

use crate::ir::{Declaration, Function, Module, Record};
use crate::lower::tell_apart;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What a module holds beside earlier ones of the same file.
pub(super) fn beside(module: &Module, earlier: &[&Module]) -> Module {
    let mut module = module.clone();
    let functions = || earlier.iter().flat_map(|it| &it.functions).filter(|it| it.body.is_some());
    let defined = by_place(functions(), |it| it.span);
    let records = by_place(earlier.iter().flat_map(|it| &it.records), |it| it.extent);
    let variables = by_place(earlier.iter().flat_map(|it| &it.variables), |it| it.span);
    module
        .functions
        .retain(|it| it.body.is_some() && !is_among(&**it, defined.get(&it.span), is_same_function));
    module.records.retain(|it| !is_among(&**it, records.get(&it.extent), is_same_record));
    module.variables.retain(|it| !is_among(&**it, variables.get(&it.span), is_same_variable));
    let is_new = |known: &dyn Fn(&Module) -> bool| !earlier.iter().any(|it| known(it));
    module.aliases.retain(|alias| is_new(&|it| it.aliases.contains(alias)));
    module.enums.retain(|of| is_new(&|it| it.enums.contains(of)));
    module.declared_classes.clear();
    module.comments.clear();
    let mut taken: FxHashSet<Span> = functions().map(|it| it.name_span).collect();
    tell_apart(&mut module.functions, &mut taken);
    module
}

fn by_place<'m, T: 'm>(
    items: impl Iterator<Item = &'m Arc<T>>,
    place: impl Fn(&T) -> Span,
) -> FxHashMap<Span, Vec<&'m T>> {
    let mut found: FxHashMap<Span, Vec<&T>> = FxHashMap::default();
    items.for_each(|item| found.entry(place(item)).or_default().push(item));
    found
}

fn is_among<T>(item: &T, known: Option<&Vec<&T>>, is_same: fn(&T, &T) -> bool) -> bool {
    known.is_some_and(|known| known.iter().any(|other| is_same(item, other)))
}

fn is_same_function(one: &Function, other: &Function) -> bool {
    let types = |it: &Function| it.params.iter().map(|param| param.ty.clone()).collect::<Vec<_>>();
    (&one.name, &one.namespace, &one.owner) == (&other.name, &other.namespace, &other.owner)
        && (&one.owner_args, &one.specialization) == (&other.owner_args, &other.specialization)
        && types(one) == types(other)
        && one.body == other.body
}

fn is_same_record(one: &Record, other: &Record) -> bool {
    (&one.name, &one.namespace, &one.specialization) == (&other.name, &other.namespace, &other.specialization)
}

fn is_same_variable(one: &Declaration, other: &Declaration) -> bool {
    (&one.name, &one.namespace, &one.specialization) == (&other.name, &other.namespace, &other.specialization)
}
