//! Does `--watch` check again after a change, and only then?

use crate::support::folder::folder;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const COLUMN: &str = "\
#include \"width.inc\"
__global__ void k(float *out) {
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.x][0] = out[threadIdx.x];
}
void run(float *o) { k<<<1, 32>>>(o); }
";

/// A run that watches, ended with the test.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(root: &Path, arguments: &[&str]) -> Watching {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.current_dir(root).arg("--watch").args(arguments);
        // Both into one pipe, in which they keep their order.
        let (reader, writer) = std::io::pipe().unwrap();
        let child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Watching { child, lines }
    }

    /// The lines up to the one that says that all is checked and changes are waited for.
    fn until_it_waits(&self) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            // Only a run that hangs takes so long.
            let line =
                self.lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("{found:?}"));
            if line == "cudalint: watching for changes; Ctrl-C ends it" {
                return found;
            }
            found.push(line);
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many of the lines are findings.
fn findings(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains("warning[bank-conflict]")).count()
}

#[test]
fn a_change_is_checked_and_nothing_else_is() {
    let root =
        folder(&[("src/a.cu", COLUMN), ("src/width.inc", "#define WIDTH 32\n"), ("unwatched/new", "")]);
    // In one step, as nobody may read what is half written.
    let write = |name: &str, text: &str| {
        let new = root.path().join("unwatched/new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, root.path().join(name)).unwrap();
    };
    let mut watching = Watching::start(root.path(), &["--format", "short", "src"]);
    assert_eq!(findings(&watching.until_it_waits()), 1);
    write("src/width.inc", "#define WIDTH 33\n");
    let lines = watching.until_it_waits();
    assert_eq!(findings(&lines), 0, "{lines:?}");
    assert!(lines.contains(&"cudalint: `src/width.inc` changed".to_owned()), "{lines:?}");
    // What does not matter comes first: were it taken for a change, it would be the one that is named.
    write("src/a.o", "x");
    write("src/notes.txt", "x");
    write("src/new.cu", &COLUMN.replace("WIDTH", "16"));
    let lines = watching.until_it_waits();
    assert_eq!(findings(&lines), 1, "{lines:?}");
    assert_eq!(lines[0], "cudalint: `src/new.cu` changed");
    write("cudalint.toml", "oops");
    let lines = watching.until_it_waits();
    assert!(lines.iter().any(|line| line.starts_with("cudalint: error: ")), "{lines:?}");
    write("cudalint.toml", "[levels]\nall = 'allow'\n");
    assert_eq!(findings(&watching.until_it_waits()), 0);
    assert!(watching.child.try_wait().unwrap().is_none(), "it goes on until it is ended");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_as_it_ends_others() {
    use std::os::unix::process::ExitStatusExt;
    let root = folder(&[("a.cu", COLUMN), ("width.inc", "")]);
    let mut watching = Watching::start(root.path(), &["a.cu"]);
    watching.until_it_waits();
    let id = watching.child.id().to_string();
    // Not an interrupt: who runs the tests in the background may ignore those, and so does what they start.
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(watching.child.wait().unwrap().signal(), Some(15));
}
