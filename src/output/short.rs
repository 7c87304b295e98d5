//! One line per finding, for editors and `grep`: `file:line:col: warning[rule]: message`.

use super::{Place, level_word, other_lines};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::visible::{one_line, without_commands};

/// The findings, one line each.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic]) -> Vec<u8> {
    let mut out = String::new();
    for finding in findings {
        let Place { file, line, column, .. } = Place::of(sources, finding.primary);
        let message = format!("{}{}", finding.message, other_lines(sources, finding));
        let (file, message) = (one_line(&file), one_line(&message));
        let (level, rule) = (level_word(finding.level), finding.rule);
        out.push_str(&format!("{file}:{line}:{column}: {level}[{rule}]: {message}\n"));
    }
    without_commands(out).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::diagnostic::Level;

    #[test]
    fn a_finding_is_one_line() {
        let (sources, mut finding) = testing::finding("d/a.cu", "int x;\n  s[i] = 0;\n", "s[i]");
        finding.message.push_str(" of\n`s`");
        let mut denied = finding.clone();
        denied.level = Level::Deny;
        let text = String::from_utf8(render(&sources, &[finding, denied])).unwrap();
        assert_eq!(
            text,
            "d/a.cu:2:3: warning[bank-conflict]: 32-way bank conflict of\\n`s`\n\
             d/a.cu:2:3: error[bank-conflict]: 32-way bank conflict of\\n`s`\n"
        );
    }
}
