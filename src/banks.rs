//! How many wavefronts does one warp's shared-memory request take, and why?
//!
//! Shared memory is striped over banks: on every device since 2.x, 32 banks of 4 bytes, so that the byte at
//! address `a` lies in bank `a / 4 % 32`. In one pass, a *wavefront*, each bank delivers one of its words, to
//! every lane that wants any part of it. A request therefore needs as many wavefronts as the fullest bank has
//! *distinct words* wanted:
//!
//! ```text
//! lane l reads            bank of lane 0 1 2 3 ... 31    wavefronts
//! float  t[l]                           0 1 2 3 ... 31    1
//! float  t[0]                           0 0 0 0 ... 0     1   one word: multicast
//! float  t[2 * l]                       0 2 4 6 ... 30    2   lanes 0 and 16 want words 0 and 32 of bank 0
//! float  t[l][0] of t[32][32]           0 0 0 0 ... 0     32  32 words of bank 0
//! float  t[l][0] of t[32][33]           0 1 2 3 ... 31    1
//! float4 t[l]                           0 4 8 12 ...      4   8 lanes fill the 32 banks: four groups, no conflict
//! ```
//!
//! The last row is why two numbers are reported. Requests of more than 128 bytes are served in groups of lanes,
//! one wavefront each at best: that best is [`Cost::ideal`]. [`Cost::ways`] is how often the worst group had to
//! pass: the *n* of "n-way bank conflict".
//!
//! **Accesses that no machine instruction performs** are split as the compiler splits them: into the widest
//! pieces (1, 2, 4, 8 or 16 bytes; at most 4 bytes on 1.x) that the type's alignment allows, and the pieces'
//! costs add up. A struct of three floats becomes three 4-byte requests; a `float2` one of 8 bytes; a struct of
//! two floats without `__align__(8)` two of 4 bytes.
//!
//! Invariant: this module imports nothing of the crate, allocates nothing to count a request, and is total:
//! every mask, size and offset has an answer.

mod copies;
pub mod fragment;
mod groups;
mod operation;
mod schedule;
mod target;
mod tesla;

pub use copies::{CopySource, copy_cost};
pub use operation::{Access, AtomicKind, ParseAccessError};
pub use schedule::{Served, Touch, schedule};
pub use target::{BankSize, ComputeCapability, Family, ParseCapabilityError, Target};

use groups::{Count, Group, Layout};

/// One memory instruction executed by one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// What it does.
    pub access: Access,
    /// Bytes per lane. Ignored for matrix accesses, whose rows are 16 bytes.
    pub bytes: u32,
    /// The active lanes; bit `l` is lane `l`.
    pub active: u32,
    /// The byte offset of each lane from the array's start; only those of active lanes are read.
    pub offsets: &'a [i64; 32],
    /// The alignment in bytes that the accessed type guarantees; 0 for the largest power of two that divides
    /// `bytes`. Decides how an access is split: 8 bytes aligned to 4 are two machine accesses.
    pub align: u32,
    /// The byte address of the array's start in shared memory, as far as it is known modulo [`period_bytes`]; 0
    /// when it is not known. Only 3.x in 4-byte mode looks beyond its last two bits (two words of one aligned
    /// 256-byte segment are delivered together).
    pub base: i64,
}

impl<'a> Request<'a> {
    /// A request of naturally aligned accesses to an array at the start of shared memory.
    pub const fn new(access: Access, bytes: u32, active: u32, offsets: &'a [i64; 32]) -> Self {
        Self { access, bytes, active, offsets, align: 0, base: 0 }
    }
}

/// What a request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Passes through the banks.
    pub wavefronts: u32,
    /// The passes that a request of this kind, width and mask takes without any conflict.
    pub ideal: u32,
    /// What Nsight takes for the ideal: the same, except where neighbouring lanes that read the same 8 or 16
    /// bytes are served together and still take no more wavefronts than lanes apart would; then those.
    pub usual: u32,
    /// The largest number of passes that one group of lanes served together needs; 1 is free of conflicts, 0 is
    /// a request without active lanes.
    pub ways: u32,
    /// Two lanes that collide; `None` when none do.
    pub witness: Option<Witness>,
    /// The machine accesses that the request is split into; 0 is a request without active lanes.
    pub accesses: u32,
}

