//! Where does an lvalue lie, and what is read or written there?

use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::{Offset, Place, Pointer, Step, Steps, Target, Value};
use crate::domain::{Int, Key, NotAffine, Origin, Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, LocalId, Name, Path, Storage, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Where an lvalue lies. Nothing is read but what its address needs.
    pub(crate) fn locate(&mut self, expr: &Expr) -> Result<Pointer, Unknown> {
        match &expr.kind {
            ExprKind::Local(local) => self.locate_local(*local, expr.span),
            ExprKind::Path(path) => {
                if path.qualifiers.is_empty()
                    && !path.global
                    && let Some(place) = self.own_member(&path.name, expr.span)
                {
                    return place;
                }
                let value = self.lookup(path, expr.span);
                if !matches!(value, Value::Pointer(_))
                    && let Some(place) = self.variable_in_memory(path)
                {
                    return Ok(place);
                }
                match value {
                    Value::Pointer(pointer) => Ok(pointer),
                    Value::Opaque(_, why, ..) => Err(why),
                    _ => self
                        .table_named(path)
                        .ok_or_else(|| Unknown::new(Reason::Unsupported, expr.span, "not an lvalue")),
                }
            }
            ExprKind::Index(base, index) => self.locate_element(expr, base, index),
            ExprKind::Conditional(cond, then, otherwise) => {
                self.conditional_place(cond, then, otherwise, expr.span)
            }
            ExprKind::Deref(inner) => match self.called_place(expr) {
                Some(place) => place,
                None => self.pointed_at(inner, expr.span),
            },
            ExprKind::Member { base, name, arrow, class, .. } => {
                let mut base = if *arrow { self.pointed_at(base, expr.span)? } else { self.locate(base)? };
                if let Some(class) = class {
                    let unknown =
                        || Unknown::new(Reason::UnknownType, expr.span, "a class that is not visible");
                    base = self.named_part(&base, class).ok_or_else(unknown)?;
                }
                self.member(base, name, expr.span)
            }
            ExprKind::Cast(Type::Reference(ty), inner) => {
                let pointer = self.locate(inner)?;
                let to = self.resolve_type(ty);
                let volatile = self.cast_is_volatile(ty, pointer.volatile);
                Ok(Pointer { target: self.as_declared(pointer, &to).target, pointee: to, volatile })
            }
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, post: false, .. } => {
                self.evaluate(expr);
                self.locate(target)
            }
            ExprKind::Comma(first, second) if self.is_called_comma(first, second) => {
                Err(Unknown::new(Reason::Unsupported, expr.span, "what an `operator,` hands back"))
            }
            ExprKind::Comma(first, second) => {
                self.evaluate(first);
                self.locate(second)
            }
            ExprKind::This => self
                .frame()
                .and_then(|frame| frame.this.clone())
                .ok_or_else(|| Unknown::new(Reason::UnknownPointer, expr.span, "`this` is not known")),
            ExprKind::Call { .. } if let Some(same) = self.forwarded(expr) => self.locate(same),
            _ => self.called_place(expr).unwrap_or_else(|| {
                Err(Unknown::new(Reason::Unsupported, expr.span, "not an lvalue that is followed"))
            }),
        }
    }

    fn locate_local(&mut self, local: LocalId, span: Span) -> Result<Pointer, Unknown> {
        let frame = self.top();
        let slot = self.frame().and_then(|f| f.slots.get(local.0 as usize));
        let Some(slot) = slot else {
            return Err(Unknown::new(Reason::UnknownName, span, "a variable out of scope"));
        };
        if slot.reference {
            return match &slot.value {
                Value::Pointer(pointer) => {
                    let pointer = pointer.clone();
                    self.note_mention(&pointer, span);
                    Ok(pointer)
                }
                Value::Opaque(_, why, ..) => Err(why.clone()),
                _ => Err(Unknown::new(Reason::UnknownPointer, span, "a reference that is not followed")),
            };
        }
        let pointee = slot.ty.clone();
        Ok(Pointer {
            target: Target::Place(Place { frame, local, path: Steps::new(), blurred: false }),
            pointee,
            volatile: self.is_declared_volatile(local),
        })
    }

    /// A data member of `this`.
    pub(crate) fn own_member(&mut self, name: &Name, span: Span) -> Option<Result<Pointer, Unknown>> {
        let this = self.frame()?.this.as_ref()?;
        match &this.pointee {
            Ty::Record(layout) if layout.field(name).is_some() => {
                let (this, layout) = (this.clone(), Rc::clone(layout));
                let is_meant = !self.is_member_of_unseen_base(&layout, name);
                is_meant.then(|| self.member(this, name, span))
            }
            _ => None,
        }
    }

    /// A member of what `base` points to.
    pub(crate) fn member(&mut self, base: Pointer, name: &Name, span: Span) -> Result<Pointer, Unknown> {
        // `0`, `1` and so on are the parts of something by number.
        let number = self.part_number(name, &base.pointee, span)?;
        if let (Some(number), Ty::Array(..)) = (number, &base.pointee) {
            return Ok(self.moved(Self::decay(base), &Value::int(number as i64), span));
        }
        let field = match (&base.pointee, number) {
            (Ty::Record(layout), Some(number)) => layout.fields.get(number).cloned(),
            (Ty::Record(layout), None) => layout.field(name).cloned(),
            _ => None,
        };
        let reference = field.as_ref().is_some_and(|field| field.reference);
        let name = &field.as_ref().map_or_else(|| name.clone(), |field| field.name.clone());
        let hidden = || match &base.pointee {
            Ty::Fragment(fragment) => fragment.member(name),
            _ => Ty::Unknown(name.clone()),
        };
        let (pointee, at) =
            field.as_ref().map_or_else(|| (hidden(), None), |field| (field.ty.clone(), field.begins()));
        let target = match base.target {
            Target::Place(mut place) => {
                if !place.blurred {
                    place.path.push(Step::Member(name.clone()));
                }
                Target::Place(place)
            }
            Target::Memory(object, offset) => {
                let moved = match (offset, at) {
                    (offset, Some(at)) => match at.as_constant() {
                        Some(0) => offset,
                        _ => self.offset_by(&offset, &at),
                    },
                    (offset @ Offset::Known(_), None) => {
                        let what = format!("where member `{name}` lies is not known");
                        Offset::unknown(offset.variation(), Unknown::new(Reason::UnknownType, span, what))
                    }
                    (Offset::Unknown(variation, why, _), None) => Offset::unknown(variation, why),
                };
                Target::Memory(object, moved)
            }
        };
        let volatile = base.volatile || field.as_ref().is_some_and(|field| field.volatile);
        let place = Pointer { target, pointee, volatile };
        if reference { self.referred(&place, span) } else { Ok(place) }
    }

    /// What a member that is a reference refers to.
    fn referred(&mut self, place: &Pointer, span: Span) -> Result<Pointer, Unknown> {
        let ty = Ty::Pointer(Rc::new(place.pointee.clone()));
        match self
            .read(&Pointer { target: place.target.clone(), pointee: ty, volatile: place.volatile }, span)
        {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Opaque(_, why, ..) => Err(why),
            _ => Err(Unknown::new(Reason::UnknownPointer, span, "a reference that is not followed")),
        }
    }

    /// An array becomes a pointer to its first element.
    #[must_use]
    pub(crate) fn decay(pointer: Pointer) -> Pointer {
        let Ty::Array(element, _) = &pointer.pointee else { return pointer };
        let pointee = (**element).clone();
        let mut target = pointer.target;
        if let Target::Place(place) = &mut target
            && !place.blurred
        {
            place.path.push(Step::Index(0));
        }
        Pointer { target, pointee, volatile: pointer.volatile }
    }

    /// `sizeof`, in bytes.
    pub(crate) fn size_of(&mut self, ty: &Ty, span: Span) -> Result<Int, Unknown> {
        if let Some(size) = ty.constant_size() {
            return Ok(Int::constant(size as i64));
        }
        if let Ty::Array(element, Some(length)) = ty {
            let element = self.size_of(element, span)?;
            if let Ok(size) = self.world.mul(&element, length) {
                return Ok(size);
            }
        }
        if let Ty::Record(layout) = ty
            && let Some(size) = &layout.open_size
        {
            return Ok((**size).clone());
        }
        self.note_unsized(ty);
        Err(Unknown::new(Reason::UnknownType, span, format!("the size of `{}` is not known", ty.describe())))
    }

    /// The symbol that stands for the size of a type that is not visible.
    pub(super) fn open_size(&mut self, ty: &Ty) -> Int {
        let key = match ty {
            Ty::Unknown(name) => name.to_string(),
            other => other.describe(),
        };
        let name = || format!("sizeof({})", ty.describe());
        Int::symbol(self.world.symbols.intern(Key::Size(key), |_| name(), Origin::Given, Some(1), None))
    }

    /// `pointer + sign * index`, in elements.
    pub(crate) fn advance(&mut self, pointer: &Pointer, index: &Value, sign: i64, span: Span) -> Pointer {
        let target = match &pointer.target {
            Target::Place(place) => Target::Place(self.advance_place(place.clone(), index, sign)),
            Target::Memory(object, offset) => {
                let moved = self.advance_offset(offset, &pointer.pointee, index, sign, span);
                self.note_pitched_address(*object, &moved, span);
                Target::Memory(*object, moved)
            }
        };
        Pointer { target, ..pointer.clone() }
    }

    /// `pointer + index`, in elements.
    pub(super) fn moved(&mut self, pointer: Pointer, index: &Value, span: Span) -> Pointer {
        let target = match self.never_written(&pointer.target, index).unwrap_or(pointer.target) {
            Target::Place(place) => Target::Place(self.advance_place(place, index, 1)),
            Target::Memory(object, offset) => {
                let moved = self.advance_offset(&offset, &pointer.pointee, index, 1, span);
                self.note_pitched_address(object, &moved, span);
                Target::Memory(object, moved)
            }
        };
        Pointer { target, pointee: pointer.pointee, volatile: pointer.volatile }
    }

    fn advance_offset(
        &mut self,
        offset: &Offset,
        pointee: &Ty,
        index: &Value,
        sign: i64,
        span: Span,
    ) -> Offset {
        let variation = offset.variation().max(index.variation());
        let base = match offset {
            Offset::Known(base) => base,
            Offset::Unknown(_, why, _) => {
                let why = (variation, why.clone());
                return self.offset_by_own(offset, (index, sign), pointee.constant_size(), why);
            }
        };
        let index = match self.number(index, span) {
            Ok(index) => index,
            Err(why) => {
                let why = (variation, why);
                return self.offset_by_own(offset, (index, sign), pointee.constant_size(), why);
            }
        };
        if index.as_constant() == Some(0) && index.sight.hidden == 0 {
            return offset.clone();
        }
        let size = match self.size_of(pointee, span) {
            Ok(size) => size,
            // All threads go equally far.
            Err(_) if index.is_uniform() => self.open_size(pointee),
            Err(why) => {
                // The lanes of a warp go equally far.
                let is_of_warp = self.is_alike_in_warps(&index) && self.is_alike_in_warps(base);
                let most = if is_of_warp { Variation::OfWarp } else { variation };
                return Offset::unknown(variation.min(most), why);
            }
        };
        match self.world.mul(&index, &size) {
            Ok(bytes) => Offset::Known(self.world.add(base, &self.world.scale(&bytes, sign))),
            Err(NotAffine) => {
                let why =
                    Unknown::new(Reason::NotAffine, span, "the index is not affine in what is not known");
                Offset::unknown(variation, why)
            }
        }
    }

    /// The value as an integer; a condition becomes 0 or 1.
    pub(crate) fn number(&mut self, value: &Value, span: Span) -> Result<Int, Unknown> {
        match value {
            Value::Int(int, _) => Ok(int.clone()),
            Value::Float(number, _) => Ok(Int::constant(*number as i64)),
            Value::Condition(condition) => {
                let variation = condition.variation();
                self.looping.open += 1;
                if variation == Variation::Uniform {
                    let name = "a condition";
                    let id = self.world.symbols.fresh(name.into(), Origin::Choice, Some(0), Some(1));
                    return Ok(Int::symbol(id));
                }
                let words = "it depends on a condition that is not known per thread";
                let unknown = || Unknown::new(Reason::DataDependentMask, span, words);
                Err(condition.why().cloned().unwrap_or_else(unknown))
            }
            Value::Opaque(_, why, ..) => Err(why.clone()),
            Value::Undefined => {
                Err(Unknown::new(Reason::Uninitialized, span, "a variable without a known value"))
            }
            _ => Err(Unknown::new(Reason::Unsupported, span, "not an integer that is followed")),
        }
    }

    /// Reads what a pointer points to.
    pub(crate) fn read(&mut self, pointer: &Pointer, span: Span) -> Value {
        if let Some(value) = self.atomic_value(pointer, span) {
            return value;
        }
        if matches!(pointer.pointee, Ty::Array(..)) {
            self.expose(pointer);
            return Value::Pointer(Self::decay(pointer.clone()));
        }
        if let Some(number) = self.host_element(pointer).or_else(|| self.read_table(pointer)) {
            return number;
        }
        match &pointer.target {
            Target::Place(place) => {
                let place = self.as_used(place, &pointer.pointee);
                self.read_place(&place, &pointer.pointee, span).if_volatile(pointer.volatile)
            }
            Target::Memory(object, offset) => {
                // Of several, what is read is called by the first.
                let info = &self.memory.objects[self.objects_of(*object)[0].0 as usize];
                let (name, words) = (info.name.clone(), Arc::clone(&info.read));
                let variation = self.variation_of_read(pointer, offset);
                if self.is_recorded(pointer) {
                    self.record_load(pointer, span);
                } else {
                    self.compiler.elsewhere = self.compiler.elsewhere.wrapping_add(1);
                    self.reads_unrecorded(span);
                    self.at_hand.read_at = match offset {
                        // What was stored there before may be the same everywhere, and so may a constant.
                        Offset::Known(offset)
                            if self.recording
                                && !self.memory.elsewhere.written.contains(&name)
                                && !self.memory.constants.contains_key(object) =>
                        {
                            Some((span, Rc::new(offset.clone())))
                        }
                        _ => None,
                    };
                }
                let why = Unknown::new(Reason::DataDependent, span, words);
                // Different threads may read equal values, so data is never surely varying.
                let variation = match variation {
                    Variation::Uniform => variation,
                    _ if self.reads_of_warp(pointer) => Variation::OfWarp,
                    _ => Variation::Maybe,
                };
                match &pointer.pointee {
                    Ty::Scalar(scalar)
                        if scalar.is_integer()
                            && variation != Variation::Uniform
                            && self.mode == Mode::Device =>
                    {
                        let origin = if self.is_shared(pointer) { Origin::Own } else { Origin::Read };
                        match variation == Variation::OfWarp {
                            true => self.integer_of_warp((*scalar, (None, None)), origin, variation, why),
                            false => self.own_integer(*scalar, origin, variation, why),
                        }
                    }
                    ty => match self.read_constant_memory(*object, offset, ty) {
                        Some(number) => number,
                        None => {
                            let read = match ty {
                                Ty::Pointer(to) => self.pointer_in_memory(to, variation, &name, why),
                                _ => self.unknown_of(ty, variation, &name, &why),
                            };
                            if let Value::Int(int, _) = &read
                                && let Some(symbol) = int.as_symbol()
                                && !self.memory.constants.contains_key(object)
                            {
                                match self.is_shared(pointer) {
                                    true => self.world.symbols.note_read_from_shared(symbol),
                                    false => self.world.symbols.note_read(symbol),
                                }
                            }
                            read
                        }
                    },
                }
            }
        }
    }

    /// Where a number lies in global memory that a kernel may change: `__device__ double total;`.
    fn variable_in_memory(&mut self, path: &Path) -> Option<Pointer> {
        let variable = self.program.variable_meant(path, &self.namespace())?;
        let is_device = self.mode == Mode::Device && variable.storage == Storage::Global;
        let variable = Arc::clone(Some(variable).filter(|it| is_device && !it.constant)?);
        match self.resolve_type(&variable.ty) {
            ty @ Ty::Scalar(_) => Some(self.named_global(&variable.name, &ty)),
            _ => None,
        }
    }

    /// A pointer that lies in memory. It leads to global memory, unless the kernel stores addresses there.
    fn pointer_in_memory(&mut self, to: &Ty, variation: Variation, name: &Name, why: Unknown) -> Value {
        if self.may_find_addresses() {
            return Value::opaque(Variation::Maybe, why);
        }
        // What is written there is written to nothing that the pointer lies in.
        let object = self.global_object(format!("*{name}").into());
        let offset = match variation {
            Variation::Uniform => Offset::Known(Int::constant(0)),
            _ => Offset::unknown(variation, why),
        };
        let target = Target::Memory(object, offset);
        Value::Pointer(Pointer { target, pointee: to.clone(), volatile: false })
    }

    /// Writes to what a pointer points to, in the active threads.
    pub(crate) fn write(&mut self, pointer: &Pointer, value: Value, span: Span) {
        match &pointer.target {
            Target::Place(place) => {
                let value = self.convert(value, &pointer.pointee).if_volatile(pointer.volatile);
                let place = self.as_used(place, &pointer.pointee);
                self.write_place(&place, value);
            }
            Target::Memory(..) => {
                self.host.writes += u32::from(self.mode == Mode::Host);
                self.note_pitched_escape(&value, span, "it is stored in memory");
                self.lose_address(&value, span);
                self.note_changed(pointer);
                if self.is_recorded(pointer) {
                    self.record_store(pointer, &value, span);
                } else {
                    self.compiler.elsewhere = self.compiler.elsewhere.wrapping_add(1);
                    self.writes_unrecorded(span);
                }
            }
        }
    }
}
