//! Which macros do the `CMakeLists.txt` around a file define for it?
//!
//! Those of the folder, and those of the target that has the file among its sources, with what the libraries
//! hand on that it links.

mod conditions;
mod generator;
mod lexer;
mod read;
mod targets;
mod values;

use super::flags::{Given, meet};
use super::{agreed, is_source};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use targets::{Target, Targets, interface};
use values::State;

/// The script's name.
pub(super) const NAME: &str = "CMakeLists.txt";

/// What the scripts say of a file.
pub(super) struct Told {
    pub given: Given,
    /// Whether a target has the file.
    pub names_target: bool,
}

/// The scripts that a script is read after, and what they had set then.
type Parent = (Rc<Scope>, Rc<State>);

/// The script of a folder in a given one of the folders above it.
type Lookup<'l> = dyn Fn(&Path, &[PathBuf]) -> Option<Rc<Scope>> + 'l;

/// A script that was read.
pub(super) struct Scope {
    folder: PathBuf,
    targets: Targets,
    /// What is said for all that is compiled in the folder.
    given: Given,
    /// The folders that it adds, and what was set then; a folder whose name is not known is `None`.
    children: Vec<(Option<PathBuf>, Rc<State>)>,
    parent: Option<Rc<Scope>>,
}

/// What is said of a file. `folders`: its own and those above it, the nearest first.
pub(super) fn of_file(file: &Path, folders: &[PathBuf], scope: &Lookup) -> Option<Told> {
    let scopes = folders.iter().enumerate();
    let owner = scopes.into_iter().find_map(|(at, folder)| scope(folder, folders.get(at + 1..)?))?;
    Some(owner.of_file(file))
}

/// The script that adds a folder.
fn parent(folder: &Path, above: &[PathBuf], scope: &Lookup) -> Option<Parent> {
    let mut perhaps = None;
    for (at, other) in above.iter().enumerate() {
        let Some(scope) = scope(other, above.get(at + 1..).unwrap_or_default()) else { continue };
        let child = scope.children.iter().find(|(child, _)| child.as_deref() == Some(folder));
        if let Some((_, state)) = child {
            let state = Rc::clone(state);
            return Some((scope, state));
        }
        if perhaps.is_none()
            && let Some((_, state)) = scope.children.iter().find(|(child, _)| child.is_none())
        {
            let state = Rc::clone(state);
            perhaps = Some((scope, state));
        }
    }
    perhaps
}

impl Scope {
    /// Reads the script of a folder; nothing if it is not one. `above`: the folders above, the nearest first.
    pub(super) fn read(folder: &Path, text: &str, above: &[PathBuf], scope: &Lookup) -> Option<Scope> {
        let commands = lexer::commands(text)?;
        let parent = parent(folder, above, scope);
        let (parent, state) = parent.unzip();
        let state = state.map_or_else(|| State::new(folder), |state| (*state).clone());
        let read = read::script(folder, &commands, state);
        let mut given = read.state.given.clone();
        for (name, (said, place)) in read.state.cuda_flags() {
            meet(&mut given, name, said, place);
        }
        let (targets, children) = (read.targets, read.children);
        Some(Scope { folder: folder.to_path_buf(), targets, given, children, parent })
    }

    /// This one and those that it is read after.
    fn chain(&self) -> Vec<&Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref()).collect()
    }

    fn of_file(&self, file: &Path) -> Told {
        let chain = self.chain();
        // Each with whether what is defined for it alone counts.
        let mut mine: Vec<(&Scope, &String, bool)> = Vec::new();
        for scope in &chain {
            let named = scope.targets.iter().filter(|(_, target)| target.names(file, &scope.folder));
            mine.extend(named.map(|(name, _)| (*scope, name, true)));
        }
        if mine.is_empty() {
            let may = self.targets.iter().filter(|(_, target)| target.may_have(file));
            // A header of a library is compiled by those who link that, too.
            let own = |target: &Target| is_source(file) || !target.is_library;
            mine.extend(may.map(|(name, target)| (self, name, own(target))));
        }
        let all: Vec<&Targets> = chain.iter().map(|scope| &scope.targets).collect();
        let each: Vec<Given> = mine
            .iter()
            .map(|(scope, name, own)| {
                let mut given = scope.given.clone();
                for (name, (said, place)) in interface(&all, name, *own) {
                    meet(&mut given, name, said, place);
                }
                given
            })
            .collect();
        if each.is_empty() {
            return Told { given: self.given.clone(), names_target: false };
        }
        Told { given: agreed(&each), names_target: true }
    }
}

#[cfg(test)]
mod tests;
