//! Where can a fault be put into a kernel file, and what is the text then?
//!
//! An operator finds its places on the syntax tree, in functions that run on a device. A mutant has one of these
//! places changed in each function: the first in mutant 0, the second in mutant 1, and so on. No line moves.
//!
//! For example, "an index one too high" finds `s[i]`, `s[i - 1]` and so on of arrays that are declared
//! `__shared__`. Mutant 0 has `s[(i) + 1]`, mutant 1 has `s[(i - 1) + 1]`.

use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// A way to make a kernel wrong.
pub struct Operator {
    pub name: &'static str,
    /// The rule that has to tell of it, where it does harm.
    pub rule: &'static str,
    /// The least share of faulty kernels that are told of.
    pub least: f64,
    place: fn(&File<'_>, Node<'_>, &mut Vec<Change>),
}

/// What is written instead, at bytes of the text.
type Change = Vec<(Range<usize>, String)>;

const BOUNDS: &str = "shared-out-of-bounds";
const UNWRITTEN: &str = "uninitialized-shared";
const LANES: &str = "divergent-warp-sync";
const BARRIER: &str = "divergent-barrier";

pub const OPERATORS: [Operator; 14] = [
    Operator { name: "an index one too high", rule: BOUNDS, least: 0.9, place: index_too_high },
    Operator { name: "`<` for `<=`", rule: BOUNDS, least: 0.9, place: at_most },
    Operator { name: "subscripts transposed", rule: BOUNDS, least: 0.8, place: transposed },
    Operator { name: "an extent one smaller", rule: BOUNDS, least: 0.9, place: extent_smaller },
    Operator { name: "a bound twice as high", rule: BOUNDS, least: 0.9, place: bound_doubled },
    Operator { name: "a store taken out", rule: UNWRITTEN, least: 0.85, place: store_removed },
    // Less than of others: nobody knows which the last round is of a loop whose bound comes from the host.
    Operator { name: "a bound one lower", rule: UNWRITTEN, least: 0.8, place: bound_lower },
    Operator { name: "half of a mask", rule: LANES, least: 0.9, place: half_mask },
    Operator { name: "a mask shifted", rule: LANES, least: 0.9, place: shifted_mask },
    Operator { name: "every other lane", rule: LANES, least: 0.85, place: every_other_lane },
    Operator { name: "a barrier for 7 threads", rule: BARRIER, least: 0.95, place: barrier_for_few },
    Operator { name: "a barrier for half the block", rule: BARRIER, least: 0.95, place: barrier_for_half },
    Operator { name: "a barrier moved into a branch", rule: BARRIER, least: 0.9, place: barrier_into_branch },
    Operator { name: "rows padded by one", rule: "misaligned-vector-access", least: 0.9, place: padded },
];

/// Barriers that are taken out: `mutants.rs` does it to the kernels of this project.
pub const TAKEN_OUT: [Operator; 2] = [
    Operator { name: "a barrier taken out", rule: "missing-barrier", least: 0.9, place: barrier_removed },
    Operator {
        name: "a barrier of the warp taken out",
        rule: "warp-synchronous",
        least: 0.9,
        place: warp_barrier_removed,
    },
];

/// The text with a fault at the place of this number of each function, and in how many functions there is one.
/// Functions with one of the lines `spared` stay as they are.
pub fn mutated(text: &str, operator: &Operator, number: usize, spared: &BTreeSet<usize>) -> (String, usize) {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut functions = Vec::new();
    device_functions(text, tree.root_node(), &mut functions);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut changed = 0;
    let is_spared = |function: &Node<'_>| {
        let lines = function.start_position().row + 1..=function.end_position().row + 1;
        spared.iter().any(|line| lines.contains(line))
    };
    for function in functions.into_iter().filter(|it| !is_spared(it)) {
        let file =
            File { text, shared: shared_names(text, function), blocks: names_of_blocks(text, function) };
        let mut places = Vec::new();
        visit(function, &mut |node| (operator.place)(&file, node, &mut places));
        if let Some(change) = places.into_iter().nth(number) {
            changes.extend(change);
            changed += 1;
        }
    }
    changes.sort_by_key(|(range, _)| range.start);
    let (mut out, mut from) = (String::new(), 0);
    for (range, with) in changes {
        out.push_str(&text[from..range.start]);
        out.push_str(&with);
        from = range.end;
    }
    out.push_str(&text[from..]);
    (out, changed)
}

