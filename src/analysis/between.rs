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
//! Between the end of a loop's body and its next round it is the end of the body. So it is where the second place
//! comes before the first in the body of a loop, whose rounds may have been run one by one:
//!
//! ```text
//! for (int d = 256; d > 0; d /= 2) {
//!     if (t < d) s[t] += s[t + d];    read in one round what was written in the previous iteration
//! *}
//! ```
//!
//! Behind the condition of a loop it is in the body, which comes next in either kind of loop. So it is behind what a
//! `for` does after each round:
//!
//! ```text
//! do {
//! *   if (t == 0) changed = 0;    the second
//!     ...
//! } while (changed);              the first
//! ```
//!
//! The other way round it is the end of the body, which comes before both:
//!
//! ```text
//! do {
//!     ...
//!     if (t == 0) changed = in[k];    the first
//! *} while (changed);                 the second
//! ```
//!
//! The loop may also stand in another function, which calls the one with both places.
//!
//! Pragmas stay with their statement: the place is before them.
//!
//! Where the text has no braces to put it in, there is no such place; nor is there one at the end of a body that
//! threads may cut short, or that some of them may leave, as those that do would not come to it.

use crate::diagnostic::Edit;
use crate::facts::Across;
use crate::ir::program::Program;
use crate::ir::visit::own_stmts;
use crate::ir::{ExprKind, Stmt, StmtKind};
use crate::preproc::{Lexer, Token};
use crate::source::{SourceFile, Span};
use std::sync::Arc;

/// Puts a statement between two places, or behind the body of the loop that lies between them. `text_of` is the
/// file that a span lies in.
pub(super) fn insert_between(
    program: &Program,
    text_of: &dyn Fn(Span) -> Arc<SourceFile>,
    (first, second): (Span, Span),
    across: Option<Across>,
    statement: &str,
) -> Option<Edit> {
    let functions = program.modules.iter().flat_map(|module| &module.functions);
    // The loop may call the function that holds the two places.
    let (from, to) = across.map_or((first, second), |it| (it.of, it.of));
    let mut around = functions.filter(|it| it.body.is_some() && holds(it.span, from) && holds(it.span, to));
    let body = around.next()?.body.as_deref()?;
    let file = text_of(to);
    let tokens = tokens(&file.text);
    let behind_head = behind_head(body, first, second);
    let before = behind_head.or_else(|| before(body, first, second));
    let across = across.filter(|_| behind_head.is_none());
    let round = || {
        let of = before_head(body, first, second).or_else(|| round_of(body, first, second))?;
        Some(Across { of, by_all: false })
    };
    let across = across.or_else(|| if before.is_none() { round() } else { None });
    let at = match across {
        // A body without braces ends where the loop does.
        Some(Across { of, by_all }) => {
            let passes_by = |stmt: &Stmt| may_skip(stmt) || !by_all && may_leave(stmt);
            let body = find_loop(body, of).filter(|body| !body.iter().any(passes_by))?;
            end_of_body(&tokens, body).filter(|at| *at < of.end as usize)?
        }
        None => before
            .map(|at| before_pragmas(&file.text, &tokens, at))
            .filter(|at| may_begin_at(&tokens, *at))?,
    };
    let line = file.text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let indent = &file.text[line..at];
    let text = match (indent.trim().is_empty(), across) {
        // The pragma may stand further out than its statement.
        (true, None) => {
            let inner = indent_of(&file.text, before?)?;
            format!("{}{statement}\n{indent}", inner.strip_prefix(indent).unwrap_or_default())
        }
        // The brace that closes the body stands one step further out.
        (true, Some(Across { of, .. })) => {
            let body = find_loop(body, of)?;
            let inner = indent_of(&file.text, body.last()?.span.start as usize)?;
            format!("{}{statement}\n{indent}", inner.strip_prefix(indent).unwrap_or("    "))
        }
        (false, _) => format!("{statement} "),
    };
    let at = u32::try_from(at).ok()?;
    Some(Edit { span: Span { file: to.file, start: at, end: at, nth: 0 }, text })
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The white space at the beginning of the line that a place is on.
fn indent_of(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
    Some(&line[..line.len() - line.trim_start().len()])
}

/// Where the statement begins that holds the second place, in the innermost list that holds both in this order.
fn before(list: &[Stmt], first: Span, second: Span) -> Option<usize> {
    let at = list.iter().position(|stmt| holds(stmt.span, second))?;
    let mut inside = None;
    for_each_list(&list[at], &mut |list| inside = inside.or_else(|| before(list, first, second)));
    let earlier = list[..at].iter().any(|stmt| holds(stmt.span, first));
    inside.or_else(|| earlier.then_some(list[at].span.start as usize))
}

/// Where the statement of a loop's body begins that holds the second place, if the first is in the loop's head.
fn behind_head(list: &[Stmt], first: Span, second: Span) -> Option<usize> {
    let stmt = list.iter().find(|stmt| holds(stmt.span, first) && holds(stmt.span, second))?;
    if let StmtKind::Loop { body, .. } = &stmt.kind
        && is_in_head(stmt, first)
    {
        return body.iter().find(|stmt| holds(stmt.span, second)).map(|stmt| stmt.span.start as usize);
    }
    let mut inside = None;
    for_each_list(stmt, &mut |list| inside = inside.or_else(|| behind_head(list, first, second)));
    inside
}

/// The loop whose body holds the first place and whose head the second.
fn before_head(list: &[Stmt], first: Span, second: Span) -> Option<Span> {
    let stmt = list.iter().find(|stmt| holds(stmt.span, first) && holds(stmt.span, second))?;
    if let StmtKind::Loop { body, .. } = &stmt.kind
        && is_in_head(stmt, second)
    {
        return body.iter().any(|stmt| holds(stmt.span, first)).then_some(stmt.span);
    }
    let mut inside = None;
    for_each_list(stmt, &mut |list| inside = inside.or_else(|| before_head(list, first, second)));
    inside
}

/// Whether a place is in the condition of a loop, or in what it does after each round.
fn is_in_head(stmt: &Stmt, place: Span) -> bool {
    let StmtKind::Loop { cond, step, .. } = &stmt.kind else { return false };
    [cond, step].into_iter().flatten().any(|head| holds(head.span, place))
}

/// The lists of statements right inside a statement.
fn for_each_list(stmt: &Stmt, visit: &mut dyn FnMut(&[Stmt])) {
    match &stmt.kind {
        StmtKind::Block(body)
        | StmtKind::Unsupported(_, body)
        | StmtKind::Try(body)
        | StmtKind::Loop { body, .. } => visit(body),
        StmtKind::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|list| visit(list)),
        StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| visit(&case.body)),
        _ => {}
    }
}

