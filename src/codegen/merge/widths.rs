//! How wide does a request become that is joined of neighbours, and how surely?
//!
//! Seen in the machine code of nvcc 13.5 for 9.0 (`fixtures/measure/machine-code.csv`), where each thread has
//! 2, 4, 8 or 16 neighbours in straight code. An array's alignment is known if it is dynamic, or declared
//! with `__align__`; then the front half of nvcc joins what the wide access is aligned for. Any other is
//! aligned as its elements are, and joined when the machine code is made, by twos and fours.
//!
//! | element | alignment known | not known |
//! |---|---|---|
//! | 1 byte | up to 16 bytes | apart |
//! | 2 bytes, stored | up to 16 bytes; of a class (`half`) up to 8, and 16 if just copied | up to 8 bytes |
//! | 2 bytes, loaded of an object that is only copied | | as if stored |
//! | 2 bytes, loaded | up to 16 bytes; of a class by what is done with them | by what is done with them, up to 8 |
//! | 4 and 8 bytes | up to 16 bytes | up to 16 bytes |
//!
//! What is done with them: `half` that is converted to `float` is loaded apart, `short` that is added as
//! `int` is, too, where the alignment is not known. Any three of an aligned four of 4 bytes are loaded as all four: so
//! in the machine code that nvcc 13 and the assemblers of 11.8 and 12.9 make for 7.5 to 10.0. Two of them are only if
//! they are an aligned pair, and of narrower elements three often are.

use crate::events::{Access, AccessOp};

/// How surely neighbours are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// They are.
    Sure,
    /// They may be.
    Possible,
    /// They are not.
    Never,
}

/// The widest request of `count` elements.
pub(super) fn width(bytes: u32, count: i64) -> Option<i64> {
    let wide = i64::from(bytes) * (count + count % 2);
    (wide <= 16).then_some(wide)
}

/// How surely the compiler joins so many elements of these accesses in an array with this alignment.
pub(super) fn certainty<'a>(
    mut accesses: impl Iterator<Item = &'a Access> + Clone,
    bytes: u32,
    count: i64,
    alignment: u64,
) -> Certainty {
    let store = accesses.clone().any(|access| access.op == AccessOp::Store);
    let wide = width(bytes, count).unwrap_or(0);
    let aligned = i64::try_from(alignment).is_ok_and(|alignment| alignment >= wide);
    let copies = accesses.clone().all(|access| access.copies);
    let is_seen = !accesses.clone().any(|access| access.of_several);
    let scalar = accesses.all(|access| access.scalar);
    match bytes {
        // Only what is read may be read in excess.
        _ if count == 3 && store => Certainty::Never,
        1 if !aligned => Certainty::Never,
        2 if !aligned && wide > 8 => Certainty::Never,
        4 if count == 3 && is_seen => Certainty::Sure,
        _ if count == 3 || !is_seen => Certainty::Possible,
        2 if (store || copies) && wide <= 8 => Certainty::Sure,
        2 if !(aligned && scalar) => Certainty::Possible,
        _ => Certainty::Sure,
    }
}
