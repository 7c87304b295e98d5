//! In which order are findings told?
//!
//! By place, for programs; for people those first that cost most: errors, then warnings, then notes; in a
//! level what is wrong before what is slow, and what is slow before comments; bank conflicts by their weight
//! (`diagnostic/conflict.rs` says what that is) before others, whose cost is not known. What is alike stays
//! in the order of places, so that the same findings always come in the same order.

use crate::diagnostic::Diagnostic;
use crate::rules::{self, About};
use std::cmp::Ordering;

/// The numbers of findings, which come by place, in the order of what they cost.
#[must_use]
pub fn by_cost(findings: &[Diagnostic]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    // Stable.
    order.sort_by(|&one, &other| compare(&findings[one], &findings[other]));
    order
}

fn compare(one: &Diagnostic, other: &Diagnostic) -> Ordering {
    let about = |finding: &Diagnostic| match rules::find(finding.rule).map(|rule| rule.about) {
        Some(About::Correctness) | None => 0,
        Some(About::Performance) => 1,
        Some(About::Comments) => 2,
    };
    let weight = |finding: &Diagnostic| finding.cost().map_or(0.0, |cost| cost.weight());
    let level = other.level.cmp(&one.level);
    level.then(about(one).cmp(&about(other))).then(weight(other).total_cmp(&weight(one)))
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::diagnostic::Level;

    #[test]
    fn what_costs_most_comes_first_and_ties_stay() {
        let (_, finding) = testing::finding("a.cu", "s[i]\n", "s[i]");
        let of = |rule, level, extra, kernel| {
            let conflict = (kernel > 0).then(|| Box::new(testing::conflict(finding.primary, extra, kernel)));
            Diagnostic { rule, level, conflict, ..finding.clone() }
        };
        let findings = [
            of("unused-directive", Level::Warn, 0, 0),
            of("bank-conflict", Level::Note, 900, 1000),
            of("bank-conflict", Level::Warn, 128, 2048),
            of("bank-conflict", Level::Warn, 992, 1056),
            of("bank-conflict", Level::Warn, 128, 2048),
            of("missing-barrier", Level::Warn, 0, 0),
            of("missing-barrier", Level::Deny, 0, 0),
        ];
        assert_eq!(by_cost(&findings), [6, 5, 3, 2, 4, 0, 1]);
    }
}
