//! What stands in what, and which names does the file define?
//!
//! Built from the queries' findings before anything is lowered: whether `(foo)(x)` is a cast depends
//! on a `typedef` that may stand anywhere.

use super::nodes::{anonymous_union, is_argument};
use crate::builtins::ptx;
use crate::ir::namespace::{Brought, Namespace, Scopes};
use crate::ir::{Mentions, Name};
use crate::source::Span;
use crate::syntax::query::{Found, find};
use crate::syntax::{SyntaxTree, field};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use tree_sitter::Node;

/// How many levels are told apart. What is deeper counts as being on the last one.
const MAX_LEVELS: usize = 200;

/// Something that encloses others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<'t> {
    pub what: Found,
    pub node: Node<'t>,
}

/// The facts about a file that every part of the lowering may need.
pub(super) struct Outline<'t> {
    pub tree: &'t SyntaxTree,
    pub found: Vec<(Found, Node<'t>)>,
    /// Names of records, aliases and enums.
    pub types: FxHashSet<&'t str>,
    /// Names of concepts.
    pub concepts: FxHashSet<&'t str>,
    /// Names of functions with a body or a prototype.
    pub functions: FxHashSet<&'t str>,
    /// Names of variables outside functions, and enumerators.
    pub variables: FxHashSet<&'t str>,
    /// Names of data members.
    pub members: FxHashSet<&'t str>,
    pub namespaces: FxHashSet<&'t str>,
    /// What aliases of namespaces stand for; `None` where that is not the same everywhere.
    pub namespace_aliases: FxHashMap<&'t str, Option<Vec<&'t str>>>,
    /// What namespaces bring into sight.
    pub brought: Vec<Brought>,
    /// Those whose name need not be said.
    inline: FxHashSet<&'t str>,
    /// From which place of the original text on `#pragma pack` limits alignments, and to how much.
    packs: Vec<(u32, Option<u64>)>,
    /// The module-wide name of each record with a body, by node.
    pub record_names: FxHashMap<usize, Name>,
    /// The records local to each function: the name inside it and the module-wide one.
    pub local_records: FxHashMap<usize, Vec<(Name, Name)>>,
    pub mentions: FxHashMap<usize, Mentions>,
    /// Functions with a part that did not parse.
    pub damaged: FxHashSet<usize>,
    /// Module-wide names of records.
    taken: FxHashSet<Name>,
    names: RefCell<FxHashSet<Name>>,
    unfollowed: RefCell<FxHashSet<Name>>,
    /// How many bytes may still be parsed again.
    budget: Cell<usize>,
}

