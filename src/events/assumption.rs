//! What is assumed?
//!
//! Each assumption has a code for programs and words for people. A fact names the assumptions that it rests on, so
//! that a conclusion can avoid those that it must not use: "no index leaves its array" must not help to judge whether
//! one does.

use super::{Blocks, Roots};
use std::fmt::{Display, Formatter};
use std::sync::Arc;

/// Something that is taken for granted, by the evaluator or by a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A bounds guard lets every thread in, as in a block in the middle of the data.
    InsideBounds {
        /// The names of the numbers that give the bound, as a list in words.
        bounds: Arc<str>,
        /// The numbers that those are made of, if these are known.
        roots: Option<Roots>,
        /// Whether the guard does not look at the block's number, so that it may cut any block short.
        own: bool,
        /// Whether all threads agree on it.
        uniform: bool,
        /// Whether there surely are such blocks: the numbers may be as large as one likes, or all threads
        /// agree on the guard. Of the least of two numbers that is not known.
        possible: bool,
        /// Otherwise, whether there are for some data: numbers that are read from memory may be as large.
        for_data: bool,
    },
    /// A guard against a loop's counter alone lets every thread in.
    UsualIteration {
        /// As in [`Assumption::InsideBounds`].
        own: bool,
        /// Likewise.
        possible: bool,
    },
    /// A guard against the block's number alone lets every thread in.
    UsualBlock {
        /// As in [`Assumption::InsideBounds`].
        uniform: bool,
        /// Likewise.
        possible: bool,
        /// The blocks of which it surely lets all threads in.
        blocks: Blocks,
        /// Whether the bound is the number of blocks, and does not look at which block it is: in the first round it
        /// lets every thread in, where there are as many.
        of_grid: bool,
    },
    /// A loop whose bound is not known goes on until an index leaves its array.
    RunsOn {
        /// The variable that changes from round to round.
        variable: Arc<str>,
    },
    /// A variable has this value where a loop begins, since no index leaves its array then.
    BeginsAt {
        /// The variable.
        variable: Arc<str>,
        /// Its value.
        value: i64,
        /// Why this one.
        why: &'static str,
    },
    /// A number given at run time is the most that the arrays of a later loop allow.
    AtMost {
        /// The number, by name.
        name: Arc<str>,
        /// The most.
        value: i64,
    },
    /// Text that did not parse changes nothing that matters here.
    DamageIsHarmless,
    /// What an asynchronous copy reads, and what it writes to if `both`, begins at a multiple of 128 bytes.
    CopyAligned {
        /// Whether that is said of the array that it writes to as well.
        both: bool,
    },
    /// Rows of global memory lie apart by multiples of 128 bytes.
    RowsAligned {
        /// The number that sets them apart, by name.
        name: Arc<str>,
    },
    /// Numbers given at run time are not negative.
    NotNegative {
        /// Their names.
        names: Arc<[String]>,
    },
    /// A stride given at run time is not 0.
    NotZero {
        /// Its name.
        name: Arc<str>,
    },
    /// The compiler joins neighbouring accesses of a thread into one.
    Joined {
        /// Bytes of the one.
        bytes: u32,
        /// Whether other accesses of the same expression are not combined.
        partly: bool,
    },
    /// Neighbouring accesses are counted separately, although the compiler may combine them into a wider one.
    NotJoined {
        /// Bytes of the wider one.
        bytes: u32,
        /// Whether they are joined accesses already.
        again: bool,
    },
    /// What is read is in a register, so that there is no request.
    InRegister,
    /// What is read is read again in other rounds of a loop, so that each is a request.
    ReadAgain,
    /// What is written is overwritten before it is read, so that there is no request.
    LeftOut,
    /// A shift by its width or more gives what the instruction makes of it, which C++ does not say.
    ShiftClamps,
    /// One lane does an atomic for its warp.
    OneLaneForWarp,
    /// A loop of unknown length runs often enough to meet the banks evenly.
    MeetsBanksEvenly,
    /// No choice of the lanes that may be active conflicts.
    AnyLanes,
    /// Every lane that may be active is.
    EveryLane {
        /// Why it is not known which are.
        why: Arc<str>,
    },
    /// A number given at run time has the value that conflicts least.
    LeastConflict {
        /// That value, as a condition.
        when: Arc<str>,
    },
    /// The block has this shape, which nobody gave, or which a doubtful launch gave.
    Block {
        /// Which, and where it is from.
        words: Arc<str>,
    },
    /// What both sides of a condition ask for is counted, of which a block takes one.
    BothSides,
    /// Accesses on both sides of a condition are counted separately, although the compiler may merge them.
    SidesApart {
        /// Whether they are stores.
        store: bool,
    },
    /// An access is counted, although the compiler may save it because its place was accessed before.
    NotSaved {
        /// Whether it is a store.
        store: bool,
    },
    /// A load is counted where it stands, although the compiler may put it where its value is used.
    NotSunk {
        /// Whether its value is used at all.
        used: bool,
    },
    /// An object is read as a whole, although the compiler may read only the parts of it that are used.
    UsedWhole,
    /// A loop has more rounds than are run one by one: one of them stands for all.
    CutShort,
    /// A function of a library that is not at hand does what its known releases do.
    LibraryWorks {
        /// The function, and the releases.
        words: Arc<str>,
    },
    /// A call operator that is not visible leaves the variables that it is given as they are: `view(i) = x`.
    KeepsIndex {
        /// The variable.
        name: Arc<str>,
    },
    /// A function that is not visible and gives a result reads what it is given once, where it is called.
    ReadsOnce {
        /// The function, in words.
        callee: Arc<str>,
    },
    /// A type has one of these sizes, and it is the same for each.
    AnySize {
        /// The type.
        name: Arc<str>,
        /// Bytes.
        sizes: Arc<[u32]>,
    },
    /// A type has this size, and others give no other verdict.
    ElementSize {
        /// The type.
        name: Arc<str>,
        /// Bytes.
        bytes: u32,
        /// The sizes that were tried besides.
        others: Arc<[u32]>,
        /// Whether there are conflicts.
        conflicts: bool,
    },
}

