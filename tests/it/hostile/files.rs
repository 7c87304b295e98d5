//! Is anything read that may never end?

use super::{CONFLICT, run};
use crate::support::folder::folder;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn what_is_no_regular_file_is_an_error_wherever_it_is_read() {
    for kind in ["fifo", "folder", "device", "nowhere"] {
        let root = folder(&[("src/a.cu", CONFLICT)]);
        let make = |name: &str| {
            let path = root.path().join(name);
            match kind {
                "fifo" => fifo(&path),
                "folder" => fs::create_dir(&path).unwrap(),
                "device" => symlink("/dev/zero", &path).unwrap(),
                _ => symlink("none", &path).unwrap(),
            }
        };
        for (name, arguments) in [
            ("src/cudalint.toml", &["src"][..]),
            ("cudalint.toml", &["accesses", "src/a.cu"]),
            ("compile_commands.json", &["-p", "compile_commands.json", "src"]),
            ("compile_commands.json", &["config", "-p", ".", "src/a.cu"]),
            ("known.json", &["--baseline", "known.json", "src"]),
            ("table.csv", &["banks", "--requests", "table.csv"]),
            ("b.cu", &["b.cu"]),
        ] {
            if kind == "folder" && (name == "b.cu" || arguments[0] == "-p") {
                continue;
            }
            make(name);
            let (code, out, err) = run(root.path(), arguments);
            assert_eq!((code, out.as_str()), (2, ""), "{kind} {name}: {err}");
            assert!(err.starts_with("cudalint: error: ") && err.contains(name), "{kind} {name}: {err}");
            let path = root.path().join(name);
            if kind == "folder" { fs::remove_dir(path) } else { fs::remove_file(path) }.unwrap();
        }
        // A header is one that cannot be had.
        make("src/h.cuh");
        fs::write(root.path().join("src/a.cu"), format!("#include \"h.cuh\"\n{CONFLICT}")).unwrap();
        assert_eq!(run(root.path(), &["--format", "short", "src/a.cu"]).0, 1, "{kind}");
    }
}

#[test]
fn a_configuration_that_is_a_link_to_a_file_is_read() {
    let root = folder(&[("src/a.cu", CONFLICT), ("shared.toml", "[levels]\nall = 'allow'\n")]);
    symlink("../shared.toml", root.path().join("src/cudalint.toml")).unwrap();
    assert_eq!(run(root.path(), &["src"]).0, 0);
}
