//! What do the collectives of CUB do in shared memory?
//!
//! CUB is a library of templates that is rarely at hand. What its commonest collectives do has not changed from
//! CUB 1.8 to 3.6 (`block_reduce_warp_reductions.cuh`, `warp_reduce_shfl.cuh`, `warp_scan_shfl.cuh`), so it is run
//! from here:
//!
//! | called by all | in shared memory |
//! |---|---|
//! | `BlockReduce(storage).Sum(x)`, `.Reduce(x, op)` | lane 0 of each warp stores the result of its warp; `__syncthreads()`; thread 0 reads those of the other warps |
//! | `WarpReduce`, `WarpScan` of a power of two of lanes | nothing: the lanes shuffle |
//!
//! So a storage that is used again needs a barrier in between: thread 0 may still read the results of the warps.
//! Everything else (other algorithms, `BlockScan`, `BlockRadixSort`) stays a class that is not visible.

use super::barriers::Waits;
use super::machine::{Machine, Mode};
use super::types::{Binding, FieldLayout, Layout, Ty};
use super::unseen::Callee;
use super::value::{Pointer, Value};
use crate::domain::{Int, Lanes, Origin, Reason, ThreadSet, Unknown, Variation};
use crate::events::{Assumption, SplitKind};
use crate::ir::{Expr, Path, Scalar};
use crate::source::Span;

const LANES: usize = 32;

/// What an object does that all threads of a block or of a warp call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collective {
    BlockReduce,
    WarpReduce,
    WarpScan,
}

impl Machine<'_> {
    /// The collective of a class, if it is followed: for the block that there is, with warps that shuffle.
    fn collective(&self, layout: &Layout) -> Option<(Collective, bool)> {
        let number = |name: &str| match layout.env.bindings.get(name) {
            Some(Binding::Value(Value::Int(number, _))) => number.as_constant(),
            _ => None,
        };
        let shuffles = |lanes: Option<i64>| lanes.is_some_and(|lanes| lanes > 0 && lanes.count_ones() == 1);
        match layout.built_in()? {
            _ if self.mode != Mode::Device => None,
            "BlockReduce" => {
                let told = ["X", "Y", "Z"].map(number);
                let threads = self.shape().threads();
                let is_told = told == self.shape().dims.map(|size| Some(i64::from(size)));
                Some((Collective::BlockReduce, is_told && (threads >= LANES || threads.is_power_of_two())))
            }
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
        let is_reduction = collective != Collective::BlockReduce || matches!(&*path.name, "Sum" | "Reduce");
        if !is_followed || !is_reduction || args.iter().any(|arg| self.holds_address(arg)) {
            return Some(self.call_on_object(&storage, &path.name, args, (span, true)));
        }
        let why = Unknown::new(Reason::DataDependent, span, format!("the result of `{}`", path.name));
        for (at, arg) in args.iter().enumerate() {
            if collective == Collective::WarpScan && self.is_result(&path.name, at, arg) {
                match self.locate(arg) {
                    Ok(place) => self.write(&place, Value::opaque(Variation::Maybe, why.clone()), arg.span),
                    Err(_) => self.change_referred(arg, Callee::Named(&path.name), span),
                }
            } else if let Value::Closure(lambda, frame) = self.evaluate(arg) {
                self.hand_over(&lambda, frame, Callee::Named(&path.name), span);
            }
        }
        if collective == Collective::BlockReduce {
            let results = self.member(storage, &"warp_aggregates".into(), span).ok()?;
            let assumed = self.state.assumptions.len();
            self.assume(Assumption::LibraryWorks { words: assumed_of(&path.name, args.len()).into() });
            self.reduce_block(&Self::decay(results), &path.name, &why, span);
            self.assume_no_more_than(assumed);
        }
        Some(match layout.env.bindings.get("T") {
            Some(Binding::Type(Ty::Scalar(scalar))) if scalar.is_integer() => {
                self.own_integer(*scalar, Origin::Own, Variation::Maybe, why)
            }
            _ => Value::opaque(Variation::Maybe, why),
        })
    }

    /// Whether a scan stores a result in an argument: what it makes of each item, and of all.
    fn is_result(&mut self, name: &str, at: usize, arg: &Expr) -> bool {
        let may_be = match name {
            "InclusiveSum" | "ExclusiveSum" => at >= 1,
            // The third is an operator or a value to begin with.
            "InclusiveScan" | "ExclusiveScan" => at == 1 || at >= 3,
            "Scan" => at == 1 || at == 2,
            _ => false,
        };
        may_be && !matches!(self.type_of(arg), Ty::Record(_)) && !self.is_lambda(arg)
    }

    /// Whether an operator may access memory by an address that it holds.
    fn holds_address(&mut self, arg: &Expr) -> bool {
        let is_address = |field: &FieldLayout| field.reference || matches!(field.ty, Ty::Pointer(_));
        match self.type_of(arg) {
            Ty::Record(layout) => layout.built_in().is_none() && layout.fields.iter().any(is_address),
            _ => false,
        }
    }

    /// What a block does to reduce: `results` points to the first of the results of warps.
    fn reduce_block(&mut self, results: &Pointer, name: &str, why: &Unknown, span: Span) {
        let shape = self.shape();
        let warp_of = |thread: usize| (thread / LANES) as i64;
        let warps = Lanes::close((0..shape.threads()).map(warp_of).collect(), shape);
        let warp = Value::Int(Int::of(warps, Vec::new()), Scalar::I32);
        self.only(&ThreadSet::collect(shape, |thread| thread % LANES == 0), span, |machine| {
            let own = machine.advance(results, &warp, 1, span);
            machine.write(&own, Value::opaque(Variation::Maybe, why.clone()), span);
        });
        self.barrier(name, span, Waits::ForBlock(0));
        self.only(&ThreadSet::collect(shape, |thread| thread == 0), span, |machine| {
            for warp in 1..shape.threads().div_ceil(LANES) {
                let other = machine.advance(results, &Value::int(warp as i64), 1, span);
                machine.read(&other, span);
            }
        });
    }

    /// Runs what some of the threads do.
    fn only(&mut self, threads: &ThreadSet, span: Span, run: impl Fn(&mut Self)) {
        let before = self.state.active;
        self.around.next_split += 1;
        let (id, taken) = (self.around.next_split, before.and(threads));
        let kind = |_: &ThreadSet| SplitKind::Known;
        self.in_branch(true, |machine| {
            machine.run_side(id, span, true, taken, kind, &mut |machine, _| run(machine));
        });
        self.state.active = before;
    }
}

/// What is taken for granted of a reduction with so many arguments: the last may be the number of items.
fn assumed_of(name: &str, args: usize) -> String {
    let all = if name == "Sum" { 1 } else { 2 };
    let items = if args > all { ", and there are items in every warp" } else { "" };
    format!("`cub::BlockReduce::{name}` works as in CUB 1.8 to 3.6{items}")
}
