//! Which target has a file, and what is defined for it?

use super::super::doubt::{DOUBT, is_doubtful, without_marks};
use super::super::flags::{Given, Said, meet};
use super::super::is_source;
use crate::headers::normalise;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The targets of a script, and what it says of those of others, by name.
pub(super) type Targets = BTreeMap<String, Target>;

#[derive(Default)]
pub(super) struct Target {
    /// Whether others may link it.
    pub is_library: bool,
    /// All that may be among its sources; a mark alone stands for anything.
    pub sources: Vec<String>,
    /// What is defined for it.
    pub own: Given,
    /// What is defined for those who link it.
    pub handed_on: Given,
    pub links: Vec<Link>,
}

/// A library that is linked.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub library: String,
    /// Whether what it hands on is for the target, and for those who link that.
    pub own: bool,
    pub handed_on: bool,
    /// Whether it is linked at all is not known.
    pub doubtful: bool,
}

impl Target {
    /// Whether the file is among the sources by its name.
    pub(super) fn names(&self, file: &Path, folder: &Path) -> bool {
        let is_file = |word: &String| {
            let known = without_marks(word);
            let path = Path::new(&known);
            path.file_name() == file.file_name()
                && (is_doubtful(word) || normalise(&folder.join(path)) == file)
        };
        self.sources.iter().any(is_file)
    }

    /// Whether the file may be among the sources; a header is compiled with each that has CUDA sources.
    pub(super) fn may_have(&self, file: &Path) -> bool {
        let is_header = !is_source(file);
        let may = |word: &String| {
            if word.as_str() == "\0" {
                return true;
            }
            let known = without_marks(word);
            let extension = Path::new(&known).extension();
            if is_header {
                return extension.is_some_and(|it| it == "cu" || it == "hip");
            }
            known.contains('*') && extension.is_none_or(|it| Some(it) == file.extension() || it == "*")
        };
        self.sources.iter().any(may)
    }
}

/// What is defined for a target, or for those who link it. `all`: of each script what it says of targets.
pub(super) fn interface(all: &[&Targets], name: &str, own: bool) -> Given {
    let mut found = Given::default();
    let mut seen = BTreeSet::new();
    let mut doubted = Vec::new();
    let mut waiting = vec![(name.to_owned(), own, false)];
    // What is linked in any case comes first: that it may be linked once more says nothing.
    while let Some((name, own, doubtful)) = waiting.pop().or_else(|| doubted.pop()) {
        if !seen.insert((name.clone(), own)) {
            continue;
        }
        for target in all.iter().filter_map(|targets| targets.get(&name)) {
            let given = if own { &target.own } else { &target.handed_on };
            for (name, (said, place)) in given {
                let said = if doubtful { Said::Doubt } else { said.clone() };
                meet(&mut found, name.clone(), said, place.clone());
            }
            for link in target.links.iter().filter(|link| if own { link.own } else { link.handed_on }) {
                let next = (link.library.clone(), false, doubtful || link.doubtful);
                if next.2 { doubted.push(next) } else { waiting.push(next) }
            }
        }
    }
    found
}

/// What may be among sources that are not known.
pub(super) fn anything() -> String {
    DOUBT.to_string()
}
