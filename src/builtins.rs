//! What is known of the names that CUDA defines?
//!
//! One [`table`] of functions says what each is ([`Kind`]), whether the compiler may compute it like
//! any sum, and whether a macro may take its name. Whoever meets a name asks here; what is done with it
//! is theirs. A function of the program's own may have such a name, too: that is for the asker to see.

pub(crate) mod by_value;
mod coordinate;
mod group;
mod lanes;
pub(crate) mod maths;
pub(crate) mod ptx;
mod table;
pub(crate) mod types;

pub(crate) use coordinate::Coordinate;
pub(crate) use group::GroupMember;
pub(crate) use lanes::{lane_form, says_lanes};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Waits for the block: `__syncthreads()`.
    BlockBarrier,
    /// The same, and combines a value of all its threads.
    BlockVote,
    /// Waits at a barrier by number.
    NamedBarrier,
    /// Waits for the group that is its argument, if that is one.
    GroupBarrier,
    /// Waits for the lanes of a warp.
    WarpBarrier,
    /// Orders accesses.
    Fence,
    /// The same with a memory order and a scope.
    AtomicFence,
    /// Hands values from lane to lane.
    Shuffle,
    /// Combines a value of all lanes, or tells which there are.
    Vote,
    /// Reads, changes and writes a place at once.
    Atomic,
    /// The group of the block's threads.
    ThisBlock,
    /// The group of the grid's threads.
    ThisGrid,
    /// A part of a group.
    Partition,
    /// Reads what its argument points to.
    CachedLoad,
    /// The address of a place in shared memory, as a number.
    SharedAddress,
    /// Copies into shared memory without waiting.
    AsyncCopy,
    /// Puts the copies begun into a group.
    CopyGroup,
    /// Waits for all groups of copies but so many.
    CopyWait,
    /// The same in a stage of a `cuda::pipeline`: `cuda::memcpy_async`.
    CopyInStage,
    /// Makes a `cuda::pipeline`.
    MakePipeline,
    /// Waits for all stages of a `cuda::pipeline` but so many.
    StageWait,
    /// Says for how many threads a `cuda::barrier` waits.
    InitBarrier,
    /// Reads a tile of a matrix.
    FragmentLoad,
    /// Writes one.
    FragmentStore,
    /// Multiplies some, which lie in the registers of all lanes.
    FragmentProduct,
    /// Ends the program if its argument is false.
    Assert,
    /// Writes text.
    Print,
    /// Ends the threads that come to it.
    Trap,
    /// Ends the program of the host.
    ProgramEnd,
    /// Launches a kernel.
    Launch,
    /// The same in a way that is not followed.
    OtherLaunch,
    /// Says how wide the banks are.
    BankSize,
    /// Does nothing that matters here.
    Nothing,
    /// Its first argument.
    Same,
    /// Computes from so many arguments, and stores results where those that follow point.
    Results(usize),
    /// Swaps two places.
    Swap,
    /// The lesser or greater of two numbers.
    Extremum,
    /// The absolute value.
    Absolute,
    /// The product of two numbers.
    Product,
    /// Counts bits.
    Bits,
    /// Computes an integer of integers in another way.
    Whole,
    /// Rounds down to an integer.
    FloorToInt,
    /// Rounds up.
    Ceiling,
    /// Rounds down.
    Floor,
    /// A vector of its arguments.
    Vector,
    /// Computes a number, which is not followed.
    Arithmetic,
    /// Prepares what a generator of random numbers keeps, or draws from it: it touches its arguments alone.
    Generator,
    /// Only known to be there.
    Other,
}

/// How a function's result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// In another way.
    Other,
    /// Of its arguments alone; it may be passed over where its result is not needed.
    Computed,
    /// Likewise, but of the arguments of other lanes besides.
    Moved,
    /// Likewise, but of the time at which it is called.
    Timed,
    /// Of its arguments alone, and nothing else is known of it.
    Repeatable,
}

/// The branches that the compiler puts into an operation. Each kind keeps it from moving more than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InnerBranches {
    /// None.
    #[default]
    None,
    /// Around a few instructions: stores are not moved over it.
    Skips,
    /// To a function for rare operands: nor are loads.
    Calls,
}

/// A function, or all whose names begin alike.
#[derive(Clone, Copy, Debug)]
struct Builtin {
    name: &'static str,
    family: bool,
    kind: Kind,
    outcome: Outcome,
    owned: bool,
    branches: InnerBranches,
}

impl Builtin {
    const fn new(name: &'static str, family: bool, kind: Kind) -> Builtin {
        Builtin { name, family, kind, outcome: Outcome::Other, owned: false, branches: InnerBranches::None }
    }

    /// Does nothing but compute a value of its arguments.
    const fn computing(self) -> Builtin {
        Builtin { outcome: Outcome::Computed, ..self }
    }

