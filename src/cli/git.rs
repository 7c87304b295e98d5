//! What does git say, of a repository that may be hostile?
//!
//! A repository's configuration and attributes name programs that git would run: monitors of the file
//! system, hooks, filters, diff drivers, transports for objects that are missing. Whoever asks for a lint
//! has not asked for any of these. Each is turned off, whatever the repository says:
//!
//! | program | turned off by |
//! |---|---|
//! | `core.fsmonitor`, `core.hooksPath` and `.git/hooks` | `-c` |
//! | `post-index-change`, which a refreshed index would run | `GIT_OPTIONAL_LOCKS=0` |
//! | `diff.external`, `diff.*.command`, `diff.*.textconv` | options of `git diff` |
//! | `filter.*.clean`, `.smudge`, `.process` | each that is configured, by name |
//! | fetching what a partial clone lacks (`ssh`, `ext::`) | no transport is allowed |
//! | `core.pager`, `core.askPass`, prompts | no terminal is involved |

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A work tree, and git in it.
pub(super) struct Git {
    /// The work tree's folder, without symbolic links.
    pub root: PathBuf,
    /// The settings that turn off what the repository's configuration names.
    overrides: Vec<(OsString, &'static str)>,
}

impl Git {
    /// The work tree around the working folder. An error is a sentence.
    pub(super) fn here() -> Result<Git, String> {
        let mut git = Git { root: PathBuf::from("."), overrides: Vec::new() };
        let root = git.ask(&["rev-parse", "--show-toplevel"])?;
        let root = PathBuf::from(path_of(root.strip_suffix(b"\n").unwrap_or(&root)));
        git.root = root.canonicalize().unwrap_or(root);
        // Reading the configuration runs nothing yet.
        let arguments = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
        let filters = git.ask(&arguments).unwrap_or_default();
        let names = filters.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        git.overrides = names.filter_map(filter_off).collect();
        git.overrides.sort();
        git.overrides.dedup();
        Ok(git)
    }

    /// What git prints; an error is its own first line, or that there is no git.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        match self.command(arguments).stdin(Stdio::null()).output() {
            Ok(ran) if ran.status.success() => Ok(ran.stdout),
            Ok(ran) => {
                let told = String::from_utf8_lossy(&ran.stderr);
                let line = told.lines().next().unwrap_or_default();
                Err(if line.is_empty() { "git failed".to_owned() } else { format!("git says: {line}") })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err("git is not installed".to_owned()),
            Err(error) => Err(format!("git cannot be run: {error}")),
        }
    }

    /// What git prints that is given something to read; `None` when it fails.
    pub(super) fn ask_about(&self, arguments: &[&str], input: Vec<u8>) -> Option<Vec<u8>> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take()?;
        // Either side may have to wait for the other to read.
        let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
        let output = child.wait_with_output().ok()?;
        let written = writer.join().unwrap_or(false);
        (written && output.status.success()).then_some(output.stdout)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root);
        command.args(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        command.args(["-c", "protocol.allow=never"]);
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "").env("GIT_ASKPASS", "");
        command.env_remove("GIT_EXTERNAL_DIFF");
        // Names that no option can spell, such as those with `=`, go through the environment, behind what the
        // user has put there.
        let count = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok());
        let count = count.unwrap_or(0);
        for (number, (name, value)) in self.overrides.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{}", count + number), name);
            command.env(format!("GIT_CONFIG_VALUE_{}", count + number), value);
        }
        command.env("GIT_CONFIG_COUNT", (count + self.overrides.len()).to_string());
        command.args(arguments);
        command
    }
}

/// What turns off a filter, one of whose settings this is: it names no program then, and need not.
fn filter_off(name: &[u8]) -> Option<(OsString, &'static str)> {
    let at = name.iter().rposition(|&byte| byte == b'.')?;
    let off = match name.get(at + 1..)? {
        b"clean" | b"smudge" | b"process" => "",
        b"required" => "false",
        _ => return None,
    };
    Some((path_of(name), off))
}

/// A path as git writes it.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}

/// A path as git writes it.
#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
