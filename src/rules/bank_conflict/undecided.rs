//! Why is no layout judged, or this one not?

use super::super::Case;
use crate::remedy::{Undecided, Why};
use crate::source::Span;

/// Why a layout is not judged.
pub(super) fn why_words(case: &Case<'_>, why: &Why) -> String {
    match why {
        Why::TooLarge(bytes) => format!("too large: {bytes} bytes"),
        Why::Split(span) => format!("misaligned at {}", (case.place)(*span)),
        Why::Shifted => "not judged: it depends on an offset given at run time".to_owned(),
        Why::Often => "not judged: how often each request happens is not known".to_owned(),
        Why::NoCost => "not judged: the cost of a request is not known".to_owned(),
        Why::NoBetter => "no better".to_owned(),
        Why::Instance => "no layout of the array in some instance of the kernel".to_owned(),
        Why::WorseByData => "for some data an access takes more".to_owned(),
        Why::WorseThere => "some run of the kernel takes more".to_owned(),
        Why::Steps => "not judged: the search was long enough".to_owned(),
    }
}

/// Why no layout is judged.
pub(super) fn undecided_words(case: &Case<'_>, why: &Undecided) -> String {
    let at = |span: &Span| (case.place)(*span);
    match why {
        Undecided::Unknown(span) => format!("what the access at {} costs is not known", at(span)),
        Undecided::Outside(span) => format!("the access at {} leaves the array", at(span)),
        Undecided::Fragment(span) => {
            format!("the `wmma` call at {} asks for rows at a distance that is not known", at(span))
        }
        Undecided::Often(span) => {
            format!("how often each request of the access at {} happens is not known", at(span))
        }
        Undecided::Varying(name) => format!("the distance between lanes depends on `{name}`"),
        Undecided::Length => "the length of the array is given at the launch".to_owned(),
        Undecided::Overlaid(other) => format!("`{other}` lies in the same dynamic shared memory"),
        Undecided::Instances => "instances of the kernel differ in its elements".to_owned(),
        Undecided::SeveralWays => "the verdicts are taken over several ways to run the kernel".to_owned(),
        Undecided::Rows(span) => {
            format!("the access at {} is not seen to stay in the row that its index names", at(span))
        }
        Undecided::Shifted => "a request's cost depends on an offset given at run time".to_owned(),
        Undecided::Recast(span) => {
            format!("the access at {} is not by an index of the array", at(span))
        }
        Undecided::AlsoUsed(kernel) => format!("the kernel at {} may use the array, too", at(kernel)),
        Undecided::TooMany => "there are too many different requests".to_owned(),
    }
}
