//! What reaches the parser is what a compiler would see, and every byte of it knows where
//! it came from.

use cudalint::preproc::{Defines, Expanded, HeaderCache, Includes, NoIncludes, expand, expand_cached};
use cudalint::source::{SourceFile, Sources};
use cudalint::syntax::SyntaxTree;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tree_sitter::{Node, Parser, Tree};

/// Headers beside the file that includes them, or under one of its parents.
struct Folder {
    root: PathBuf,
    sources: Sources,
    known: Mutex<HashMap<PathBuf, Option<Arc<SourceFile>>>>,
    /// How long finding and reading files took.
    spent: Mutex<Duration>,
}

impl Includes for Folder {
    fn open(&self, from: &SourceFile, spec: &str, _angled: bool) -> Option<Arc<SourceFile>> {
        let start = Instant::now();
        let found = self.find(from, spec);
        *self.spent.lock().unwrap() += start.elapsed();
        found
    }
}

impl Folder {
    fn find(&self, from: &SourceFile, spec: &str) -> Option<Arc<SourceFile>> {
        let mut folder = from.path.parent();
        while let Some(here) = folder.filter(|here| here.starts_with(&self.root)) {
            for path in [here.join(spec), here.join("include").join(spec), here.join("Common").join(spec)] {
                let mut known = self.known.lock().unwrap();
                let file = known.entry(path).or_insert_with_key(|path| {
                    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
                    Some(self.sources.add(&path, std::fs::read(&path).ok()?))
                });
                if file.is_some() {
                    return file.clone();
                }
            }
            folder = here.parent();
        }
        None
    }
}

/// `text` with comments, literals and directives blanked.
fn code_only(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|w| w == b"*/").map_or(rest.len(), |p| p + 4)
        } else if rest[0] == b'"' || rest[0] == b'\'' && (at == 0 || !bytes[at - 1].is_ascii_hexdigit()) {
            let mut end = 1;
            while end < rest.len() && rest[end] != rest[0] && rest[end] != b'\n' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            (end + 1).min(rest.len())
        } else if rest[0] == b'#' && line_start {
            let mut end = 0;
            while end < rest.len() && (rest[end] != b'\n' || rest[..end].trim_ascii_end().ends_with(b"\\")) {
                end += 1;
            }
            end
        } else {
            line_start = rest[0] == b'\n' || line_start && rest[0].is_ascii_whitespace();
            at += 1;
            continue;
        };
        bytes[at..at + length].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at += length;
    }
    String::from_utf8(bytes).unwrap()
}

/// Where the definitions of kernels have their `__global__`.
fn kernel_words(code: &str) -> Vec<usize> {
    let found = code.match_indices("__global__").map(|(at, _)| at);
    found
        .filter(|&at| {
            let rest = &code[at + 10..];
            let end = rest.find([';', '{', '}']).unwrap_or(rest.len());
            rest[end..].starts_with('{') && rest[..end].contains('(')
        })
        .collect()
}

fn shared_words(code: &str) -> Vec<usize> {
    code.match_indices("__shared__").map(|(at, _)| at).collect()
}

fn above<'t>(tree: &'t Tree, at: usize, kind: &str) -> Option<Node<'t>> {
    let mut node = tree.root_node().descendant_for_byte_range(at, at + 10)?;
    while node.kind() != kind {
        node = node.parent()?;
    }
    Some(node)
}

fn kernel_is_intact(tree: &Tree, at: usize) -> bool {
    above(tree, at, "function_definition").is_some_and(|function| {
        let declarator = function.child_by_field_name("declarator");
        let header_ends = declarator.map_or(0, |node| node.end_byte());
        function.child_by_field_name("body").is_some()
            && declarator.is_some_and(|node| node.kind() == "function_declarator" && !node.has_error())
            && header_ends > at
            && !has_error_child(function)
    })
}

fn has_error_child(node: Node<'_>) -> bool {
    (0..node.child_count())
        .filter_map(|at| node.child(at))
        .any(|child| child.is_error() || child.is_missing())
}

fn declaration_is_intact(tree: &Tree, at: usize) -> bool {
    ["declaration", "parameter_declaration", "field_declaration"]
        .iter()
        .any(|kind| above(tree, at, kind).is_some_and(|node| !node.has_error()))
}

