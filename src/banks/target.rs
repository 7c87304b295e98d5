//! Which hardware is asked about, and how much shared memory does it have?

use std::fmt;
use std::str::FromStr;

/// A compute capability, such as 9.0.
///
/// Parses from `sm_90`, `sm_90a`, `compute_90`, `cc9.0`, `9.0` and `90`; prints as `sm_90`.
/// Versions of the next few generations are accepted and behave like the newest known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComputeCapability {
    /// The 9 of 9.0.
    pub major: u8,
    /// The 0 of 9.0.
    pub minor: u8,
}

/// Every compute capability that NVIDIA has released, oldest first.
const KNOWN: [(u8, u8); 31] = [
    (1, 0),
    (1, 1),
    (1, 2),
    (1, 3),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 2),
    (3, 5),
    (3, 7),
    (5, 0),
    (5, 2),
    (5, 3),
    (6, 0),
    (6, 1),
    (6, 2),
    (7, 0),
    (7, 2),
    (7, 5),
    (8, 0),
    (8, 6),
    (8, 7),
    (8, 8),
    (8, 9),
    (9, 0),
    (10, 0),
    (10, 1),
    (10, 3),
    (11, 0),
    (12, 0),
    (12, 1),
];

/// How far the major version of a device may lie beyond the newest known one: farther, it is a slip.
const NEXT_MAJORS: u8 = 3;

impl ComputeCapability {
    /// `major.minor`, unchecked: a version that was never released behaves as the rules of its major say.
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// Every released compute capability, oldest first.
    pub fn known() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|&(major, minor)| Self { major, minor })
    }

    /// Whether this was released when this program was written.
    pub fn is_known(self) -> bool {
        Self::known().any(|known| known == self)
    }

    /// The newest released compute capability.
    pub fn newest() -> Self {
        let (major, minor) = KNOWN[KNOWN.len() - 1];
        Self { major, minor }
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}

/// The text names no compute capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseCapabilityError {
    /// What was written.
    pub given: String,
    /// The released compute capability that looks most like it.
    pub nearest: ComputeCapability,
}

impl fmt::Display for ParseCapabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a compute capability; did you mean `{}`?", self.given, self.nearest)
    }
}

impl std::error::Error for ParseCapabilityError {}

impl FromStr for ComputeCapability {
    type Err = ParseCapabilityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.trim().to_ascii_lowercase();
        let error = |nearest| ParseCapabilityError { given: text.trim().to_owned(), nearest };
        let Some((major, minor)) = version(&lower) else {
            return Err(error(nearest_by_spelling(&lower)));
        };
        let given = Self { major, minor };
        let newest = Self::newest();
        let beyond = given.major > newest.major + NEXT_MAJORS;
        if given.is_known() || given > newest && !beyond {
            return Ok(given);
        }
        Err(error(if beyond { nearest_by_spelling(&lower) } else { nearest_by_number(given) }))
    }
}

