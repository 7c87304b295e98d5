//! What do the functions compute that CUDA defines on integers?
//!
//! Each converts its arguments to its own types first. Of known numbers the result is known; of numbers that the
//! block shares it is one number, too:
//!
//! | called | gives |
//! |---|---|
//! | `__umulhi(threadIdx.x << 28, 16)` | `threadIdx.x` |
//! | `__mulhi(-1, 1)` | -1: the upper half of -1 |
//! | `__brev(1)` | 2147483648 |
//! | `__umulhi(blockIdx.x, n)` | a number given at run time |

use super::intrinsics::unseen;
use super::machine::Machine;
use super::types::Ty;
use super::value::Value;
use crate::codegen::sight;
use crate::domain::{Int, Lanes, Origin, Variation};
use crate::ir::{BinaryOp, Expr, Scalar};
use crate::source::Span;
use smallvec::SmallVec;

/// What a function takes, and what it gives.
type Signature = (&'static [Scalar], Scalar);

impl Machine<'_> {
    /// Calls such a function; `None` if it is not given what it takes.
    pub(super) fn integer_function(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Value> {
        let (params, result) = signature(name).filter(|(params, _)| params.len() == args.len())?;
        let mut given: SmallVec<[Value; 3]> = SmallVec::new();
        for (arg, param) in args.iter().zip(params) {
            let value = self.evaluate(arg);
            given.push(self.convert(value, &Ty::Scalar(*param)));
        }
        if let Some(known) = self.known_function(name, &given) {
            return Some(known);
        }
        let variation = given.iter().map(Value::variation).max().unwrap_or(Variation::Uniform);
        let all_numbers = given.iter().all(|value| matches!(value, Value::Int(..)));
        if !all_numbers || variation != Variation::Uniform {
            let of_argument = given.iter().find_map(|value| match value {
                Value::Opaque(_, why, _) => Some(why.clone()),
                _ => None,
            });
            // Equal results for different arguments are possible.
            let why = of_argument.unwrap_or_else(|| unseen(name, span));
            return Some(Value::opaque(variation.min(Variation::Maybe), why));
        }
        let (low, high) = match result {
            Scalar::U32 => (Some(0), Some(u32::MAX.into())),
            Scalar::I32 => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            _ => (None, None),
        };
        let id = self.world.symbols.fresh(name.to_owned().into(), Origin::Given, low, high);
        Some(Value::Int(Int::symbol(id), result))
    }

    /// The product of two numbers, or of their lower 24 bits. What only the launch tells is taken to have no more, and
    /// a product that has all its bits is seen like any other.
    pub(super) fn product(&mut self, name: &str, a: &Value, b: &Value, span: Span) -> Value {
        let product = self.binary(BinaryOp::Mul, a, b, span);
        let Some((&[first, second], _)) = signature(name) else { return product };
        let given = [self.converted(a, first), self.converted(b, second)];
        match (self.known_function(name, &given), &product) {
            (Some(Value::Int(cut, _)), Value::Int(whole, _)) if cut == *whole => product,
            (Some(cut), _) => cut,
            (None, _) => product,
        }
    }

    fn converted(&mut self, value: &Value, to: Scalar) -> Value {
        self.convert(value.clone(), &Ty::Scalar(to))
    }

    /// What a function gives for numbers of its parameters' types that are known.
    fn known_function(&self, name: &str, given: &[Value]) -> Option<Value> {
        let (_, result) = signature(name)?;
        let ints = given.iter().map(|value| match value {
            Value::Int(int, _) => Some(int),
            _ => None,
        });
        let ints: SmallVec<[&Int; 3]> = ints.collect::<Option<_>>()?;
        let known: SmallVec<[&Lanes; 3]> = ints.iter().map(|int| int.as_known()).collect::<Option<_>>()?;
        let sight = sight::through(name, &ints);
        let int = Int { sight, ..Int::known(self.computed(name, &known)) };
        Some(Value::Int(self.wrapped_to(&int, result), result))
    }

    /// The results for all threads.
    fn computed(&self, name: &str, given: &[&Lanes]) -> Lanes {
        let shape = self.shape();
        let constants: Option<Vec<i64>> = given.iter().map(|lanes| lanes.as_constant()).collect();
        if let Some(constants) = constants {
            return Lanes::constant(compute(name, &constants));
        }
        let of_thread = |thread| {
            let given: SmallVec<[i64; 3]> = given.iter().map(|lanes| lanes.at(thread, shape)).collect();
            compute(name, &given)
        };
        Lanes::close((0..shape.threads()).map(of_thread).collect(), shape)
    }
}

/// The types of a function's parameters and of its result.
fn signature(name: &str) -> Option<Signature> {
    use Scalar::{I32, I64, U32, U64};
    Some(match name {
        "__brev" => (&[U32], U32),
        "__brevll" => (&[U64], U64),
        "__mulhi" | "__mul24" => (&[I32, I32], I32),
        "__umulhi" | "__umul24" | "__uhadd" | "__urhadd" => (&[U32, U32], U32),
        "__mul64hi" => (&[I64, I64], I64),
        "__umul64hi" => (&[U64, U64], U64),
        "__rhadd" => (&[I32, I32], I32),
        "__sad" => (&[I32, I32, U32], U32),
        "__usad" | "__funnelshift_l" | "__funnelshift_r" | "__funnelshift_lc" | "__funnelshift_rc" => {
            (&[U32, U32, U32], U32)
        }
        _ => return None,
    })
}

/// What a function gives for numbers of its parameters' types. A 64-bit unsigned number is the `i64` of the same bits.
fn compute(name: &str, given: &[i64]) -> i64 {
    let at = |at: usize| given.get(at).copied().unwrap_or_default();
    let (a, b, c) = (at(0), at(1), at(2));
    let whole = |bits: i64| u128::from(bits as u64);
    let joined = (b as u64) << 32 | u64::from(a as u32);
    match name {
        "__brev" => (a as u32).reverse_bits().into(),
        "__brevll" => (a as u64).reverse_bits() as i64,
        // Both are at most 32 bits, so that the product is at most 64.
        "__mulhi" => a.wrapping_mul(b) >> 32,
        "__umulhi" => ((a as u64).wrapping_mul(b as u64) >> 32) as i64,
        "__mul64hi" => ((i128::from(a) * i128::from(b)) >> 64) as i64,
        "__umul64hi" => ((whole(a) * whole(b)) >> 64) as i64,
        "__mul24" => {
            let low = |v: i64| i64::from((v as i32) << 8 >> 8);
            i64::from(low(a).wrapping_mul(low(b)) as i32)
        }
        "__umul24" => {
            let low = |v: i64| v & 0xff_ffff;
            i64::from(low(a).wrapping_mul(low(b)) as u32)
        }
        "__uhadd" => (a + b) >> 1,
        "__rhadd" | "__urhadd" => (a + b + 1) >> 1,
        "__sad" | "__usad" => i64::from(((a - b).abs() + c) as u32),
        "__funnelshift_l" => i64::from((joined << (c & 31) >> 32) as u32),
        "__funnelshift_r" => i64::from((joined >> (c & 31)) as u32),
        "__funnelshift_lc" => i64::from((joined << c.min(32) >> 32) as u32),
        "__funnelshift_rc" => i64::from((joined >> c.min(32)) as u32),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_the_types_are_computed_as_the_hardware_does() {
        let min = i64::from(i32::MIN);
        let max = i64::from(u32::MAX);
        for (name, given, result) in [
            ("__mulhi", &[-1, 1][..], -1),
            ("__mulhi", &[min, min], 1 << 30),
            ("__mulhi", &[min, 1], -1),
            ("__mulhi", &[i32::MAX.into(), 2], 0),
            ("__umulhi", &[max, max], max - 1),
            ("__umulhi", &[1 << 31, 2], 1),
            ("__umulhi", &[max, 1], 0),
            ("__mul64hi", &[-1, 1], -1),
            ("__mul64hi", &[i64::MIN, i64::MIN], 1 << 62),
            ("__umul64hi", &[-1, -1], -2),
            ("__umul64hi", &[-1, 2], 1),
            ("__umul64hi", &[i64::MIN, 2], 1),
            ("__mul24", &[0x80_0000, 1], -0x80_0000),
            ("__mul24", &[0x0100_0003, 5], 15),
            ("__mul24", &[-1, -1], 1),
            ("__mul24", &[0x7f_ffff, 0x7f_ffff], -0xff_ffff),
            ("__umul24", &[0xff_ffff, 0xff_ffff], 0xfe00_0001),
            ("__umul24", &[0x0100_0003, 5], 15),
            ("__uhadd", &[max, max], max),
            ("__urhadd", &[max, max - 1], max),
            ("__rhadd", &[-2, -1], -1),
            ("__rhadd", &[min, min], min),
            ("__sad", &[min, i32::MAX.into(), 1], 0),
            ("__sad", &[-3, 4, 10], 17),
            ("__usad", &[0, max, 2], 1),
            ("__brev", &[1], 1 << 31),
            ("__brevll", &[1], i64::MIN),
            ("__funnelshift_l", &[1 << 31, 0, 1], 1),
            ("__funnelshift_l", &[5, 7, 32], 7),
            ("__funnelshift_lc", &[5, 7, 40], 5),
            ("__funnelshift_r", &[0, 1, 1], 1 << 31),
            ("__funnelshift_r", &[5, 7, 32], 5),
            ("__funnelshift_rc", &[5, 7, 40], 7),
        ] {
            assert_eq!(compute(name, given), result, "{name}{given:x?}");
        }
    }
}
