//! Of what sizes are the members of a struct that is copied as a whole, and which of them are read or written?

use super::machine::{Machine, Mode, ObjectKind};
use super::same_type::same_type;
use super::types::{Layout, Ty, nameless};
use super::value::{Offset, Pointer, Target, Value};
use crate::codegen::copied_struct::{self, Member, Split};
use crate::domain::{Int, Reason, Unknown};
use crate::events::{AccessOp, MemberOf};
use crate::ir::declared::member_uses;
use crate::ir::declared::member_uses::{Made, Root};
use crate::ir::{Name, Scalar};
use crate::source::Span;
use std::ops::Range;

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
        let size = self.size_to_split(layout)?;
        copied_struct::copied_by_members(
            layout.align,
            size,
            &members_used(&pointer.pointee, layout, None, true)?,
        )
    }

    /// The size of an object, if its members tell how it is copied.
    fn size_to_split(&self, layout: &Layout) -> Option<u64> {
        let is_union = layout.record.as_ref().is_some_and(|record| record.union);
        layout.size.filter(|_| !is_union && !self.copies_itself(layout))
    }

    /// Records an access of an object, split as is told.
    fn record_parts(&mut self, op: AccessOp, pointer: &Pointer, told: Option<Split>, span: Span) {
        let told = told.or_else(|| self.split_of_copy(op, pointer, span));
        if let Some(Split::Parts(parts)) = told {
            return self.record_each(op, pointer, &parts, span);
        }
        let combined = self.in_doubt(op, pointer, told == Some(Split::Whole));
        let combined = combined.map(|words| Unknown::new(Reason::Compiler, span, words));
        let combined = combined.or_else(|| self.at_hand.combined.clone());
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
    fn parts_used(&mut self, pointer: &Pointer, span: Span) -> Option<Split> {
        let layout = self.shared_record(pointer)?;
        let used = member_uses(&self.frame()?.function).used(span)?.clone();
        let size = self.size_to_split(layout)?;
        let ty = self.declared_type(used.local)?.clone();
        let is_same = match self.resolve_type(&ty) {
            Ty::Unknown(name) => &*name == nameless::AUTO,
            ty => same_type(&ty, &pointer.pointee) == Some(true),
        };
        let members =
            members_used(&pointer.pointee, layout, Some(&used.members), false).filter(|_| is_same)?;
        let split = copied_struct::read_in_part(layout.align, size, &members);
        Some(if self.may_be_held(pointer, size) { Split::Whole } else { split })
    }

    /// Whether an object is read as a whole, although perhaps only a part of it is used.
    fn may_be_used_in_part(&self, pointer: &Pointer, span: Span) -> bool {
        let Some(layout) = self.shared_record(pointer) else { return false };
        let Some(frame) = self.frame() else { return true };
        let uses = member_uses(&frame.function);
        let has_parts = members_used(&pointer.pointee, layout, None, true).is_none_or(|all| all.len() > 1);
        let is_told = || {
            let used = uses.used(span);
            let used = used.and_then(|it| members_used(&pointer.pointee, layout, Some(&it.members), false));
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

    /// How an object is written that was made of members.
    fn parts_made(&self, pointer: &Pointer, span: Span) -> Option<Split> {
        let layout = self.shared_record(pointer)?;
        let made = member_uses(&self.frame()?.function).made(span)?;
        let size = self.size_to_split(layout)?;
        let (named, is_filled) = match made {
            Made::List(items) => (None, *items < layout.fields.len()),
            Made::Members(named) => (Some(named.as_slice()), false),
        };
        let members = members_used(&pointer.pointee, layout, named, true)?;
        Some(copied_struct::written_in_part(layout.align, size, &members, is_filled))
    }

    /// How an object is accessed that is copied from memory to memory.
    fn split_of_copy(&self, op: AccessOp, pointer: &Pointer, span: Span) -> Option<Split> {
        let layout = self.shared_record(pointer)?;
        let other = member_uses(&self.frame()?.function).copied(span)?;
        let members = members_used(&pointer.pointee, layout, None, true)?;
        let size = layout.size.filter(|_| self.is_in_memory(other))?;
        let by_class = has_objects_as_numbers(&pointer.pointee);
        Some(copied_struct::copied(layout.align, size, &members, by_class, op == AccessOp::Load))
    }

    /// Why it is not known whether an object is copied as a whole: where bytes of it hold nothing it is only from memory
    /// to memory, and elsewhere the members that are used are. `pair x = c ? s[i] : y;` `x[1] = s[i];`
    fn in_doubt(&self, op: AccessOp, pointer: &Pointer, is_told: bool) -> Option<String> {
        let layout = self.shared_record(pointer).filter(|_| !is_told && self.at_hand.combined.is_none())?;
        let (size, members) = (layout.size?, members_used(&pointer.pointee, layout, None, true)?);
        let is_alike = op == AccessOp::Load && copied_struct::is_read_alike(size, &members);
        if is_alike || !copied_struct::has_holes(size, &members) || self.copies_itself(layout) {
            return None;
        }
        let name = pointer.pointee.describe();
        Some(format!(
            "whether `{name}`, in which some bytes hold nothing, is copied as a whole or by its members"
        ))
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

/// The numbers in an object, and which of them are among these members; all if none are named. `whole`: whether all of a
/// member is meant that has members itself.
fn members_used(ty: &Ty, layout: &Layout, named: Option<&[Name]>, whole: bool) -> Option<Vec<Member>> {
    let mut all = Vec::new();
    numbers(ty, 0, 8, &mut all)?;
    let named =
        named.map(|named| named.iter().map(|path| place_of(layout, path, whole)).collect::<Option<Vec<_>>>());
    let named = match named {
        Some(places) => Some(places?),
        None => None,
    };
    // A narrow member of a union shares its bytes with a wider one.
    let is_number =
        |place: &Range<u64>| all.iter().any(|(at, bytes)| *at == place.start && at + bytes <= place.end);
    if named.as_ref().is_some_and(|named| !named.iter().all(is_number)) {
        return None;
    }
    let is_used = |at: u64| named.as_ref().is_none_or(|named| named.iter().any(|place| place.contains(&at)));
    Some(all.into_iter().map(|(at, bytes)| Member { at, bytes, used: is_used(at) }).collect())
}

/// The bytes of a member of a member: `a.x`. None if it is no number, unless all of it is meant.
fn place_of(layout: &Layout, path: &str, whole: bool) -> Option<Range<u64>> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let field = layout.field(first).filter(|field| !field.reference && !field.bit_field)?;
    let (offset, ty) = (field.offset?, field.ty.unqualified());
    match (rest, &ty) {
        (Some(rest), Ty::Record(inner)) => {
            let place = place_of(inner, rest, whole)?;
            Some(offset + place.start..offset + place.end)
        }
        (None, Ty::Scalar(_) | Ty::Pointer(_) | Ty::Sized { .. }) => {
            Some(offset..offset + ty.constant_size()?)
        }
        (None, Ty::Record(_)) if whole => Some(offset..offset + ty.constant_size()?),
        _ => None,
    }
}

/// Whether numbers in a type are objects of classes that copy themselves, like `__half`.
fn has_objects_as_numbers(ty: &Ty) -> bool {
    match ty {
        Ty::Sized { .. } => true,
        Ty::Record(layout) => layout.fields.iter().any(|field| has_objects_as_numbers(&field.ty)),
        Ty::Array(element, _) | Ty::Qualified(_, element) => has_objects_as_numbers(element),
        _ => false,
    }
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
        None => copied_struct::joined_if_not_known(split_alignment(ty, Some(bytes))),
    }
}

/// Where the numbers in a type lie that begins `at` bytes from the start, and their sizes, if that is known.
fn numbers(ty: &Ty, at: u64, depth: u32, found: &mut Vec<(u64, u64)>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match ty {
        Ty::Record(layout) if layout.overlaps => {
            let mut all = Vec::new();
            for field in &layout.fields {
                numbers(&field.ty, at + field.offset?, depth, &mut all)?;
            }
            found.extend(widest(all)?);
            (found.len() <= MOST).then_some(())
        }
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

/// Of numbers that share bytes, as in a union, those that hold the others; none if some share only a part of theirs.
fn widest(mut all: Vec<(u64, u64)>) -> Option<Vec<(u64, u64)>> {
    all.sort_unstable_by_key(|(at, bytes)| (*at, std::cmp::Reverse(*bytes)));
    let mut kept: Vec<(u64, u64)> = Vec::new();
    for (at, bytes) in all {
        let end = kept.last().map_or(0, |(at, bytes)| at + bytes);
        if at >= end {
            kept.push((at, bytes));
        } else if at + bytes > end {
            return None;
        }
    }
    Some(kept)
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