impl<'t> Outline<'t> {
    pub(super) fn new(tree: &'t SyntaxTree) -> Outline<'t> {
        let mut outline = Outline {
            tree,
            found: find(tree),
            types: FxHashSet::default(),
            concepts: FxHashSet::default(),
            functions: FxHashSet::default(),
            variables: FxHashSet::default(),
            members: FxHashSet::default(),
            namespaces: FxHashSet::default(),
            namespace_aliases: FxHashMap::default(),
            brought: Vec::new(),
            inline: FxHashSet::default(),
            packs: packs(&tree.expanded.file.text),
            record_names: FxHashMap::default(),
            local_records: FxHashMap::default(),
            mentions: FxHashMap::default(),
            damaged: FxHashSet::default(),
            taken: FxHashSet::default(),
            names: RefCell::default(),
            unfollowed: RefCell::default(),
            budget: Cell::new(tree.expanded.text().len().saturating_mul(8).saturating_add(1 << 16)),
        };
        let found = std::mem::take(&mut outline.found);
        walk(&found, |levels, what, node| outline.note(levels, what, node));
        outline.found = found;
        outline
    }

    /// One name, shared by all that spell it.
    pub(super) fn name(&self, text: &str) -> Name {
        let mut names = self.names.borrow_mut();
        if let Some(name) = names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        names.insert(name.clone());
        name
    }

    /// A name stands in text that is not modelled.
    pub(super) fn note_unfollowed(&self, name: &str) {
        let name = self.name(name);
        self.unfollowed.borrow_mut().insert(name);
    }

    /// Those that were noted, in order.
    pub(super) fn unfollowed(&self) -> Vec<Name> {
        let mut all: Vec<Name> = self.unfollowed.borrow().iter().cloned().collect();
        all.sort();
        all
    }

    /// The namespaces around what stands inside `levels`, without unnamed and inline ones.
    pub(super) fn namespace(&self, levels: &[Level<'t>]) -> Namespace {
        let named = |level: &&Level<'t>| {
            level.what == Found::Namespace
                && level.node.child(0).is_some_and(|word| word.kind() == "namespace")
        };
        let names = levels.iter().filter(named).filter_map(|level| field(level.node, "name"));
        let parts = names.flat_map(|name| self.tree.text(name).split("::").map(str::trim));
        parts.map(|part| self.name(part)).collect()
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let expanded = &self.tree.expanded;
        let (start, end) = expanded.map.original(start as u32, end as u32);
        Span { file: expanded.file.id, start, end, nth: 0 }
    }

    /// Whether `bytes` more may be parsed again.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                true
            }
            None => false,
        }
    }

    fn note(&mut self, levels: &[Level<'t>], what: Found, node: Node<'t>) {
        let innermost = |wanted: Found| levels.iter().rev().find(|level| level.what == wanted);
        let function = innermost(Found::Function).map(|level| level.node.id());
        match what {
            Found::Record => {
                self.note_record(levels, node);
                self.note_members(node);
            }
            Found::Enum => {
                self.types.extend(field(node, "name").map(|name| self.tree.text(name)));
                if function.is_none() {
                    self.note_enumerators(node);
                }
            }
            Found::Alias => self.note_alias(node),
            Found::Function => {
                if let Some(name) = declared_name(node).map(|name| self.tree.text(name)) {
                    self.functions.insert(name);
                }
            }
            Found::Declaration if function.is_none() => self.note_declaration(node),
            Found::Namespace => {
                self.namespaces.extend(field(node, "name").map(|name| self.tree.text(name)));
                match node.kind() {
                    "namespace_alias_definition" => self.note_namespace_alias(node),
                    _ => self.note_brought(node),
                }
            }
            Found::Damage => {
                let functions = levels.iter().filter(|level| level.what == Found::Function);
                let whole: Vec<usize> =
                    functions.map(|level| level.node.id()).filter(|id| !self.damaged.contains(id)).collect();
                let harmless =
                    || harmless_text(self.tree.text(node)) || is_argument(node) || is_nameless(node);
                if !whole.is_empty() && !harmless() {
                    self.damaged.extend(whole);
                }
            }
            Found::Shared | Found::Barrier | Found::Launch | Found::Assembly => {
                let Some(function) = function else { return };
                let barrier = what == Found::Barrier
                    || (what == Found::Assembly && ptx::says_barrier(self.tree.text(node)));
                let mentions = self.mentions.entry(function).or_default();
                mentions.shared |= what == Found::Shared;
                mentions.launch |= what == Found::Launch;
                mentions.barrier |= barrier;
            }
            _ => {}
        }
    }

    /// `namespace fs = std::filesystem;`
    fn note_namespace_alias(&mut self, node: Node<'t>) {
        let Some(name_node) = field(node, "name") else { return };
        let name = self.tree.text(name_node);
        let parts = self.names_in(node, Some(name_node));
        let known = self.namespace_aliases.entry(name).or_insert_with(|| Some(parts.clone()));
        if known.as_ref() != Some(&parts) {
            *known = None;
        }
    }

    /// The names in a node but for one of them: what lies between them is `::`, or says nothing.
    fn names_in(&self, node: Node<'t>, except: Option<Node<'t>>) -> Vec<&'t str> {
        let mut parts: Vec<&str> = Vec::new();
        let mut waiting: Vec<Node<'t>> = vec![node];
        while let Some(part) = waiting.pop() {
            let mut cursor = part.walk();
            let inner: Vec<Node<'t>> = part.named_children(&mut cursor).collect();
            let is_name = inner.is_empty() && part.kind().ends_with("identifier");
            if is_name && except.is_none_or(|except| except.id() != part.id()) {
                parts.push(self.tree.text(part));
            }
            waiting.extend(inner.into_iter().rev());
        }
        parts
    }

    /// `using namespace detail;` and `using detail::f;` in a namespace.
    fn note_brought(&mut self, node: Node<'t>) {
        let named = field(node, "name").and_then(|name| self.tree.text(name).rsplit("::").next());
        let Some(within) = named.map(str::trim) else { return };
        if node.child(0).is_some_and(|word| word.kind() == "inline") {
            self.inline.insert(within);
        }
        let Some(body) = field(node, "body") else { return };
        let mut cursor = body.walk();
        for using in body.named_children(&mut cursor).filter(|it| it.kind() == "using_declaration") {
            let whole = using.child(1).is_some_and(|word| word.kind() == "namespace");
            let parts = self.names_in(using, None).iter().map(|part| self.name(part)).collect();
            self.brought.push(Brought { within: self.name(within), parts, whole });
        }
    }

    /// The namespaces that are opened, sorted, and what is brought into sight in them.
    pub(super) fn scopes(&self) -> Scopes {
        let parts = self.namespaces.iter().flat_map(|name| name.split("::"));
        let mut opened: Vec<Name> = parts.map(|part| self.name(part.trim())).collect();
        opened.sort();
        opened.dedup();
        let mut inline: Vec<Name> = self.inline.iter().map(|name| self.name(name)).collect();
        inline.sort();
        let aliases = self.namespace_aliases.iter().filter(|(_, parts)| parts.is_none());
        let mut unclear: Vec<Name> = aliases.map(|(name, _)| self.name(name)).collect();
        unclear.sort();
        Scopes { opened, inline, unclear, brought: self.brought.clone() }
    }

    /// The aliases of namespaces and what they stand for, sorted.
    pub(super) fn namespace_aliases_in_order(&self) -> Vec<(Name, Vec<Name>)> {
        let known = self.namespace_aliases.iter().filter_map(|(name, parts)| Some((name, parts.as_ref()?)));
        let named =
            known.map(|(name, parts)| (Name::from(*name), parts.iter().map(|it| (*it).into()).collect()));
        let mut all: Vec<(Name, Vec<Name>)> = named.collect();
        all.sort();
        all
    }

    /// The limit of `#pragma pack` at a place of the original text.
    pub(super) fn packing_at(&self, at: u32) -> Option<u64> {
        let after = self.packs.partition_point(|(start, _)| *start <= at);
        self.packs.get(after.checked_sub(1)?)?.1
    }

    fn note_record(&mut self, levels: &[Level<'t>], node: Node<'t>) {
        let (mut name_node, mut simple) = (field(node, "name"), None);
        while let Some(name) = name_node {
            simple = Some(self.tree.text(name));
            name_node = field(name, "name");
        }
        let simple = simple.filter(|name| !name.is_empty()).or_else(|| typedef_name(self.tree, node));
        let anonymous = simple.is_none();
        let word = node.child(0).map_or("struct", |word| word.kind());
        let mut name = match simple {
            Some(simple) => simple.to_string(),
            None => format!("(anonymous {word} at byte {})", node.start_byte()),
        };
        self.types.extend(simple);
        let outer = levels.iter().rev().find(|level| matches!(level.what, Found::Record | Found::Function));
        if let Some(outer) = outer
            && (!anonymous || outer.what == Found::Record)
        {
            let qualifier = match outer.what {
                Found::Record => self.record_names.get(&outer.node.id()).map(|name| name.to_string()),
                _ => declared_name(outer.node).map(|name| self.tree.text(name).to_string()),
            };
            name = format!("{}::{name}", qualifier.unwrap_or_default());
            let function = levels.iter().rev().find(|level| level.what == Found::Function);
            if let Some(function) = function.filter(|_| !anonymous) {
                if !self.taken.insert(self.name(&name)) {
                    name = format!("{name}@{}", node.start_byte());
                }
                let local = (self.name(simple.unwrap_or("")), self.name(&name));
                self.local_records.entry(function.node.id()).or_default().push(local);
            }
        }
        let name = self.name(&name);
        self.taken.insert(name.clone());
        self.record_names.insert(node.id(), name);
    }

    fn note_members(&mut self, record: Node<'t>) {
        let Some(body) = field(record, "body") else { return };
        let mut cursor = body.walk();
        for member in body.named_children(&mut cursor).filter(|it| it.kind() == "field_declaration") {
            let mut cursor = member.walk();
            let declared = member.children_by_field_name("declarator", &mut cursor);
            let names = declared.filter(|it| !is_function_declarator(*it)).filter_map(innermost_name);
            self.members.extend(names.map(|name| self.tree.text(name)));
        }
    }

    fn note_alias(&mut self, node: Node<'t>) {
        if let Some(name) = field(node, "name") {
            self.types.insert(self.tree.text(name));
        }
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            self.types.extend(innermost_name(declarator).map(|name| self.tree.text(name)));
        }
    }

    fn note_enumerators(&mut self, node: Node<'t>) {
        let Some(body) = field(node, "body") else { return };
        let mut cursor = body.walk();
        for enumerator in body.named_children(&mut cursor) {
            self.variables.extend(field(enumerator, "name").map(|name| self.tree.text(name)));
        }
    }

    fn note_declaration(&mut self, node: Node<'t>) {
        if node.kind() == "concept_definition" {
            let name = field(node, "name").map(|name| self.tree.text(name));
            self.concepts.extend(name);
            self.variables.extend(name);
            return;
        }
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(name) = innermost_name(declarator).map(|name| self.tree.text(name)) else { continue };
            match is_function_declarator(declarator) {
                true => self.functions.insert(name),
                false => self.variables.insert(name),
            };
        }
    }
}

