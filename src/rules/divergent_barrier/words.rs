//! What is said of a barrier?

use super::{Found, RULE, counts_warps, is_sure, pairs_by_warps};
use crate::diagnostic::{Diagnostic, Level};
use crate::domain::{Shape, ThreadSet, Unknown};
use crate::events::{Absence, Barrier, Missing, Split, SplitKind, Then};
use crate::rules::{Case, barrier_after_exit, block_help, merged};
use crate::source::Span;

/// The finding.
pub(super) fn describe(case: &Case<'_>, found: &Found<'_>) -> Diagnostic {
    let Found { run, barrier, absence, missing, left_unwritten, level } = found;
    let kernel = &case.runs[*run];
    let split = &absence.split;
    let mut labels = vec![(split.span, split_label(case, found))];
    labels.extend(then_label(case, found));
    let mut notes = Vec::new();
    if let Some(threads) = &absence.threads {
        let of = barrier.active.or(threads).count();
        let verb = if barrier.active.count() == 1 { "reaches" } else { "reach" };
        notes.push(format!("{} of {of} threads of the block {verb} it", barrier.active.count()));
    }
    notes.extend(bound_note(absence));
    if let Some(missing) = missing {
        let reader = thread(case, *run, missing.reader);
        labels.push((missing.span, format!("{reader} reads what no thread writes")));
        notes.extend((!found.is_of_data()).then(|| missing_words(case, found, missing)));
    }
    if let Some(missing) = left_unwritten {
        let [reader, writer] = [Some(missing.reader), missing.writer]
            .map(|it| it.map_or_else(String::new, |it| thread(case, *run, it)));
        labels.push((missing.span, format!("{reader} reads here what {writer} would have written")));
    }
    notes.extend(then_notes(case, found));
    notes.push(case.block_words(*run));
    notes.extend(case.calls_words(*run, &barrier.calls, &[]));
    let mut helps = vec![help(found).to_owned()];
    helps.extend(block_help(kernel.block_from));
    Diagnostic {
        rule: if found.is_exit(case) { barrier_after_exit::RULE.id } else { RULE.id },
        level: *level,
        message: message(case, found),
        primary: barrier.span,
        primary_label: String::new(),
        labels,
        notes,
        helps,
        fix: None,
        launches: Vec::new(),
        conflict: None,
        dependence: None,
        hazard: None,
        kernel_at: None,
        loudest: Level::Deny,
        parts: Vec::new(),
        kernel: kernel.kernel.clone(),
    }
}

/// A barrier to which threads come as what each of them reads decides.
pub(super) fn describe_by_data(case: &Case<'_>, run: usize, barrier: &Barrier, cond: Span) -> Diagnostic {
    let name = &barrier.name;
    let message = format!("possibly divergent barrier: data choose which threads reach this `{name}`");
    let mut notes = vec![
        "if two threads of the block read different data, one may wait here and the other may not".to_owned(),
        case.block_words(run),
    ];
    notes.extend(case.calls_words(run, &barrier.calls, &[]));
    let help = "let every thread of the block reach it: guard only the work, and let all threads agree on when a \
                loop ends, for example with `__syncthreads_or`";
    Diagnostic {
        labels: vec![(cond, "what each thread reads decides for that thread alone".to_owned())],
        notes,
        helps: vec![help.to_owned()],
        kernel: case.runs[run].kernel.clone(),
        ..Diagnostic::plain(RULE.id, Level::Note, barrier.span, message)
    }
}

/// What a barrier does about threads that have exited.
const EXITED: &str = "from compute capability 7.0 on, a barrier waits only for threads that have not exited";
/// What the guide says of it.
const GUIDE: &str = "the CUDA programming guide still calls a barrier in divergent code undefined";

/// A barrier before which threads may have exited, as what each of them reads decides.
pub(super) fn describe_exit_by_data(
    case: &Case<'_>,
    run: usize,
    barrier: &Barrier,
    cond: Span,
) -> Diagnostic {
    let name = &barrier.name;
    let message =
        format!("data choose which threads exit before this `{name}`, and it does not wait for them");
    let notes = vec![EXITED.to_owned(), GUIDE.to_owned(), case.block_words(run)];
    let help = "no change is needed if the remaining threads read nothing that these should have written, and no \
                device before compute capability 7.0 is meant; otherwise guard only the work";
    Diagnostic {
        labels: vec![(cond, "what each thread reads decides for that thread alone".to_owned())],
        notes,
        helps: vec![help.to_owned()],
        kernel: case.runs[run].kernel.clone(),
        ..Diagnostic::plain(barrier_after_exit::RULE.id, Level::Note, barrier.span, message)
    }
}

