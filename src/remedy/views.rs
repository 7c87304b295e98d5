//! Which accesses of an array have no element in common, so that each group of them may have a layout of its own?
//!
//! An array may be used for one thing after another. Each use reads what it has written, and nothing of it is needed
//! when the next use starts:
//!
//! ```text
//! for (;;) {
//!     a  write bytes 0 to 511 as rows of 32                  a and b are one view,
//!        barrier                                             c and d are another: b reads what a wrote,
//!     b  read bytes 0 to 511                                 d what c wrote, and of what a wrote nothing
//!        barrier                                             is read after c
//!     c  write bytes 0 to 1023 as rows of 64
//!        barrier
//!     d  read bytes 0 to 1023
//!        barrier
//! }
//! ```
//!
//! Two accesses are of one view if
//! - one reads what the other may have written: each place knows which writes may have been the last;
//! - no barrier of the block is between them on some way, and one of them writes;
//! - one writes while what the other wrote is still to be read.
//!
//! Then a view may have any layout: it reads only what it has written, the last write to a place belonged to this
//! view, and other views write only where nothing is needed any more.
//!
//! Only a store with known threads and offsets surely overwrites a place. A branch that a block may skip is a
//! separate path, and so is a loop that may run zero times. If an unfollowed operation may access the array, there is
//! one view.

use super::Run;
use super::lane::{Key, asked};
use crate::domain::{Origin, Shape};
use crate::events::{AccessEvent, AccessOp, Branches, Event, EventTree, Trace};
use crate::source::Span;

/// The most sites of one array: each has a bit.
const MOST_SITES: usize = 64;
/// The most places of one array that are told apart.
const MOST_PLACES: u64 = 1 << 16;
/// The most places of accesses that are looked at.
const MOST_STEPS: usize = 1 << 26;
/// The most values that rounds of loops give an offset.
const MOST_ROUNDS: i64 = 256;

/// The views of the array declared at `name`, where there are several.
pub(super) fn views(runs: &[Run<'_>], name: Span) -> Option<Vec<Vec<Key>>> {
    let mut keys: Vec<Key> = Vec::new();
    for run in runs {
        let of_array = run.trace.accesses.iter().filter(|it| run.trace.arrays[it.array].name_span == name);
        for access in of_array {
            let key = (access.span, access.op);
            keys.extend((!keys.contains(&key)).then_some(key));
        }
    }
    if !(2..=MOST_SITES).contains(&keys.len()) {
        return None;
    }
    let mut groups = Groups { parents: (0..keys.len()).collect() };
    for run in runs {
        join(run, name, &keys, &mut groups)?;
    }
    let mut views: Vec<(usize, Vec<Key>)> = Vec::new();
    for (site, key) in keys.into_iter().enumerate() {
        let root = groups.root(site);
        match views.iter_mut().find(|(other, _)| *other == root) {
            Some((_, view)) => view.push(key),
            None => views.push((root, vec![key])),
        }
    }
    (views.len() > 1).then(|| views.into_iter().map(|(_, view)| view).collect())
}

/// Sites that are of one view.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn root(&self, mut site: usize) -> usize {
        while self.parents[site] != site {
            site = self.parents[site];
        }
        site
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }

    /// Joins a site with all of a mask.
    fn join_all(&mut self, one: usize, mut others: u64) {
        while others != 0 {
            self.join(one, others.trailing_zeros() as usize);
            others &= others - 1;
        }
    }
}

/// An access of the array, by the places that it may touch.
struct Touch {
    site: usize,
    places: Vec<u32>,
    reads: bool,
    writes: bool,
    /// Whether it surely writes all of them.
    kills: bool,
}

/// What a run does, as far as it bears on the array.
enum Node {
    /// By number.
    Touch(usize),
    /// All threads wait for each other.
    Barrier,
    /// It may be left here.
    Exit,
    Loop {
        body: Vec<Node>,
        /// Whether it runs at least once.
        runs: bool,
    },
    /// What a block may pass by.
    Maybe(Vec<Node>),
}

