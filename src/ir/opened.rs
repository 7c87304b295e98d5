//! What does a name find that says where it is looked up?
//!
//! ```text
//! namespace mine { int rounds(int); }
//! namespace lib { using namespace mine; }
//! mine::rounds(4);       it
//! lib::rounds(4);        it, too
//! ext::rounds(4);        not it: `ext` is not seen
//! ```
//!
//! `void mine::rounds() {}` is known without what stands before its name: it is found in any namespace that is seen.

use super::namespace::{Brought, answers, in_standard_library};
use super::{Module, Name, TemplateArg};
use rustc_hash::{FxHashMap, FxHashSet};

/// A name before `::`, with its template arguments.
pub(super) type Qualifier = (Name, Vec<TemplateArg>);

/// The namespaces that the modules of a program open.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// What aliases of namespaces stand for; `None` where modules disagree.
    aliases: FxHashMap<Name, Option<Vec<Qualifier>>>,
    names: FxHashSet<Name>,
    /// Those whose name need not be said.
    inline: FxHashSet<Name>,
    /// Names that stand for different namespaces.
    unclear: FxHashSet<Name>,
    /// What is brought into sight, by the last name of the namespace.
    brought: FxHashMap<Name, Vec<Brought>>,
}

impl Opened {
    pub(super) fn add(&mut self, module: &Module) {
        for (name, parts) in &module.namespace_aliases {
            let parts: Vec<Qualifier> = parts.iter().map(|part| (part.clone(), Vec::new())).collect();
            let known = self.aliases.entry(name.clone()).or_insert_with(|| Some(parts.clone()));
            if known.as_ref() != Some(&parts) {
                *known = None;
            }
        }
        self.names.extend(module.scopes.opened.iter().cloned());
        self.inline.extend(module.scopes.inline.iter().cloned());
        self.unclear.extend(module.scopes.unclear.iter().cloned());
        for brought in &module.scopes.brought {
            self.brought.entry(brought.within.clone()).or_default().push(brought.clone());
        }
    }

    /// Whether a namespace brings `name`, which lies in the namespace `at`, into sight.
    fn brings(&self, within: &Name, name: &Name, at: &[Name]) -> bool {
        let mut waiting = vec![within];
        let mut seen = FxHashSet::default();
        while let Some(within) = waiting.pop().filter(|_| seen.len() < 16) {
            if !seen.insert(within) {
                continue;
            }
            for brought in self.brought.get(within).into_iter().flatten() {
                let Some((last, before)) = brought.parts.split_last() else { continue };
                let place = if brought.whole { &brought.parts } else { before };
                if (brought.whole || last == name) && at.ends_with(place) {
                    return true;
                }
                waiting.extend(brought.whole.then_some(last));
            }
        }
        false
    }

    /// What an alias of a namespace stands for; `None` within where that is not known.
    pub(super) fn alias(&self, name: &Name) -> Option<&Option<Vec<Qualifier>>> {
        self.aliases.get(name)
    }

    /// Whether what lies in the namespace `at` is in sight as `name` behind qualifiers.
    pub(super) fn is_in_sight(
        &self,
        name: &Name,
        at: &[Name],
        written: &[Qualifier],
        is_enumeration: impl Fn(&Name) -> bool,
    ) -> bool {
        if written.is_empty() || answers(at, written) || in_standard_library(written).is_some() {
            return true;
        }
        let mut left: Vec<Qualifier> =
            written.iter().filter(|(name, _)| !self.inline.contains(name)).cloned().collect();
        match left.first().and_then(|(first, _)| self.aliases.get(first)) {
            Some(Some(whole)) => drop(left.splice(..1, whole.iter().cloned())),
            Some(None) => return true,
            None if left.iter().any(|(name, _)| self.unclear.contains(name)) => return true,
            None => {}
        }
        while left.last().is_some_and(|(last, _)| is_enumeration(last)) {
            left.pop();
        }
        let Some((last, _)) = left.last() else { return true };
        let is_called_by_macro = at.iter().any(may_be_macro) && at.len() >= left.len();
        answers(at, &left)
            || is_seen_in(at, last)
            || is_called_by_macro
            || left.iter().all(|(name, _)| self.names.contains(name))
                && (at.is_empty() || self.brings(last, name, at))
    }
}

/// Whether a name may be that of a macro: what a namespace is called that is opened by it is not known.
fn may_be_macro(name: &Name) -> bool {
    name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The namespaces before a name that count beside what modules have of the same name elsewhere, if the library has it
/// in `at`: PyTorch brings what is in `c10` into sight in `at`, and what is there in `torch`.
pub(super) fn seen_in(at: &[Name]) -> &'static [&'static str] {
    match at {
        [only] => match &**only {
            "c10" => &["c10", "at", "torch"],
            "at" => &["at", "torch"],
            "torch" => &["torch"],
            "cub" => &["cub"],
            _ => &[],
        },
        _ => &[],
    }
}

/// Whether what lies in the namespace `at` is seen in the one called `within`.
pub(super) fn is_seen_in(at: &[Name], within: &Name) -> bool {
    at.last() == Some(within) || seen_in(at).contains(&&**within)
}
