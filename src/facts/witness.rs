//! Does an access surely happen, in some block?

use crate::events::{AccessEvent, Assumption};

/// Whether what an access rests on can surely hold, and is no guess that was made from the arrays' lengths.
pub(super) fn is_possible(event: &AccessEvent) -> bool {
    let guessed = |it: &Assumption| {
        matches!(
            it,
            Assumption::RunsOn { .. }
                | Assumption::BeginsAt { .. }
                | Assumption::AtMost { .. }
                | Assumption::DamageIsHarmless
                | Assumption::InsideBounds { possible: false, .. }
                | Assumption::UsualIteration { possible: false, .. }
                | Assumption::UsualBlock { possible: false }
        )
    };
    event.is_sure && !event.assumptions.iter().any(guessed)
}
