//! Which functions does a call find by the types of its arguments alone?
//!
//! Those of the namespaces around the classes of its arguments, of their bases and of their template arguments,
//! beside those that its bare name finds.

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::packs::takes_count;
use super::types::{Binding, Layout, Ty};
use crate::ir::namespace::Namespace;
use crate::ir::{Expr, Function};
use std::sync::Arc;

impl Machine<'_> {
    /// Adds what the types of the arguments bring into sight.
    pub(super) fn add_associated(
        &mut self,
        candidates: &mut Vec<Arc<Function>>,
        all: &[Arc<Function>],
        args: &[Expr],
    ) {
        let is_new = |f: &&Arc<Function>, known: &[Arc<Function>]| {
            f.owner.is_none()
                && f.body.is_some()
                && !known.iter().any(|other| Arc::ptr_eq(f, other))
                && takes_count(f, args)
        };
        if self.mode == Mode::Host || !all.iter().any(|f| is_new(&f, candidates)) {
            return;
        }
        let mut namespaces = Vec::new();
        for arg in args {
            let ty = self.type_of(arg);
            self.associated(&ty, &mut namespaces, BASES);
        }
        let found = all.iter().filter(|f| is_new(f, candidates) && namespaces.contains(&f.namespace));
        let found: Vec<Arc<Function>> = found.cloned().collect();
        candidates.extend(found);
    }

    fn associated(&mut self, ty: &Ty, namespaces: &mut Vec<Namespace>, depth: usize) {
        match ty {
            Ty::Pointer(inner) | Ty::Array(inner, _) | Ty::Qualified(_, inner) => {
                self.associated(inner, namespaces, depth)
            }
            Ty::Record(layout) if depth > 0 => self.associated_of_class(layout, namespaces, depth),
            _ => {}
        }
    }

    fn associated_of_class(&mut self, layout: &Layout, namespaces: &mut Vec<Namespace>, depth: usize) {
        let Some(record) = layout.record.clone() else {
            // `float3` and its like are in no namespace.
            let global = Namespace::default();
            namespaces.extend((!namespaces.contains(&global)).then_some(global));
            return;
        };
        if !namespaces.contains(&record.namespace) {
            namespaces.push(Arc::clone(&record.namespace));
        }
        for base in self.bases(&record, &layout.env, depth) {
            self.associated_of_class(&base, namespaces, depth - 1);
        }
        for param in &record.template_params {
            if let Some(Binding::Type(ty)) = layout.env.bindings.get(&param.name) {
                self.associated(&ty.clone(), namespaces, depth - 1);
            }
        }
    }
}
