//! Which accesses are of one view?

use super::*;

const PLACES: usize = 4;

fn write(site: usize) -> Touch {
    Touch { site, places: (0..PLACES as u32).collect(), reads: false, writes: true, kills: true }
}

fn read(site: usize) -> Touch {
    Touch { site, places: (0..PLACES as u32).collect(), reads: true, writes: false, kills: false }
}

/// By site: the first site of its view.
fn roots(touches: &[Touch], nodes: &[Node]) -> Vec<usize> {
    let sites = touches.iter().map(|touch| touch.site).max().unwrap_or(0) + 1;
    let mut groups = Groups { parents: (0..sites).collect() };
    let live = vec![Vec::new(); touches.len()];
    let mut flow = Flow { touches, live, steps: MOST_STEPS, groups: &mut groups };
    flow.backward(nodes, &mut vec![false; PLACES], &mut Vec::new()).unwrap();
    flow.forward(nodes, Ways { last: vec![0; PLACES], since: (0, 0) }, &mut Vec::new()).unwrap();
    (0..sites).map(|site| groups.root(site)).collect()
}

/// Accesses in this order, a barrier behind each.
fn in_turn(sites: &[usize]) -> Vec<Node> {
    sites.iter().flat_map(|site| [Node::Touch(*site), Node::Barrier]).collect()
}

#[test]
fn what_is_written_anew_before_it_is_read_is_a_view() {
    let touches = [write(0), read(1), write(2), read(3)];
    assert_eq!(roots(&touches, &in_turn(&[0, 1, 2, 3])), [0, 0, 2, 2]);
    let around = vec![Node::Loop { body: in_turn(&[0, 1, 2, 3]), runs: true }];
    assert_eq!(roots(&touches, &around), [0, 0, 2, 2]);
}

#[test]
fn what_one_writes_and_another_reads_is_one_view() {
    assert_eq!(roots(&[write(0), write(1), read(2)], &in_turn(&[0, 1, 2])), [0, 1, 1]);
    // Not all of it is written anew.
    let some = Touch { places: vec![0, 1], ..write(1) };
    assert_eq!(roots(&[write(0), some, read(2)], &in_turn(&[0, 1, 2])), [0, 0, 0]);
    let perhaps = Touch { kills: false, ..write(1) };
    assert_eq!(roots(&[write(0), perhaps, read(2)], &in_turn(&[0, 1, 2])), [0, 0, 0]);
}

#[test]
fn a_branch_that_may_be_passed_by_writes_nothing_for_sure() {
    let touches = [write(0), write(1), read(2)];
    let mut nodes = in_turn(&[0]);
    nodes.push(Node::Maybe(in_turn(&[1])));
    nodes.extend(in_turn(&[2]));
    assert_eq!(roots(&touches, &nodes), [0, 0, 0]);
    // Within the branch it does.
    let nodes = vec![Node::Touch(0), Node::Barrier, Node::Maybe(in_turn(&[1, 2]))];
    assert_eq!(roots(&touches, &nodes), [0, 1, 1]);
}

#[test]
fn what_no_barrier_keeps_apart_is_one_view() {
    let touches = [write(0), read(1), write(2), read(3)];
    let mut nodes = in_turn(&[0]);
    nodes.push(Node::Touch(1));
    nodes.extend(in_turn(&[2, 3]));
    assert_eq!(roots(&touches, &nodes), [0, 0, 0, 0]);
    // From the end of a round to the beginning of the next.
    let mut body = in_turn(&[0, 1, 2]);
    body.push(Node::Touch(3));
    assert_eq!(roots(&touches, &[Node::Loop { body, runs: true }]), [0, 0, 0, 0]);
}

#[test]
fn what_is_still_to_be_read_is_of_the_view_that_writes_elsewhere_meanwhile() {
    let low = |touch: Touch| Touch { places: vec![0, 1], ..touch };
    let high = |touch: Touch| Touch { places: vec![2, 3], ..touch };
    let touches = [low(write(0)), high(write(1)), high(read(2)), low(read(3))];
    assert_eq!(roots(&touches, &in_turn(&[0, 1, 2, 3])), [0, 0, 0, 0]);
    assert_eq!(roots(&touches, &in_turn(&[0, 3, 1, 2])), [0, 1, 1, 0]);
}

#[test]
fn a_value_goes_around_a_loop() {
    // Read before it is written anew: what the round before wrote.
    let touches = [write(0), write(1), read(2)];
    let body = in_turn(&[2, 1]);
    let mut nodes = in_turn(&[0]);
    nodes.push(Node::Loop { body, runs: true });
    assert_eq!(roots(&touches, &nodes), [0, 0, 0]);
    // A loop that may not run leaves what was there.
    let mut nodes = in_turn(&[0]);
    nodes.push(Node::Loop { body: in_turn(&[1]), runs: false });
    nodes.extend(in_turn(&[2]));
    assert_eq!(roots(&touches, &nodes), [0, 0, 0]);
    let mut nodes = in_turn(&[0]);
    nodes.push(Node::Loop { body: in_turn(&[1]), runs: true });
    nodes.extend(in_turn(&[2]));
    assert_eq!(roots(&touches, &nodes), [0, 1, 1]);
}
