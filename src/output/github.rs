//! Workflow commands of GitHub Actions, which become annotations on a pull request.

use super::{Place, details, other_lines};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Sources;
use crate::visible::{lines, one_line};

/// The findings, one command each.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic]) -> Vec<u8> {
    let mut out = String::new();
    for finding in findings {
        let Place { tracked, line, column, end_line, end_column, .. } = Place::of(sources, finding.primary);
        let command = match finding.level {
            Level::Allow | Level::Note => "notice",
            Level::Warn => "warning",
            Level::Deny => "error",
        };
        let (file, rule) = (property(&one_line(&tracked)), finding.rule);
        out.push_str(&format!("::{command} file={file},line={line},endLine={end_line}"));
        // Columns are taken only within a line.
        if line == end_line {
            out.push_str(&format!(",col={column},endColumn={end_column}"));
        }
        out.push_str(&format!(
            ",title={}::{}\n",
            property(&format!("cudalint: {rule}")),
            data(&lines(&details(finding, &other_lines(sources, finding))))
        ));
    }
    out.into_bytes()
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        let (sources, mut finding) = testing::finding("d,e/a:b.cu", "x;\ns[i];\n", "s[i]");
        finding.message = "100 % worse".to_owned();
        finding.notes.push("a\nb".to_owned());
        let text = String::from_utf8(render(&sources, &[finding])).unwrap();
        assert_eq!(
            text,
            "::warning file=d%2Ce/a%3Ab.cu,line=2,endLine=2,col=1,endColumn=5,\
             title=cudalint%3A bank-conflict::100 %25 worse%0Alanes 0 and 1 read bytes 0 and 128: bank 0%0Anote: a%0Ab\n"
        );
    }
}