/// The places at which a `#pragma pack` changes the limit of alignments, and to what.
fn packs(text: &str) -> Vec<(u32, Option<u64>)> {
    let (mut found, mut stack, mut limit) = (Vec::new(), Vec::new(), None);
    for at in memchr::memmem::find_iter(text.as_bytes(), "pragma") {
        let line = text.get(..at).unwrap_or("").rsplit('\n').next().unwrap_or("");
        let rest = text.get(at + "pragma".len()..).unwrap_or("").lines().next().unwrap_or("");
        let Some(args) = rest.trim_start().strip_prefix("pack").filter(|_| line.trim() == "#") else {
            continue;
        };
        let args = args.trim().trim_start_matches('(').split(')').next().unwrap_or("");
        let words: Vec<&str> = args.split(',').map(str::trim).collect();
        let number = words.iter().find_map(|word| word.parse::<u64>().ok());
        match words.first() {
            Some(&"push") => {
                stack.push(limit);
                limit = number.or(limit);
            }
            Some(&"pop") => limit = stack.pop().flatten(),
            _ => limit = number,
        }
        found.push((at as u32, limit));
    }
    found
}

/// Visits what was found with everything that encloses it, outermost first.
pub(super) fn walk<'t>(found: &[(Found, Node<'t>)], mut visit: impl FnMut(&[Level<'t>], Found, Node<'t>)) {
    let mut levels: Vec<Level<'t>> = Vec::new();
    for &(what, node) in found {
        while levels.last().is_some_and(|level| level.node.end_byte() <= node.start_byte()) {
            levels.pop();
        }
        visit(&levels, what, node);
        let encloses = matches!(
            what,
            Found::Template
                | Found::Namespace
                | Found::Function
                | Found::Record
                | Found::Declaration
                | Found::Stray
                | Found::Damage
                | Found::Field
        );
        if encloses && node.end_byte() > node.start_byte() && levels.len() < MAX_LEVELS {
            levels.push(Level { what, node });
        }
    }
}

