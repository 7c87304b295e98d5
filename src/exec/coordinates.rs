//! What do `threadIdx`, `blockIdx`, `blockDim` and `gridDim` hold?
//!
//! Each is an object of three numbers, so a copy (`auto t = threadIdx;`, a parameter of type
//! `uint3`, a member) holds the same three numbers as the original.

use super::machine::{Machine, Mode};
use super::types::{Ty, builtin};
use super::value::{Step, Value};
use crate::builtins::Coordinate;
use crate::domain::{Int, Key, Lanes, Origin, Sight};
use crate::ir::{Path, Scalar};
use smallvec::smallvec;
use std::rc::Rc;

/// The members, by axis.
const AXES: [&str; 3] = ["x", "y", "z"];

impl Machine<'_> {
    /// One number: `threadIdx.x`.
    pub(super) fn coordinate(&mut self, base: &Path, member: &str) -> Option<Value> {
        let axis = AXES.iter().position(|axis| *axis == member)?;
        self.is_built_in(base).then(|| self.along(&base.name, axis))
    }

    /// All three: `threadIdx`.
    pub(super) fn coordinates(&mut self, path: &Path) -> Option<Value> {
        self.is_built_in(path).then(|| self.all_axes(&path.name))
    }

    /// The three numbers of `threadIdx` or another of the four.
    pub(super) fn all_axes(&mut self, base: &str) -> Value {
        let parts = AXES.iter().enumerate().map(|(axis, name)| {
            let step = Step::Member((*name).into());
            (smallvec![step], self.along(base, axis))
        });
        Value::Aggregate(Rc::new(parts.collect()))
    }

    /// The type of one of the four.
    pub(super) fn type_of_coordinates(&self, path: &Path) -> Option<Ty> {
        let name = match Coordinate::of(&path.name)? {
            Coordinate::Thread | Coordinate::Block => "uint3",
            Coordinate::BlockSize | Coordinate::GridSize => "dim3",
        };
        self.is_built_in(path).then(|| builtin(name)).flatten()
    }

    fn is_built_in(&self, path: &Path) -> bool {
        self.mode == Mode::Device && path.qualifiers.is_empty() && Coordinate::of(&path.name).is_some()
    }

    fn along(&mut self, base: &str, axis: usize) -> Value {
        let shape = self.shape();
        let coordinate = Coordinate::of(base);
        if coordinate.is_some_and(Coordinate::is_within_block) {
            self.use_axes(std::array::from_fn(|other| other == axis));
        }
        self.compiler.at_launch.note_read();
        let int = match coordinate {
            // That there is one thread in a direction only the launch tells.
            Some(Coordinate::Thread) if shape.dims[axis] == 1 => {
                Int { sight: Sight::at_launch(&format!("{base}.{}", AXES[axis])), ..Int::constant(0) }
            }
            Some(Coordinate::Thread) => Int::known(Lanes::coordinate(axis, shape)),
            Some(Coordinate::BlockSize) => {
                let sight = Sight::at_launch(&format!("{base}.{}", AXES[axis]));
                Int { sight, ..Int::constant(i64::from(shape.dims[axis])) }
            }
            _ => {
                let name = format!("{base}.{}", AXES[axis]);
                let (key, origin, low) = match coordinate {
                    Some(Coordinate::Block) => (Key::Block(axis), Origin::BlockIndex, 0),
                    _ => (Key::Grid(axis), Origin::GridSize, 1),
                };
                let high = Some(i64::from(i32::MAX));
                let id = self.world.symbols.intern(key, |_| name, origin, Some(low), high);
                self.with_residue(id)
            }
        };
        Value::Int(int, Scalar::U32)
    }
}
