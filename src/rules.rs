//! Which rules are there?
//!
//! One file per rule under `rules/`. Both lists below are sorted by id.

mod bank_conflict;
mod divergent_barrier;

use crate::diagnostic::Level;

/// A rule, as the command line and the documentation know it.
#[derive(Debug)]
pub struct Rule {
    /// Its name: the bad pattern, in kebab case. It reads after "allow".
    pub id: &'static str,
    /// How loud it is unless the user says otherwise.
    pub level: Level,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// The rule's own source file, whose leading `//!` lines are its documentation.
    pub docs: &'static str,
}

impl Rule {
    /// The documentation, in Markdown.
    #[must_use]
    pub fn documentation(&self) -> String {
        let lines = self.docs.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Every rule, sorted by id.
pub static ALL: &[&Rule] = &[&bank_conflict::RULE, &divergent_barrier::RULE];

/// The rule with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id).copied()
}

#[cfg(test)]
mod tests;
