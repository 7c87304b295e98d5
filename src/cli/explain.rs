//! `cudalint explain`: what is a rule about, or what happens at a place of the source?

use super::analyze::analyze;
use super::args::ExplainArgs;
use super::driver::Analyzed;
use super::{Outcome, includes, terminal};
use crate::analysis::{Place, Wanted};
use crate::explanation::Explanation;
use crate::output;
use crate::rules::{self, Rule};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Explains a rule or a place.
pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    if let Some(rule) = rules::find(&args.subject) {
        return document(rule);
    }
    let Some((file, line, column)) = place(&args.subject) else {
        let meant = match rules::nearest(&args.subject) {
            Some(rule) => format!("did you mean `{rule}`?"),
            None => "a place is written as in `src/a.cu:12`, and `cudalint rules` lists the rules".to_owned(),
        };
        terminal::say_error(&format!("`{}` is neither a rule nor FILE:LINE; {meant}", args.subject));
        return Outcome::Failed;
    };
    let home = std::env::current_dir().unwrap_or_default();
    let at = Place { home, file: PathBuf::from(file), line, column };
    let given = args.analysis.with_stdin();
    let from_stdin = given.stdin_filename.as_ref().is_some_and(|path| at.is_of(path));
    let own = (!from_stdin).then(|| at.file.clone());
    let paths = own.into_iter().chain(given.paths.iter().cloned()).collect();
    let analysis = given.with_paths(paths);
    let Some((input, analyzed)) = analyze(&analysis, Wanted::Place(&at)) else {
        return Outcome::Failed;
    };
    if analyzed.failed {
        return Outcome::Failed;
    }
    let told: Vec<&Explanation> = analyzed.reports.iter().flat_map(|report| &report.explanations).collect();
    if told.is_empty() {
        terminal::say_error(&nothing(&analyzed, &at));
        includes::tell_of_not_found(&includes::not_found(&input, &analyzed));
        return Outcome::Failed;
    }
    let colored = terminal::colored(args.color);
    terminal::print(&output::explain::render(analyzed.run.sources(), &told, colored), Outcome::Clean)
}

fn document(rule: &Rule) -> Outcome {
    let text = format!("# {}\n\n{}\n", rule.id, rule.documentation());
    terminal::print(text.as_bytes(), Outcome::Clean)
}

/// The file, line and column of `src/a.cu:12:5`.
fn place(text: &str) -> Option<(&str, usize, Option<usize>)> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    let (rest, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    let found = match rest.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some((file, line)) => (file, line, Some(last)),
        None => (rest, last, None),
    };
    (!found.0.is_empty()).then_some(found)
}

/// Why there is nothing to tell, and where there is.
fn nothing(analyzed: &Analyzed, at: &Place) -> String {
    let sources = analyzed.run.sources();
    let verdicts = analyzed.reports.iter().flat_map(|report| &report.verdicts);
    let here = verdicts.filter(|it| at.is_of(&sources.get(it.span.file).path));
    let known: BTreeSet<(usize, usize, String)> = here
        .map(|it| {
            let (line, column) = sources.get(it.span.file).line_column(it.span.start);
            (line.abs_diff(at.line), line, format!("`{}`, column {column}", it.array))
        })
        .collect();
    let file = at.file.display();
    let what = match at.column {
        Some(column) => format!("{file}:{}:{column}", at.line),
        None => format!("line {} of {file}", at.line),
    };
    let why = "no shared-memory access and no barrier that a kernel in the given files reaches";
    match known.first() {
        Some((_, line, what_there)) => {
            format!("{what} has {why}; the nearest access is on line {line} ({what_there})")
        }
        None => format!(
            "{what} has {why}, nor does any other line of the file; give the files that launch its kernels, \
             too"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_has_a_line_and_may_have_a_column() {
        assert_eq!(place("a.cu:12"), Some(("a.cu", 12, None)));
        assert_eq!(place("d/a.cu:12:5"), Some(("d/a.cu", 12, Some(5))));
        assert_eq!(place("C:\\a.cu:12"), Some(("C:\\a.cu", 12, None)));
        for wrong in ["a.cu", "a.cu:", "a.cu:x", "a.cu:0", ":12", "bank-conflict", "a.cu:12:"] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
