//! Where does a statement have to stand that comes between two places of a function?
//!
//! Before the statement with the second place, in the innermost list of statements that holds both. Example, with `*`
//! for the place found:
//!
//! ```text
//! s[t] = in[t];              the first
//! * if (t < 16) {
//!     out[t] = s[t + 16];    the second
//! }
//! ```
//!
//! Between the end of a loop's body and its next round it is the end of the body. Where the text has no braces to
//! put it in, there is no such place.

use crate::diagnostic::Edit;
use crate::ir::program::Program;
use crate::ir::visit::own_stmts;
use crate::ir::{Stmt, StmtKind};
use crate::source::{SourceFile, Span};

/// Puts a statement between two places, or behind the body of the loop that lies between them. `text_of` is the
/// file that a span lies in.
pub(super) fn insert_between(
    program: &Program,
    text_of: &dyn Fn(Span) -> std::sync::Arc<SourceFile>,
    (first, second): (Span, Span),
    across: Option<Span>,
    statement: &str,
) -> Option<Edit> {
    let functions = program.modules.iter().flat_map(|module| &module.functions);
    let mut around =
        functions.filter(|it| it.body.is_some() && holds(it.span, first) && holds(it.span, second));
    let body = around.next()?.body.as_deref()?;
    let file = text_of(second);
    let at = match across {
        // A body without braces ends where the loop does.
        Some(of) => end_of_body(&file.text, find_loop(body, of)?).filter(|at| *at < of.end as usize)?,
        None => {
            let at = before(body, first, second)?;
            is_behind_statement(file.text.get(..at)?).then_some(at)?
        }
    };
    let line = file.text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let indent = &file.text[line..at];
    let text = match (indent.trim().is_empty(), across) {
        (true, None) => format!("{statement}\n{indent}"),
        // The brace that closes the body stands one step further out.
        (true, Some(of)) => {
            let body = find_loop(body, of)?;
            let inner = indent_of(&file.text, body.last()?.span.start as usize);
            format!("{}{statement}\n{indent}", inner.strip_prefix(indent).unwrap_or("    "))
        }
        (false, _) => format!("{statement} "),
    };
    let at = u32::try_from(at).ok()?;
    Some(Edit { span: Span { file: second.file, start: at, end: at }, text })
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The white space at the beginning of the line that a place is on.
fn indent_of(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start().len()]
}

/// Where the statement begins that holds the second place, in the innermost list that holds both in this order.
fn before(list: &[Stmt], first: Span, second: Span) -> Option<usize> {
    let at = list.iter().position(|stmt| holds(stmt.span, second))?;
    let mut inside = None;
    for_each_list(&list[at], &mut |list| inside = inside.or_else(|| before(list, first, second)));
    let earlier = list[..at].iter().any(|stmt| holds(stmt.span, first));
    inside.or_else(|| earlier.then_some(list[at].span.start as usize))
}

/// The lists of statements right inside a statement.
fn for_each_list(stmt: &Stmt, visit: &mut dyn FnMut(&[Stmt])) {
    match &stmt.kind {
        StmtKind::Block(body) | StmtKind::Unsupported(_, body) | StmtKind::Loop { body, .. } => visit(body),
        StmtKind::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|list| visit(list)),
        StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| visit(&case.body)),
        _ => {}
    }
}

/// The body of the loop with this span.
fn find_loop(list: &[Stmt], span: Span) -> Option<&[Stmt]> {
    list.iter().filter(|stmt| holds(stmt.span, span)).find_map(|stmt| {
        let mut found = None;
        if let StmtKind::Loop { body, .. } = &stmt.kind
            && stmt.span == span
        {
            found = Some(body.as_slice());
        }
        own_stmts(stmt, &mut |inner| {
            found = found.or_else(|| find_loop(std::slice::from_ref(inner), span));
        });
        found
    })
}

/// Where the brace stands that closes a body of these statements.
fn end_of_body(text: &str, body: &[Stmt]) -> Option<usize> {
    let mut at = body.last()?.span.end as usize;
    loop {
        let rest = text.get(at..)?;
        let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ';']).len();
        match () {
            () if skipped > 0 => at += skipped,
            () if rest.starts_with("//") => at += rest.find('\n')?,
            () if rest.starts_with("/*") => at += rest.find("*/")? + 2,
            () => return rest.starts_with('}').then_some(at),
        }
    }
}

/// Whether a text ends where a statement of a list in braces may begin.
fn is_behind_statement(text: &str) -> bool {
    let mut rest = text.trim_end();
    // Comments on lines of their own, or behind the statement before.
    while let Some(line) = rest.rfind('\n').map(|end| &rest[end + 1..]) {
        match line.find("//") {
            Some(comment) => rest = rest[..rest.len() - line.len() + comment].trim_end(),
            None => break,
        }
    }
    rest.ends_with(['{', '}', ';'])
}
