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
//!
//! Numbers of one size, 2 bytes or more, in a struct without `__align__` are copied as if the text named each. How they
//! are joined depends on where the object lies, which is asked where neighbours are joined: of `float x, y, z` in every
//! fourth word, one load of 16 bytes, and stores of 8 and 4. So it is with `short x, y, z, w`, if no member is used by
//! itself.
//!
//! What is not used of a struct is not read. The members that are used are read as if the text named them one by one:
//! of a `float4` each subset was looked at, of structs of two to four numbers with and without `__align__`, too.
//!
//! | used of `float4 q = s[i]` | read by |
//! |---|---|
//! | three or all | 16 bytes |
//! | `x`, `y` or `z`, `w` | 8 bytes |
//! | `x`, `z` or `x`, `w` or `y`, `z` or `y`, `w` | 4 bytes twice |
//! | `x` | 4 bytes |
//!
//! Where bytes of a struct hold nothing, it is not joined over them, unless it is copied from memory to memory:
//!
//! | members | made of members, then written by | used member by member, read by |
//! |---|---|---|
//! | `float f; long long l;` | 4 and 8 bytes | 4 and 8 bytes |
//! | `char c; float f;` `int f; char c;` | 1 and 4 bytes | 1 and 4 bytes |
//! | `int a, b; float f; char c;` | 8, 4 and 1 bytes | 16 and 1 bytes |
//! | the same two, made of a list with a constant in it | 8 and 16 bytes | |
//! | `short a, b; float f;` has no such bytes | 8 bytes | 8 bytes |
//!
//! What goes through `?:`, an element of an array of the thread's own or a parameter is copied by its members, too, as
//! many as are used; how many these are is not looked at, so such copies are not judged.

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

/// A number in a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Where it begins.
    pub at: u64,
    /// Its size.
    pub bytes: u64,
    /// Whether it is used.
    pub used: bool,
}

/// Where in a struct its parts begin that are read, and their sizes, if not all of its members are used or some bytes
/// hold nothing. None where it is read as a whole, or it is not known how. Of a struct that is aligned to less than 16
/// bytes they are the single members: how they are joined depends on where the struct lies.
#[must_use]
pub(crate) fn read_in_part(aligned: u64, size: u64, members: &[Member]) -> Option<Vec<(u64, u64)>> {
    let used: Vec<Member> = members.iter().copied().filter(|it| it.used).collect();
    let is_part = !used.is_empty() && used.len() < members.len()
        || used.len() == members.len() && has_holes(aligned, size, members);
    // Of several narrow numbers it depends on what is done with them.
    if !is_part || size > LARGEST || used.iter().filter(|it| it.bytes < 4).count() > 1 {
        return None;
    }
    let in_chunk = |chunk: u64| used.iter().copied().filter(move |it| it.at / 16 == chunk);
    let is_whole = |chunk: u64| {
        let words = in_chunk(chunk).filter(|it| it.bytes == 4).count();
        words >= 3 || in_chunk(chunk).filter(|it| it.bytes == 8).count() == 2
    };
    if aligned < 16 {
        let is_one = size == 16 && is_whole(0) && used.iter().all(|it| it.bytes >= 4);
        return (!is_one).then(|| used.iter().map(|it| (it.at, it.bytes)).collect());
    }
    let mut parts = Vec::new();
    for chunk in 0..size.div_ceil(16) {
        if is_whole(chunk) {
            parts.push((chunk * 16, 16));
            parts.extend(in_chunk(chunk).filter(|it| it.bytes < 4).map(|it| (it.at, it.bytes)));
            continue;
        }
        for half in [chunk * 2, chunk * 2 + 1] {
            let mut inside = in_chunk(chunk).filter(|it| it.at / 8 == half);
            match (inside.next(), inside.next()) {
                (Some(_), Some(_)) => parts.push((half * 8, 8)),
                (Some(one), None) => parts.push((one.at, one.bytes)),
                _ => {}
            }
        }
    }
    (parts != [(0, size)]).then_some(parts)
}

