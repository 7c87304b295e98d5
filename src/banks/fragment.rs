//! Which requests does a warp make of a `nvcuda::wmma` tile?
//!
//! How a fragment is spread over the lanes is not documented. It was measured for the tiles below, each with
//! several leading dimensions (`fixtures/hardware/wmma-sm90.csv`, `tests/it/hardware.rs`), and the machine code of
//! every target from 8.0 on has the same instructions. Lane `l` has the number `g = l / 4` in a column
//! and `t = l % 4` in a row of an 8x8 (or 8x4) part; a *line* is what lies together in memory: a row, or,
//! column major, a column.
//!
//! | fragment | element | lines along k | lines across k |
//! |---|---|---|---|
//! | `matrix_a`, `matrix_b` | `half`, k = 16 | `ldmatrix`: 8 lanes give 8 lines, for 16 bytes of each | the same (`.trans`) |
//! | | `__nv_bfloat16`, k = 16 | 4 bytes for each 8x8 part: line g, elements 2t and 2t + 1 | the same (transposed in registers, `MOVM`) |
//! | | 1 byte, k = 16 | `ldmatrix` likewise | bytes one by one: k = 4t + {0, 1, 2, 3}, the other index g |
//! | | `tf32`, k = 8 | 4 bytes: k = t and t + 4, the other index g | the same |
//! | | `double`, k = 4 | 8 bytes: k = t, the other index g | the same |
//!
//! | accumulator | row major | column major |
//! |---|---|---|
//! | `float`, `int` | row g, columns 2t and 2t + 1 in one request of 8 bytes | in two of 4 bytes |
//! | `double` | the same in one of 16 bytes | in two of 8 bytes |
//! | `half` | the same in one of 4 bytes | column g, rows 2t and 2t + 1 in one of 4 bytes |
//!
//! The accumulators of `float` and `int` of 8x32x16 are held the other way round: column g, rows 2t and 2t + 1.
//!
//! Example: the accumulator of a 16x16x16 tile of `float`, row major, with `ld` = 64, has four 8x8 parts and
//! so four requests of 8 bytes. In the first, lane 9 has row 2, columns 2 and 3: line 2, at 2, byte
//! (2 * 64 + 2) * 4 = 520.

/// Which operand of `D = A * B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `matrix_a`: m rows of k.
    A,
    /// `matrix_b`: k rows of n.
    B,
    /// C or D: m rows of n.
    Accumulator,
}

/// The type of an element, as far as it matters to how a tile is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `signed char`, `unsigned char`
    Byte,
    /// `half`
    Half,
    /// `__nv_bfloat16`
    Bfloat16,
    /// `wmma::precision::tf32`: a `float` in memory.
    Tf32,
    /// `float`
    Float,
    /// `int`
    Int,
    /// `double`
    Double,
}

impl Element {
    /// Bytes in memory.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Element::Byte => 1,
            Element::Half | Element::Bfloat16 => 2,
            Element::Tf32 | Element::Float | Element::Int => 4,
            Element::Double => 8,
        }
    }
}

/// A tile in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Which operand it is.
    pub role: Role,
    /// m, n and k.
    pub shape: [u32; 3],
    /// Of what.
    pub element: Element,
    /// Whether its rows lie together, or its columns.
    pub by_row: bool,
}

/// One request of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentRequest {
    /// For `ldmatrix`: the 8x8 matrices; 0 for a plain access.
    pub matrices: u8,
    /// Bytes per lane; for `ldmatrix` those at each address.
    pub bytes: u32,
    /// The line that each lane addresses, and which element of it.
    pub lanes: [(u32, u32); 32],
}

/// m, n and k of the tiles that were measured.
const OF_HALVES: [[u32; 3]; 3] = [[16, 16, 16], [32, 8, 16], [8, 32, 16]];
const OF_TF32: [u32; 3] = [16, 16, 8];
const OF_DOUBLES: [u32; 3] = [8, 8, 4];

