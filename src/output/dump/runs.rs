//! What did the runs of the kernels record?
//!
//! A block for each kernel and scenario: its arrays, then either what happened in order and who came to the
//! barriers, or the symbols and the accesses with their distinct requests. Last, why the run stopped if it
//! did.

use super::series::ranges;
use super::{Places, access, place, render, tree};
use crate::domain::ThreadSet;
use crate::events::{Array, Barrier, Call, Split, SplitKind, SymbolFacts, Then, Trace};
use crate::output::block_from_word;
use crate::rules::KernelRun;
use crate::shape::BlockFrom;
use crate::source::{Sources, Span};
use std::fmt::Write;

/// Which part of what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// What happened, in order.
    Events,
    /// What the machine is asked for, by access.
    Requests,
}

/// The runs with the names of their kernels in the text.
#[must_use]
pub(crate) fn recorded<'a>(
    sources: &Sources,
    files: &[String],
    runs: impl IntoIterator<Item = (Span, &'a KernelRun)>,
    part: Recorded,
) -> Vec<u8> {
    let block = |(at, (name, run)): (usize, (Span, &KernelRun))| {
        let places = Places { sources, home: name.file };
        (sources.get(name.file).display_path(), name.start, at, Page { places, run }.text(name, part))
    };
    render(runs.into_iter().enumerate().map(block).collect(), files, "no kernel of it is run")
}

/// A run, and the texts that it speaks of.
struct Page<'a> {
    places: Places<'a>,
    run: &'a KernelRun,
}

