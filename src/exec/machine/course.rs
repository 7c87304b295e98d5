//! Which barriers have the threads come to on their way here?

use crate::domain::ThreadSet;
use crate::events::Split;
use crate::source::Span;
use std::rc::Rc;

/// What a run carries along of its barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    pub absent: Vec<Absent>,
    /// How often each thread has come to a barrier, counted from where that first differed.
    pub arrivals: Option<Rc<Vec<u64>>>,
    /// Whether that is no longer known.
    pub is_unsure: bool,
    /// Threads that left the kernel, with the condition under which they did.
    pub left: Vec<Rc<(ThreadSet, Split)>>,
    /// The first barrier that known threads did not come to, and the number of their absence.
    pub behind: Option<(usize, usize)>,
    /// The first barrier before which threads may have exited by a bound.
    pub behind_exit: Option<usize>,
}

/// Threads that did not come to a barrier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Absent {
    /// Index into the trace's barriers.
    pub barrier: usize,
    /// Index into its absences.
    pub absence: usize,
    /// How often those who came had come to a barrier before, at first and at last.
    pub turns: (u64, u64),
    /// The branches around the barrier that a block may pass by.
    pub passable: Vec<u32>,
    /// The loops around it of which it is not known how often they run.
    pub uncounted: Vec<Span>,
}

impl Course {
    /// Whether threads were absent somewhere.
    pub(crate) fn has_absent(&self) -> bool {
        !self.absent.is_empty()
    }

    /// The threads that have left the kernel, with the condition under which they did.
    pub(crate) fn left(&self) -> &[Rc<(ThreadSet, Split)>] {
        &self.left
    }

    /// Threads leave the kernel.
    pub(crate) fn leave(&mut self, left: Rc<(ThreadSet, Split)>) {
        if !self.left.contains(&left) {
            self.left.push(left);
        }
    }

    /// Threads left the kernel on a way that is not followed further.
    pub(crate) fn also_left(&mut self, other: Course) {
        other.left.into_iter().for_each(|left| self.leave(left));
    }

    /// Another way through the code leads to the same place.
    pub(crate) fn join(&mut self, other: Course) {
        for absent in other.absent {
            let same =
                |known: &&mut Absent| (known.barrier, known.absence) == (absent.barrier, absent.absence);
            match self.absent.iter_mut().find(same) {
                Some(known) => known.turns.1 = known.turns.1.max(absent.turns.1),
                None => self.absent.push(absent),
            }
        }
        self.is_unsure |= other.is_unsure;
        match (&self.arrivals, other.arrivals) {
            (Some(here), Some(there)) if !are_even(here, &there) => self.is_unsure = true,
            (None, there) => self.arrivals = there,
            _ => {}
        }
        other.left.into_iter().for_each(|left| self.leave(left));
        self.behind = self.behind.filter(|here| other.behind == Some(*here));
    }

    pub fn arrivals_of(&self, thread: usize) -> u64 {
        self.arrivals.as_ref().map_or(0, |all| all[thread])
    }

    /// How often the threads have come to a barrier that did so most often.
    pub fn turn(&self, threads: &ThreadSet) -> u64 {
        match &self.arrivals {
            None => 0,
            Some(all) => threads.threads().map(|thread| all[thread]).max().unwrap_or(0),
        }
    }
}

/// Whether all threads differ by the same number.
fn are_even(a: &[u64], b: &[u64]) -> bool {
    let mut differences = a.iter().zip(b).map(|(x, y)| x.wrapping_sub(*y));
    let first = differences.next();
    differences.all(|difference| Some(difference) == first)
}
