//! Are the findings of `examples` few, true and repaired as the README says?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;
use std::path::Path;

/// A copy of the example.
fn copy() -> tempfile::TempDir {
    let names = ["matrix.cuh", "matmul.cu", "transpose.cu", "main.cu"];
    let texts = names.map(|name| fs::read_to_string(format!("examples/matmul/{name}")).unwrap());
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (*name, text.as_str())).collect();
    folder(&files)
}

#[test]
fn the_readme_shows_what_is_printed() {
    let (code, out, err) = run(Path::new("."), &["examples"]);
    assert_eq!((code, err.lines().count()), (1, 1));
    assert!(err.starts_with("cudalint: 2 warnings in 2 of 4 files "), "{err}");
    assert!(out.lines().count() <= 50, "more than a screen:\n{out}");
    for rule in ["bank-conflict", "divergent-barrier"] {
        assert_eq!(out.matches(&format!("warning[{rule}]: ")).count(), 1, "{out}");
    }
    let readme = fs::read_to_string("README.md").unwrap();
    let shown = readme.split("```text\n$ cudalint examples\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(shown, format!("{out}{err}"), "README.md shows something else");
}

#[test]
fn fix_repairs_the_conflict_and_nothing_else() {
    let root = copy();
    let (code, out, err) = run(root.path(), &["--fix", "."]);
    assert!(err.starts_with("cudalint: fixed 1 finding in 1 file\n"), "{err}");
    assert!(code == 1 && out.matches("warning[").count() == 1 && out.contains("divergent-barrier"), "{out}");
    let transpose = fs::read_to_string(root.path().join("transpose.cu")).unwrap();
    let original = fs::read_to_string("examples/matmul/transpose.cu").unwrap();
    assert_eq!(transpose, original.replace("tile[TILE][TILE];", "tile[TILE][TILE + 1];"));
    // What the other finding advises.
    let matmul = fs::read_to_string(root.path().join("matmul.cu")).unwrap();
    let repaired = matmul.replace("    __syncthreads();\n        }\n", "}\n        __syncthreads();\n");
    assert_ne!(repaired, matmul);
    fs::write(root.path().join("matmul.cu"), repaired).unwrap();
    assert_eq!(run(root.path(), &["-D", "all", "-A", "unresolved-access", "."]).0, 0);
}