    /// The same with arguments of other lanes.
    const fn moving_data(self) -> Builtin {
        Builtin { outcome: Outcome::Moved, ..self }
    }

    /// The same with the time.
    const fn timing(self) -> Builtin {
        Builtin { outcome: Outcome::Timed, ..self }
    }

    /// Gives equal results for equal arguments.
    const fn repeatable(self) -> Builtin {
        Builtin { outcome: Outcome::Repeatable, ..self }
    }

    /// Skips some of its instructions for some operands.
    const fn skipping(self) -> Builtin {
        Builtin { branches: InnerBranches::Skips, ..self }
    }

    /// Calls a function for rare operands.
    const fn calling(self) -> Builtin {
        Builtin { branches: InnerBranches::Calls, ..self }
    }

    /// No macro takes its name.
    const fn owned(self) -> Builtin {
        Builtin { owned: true, ..self }
    }
}

fn find(name: &str) -> Option<&'static Builtin> {
    static WHOLE: OnceLock<FxHashMap<&'static str, &'static Builtin>> = OnceLock::new();
    static FAMILIES: OnceLock<FxHashMap<u8, Vec<&'static Builtin>>> = OnceLock::new();
    let whole =
        WHOLE.get_or_init(|| table::TABLE.iter().filter(|it| !it.family).map(|it| (it.name, it)).collect());
    let families = FAMILIES.get_or_init(|| {
        let mut families: FxHashMap<u8, Vec<&'static Builtin>> = FxHashMap::default();
        for family in table::TABLE.iter().filter(|it| it.family) {
            families.entry(family.name.bytes().next().unwrap_or_default()).or_default().push(family);
        }
        families
    });
    let of_family = || {
        let families = families.get(name.as_bytes().first()?)?;
        families.iter().find(|it| name.starts_with(it.name))
    };
    whole.get(name).or_else(of_family).copied()
}

/// What the function of this name is, if CUDA defines one.
#[must_use]
pub(crate) fn kind(name: &str) -> Option<Kind> {
    find(name).map(|builtin| builtin.kind)
}

/// Whether it does nothing but compute a value of its arguments, of whatever lanes, or of the time.
#[must_use]
pub(crate) fn only_computes(name: &str) -> bool {
    find(name)
        .is_some_and(|builtin| matches!(builtin.outcome, Outcome::Computed | Outcome::Moved | Outcome::Timed))
}

/// Whether it tells the time.
#[must_use]
pub(crate) fn tells_time(name: &str) -> bool {
    find(name).is_some_and(|builtin| builtin.outcome == Outcome::Timed)
}

/// Whether it gives equal results for equal arguments, in all lanes.
#[must_use]
pub(crate) fn is_repeatable(name: &str) -> bool {
    find(name).is_some_and(|builtin| matches!(builtin.outcome, Outcome::Computed | Outcome::Repeatable))
}

/// The branches in a function; `of_floats`: whether its arguments are `float`, for which C++ takes the one with an `f`.
#[must_use]
pub(crate) fn inner_branches(name: &str, of_floats: bool) -> InnerBranches {
    let float = || find(&format!("{name}f")).filter(|it| !it.family);
    let found = find(name).map(|own| if of_floats { float().unwrap_or(own) } else { own });
    found.map_or(InnerBranches::None, |it| it.branches)
}

/// Whether only CUDA and compilers define functions of such a name.
#[must_use]
pub(crate) fn is_reserved(name: &str) -> bool {
    name.starts_with("__")
}

/// Whether CUDA gives the name its meaning, whatever macros of that name there are.
#[must_use]
pub(crate) fn is_owned(name: &str) -> bool {
    Coordinate::of(name).is_some() || find(name).is_some_and(|builtin| builtin.owned)
}

/// The names of functions of these kinds.
#[cfg(test)]
pub(crate) fn names(kinds: &[Kind]) -> Vec<&'static str> {
    table::TABLE.iter().filter(|it| !it.family && kinds.contains(&it.kind)).map(|it| it.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_in_the_table_once() {
        let mut names: Vec<_> = table::TABLE.iter().map(|it| (it.family, it.name)).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_name_goes_before_its_family() {
        assert_eq!(kind("__syncthreads_or"), Some(Kind::BlockVote));
        assert_eq!(kind("__float2int_rd"), Some(Kind::FloorToInt));
        assert_eq!(kind("__float2half"), Some(Kind::Arithmetic));
        assert_eq!(kind("tile"), None);
    }

    #[test]
    fn what_lanes_hand_each_other_is_not_repeatable() {
        assert!(only_computes("__shfl_xor_sync") && !is_repeatable("__shfl_xor_sync"));
        assert!(only_computes("fmaf") && is_repeatable("fmaf"));
        assert!(!only_computes("__brev") && is_repeatable("__brev"));
        assert!(!only_computes("atomicAdd") && !is_repeatable("__ballot_sync"));
    }
}
