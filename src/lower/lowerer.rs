//! What does every step of the lowering share?
//!
//! A [`Lowerer`] lowers one function, record or file-scope declaration. It knows the names in
//! force, the slots handed out so far, how deep it is, and which text its nodes point into.

use super::outline::{Level, Outline};
use super::scope::{Binding, Copies, Scope};
use crate::ir::namespace::Namespace;
use crate::ir::{Local, LocalId, Name, Record, Stmt, StmtKind, Through, Type};
use crate::source::Span;
use crate::syntax::field;
use crate::syntax::query::Found;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;
use tree_sitter::Node;

/// How many expressions and statements may nest. Invariant: no IR that leaves `lower` nests
/// much deeper, so that whoever walks it may recurse.
pub(super) const MAX_DEPTH: u32 = 200;
/// What stands where that was exceeded.
pub(super) const TOO_DEEP: &str = "nesting deeper than 200 levels";

/// What a patched byte of a reparsed expression means.
#[derive(Clone, Debug)]
pub(super) enum Special {
    /// The operator `>` that is really a `<`.
    Less,
    /// The operator `~` that is really a cast.
    Cast(Type),
    /// The number that is really a variable.
    Variable,
}

/// A replacement of equal length, at a position in the text.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub start: usize,
    pub text: String,
}

/// What a text may have done to a variable: which, how many subscripts behind it, whether it is written,
/// and where.
pub(super) type Change = (LocalId, usize, bool, Span);

/// A piece of text that was asked about, and what it may have done. One around it need not ask again:
/// `new int[new int[...]]` is asked about at each depth.
#[derive(Debug)]
pub(super) struct Changed {
    pub range: Range<usize>,
    pub changes: Vec<Change>,
}

pub(super) struct Lowerer<'t> {
    pub outline: &'t Outline<'t>,
    /// The namespaces around the item.
    pub namespace: Namespace,
    /// The text that positions point into.
    pub source: &'t str,
    /// What to add to a node's position to get one in `source`: not 0 in a reparsed fragment.
    pub delta: isize,
    /// The span of everything, when `source` is not the file's text.
    pub fixed_span: Option<Span>,
    pub scope: Scope,
    pub locals: Vec<Local>,
    /// What they are.
    pub kinds: Kinds,
    /// What the lambdas around copy, innermost last.
    pub copies: Vec<Copies>,
    /// Lambdas lowered so far.
    pub lambdas: u32,
    pub depth: u32,
    /// Loops lowered so far.
    pub loops: u32,
    pub labels: Labels,
    /// Whether a namespace without a name is around.
    pub is_unnamed: bool,
    /// Whether there is a frame for slots.
    pub in_function: bool,
    /// Whether slots mean nothing, because a local type is being lowered.
    pub in_local_record: bool,
    /// How often a slot was mentioned.
    pub slot_uses: u32,
    /// The variable whose initialiser is being lowered, and its type as written.
    pub initialised: Option<(String, Type)>,
    /// What the expression at hand must be reparsed with.
    pub patches: Vec<Patch>,
    pub specials: FxHashMap<usize, Special>,
    /// What pieces that are not followed may have done, by where they begin.
    pub changed: Vec<Changed>,
    /// Records found inside the function.
    pub records: Vec<Arc<Record>>,
    /// The types that the records inside a record are, by node.
    pub nested_records: FxHashMap<usize, Type>,
    /// The function's name, for the names of its local records.
    pub function_name: Name,
}

/// The labels of a function.
#[derive(Default)]
pub(super) struct Labels {
    /// How many of the switch at hand stand inside one of its statements.
    pub inside: u32,
    /// Whether a `goto` leads to one.
    pub any: bool,
}

/// What the slots of locals are.
#[derive(Default)]
pub(super) struct Kinds {
    /// Those of them that are `__shared__`.
    pub shared: FxHashSet<LocalId>,
    /// Those that hold the address of what their name stands for.
    pub addresses: FxHashSet<LocalId>,
    /// Those that are references.
    pub references: FxHashSet<LocalId>,
    /// Those that are arrays, as they are declared.
    pub arrays: FxHashSet<LocalId>,
}

impl<'t> Lowerer<'t> {
    /// For an item inside `levels`.
    pub(super) fn new(outline: &'t Outline<'t>, levels: &[Level<'t>]) -> Lowerer<'t> {
        Lowerer {
            outline,
            namespace: outline.namespace(levels),
            source: outline.tree.expanded.text(),
            delta: 0,
            fixed_span: None,
            scope: Scope::default(),
            locals: Vec::new(),
            kinds: Kinds::default(),
            copies: Vec::new(),
            lambdas: 0,
            depth: 0,
            loops: 0,
            labels: Labels::default(),
            nested_records: FxHashMap::default(),
            is_unnamed: levels.iter().any(is_unnamed),
            in_function: false,
            in_local_record: false,
            slot_uses: 0,
            initialised: None,
            patches: Vec::new(),
            specials: FxHashMap::default(),
            changed: Vec::new(),
            records: Vec::new(),
            function_name: Name::from(""),
        }
    }

    /// Where a node starts in `source`.
    pub(super) fn start(&self, node: Node<'_>) -> usize {
        node.start_byte().saturating_add_signed(self.delta)
    }

    /// Where a node ends in `source`.
    pub(super) fn end(&self, node: Node<'_>) -> usize {
        node.end_byte().saturating_add_signed(self.delta)
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.source.get(self.start(node)..self.end(node)).unwrap_or("")
    }

    pub(super) fn span(&self, node: Node<'_>) -> Span {
        self.span_of(self.start(node), self.end(node))
    }

    /// The original span of a range of `source`.
    pub(super) fn span_of(&self, start: usize, end: usize) -> Span {
        if let Some(span) = self.fixed_span {
            return span;
        }
        self.outline.span(start, end)
    }

    pub(super) fn name(&self, text: &str) -> Name {
        self.outline.name(text)
    }

    /// A slot for a new name, in force from here.
    pub(super) fn declare(&mut self, name: &Name) -> LocalId {
        let local = LocalId(u32::try_from(self.locals.len()).unwrap_or(u32::MAX));
        self.locals.push(Local {
            name: name.clone(),
            constant: false,
            through: Through::Untold,
            volatile: false,
        });
        if !name.is_empty() {
            self.scope.bind(name.clone(), Binding::Slot(local));
        }
        local
    }

    /// Notes how a variable is declared.
    pub(super) fn note_declared(&mut self, local: LocalId, constant: bool, through: Through) {
        if let Some(known) = self.locals.get_mut(local.0 as usize) {
            known.constant |= constant;
            known.through = through;
        }
    }

    /// Notes of a variable whether it is `volatile`, or what it leads to.
    pub(super) fn note_volatile(&mut self, local: LocalId, volatile: bool) {
        if let Some(known) = self.locals.get_mut(local.0 as usize) {
            known.volatile |= volatile;
        }
    }

    /// Runs `inside` one level deeper; `None` when that is too deep.
    pub(super) fn deeper<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        Some(result)
    }

    pub(super) fn stmt_at(&self, node: Node<'_>, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span(node) }
    }
}

/// Whether a level is a namespace without a name, which no other file can name.
fn is_unnamed(level: &Level<'_>) -> bool {
    level.what == Found::Namespace && field(level.node, "name").is_none()
}