/// The innermost loop of which only another round leads from the first place to the second.
fn round_of(list: &[Stmt], first: Span, second: Span) -> Option<Span> {
    let stmt = list.iter().find(|stmt| holds(stmt.span, first) && holds(stmt.span, second))?;
    let mut inside = None;
    for_each_list(stmt, &mut |list| inside = inside.or_else(|| round_of(list, first, second)));
    let is_loop = |body: &[Stmt]| comes_later(body, second, first);
    inside.or_else(|| match &stmt.kind {
        StmtKind::Loop { body, .. } if is_loop(body) => Some(stmt.span),
        _ => None,
    })
}

/// Whether a list of statements comes from the place `one` to `other`. In an assignment the left side is written
/// after the right side was read.
fn comes_later(list: &[Stmt], one: Span, other: Span) -> bool {
    let at = |place: Span| list.iter().position(|stmt| holds(stmt.span, place));
    let (Some(one_at), Some(other_at)) = (at(one), at(other)) else { return false };
    if one_at != other_at {
        return one_at < other_at;
    }
    let mut later = match &list[one_at].kind {
        StmtKind::Expr(expr) => match &expr.kind {
            ExprKind::Assign(_, left, right) => holds(right.span, one) && holds(left.span, other),
            _ => false,
        },
        _ => false,
    };
    for_each_list(&list[one_at], &mut |list| later |= comes_later(list, one, other));
    later
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

/// Whether a statement may keep a thread from what follows it, by ending the loop for it.
fn may_leave(stmt: &Stmt) -> bool {
    let mut found = matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break);
    own_stmts(stmt, &mut |inner| found |= may_leave(inner));
    found
}

/// Whether it may lead a thread to the next round, or elsewhere in the loop, past what follows it.
fn may_skip(stmt: &Stmt) -> bool {
    let mut found = matches!(stmt.kind, StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Label(_));
    own_stmts(stmt, &mut |inner| found |= may_skip(inner));
    found
}

/// The tokens of a text.
fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer::new(text);
    std::iter::from_fn(|| lexer.next()).collect()
}

/// Where the brace stands that closes a body of these statements.
fn end_of_body(tokens: &[Token], body: &[Stmt]) -> Option<usize> {
    let end = body.last()?.span.end;
    let mut behind = tokens.iter().filter(|token| token.start >= end && !token.is(b';'));
    behind.next().filter(|token| token.is(b'}')).map(|token| token.start as usize)
}

/// Where the pragmas begin that a statement has, or the statement itself.
fn before_pragmas(text: &str, tokens: &[Token], mut at: usize) -> usize {
    loop {
        let before = &tokens[..tokens.partition_point(|token| token.range().end <= at)];
        let Some(line) = before.iter().rposition(|token| token.first_in_line) else { return at };
        match &before[line..] {
            [hash, word, ..] if hash.is(b'#') && text.get(word.range()) == Some("pragma") => {
                at = hash.start as usize;
            }
            _ => return at,
        }
    }
}

/// Whether a statement of a list in braces may begin there.
fn may_begin_at(tokens: &[Token], at: usize) -> bool {
    let before = tokens.partition_point(|token| token.range().end <= at);
    let last = before.checked_sub(1).and_then(|last| tokens.get(last));
    last.is_some_and(|token| [b'{', b'}', b';'].into_iter().any(|punct| token.is(punct)))
}
