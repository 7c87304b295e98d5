use super::*;
use crate::domain::{Lanes, Shape, ThreadSet};
use crate::events::{AccessEvent, Branches, Early, LoopCode, Moment, Stored, Tiles};
use crate::source::FileId;

/// A loop that stays one.
const ROLLED: LoopCode = LoopCode::Loop { rounds: 4, may_be_written_out: false };

const SPAN: Span = Span { file: FileId(0), start: 0, end: 1, nth: 0 };
const SHAPE: Shape = Shape { dims: [128, 1, 1] };

/// A trace of one array with a store of 4 bytes, and its requests.
struct Run {
    requests: Requests,
    trace: Trace,
    world: World,
    site: usize,
    region: u32,
    within: u32,
    branch: Option<u32>,
}

impl Run {
    fn new() -> Run {
        Run::of(AccessOp::Store)
    }

    fn of(op: AccessOp) -> Run {
        let (mut requests, mut trace) = (Requests::default(), Trace::default());
        trace.arrays.push(Array {
            name: "s".into(),
            name_span: SPAN,
            span: SPAN,
            dimensions: vec![Some(4096)],
            dimension_spans: Vec::new(),
            element_bytes: Some(4),
            element: "float".into(),
            of_numbers: true,
            of_vectors: true,
            dynamic: false,
            global: false,
            restrict: false,
            alignment: 4,
            flattened: false,
            strays: Vec::new(),
            declared: None,
        });
        let key = (SPAN, op, 0, Some(4));
        let access = || Access {
            bytes: Some(4),
            scalar: true,
            tiles: Tiles { tiles_fit: true, ..Tiles::default() },
            ..Access::new(SPAN, op, 0)
        };
        let site = requests.site(&mut trace.accesses, key, None, true, access);
        Run { requests, trace, world: World::new(SHAPE), site, region: 0, within: 0, branch: None }
    }

    /// Threads access `4 * x + from`.
    fn happens(&mut self, from: i64, threads: ThreadSet, is_kept: bool) {
        self.happens_since(from, threads, (is_kept, None));
    }

    /// The same; `kept_since`: from which region on the code has to be straight for the value to be in a register.
    fn happens_since(&mut self, from: i64, threads: ThreadSet, (is_kept, kept_since): (bool, Option<u32>)) {
        let event = AccessEvent {
            access: self.site,
            path: 0,
            object: 1,
            offset: Some(Int::known(Lanes::Closed([from, 4, 0, 0]))),
            threads,
            is_sure: true,
            is_chosen: false,
            is_passable: false,
            branches: Branches::default(),
            assumptions: Arc::default(),
            may_be_cut_short: false,
            stored: Stored::Unknown,
            member: None,
            tile: None,
        };
        let moment = Moment {
            epoch: 0,
            region: self.region,
            iteration: 0,
            stretch: 0,
            branches: &[],
            skips: 0,
            calls: 0,
            turn: 0,
            within: self.within,
        };
        let occurrence = Occurrence {
            event: &event,
            unknown: None,
            partly: Partly::Unknown,
            doubt: None,
            besides: &[],
            source: None,
            lines_apart: None,
            outside: None,
            is_at_most: false,
            is_kept,
            kept_since: kept_since.map(|since| (since, None)),
            times: 1,
            calls: &[],
            branch: self.branch,
            within: None,
            moment,
        };
        let numbers = Numbers { world: &self.world, split: &[] };
        self.requests.take(&occurrence, &mut self.trace, &numbers);
    }

    /// How often each distinct request happens.
    fn counts(&self) -> Vec<u64> {
        self.trace.accesses[self.site].patterns.iter().map(|pattern| pattern.count).collect()
    }
}

#[test]
fn equal_requests_of_warps_are_counted_once() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    // A warp takes 128 bytes: every second one begins at the same place of a window of 256.
    run.happens(0, all, false);
    assert_eq!(run.counts(), [2, 2]);
    run.happens(256, all, false);
    assert_eq!(run.counts(), [4, 4]);
    run.happens(4, all, false);
    assert_eq!(run.counts(), [4, 4, 2, 2]);
}

