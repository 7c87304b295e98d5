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

use super::machine::Machine;
use super::types::Ty;
use super::unseen::unseen;
use super::value::Value;
use crate::codegen::sight;
use crate::domain::{Int, Lanes, Origin, Variation};
use crate::ir::{BinaryOp, Expr, Scalar};
use crate::source::Span;
use smallvec::SmallVec;

/// What a function takes, what it gives, and how that is computed of known numbers of those types.
struct IntegerFunction {
    params: &'static [Scalar],
    result: Scalar,
    compute: fn([i64; 3]) -> i64,
}

impl Machine<'_> {
    /// Calls such a function; `None` if it is not given what it takes.
    pub(super) fn integer_function(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Value> {
        let function = function(name).filter(|it| it.params.len() == args.len())?;
        let mut given: SmallVec<[Value; 3]> = SmallVec::new();
        for (arg, param) in args.iter().zip(function.params) {
            let value = self.evaluate(arg);
            given.push(self.convert(value, &Ty::Scalar(*param)));
        }
        if let Some(known) = self.known_result(name, &function, &given) {
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
        let (low, high) = match function.result {
            Scalar::U32 => (Some(0), Some(u32::MAX.into())),
            Scalar::I32 => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            _ => (None, None),
        };
        let id = self.world.symbols.fresh(name.to_owned().into(), Origin::Given, low, high);
        Some(Value::Int(Int::symbol(id), function.result))
    }

    /// The product of two numbers, or of their lower 24 bits. What only the launch tells is taken to have no more, and
    /// a product that has all its bits is seen like any other.
    pub(super) fn product(&mut self, name: &str, a: &Value, b: &Value, span: Span) -> Value {
        let product = self.binary(BinaryOp::Mul, a, b, span);
        let Some(function) = function(name) else { return product };
        let given: SmallVec<[Value; 3]> =
            [a, b].into_iter().zip(function.params).map(|(value, to)| self.converted(value, *to)).collect();
        match (self.known_result(name, &function, &given), &product) {
            (Some(Value::Int(cut, _)), Value::Int(whole, _)) if cut == *whole => product,
            (Some(cut), _) => cut,
            (None, _) => product,
        }
    }

    fn converted(&mut self, value: &Value, to: Scalar) -> Value {
        self.convert(value.clone(), &Ty::Scalar(to))
    }

    /// What a function gives for numbers of its parameters' types that are known.
    fn known_result(&self, name: &str, function: &IntegerFunction, given: &[Value]) -> Option<Value> {
        let ints = given.iter().map(|value| match value {
            Value::Int(int, _) => Some(int),
            _ => None,
        });
        let ints: SmallVec<[&Int; 3]> = ints.collect::<Option<_>>()?;
        let known: SmallVec<[&Lanes; 3]> = ints.iter().map(|int| int.as_known()).collect::<Option<_>>()?;
        let sight = sight::through(name, &ints);
        let int = Int { sight, ..Int::known(self.computed(function, &known)) };
        Some(Value::Int(self.wrapped_to(&int, function.result), function.result))
    }

    /// The results for all threads.
    fn computed(&self, function: &IntegerFunction, given: &[&Lanes]) -> Lanes {
        let shape = self.shape();
        let result = |number: &dyn Fn(&Lanes) -> i64| {
            let mut numbers = [0; 3];
            numbers.iter_mut().zip(given).for_each(|(to, lanes)| *to = number(lanes));
            (function.compute)(numbers)
        };
        if given.iter().all(|lanes| lanes.as_constant().is_some()) {
            return Lanes::constant(result(&|lanes| lanes.at(0, shape)));
        }
        let of_threads = (0..shape.threads()).map(|thread| result(&|lanes| lanes.at(thread, shape)));
        Lanes::close(of_threads.collect(), shape)
    }
}

/// The function of a name. A 64-bit unsigned number is the `i64` of the same bits.
fn function(name: &str) -> Option<IntegerFunction> {
    use Scalar::{I32, I64, U32, U64};
    let of = |params, result, compute| Some(IntegerFunction { params, result, compute });
    match name {
        "__brev" => of(&[U32], U32, |[a, ..]| (a as u32).reverse_bits().into()),
        "__brevll" => of(&[U64], U64, |[a, ..]| (a as u64).reverse_bits() as i64),
        // Both are at most 32 bits, so that the product is at most 64.
        "__mulhi" => of(&[I32, I32], I32, |[a, b, _]| a.wrapping_mul(b) >> 32),
        "__umulhi" => of(&[U32, U32], U32, |[a, b, _]| ((a as u64).wrapping_mul(b as u64) >> 32) as i64),
        "__mul64hi" => of(&[I64, I64], I64, |[a, b, _]| ((i128::from(a) * i128::from(b)) >> 64) as i64),
        "__umul64hi" => {
            of(&[U64, U64], U64, |[a, b, _]| ((u128::from(a as u64) * u128::from(b as u64)) >> 64) as i64)
        }
        "__mul24" => of(&[I32, I32], I32, |[a, b, _]| {
            let low = |v: i64| i64::from((v as i32) << 8 >> 8);
            i64::from(low(a).wrapping_mul(low(b)) as i32)
        }),
        "__umul24" => of(&[U32, U32], U32, |[a, b, _]| {
            let low = |v: i64| v & 0xff_ffff;
            i64::from(low(a).wrapping_mul(low(b)) as u32)
        }),
        "__uhadd" => of(&[U32, U32], U32, |[a, b, _]| (a + b) >> 1),
        "__urhadd" => of(&[U32, U32], U32, |[a, b, _]| (a + b + 1) >> 1),
        "__rhadd" => of(&[I32, I32], I32, |[a, b, _]| (a + b + 1) >> 1),
        "__sad" => of(&[I32, I32, U32], U32, |[a, b, c]| i64::from(((a - b).abs() + c) as u32)),
        "__usad" => of(&[U32, U32, U32], U32, |[a, b, c]| i64::from(((a - b).abs() + c) as u32)),
        "__funnelshift_l" => of(&[U32, U32, U32], U32, |[a, b, c]| upper(joined(a, b) << (c & 31))),
        "__funnelshift_lc" => of(&[U32, U32, U32], U32, |[a, b, c]| upper(joined(a, b) << c.min(32))),
        "__funnelshift_r" => of(&[U32, U32, U32], U32, |[a, b, c]| lower(joined(a, b) >> (c & 31))),
        "__funnelshift_rc" => of(&[U32, U32, U32], U32, |[a, b, c]| lower(joined(a, b) >> c.min(32))),
        _ => None,
    }
}

/// Two 32-bit numbers as one of 64 bits.
fn joined(low: i64, high: i64) -> u64 {
    (high as u64) << 32 | u64::from(low as u32)
}

fn upper(bits: u64) -> i64 {
    i64::from((bits >> 32) as u32)
}

fn lower(bits: u64) -> i64 {
    i64::from(bits as u32)
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
            let function = function(name).unwrap();
            let mut numbers = [0; 3];
            numbers[..given.len()].copy_from_slice(given);
            assert_eq!(function.params.len(), given.len(), "{name}");
            assert_eq!((function.compute)(numbers), result, "{name}{given:x?}");
        }
    }
}