/// A function, as far as the operators ask.
struct File<'t> {
    text: &'t str,
    /// The names of what it declares `__shared__`.
    shared: BTreeSet<&'t str>,
    /// The names that it gives to the block as a group: `cg::thread_block cta`.
    blocks: BTreeSet<&'t str>,
}

impl<'t> File<'t> {
    fn of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    /// Whether an expression begins with the name of a shared array: `s`, `s[i]`, `s[i].x`, `*s`.
    fn is_shared(&self, node: Node<'_>) -> bool {
        let mut at = node;
        while at.kind() != "identifier" {
            let Some(inner) = at.named_child(0) else { return false };
            at = inner;
        }
        self.shared.contains(self.of(at))
    }
}

fn visit<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    act(node);
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        visit(child, act);
    }
}

/// The functions that run on a device, and have a body.
fn device_functions<'t>(text: &str, node: Node<'t>, out: &mut Vec<Node<'t>>) {
    visit(node, &mut |node| {
        let body = node.child_by_field_name("body").filter(|_| node.kind() == "function_definition");
        let head = body.map_or("", |body| &text[node.start_byte()..body.start_byte()]);
        if head.contains("__global__") || head.contains("__device__") {
            out.push(node);
        }
    });
}

fn shared_names<'t>(text: &'t str, function: Node<'_>) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    visit(function, &mut |node| {
        if is_shared_declaration(text, node) {
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                let mut at = without_alignment(declarator);
                while at.kind() != "identifier" {
                    let Some(inner) = at.child_by_field_name("declarator") else { return };
                    at = inner;
                }
                names.insert(&text[at.byte_range()]);
            }
        }
    });
    names
}

/// The names of variables and parameters of the type `thread_block`, or `auto` for `this_thread_block()`.
fn names_of_blocks<'t>(text: &'t str, function: Node<'_>) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    visit(function, &mut |node| {
        let of = |node: Node<'_>| &text[node.byte_range()];
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(its_type), Some(declarator)) = (field("type"), field("declarator")) else { return };
        let mut words = of(declarator).split(|it: char| !(it.is_alphanumeric() || it == '_'));
        let is_block = of(its_type).ends_with("thread_block")
            || of(its_type) == "auto" && of(declarator).ends_with("this_thread_block()");
        names.extend(words.find(|word| !word.is_empty()).filter(|_| is_block));
    });
    names
}

/// The declarator behind `__align__(16) float`, which the grammar takes for one in parentheses.
fn without_alignment(declarator: Node<'_>) -> Node<'_> {
    let mut cursor = declarator.walk();
    let mut inner = declarator.named_children(&mut cursor).filter(|it| it.kind().ends_with("declarator"));
    let is_broken = declarator.kind() == "parenthesized_declarator";
    inner.next().filter(|_| is_broken).unwrap_or(declarator)
}

fn is_shared_declaration(text: &str, node: Node<'_>) -> bool {
    let first = node.child_by_field_name("declarator").filter(|_| node.kind() == "declaration");
    first.is_some_and(|first| text[node.start_byte()..first.start_byte()].contains("__shared__"))
}

fn around(node: Node<'_>, before: &str, file: &File<'_>, after: &str) -> (Range<usize>, String) {
    (node.byte_range(), format!("{before}{}{after}", file.of(node)))
}

/// The expression between the brackets of a subscript of a shared array.
fn index<'t>(file: &File<'_>, node: Node<'t>) -> Option<Node<'t>> {
    let list = node.child_by_field_name("indices").filter(|_| file.is_shared(node))?;
    list.named_child(0).filter(|_| list.named_child_count() == 1)
}

fn index_too_high(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    out.extend(index(file, node).map(|index| vec![around(index, "(", file, ") + 1")]));
}

fn transposed(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let inner = node.child_by_field_name("argument");
    let (Some(last), Some(first)) = (index(file, node), inner.and_then(|inner| index(file, inner))) else {
        return;
    };
    let text = |node| file.of(node).to_owned();
    out.push(vec![(last.byte_range(), text(first)), (first.byte_range(), text(last))]);
}

/// The operator and the right side of a comparison.
fn comparison(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let operator = node.child_by_field_name("operator").filter(|_| node.kind() == "binary_expression")?;
    let right = node.child_by_field_name("right")?;
    matches!(operator.kind(), "<" | ">" | "<=" | ">=").then_some((operator, right))
}

fn at_most(_: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let strict = comparison(node).filter(|(operator, _)| operator.kind().len() == 1);
    out.extend(strict.map(|(operator, _)| vec![(operator.byte_range(), format!("{}=", operator.kind()))]));
}

fn bound_doubled(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let below = comparison(node).filter(|(operator, _)| operator.kind().starts_with('<'));
    out.extend(below.map(|(_, right)| vec![around(right, "2 * (", file, ")")]));
}

fn bound_lower(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let below = comparison(node).filter(|(operator, _)| operator.kind().starts_with('<'));
    out.extend(below.map(|(_, right)| vec![around(right, "(", file, ") - 1")]));
}

/// The extents of the arrays that a `__shared__` declaration declares, each with whether it is the innermost.
fn extents<'t>(file: &File<'_>, node: Node<'t>) -> Vec<(Node<'t>, bool)> {
    let mut found = Vec::new();
    if is_shared_declaration(file.text, node) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let mut at = Some(without_alignment(declarator));
            let mut is_last = true;
            while let Some(array) = at.filter(|at| at.kind() == "array_declarator") {
                found.extend(array.child_by_field_name("size").map(|size| (size, is_last)));
                is_last = false;
                at = array.child_by_field_name("declarator");
            }
        }
    }
    found
}

