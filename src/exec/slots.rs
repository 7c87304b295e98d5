//! Which variables does a frame hold?
//!
//! The state is copied wherever control forks, and most variables are written on neither side. So a
//! copy shares them all, and writing one leaves the others shared.

use super::types::Ty;
use super::value::Value;
use std::rc::Rc;

/// A frame's variables: shared between copies of the state, each until one of them writes it.
#[derive(Clone, Default)]
pub(crate) struct Slots(Rc<Vec<Rc<Slot>>>);

impl Slots {
    /// So many variables that were never written.
    #[must_use]
    pub(crate) fn unwritten(count: usize) -> Slots {
        let slot = Rc::new(Slot { value: Value::Undefined, ty: Ty::Void, reference: false });
        Slots(Rc::new(vec![slot; count]))
    }

    /// How many there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A variable.
    #[must_use]
    pub(crate) fn get(&self, number: usize) -> Option<&Slot> {
        self.0.get(number).map(|slot| &**slot)
    }

    /// A variable, to be written in part.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Slot> {
        if number >= self.0.len() {
            return None;
        }
        Rc::make_mut(&mut self.0).get_mut(number).map(Rc::make_mut)
    }

    /// Replaces a variable; one that is not there is not made.
    pub(crate) fn set(&mut self, number: usize, slot: Slot) {
        if number >= self.0.len() {
            return;
        }
        if let Some(place) = Rc::make_mut(&mut self.0).get_mut(number) {
            match Rc::get_mut(place) {
                Some(place) => *place = slot,
                None => *place = Rc::new(slot),
            }
        }
    }

    /// One more variable; its number.
    pub(crate) fn push(&mut self, slot: Slot) -> usize {
        let all = Rc::make_mut(&mut self.0);
        all.push(Rc::new(slot));
        all.len() - 1
    }

    /// Takes the last variables away, all but so many.
    pub(crate) fn truncate(&mut self, count: usize) {
        if self.0.len() > count {
            Rc::make_mut(&mut self.0).truncate(count);
        }
    }

    /// Replaces the value of a variable.
    pub(crate) fn set_value(&mut self, number: usize, value: Value) {
        if number >= self.0.len() {
            return;
        }
        if let Some(place) = Rc::make_mut(&mut self.0).get_mut(number) {
            match Rc::get_mut(place) {
                Some(place) => place.value = value,
                None => *place = Rc::new(Slot { value, ty: place.ty.clone(), reference: place.reference }),
            }
        }
    }

    /// Copies what is shared with other copies of the state.
    #[cfg(test)]
    pub(super) fn unshare(&mut self) {
        self.0 = Rc::new(self.0.iter().map(|slot| Rc::new(Slot::clone(slot))).collect());
    }

    /// The variables, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter().map(|slot| &**slot)
    }

    /// Whether both are one: nothing was written since they were copied.
    #[must_use]
    pub(crate) fn same(&self, other: &Slots) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a variable that was declared then has another value now of which something is known.
    #[must_use]
    pub(crate) fn learned_since(&self, then: &Slots) -> bool {
        let changed = |(then, now): (&Slot, &Slot)| {
            then.ty != Ty::Void && !now.value.is_lost() && then.value != now.value
        };
        !self.same(then) && then.iter().zip(self.iter()).any(changed)
    }

    /// Whether a variable is the same in both because it was not written since they were copied.
    #[must_use]
    pub(crate) fn same_at(&self, other: &Slots, number: usize) -> bool {
        let (here, there) = (self.0.get(number), other.0.get(number));
        here.zip(there).is_some_and(|(here, there)| Rc::ptr_eq(here, there))
    }
}

/// A variable.
#[derive(Clone)]
pub(crate) struct Slot {
    /// Its value; for a reference, the pointer behind it.
    pub value: Value,
    /// Its type; for a reference, the type referred to.
    pub ty: Ty,
    /// Whether it stands for what its pointer points to (references and shared variables).
    pub reference: bool,
}
