//! What do the collectives of CUB do in shared memory?
//!
//! CUB is a library of templates that is rarely at hand. What its commonest collectives do has not changed from
//! CUB 1.8 to 3.6, so it is run from here. `BlockReduce` and `BlockScan` are told their algorithms:
//!
//! | called by all | in shared memory |
//! |---|---|
//! | `BlockReduce` by warp reductions | lane 0 of each warp stores the result of its warp; `__syncthreads()`; thread 0 reads those of the other warps |
//! | `BlockReduce` by raking | each thread stores its item, but for the first warp if operands may change places; `__syncthreads()`; each lane of the first warp reads a segment of them |
//! | `BlockScan` by raking | each thread stores its item; `__syncthreads()`; each lane of the first warp reads a segment of them, and stores what came of it; `__syncthreads()`; each thread reads its own |
//! | `BlockScan` by warp scans | the last lane of each warp stores the result of its warp; `__syncthreads()`; all read those of all warps |
//! | `BlockExchange`, and `BlockLoad` and `BlockStore` that transpose | each thread stores its items, arranged in one way; `__syncthreads()`, or `__syncwarp()` if items stay in their warp; each thread reads items that are arranged in the other |
//! | `BlockDiscontinuity`, `BlockRadixSort` | something, before and after a `__syncthreads()` |
//! | `WarpReduce`, `WarpScan` of a power of two of lanes, and what a block of no more than a warp rakes | nothing: the lanes shuffle |
//!
//! So most storages that are used again need a barrier in between: thread 0 may still read the results of the warps.
//! But whoever scans by raking reads in the end what nobody else stores before the next barrier. Everything else
//! (blocks of other sizes, other classes, functions that a scan calls for its prefix) is not visible.

mod arguments;
mod steps;

use self::arguments::Asked;
use super::barriers::Waits;
use super::machine::{Machine, Mode};
use super::types::{Binding, FieldLayout, Layout, Ty};
use super::unseen::Callee;
use super::value::{Pointer, Value};
use crate::domain::{Origin, Reason, ThreadSet, Unknown, Variation};
use crate::events::{Assumption, SplitKind};
use crate::ir::{Expr, Path};
use crate::source::Span;

const LANES: usize = 32;

/// The most items of a thread whose accesses are run one by one.
const MOST_ITEMS: usize = 128;

/// What an object does that all threads of a block or of a warp call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collective {
    /// Its algorithm, as `cub.h` numbers it.
    BlockReduce(i64),
    BlockScan(i64),
    /// So many items of each thread.
    BlockExchange(usize),
    BlockLoad(usize, Moved),
    BlockStore(usize, Moved),
    /// Barriers, and accesses that are not followed.
    Hidden,
    WarpReduce,
    WarpScan,
}

/// How items go between memory and the threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    Directly,
    Transposed,
    /// Each warp for itself.
    TransposedByWarp,
}

