//! Which macros does a `Makefile` define for a file?
//!
//! Those of the commands that compile it. Where no command of the script says which CUDA source it is for,
//! those of the variables that hold flags.

mod expand;
mod read;

use super::doubt::{DOUBT, is_doubtful, without_marks};
use super::flags::{Given, Place, Said, add_words};
use super::{Read, agreed, is_source};
use crate::headers::normalise;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The script's names, the first that is there counts.
pub(super) const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// A script that was read.
pub(super) struct Makefile {
    folder: PathBuf,
    commands: Vec<Command>,
    /// What variables hold that are named like flags, those of CUDA first.
    flags: [Vec<String>; 2],
    /// What may be defined for some target.
    doubted: Given,
    /// The last line in force that writes the definition of a macro.
    written: BTreeMap<String, Place>,
    start: Place,
}

/// A command that compiles.
struct Command {
    targets: Vec<String>,
    needs: Vec<String>,
    words: Vec<String>,
    /// Whether it is carried out at all is not known.
    doubtful: bool,
    place: Place,
}

impl Makefile {
    /// The script of a folder.
    pub(super) fn of_folder(folder: &Path, read: &Read) -> Option<Makefile> {
        NAMES.iter().find_map(|name| {
            let path = folder.join(name);
            Some(read::makefile(folder, &path, &read(&path)?, read))
        })
    }

    /// What is said of the macros of a file. `own`: the script is in its folder.
    pub(super) fn macros(&self, file: &Path, own: bool) -> Given {
        let is_source = is_source(file);
        let names = |command: &&Command| self.names(command, file, is_source);
        let of_file: Vec<&Command> = self.commands.iter().filter(names).collect();
        let mut given = if of_file.is_empty() {
            if self.commands.iter().any(Command::is_of_cuda) {
                return Given::default();
            }
            let [cuda, general] = &self.flags;
            let words = if cuda.is_empty() && own { general } else { cuda };
            self.given(words, &self.start)
        } else {
            let all: Vec<Given> = of_file.iter().map(|command| self.of_command(command)).collect();
            agreed(&all)
        };
        given.retain(|name, _| !self.doubted.contains_key(name));
        given
    }

    fn of_command(&self, command: &Command) -> Given {
        let mut given = self.given(&command.words, &command.place);
        if command.doubtful {
            given.values_mut().for_each(|(said, _)| *said = Said::Doubt);
        }
        given
    }

    fn given(&self, words: &[String], place: &Place) -> Given {
        let mut given = Given::default();
        let place = |name: &str| self.written.get(name).unwrap_or(place).clone();
        add_words(words, &place, &mut given);
        given
    }

    /// Whether a command may be the one that compiles a file. A header is compiled by every command for CUDA.
    fn names(&self, command: &Command, file: &Path, is_source: bool) -> bool {
        let is_file = |word: &String| self.is_file(word, file);
        let is_unknown = |word: &String| word.as_str() == "\0";
        let takes_what_it_needs =
            || command.words.iter().any(|word| ["$<", "$^", "$+"].iter().any(|it| word.contains(it)));
        command.needs.iter().chain(&command.words).any(is_file)
            || command.needs.iter().any(is_unknown) && takes_what_it_needs()
            || command.pattern().is_some_and(|pattern| self.fits(pattern, file))
            || !is_source && command.is_of_cuda()
    }

    /// Whether a word is the path of a file, or may be.
    fn is_file(&self, word: &str, file: &Path) -> bool {
        if word.starts_with('-') || word.contains('%') {
            return false;
        }
        if is_doubtful(word) {
            let known = without_marks(word);
            return Path::new(&known).extension().is_some_and(|it| file.extension() == Some(it));
        }
        Path::new(word).file_name() == file.file_name() && normalise(&self.folder.join(word)) == file
    }

    /// Whether a path is of the form of `src/%.cu`.
    fn fits(&self, pattern: &str, file: &Path) -> bool {
        let known = without_marks(pattern);
        let Some((start, end)) = known.split_once('%') else { return false };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let path = file.strip_prefix(&self.folder).unwrap_or(file).to_string_lossy();
        let start = start.trim_start_matches("./");
        name.ends_with(end)
            && (is_doubtful(pattern) || [name.as_ref(), path.as_ref()].iter().any(|it| it.starts_with(start)))
    }
}

impl Command {
    /// The pattern of its sources, as `%.cu`.
    fn pattern(&self) -> Option<&str> {
        let is_of_suffixes = |target: &&String| target.starts_with('.') && !target.contains(['/', '%']);
        if let Some(suffixes) = self.targets.first().filter(is_of_suffixes).map(|target| &target[1..]) {
            // `.cu.o:` and `.cu:`.
            let known = [".cu.", ".hip.", ".cpp.", ".cc.", ".c."].iter();
            return known.map(|it| &it[1..it.len() - 1]).find_map(|suffix| {
                let rest = suffixes.strip_prefix(suffix)?;
                (rest.is_empty() || rest.starts_with('.')).then(|| of_suffix(suffix))
            });
        }
        let is_pattern = |word: &&String| word.contains('%') && !word.starts_with('-');
        self.needs.iter().find(is_pattern).map(String::as_str)
    }

    /// Whether it says that it compiles CUDA sources.
    fn is_of_cuda(&self) -> bool {
        let is_cuda = |word: &str| {
            let word = word.trim_start_matches(DOUBT);
            !word.starts_with('-') && [".cu", ".hip"].iter().any(|end| word.ends_with(end))
        };
        self.pattern().is_some_and(is_cuda) || self.needs.iter().chain(&self.words).any(|it| is_cuda(it))
    }
}

fn of_suffix(suffix: &str) -> &'static str {
    match suffix {
        "cu" => "%.cu",
        "hip" => "%.hip",
        "cpp" => "%.cpp",
        "cc" => "%.cc",
        _ => "%.c",
    }
}

#[cfg(test)]
mod tests;
