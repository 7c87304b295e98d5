//! Which files does a walk find, and what does it say of the others?

#[path = "../../tests/it/support/folder.rs"]
mod folder;

use super::*;
use folder::folder as tree;

fn names(root: &Path, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<PathBuf> = arguments.iter().map(|it| root.join(it)).collect();
    let found = find(&arguments, &[], &|_, _| false);
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
        ("host.cpp", "cudaLaunchKernel((void *)k, 1, 2, args);"),
        ("plain.cpp", "int main() {}"),
        ("notes.txt", "__global__"),
        (".git/x.cu", ""),
        ("._junk.cu", ""),
    ]);
    assert_eq!(names(root.path(), &[""]), ["a/k.CU", "a/z.cuh", "b.cu", "dev.hpp", "host.cpp", "launch.inl"]);
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
        let found = find(&[root.path().join(argument)], &[], &|_, _| false);
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
    fs::File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
    let problem = read(&Candidate::header(&path)).unwrap_err();
    assert!(problem.to_string().ends_with("big.cu` is larger than 64 MiB"), "{problem}");
}

#[cfg(unix)]
#[test]
fn a_file_has_its_own_name_rather_than_a_links() {
    use std::os::unix::fs::symlink;
    let root = tree(&[("src/m.cu", ""), ("plain.h", "int f();")]);
    let link = |to: &str, from: &str| symlink(to, root.path().join(from)).unwrap();
    link("m.cu", "src/a.cu");
    link("src", "b");
    link("../plain.h", "src/z.cu");
    assert_eq!(names(root.path(), &["src"]), ["src/m.cu", "src/z.cu"]);
    assert_eq!(
        names(root.path(), &["b", "src/a.cu"]),
        ["b/a.cu", "b/z.cu"],
        "one link is as good as another"
    );
    assert_eq!(names(root.path(), &["b", "src/a.cu", ""]), ["plain.h", "src/m.cu"]);
    assert_eq!(names(root.path(), &["src/*.cu", "src"]), ["src/m.cu", "src/z.cu"]);
}

#[test]
fn what_is_context_comes_behind_and_never_twice() {
    let root = tree(&[("src/a.cu", ""), ("src/b.cu", ""), ("c.cu", "")]);
    let at = |path: &str| root.path().join(path);
    let found = find(&[at("src/b.cu")], &[at(""), at("src")], &|_, _| false);
    let found: Vec<(PathBuf, bool)> = found.candidates.into_iter().map(|it| (it.path, it.context)).collect();
    assert_eq!(found, [(at("src/b.cu"), false), (at("c.cu"), true), (at("src/a.cu"), true)]);
}

#[test]
fn two_bytes_a_character_are_told_from_other_text() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [&[0xff, 0xfe][..], &wide("__global__ void k();")].concat();
    let big: Vec<u8> = "#pragma".bytes().flat_map(|byte| [0, byte]).collect();
    for text in [marked.as_slice(), &wide("#pragma once"), &big] {
        assert!(is_utf16(text));
    }
    for text in [b"".as_slice(), b"int", b"i\0", &[0; 8], &[0, 1, 2, 3], "\u{feff}int x;".as_bytes()] {
        assert!(!is_utf16(text));
    }
    let root = tree(&[]);
    for (name, text) in [("a.h", marked.as_slice()), ("resource.h", &wide("#define ID 1"))] {
        std::fs::write(root.path().join(name), text).unwrap();
    }
    let found = find(&[root.path().to_path_buf()], &[], &|_, _| false);
    let read: Vec<String> = found
        .candidates
        .iter()
        .map(|it| match read(it) {
            Ok(bytes) => format!("{bytes:?}"),
            Err(problem) => problem.to_string(),
        })
        .collect();
    assert!(read[0].contains("a.h` is UTF-16, which is not read"), "{read:?}");
    assert_eq!(read[1], "None", "no CUDA in it");
}
