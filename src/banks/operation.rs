//! What does a request do, and how do the measured tables spell it?

use std::fmt;
use std::str::FromStr;

/// What one warp-wide shared-memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads `bytes` per lane.
    Load,
    /// Writes `bytes` per lane.
    Store,
    /// Reads, changes and writes one location per lane.
    Atomic(AtomicKind),
    /// `ldmatrix`: lanes `8m..8m+8` each address a 16-byte row of matrix `m`.
    MatrixLoad {
        /// How many 8x8 matrices of 16-bit elements: 1, 2 or 4.
        matrices: u8,
    },
    /// `stmatrix`: as [`Access::MatrixLoad`], writing.
    MatrixStore {
        /// How many 8x8 matrices of 16-bit elements: 1, 2 or 4.
        matrices: u8,
    },
    /// `cp.async` into shared memory, of 4, 8 or 16 bytes per lane from neighbouring places in global memory.
    /// Costs what a store costs, except that copies of 4 or 8 bytes to the same word take turns. Copies of 16
    /// bytes through the first-level cache cost what stores cost, by time; no counter shows them.
    AsyncCopy,
}

/// How the hardware carries out an atomic on shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicKind {
    /// 4-byte integer add, sub, min, max, and, or, xor, exch, inc, dec.
    Integer,
    /// `atomicAdd(p, 1)` on a 4-byte integer whose result is unused: a population-count increment.
    PopulationCount,
    /// 4-byte `atomicCAS`.
    CompareAndSwap,
    /// `atomicAdd` on `float`: a compare-and-swap loop, whose cost is not a fixed number.
    FloatAdd,
    /// Any 8-byte atomic: a loop, whose cost is not a fixed number.
    Wide64,
    /// Any other (`half`, 16-bit compare-and-swap, ...): a loop, whose cost is not a fixed number.
    Emulated,
}

/// The text names no operation of the measured tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAccessError {
    /// What was written.
    pub given: String,
}

impl fmt::Display for ParseAccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown operation `{}`: expected ld, st, cp.async, atom.*, red.*, ldmatrix.x1/x2/x4 or stmatrix.x1/x2/x4",
            self.given
        )
    }
}

impl std::error::Error for ParseAccessError {}

/// Parses the names of the measured tables, which are PTX's: `ld`, `st`, `atom.add`, `red.add`, `ldmatrix.x4.trans`.
///
/// `red` is an atomic whose result is unused, and `red.inc` an `atomicAdd(p, 1)` of that kind.
/// A trailing type (`.f32`, `.u64`, ...) may follow `atom.*` and `red.*`.
impl FromStr for Access {
    type Err = ParseAccessError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseAccessError { given: text.to_owned() };
        let mut parts = text.split('.');
        let (operation, detail, rest) = (parts.next(), parts.next(), parts.next());
        if parts.next().is_some() {
            return Err(error());
        }
        let matrices = || match (detail, rest) {
            (Some("x1"), None | Some("trans")) => Ok(1),
            (Some("x2"), None | Some("trans")) => Ok(2),
            (Some("x4"), None | Some("trans")) => Ok(4),
            _ => Err(error()),
        };
        match (operation, detail, rest) {
            (Some("ld"), None, None) => Ok(Self::Load),
            (Some("st"), None, None) => Ok(Self::Store),
            (Some("cp"), Some("async"), None) => Ok(Self::AsyncCopy),
            (Some("ldmatrix"), ..) => Ok(Self::MatrixLoad { matrices: matrices()? }),
            (Some("stmatrix"), ..) => Ok(Self::MatrixStore { matrices: matrices()? }),
            (Some(operation @ ("atom" | "red")), Some(what), kind) => {
                atomic(operation == "red", what, kind).map(Self::Atomic).ok_or_else(error)
            }
            _ => Err(error()),
        }
    }
}

fn atomic(unused: bool, what: &str, kind: Option<&str>) -> Option<AtomicKind> {
    let known = ["add", "sub", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"].contains(&what);
    match kind {
        _ if !known => None,
        None | Some("u32" | "s32" | "b32") => Some(match what {
            "cas" => AtomicKind::CompareAndSwap,
            "inc" if unused => AtomicKind::PopulationCount,
            _ => AtomicKind::Integer,
        }),
        Some("f32") => Some(AtomicKind::FloatAdd),
        Some("u64" | "s64" | "b64" | "f64") => Some(AtomicKind::Wide64),
        Some("f16" | "f16x2" | "bf16" | "bf16x2" | "b16") => Some(AtomicKind::Emulated),
        Some(_) => None,
    }
}
