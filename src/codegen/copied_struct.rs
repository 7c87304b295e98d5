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
//! | `double e[20];` `float e[36];` and so on, to 320 bytes | 16 bytes each |
//! | `float e[6];` | 8, 8 and 8 bytes, as 24 is no multiple of 16 |
//! | `float e[5];` | 4 bytes five times |
//! | `int a; float b; double c;` | 8 and 8 bytes |
//! | `double a; float b;` with 4 bytes at the end that hold nothing | 8 and 8 bytes |
//! | `float a; double b;` with 4 bytes between that hold nothing | 16 bytes |
//! | `int a[2]; double b[3];` | 8, 8 and 16 bytes |
//! | `union { int a; float b; }; int c;` as of the widest member of the union | 8 bytes |
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
//! | the last, with `short` for `char` | 8, 4 and 2 bytes | 16 and 2 bytes |
//! | `__align__(16)` and `float x, y, z;` | 8 and 4 bytes | 16 bytes |
//! | `float2 a; int b;` | 8 and 4 bytes | 16 bytes |
//! | `__align__(8)` and `int a; short b;` | 4 and 2 bytes | 4 and 2 bytes |
//! | `__align__(8)` and `short x, y, z;` | 4 and 2 bytes | 8 bytes |
//! | `float a; char b[3];` | 4, 2 and 1 bytes | 8 bytes |
//! | `short a, b; float f;` has no such bytes | 8 bytes | 8 bytes |
//!
//! From memory to memory they are copied as a whole, but for two kinds of structs:
//!
//! | members | copied by |
//! |---|---|
//! | `int a; short b;` `double a; short b;` where a `short` is alone in its word, without `__align__` | two accesses of 4 bytes, or of 2, for its part |
//! | `int a; __half b;` where a number is an object of a class | the members, as if the text named each |
//!
//! What goes through `?:`, an element of an array of the thread's own or a parameter is copied by its members, too, as
//! many as are used; how many these are is not looked at, so such copies are not judged.

use crate::events::JOINED_IN_PART;

/// Bytes of the largest structs whose copies were looked at.
const LARGEST: u64 = 320;

