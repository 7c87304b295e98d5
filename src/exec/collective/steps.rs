//! What do the threads do one after another?

use super::{Asked, Collective, LANES, Moved, Waits};
use crate::domain::{Int, Lanes, Reason, Sight, ThreadSet, Unknown, Variation, gcd, hashed};
use crate::events::AccessOp;
use crate::exec::machine::Machine;
use crate::exec::tree::Together;
use crate::exec::value::{Pointer, Value};
use crate::ir::{Name, Scalar};
use crate::source::Span;

/// Algorithms, as `cub.h` numbers them.
pub(super) const COMMUTATIVE_ONLY: i64 = 0;
const RAKING: i64 = 1;
pub(super) const WARP_REDUCTIONS: i64 = 2;
const WARP_SCANS: i64 = 2;

/// How the items of so many threads lie that a warp rakes.
#[derive(Clone, Copy)]
struct Grid {
    /// How many items each lane has.
    segment: usize,
    /// How far apart those of two lanes are.
    pitch: usize,
}

impl Grid {
    fn of(items: usize) -> Grid {
        let segment = items.div_ceil(LANES);
        let is_padded = segment > 2 && segment.is_multiple_of(2);
        Grid { segment, pitch: segment + usize::from(is_padded) }
    }

    /// Whether the compiler may access the items of a lane as one.
    fn is_joined(self, items: &Pointer) -> bool {
        self.segment == 2 && items.pointee.constant_size().is_none_or(|size| size < 16)
    }

    fn place(self, item: usize) -> usize {
        item / self.segment * self.pitch + item % self.segment
    }
}

/// Which items a thread has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arranged {
    /// Neighbours.
    Blocked,
    /// As far apart as there are threads.
    Striped,
    /// The same within those of a warp.
    WarpStriped,
}

impl Arranged {
    fn item(self, threads: usize, count: usize, thread: usize, at: usize) -> usize {
        let lanes = threads.min(LANES);
        match self {
            Arranged::Blocked => thread * count + at,
            Arranged::Striped => at * threads + thread,
            Arranged::WarpStriped => thread / lanes * lanes * count + at * lanes + thread % lanes,
        }
    }
}

/// How items lie in memory that are moved so, if they are exchanged.
fn striped(moved: Moved) -> Option<Arranged> {
    match moved {
        Moved::Directly => None,
        Moved::Transposed => Some(Arranged::Striped),
        Moved::TransposedByWarp => Some(Arranged::WarpStriped),
    }
}

/// What is called, where, and why nothing is known of what is stored.
struct Call<'a> {
    name: &'a str,
    why: &'a Unknown,
    span: Span,
}

