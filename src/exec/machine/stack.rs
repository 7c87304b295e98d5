//! Which frames lie on one another?
//!
//! The state is copied wherever control forks, and most frames are written on neither side. So copies share
//! them, each until one of them writes it.

use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// What lies on one another, the lowest first.
#[derive(Clone)]
pub(crate) struct Stack<T>(Vec<Rc<T>>);

impl<T> Default for Stack<T> {
    fn default() -> Stack<T> {
        Stack(Vec::new())
    }
}

impl<T: Clone> Stack<T> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at).map(|frame| &**frame)
    }

    /// One of them, to be written.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at).map(Rc::make_mut)
    }

    /// The lowest.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The lowest, to be written.
    pub fn first_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// The one on top.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.0.last().map(|frame| &**frame)
    }

    /// The one on top, to be written.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.0.last_mut().map(Rc::make_mut)
    }

    /// All, the lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter().map(|frame| &**frame)
    }

    /// All, to be written.
    #[cfg(test)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(Rc::make_mut)
    }

    /// Puts one on top.
    pub fn push(&mut self, frame: T) {
        self.0.push(Rc::new(frame));
    }

    /// Takes the one on top away.
    pub fn pop(&mut self) -> Option<Rc<T>> {
        self.0.pop()
    }

    /// Takes away those from a number on.
    pub fn split_off(&mut self, at: usize) -> Stack<T> {
        Stack(self.0.split_off(at))
    }

    /// Puts some on top.
    pub fn extend(&mut self, above: Stack<T>) {
        self.0.extend(above.0);
    }
}

impl<T> Index<usize> for Stack<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.0[at]
    }
}

impl<T: Clone> IndexMut<usize> for Stack<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        Rc::make_mut(&mut self.0[at])
    }
}