impl Cost {
    /// Nothing is accessed.
    const NOTHING: Self = Self { wavefronts: 0, ideal: 0, usual: 0, ways: 0, witness: None, accesses: 0 };

    /// What groups of lanes cost together, as one machine access.
    const fn as_one(self) -> Self {
        Self { accesses: 1, ..self }
    }

    /// The wavefronts that conflicts add.
    pub const fn excess(&self) -> u32 {
        self.wavefronts.saturating_sub(self.ideal)
    }

    /// Adds another machine access of the same request, or a part of one, which runs `times` times.
    fn add(&mut self, other: Self, times: u32) {
        self.wavefronts = self.wavefronts.saturating_add(other.wavefronts.saturating_mul(times));
        self.ideal = self.ideal.saturating_add(other.ideal.saturating_mul(times));
        self.usual = self.usual.saturating_add(other.usual.saturating_mul(times));
        self.accesses = self.accesses.saturating_add(other.accesses.saturating_mul(times));
        if other.ways > self.ways {
            self.ways = other.ways;
            self.witness = other.witness;
        }
    }
}

/// Two lanes that are served together and want different words of the fullest bank (for an atomic or
/// an asynchronous copy: any words of it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The lanes, lower one first.
    pub lanes: (u8, u8),
    /// Their byte offsets, as given in the request (of a split access: of the piece that collides).
    pub offsets: (i64, i64),
    /// The bank.
    pub bank: u32,
}

/// How much the lanes of an atomic get in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// The number of active lanes in the fullest bank: 1 is no contention, 0 a request without active lanes.
    pub lanes: u32,
    /// Two lanes of that bank.
    pub witness: Option<Witness>,
}

/// The wavefronts of a request; `None` where the hardware's number is not known.
///
/// Not known are: atomics that compile to a loop ([`AtomicKind::FloatAdd`], [`AtomicKind::Wide64`],
/// [`AtomicKind::Emulated`]; see [`contention`]), all shared atomics before 5.0, and matrix accesses on devices
/// that lack the instruction (`ldmatrix` before 7.5, `stmatrix` before 9.0).
pub fn cost(request: &Request<'_>, target: &Target) -> Option<Cost> {
    if request.active == 0 {
        return Some(Cost::NOTHING);
    }
    match request.access {
        Access::Load | Access::Store | Access::AsyncCopy => Some(plain(request, target)),
        Access::Atomic(kind) => atomic(request, kind, target),
        Access::MatrixLoad { matrices } => {
            (target.capability >= ComputeCapability::new(7, 5)).then(|| matrix(request, matrices))
        }
        Access::MatrixStore { matrices } => {
            (target.capability >= ComputeCapability::new(9, 0)).then(|| matrix(request, matrices))
        }
    }
}

/// How many lanes of an atomic meet in one bank, whether or not its exact cost is known.
pub fn contention(request: &Request<'_>, target: &Target) -> Contention {
    let layout = Layout::of(target.family());
    let group = Group { request, shift: 0, bytes: request.bytes.min(16), lanes: request.active };
    let pass = group.passes(&layout, Count::Lanes);
    Contention { lanes: pass.ways, witness: pass.witness }
}

/// A uniform byte offset that is a multiple of this never changes a count.
pub const fn period_bytes(target: &Target) -> u32 {
    match target.family() {
        Family::KeplerFour | Family::KeplerEight => 256,
        Family::Tesla | Family::Fermi | Family::Modern => 128,
    }
}

/// How many neighbouring lanes are served together: 32, 16 or 8.
/// For an access that is split, those of its widest machine access.
pub fn lanes_served_together(request: &Request<'_>, target: &Target) -> u32 {
    match request.access {
        Access::MatrixLoad { .. } | Access::MatrixStore { .. } => 8,
        Access::Atomic(_) => 32,
        Access::Load | Access::Store | Access::AsyncCopy => {
            let family = target.family();
            let widest = piece_bytes(request, family).min(request.bytes.max(1));
            group_lanes(request, family, 1 << widest.ilog2())
        }
    }
}