impl Assumption {
    /// The name by which programs know it; it stays what it is.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Assumption::InsideBounds { .. } => "inside-bounds",
            Assumption::UsualIteration { .. } => "usual-iteration",
            Assumption::UsualBlock { .. } => "usual-block",
            Assumption::RunsOn { .. } => "runs-on",
            Assumption::BeginsAt { .. } => "begins-at",
            Assumption::AtMost { .. } => "at-most",
            Assumption::DamageIsHarmless => "damage-is-harmless",
            Assumption::CopyAligned { .. } => "copy-aligned",
            Assumption::RowsAligned { .. } => "rows-aligned",
            Assumption::NotNegative { .. } => "not-negative",
            Assumption::NotZero { .. } => "not-zero",
            Assumption::Joined { .. } => "joined",
            Assumption::NotJoined { .. } => "not-joined",
            Assumption::InRegister => "in-register",
            Assumption::ReadAgain => "read-again",
            Assumption::LeftOut => "left-out",
            Assumption::ShiftClamps => "shift-clamps",
            Assumption::OneLaneForWarp => "one-lane-for-warp",
            Assumption::MeetsBanksEvenly => "meets-banks-evenly",
            Assumption::AnyLanes => "any-lanes",
            Assumption::EveryLane { .. } => "every-lane",
            Assumption::LeastConflict { .. } => "least-conflict",
            Assumption::Block { .. } => "block",
            Assumption::BothSides => "both-sides",
            Assumption::SidesApart { .. } => "sides-apart",
            Assumption::NotSaved { .. } => "not-saved",
            Assumption::NotSunk { .. } => "not-sunk",
            Assumption::UsedWhole => "used-whole",
            Assumption::CutShort => "cut-short",
            Assumption::LibraryWorks { .. } => "library-works",
            Assumption::KeepsIndex { .. } => "keeps-index",
            Assumption::ReadsOnce { .. } => "reads-once",
            Assumption::AnySize { .. } => "any-size",
            Assumption::ElementSize { .. } => "element-size",
        }
    }

    /// Whether both are put in the same words.
    #[must_use]
    pub fn reads_like(&self, other: &Assumption) -> bool {
        use Assumption::{InsideBounds, UsualBlock, UsualIteration};
        match (self, other) {
            (InsideBounds { bounds: one, .. }, InsideBounds { bounds: other, .. }) => one == other,
            (UsualIteration { .. }, UsualIteration { .. }) | (UsualBlock { .. }, UsualBlock { .. }) => true,
            _ => self == other,
        }
    }

    /// Whether there is a block, or a size, with which some threads of a block do otherwise than the others.
    #[must_use]
    pub fn holds_off_the_edge(&self) -> bool {
        matches!(self, Assumption::UsualBlock { .. } | Assumption::InsideBounds { uniform: false, .. })
    }

    /// Whether it rests on a bound that any block may be cut short by: with `threadIdx.x < n`, only as many
    /// threads run as `n` says. What also depends on the block's number holds in an interior block.
    #[must_use]
    pub fn may_cut_short(&self) -> bool {
        matches!(
            self,
            Assumption::InsideBounds { own: true, .. } | Assumption::UsualIteration { own: true, .. }
        )
    }
}

