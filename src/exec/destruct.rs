//! Which destructors run where a list of statements ends?
//!
//! Those of the automatic variables that it declares, the last one first. Threads that left before
//! ran them on their way out; if only some did, what the destructors do is not known.
//!
//! Not followed are the destructors of members, of elements of arrays and of temporaries.

use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::{Place, Pointer, Steps, Target};
use crate::domain::{Reason, ThreadSet, Unknown};
use crate::ir::{Declaration, ExprKind, Function, LocalId, Path, Stmt, StmtKind, Storage, Type};
use std::sync::Arc;

impl Machine<'_> {
    /// Runs the destructors of what `stmts` declare. `entered`: the threads that began them.
    pub(super) fn destroy(&mut self, stmts: &[Stmt], entered: &ThreadSet) {
        if self.mode == Mode::Host {
            return;
        }
        let handed_back = match stmts.last().map(|last| &last.kind) {
            Some(StmtKind::Return(Some(value))) => match value.kind {
                ExprKind::Local(local) => Some(local),
                _ => None,
            },
            _ => None,
        };
        let declared = stmts.iter().rev().filter_map(|stmt| match &stmt.kind {
            StmtKind::Declare(list) => Some(list),
            _ => None,
        });
        for declaration in declared.flat_map(|list| list.iter().rev()) {
            let automatic = declaration.storage == Storage::Automatic;
            let object = !matches!(declaration.ty, Type::Reference(_) | Type::Scalar(_) | Type::Pointer(_));
            if automatic && object && Some(declaration.local) != handed_back {
                self.destroy_one(declaration, entered);
            }
        }
    }

    fn destroy_one(&mut self, declaration: &Declaration, entered: &ThreadSet) {
        let Some((destructor, object)) = self.destructor_of(declaration.local) else { return };
        let (active, doubt) = (self.state.active, self.state.doubt.clone());
        let entered = entered.minus(&self.state.exited);
        if active.is_empty() || active == entered {
            self.state.active = entered;
        } else {
            self.state.active = entered;
            let words = "when a destructor runs in threads that left before";
            let why = Unknown::new(Reason::Unsupported, declaration.name_span, words);
            self.state.add_doubt(&why);
        }
        let path = Path::simple(destructor.name.clone());
        self.run_function(&destructor, &path, Some(object), &[], declaration.name_span);
        (self.state.active, self.state.doubt) = (active.minus(&self.state.exited), doubt);
    }

    fn destructor_of(&mut self, local: LocalId) -> Option<(Arc<Function>, Pointer)> {
        let frame = self.top();
        let slot = self.frame()?.slots.get(local.0 as usize).filter(|slot| !slot.reference)?;
        let Ty::Record(layout) = &slot.ty else { return None };
        let class = layout.name.rsplit("::").next().unwrap_or(&layout.name);
        let class = class.split('@').next().unwrap_or(class);
        let of_class = |f: &&Arc<Function>| {
            f.owner.as_ref() == Some(&layout.name) && f.body.as_ref().is_some_and(|body| !body.is_empty())
        };
        let named = self.program.functions(&format!("~{class}"));
        let own = named.iter().filter(of_class).find(|f| layout.holds(f.span));
        let destructor = own.or_else(|| named.iter().find(of_class)).cloned()?;
        let place = Place { frame, local, path: Steps::new(), blurred: false };
        let object = Pointer { target: Target::Place(place), pointee: slot.ty.clone() };
        Some((destructor, object))
    }
}
