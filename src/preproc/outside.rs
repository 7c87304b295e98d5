//! Which definitions of its includers does a header see?
//!
//! A header means what the macros say at the place where it is first included. Most headers make or
//! include all that they use, mean the same everywhere, and are read once for all files. Others leave
//! a choice to the includer.
//!
//! Example: `common.h` holds `#ifdef WIDE`, and `a.cu` says `#define WIDE` before it includes it.
//! In `a.cu` the header has that definition from outside; in `b.cu`, which does not say it, none.

use super::Includes;
use super::directives::{Directives, HeaderCache};
use super::macros::{MacroRef, Macros};
use crate::source::{FileId, SourceFile};
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Headers that lead to more files than this are read as if nothing was defined before them.
const MOST_FILES: usize = 64;

/// Definitions that a header sees where it is first included, and that neither it nor what it
/// includes makes. Empty: it means what it means by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outside {
    /// In order of file and place.
    definitions: Vec<Definition>,
}

#[derive(Clone, Debug)]
struct Definition {
    file: Arc<Directives>,
    index: u32,
}

impl Definition {
    fn place(&self) -> (FileId, u32) {
        (self.file.file.id, self.index)
    }
}

impl PartialEq for Definition {
    fn eq(&self, other: &Definition) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Definition {}

impl Hash for Definition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}

impl Outside {
    /// Whether the header means what it means by itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// What `header` sees of `macros` as they are now.
    pub(super) fn of(
        header: &Arc<SourceFile>,
        macros: &Macros,
        includes: &dyn Includes,
        cache: &HeaderCache,
    ) -> Outside {
        let directives = cache.directives(header);
        let Some(reached) = directives.reached(includes, cache) else { return Outside::default() };
        let strangers: Vec<(&str, MacroRef, &Arc<Directives>)> = macros
            .definitions()
            .filter(|(_, _, file)| file.has_spans && !reached.iter().any(|it| it.id == file.file.id))
            .collect();
        let mut found: Vec<Definition> = Vec::new();
        let mut taken = vec![false; strangers.len()];
        // Names in the text, then names in the replacements of what was found.
        let mentioned = |name: &str| reached.iter().any(|file| cache.directives(file).mentions(name));
        let mut start = usize::MAX;
        while start != found.len() {
            start = found.len();
            for (taken, (name, place, file)) in taken.iter_mut().zip(&strangers) {
                if !*taken && (mentioned(name) || found.iter().any(|it| it.replacement_mentions(name))) {
                    *taken = true;
                    found.push(Definition { file: Arc::clone(file), index: place.index });
                }
            }
        }
        found.sort_by(|a, b| a.place().cmp(&b.place()).then(Ordering::Equal));
        Outside { definitions: found }
    }

    /// Defines these before the first byte.
    pub(super) fn define(&self, macros: &mut Macros) {
        for definition in &self.definitions {
            let known = macros.files.iter().skip(1).position(|it| Arc::ptr_eq(it, &definition.file));
            let file = known.map_or(macros.files.len(), |at| at + 1) as u32;
            if known.is_none() {
                macros.files.push(Arc::clone(&definition.file));
            }
            if let Some(define) = definition.file.define(definition.index) {
                macros.set(&define.name, 0, Some(MacroRef { file, index: definition.index }));
            }
        }
    }
}

impl Definition {
    fn replacement_mentions(&self, name: &str) -> bool {
        let text = &self.file.file.text;
        let body = self.file.define(self.index).and_then(|define| text.get(define.body.clone()));
        body.is_some_and(|body| words(body).any(|word| word == name))
    }
}

impl Directives {
    /// Whether the file spells the word anywhere. Says yes too often rather than too seldom.
    fn mentions(&self, name: &str) -> bool {
        self.seen.words.get_or_init(|| words(&self.file.text).map(hash).collect()).contains(&hash(name))
    }

    pub(super) fn reached(&self, includes: &dyn Includes, cache: &HeaderCache) -> Option<&[Arc<SourceFile>]> {
        let reached = self.seen.reached.get_or_init(|| {
            let mut files = vec![Arc::clone(&self.file)];
            let mut next = 0;
            while let Some(file) = files.get(next).map(|file| cache.directives(file)) {
                next += 1;
                for found in file.all_included(includes) {
                    if !files.iter().any(|it| it.id == found.id) {
                        files.push(found);
                    }
                }
                if files.len() > MOST_FILES {
                    return None;
                }
            }
            Some(files.into())
        });
        reached.as_deref()
    }

    fn all_included(&self, includes: &dyn Includes) -> impl Iterator<Item = Arc<SourceFile>> {
        (0..self.list.len()).filter_map(|index| self.included(index, includes)).cloned()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn hash(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    word.hash(&mut hasher);
    hasher.finish()
}
