//! Does `cudalint accesses` list every access of a shared array that the text holds?
//!
//! A parser of the test's own finds the accesses, and each has to be in the table, decided or not. `only_names` passes
//! over what is no access. `fixtures/unlisted.txt` names the rest with the reasons.
//!
//! With `CUDALINT_CORPUS` set to a folder of repositories, the test counts these too and prints what is not listed.

use crate::support::program::run;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tree_sitter::{Node, Parser};

/// A line of the table.
#[derive(Deserialize)]
struct Row {
    file: PathBuf,
    line: usize,
    column: usize,
}

/// The places that the table lists, by file.
type Listed = BTreeMap<PathBuf, BTreeSet<(usize, usize)>>;

fn listed(root: &Path, path: &str) -> Listed {
    let (code, stdout, stderr) = run(root, &["accesses", "--format", "json", "--quiet", path]);
    assert!(code < 2, "{path}: {stderr}");
    let mut listed = Listed::new();
    for line in stdout.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let file = row.file.strip_prefix(".").unwrap_or(&row.file).to_path_buf();
        listed.entry(file).or_default().insert((row.line, row.column));
    }
    listed
}

/// An access that the text holds.
#[derive(Debug)]
struct Place {
    line: usize,
    column: usize,
    text: String,
}

fn descendants(node: Node<'_>) -> Vec<Node<'_>> {
    let mut all = vec![node];
    let mut next = 0;
    while let Some(&node) = all.get(next) {
        let mut cursor = node.walk();
        all.extend(node.children(&mut cursor));
        next += 1;
    }
    all
}

/// The names of arrays that a body declares `__shared__`, with the number of their dimensions.
fn shared_arrays<'t>(body: Node<'_>, text: &'t [u8]) -> BTreeMap<&'t str, usize> {
    let word = |node: Node<'_>| std::str::from_utf8(&text[node.byte_range()]).unwrap_or("");
    let mut arrays = BTreeMap::new();
    for declaration in descendants(body).into_iter().filter(|it| it.kind() == "declaration") {
        if !word(declaration).split(['[', ';', '=']).next().unwrap_or("").contains("__shared__") {
            continue;
        }
        let mut cursor = declaration.walk();
        for declared in declaration.children_by_field_name("declarator", &mut cursor) {
            let (mut inner, mut dimensions) = (declared, 0);
            while inner.kind() == "array_declarator" {
                dimensions += 1;
                let Some(next) = inner.child_by_field_name("declarator") else { break };
                inner = next;
            }
            if dimensions > 0 && inner.kind() == "identifier" {
                arrays.insert(word(inner), dimensions);
            }
        }
    }
    arrays
}

/// What surrounds an expression, but for parentheses.
fn around(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        node = node.parent()?;
        if node.kind() != "parenthesized_expression" {
            return Some(node);
        }
    }
}

/// Whether the text only names a place: its address is taken, a reference is bound, or it goes into a call,
/// which may take a reference or be a macro. Or it is in text that the preprocessor may take out.
fn only_names(node: Node<'_>, text: &[u8]) -> bool {
    let of = |node: Node<'_>| text[node.byte_range()].to_vec();
    let mut up = node.parent();
    while let Some(outer) = up {
        let kind = outer.kind();
        if kind.starts_with("preproc")
            || kind == "sizeof_expression"
            || kind == "decltype"
            || outer.is_error()
        {
            return true;
        }
        up = outer.parent();
    }
    let Some(outer) = around(node) else { return true };
    match outer.kind() {
        "pointer_expression" => of(outer).starts_with(b"&"),
        "argument_list" | "initializer_list" | "field_expression" => true,
        "init_declarator" => {
            outer.child_by_field_name("declarator").is_some_and(|it| it.kind() == "reference_declarator")
        }
        "cast_expression" => outer.child_by_field_name("type").is_some_and(|it| of(it).contains(&b'&')),
        _ => false,
    }
}

fn places(text: &[u8]) -> Vec<Place> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let word = |node: Node<'_>| std::str::from_utf8(&text[node.byte_range()]).unwrap_or("");
    let mut places = Vec::new();
    let functions = descendants(tree.root_node()).into_iter().filter(|it| it.kind() == "function_definition");
    for body in functions.filter_map(|it| it.child_by_field_name("body")) {
        let arrays = shared_arrays(body, text);
        if arrays.is_empty() {
            continue;
        }
        for node in descendants(body) {
            let mut base = node;
            let is_access = match node.kind() {
                "subscript_expression" => {
                    let mut subscripts = 0;
                    while base.kind() == "subscript_expression" {
                        let Some(inner) = base.child_by_field_name("argument") else { break };
                        (base, subscripts) = (inner, subscripts + 1);
                    }
                    arrays.get(word(base)) == Some(&subscripts)
                }
                "pointer_expression" if word(node).starts_with('*') => {
                    while let Some(inner) =
                        base.child_by_field_name("argument").or_else(|| base.child_by_field_name("left"))
                    {
                        base = inner;
                        if base.kind() == "parenthesized_expression" {
                            let Some(inner) = base.named_child(0) else { break };
                            base = inner;
                        }
                    }
                    base.kind() == "identifier" && arrays.get(word(base)) == Some(&1)
                }
                // `atomicAdd(&s[i], 1)`, `atomicMax(s + i, x)`
                "call_expression" => {
                    let callee = node.child_by_field_name("function");
                    let first = node.child_by_field_name("arguments").and_then(|it| it.named_child(0));
                    let Some((_, first)) =
                        callee.zip(first).filter(|(it, _)| word(*it).starts_with("atomic"))
                    else {
                        continue;
                    };
                    let given = word(first).trim_start_matches(['&', '(', ' ']);
                    let name = given.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
                    arrays.contains_key(name)
                }
                _ => false,
            };
            if !is_access || only_names(node, text) && node.kind() != "call_expression" {
                continue;
            }
            let at = node.start_position();
            let line = text.split(|byte| *byte == b'\n').nth(at.row).unwrap_or(b"");
            let before = String::from_utf8_lossy(&line[..at.column.min(line.len())]);
            places.push(Place {
                line: at.row + 1,
                column: before.chars().count() + 1,
                text: word(node).to_owned(),
            });
        }
    }
    places
}

