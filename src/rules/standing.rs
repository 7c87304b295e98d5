//! Is a kernel proved free of races for shared memory, does it race, or what is in doubt?

use super::KernelRun;
use super::unjudged::Unjudged;
use crate::events::Differs;
use crate::facts::{Between, Doubt, Race};
use crate::source::Span;

/// What is known of the races of one run of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Races {
    /// No two threads race.
    Proved,
    /// Two surely do.
    Found,
    /// Neither.
    Undecided,
}

impl Races {
    /// What is known of two runs together.
    #[must_use]
    pub fn join(self, other: Races) -> Races {
        match (self, other) {
            (Races::Found, _) | (_, Races::Found) => Races::Found,
            (Races::Proved, Races::Proved) => Races::Proved,
            _ => Races::Undecided,
        }
    }
}

/// A race, or a reason for a doubt.
#[derive(Clone, Debug)]
pub struct Why {
    /// In words.
    pub text: String,
    /// The accesses that it is about.
    pub spans: Vec<Span>,
    /// What the words are about, where they begin with it.
    pub subject: Option<Span>,
}

/// What is known of a run, with the races or the doubts; `None` where it does not touch shared memory.
#[must_use]
pub fn standing(run: &KernelRun) -> Option<(Races, Vec<Why>)> {
    let races = &run.facts.races;
    let Some(freedom) = &run.facts.freedom else {
        return (!run.trace.accesses.is_empty()).then(|| (Races::Undecided, vec![unjudged(run)]));
    };
    if !races.is_empty() {
        return Some((Races::Found, races.iter().map(|race| found(run, race)).collect()));
    }
    match (freedom.doubts.is_empty(), run.trace.accesses.is_empty()) {
        (true, true) => None,
        (true, false) => Some((Races::Proved, Vec::new())),
        (false, _) => {
            Some((Races::Undecided, freedom.doubts.iter().map(|doubt| doubtful(run, doubt)).collect()))
        }
    }
}

/// What a proof takes for granted: of a block that host code limits, that it has that many threads.
#[must_use]
pub fn assumptions(run: &KernelRun) -> Vec<String> {
    let block = run.block_assumption().filter(|_| run.is_at_limit);
    let freedom = run.facts.freedom.iter().flat_map(|it| &it.assumptions);
    block.iter().chain(freedom).map(ToString::to_string).collect()
}

/// Why there is neither a proof nor a doubt.
fn unjudged(run: &KernelRun) -> Why {
    let of = |text: &str, spans: Vec<Span>| Why { text: text.to_owned(), spans, subject: None };
    match &run.unjudged {
        Some(Unjudged::Block) => of("no visible launch, comment or option gives its block shape", Vec::new()),
        Some(Unjudged::Refuted(span)) => {
            of("as far as cudalint follows the host code, its launch never happens", vec![*span])
        }
        Some(Unjudged::Rival(span)) => of("its launch may mean another kernel of the same name", vec![*span]),
        Some(Unjudged::Unmet(span)) => {
            of("no numbers that were tried make its launch give this block", vec![*span])
        }
        Some(Unjudged::HiddenBarrier { function, name }) => {
            let text = format!(
                "`{function}` has a barrier, and cudalint does not follow every place where \
                                it runs"
            );
            Why { text, spans: vec![*name], subject: None }
        }
        None => match &run.trace.stopped {
            Some(why) => of(&why.detail, Vec::new()),
            None => of("its accesses depend on the unknown size of a type", Vec::new()),
        },
    }
}

fn found(run: &KernelRun, race: &Race) -> Why {
    let (one, other) = race.threads;
    let barrier = match race.between {
        Between::Warps => "no barrier",
        Between::Lanes { .. } => "no `__syncwarp`",
    };
    let array = array(run, race.first);
    let text = format!("threads {one} and {other} race on `{array}` with {barrier} in between");
    Why { text, spans: spans(run, race.first, race.second), subject: None }
}

fn doubtful(run: &KernelRun, doubt: &Doubt) -> Why {
    let of = |text: &str, spans: Vec<Span>| Why { text: text.to_owned(), spans, subject: None };
    let access = |number: usize| vec![run.trace.accesses[number].span];
    match doubt {
        Doubt::Pair { first, second, threads } => {
            let array = array(run, *first);
            let unknown = |number: usize| run.trace.accesses[number].unknown.as_ref();
            let text = match (threads, unknown(*first).or_else(|| unknown(*second))) {
                (_, Some(why)) => format!("two threads may race on `{array}`: {}", why.detail),
                // Of lanes that copy or load together, one stands for all.
                (Some((one, other)), None) if one != other => {
                    format!("threads {one} and {other} may race on `{array}`: nothing surely orders them")
                }
                (Some(_), None) => format!("two threads may race on `{array}`: nothing surely orders them"),
                (None, None) => format!("two threads may race on `{array}`"),
            };
            Why { text, spans: spans(run, *first, *second), subject: None }
        }
        Doubt::NotParsed(span) => {
            of("part of this function does not parse, and it may access shared memory", vec![*span])
        }
        Doubt::Unfollowed(span) => Why {
            subject: Some(*span),
            ..of("is not followed, and it may access shared memory", vec![*span])
        },
        Doubt::Apart(span) => {
            of("not all threads may reach this barrier, so it may not order them all", vec![*span])
        }
        Doubt::MayDiffer(span, Differs::OtherSide) => {
            of("threads that this bound keeps out are not followed", vec![*span])
        }
        Doubt::MayDiffer(span, Differs::Wraps) => {
            of("the iteration number may be too large for its type here", vec![*span])
        }
        Doubt::MayDiffer(span, Differs::BelowZero) => {
            of("a dividend may be negative here, in some iterations or threads", vec![*span])
        }
        Doubt::Supposed(number) => of("its index rests on a value that was assumed", access(*number)),
        Doubt::Asynchronous(number) => {
            of("an asynchronous copy may still be in flight when its bytes are accessed", access(*number))
        }
        Doubt::Overrun(number) => {
            of("this access leaves its array and may reach into another", access(*number))
        }
        Doubt::OtherDevice(number) => of(
            "this access leaves its array only in this block of the launch, which may be meant for devices whose code \
             is not compiled here",
            access(*number),
        ),
        Doubt::Incomplete => of("the kernel is too long to follow to its end", Vec::new()),
        Doubt::TooMany => of("there are too many accesses between barriers to compare them all", Vec::new()),
    }
}

fn array(run: &KernelRun, access: usize) -> &str {
    &run.trace.arrays[run.trace.accesses[access].array].name
}

fn spans(run: &KernelRun, first: usize, second: usize) -> Vec<Span> {
    let mut spans = [first, second].map(|number| run.trace.accesses[number].span).to_vec();
    spans.dedup();
    spans
}
