//! What may a piece of text have done that did not parse, or that is not modelled?
//!
//! A variable that is assigned somewhere in it is not known afterwards, and an element of a shared
//! array that is named in it is accessed. So such a piece becomes
//! `(x = unknown, s[unknown], unknown)`: nothing that it does is passed over.
//!
//! `(i = 8, x)` is a special case: the grammar does not take an assignment in a comma expression,
//! so the parts are parsed one by one.

use super::lowerer::{Change, Changed, Lowerer};
use super::outline::harmless_text;
use super::scope::Binding;
use crate::ir::{Expr, ExprKind};
use crate::source::Span;
use crate::syntax::field;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tree_sitter::Node;

/// The most parts of a comma expression, and changes in one piece of text.
const MOST: usize = 64;

/// The part of a text that comes before any bracket, comma or other end closes it.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Parts that are passed over in one step, in order.
    known: &'t [Range<usize>],
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Passes over a part that is known; false if none begins here.
    fn skip_known(&mut self) -> bool {
        let next = self.known.partition_point(|part| part.start < self.at);
        let part = self.known.get(next).filter(|part| part.start == self.at && !part.is_empty());
        self.at = part.map_or(self.at, |part| part.end);
        part.is_some()
    }

    /// Passes over one character, literal or comment; false at the end.
    fn step(&mut self) -> bool {
        if self.skip_known() {
            return true;
        }
        let rest = self.text.get(self.at..).unwrap_or("");
        let quote = rest.bytes().next().filter(|quote| matches!(quote, b'"' | b'\''));
        let length = match quote {
            Some(quote) => {
                let mut escaped = false;
                let closed = rest.bytes().skip(1).position(|byte| {
                    let closes = byte == quote && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    closes
                });
                closed.map_or(rest.len(), |inside| inside + 2)
            }
            None if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            None if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            None => rest.chars().next().map_or(0, char::len_utf8),
        };
        self.at += length;
        length > 0
    }

    fn skip_space(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn word(&mut self) -> &'t str {
        let start = self.at;
        while matches!(self.peek(), b'_' | b'$' | 0x80..) || self.peek().is_ascii_alphanumeric() {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Where each `[` of the text ends: one past its `]`.
    fn subscripts(mut self) -> FxHashMap<usize, usize> {
        let (mut open, mut ends) = (Vec::new(), FxHashMap::default());
        loop {
            match self.peek() {
                b'[' | b'(' | b'{' => open.push(self.at),
                b']' | b')' | b'}' => {
                    if let Some(start) = open.pop() {
                        ends.insert(start, self.at + 1);
                    }
                }
                _ => {}
            }
            if !self.step() {
                return ends;
            }
        }
    }

    /// Passes over `[...]`, brackets in it included; false if none stands here.
    fn skip_subscript(&mut self, ends: &FxHashMap<usize, usize>) -> bool {
        self.skip_space();
        if self.peek() != b'[' {
            return false;
        }
        self.at = ends.get(&self.at).copied().unwrap_or(self.text.len());
        true
    }
}

/// A name in a piece of text.
struct Mention<'t> {
    name: &'t str,
    at: usize,
    subscripts: usize,
    written: bool,
}

/// The names in a piece of text that are not members of something, but for those in parts that are
/// known, which lie in it in order.
fn mentions<'t>(text: &'t str, known: &'t [Range<usize>]) -> Vec<Mention<'t>> {
    let mut scanner = Scanner { text, at: 0, known };
    let ends = Scanner { text, at: 0, known }.subscripts();
    let mut found = Vec::new();
    loop {
        if scanner.skip_known() {
            continue;
        }
        let first = scanner.peek();
        if first.is_ascii_digit() {
            scanner.word();
            continue;
        }
        if !matches!(first, b'_' | b'$' | 0x80..) && !first.is_ascii_alphabetic() {
            if !scanner.step() {
                return found;
            }
            continue;
        }
        let before = text.get(..scanner.at).unwrap_or("").trim_end();
        let name = scanner.word();
        if before.ends_with('.') || before.ends_with("->") || before.ends_with("::") {
            continue;
        }
        let after = scanner.at;
        let mut subscripts = 0;
        while scanner.skip_subscript(&ends) {
            subscripts += 1;
        }
        let mut member = false;
        while scanner.peek() == b'.' {
            scanner.at += 1;
            member = !scanner.word().is_empty();
            while scanner.skip_subscript(&ends) {}
        }
        scanner.skip_space();
        let rest = text.get(scanner.at..).unwrap_or("");
        let steps = |text: &str| text.starts_with("++") || text.starts_with("--");
        let taken = before.ends_with('&') && !before.ends_with("&&");
        let written =
            assigns(rest) || steps(rest) || taken || before.ends_with("++") || before.ends_with("--");
        let at = after - name.len();
        found.push(Mention { name, at, subscripts: if member { 0 } else { subscripts }, written });
        // Names in subscripts are names too.
        scanner.at = after;
    }
}

