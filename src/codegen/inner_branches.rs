//! Which operations have branches of their own, over which the compiler does not move accesses?
//!
//! `s[4 * t] = a / x; s[4 * t + 1] = b / x;` stays two stores: a division of `float` calls a function where an operand
//! is very small, and accesses stay on their side of the call. Seen in the machine code of nvcc 13 for 9.0, of four
//! neighbours that are stored, or loaded for a sum, each with the operation in between:
//!
//! | operation | branches | stores joined | loads joined |
//! |---|---|---|---|
//! | `+`, `fmaf`, `expf`, `tanhf`, `rsqrtf`, `__expf`, `__fdividef`, `c ? a : b` | none | yes | yes |
//! | `/` and `%` by a constant of whole numbers, `/` by a power of two, `unsigned` `/` and `%` | none | yes | yes |
//! | `/` and `%` of `int`, `logf`, `sinf`, `powf`, `erff`, `exp` of `double` | skip a few instructions | no | yes |
//! | `/` of `float`, `double` and `__half`, `/` and `%` of 64 bits, `sqrtf`, `atan2f`, `fmodf` | call | no | no |
//!
//! `--use_fast_math` takes the branches out of those of `float`, so nothing is sure here. The functions stand in
//! [`builtins`](crate::builtins).

use crate::builtins::InnerBranches;
use crate::ir::Scalar;

/// By what is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Divisor {
    /// A power of two that the compiler knows.
    PowerOfTwo,
    /// Another number that it knows.
    Constant,
    /// What is only known at run time.
    Other,
}

/// The branches in a division, or in what gives its remainder, of such numbers; `None` where their type is not known.
#[must_use]
pub(crate) fn of_division(scalar: Option<Scalar>, divisor: Divisor) -> InnerBranches {
    let is_float = |scalar: Scalar| matches!(scalar, Scalar::F32 | Scalar::F64);
    match (scalar, divisor) {
        (_, Divisor::PowerOfTwo) => InnerBranches::None,
        (Some(scalar), Divisor::Constant) if !is_float(scalar) => InnerBranches::None,
        (Some(scalar), Divisor::Other) if !is_float(scalar) && scalar.bytes() <= 4 => {
            match scalar.is_unsigned() {
                true => InnerBranches::None,
                false => InnerBranches::Skips,
            }
        }
        _ => InnerBranches::Calls,
    }
}
