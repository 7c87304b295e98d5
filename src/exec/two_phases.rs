//! Which members of its bases does a bare name mean in a class template?
//!
//! A bare name is looked up where the template is defined. A base that a template parameter tells has no members
//! there, so the name is that of something outside:
//!
//! ```text
//! constexpr int PITCH = 2;
//! template <class Base> struct View : Base { int pitch() { return PITCH; } };  // 2, whatever `Base::PITCH` is
//! ```
//!
//! Where nothing outside has the name, the base's own is taken: what the text is then does not compile.

use super::machine::Machine;
use super::members::BASES;
use super::packs::mentions;
use super::types::{Env, Layout, Ty};
use super::value::Value;
use crate::ir::{Name, Path, Record, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Whether a template parameter of a class tells which class a base is.
fn is_dependent(record: &Record, base: &Type) -> bool {
    record.template_params.iter().any(|param| !param.name.is_empty() && mentions(base, &param.name))
}

/// Whether a bare name in the text of a class is looked up in a base of it.
fn is_seen(record: &Record, base: &Type, name: &Name) -> bool {
    !is_dependent(record, base) || record.usings.contains(name)
}

impl Machine<'_> {
    /// The bases of a class in which a bare name is looked up in its text.
    pub(super) fn bases_seen(&mut self, record: &Arc<Record>, env: &Rc<Env>, name: &Name) -> Vec<Rc<Layout>> {
        self.bases_where(record, env, BASES, &|base| is_seen(record, base, name))
    }

    /// Whether a data member of `this` is one that its bare name does not mean: that of a base which is not looked
    /// into, where a variable outside has the name.
    pub(super) fn is_member_of_unseen_base(&mut self, layout: &Layout, name: &Name) -> bool {
        let Some(record) = layout.record.clone() else { return false };
        if record.fields.iter().any(|field| field.name == *name)
            || record.bases.iter().all(|base| is_seen(&record, base, name))
        {
            return false;
        }
        let namespace = self.namespace();
        let is_outside = self.program.variable_meant(&Path::simple(name.clone()), &namespace).is_some();
        let has = |base: &Rc<Layout>| base.field(name).is_some();
        is_outside && !self.bases_seen(&record, &layout.env, name).iter().any(has)
    }

    /// A constant of a base of the running method's class in which its bare name is not looked up.
    pub(super) fn constant_of_unseen_base(&mut self, name: &Name) -> Option<Value> {
        let records = self.own_records();
        let env = self.env();
        records.iter().find_map(|record| self.constant_of(record, &env, name, BASES))
    }

    /// The same of a type.
    pub(super) fn type_of_unseen_base(&mut self, path: &Path) -> Option<Ty> {
        let records = self.own_records();
        let env = self.env();
        records.iter().find_map(|record| self.type_of_bases(record, &env, path, BASES))
    }
}
