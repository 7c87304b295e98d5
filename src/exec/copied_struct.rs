//! How is a struct that is copied as a whole split into machine accesses?

use super::types::Ty;

/// Bytes up to which the compiler joins the members of a struct that is copied, 0 if it does not. Seen in
/// the machine code of nvcc 13: a copy is as many accesses as the alignment asks for, which follow each
/// other. Those of members of one size become one of up to 16 bytes, others of 8.
///
/// | members | copied as |
/// |---|---|
/// | `float a, b;` `short a, b; float c;` | 8 bytes |
/// | `float a, b, c, d;` `double a, b;` | 16 bytes |
/// | `int a; float b; double c;` | 8 and 8 bytes |
/// | `float a, b, c;` | 4, 4 and 4 bytes |
pub(super) fn joined_members(ty: &Ty, bytes: Option<u32>) -> u32 {
    fn sizes(ty: &Ty, depth: u32, found: &mut Vec<u64>) {
        match ty {
            Ty::Record(layout) if depth > 0 => {
                layout.fields.iter().for_each(|field| sizes(&field.ty, depth - 1, found));
            }
            // Of up to 16 bytes, at most 16.
            _ => found.extend(ty.innermost().constant_size()),
        }
    }
    let Ty::Record(layout) = ty else { return 0 };
    let copied = split_alignment(ty, bytes);
    if copied < 4 || layout.record.as_ref().is_none_or(|record| record.union) {
        return 0;
    }
    let mut all = Vec::new();
    sizes(ty, 8, &mut all);
    if all.windows(2).all(|pair| pair[0] == pair[1]) { 16 } else { 8 }
}

/// The type's alignment where it is less than its size asks for; 0 when it is natural.
pub(super) fn split_alignment(ty: &Ty, bytes: Option<u32>) -> u32 {
    match (ty, bytes) {
        (Ty::Record(layout), Some(bytes)) if layout.size == Some(u64::from(bytes)) => {
            layout.align.min(16) as u32
        }
        _ => 0,
    }
}