impl Tile {
    /// The requests of one call, if they were measured.
    #[must_use]
    pub fn requests(&self) -> Option<Vec<FragmentRequest>> {
        let measured = match (self.role, self.element) {
            (Role::Accumulator, Element::Float) => OF_HALVES.contains(&self.shape) || self.shape == OF_TF32,
            (Role::Accumulator, Element::Int | Element::Half) => OF_HALVES.contains(&self.shape),
            (_, Element::Double) => self.shape == OF_DOUBLES,
            (Role::A | Role::B, Element::Tf32) => self.shape == OF_TF32,
            (Role::A | Role::B, Element::Half | Element::Bfloat16 | Element::Byte) => {
                OF_HALVES.contains(&self.shape)
            }
            _ => false,
        };
        let [m, n, k] = self.shape;
        measured.then(|| match self.role {
            Role::A => self.operand(m, k, self.by_row),
            Role::B => self.operand(n, k, !self.by_row),
            Role::Accumulator => self.accumulator(m, n),
        })
    }

    /// An operand of `across` times k elements; `along`: whether a line is one of k elements.
    fn operand(&self, across: u32, k: u32, along: bool) -> Vec<FragmentRequest> {
        let bytes = self.element.bytes();
        let place = move |other: u32, k: u32| if along { (other, k) } else { (k, other) };
        let plain = |list: &mut Vec<FragmentRequest>, lane: &dyn Fn(u32, u32) -> (u32, u32)| {
            list.push(FragmentRequest { matrices: 0, bytes, lanes: by_lane(lane) });
        };
        let (lines, length) = if along { (across, k) } else { (k, across) };
        let mut found = Vec::new();
        let parts = across / 8;
        match self.element {
            Element::Byte if !along => {
                for (part, byte) in (0..parts).flat_map(|part| (0..4).map(move |byte| (part, byte))) {
                    plain(&mut found, &|g, t| place(8 * part + g, 4 * t + byte));
                }
            }
            Element::Byte | Element::Half => return matrices(lines, length, 16 / bytes),
            Element::Bfloat16 => {
                for (down, right) in (0..lines / 8).flat_map(|down| (0..length / 8).map(move |at| (down, at)))
                {
                    let lanes = by_lane(&|g, t| (8 * down + g, 8 * right + 2 * t));
                    found.push(FragmentRequest { matrices: 0, bytes: 2 * bytes, lanes });
                }
            }
            _ => {
                for (part, step) in (0..parts).flat_map(|part| (0..k / 4).map(move |step| (part, step))) {
                    plain(&mut found, &|g, t| place(8 * part + g, 4 * step + t));
                }
            }
        }
        found
    }

    fn accumulator(&self, rows: u32, columns: u32) -> Vec<FragmentRequest> {
        let bytes = self.element.bytes();
        // With fewer rows than columns the transposed product is computed; halves do not show it.
        let turned = rows < columns && self.element != Element::Half;
        let (rows, columns) = if turned { (columns, rows) } else { (rows, columns) };
        let mut found = Vec::new();
        for (down, right) in (0..rows / 8).flat_map(|down| (0..columns / 8).map(move |right| (down, right))) {
            let mut push = |bytes, lane: &dyn Fn(u32, u32) -> (u32, u32)| {
                found.push(FragmentRequest { matrices: 0, bytes, lanes: by_lane(lane) });
            };
            match (self.by_row != turned, self.element) {
                (true, _) => push(2 * bytes, &|g, t| (8 * down + g, 8 * right + 2 * t)),
                (false, Element::Half) => push(2 * bytes, &|g, t| (8 * right + g, 8 * down + 2 * t)),
                (false, _) => {
                    for next in 0..2 {
                        push(bytes, &|g, t| (8 * right + 2 * t + next, 8 * down + g));
                    }
                }
            }
        }
        found
    }
}

/// The `ldmatrix` of a tile of lines of so many elements, `chunk` of them in 16 bytes.
fn matrices(lines: u32, length: u32, chunk: u32) -> Vec<FragmentRequest> {
    let chunks = length / chunk;
    // 8 lines of 16 bytes each: where they begin.
    let all: Vec<(u32, u32)> =
        (0..chunks).flat_map(|at| (0..lines / 8).map(move |part| (8 * part, at * chunk))).collect();
    let of = |part: &[(u32, u32)]| FragmentRequest {
        matrices: part.len() as u8,
        bytes: 16,
        lanes: std::array::from_fn(|lane| {
            let (first, at) = part[lane / 8 % part.len()];
            (first + lane as u32 % 8, at)
        }),
    };
    // A tile of bytes has half as many in one instruction.
    all.chunks(if chunk == 16 { 2 } else { 4 }).map(of).collect()
}

fn by_lane(lane: &dyn Fn(u32, u32) -> (u32, u32)) -> [(u32, u32); 32] {
    std::array::from_fn(|l| lane(l as u32 / 4, l as u32 % 4))
}
