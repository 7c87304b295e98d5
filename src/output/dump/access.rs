//! What did one access ask of shared memory?

use super::Places;
use super::series::{bits, series};
use crate::events::{Access, AccessOp, First, JOINED_IN_PART, Pattern, Trace};
use crate::output::op_word;
use std::fmt::Write;

/// An access with its distinct requests.
pub(super) fn write(out: &mut String, places: Places<'_>, trace: &Trace, access: &Access) {
    let (at, array) = (places.of(access.span), &trace.arrays[access.array].name);
    let bytes = access
        .bytes
        .map_or_else(|| "? bytes".to_owned(), |bytes| super::super::count(bytes as usize, "byte"));
    let _ = writeln!(
        out,
        "  {} of {array} at {at}: {bytes} a lane{}, reached {}",
        op_word(access.op),
        kind(access),
        times(u64::from(access.occurrences))
    );
    if let Some(atomic) = &access.atomic {
        let _ = writeln!(
            out,
            "    {:?}, operand {:?}, address {:?}",
            atomic.operation, atomic.operand, atomic.address
        );
    }
    for (number, pattern) in access.patterns.iter().enumerate() {
        request(out, places, access, number, pattern);
    }
    if access.kept > 0 {
        let how = if access.op == AccessOp::Store { "left out" } else { "in a register already" };
        let _ = writeln!(out, "    {how}: {}", times(u64::from(access.kept)));
    }
    if access.at_most {
        out.push_str("    rounds of a loop whose number is not known: as many as the array allows\n");
    }
    if let Some(thread) = access.overrun {
        let _ = writeln!(out, "    thread {thread} leaves the array");
    } else if access.outside {
        out.push_str("    some lane leaves the array\n");
    }
    if let Some(why) = &access.unknown {
        let _ = writeln!(out, "    not known: {}", places.unknown(why));
    }
    if let Some(why) = &access.doubt {
        let _ = writeln!(out, "    active lanes are those at most: {}", places.unknown(why));
    }
    for assumption in &access.assumptions {
        let _ = writeln!(out, "    assumed: {assumption}");
    }
}

/// What sets it apart from a plain one.
fn kind(access: &Access) -> String {
    let mut out = String::new();
    if access.align > 0 {
        let _ = write!(out, ", aligned to {}", access.align);
    }
    match access.joins_members {
        0 => {}
        JOINED_IN_PART => out.push_str(", members joined in part"),
        bytes => {
            let _ = write!(out, ", members joined up to {bytes}");
        }
    }
    if access.tiles.matrices > 0 {
        let _ = write!(out, ", {} matrices", access.tiles.matrices);
    }
    if access.around {
        out.push_str(", around the first-level cache");
    }
    if access.tiles.fragment {
        out.push_str(", part of a wmma call");
    }
    out
}

fn request(out: &mut String, places: Places<'_>, access: &Access, number: usize, pattern: &Pattern) {
    let active: Vec<usize> = (0..32).filter(|lane| pattern.active >> lane & 1 == 1).collect();
    let of_lanes = |all: &[i64; 32]| series(&active.iter().map(|&lane| all[lane]).collect::<Vec<_>>());
    let _ = writeln!(
        out,
        "    request #{number}: {}, warps {}, lanes {:#010x}, bytes {}",
        times(pattern.count),
        bits(pattern.warps),
        pattern.active,
        if pattern.anywhere { "not known".to_owned() } else { of_lanes(&pattern.offsets) }
    );
    let mut line = |words: String| {
        let _ = writeln!(out, "      {words}");
    };
    match pattern.moved {
        Some(0) | None => {}
        Some(moved) => line(format!("at first {moved} bytes further on")),
    }
    for (symbol, factors) in &pattern.varying {
        line(format!("and symbol #{symbol} times {}", of_lanes(factors)));
    }
    match pattern.unit {
        0 => {}
        unit => line(format!("and a multiple of {unit} that is not known, the same for all lanes")),
    }
    if let Some(rest) = pattern.walk {
        let rest =
            if rest > 0 { format!(", and a multiple of {rest} that is not known") } else { String::new() };
        line(format!("moved by one access from round to round{rest}"));
    }
    if let Some(source) = &pattern.source {
        let stretches = source.stretches.map(i64::from);
        let (from, stretches) = (of_lanes(&source.offsets), of_lanes(&stretches));
        line(format!("copied from bytes {from} of stretches {stretches}"));
    }
    let warps: Vec<u64> = pattern.times.iter().copied().filter(|times| *times > 0).collect();
    if warps.windows(2).any(|pair| pair[0] != pair[1]) {
        let times: Vec<i64> = warps.iter().map(|times| i64::try_from(*times).unwrap_or(i64::MAX)).collect();
        line(format!("times by warp: {}", series(&times)));
    }
    for (innermost, count) in &pattern.within {
        if let Some(span) = innermost {
            line(format!("{} in the loop of unknown length at {}", times(*count), places.of(*span)));
        }
    }
    for path in pattern.ways.paths(access.paths.len()) {
        let calls = access.path(path);
        if !calls.is_empty() {
            line(places.by(calls).trim_start_matches(", ").to_owned());
        }
    }
    let First { position, epoch, region, iteration, stretch, branches, .. } = &pattern.first;
    let branches = if branches.is_empty() { String::new() } else { format!(", branches {branches:?}") };
    line(format!(
        "first as number {position}, epoch {epoch}, region {region}, iteration {iteration}, stretch {stretch}{branches}"
    ));
}

fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}
