//! Which known number does each thread of the block have?
//!
//! Most numbers in a kernel are affine in the thread's coordinates, so they are kept as the
//! closed form `d + a*x + b*y + c*z` as long as it lasts, and spread to one number per thread
//! only when an operator needs it. Example, in a block of 64 x 2:
//!
//! | expression | form |
//! |---|---|
//! | `threadIdx.x` | `0 + 1*x` |
//! | `threadIdx.y * 64 + threadIdx.x` | `0 + 1*x + 64*y` |
//! | that `/ 32` | spread: 0 (32 times), 1 (32 times), 2 (32 times), 3 (32 times) |
//! | that `& 0` | spread, seen to be constant, closed again: `0` |
//!
//! All arithmetic wraps at 64 bits; C++ widths are applied by the caller.

use super::{Shape, ThreadSet, gcd};
use std::sync::{Arc, OnceLock};

/// One number per thread.
#[derive(Clone, Debug)]
pub enum Lanes {
    /// `d + a*x + b*y + c*z`, as `[d, a, b, c]`. The factor of a dimension of size 1 is 0.
    Closed([i64; 4]),
    /// By linear thread index.
    Each(Arc<Spread>),
}

/// Numbers by linear thread index, and what was found of them so far.
#[derive(Debug)]
pub struct Spread {
    values: Vec<i64>,
    bounds: OnceLock<(i64, i64)>,
    gcd: OnceLock<u64>,
}

impl From<Vec<i64>> for Spread {
    fn from(values: Vec<i64>) -> Spread {
        Spread { values, bounds: OnceLock::new(), gcd: OnceLock::new() }
    }
}

impl std::ops::Deref for Spread {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.values
    }
}

impl Spread {
    fn bounds(&self) -> (i64, i64) {
        *self.bounds.get_or_init(|| {
            let widen = |(low, high): (i64, i64), &value: &i64| (low.min(value), high.max(value));
            self.values.iter().fold((i64::MAX, i64::MIN), widen)
        })
    }

    fn gcd(&self) -> u64 {
        *self.gcd.get_or_init(|| {
            let mut divisor = 0;
            for value in &self.values {
                divisor = gcd(divisor, value.unsigned_abs());
                if divisor == 1 {
                    break;
                }
            }
            divisor
        })
    }
}

impl Lanes {
    /// The same number for every thread.
    #[must_use]
    pub fn constant(value: i64) -> Lanes {
        Lanes::Closed([value, 0, 0, 0])
    }

    /// The coordinate along `axis` (0 is x).
    #[must_use]
    pub fn coordinate(axis: usize, shape: Shape) -> Lanes {
        let mut form = [0; 4];
        form[axis + 1] = i64::from(shape.dims[axis] > 1);
        Lanes::Closed(form)
    }

