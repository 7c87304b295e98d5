//! What has changed between two versions of a program?
//!
//! Of interest are changes within the bodies of functions, since a kernel that never asks for such a function
//! does not see them. Whatever else differs is not told apart: it may mean anything to any kernel.

use crate::ir::{Function, Module};
use crate::source::{FileId, Moves, Sources};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What differs between two versions of some modules.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    /// Where the places of before are now.
    pub moves: Moves,
    /// The functions whose bodies differ, as they were and as they are.
    pub functions: Vec<Arc<Function>>,
}

/// By the addresses of two modules. `None`: more has changed.
type Known = FxHashMap<(usize, usize), Option<Arc<Difference>>>;

/// The differences between modules that were asked for.
#[derive(Debug, Default)]
pub(super) struct Differences {
    known: Mutex<Known>,
}

impl Differences {
    /// What differs between two versions of the same modules. `None` where it is more than bodies.
    pub(super) fn between(
        &self,
        before: &[Arc<Module>],
        now: &[Arc<Module>],
        sources: &Sources,
    ) -> Option<Difference> {
        let mut all = Difference::default();
        if before.len() != now.len() {
            return None;
        }
        for (before, now) in before.iter().zip(now).filter(|(before, now)| !Arc::ptr_eq(before, now)) {
            let one = self.of_module(before, now, sources)?;
            all.moves.add(&one.moves);
            all.functions.extend(one.functions.iter().cloned());
        }
        Some(all)
    }

    fn of_module(
        &self,
        before: &Arc<Module>,
        now: &Arc<Module>,
        sources: &Sources,
    ) -> Option<Arc<Difference>> {
        let key = (Arc::as_ptr(before) as usize, Arc::as_ptr(now) as usize);
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || difference(before, now, sources).map(Arc::new);
        all.entry(key).or_insert_with(find).clone()
    }
}

/// What a module holds besides its functions, as far as a kernel is judged by it.
fn beside_functions(module: &Module) -> impl Hash + '_ {
    // No kernel is judged by what the others say: comments are heard elsewhere, and what is damaged is itself
    // another than before.
    let Module {
        functions: _,
        records,
        declared_classes,
        variables,
        aliases,
        namespace_aliases,
        scopes,
        enums,
        instantiations,
        class_instantiations,
        guided,
        damage: _,
        volatile,
        unfollowed,
        writes: _,
        eight_byte_banks,
        comments: _,
        is_cut_short: _,
        undecided,
        file: _,
    } = module;
    let classes = (records, declared_classes);
    let names = (aliases, namespace_aliases, scopes, enums, guided);
    let instantiations = (instantiations, class_instantiations);
    (classes, variables, names, instantiations, (volatile, unfollowed), eight_byte_banks, undecided)
}

fn difference(before: &Module, now: &Module, sources: &Sources) -> Option<Difference> {
    let moves = moves(before.file, now.file, sources)?;
    let mut functions = Vec::new();
    let lead = moves.lead(&beside_functions(before), &beside_functions(now));
    if !lead || before.functions.len() != now.functions.len() {
        return None;
    }
    for (before, now) in before.functions.iter().zip(&now.functions) {
        if !moves.lead(&**before, &**now) {
            if !moves.lead(&head(before), &head(now)) || now.is_nameless() {
                return None;
            }
            functions.extend([Arc::clone(before), Arc::clone(now)]);
        }
    }
    Some(Difference { moves, functions })
}

/// From one version of a file to the next.
fn moves(before: Option<FileId>, now: Option<FileId>, sources: &Sources) -> Option<Moves> {
    let (before, now) = (sources.get(before?), sources.get(now?));
    if before.id == now.id {
        return Some(Moves::default());
    }
    let is_known = before.path == now.path && before.path != Path::new("");
    is_known.then(|| Moves::between(&before, &now))
}

/// All of a function but its body. What that mentions belongs to it: it is asked of all functions at once.
fn head(function: &Function) -> impl Hash + '_ {
    let Function {
        name,
        namespace,
        owner,
        owner_params,
        owner_args,
        kind,
        template_params,
        constraints,
        specialization,
        is_virtual,
        is_const,
        params,
        return_type,
        locals: _,
        body,
        launch_bounds,
        block_directive,
        damaged: _,
        calls: _,
        writes: _,
        declared_types: _,
        shared_locals: _,
        mentions,
        name_span,
        span: _,
    } = function;
    let names = (name, namespace, owner, owner_args, name_span, mentions, body.is_some());
    let written = crate::ir::writes::named(function);
    let shape = (owner_params, kind, template_params, constraints, specialization, is_virtual, is_const);
    (names, shape, (params, return_type, launch_bounds, block_directive), written)
}
