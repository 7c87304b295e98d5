//! Does the tool say of each line what happened when the kernel ran?
//!
//! The tool judges machine code, the oracle sees the text as it is written. So what the tool states about
//! the compiler is applied to what was seen, and only then the two are compared:
//!
//! | the tool says | what was seen is |
//! |---|---|
//! | an access of other bytes than were seen (a class is copied) | cut, or put together, to that many bytes |
//! | "the compiler joins ... into one of 16 bytes" | put together by the aligned 16 bytes in which it lies |
//! | "in some rounds the compiler joins ..." | between the two: as many as apart, or as few as together |
//! | "every lane does it that may", "the block lies inside the bounds" | at worst no worse; how often is not compared |
//! | one round of a loop is counted | at worst as bad; how often is not compared |
//! | "no choice of them conflicts" | without conflict; how often is not compared |
//! | an atomic operation | by lane, or as a store if it adds 1, or one if all lanes meet in one place |
//!
//! Joins that change no verdict are not stated: they are allowed, also of a part, where nothing conflicts. Nor is it always
//! stated which loads are left out because their value is in a register: any may be whose lanes have all
//! accessed the same bytes since the last barrier. Nor which stores are: any may be whose lanes all store at the
//! same place again before the next.
//!
//! Two sides are compared for each kernel, line, operation and array: site by site, by columns or by program
//! counters, and where that does not fit, by sums.

use super::banks::{self, Cost, Serving};
use super::execution::{Access, DYNAMIC, Lane, Launch, Step};
use super::said::{Model, Said};
use super::trace::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// How a line of a kernel compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it happened.
    Right,
    /// As it happened, if the compiler does what the tool states.
    Modelled,
    /// The tool does not know, and says why.
    Undecided(String),
    /// It is said otherwise than it happened.
    Wrong(String),
    /// It happened, but nothing is said of it.
    Missing(String),
    /// It is said, but did not happen.
    Extra(String),
}

/// The outcome for one kernel, line, operation and array.
#[derive(Clone, Debug)]
pub struct Line {
    pub kernel: String,
    pub line: u32,
    pub op: String,
    pub array: String,
    pub outcome: Outcome,
}

/// Requests, wavefronts and the most of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    requests: u64,
    wavefronts: u64,
    worst: u64,
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} wavefronts in {} requests, {} at worst", self.wavefronts, self.requests, self.worst)
    }
}

impl Sums {
    fn of(said: &[&Said]) -> Sums {
        let sum = |part: fn(&Said) -> Option<u64>| said.iter().filter_map(|it| part(it)).sum();
        let worst = said.iter().filter_map(|it| it.worst).max().unwrap_or(0);
        Sums { requests: sum(|it| it.requests), wavefronts: sum(|it| it.wavefronts), worst }
    }

    fn add(&mut self, cost: &Cost) {
        self.requests += cost.requests;
        self.wavefronts += cost.wavefronts;
        self.worst = self.worst.max(cost.wavefronts);
    }

    /// Whether nothing here is more than there.
    fn at_most(&self, other: &Sums) -> bool {
        self.requests <= other.requests && self.wavefronts <= other.wavefronts && self.worst <= other.worst
    }
}

/// What happened, counted in one way.
#[derive(Clone, Copy, Debug, Default)]
struct Happened {
    all: Sums,
    /// Without the loads whose value may be in a register, and the stores that may be left out.
    anew: Sums,
    conflicts: bool,
}

impl Happened {
    fn add(&mut self, cost: Cost, repeats: bool) {
        self.all.add(&cost);
        if !repeats {
            self.anew.add(&cost);
        }
        self.conflicts |= cost.wavefronts > cost.ideal;
    }
}

/// Line, operation and array.
type Key = (u32, &'static str, String);
/// Accesses of one column, in order.
type Seen<'a> = Vec<Request<'a>>;

#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    warp: usize,
    access: &'a Access,
    /// Where in the program it is.
    counter: u32,
    /// Whether each of its lanes has accessed the same bytes since the last barrier.
    repeats: bool,
}

