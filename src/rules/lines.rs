//! How does a finding name many lines without a list that nobody reads?
//!
//! Some of the finding's own file have their numbers; the rest, and those of other files, are counted.

use super::{listed, plural};
use std::collections::BTreeSet;

/// The most lines, or runs of lines, that have their numbers.
const MOST_NAMED: usize = 5;

/// So many lines in a row are called by the first and the last of them.
const RUN: usize = 3;

/// Lines of a finding that are said without their text.
#[derive(Debug, Default)]
pub(crate) struct OtherLines {
    own: BTreeSet<usize>,
    elsewhere: BTreeSet<(String, usize)>,
}

impl OtherLines {
    /// One more line: of this file, if it is not the finding's own.
    pub(crate) fn add(&mut self, elsewhere: Option<String>, line: usize) {
        match elsewhere {
            Some(file) => self.elsewhere.insert((file, line)),
            None => self.own.insert(line),
        };
    }

    /// `also lines 6 and 9`, `also lines 73 to 76, 80, 82, 84, 86, 22 more and 12 in 3 other files`; none: nothing.
    pub(crate) fn also(&self) -> Option<String> {
        let word = if self.own.len() == 1 { "line" } else { "lines" };
        let words = self.words()?;
        Some(if self.own.is_empty() { format!("also {words}") } else { format!("also {word} {words}") })
    }

    /// `and 3 more lines: 6, 9 and 12`, `and 12 more lines in 3 other files`; none: nothing.
    pub(crate) fn and_more(&self) -> Option<String> {
        let words = self.words()?;
        let all = plural((self.own.len() + self.elsewhere.len()) as u64, "more line");
        match (self.own.is_empty(), self.elsewhere.len()) {
            (true, 1) => Some(format!("and {all}: {words}")),
            (true, _) => Some(format!("and {all} in {}", self.files())),
            (false, _) => Some(format!("and {all}: {words}")),
        }
    }

    fn words(&self) -> Option<String> {
        let runs = self.runs();
        let (shown, rest) = runs.split_at(MOST_NAMED.min(runs.len()));
        let mut words: Vec<String> = Vec::new();
        for (first, last) in shown {
            words.push(if first == last { first.to_string() } else { format!("{first} to {last}") });
        }
        let more: usize = rest.iter().map(|(first, last)| last - first + 1).sum();
        if more > 0 {
            words.push(format!("{more} more"));
        }
        let mut elsewhere = self.elsewhere.iter();
        match (elsewhere.next(), elsewhere.count() + 1) {
            (None, _) => {}
            (Some((file, line)), 1) => words.push(format!("{file}:{line}")),
            (_, many) if words.is_empty() => {
                words.push(format!("{} in {}", plural(many as u64, "line"), self.files()));
            }
            (_, many) => words.push(format!("{many} in {}", self.files())),
        }
        (!words.is_empty()).then(|| listed(&words))
    }

    /// How many other files there are.
    fn files(&self) -> String {
        match self.elsewhere.iter().map(|(file, _)| file).collect::<BTreeSet<_>>().len() {
            1 => "another file".to_owned(),
            many => format!("{many} other files"),
        }
    }

    /// The lines of the finding's own file: the first and last of a run, and others one by one.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for line in &self.own {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *line => *last = *line,
                _ => runs.push((*line, *line)),
            }
        }
        let alone = |(first, last): (usize, usize)| match last + 1 - first < RUN {
            true => (first..=last).map(|line| (line, line)).collect(),
            false => vec![(first, last)],
        };
        runs.into_iter().flat_map(alone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(own: &[usize], elsewhere: &[(&str, usize)]) -> OtherLines {
        let mut lines = OtherLines::default();
        own.iter().for_each(|line| lines.add(None, *line));
        elsewhere.iter().for_each(|(file, line)| lines.add(Some((*file).to_owned()), *line));
        lines
    }

    #[test]
    fn few_lines_have_their_numbers() {
        assert_eq!(of(&[], &[]).also(), None);
        assert_eq!(of(&[], &[]).and_more(), None);
        assert_eq!(of(&[7], &[]).also().unwrap(), "also line 7");
        assert_eq!(of(&[9, 6], &[]).also().unwrap(), "also lines 6 and 9");
        assert_eq!(of(&[8, 6, 7, 9, 12, 11], &[]).also().unwrap(), "also lines 6 to 9, 11 and 12");
        assert_eq!(of(&[36, 38, 37], &[]).and_more().unwrap(), "and 3 more lines: 36 to 38");
    }

    #[test]
    fn many_lines_and_those_of_other_files_are_counted() {
        let many: Vec<usize> = (1..20).map(|line| 2 * line).chain([1, 3]).collect();
        let files = [("a.h", 1), ("a.h", 4), ("b.h", 1)];
        let numbers = "1 to 4, 6, 8, 10, 12, 13 more";
        assert_eq!(of(&many, &[]).also().unwrap(), "also lines 1 to 4, 6, 8, 10, 12 and 13 more");
        assert_eq!(of(&many, &files).also().unwrap(), format!("also lines {numbers} and 3 in 2 other files"));
        assert_eq!(
            of(&many, &files).and_more().unwrap(),
            format!("and 24 more lines: {numbers} and 3 in 2 other files")
        );
        assert_eq!(of(&[], &files).also().unwrap(), "also 3 lines in 2 other files");
        assert_eq!(of(&[], &files).and_more().unwrap(), "and 3 more lines in 2 other files");
        assert_eq!(of(&[], &files[..2]).also().unwrap(), "also 2 lines in another file");
    }

    #[test]
    fn one_line_of_another_file_has_its_place() {
        assert_eq!(of(&[3], &[("a.h", 1)]).also().unwrap(), "also line 3 and a.h:1");
        assert_eq!(of(&[], &[("a.h", 1)]).also().unwrap(), "also a.h:1");
        assert_eq!(of(&[], &[("a.h", 1)]).and_more().unwrap(), "and 1 more line: a.h:1");
        assert_eq!(of(&[3], &[("a.h", 1)]).and_more().unwrap(), "and 2 more lines: 3 and a.h:1");
    }
}