#[test]
fn what_is_in_a_register_makes_no_request() {
    let mut run = Run::new();
    run.happens(0, ThreadSet::all(SHAPE), true);
    assert_eq!((run.counts(), run.requests.accesses()), (Vec::new(), 0));
    assert_eq!(run.trace.accesses[run.site].kept, 1);
}

#[test]
fn requests_are_taken_back_to_a_mark() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    let (mark, before) = (run.requests.mark(), format!("{:?}", run.trace.accesses));
    run.happens(0, all, false);
    assert!(run.requests.repeats_since(&mark));
    run.happens(8, ThreadSet::collect(SHAPE, |thread| thread < 48), false);
    run.happens(0, all, true);
    assert_ne!(format!("{:?}", run.trace.accesses), before);
    run.requests.rollback(&mark, &mut run.trace.accesses);
    assert_eq!(format!("{:?}", run.trace.accesses), before);
    // A request that was taken back is found as new again.
    run.happens(8, all, false);
    assert_eq!(run.counts(), [2, 2, 2, 2]);
}

#[test]
fn rounds_in_a_row_are_counted_as_one() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    let (mark, before) = (run.requests.mark(), format!("{:?}", run.trace.accesses));
    for _ in 0..2 {
        run.happens(0, all, false);
        run.happens(8, all, false);
        run.happens(8, all, false);
    }
    assert_eq!(run.counts(), [6, 6, 8, 8]);
    run.requests.share_out(&mark, (SPAN, 2), &mut run.trace.accesses);
    assert_eq!(run.counts(), [4, 4, 4, 4]);
    run.requests.rollback(&mark, &mut run.trace.accesses);
    assert_eq!(format!("{:?}", run.trace.accesses), before);
}

#[test]
fn what_does_not_come_out_even_stays() {
    let mut run = Run::new();
    let (all, mark) = (ThreadSet::all(SHAPE), run.requests.mark());
    run.happens(0, all, false);
    run.happens(0, all, false);
    run.happens(8, all, false);
    run.requests.share_out(&mark, (SPAN, 2), &mut run.trace.accesses);
    assert_eq!(run.counts(), [4, 4, 2, 2]);
    // The site says so.
    assert_eq!(run.trace.accesses[0].rounds, [(SPAN, 2)]);
    run.requests.rollback(&mark, &mut run.trace.accesses);
    assert!(run.trace.accesses[0].rounds.is_empty() && run.counts().is_empty());
}

#[test]
fn a_store_that_is_left_out_is_counted_no_longer() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    run.happens(0, all, false);
    let (mark, before) = (run.requests.mark(), format!("{:?}", run.trace.accesses));
    run.requests.leave_out(0, false, &mut run.trace.accesses);
    assert_eq!((run.counts(), run.trace.accesses[run.site].kept), (vec![2, 2], 1));
    run.requests.leave_out(1, false, &mut run.trace.accesses);
    run.happens(0, all, false);
    // What is left is the third.
    assert_eq!(run.counts(), [2, 2]);
    assert_eq!(run.trace.accesses[run.site].patterns[0].first.position, 3);
    run.requests.rollback(&mark, &mut run.trace.accesses);
    assert_eq!(format!("{:?}", run.trace.accesses), before);
    assert!(run.requests.take_left_out().stores.is_empty());
}

