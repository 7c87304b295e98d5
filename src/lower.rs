//! What does the grammar mean in CUDA?
//!
//! Turns one file's syntax tree into an `ir::Module`. It starts from what the queries in
//! `queries/*.scm` find, in document order, so that kernels inside namespaces, `extern "C"` and
//! broken text are found like any other.
//!
//! Approximations: members of a class inside a class, and records inside a function, become records
//! of the module under a qualified name (`Outer::Inner`, `kernel::Storage`), with an alias in the outer
//! class; a function's own aliases are replaced where they are used; enumerators of `enum class E` are
//! called `E::name`; in text that was not preprocessed, all branches of an `#if` are kept.
//!
//! Invariant: nothing that leaves here nests deeper than some 200 levels, so recursion over it is safe.

mod anonymous;
mod apart;
mod call;
mod constraints;
mod damage;
mod decl;
mod device_lambda;
mod directive;
mod expr;
mod fragment;
mod function;
mod goto;
mod guides;
mod handed_back;
mod heads;
mod lambda;
mod literal;
mod lowerer;
mod masks;
mod misparse;
mod nodes;
mod outline;
mod path;
mod range;
mod record;
mod scope;
mod specifiers;
mod stmt;
mod types;
mod waits;

use crate::ir::{Declaration, Enumeration, ExprKind, Instantiation, Module, Path, Scalar, Storage, Type};
use crate::source::Span;
use crate::syntax::query::Found;
use crate::syntax::{SyntaxTree, field};
pub(crate) use apart::tell_apart;
use function::{is_macro_block, prototypes, says_volatile};
use guides::plain_guides;
use heads::Enclosing;
use lowerer::Lowerer;
use outline::{Level, Outline, walk};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use tree_sitter::Node;

/// Lowers one file.
#[must_use]
pub fn lower(tree: &SyntaxTree) -> Module {
    let outline = Outline::new(tree);
    let comments = tree.expanded.comments.clone();
    let (file, is_cut_short) = (Some(tree.expanded.file.id), tree.expanded.is_cut_short);
    let namespace_aliases = outline.namespace_aliases_in_order();
    let scopes = outline.scopes();
    let undecided = tree.expanded.undecided.iter().map(|range| Span {
        file: tree.expanded.file.id,
        start: range.start as u32,
        end: range.end as u32,
        nth: 0,
    });
    let undecided = undecided.collect();
    let mut module =
        Module { file, comments, is_cut_short, undecided, namespace_aliases, scopes, ..Module::default() };
    walk(&outline.found, |levels, what, node| item(&outline, levels, what, node, &mut module));
    module.unfollowed = outline.unfollowed();
    handed_back::write_out(&mut module);
    module.guided = plain_guides(tree.expanded.text());
    tell_apart(&mut module.functions, &mut FxHashSet::default());
    module
}

fn item<'t>(outline: &Outline<'t>, levels: &[Level<'t>], what: Found, node: Node<'t>, module: &mut Module) {
    let inside = |wanted: Found| levels.iter().any(|level| level.what == wanted);
    let in_function = inside(Found::Function);
    match what {
        Found::Function => function(outline, levels, node, node, module),
        Found::Record if !in_function => {
            let enclosing = Enclosing::new(outline, levels);
            let mut lowerer = Lowerer::new(outline, levels);
            module.volatile |= says_volatile(lowerer.text(node));
            let record = lowerer.enclosed_record(node, &enclosing);
            module.records.extend(record.map(Arc::new));
        }
        Found::Template if !in_function && !inside(Found::Record) => {
            let declared = Lowerer::new(outline, levels).declared_class(node);
            module.declared_classes.extend(declared.map(Arc::new));
        }
        Found::Enum => enumeration(outline, levels, node, module),
        Found::Alias if !in_function && !inside(Found::Record) => {
            let heads = Enclosing::new(outline, levels).templates;
            let mut lowerer = Lowerer::new(outline, levels);
            module.volatile |= says_volatile(lowerer.text(node));
            let aliases = lowerer.aliases(node, &heads);
            module.aliases.extend(aliases.into_iter().map(Arc::new));
        }
        Found::Declaration if !in_function => declaration(outline, levels, node, module),
        Found::Field if !in_function => {
            if let [only] = prototypes(node).as_slice() {
                prototype(outline, levels, node, *only, module);
            }
        }
        Found::Instantiation => match prototypes(node).as_slice() {
            [only] => module.instantiations.extend(instantiation(outline, levels, *only)),
            [] => module.class_instantiations.extend(class_instantiation(outline, levels, node)),
            _ => {}
        },
        Found::EightByteBanks => module.eight_byte_banks = true,
        Found::Damage => {
            let lowerer = Lowerer::new(outline, levels);
            if !damage::is_harmless(node, &lowerer) {
                module.damage.push(lowerer.span(node));
            }
        }
        _ => {}
    }
}