#[derive(Default)]
struct Tally {
    files: usize,
    clean: usize,
    kernels: usize,
    kernels_intact: usize,
    shared: usize,
    shared_intact: usize,
    recovered: usize,
}

impl Tally {
    fn add(&mut self, text: &str, trees: &[&Tree], lost: &mut Vec<usize>) {
        let code = code_only(text);
        self.files += 1;
        self.clean += usize::from(!trees[0].root_node().has_error());
        self.recovered += trees.len() - 1;
        for at in kernel_words(&code) {
            self.kernels += 1;
            let intact = trees.iter().any(|tree| kernel_is_intact(tree, at));
            self.kernels_intact += usize::from(intact);
            if !intact {
                lost.push(at);
            }
        }
        for at in shared_words(&code) {
            self.shared += 1;
            let intact = trees.iter().any(|tree| declaration_is_intact(tree, at));
            self.shared_intact += usize::from(intact);
            if !intact {
                lost.push(at);
            }
        }
    }

    fn report(&self, name: &str) {
        eprintln!(
            "{name}: {}/{} files clean, kernels {}/{}, __shared__ {}/{}, {} recovered",
            self.clean,
            self.files,
            self.kernels_intact,
            self.kernels,
            self.shared_intact,
            self.shared,
            self.recovered
        );
    }
}

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).unwrap();
    parser
}

fn files_under(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            files_under(&path, out);
        } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
            out.push(path);
        }
    }
}