    /// The number, when it is the same for every thread.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Lanes::Closed([d, 0, 0, 0]) => Some(*d),
            _ => None,
        }
    }

    /// Whether it is 0 for every thread.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.as_constant() == Some(0)
    }

    /// The number of one thread.
    #[must_use]
    pub fn at(&self, thread: usize, shape: Shape) -> i64 {
        match self {
            Lanes::Closed(form) => evaluate(form, shape.coordinates(thread)),
            Lanes::Each(values) => values[thread],
        }
    }

    /// One number per thread, spread out.
    #[must_use]
    pub fn spread(&self, shape: Shape) -> Arc<Spread> {
        match self {
            Lanes::Each(values) => Arc::clone(values),
            Lanes::Closed(_) => Arc::new(self.mapped(shape, |value| value).into()),
        }
    }

    /// What a function makes of each thread's number.
    fn mapped(&self, shape: Shape, op: impl Fn(i64) -> i64) -> Vec<i64> {
        let form = match self {
            Lanes::Each(values) => return values.iter().map(|&value| op(value)).collect(),
            Lanes::Closed(form) => form,
        };
        let mut values = Vec::with_capacity(shape.threads());
        for z in 0..i64::from(shape.dims[2]) {
            for y in 0..i64::from(shape.dims[1]) {
                let row = evaluate(form, [0, y, z]);
                let along = (0..i64::from(shape.dims[0])).map(|x| row.wrapping_add(form[1].wrapping_mul(x)));
                values.extend(along.map(&op));
            }
        }
        values
    }

    /// Closes a spread form again when it is affine after all.
    #[must_use]
    pub fn close(values: Vec<i64>, shape: Shape) -> Lanes {
        let [nx, ny, _] = shape.dims.map(|d| d as usize);
        let first = values[0];
        let step = |stride: usize, size: u32| {
            if size > 1 { values[stride].wrapping_sub(first) } else { 0 }
        };
        let form = [first, step(1, shape.dims[0]), step(nx, shape.dims[1]), step(nx * ny, shape.dims[2])];
        let affine = values.chunks_exact(nx).enumerate().all(|(row, chunk)| {
            let ny = shape.dims[1] as usize;
            let start = evaluate(&form, [0, (row % ny) as i64, (row / ny) as i64]);
            let mut expected = start;
            chunk.iter().all(|&v| {
                let same = v == expected;
                expected = expected.wrapping_add(form[1]);
                same
            })
        });
        if affine { Lanes::Closed(form) } else { Lanes::Each(Arc::new(values.into())) }
    }

    /// Applies an operator thread by thread.
    #[must_use]
    pub fn zip(&self, other: &Lanes, shape: Shape, op: impl Fn(i64, i64) -> i64) -> Lanes {
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return Lanes::constant(op(a, b));
        }
        if let Some(b) = other.as_constant() {
            return Lanes::close(self.mapped(shape, |a| op(a, b)), shape);
        }
        if let Some(a) = self.as_constant() {
            return Lanes::close(other.mapped(shape, |b| op(a, b)), shape);
        }
        let (a, b) = (self.spread(shape), other.spread(shape));
        Lanes::close(a.iter().zip(b.iter()).map(|(&a, &b)| op(a, b)).collect(), shape)
    }

    /// Applies a function thread by thread.
    #[must_use]
    pub fn map(&self, shape: Shape, op: impl Fn(i64) -> i64) -> Lanes {
        match self.as_constant() {
            Some(a) => Lanes::constant(op(a)),
            None => Lanes::close(self.mapped(shape, op), shape),
        }
    }

    /// Sum.
    #[must_use]
    pub fn add(&self, other: &Lanes, shape: Shape) -> Lanes {
        if let (Lanes::Closed(a), Lanes::Closed(b)) = (self, other) {
            return Lanes::Closed(std::array::from_fn(|i| a[i].wrapping_add(b[i])));
        }
        match (self.is_zero(), other.is_zero()) {
            (_, true) => self.clone(),
            (true, _) => other.clone(),
            _ => self.zip(other, shape, i64::wrapping_add),
        }
    }

    /// Difference.
    #[must_use]
    pub fn sub(&self, other: &Lanes, shape: Shape) -> Lanes {
        if let (Lanes::Closed(a), Lanes::Closed(b)) = (self, other) {
            return Lanes::Closed(std::array::from_fn(|i| a[i].wrapping_sub(b[i])));
        }
        if other.is_zero() { self.clone() } else { self.zip(other, shape, i64::wrapping_sub) }
    }

    /// Product.
    #[must_use]
    pub fn mul(&self, other: &Lanes, shape: Shape) -> Lanes {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => self.scale(factor),
            (Some(factor), _) => other.scale(factor),
            _ => self.zip(other, shape, i64::wrapping_mul),
        }
    }

    /// Product with one number.
    #[must_use]
    pub fn scale(&self, factor: i64) -> Lanes {
        match self {
            Lanes::Closed(form) => Lanes::Closed(form.map(|v| v.wrapping_mul(factor))),
            Lanes::Each(_) if factor == 0 => Lanes::constant(0),
            Lanes::Each(_) if factor == 1 => self.clone(),
            Lanes::Each(values) => {
                let scaled: Vec<i64> = values.iter().map(|v| v.wrapping_mul(factor)).collect();
                Lanes::Each(Arc::new(scaled.into()))
            }
        }
    }

    /// Smallest and largest number over the block.
    #[must_use]
    pub fn bounds(&self, shape: Shape) -> (i64, i64) {
        match self {
            Lanes::Each(values) => values.bounds(),
            Lanes::Closed(form) => {
                let (mut low, mut high) = (form[0], form[0]);
                for axis in 0..3 {
                    let reach = form[axis + 1].saturating_mul(i64::from(shape.dims[axis]) - 1);
                    low = low.saturating_add(reach.min(0));
                    high = high.saturating_add(reach.max(0));
                }
                (low, high)
            }
        }
    }

    /// The largest number that divides every thread's number; 0 when all are 0.
    #[must_use]
    pub fn gcd(&self) -> u64 {
        match self {
            Lanes::Closed(form) => form.iter().fold(0, |acc, v| gcd(acc, v.unsigned_abs())),
            Lanes::Each(values) => values.gcd(),
        }
    }

    /// `self` in the threads of `mask`, `other` elsewhere.
    #[must_use]
    pub fn blend(&self, other: &Lanes, mask: &ThreadSet, shape: Shape) -> Lanes {
        if self == other {
            return self.clone();
        }
        let (a, b) = (self.spread(shape), other.spread(shape));
        Lanes::close((0..a.len()).map(|t| if mask.has(t) { a[t] } else { b[t] }).collect(), shape)
    }

    /// Whether all threads of `mask` have the same number.
    #[must_use]
    pub fn same_over(&self, mask: &ThreadSet, shape: Shape) -> bool {
        self.as_constant().is_some() || {
            let values = self.spread(shape);
            let mut chosen = mask.threads().map(|t| values[t]);
            let first = chosen.next();
            chosen.all(|value| Some(value) == first)
        }
    }
}