/// The most names in one sentence.
const MOST_NAMES: usize = 5;

/// `a`, `a or b`, `a, b or c`
fn listed(words: &[String], last: &str) -> String {
    match words {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        _ => words.concat(),
    }
}

/// `1, 2 or 4`
fn numbers(list: &[u32]) -> String {
    listed(&list.iter().map(u32::to_string).collect::<Vec<String>>(), "or")
}

fn not_negative(out: &mut Formatter<'_>, names: &[String]) -> std::fmt::Result {
    match names {
        [one] => write!(out, "{one} is not negative"),
        many if many.len() <= MOST_NAMES => write!(out, "{} are not negative", listed(many, "and")),
        many => {
            let (shown, rest) = many.split_at(MOST_NAMES - 1);
            write!(out, "{} and {} more numbers are not negative", shown.join(", "), rest.len())
        }
    }
}

fn not_joined(out: &mut Formatter<'_>, bytes: u32, again: bool) -> std::fmt::Result {
    let what = if again { "wider accesses" } else { "accesses of a thread" };
    let may = format!("the compiler may combine them into one of {bytes} bytes");
    write!(out, "neighbouring {what} are counted separately, although {may}")
}

const BOTH_ALIGNED: &str = "the source and the destination of the copy start at multiples of 128 bytes";
const SOURCE_ALIGNED: &str = "the source of the copy starts at a multiple of 128 bytes";
const IN_REGISTER: &str = "its value is in a register, because it was read or written just before";
const READ_AGAIN: &str =
    "the compiler does not unroll the loop around it, so each iteration reads again what others read";
const LOADED_AGAIN: &str =
    "the load is counted, although the compiler may still have the value in a register";
const STORES_APART: &str = "stores to one place are counted separately, although the compiler may merge them";
const LOADED_ON_SIDES: &str = "the loads on both sides of a condition are counted separately, although the compiler \
                               may select the address and load once";
const STORED_ON_SIDES: &str = "the stores on both sides of a condition are counted separately, although the compiler \
                               may store once";
const LOADED_EARLY: &str = "the load is counted for all lanes that come to it, although the compiler may load only in \
                            those that use the value";
const LOADED_WHOLE: &str =
    "the whole object is counted, although the compiler may load only the parts of it that are used";
const LOADED_FOR_NOTHING: &str =
    "the load is counted, although its value is not used and the compiler may leave it out";
const LEFT_OUT: &str = "the compiler leaves it out, because the place is written again before it is read";

/// What is counted although the compiler may do with less.
fn counted_anyway(assumption: &Assumption) -> &'static str {
    match assumption {
        Assumption::NotSaved { store: true } => STORES_APART,
        Assumption::SidesApart { store: true } => STORED_ON_SIDES,
        Assumption::SidesApart { store: false } => LOADED_ON_SIDES,
        Assumption::NotSunk { used: true } => LOADED_EARLY,
        Assumption::NotSunk { used: false } => LOADED_FOR_NOTHING,
        Assumption::UsedWhole => LOADED_WHOLE,
        _ => LOADED_AGAIN,
    }
}

