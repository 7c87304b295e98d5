//! Which launches surely mean a kernel, and what is surely known of them?

use super::Case;
use crate::events::LaunchSite;
use crate::source::Span;

/// The launches of a kernel, each with all that was found of it: host code may lead to it in several ways.
pub(super) fn sites<'a>(case: &Case<'a>) -> Vec<(Span, Vec<&'a LaunchSite>)> {
    let mut found: Vec<(Span, Vec<&LaunchSite>)> = Vec::new();
    for launch in case.launches {
        match found.iter_mut().find(|(span, _)| *span == launch.span) {
            Some((_, ways)) => ways.push(launch),
            None => found.push((launch.span, vec![launch])),
        }
    }
    let is_sure = |launch: &LaunchSite| {
        launch.refuted.is_none()
            && launch.rival.is_none()
            && !launch.is_asked_about
            && launch.definitions == [case.kernel]
    };
    found.retain(|(span, ways)| ways.iter().all(|it| is_sure(it)) && !(case.is_hip)(*span));
    found
}

/// Whether host code asks before a launch whether its threads or bytes are too many, of a number that is not known.
pub(super) fn is_asked_about(case: &Case<'_>, span: Span) -> bool {
    case.launches.iter().any(|launch| launch.span == span && launch.is_asked_about)
}

/// The kernel's name as a launch has it.
pub(super) fn name(case: &Case<'_>) -> String {
    (case.text)(case.kernel)
}
