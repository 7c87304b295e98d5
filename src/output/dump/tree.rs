//! What happened in a run, in order?
//!
//! The event tree, a line for each event, indented by the loops around it.

use super::Places;
use super::series::{ranges, series};
use crate::domain::{Int, Lanes, SymbolId, ThreadSet};
use crate::events::{AccessEvent, Differs, Event, Trace};
use crate::output::op_word;
use std::fmt::Write;

/// Writes the tree of a run.
pub(super) fn write(out: &mut String, places: Places<'_>, trace: &Trace) {
    let tree = &trace.tree;
    if tree.events().is_empty() {
        return;
    }
    out.push_str("  in order:\n");
    let mut depth = 2;
    for event in tree.events() {
        depth -= usize::from(matches!(event, Event::EndOfLoop { .. }) && depth > 2);
        let _ = write!(out, "{:indent$}", "", indent = 2 * depth);
        let _ = match event {
            Event::Access(event) => writeln!(out, "{}", access(places, trace, event)),
            Event::Barrier { span, threads, .. } => {
                writeln!(out, "barrier at {}, {}", places.of(*span), who(threads))
            }
            Event::MayOrder { span, .. } => writeln!(out, "perhaps a barrier at {}", places.of(*span)),
            Event::MayAccess { span, .. } => writeln!(out, "perhaps an access at {}", places.of(*span)),
            Event::WarpOrder { span, threads, is_fence: true, .. } => {
                writeln!(out, "lanes meet at {}, {}", places.of(*span), who(threads))
            }
            Event::WarpOrder { span, threads, is_fence: false, .. } => {
                writeln!(out, "lanes exchange values at {}, {}", places.of(*span), who(threads))
            }
            Event::MayDiffer { span, why: Differs::OtherSide } => {
                writeln!(out, "perhaps something else at {}, at the end of the problem", places.of(*span))
            }
            Event::MayDiffer { span, why: Differs::Wraps } => {
                writeln!(out, "perhaps something else at {}, in late rounds", places.of(*span))
            }
            Event::MayDiffer { span, why: Differs::BelowZero } => {
                writeln!(
                    out,
                    "perhaps something else at {}, where what is divided is below 0",
                    places.of(*span)
                )
            }
            Event::CopyGroup { threads, .. } => writeln!(out, "copies become a group, {}", who(threads)),
            Event::CopyWait { threads, but: Some(but), .. } => {
                writeln!(out, "wait for all groups of copies but {but}, {}", who(threads))
            }
            Event::CopyWait { threads, but: None, .. } => {
                writeln!(out, "wait for all copies, {}", who(threads))
            }
            Event::Loop { span, .. } => writeln!(out, "loop at {}", places.of(*span)),
            Event::Subscript(it) => {
                let (array, at) = (&trace.arrays[it.array].name, places.of(it.span));
                writeln!(out, "subscript {} of {array} at {at} is outside its dimension", it.index)
            }
            Event::NextRound { .. } => writeln!(out, "the next round"),
            Event::EndOfLoop { round: Some(round), .. } => {
                writeln!(out, "end of it, rounds counted by {}", symbol(trace, *round))
            }
            Event::EndOfLoop { round: None, .. } => writeln!(out, "end of it, its rounds in order"),
        };
        depth += usize::from(matches!(event, Event::Loop { .. }));
    }
    if tree.is_cut() {
        out.push_str("    and more\n");
    }
}

fn access(places: Places<'_>, trace: &Trace, event: &AccessEvent) -> String {
    let access = &trace.accesses[event.access];
    let array = &trace.arrays[access.array].name;
    let op = op_word(access.op);
    let mut out = format!("{op} of {array} at {}, {}", places.of(access.span), who(&event.threads));
    match &event.offset {
        Some(offset) => {
            let _ = write!(out, ", {}", bytes(trace, offset, &event.threads));
        }
        None => out.push_str(", at unknown bytes"),
    }
    if !event.is_sure {
        out.push_str(", or fewer");
    }
    if event.is_passable {
        out.push_str(", if a block comes by");
    }
    if event.may_be_cut_short {
        out.push_str(", or none by a bound");
    }
    for assumed in event.assumptions.iter() {
        let _ = write!(out, "; assumed: {assumed}");
    }
    out
}

fn bytes(trace: &Trace, offset: &Int, threads: &ThreadSet) -> String {
    let mut out = lanes(&offset.base, threads);
    for (id, factor) in &offset.terms {
        let _ = write!(out, " + ({}) {}", lanes(factor, threads), symbol(trace, *id));
    }
    format!("bytes {out}")
}

fn lanes(lanes: &Lanes, threads: &ThreadSet) -> String {
    match lanes {
        Lanes::Closed([constant, by @ ..]) => {
            let axes = ["x", "y", "z"].iter().zip(by).filter(|(_, factor)| **factor != 0);
            let axes: Vec<String> = axes.map(|(axis, factor)| format!("{factor} {axis}")).collect();
            match (constant, axes.is_empty()) {
                (_, true) => constant.to_string(),
                (0, false) => axes.join(" + "),
                (_, false) => format!("{constant} + {}", axes.join(" + ")),
            }
        }
        Lanes::Each(values) => {
            let all: Vec<i64> = threads.threads().map(|thread| values[thread]).collect();
            // Most often each warp does what the first does.
            let mut warps = all.chunks(32);
            let first = warps.next().unwrap_or(&[]);
            match all.len() > 32 && threads.count().is_multiple_of(32) && warps.all(|warp| warp == first) {
                true => format!("{} in each warp", series(first)),
                false => series(&all),
            }
        }
    }
}

/// `n`, or `#12` for what has no name of its own.
fn symbol(trace: &Trace, id: SymbolId) -> String {
    let named = trace.tree.symbol(id).filter(|symbol| symbol.named);
    named.map_or_else(|| format!("#{}", id.number()), |symbol| symbol.name.to_string())
}

fn who(threads: &ThreadSet) -> String {
    format!("threads {}", ranges(threads.threads()))
}