#[test]
fn what_a_round_reads_again_is_a_request_until_the_loop_is_known_to_be_written_out() {
    let mut run = Run::of(AccessOp::Load);
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    let (begin, before) = (run.requests.mark(), format!("{:?}", run.trace.accesses));
    // Of what was read before the loop around, this loop decides nothing.
    run.happens_since(8, all, (false, Some(2)));
    run.happens_since(0, all, (false, Some(3)));
    run.happens_since(0, all, (false, Some(4)));
    assert_eq!(run.counts(), [6, 6, 2, 2]);
    let inner = run.requests.mark();
    run.requests.settle_kept(&inner, 3, LoopCode::WrittenOut(Early::Surely), &mut run.trace.accesses);
    assert_eq!(run.counts(), [6, 6, 2, 2], "none of it was read in that loop");
    run.requests.settle_kept(&begin, 3, LoopCode::WrittenOut(Early::Surely), &mut run.trace.accesses);
    assert_eq!((run.counts(), run.trace.accesses[run.site].kept), (vec![2, 2, 2, 2], 2));
    run.requests.settle_kept(&begin, 2, ROLLED, &mut run.trace.accesses);
    run.requests.settle_kept(&begin, 0, LoopCode::WrittenOut(Early::Surely), &mut run.trace.accesses);
    assert_eq!(run.counts(), [2, 2, 2, 2], "the loop around stays one");
    run.requests.rollback(&begin, &mut run.trace.accesses);
    assert_eq!(format!("{:?}", run.trace.accesses), before);
    assert!(run.requests.take_left_out().loads.is_empty());
}

#[test]
fn a_store_before_a_loop_that_stays_one_is_made() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    run.happens(0, all, false);
    run.requests.leave_out(0, true, &mut run.trace.accesses);
    run.happens(0, all, false);
    run.requests.leave_out(1, true, &mut run.trace.accesses);
    assert_eq!(run.counts(), [2, 2]);
    let (mark, before) = (run.requests.mark(), format!("{:?}", run.trace.accesses));
    // The loop began after the first store.
    run.requests.make_before(1, &mut run.trace.accesses);
    run.requests.make_before(1, &mut run.trace.accesses);
    assert_eq!((run.counts(), run.trace.accesses[run.site].kept), (vec![4, 4], 1));
    assert_eq!(run.trace.accesses[run.site].patterns[0].first.position, 1);
    run.requests.rollback(&mark, &mut run.trace.accesses);
    assert_eq!(format!("{:?}", run.trace.accesses), before);
    assert_eq!(run.requests.take_left_out().stores, [1, 2]);
}

#[test]
fn of_two_sides_the_one_with_more_counts() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    let first = run.requests.mark();
    run.happens(0, all, false);
    run.happens(0, all, false);
    let second = run.requests.mark();
    run.happens(0, all, false);
    run.requests.keep_most([&first, &second], &mut run.trace.accesses);
    assert_eq!(run.counts(), [4, 4]);
    assert!(!run.trace.accesses[0].may_be_fewer());
    let third = run.requests.mark();
    for _ in 0..3 {
        run.happens(0, all, false);
    }
    run.requests.keep_most([&first, &third], &mut run.trace.accesses);
    assert_eq!(run.counts(), [6, 6]);
    // What only one of two sides asks for is counted with what only the other does.
    let fourth = run.requests.mark();
    run.happens(8, all, false);
    run.requests.keep_most([&first, &fourth], &mut run.trace.accesses);
    assert_eq!(run.counts(), [6, 6, 2, 2]);
    assert!(run.trace.accesses[0].may_be_fewer());
    run.requests.rollback(&first, &mut run.trace.accesses);
    assert!(!run.trace.accesses[0].may_be_fewer() && run.counts().is_empty());
}

#[test]
fn what_banks_do_not_tell_apart_is_another_request_of_another_round() {
    let mut run = Run::new();
    let all = ThreadSet::all(SHAPE);
    run.happens(0, all, false);
    run.within = 1;
    run.happens(8, all, false);
    // The first of this round begins where the second of the last did.
    (run.region, run.within) = (1, 0);
    run.happens(8, all, false);
    assert_eq!(run.counts(), [2, 2, 2, 2, 2, 2]);
    // What the other side of a condition asks for is the same, in whatever order.
    (run.region, run.branch) = (2, Some(1));
    run.happens(0, all, false);
    run.within = 1;
    run.happens(0, all, false);
    assert_eq!(run.counts(), [6, 6, 2, 2, 2, 2]);
}