/// Compares what is said of a file with its launches. `file` is the name that debug information uses;
/// headers are not compared.
pub fn compare<'a>(file: &str, launches: impl IntoIterator<Item = &'a Launch>, said: &[Said]) -> Vec<Line> {
    let launches: Vec<&Launch> = launches.into_iter().collect();
    let mut lines: BTreeMap<(String, u32, String, String), Outcome> = BTreeMap::new();
    // What is said of a line that only another launch of the same kernel reaches is not said in vain.
    let mut reached: BTreeSet<(String, Key)> = BTreeSet::new();
    for launch in &launches {
        let keys = seen(file, launch, said);
        reached.extend(keys.into_keys().map(|key| (launch.kernel.clone(), key)));
    }
    for launch in launches.into_iter().filter(|launch| !launch.given_up) {
        let here: Vec<&Said> = said.iter().filter(|it| it.is_of(launch)).collect();
        let seen = seen(file, launch, said);
        let mut keys: BTreeSet<Key> = seen.keys().cloned().collect();
        let names = names(launch);
        keys.extend(here.iter().map(|it| key_of(&names, it)));
        for key in keys {
            let columns = seen.get(&key);
            let mut rows: Vec<&Said> = here.iter().copied().filter(|it| key_of(&names, it) == key).collect();
            rows.sort_by_key(|it| it.column);
            let outcome = match columns {
                None if reached.contains(&(launch.kernel.clone(), key.clone())) => continue,
                None => not_seen(&rows),
                Some(_) if rows.is_empty() => not_said(&key, &here, columns),
                Some(columns) => judge(&rows, columns),
            };
            let (line, op, array) = key;
            let at = (launch.kernel.clone(), line, op.to_owned(), array);
            let known = lines.entry(at).or_insert(Outcome::Right);
            if rank(&outcome) > rank(known) {
                *known = outcome;
            }
        }
    }
    let line = |((kernel, line, op, array), outcome)| Line { kernel, line, op, array, outcome };
    lines.into_iter().map(line).collect()
}

/// How far an outcome is from right.
pub fn rank(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Right => 0,
        Outcome::Modelled => 1,
        Outcome::Undecided(_) => 2,
        Outcome::Extra(_) => 3,
        Outcome::Missing(_) => 4,
        Outcome::Wrong(_) => 5,
    }
}

fn op(name: &str) -> &'static str {
    ["load", "store", "atomic", "async_copy"].into_iter().find(|known| *known == name).unwrap_or("other")
}

fn op_of(access: &Access) -> &'static str {
    match access.kind {
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Atomic => "atomic",
        _ => "async_copy",
    }
}

/// The variables that a launch accesses, by name.
fn names(launch: &Launch) -> BTreeSet<&str> {
    let lanes = launch.accesses().flat_map(|(_, access)| &access.lanes);
    lanes.map(|lane| launch.variables[lane.variable].name.as_str()).collect()
}

/// What the tool calls otherwise than any static array is dynamic, which is all the same memory.
fn key_of(names: &BTreeSet<&str>, said: &Said) -> Key {
    let array = if names.contains(said.array.as_str()) { &said.array } else { DYNAMIC };
    (said.line, op(&said.op), array.to_owned())
}

