//! What does a `compile_commands.json` say about a file: include folders, macros, devices?

use crate::banks::ComputeCapability;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file's usual name.
pub const NAME: &str = "compile_commands.json";

/// What one file is compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Include folders, in order.
    pub include: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<(String, String)>,
    /// Devices, as `sm_80`.
    pub targets: Vec<String>,
}

/// What the files of a build are compiled with, by absolute path.
#[derive(Debug, Default)]
pub struct Commands {
    files: FxHashMap<PathBuf, Flags>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Commands {
    /// Reads the text of the file. `absolute` resolves a path.
    ///
    /// # Errors
    /// When it is not what it should be, in words.
    pub fn read(text: &str, absolute: &dyn Fn(&Path) -> PathBuf) -> Result<Commands, String> {
        let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut files = FxHashMap::default();
        for entry in entries {
            let words = match (entry.arguments, &entry.command) {
                (Some(words), _) => words,
                (None, Some(line)) => shlex::split(line).unwrap_or_default(),
                (None, None) => Vec::new(),
            };
            let mut flags = flags(&words);
            for folder in &mut flags.include {
                *folder = absolute(&entry.directory.join(&*folder));
            }
            files.entry(absolute(&entry.directory.join(&entry.file))).or_insert(flags);
        }
        Ok(Commands { files })
    }

    /// What a file, given by its absolute path, is compiled with.
    #[must_use]
    pub fn of(&self, file: &Path) -> Option<&Flags> {
        self.files.get(file)
    }
}

/// The spellings of a flag: `-I dir`, `-Idir`, `--include-path=dir`.
const INCLUDE: [&str; 5] = ["--include-path", "--system-include", "-isystem", "-iquote", "-I"];
const DEFINE: [&str; 2] = ["--define-macro", "-D"];
const DEVICE: [&str; 7] = [
    "--gpu-architecture",
    "--generate-code",
    "--cuda-gpu-arch",
    "--offload-arch",
    "-gencode",
    "-arch",
    "--gpu-code",
];

fn flags(words: &[String]) -> Flags {
    let mut flags = Flags::default();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let mut value = |spellings: &[&str]| {
            let rest = spellings.iter().find_map(|flag| word.strip_prefix(flag))?;
            if rest.is_empty() { words.next() } else { Some(rest.strip_prefix('=').unwrap_or(rest)) }
        };
        if let Some(folders) = value(&INCLUDE) {
            flags.include.extend(folders.split(',').map(PathBuf::from));
        } else if let Some(define) = value(&DEFINE) {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            flags.defines.push((name.to_owned(), value.to_owned()));
        } else if let Some(code) = value(&DEVICE) {
            for target in devices(code) {
                if !flags.targets.contains(&target) {
                    flags.targets.push(target);
                }
            }
        }
    }
    flags
}

/// The devices of `sm_80`, `arch=compute_80,code=[sm_80,compute_80]`, `sm_80,sm_90`.
fn devices(code: &str) -> Vec<String> {
    let words = || code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named = |prefix: &'static str| {
        let numbers = words().filter_map(move |word| word.strip_prefix(prefix));
        numbers.map(|number| format!("sm_{number}")).filter(|name| name.parse::<ComputeCapability>().is_ok())
    };
    let real: Vec<String> = named("sm_").collect();
    if real.is_empty() { named("compute_").collect() } else { real }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Flags {
        flags(&shlex::split(line).unwrap())
    }

    #[test]
    fn flags_of_compilers_are_read_in_all_their_spellings() {
        let found = of("nvcc -Iinc -I sys --include-path=a,b -isystem=c -isystem d -c x.cu -o x.o");
        assert_eq!(found.include, ["inc", "sys", "a", "b", "c", "d"].map(PathBuf::from));
        let found = of("nvcc -DN=4 -D M --define-macro=K -DS='\"a b\"' -D__E=");
        let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [("N", "4"), ("M", "1"), ("K", "1"), ("S", "\"a b\""), ("__E", "")];
        assert_eq!(found.defines, expected.map(|(name, value)| define(name, value)));
    }

    #[test]
    fn devices_are_read_in_all_their_spellings() {
        for (line, targets) in [
            ("nvcc -arch=sm_80", &["sm_80"][..]),
            ("nvcc -arch sm_90a", &["sm_90a"]),
            (
                "nvcc -gencode arch=compute_70,code=sm_70 -gencode=arch=compute_80,code=sm_80",
                &["sm_70", "sm_80"],
            ),
            ("nvcc \"--generate-code=arch=compute_75,code=[compute_75,sm_75]\"", &["sm_75"]),
            ("nvcc -gencode arch=compute_86,code=compute_86", &["sm_86"]),
            ("clang++ --cuda-gpu-arch=sm_60 --offload-arch=sm_61", &["sm_60", "sm_61"]),
            ("nvcc -arch=native", &[]),
            ("nvcc -arch=all-major", &[]),
        ] {
            assert_eq!(of(line).targets, targets, "{line}");
        }
    }

    #[test]
    fn files_are_found_by_their_path() {
        let text = r#"[
            {"directory": "/b/out", "file": "../a.cu", "command": "nvcc -I../inc -c ../a.cu"},
            {"directory": "/b", "file": "/b/c.cu", "arguments": ["nvcc", "-DX=1", "-c", "c.cu"]}
        ]"#;
        let commands = Commands::read(text, &crate::headers::normalise).unwrap();
        assert_eq!(commands.of(Path::new("/b/a.cu")).unwrap().include, [PathBuf::from("/b/inc")]);
        assert_eq!(commands.of(Path::new("/b/c.cu")).unwrap().defines.len(), 1);
        assert!(commands.of(Path::new("/b/d.cu")).is_none());
        assert!(Commands::read("{}", &|path| path.to_path_buf()).is_err());
    }
}
