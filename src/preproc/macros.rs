//! Which macro does a name stand for at a place in the text?
//!
//! The table remembers what a name meant before a later `#define` or `#undef` of the file
//! being expanded, so that all directives can be replayed before any text is looked at.

use super::directives::{Define, DirectiveKind, Directives};
use crate::builtins;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The number of the file that holds what is defined from the start.
const BUILTIN: u32 = 1;
/// The number of the file that holds the fallback.
const FALLBACK: u32 = 2;

/// What a set of definitions comes to, in few bytes.
pub(crate) type Print = [u64; 2];

/// A `#define`: the number of the file among the expansion's files, and of the directive in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MacroRef {
    pub file: u32,
    pub index: u32,
}

/// What a name means from byte `from` of the expanded file on.
#[derive(Clone, Copy, Debug)]
struct Version {
    from: u32,
    definition: Option<MacroRef>,
}

#[derive(Clone, Debug)]
struct Entry {
    now: Version,
    before: Vec<Version>,
}

/// The macros of one file's expansion and the files that define them.
#[derive(Clone, Debug)]
pub(crate) struct Macros {
    /// File 0 is the one being expanded.
    pub files: Vec<Arc<Directives>>,
    table: FxHashMap<Arc<str>, Entry>,
    /// What a name means in the text as long as nothing defines or declares it.
    fallback: Arc<FxHashMap<Arc<str>, MacroRef>>,
    /// The names among these that the files declare as something of their own, once that is asked.
    own_names: OnceLock<FxHashSet<Box<str>>>,
}

impl Macros {
    /// What is defined before any file is read: all of `builtin`, and, for the text alone,
    /// what of `fallback` nothing else defines.
    pub(crate) fn new(builtin: &Arc<Directives>, fallback: &Arc<Directives>) -> Macros {
        let place = |file, index| Some(MacroRef { file, index: index as u32 });
        let names = fallback.list.iter().enumerate().filter_map(|(index, directive)| match &directive.kind {
            DirectiveKind::Define(define) => Some((Arc::clone(&define.name), place(FALLBACK, index)?)),
            _ => None,
        });
        // File 0 is replaced by the one to expand.
        let files = vec![Arc::clone(builtin), Arc::clone(builtin), Arc::clone(fallback)];
        let mut macros = Macros {
            files,
            table: FxHashMap::default(),
            fallback: Arc::new(names.collect()),
            own_names: OnceLock::new(),
        };
        for (index, directive) in builtin.list.iter().enumerate() {
            if let DirectiveKind::Define(define) = &directive.kind {
                macros.set(&define.name, 0, place(BUILTIN, index));
            }
        }
        macros
    }

    /// The same before the directives of `main` are run.
    pub(crate) fn for_file(&self, main: Arc<Directives>) -> Macros {
        let mut macros = self.clone();
        if let Some(first) = macros.files.first_mut() {
            *first = main;
        }
        macros
    }

    /// Defines or undefines (`None`) a name from byte `from` on.
    pub(crate) fn set(&mut self, name: &str, from: u32, definition: Option<MacroRef>) {
        if !is_owned(name) {
            self.set_in_any_case(name, from, definition);
        }
    }

    /// The same, whether CUDA gives the name its meaning or not; but what says of a declaration what it is, as
    /// `__shared__`, stays.
    pub(crate) fn set_in_any_case(&mut self, name: &str, from: u32, definition: Option<MacroRef>) {
        if name != WARP_SIZE && OWNED.binary_search(&name).is_ok() {
            return;
        }
        let version = Version { from, definition };
        match self.table.get_mut(name) {
            Some(entry) if entry.now.from == from => entry.now = version,
            Some(entry) => entry.before.push(std::mem::replace(&mut entry.now, version)),
            None if definition.is_none() => {}
            None => self.insert(name, version),
        }
    }

    fn insert(&mut self, name: &str, now: Version) {
        let key = match now.definition.and_then(|place| self.define(place)) {
            Some(define) => Arc::clone(&define.name),
            None => name.into(),
        };
        self.table.insert(key, Entry { now, before: Vec::new() });
    }

    /// What `name` is defined as at byte `at`; `u32::MAX` asks for the latest.
    pub(crate) fn get(&self, name: &str, at: u32) -> Option<MacroRef> {
        self.known(name, at).flatten()
    }

    /// As [`Macros::get`], but with the fallback for a name that nothing ever defined or declared. Only to be asked
    /// once all headers are known.
    pub(crate) fn get_or_fallback(&self, name: &str, at: u32) -> Option<MacroRef> {
        match self.known(name, at) {
            Some(definition) => definition,
            None => self.fallback.get(name).copied().filter(|_| !self.own_names().contains(name)),
        }
    }

    /// Whether a definition is one of the fallback.
    pub(crate) fn is_fallback(place: MacroRef) -> bool {
        place.file == FALLBACK
    }