/// A barrier in a loop that threads may have left, by a condition that the others do not look at.
pub(super) fn describe_in_part(
    case: &Case<'_>,
    run: usize,
    barrier: &Barrier,
    threads: &ThreadSet,
    cond: Span,
) -> Diagnostic {
    let name = &barrier.name;
    let who = threads.threads().next().map_or_else(String::new, |first| thread(case, run, first));
    let looks = match threads.count() {
        1 => format!("only {who} looks at this"),
        count => format!("only {count} threads look at this, {who} among them"),
    };
    let message = format!("possibly divergent barrier: some threads may leave before this `{name}`");
    let mut notes = vec![
        "the other threads stay in the loop and wait here without them".to_owned(),
        case.block_words(run),
    ];
    notes.extend(case.calls_words(run, &barrier.calls, &[]));
    let help = "let all threads leave together: write the decision to shared memory, and let every thread read it after \
                a barrier";
    Diagnostic {
        labels: vec![(cond, looks)],
        notes,
        helps: vec![help.to_owned()],
        kernel: case.runs[run].kernel.clone(),
        ..Diagnostic::plain(RULE.id, Level::Note, barrier.span, message)
    }
}

fn message(case: &Case<'_>, found: &Found<'_>) -> String {
    let Found { run, barrier, absence, .. } = found;
    let kernel = &case.runs[*run];
    let name = &barrier.name;
    let place = place_of_bound(absence);
    if let Some(missing) = found.missing.filter(|_| found.is_of_data()) {
        return format!("divergent barrier: {}", missing_words(case, found, missing));
    }
    if !is_sure(kernel, &absence.split, Shape { dims: kernel.block }) {
        return format!("possibly divergent barrier: not all threads of the block may reach this `{name}`");
    }
    if found.is_pair() {
        return format!(
            "divergent barrier: the threads that do not reach this `{name}` wait at another one instead"
        );
    }
    if let Some(missing) = found.left_unwritten.filter(|_| found.is_exit(case)) {
        let reader = thread(case, *run, missing.reader);
        let array = kernel.trace.arrays.get(missing.array).map_or("", |array| &array.name);
        let what = format!("{} of `{array}`", bytes(missing));
        return format!(
            "{place}{reader} reads {what} after this `{name}`, but the thread that writes them has exited"
        );
    }
    if found.is_exit(case) {
        let who = format!("the threads that do not reach this `{name}` exit");
        let effect = match found.is_harmless() {
            true => "and it does not wait for them",
            false => "and the barrier may wait for them before compute capability 7.0",
        };
        return format!("{place}{who}, {effect}");
    }
    match (found.is_harmless(), place) {
        (true, _) => format!("divergent barrier: the threads that do not reach this `{name}` exit"),
        (false, "") => format!("divergent barrier: not all threads of the block reach this `{name}`"),
        (false, place) => format!("divergent barrier: {place}not all threads reach this `{name}`"),
    }
}

/// In which blocks a bound keeps threads out, if it does not do so in each.
fn place_of_bound(absence: &Absence) -> &'static str {
    match &absence.split.kind {
        SplitKind::Guard(_) if kept_out(absence).is_some() => "",
        SplitKind::Guard(bound) if bound.own => "where the bound falls inside the block, ",
        // Other blocks are whole.
        SplitKind::Guard(_) => "in an edge block, ",
        _ => "",
    }
}

/// The first thread that does not take the side with the barrier, whatever the bound is.
fn kept_out(absence: &Absence) -> Option<usize> {
    match &absence.split.kind {
        SplitKind::Guard(bound) if !absence.left => bound.kept_out.threads().next(),
        _ => None,
    }
}

/// What is read of it and not written: `bytes 4 to 7`.
fn bytes(missing: &Missing) -> String {
    match missing.bytes {
        (first, last) if first == last => format!("byte {first}"),
        (first, last) => format!("bytes {first} to {last}"),
    }
}