/// Where the members begin, and their sizes, of a struct that is made of them and then written, if they are written one
/// by one or joined as they would be then. None where it is written as a whole, or it is not known how. `filled`: whether
/// it is made of a list with constants in it, which fills what lies behind the last member, too.
#[must_use]
pub(crate) fn written_in_part(
    aligned: u64,
    size: u64,
    members: &[Member],
    filled: bool,
) -> Option<Vec<(u64, u64)>> {
    if filled && members.iter().all(|it| it.at + it.bytes < size) {
        return None;
    }
    let is_known = members.iter().filter(|it| it.bytes < 4).count() <= 1 && size <= LARGEST;
    let is_apart = is_known && members.iter().all(|it| it.used) && has_holes(aligned, size, members);
    is_apart.then(|| members.iter().map(|it| (it.at, it.bytes)).collect())
}

/// Where the members of a struct begin that is copied as a whole, and their sizes, if the compiler copies them as if the
/// text named each: they are of one size, and the struct is not aligned to all of its bytes. How they are joined depends
/// on where it lies.
#[must_use]
pub(crate) fn copied_by_members(aligned: u64, size: u64, members: &[Member]) -> Option<Vec<(u64, u64)>> {
    let is_one_size = matches!(members, [first, ..] if members.iter().all(|it| it.bytes == first.bytes));
    let is_so = is_one_size && (2..16).contains(&aligned) && members.len() > 1 && size <= LARGEST;
    let is_dense = members.iter().map(|it| it.bytes).sum::<u64>() == size;
    (is_so && is_dense && members[0].bytes == aligned)
        .then(|| members.iter().map(|it| (it.at, it.bytes)).collect())
}

/// Whether bytes of a struct hold nothing, and no `__align__` makes them. Then its members are joined over them only where
/// it is copied from memory to memory, or made of a list.
#[must_use]
pub(crate) fn has_holes(aligned: u64, size: u64, members: &[Member]) -> bool {
    let widest = members.iter().map(|it| it.bytes).max();
    widest == Some(aligned) && members.iter().map(|it| it.bytes).sum::<u64>() < size
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

    /// What is read of members of these sizes, those of which are used that have a bit.
    fn read(aligned: u64, sizes: &[u64], used: u32) -> Option<Vec<(u64, u64)>> {
        let mut members = Vec::new();
        let mut end = 0u64;
        for (number, size) in sizes.iter().enumerate() {
            let at = end.next_multiple_of(*size);
            members.push(Member { at, bytes: *size, used: used >> number & 1 == 1 });
            end = at + size;
        }
        read_in_part(aligned, end.next_multiple_of(aligned), &members)
    }

    #[test]
    fn unused_members_are_not_read() {
        let four = |used: u32| read(16, &[4; 4], used);
        assert_eq!((four(0b1111), four(0b0111), four(0b1011), four(0b1110)), (None, None, None, None));
        assert_eq!((four(0b0011), four(0b1100)), (Some(vec![(0, 8)]), Some(vec![(8, 8)])));
        assert_eq!((four(0b1001), four(0b0110)), (Some(vec![(0, 4), (12, 4)]), Some(vec![(4, 4), (8, 4)])));
        assert_eq!((four(0b0001), read(16, &[8; 2], 2)), (Some(vec![(0, 4)]), Some(vec![(8, 8)])));
        assert_eq!((read(4, &[4; 4], 0b0111), read(8, &[4; 4], 0b0011)), (None, Some(vec![(0, 4), (4, 4)])));
        assert_eq!(
            (read(16, &[4; 8], 0b1111_0001), read(4, &[4; 3], 1)),
            (Some(vec![(0, 4), (16, 16)]), Some(vec![(0, 4)]))
        );
        assert_eq!((read(8, &[2; 4], 0b0001), read(8, &[2; 4], 0b0101)), (Some(vec![(0, 2)]), None));
        assert_eq!((read(16, &[4; 3], 0b111), read(16, &[4; 3], 0b101)), (None, Some(vec![(0, 4), (8, 4)])));
        assert_eq!(
            (read(8, &[4, 8], 0b11), read(4, &[1, 4], 0b11)),
            (Some(vec![(0, 4), (8, 8)]), Some(vec![(0, 1), (4, 4)]))
        );
        assert_eq!((read(4, &[2, 2, 4], 0b111), read(8, &[4, 1], 0b11)), (None, None));
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
