//! Which loops does the compiler unroll into straight-line code?
//!
//! There it keeps values in registers ([`registers`](super::registers)) and joins neighbouring accesses.
//! A loop of known length is unrolled whole, without a pragma, as long as it stays small: rounds times
//! body. Seen in the machine code of nvcc 13 for 9.0, in fused multiply-adds of `T x T` products that
//! read 2 T words, with how `a[ty * T + i][k]` is read over `k`:
//!
//! | rounds x body | | |
//! |---|---|---|
//! | 8 x 16, 16 x 4, 32 x 4, 8 x 25, 4 x 64 | unrolled whole | `.128` |
//! | 16 x 16, 32 x 16, 8 x 36, 16 x 36, 64 x 4 | in part, by 4 or 8 | `.128` |
//! | 16 x 25 | in part, by 6 | apart |
//! | 8 x 36 that read 36 words of global memory besides | stays a loop | apart |
//! | 2 x 64, 8 x 64, 16 x 64, 32 x 64 | stays a loop | apart |
//!
//! Where it is unrolled in part, and its rounds are no multiple of four, those that are left over come first, and what
//! is aligned in the other rounds is no longer what was aligned in the text. Of `sum += w[k] * v[(t + k) % 31]`, 34
//! rounds are unrolled whole, and of 35 come 14 twice, behind 7; of a sum of distances in three dimensions 28 are, and
//! of 31 come 12 twice, behind 7.
//!
//! Small loops are written out first. Then what does not change is taken out of the loops around, and larger loops are
//! written out after that. Of `for r: for d: s += Q[r * D + d] * K[t * D + d]` the loads of `K` are made once, before
//! the loop over `r`, or in each of its rounds:
//!
//! | | once | in each round |
//! |---|---|---|
//! | as above, 4 operations a round, `r` up to a number | `D` = 60, 62 | 64 |
//! | `r` up to what the launch tells | 64 | 68, 72 |
//! | `+ Q[r * D + d + 1]`, 5 operations a round | 40 | 48, 64 |
//! | with `#pragma unroll` | 48, 64, 96, 128 | |

use crate::events::{Early, Unrolled};

/// A loop of at most so many operations, and so many in a round, is surely unrolled whole.
const SURELY_UNROLLED: Size = Size { whole: 550, round: 100 };
/// One of more than [`FEW_ROUNDS`] rounds that are no multiple of four is surely unrolled whole up to so many.
const UNEVEN_SURELY_UNROLLED: u64 = 150;
const FEW_ROUNDS: u64 = 16;
/// A loop of more operations, and more in a round, is neither unrolled whole nor in part.
const PERHAPS_UNROLLED: Size = Size { whole: 1000, round: 120 };

/// A loop of at most so many operations is surely written out early.
const SURELY_EARLY: u64 = 200;
/// One of more is surely written out late.
const PERHAPS_EARLY: u64 = 270;

/// When the compiler writes out a loop of so many operations that it is not asked to unroll.
#[must_use]
pub(crate) fn early(operations: u64) -> Early {
    if operations <= SURELY_EARLY {
        Early::Surely
    } else if operations <= PERHAPS_EARLY {
        Early::Perhaps
    } else {
        Early::Never
    }
}

/// Operations of a loop: variables written (its counters among them), shared accesses, and others,
/// which take their address besides.
#[derive(Clone, Copy)]
struct Size {
    whole: u64,
    round: u64,
}

/// How the compiler makes straight code of a loop with so many operations in all its rounds, if it does;
/// `at_launch` is whether only the launch tells how many rounds there are.
#[must_use]
pub(crate) fn unrolled(operations: u64, rounds: u64, at_launch: bool) -> Option<Unrolled> {
    let (whole, round) = (operations, operations / rounds);
    let is_uneven = rounds > FEW_ROUNDS && !rounds.is_multiple_of(4);
    let most = if is_uneven { UNEVEN_SURELY_UNROLLED } else { SURELY_UNROLLED.whole };
    let sure = whole <= most && round <= SURELY_UNROLLED.round;
    let perhaps = whole <= PERHAPS_UNROLLED.whole || round <= PERHAPS_UNROLLED.round;
    match (sure, at_launch) {
        (false, _) => perhaps.then_some(Unrolled::Perhaps),
        (true, true) => Some(Unrolled::Surely),
        (true, false) => Some(Unrolled::Counted),
    }
}
