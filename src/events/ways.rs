//! On which paths does a block reach a request?
//!
//! Through which calls, and under which conditions that are the same for all its threads and not known,
//! so that a block may pass it by.

/// The calls that are told apart.
const MOST_PATHS: u32 = 63;

/// The ways to some requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ways {
    /// The calls: bit `n` is number `n` of [`Access::paths`](super::Access::paths), the last bit all
    /// that are not told apart.
    paths: u64,
    under: Under,
}

/// The branches around some requests that a block may pass by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Under {
    /// There is no request yet.
    #[default]
    Nothing,
    /// All are in this branch, the innermost, by its number; `None`: no block passes them by.
    Branch(Option<u32>),
    /// They are in several, or some are in none.
    Several,
}

impl Ways {
    /// The way by calls of this number, in a branch if there is one.
    #[must_use]
    pub fn by(path: u32, branch: Option<u32>) -> Ways {
        Ways { paths: 1 << path.min(MOST_PATHS), under: Under::Branch(branch) }
    }

    /// These and others.
    #[must_use]
    pub fn and(self, other: Ways) -> Ways {
        let under = match (self.under, other.under) {
            (Under::Nothing, under) | (under, Under::Nothing) => under,
            (one, other) if one == other => one,
            _ => Under::Several,
        };
        Ways { paths: self.paths | other.paths, under }
    }

    /// Whether a block may come to some of the requests and pass others by.
    #[must_use]
    pub fn may_part(self) -> bool {
        self.under == Under::Several
    }

    /// The numbers of the calls, `most` being how many there are.
    pub fn paths(self, most: usize) -> impl Iterator<Item = u32> {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        (0..most).filter(move |path| self.paths >> (*path).min(MOST_PATHS) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_one_branch_come_together_or_not_at_all() {
        let both = Ways::by(0, Some(3)).and(Ways::by(1, Some(3)));
        assert!(!both.may_part());
        assert_eq!(both.paths(4).collect::<Vec<_>>(), [0, 1]);
        assert!(both.and(Ways::by(0, None)).may_part());
        assert!(both.and(Ways::by(0, Some(4))).may_part());
        assert!(!Ways::default().and(both).may_part());
    }
}
