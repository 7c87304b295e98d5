//! Which macros do the build scripts around a file define by default?
//!
//! They are read, not run, and only in part. A wrong macro costs more than a missing one: what rests on a
//! condition or text that is not known here defines nothing, and so does what two commands for the file
//! define in different ways.

mod branches;
mod cmake;
mod doubt;
mod flags;
mod make;

use flags::{Given, Said};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The names of the scripts that are read.
pub const NAMES: [&str; 4] = [cmake::NAME, make::NAMES[0], make::NAMES[1], make::NAMES[2]];

/// Larger scripts are not read: no one wrote them by hand.
const MOST_BYTES: usize = 1 << 20;

/// A macro, and the line that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub value: String,
    /// The script's absolute path.
    pub script: PathBuf,
    /// A line of it, from 1.
    pub line: usize,
}

/// The text of the file at an absolute path, if it is one that can be read.
type Read = dyn Fn(&Path) -> Option<String>;

/// The scripts of a run, each read once.
pub struct Scripts {
    read: Box<Read>,
    makefiles: RefCell<FxHashMap<PathBuf, Option<Rc<make::Makefile>>>>,
    lists: RefCell<FxHashMap<PathBuf, Option<Rc<cmake::Scope>>>>,
}

impl Scripts {
    /// None is read yet.
    #[must_use]
    pub fn new(read: Box<Read>) -> Scripts {
        let small = move |path: &Path| {
            read(path).filter(|text| text.len() <= MOST_BYTES && !text.contains(doubt::DOUBT))
        };
        Scripts { read: Box::new(small), makefiles: RefCell::default(), lists: RefCell::default() }
    }

    /// What is defined for a file, by name. `folders`: its own folder and those above it that may tell, the
    /// nearest first. All paths are absolute.
    #[must_use]
    pub fn macros(&self, file: &Path, folders: &[PathBuf]) -> Vec<Macro> {
        let lists = cmake::of_file(file, folders, &|folder, above| self.scope(folder, above));
        let own = folders.first().and_then(|folder| self.makefile(folder));
        let given = match (lists, own) {
            (Some(lists), _) if lists.names_target => lists.given,
            (_, Some(own)) => own.macros(file, true),
            (Some(lists), None) => lists.given,
            (None, None) => {
                let above = folders.iter().skip(1).find_map(|folder| self.makefile(folder));
                above.map(|makefile| makefile.macros(file, false)).unwrap_or_default()
            }
        };
        let known = given.into_iter().filter_map(|(name, (said, place))| match said {
            Said::Value(value) => {
                Some(Macro { name, value, script: place.script.to_path_buf(), line: place.line })
            }
            Said::Undefined | Said::Doubt => None,
        });
        known.collect()
    }

    fn makefile(&self, folder: &Path) -> Option<Rc<make::Makefile>> {
        if let Some(known) = self.makefiles.borrow().get(folder) {
            return known.clone();
        }
        let found = make::Makefile::of_folder(folder, &self.read).map(Rc::new);
        self.makefiles.borrow_mut().insert(folder.to_path_buf(), found.clone());
        found
    }

    /// What the script of a folder says. `above`: the folders above it, the nearest first.
    fn scope(&self, folder: &Path, above: &[PathBuf]) -> Option<Rc<cmake::Scope>> {
        if let Some(known) = self.lists.borrow().get(folder) {
            return known.clone();
        }
        let found = (self.read)(&folder.join(cmake::NAME)).and_then(|text| {
            let scope = |folder: &Path, above: &[PathBuf]| self.scope(folder, above);
            cmake::Scope::read(folder, &text, above, &scope).map(Rc::new)
        });
        self.lists.borrow_mut().insert(folder.to_path_buf(), found.clone());
        found
    }
}

/// Whether a file is compiled by itself.
fn is_source(file: &Path) -> bool {
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["cu", "hip", "c", "cc", "cpp", "cxx"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a switch says that nothing is built for a GPU, by its name and its value. The default may be so,
/// but that is not the build that the files here are compiled in.
fn is_against_gpu(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_off = ["", "0", "OFF", "NO", "N", "FALSE"].iter().any(|it| value.trim().eq_ignore_ascii_case(it));
    let asks = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if is_off { asks(&["CUDA", "GPU", "HIP", "ROCM", "NVCC"]) } else { asks(&["CPU"]) }
}

/// What all commands for a file say; one that says nothing of a name, or something else, makes it doubtful.
fn agreed(all: &[Given]) -> Given {
    let Some(first) = all.first() else { return Given::default() };
    let mut agreed = first.clone();
    agreed.retain(|name, (said, _)| {
        all.iter().all(|given| given.get(name).is_some_and(|(other, _)| other == said))
    });
    agreed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The macros of a file among these files, as `NAME=value`, with the script's name and line if asked.
    pub(super) fn told(files: &[(&str, &str)], file: &str, places: bool) -> Vec<String> {
        let files: BTreeMap<PathBuf, String> =
            files.iter().map(|(path, text)| (Path::new("/p").join(path), (*text).to_owned())).collect();
        let scripts = Scripts::new(Box::new(move |path: &Path| files.get(path).cloned()));
        let file = Path::new("/p").join(file);
        let folders = file.ancestors().skip(1).take_while(|it| it.starts_with("/p"));
        let folders: Vec<PathBuf> = folders.map(Path::to_path_buf).collect();
        let shown = scripts.macros(&file, &folders).into_iter().map(|it| {
            let place = format!(" {}:{}", it.script.strip_prefix("/p").unwrap().display(), it.line);
            format!("{}={}{}", it.name, it.value, if places { &place } else { "" })
        });
        shown.collect()
    }

    #[test]
    fn the_script_that_compiles_the_file_counts() {
        let make = ("Makefile", "a: a.cu\n\tnvcc -DN=1 a.cu\n");
        let target = ("CMakeLists.txt", "add_library(a a.cu)\ntarget_compile_definitions(a PRIVATE N=2)\n");
        assert_eq!(told(&[make, target], "a.cu", true), ["N=2 CMakeLists.txt:2"]);
        // Where it gives no target for the file, the Makefile beside it does.
        let other = ("CMakeLists.txt", "add_library(b b.cu)\nadd_definitions(-DN=3)\n");
        assert_eq!(told(&[make, other], "a.cu", true), ["N=1 Makefile:2"]);
        assert_eq!(told(&[other], "a.cu", true), ["N=3 CMakeLists.txt:2"]);
        // A Makefile above counts if it knows the file.
        let above = ("Makefile", "a: src/a.cu\n\tnvcc -DN=1 $<\n");
        assert_eq!(told(&[above], "src/a.cu", true), ["N=1 Makefile:2"]);
        assert!(told(&[above, ("src/makefile", "all:\n")], "src/a.cu", true).is_empty());
    }

    #[test]
    fn scripts_that_no_one_wrote_by_hand_are_not_read() {
        let long = format!("{}\nNVCCFLAGS = -DN=1\n", "#".repeat(MOST_BYTES));
        assert!(told(&[("Makefile", &long)], "a.cu", false).is_empty());
        assert!(told(&[("Makefile", "NVCCFLAGS = -DN=1 \0-DM\n")], "a.cu", false).is_empty());
    }
}