/// The accesses of a launch by key and column. Lanes that meet in several arrays are left out: how these
/// lie to each other is the linker's.
fn seen<'a>(file: &str, launch: &'a Launch, said: &[Said]) -> BTreeMap<Key, BTreeMap<u32, Seen<'a>>> {
    let mut found: BTreeMap<Key, BTreeMap<u32, Seen>> = BTreeMap::new();
    let here: Vec<&Said> = said.iter().filter(|it| it.is_of(launch)).collect();
    for (warp, steps) in launch.warps.iter().enumerate() {
        // What each lane has accessed since the last barrier.
        let mut touched: BTreeSet<Touched> = BTreeSet::new();
        for (step, written_again) in steps.iter().zip(written_again(steps)) {
            let Step::Access(access) = step else {
                touched.clear();
                continue;
            };
            let touch = |lane: &Lane| touched_by(lane, access);
            let plain = access.kind == Kind::Load && !access.is_volatile;
            let read_again = plain && access.lanes.iter().all(|lane| touched.contains(&touch(lane)));
            let repeats = read_again || written_again;
            touched.extend(access.lanes.iter().map(touch));
            let place = launch.place(access.site);
            let first = access.lanes[0].variable;
            if place.file != file || access.lanes.iter().any(|lane| lane.variable != first) {
                continue;
            }
            // An expression over several lines is said to be where it begins.
            let same = here.iter().filter(|it| op(&it.op) == op_of(access));
            let spanning = same.filter(|it| it.line <= place.line && place.line <= it.end_line);
            let line = spanning.map(|it| it.line).max().unwrap_or(place.line);
            let key = (line, op_of(access), launch.variables[first].name.clone());
            let counter = launch.sites[access.site].counter;
            let request = Request { warp, access, counter, repeats };
            found.entry(key).or_default().entry(place.column).or_default().push(request);
        }
    }
    found
}

/// A lane, and the bytes of a variable.
type Touched = (u8, usize, i64, u32);

fn touched_by(lane: &Lane, access: &Access) -> Touched {
    (lane.lane, lane.variable, lane.offset, access.bytes)
}

/// Of each step of a warp, whether it is a store all of whose lanes store at the same place again before the next
/// barrier.
fn written_again(steps: &[Step]) -> Vec<bool> {
    let mut later: BTreeSet<Touched> = BTreeSet::new();
    let mut found: Vec<bool> = Vec::new();
    for step in steps.iter().rev() {
        let Step::Access(access) = step else {
            later.clear();
            found.push(false);
            continue;
        };
        let store = access.kind == Kind::Store && !access.is_volatile;
        found.push(store && access.lanes.iter().all(|lane| later.contains(&touched_by(lane, access))));
        later.extend(access.lanes.iter().filter(|_| store).map(|lane| touched_by(lane, access)));
    }
    found.reverse();
    found
}

fn not_seen(rows: &[&Said]) -> Outcome {
    if let Some(undecided) = rows.iter().find(|it| !it.is_decided()) {
        return Outcome::Undecided(undecided.reason.clone().unwrap_or_default());
    }
    let sums = Sums::of(rows);
    if sums.requests == 0 || rows.iter().all(|it| it.model().may_not_happen()) {
        return Outcome::Right;
    }
    Outcome::Extra(format!("{sums} said{}, none happened", assumptions(rows)))
}

/// In brackets, if there are any.
fn assumptions(rows: &[&Said]) -> String {
    let all: BTreeSet<&str> = rows.iter().flat_map(|it| &it.assumptions).map(String::as_str).collect();
    let all: Vec<&str> = all.into_iter().collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) }
}

fn not_said(key: &Key, here: &[&Said], columns: Option<&BTreeMap<u32, Seen>>) -> Outcome {
    // Another array may be meant where the tool does not know.
    let beside = here.iter().find(|it| it.line == key.0 && op(&it.op) == key.1 && !it.is_decided());
    if let Some(undecided) = beside {
        return Outcome::Undecided(undecided.reason.clone().unwrap_or_default());
    }
    let all: Seen = columns.into_iter().flat_map(|columns| columns.values().flatten().copied()).collect();
    // `a = s[i] = 1` reads `s[i]`, but its value is known.
    if all.iter().all(|request| request.repeats) {
        return Outcome::Modelled;
    }
    Outcome::Missing(format!("{} happened, none said", as_written(&all)))
}