/// Bytes up to which the compiler joins the members of a struct of `size` bytes that is copied, where its alignment
/// asks for accesses of `aligned` bytes; 0 if it does not, [`JOINED_IN_PART`] if not everywhere alike. `members`: where each
/// number in it begins and its size, in order.
#[must_use]
pub(crate) fn joined_up_to(aligned: u32, size: u64, members: &[(u64, u64)]) -> u32 {
    if !(4..16).contains(&aligned) || size > LARGEST {
        return joined_if_not_known(aligned);
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

/// The same of a struct of which not all is known.
#[must_use]
pub(crate) fn joined_if_not_known(aligned: u32) -> u32 {
    match aligned {
        0..4 => 0,
        4..16 => JOINED_IN_PART,
        _ => 16,
    }
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

/// By what accesses a struct is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// As a whole.
    Whole,
    /// By these parts: where each begins, and its bytes. In a struct that is aligned to less than 16 bytes they may
    /// be joined further: it depends on where the struct lies.
    Parts(Vec<(u64, u64)>),
    Unknown,
}

/// How a struct is read of which these members are used.
#[must_use]
pub(crate) fn read_in_part(aligned: u64, size: u64, members: &[Member]) -> Split {
    let used: Vec<Member> = members.iter().copied().filter(|it| it.used).collect();
    let holes = has_holes(size, members);
    if used.is_empty() || used.len() == members.len() && !holes {
        return Split::Whole;
    }
    // Of several narrow numbers it depends on what is done with them.
    if size > LARGEST || used.iter().filter(|it| it.bytes < 4).count() > 1 {
        return Split::Unknown;
    }
    let in_chunk = |chunk: u64| used.iter().copied().filter(move |it| it.at / 16 == chunk);
    let words = |chunk: u64| in_chunk(chunk).filter(|it| it.bytes == 4).count();
    let is_whole = |chunk: u64| words(chunk) >= 3 || in_chunk(chunk).filter(|it| it.bytes == 8).count() == 2;
    let with_byte = |chunk: u64| words(chunk) == 2 && in_chunk(chunk).any(|it| it.bytes == 1);
    // A byte behind two aligned words was seen to be read with them, a number of two bytes was not.
    if aligned >= 8 && (0..size.div_ceil(16)).any(with_byte) {
        return Split::Unknown;
    }
    if aligned < 16 {
        let is_one = !holes && size == 16 && is_whole(0) && used.iter().all(|it| it.bytes >= 4);
        let each = || Split::Parts(used.iter().map(|it| (it.at, it.bytes)).collect());
        return if is_one { Split::Whole } else { each() };
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
    if parts == [(0, size)] { Split::Whole } else { Split::Parts(parts) }
}

/// How a struct is written that was made of members. `filled`: whether it is made of a list with constants in it,
/// which fills what lies behind the last member, too.
#[must_use]
pub(crate) fn written_in_part(aligned: u64, size: u64, members: &[Member], filled: bool) -> Split {
    if !has_holes(size, members) {
        return Split::Whole;
    }
    if filled && members.iter().all(|it| it.at + it.bytes < size) {
        let is_lone = aligned == 4 && members.last().is_some_and(|it| it.bytes == 2);
        return if is_natural(aligned, members) && !is_lone { Split::Whole } else { Split::Unknown };
    }
    if size > LARGEST || !members.iter().all(|it| it.used) {
        return Split::Unknown;
    }
    Split::Parts(with_narrow_joined(aligned, members))
}

/// How a struct is copied from one place in memory to another. `by_class`: whether a number in it is of a class that
/// copies itself, like `__half`.
#[must_use]
pub(crate) fn copied(aligned: u64, size: u64, members: &[Member], by_class: bool, is_read: bool) -> Split {
    let in_word = |word: u64| members.iter().filter(move |it| it.bytes == 2 && it.at / 4 == word).count();
    match (has_holes(size, members), by_class) {
        (false, _) => Split::Whole,
        (true, true) if is_read => read_in_part(aligned, size, members),
        (true, true) => written_in_part(aligned, size, members, false),
        (true, false) if is_natural(aligned, members) && (0..size / 4).any(|word| in_word(word) == 1) => {
            Split::Unknown
        }
        (true, false) => Split::Whole,
    }
}

/// Whether a struct is read by the same accesses whether its bytes that hold nothing are read or not, if all of its
/// members are.
#[must_use]
pub(crate) fn is_read_alike(size: u64, members: &[Member]) -> bool {
    let in_chunk = |chunk: u64, bytes: u64| {
        members.iter().filter(move |it| it.at / 16 == chunk && it.bytes == bytes).count()
    };
    let is_wide = members.iter().all(|it| it.bytes >= 4);
    is_wide
        && size.is_multiple_of(16)
        && (0..size / 16).all(|chunk| in_chunk(chunk, 4) >= 3 || in_chunk(chunk, 8) == 2)
}

/// The members, those of less than 4 bytes joined that are of one size and lie side by side.
fn with_narrow_joined(aligned: u64, members: &[Member]) -> Vec<(u64, u64)> {
    // With the size of the numbers in each part.
    let mut parts: Vec<(u64, u64, u64)> = Vec::new();
    for member in members {
        parts.push((member.at, member.bytes, member.bytes));
        while let [.., (at, bytes, of), (next, others, of_next)] = *parts.as_slice()
            && bytes < 4.min(aligned)
            && (bytes, of, at + bytes) == (others, of_next, next)
            && at.is_multiple_of(bytes * 2)
        {
            parts.truncate(parts.len() - 2);
            parts.push((at, bytes * 2, of));
        }
    }
    parts.into_iter().map(|(at, bytes, _)| (at, bytes)).collect()
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

/// Whether bytes of a struct hold nothing. Then its members are joined over them only where it is copied from memory to
/// memory, or made of a list.
#[must_use]
pub(crate) fn has_holes(size: u64, members: &[Member]) -> bool {
    members.iter().map(|it| it.bytes).sum::<u64>() < size
}

/// Whether a struct is aligned as its widest member.
fn is_natural(aligned: u64, members: &[Member]) -> bool {
    members.iter().map(|it| it.bytes).max() == Some(aligned)
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
    fn read(aligned: u64, sizes: &[u64], used: u32) -> Split {
        let mut members = in_order(sizes);
        members.iter_mut().enumerate().for_each(|(number, it)| it.used = used >> number & 1 == 1);
        let end = members.last().map_or(0, |it| it.at + it.bytes);
        read_in_part(aligned, end.next_multiple_of(aligned), &members)
    }

    /// Members of these sizes, one after the other, each aligned to its size.
    fn in_order(sizes: &[u64]) -> Vec<Member> {
        let mut end = 0u64;
        let of = |size: &u64| {
            let at = end.next_multiple_of(*size);
            end = at + size;
            Member { at, bytes: *size, used: true }
        };
        sizes.iter().map(of).collect()
    }

    #[test]
    fn unused_members_are_not_read() {
        let four = |used: u32| read(16, &[4; 4], used);
        let parts = |parts: &[(u64, u64)]| Split::Parts(parts.to_vec());
        assert!([0b1111, 0b0111, 0b1011, 0b1110].iter().all(|used| four(*used) == Split::Whole));
        assert_eq!((four(0b0011), four(0b1100)), (parts(&[(0, 8)]), parts(&[(8, 8)])));
        assert_eq!((four(0b1001), four(0b0110)), (parts(&[(0, 4), (12, 4)]), parts(&[(4, 4), (8, 4)])));
        assert_eq!((four(0b0001), read(16, &[8; 2], 2)), (parts(&[(0, 4)]), parts(&[(8, 8)])));
        assert_eq!(read(4, &[4; 4], 0b0111), Split::Whole);
        assert_eq!(read(8, &[4; 4], 0b0011), parts(&[(0, 4), (4, 4)]));
        assert_eq!(read(16, &[4; 8], 0b1111_0001), parts(&[(0, 4), (16, 16)]));
        assert_eq!(read(4, &[4; 3], 1), parts(&[(0, 4)]));
        assert_eq!((read(8, &[2; 4], 0b0001), read(8, &[2; 4], 0b0101)), (parts(&[(0, 2)]), Split::Unknown));
        assert_eq!(
            (read(16, &[4; 3], 0b111), read(16, &[4; 3], 0b101)),
            (Split::Whole, parts(&[(0, 4), (8, 4)]))
        );
        assert_eq!(
            (read(8, &[4, 8], 0b11), read(4, &[1, 4], 0b11)),
            (parts(&[(0, 4), (8, 8)]), parts(&[(0, 1), (4, 4)]))
        );
        assert_eq!(
            (read(4, &[2, 2, 4], 0b111), read(8, &[4, 2], 0b11)),
            (Split::Whole, parts(&[(0, 4), (4, 2)]))
        );
        assert_eq!(
            (read(8, &[4, 4, 1], 0b111), read(16, &[4; 5], 0b11111)),
            (Split::Unknown, parts(&[(0, 16), (16, 4)]))
        );
    }

    /// How members of these sizes are written.
    fn written(aligned: u64, sizes: &[u64], filled: bool) -> Split {
        let members = in_order(sizes);
        let end = members.last().map_or(0, |it| it.at + it.bytes);
        written_in_part(aligned, end.next_multiple_of(aligned), &members, filled)
    }

    #[test]
    fn bytes_that_hold_nothing_are_not_written() {
        let parts = |parts: &[(u64, u64)]| Split::Parts(parts.to_vec());
        assert_eq!((written(16, &[4; 4], false), written(4, &[2, 2], false)), (Split::Whole, Split::Whole));
        assert_eq!(written(16, &[4; 3], false), parts(&[(0, 4), (4, 4), (8, 4)]));
        assert_eq!(written(4, &[4, 1, 1, 1], false), parts(&[(0, 4), (4, 2), (6, 1)]));
        assert_eq!(written(16, &[2; 5], false), parts(&[(0, 4), (4, 4), (8, 2)]));
        assert_eq!(written(4, &[4, 2, 1], false), parts(&[(0, 4), (4, 2), (6, 1)]));
        assert_eq!((written(8, &[8, 4], true), written(4, &[4, 1], true)), (Split::Whole, Split::Whole));
        assert_eq!((written(4, &[4, 2], true), written(8, &[4, 2], true)), (Split::Unknown, Split::Unknown));
    }

    #[test]
    fn copies_from_memory_are_whole_but_for_lone_narrow_numbers() {
        let of = |aligned: u64, sizes: &[u64], by_class: bool| {
            let members = in_order(sizes);
            let end = members.last().map_or(0, |it| it.at + it.bytes);
            copied(aligned, end.next_multiple_of(aligned), &members, by_class, false)
        };
        assert_eq!((of(8, &[8, 4], false), of(16, &[4; 3], false)), (Split::Whole, Split::Whole));
        assert_eq!((of(4, &[4, 1], false), of(8, &[4, 2], false)), (Split::Whole, Split::Whole));
        assert_eq!((of(4, &[4, 2], false), of(4, &[4, 2, 1], false)), (Split::Unknown, Split::Unknown));
        assert_eq!(of(4, &[4, 2], true), Split::Parts(vec![(0, 4), (4, 2)]));
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
        assert_eq!((of(&[1; 16]), of(&[2; 8]), of(&[4; 40]), of(&[4; 84])), (0, 0, 16, JOINED_IN_PART));
    }
}
