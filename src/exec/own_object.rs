//! Which methods and bases does the object have whose method runs?

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::types::Layout;
use super::value::Pointer;
use crate::ir::{Expr, Function, Name, Path};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Functions that a bare name means, each with the part of `this` that it is run on. A virtual method is the
    /// one of the class that the object really is of.
    pub(super) fn on_own_object(
        &mut self,
        functions: Vec<Arc<Function>>,
        path: &Path,
        args: &[Expr],
    ) -> Vec<(Arc<Function>, Option<Pointer>)> {
        let is_virtual = |machine: &Self, f: &Arc<Function>| f.owner.is_some() && machine.is_virtual(f);
        if path.qualifiers.is_empty()
            && functions.iter().any(|f| is_virtual(self, f))
            && let Some(this) = self.frame().and_then(|frame| frame.this.clone())
        {
            let methods = self.methods(&this, path, args);
            if !methods.is_empty() {
                return methods.into_iter().map(|(method, part)| (method, Some(part))).collect();
            }
        }
        let functions = match self.mode {
            Mode::Host if path.qualifiers.is_empty() => self.with_overriders(functions, args.len()),
            _ => functions,
        };
        functions.into_iter().map(|f| (Arc::clone(&f), self.own_part(&f))).collect()
    }

    /// Where it is not known whose method runs, any function of the name of a virtual one may be meant.
    fn with_overriders(&self, functions: Vec<Arc<Function>>, count: usize) -> Vec<Arc<Function>> {
        let [only] = functions.as_slice() else { return functions };
        if only.owner.is_none() || !self.is_virtual(only) {
            return functions;
        }
        let named = self.program.functions(&only.name).iter();
        let may_be = |f: &&Arc<Function>| f.owner.is_some() && f.body.is_some() && f.params.len() >= count;
        let others: Vec<Arc<Function>> = named.filter(may_be).cloned().collect();
        if others.len() > 1 { others } else { functions }
    }

    /// The part of `this` on which a method runs that is called by its bare name.
    pub(super) fn own_part(&mut self, method: &Function) -> Option<Pointer> {
        let owner = method.owner.as_ref()?;
        let this = self.frame()?.this.clone()?;
        self.part_of_class(&this, owner, BASES)
    }

    /// The classes whose members are also those of the running method's class, the nearest first.
    pub(super) fn own_bases(&mut self) -> Vec<Name> {
        self.own_bases_for(None)
    }

    /// Those of them in which a bare name is looked up.
    pub(super) fn own_bases_seen(&mut self, name: &Name) -> Vec<Name> {
        self.own_bases_for(Some(name))
    }

    fn own_bases_for(&mut self, bare: Option<&Name>) -> Vec<Name> {
        let env = self.env();
        let mut found: Vec<Rc<Layout>> = Vec::new();
        for record in self.own_records().iter() {
            found.extend(match bare {
                Some(name) => self.bases_seen(record, &env, name),
                None => self.bases(record, &env, BASES),
            });
        }
        self.with_their_bases(found)
    }

    /// The bases from which a class around the running method's class takes a name: `using Base::f;`.
    pub(super) fn bases_used_around(&mut self, name: &Name) -> Vec<Name> {
        let env = self.env();
        let mut found: Vec<Rc<Layout>> = Vec::new();
        for record in self.enclosing_records().iter().filter(|record| record.usings.contains(name)) {
            found.extend(self.bases(record, &env, BASES));
        }
        self.with_their_bases(found)
    }

    fn with_their_bases(&mut self, mut found: Vec<Rc<Layout>>) -> Vec<Name> {
        let mut at = 0;
        while let Some(layout) = found.get(at).cloned().filter(|_| at < BASES) {
            if let Some(record) = &layout.record {
                found.extend(self.bases(record, &layout.env, BASES));
            }
            at += 1;
        }
        found.iter().map(|layout| layout.name.clone()).collect()
    }

    /// The class whose static member a bare name means, as a base of a class that the running method stands in: with
    /// the arguments that it has there.
    pub(super) fn base_of_static(&mut self, function: &Function) -> Option<Rc<Layout>> {
        let owner = function.owner.as_ref()?;
        let env = self.env();
        let mut around = self.own_records().to_vec();
        around.extend(self.enclosing_records());
        if around.iter().any(|record| record.name == *owner) {
            return None;
        }
        let is_its = |class: &Layout| class.holds(function.span) || class.name == *owner;
        around.iter().find_map(|record| {
            let bases = self.bases(record, &env, BASES);
            bases.iter().find_map(|base| self.class_where(base, BASES, &is_its))
        })
    }
}
