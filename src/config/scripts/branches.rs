//! Is a line of a script in force, by the conditions around it?

/// `None`: that is not known.
pub(super) type Truth = Option<bool>;

pub(super) fn and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

pub(super) fn or(left: Truth, right: Truth) -> Truth {
    not(and(not(left), not(right)))
}

pub(super) fn not(truth: Truth) -> Truth {
    truth.map(|it| !it)
}

/// Deeper conditions are taken for unknown.
const MOST_NESTED: usize = 64;

/// The conditions that are open.
#[derive(Default)]
pub(super) struct Branches {
    open: Vec<Branch>,
    /// How many more are open.
    deeper: usize,
}

struct Branch {
    /// How many came before, and whether the last one has no condition.
    number: usize,
    is_last: bool,
    /// Whether one of the branches so far was in force.
    before: Truth,
    now: Truth,
    /// What holds around it.
    around: Truth,
}

impl Branches {
    /// Whether what follows is in force.
    pub(super) fn state(&self) -> Truth {
        let state = self.open.last().map_or(Some(true), |branch| and(branch.around, branch.now));
        if self.deeper > 0 { and(state, None) } else { state }
    }

    pub(super) fn open(&mut self, condition: Truth) {
        if self.open.len() == MOST_NESTED {
            self.deeper += 1;
            return;
        }
        let around = self.state();
        self.open.push(Branch { number: 0, is_last: false, before: condition, now: condition, around });
    }

    /// The next branch.
    pub(super) fn other(&mut self, condition: Truth) {
        if let Some(branch) = self.open.last_mut().filter(|_| self.deeper == 0) {
            branch.number += 1;
            branch.now = and(not(branch.before), condition);
            branch.before = or(branch.before, condition);
        }
    }

    /// The branch without a condition of its own.
    pub(super) fn last(&mut self) {
        self.other(Some(true));
        if let Some(branch) = self.open.last_mut().filter(|_| self.deeper == 0) {
            branch.is_last = true;
        }
    }

    /// How many conditions are open, and the number of the innermost branch.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.open.len(), self.open.last().map_or(0, |branch| branch.number))
    }

    /// How many branches the innermost condition has had, if one of them is taken in any case.
    pub(super) fn all(&self) -> Option<usize> {
        let branch = self.open.last().filter(|branch| branch.is_last && self.deeper == 0)?;
        Some(branch.number + 1)
    }

    pub(super) fn close(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_branch_is_in_force() {
        let mut branches = Branches::default();
        branches.open(Some(false));
        assert_eq!(branches.state(), Some(false));
        branches.last();
        assert_eq!(branches.state(), Some(true));
        branches.open(None);
        assert_eq!(branches.state(), None);
        branches.last();
        assert_eq!(branches.state(), None);
        branches.close();
        branches.last();
        assert_eq!(branches.state(), Some(false));
        branches.close();
        branches.close();
        assert_eq!(branches.state(), Some(true));
        for _ in 0..1000 {
            branches.open(Some(true));
        }
        assert_eq!(branches.state(), None);
        for _ in 0..1000 {
            branches.close();
        }
        assert_eq!(branches.state(), Some(true));
    }
}
