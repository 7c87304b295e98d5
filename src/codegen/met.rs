//! What does the compiler come to, and how far from another place does it lie?

use crate::domain::{Int, Lanes, ThreadSet, Unknown};

/// An access as the compiler comes to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met<'a> {
    /// The shared array.
    pub array: usize,
    /// Bytes per thread.
    pub bytes: u32,
    /// Where it lies in the array.
    pub offset: &'a Int,
    /// The threads that make it; an upper bound if there is a doubt.
    pub active: ThreadSet,
    /// That doubt.
    pub doubt: &'a Option<Unknown>,
    /// How often what happens now happens.
    pub weight: u64,
    /// The site.
    pub site: usize,
    /// The iteration of a loop whose trip count the compiler does not know.
    pub iteration: u32,
    /// How often the site had been reached in the same piece of straight code.
    pub within: u32,
    /// Whether there is a loop around.
    pub in_loop: bool,
    /// Whether it reads.
    pub load: bool,
}

/// Where an access goes: bytes from an offset on, in each of some threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub offset: &'a Int,
    /// Per thread.
    pub bytes: u32,
    pub active: ThreadSet,
}

/// What is kept in mind of one.
#[derive(Debug)]
pub(super) struct Kept {
    pub array: usize,
    pub bytes: u32,
    pub offset: Int,
    /// The threads that made it; an upper bound if there is a doubt.
    pub active: ThreadSet,
    pub doubt: Option<Unknown>,
    /// How often what happened then happens.
    pub weight: u64,
    /// The iteration of a loop whose trip count the compiler does not know.
    pub iteration: u32,
}

impl Met<'_> {
    pub(super) fn target(&self) -> Target<'_> {
        Target { offset: self.offset, bytes: self.bytes, active: self.active }
    }

    pub(super) fn kept(&self) -> Kept {
        Kept {
            array: self.array,
            bytes: self.bytes,
            offset: self.offset.clone(),
            active: self.active,
            doubt: self.doubt.clone(),
            weight: self.weight,
            iteration: self.iteration,
        }
    }
}

/// How far the place of an access is behind another, if the compiler sees that and they share no byte of one thread.
pub(super) fn distance((one, bytes): (&Int, u32), other: Target<'_>) -> Option<i128> {
    let is_apart = |by: &i128| *by >= i128::from(bytes) || -*by >= i128::from(other.bytes);
    behind(one, other).filter(is_apart)
}

/// How far the place of an access begins behind another, if the compiler sees that.
pub(super) fn behind(one: &Int, Target { offset: other, active, .. }: Target<'_>) -> Option<i128> {
    if one.terms != other.terms || one.sight.hidden != other.sight.hidden {
        return None;
    }
    if one == other {
        return Some(0);
    }
    match (&one.base, &other.base) {
        (Lanes::Closed([a, of_one @ ..]), Lanes::Closed([b, of_other @ ..])) => {
            (of_one == of_other).then(|| i128::from(*b) - i128::from(*a))
        }
        // Equal parts that are no sums of the thread's coordinates.
        (Lanes::Each(of_one), Lanes::Each(of_other)) if one.sight.hidden != 0 => {
            let of =
                |thread: usize| Some(i128::from(*of_other.get(thread)?) - i128::from(*of_one.get(thread)?));
            let mut by = active.threads().map(of);
            let first = by.next()??;
            by.all(|it| it == Some(first)).then_some(first)
        }
        _ => None,
    }
}