impl Display for Assumption {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Assumption::InsideBounds { bounds, .. } => {
                write!(out, "the block is fully inside the bounds set by {bounds}")
            }
            Assumption::UsualIteration { .. } => {
                out.write_str("the last iteration of a loop is like the others")
            }
            Assumption::UsualBlock { .. } => out.write_str("the block is not at the edge of the grid"),
            Assumption::RunsOn { variable } => write!(
                out,
                "the loop runs until an index would leave its array, for every value of `{variable}`"
            ),
            Assumption::BeginsAt { variable, value, why } => {
                write!(out, "`{variable}` is {value} when the loop begins, {why}")
            }
            Assumption::AtMost { name, value } => {
                write!(out, "`{name}` is {value}, the most that a later loop and its arrays allow")
            }
            Assumption::DamageIsHarmless => {
                out.write_str("the statement before it, which did not parse, changes nothing here")
            }
            Assumption::CopyAligned { both: true } => out.write_str(BOTH_ALIGNED),
            Assumption::CopyAligned { both: false } => out.write_str(SOURCE_ALIGNED),
            Assumption::RowsAligned { name } => {
                write!(out, "`{name}` makes the row pitch in global memory a multiple of 128 bytes")
            }
            Assumption::NotNegative { names } => not_negative(out, names),
            Assumption::NotZero { name } => write!(out, "`{name}` is not 0"),
            Assumption::Joined { bytes, partly } => {
                let some = if *partly { "some " } else { "" };
                write!(
                    out,
                    "the compiler combines {some}neighbouring accesses of a thread into one of {bytes} bytes"
                )
            }
            Assumption::NotJoined { bytes, again } => not_joined(out, *bytes, *again),
            Assumption::InRegister => out.write_str(IN_REGISTER),
            Assumption::ReadAgain => out.write_str(READ_AGAIN),
            Assumption::LeftOut => out.write_str(LEFT_OUT),
            Assumption::ShiftClamps => out.write_str(
                "a shift by the width of its type or more shifts out every bit, as the instruction does",
            ),
            Assumption::OneLaneForWarp => out.write_str(
                "the compiler sees that all lanes update one word, and lets one lane do it for the warp",
            ),
            Assumption::MeetsBanksEvenly => {
                out.write_str("the loop runs often enough to hit all banks evenly")
            }
            Assumption::AnyLanes => out.write_str(
                "every lane that may be active is counted; whichever of them are, they do not conflict",
            ),
            Assumption::EveryLane { why } => {
                write!(out, "every lane that may be active is; data decide which ones are ({why})")
            }
            Assumption::LeastConflict { when } => write!(out, "{when}, which conflicts least"),
            Assumption::BothSides => {
                out.write_str("both sides of a condition are counted, though a block takes one")
            }
            Assumption::NotSaved { .. }
            | Assumption::SidesApart { .. }
            | Assumption::NotSunk { .. }
            | Assumption::UsedWhole => out.write_str(counted_anyway(self)),
            Assumption::CutShort => {
                out.write_str("the iterations of a loop are alike: to run them all takes too many steps")
            }
            Assumption::Block { words } | Assumption::LibraryWorks { words } => out.write_str(words),
            Assumption::KeepsIndex { name } => {
                write!(out, "`operator()`, whose body is not visible, does not change `{name}`")
            }
            Assumption::ReadsOnce { callee } => write!(out, "{callee} reads it once"),
            Assumption::AnySize { name, sizes } => {
                write!(out, "`{name}` has {} bytes", numbers(sizes))
            }
            Assumption::ElementSize { name, bytes, others, conflicts } => {
                let others: Vec<String> = others.iter().map(ToString::to_string).collect();
                let verdict =
                    if *conflicts { "there are conflicts too" } else { "there is no conflict either" };
                write!(out, "`{name}` is {bytes} bytes; with {} {verdict}", listed(&others, "or"))
            }
        }
    }
}
