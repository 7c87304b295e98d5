//! How is a statement taken out of a text?
//!
//! With its line, where nothing else stands on it but a comment about it; else by itself. What stands alone under an
//! `if` or a loop without braces stays, for something has to stand there.

use crate::diagnostic::Edit;
use crate::preproc::{Lexer, Token};
use crate::source::{SourceFile, Span};

/// Takes out the statement that consists of the expression under a span.
pub(super) fn remove_statement(file: &SourceFile, expression: Span) -> Option<Edit> {
    let text = &file.text;
    let mut lexer = Lexer::new(text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    let first = tokens.iter().position(|token| token.start == expression.start)?;
    let before = tokens.get(first.checked_sub(1)?)?;
    let end = tokens.iter().find(|token| token.start >= expression.end)?;
    let is_statement = [b'{', b'}', b';'].into_iter().any(|punct| before.is(punct)) && end.is(b';');
    if !is_statement {
        return None;
    }
    let (start, end) = (expression.start as usize, end.range().end);
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(end..)?;
    let of_line = rest.split('\n').next().unwrap_or("");
    let behind = of_line.trim();
    let is_alone =
        text.get(line..start)?.trim().is_empty() && (behind.is_empty() || behind.starts_with("//"));
    let (start, end) = match is_alone {
        true => (line, (end + of_line.len() + 1).min(text.len())),
        false => (start, end + of_line.len() - of_line.trim_start_matches(' ').len()),
    };
    let at = |place: usize| u32::try_from(place).ok();
    Some(Edit {
        span: Span { file: expression.file, start: at(start)?, end: at(end)?, nth: 0 },
        text: String::new(),
    })
}
