//! What do names stand for, as far as it was looked up?

use super::memo::Memo;
use super::state::{Frame, empty_frame};
use crate::exec::value::{Env, Ty};
use crate::ir::{Alias, Expr, Lambda, Name};
use crate::slice::{Given, Slice};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// What names stand for, as far as it was looked up.
pub struct Lookups {
    /// What was looked up so far.
    pub memo: Memo,
    /// A frame without variables.
    pub blank: Frame,
    /// Whether the type that is looked up is wanted with `const` and `volatile`.
    pub keeps_qualifiers: bool,
    /// Records already laid out, by name and place, with what their parameters stood for.
    pub layouts: FxHashMap<(Name, Span), Layouts>,
    /// What bears on the requests of the functions run so far, by their address.
    pub slices: FxHashMap<(usize, Given), Rc<Slice>>,
    /// Depth of type and constant lookups.
    pub depth: usize,
    /// Lookups since the outermost one that is under way.
    pub within: u32,
    /// How often a lookup found what it would not find at another moment.
    pub momentary: u64,
    /// How often a lookup came to a typedef whose meaning is being looked up, and passed it over.
    pub passed_over: u64,
    /// Typedefs of the running method's class whose meaning is being looked up.
    pub own_aliases: Vec<Name>,
    /// The expressions whose types are being told, one within another.
    pub typed_depth: u32,
    /// How many were, within the outermost one.
    pub typed: u32,
    /// How many frames there are where the outermost one stands.
    pub typed_frames: usize,
    /// Types that were told in that frame, of expressions that call functions, by where these start and end.
    pub typed_calls: FxHashMap<(u32, u32), Vec<(Expr, Ty)>>,
    /// Aliases of a file or namespace, without parameters, whose meaning is being looked up.
    pub aliases: Vec<Arc<Alias>>,
}

impl Default for Lookups {
    fn default() -> Lookups {
        Lookups {
            memo: Memo::default(),
            blank: empty_frame(),
            keeps_qualifiers: false,
            layouts: FxHashMap::default(),
            slices: FxHashMap::default(),
            depth: 0,
            within: 0,
            momentary: 0,
            passed_over: 0,
            own_aliases: Vec::new(),
            typed_depth: 0,
            typed: 0,
            typed_frames: 0,
            typed_calls: FxHashMap::default(),
            aliases: Vec::new(),
        }
    }
}

/// The layouts of one record, by what its parameters stood for.
pub type Layouts = Vec<(Rc<Env>, Ty)>;

/// The lambdas that run.
#[derive(Default)]
pub struct Lambdas {
    /// The lambda whose body runs, whose `return` is its own.
    pub current: Option<Arc<Lambda>>,
    /// The lambdas whose bodies run, innermost last, by their address.
    pub running: Vec<usize>,
    /// Lambdas of which there may be several copies, each with what it captured; by their address.
    pub several: FxHashSet<usize>,
    /// Those that a lambda around has handed back.
    pub handed_back: FxHashSet<usize>,
}
