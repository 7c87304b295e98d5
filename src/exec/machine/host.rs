//! What does a run of host code keep besides?

use super::ways::{Claim, Ways};
use crate::domain::{Int, SymbolId};
use crate::exec::value::{Condition, ObjectId};
use crate::ir::namespace::Namespace;
use crate::ir::{BinaryOp, LocalId, Name, Path};
use crate::slice::effects::{Effects, OfEach};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// What the text of a program tells, worked out when a run of its host code first asks for it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What the functions of each name change themselves.
    pub of_each: OfEach,
    /// What functions of some names may change, with all that they call.
    pub effects: FxHashMap<Vec<Name>, Rc<Effects>>,
    /// The same of what runs before `main`.
    pub before_main: Option<Rc<Effects>>,
    /// Functions without a written call that unmodelled text may run, and the variables it names.
    pub unfollowed: Option<Rc<(Vec<Name>, Vec<Name>)>>,
    /// Names of variables, and whether an address of them is ever handed on.
    pub escaped: FxHashMap<Name, bool>,
    /// Names of variables, and whether the program ever changes them.
    pub written: FxHashMap<Name, bool>,
}

/// A file-scope variable that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct LookedAt {
    pub slot: LocalId,
    /// Whether code that is not seen may change it.
    pub is_open: bool,
    /// Whether its address is handed on, or a reference to it.
    pub escapes: bool,
}

/// What a run of host code keeps besides the machine's own.
#[derive(Default)]
pub(crate) struct Host {
    /// Functions that lead to a launch.
    pub launching: Rc<FxHashSet<Name>>,
    /// Symbols that are made of other numbers.
    pub made: FxHashMap<SymbolId, Made>,
    /// The conditions that make choices.
    pub conditions: FxHashMap<SymbolId, Condition>,
    /// What was asked on sides of choices.
    pub implied: FxHashMap<(SymbolId, bool), Vec<Implied>>,
    /// How many of them there are.
    pub implied_in_all: usize,
    /// Whether the conditions can hold together on ways that were asked about.
    pub ways: RefCell<Ways>,
    /// File-scope variables, by namespace and name: their slot in the outermost frame.
    pub globals: FxHashMap<(Namespace, Name), u32>,
    /// The first slot of `static` variables of functions there; above 0 once there are slots.
    pub first_static: usize,
    /// Of each of those the function, where it is declared, and what the template parameters stand for.
    pub statics: Vec<(Name, Span, String)>,
    /// What the text tells, for all runs.
    pub told: Rc<RefCell<Told>>,
    /// The file-scope variables that were looked at.
    pub looked_at: Vec<LookedAt>,
    /// The slots of what was lost where functions of these names may have run.
    pub lost: FxHashMap<Vec<Name>, Rc<[u32]>>,
    /// Whether code of another file ran.
    pub has_left: bool,
    /// Whether something was written through a pointer or a reference that is not followed.
    pub has_written_behind: bool,
    /// The names of file-scope variables that code may have changed which is not run.
    pub changed: FxHashSet<Name>,
    /// The names of the functions that may have run.
    pub may_have_run: FxHashSet<Name>,
    /// Those of the file-scope variables that are arrays which nothing is known of.
    pub arrays: FxHashMap<(Namespace, Name), ObjectId>,
    /// How often memory was written to.
    pub writes: u32,
    /// How often something that is not followed was handed an address in an object.
    pub handed_over: FxHashMap<ObjectId, u32>,
    /// Kernels of which one is chosen at run time; named by a path that is not an identifier.
    pub kernels: FxHashMap<Name, Vec<ChosenKernel>>,
    /// Loops that lead to a launch, by their place.
    pub reaching: FxHashMap<Span, bool>,
    /// Loops around that lead to no launch.
    pub idle_loops: u32,
    /// Loops around.
    pub open_loops: u32,
    /// Numbers that were held against some that are not known.
    pub asked: FxHashSet<i64>,
    /// `try` blocks around, in which what is thrown may be caught.
    pub tries: u32,
    /// Whether the run is to be short, as those of other functions were long.
    pub is_short: bool,
    /// Whether a way that the numbers refute goes on, without what was asked of them.
    pub lenient: bool,
    /// Whether a way was left because the numbers refute it, so that launches may be missing.
    pub cut: bool,
    /// Whether a shape that is known on one of two ways was taken to be it on both.
    pub guessed: bool,
    /// What stands for the size of a warp, where host code reads it from a member of the program's own.
    pub warp_size: Option<SymbolId>,
}

/// What was asked on a side of a choice, and so holds where the choice goes that way.
#[derive(Clone, Debug)]
pub(crate) struct Implied {
    /// What was asked before the choice: it is not made elsewhere.
    pub context: Rc<[Claim]>,
    pub asked: Rc<[Claim]>,
}

/// A kernel that may be launched, and which way the choices went that lead to it.
#[derive(Clone, Debug)]
pub(crate) struct ChosenKernel {
    pub path: Path,
    pub way: Vec<(SymbolId, bool)>,
}

/// A number that is made of two others.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub how: How,
    pub x: Int,
    pub y: Int,
    /// How deeply operators on such numbers are nested, each of which needs both operands.
    pub depth: u32,
    /// The same, with choices counted too, each of which needs one side.
    pub length: u32,
    /// The choices on which it depends, ascending; `None` if they are many.
    pub choices: Option<Rc<[SymbolId]>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// `x` when the choice is 1, `y` when it is 0.
    Either(SymbolId),
    /// By an operator that is not linear.
    Operation(BinaryOp),
    Min,
    Max,
}
