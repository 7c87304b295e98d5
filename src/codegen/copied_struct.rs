//! How is a struct that is copied as a whole split into machine accesses?

/// Bytes up to which the compiler joins the members of a struct that is copied, of these sizes, where its
/// alignment asks for accesses of `aligned` bytes; 0 if it does not. Seen in the machine code of nvcc 13: a
/// copy is as many accesses as the alignment asks for, which follow each other. Those of members of one
/// size become one of up to 16 bytes, others of 8.
///
/// | members | copied as |
/// |---|---|
/// | `float a, b;` `short a, b; float c;` | 8 bytes |
/// | `float a, b, c, d;` `double a, b;` | 16 bytes |
/// | `int a; float b; double c;` | 8 and 8 bytes |
/// | `float a, b, c;` | 4, 4 and 4 bytes |
#[must_use]
pub(crate) fn joined_up_to(aligned: u32, sizes: &[u64]) -> u32 {
    match aligned {
        0..4 => 0,
        _ if sizes.windows(2).all(|pair| pair[0] == pair[1]) => 16,
        _ => 8,
    }
}
