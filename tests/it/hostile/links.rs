//! Does a fix write anywhere but where the user said?

use super::{CONFLICT, fixed, run};
use crate::support::folder::folder;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A project, and a file of someone else beside it.
fn project() -> tempfile::TempDir {
    folder(&[("project/src/own.cu", CONFLICT), ("other/a.cu", &CONFLICT.replace("transpose", "theirs"))])
}

fn read(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn a_fix_stays_in_the_folder_that_was_named() {
    let root = project();
    let theirs = read(root.path(), "other/a.cu");
    symlink("../../other/a.cu", root.path().join("project/src/link.cu")).unwrap();
    let home = root.path().join("project");
    let (code, _, err) = run(&home, &["--fix", "src"]);
    assert_eq!(code, 1, "what is not fixed is still reported");
    let why = "cudalint: not fixed: src/link.cu:2: pad the rows of `tile` by one element: `src/link.cu` is a \
               symbolic link; give what it leads to\ncudalint: fixed 1 finding in 1 file\n";
    assert!(err.starts_with(why), "{err}");
    assert_eq!(read(root.path(), "other/a.cu"), theirs);
    assert_eq!(read(&home, "src/own.cu"), fixed());
    assert!(fs::symlink_metadata(home.join("src/link.cu")).unwrap().is_symlink());
    let (_, diff, _) = run(&home, &["--diff", "src"]);
    assert_eq!(diff, "", "a diff shows what a fix would do");
}

#[test]
fn a_folder_that_is_a_link_is_not_written_into() {
    let root = project();
    let theirs = read(root.path(), "other/a.cu");
    symlink("../../other", root.path().join("project/src/sub")).unwrap();
    let absolute = root.path().join("project/src");
    for argument in [".", "src", "src/sub", "src/sub/a.cu", "src/*/a.cu", absolute.to_str().unwrap()] {
        let (code, _, err) = run(&root.path().join("project"), &["--fix", argument]);
        assert_eq!(code, 1, "{argument}");
        assert!(err.contains("src/sub` is a symbolic link; give what it leads to\n"), "{argument}: {err}");
        assert_eq!(read(root.path(), "other/a.cu"), theirs, "{argument}");
    }
    // From where the link is not below.
    let (code, _, err) = run(&absolute, &["--fix", "../../other"]);
    assert_eq!(code, 0, "{err}");
    assert_ne!(read(root.path(), "other/a.cu"), theirs);
}

#[test]
fn a_link_that_is_named_is_not_followed_either() {
    let root = project();
    symlink("../other/a.cu", root.path().join("project/link.cu")).unwrap();
    let theirs = read(root.path(), "other/a.cu");
    let absolute = root.path().join("project/link.cu");
    for argument in ["link.cu", "./link.cu", "*.cu", "../project/link.cu", absolute.to_str().unwrap()] {
        let (code, _, err) = run(&root.path().join("project"), &["--fix", argument]);
        assert_eq!(code, 1, "{argument}");
        assert!(err.contains("link.cu` is a symbolic link; give what it leads to\n"), "{argument}: {err}");
    }
    assert_eq!(read(root.path(), "other/a.cu"), theirs);
}

#[test]
fn a_file_is_fixed_by_its_own_name_whatever_links_to_it() {
    let root = folder(&[("src/m.cu", CONFLICT)]);
    symlink("m.cu", root.path().join("src/a.cu")).unwrap();
    symlink("src", root.path().join("b")).unwrap();
    let (code, out, _) = run(root.path(), &["--format", "short", "."]);
    assert!(code == 1 && out.starts_with("src/m.cu:5:43: "), "{out}");
    let (code, _, err) = run(root.path(), &["--fix", "src/a.cu", "b", "src"]);
    assert_eq!((code, read(root.path(), "src/m.cu")), (0, fixed()), "{err}");
    assert!(fs::symlink_metadata(root.path().join("src/a.cu")).unwrap().is_symlink());
}

#[test]
fn a_working_folder_behind_a_link_is_where_the_user_stands() {
    let root = folder(&[("real/src/a.cu", CONFLICT)]);
    symlink("real", root.path().join("home")).unwrap();
    let (code, _, err) = run(&root.path().join("home"), &["--fix", "src"]);
    assert_eq!((code, read(root.path(), "real/src/a.cu")), (0, fixed()), "{err}");
}

#[test]
fn another_name_of_the_same_file_keeps_the_old_bytes_and_permissions_stay() {
    let root = folder(&[("src/a.cu", CONFLICT), ("other/x", "")]);
    let (file, other) = (root.path().join("src/a.cu"), root.path().join("other/b.cu"));
    fs::hard_link(&file, &other).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, _, err) = run(root.path(), &["--fix", "src"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(read(root.path(), "src/a.cu"), fixed());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o755);
    assert_eq!(read(root.path(), "other/b.cu"), CONFLICT);
    let names: Vec<_> =
        fs::read_dir(root.path().join("src")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["a.cu"], "nothing is left behind");
}

#[test]
fn a_file_that_is_read_only_stays() {
    let root = folder(&[("a.cu", CONFLICT)]);
    fs::set_permissions(root.path().join("a.cu"), fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, err) = run(root.path(), &["--fix", "a.cu"]);
    assert_eq!((code, read(root.path(), "a.cu").as_str()), (2, CONFLICT));
    assert!(err.starts_with("cudalint: error: cannot write `a.cu`: it is read-only\n"), "{err}");
}
