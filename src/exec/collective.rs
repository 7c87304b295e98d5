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
use super::types::{Binding, Layout, Ty};
use super::unseen::Callee;
use super::value::{Pointer, Value};
use crate::domain::{Int, Lanes, Origin, Reason, ThreadSet, Unknown, Variation};
use crate::events::{Assumption, SplitKind};
use crate::ir::{Expr, Path, Scalar};
use crate::source::{FileId, Span};

const LANES: usize = 32;

/// Whose collective an object is.
#[derive(Clone, Copy)]
enum Collective {
    Block,
    Warp,
}

impl Machine<'_> {
    fn collective(&self, layout: &Layout) -> Option<Collective> {
        let record = layout.record.as_ref().filter(|it| it.extent.file == FileId::NO_TEXT)?;
        match &*record.name {
            _ if self.mode != Mode::Device => None,
            "BlockReduce" => Some(Collective::Block),
            "WarpReduce" | "WarpScan" => Some(Collective::Warp),
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
        let collective = self.collective(layout)?;
        let storage = self.member(object.clone(), &"storage".into(), span).ok()?;
        let results = match collective {
            Collective::Block
                if !matches!(&*path.name, "Sum" | "Reduce") || !self.is_told_of_block(layout) =>
            {
                return Some(self.call_on_object(&storage, &path.name, args, (span, true)));
            }
            Collective::Block => Some(self.member(storage, &"warp_aggregates".into(), span).ok()?),
            Collective::Warp => None,
        };
        args.iter().for_each(|arg| self.take_operand(arg, &path.name, span));
        let why = Unknown::new(Reason::DataDependent, span, format!("the result of `{}`", path.name));
        if let Some(results) = results {
            let assumed = self.state.assumptions.len();
            let words = format!("`cub::BlockReduce::{}` works as in CUB 1.8 to 3.6", path.name);
            self.assume(Assumption::LibraryWorks { words: words.into() });
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

    /// Whether the class is told of the block that there is, and reduces warps by shuffles.
    fn is_told_of_block(&self, layout: &Layout) -> bool {
        let number = |name: &str| match layout.env.bindings.get(name) {
            Some(Binding::Value(Value::Int(number, _))) => number.as_constant(),
            _ => None,
        };
        let told = ["X", "Y", "Z"].map(number);
        let threads = self.shape().threads();
        told == self.shape().dims.map(|size| Some(i64::from(size)))
            && (threads >= LANES || threads.is_power_of_two())
    }

    /// A number of items, an operator, which may be called, or a variable for a result.
    fn take_operand(&mut self, arg: &Expr, name: &str, span: Span) {
        let callee = Callee::Named(name);
        match self.evaluate(arg) {
            Value::Closure(lambda, frame) => self.hand_over(&lambda, frame, callee, span),
            _ => self.change_referred(arg, callee, span),
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
