//! Does a baseline know its findings wherever the program is run and however files are named?

use crate::support::folder::folder;
use std::fs;
use std::path::Path;
use std::process::Command;

const CONFLICT: &str = "\
__global__ void column(float *out) {
    __shared__ float s[32][32];
    s[threadIdx.x][0] = *out;
}
void run(float *o) { column<<<1, 32>>>(o); }
";

fn run(root: &Path, arguments: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cudalint")).current_dir(root).args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// Writes a baseline in each of several ways, and reads it in each of them.
fn agree(root: &Path) {
    let inside = root.join("src/deep");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (known, all) = (text(&root.join("ci/known.json")), text(root));
    let ways: [(&Path, &str, &str); 5] = [
        (root, "ci/known.json", "."),
        (root, "./ci/known.json", "./src"),
        (root, &known, &all),
        (&inside, "../../ci/known.json", ".."),
        (Path::new("/"), &known, &all),
    ];
    let mut texts = Vec::new();
    for (from, baseline, path) in ways {
        assert_eq!(run(from, &["-q", "--write-baseline", baseline, path]).0, 0);
        texts.push(fs::read_to_string(&known).unwrap());
        for (from, baseline, path) in ways {
            let ran = run(from, &["-q", "--baseline", baseline, path]);
            assert_eq!(ran, (0, String::new()), "{} {path}", from.display());
        }
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    assert!(
        texts[0].contains("src/deep/a.cu") && texts[0].matches("fingerprint\"").count() == 2,
        "{}",
        texts[0]
    );
}

#[cfg(unix)]
#[test]
fn a_baseline_of_a_repository_does_not_depend_on_names() {
    let files = [("src/a.cu", CONFLICT), ("src/deep/a.cu", CONFLICT), ("ci/x", "")];
    let root = folder(&[&files[..], &[(".git/HEAD", "")]].concat());
    agree(root.path());
}

#[cfg(unix)]
#[test]
fn outside_of_a_repository_a_baseline_does_not_depend_on_names_either() {
    let root = folder(&[("src/a.cu", CONFLICT), ("src/deep/a.cu", CONFLICT), ("ci/x", "")]);
    agree(root.path());
    // Nor on where the project lies.
    let moved = tempfile::tempdir().unwrap();
    fs::rename(root.path().join("src"), moved.path().join("src")).unwrap();
    fs::rename(root.path().join("ci"), moved.path().join("ci")).unwrap();
    assert_eq!(run(moved.path(), &["-q", "--baseline", "ci/known.json", "."]).0, 0);
}

#[cfg(unix)]
#[test]
fn a_baseline_beside_a_repository_is_of_its_paths() {
    let root = folder(&[("p/.git/HEAD", ""), ("p/src/a.cu", CONFLICT), ("q/x", "")]);
    let project = root.path().join("p");
    assert_eq!(run(&project, &["-q", "--write-baseline", "../known.json", "src"]).0, 0);
    fs::rename(root.path().join("known.json"), root.path().join("q/known.json")).unwrap();
    assert_eq!(run(&project, &["-q", "--baseline", "../q/known.json", "."]).0, 0);
    assert_eq!(run(root.path(), &["-q", "--baseline", "q/known.json", "p"]).0, 0);
}