impl PartialEq for Lanes {
    fn eq(&self, other: &Lanes) -> bool {
        match (self, other) {
            (Lanes::Closed(a), Lanes::Closed(b)) => a == b,
            (Lanes::Each(a), Lanes::Each(b)) => Arc::ptr_eq(a, b) || a.values == b.values,
            // `close` keeps every affine form closed, so the two forms never hold equal numbers.
            _ => false,
        }
    }
}

fn evaluate(form: &[i64; 4], at: [i64; 3]) -> i64 {
    (0..3).fold(form[0], |sum, axis| sum.wrapping_add(form[axis + 1].wrapping_mul(at[axis])))
}

impl ThreadSet {
    /// The threads whose number is not 0.
    #[must_use]
    pub fn nonzero(lanes: &Lanes, shape: Shape) -> ThreadSet {
        match lanes.as_constant() {
            Some(0) => ThreadSet::NONE,
            Some(_) => ThreadSet::all(shape),
            None => {
                let values = lanes.spread(shape);
                ThreadSet::collect(shape, |t| values[t] != 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { dims: [64, 2, 1] };

    #[test]
    fn affine_stays_closed_and_division_spreads() {
        let x = Lanes::coordinate(0, SHAPE);
        let linear = x.add(&Lanes::coordinate(1, SHAPE).scale(64), SHAPE);
        assert_eq!(linear, Lanes::Closed([0, 1, 64, 0]));
        let warp = linear.map(SHAPE, |v| v / 32);
        assert_eq!((warp.at(31, SHAPE), warp.at(32, SHAPE), warp.at(127, SHAPE)), (0, 1, 3));
        assert!(matches!(warp, Lanes::Each(_)));
        assert_eq!(linear.map(SHAPE, |v| v / 64), Lanes::Closed([0, 0, 1, 0]));
    }

    #[test]
    fn a_dimension_of_one_has_no_factor() {
        assert!(Lanes::coordinate(2, SHAPE).is_zero());
    }
}
