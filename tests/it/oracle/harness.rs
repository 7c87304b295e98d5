//! How do the kernels of a file run whose program does not?
//!
//! What runs on the host is made blank, as far as no device code calls it, and so are functions with inline PTX.
//! No line moves. Behind the text comes a `main` that launches each kernel in one block, with the shapes and template
//! arguments that are asked for and with arguments that are made up (`runtime/made_up.h`). What does not compile
//! is made blank, too, and what launches it is left out, with the compiler's words. A header that is not there is
//! empty.
//!
//! For example, of
//!
//! ```text
//! __global__ void k(float *out, int n) { ... }
//! void run(Context &c) { k<<<c.blocks, 64>>>(c.out, c.n); }
//! ```
//!
//! the first line stays, the second is blank, and behind them stands
//! `k<<<1, dim3(64, 1, 1), 49152>>>(oracle::MadeUp{0}, oracle::MadeUp{1});` for each size.

use super::compile::{Compiled, compiler};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tree_sitter::{Node, Parser};

/// The sizes that are tried: none, less than a block and odd, several tiles, the largest block.
pub const SIZES: [usize; 6] = [0, 1, 40, 128, 256, 1024];
/// The sizes that are tried of mutants.
pub const FEW_SIZES: [usize; 3] = [40, 128, 1024];
/// Bytes of dynamic shared memory.
const DYNAMIC_BYTES: u32 = 48 << 10;
/// How often it is tried without what did not compile.
const MOST_TRIES: usize = 20;

/// A kernel with its template arguments, and a block to run it in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub kernel: String,
    pub block: [u32; 3],
}

/// What of a file can be compiled.
#[derive(Debug, Default)]
pub struct Harness {
    /// The kernels that are launched.
    pub cases: Vec<Case>,
    /// What is not launched, with the reason.
    pub left_out: Vec<(Case, String)>,
    /// The first lines of what is made blank, each with the reason.
    blank: BTreeMap<usize, String>,
    /// Headers that are not there.
    missing: BTreeSet<PathBuf>,
}

/// A declaration or definition outside any function.
struct Item<'t> {
    node: Node<'t>,
    /// The namespaces in which it stands: `a::b::`.
    within: String,
}

impl Item<'_> {
    fn first_line(&self) -> usize {
        self.node.start_position().row + 1
    }

    fn has_line(&self, line: usize) -> bool {
        // A directive ends with its newline.
        let end = self.node.end_position();
        (self.first_line()..=end.row + usize::from(end.column > 0)).contains(&line)
    }

    /// The function that it is, also below `template <...>`.
    fn function(&self) -> Option<Node<'_>> {
        let mut at = self.node;
        while matches!(at.kind(), "template_declaration" | "linkage_specification") {
            at = at.named_child(at.named_child_count().checked_sub(1)? as u32)?;
        }
        (at.kind() == "function_definition").then_some(at)
    }
}

/// Whether `extern "C"` stands before braces.
fn has_list(node: Node<'_>) -> bool {
    node.child_by_field_name("body").is_some_and(|body| body.kind() == "declaration_list")
}

fn items<'t>(text: &str, node: Node<'t>, within: &str, out: &mut Vec<Item<'t>>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "linkage_specification" if !has_list(child) => {
                out.push(Item { node: child, within: within.to_owned() });
            }
            "namespace_definition" => {
                let name = child.child_by_field_name("name").map_or("", |name| &text[name.byte_range()]);
                let within = if name.is_empty() { within.to_owned() } else { format!("{within}{name}::") };
                items(text, child, &within, out);
            }
            "declaration_list"
            | "linkage_specification"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif" => items(text, child, within, out),
            _ => out.push(Item { node: child, within: within.to_owned() }),
        }
    }
}