/// How many accesses a folder's files hold, and those that the table lacks.
fn count(root: &Path, listed: &Listed) -> (usize, Vec<String>) {
    let files = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().flatten();
    let files = files.map(walkdir::DirEntry::into_path);
    let files: Vec<PathBuf> =
        files.filter(|it| it.extension().is_some_and(|it| it == "cu" || it == "cuh")).collect();
    let of_file = |path: &PathBuf| {
        let text = std::fs::read(path).unwrap_or_default();
        let known = listed.iter().find(|(it, _)| path.ends_with(it)).map(|(_, places)| places);
        let places = places(&text);
        let missing =
            places.iter().filter(|it| !known.is_some_and(|known| known.contains(&(it.line, it.column))));
        let missing = missing.map(|it| format!("{}:{}:{}: {}", path.display(), it.line, it.column, it.text));
        (places.len(), missing.collect::<Vec<String>>())
    };
    let counts: Vec<(usize, Vec<String>)> = files.par_iter().map(of_file).collect();
    (counts.iter().map(|it| it.0).sum(), counts.into_iter().flat_map(|it| it.1).collect())
}

#[test]
fn each_access_in_the_fixtures_is_listed() {
    let folders =
        std::fs::read_dir("fixtures").unwrap().flatten().map(|it| it.path()).filter(|it| it.is_dir());
    let mut folders: Vec<PathBuf> =
        folders.filter(|it| !it.ends_with("parse") && !it.ends_with("hardware")).collect();
    folders.sort();
    let counts: Vec<(usize, Vec<String>)> = folders
        .par_iter()
        .map(|folder| {
            let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
            let files = files
                .map(walkdir::DirEntry::into_path)
                .filter(|it| it.extension().is_some_and(|it| it == "cu"));
            // Files of one folder may define the same names: each is a program of its own.
            let each = files.map(|file| count(&file, &listed(Path::new("."), file.to_str().unwrap())));
            each.fold((0, Vec::new()), |(all, mut missing), (count, more)| {
                missing.extend(more);
                (all + count, missing)
            })
        })
        .collect();
    let all: usize = counts.iter().map(|it| it.0).sum();
    let missing: Vec<String> = counts.into_iter().flat_map(|it| it.1).collect();
    assert!(all > 3000, "the fixtures hold accesses: {all}");
    let told = std::fs::read_to_string("fixtures/unlisted.txt").unwrap_or_default();
    let told: BTreeSet<&str> =
        told.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let missing: BTreeSet<&str> = missing.iter().map(String::as_str).collect();
    let new: Vec<&&str> = missing.difference(&told).collect();
    let gone: Vec<&&str> = told.difference(&missing).collect();
    assert!(new.is_empty(), "of {all} accesses these are not listed:\n{new:#?}");
    assert!(
        gone.is_empty(),
        "these are listed now, or no longer there; fixtures/unlisted.txt has them:\n{gone:#?}"
    );
}

#[test]
fn what_is_no_access_is_not_counted() {
    let text = b"__global__ void k(float* out) {\n  __shared__ float s[4], t[4][4];\n  float& r = s[0];\n  use(s[1], \
        &s[2]);\n  out[sizeof(s[3])] = s[threadIdx.x];\n  float* row = t[1];\n  *s = t[1][2];\n  atomicAdd(&s[1], \
        r);\n}\n";
    let found: Vec<String> = places(text).into_iter().map(|it| it.text).collect();
    assert_eq!(found.len(), 4, "{found:?}");
    for expected in ["s[threadIdx.x]", "*s", "t[1][2]", "atomicAdd(&s[1], r)"] {
        assert!(found.iter().any(|it| it == expected), "{expected} in {found:?}");
    }
}

#[test]
fn accesses_in_a_corpus_are_listed() {
    let Some(root) = std::env::var_os("CUDALINT_CORPUS") else {
        eprintln!("CUDALINT_CORPUS is not set: skipped");
        return;
    };
    let folders = std::fs::read_dir(&root).unwrap().flatten().map(|it| it.path()).filter(|it| it.is_dir());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    let (mut all, mut lacking) = (0, 0);
    for folder in folders {
        let (count, missing) = count(&folder, &listed(&folder, "."));
        eprintln!("{}: {count} accesses, {} not listed", folder.display(), missing.len());
        missing.iter().for_each(|it| eprintln!("    {it}"));
        (all, lacking) = (all + count, lacking + missing.len());
    }
    // Branches that no launch takes, and code under `#if`, are what is left.
    assert!(lacking * 50 <= all, "{lacking} of {all} accesses are not listed");
}