impl Machine<'_> {
    /// The collective of a class, if it is followed: for the block that there is, with warps that shuffle.
    fn collective(&self, layout: &Layout) -> Option<(Collective, bool)> {
        let number = |name: &str| match layout.env.bindings.get(name) {
            Some(Binding::Value(Value::Int(number, _))) => number.as_constant(),
            _ => None,
        };
        let shuffles = |lanes: Option<i64>| lanes.is_some_and(|lanes| lanes > 0 && lanes.count_ones() == 1);
        let is_told = || {
            let told = ["X", "Y", "Z"].map(number);
            told == self.shape().dims.map(|size| Some(i64::from(size)))
        };
        let items =
            || number("Items").and_then(|items| usize::try_from(items).ok()).filter(|it| *it <= MOST_ITEMS);
        let threads = self.shape().threads();
        let is_whole = threads.is_multiple_of(LANES) || threads < LANES && threads.is_power_of_two();
        match layout.built_in()? {
            _ if self.mode != Mode::Device => None,
            "BlockReduce" => {
                let algorithm = number("Algorithm");
                let is_even = is_whole || algorithm == Some(steps::WARP_REDUCTIONS) && threads > LANES;
                let followed = algorithm.is_some_and(|it| (0..=2).contains(&it)) && is_told() && is_even;
                Some((Collective::BlockReduce(algorithm.unwrap_or(0)), followed))
            }
            "BlockScan" => {
                let algorithm = number("Algorithm");
                let followed = algorithm.is_some_and(|it| (0..=2).contains(&it)) && is_told() && is_whole;
                Some((Collective::BlockScan(algorithm.unwrap_or(0)), followed))
            }
            "BlockExchange" => {
                let items = items();
                let is_sliced = number("Sliced") != Some(0);
                let followed = is_told() && items.is_some() && !is_sliced;
                Some((Collective::BlockExchange(items.unwrap_or(0)), followed))
            }
            name @ ("BlockLoad" | "BlockStore") => {
                let moved = match number("Algorithm") {
                    Some(0..=2) => Some(Moved::Directly),
                    Some(3) => Some(Moved::Transposed),
                    Some(4) => Some(Moved::TransposedByWarp),
                    _ => None,
                };
                let how = items().zip(moved).filter(|_| is_told());
                let (items, moved) = how.unwrap_or((0, Moved::Directly));
                let collective = match name {
                    "BlockLoad" => Collective::BlockLoad(items, moved),
                    _ => Collective::BlockStore(items, moved),
                };
                Some((collective, how.is_some()))
            }
            "BlockRadixSort" | "BlockDiscontinuity" => Some((Collective::Hidden, is_told())),
            "WarpReduce" => Some((Collective::WarpReduce, shuffles(number("Lanes")))),
            "WarpScan" => Some((Collective::WarpScan, shuffles(number("Lanes")))),
            _ => None,
        }
    }

    /// A call of a method of such an object; `None` for any other object.
    pub(super) fn collective_method(
        &mut self,
        object: &Pointer,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Value> {
        let Ty::Record(layout) = &object.pointee else { return None };
        let (collective, is_followed) = self.collective(layout)?;
        let storage = self.member(object.clone(), &"storage".into(), span).ok()?;
        let item = match layout.env.bindings.get("T") {
            Some(Binding::Type(item)) => item.clone(),
            _ => Ty::Unknown("T".into()),
        };
        let asked = match is_followed && !args.iter().any(|arg| self.holds_address(arg)) {
            true => self.asked_of_collective(collective, &path.name, args, &item),
            false => None,
        };
        let Some(asked) = asked.map(|asked| asked.of_items(&item)) else {
            return Some(self.call_on_object(&storage, &path.name, args, (span, true)));
        };
        let why = Unknown::new(Reason::DataDependent, span, format!("the result of `{}`", path.name));
        for (at, arg) in args.iter().enumerate().filter(|(at, _)| !asked.is_result(*at)) {
            if asked.are_items(at) {
                continue;
            }
            let value = self.evaluate(arg);
            if let Value::Closure(lambda, frame) = &value {
                self.hand_over(lambda, *frame, Callee::Named(&path.name), span);
            }
            if at == 0 {
                self.move_items(collective, &value, (&path.name, span));
            }
        }
        let class = layout.built_in().unwrap_or_default();
        if let Some(words) = assumed_of(collective, class, &path.name, args.len()) {
            let assumed = self.state.assumptions.len();
            self.assume(Assumption::LibraryWorks { words: words.into() });
            self.work(&storage, collective, &asked, (&path.name, &why), span);
            self.assume_no_more_than(assumed);
        }
        self.store_results(args, &asked, (&path.name, &why), span);
        Some(match item {
            Ty::Scalar(scalar) if scalar.is_integer() => {
                self.own_integer(scalar, Origin::Own, Variation::Maybe, why)
            }
            _ => Value::opaque(Variation::Maybe, why),
        })
    }

    /// Whether an operator may access memory by an address that it holds.
    fn holds_address(&mut self, arg: &Expr) -> bool {
        let is_address = |field: &FieldLayout| field.reference || matches!(field.ty, Ty::Pointer(_));
        match self.type_of(arg) {
            Ty::Record(layout) => layout.built_in().is_none() && layout.fields.iter().any(is_address),
            _ => false,
        }
    }

    /// Runs what some of the threads do.
    fn only(&mut self, threads: &ThreadSet, span: Span, run: impl Fn(&mut Self)) {
        let before = self.state.active;
        self.around.next_split += 1;
        let (id, taken) = (self.around.next_split, before.and(threads));
        let kind = |_: &ThreadSet| SplitKind::Known;
        self.in_own_branch(true, |machine| {
            machine.run_side(id, span, true, taken, kind, &mut |machine, _| run(machine));
        });
        self.state.active = before;
    }
}

/// What is taken for granted of the library, for what accesses memory: the last argument of a reduction may be the
/// number of items.
fn assumed_of(collective: Collective, class: &str, name: &str, args: usize) -> Option<String> {
    let items = match collective {
        Collective::BlockReduce(algorithm) => {
            let all = if name == "Sum" { 1 } else { 2 };
            match algorithm {
                _ if args <= all => "",
                steps::WARP_REDUCTIONS => ", and there are items in every warp",
                _ => ", and there are items in every thread",
            }
        }
        Collective::BlockLoad(_, Moved::Directly) | Collective::BlockStore(_, Moved::Directly) => {
            return None;
        }
        Collective::WarpReduce | Collective::WarpScan => return None,
        _ => "",
    };
    Some(format!("`cub::{class}::{name}` works as in CUB 1.8 to 3.6{items}"))
}