fn missing_words(case: &Case<'_>, found: &Found<'_>, missing: &Missing) -> String {
    let array = case.runs[found.run].trace.arrays.get(missing.array).map_or("", |array| &array.name);
    let some = if missing.all { "" } else { "some of " };
    let name = &found.barrier.name;
    format!("{some}{} of `{array}` are read after this `{name}`, but no thread writes them", bytes(missing))
}

/// What the condition does.
fn split_label(case: &Case<'_>, found: &Found<'_>) -> String {
    let Found { run, barrier, absence, .. } = found;
    if let Some(out) = kept_out(absence) {
        return format!("{} never takes this side", thread(case, *run, out));
    }
    match (&absence.split.kind, absence.left) {
        (SplitKind::Guard(_) | SplitKind::Iterations(_), true) => {
            "near the bound, some threads of a block exit here and others do not".to_owned()
        }
        (SplitKind::Guard(_), false) => {
            "near the bound, this condition splits the threads of a block".to_owned()
        }
        (SplitKind::Iterations(_), false) => {
            "near the bound, some threads of a block run one more iteration than others".to_owned()
        }
        _ => {
            let reaches = barrier.active.threads().next().map(|t| thread(case, *run, t));
            let stays = absence.threads.as_ref().and_then(|threads| threads.threads().next());
            match (reaches, stays.map(|t| thread(case, *run, t)), absence.left) {
                (Some(a), Some(b), false) => format!("{a} reaches the barrier, {b} does not"),
                (Some(a), Some(b), true) => format!("{a} goes on to the barrier, {b} exits"),
                _ => "the threads diverge here".to_owned(),
            }
        }
    }
}

/// Where the other threads are.
fn then_label(case: &Case<'_>, found: &Found<'_>) -> Option<(Span, String)> {
    let Found { run, barrier, absence, .. } = found;
    let kernel = &case.runs[*run];
    let other = |at: &usize| kernel.trace.barriers.get(*at).filter(|it| it.span != barrier.span);
    // Of those who come there, the first.
    let who = |at: &Barrier| {
        let first = absence.threads.as_ref().and_then(|threads| threads.and(&at.active).threads().next());
        first.map_or_else(|| "they".to_owned(), |first| thread(case, *run, first))
    };
    match &absence.then {
        Then::Barrier(at) => {
            let other = other(at)?;
            let who = who(other);
            let waits = if who == "they" { "wait" } else { "waits" };
            Some((other.span, format!("{who} {waits} here instead")))
        }
        Then::Pair(at) => other(at).map(|other| (other.span, "the others wait here".to_owned())),
        Then::Rejoin(span) => Some((*span, "both sides reconverge here".to_owned())),
        Then::Unknown(why) if is_told_apart(why, barrier) => Some((why.span, why.detail.to_string())),
        Then::Exit | Then::Unknown(_) => None,
    }
}

/// Whether what is not known has a place of its own.
fn is_told_apart(why: &Unknown, barrier: &Barrier) -> bool {
    why.span != barrier.span && why.span.start < why.span.end
}

/// Under what bound all threads come.
fn bound_note(absence: &Absence) -> Option<String> {
    match &absence.split.kind {
        SplitKind::Guard(_) if kept_out(absence).is_some() => None,
        SplitKind::Guard(bound) if bound.words.is_empty() => {
            Some("if the bound falls inside a block, some of its threads do not get here".to_owned())
        }
        SplitKind::Guard(bound) => Some(format!("all threads get here only if {}", all_of(&bound.words))),
        SplitKind::Iterations(bound) => Some(format!(
            "safe only if all threads of a block or none run each iteration, for example if {}",
            all_of(&bound.words)
        )),
        SplitKind::Known | SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => None,
    }
}