fn extent_smaller(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    // An array has at least one element.
    let sizes = extents(file, node).into_iter().filter(|(size, _)| file.of(*size) != "1");
    out.extend(sizes.map(|(size, _)| vec![around(size, "(", file, ") - 1")]));
}

fn padded(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let rows = extents(file, node).into_iter().filter(|(_, is_last)| *is_last);
    out.extend(rows.map(|(size, _)| vec![around(size, "(", file, ") + 1")]));
}

fn store_removed(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let assignment = node.named_child(0).filter(|_| node.kind() == "expression_statement");
    let Some(assignment) = assignment.filter(|it| it.kind() == "assignment_expression") else { return };
    let is_plain = assignment.child_by_field_name("operator").is_some_and(|it| it.kind() == "=");
    if is_plain && assignment.child_by_field_name("left").is_some_and(|left| file.is_shared(left)) {
        let lines: String = file.of(node).chars().filter(|it| *it == '\n').collect();
        out.push(vec![(node.byte_range(), format!(";{lines}"))]);
    }
}

/// Whether a name is one of an intrinsic for the lanes of a warp.
fn is_of_warp(name: &str) -> bool {
    name == "__syncwarp" || name.starts_with("__") && name.ends_with("_sync")
}

/// The mask of an intrinsic of the warp, if all lanes are named.
fn full_mask<'t>(file: &File<'_>, node: Node<'t>) -> Option<Node<'t>> {
    let function = node.child_by_field_name("function").filter(|_| node.kind() == "call_expression")?;
    let mask = node.child_by_field_name("arguments")?.named_child(0)?;
    let is_full =
        matches!(&*file.of(mask).to_lowercase(), "0xffffffff" | "0xffffffffu" | "~0u" | "-1" | "full_mask");
    (is_of_warp(file.of(function)) && is_full).then_some(mask)
}

fn half_mask(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    out.extend(full_mask(file, node).map(|mask| vec![(mask.byte_range(), "0x0000ffff".to_owned())]));
}

fn shifted_mask(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    out.extend(full_mask(file, node).map(|mask| vec![around(mask, "(", file, ") << 1")]));
}

/// Whether a statement is an expression with a call whose function and arguments are such, in no function of its own.
fn calls(file: &File<'_>, node: Node<'_>, is_meant: impl Fn(&str, &str) -> bool) -> bool {
    let mut found = false;
    if node.kind() == "expression_statement" && !file.of(node).contains('{') {
        visit(node, &mut |inner| {
            let function =
                inner.child_by_field_name("function").filter(|_| inner.kind() == "call_expression");
            let arguments = inner.child_by_field_name("arguments").map_or("", |it| file.of(it));
            found |= function.is_some_and(|function| is_meant(file.of(function), arguments));
        });
    }
    found
}

fn every_other_lane(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    if calls(file, node, |name, _| is_of_warp(name)) {
        out.push(vec![around(node, "if (threadIdx.x % 2 == 0) { ", file, " }")]);
    }
}

fn is_barrier(file: &File<'_>, node: Node<'_>) -> bool {
    let is_block = |name: &str| file.blocks.contains(name);
    calls(file, node, |name, arguments| {
        let of_block =
            name.rsplit("::").next() == Some("sync") && is_block(arguments.trim_matches(['(', ')']).trim());
        name == "__syncthreads" || of_block || name.strip_suffix(".sync").is_some_and(is_block)
    })
}

fn barrier_removed(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    if is_barrier(file, node) {
        out.push(vec![(node.byte_range(), ";".to_owned())]);
    }
}