/// Joins the sites of one view, as one run tells.
fn join(run: &Run<'_>, name: Span, keys: &[Key], groups: &mut Groups) -> Option<()> {
    let trace = run.trace;
    if !trace.accesses.iter().any(|it| trace.arrays[it.array].name_span == name) {
        return Some(());
    }
    let is_whole = trace.tree.len() > 0 && !trace.tree.is_cut() && trace.stopped.is_none();
    let unclear = |event: &Event| matches!(event, Event::MayAccess { .. } | Event::MayDiffer { .. });
    if !is_whole || trace.tree.events().iter().any(unclear) {
        return None;
    }
    let (touches, of_event) = touches(run, name, keys)?;
    let nodes = nodes(&trace.tree, &of_event);
    let places = touches.iter().flat_map(|touch| &touch.places).max().map_or(0, |last| *last as usize + 1);
    let mut flow =
        Flow { touches: &touches, live: vec![Vec::new(); touches.len()], steps: MOST_STEPS, groups };
    flow.backward(&nodes, &mut vec![false; places], &mut Vec::new())?;
    let start = Ways { last: vec![0; places], since: (0, 0) };
    flow.forward(&nodes, start, &mut Vec::new())?;
    Some(())
}

/// An access of the array: its site, and the bytes that it may touch.
type Found<'e> = (usize, &'e AccessEvent, Vec<(i64, i64)>);

/// The accesses of the array, and by event the number of its access.
fn touches(run: &Run<'_>, name: Span, keys: &[Key]) -> Option<(Vec<Touch>, Vec<Option<usize>>)> {
    let trace = run.trace;
    let shape = Shape { dims: run.block };
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut of_event = vec![None; trace.tree.len()];
    let mut object = None;
    let (mut unit, mut steps) = (0, MOST_STEPS);
    for (at, event) in trace.tree.events().iter().enumerate() {
        let Event::Access(event) = event else { continue };
        let access = &trace.accesses[event.access];
        if trace.arrays[access.array].name_span != name {
            continue;
        }
        // Instances of a function template have each their own.
        if access.op == AccessOp::AsyncCopy || *object.get_or_insert(event.object) != event.object {
            return None;
        }
        let ranges = ranges(event, trace, shape, &mut steps)?;
        unit = ranges.iter().fold(unit, |unit, (at, bytes)| gcd(gcd(unit, *at), *bytes));
        of_event[at] = Some(found.len());
        found.push((keys.iter().position(|key| *key == (access.span, access.op))?, event, ranges));
    }
    let unit = unit.max(1);
    let touch = |(site, event, ranges): Found<'_>| {
        let op = trace.accesses[event.access].op;
        let mut places: Vec<u32> = Vec::new();
        for (at, bytes) in ranges {
            let (first, last) = (u64::try_from(at / unit).ok()?, u64::try_from((at + bytes) / unit).ok()?);
            if last > MOST_PLACES {
                return None;
            }
            places.extend(first as u32..last as u32);
        }
        places.sort_unstable();
        places.dedup();
        let is_known = event.offset.as_ref().is_some_and(|offset| offset.terms.is_empty());
        Some(Touch {
            site,
            places,
            reads: matches!(op, AccessOp::Load | AccessOp::MatrixLoad | AccessOp::Atomic),
            writes: !matches!(op, AccessOp::Load | AccessOp::MatrixLoad),
            kills: matches!(op, AccessOp::Store | AccessOp::MatrixStore)
                && is_known
                && event.is_sure
                && !event.may_be_cut_short,
        })
    };
    Some((found.into_iter().map(touch).collect::<Option<_>>()?, of_event))
}