fn judge(rows: &[&Said], columns: &BTreeMap<u32, Seen>) -> Outcome {
    if let Some(undecided) = rows.iter().find(|it| !it.is_decided()) {
        return Outcome::Undecided(undecided.reason.clone().unwrap_or_default());
    }
    let all: Seen = columns.values().flatten().copied().collect();
    // What only some lanes may do may not happen at all.
    let sure: Vec<&Said> = rows.iter().copied().filter(|it| !it.model().may_not_happen()).collect();
    let mut counters: BTreeMap<u32, Seen> = BTreeMap::new();
    for request in &all {
        counters.entry(request.counter).or_default().push(*request);
    }
    let by_column: Vec<&Seen> = columns.values().collect();
    let by_counter: Vec<&Seen> = counters.values().collect();
    for rows in [rows, &sure[..]] {
        let apart = || agrees_apart(rows, &by_column).or_else(|| agrees_apart(rows, &by_counter));
        if let Some(modelled) = apart().or_else(|| agrees(rows, &all)) {
            return if modelled { Outcome::Modelled } else { Outcome::Right };
        }
    }
    let (said, seen) = (Sums::of(rows), as_written(&all));
    Outcome::Wrong(format!("{said} said{}; {seen} happened", assumptions(rows)))
}

/// Whether each row says what was seen at a site of its own.
fn agrees_apart(rows: &[&Said], sites: &[&Seen]) -> Option<bool> {
    let mut left = rows.to_vec();
    let mut modelled = false;
    for seen in sites {
        let (at, is_modelled) =
            left.iter().enumerate().find_map(|(at, row)| Some((at, agrees(&[row], seen)?)))?;
        modelled |= is_modelled;
        left.remove(at);
    }
    left.is_empty().then_some(modelled)
}

/// Whether these rows together say what was seen; `None` if they do not, otherwise whether only as the
/// compiler is taken to be.
fn agrees(rows: &[&Said], seen: &Seen) -> Option<bool> {
    let said = Sums::of(rows);
    let models: Vec<Model> = rows.iter().map(|it| it.model()).collect();
    let has = |part: fn(&Model) -> bool| models.iter().any(part);
    let bytes = rows.first()?.bytes?;
    let width = models.iter().find_map(|model| model.joined).unwrap_or(bytes);
    let mut counted = if is_atomic(seen) { atomics(seen) } else { vec![requests_of(seen, bytes, width)] };
    if counted.iter().any(|happened| happened.all == said) {
        return Some(has(|model| *model != Model::default()));
    }
    if has(|model| model.joined_in_part) {
        let apart = requests_of(seen, bytes, bytes).all;
        let fits = said.at_most(&apart) && counted[0].all.requests <= said.requests;
        return fits.then_some(true);
    }
    // Of an object that is read as a whole, or made of members and written, the compiler may take members alone.
    if seen.iter().any(|request| request.access.bytes > bytes) {
        let apart = requests_of(seen, bytes, bytes).all;
        return said.at_most(&apart).then_some(true);
    }
    let is_free = counted.iter().all(|happened| !happened.conflicts);
    if is_free && !is_atomic(seen) {
        counted.extend([8, 16].map(|width| requests_of(seen, bytes, width)));
        counted.retain(|happened| !happened.conflicts);
    }
    let agrees = counted.iter().any(|Happened { all, anew, conflicts }| {
        all == &said
            || (anew != all && anew.at_most(&said) && said.at_most(all))
            || (has(|model| model.per_round) && all.worst == said.worst)
            || (has(|model| model.at_most) && all.worst <= said.worst)
            || (has(|model| model.any_lanes) && !conflicts)
    });
    // Some are joined, and the others are not.
    let in_part = || {
        let (apart, joined) = (requests_of(seen, bytes, bytes), requests_of(seen, bytes, 16));
        let fewest = joined.all.requests.min(joined.anew.requests);
        // One of 16 bytes takes two wavefronts, where all lanes read the same.
        let is_fewer = said.requests <= apart.all.requests && said.wavefronts <= apart.all.wavefronts;
        is_fewer && fewest <= said.requests && said.wavefronts <= 2 * said.requests
    };
    (agrees || is_free && !is_atomic(seen) && in_part()).then_some(true)
}

