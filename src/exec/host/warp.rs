//! Which numbers of host code are the size of a warp?
//!
//! It is 32 on every GPU, but host code asks for it, and keeps the answer:
//!
//! | written | is |
//! |---|---|
//! | `properties.warpSize` of a `cudaDeviceProp` | 32 |
//! | `device.warp_size`, a member of the program's own, of which nothing is known | a number of that name |
//!
//! A block as wide as such a number counts as 32 wide where a block is searched for. That somebody gave another
//! number the name is possible, so that the block is no known one.

use crate::domain::{Int, Origin};
use crate::exec::machine::{Machine, Mode};
use crate::exec::types::Ty;
use crate::exec::value::Value;
use crate::ir::{Expr, Scalar};

impl Machine<'_> {
    /// What a member of an object is that was read as `value`.
    pub(crate) fn warp_size_of(&mut self, base: &Expr, name: &str, value: Value) -> Value {
        if self.mode != Mode::Host || !matches!(name, "warpSize" | "warp_size") {
            return value;
        }
        let is_open = match &value {
            Value::Opaque(..) => true,
            Value::Int(int, _) => int.as_symbol().is_some_and(|id| !self.host.made.contains_key(&id)),
            _ => false,
        };
        match is_open {
            true if name == "warpSize" && !matches!(self.type_of(base), Ty::Record(_)) => Value::int(32),
            true => {
                let fresh = |machine: &mut Self| {
                    machine.world.symbols.fresh(name.to_owned().into(), Origin::Given, Some(1), Some(1024))
                };
                let id = self.host.warp_size.unwrap_or_else(|| fresh(self));
                self.host.warp_size = Some(id);
                Value::Int(Int::symbol(id), Scalar::I32)
            }
            false => value,
        }
    }

    /// Whether a number is such a member.
    pub(crate) fn is_warp_size(&self, int: Option<&Int>) -> bool {
        self.host.warp_size.is_some() && int.and_then(Int::as_symbol) == self.host.warp_size
    }
}
