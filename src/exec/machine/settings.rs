//! What is a run made to do, and how hard does it try?

use super::pitch::Pitch;
use crate::domain::SymbolId;
use crate::events::Covers;
use crate::exec::types::Ty;
use crate::ir::Name;
use crate::source::Span;

/// What a run is made to do.
pub struct Settings {
    /// What the run is made to see.
    pub aim: Aim,
    /// How hard it is tried to get to the end.
    pub effort: Effort,
    /// The longest loop that is run for real.
    pub longest: u64,
    /// The longest that is when most of the budget is spent.
    pub longest_at_last: u64,
    /// Rows of shared arrays to be padded: name span of the declaration, extra elements.
    pub pads: Vec<(Span, u64)>,
    /// As in [`Setting::longer`](crate::exec::entry::Setting::longer).
    pub longer: Vec<(usize, u64)>,
    /// The distance between an array's rows, where it is changed or watched.
    pub pitch: Option<Box<Pitch>>,
    /// What symbols are taken to be modulo a number.
    pub residues: Vec<(String, i64, i64)>,
    /// What member types of unknown classes are taken to be: `T::value_type`.
    pub member_types: Vec<(Name, Ty)>,
    /// As in [`Setting::most`](crate::exec::entry::Setting::most).
    pub most: Vec<(String, i64)>,
    /// As in [`Setting::powers`](crate::exec::entry::Setting::powers).
    pub powers: Vec<(String, i64)>,
    /// As in [`Setting::covers`](crate::exec::entry::Setting::covers).
    pub covers: Vec<(String, Covers)>,
    /// As in [`Setting::grid`](crate::exec::entry::Setting::grid).
    pub grid: [Option<i64>; 3],
    /// As in [`Setting::most_blocks`](crate::exec::entry::Setting::most_blocks).
    pub most_blocks: [Option<i64>; 3],
    /// As in [`Setting::flat`](crate::exec::entry::Setting::flat).
    pub flat: [bool; 3],
    /// What assertions may say of how large numbers given at run time are.
    pub asserted: Asserted,
}

/// Of which numbers assertions may say how large they are.
#[derive(Clone, Debug, Default)]
pub struct Asserted {
    /// Whether that may be any.
    pub any: bool,
    /// These, and what is made of them.
    pub of: Vec<SymbolId>,
}

impl Settings {
    /// By how much what stands at an address of the program is tried larger.
    pub fn longer_by<T>(&self, what: &T) -> Option<i64> {
        let address = std::ptr::from_ref(what).addr();
        let (_, extra) = self.longer.iter().find(|(at, _)| *at == address)?;
        i64::try_from(*extra).ok()
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let (longest, longest_at_last) = Effort::Whole.loop_lengths()[0];
        Settings {
            aim: Aim::Usual,
            effort: Effort::Whole,
            longest,
            longest_at_last,
            pads: Vec::new(),
            longer: Vec::new(),
            pitch: None,
            residues: Vec::new(),
            member_types: Vec::new(),
            most: Vec::new(),
            powers: Vec::new(),
            covers: Vec::new(),
            grid: [None; 3],
            most_blocks: [None; 3],
            flat: [false; 3],
            asserted: Asserted::default(),
        }
    }
}

/// Whether device or host code is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A kernel, by a block of threads.
    Device,
    /// Host code, by one thread, to see its launches.
    Host,
}

/// What a run is made to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Shared memory and barriers.
    Usual,
    /// The same, as long as no second thread coordinate is used.
    Flat,
    /// By which intrinsics the lanes of a warp meet, too.
    Lanes,
    /// The same as usual, and what is done to global memory under a name.
    Memory,
}

/// The longest loop that is run for real, and the longest when the budget is nearly spent. When the
/// budget runs out, the run is tried again with shorter ones, whose remaining iterations are run all
/// at once.
const LOOP_LENGTHS: [(u64, u64); 5] = [(1100, 8), (72, 8), (12, 8), (1100, 2), (2, 2)];

/// How hard it is tried to get to the end of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// With long loops first, then with shorter ones.
    Whole,
    /// With the shortest loops at once.
    Short,
    /// So, and with a part of the budget.
    Least,
}

impl Effort {
    /// The lengths of loops to try, as in [`LOOP_LENGTHS`].
    pub(crate) const fn loop_lengths(self) -> &'static [(u64, u64)] {
        match self {
            Effort::Whole => &LOOP_LENGTHS,
            Effort::Short | Effort::Least => LOOP_LENGTHS.split_at(LOOP_LENGTHS.len() - 1).1,
        }
    }
}