fn function<'t>(
    outline: &Outline<'t>,
    levels: &[Level<'t>],
    node: Node<'t>,
    declared_by: Node<'t>,
    module: &mut Module,
) {
    let innermost = levels.iter().rev().find(|level| matches!(level.what, Found::Record | Found::Function));
    let nested = innermost.is_some_and(|level| level.what == Found::Function);
    if nested && is_macro_block(node) {
        return;
    }
    let Some(declarator) = field(declared_by, "declarator") else { return };
    let mut lowerer = Lowerer::new(outline, levels);
    let lowered = lowerer.function(node, declarator, &Enclosing::new(outline, levels));
    module.records.append(&mut lowerer.records);
    let (lambdas, classes) = match &lowered {
        Some(host) if lowerer.lambdas > 0 => device_lambda::functions(host, &outline.tree.expanded),
        _ => Default::default(),
    };
    module.records.extend(classes.into_iter().map(Arc::new));
    module.functions.extend(lowered.into_iter().chain(lambdas).map(Arc::new));
}

fn prototype<'t>(
    outline: &Outline<'t>,
    levels: &[Level<'t>],
    node: Node<'t>,
    declarator: Node<'t>,
    module: &mut Module,
) {
    let lowered = Lowerer::new(outline, levels).function(node, declarator, &Enclosing::new(outline, levels));
    module.functions.extend(lowered.map(Arc::new));
}

/// A declaration outside any function: prototypes and variables.
fn declaration<'t>(outline: &Outline<'t>, levels: &[Level<'t>], node: Node<'t>, module: &mut Module) {
    // What is inside another declaration is a lambda's; what is inside a stray statement was some
    // function's, and is nobody's now.
    let nested = |level: &Level<'t>| matches!(level.what, Found::Declaration | Found::Stray | Found::Field);
    if levels.iter().any(nested) {
        return;
    }
    let functions = prototypes(node);
    let mut lowerer = Lowerer::new(outline, levels);
    let mut template_params = Vec::new();
    for head in Enclosing::new(outline, levels).templates {
        template_params.extend(lowerer.template_head(head));
    }
    module.volatile |= functions.is_empty() && says_volatile(lowerer.text(node));
    let mut variables = match node.kind() {
        "concept_definition" => lowerer.concept(node).into_iter().collect(),
        _ => lowerer.file_declarations(node),
    };
    variables.iter_mut().for_each(|variable| variable.template_params.clone_from(&template_params));
    for declarator in functions {
        let name = outline::innermost_name(declarator).map(|name| lowerer.span(name));
        if !variables.iter().any(|variable| Some(variable.name_span) == name) {
            prototype(outline, levels, node, declarator, module);
        }
    }
    if levels.iter().any(|level| level.what == Found::Record) {
        return;
    }
    let damaged = levels.iter().any(|level| level.what == Found::Damage);
    let trusted = |variable: &Declaration| !damaged || survives_damage(variable);
    module.variables.extend(variables.into_iter().filter(trusted).map(Arc::new));
}

/// Whether a variable in broken text is surely the file's and not some broken function's: a wrong
/// constant is worse than a missing one.
fn survives_damage(variable: &Declaration) -> bool {
    let literal = matches!(variable.init.as_ref().map(|init| &init.kind), Some(ExprKind::Int(..)));
    matches!(variable.storage, Storage::Constant) || (variable.constant && literal)
}

fn enumeration<'t>(outline: &Outline<'t>, levels: &[Level<'t>], node: Node<'t>, module: &mut Module) {
    let mut lowerer = Lowerer::new(outline, levels);
    if let Some(name) = field(node, "name") {
        let underlying = field(node, "base").map(|base| lowerer.type_specifier(base));
        let is_defined = field(node, "body").is_some();
        module.enums.push(Enumeration { name: lowerer.name(lowerer.text(name)), underlying, is_defined });
    } else if let Some(name) = typedef_of(node) {
        let underlying = Some(Type::Scalar(Scalar::I32));
        module.enums.push(Enumeration {
            name: lowerer.name(lowerer.text(name)),
            underlying,
            is_defined: true,
        });
    }
    let elsewhere = |level: &Level<'t>| matches!(level.what, Found::Function | Found::Record);
    if !levels.iter().any(elsewhere) {
        let enumerators = lowerer.enumerators(node, Storage::Global);
        module.variables.extend(enumerators.into_iter().map(Arc::new));
    }
}

/// For `typedef enum { ... } Name;`, the name.
fn typedef_of<'t>(node: Node<'t>) -> Option<Node<'t>> {
    let parent = node.parent().filter(|parent| parent.kind() == "type_definition")?;
    field(parent, "declarator").filter(|name| name.kind() == "type_identifier")
}

/// An explicit instantiation of a function.
fn instantiation<'t>(
    outline: &Outline<'t>,
    levels: &[Level<'t>],
    declarator: Node<'t>,
) -> Option<Instantiation> {
    let function = nodes::function_declarator(declarator)?;
    let mut lowerer = Lowerer::new(outline, levels);
    let path = lowerer.path(field(function, "declarator")?)?;
    let params = field(function, "parameters").map(|list| lowerer.params(list)).unwrap_or_default();
    Some(Instantiation { path, params: params.into_iter().map(|param| param.ty).collect() })
}

/// The path of an explicit instantiation's class.
fn class_instantiation<'t>(outline: &Outline<'t>, levels: &[Level<'t>], node: Node<'t>) -> Option<Path> {
    let path = Lowerer::new(outline, levels).path(field(node, "declarator")?)?;
    path.args.is_some().then_some(path)
}

#[cfg(test)]
mod tests;