impl Machine<'_> {
    /// What a block does for a call.
    pub(super) fn work(
        &mut self,
        storage: &Pointer,
        collective: Collective,
        asked: &Asked,
        (name, why): (&str, &Unknown),
        span: Span,
    ) {
        let call = Call { name, why, span };
        let is_one_result = collective == Collective::BlockReduce(WARP_REDUCTIONS);
        self.combined(asked.of_class && !is_one_result, &call, |machine| {
            machine.take_steps(storage, collective, asked, &call);
        });
    }

    fn take_steps(&mut self, storage: &Pointer, collective: Collective, asked: &Asked, call: &Call<'_>) {
        match collective {
            Collective::BlockReduce(WARP_REDUCTIONS) => self.reduce_warps(storage, call),
            Collective::BlockScan(WARP_SCANS) if self.shape().threads().is_multiple_of(LANES) => {
                self.scan_warps(storage, asked, call);
            }
            Collective::BlockReduce(_) | Collective::BlockScan(_) if self.shape().threads() <= LANES => {}
            Collective::BlockReduce(algorithm) => self.rake_to_reduce(storage, algorithm, call),
            Collective::BlockScan(_) => self.rake_to_scan(storage, asked, call),
            Collective::BlockExchange(count) => {
                let ways = match call.name {
                    "BlockedToStriped" => [Arranged::Blocked, Arranged::Striped],
                    "StripedToBlocked" => [Arranged::Striped, Arranged::Blocked],
                    "BlockedToWarpStriped" => [Arranged::Blocked, Arranged::WarpStriped],
                    _ => [Arranged::WarpStriped, Arranged::Blocked],
                };
                self.exchange(storage, (count, ways), &["items"], call);
            }
            Collective::BlockLoad(count, moved) => {
                if let Some(striped) = striped(moved) {
                    self.exchange(storage, (count, [striped, Arranged::Blocked]), &["items"], call);
                }
            }
            Collective::BlockStore(count, moved) => {
                if let Some(striped) = striped(moved) {
                    let path = ["exchanged", "items"];
                    self.exchange(storage, (count, [Arranged::Blocked, striped]), &path, call);
                }
            }
            Collective::Hidden => {
                self.touch_unknown(storage, (AccessOp::Store, None), call.name, call.span);
                self.barrier(call.name, call.span, Waits::ForBlock(0));
                self.touch_unknown(storage, (AccessOp::Load, None), call.name, call.span);
            }
            Collective::WarpReduce | Collective::WarpScan => {}
        }
    }

    /// Each thread stores so many items that are arranged in one way, and reads those that are in the other.
    fn exchange(
        &mut self,
        storage: &Pointer,
        (count, [from, to]): (usize, [Arranged; 2]),
        path: &[&str],
        call: &Call<'_>,
    ) {
        let Some(items) = self.first_of(storage, path, call) else { return };
        let threads = self.shape().threads();
        let is_padded = count > 4 && count.is_power_of_two();
        let place = |way: Arranged, thread: usize, at: usize| {
            let item = way.item(threads, count, thread, at);
            if is_padded { item + item / LANES } else { item }
        };
        for at in 0..count {
            self.store_each(&items, |thread| place(from, thread, at), call);
        }
        if from == Arranged::WarpStriped || to == Arranged::WarpStriped {
            self.compiler.epoch += 1;
            self.warp_order(Together::Warp, true, call.span);
        } else {
            self.barrier(call.name, call.span, Waits::ForBlock(0));
        }
        for at in 0..count {
            self.load_each(&items, |thread| place(to, thread, at), call);
        }
    }

    fn reduce_warps(&mut self, storage: &Pointer, call: &Call<'_>) {
        let Some(results) = self.first_of(storage, &["warp_aggregates"], call) else { return };
        let threads = self.shape().threads();
        self.only(&self.those(|thread| thread.is_multiple_of(LANES)), call.span, |machine| {
            machine.store_each(&results, |thread| thread / LANES, call);
        });
        self.barrier(call.name, call.span, Waits::ForBlock(0));
        self.only(&self.those(|thread| thread == 0), call.span, |machine| {
            for warp in 1..threads.div_ceil(LANES) {
                machine.load_each(&results, |_| warp, call);
            }
        });
    }

    fn scan_warps(&mut self, storage: &Pointer, asked: &Asked, call: &Call<'_>) {
        let path = ["either", "scans", "warp_aggregates"];
        let Some(results) = self.first_of(storage, &path, call) else { return };
        let warps = self.shape().threads() / LANES;
        self.only(&self.those(|thread| thread % LANES == LANES - 1), call.span, |machine| {
            machine.store_each(&results, |thread| thread / LANES, call);
        });
        self.barrier(call.name, call.span, Waits::ForBlock(0));
        // That of the last warp is only a part of the result of all.
        let read = if asked.aggregate.is_some() { warps } else { warps - 1 };
        self.combined(read > 1, call, |machine| {
            for warp in 0..read {
                machine.load_each(&results, |_| warp, call);
            }
        });
    }

    fn rake_to_reduce(&mut self, storage: &Pointer, algorithm: i64, call: &Call<'_>) {
        let (path, kept): (&[&str], usize) = match algorithm {
            RAKING => (&["grid", "items"], 0),
            _ => (&["either", "others", "grid", "items"], LANES),
        };
        let Some(items) = self.first_of(storage, path, call) else { return };
        let grid = Grid::of(self.shape().threads() - kept);
        self.only(&self.those(|thread| thread >= kept), call.span, |machine| {
            machine.store_each(&items, |thread| grid.place(thread.saturating_sub(kept)), call);
        });
        self.barrier(call.name, call.span, Waits::ForBlock(0));
        self.only(&self.those(|thread| thread < LANES), call.span, |machine| {
            machine.combined(grid.is_joined(&items), call, |machine| {
                for at in 0..grid.segment {
                    machine.load_each(&items, |thread| thread * grid.pitch + at, call);
                }
            });
        });
    }

    fn rake_to_scan(&mut self, storage: &Pointer, asked: &Asked, call: &Call<'_>) {
        let Some(items) = self.first_of(storage, &["grid", "items"], call) else { return };
        let aggregate = match asked.aggregate {
            Some(_) => self.first_of(storage, &["block_aggregate"], call),
            None => None,
        };
        let grid = Grid::of(self.shape().threads());
        let teller = if asked.has_initial { 0 } else { LANES - 1 };
        self.store_each(&items, |thread| grid.place(thread), call);
        self.barrier(call.name, call.span, Waits::ForBlock(0));
        self.only(&self.those(|thread| thread < LANES), call.span, |machine| {
            machine.combined(grid.is_joined(&items), call, |machine| {
                for at in 0..grid.segment {
                    machine.load_each(&items, |thread| thread * grid.pitch + at, call);
                }
                for at in 0..grid.segment {
                    machine.store_each(&items, |thread| thread * grid.pitch + at, call);
                }
            });
            if let Some(aggregate) = &aggregate {
                machine.only(&machine.those(|thread| thread == teller), call.span, |machine| {
                    machine.store_each(aggregate, |_| 0, call);
                });
            }
        });
        self.barrier(call.name, call.span, Waits::ForBlock(0));
        self.load_each(&items, |thread| grid.place(thread), call);
        if let Some(aggregate) = &aggregate {
            self.load_each(aggregate, |_| 0, call);
        }
    }

    /// Accesses elements that lie side by side. The library reads some of them at once, and some again on their own,
    /// in ways that nobody can tell from its text.
    fn combined(&mut self, perhaps: bool, call: &Call<'_>, run: impl FnOnce(&mut Self)) {
        let words = "which neighbouring words the compiler accesses at once";
        let before = self.at_hand.combined.clone();
        if perhaps {
            self.at_hand.combined = Some(Unknown::new(Reason::Compiler, call.span, words));
        }
        run(self);
        self.at_hand.combined = before;
    }

    /// The first element of a member.
    fn first_of(&mut self, storage: &Pointer, path: &[&str], call: &Call<'_>) -> Option<Pointer> {
        let member = path
            .iter()
            .try_fold(storage.clone(), |at, name| self.member(at, &Name::from(*name), call.span).ok());
        member.map(Self::decay)
    }

    fn those(&self, test: impl Fn(usize) -> bool) -> ThreadSet {
        ThreadSet::collect(self.shape(), test)
    }

    /// Each thread stores to an element.
    fn store_each(&mut self, first: &Pointer, at: impl Fn(usize) -> usize, call: &Call<'_>) {
        let own = self.element(first, at, call);
        self.write(&own, Value::opaque(Variation::Maybe, call.why.clone()), call.span);
    }

    /// Each thread reads an element.
    fn load_each(&mut self, first: &Pointer, at: impl Fn(usize) -> usize, call: &Call<'_>) {
        let own = self.element(first, at, call);
        self.read(&own, call.span);
    }

    fn element(&mut self, first: &Pointer, at: impl Fn(usize) -> usize, call: &Call<'_>) -> Pointer {
        let shape = self.shape();
        let places: Vec<i64> = (0..shape.threads()).map(|thread| at(thread) as i64).collect();
        // The compiler sees of the number of a warp or lane no more than what it is multiplied by.
        let apart = places.iter().fold(0, |unit, place| gcd(unit, place.abs_diff(places[0])));
        let hidden = if apart > 0 { hashed("the number of a warp or lane") } else { 0 };
        let sight = Sight { hidden, given: 0, loose: apart };
        let lanes = Int { sight, ..Int::of(Lanes::close(places, shape), Vec::new()) };
        self.advance(first, &Value::Int(lanes, Scalar::I32), 1, call.span)
    }
}
