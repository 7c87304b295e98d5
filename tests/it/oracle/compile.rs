//! How is a kernel file compiled and run on the host, once for each of its versions?
//!
//! Everything lies under `target/oracle`, in a folder whose name is a hash of all that went into it: the
//! rewritten text, the headers beside it, the runtime, the compiler and its flags. The trace of a run
//! is kept there too, so a second run of the tests compiles nothing and runs nothing.

use super::launches::rewrite;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Unoptimised, so that every access is made as it is written and code lies in memory as in the text.
/// Sanitizers call the runtime at every load and store, basic block and subscript out of range.
/// Constructors are not left out: copies of small classes would be passed in registers unseen.
const FLAGS: [&str; 15] = [
    "-std=c++20",
    "-O0",
    "-g",
    "-w",
    "-fpermissive",
    "-fno-pie",
    "-fno-omit-frame-pointer",
    "-fno-elide-constructors",
    "-fno-threadsafe-statics",
    "-fdata-sections",
    "-fsanitize=thread",
    "-fsanitize=bounds,signed-integer-overflow,shift,integer-divide-by-zero,alignment",
    "-fsanitize-coverage=trace-pc",
    "--param",
    "tsan-distinguish-volatile=1",
];
const RUNTIME_FLAGS: [&str; 6] =
    ["-std=c++17", "-O2", "-w", "-fno-pie", "-fno-omit-frame-pointer", "-fdata-sections"];
/// The arrays in shared memory before everything else that is zero at first.
const LINK_FLAGS: [&str; 2] = ["-no-pie", "-Wl,--sort-section=alignment"];
/// Seconds of processor time that a program may take.
const MOST_SECONDS: u32 = 100;
const MOST_FOREIGN_SECONDS: u32 = 20;

/// Lines of a compiler's words that are kept.
const MOST_ERRORS: usize = 400;

/// A C++ compiler that can do this.
#[derive(Debug)]
pub struct Compiler {
    command: String,
    version: String,
    runtime: PathBuf,
}

/// What a kernel file became.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub executable: PathBuf,
    pub trace: PathBuf,
}

/// The compiler, or why there is none. It is g++, or what `CXX` names, on Linux.
pub fn compiler() -> Result<&'static Compiler, &'static str> {
    static FOUND: OnceLock<Result<Compiler, String>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map_err(String::as_str)
}

fn find() -> Result<Compiler, String> {
    if !cfg!(target_os = "linux") {
        return Err("the runtime is written for Linux".to_owned());
    }
    let command = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let output = Command::new(&command).arg("--version").output();
    let output = output.map_err(|error| format!("{command}: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    if !version.contains("Free Software Foundation") {
        return Err(format!("{command} is not the GNU compiler"));
    }
    let runtime = build_runtime(&command, &version)?;
    Ok(Compiler { command, version, runtime })
}

fn build_runtime(command: &str, version: &str) -> Result<PathBuf, String> {
    let source = root().join("tests/oracle/runtime/runtime.cpp");
    let folder = folder("runtime", &[version, &RUNTIME_FLAGS.join(" "), &own_files()]);
    let object = folder.join("runtime.o");
    into_place(&object, |to| {
        run(Command::new(command).args(RUNTIME_FLAGS).arg("-c").arg(&source).arg("-o").arg(to))
    })?;
    Ok(object)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text of the headers and of the runtime.
fn own_files() -> String {
    let folder = root().join("tests/oracle");
    let files = ["cuda", "runtime"].map(|name| walkdir::WalkDir::new(folder.join(name)).sort_by_file_name());
    let files = files.into_iter().flatten().map(|entry| entry.unwrap().into_path());
    files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// A folder for a name and what goes into it. Earlier ones of that name are removed.
fn folder(name: &str, parts: &[&str]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("oracle");
    let folder = target.join(format!("{name}-{:016x}", hash(parts)));
    if !folder.is_dir() {
        let others = std::fs::read_dir(&target).into_iter().flatten().flatten();
        let is_earlier = |other: &std::fs::DirEntry| {
            let other = other.file_name();
            other.to_string_lossy().rsplit_once('-').is_some_and(|(its_name, _)| its_name == name)
        };
        for earlier in others.filter(is_earlier) {
            let _ = std::fs::remove_dir_all(earlier.path());
        }
    }
    folder
}

fn hash(parts: &[&str]) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_usize(part.len());
    }
    hasher.finish()
}

/// Makes a file unless it is there. Other processes and threads see none of it before it is whole.
fn into_place(file: &Path, make: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    /// Several tests may make one file at the same time.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    if file.is_file() {
        return Ok(());
    }
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let unfinished = file.with_extension(format!("{}-{number}.unfinished", std::process::id()));
    let made = make(&unfinished);
    if made.is_ok() {
        std::fs::rename(&unfinished, file).unwrap();
    } else {
        let _ = std::fs::remove_file(&unfinished);
    }
    made
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let errors = stderr.lines().filter(|line| line.contains("rror") || line.contains("undefined reference"));
    let stderr: String = errors.take(MOST_ERRORS).map(|line| format!("{line}\n")).collect();
    Err(format!("{}\n{stderr}", output.status))
}

