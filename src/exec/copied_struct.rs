//! Of what sizes are the members of a struct that is copied as a whole?

use super::types::Ty;
use crate::codegen::copied_struct;

/// Bytes up to which the compiler joins the members of a struct that is copied, 0 if it does not.
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
    let aligned = split_alignment(ty, bytes);
    if layout.record.as_ref().is_none_or(|record| record.union) {
        return 0;
    }
    let mut all = Vec::new();
    sizes(ty, 8, &mut all);
    copied_struct::joined_up_to(aligned, &all)
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