/// Loads, stores and asynchronous copies: splits the access, adds up the pieces.
fn plain(request: &Request<'_>, target: &Target) -> Cost {
    let mut total = Cost::NOTHING;
    for Piece { shift, bytes, times } in pieces(request, target.family()) {
        total.add(machine_access(request, target, shift, bytes), times);
    }
    total
}

/// A machine access that a request is split into.
struct Piece {
    /// Bytes from each lane's offset.
    shift: u32,
    /// Its width, at most 16.
    bytes: u32,
    /// How many of the request's machine accesses cost the same.
    times: u32,
}

/// The machine accesses of a request, those that cost the same as one.
fn pieces(request: &Request<'_>, family: Family) -> impl Iterator<Item = Piece> + use<> {
    let piece = piece_bytes(request, family);
    let (pieces, rest) = (request.bytes / piece, request.bytes % piece);

    // Pieces that are a multiple of `rotation` bytes apart cost the same, however many there are.
    let rotation = match family {
        Family::Tesla | Family::Fermi | Family::Modern => 4,
        Family::KeplerFour => 256,
        Family::KeplerEight => 8,
    };
    let phases = (rotation / piece).max(1);
    let whole = (0..phases.min(pieces)).map(move |phase| {
        let times = (pieces - phase).div_ceil(phases);
        Piece { shift: phase * piece, bytes: piece, times }
    });
    let mut shift = request.bytes - rest;
    let narrow = [8, 4, 2, 1].into_iter().filter(move |bytes| rest & bytes != 0).map(move |bytes| {
        let piece = Piece { shift, bytes, times: 1 };
        shift += bytes;
        piece
    });
    whole.chain(narrow)
}

/// The widest machine access that the alignment allows, in bytes: 1, 2, 4, 8 or 16.
fn piece_bytes(request: &Request<'_>, family: Family) -> u32 {
    let align = if request.align == 0 { request.bytes } else { request.align };
    let widest = if family == Family::Tesla { 4 } else { 16 };
    // The lowest set bit; 16 for 0, which divides anything.
    (1 << align.trailing_zeros().min(4)).min(widest)
}

/// How many neighbouring lanes a machine access of `bytes` serves together.
fn group_lanes(request: &Request<'_>, family: Family, bytes: u32) -> u32 {
    let load = request.access == Access::Load;
    match (family, bytes) {
        (Family::Tesla, _) => 16,
        (Family::Fermi, 16) => 8,
        (Family::Fermi, 8) => 16,
        // Kepler's banks deliver 256 bytes per clock. NVIDIA documents 8 bytes per lane as one pass of the warp
        // and nothing about 16; two half-warps is what that bandwidth allows.
        (Family::KeplerFour | Family::KeplerEight, 16) => 16,
        (Family::Modern, 8) if load && pairs_agree(request) => 32,
        (Family::Modern, 8) => 16,
        (Family::Modern, 16) if load && pairs_agree(request) => 16,
        (Family::Modern, 16) => 8,
        _ => 32,
    }
}

/// The pair rule: does every active lane read the address of its partner, if active, where all partners are
/// `lane ^ 1` or all are `lane ^ 2`?
fn pairs_agree(request: &Request<'_>) -> bool {
    let agree = |distance: usize| {
        request.offsets.iter().enumerate().all(|(lane, offset)| {
            let partner = lane ^ distance;
            let both = 1_u32 << lane | 1 << partner;
            request.active & both != both || request.offsets.get(partner) == Some(offset)
        })
    };
    agree(1) || agree(2)
}

