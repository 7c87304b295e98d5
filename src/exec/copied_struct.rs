//! Of what sizes are the members of a struct that is copied as a whole?

use super::types::Ty;
use crate::codegen::copied_struct;

/// Numbers in a struct up to which they are looked at one by one.
const MOST: usize = 256;

/// Bytes up to which the compiler joins the members of a struct that is copied, 0 if it does not.
pub(super) fn joined_members(ty: &Ty, bytes: Option<u32>) -> u32 {
    let (Ty::Record(layout), Some(bytes)) = (ty, bytes) else { return 0 };
    if layout.record.as_ref().is_none_or(|record| record.union) {
        return 0;
    }
    let mut members = Vec::new();
    match numbers(ty, 0, 8, &mut members) {
        Some(()) => copied_struct::joined_up_to(split_alignment(ty, Some(bytes)), u64::from(bytes), &members),
        None => 0,
    }
}

/// Where the numbers in a type lie that begins `at` bytes from the start, and their sizes, if that is known.
fn numbers(ty: &Ty, at: u64, depth: u32, found: &mut Vec<(u64, u64)>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match ty {
        Ty::Record(layout) if layout.overlaps => None,
        Ty::Record(layout) => {
            layout.fields.iter().try_for_each(|field| numbers(&field.ty, at + field.offset?, depth, found))
        }
        Ty::Array(element, length) => {
            let (length, size) = (length.as_ref()?.as_constant()?, element.constant_size()?);
            let length = usize::try_from(length).ok().filter(|length| *length <= MOST)?;
            (0..length as u64).try_for_each(|number| numbers(element, at + number * size, depth, found))
        }
        _ => {
            found.push((at, ty.constant_size()?));
            (found.len() <= MOST).then_some(())
        }
    }
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
