//! What does the bank model say of each access site?
//!
//! Takes a site of a trace and a target, asks `banks` for every distinct warp request, and says
//! how much the answer rests on. Unknown numbers that shift all lanes alike are tried in every
//! phase that matters to the banks; a factor between lanes that is given at run time is tried in
//! every residue, and the answer is a table over it.

mod merge;

pub use merge::Merges;

use crate::banks::{self, AtomicKind, Contention, Cost, Family, Request, Target, Witness};
use crate::exec::value::Reason;
use crate::source::Span;
use crate::trace::{Access, Atomic, Pattern, Trace};

/// How much a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing but the code, and a launch found.
    Exact,
    /// Assumptions that are listed.
    Assumed,
    /// A run-time stride: the verdict is a table over it.
    Depends,
    /// Not known, with a reason.
    Unknown,
}

/// What a shared-memory access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessOp {
    /// Read.
    Load,
    /// Write.
    Store,
    /// Read-modify-write by `atomicAdd` and its kin.
    Atomic,
    /// `ldmatrix`, `wmma::load_matrix_sync`
    MatrixLoad,
    /// `stmatrix`, `wmma::store_matrix_sync`
    MatrixStore,
    /// `cp.async` into shared memory.
    AsyncCopy,
}

/// Where the block shape came from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockFrom {
    /// `// cudalint: block(32, 8)`
    Directive,
    /// `cudalint.toml`
    Config,
    /// `--block`
    Flag,
    /// A launch in the files given.
    Launch,
    /// `__launch_bounds__`
    LaunchBounds,
    /// What the kernel's own code implies.
    Implied,
    /// 256 x 1 x 1.
    Default,
}

/// The verdict on one access site for one block shape, one set of template arguments and one target.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteVerdict {
    /// The access expression.
    pub span: Span,
    /// The kernel it was reached from, with its template arguments when it has any.
    pub kernel: String,
    /// The shared array.
    pub array: String,
    /// What it does.
    pub op: AccessOp,
    /// Bytes per lane; `None` when the element type is not known.
    pub bytes: Option<u32>,
    /// Block shape x, y, z.
    pub block: [u32; 3],
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The target, as `sm_90`.
    pub target: String,
    /// How much the verdict rests on.
    pub status: Status,
    /// What was taken for granted, for `Assumed`.
    pub assumptions: Vec<String>,
    /// Why it is `Unknown` or what it `Depends` on.
    pub reason: Option<String>,
    /// The kind of that reason, to count by.
    pub kind: Option<Reason>,
    /// Warp requests, summed over the warps of one block and the enumerated loop iterations.
    pub requests: Option<u64>,
    /// Wavefronts, summed likewise.
    pub wavefronts: Option<u64>,
    /// The fewest wavefronts possible, summed likewise.
    pub ideal: Option<u64>,
    /// The largest wavefronts of one request.
    pub worst: Option<u32>,
    /// The ideal of that request.
    pub worst_ideal: Option<u32>,
}

/// The most combinations of residues tried for one request.
const MOST_TRIED: u64 = 4096;

/// What the bank model says of one site on one target.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// How much it rests on, the block shape left aside.
    pub status: Status,
    /// The numbers, when they are known.
    pub totals: Option<Totals>,
    /// Why it is not known, or what it depends on.
    pub reason: Option<String>,
    /// The kind of that reason.
    pub kind: Option<Reason>,
    /// What is taken for granted beside the trace's own assumptions.
    pub assumptions: Vec<String>,
    /// For `Depends`: wavefronts of the worst request by residue.
    pub table: Option<StrideTable>,
    /// For an atomic without a fixed cost: lanes that meet in one bank.
    pub contention: Option<Contention>,
    /// Whether its requests are joined to those of another site, which speaks for both.
    pub follows: bool,
}

impl Judgement {
    /// Not known, for a reason of this kind.
    #[must_use]
    pub fn unknown(kind: Reason, reason: impl Into<String>) -> Judgement {
        Judgement {
            status: Status::Unknown,
            totals: None,
            reason: Some(reason.into()),
            kind: Some(kind),
            assumptions: Vec::new(),
            table: None,
            contention: None,
            follows: false,
        }
    }
}

/// Sums over the requests of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Wavefronts.
    pub wavefronts: u64,
    /// The fewest wavefronts possible.
    pub ideal: u64,
    /// Wavefronts of the worst request, its ideal, and its ways.
    pub worst: Worst,
}

/// The request with the most wavefronts beyond its ideal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// Its wavefronts.
    pub wavefronts: u32,
    /// Its ideal.
    pub ideal: u32,
    /// The passes that its worst group of lanes takes.
    pub ways: u32,
    /// Two lanes that collide.
    pub witness: Option<Witness>,
    /// The warp that does it.
    pub warp: u32,
}