fn parsed<T>(text: &str, act: impl FnOnce(&[Item<'_>]) -> T) -> T {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut found = Vec::new();
    items(text, tree.root_node(), "", &mut found);
    act(&found)
}

/// The name of a function, and how many parameters it has.
fn signature<'t>(text: &'t str, function: Node<'_>) -> Option<(&'t str, usize)> {
    let mut at = function.child_by_field_name("declarator")?;
    while at.kind() != "function_declarator" {
        at = at.child_by_field_name("declarator")?;
    }
    let name = at.child_by_field_name("declarator")?;
    let list = at.child_by_field_name("parameters")?;
    let mut cursor = list.walk();
    let parameters: Vec<Node<'_>> =
        list.named_children(&mut cursor).filter(|it| it.kind().contains("parameter")).collect();
    let is_void = matches!(parameters.as_slice(), [one] if &text[one.byte_range()] == "void");
    Some((&text[name.byte_range()], if is_void { 0 } else { parameters.len() }))
}

/// The text before a function's body.
fn head<'t>(text: &'t str, function: Node<'_>) -> &'t str {
    let body = function.child_by_field_name("body");
    &text[function.start_byte()..body.map_or(function.end_byte(), |body| body.start_byte())]
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_')).filter(|word| !word.is_empty())
}

impl Harness {
    /// Finds out what of a file compiles, and runs it.
    pub fn build(
        path: &Path,
        text: &str,
        cases: &[Case],
        folder: &Path,
    ) -> Result<(Harness, Compiled), String> {
        let text = &without_macro_calls(text);
        let mut harness = Harness { cases: cases.to_vec(), ..Harness::default() };
        harness.leave_host_out(text);
        let mut last = String::new();
        for attempt in 0..MOST_TRIES {
            if harness.cases.is_empty() {
                let why = harness.left_out.first().map_or("", |(_, why)| why);
                return Err(why.to_owned());
            }
            match harness.run(path, text, &SIZES, &folder.join(attempt.to_string())) {
                Ok(compiled) => return Ok((harness, compiled)),
                Err(error) => {
                    harness.leave_out(path, text, &error)?;
                    last = first_words(&error);
                }
            }
        }
        Err(format!("it does not compile after many tries: {last}"))
    }

    /// Compiles and runs a version of the file in which no line has moved.
    pub fn run(&self, path: &Path, text: &str, sizes: &[usize], folder: &Path) -> Result<Compiled, String> {
        for header in &self.missing {
            let header = folder.join("built/missing").join(header);
            std::fs::create_dir_all(header.parent().unwrap()).unwrap();
            std::fs::write(header, "").unwrap();
        }
        compiler().unwrap().build_version(path, &self.program(text, sizes), &folder.join("built"))
    }

    fn program(&self, text: &str, sizes: &[usize]) -> String {
        let text = &without_macro_calls(text);
        parsed(text, |items| {
            let mut bytes = text.as_bytes().to_vec();
            for item in items.iter().filter(|item| self.blank.contains_key(&item.first_line())) {
                let kept = |byte: &u8| *byte == b'\n';
                bytes[item.node.byte_range()]
                    .iter_mut()
                    .filter(|byte| !kept(byte))
                    .for_each(|byte| *byte = b' ');
            }
            let mut out = String::from_utf8_lossy(&bytes).into_owned();
            let made_up = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/runtime/made_up.h");
            let sizes = format!("{sizes:?}").replace('[', "{").replace(']', "}");
            out.push_str(&format!(
                "\n#include \"{}\"\nint main() {{ oracle::make_up(); for (size_t n : {sizes}) {{ oracle::made_up_size = n;\n",
                made_up.display()
            ));
            for case in &self.cases {
                out.push_str(&launch(text, items, case).unwrap_or_default());
                out.push('\n');
            }
            out.push_str("} }\n");
            out
        })
    }

    fn leave_host_out(&mut self, text: &str) {
        parsed(text, |items| {
            let functions: Vec<(&Item<'_>, Node<'_>)> =
                items.iter().filter_map(|item| Some((item, item.function()?))).collect();
            let is_of_device = |function: Node<'_>| {
                let head = head(text, function);
                ["__global__", "__device__", "constexpr"].iter().any(|word| head.contains(word))
            };
            let (device, host): (Vec<_>, Vec<_>) =
                functions.into_iter().partition(|(_, function)| is_of_device(*function));
            let called: BTreeSet<&str> =
                device.iter().flat_map(|(item, _)| words(&text[item.node.byte_range()])).collect();
            for (item, function) in host {
                let name = signature(text, function).map_or("", |(name, _)| name);
                if !called.contains(name) || name == "main" {
                    self.blank.insert(item.first_line(), "it runs on the host".to_owned());
                }
            }
            // Macros that stand for inline PTX, too.
            let is_assembly = |text: &str| words(text).any(|word| word == "asm" || word == "__asm__");
            let macros: BTreeSet<&str> = items
                .iter()
                .filter(|item| {
                    item.node.kind().starts_with("preproc_") && is_assembly(&text[item.node.byte_range()])
                })
                .filter_map(|item| Some(&text[item.node.child_by_field_name("name")?.byte_range()]))
                .collect();
            for (item, _) in device {
                let text = &text[item.node.byte_range()];
                if is_assembly(text) || words(text).any(|word| macros.contains(word)) {
                    self.blank.insert(item.first_line(), "inline PTX".to_owned());
                }
            }
            let launched = |case: &Case| launch(text, items, case).is_some();
            let (kept, without): (Vec<Case>, Vec<Case>) = self.cases.drain(..).partition(launched);
            self.cases = kept;
            self.left_out
                .extend(without.into_iter().map(|case| (case, "its definition is not found".to_owned())));
        });
        self.drop_blank_kernels(text);
    }

    /// Leaves out what a compiler complains of.
    fn leave_out(&mut self, path: &Path, text: &str, error: &str) -> Result<(), String> {
        if let Some(header) = missing_header(error) {
            return if self.missing.insert(header) { Ok(()) } else { Err(first_words(error)) };
        }
        // A file that does not end its last line has one line more then.
        let main = self.program(text, &SIZES).lines().count() - self.cases.len();
        let name = format!("{}:", path.display());
        let before = (self.blank.len(), self.cases.len());
        let complaints: Vec<(usize, String)> = error
            .lines()
            .filter(|line| line.contains("error:"))
            .filter_map(|line| {
                Some((line.strip_prefix(&name)?.split(':').next()?.parse().ok()?, first_words(line)))
            })
            .collect();
        let mut failing: BTreeMap<usize, String> = BTreeMap::new();
        parsed(text, |items| {
            for (line, why) in &complaints {
                if *line >= main {
                    failing.insert(line - main, why.clone());
                } else if let Some(item) = items.iter().find(|item| item.has_line(*line)) {
                    self.blank.entry(item.first_line()).or_insert(why.clone());
                }
            }
        });
        for (at, case) in std::mem::take(&mut self.cases).into_iter().enumerate() {
            match failing.remove(&at) {
                Some(why) => self.left_out.push((case, why)),
                None => self.cases.push(case),
            }
        }
        self.drop_blank_kernels(text);
        if (self.blank.len(), self.cases.len()) == before { Err(first_words(error)) } else { Ok(()) }
    }

    fn drop_blank_kernels(&mut self, text: &str) {
        parsed(text, |items| {
            for case in std::mem::take(&mut self.cases) {
                let item = kernel(text, items, &case).map(|(item, _)| item.first_line());
                match item.and_then(|line| self.blank.get(&line)) {
                    Some(why) => self.left_out.push((case, why.clone())),
                    None => self.cases.push(case),
                }
            }
        });
    }
}