/// Whether a text calls anything but what only hands on its argument.
fn calls(text: &str) -> bool {
    const HARMLESS: [&str; 9] = [
        "forward",
        "move",
        "sizeof",
        "decltype",
        "alignof",
        "static_cast",
        "const_cast",
        "reinterpret_cast",
        "if",
    ];
    let text = code_of(text);
    text.match_indices('(').any(|(at, _)| {
        let mut before = text[..at].trim_end();
        // `f<N>(x)`
        if before.ends_with('>') {
            let mut depth = 0usize;
            let open = before.bytes().enumerate().rev().find(|(_, byte)| {
                depth = if *byte == b'>' { depth + 1 } else { depth - usize::from(*byte == b'<') };
                depth == 0
            });
            let Some((open, _)) = open else { return false };
            before = before[..open].trim_end();
        }
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let name = before.rsplit(|c| !is_word(c)).next().unwrap_or("");
        before.ends_with([')', ']', '}']) || !name.is_empty() && !HARMLESS.contains(&name)
    })
}

/// A text with a space for each comment and each line that goes on.
fn code_of(text: &str) -> String {
    let mut scanner = Scanner { text, at: 0, known: &[] };
    let mut code = String::new();
    loop {
        let from = scanner.at;
        if !scanner.step() {
            code.push_str(text.get(from..).unwrap_or(""));
            return code.replace("\\\r\n", " ").replace("\\\n", " ");
        }
        let piece = text.get(from..scanner.at).unwrap_or("");
        let is_comment = piece.starts_with("/*") || piece.starts_with("//");
        code.push_str(if is_comment { " " } else { piece });
    }
}

/// Whether an assignment operator stands here.
fn assigns(text: &str) -> bool {
    let operator = text.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let length = text.len() - operator.len();
    let compares = length == 1 && text.starts_with(['<', '>']);
    length <= 2 && !compares && operator.starts_with('=') && !operator.starts_with("==")
}

/// Where the parts of `a, b, c` lie.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scanner { text, at: 0, known: &[] };
    let (mut start, mut depth, mut found) = (0, 0usize, Vec::new());
    loop {
        match scanner.peek() {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(start..scanner.at);
                start = scanner.at + 1;
            }
            _ => {}
        }
        if !scanner.step() {
            break;
        }
    }
    found.push(start..text.len());
    found
}

