//! Which two threads does nothing order, drawn as what each does between two barriers?

use super::listing::Listing;
use super::{Link, code};
use crate::diagnostic::{Hazard, Step};
use crate::source::{Sources, Span};
use crate::visible::one_line;

/// Two threads, side by side, from one barrier to the next.
pub(super) struct Timeline {
    pub array: String,
    /// Who they are.
    pub threads: [String; 2],
    pub events: Vec<Event>,
}

/// A row of it.
pub(super) struct Event {
    /// `order` across both threads, `one` or `two` in the column of one, `gap` between the two.
    pub class: &'static str,
    /// What happens, in words.
    pub words: String,
    /// The source of it; may be empty.
    pub code: String,
    pub at: Option<Link>,
}

impl Timeline {
    pub(super) fn of(sources: &Sources, listing: &Listing<'_>, hazard: &Hazard) -> Timeline {
        let place = |span: Span| Some(Link::to(sources, listing, span));
        let order = |span: Option<Span>, otherwise: &str| match span {
            Some(span) => {
                Event { class: "order", words: String::new(), code: code(sources, span), at: place(span) }
            }
            None => Event { class: "order", words: otherwise.to_owned(), code: String::new(), at: None },
        };
        let step = |class, step: &Step| {
            let words = format!("thread {} {}", step.thread, step.does);
            Event { class, words, code: code(sources, step.span), at: place(step.span) }
        };
        let (begin, end, gap) = match hazard.across {
            Some(_) => (
                "an iteration of the loop",
                "the next iteration",
                "the next iteration begins, and nothing orders the two",
            ),
            None => ("the kernel begins", "the kernel ends", "nothing orders the two"),
        };
        let gap = Event {
            class: "gap",
            words: gap.to_owned(),
            code: String::new(),
            at: hazard.across.and_then(place),
        };
        let who = |step: &Step| {
            format!("thread {} (warp {}, lane {})", step.thread, step.thread / 32, step.thread % 32)
        };
        Timeline {
            array: one_line(&hazard.array).into_owned(),
            threads: [who(&hazard.first), who(&hazard.second)],
            events: vec![
                order(hazard.after, begin),
                step("one", &hazard.first),
                gap,
                step("two", &hazard.second),
                order(hazard.before, end),
            ],
        }
    }
}