/// The definition of a kernel, and how many parameters it has.
fn kernel<'a, 't>(text: &str, items: &'a [Item<'t>], case: &Case) -> Option<(&'a Item<'t>, usize)> {
    items.iter().find_map(|item| {
        let function = item.function().filter(|it| head(text, *it).contains("__global__"))?;
        let (name, parameters) = signature(text, function)?;
        (name == super::findings::base(&case.kernel)).then_some((item, parameters))
    })
}

fn launch(text: &str, items: &[Item<'_>], case: &Case) -> Option<String> {
    let (item, parameters) = kernel(text, items, case)?;
    let arguments = case.kernel.find('<').map_or("", |at| &case.kernel[at..]);
    let name = format!("{}{}{arguments}", item.within, super::findings::base(&case.kernel));
    let made_up: Vec<String> = (0..parameters).map(|at| format!("oracle::MadeUp{{{at}}}")).collect();
    let [x, y, z] = case.block;
    Some(format!("{name}<<<1, dim3({x}, {y}, {z}), {DYNAMIC_BYTES}>>>({});", made_up.join(", ")))
}

/// The text without calls of macros at the margin, which stand for host code: `BINDING(scale_f32, float)`.
fn without_macro_calls(text: &str) -> String {
    let is_name = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let mut out = String::new();
    let mut depth = 0;
    for line in text.split_inclusive('\n') {
        let behind = line.trim_start_matches(is_name);
        let is_call = behind.len() < line.len() && behind.starts_with('(') && !line.trim_end().ends_with('{');
        if depth == 0 && !is_call {
            out.push_str(line);
            continue;
        }
        depth += line.matches('(').count() as i64 - line.matches(')').count() as i64;
        depth = depth.max(0);
        out.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    out
}

#[test]
fn calls_of_macros_at_the_margin_are_taken_out() {
    let text = "BIND(a, f(b),\n     c)\n__global__ void k() {\n  CHECK(1);\n}\nMODULE(x, m) {\n}\n";
    assert_eq!(without_macro_calls(text), "\n\n__global__ void k() {\n  CHECK(1);\n}\nMODULE(x, m) {\n}\n");
}

/// The name of a header that a compiler does not find.
fn missing_header(error: &str) -> Option<PathBuf> {
    let line = error.lines().find(|line| line.contains("fatal error:"))?;
    let (before, _) = line.split_once(": No such file")?;
    let name = before.rsplit(": ").next()?;
    // Nothing is written outside the folder that is meant for it.
    let inside = !name.starts_with('/') && !name.contains("..");
    inside.then(|| PathBuf::from(name))
}

/// What a compiler says first, without names of the program.
fn first_words(error: &str) -> String {
    let line = error.lines().find(|line| line.contains("rror")).unwrap_or(error);
    line.rsplit("error: ").next().unwrap_or(line).chars().take(90).collect()
}