impl Lowerer<'_> {
    /// The parts of `(a = 1, b)`, which does not parse as a whole, one after another.
    pub(super) fn comma_parts(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let text = self.text(node).strip_prefix('(')?.strip_suffix(')')?;
        let (start, span) = (self.start(node) + 1, self.span(node));
        let ranges = parts(text);
        if !(2..=MOST).contains(&ranges.len()) {
            return None;
        }
        let mut exprs = Vec::new();
        for range in ranges {
            let range = start + range.start..start + range.end;
            let part = self.reparse(range, "x=(", ");", &[], |me, right| {
                (!right.has_error()).then(|| me.full_expr(right))
            });
            exprs.push(part??);
        }
        let join = |a, b| Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), span };
        exprs.into_iter().reduce(join).map(|all| all.kind)
    }

    /// What happens to the names in a text is not followed.
    pub(super) fn note_unfollowed(&self, text: &str) {
        let is_own = |name: &str| matches!(self.scope.get(name), Some(Binding::Slot(_)));
        for mention in mentions(text, &[]).iter().filter(|it| !is_own(it.name)) {
            self.outline.note_unfollowed(mention.name);
        }
    }

    /// The same of the part of an expression that may change what it names.
    fn note_unfollowed_in(&self, node: Node<'_>, kind: &ExprKind) {
        match (node.kind(), kind) {
            ("new_expression", _) => {
                let parts = ["placement", "arguments"].into_iter().filter_map(|part| field(node, part));
                parts.for_each(|part| self.note_unfollowed(self.text(part)));
            }
            ("fold_expression" | "parameter_pack_expansion" | "delete_expression", _)
            | (_, ExprKind::Unsupported("type as a value" | "alignof" | "requires expression")) => {}
            _ => self.note_unfollowed(self.text(node)),
        }
    }

    /// What is damaged or not modelled, after all that its text may have done.
    pub(super) fn with_changes(&mut self, node: Node<'_>, kind: ExprKind) -> ExprKind {
        self.note_unfollowed_in(node, &kind);
        let (text, start, span) = (self.text(node), self.start(node), self.span(node));
        let end = start + text.len();
        // Those that begin before it were asked about before; what begins in it lies in it.
        let first = self.changed.partition_point(|part| part.range.start < start);
        let mut inner = self.changed.split_off(first);
        inner.retain(|part| part.range.end <= end);
        let known: Vec<Range<usize>> =
            inner.iter().map(|part| part.range.start - start..part.range.end - start).collect();
        let inside = inner.into_iter().flat_map(|part| part.changes);
        let mut changes = self.changes_in(text, start, &known);
        for change in inside.take(MOST) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        changes.truncate(MOST);
        self.changed.push(Changed { range: start..end, changes: changes.clone() });
        let mut done = self.written_out(changes);
        done.extend(self.called_in(text, start, span, &kind));
        done.into_iter()
            .rev()
            .fold(kind, |kind, change| ExprKind::Comma(Box::new(change), Box::new(Expr { kind, span })))
    }

    /// Where functions are called in a text that is not modelled, `(f(x), ...)`: one call that is not followed of
    /// all variables in it, so that whatever may be done with them is.
    fn called_in(&self, text: &str, start: usize, span: Span, kind: &ExprKind) -> Option<Expr> {
        let ExprKind::Unsupported(what) = kind else { return None };
        if *what != "pointer to member" && !calls(text) {
            return None;
        }
        let mut args: Vec<Expr> = Vec::new();
        for mention in mentions(text, &[]) {
            let Some(Binding::Slot(local)) = self.scope.get(mention.name) else { continue };
            let kind = ExprKind::Local(*local);
            if !self.kinds.shared.contains(local)
                && args.len() < MOST
                && !args.iter().any(|it| it.kind == kind)
            {
                let at = start + mention.at;
                args.push(Expr { kind, span: self.span_of(at, at + mention.name.len()) });
            }
        }
        let callee = Box::new(Expr { kind: kind.clone(), span });
        (!args.is_empty()).then_some(Expr { kind: ExprKind::Call { callee, args }, span })
    }

    /// What a text that is not followed may have done to the variables in it; it stands at `start`.
    pub(super) fn changes(&self, text: &str, start: usize) -> Vec<Expr> {
        self.written_out(self.changes_in(text, start, &[]))
    }

    fn changes_in(&self, text: &str, start: usize, known: &[Range<usize>]) -> Vec<Change> {
        let mut done: Vec<Change> = Vec::new();
        for mention in mentions(text, known) {
            let Some(Binding::Slot(local)) = self.scope.get(mention.name) else { continue };
            let shared = self.kinds.shared.contains(local);
            let subscripts = if shared { mention.subscripts } else { 0 };
            let at = start + mention.at;
            let change = (*local, subscripts, mention.written, self.span_of(at, at + mention.name.len()));
            let happens = if shared { subscripts > 0 } else { mention.written };
            if happens && !done.contains(&change) && done.len() < MOST {
                done.push(change);
            }
        }
        done
    }

    fn written_out(&self, changes: Vec<Change>) -> Vec<Expr> {
        let changes = changes.into_iter().map(|(local, subscripts, written, span)| {
            let unknown = || Box::new(Expr { kind: ExprKind::Damaged, span });
            let variable = Expr { kind: ExprKind::Local(local), span };
            let place = (0..subscripts)
                .fold(variable, |of, _| Expr { kind: ExprKind::Index(Box::new(of), unknown()), span });
            match written {
                true => Expr { kind: ExprKind::Assign(None, Box::new(place), unknown()), span },
                false => place,
            }
        });
        changes.collect()
    }
}

/// Whether a node is an error that changes nothing.
pub(super) fn is_harmless(node: Node<'_>, lowerer: &Lowerer<'_>) -> bool {
    node.is_error() && harmless_text(lowerer.text(node))
}

/// Whether a child of this node is an error that may change its meaning.
pub(super) fn has_direct_damage(node: Node<'_>, lowerer: &Lowerer<'_>) -> bool {
    if !node.has_error() {
        return false;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.is_error() && !is_harmless(child, lowerer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigned_names_are_found() {
        let written = |text| {
            let found = mentions(text, &[]).into_iter().filter(|it| it.written);
            found.map(|it| it.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(written("i = 8, j += k, l <<= 2, m == 3, n <= o"), "i j l");
        assert_eq!(written("était = 8, x_é[$y] += été"), "était x_é");
        assert_eq!(
            written("a[i++] = b.c; d.e[k] *= 2; p->q = --r; \"s = 1\" /* t = 1 */ f(&u, v && w)"),
            "a i d r u"
        );
    }

    #[test]
    fn what_is_known_is_passed_over() {
        let text = "a[b = 1] = [c = 2, d[0], e";
        let names = |known| mentions(text, known).into_iter().map(|it| it.name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(&[]), "a b c d e");
        assert_eq!(names(&[2..7, 12..24]), "a e");
    }

    #[test]
    fn commas_in_brackets_and_literals_do_not_part() {
        let text = "i = f(1, 2), c = ',', j[k, l]";
        let found: Vec<&str> = parts(text).into_iter().map(|part| text[part].trim()).collect();
        assert_eq!(found, ["i = f(1, 2)", "c = ','", "j[k, l]"]);
    }
}