/// One machine instruction: `bytes` (1, 2, 4, 8 or 16) at `shift` bytes from each lane's offset.
fn machine_access(request: &Request<'_>, target: &Target, shift: u32, bytes: u32) -> Cost {
    let family = target.family();
    let count = counting(request, target, bytes);
    let lanes = group_lanes(request, family, bytes);
    let layout = Layout::of(family);
    let serve = |group: Group<'_>| match family {
        Family::Tesla => tesla::passes(&group),
        _ => group.passes(&layout, count),
    };
    let served = in_groups(request, lanes, i64::from(shift), bytes, serve);
    if family == Family::Fermi && bytes == 16 {
        // NVIDIA gives a 128-bit request as a whole "1 + the most lanes of a quarter-warp with different
        // addresses in one bank" ways: 2 at best.
        let ways = served.ways + 1;
        return Cost { wavefronts: ways, ideal: 2, usual: 2, ways, witness: served.witness, accesses: 1 };
    }
    // Groups as they are when no lanes are paired.
    let unpaired = match (family, bytes) {
        (Family::Modern, 8) => 16,
        (Family::Modern, 16) => 8,
        _ => lanes,
    };
    let group = u32::MAX >> (32 - unpaired);
    let groups = (0..32).step_by(unpaired as usize).filter(|start| request.active & group << start != 0);
    let apart = groups.count() as u32;
    let usual = if served.wavefronts <= apart { served.wavefronts } else { served.ideal };
    Cost { usual, ..served }.as_one()
}

/// What takes turns in a machine access of `bytes` that is no atomic.
fn counting(request: &Request<'_>, target: &Target, bytes: u32) -> Count {
    // Measured for 4 and 8 bytes; before 8.0 the compiler makes a load and a store of it.
    let copies = request.access == Access::AsyncCopy && target.capability >= ComputeCapability::new(8, 0);
    if copies && matches!(bytes, 4 | 8) { Count::Lanes } else { Count::Words }
}

/// The active lanes in groups of `lanes` neighbours.
fn groups_of<'a>(
    request: &'a Request<'a>,
    lanes: u32,
    shift: i64,
    bytes: u32,
) -> impl Iterator<Item = Group<'a>> {
    let first_group = u32::MAX >> (32 - lanes);
    let active = (0..32).step_by(lanes as usize).map(move |start| request.active & (first_group << start));
    active.filter(|lanes| *lanes != 0).map(move |lanes| Group { request, shift, bytes, lanes })
}

/// Serves the active lanes in groups of `lanes` neighbours, one group after the other.
fn in_groups<'a>(
    request: &'a Request<'a>,
    lanes: u32,
    shift: i64,
    bytes: u32,
    serve: impl Fn(Group<'a>) -> groups::Passes,
) -> Cost {
    let mut total = Cost::NOTHING;
    for group in groups_of(request, lanes, shift, bytes) {
        let pass = serve(group);
        let (ways, witness) = (pass.ways, pass.witness);
        total.add(Cost { wavefronts: ways, ideal: 1, usual: 1, ways, witness, accesses: 0 }, 1);
    }
    total
}

/// `ldmatrix` and `stmatrix`: each matrix is a group of 8 lanes with a 16-byte row each.
fn matrix(request: &Request<'_>, matrices: u8) -> Cost {
    let request = Request { active: request.active & addressing(matrices), ..*request };
    let layout = Layout::of(Family::Modern);
    in_groups(&request, 8, 0, 16, |group| group.passes(&layout, Count::Words)).as_one()
}

/// The lanes that give the addresses of so many matrices.
fn addressing(matrices: u8) -> u32 {
    match matrices {
        0 => 0,
        1 => 0xff,
        2 => 0xffff,
        3 => 0xff_ffff,
        _ => u32::MAX,
    }
}

fn atomic(request: &Request<'_>, kind: AtomicKind, target: &Target) -> Option<Cost> {
    if target.family() != Family::Modern || request.bytes != 4 {
        return None;
    }
    let (count, times) = turns(kind)?;
    let layout = Layout::of(Family::Modern);
    let cost = in_groups(request, 32, 0, 4, |group| group.passes(&layout, count));
    let (wavefronts, ideal, usual) = (cost.wavefronts * times, cost.ideal * times, cost.usual * times);
    Some(Cost { wavefronts, ideal, usual, ..cost }.as_one())
}

/// What takes turns in an atomic, and the passes of each turn; `None` when it is not a fixed number.
fn turns(kind: AtomicKind) -> Option<(Count, u32)> {
    match kind {
        AtomicKind::Integer => Some((Count::Lanes, 1)),
        AtomicKind::PopulationCount => Some((Count::Words, 1)),
        AtomicKind::CompareAndSwap => Some((Count::Lanes, 2)),
        AtomicKind::FloatAdd | AtomicKind::Wide64 | AtomicKind::Emulated => None,
    }
}
