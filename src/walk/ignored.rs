//! Which files does git not look at?
//!
//! Only inside a repository: the `.gitignore` files from its root down, and `.git/info/exclude`.

use ignore::Match;
use ignore::gitignore::Gitignore;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The ignore files of the folders met, each read once.
#[derive(Debug, Default)]
pub struct Ignored {
    folders: FxHashMap<PathBuf, Rc<[Gitignore]>>,
}

impl Ignored {
    /// Whether git ignores the file or folder at this absolute path. Folders above it that are
    /// ignored do not count: a walk does not enter them.
    pub fn contains(&mut self, path: &Path, folder: bool) -> bool {
        let Some(parent) = path.parent() else { return false };
        for file in self.of(parent).iter() {
            match file.matched(path, folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    /// The ignore files that hold in a folder, nearest first; none outside a repository.
    fn of(&mut self, folder: &Path) -> Rc<[Gitignore]> {
        if let Some(known) = self.folders.get(folder) {
            return Rc::clone(known);
        }
        let git = folder.join(".git");
        let is_root = git.exists();
        let above = match folder.parent() {
            Some(above) if !is_root => self.of(above),
            _ => Rc::default(),
        };
        // An empty entry stands for being inside a repository.
        let inside = is_root || !above.is_empty();
        let mut own = Vec::new();
        if inside {
            let file = folder.join(".gitignore");
            // A line that is no pattern is no reason to fail: git skips it too.
            own.push(if file.is_file() { Gitignore::new(&file).0 } else { Gitignore::empty() });
        }
        let exclude = git.join("info/exclude");
        if is_root && exclude.is_file() {
            let mut builder = ignore::gitignore::GitignoreBuilder::new(folder);
            builder.add(&exclude);
            own.extend(builder.build().ok());
        }
        let found: Rc<[Gitignore]> = own.into_iter().chain(above.iter().cloned()).collect();
        self.folders.insert(folder.to_path_buf(), Rc::clone(&found));
        found
    }
}
