//! May a kernel store the address of a shared array, where a pointer is read again?
//!
//! A pointer that is read from memory leads to global memory: no other kernel knows where a shared array lies. It is
//! otherwise where the kernel itself may have put an address there, in whatever form:
//!
//! ```text
//! rows[b] = s;                                a pointer, or an object that holds one
//! put(&rows[b], s);                           a function that may do so
//! number = (unsigned long long)s;             a number, wherever that goes
//! *(int2 *)&rows[b] = *(int2 *)&pointer;      bytes
//! reference.store(s);                         a method that is not seen
//! asm("st.u64 [%0], %1;" :: "l"(r), "l"(s));  assembly
//! ```
//!
//! What is passed over counts, too: the text is looked at, not what is run.

use super::changed::stores;
use super::machine::Machine;
use super::types::Ty;
use super::value::Value;
use crate::ir::{Asm, Expr, ExprKind, Type};

/// What stands for all places in which an address may lie.
const ADDRESSES: &str = "*";
/// Classes within classes that are looked into.
const MOST_NESTED: u32 = 4;

impl Machine<'_> {
    /// Whether the kernel stores an address in memory, which may be that of a shared array.
    pub(super) fn may_find_addresses(&mut self) -> bool {
        self.is_changed(&ADDRESSES.into())
    }

    /// Notes that an expression may store such an address, or make of it what does not look like one.
    pub(super) fn note_address_stored(&mut self, expr: &Expr) {
        let may_store = match &expr.kind {
            ExprKind::Assign(_, target, _) => {
                !matches!(target.kind, ExprKind::Local(_))
                    && may_hold_address(&self.type_of(target), MOST_NESTED)
            }
            ExprKind::Cast(to, inner) => self.hides_address(to, inner),
            ExprKind::Call { callee, args } => self.hands_address_on(callee, args),
            // The first is where it stores.
            ExprKind::Asm(asm) => stores(asm) && self.may_be_given_address(asm),
            _ => false,
        };
        if may_store {
            self.memory.elsewhere.written.insert(ADDRESSES.into());
        }
    }

    /// Whether a cast makes a number of an address, or bytes of a place that holds one.
    fn hides_address(&mut self, to: &Type, inner: &Expr) -> bool {
        match &inner.kind {
            ExprKind::AddressOf(place) => {
                matches!(to, Type::Pointer(_)) && may_hold_address(&self.type_of(place), MOST_NESTED)
            }
            _ => !matches!(to, Type::Pointer(_) | Type::Reference(_)) && self.may_be_shared(inner),
        }
    }

    /// Whether a function may store an address where one of its arguments leads, or a method that is not seen one that it
    /// is given.
    fn hands_address_on(&mut self, callee: &Expr, args: &[Expr]) -> bool {
        match &callee.kind {
            ExprKind::Path(path) => self.program.functions(&path.name).iter().any(|function| {
                let mut params = function.params.iter().filter(|param| !param.to_const);
                params.any(|param| self.may_take_address(&param.ty))
            }),
            ExprKind::Member { name, .. } => {
                self.program.functions(name).is_empty() && args.iter().any(|arg| self.may_be_shared(arg))
            }
            _ => false,
        }
    }

    fn may_be_given_address(&mut self, asm: &Asm) -> bool {
        asm.inputs.iter().skip(1).any(|(_, value)| self.may_be_shared(value))
    }

    /// Whether a value may be an address in shared memory.
    fn may_be_shared(&mut self, value: &Expr) -> bool {
        if !matches!(self.type_of(value), Ty::Pointer(_) | Ty::Array(..)) {
            return false;
        }
        let mut root = value;
        while let ExprKind::Binary(_, inner, _)
        | ExprKind::Cast(_, inner)
        | ExprKind::Index(inner, _)
        | ExprKind::AddressOf(inner) = &root.kind
        {
            root = inner;
        }
        let ExprKind::Local(local) = root.kind else { return true };
        let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
        match slot.map(|slot| &slot.value) {
            Some(Value::Pointer(known)) => self.is_shared(known),
            _ => true,
        }
    }

    /// Whether a function may store an address where a parameter of this type leads. A reference to an object mostly
    /// leads to a variable.
    fn may_take_address(&self, ty: &Type) -> bool {
        match ty {
            Type::Pointer(to) => self.type_holds_address(to, MOST_NESTED),
            Type::Reference(to) => matches!(to.clone().unqualified(), Type::Pointer(_)),
            _ => false,
        }
    }

    fn type_holds_address(&self, ty: &Type, depth: u32) -> bool {
        match ty {
            Type::Pointer(_) => true,
            Type::Qualified(_, inner) | Type::Array(inner, _) => self.type_holds_address(inner, depth),
            Type::Named(path) if depth > 0 => {
                let fields = self.program.records(&path.name).iter().flat_map(|record| &record.fields);
                fields.into_iter().any(|field| self.type_holds_address(&field.ty, depth - 1))
            }
            _ => false,
        }
    }
}

/// Whether something of this type is an address, or holds one.
fn may_hold_address(ty: &Ty, depth: u32) -> bool {
    match ty {
        Ty::Pointer(_) => true,
        Ty::Array(inner, ..) => may_hold_address(inner, depth),
        Ty::Record(layout) => {
            depth == 0 || layout.fields.iter().any(|field| may_hold_address(&field.ty, depth - 1))
        }
        _ => false,
    }
}