/// Wavefronts as a function of a run-time stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrideTable {
    /// The name of the stride.
    pub name: String,
    /// For each residue modulo the table's length: wavefronts of the worst request, and its ideal.
    pub by_residue: Vec<(u32, u32)>,
}

/// Judges one access of a trace, by its number, on a target.
#[must_use]
pub fn judge(trace: &Trace, merges: &Merges, number: usize, target: &Target) -> Judgement {
    let access = &trace.accesses[number];
    if let Some(why) = &access.unknown {
        return Judgement::unknown(why.reason, &*why.detail);
    }
    if access.outside {
        let reason = "as far as it is followed it leaves the array, so something about it is not seen";
        return Judgement::unknown(Reason::OutOfBounds, reason);
    }
    if let Some(stopped) = &trace.stopped {
        return Judgement::unknown(stopped.reason, &*stopped.detail);
    }
    let mut totals = Totals::default();
    let mut follows = false;
    let mut assumptions = Vec::new();
    let mut table: Option<StrideTable> = None;
    for (at, pattern) in access.patterns.iter().enumerate() {
        match try_pattern(trace, access, pattern, target) {
            Tried::Cost(mut costs, note) => {
                assumptions.extend(note);
                let free = |cost: &Cost| cost.wavefronts <= cost.ideal;
                // Of 8 and 16 bytes the hardware takes 2 and 4 as a rule, even where it could pair lanes.
                let usual = |(bytes, cost): (u32, Cost)| cost.wavefronts <= cost.ideal.max(bytes / 4);
                if let Some(wide) = merges.get(number, at).filter(|_| !costs.iter().all(free)) {
                    let joined = || {
                        widths(access, wide).filter_map(|wide| {
                            as_joined(access, pattern, wide, target).map(|cost| (wide.bytes, cost))
                        })
                    };
                    if !wide.sure {
                        if joined().any(usual) {
                            let reason = "neighbouring accesses of a thread, which the compiler may join into one without conflicts";
                            return Judgement::unknown(Reason::Compiler, reason);
                        }
                    } else if let Some((_, cost)) = joined().next() {
                        // Its other parts are the same request.
                        follows |= !wide.head;
                        costs = if wide.first { vec![cost] } else { Vec::new() };
                        let text = format!(
                            "the compiler joins neighbouring accesses of a thread into one of {} bytes",
                            wide.bytes
                        );
                        if !assumptions.contains(&text) {
                            assumptions.push(text);
                        }
                    }
                }
                for cost in costs {
                    totals.add(&cost, pattern);
                }
            }
            Tried::Depends(found) => merge_table(&mut table, found),
            Tried::NoFigure(contention) => {
                let reason = "what this atomic costs is not a fixed number";
                let unknown = Judgement::unknown(Reason::Hardware, reason);
                return Judgement { contention: Some(contention), ..unknown };
            }
            Tried::Unknown(kind, reason) => return Judgement::unknown(kind, reason),
        }
    }
    if let Some(table) = table {
        let reason = format!("it depends on `{}`, which is given at run time", table.name);
        let unknown = Judgement::unknown(Reason::RunTimeStride, reason);
        return Judgement { status: Status::Depends, assumptions, table: Some(table), ..unknown };
    }
    if let Some(doubt) = &access.doubt {
        if totals.wavefronts > totals.ideal {
            return Judgement::unknown(doubt.reason, &*doubt.detail);
        }
        assumptions.push("any lanes may be active: no choice of them conflicts".to_string());
    }
    // Timed on 9.0: copies through the first-level cache wait for banks like stores; those around it do not.
    if access.bypass && totals.wavefronts > totals.ideal {
        let reason = "what banks cost a copy that goes around the first-level cache (`cp.async.cg`)";
        return Judgement::unknown(Reason::Hardware, reason);
    }
    assumptions.dedup();
    let free = assumptions.is_empty() && access.assumptions.is_empty();
    let status = if free { Status::Exact } else { Status::Assumed };
    let totals = Some(totals);
    Judgement {
        status,
        totals,
        reason: None,
        kind: None,
        assumptions,
        table: None,
        contention: None,
        follows,
    }
}

impl Totals {
    fn add(&mut self, cost: &Cost, pattern: &Pattern) {
        self.requests = self.requests.saturating_add(pattern.count);
        self.wavefronts =
            self.wavefronts.saturating_add(pattern.count.saturating_mul(cost.wavefronts.into()));
        self.ideal = self.ideal.saturating_add(pattern.count.saturating_mul(cost.ideal.into()));
        let excess = |w: u32, i: u32| w.saturating_sub(i);
        let (new, old) =
            (excess(cost.wavefronts, cost.ideal), excess(self.worst.wavefronts, self.worst.ideal));
        if self.worst.wavefronts == 0 || new > old || (new == old && cost.wavefronts > self.worst.wavefronts)
        {
            self.worst = Worst {
                wavefronts: cost.wavefronts,
                ideal: cost.ideal,
                ways: cost.ways,
                witness: cost.witness,
                warp: pattern.first_warp,
            };
        }
    }
}

