//! What do the pages on the rules say?
//!
//! `docs/rules` holds a page for each rule and an index. Both are written from the rules: the head of a rule's
//! source file is the body of its page.

use super::level_word;
use crate::diagnostic::Level;
use crate::rules::{self, About, Rule};

/// The name of the page on a rule, in the folder of the pages.
pub(super) fn file(rule: &Rule) -> String {
    format!("{}.md", rule.id)
}

/// All pages, each with its name: the index first, then a page for each rule.
#[must_use]
pub fn all() -> Vec<(String, String)> {
    let pages = rules::ALL.iter().map(|rule| (file(rule), page(rule)));
    std::iter::once(("README.md".to_owned(), index())).chain(pages).collect()
}

fn index() -> String {
    let mut out =
        "# Rules\n\nWritten by `cudalint rules --markdown docs/rules`, from the rules themselves.\n"
            .to_owned();
    for about in [About::Correctness, About::Performance, About::Comments] {
        out.push_str(&format!("\n## {}\n\n| rule | level | |\n|---|---|---|\n", about_words(about)));
        for rule in rules::ALL.iter().filter(|rule| rule.about == about) {
            let (file, level) = (file(rule), level_word(rule.level));
            out.push_str(&format!("| [`{}`]({file}) | {level} | {} |\n", rule.id, rule.summary));
        }
    }
    out
}

fn page(rule: &Rule) -> String {
    let Rule { id, summary, .. } = rule;
    let level = match rule.level {
        Level::Allow => "off: `--warn` turns it on",
        level => level_word(level),
    };
    // What the tests read behind the language is nothing to a reader.
    let body = rule.documentation().replace("```cuda,fires", "```cuda").replace("```cuda,clean", "```cuda");
    let about = about_words(rule.about);
    format!(
        "# {id}\n\n{}.\n\n| about | level |\n|---|---|\n| {about} | {level} |\n\n{body}\n{}\n[All rules](README.md)\n",
        capital(summary),
        level_section(rule)
    )
}

/// How the rule is made louder or quieter.
fn level_section(rule: &Rule) -> String {
    let id = rule.id;
    // A comment cannot silence what is said of comments.
    let comment = match rule.about {
        About::Comments => String::new(),
        _ => format!("- for one line, a comment beside or above it: `// cudalint: allow({id}): reason`\n"),
    };
    format!(
        "\n## Louder or quieter\n{comment}- for a run: `--allow {id}`, `--note {id}`, `--warn {id}`, `--deny {id}`\n- for a \
         project: `{id} = \"allow\"` under `[levels]` of `cudalint.toml`\n"
    )
}

fn about_words(about: About) -> &'static str {
    match about {
        About::Correctness => "Correctness",
        About::Performance => "Performance",
        About::Comments => "Comments for this tool",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
