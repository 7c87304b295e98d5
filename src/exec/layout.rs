//! Where do the members of a class lie?
//!
//! As in the Itanium C++ ABI, which nvcc follows on Linux: members in order, each at a multiple of its
//! alignment, `#pragma pack` and `packed` limiting that. A base without members takes no place. What is
//! not known is where a table of virtual functions, bit-fields, and members in the padding of a base
//! lie, and so the size of a class that has them.

use super::machine::Machine;
use super::parts::some_overlap;
use super::types::{Env, FieldLayout, Layout, Ty};
use crate::ir::{Record, Type};
use std::rc::Rc;
use std::sync::Arc;

/// The members placed so far.
struct Placed {
    /// One past the last byte, if known.
    end: Option<u64>,
    align: u64,
    union: bool,
    packed: Option<u64>,
}

impl Placed {
    /// Places something of this size and alignment, and says where.
    fn place(&mut self, size: Option<u64>, align: u64, written: u64) -> Option<u64> {
        let align = self.packed.map_or(align, |limit| align.min(limit)).max(written).max(1);
        self.align = self.align.max(align);
        let at = self.end.map(|end| if self.union { 0 } else { end.next_multiple_of(align) });
        let after = at.zip(size).and_then(|(at, size)| at.checked_add(size));
        self.end = after.map(|after| after.max(self.end.unwrap_or(0)));
        at
    }
}

impl Machine<'_> {
    /// The layout of a record with these template parameters.
    pub(super) fn compute_layout(&mut self, record: &Arc<Record>, env: &Rc<Env>) -> Layout {
        let mut fields = Vec::new();
        let mut placed = Placed {
            end: Some(0),
            align: 1,
            union: record.union,
            packed: record.packed.filter(|limit| *limit > 0),
        };
        if record.is_polymorphic {
            placed.place(None, 8, 1);
        }
        for base in &record.bases {
            let ty = self.resolve_type(base);
            if is_empty(&ty) {
                continue;
            }
            let at = placed.place(ty.constant_size(), ty.align(), 1);
            let Ty::Record(layout) = &ty else { continue };
            fields.extend(layout.fields.iter().map(|field| FieldLayout {
                offset: at.zip(field.offset).map(|(a, b)| a + b),
                ..field.clone()
            }));
            // What follows may lie in its padding.
            if has_padding_at_end(layout) {
                placed.end = None;
            }
        }
        for field in &record.fields {
            let ty = self.resolve_type(&field.ty);
            let written = field.align.as_ref().and_then(|e| self.constant(e));
            let written = written.unwrap_or(1).clamp(1, 4096) as u64;
            let reference = matches!(field.ty, Type::Reference(_));
            let at = match reference {
                true => placed.place(Some(8), 8, written),
                false => placed.place(ty.constant_size(), ty.align(), written),
            };
            if field.bit_field {
                placed.end = None;
            }
            match &ty {
                Ty::Record(inner) if field.name.is_empty() => {
                    fields.extend(inner.fields.iter().map(|part| FieldLayout {
                        offset: at.zip(part.offset).map(|(a, b)| a + b),
                        ..part.clone()
                    }));
                }
                _ => fields.push(FieldLayout {
                    name: field.name.clone(),
                    ty,
                    offset: at.filter(|_| !field.bit_field),
                    reference,
                    bit_field: field.bit_field,
                }),
            }
        }
        let written = record.align.as_ref().and_then(|e| self.constant(e)).unwrap_or(1);
        let align = placed.align.max(written.clamp(1, 4096) as u64);
        let size = placed.end.map(|end| end.max(1).next_multiple_of(align));
        Layout {
            name: record.name.clone(),
            size,
            align,
            overlaps: record.union || some_overlap(&fields),
            fields,
            record: Some(Arc::clone(record)),
            env: Rc::clone(env),
        }
    }
}

/// Whether a class has no members, so that as a base it takes no place.
fn is_empty(ty: &Ty) -> bool {
    match ty {
        Ty::Record(layout) => {
            let record = layout.record.as_ref();
            layout.fields.is_empty()
                && layout.size == Some(1)
                && record.is_some_and(|record| record.fields.is_empty() && !record.is_polymorphic)
        }
        _ => false,
    }
}

/// Whether bytes at the end of a class belong to no member.
fn has_padding_at_end(layout: &Layout) -> bool {
    let end = |field: &FieldLayout| {
        let size = if field.reference { Some(8) } else { field.ty.constant_size() };
        Some(field.offset? + size?)
    };
    let last = layout.fields.iter().map(end).max().flatten();
    layout.size.is_some() && last != layout.size
}
