//! Which memory objects are there, and what is known of them?

use super::contents::Contents;
use crate::domain::Int;
use crate::exec::value::{Env, ObjectId, Ty};
use crate::ir::{Declaration, LocalId, Name, Record, Scalar};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The objects of one declaration, by the template parameters in force.
type Instances = Vec<(Rc<Env>, ObjectId)>;

/// Memory, and what is known of it.
#[derive(Default)]
pub struct Memory {
    /// Memory objects.
    pub objects: Vec<Object>,
    /// What stands for one of several of them.
    pub alternatives: Alternatives,
    /// Shared variables by declaration, of which a macro may have several in one place, and the template parameters in
    /// force, so that a redeclaration in a loop is the same object.
    pub shared: FxHashMap<(Span, Name), Instances>,
    /// Variables whose address is a value.
    pub exposed: Exposed,
    /// What is written to shared memory, if that is asked for.
    pub contents: Option<Box<Contents>>,
    /// For how many threads barrier objects were made.
    pub barrier_counts: Vec<Counted>,
    /// Where pipelines of a thread are made.
    pub pipelines: Vec<Span>,
    /// Where variables in constant memory are declared, and their types; `None` where two of one name are one object.
    pub constants: FxHashMap<ObjectId, Option<(Span, Ty)>>,
    /// What the kernel reads and writes in global memory, by name.
    pub elsewhere: Elsewhere,
    /// The constants outside of functions that are arrays or objects.
    pub tables: Vec<(ObjectId, Rc<Table>)>,
}

/// What a kernel does to global memory. Threads that read one place need not read one value if the kernel changes it.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// What it changes, as an earlier run has found.
    pub changing: FxHashSet<Name>,
    /// What it writes.
    pub written: FxHashSet<Name>,
    /// What all threads read in one place.
    pub read_alike: FxHashSet<Name>,
    /// The statements that were looked at for what they write, by their address in the program, and the call around.
    pub looked_at: FxHashSet<(usize, Option<Span>)>,
    /// The variables whose values were followed in the text, and the call around.
    pub followed: FxHashSet<(LocalId, Option<Span>)>,
}

impl Elsewhere {
    /// What is written as well as read in one place by all threads, if there is more of it than was known.
    #[must_use]
    pub fn found(&self) -> Option<FxHashSet<Name>> {
        let both: FxHashSet<Name> = self.written.intersection(&self.read_alike).cloned().collect();
        (!both.is_subset(&self.changing)).then(|| both.union(&self.changing).cloned().collect())
    }
}

/// A constant that is an array or an object.
pub struct Table {
    /// Its declaration, which tells it from others of its name.
    pub declared: Declared,
    /// What the template parameters of the class stand for whose it is.
    pub env: Rc<Env>,
    /// The numbers in it that are known, by the bytes where they begin.
    pub numbers: FxHashMap<i64, (i64, Scalar)>,
    /// Of a table that the host could write: its name. The compiler does not know what is in it.
    pub at_launch: Option<Name>,
}

/// The declaration of a constant, outside of classes or in one.
pub enum Declared {
    Outside(Arc<Declaration>),
    /// With its number among the constants.
    In(Arc<Record>, usize),
}

impl Declared {
    /// Whether it is this one.
    pub(crate) fn is(&self, declaration: &Declaration) -> bool {
        match self {
            Declared::Outside(own) => std::ptr::eq(&raw const **own, declaration),
            Declared::In(class, at) => {
                class.constants.get(*at).is_some_and(|own| std::ptr::eq(own, declaration))
            }
        }
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Shared memory.
    Shared,
    /// Anything a kernel gets a pointer to, and file-scope variables.
    Global,
    /// Of a pointer of which nothing is known.
    Anywhere,
}

/// A memory object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name for messages.
    pub name: Name,
    /// Why a value read from it is not known.
    pub read: Arc<str>,
    /// Index into [`Trace::arrays`] for those whose accesses are recorded.
    pub array: Option<usize>,
}

impl Object {
    /// An object; `array` is its number in the trace.
    #[must_use]
    pub fn new(kind: ObjectKind, name: Name, array: Option<usize>) -> Object {
        let what = if kind == ObjectKind::Shared { "shared memory" } else { "memory" };
        let read = format!("its value comes from {what} (`{name}`)").into();
        Object { kind, name, read, array }
    }
}

pub(crate) type Objects = SmallVec<[ObjectId; 2]>;

/// The objects that stand for one of several, which are numbered downwards from the highest number.
#[derive(Default)]
pub(crate) struct Alternatives(pub RefCell<Vec<Several>>);

/// What stands for one of several objects.
#[derive(Debug, PartialEq)]
pub(crate) struct Several {
    pub objects: Objects,
    /// If the same one is meant in all threads: where it begins in each.
    pub begins: Option<Begins>,
}

/// Objects, and bytes from their starts.
pub(crate) type Begins = Rc<[(ObjectId, i64)]>;

/// Variables, by the number of their frame.
pub(crate) type Exposed = Vec<(usize, LocalId)>;

/// A barrier object and the number of threads that it waits for.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub object: ObjectId,
    pub at: Int,
    pub threads: Option<i64>,
    /// Whether a barrier of the block surely came after it was made, so that all threads find it made.
    pub is_seen: bool,
    /// The branches around the place where it was made that a block may pass by.
    pub branches: Vec<u32>,
    /// How many loops are around that place of which it is not known how often they run.
    pub uncounted: usize,
}
