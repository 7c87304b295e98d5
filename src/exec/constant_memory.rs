//! What is read from `__constant__` memory?
//!
//! Host code writes it before the launch, and nothing in a kernel changes it. So a number in it is like an argument: one
//! number for all threads of all blocks, whenever it is read. Example, with `struct Sizes { int rows, cols[2]; };` and
//! `__constant__ Sizes c;`:
//!
//! ```text
//! if (x >= c.cols[1]) return;      a bound, as if (x >= n) is
//! s[y * c.cols[1] + x]             its stride is that bound
//! ```

use super::machine::{Machine, Mode};
use super::resolve::{high_of, low_of};
use super::types::Ty;
use super::value::{ObjectId, Offset, Value};
use crate::domain::{Key, Origin};
use crate::ir::{Declaration, Storage};
use crate::source::Span;
use std::fmt::Write as _;

/// The deepest nesting of members that is named.
const DEEPEST: usize = 8;

impl Machine<'_> {
    /// In host code it is another variable.
    fn is_in_constant_memory(&self, variable: &Declaration) -> bool {
        variable.storage == Storage::Constant && self.mode == Mode::Device
    }

    /// The value of a variable in constant memory that is a number; `None` for any other variable.
    pub(super) fn constant_number(&mut self, variable: &Declaration, ty: &Ty) -> Option<Value> {
        match self.is_in_constant_memory(variable) {
            true => self.number_at(variable.name_span, 0, variable.name.to_string(), ty),
            false => None,
        }
    }

    /// Takes note that an object is a variable in constant memory.
    pub(super) fn note_constant_memory(&mut self, object: ObjectId, variable: &Declaration, ty: &Ty) {
        if self.is_in_constant_memory(variable) {
            let declared = Some((variable.name_span, ty.clone()));
            let known = self.memory.constants.entry(object).or_insert_with(|| declared.clone());
            if known.as_ref().is_some_and(|(span, _)| *span != variable.name_span) {
                *known = None;
            }
        }
    }

    /// The number at a known place of an object in constant memory.
    pub(super) fn read_constant_memory(
        &mut self,
        object: ObjectId,
        offset: &Offset,
        ty: &Ty,
    ) -> Option<Value> {
        let (declared, whole) = self.memory.constants.get(&object)?.as_ref()?;
        let Offset::Known(offset) = offset else { return None };
        let at = u64::try_from(offset.as_constant()?).ok()?;
        let mut name = self.memory.objects[object.0 as usize].name.to_string();
        let declared = *declared;
        let _ = path_to(whole, at, DEEPEST, &mut name);
        self.number_at(declared, at, name, ty)
    }

    fn number_at(&mut self, declared: Span, at: u64, name: String, ty: &Ty) -> Option<Value> {
        let Ty::Scalar(scalar) = ty else { return None };
        if !scalar.is_integer() {
            return None;
        }
        let Span { file, start, .. } = declared;
        let key = Key::Named(format!("constant {file:?} {start} {at} {scalar:?}"));
        let (low, high) = (low_of(*scalar), high_of(*scalar));
        let id = self.world.symbols.intern(key, |_| name, Origin::Given, low, high);
        Some(Value::Int(self.with_residue(id), *scalar))
    }
}

/// Writes how the number at a byte of an object is named, behind the name of the object: `.cols[1]`.
fn path_to(ty: &Ty, at: u64, depth: usize, name: &mut String) -> Option<()> {
    match ty {
        _ if depth == 0 => None,
        Ty::Array(element, _) => {
            let size = element.constant_size().filter(|size| *size > 0)?;
            write!(name, "[{}]", at / size).ok()?;
            path_to(element, at % size, depth - 1, name)
        }
        Ty::Record(layout) => {
            let holds = |offset: &u64| *offset <= at;
            let field = layout.fields.iter().rev().find(|field| field.offset.as_ref().is_some_and(holds))?;
            if !field.name.is_empty() {
                write!(name, ".{}", field.name).ok()?;
            }
            path_to(&field.ty, at - field.offset?, depth - 1, name)
        }
        _ => Some(()),
    }
}