/// The node of the name that a declarator declares.
pub(super) fn innermost_name<'n>(declarator: Node<'n>) -> Option<Node<'n>> {
    let mut node = declarator;
    for _ in 0..1000 {
        match node.kind() {
            "qualified_identifier" | "template_function" => node = field(node, "name")?,
            "identifier" | "field_identifier" | "type_identifier" | "operator_name" | "operator_cast"
            | "destructor_name" | "primitive_type" => return Some(node),
            _ => {
                let inner = field(node, "declarator").or_else(|| {
                    let mut cursor = node.walk();
                    node.named_children(&mut cursor).find(|child| {
                        child.kind().ends_with("declarator") || child.kind().ends_with("identifier")
                    })
                });
                node = inner?;
            }
        }
    }
    None
}

/// The node of the name of a function definition or prototype.
pub(super) fn declared_name<'n>(node: Node<'n>) -> Option<Node<'n>> {
    field(node, "declarator").and_then(innermost_name)
}

/// Whether a declared name is missing because there is none: `__shared__ union { ... };`
fn is_nameless(node: Node<'_>) -> bool {
    node.is_missing() && node.parent().is_some_and(|it| anonymous_union(it).is_some())
}

/// Whether a declarator declares a function and not a variable or pointer.
pub(super) fn is_function_declarator(declarator: Node<'_>) -> bool {
    let mut node = declarator;
    for _ in 0..1000 {
        match node.kind() {
            "function_declarator" => {
                return field(node, "declarator")
                    .is_some_and(|inner| inner.kind() != "parenthesized_declarator");
            }
            "operator_cast" => return true,
            "pointer_declarator" | "reference_declarator" => {
                let inner = field(node, "declarator").or_else(|| super::nodes::first_child(node));
                match inner {
                    Some(inner) => node = inner,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// For `typedef struct { ... } Name;`, the name.
fn typedef_name<'t>(tree: &'t SyntaxTree, record: Node<'t>) -> Option<&'t str> {
    let parent = record.parent().filter(|parent| parent.kind() == "type_definition")?;
    let declarator = field(parent, "declarator").filter(|name| name.kind() == "type_identifier")?;
    Some(tree.text(declarator))
}

/// Whether an error node holds only words that change nothing here.
pub(super) fn harmless_text(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| {
            matches!(
                word,
                "typename"
                    | "template"
                    | "__device__"
                    | "__host__"
                    | "__forceinline__"
                    | "__noinline__"
                    | "__restrict__"
                    | "__restrict"
                    | "inline"
                    | "constexpr"
                    | "mutable"
            )
        })
}
