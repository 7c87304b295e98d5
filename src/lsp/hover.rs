//! What is an editor told of the access or barrier under the pointer?

use super::client::Client;
use super::position::Lines;
use super::{Analyst, Buffer};
use crate::explanation::Explanation;
use crate::output::explain;
use ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// The most runs whose words differ that are told of.
const MOST: usize = 2;

/// What there is to be told of a position in a buffer, if anything.
pub(super) fn hover(
    analyst: &mut impl Analyst,
    buffer: &Buffer,
    position: Position,
    client: &Client,
) -> Option<Hover> {
    let lines = Lines::of(&buffer.text);
    let offset = lines.offset(&buffer.text, position, client.encoding);
    let before = buffer.text.get(..offset)?;
    // As the rest of the program counts: lines end with `\n` alone, columns are characters.
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let told = analyst.explain(&buffer.path, line, column);
    let value = text(&told, client.markdown)?;
    let kind = if client.markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
    Some(Hover { contents: HoverContents::Markup(MarkupContent { kind, value }), range: None })
}

/// What several runs say; those that say the same, once.
fn text(told: &[Explanation], markdown: bool) -> Option<String> {
    let mut unlike: Vec<&Explanation> = Vec::new();
    for one in told {
        if !unlike.iter().any(|other| other.words == one.words || explain::are_alike(other, one)) {
            unlike.push(one);
        }
    }
    let shown: Vec<String> = unlike.iter().take(MOST).map(|it| one(it, markdown)).collect();
    let more = unlike.len().saturating_sub(shown.len());
    let rest = (more > 0).then(|| format!("({more} more ways to run it have other results)"));
    let all: Vec<String> = shown.into_iter().chain(rest).collect();
    let rule = if markdown { "\n\n---\n\n" } else { "\n\n" };
    (!all.is_empty()).then(|| all.join(rule))
}

/// What one run says: the cost, a picture, what that rests on, what to do.
fn one(told: &Explanation, markdown: bool) -> String {
    let words = &told.words;
    let plain = |text: &str| if markdown { escaped(text) } else { text.to_owned() };
    let mut parts = Vec::new();
    let message = plain(&words.message);
    parts.push(if markdown { format!("**{message}**") } else { message });
    if !words.primary_label.is_empty() {
        parts.push(plain(&words.primary_label));
    }
    if let Some(picture) = explain::sketch(told) {
        let picture = picture.trim_end();
        parts.push(if markdown { format!("```text\n{picture}\n```") } else { picture.to_owned() });
    }
    let notes = words.notes.iter().map(|text| ("note", text));
    let helps = words.helps.iter().map(|text| ("help", text));
    let items = notes.chain(helps).map(|(word, text)| match markdown {
        true => format!("- {word}: {}", plain(&text.replace('\n', " "))),
        false => format!("{word}: {text}"),
    });
    parts.push(items.collect::<Vec<_>>().join("\n"));
    parts.join("\n\n")
}

/// A text in which nothing but what stands between backticks means something in Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for character in text.chars() {
        in_code ^= character == '`';
        if !in_code && matches!(character, '*' | '_' | '<' | '>' | '[' | ']' | '#' | '\\' | '&') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn words_mean_nothing_in_markdown_and_code_stays_as_it_is() {
        assert_eq!(escaped("`a<b>[*]` is <i> * 2"), "`a<b>[*]` is \\<i\\> \\* 2");
    }
}
