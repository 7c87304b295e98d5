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
use crate::exec::value::{Offset, Place, Pointer, Step, Target, Value};

impl Machine<'_> {
    /// The number that host code reads there, if that is an integer at a place that can be told from others.
    pub(crate) fn host_element(&mut self, pointer: &Pointer) -> Option<Value> {
        let (Mode::Host, Ty::Scalar(scalar)) = (self.mode, &pointer.pointee) else { return None };
        if !scalar.is_integer() {
            return None;
        }
        let place = match &pointer.target {
            Target::Memory(object, Offset::Known(offset)) => {
                let handed_over = self.host.handed_over.get(object).copied().unwrap_or(0);
                let moment = (self.host.writes, handed_over);
                format!("{object:?} {:?} {moment:?}", plain(offset)?)
            }
            Target::Place(place) if self.is_never_written(place) => {
                format!("{:?} {:?}", place.local, place.path)
            }
            _ => return None,
        };
        let key = Key::Named(format!("read {place} {scalar:?}"));
        let (low, high) = (low_of(*scalar), high_of(*scalar));
        let id = self.world.symbols.intern(key, |_| "a number in memory".into(), Origin::Given, low, high);
        Some(Value::Int(Int::symbol(id), *scalar))
    }

    /// Whether it is a part of a file-scope variable that host code has not written to.
    fn is_never_written(&self, place: &Place) -> bool {
        let frame = self.state.frames.first().filter(|_| place.frame == 0 && !place.blurred);
        let slot = frame.and_then(|frame| frame.slots.get(place.local.0 as usize));
        slot.is_some_and(|slot| matches!(slot.value, Value::Undefined))
    }

    /// The first element of a file-scope array that no host code has written to, as one in memory, where an element is
    /// told by an index that is not a constant.
    pub(crate) fn never_written(&mut self, target: &Target, index: &Value) -> Option<Target> {
        let (Mode::Host, Target::Place(place), Value::Int(index, _)) = (self.mode, target, index) else {
            return None;
        };
        let is_first = matches!(place.path.as_slice(), [Step::Index(0)]);
        if !is_first || index.as_constant().is_some() || !self.is_never_written(place) {
            return None;
        }
        let name = self.host.globals.iter().find(|(_, local)| **local == place.local.0)?.0.clone();
        let object = match self.host.arrays.get(&name) {
            Some(object) => *object,
            None => self.global_object(name.1.clone()),
        };
        self.host.arrays.insert(name, object);
        Some(Target::Memory(object, Offset::Known(Int::constant(0))))
    }
}
