//! What does an access cost if loops of which it is not known how often they run count several times?
//!
//! Judgements count one round of such a loop. Here it counts as several, or a conflict before a loop would look as
//! dear as one inside it. An access that is reached 4 times before a loop and 4 times in a round of it, by 2
//! wavefronts each, takes 8 + 8 x 8 = 72.

use super::Judgement;
use super::rounds::{counted, weight, whole};
use crate::events::{Access, Trace};

/// What an access of a run costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Its requests.
    pub requests: u64,
    /// All wavefronts.
    pub wavefronts: u64,
    /// Those beyond the ideal.
    pub extra: u64,
}

impl Judgement {
    /// What the access costs that it is on. Where that is not known, each request counts as one wavefront.
    pub(crate) fn counted(&self, trace: &Trace, access: &Access) -> Counted {
        let (mut requests, mut several) = (0u64, 0u64);
        for pattern in &access.patterns {
            let (once, weighed) = counted(trace, access, pattern);
            requests = requests.saturating_add(once);
            several = several.saturating_add(weighed);
        }
        let Some(totals) = self.totals else {
            return Counted { requests: whole(several), wavefronts: whole(several), extra: 0 };
        };
        // A loop whose counter the banks depend on is judged for several of its rounds.
        let rounds = match totals.requests.checked_div(requests) {
            Some(rounds) if rounds > 1 => rounds,
            _ => 1,
        };
        let all = requests.saturating_mul(rounds);
        let weighed = |sum: u64| {
            let shares = (u128::from(sum) * u128::from(several)).checked_div(u128::from(all));
            shares.map_or(sum, |shares| whole(u64::try_from(shares).unwrap_or(u64::MAX)))
        };
        let path = access.path(totals.worst.path);
        let extra = self
            .extra
            .iter()
            .map(|(innermost, extra)| {
                let in_a_row = access.rounds_in_a_row(*innermost);
                extra.saturating_mul(weight(trace, *innermost, path)) / rounds / in_a_row
            })
            .fold(0, u64::saturating_add);
        let (beyond, all_of_others) = self.of_others(trace, access);
        let wavefronts = weighed(totals.ideal).saturating_add(extra).saturating_sub(all_of_others);
        let extra = extra.saturating_sub(beyond);
        Counted { requests: weighed(totals.requests), wavefronts, extra }
    }

    /// The wavefronts that count with the access that begins the request: those beyond the ideal, and all.
    pub(crate) fn of_others(&self, trace: &Trace, access: &Access) -> (u64, u64) {
        let path = access.path(self.totals.map_or(0, |totals| totals.worst.path));
        self.again.iter().fold((0, 0), |(extra, all): (u64, u64), it| {
            let in_a_row = access.rounds_in_a_row(it.innermost);
            let times = |sum: u64| sum.saturating_mul(weight(trace, it.innermost, path)) / in_a_row;
            (extra.saturating_add(times(it.extra)), all.saturating_add(times(it.all)))
        })
    }
}
