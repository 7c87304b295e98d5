//! Which files does a walk find, and what does it say of the others?

#[path = "../../tests/support/folder.rs"]
mod folder;

use super::*;
use folder::folder as tree;

fn names(root: &Path, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<PathBuf> = arguments.iter().map(|it| root.join(it)).collect();
    let found = find(&arguments, &|_, _| false);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let taken = found.candidates.iter().filter(|it| read(it).unwrap().is_some());
    taken.map(|it| it.path.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_folder_gives_its_cuda_files_sorted() {
    let root = tree(&[
        ("b.cu", ""),
        ("a/z.cuh", ""),
        ("a/k.CU", ""),
        ("plain.h", "int f();"),
        ("dev.hpp", "__device__ int f();"),
        ("launch.inl", "k<<<1, 2>>>();"),
        ("notes.txt", "__global__"),
        (".git/x.cu", ""),
        ("._junk.cu", ""),
    ]);
    assert_eq!(names(root.path(), &[""]), ["a/k.CU", "a/z.cuh", "b.cu", "dev.hpp", "launch.inl"]);
}

#[test]
fn a_file_named_by_the_user_is_taken_whatever_it_is_and_once() {
    let root = tree(&[("plain.h", "int f();"), ("x.txt", "")]);
    let given = ["x.txt", "plain.h", "./x.txt", ""];
    assert_eq!(names(root.path(), &given), ["x.txt", "plain.h"]);
}

#[test]
fn patterns_are_expanded() {
    let root = tree(&[("src/a.cu", ""), ("src/deep/b.cu", ""), ("src/c.txt", "")]);
    assert_eq!(names(root.path(), &["src/*.cu"]), ["src/a.cu"]);
    assert_eq!(names(root.path(), &["src/**/*.cu"]), ["src/a.cu", "src/deep/b.cu"]);
    assert_eq!(names(root.path(), &["src/de*"]), ["src/deep/b.cu"]);
    assert_eq!(names(root.path(), &["src/[ab].{cu,cuh}"]), ["src/a.cu"]);
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
    let root = tree(&[("a[1].cu", ""), ("a1.cu", "")]);
    assert_eq!(names(root.path(), &["a[1].cu"]), ["a[1].cu"]);
}

#[test]
fn problems_name_the_path() {
    let root = tree(&[("docs/readme.txt", "")]);
    let say = |argument: &str| {
        let found = find(&[root.path().join(argument)], &|_, _| false);
        assert!(found.candidates.is_empty());
        let problem = found.problems.first().unwrap();
        (problem.to_string().replace(root.path().to_str().unwrap(), ""), problem.is_error())
    };
    assert_eq!(say("none.cu"), ("`/none.cu` does not exist".to_owned(), true));
    assert_eq!(say("none/*.cu"), ("no file matches `/none/*.cu`".to_owned(), true));
    assert_eq!(say("docs"), ("no CUDA files in `/docs`".to_owned(), false));
    assert!(say("a[.cu").0.starts_with("`/a[.cu` is not a valid pattern: "));
}

#[test]
fn a_huge_file_is_refused_without_reading_it() {
    let root = tree(&[("big.cu", "")]);
    let path = root.path().join("big.cu");
    File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
    let problem = read(&Candidate { path, only_if_cuda: false }).unwrap_err();
    assert!(problem.to_string().ends_with("big.cu` is larger than 64 MiB"), "{problem}");
}