fn is_atomic(seen: &Seen) -> bool {
    seen.iter().any(|request| request.access.kind == Kind::Atomic)
}

fn serving(access: &Access) -> Serving {
    match access.kind {
        Kind::Load => Serving::Load,
        _ => Serving::Store,
    }
}

fn offsets(access: &Access) -> Vec<(u8, i64)> {
    access.lanes.iter().map(|lane| (lane.lane, lane.offset)).collect()
}

fn as_written(seen: &Seen) -> Sums {
    if is_atomic(seen) {
        return atomics(seen)[0].all;
    }
    let bytes = seen.first().map_or(4, |request| request.access.bytes);
    requests_of(seen, bytes, bytes).all
}

/// What an access is a part of, once accesses are put together: warp, lanes, and where the aligned bytes
/// begin for each.
type Whole = (usize, Vec<(u8, i64)>);

/// The requests if they are made with `bytes` per lane, and neighbours are put together to `width`.
fn requests_of(seen: &Seen, bytes: u32, width: u32) -> Happened {
    let mut happened = Happened::default();
    let mut begun: BTreeMap<Whole, BTreeSet<Vec<i64>>> = BTreeMap::new();
    for Request { warp, access, repeats, .. } in seen {
        let piece =
            if access.bytes > bytes && access.bytes.is_multiple_of(bytes) { bytes } else { access.bytes };
        for part in (0..access.bytes).step_by(piece.max(1) as usize) {
            let mut lanes = offsets(access);
            lanes.iter_mut().for_each(|(_, offset)| *offset += i64::from(part));
            if width <= piece {
                happened.add(banks::cost(serving(access), piece, &lanes), *repeats);
                continue;
            }
            let within: Vec<i64> = lanes.iter().map(|(_, offset)| offset.rem_euclid(width.into())).collect();
            lanes.iter_mut().for_each(|(_, offset)| *offset -= offset.rem_euclid(width.into()));
            let cost = banks::cost(serving(access), width, &lanes);
            let parts = begun.entry((*warp, lanes)).or_default();
            let begins = parts.is_empty() || parts.contains(&within);
            if begins {
                // The same part once more is another request.
                parts.clear();
            }
            parts.insert(within);
            if !begins {
                continue;
            }
            happened.add(cost, *repeats);
        }
    }
    happened
}

/// What atomic operations may cost: by lane, as a store, and once for all lanes.
fn atomics(seen: &Seen) -> Vec<Happened> {
    let count = |cost: &dyn Fn(&Access) -> Cost| {
        let mut happened = Happened::default();
        seen.iter().for_each(|request| happened.add(cost(request.access), false));
        happened
    };
    let by_lane = |access: &Access| {
        let cost = banks::cost(Serving::ByLane, access.bytes, &offsets(access));
        let twice = if access.swaps { 2 } else { 1 };
        Cost { wavefronts: twice * cost.wavefronts, ideal: twice * cost.ideal, ..cost }
    };
    let mut found = vec![count(&by_lane)];
    if seen.iter().all(|request| request.access.adds_one) {
        found.push(count(&|access| banks::cost(Serving::Store, access.bytes, &offsets(access))));
    }
    let is_one_place =
        |access: &Access| access.lanes.iter().all(|lane| lane.offset == access.lanes[0].offset);
    if seen.iter().all(|request| is_one_place(request.access)) {
        found.push(count(&|_| Cost { wavefronts: 1, ideal: 1, requests: 1 }));
    }
    found
}