fn warp_barrier_removed(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    if calls(file, node, |name, _| name == "__syncwarp") {
        out.push(vec![(node.byte_range(), ";".to_owned())]);
    }
}

fn barrier_for_few(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    if is_barrier(file, node) {
        out.push(vec![around(node, "if (threadIdx.x < 7) { ", file, " }")]);
    }
}

fn barrier_for_half(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    if is_barrier(file, node) {
        out.push(vec![around(node, "if (threadIdx.x < blockDim.x / 2) { ", file, " }")]);
    }
}

fn barrier_into_branch(file: &File<'_>, node: Node<'_>, out: &mut Vec<Change>) {
    let branch = node.prev_named_sibling().filter(|it| it.kind() == "if_statement" && is_barrier(file, node));
    let Some(branch) = branch.filter(|branch| branch.child_by_field_name("alternative").is_none()) else {
        return;
    };
    let Some(body) = branch.child_by_field_name("consequence") else { return };
    let barrier = file.of(node);
    let inside = if body.kind() == "compound_statement" {
        let end = body.end_byte() - 1;
        (end..end, format!(" {barrier} "))
    } else {
        around(body, "{ ", file, &format!(" {barrier} }}"))
    };
    out.push(vec![inside, (node.byte_range(), ";".to_owned())]);
}

#[test]
fn arrays_with_an_alignment_are_shared_too() {
    let text = "__global__ void k(float4 *o) {\n    __shared__ __align__(16) float s[8][32];\n    *o = *(float4 *)s[1];\n}\n";
    let padded = OPERATORS.iter().find(|operator| operator.name == "rows padded by one").unwrap();
    let (mutant, _) = mutated(text, padded, 0, &BTreeSet::new());
    assert!(mutant.contains("s[8][(32) + 1]"), "{mutant}");
}

#[test]
fn places_are_found_one_after_the_other() {
    let text = "__global__ void k(float *o, int n) {\n    __shared__ float s[4][8];\n    if (n < 8) {\n        \
                s[n][1] = o[n];\n    }\n    __syncthreads();\n    o[0] = __shfl_down_sync(~0u, s[n][0], 1);\n}\n";
    let line = |name: &str, number: usize, line: usize| {
        let operator = OPERATORS.iter().find(|operator| operator.name == name).unwrap();
        let (text, changed) = mutated(text, operator, number, &BTreeSet::new());
        assert_eq!(changed, 1, "{name}");
        text.lines().nth(line - 1).unwrap().trim().to_owned()
    };
    assert_eq!(line("an index one too high", 0, 4), "s[n][(1) + 1] = o[n];");
    assert_eq!(line("an index one too high", 1, 4), "s[(n) + 1][1] = o[n];");
    assert_eq!(line("`<` for `<=`", 0, 3), "if (n <= 8) {");
    assert_eq!(line("subscripts transposed", 0, 4), "s[1][n] = o[n];");
    assert_eq!(line("an extent one smaller", 1, 2), "__shared__ float s[(4) - 1][8];");
    assert_eq!(line("a bound twice as high", 0, 3), "if (n < 2 * (8)) {");
    assert_eq!(line("a store taken out", 0, 4), ";");
    assert_eq!(line("a bound one lower", 0, 3), "if (n < (8) - 1) {");
    assert_eq!(line("half of a mask", 0, 7), "o[0] = __shfl_down_sync(0x0000ffff, s[n][0], 1);");
    assert_eq!(line("a mask shifted", 0, 7), "o[0] = __shfl_down_sync((~0u) << 1, s[n][0], 1);");
    assert_eq!(line("a barrier for 7 threads", 0, 6), "if (threadIdx.x < 7) { __syncthreads(); }");
    assert_eq!(line("a barrier moved into a branch", 0, 5), "__syncthreads(); }");
    assert_eq!(line("rows padded by one", 0, 2), "__shared__ float s[4][(8) + 1];");
}

#[test]
fn barriers_of_the_block_as_a_group_are_found() {
    let text = "__device__ void f(const cg::thread_block &b) {\n    cg::sync(b);\n}\n\
                __global__ void k() {\n    auto cta = cg::this_thread_block();\n    \
                auto tile = cg::tiled_partition<32>(cta);\n    tile.sync();\n    cta.sync();\n}\n";
    let (mutant, changed) = mutated(text, &TAKEN_OUT[0], 0, &BTreeSet::new());
    assert_eq!(changed, 2);
    assert_eq!(mutant, text.replace("cg::sync(b);", ";").replace("cta.sync();", ";"));
}