impl Compiler {
    /// Links an object with the runtime. In some templates the compiler forgets that a dynamic array is
    /// called otherwise; then the linker is told.
    fn link(&self, object: &Path, to: &Path) -> Result<(), String> {
        let link = |names: &[String]| {
            let mut command = Command::new(&self.command);
            command.arg(object).arg(&self.runtime).args(LINK_FLAGS).arg("-o").arg(to);
            command.args(names.iter().map(|name| format!("-Wl,--defsym={name}=oracle_dynamic")));
            run(&mut command)
        };
        link(&[]).or_else(|error| {
            let missing = error.split("undefined reference to `").skip(1);
            let mut names: Vec<String> =
                missing.filter_map(|rest| Some(rest.split_once('\'')?.0.to_owned())).collect();
            names.sort();
            names.dedup();
            // Functions have their parameters.
            if names.is_empty() || names.iter().any(|name| name.contains('(')) {
                Err(error)
            } else {
                link(&names)
            }
        })
    }

    /// Compiles and runs a kernel file; `path` is what debug information calls it, and where its
    /// headers are.
    pub fn build(&self, path: &Path, text: &str) -> Result<Compiled, String> {
        let compiled = self.compile(path, text)?;
        into_place(&compiled.trace, |to| {
            let line = format!("ulimit -t {MOST_SECONDS}; exec '{}'", compiled.executable.display());
            run(Command::new("sh").arg("-c").arg(line).env("ORACLE_TRACE", to))
        })?;
        Ok(compiled)
    }

    /// The same for a program that others wrote. It runs in an empty folder, makes each launch once, and
    /// what it did before it failed or was stopped counts.
    pub fn build_foreign(&self, path: &Path, text: &str) -> Result<Compiled, String> {
        let compiled = self.compile(path, text)?;
        self.run_foreign(&compiled, true)?;
        Ok(compiled)
    }

    /// The same for one of many versions of a file, in a folder of the caller: none of it is kept.
    pub fn build_version(&self, path: &Path, text: &str, folder: &Path) -> Result<Compiled, String> {
        let compiled = self.compile_into(folder, path, &rewrite(text)?)?;
        self.run_foreign(&compiled, false)?;
        Ok(compiled)
    }

    fn run_foreign(&self, compiled: &Compiled, once: bool) -> Result<(), String> {
        let empty = tempfile::tempdir().unwrap();
        into_place(&compiled.trace, |to| {
            std::fs::write(to, []).unwrap();
            let program = compiled.executable.display();
            let line = format!("ulimit -t {MOST_FOREIGN_SECONDS}; exec '{program}' </dev/null");
            let mut command = Command::new("sh");
            command
                .arg("-c")
                .arg(line)
                .current_dir(empty.path())
                .env("ORACLE_TRACE", to)
                .env("ORACLE_FORK", "1");
            if once {
                command.env("ORACLE_ONCE", "1");
            }
            let _ = run(&mut command);
            Ok(())
        })
    }

    fn compile(&self, path: &Path, text: &str) -> Result<Compiled, String> {
        let rewritten = rewrite(text)?;
        let beside = path.parent().unwrap();
        let flags = FLAGS.join(" ");
        let headers: String = walkdir::WalkDir::new(beside)
            .max_depth(1)
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|it| it == "h" || it == "cuh"))
            .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
            .collect();
        let stem = path.file_stem().unwrap().to_string_lossy();
        let name = path.to_string_lossy();
        let runtime = own_files();
        let parts: [&str; 6] = [&rewritten, &name, &headers, &runtime, &self.version, &flags];
        // Files in other folders may have the same name.
        let folder = folder(&format!("{stem}-{:08x}", hash(&[&name]) as u32), &parts);
        self.compile_into(&folder, path, &rewritten)
    }

    fn compile_into(&self, folder: &Path, path: &Path, rewritten: &str) -> Result<Compiled, String> {
        let (name, beside) = (path.to_string_lossy(), path.parent().unwrap());
        let source = folder.join("source.cpp");
        let compiled = Compiled { executable: folder.join("program"), trace: folder.join("trace") };
        into_place(&source, |to| {
            let text = format!("#line 1 \"{name}\"\n{rewritten}");
            std::fs::write(to, text).map_err(|error| error.to_string())
        })?;
        into_place(&compiled.executable, |to| {
            let includes = root().join("tests/oracle/cuda");
            let object = to.with_extension("o");
            let mut command = Command::new(&self.command);
            command.args(FLAGS).arg("-I").arg(&includes).arg("-I").arg(beside);
            // Headers that the program lacks here.
            command.arg("-idirafter").arg(folder.join("missing"));
            command.arg("-include").arg(includes.join("cuda_runtime.h")).arg("-c").arg(&source);
            run(command.arg("-o").arg(&object))?;
            let linked = self.link(&object, to);
            let _ = std::fs::remove_file(&object);
            linked
        })?;
        Ok(compiled)
    }
}
