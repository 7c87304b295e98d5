//! What does `memcpy` of a few bytes access, or `memset`?
//!
//! nvcc makes one access of a number of bytes that it knows, if the type of the pointer says that they are aligned
//! (seen in the machine code of CUDA 13 for sm_90):
//!
//! | `float s[64]; double d[64]; float4 v[64]; char c[64];` | |
//! |---|---|
//! | `memcpy(&s[t], from, 4)` | a store of 4 bytes, whatever `from` is |
//! | `memcpy(&r, &d[t], 4)` | a load of 4 bytes |
//! | `memcpy(&v[t], from, 16)` | a store of 16 bytes |
//! | `memcpy(&r, &v[t], 16)` | what is used of `r`: not known |
//! | `memcpy(&r, &c[4 * t], 4)` | bytes or words, by what else is done to `c`: not known |
//! | `memset(&v[t], 0, 16)` | a store of 16 bytes |

use super::machine::{Machine, Mode};
use super::same_type::same_type;
use super::types::Ty;
use super::unseen::Callee;
use super::value::{Pointer, Target, Value};
use crate::events::AccessOp;
use crate::ir::Expr;
use crate::source::Span;

/// Bytes of one access, at the most.
const MOST: u64 = 16;
/// Bytes that are read as one, whatever is used of them.
const READ: u64 = 8;

impl Machine<'_> {
    /// A call of `memcpy` and its kin for so few bytes of shared memory that it is one access; `None`, and nothing is
    /// evaluated, for any other.
    pub(super) fn copies_bytes(&mut self, callee: Callee<'_>, args: &[Expr], span: Span) -> Option<Value> {
        let (Mode::Device, [to, from, count]) = (self.mode, args) else { return None };
        let (bytes, at_launch) = self.watching_launch(|machine| machine.constant(count));
        let bytes = u64::try_from(bytes.filter(|_| !at_launch)?).ok()?;
        if !bytes.is_power_of_two() || bytes > MOST {
            return None;
        }
        let is_set = callee.name() == "memset";
        let stores = self.is_aligned(to, bytes);
        let loads = !is_set && bytes <= READ && self.is_aligned(from, bytes) && !self.is_part_used(to, bytes);
        if !stores && !loads {
            return None;
        }
        let (target, source) = (self.handed_over(to), self.handed_over(from));
        let written = match &source {
            Value::Pointer(place) if !is_set => self.copied_from(place, &target, (loads, bytes), span),
            _ => None,
        };
        match &target {
            Value::Pointer(place) if self.is_shared(place) && stores => {
                self.record_bytes(AccessOp::Store, place, Some(bytes), span, None);
            }
            Value::Pointer(place @ Pointer { target: Target::Place(_), pointee, .. })
                if pointee.constant_size() == Some(bytes)
                    && let Some(value) = written =>
            {
                self.write(place, value, span);
            }
            _ => {
                if !matches!(target, Value::Pointer(Pointer { target: Target::Place(_), .. })) {
                    self.clobber();
                    self.may_access(span);
                    self.writes_unrecorded(span);
                }
                self.change_referred(to, callee, span);
                self.leave_to_unseen(callee, (0, to), &target, (false, AccessOp::Store), span);
            }
        }
        Some(target)
    }

    /// Reads what is copied: its value, where it is a number of the type that it becomes.
    fn copied_from(
        &mut self,
        place: &Pointer,
        target: &Value,
        (loads, bytes): (bool, u64),
        span: Span,
    ) -> Option<Value> {
        let becomes = if let Value::Pointer(to) = target { Some(to.pointee.unqualified()) } else { None };
        let of = place.pointee.unqualified();
        let is_whole = matches!(of, Ty::Scalar(_)) && of.constant_size() == Some(bytes);
        let is_same = is_whole && becomes.is_some_and(|to| same_type(&of, &to) == Some(true));
        let is_shared = self.is_shared(place);
        if is_same && (loads || !is_shared) {
            return Some(self.read(place, span));
        }
        match &place.target {
            Target::Place(_) => {}
            _ if is_shared && loads => self.record_bytes(AccessOp::Load, place, Some(bytes), span, None),
            _ if is_shared => {
                self.may_access(span);
                self.touch_unknown(place, (AccessOp::Load, Some(bytes)), "memcpy", span);
            }
            _ => self.reads_unrecorded(span),
        }
        None
    }

    /// Whether the type of a pointer says that what it leads to is aligned to so many bytes.
    fn is_aligned(&mut self, pointer: &Expr, bytes: u64) -> bool {
        let is_known = |ty: &Ty| ty.constant_size().is_some_and(|size| size >= bytes) && ty.align() >= bytes;
        match self.type_of(pointer) {
            Ty::Pointer(to) => is_known(&to),
            Ty::Array(element, _) => is_known(element.innermost()),
            _ => false,
        }
    }

    /// Whether only a part may be used of a variable that so many bytes are copied to: then no more may be read.
    fn is_part_used(&mut self, pointer: &Expr, bytes: u64) -> bool {
        match self.type_of(pointer) {
            Ty::Pointer(to) | Ty::Array(to, _) => {
                bytes > 4 && !matches!(to.unqualified(), Ty::Scalar(_) if to.constant_size() == Some(bytes))
            }
            _ => true,
        }
    }
}