/// `(major, minor)` of a well-formed lower-case name, whether or not it was ever released.
fn version(text: &str) -> Option<(u8, u8)> {
    let number = ["sm_", "compute_", "sm", "cc_", "cc"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .map_or(text, str::trim_start);
    // `a` and `f` (architecture- and family-specific code) do not change shared memory.
    let number = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let (major, minor) = match number.split_once('.') {
        Some(parts) => parts,
        None => number.split_at_checked(number.len().checked_sub(1)?)?,
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten();
    Some((digits(major)?, digits(minor)?))
}

fn nearest_by_number(given: ComputeCapability) -> ComputeCapability {
    let number = |c: ComputeCapability| i32::from(c.major) * 10 + i32::from(c.minor);
    ComputeCapability::known()
        .min_by_key(|&known| (number(known) - number(given)).abs())
        .unwrap_or_else(ComputeCapability::newest)
}

fn nearest_by_spelling(given: &str) -> ComputeCapability {
    // A long text resembles nothing; this also bounds the work.
    let given: Vec<char> = given.chars().take(24).collect();
    let distance = |known: ComputeCapability| {
        let dotted = format!("{}.{}", known.major, known.minor);
        let bare = format!("{}{}", known.major, known.minor);
        let names = [known.to_string(), dotted, bare];
        names.iter().map(|name| edit_distance(&given, name)).min().unwrap_or(usize::MAX)
    };
    // Of equally near ones, the newest: more people mean it.
    KNOWN
        .iter()
        .rev()
        .map(|&(major, minor)| ComputeCapability { major, minor })
        .min_by_key(|&known| distance(known))
        .unwrap_or_else(ComputeCapability::newest)
}

/// Levenshtein distance.
fn edit_distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (slot, cb) in row.iter_mut().skip(1).zip(&b) {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = *slot;
            left = substituted.min(left + 1).min(*slot + 1);
            *slot = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// How wide the banks of a 3.x device are configured (`cudaDeviceSetSharedMemConfig`).
/// Every other device ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BankSize {
    /// `cudaSharedMemBankSizeFourByte`, the default.
    #[default]
    Four,
    /// `cudaSharedMemBankSizeEightByte`.
    Eight,
}

/// The hardware that a cost is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its compute capability.
    pub capability: ComputeCapability,
    /// Its bank size; only matters on 3.x.
    pub bank_size: BankSize,
}

/// Devices that serve requests by the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// 1.x: 16 banks of 4 bytes, half-warps, one broadcast word per step.
    Tesla,
    /// 2.x: 32 banks of 4 bytes, multicast.
    Fermi,
    /// 3.x, 4-byte mode: 32 banks of 4 bytes, each of which delivers 8 bytes per clock.
    KeplerFour,
    /// 3.x, 8-byte mode: 32 banks of 8 bytes.
    KeplerEight,
    /// 5.x and newer: 32 banks of 4 bytes, the pair rule for wide loads.
    Modern,
}

const KIB: u32 = 1024;

impl Target {
    /// The device of that compute capability with its default bank size.
    pub const fn new(capability: ComputeCapability) -> Self {
        Self { capability, bank_size: BankSize::Four }
    }

    /// By which rules the device serves requests.
    pub const fn family(&self) -> Family {
        match (self.capability.major, self.bank_size) {
            (0 | 1, _) => Family::Tesla,
            (2, _) => Family::Fermi,
            (3 | 4, BankSize::Four) => Family::KeplerFour,
            (3 | 4, BankSize::Eight) => Family::KeplerEight,
            _ => Family::Modern,
        }
    }

    /// Whether the lanes of a warp have a program counter each, so that one may run ahead of another: from 7.0
    /// on (CUDA C++ Programming Guide, "Independent Thread Scheduling").
    #[must_use]
    pub const fn has_independent_lanes(&self) -> bool {
        self.capability.major >= 7
    }

    /// The largest sum of `__shared__` declarations of one block, in bytes.
    pub const fn static_shared_limit(&self) -> u32 {
        match self.family() {
            Family::Tesla => 16 * KIB,
            _ => 48 * KIB,
        }
    }

    /// The most shared memory that one block can have, in bytes, when the kernel opts in with
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize` (possible on 7.0 and newer).
    pub const fn dynamic_shared_limit(&self) -> u32 {
        match (self.capability.major, self.capability.minor) {
            (0..=6, _) => self.static_shared_limit(),
            (7, 0..=4) => 96 * KIB,
            (7, _) => 64 * KIB,
            (8, 0..=5 | 7) => 163 * KIB,
            (8, _) => 99 * KIB,
            (9..=11, _) => 227 * KIB,
            _ => 99 * KIB,
        }
    }

    /// How many banks the device has.
    pub const fn banks(&self) -> u32 {
        match self.family() {
            Family::Tesla => 16,
            _ => 32,
        }
    }

    /// The width of a bank in bytes.
    pub const fn bank_bytes(&self) -> u32 {
        match self.family() {
            Family::KeplerEight => 8,
            _ => 4,
        }
    }

    /// The bank that holds the byte at `address`, counted from a multiple of [`super::period_bytes`].
    pub const fn bank_of(&self, address: i64) -> u32 {
        address.div_euclid(self.bank_bytes() as i64).rem_euclid(self.banks() as i64) as u32
    }
}

impl From<ComputeCapability> for Target {
    fn from(capability: ComputeCapability) -> Self {
        Self::new(capability)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.capability)?;
        if self.family() == Family::KeplerEight {
            f.write_str(" with 8-byte banks")?;
        }
        Ok(())
    }
}
