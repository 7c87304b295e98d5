//! What do the functions that CUDA defines do, as far as addresses and barriers go?

use super::barriers::Waits;
use super::machine::{Machine, Mode};
use super::maths::Meant;
use super::tree::Together;
use super::types::Ty;
use super::unseen::unseen;
use super::value::{Group, Offset, Pointer, Step, Target, Value};
use crate::builtins::{self, Kind};
use crate::codegen::{atomics, sight};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::{AccessOp, Atomic, Operation, Orderer, Scope, Seen};
use crate::ir::namespace::{Named, is_where_said, meant};
use crate::ir::{Expr, ExprKind, Function, Path, Scalar};
use crate::slice::is_own_place;
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Runs a function that CUDA defines; `None` when the name is not one.
    pub(crate) fn intrinsic(&mut self, expr: &Expr, path: &Path, args: &[Expr], used: bool) -> Option<Value> {
        let name = &*path.name;
        let span = expr.span;
        let kind = builtins::kind(name)?;
        // The program may have one of its own: `ceil(n, 32)`.
        let maths = self.maths_meant(path, args);
        match maths {
            Some(Meant::Own) => return None,
            Some(Meant::Either) => return Some(self.call_either(path, args, span)),
            Some(Meant::Cuda) if kind == Kind::Arithmetic && !self.program.functions(name).is_empty() => {
                return Some(self.computed_by_cuda(name, args, span));
            }
            Some(Meant::Cuda) | None => {}
        }
        if maths.is_none() && self.is_of_program(kind, path, args) {
            return None;
        }
        if kind == Kind::AtomicFence && self.mode == Mode::Device && self.program.functions(name).is_empty() {
            return Some(self.atomic_fence(args, span));
        }
        if matches!(kind, Kind::InitBarrier | Kind::MakePipeline | Kind::CopyInStage | Kind::StageWait) {
            let is_seen = self.mode == Mode::Host || !self.program.functions(name).is_empty();
            return if is_seen { None } else { self.with_sync_object(kind, path, args, span) };
        }
        if matches!(kind, Kind::BlockBarrier | Kind::BlockVote) {
            for arg in args {
                self.evaluate(arg);
            }
            self.barrier(name, span, Waits::ForBlock(0));
            // The combined value is the same for every thread of the block.
            return Some(match kind {
                Kind::BlockBarrier => Value::Undefined,
                _ => self.uniform_unknown(name),
            });
        }
        if let Some(operation) = name.strip_prefix("atomic")
            && operation.starts_with(|first: char| first.is_ascii_uppercase())
            && self.is_cuda_atomic(path, operation, args)
        {
            let value = self.atomic(operation, args, used && !self.is_dead(expr), span);
            // Threads may wait for what an atomic tells them.
            if used {
                self.orders_by_memory(Orderer::Atomic(Scope::of(name)), span);
            }
            return Some(value);
        }
        match kind {
            Kind::Assert
            | Kind::ProgramEnd
            | Kind::Trap
            | Kind::WarpBarrier
            | Kind::Fence
            | Kind::Print
            | Kind::Nothing
            | Kind::NamedBarrier
            | Kind::GroupBarrier
            | Kind::CopyGroup
            | Kind::CopyWait
            | Kind::Launch
            | Kind::Shuffle
            | Kind::Vote
            | Kind::FragmentProduct => self.intrinsic_that_orders(kind, name, args, expr),
            Kind::CachedLoad
            | Kind::SharedAddress
            | Kind::AsyncCopy
            | Kind::FragmentLoad
            | Kind::FragmentStore
            | Kind::Results(_)
            | Kind::Swap => self.intrinsic_on_memory(kind, path, args, span),
            Kind::Partition => self.partition(path, args),
            _ => self.intrinsic_that_computes(kind, name, args, span),
        }
    }

    /// Whether a function that computes, waits, or names a group is one of the program.
    fn is_of_program(&mut self, kind: Kind, path: &Path, args: &[Expr]) -> bool {
        let may_be = matches!(
            kind,
            Kind::Same
                | Kind::Absolute
                | Kind::Bits
                | Kind::FloorToInt
                | Kind::Ceiling
                | Kind::Floor
                | Kind::Vector
        );
        let may_wait = matches!(
            kind,
            Kind::BlockBarrier | Kind::WarpBarrier | Kind::GroupBarrier | Kind::ThisBlock | Kind::ThisGrid
        );
        if may_wait && !self.program.functions(&path.name).is_empty() {
            let from = self.namespace();
            let chosen = self.choose_functions(path, args);
            // What is a member is found in its class, in one around or in a base.
            let is_meant =
                |it: &Arc<Function>| it.owner.is_some() || is_where_said(it.namespace(), path, &from);
            return chosen.iter().any(is_meant);
        }
        may_be
            && !self.program.functions(&path.name).is_empty()
            && !self.choose_functions(path, args).is_empty()
    }

    /// What CUDA's function makes of its arguments, which is not followed.
    fn computed_by_cuda(&mut self, name: &str, args: &[Expr], span: Span) -> Value {
        let mut why = None;
        let mut variation = Variation::Uniform;
        for arg in args {
            let value = self.evaluate(arg);
            variation = variation.max(value.variation());
            if let Value::Opaque(_, given, _) = &value {
                why.get_or_insert_with(|| given.clone());
            }
        }
        // Equal results for different arguments are possible: not surely varying.
        let variation = if variation == Variation::Varying { Variation::Maybe } else { variation };
        Value::opaque(variation, why.unwrap_or_else(|| unseen(name, span)))
    }

    /// What brings threads together, orders what they do, or ends them.
    fn intrinsic_that_orders(&mut self, kind: Kind, name: &str, args: &[Expr], expr: &Expr) -> Option<Value> {
        let span = expr.span;
        match kind {
            Kind::Assert if self.mode == Mode::Host && !args.is_empty() => {
                self.host_assert(&args[0], span);
                Some(Value::Undefined)
            }
            Kind::ProgramEnd if self.mode == Mode::Host && self.program.functions(name).is_empty() => {
                self.end_program();
                Some(Value::Undefined)
            }
            Kind::Trap if self.mode == Mode::Device && args.is_empty() => {
                self.end_threads();
                Some(Value::Undefined)
            }
            // A build with `NDEBUG` has nothing of it.
            Kind::Assert if args.iter().any(|arg| self.may_hold_barrier(arg)) => {
                self.may_access(span);
                self.may_order(span);
                self.may_wait("an assertion, which some builds leave out,", span);
                Some(Value::Undefined)
            }
            Kind::WarpBarrier | Kind::Fence | Kind::Print | Kind::Assert | Kind::Nothing => {
                // Nothing is kept in registers or joined over a fence.
                self.compiler.epoch += u32::from(matches!(kind, Kind::WarpBarrier | Kind::Fence));
                if kind == Kind::Fence {
                    self.orders_by_memory(Orderer::Fence(Scope::of(name)), span);
                }
                // Arguments of `printf` and `assert` may read shared memory.
                let mut values = Vec::with_capacity(args.len());
                for arg in args.iter().filter(|arg| kind != Kind::Print || !is_own_place(arg)) {
                    values.push(self.evaluate(arg));
                }
                if kind == Kind::WarpBarrier {
                    let lanes = match values.first() {
                        Some(mask) => self.lanes_named(mask, span),
                        None => Together::Warp,
                    };
                    self.warp_order(lanes, true, span);
                    self.lane_op(name, args, &values, expr);
                }
                if kind == Kind::Assert || name == "__builtin_assume" {
                    values.first().into_iter().for_each(|claim| self.note_claim(claim, span));
                }
                if kind == Kind::Print {
                    self.trace.tree.set_watched();
                    self.clobber();
                }
                Some(Value::Undefined)
            }
            Kind::NamedBarrier if self.program.functions(name).is_empty() => {
                let values: Vec<Value> = args.iter().map(|arg| self.evaluate(arg)).collect();
                let mut known = values.iter().map(|it| self.number(it, span).ok()?.as_constant());
                let waits = match (known.next().flatten(), known.next()) {
                    (Some(number), None) => Waits::ForBlock(number),
                    (number, count) => {
                        Waits::For { number: number.unwrap_or(-1), count: count.flatten().unwrap_or(-1) }
                    }
                };
                self.barrier(name, span, waits);
                Some(Value::Undefined)
            }
            Kind::GroupBarrier if args.len() == 1 => {
                self.group_of(&args[0]).map(|group| self.group_sync(group, span))
            }
            Kind::CopyGroup | Kind::CopyWait if self.program.functions(name).is_empty() => {
                let but = args.first().and_then(|but| self.constant(but));
                self.copy_order(kind == Kind::CopyWait, but, span);
                Some(Value::Undefined)
            }
            Kind::Launch => {
                self.launch_call(name, args, span);
                Some(Value::int(0))
            }
            Kind::Shuffle | Kind::Vote => Some(self.between_lanes(kind, name, args, expr)),
            Kind::FragmentProduct if self.program.functions(name).is_empty() => {
                args.iter().for_each(|arg| self.effects(arg));
                self.warp_order(Together::Warp, false, span);
                Some(Value::Undefined)
            }
            _ => None,
        }
    }

    /// What reads or writes memory, or makes an address of a pointer.
    fn intrinsic_on_memory(&mut self, kind: Kind, path: &Path, args: &[Expr], span: Span) -> Option<Value> {
        let name = &*path.name;
        match kind {
            Kind::CachedLoad if args.len() == 1 => Some(match self.evaluate(&args[0]) {
                Value::Pointer(pointer) => self.read(&pointer, span),
                other => {
                    self.reads_unrecorded(span);
                    Value::opaque(other.variation().min(Variation::Maybe), unseen(name, span))
                }
            }),
            Kind::SharedAddress if args.len() == 1 => {
                let value = self.evaluate(&args[0]);
                if let Value::Pointer(pointer) = &value {
                    self.note_flattened(pointer);
                }
                Some(self.convert(value, &Ty::Scalar(Scalar::U64)))
            }
            Kind::Results(count) if args.len() > count && self.program.functions(name).is_empty() => {
                Some(self.several_results(name, args.split_at(count), span))
            }
            Kind::Swap if args.len() == 2 && self.is_of_library(path) => Some(self.swap(args, span)),
            Kind::AsyncCopy if args.len() >= 3 => {
                let to = self.evaluate(&args[0]);
                let from = self.evaluate(&args[1]);
                let bytes = self.constant(&args[2]).and_then(|b| u64::try_from(b).ok());
                if let Some(pointer) = Self::as_pointer(&to).cloned() {
                    // The header makes `cp.async.cg` of 16 bytes, `cp.async.ca` of fewer.
                    self.at_hand.copying = Some(self.copying(Some(&from), bytes == Some(16)));
                    self.record_bytes(AccessOp::AsyncCopy, &pointer, bytes, span, None);
                    self.at_hand.copying = None;
                }
                Some(Value::Undefined)
            }
            Kind::FragmentLoad | Kind::FragmentStore if args.len() >= 3 => {
                Some(self.fragment_access(kind == Kind::FragmentLoad, args, span))
            }
            _ => None,
        }
    }

    /// What only computes.
    fn intrinsic_that_computes(
        &mut self,
        kind: Kind,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Option<Value> {
        match kind {
            Kind::ThisBlock => Some(Value::Group(Group::Block)),
            Kind::ThisGrid => Some(Value::Group(Group::Grid)),
            Kind::Extremum if args.len() == 2 => {
                let (a, b) = (self.evaluate(&args[0]), self.evaluate(&args[1]));
                Some(self.extremum(&a, &b, name.contains("max"), span))
            }
            Kind::Extremum if args.len() == 1 && self.program.functions(name).is_empty() => {
                Some(self.extremum_of_list(&args[0], name, span))
            }
            Kind::Absolute if args.len() == 1 => {
                let a = self.evaluate(&args[0]);
                let negated = self.unary(crate::ir::UnaryOp::Neg, a.clone(), span);
                Some(self.extremum(&a, &negated, true, span))
            }
            Kind::Whole if self.program.functions(name).is_empty() => self.integer_function(name, args, span),
            Kind::Product if args.len() == 2 && self.program.functions(name).is_empty() => {
                let (a, b) = (self.evaluate(&args[0]), self.evaluate(&args[1]));
                Some(self.product(name, &a, &b, span))
            }
            Kind::Same if name == "addressof" && args.len() == 1 => {
                let place = ExprKind::AddressOf(Box::new(args[0].clone()));
                Some(self.evaluate(&Expr { kind: place, span }))
            }
            Kind::Same | Kind::FloorToInt | Kind::Ceiling | Kind::Floor if !args.is_empty() => {
                let value = self.evaluate(&args[0]);
                Some(match (kind, value) {
                    (Kind::Ceiling, Value::Float(x, scalar)) => Value::Float(x.ceil(), scalar),
                    (Kind::FloorToInt, Value::Float(x, scalar)) => {
                        self.convert(Value::Float(x.floor(), scalar), &Ty::Scalar(Scalar::I32))
                    }
                    (Kind::Floor, Value::Float(x, scalar)) => Value::Float(x.floor(), scalar),
                    (_, value) => value,
                })
            }
            Kind::Bits if args.len() == 1 => {
                let value = self.evaluate(&args[0]);
                Some(self.bit_count(name, &value, span))
            }
            Kind::Vector => self.vector_maker(name, args),
            _ => None,
        }
    }

    /// `make_int2(a, b)` and the like keep their members.
    fn vector_maker(&mut self, name: &str, args: &[Expr]) -> Option<Value> {
        let ty = super::types::builtin(name.strip_prefix("make_")?)?;
        let Ty::Record(layout) = &ty else { return None };
        if args.len() != layout.fields.len() {
            let variation = args.iter().map(|arg| self.evaluate(arg).variation()).max();
            return Some(Value::opaque(
                variation.unwrap_or(Variation::Uniform),
                unseen(name, args.first()?.span),
            ));
        }
        let mut parts = Vec::new();
        for (arg, field) in args.iter().zip(&layout.fields) {
            let value = self.evaluate(arg);
            let value = self.convert(value, &field.ty);
            parts.push((smallvec![Step::Member(field.name.clone())], value));
        }
        Some(Value::Aggregate(Rc::new(parts)))
    }

    /// Whether a path means no function of the program: `std::swap` does not, whatever else has that name.
    fn is_of_library(&self, path: &Path) -> bool {
        let from = self.namespace();
        meant(self.program.functions(&path.name), &path.qualifiers, &from).next().is_none()
    }

    /// `sincosf(x, &s, &c)`: numbers that are not followed lie where the pointers lead, and one is returned.
    fn several_results(&mut self, name: &str, (given, places): (&[Expr], &[Expr]), span: Span) -> Value {
        let variation = given.iter().map(|arg| self.evaluate(arg).variation()).max();
        let result = Value::opaque(variation.unwrap_or(Variation::Uniform), unseen(name, span));
        for pointer in places {
            let place = Expr { kind: ExprKind::Deref(Box::new(pointer.clone())), span: pointer.span };
            self.store(None, &place, result.clone(), span, false);
        }
        result
    }

    fn swap(&mut self, args: &[Expr], span: Span) -> Value {
        if let (Ok(a), Ok(b)) = (self.locate(&args[0]), self.locate(&args[1])) {
            let (x, y) = (self.read(&a, args[0].span), self.read(&b, args[1].span));
            self.write(&a, y, span);
            self.write(&b, x, span);
        }
        Value::Undefined
    }

    fn bit_count(&mut self, name: &str, value: &Value, span: Span) -> Value {
        let Value::Int(int, _) = value else {
            return self.own_bit_count(name, value, value.variation(), span);
        };
        let shape = self.shape();
        let Some(known) = int.as_known() else {
            if int.is_uniform() {
                return self.uniform_unknown(name);
            }
            return self.own_bit_count(name, value, Variation::Maybe, span);
        };
        let wide = name.ends_with("ll");
        let count = |v: i64| -> i64 {
            let bits = if wide { v as u64 } else { u64::from(v as u32) };
            match name.trim_end_matches("ll") {
                "__popc" => bits.count_ones().into(),
                "__clz" => i64::from(bits.leading_zeros()) - if wide { 0 } else { 32 },
                // `__ffs`
                _ if bits == 0 => 0,
                _ => i64::from(bits.trailing_zeros()) + 1,
            }
        };
        let sight = sight::through(name, &[int]);
        Value::Int(Int { sight, ..Int::known(known.map(shape, count)) }, Scalar::I32)
    }

    /// A count of bits of a number that each thread has of its own.
    fn own_bit_count(&mut self, name: &str, value: &Value, variation: Variation, span: Span) -> Value {
        let all = if name.ends_with("ll") { 64 } else { 32 };
        let bounds = value.known_part().map(|(int, _)| self.world.bounds(int));
        let most = match (name.trim_end_matches("ll"), bounds) {
            // No more bits are set than the greatest number has digits.
            ("__popc", Some((Some(0..), Some(high)))) => i64::from(64 - high.leading_zeros()).min(all),
            ("__popc" | "__clz" | "__ffs", _) => all,
            _ => return Value::opaque(variation, unseen(name, span)),
        };
        self.own_count(value, most, variation, unseen(name, span))
    }

    fn atomic(&mut self, kind: &str, args: &[Expr], used: bool, span: Span) -> Value {
        let scope = Scope::of(kind);
        let kind = kind.trim_end_matches("_block").trim_end_matches("_system");
        let mut values: Vec<(Value, bool)> = Vec::new();
        for arg in args {
            values.push(self.watching_launch(|machine| machine.evaluate(arg)));
        }
        let target = values.first().and_then(|(value, _)| Self::as_pointer(value)).cloned();
        let Some(pointer) = target else {
            self.writes_unrecorded(span);
            return Value::opaque(Variation::Maybe, unseen("an atomic", span));
        };
        self.note_changed(&pointer);
        if !self.is_recorded(&pointer) {
            self.writes_unrecorded(span);
        }
        let operation = match (&pointer.pointee, pointer.pointee.constant_size()) {
            (_, Some(8)) => Operation::Wide,
            (Ty::Scalar(_), Some(4)) if kind == "Exch" => Operation::Exchange,
            (Ty::Scalar(s), _) if !s.is_integer() => Operation::Float,
            (Ty::Scalar(_), _) => atomics::integer_operation(kind),
            _ => Operation::Float,
        };
        let operand = values.get(1);
        let constant = operand.filter(|(_, at_launch)| !at_launch).and_then(|(value, _)| match value {
            Value::Int(int, _) => int.as_constant(),
            _ => None,
        });
        let one = if kind == "Sub" { -1 } else { 1 };
        // Up to the largest number an increment is a sum.
        let counts = kind == "Inc" && constant.is_some_and(|most| most as u32 == u32::MAX);
        if self.is_recorded(&pointer) {
            let atomic = Atomic {
                operation: if counts { Operation::Add } else { operation },
                used,
                adds_one: counts || constant == Some(one),
                operand: match operand {
                    _ if counts || constant.is_some() => Seen::Same,
                    Some((value, _)) if value.variation() == Variation::Varying => Seen::Apart,
                    _ => args.get(1).map_or(Seen::Perhaps, |arg| self.seen_same(arg)),
                },
                of_data: args.get(1).is_some_and(|arg| self.is_own_data(arg)),
                address: self.seen_address(&args[0], &pointer),
                scope,
            };
            self.record(AccessOp::Atomic, &pointer, span, Some(atomic));
        }
        Value::opaque(
            Variation::Maybe,
            Unknown::new(Reason::DataDependent, span, "the old value of an atomic"),
        )
    }

    /// Whether the compiler sees that the lanes of a warp have one address. What differs within the block is
    /// made of the thread's coordinates, even where it does not differ within a warp.
    pub(super) fn seen_address(&self, written: &Expr, pointer: &Pointer) -> Seen {
        match &pointer.target {
            Target::Memory(_, Offset::Known(offset)) if !offset.is_uniform() => Seen::Apart,
            _ => self.seen_same(written),
        }
    }
}
