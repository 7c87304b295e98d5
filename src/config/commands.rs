//! What does a `compile_commands.json` say about a file: include folders, macros, devices?
//!
//! A header has no command of its own, and is compiled with those of the files that include it. It takes
//! what all CUDA files of the build have in common. Another file without a command takes their devices:
//! whether it is compiled with their macros is not known.

use crate::banks::ComputeCapability;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::ffi::OsStr;
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
    has_cuda: bool,
    /// Of headers, which have no command.
    headers: Flags,
    /// Of other files without a command.
    others: Flags,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// What reading needs to know of the files around.
pub trait Surroundings {
    /// The path from the root, without `.` and `..`.
    fn absolute(&self, path: &Path) -> PathBuf;
    /// The text of a file with options, if it can be read.
    fn options_file(&self, path: &Path) -> Option<String>;
}

impl Commands {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// When it is not what it should be, in words.
    pub fn read(text: &str, around: &dyn Surroundings) -> Result<Commands, String> {
        let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut files = FxHashMap::default();
        // In the order of the entries, so that the same file gives the same folders.
        let mut cuda: Vec<Flags> = Vec::new();
        for entry in entries {
            let words = match (entry.arguments, &entry.command) {
                (Some(words), _) => words,
                (None, Some(line)) => shlex::split(line).unwrap_or_default(),
                (None, None) => Vec::new(),
            };
            let read = |path: &str| around.options_file(&entry.directory.join(path));
            let mut flags = flags(&with_options_files(words, &read));
            for folder in &mut flags.include {
                *folder = around.absolute(&entry.directory.join(&*folder));
            }
            if !flags.targets.is_empty() || has_extension(&entry.file, &["cu"]) {
                cuda.push(flags.clone());
            }
            files.entry(around.absolute(&entry.directory.join(&entry.file))).or_insert(flags);
        }
        let headers = common(&cuda);
        let others = Flags { targets: headers.targets.clone(), ..Flags::default() };
        Ok(Commands { files, has_cuda: !cuda.is_empty(), headers, others })
    }

    /// What a file, given by its absolute path, is compiled with.
    #[must_use]
    pub fn of(&self, file: &Path) -> &Flags {
        self.files.get(file).unwrap_or_else(|| {
            let is_source = has_extension(file, &["cu", "c", "cc", "cpp", "cxx"]);
            if is_source { &self.others } else { &self.headers }
        })
    }

    /// Whether some file is compiled as CUDA.
    #[must_use]
    pub fn has_cuda(&self) -> bool {
        self.has_cuda
    }

    /// Whether there is a command for a file, given by its absolute path.
    #[must_use]
    pub fn has(&self, file: &Path) -> bool {
        self.files.contains_key(file)
    }
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Every include folder of these commands, and the macros and devices on which all of them agree.
fn common(commands: &[Flags]) -> Flags {
    let Some(first) = commands.first() else { return Flags::default() };
    let mut include: Vec<PathBuf> = Vec::new();
    for folder in commands.iter().flat_map(|flags| &flags.include) {
        if !include.contains(folder) {
            include.push(folder.clone());
        }
    }
    let in_all = |define: &&(String, String)| commands.iter().all(|flags| flags.defines.contains(define));
    let agree = commands.iter().all(|flags| flags.targets == first.targets);
    Flags {
        include,
        defines: first.defines.iter().filter(in_all).cloned().collect(),
        targets: if agree { first.targets.clone() } else { Vec::new() },
    }
}

/// How deep files with options may lead to each other.
const MOST_NESTED: usize = 4;

/// The words of a command with those of the files that it takes options from: `--options-file FILE`,
/// `@FILE`.
fn with_options_files(words: Vec<String>, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    fn add(words: Vec<String>, read: &dyn Fn(&str) -> Option<String>, depth: usize, found: &mut Vec<String>) {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let spelled = ["--options-file", "-optf"].into_iter().find_map(|flag| word.strip_prefix(flag));
            let name = match spelled {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => word.strip_prefix('@').map(str::to_owned),
            };
            let Some(name) = name else {
                found.push(word);
                continue;
            };
            // nvcc takes several, with commas between them.
            for text in name.split(',').filter(|_| depth < MOST_NESTED).filter_map(read) {
                add(shlex::split(&text).unwrap_or_default(), read, depth + 1, found);
            }
        }
    }
    let mut found = Vec::new();
    add(words, read, 0, &mut found);
    found
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

    struct Build;

    impl Surroundings for Build {
        fn absolute(&self, path: &Path) -> PathBuf {
            crate::headers::normalise(path)
        }

        fn options_file(&self, path: &Path) -> Option<String> {
            match path.to_str()? {
                "/b/out/inc.rsp" => Some("-I../inc \"-isystem=/x y\" @more.rsp".to_owned()),
                "/b/out/more.rsp" => Some("-DMORE @more.rsp".to_owned()),
                _ => None,
            }
        }
    }

    #[test]
    fn files_are_found_by_their_path() {
        let text = r#"[
            {"directory": "/b/out", "file": "../a.cu", "command": "nvcc -I../inc -c ../a.cu"},
            {"directory": "/b", "file": "/b/c.cu", "arguments": ["nvcc", "-DX=1", "-c", "c.cu"]}
        ]"#;
        let commands = Commands::read(text, &Build).unwrap();
        assert_eq!(commands.of(Path::new("/b/a.cu")).include, [PathBuf::from("/b/inc")]);
        assert_eq!(commands.of(Path::new("/b/c.cu")).defines.len(), 1);
        assert!(commands.has(Path::new("/b/c.cu")) && !commands.has(Path::new("/b/d.cu")));
        assert_eq!(*commands.of(Path::new("/b/d.cu")), Flags::default());
        assert!(Commands::read("{}", &Build).is_err());
    }

    #[test]
    fn headers_take_what_all_cuda_files_have_in_common() {
        let text = r#"[
            {"directory": "/b", "file": "a.cu", "command": "nvcc -Ix -DN=1 -DA=1 -arch=sm_80 a.cu"},
            {"directory": "/b", "file": "b.cu", "command": "nvcc -Iy -DN=1 -DA=2 -arch=sm_80 b.cu"},
            {"directory": "/b", "file": "c.cpp", "command": "g++ -Iz c.cpp"}
        ]"#;
        let commands = Commands::read(text, &Build).unwrap();
        let header = commands.of(Path::new("/b/h.cuh"));
        assert_eq!(header.include, ["/b/x", "/b/y"].map(PathBuf::from));
        assert_eq!(header.defines, [("N".to_owned(), "1".to_owned())]);
        assert_eq!(header.targets, ["sm_80"]);
        let other = commands.of(Path::new("/b/new.cu"));
        assert!(other.defines.is_empty() && other.include.is_empty());
        assert_eq!(other.targets, ["sm_80"]);
    }

    #[test]
    fn options_are_taken_from_files_too() {
        for flag in ["--options-file inc.rsp", "-optf=inc.rsp", "@inc.rsp"] {
            let text = format!(
                r#"[{{"directory": "/b/out", "file": "a.cu", "command": "nvcc -DN {flag} -c a.cu"}}]"#
            );
            let commands = Commands::read(&text, &Build).unwrap();
            let flags = commands.of(Path::new("/b/out/a.cu"));
            assert_eq!(flags.include, ["/b/inc", "/x y"].map(PathBuf::from), "{flag}");
            // A file that leads to itself is not read without end.
            let mut names: Vec<&str> = flags.defines.iter().map(|(name, _)| name.as_str()).collect();
            names.dedup();
            assert_eq!(names, ["N", "MORE"], "{flag}");
        }
    }
}