/// What becomes of it.
fn then_notes(case: &Case<'_>, found: &Found<'_>) -> Vec<String> {
    let Found { run, barrier, absence, .. } = found;
    let kernel = &case.runs[*run];
    let notes: &[&str] = match &absence.then {
        Then::Exit if barrier.of_grid => {
            &["a grid barrier waits for every block, and threads that exit never arrive"]
        }
        Then::Exit if counts_warps(case) => &[
            "before compute capability 7.0, a barrier counts warps, and nothing documents that it does not \
             wait for threads that exit",
            "the CUDA programming guide calls a barrier in divergent code undefined",
        ],
        Then::Exit => &[EXITED, GUIDE],
        Then::Unknown(why) => {
            let said = is_told_apart(why, barrier);
            let why = if said { String::new() } else { format!(": {}", why.detail) };
            return vec![format!("what the other threads do is unknown{why}")];
        }
        Then::Pair(partner) if pairs_by_warps(kernel, barrier, absence, *partner) => &[
            "whole warps wait at either barrier: PTX lets the two pair up",
            "the CUDA programming guide calls that undefined, and `compute-sanitizer --tool synccheck` \
             reports it",
        ],
        Then::Pair(_) => {
            &["threads of one warp wait at different barriers, which PTX does not define either"]
        }
        Then::Rejoin(_) => {
            &["the threads of the warp reconverge there: they may wait for those at the barrier, and the \
             barrier for them"]
        }
        Then::Barrier(at) if kernel.trace.barriers.get(*at).is_some_and(|it| it.span == barrier.span) => {
            &["the other threads arrive later, when those that wait now arrive again: the two pair up \
             wrongly, or the block hangs"]
        }
        Then::Barrier(_) => &["the two barriers pair up wrongly, or the block hangs"],
    };
    notes.iter().map(|note| (*note).to_owned()).collect()
}

fn help(found: &Found<'_>) -> &'static str {
    let absence = found.absence;
    if found.left_unwritten.is_some() {
        return "let every thread of the block reach the barrier: guard only the work, and do not return early; no change is \
                needed if the value that is read has no effect";
    }
    if found.is_harmless() {
        return "no change is needed if the remaining threads read nothing that these should have written";
    }
    match (absence.left, absence.split.of_loop) {
        (true, _) => {
            "let every thread of the block reach the barrier: guard only the work, and do not return early"
        }
        (false, true) => {
            "let all threads of the block run the same number of iterations: round the bound up and guard \
             only the work"
        }
        (false, false) => {
            "let every thread of the block reach the barrier: move it out of the condition and guard only \
             the work"
        }
    }
}

/// Who passes a condition around a barrier.
pub(super) fn passes(split: &Split) -> String {
    match &split.kind {
        SplitKind::Known => {
            format!("{} of {} threads go this way", split.taken.count(), split.before.count())
        }
        SplitKind::Guard(_) | SplitKind::Iterations(_) => {
            "which threads go this way depends on a run-time bound".to_owned()
        }
        SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => {
            "which threads go this way depends on data".to_owned()
        }
    }
}

/// What is said of a barrier that is no finding.
pub(super) fn no_finding(case: &Case<'_>, run: usize, barrier: &Barrier) -> Diagnostic {
    let missing = barrier.expected.minus(&barrier.active);
    let mut labels = Vec::new();
    let message = match (&barrier.doubt, barrier.count) {
        (_, Some(count)) if count < 0 => {
            format!("this `{}` has a thread count and is not judged", barrier.name)
        }
        (_, Some(count)) => format!("this `{}` is for {count} threads and is not judged", barrier.name),
        (Some(doubt), None) => {
            labels.push((doubt.span, doubt.detail.to_string()));
            format!("it is unknown whether all threads of the block reach this `{}`", barrier.name)
        }
        (None, None) if missing.is_empty() => {
            format!("no divergence: all threads of the block reach this `{}`", barrier.name)
        }
        (None, None) => {
            format!("whether all threads of the block reach this `{}` depends on data", barrier.name)
        }
    };
    let mut notes = vec![case.block_words(run)];
    notes.extend(case.calls_words(run, &barrier.calls, &[]));
    Diagnostic {
        labels,
        notes,
        kernel: case.runs[run].kernel.clone(),
        ..Diagnostic::plain("", Level::Note, barrier.span, message)
    }
}

/// The parts of what is assumed, as one clause.
fn all_of(inside: &str) -> String {
    let parts: Vec<String> = inside.split("; ").map(str::to_owned).collect();
    merged(&parts).join(" and ")
}

fn thread(case: &Case<'_>, run: usize, linear: usize) -> String {
    let [x, y, z] = Shape { dims: case.runs[run].block }.coordinates(linear);
    format!("thread ({x}, {y}, {z})")
}
