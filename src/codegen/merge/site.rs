//! May a site's requests be joined one by one?
//!
//! Of `for (k = 0; k < 5; ++k) sum += s[8 * t + k]`, unrolled, four reads are joined and one is not. Each round has to
//! be code of its own, and all warps that come to the site have to come to each of its requests: the machine code is one
//! for all. A function that is called in two places is two pieces of code, so each call has sites of its own. So is each
//! member of an object that is copied as a whole.

use super::wide::Wide;
use crate::events::{Access, First, Pattern, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is asked of a site for each of its requests.
pub(super) struct Site {
    /// Whether each round of the loops around it is code of its own: `None` if not, and if so, whether surely.
    pub written_out: Option<bool>,
    /// The warps that come to it.
    warps: u32,
    /// The same at one time, by the position at which that was.
    at_once: FxHashMap<u32, u32>,
}

impl Site {
    /// Those of an access, by the calls that lead there: an index into [`Access::paths`].
    pub(super) fn of_each_path(access: &Access, trace: &Trace) -> FxHashMap<u32, Site> {
        let mut by_path: FxHashMap<u32, Vec<&Pattern>> = FxHashMap::default();
        for pattern in &access.patterns {
            by_path.entry(pattern.first.path).or_default().push(pattern);
        }
        by_path.into_iter().map(|(path, patterns)| (path, Site::of(access, &patterns, trace))).collect()
    }

    fn of(access: &Access, patterns: &[&Pattern], trace: &Trace) -> Site {
        let mut at_once: FxHashMap<u32, u32> = FxHashMap::default();
        for pattern in patterns {
            // Those of other warps may begin in other banks, and so be another pattern.
            *at_once.entry(pattern.first.position).or_default() |= pattern.warps;
        }
        let warps = at_once.values().fold(0, |all, warps| all | warps);
        // Of rounds whose number is given at run time there is one text, though each was run by itself.
        let written_out = if access.at_most { None } else { is_written_out(trace, patterns.iter().copied()) };
        Site { written_out, warps, at_once }
    }

    /// Whether all warps that come to the site make this request of its at once.
    pub(super) fn is_by_all(&self, pattern: &Pattern) -> bool {
        self.at_once.get(&pattern.first.position) == Some(&self.warps)
    }
}

/// Whether requests are of one piece of straight code, and each round of its loops is code of its own; of a loop
/// that is run for all rounds at once one round is all the code. `None` if not, and if so, whether surely.
pub(super) fn is_written_out<'p>(
    trace: &Trace,
    patterns: impl IntoIterator<Item = &'p Pattern> + Clone,
) -> Option<bool> {
    let firsts = || patterns.clone().into_iter().map(|pattern| &pattern.first);
    let by_place = |first: &&First| (first.region, first.position);
    let (first, last) = (firsts().min_by_key(by_place), firsts().max_by_key(by_place));
    let Some((first, last)) = first.zip(last) else { return Some(true) };
    let one_round = |of: &Pattern| match of.within.as_slice() {
        [(innermost, _)] => *innermost,
        _ => None,
    };
    let mut rounds = patterns.clone().into_iter().map(one_round);
    let round = rounds.next().flatten();
    let is_one_round = first.region == last.region && round.is_some() && rounds.all(|it| it == round);
    if is_one_round { Some(true) } else { trace.straight.is_written_out(first, last) }
}

/// What tells a piece of code of an access from others: the calls that lead there, and the member of an object.
pub(super) type Code = (u32, Option<u32>);

pub(super) fn code_of(pattern: &Pattern) -> Code {
    (pattern.first.path, pattern.first.member)
}

/// The pieces of code of which all requests are the same parts of wide requests of one kind.
pub(super) fn uniform_code(access: &Access, patterns: &[Option<Wide>]) -> FxHashSet<Code> {
    let mut roles: FxHashMap<Code, Option<_>> = FxHashMap::default();
    for (pattern, wide) in access.patterns.iter().zip(patterns) {
        let role = wide.map(|it| it.role());
        roles
            .entry(code_of(pattern))
            .and_modify(|it| *it = it.filter(|it| Some(*it) == role))
            .or_insert(role);
    }
    roles.into_iter().filter_map(|(path, role)| role.map(|_| path)).collect()
}

/// The pieces of code of which the first requests are parts of wide ones, and only the last few are not: a loop may be
/// made by so many rounds at once, with a loop for the rest.
pub(super) fn code_with_a_rest(access: &Access, patterns: &[Option<Wide>]) -> Vec<Code> {
    let mut paths: FxHashMap<Code, Vec<(u32, Option<Wide>)>> = FxHashMap::default();
    for (pattern, wide) in access.patterns.iter().zip(patterns) {
        paths.entry(code_of(pattern)).or_default().push((pattern.first.occurrence, *wide));
    }
    let has_a_rest = |requests: &mut Vec<(u32, Option<Wide>)>| {
        requests.sort_unstable_by_key(|(occurrence, _)| *occurrence);
        let rest = requests.iter().rev().take_while(|(_, wide)| wide.is_none()).count();
        let (first, rest) = requests.split_at(requests.len() - rest);
        let parts = first
            .first()
            .and_then(|(_, wide)| *wide)
            .map_or(0, |wide| wide.bytes / access.bytes.unwrap_or(1));
        first.iter().all(|(_, wide)| wide.is_some()) && rest.len() < parts as usize
    };
    paths.iter_mut().filter_map(|(code, requests)| has_a_rest(requests).then_some(*code)).collect()
}