impl Page<'_> {
    fn text(&self, name: Span, part: Recorded) -> String {
        let KernelRun { kernel, block: [x, y, z], block_from, launch, trace, .. } = self.run;
        let mut out = format!("{}: {kernel}, block {x}x{y}x{z}", place(self.places.sources, name));
        let at = launch.map(|launch| format!("launch at {}", self.places.of(launch)));
        let _ = match (block_from, at) {
            (BlockFrom::Launch, Some(at)) => writeln!(out, " ({at})"),
            (_, Some(at)) => writeln!(out, " ({}; {at})", block_from_word(*block_from)),
            (_, None) => writeln!(out, " ({})", block_from_word(*block_from)),
        };
        if let Some(why) = &self.run.misfit {
            let _ = writeln!(out, "  {why}");
        }
        if let Some(refuted) = &self.run.refuted {
            let _ = writeln!(out, "  the launch is kept from happening at {}", self.places.of(refuted.span));
        }
        for array in &trace.arrays {
            let _ = writeln!(out, "  array {}", self.array(array));
        }
        match part {
            Recorded::Events => {
                tree::write(&mut out, self.places, trace);
                for (at, barrier) in trace.barriers.iter().enumerate() {
                    self.barrier(&mut out, trace, at, barrier);
                }
            }
            Recorded::Requests => self.requests(&mut out, trace),
        }
        if let Some(why) = &trace.stopped {
            let _ = writeln!(out, "  stopped: {}", self.places.unknown(why));
        }
        out
    }

    fn requests(&self, out: &mut String, trace: &Trace) {
        for (at, symbol) in trace.symbols.iter().enumerate() {
            let _ = writeln!(out, "  symbol #{at} {}", symbol_words(symbol));
        }
        for (name, modulus) in &trace.demands {
            let _ =
                writeln!(out, "  lanes are rotated by `{name}` modulo {modulus}: this is one of its runs");
        }
        for name in &trace.unsized_types {
            let _ = writeln!(out, "  the size of `{name}` is not known");
        }
        for access in &trace.accesses {
            access::write(out, self.places, trace, access);
        }
    }

    fn array(&self, array: &Array) -> String {
        let mut out = format!("{} at {}: {}", array.name, self.places.of(array.name_span), array.element);
        for length in &array.dimensions {
            let _ = match length {
                Some(length) => write!(out, "[{length}]"),
                None => write!(out, "[?]"),
            };
        }
        match array.bytes() {
            _ if array.dynamic => out.push_str(", sized at launch"),
            Some(bytes) => {
                let _ = write!(out, ", {bytes} bytes");
            }
            None => out.push_str(", of unknown size"),
        }
        let _ = write!(out, ", aligned to {}", array.alignment);
        out
    }

    fn barrier(&self, out: &mut String, trace: &Trace, at: usize, barrier: &Barrier) {
        let Barrier { span, name, number, active, expected, .. } = barrier;
        let _ = write!(out, "  barrier #{at} {}: {name}, number {number}", self.places.of(*span));
        if barrier.of_grid {
            out.push_str(", of the grid");
        }
        if let Some(count) = barrier.count {
            let _ = write!(out, ", for {count} threads");
        }
        let _ = writeln!(out, "{}", self.by(&barrier.calls));
        let reached = match active == expected {
            true => format!("all {}", threads(expected)),
            false => format!("{} of {}", threads(active), threads(expected)),
        };
        let _ = writeln!(out, "    reached by {reached}");
        if let Some(why) = &barrier.doubt {
            let _ = writeln!(out, "    or fewer: {}", self.places.unknown(why));
        }
        for split in &barrier.splits {
            let _ = writeln!(out, "    under {}", self.split(split));
        }
        for absence in &barrier.absences {
            let who = absence
                .threads
                .as_ref()
                .map_or_else(|| "threads that a value given at run time chooses".to_owned(), threads);
            let then = match &absence.then {
                Then::Exit => "leave the kernel".to_owned(),
                Then::Unknown(why) => format!("do what is not known: {}", self.places.unknown(why)),
                Then::Pair(other) => format!("wait at barrier #{other} as often"),
                Then::Rejoin(span) => format!("go on at {}", self.places.of(*span)),
                Then::Barrier(other) => format!("wait at barrier #{other}"),
            };
            let left = if absence.left { ", after they left" } else { "" };
            let split = self.split(&absence.split);
            let _ = writeln!(out, "    not by {who}, kept away by {split}: they {then}{left}");
            if let Some(missing) = &absence.missing {
                let (name, (first, last)) = (&trace.arrays[missing.array].name, missing.bytes);
                let at = self.places.of(missing.span);
                let _ = writeln!(
                    out,
                    "      so that bytes {first} to {last} of {name}, read at {at}, are not written"
                );
            }
        }
    }

    fn split(&self, split: &Split) -> String {
        let kind = match &split.kind {
            SplitKind::Known => String::new(),
            SplitKind::Guard(bound) | SplitKind::Iterations(bound) => format!(" ({})", bound.words),
            SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => " (data decide)".to_owned(),
        };
        let (at, branch) = (self.places.of(split.span), split.branch);
        let (taken, before) = (threads(&split.taken), threads(&split.before));
        format!("the condition at {at}, {branch}{kind} for {taken} of {before}")
    }

    fn by(&self, calls: &[Call]) -> String {
        self.places.by(calls)
    }
}

fn threads(set: &ThreadSet) -> String {
    match set.count() {
        0 => "no thread".to_owned(),
        count => format!("{} ({})", super::super::count(count as usize, "thread"), ranges(set.threads())),
    }
}

fn symbol_words(symbol: &SymbolFacts) -> String {
    let mut out = format!("`{}`", symbol.name);
    match symbol.range {
        (None, None) => {}
        (Some(low), Some(high)) => {
            let _ = write!(out, ", {low} to {high}");
        }
        (Some(low), None) => {
            let _ = write!(out, ", {low} at least");
        }
        (None, Some(high)) => {
            let _ = write!(out, ", {high} at most");
        }
    }
    if symbol.given {
        out.push_str(", given from outside");
    }
    if symbol.counter {
        out.push_str(", counts rounds");
    }
    if !symbol.factors.is_empty() {
        let factors: Vec<String> = symbol.factors.iter().map(|factor| format!("#{factor}")).collect();
        let _ = write!(out, ", the product of {}", factors.join(" and "));
    }
    out
}
