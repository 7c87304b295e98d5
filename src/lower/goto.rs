//! Where does a `goto` lead?
//!
//! One to a label that follows, in a list of statements around it, takes its threads there. What one
//! leads back to is a loop of a form that is not followed: everything from the label to the last
//! `goto` that leads to it may run any number of times. A label inside a statement that the `goto` is
//! not in makes the whole function one that is not followed.

use super::lowerer::Lowerer;
use crate::ir::visit::own_stmts;
use crate::ir::{GOTO_LOOP, Name, Stmt, StmtKind};

impl Lowerer<'_> {
    /// The body of a function, its jumps sorted out.
    pub(super) fn sort_jumps(&self, body: Vec<Stmt>) -> Vec<Stmt> {
        if !self.labels.any {
            return body;
        }
        let span = body.first().map(|first| first.span);
        let body = sorted(body, &[]);
        match (body.iter().any(is_lost), span) {
            (true, Some(span)) => {
                vec![Stmt { kind: StmtKind::Unsupported("goto into a statement", body), span }]
            }
            _ => body,
        }
    }
}

/// A list of statements with loops for what is led back to. `after`: the labels that follow the
/// statements around.
fn sorted(mut list: Vec<Stmt>, after: &[Name]) -> Vec<Stmt> {
    let mut at = 0;
    while let Some(stmt) = list.get(at) {
        if let StmtKind::Label(name) = &stmt.kind {
            let name = name.clone();
            let last = list.iter().rposition(|stmt| leads_to(stmt, &name)).filter(|last| *last > at);
            if let Some(last) = last {
                // Whoever leaves it otherwise does not run what follows.
                let leaves = list[at..=last].iter().any(|stmt| leads_elsewhere(stmt, &name));
                let end = if leaves { list.len() } else { last + 1 };
                let mut inside: Vec<Stmt> = list.drain(at + 1..end).collect();
                let label = &list[at];
                let span = inside.last().map_or(label.span, |last| label.span.to(last.span));
                inside.iter_mut().for_each(|stmt| blank(stmt, &name));
                let kind = StmtKind::Unsupported(GOTO_LOOP, inside);
                list.insert(at + 1, Stmt { kind, span });
            }
        }
        at += 1;
    }
    for at in 0..list.len() {
        let mut known = after.to_vec();
        known.extend(list[at + 1..].iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Label(name) => Some(name.clone()),
            _ => None,
        }));
        inner_lists(&mut list[at], &mut |inner| *inner = sorted(std::mem::take(inner), &known));
        if let StmtKind::Goto(name) = &list[at].kind
            && !known.contains(name)
        {
            list[at].kind = StmtKind::Unsupported(LOST, Vec::new());
        }
    }
    list
}

/// What stands for a `goto` whose label was not found where it is looked for.
const LOST: &str = "goto";
/// What stands for one that goes round a loop made of such.
const AGAIN: &str = "goto back";

fn is_lost(stmt: &Stmt) -> bool {
    let mut found = matches!(&stmt.kind, StmtKind::Unsupported(LOST, _));
    own_stmts(stmt, &mut |inner| found |= is_lost(inner));
    found
}

fn leads_to(stmt: &Stmt, label: &Name) -> bool {
    let mut found = matches!(&stmt.kind, StmtKind::Goto(name) if name == label);
    own_stmts(stmt, &mut |inner| found |= leads_to(inner, label));
    found
}

fn leads_elsewhere(stmt: &Stmt, label: &Name) -> bool {
    let mut found = matches!(&stmt.kind, StmtKind::Goto(name) if name != label);
    own_stmts(stmt, &mut |inner| found |= leads_elsewhere(inner, label));
    found
}

fn blank(stmt: &mut Stmt, label: &Name) {
    if matches!(&stmt.kind, StmtKind::Goto(name) if name == label) {
        stmt.kind = StmtKind::Unsupported(AGAIN, Vec::new());
    }
    inner_lists(stmt, &mut |list| list.iter_mut().for_each(|inner| blank(inner, label)));
}

/// Visits the lists of statements directly inside a statement.
fn inner_lists(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
    match &mut stmt.kind {
        StmtKind::Block(body)
        | StmtKind::Unsupported(_, body)
        | StmtKind::Try(body)
        | StmtKind::Loop { body, .. } => visit(body),
        StmtKind::If { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        StmtKind::Switch { cases, .. } => cases.iter_mut().for_each(|case| visit(&mut case.body)),
        _ => {}
    }
}
