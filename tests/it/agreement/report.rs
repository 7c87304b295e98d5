//! What do the comparisons come to?

use super::{CONFLICT, Measured, TOLERANCE};
use std::collections::BTreeMap;
use std::fmt;

/// How one measured line compares.
#[derive(Debug)]
pub enum Outcome {
    /// The line was compiled, but no access of it was served in the run that was profiled.
    NotRun,
    /// No access was seen on the line.
    Missing,
    /// The analyzer does not know, and says why.
    Undecided(String),
    /// Wavefronts over ideal, both ways.
    Decided { predicted: f64, measured: f64, why: String },
}

/// The totals.
#[derive(Debug, Default)]
pub struct Report {
    lines: usize,
    not_run: usize,
    missing: usize,
    decided: usize,
    agree: usize,
    within: usize,
    conflicts: usize,
    conflicts_decided: usize,
    found: usize,
    called: usize,
    clean_called: usize,
    reasons: BTreeMap<String, usize>,
}

impl Report {
    /// Counts one line; returns what to print of it.
    pub fn add(&mut self, row: &Measured, outcome: Outcome) -> String {
        self.lines += usize::from(!matches!(outcome, Outcome::NotRun));
        let measured = row.wavefronts / row.ideal.max(1.0);
        let conflicts = measured > CONFLICT;
        self.conflicts += usize::from(conflicts);
        let (word, predicted, why) = match outcome {
            Outcome::NotRun => {
                self.not_run += 1;
                ("not run", "-".to_owned(), "nothing was measured here".to_owned())
            }
            Outcome::Missing => {
                self.missing += 1;
                ("missing", "-".to_owned(), "no access is seen here".to_owned())
            }
            Outcome::Undecided(why) => {
                *self.reasons.entry(why.clone()).or_default() += 1;
                ("unknown", "-".to_owned(), why)
            }
            Outcome::Decided { predicted, measured, why } => {
                let called = predicted > CONFLICT;
                let within = (predicted - measured).abs() <= TOLERANCE * measured;
                self.decided += 1;
                self.agree += usize::from(called == conflicts);
                self.within += usize::from(within);
                self.conflicts_decided += usize::from(conflicts);
                self.found += usize::from(conflicts && called);
                self.called += usize::from(called);
                self.clean_called += usize::from(called && !conflicts);
                let word = match (called, conflicts) {
                    (true, false) => "FALSE",
                    (false, true) => "MISSED",
                    _ if within => "agree",
                    _ => "ratio",
                };
                (word, format!("{predicted:.2}"), why)
            }
        };
        let kernel: String = row.kernel.chars().take(40).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        format!(
            "{word:8} measured {measured:5.2} predicted {predicted:>5}  {}/{}:{} {kernel} {}{why}",
            row.repo, row.file, row.line, row.block
        )
    }

    /// The share of decided lines on which both say "conflict" or both do not.
    pub fn agreement(&self) -> f64 {
        share(self.agree, self.decided)
    }

    /// The share of decided lines whose ratio is within the tolerance.
    pub fn within_ratio(&self) -> f64 {
        share(self.within, self.decided)
    }

    /// The share of lines that are decided.
    pub fn decided(&self) -> f64 {
        share(self.decided, self.lines)
    }

    /// The share of lines measured in conflict that are said to be.
    pub fn found(&self) -> f64 {
        share(self.found, self.conflicts)
    }

    /// Lines measured without a conflict that are said to have one.
    pub fn false_conflicts(&self) -> usize {
        self.clean_called
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of =
            |part: usize, whole: usize| format!("{part} of {whole} ({:.1} %)", 100.0 * share(part, whole));
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        writeln!(f)?;
        for (reason, count) in reasons.iter().take(12) {
            writeln!(f, "{count:5} lines unknown: {reason}")?;
        }
        let unknown = self.lines - self.missing - self.decided;
        writeln!(f, "{} lines measured, {} more not reached by the run", self.lines, self.not_run)?;
        writeln!(f, "decided                          {}", of(self.decided, self.lines))?;
        writeln!(f, "  unknown {unknown}, not seen {}", self.missing)?;
        writeln!(f, "agree on conflict or none        {}", of(self.agree, self.decided))?;
        writeln!(f, "agree on the ratio within 10 %   {}", of(self.within, self.decided))?;
        writeln!(f, "measured conflicts found         {}", of(self.found, self.conflicts))?;
        writeln!(f, "  of those decided               {}", of(self.found, self.conflicts_decided))?;
        write!(f, "reported lines without conflict  {}", of(self.clean_called, self.called))
    }
}
