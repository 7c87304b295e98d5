//! Is the name of a file ever taken for an option?

use super::{CONFLICT, run};
use crate::support::folder::folder;
use std::fs;

#[test]
fn the_name_of_a_file_is_no_option() {
    let root = folder(&[("--output=src/a.cu", CONFLICT), ("src/a.cu", CONFLICT), ("-oa.cu", CONFLICT)]);
    for name in ["--output=src/a.cu", "-oa.cu"] {
        for arguments in [&["check", "--quiet", name][..], &[name, "src"], &["accesses", name]] {
            let (code, out, err) = run(root.path(), arguments);
            assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
            let words = format!("cudalint: error: `{name}` is an option and the name of a file here; ");
            assert!(err.starts_with(&words), "{err}");
        }
        for arguments in
            [&["--format", "short", "--", name][..], &["--format", "short", &format!("./{name}")]]
        {
            let (code, out, err) = run(root.path(), arguments);
            assert_eq!((code, err.as_str()), (1, ""));
            assert!(out.contains(&format!("{name}:5:43: warning[bank-conflict]")), "{out}");
        }
    }
    for name in ["src/a.cu", "--output=src/a.cu", "-oa.cu"] {
        assert_eq!(fs::read_to_string(root.path().join(name)).unwrap(), CONFLICT);
    }
    assert!(!root.path().join("a.cu").exists());
}

/// The names as pre-commit hands them over: behind the arguments that the hook or the user gives.
#[test]
fn hooks_put_names_behind_two_dashes() {
    let hooks = fs::read_to_string(".pre-commit-hooks.yaml").unwrap();
    let root = folder(&[("--output=src/a.cu", CONFLICT), ("src/a.cu", CONFLICT)]);
    let lines = |key: &'static str| hooks.lines().filter_map(move |line| line.trim_start().strip_prefix(key));
    let entries: Vec<&str> = lines("entry: cudalint ").collect();
    assert_eq!(lines("args: ").collect::<Vec<_>>(), vec!["[\"--\"]"; entries.len()]);
    for entry in entries {
        let given: Vec<&str> = entry.split(' ').chain(["--", "--output=src/a.cu", "src/a.cu"]).collect();
        let (code, out, _) = run(root.path(), &given);
        assert_eq!(code, 1);
        assert!(out.contains("┌─ --output=src/a.cu:5:43") && out.contains("┌─ src/a.cu:5:43"), "{out}");
    }
    assert_eq!(fs::read_to_string(root.path().join("src/a.cu")).unwrap(), CONFLICT);
}