/// The bank model's answer to one pattern.
enum Tried {
    /// One cost, or one for each iteration residue.
    Cost(Vec<Cost>, Option<String>),
    Depends(StrideTable),
    NoFigure(Contention),
    Unknown(Reason, String),
}

fn try_pattern(trace: &Trace, access: &Access, pattern: &Pattern, target: &Target) -> Tried {
    let shifts = shifts(pattern.unit, target);
    let axes: Vec<Axis> = pattern
        .varying
        .iter()
        .map(|(symbol, factors)| Axis::of(trace, *symbol, factors, pattern.active, target))
        .collect();
    let tried = axes.iter().fold(shifts.len() as u64, |n, axis| n.saturating_mul(axis.values.len() as u64));
    if tried > MOST_TRIED {
        let names: Vec<String> =
            axes.iter().map(|axis| format!("`{}`", trace.symbols[axis.symbol as usize].name)).collect();
        return Tried::Unknown(Reason::RunTimeStride, format!("it depends on {}", names.join(" and ")));
    }
    // By the values of all axes: the cost, which must be the same in every phase.
    let mut results: Vec<(Vec<usize>, Cost)> = Vec::new();
    let mut chosen = vec![0usize; axes.len()];
    loop {
        let mut offsets = pattern.offsets;
        for ((axis, &at), (_, factors)) in axes.iter().zip(&chosen).zip(&pattern.varying) {
            for (offset, factor) in offsets.iter_mut().zip(factors) {
                *offset = offset.wrapping_add(factor.wrapping_mul(axis.values[at]));
            }
        }
        match phases(access, pattern, &offsets, &shifts, target) {
            Ok(cost) => results.push((chosen.clone(), cost)),
            Err(other) => return other,
        }
        if !advance(&mut chosen, &axes) {
            break;
        }
    }
    let (_, first) = results[0];
    if results.iter().all(|(_, cost)| (cost.wavefronts, cost.ideal) == (first.wavefronts, first.ideal)) {
        return Tried::Cost(vec![first], None);
    }
    differing(trace, &axes, &results)
}

/// The cost differs with the values of symbols.
fn differing(trace: &Trace, axes: &[Axis], results: &[(Vec<usize>, Cost)]) -> Tried {
    let name = |axis: &Axis| trace.symbols[axis.symbol as usize].name.clone();
    if axes.iter().all(|axis| trace.symbols[axis.symbol as usize].counter && axis.periodic) {
        // A loop counter takes its values in turn.
        let note = "the loop runs often enough to meet the banks evenly".to_string();
        return Tried::Cost(results.iter().map(|(_, cost)| *cost).collect(), Some(note));
    }
    match axes {
        [axis] if axis.periodic && trace.symbols[axis.symbol as usize].given => Tried::Depends(StrideTable {
            name: name(axis),
            by_residue: results.iter().map(|(_, cost)| (cost.wavefronts, cost.ideal)).collect(),
        }),
        _ => {
            let names: Vec<String> = axes.iter().map(|axis| format!("`{}`", name(axis))).collect();
            Tried::Unknown(Reason::RunTimeStride, format!("it depends on {}", names.join(" and ")))
        }
    }
}

fn advance(chosen: &mut [usize], axes: &[Axis]) -> bool {
    for (at, axis) in chosen.iter_mut().zip(axes) {
        *at += 1;
        if *at < axis.values.len() {
            return true;
        }
        *at = 0;
    }
    false
}

/// The values of a symbol that are tried.
struct Axis {
    symbol: u32,
    values: Vec<i64>,
    /// Whether the values are all residues of a period.
    periodic: bool,
}

impl Axis {
    fn of(trace: &Trace, symbol: u32, factors: &[i64; 32], active: u32, target: &Target) -> Axis {
        let period = u64::from(banks::period_bytes(target));
        let first = factors[active.trailing_zeros().min(31) as usize];
        // Only differences between lanes count, except for a phase that the shifts try.
        let divisor = (0..32)
            .filter(|lane| active >> lane & 1 == 1)
            .fold(period, |acc, lane| crate::exec::lanes::gcd(acc, factors[lane].abs_diff(first)));
        let divisor = crate::exec::lanes::gcd(divisor, first.unsigned_abs());
        let residues = (period / divisor.max(1)) as i64;
        let (low, high) = trace.symbols[symbol as usize].range;
        if let (Some(low), Some(high)) = (low, high)
            && high.checked_sub(low).is_some_and(|span| span >= 0 && span < residues)
        {
            return Axis { symbol, values: (low..=high).collect(), periodic: false };
        }
        Axis { symbol, values: (0..residues).collect(), periodic: true }
    }
}