/// The first error or missing node.
fn first_error(node: Node<'_>) -> Option<Node<'_>> {
    if node.is_error() || node.is_missing() {
        return Some(node);
    }
    (0..node.child_count()).filter_map(|at| node.child(at)).filter(Node::has_error).find_map(first_error)
}

/// With `CUDALINT_CORPUS` set to a folder of CUDA code: how much of it survives the parse,
/// and what that costs.
#[test]
fn a_corpus_parses_better_expanded() {
    let Some(root) = std::env::var_os("CUDALINT_CORPUS") else {
        eprintln!("CUDALINT_CORPUS is not set: skipped");
        return;
    };
    let mut paths = Vec::new();
    files_under(Path::new(&root), &mut paths);
    let folder = Folder {
        root: root.into(),
        sources: Sources::default(),
        known: Mutex::default(),
        spent: Mutex::default(),
    };
    let defines = Defines::default();
    let cache = HeaderCache::default();
    let mut parser = parser();
    let (mut before, mut after) = (Tally::default(), Tally::default());
    let (mut bare, mut expanding, mut parsing) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut bytes = 0;
    for path in paths {
        let file = folder.sources.add(&path, std::fs::read(&path).unwrap());
        bytes += file.text.len();
        let start = Instant::now();
        let tree = parser.parse(&file.text, None).unwrap();
        bare += start.elapsed();
        before.add(&file.text, &[&tree], &mut Vec::new());

        let start = Instant::now();
        let expanded = expand_cached(&file, &defines, &folder, &cache);
        expanding += start.elapsed();
        check_map(&expanded);
        let start = Instant::now();
        let tree = SyntaxTree::parse(expanded).unwrap();
        parsing += start.elapsed();
        let mut trees = vec![&tree.tree];
        trees.extend(tree.recovered().iter().map(|recovered| &recovered.tree));
        let mut lost = Vec::new();
        after.add(tree.expanded.text(), &trees, &mut lost);
        for at in lost {
            let original = tree.expanded.map.original(at as u32, at as u32 + 10).0;
            eprintln!("lost {}:{}", path.display(), file.line_column(original).0);
        }
        if let Some(node) = first_error(tree.tree.root_node()) {
            let span = tree.span(node);
            let text: String = tree.text(node).chars().take(60).collect();
            eprintln!(
                "error {}:{}: {} {text:?}",
                path.display(),
                file.line_column(span.start).0,
                node.kind()
            );
        }
    }
    before.report("before");
    after.report("after");
    let expanding = expanding - *folder.spent.lock().unwrap();
    eprintln!("{bytes} bytes; bare parse {bare:?}, expansion {expanding:?}, parse {parsing:?}");
    assert!(after.kernels_intact * before.kernels >= before.kernels_intact * after.kernels);
}

/// Every verbatim byte is the original's byte at the mapped place, or was blanked.
fn check_map(expanded: &Expanded) {
    let (text, original) = (expanded.text(), &expanded.file.text);
    let segments = &expanded.map.segments;
    if segments.is_empty() {
        assert_eq!(text.len(), original.len(), "an identity map keeps the length");
    }
    assert!(segments.is_sorted_by(|a, b| a.expanded_start < b.expanded_start));
    let mut index = 0;
    for (at, byte) in text.bytes().enumerate() {
        while segments.get(index + 1).is_some_and(|next| next.expanded_start as usize <= at) {
            index += 1;
        }
        if segments.get(index).is_some_and(|segment| segment.macro_use_end.is_some()) {
            continue;
        }
        let (from, _) = expanded.map.original(at as u32, at as u32 + 1);
        let was = original.as_bytes()[from as usize];
        let masked = matches!(byte, b' ' | b'{' | b'}' | b'"');
        assert!(byte == was || masked, "byte {at}: {byte} was {was} at {from} in {:?}", expanded.file.path);
    }
}

fn expand_text(text: &str) -> Expanded {
    let file = Sources::default().add(Path::new("a.cu"), text.as_bytes().to_vec());
    expand(&file, &Defines::default(), &NoIncludes)
}

/// Every situation in the fixtures parses without an error, and keeps its kernels and arrays.
#[test]
fn fixtures_parse_cleanly() {
    let mut paths = Vec::new();
    files_under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parse"), &mut paths);
    assert!(paths.len() >= 25);
    let mut failures = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expanded = expand_text(&std::fs::read_to_string(&path).unwrap());
        check_map(&expanded);
        let tree = SyntaxTree::parse(expanded).unwrap();
        if let Some(node) = first_error(tree.tree.root_node()) {
            let line = tree.expanded.file.line_column(tree.span(node).start).0;
            failures.push(format!("{name}:{line}: {} {:?}", node.kind(), tree.text(node)));
        }
        let mut tally = Tally::default();
        let mut lost = Vec::new();
        tally.add(tree.expanded.text(), &[&tree.tree], &mut lost);
        failures.extend(lost.iter().map(|at| format!("{name}: lost the construct at byte {at}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A kernel that the text around it takes down is parsed on its own.
#[test]
fn lost_kernels_are_recovered() {
    let kernel = "template <int N>\n__global__ static void lost(float* v) {\n  __shared__ float s[N];\n  s[0] = v[0];\n}\n";
    let broken = [
        format!("void host() {{\n  if (x {{\n}}\n{kernel}void after() {{}}\n"),
        format!("int a[] = {{ 1, 2\n{kernel}"),
        format!("struct Open {{ int f( \n{kernel}"),
        format!("void f() {{ @ ] ) \n\n{kernel}"),
    ];
    for text in broken {
        let tree = SyntaxTree::parse(expand_text(&text)).unwrap();
        let trees: Vec<&Tree> = std::iter::once(&tree.tree)
            .chain(tree.recovered().iter().map(|recovered| &recovered.tree))
            .collect();
        let at = text.find("__global__").unwrap();
        let intact = trees.iter().find(|tree| kernel_is_intact(tree, at)).expect(&text);
        let function = above(intact, at, "function_definition").unwrap();
        let name =
            function.child_by_field_name("declarator").unwrap().child_by_field_name("declarator").unwrap();
        assert_eq!(tree.text(name), "lost");
        assert_eq!(tree.expanded.file.slice(tree.span(name)), "lost");
        assert!(declaration_is_intact(intact, text.find("__shared__").unwrap()));
        for recovered in tree.recovered() {
            let slice = &tree.expanded.text()[recovered.start as usize..recovered.end as usize];
            assert!(slice.starts_with("template <int N>") && slice.ends_with('}'), "{slice}");
        }
    }
}

#[test]
fn a_healthy_file_needs_no_recovery() {
    let tree = SyntaxTree::parse(expand_text("__global__ void k() { if (1) {} }\nint x = ;")).unwrap();
    assert!(tree.tree.root_node().has_error() && tree.recovered().is_empty());
}

#[test]
fn many_open_kernels_do_not_make_recovery_slow() {
    let text = "__global__ void f(){\n".repeat(3_000);
    assert!(SyntaxTree::parse(expand_text(&text)).is_some());
}
