//! What is a shared array: its object, its shape, its alignment?

use super::machine::{Aim, Machine, Mode, Object, ObjectKind};
use super::types::Ty;
use super::value::NOWHERE;
use super::value::{ObjectId, Offset, Pointer, Target, Value};
use crate::domain::Int;
use crate::events::{Array, Declared};
use crate::ir::shared_locals::place_of;
use crate::ir::{Declaration, Expr, Name, Storage};
use std::rc::Rc;

/// Bytes that dynamic shared memory is taken to be aligned to.
const DYNAMIC_ALIGNMENT: u64 = 16;

impl Machine<'_> {
    /// The object of a shared variable at file scope: one for the kernel and for all functions that it calls.
    pub(super) fn shared_variable_of_file(&mut self, declaration: &Declaration) -> Pointer {
        self.within(self.lookups.memo.no_env(), &declaration.namespace, |machine| {
            machine.shared_variable(declaration)
        })
    }

    /// The object of a shared variable, made on first sight.
    pub(super) fn shared_variable(&mut self, declaration: &Declaration) -> Pointer {
        let mut ty = self.resolve_type(&declaration.ty);
        if let Some((_, extra)) = self.settings.pads.iter().find(|(span, _)| *span == declaration.name_span) {
            ty = self.widen_rows(&ty, *extra as i64);
        }
        if self.settings.pitch.is_some() {
            ty = self.with_pitch(&ty, declaration.name_span);
        }
        // Each instance of a function template has variables of its own; what is sized at launch is one.
        let env = match declaration.storage {
            Storage::DynamicShared => self.lookups.memo.no_env(),
            _ => self.env(),
        };
        // A macro may declare several in one place.
        let place = (declaration.name_span, declaration.name.clone());
        let known = self.memory.shared.entry(place.clone()).or_default();
        let object = match known.iter().find(|(of, _)| of.same(&env)) {
            Some((_, object)) => *object,
            None => {
                let array = self.array_facts(declaration, &ty);
                let number = self.array_number(array);
                self.memory.objects.push(Object::new(
                    ObjectKind::Shared,
                    declaration.name.clone(),
                    Some(number),
                ));
                let object = ObjectId(self.memory.objects.len() as u32 - 1);
                self.memory.shared.entry(place).or_default().push((env, object));
                object
            }
        };
        let volatile = declaration.volatile || self.names_volatile(&declaration.ty);
        let target = Target::Memory(object, Offset::Known(Int::constant(0)));
        Pointer { target, pointee: ty, volatile }
    }

    /// The number in the trace of global memory that has this name, if accesses of it are asked for.
    pub(crate) fn global_array(&mut self, name: &Name) -> Option<usize> {
        if !self.sees_global_memory() {
            return None;
        }
        self.trace.arrays.push(Array {
            name: name.to_string(),
            name_span: NOWHERE,
            span: NOWHERE,
            dimensions: vec![None],
            dimension_spans: Vec::new(),
            element_bytes: None,
            element: String::new(),
            of_numbers: false,
            of_vectors: false,
            dynamic: false,
            global: true,
            restrict: false,
            declared: None,
            alignment: 1,
            flattened: false,
            strays: Vec::new(),
        });
        Some(self.trace.arrays.len() - 1)
    }

    /// Notes that nothing else leads to what a kernel's parameter points to.
    pub(super) fn note_restrict(&mut self, pointer: &Pointer) {
        for array in self.arrays_of(pointer) {
            self.trace.arrays[array].restrict = true;
        }
    }

    /// Whether it is asked what happens in global memory.
    pub(super) fn sees_global_memory(&self) -> bool {
        self.settings.aim == Aim::Memory && self.mode == Mode::Device
    }

    /// The number of an array in the trace: that of another instance of its function, if they are alike.
    fn array_number(&mut self, array: Array) -> usize {
        let alike = |it: &Array| {
            (it.name_span, it.element_bytes) == (array.name_span, array.element_bytes)
                && (&it.name, &it.dimensions, &it.element) == (&array.name, &array.dimensions, &array.element)
        };
        let alike = self.trace.arrays.iter().position(alike);
        let same = |known: &&mut Array| (known.name_span, &known.name) == (array.name_span, &array.name);
        let mut is_several = false;
        for known in self.trace.arrays.iter_mut().filter(same) {
            known.declared.iter_mut().for_each(|it| it.is_several = true);
            is_several = true;
        }
        alike.unwrap_or_else(|| {
            let declared = array.declared.map(|it| Declared { is_several, ..it });
            self.trace.arrays.push(Array { declared, ..array });
            self.trace.arrays.len() - 1
        })
    }

    /// Where a shared variable stands among those of its function.
    fn stands_at(&self, declaration: &Declaration) -> Option<Declared> {
        let place = place_of(&self.frame()?.function, declaration)?;
        Some(Declared { function: place.function, number: place.number, is_several: false })
    }

    /// What a number is that is tried larger.
    pub(super) fn longer(&self, expr: &Expr, value: Value) -> Value {
        match (value, self.settings.longer_by(expr)) {
            (Value::Int(number, scalar), Some(extra)) => {
                Value::Int(self.world.add(&number, &Int::constant(extra)), scalar)
            }
            (value, _) => value,
        }
    }

    fn widen_rows(&self, ty: &Ty, extra: i64) -> Ty {
        match ty {
            Ty::Array(element, length) if !matches!(**element, Ty::Array(..)) => {
                let wider = length.as_ref().map(|n| Rc::new(self.world.add(n, &Int::constant(extra))));
                Ty::Array(element.clone(), wider)
            }
            Ty::Array(element, length) => Ty::Array(self.widen_rows(element, extra).into(), length.clone()),
            other => other.clone(),
        }
    }

    fn array_facts(&mut self, declaration: &Declaration, ty: &Ty) -> Array {
        let dynamic = declaration.storage == Storage::DynamicShared;
        let alignment = self.alignment(declaration, ty, dynamic);
        let mut dimensions = Vec::new();
        let mut inner = ty;
        while let Ty::Array(element, length) = inner {
            let length = length.as_ref().and_then(|n| n.as_constant());
            dimensions.push(length.and_then(|n| u64::try_from(n).ok()));
            inner = element;
        }
        Array {
            name: declaration.name.to_string(),
            name_span: declaration.name_span,
            span: declaration.span,
            dimensions,
            dimension_spans: declaration.dimension_spans.clone(),
            element_bytes: inner.constant_size(),
            element: inner.describe(),
            of_numbers: matches!(inner, Ty::Scalar(_)),
            of_vectors: match inner {
                Ty::Record(layout) => layout.record.is_none(),
                _ => matches!(inner, Ty::Scalar(_)),
            },
            dynamic,
            global: false,
            restrict: false,
            declared: self.stands_at(declaration),
            alignment,
            flattened: false,
            strays: Vec::new(),
        }
    }

    /// Notes that a pointer into a shared array is moved by arithmetic, not by subscripts.
    pub(crate) fn note_flattened(&mut self, pointer: &Pointer) {
        for array in self.arrays_of(pointer) {
            self.trace.arrays[array].flattened = true;
        }
    }

    /// Notes that a subscript which gives an array of these elements may lead into the next row or plane.
    pub(super) fn note_stray(&mut self, pointer: &Pointer, element: &Ty) {
        let (mut inner, mut element) = (1, element);
        while let Ty::Array(next, _) = element {
            (inner, element) = (inner + 1, next);
        }
        for array in self.arrays_of(pointer) {
            let array = &mut self.trace.arrays[array];
            let dimension = array.dimensions.len().checked_sub(inner + 1);
            array.strays.extend(dimension.filter(|dimension| !array.strays.contains(dimension)));
        }
    }

    /// Bytes that the start of an array is surely aligned to, as the compiler sees it.
    fn alignment(&mut self, declaration: &Declaration, ty: &Ty, dynamic: bool) -> u64 {
        let written = declaration.align.as_ref().and_then(|align| self.constant(align));
        let written = written.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(1);
        ty.align().max(written).max(if dynamic { DYNAMIC_ALIGNMENT } else { 1 })
    }
}