/// The shifts by which an unknown uniform offset can move the request in the banks.
fn shifts(unit: u64, target: &Target) -> Vec<i64> {
    let matters = match target.family() {
        Family::KeplerFour => 256,
        Family::KeplerEight => 8,
        Family::Tesla | Family::Fermi | Family::Modern => 4,
    };
    let step = crate::exec::lanes::gcd(unit, matters);
    if unit == 0 || step == matters {
        return vec![0];
    }
    (0..matters / step).map(|k| (k * step) as i64).collect()
}

/// The cost, when it is the same in every phase.
fn phases(
    access: &Access,
    pattern: &Pattern,
    offsets: &[i64; 32],
    shifts: &[i64],
    target: &Target,
) -> Result<Cost, Tried> {
    let mut found: Option<Cost> = None;
    for shift in shifts {
        let moved = offsets.map(|offset| offset.wrapping_add(*shift));
        let request = Request {
            access: bank_access(access),
            bytes: access.bytes.unwrap_or(4),
            active: pattern.active,
            offsets: &moved,
            align: access.align,
            base: 0,
        };
        let Some(cost) = banks::cost(&request, target) else {
            if matches!(access.op, AccessOp::Atomic) {
                return Err(Tried::NoFigure(banks::contention(&request, target)));
            }
            return Err(Tried::Unknown(Reason::Hardware, format!("{target} has no such instruction")));
        };
        match &found {
            Some(old) if (old.wavefronts, old.ideal) != (cost.wavefronts, cost.ideal) => {
                let reason = "it depends on where in the banks the access begins".to_string();
                return Err(Tried::Unknown(Reason::RunTimeStride, reason));
            }
            Some(_) => {}
            None => found = Some(cost),
        }
    }
    found.ok_or_else(|| Tried::Unknown(Reason::Unsupported, "nothing was accessed".to_string()))
}

/// The widths to which a narrow request may be joined: the widest, and those below it, which are
/// made of a part of it.
fn widths(access: &Access, wide: &merge::Wide) -> impl Iterator<Item = merge::Wide> {
    let narrow = access.bytes.unwrap_or(4);
    let wide = *wide;
    std::iter::successors(Some(wide.bytes), |bytes| Some(bytes / 2))
        .take_while(move |&bytes| bytes > narrow)
        .map(move |bytes| merge::Wide { bytes, ..wide })
}

/// The cost as a part of a wider request.
fn as_joined(access: &Access, pattern: &Pattern, wide: merge::Wide, target: &Target) -> Option<Cost> {
    let request = Request {
        access: bank_access(access),
        bytes: wide.bytes,
        active: pattern.active,
        offsets: &wide.offsets,
        align: 0,
        base: 0,
    };
    banks::cost(&request, target)
}

fn bank_access(access: &Access) -> banks::Access {
    match access.op {
        AccessOp::Load => banks::Access::Load,
        AccessOp::Store => banks::Access::Store,
        AccessOp::AsyncCopy => banks::Access::AsyncCopy,
        AccessOp::MatrixLoad => banks::Access::MatrixLoad { matrices: access.matrices.max(1) },
        AccessOp::MatrixStore => banks::Access::MatrixStore { matrices: access.matrices.max(1) },
        AccessOp::Atomic => banks::Access::Atomic(match access.atomic {
            Some(Atomic::CountUnused) => AtomicKind::PopulationCount,
            Some(Atomic::CompareAndSwap) => AtomicKind::CompareAndSwap,
            Some(Atomic::Float) => AtomicKind::FloatAdd,
            Some(Atomic::Wide) => AtomicKind::Wide64,
            Some(Atomic::Integer) | None => AtomicKind::Integer,
        }),
    }
}

/// Keeps the worse figure of each residue; tables of different length or name keep the longer.
fn merge_table(table: &mut Option<StrideTable>, found: StrideTable) {
    match table {
        Some(old) if old.name == found.name && old.by_residue.len() == found.by_residue.len() => {
            for (old, new) in old.by_residue.iter_mut().zip(found.by_residue) {
                if new.0.saturating_sub(new.1) > old.0.saturating_sub(old.1) {
                    *old = new;
                }
            }
        }
        Some(old) if old.by_residue.len() >= found.by_residue.len() => {}
        _ => *table = Some(found),
    }
}
