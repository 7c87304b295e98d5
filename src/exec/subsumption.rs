//! Does one template ask for more than another with `requires` and concepts?
//!
//! Of two templates that fit equally well C++ takes the one whose constraint follows from the other's, part by part,
//! and not the other way round. That there are more of them says nothing:
//!
//! | `concept WideNumber = Wide<T> && Number<T>;` | with | is taken |
//! |---|---|---|
//! | `template <WideNumber T>` | `template <Wide T>` | the first |
//! | `requires Wide<T>` | `requires Wide<T> \|\| Number<T>` | the first |
//! | `template <Wide T> requires Number<T>` | `requires Small<T>` | neither |
//!
//! Parts are the same that are written alike, where a parameter is called by its place.

use super::machine::Machine;
use crate::ir::namespace::Namespace;
use crate::ir::program::Program;
use crate::ir::{
    BinaryOp, Expr, ExprKind, Function, Name, Path, Record, TemplateArg, TemplateParam, TemplateParamKind,
    Type, print,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most alternatives of one constraint.
const MOST: usize = 64;

/// Concepts that are made of others, at the most.
const DEPTH: usize = 16;

/// What is written in place of each parameter of a template.
type Names = FxHashMap<Name, String>;

/// A constraint.
enum Constraint {
    Part(String),
    All(Vec<Constraint>),
    Any(Vec<Constraint>),
}

/// Sets of parts, of which each holds something that is enough, or something that has to be.
type Sets = Vec<BTreeSet<String>>;

/// The head of a template.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    params: &'a [TemplateParam],
    constraints: &'a [TemplateParam],
    namespace: &'a Namespace,
}

impl<'a> From<&'a Function> for Head<'a> {
    fn from(function: &'a Function) -> Head<'a> {
        Head {
            params: &function.template_params,
            constraints: &function.constraints,
            namespace: &function.namespace,
        }
    }
}

impl<'a> From<&'a Record> for Head<'a> {
    fn from(record: &'a Record) -> Head<'a> {
        Head { params: &record.template_params, constraints: &[], namespace: &record.namespace }
    }
}

impl Head<'_> {
    /// Its parameters by their places.
    fn names(&self) -> Names {
        let named = self.params.iter().filter(|param| !param.name.is_empty()).enumerate();
        named.map(|(at, param)| (param.name.clone(), format!("#{at}"))).collect()
    }
}

impl Machine<'_> {
    /// Whether what one template asks for follows from what another does, and not the other way round.
    pub(super) fn asks_more(&self, one: Head<'_>, other: Head<'_>) -> bool {
        let (one, other) = (constraint_of(self.program, one), constraint_of(self.program, other));
        implies(&one, &other) && !implies(&other, &one)
    }

    /// Of functions that take the same parameters, the one that asks for more than each other; all of them if there is
    /// none.
    pub(super) fn most_constrained(&self, functions: Vec<Arc<Function>>) -> Vec<Arc<Function>> {
        let asks_most = |one: &&Arc<Function>| {
            let mut others = functions.iter().filter(|other| !Arc::ptr_eq(one, other));
            others.all(|other| self.asks_more(Head::from(&***one), Head::from(&**other)))
        };
        match functions.iter().find(asks_most) {
            Some(most) => vec![Arc::clone(most)],
            None => functions,
        }
    }
}

/// Whether functions are templates outside of classes that take the same parameters, but for the names of what they
/// are templates of.
pub(super) fn told_alike(functions: &[Arc<Function>]) -> bool {
    let types = |f: &Function| {
        let names = Head::from(f).names();
        f.params.iter().map(|param| renamed(&print::ty(&param.ty), &names)).collect::<Vec<_>>()
    };
    functions.iter().all(|f| f.owner.is_none() && !f.template_params.is_empty())
        && functions.windows(2).all(|pair| types(&pair[0]) == types(&pair[1]))
}

/// All that the head of a template asks for.
fn constraint_of(program: &Program, head: Head<'_>) -> Constraint {
    let names = head.names();
    let asked = head.params.iter().chain(head.constraints).filter(|param| param.name.is_empty());
    let of = |param: &TemplateParam| match &param.kind {
        TemplateParamKind::Type(Some(Type::Named(path))) if path.name.starts_with("enable_if") => {
            match path.args.as_deref() {
                Some([TemplateArg::Value(expr), ..]) => {
                    Some(normal(program, expr, &names, head.namespace, DEPTH))
                }
                Some([TemplateArg::Type(Type::Named(path)), ..]) => {
                    Some(of_path(program, path, &names, head.namespace, DEPTH))
                }
                _ => None,
            }
        }
        TemplateParamKind::Type(Some(ty)) => Some(Constraint::Part(renamed(&print::ty(ty), &names))),
        _ => None,
    };
    Constraint::All(asked.filter_map(of).collect())
}

fn normal(program: &Program, expr: &Expr, names: &Names, from: &Namespace, depth: usize) -> Constraint {
    let both = |a: &Expr, b: &Expr| [a, b].map(|it| normal(program, it, names, from, depth)).into();
    match &expr.kind {
        ExprKind::Binary(BinaryOp::LogicalAnd, a, b) => Constraint::All(both(a, b)),
        ExprKind::Binary(BinaryOp::LogicalOr, a, b) => Constraint::Any(both(a, b)),
        ExprKind::Path(path) => of_path(program, path, names, from, depth),
        _ => Constraint::Part(renamed(&print::expr(expr), names)),
    }
}

/// What a concept asks for with its arguments.
fn of_path(program: &Program, path: &Path, names: &Names, from: &Namespace, depth: usize) -> Constraint {
    let concept =
        program.variable_meant(path, from).filter(|it| it.constant && !it.template_params.is_empty());
    if let (Some(concept), Some(args)) = (concept, &path.args)
        && let Some(init) = &concept.init
        && concept.template_params.len() == args.len()
        && depth > 0
    {
        let written = args.iter().map(|arg| match arg {
            TemplateArg::Type(ty) => renamed(&print::ty(ty), names),
            TemplateArg::Value(expr) => renamed(&print::expr(expr), names),
        });
        let inner = concept.template_params.iter().map(|param| param.name.clone()).zip(written).collect();
        return normal(program, init, &inner, &concept.namespace, depth - 1);
    }
    Constraint::Part(renamed(&print::path(path), names))
}

/// Whether whatever meets one constraint meets the other, as far as their parts tell.
fn implies(one: &Constraint, other: &Constraint) -> bool {
    let (Some(enough), Some(needed)) = (sets(one, true), sets(other, false)) else { return false };
    enough.iter().all(|enough| needed.iter().all(|needed| !enough.is_disjoint(needed)))
}

/// The sets of parts that are each enough for a constraint, if `enough`; else those of each of which one part has to
/// hold. None if there are too many.
fn sets(constraint: &Constraint, enough: bool) -> Option<Sets> {
    let (of, is_all) = match constraint {
        Constraint::Part(part) => return Some(vec![BTreeSet::from([part.clone()])]),
        Constraint::All(of) => (of, true),
        Constraint::Any(of) => (of, false),
    };
    let of = of.iter().map(|it| sets(it, enough)).collect::<Option<Vec<Sets>>>()?;
    if is_all != enough {
        return Some(of.concat()).filter(|all| all.len() <= MOST);
    }
    let mut all: Sets = vec![BTreeSet::new()];
    for next in of {
        all = all.iter().flat_map(|one| next.iter().map(move |other| one | other)).collect();
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// A printed text with other names for parameters.
fn renamed(text: &str, names: &Names) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_part(first) {
            true => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = after;
    }
    out
}