/// The bytes that threads access: where, and how many.
fn ranges(event: &AccessEvent, trace: &Trace, shape: Shape, steps: &mut usize) -> Option<Vec<(i64, i64)>> {
    let access = &trace.accesses[event.access];
    let offset = event.offset.as_ref()?;
    let bytes = i64::from(access.bytes?);
    let base = offset.base.spread(shape);
    // What rounds of loops add.
    let mut sums = vec![0];
    for (id, factor) in &offset.terms {
        let (symbol, factor) = (trace.tree.symbol(*id)?, factor.as_constant()?);
        let last = symbol.high.filter(|last| symbol.origin == Origin::Loop && *last < MOST_ROUNDS)?;
        let first = symbol.low?;
        sums = sums.iter().flat_map(|sum| (first..=last).map(move |round| sum + round * factor)).collect();
        if sums.len() > MOST_ROUNDS as usize {
            return None;
        }
    }
    let asked = asked(access);
    let threads = event.threads.threads().filter(|thread| asked >> (thread % 32) & 1 == 1);
    let mut found: Vec<(i64, i64)> = Vec::new();
    for thread in threads {
        *steps = steps.checked_sub(sums.len())?;
        found.extend(sums.iter().map(|sum| (base[thread] + sum, bytes)));
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn gcd(a: i64, b: i64) -> i64 {
    i64::try_from(crate::domain::gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(1)
}

/// What is open of the tree that is made of the events.
enum Open {
    /// A branch, by its number.
    Maybe(u32),
    Loop {
        runs: bool,
    },
}

/// The events as a tree.
fn nodes(tree: &EventTree, of_event: &[Option<usize>]) -> Vec<Node> {
    let mut open: Vec<(Open, Vec<Node>)> = Vec::new();
    let mut nodes: Vec<Node> = Vec::new();
    for (at, event) in tree.events().iter().enumerate() {
        match event {
            Event::Access(event) => {
                let Some(touch) = of_event[at] else { continue };
                stand_in(&event.branches, &mut open, &mut nodes);
                nodes.push(Node::Touch(touch));
            }
            Event::Barrier { all: Some(true), is_sure: true, branches, .. } => {
                stand_in(branches, &mut open, &mut nodes);
                nodes.push(Node::Barrier);
            }
            Event::Loop { runs, branches, .. } => {
                stand_in(branches, &mut open, &mut nodes);
                open.push((Open::Loop { runs: *runs }, std::mem::take(&mut nodes)));
            }
            Event::NextRound { .. } => {
                // Whichever branch it is in.
                stand_in(&Branches::default(), &mut open, &mut nodes);
                nodes.push(Node::Exit);
            }
            Event::EndOfLoop { .. } => {
                stand_in(&Branches::default(), &mut open, &mut nodes);
                close(&mut open, &mut nodes);
            }
            _ => {}
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut nodes);
    }
    nodes
}

/// Closes and opens branches of the innermost loop until these are open.
fn stand_in(branches: &Branches, open: &mut Vec<(Open, Vec<Node>)>, nodes: &mut Vec<Node>) {
    while let Some((Open::Maybe(branch), _)) = open.last()
        && !branches.contains(branch)
    {
        close(open, nodes);
    }
    for branch in branches.iter() {
        if !open.iter().any(|(it, _)| matches!(it, Open::Maybe(known) if known == branch)) {
            open.push((Open::Maybe(*branch), std::mem::take(nodes)));
        }
    }
}

/// Closes the innermost.
fn close(open: &mut Vec<(Open, Vec<Node>)>, nodes: &mut Vec<Node>) {
    let Some((what, before)) = open.pop() else { return };
    let body = std::mem::replace(nodes, before);
    nodes.push(match what {
        Open::Maybe(_) => Node::Maybe(body),
        Open::Loop { runs } => Node::Loop { body, runs },
    });
}

/// What may have happened on the ways that lead to a point.
#[derive(Clone, PartialEq, Eq)]
struct Ways {
    /// By place: the sites that may have been the last to write it.
    last: Vec<u64>,
    /// The sites since a barrier: all, and those that write.
    since: (u64, u64),
}

impl Ways {
    fn or(&mut self, other: &Ways) {
        self.last.iter_mut().zip(&other.last).for_each(|(own, other)| *own |= other);
        self.since.0 |= other.since.0;
        self.since.1 |= other.since.1;
    }
}

/// Goes through the tree, and joins the sites that have to do with each other.
struct Flow<'t, 'g> {
    touches: &'t [Touch],
    /// By access that writes: the places of which what was there before is read after it.
    live: Vec<Vec<bool>>,
    steps: usize,
    groups: &'g mut Groups,
}

impl Flow<'_, '_> {
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }

    /// Goes back from the end; `live`: the places that are read behind. `exits`: those behind the loops around.
    fn backward(&mut self, nodes: &[Node], live: &mut Vec<bool>, exits: &mut Vec<Vec<bool>>) -> Option<()> {
        let or = |one: &mut Vec<bool>, other: &[bool]| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
        };
        for node in nodes.iter().rev() {
            match node {
                Node::Touch(number) => {
                    let touches = self.touches;
                    let touch = &touches[*number];
                    self.spend(live.len() + 2 * touch.places.len())?;
                    let places = || touch.places.iter().map(|place| *place as usize);
                    if touch.kills {
                        places().for_each(|place| live[place] = false);
                    }
                    if touch.writes {
                        self.live[*number].clone_from(live);
                    }
                    if touch.reads {
                        places().for_each(|place| live[place] = true);
                    }
                }
                Node::Barrier => {}
                Node::Exit => {
                    if let Some(exit) = exits.last() {
                        or(live, exit);
                    }
                }
                Node::Maybe(body) => {
                    self.spend(live.len())?;
                    let passed = live.clone();
                    self.backward(body, live, exits)?;
                    or(live, &passed);
                }
                Node::Loop { body, runs } => {
                    let behind = live.clone();
                    exits.push(behind.clone());
                    loop {
                        self.spend(3 * live.len())?;
                        let before = live.clone();
                        self.backward(body, live, exits)?;
                        // The end of a round leads to the next, and out.
                        let begin = live.clone();
                        or(live, &before);
                        if *live == before {
                            *live = begin;
                            break;
                        }
                    }
                    exits.pop();
                    if !runs {
                        or(live, &behind);
                    }
                }
            }
        }
        Some(())
    }

    /// Goes on from what happened before. `exits`: what may have happened where the loops around are left.
    fn forward(&mut self, nodes: &[Node], start: Ways, exits: &mut Vec<Option<Ways>>) -> Option<Ways> {
        let mut ways = start;
        for node in nodes {
            match node {
                Node::Touch(number) => self.touch(*number, &mut ways)?,
                Node::Barrier => ways.since = (0, 0),
                Node::Exit => {
                    self.spend(ways.last.len())?;
                    if let Some(exit) = exits.last_mut() {
                        match exit {
                            Some(known) => known.or(&ways),
                            None => *exit = Some(ways.clone()),
                        }
                    }
                }
                Node::Maybe(body) => {
                    self.spend(2 * ways.last.len())?;
                    let passed = ways.clone();
                    ways = self.forward(body, ways, exits)?;
                    ways.or(&passed);
                }
                Node::Loop { body, runs } => {
                    let before = ways.clone();
                    exits.push(None);
                    let mut behind;
                    loop {
                        self.spend(4 * ways.last.len())?;
                        behind = self.forward(body, ways.clone(), exits)?;
                        let mut again = ways.clone();
                        again.or(&behind);
                        if again == ways {
                            break;
                        }
                        ways = again;
                    }
                    ways = behind;
                    if let Some(exit) = exits.pop().flatten() {
                        ways.or(&exit);
                    }
                    if !runs {
                        ways.or(&before);
                    }
                }
            }
        }
        Some(ways)
    }

    fn touch(&mut self, number: usize, ways: &mut Ways) -> Option<()> {
        let touches = self.touches;
        let touch = &touches[number];
        self.spend(touch.places.len() + ways.last.len())?;
        let own = 1u64 << touch.site;
        let clashing = if touch.writes { ways.since.0 } else { ways.since.1 };
        self.groups.join_all(touch.site, clashing);
        ways.since.0 |= own;
        if touch.reads {
            for place in &touch.places {
                self.groups.join_all(touch.site, ways.last[*place as usize]);
            }
        }
        if touch.writes {
            ways.since.1 |= own;
            // What is still to be read, wherever it is.
            let live = self.live[number].iter().zip(&ways.last).filter(|(live, _)| **live);
            let in_use = live.fold(0, |all, (_, last)| all | last);
            self.groups.join_all(touch.site, in_use);
            for place in &touch.places {
                let last = &mut ways.last[*place as usize];
                *last = if touch.kills { own } else { *last | own };
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