    /// The names of the fallback that the files declare as something of their own.
    fn own_names(&self) -> &FxHashSet<Box<str>> {
        self.own_names.get_or_init(|| {
            let is_well_known = |name: &str| self.fallback.contains_key(name);
            let files = self.files.iter().filter(|file| file.has_spans);
            files.flat_map(|file| file.own_names(&is_well_known)).cloned().collect()
        })
    }

    /// `None`: never heard of it. `Some(None)`: undefined here.
    fn known(&self, name: &str, at: u32) -> Option<Option<MacroRef>> {
        let entry = self.table.get(name)?;
        if entry.now.from <= at {
            return Some(entry.now.definition);
        }
        let count = entry.before.partition_point(|version| version.from <= at);
        Some(count.checked_sub(1).and_then(|index| entry.before.get(index)?.definition))
    }

    /// What is defined now: name, place and file, in no order.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&str, MacroRef, &Arc<Directives>)> {
        self.table.iter().filter_map(|(name, entry)| {
            let place = entry.now.definition?;
            Some((&**name, place, self.files.get(place.file as usize)?))
        })
    }

    /// What is defined, where and from when on, and `rest`, in few bytes. What was there from the start and
    /// is still as it was does not count.
    pub(crate) fn print(&self, rest: &dyn Fn(&mut DefaultHasher)) -> Print {
        let place = |version: &Version| {
            let file = |place: MacroRef| {
                self.files.get(place.file as usize).map(|file| (file.has_spans, file.file.id))
            };
            (version.from, version.definition.map(|place| (file(place), place.index)))
        };
        let from_the_start = |entry: &Entry| {
            entry.before.is_empty() && entry.now.definition.is_some_and(|place| place.file == BUILTIN)
        };
        [0u64, 1].map(|number| {
            let mut hasher = DefaultHasher::new();
            number.hash(&mut hasher);
            rest(&mut hasher);
            let names = self.own_names().iter().map(|name| {
                let mut hasher = DefaultHasher::new();
                (number, name).hash(&mut hasher);
                hasher.finish()
            });
            // In no order.
            names.fold(0u64, u64::wrapping_add).hash(&mut hasher);
            let entries =
                self.table.iter().filter(|(_, entry)| !from_the_start(entry)).map(|(name, entry)| {
                    let mut hasher = DefaultHasher::new();
                    (number, name, place(&entry.now)).hash(&mut hasher);
                    entry.before.iter().for_each(|version| place(version).hash(&mut hasher));
                    hasher.finish()
                });
            entries.fold(0u64, u64::wrapping_add).hash(&mut hasher);
            hasher.finish()
        })
    }

    /// The definition itself.
    pub(crate) fn define(&self, place: MacroRef) -> Option<&Define> {
        self.files.get(place.file as usize)?.define(place.index)
    }

    /// Where the `#define` stands; `None` for a built-in.
    pub(crate) fn span(&self, place: MacroRef) -> Option<Span> {
        self.files.get(place.file as usize)?.span(place.index)
    }
}

/// Whether CUDA gives the word its meaning. Compatibility headers define such words away for other compilers, under
/// conditions of which it may not be known that they fail; no such definition is followed.
pub(crate) fn is_owned(name: &str) -> bool {
    match name.as_bytes().first() {
        Some(b'_' | b'b' | b'd' | b'g' | b't' | b'w') => {
            OWNED.binary_search(&name).is_ok() || builtins::is_owned(name)
        }
        _ => false,
    }
}

/// The one among the following that is a number.
const WARP_SIZE: &str = "warpSize";
/// Words that are no names of functions, and the warp's size. Sorted.
const OWNED: [&str; 19] = [
    "__align__",
    "__block_size__",
    "__cluster_dims__",
    "__constant__",
    "__device__",
    "__forceinline__",
    "__global__",
    "__grid_constant__",
    "__host__",
    "__launch_bounds__",
    "__local__",
    "__managed__",
    "__maxnreg__",
    "__noinline__",
    "__restrict",
    "__restrict__",
    "__shared__",
    "dim3",
    WARP_SIZE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, SourceFile};

    #[test]
    fn cuda_owns_its_words() {
        assert!(OWNED.is_sorted());
        for word in OWNED {
            assert!(is_owned(word), "{word}");
        }
        for name in ["__syncthreads_or", "__shfl_xor_sync", "__match_any_sync", "__threadfence", "gridDim"] {
            assert!(is_owned(name), "{name}");
        }
        assert!(!is_owned("__shared") && !is_owned("tile"));
    }

    #[test]
    fn a_name_keeps_its_earlier_meanings() {
        let place = |index| Some(MacroRef { file: 0, index });
        let empty = SourceFile::new(FileId(0), "a.cu".into(), Vec::new());
        let empty = Arc::new(Directives::read(Arc::new(empty), true));
        let mut macros = Macros::new(&empty, &empty);
        macros.set("A", 10, place(1));
        macros.set("A", 20, None);
        macros.set("A", 30, place(2));
        let seen: Vec<_> = [5, 10, 25, 30, u32::MAX].map(|at| macros.get("A", at)).into();
        assert_eq!(seen, [None, place(1), None, place(2), place(2)]);
    }
}
