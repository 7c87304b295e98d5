//! Of what sizes are the members of a struct that is copied as a whole, and which of them are read or written?

use super::machine::{Machine, Mode, ObjectKind};
use super::same_type::same_type;
use super::types::{Layout, Ty, nameless};
use super::value::{Offset, Pointer, Target, Value};
use crate::codegen::copied_struct::{self, Member};
use crate::domain::{Int, Reason, Unknown};
use crate::events::{AccessOp, MemberOf};
use crate::ir::declared::member_uses;
use crate::ir::declared::member_uses::{Made, Root};
use crate::ir::{Name, Scalar};
use crate::source::Span;

/// Numbers in a struct up to which they are looked at one by one.
const MOST: usize = 256;

impl Machine<'_> {
    /// Records a read: of an object only what is used of it.
    pub(super) fn record_load(&mut self, pointer: &Pointer, span: Span) {
        let parts = self.parts_used(pointer, span);
        self.record_parts(AccessOp::Load, pointer, parts, span);
    }

    /// The members of an object, if they are copied as if each were named.
    fn parts_copied(&self, pointer: &Pointer) -> Option<Vec<(u64, u64)>> {
        let layout = self.shared_record(pointer)?;
        let size = layout.size.filter(|_| !layout.overlaps && !self.copies_itself(layout))?;
        copied_struct::copied_by_members(layout.align, size, &members_used(&pointer.pointee, layout, None)?)
    }

    /// Records an access of these parts of an object, or of all of it: where each begins, and its bytes.
    fn record_parts(&mut self, op: AccessOp, pointer: &Pointer, parts: Option<Vec<(u64, u64)>>, span: Span) {
        if let Some(parts) = parts {
            return self.record_each(op, pointer, &parts, span);
        }
        let combined = self.in_doubt(op, pointer, span);
        let before = std::mem::replace(&mut self.at_hand.combined, combined);
        let whole = op == AccessOp::Load && self.may_be_used_in_part(pointer, span);
        let around = std::mem::replace(&mut self.at_hand.used_in_part, whole);
        match self.parts_copied(pointer) {
            Some(members) => self.record_members(op, pointer, &members, span),
            None => self.record(op, pointer, span, None),
        }
        (self.at_hand.combined, self.at_hand.used_in_part) = (before, around);
    }

    /// Records an access of all members of an object: where each begins, and its bytes.
    fn record_members(&mut self, op: AccessOp, pointer: &Pointer, members: &[(u64, u64)], span: Span) {
        let size = members.last().map_or(0, |(at, bytes)| at + bytes);
        let is_used = || self.frame().is_none_or(|it| member_uses(&it.function).used(span).is_some());
        self.at_hand.copies = op == AccessOp::Store || !is_used();
        for member in members {
            self.at_hand.member = Some(MemberOf { at: member.0 as u32, size: size as u32 });
            self.record_each(op, pointer, &[*member], span);
        }
        (self.at_hand.member, self.at_hand.copies) = (None, false);
    }

    fn record_each(&mut self, op: AccessOp, pointer: &Pointer, parts: &[(u64, u64)], span: Span) {
        for (at, bytes) in parts {
            let part = self.part_of(pointer, *at);
            self.record_bytes(op, &part, Some(*bytes), span, None);
        }
    }

    /// What lies so many bytes from where an object begins: a number, or several that are joined.
    fn part_of(&mut self, object: &Pointer, at: u64) -> Pointer {
        let target = match &object.target {
            Target::Memory(id, offset) if at > 0 => {
                Target::Memory(*id, self.offset_by(offset, &Int::constant(at as i64)))
            }
            same => same.clone(),
        };
        Pointer { target, pointee: Ty::Scalar(Scalar::U8), volatile: object.volatile }
    }

    /// The layout of an object of a class in shared memory.
    fn shared_record<'p>(&self, pointer: &'p Pointer) -> Option<&'p Layout> {
        match &pointer.pointee {
            Ty::Record(layout) if self.mode == Mode::Device && self.is_shared(pointer) => Some(layout),
            _ => None,
        }
    }

    /// The parts of an object that are read where it is given to a variable of which only some members are used.
    fn parts_used(&mut self, pointer: &Pointer, span: Span) -> Option<Vec<(u64, u64)>> {
        let layout = self.shared_record(pointer)?;
        let used = member_uses(&self.frame()?.function).used(span)?.clone();
        let size = layout.size.filter(|_| !layout.overlaps && !self.copies_itself(layout))?;
        let ty = self.declared_type(used.local)?.clone();
        let is_same = match self.resolve_type(&ty) {
            Ty::Unknown(name) => &*name == nameless::AUTO,
            ty => same_type(&ty, &pointer.pointee) == Some(true),
        };
        let members = members_used(&pointer.pointee, layout, Some(&used.members)).filter(|_| is_same)?;
        let parts = copied_struct::read_in_part(layout.align, size, &members)?;
        (!self.may_be_held(pointer, size)).then_some(parts)
    }

    /// Whether an object is read as a whole, although perhaps only a part of it is used.
    fn may_be_used_in_part(&self, pointer: &Pointer, span: Span) -> bool {
        let Some(layout) = self.shared_record(pointer) else { return false };
        let Some(frame) = self.frame() else { return true };
        let uses = member_uses(&frame.function);
        let has_parts = members_used(&pointer.pointee, layout, None).is_none_or(|all| all.len() > 1);
        let is_told = || {
            let used = uses.used(span);
            let used = used.and_then(|it| members_used(&pointer.pointee, layout, Some(&it.members)));
            // Of narrow numbers it was not looked at which are read.
            used.is_some_and(|all| all.iter().all(|it| it.used || it.bytes >= 4))
        };
        has_parts && !uses.is_written_on(span) && !is_told()
    }

    /// Records a write: of an object that is made of members those of its members.
    pub(super) fn record_write(&mut self, pointer: &Pointer, span: Span) {
        let parts = self.parts_made(pointer, span);
        self.record_parts(AccessOp::Store, pointer, parts, span);
    }

    /// The parts of an object that are written after it was made of members.
    fn parts_made(&self, pointer: &Pointer, span: Span) -> Option<Vec<(u64, u64)>> {
        let layout = self.shared_record(pointer)?;
        let made = member_uses(&self.frame()?.function).made(span)?;
        let size = layout.size.filter(|_| !layout.overlaps && !self.copies_itself(layout))?;
        let (named, is_filled) = match made {
            Made::List(items) => (None, *items < layout.fields.len()),
            Made::Members(named) => (Some(named.as_slice()), false),
        };
        let members = members_used(&pointer.pointee, layout, named)?;
        copied_struct::written_in_part(layout.align, size, &members, is_filled)
    }

    /// Why it is not known whether an object is copied as a whole: where bytes of it hold nothing it is only from memory
    /// to memory, and elsewhere the members that are used are. `pair x = c ? s[i] : y;` `x[1] = s[i];`
    fn in_doubt(&mut self, op: AccessOp, pointer: &Pointer, span: Span) -> Option<Unknown> {
        let before = self.at_hand.combined.clone();
        let layout = self.shared_record(pointer).filter(|_| before.is_none());
        let Some((layout, size)) = layout.and_then(|it| Some((it, it.size?))) else { return before };
        let members = members_used(&pointer.pointee, layout, None)?;
        if !copied_struct::has_holes(layout.align, size, &members) || self.copies_itself(layout) {
            return None;
        }
        let uses = member_uses(&self.frame()?.function);
        let is_told = match op {
            AccessOp::Load => uses.used(span).is_some(),
            _ => uses.made(span).is_some(),
        };
        let is_copied = uses.copied(span).is_some_and(|other| self.is_in_memory(other));
        let words = || {
            let name = pointer.pointee.describe();
            format!(
                "whether `{name}`, in which some bytes hold nothing, is copied as a whole or by its members"
            )
        };
        (!is_told && !is_copied).then(|| Unknown::new(Reason::Compiler, span, words()))
    }

    /// Whether what a path leads to that begins so surely lies in memory, and not in registers.
    fn is_in_memory(&self, root: Root) -> bool {
        let Root::Local(local) = root else { return true };
        let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
        let Some(Value::Pointer(pointer)) = slot.map(|slot| &slot.value) else { return false };
        let Target::Memory(object, _) = pointer.target else { return false };
        let objects = self.objects_of(object);
        objects.iter().all(|it| self.memory.objects[it.0 as usize].kind != ObjectKind::Anywhere)
    }

    /// Whether the compiler may have all of an object in registers.
    fn may_be_held(&mut self, pointer: &Pointer, size: u64) -> bool {
        let Target::Memory(object, Offset::Known(offset)) = &pointer.target else { return false };
        let (Some(array), Ok(bytes)) = (self.array_of(*object), u32::try_from(size)) else { return false };
        self.compiler.registers.go_on(self.compiler.epoch, self.compiler.region);
        self.compiler.registers.has(array, bytes, offset)
    }
}

/// The numbers in an object, and which of them are among these members; all if none are named.
fn members_used(ty: &Ty, layout: &Layout, named: Option<&[Name]>) -> Option<Vec<Member>> {
    let mut all = Vec::new();
    numbers(ty, 0, 8, &mut all)?;
    let mut begins = Vec::new();
    for name in named.unwrap_or_default() {
        let field = layout.field(name).filter(|field| !field.reference && !field.bit_field)?;
        if !matches!(field.ty, Ty::Scalar(_) | Ty::Pointer(_)) {
            return None;
        }
        begins.push(field.offset?);
    }
    let is_used = |at: u64| named.is_none() || begins.contains(&at);
    Some(all.into_iter().map(|(at, bytes)| Member { at, bytes, used: is_used(at) }).collect())
}

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
