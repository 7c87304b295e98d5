//! How is a struct that is copied as a whole split into machine accesses?
//!
//! Seen in the machine code of nvcc 13.5 for 9.0, of some fifty structs, in static and dynamic arrays, at known and at
//! unknown places: each 16 bytes of a struct are copied by one access if what lies in them is of one size, and by
//! two of 8 bytes if not. What is not aligned so, or left over at the end, takes accesses of 8 or 4 bytes.
//!
//! | members | copied as |
//! |---|---|
//! | `float a, b;` `short a, b; float c;` | 8 bytes |
//! | `float a, b, c, d;` `double a, b;` `int a; short b, c; float d, e;` | 16 bytes |
//! | `float e[8];` `double e[4];` | 16 and 16 bytes |
//! | `float e[6];` | 8, 8 and 8 bytes, as 24 is no multiple of 16 |
//! | `float e[5];` | 4 bytes five times |
//! | `int a; float b; double c;` | 8 and 8 bytes |
//! | `double a; float b;` with 4 bytes at the end that hold nothing | 8 and 8 bytes |
//! | `float a; double b;` with 4 bytes between that hold nothing | 16 bytes |
//! | `int a[2]; double b[3];` | 8, 8 and 16 bytes |
//! | `double a, b; float c, d, e;` | read by 16 and 16 bytes, written by 16, 8, 4 and 4 |

use crate::events::JOINED_IN_PART;

/// Bytes of the largest structs whose copies were looked at.
const LARGEST: u64 = 128;

/// Bytes up to which the compiler joins the members of a struct of `size` bytes that is copied, where its alignment
/// asks for accesses of `aligned` bytes; 0 if it does not, [`JOINED_IN_PART`] if not everywhere alike. `members`: where each
/// number in it begins and its size, in order.
#[must_use]
pub(crate) fn joined_up_to(aligned: u32, size: u64, members: &[(u64, u64)]) -> u32 {
    if aligned < 4 || size > LARGEST {
        return 0;
    }
    if aligned >= 16 {
        return 16;
    }
    // Of narrow numbers some are read twice.
    if size > 16 && members.iter().any(|(_, size)| *size < 4) {
        return JOINED_IN_PART;
    }
    let mut found = None;
    for begin in (0..size / 16).map(|chunk| chunk * 16) {
        let inside = |at: u64| (begin..begin + 16).contains(&at);
        // Of narrow numbers the words in which they lie count.
        let mut pieces: Vec<(u64, u64)> = members
            .iter()
            .filter(|(at, _)| inside(*at))
            .map(|(at, size)| (at - at % (*size).clamp(4, 8), (*size).clamp(4, 8)))
            .collect();
        pieces.dedup();
        let held: u64 = pieces.iter().map(|(_, size)| size).sum();
        // Loads of these are one access, stores are three.
        if held == 12 && pieces.len() == 3 && begin + 16 == size {
            return JOINED_IN_PART;
        }
        let is_whole = pieces.windows(2).all(|pair| pair[0].1 == pair[1].1)
            || matches!(pieces.as_slice(), [(_, 4), (_, 8)] if held == 12);
        let own = if is_whole && !(pieces.len() == 1 && held < 16) { 16 } else { 8 };
        match found {
            Some(other) if other != own => return JOINED_IN_PART,
            _ => found = Some(own),
        }
    }
    found.unwrap_or(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of members of these sizes, one after the other, each aligned to its size.
    fn of(sizes: &[u64]) -> u32 {
        let mut members = Vec::new();
        let mut end = 0u64;
        for size in sizes {
            let begin = end.next_multiple_of(*size);
            members.push((begin, *size));
            end = begin + size;
        }
        let aligned = sizes.iter().max().copied().unwrap_or(1);
        joined_up_to(aligned as u32, end.next_multiple_of(aligned), &members)
    }

    #[test]
    fn structs_are_split_as_in_machine_code() {
        assert_eq!((of(&[4, 4]), of(&[2, 2, 4]), of(&[2, 4]), of(&[1, 1, 1, 1, 4])), (8, 8, 8, 8));
        assert_eq!((of(&[4; 4]), of(&[8; 2]), of(&[4, 2, 2, 4, 4]), of(&[1, 4, 4, 4])), (16, 16, 16, 16));
        assert_eq!((of(&[4; 8]), of(&[8; 4]), of(&[4; 12])), (16, 16, 16));
        assert_eq!((of(&[4, 4, 8]), of(&[8, 4]), of(&[8, 4, 4])), (8, 8, 8));
        assert_eq!((of(&[4, 8]), of(&[4, 8, 4, 8])), (16, 16));
        assert_eq!((of(&[8, 4, 4, 8, 4, 4]), of(&[4, 4, 4, 2, 2, 4, 4, 4, 4])), (8, JOINED_IN_PART));
        assert_eq!(
            (of(&[4, 4, 8, 8, 8]), of(&[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8])),
            (JOINED_IN_PART, JOINED_IN_PART)
        );
        assert_eq!((of(&[8, 8, 4, 4, 4]), of(&[4, 4, 4, 8, 8]), of(&[4, 8, 8, 8])), (JOINED_IN_PART, 16, 16));
        assert_eq!((of(&[1; 16]), of(&[2; 8]), of(&[4; 40])), (0, 0, 0));
    }
}
