//! What does host code read from memory?
//!
//! Numbers that are not known. Two reads of one place are one number, unless host code writes to memory in between:
//! `if (major[device] >= 8)` twice is one condition, so that what the one decides goes together with the other. A call
//! that is not followed changes what it is handed the address of, and is taken to leave other numbers as they are, as it
//! is with file-scope variables.

use super::Machine;
use super::choices::plain;
use crate::domain::{Int, Key, Origin};
use crate::exec::machine::Mode;
use crate::exec::resolve::{high_of, low_of};
use crate::exec::types::Ty;
use crate::exec::value::{Offset, Pointer, Step, Target, Value};

impl Machine<'_> {
    /// The number that host code reads there, if that is an integer at a place that can be told from others.
    pub(crate) fn host_element(&mut self, pointer: &Pointer, name: &str) -> Option<Value> {
        let (Mode::Host, Ty::Scalar(scalar)) = (self.mode, &pointer.pointee) else { return None };
        let Target::Memory(object, Offset::Known(offset)) = &pointer.target else { return None };
        let place = plain(offset).filter(|_| scalar.is_integer())?;
        let handed_over = self.host.handed_over.get(object).copied().unwrap_or(0);
        let moment = (self.host.writes, handed_over);
        let key = Key::Named(format!("read {object:?} {place:?} {scalar:?} {moment:?}"));
        let (low, high) = (low_of(*scalar), high_of(*scalar));
        let id = self.world.symbols.intern(key, |_| name.to_string(), Origin::Given, low, high);
        Some(Value::Int(Int::symbol(id), *scalar))
    }

    /// The first element of a file-scope array that no host code has written to, as one in memory, where an element is
    /// told by an index that is not a constant.
    pub(crate) fn never_written(&mut self, target: &Target, index: &Value) -> Option<Target> {
        let (Mode::Host, Target::Place(place), Value::Int(index, _)) = (self.mode, target, index) else {
            return None;
        };
        let is_first = matches!(place.path.as_slice(), [Step::Index(0)]) && place.frame == 0;
        if !is_first || place.blurred || index.as_constant().is_some() {
            return None;
        }
        let slot = self.state.frames.first()?.slots.get(place.local.0 as usize)?;
        if !matches!(slot.value, Value::Undefined) {
            return None;
        }
        let name = self.host.globals.iter().find(|(_, local)| **local == place.local.0)?.0.clone();
        let object = match self.host.arrays.get(&name) {
            Some(object) => *object,
            None => self.global_object(name.clone()),
        };
        self.host.arrays.insert(name, object);
        Some(Target::Memory(object, Offset::Known(Int::constant(0))))
    }
}
