//! What does a method hand back whose return type is a name that its class has for a reference or a pointer?
//!
//! Containers say `reference operator[](int)` and `const_reference operator[](int) const` where they mean `T&` and
//! `const T&`. Whoever asks whether a call leads to a place looks at the type as it is written, and so does who asks
//! whether two methods are one but for `const`. So it is written out here.

use crate::ir::{Function, Module, Record, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Names of names that are followed.
const MOST_NAMES: usize = 8;

/// Writes out the return types of a file's methods.
pub(super) fn write_out(module: &mut Module) {
    let mut classes: FxHashMap<&str, Vec<&Record>> = FxHashMap::default();
    for record in module.records.iter().filter(|record| !record.aliases.is_empty()) {
        classes.entry(&*record.name).or_default().push(record);
    }
    if classes.is_empty() {
        return;
    }
    for function in &mut module.functions {
        let Some(own) = function.owner.as_deref().and_then(|owner| classes.get(owner)) else { continue };
        let class = own.iter().find(|record| record.holds(function.span));
        if let Some(ty) = class.and_then(|class| leads_to(class, function)) {
            Arc::make_mut(function).return_type = ty;
        }
    }
}

/// The reference or pointer for which a return type is a name of its class.
fn leads_to(class: &Record, method: &Function) -> Option<Type> {
    let mut ty = &method.return_type;
    for _ in 0..MOST_NAMES {
        let Type::Named(path) = ty else { break };
        let is_own = path.qualifiers.is_empty() && path.args.is_none() && !path.global;
        let mut aliases = class.aliases.iter().filter(|alias| alias.name == path.name && is_own);
        ty = &aliases.next().filter(|alias| alias.template_params.is_empty())?.ty;
    }
    let is_name = matches!(method.return_type, Type::Named(_));
    (is_name && matches!(ty, Type::Reference(_) | Type::Pointer(_))).then(|| ty.clone().unqualified())
}
