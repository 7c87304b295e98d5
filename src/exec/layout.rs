//! Where do the members of a class lie?
//!
//! As in the Itanium C++ ABI, which nvcc follows on Linux: members in order, each at a multiple of its
//! alignment, `#pragma pack` and `packed` limiting that. A base without members takes no place. What is
//! not known is how large a type is that is not visible, a table of virtual functions, a bit-field, and
//! whether the padding of a base is used. A member behind one of these lies at an unknown multiple of its
//! alignment, the same in each object of the class; those of a union all lie at its start.

use super::machine::Machine;
use super::parts::some_overlap;
use super::types::{Env, FieldLayout, Layout, Ty};
use crate::domain::Int;
use crate::ir::Record;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of a word by which a class is tried larger.
const WORD: u64 = 4;

/// How a part of a class is to be placed.
#[derive(Clone, Copy)]
struct Part {
    size: Option<u64>,
    align: u64,
    /// Whether it may have to be aligned to more.
    open: bool,
}

impl Part {
    fn of(ty: &Ty) -> Part {
        Part { size: ty.constant_size(), align: ty.align(), open: ty.has_open_alignment() }
    }

    /// What is not visible, but where a pointer may be.
    const HIDDEN: Part = Part { size: None, align: 8, open: false };
    const REFERENCE: Part = Part { size: Some(8), align: 8, open: false };
}

/// Where a part of a class begins.
enum Begins {
    At(u64),
    /// At an unknown multiple of so many bytes.
    Multiple(u64),
}

/// The members placed so far.
struct Placed {
    /// One past the last byte, if known.
    end: Option<u64>,
    /// The bytes before that which are padding of a base: what follows may lie in them.
    padding: u64,
    align: u64,
    /// Whether the alignment may be greater.
    open: bool,
    union: bool,
    packed: Option<u64>,
}

impl Placed {
    /// The end as a multiple of a number, if that is the same whether or not padding is used.
    fn end_at(&self, align: u64) -> Option<u64> {
        let end = self.end?.next_multiple_of(align);
        (end == (self.end? - self.padding).next_multiple_of(align)).then_some(end)
    }

    /// Places something, and says where.
    fn place(&mut self, part: Part, written: u64) -> Begins {
        let align = self.packed.map_or(part.align, |limit| part.align.min(limit)).max(written).max(1);
        let open = part.open && self.packed.is_none_or(|limit| part.align < limit);
        self.align = self.align.max(align);
        self.open |= open;
        let at = match self.end {
            _ if self.union => Some(0),
            Some(0) => Some(0),
            Some(_) if open => None,
            _ => self.end_at(align),
        };
        self.padding = 0;
        let after = at.zip(part.size).and_then(|(at, size)| at.checked_add(size));
        self.end = after.and_then(|after| Some(after.max(self.end?)));
        at.map_or(Begins::Multiple(align), Begins::At)
    }
}

impl Machine<'_> {
    /// The layout of a record with these template parameters.
    pub(super) fn compute_layout(&mut self, record: &Arc<Record>, env: &Rc<Env>) -> Layout {
        let mut fields = Vec::new();
        let mut placed = Placed {
            end: Some(0),
            padding: 0,
            align: 1,
            open: false,
            union: record.union,
            packed: record.packed.filter(|limit| *limit > 0),
        };
        if record.is_polymorphic {
            placed.place(Part::HIDDEN, 1);
        }
        for base in &record.bases {
            let ty = self.resolve_type(base);
            if is_empty(&ty) {
                continue;
            }
            let begins = placed.place(Part::of(&ty), 1);
            let Ty::Record(layout) = &ty else { continue };
            let at = self.begins(&begins, &layout.name);
            fields.extend(layout.fields.iter().map(|field| self.shifted(field, &at)));
            match padding_at_end(layout) {
                Some(padding) => placed.padding = padding,
                None => placed.end = None,
            }
        }
        for field in &record.fields {
            let ty = self.resolve_type(&field.ty);
            let written = field.align.as_ref().and_then(|e| self.constant(e));
            let written = written.unwrap_or(1).clamp(1, 4096) as u64;
            let reference = env.refers(&field.ty);
            let begins = placed.place(if reference { Part::REFERENCE } else { Part::of(&ty) }, written);
            if field.bit_field {
                placed.end = None;
            }
            match &ty {
                Ty::Record(inner) if field.name.is_empty() => {
                    let at = self.begins(&begins, &inner.name);
                    fields.extend(inner.fields.iter().map(|part| self.shifted(part, &at)));
                }
                _ => {
                    let at = if field.bit_field { None } else { Some(self.begins(&begins, &field.name)) };
                    fields.push(FieldLayout {
                        name: field.name.clone(),
                        ty,
                        offset: at.as_ref().and_then(known),
                        open_offset: at.filter(|at| known(at).is_none()).map(Rc::new),
                        reference,
                        bit_field: field.bit_field,
                        mutable: field.mutable,
                        volatile: field.volatile || self.names_volatile(&field.ty),
                    });
                }
            }
        }
        if let Some(words) = self.settings.longer_by(&**record) {
            let more = u64::try_from(words).unwrap_or(0).saturating_mul(WORD);
            placed.end = placed.end.map(|end| end.next_multiple_of(WORD).saturating_add(more));
            placed.align = placed.align.max(WORD);
        }
        let written = record.align.as_ref().and_then(|e| self.constant(e)).unwrap_or(1);
        let align = placed.align.max(written.clamp(1, 4096) as u64);
        let size = placed.end_at(align).map(|end| if end == 0 { align } else { end });
        let open_size =
            size.is_none().then(|| self.multiple_of_bytes(align, format!("sizeof({})", record.name)));
        Layout {
            name: record.name.clone(),
            size,
            open_size: open_size.map(Rc::new),
            align,
            open_align: placed.open,
            overlaps: record.union || some_overlap(&fields),
            fields,
            record: Some(Arc::clone(record)),
            env: Rc::clone(env),
        }
    }

    /// The number of bytes before a part; of an unknown number, a symbol of its own.
    fn begins(&mut self, begins: &Begins, name: &str) -> Int {
        match begins {
            Begins::At(at) => Int::constant(i64::try_from(*at).unwrap_or(i64::MAX)),
            Begins::Multiple(align) => self.multiple_of_bytes(*align, format!("the offset of `{name}`")),
        }
    }

    pub(super) fn multiple_of_bytes(&mut self, align: u64, name: String) -> Int {
        let symbol = Int::symbol(self.world.symbols.compiled(name, 0));
        self.world.scale(&symbol, i64::try_from(align).unwrap_or(1))
    }

    /// A member of a part that begins somewhere in the whole.
    fn shifted(&self, field: &FieldLayout, at: &Int) -> FieldLayout {
        let begins = field.begins().map(|begins| self.world.add(at, &begins));
        FieldLayout {
            offset: begins.as_ref().and_then(known),
            open_offset: begins.filter(|begins| known(begins).is_none()).map(Rc::new),
            ..field.clone()
        }
    }
}

fn known(at: &Int) -> Option<u64> {
    at.as_constant().and_then(|at| u64::try_from(at).ok())
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

/// How many bytes at the end of a class belong to no member; none if that is not known.
fn padding_at_end(layout: &Layout) -> Option<u64> {
    let end = |field: &FieldLayout| Some(field.offset? + field.size()?);
    let ends: Option<Vec<u64>> = layout.fields.iter().map(end).collect();
    layout.size?.checked_sub(ends?.into_iter().max().unwrap_or(0))
}
