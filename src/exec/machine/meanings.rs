//! What did a name stand for that was looked up before from the same place?
//!
//! It stands for the same as long as the template parameters, the namespace and the class around are the same.
//!
//! Invariant: a key holds addresses of what its value keeps alive.

use super::state::Frame;
use crate::exec::value::{Env, Layout, Ty};
use crate::ir::namespace::Namespace;
use crate::ir::{Function, Path, Record};
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// Names that are remembered.
const MOST: usize = 1 << 14;

/// What is asked of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    /// Which type it is.
    Type,
    /// Which class the name before its last `::` is.
    Class,
    /// The same, where what has no template arguments is taken to be given an empty list of them.
    ClassOfEmpty,
}

/// From where a name is seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// None if there are no template parameters.
    env: Option<Rc<Env>>,
    namespace: Namespace,
    /// The method, or what stands for the class that is laid out.
    function: Option<Arc<Function>>,
    /// The class of the object whose method it is.
    this: Option<Rc<Layout>>,
    /// Whether types are wanted with `const` and `volatile`.
    keeps_qualifiers: bool,
}

impl Seen {
    /// From a frame. None where the template parameters are made for one lookup, and so are not met again.
    #[must_use]
    pub(crate) fn from(frame: &Frame, keeps_qualifiers: bool) -> Option<Seen> {
        let env = (!frame.env.bindings.is_empty()).then_some(&frame.env);
        if env.is_some_and(|env| Rc::strong_count(env) < 2) {
            return None;
        }
        let function = frame.function.owner.as_ref().map(|_| &frame.function);
        let this = match frame.this.as_ref().map(|this| &this.pointee) {
            Some(Ty::Record(layout)) if function.is_some() => Some(Rc::clone(layout)),
            _ => None,
        };
        let namespace = Arc::clone(&frame.namespace);
        Some(Seen { env: env.cloned(), namespace, function: function.cloned(), this, keeps_qualifiers })
    }

    fn key(&self) -> ([usize; 4], bool) {
        let env = self.env.as_ref().map_or(0, |it| Rc::as_ptr(it).addr());
        let function = self.function.as_ref().map_or(0, |it| Arc::as_ptr(it).addr());
        let this = self.this.as_ref().map_or(0, |it| Rc::as_ptr(it).addr());
        ([env, self.namespace.as_ptr().addr(), function, this], self.keeps_qualifiers)
    }
}

#[derive(Debug)]
struct Meaning {
    asked: Asked,
    seen: Seen,
    path: Path,
    found: Found,
}

/// What a name was found to stand for, and whether it does also where the meaning of typedefs is being looked up.
type Found = (Option<Ty>, bool);

impl Meaning {
    fn is_of(&self, asked: Asked, path: &Path, seen: &Seen) -> bool {
        self.asked == asked
            && self.seen.key() == seen.key()
            && self.path.global == path.global
            && self.path.qualifiers == path.qualifiers
            && (asks_for_class(asked) || self.path.name == path.name && self.path.args == path.args)
    }
}

fn asks_for_class(asked: Asked) -> bool {
    matches!(asked, Asked::Class | Asked::ClassOfEmpty)
}

/// What names stand for.
#[derive(Debug, Default)]
pub(crate) struct Meanings {
    found: FxHashMap<u64, Vec<Meaning>>,
    count: usize,
}

impl Meanings {
    /// What a name was found to stand for.
    #[must_use]
    pub(crate) fn get(&self, asked: Asked, path: &Path, seen: &Seen) -> Option<&Found> {
        let known = self.found.get(&number(asked, path, seen))?;
        known.iter().find(|known| known.is_of(asked, path, seen)).map(|known| &known.found)
    }

    /// Remembers what a name stands for.
    pub(crate) fn keep(&mut self, asked: Asked, path: &Path, seen: Seen, found: Found) {
        if self.count >= MOST {
            self.clear();
        }
        self.count += 1;
        let known = self.found.entry(number(asked, path, &seen)).or_default();
        known.push(Meaning { asked, seen, path: path.clone(), found });
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.count = 0;
    }
}

fn number(asked: Asked, path: &Path, seen: &Seen) -> u64 {
    let mut hasher = FxHasher::default();
    (asked, seen.key(), path.global, &path.qualifiers).hash(&mut hasher);
    if !asks_for_class(asked) {
        (&path.name, &path.args).hash(&mut hasher);
    }
    hasher.finish()
}

/// Classes that one asks for again and again.
type Classes = Rc<[Arc<Record>]>;

/// In which classes names are looked up.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The classes that a method may belong to, by its address.
    classes: RefCell<FxHashMap<usize, (Arc<Function>, Classes)>>,
    /// What stands for a method where a class is looked into, by the address of the class.
    methods: FxHashMap<usize, (Arc<Record>, Arc<Function>)>,
}

impl Scopes {
    /// The classes that a method may belong to.
    pub(crate) fn classes_of(&self, function: &Arc<Function>, look: impl FnOnce() -> Classes) -> Classes {
        let mut classes = self.classes.borrow_mut();
        let known = classes.entry(Arc::as_ptr(function).addr());
        let (_, found) = known.or_insert_with(|| (Arc::clone(function), look()));
        Rc::clone(found)
    }

    /// What stands for a method where names are looked up in a class: a function of nothing else.
    pub(crate) fn of_class(&mut self, nothing: &Function, record: &Arc<Record>) -> Arc<Function> {
        let known = self.methods.entry(Arc::as_ptr(record).addr());
        let (_, made) = known.or_insert_with(|| {
            let (owner, span) = (Some(record.name.clone()), record.span);
            let function = Function { owner, span, ..nothing.clone() };
            (Arc::clone(record), Arc::new(function))
        });
        Arc::clone(made)
    }
}
