//! What do the methods of `cuda::atomic` and `cuda::atomic_ref` do?
//!
//! Each is an atomic access of the place that the object holds or refers to, among the threads of its scope. The
//! memory order adds fences, as the machine code has them:
//!
//! ```text
//! cuda::atomic_ref<int, cuda::thread_scope_device> flag(*f);
//! flag.store(1, cuda::memory_order_release);         a fence for the device, then a store
//! while (!flag.load(cuda::memory_order_acquire)) {}  a load by which a thread may wait
//! flag.fetch_add(1, cuda::memory_order_relaxed);     an atomic, which puts nothing else in order
//! ```
//!
//! Where the order is not known, the fence is there: what may be in order is no race. A method that is not listed here
//! is a function that is not seen.

use super::machine::{Machine, Mode};
use super::types::{Binding, Layout, Ty};
use super::value::{Pointer, Value};
use crate::codegen::atomics;
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{AccessOp, Atomic, Operation, Orderer, Scope, Seen};
use crate::ir::{BinaryOp, Expr, Path};
use crate::source::Span;

/// The scopes and memory orders, as `standard.h` numbers them.
const SCOPES: [Scope; 3] = [Scope::System, Scope::Device, Scope::Block];
const RELAXED: i64 = 0;
const CONSUME: i64 = 1;
const ACQUIRE: i64 = 2;

/// What a method does to the place.
#[derive(Clone, Copy)]
struct Work {
    op: AccessOp,
    operation: Operation,
    /// Whether something is done with what it finds.
    used: bool,
    /// Whether what came before is put behind a fence.
    releases: bool,
}

impl Machine<'_> {
    /// Whether an object is one of these classes, and whether it only refers to its place.
    fn atomic_class(&self, ty: &Ty) -> Option<bool> {
        let Ty::Record(layout) = ty else { return None };
        let is_ref = match layout.built_in()? {
            "atomic" => false,
            "atomic_ref" => true,
            _ => return None,
        };
        (self.mode == Mode::Device).then_some(is_ref)
    }

    /// Whether an object is one of these classes.
    pub(super) fn is_atomic_object(&self, ty: &Ty) -> bool {
        self.atomic_class(ty).is_some()
    }

    /// A call of a method of such an object; `None` for any other object.
    pub(super) fn atomic_method(
        &mut self,
        object: &Pointer,
        path: &Path,
        args: &[Expr],
        (span, used): (Span, bool),
    ) -> Option<Value> {
        self.atomic_class(&object.pointee)?;
        let order = |at: usize| args.get(at);
        let simple = |operation, order| Some((operation, order));
        let known = match &*path.name {
            "load" => return Some(self.atomic_load(object, order(0), used, span)),
            "store" if !args.is_empty() => {
                self.evaluate(&args[0]);
                self.atomic_store(object, order(1), span);
                return Some(Value::Undefined);
            }
            "exchange" => simple("Exch", 1),
            "compare_exchange_weak" | "compare_exchange_strong" => simple("CAS", 2),
            "is_lock_free" => return Some(Value::int(1)),
            name => match name.strip_prefix("fetch_") {
                Some(kind @ ("add" | "sub" | "and" | "or" | "xor" | "min" | "max")) => simple(kind, 1),
                _ => None,
            },
        };
        let Some((operation, at)) = known.filter(|_| !args.is_empty()) else {
            return Some(self.call_on_object(object, &path.name, args, (span, used)));
        };
        if operation == "CAS"
            && let Ok(expected) = self.locate(&args[0])
        {
            // Where the swap fails, it tells what it found.
            let why = Unknown::new(Reason::DataDependent, span, "the old value of an atomic");
            self.write(&expected, Value::opaque(Variation::Maybe, why), span);
        }
        args.iter().take(at).for_each(|arg| {
            self.evaluate(arg);
        });
        // Of two orders the first holds where the swap is done, and is no weaker.
        Some(self.atomic_change(object, operation, order(at), (span, used)))
    }

    /// `a = b`, `a += b`, `++a` and the like of such an object; whether the value is used. `None` for any other.
    pub(super) fn atomic_assignment(
        &mut self,
        object: &Pointer,
        op: Option<BinaryOp>,
        (span, used): (Span, bool),
    ) -> Option<Value> {
        self.atomic_class(&object.pointee)?;
        let operation = match op {
            None => {
                self.atomic_store(object, None, span);
                return Some(Value::Undefined);
            }
            Some(BinaryOp::Add) => "add",
            Some(BinaryOp::Sub) => "sub",
            Some(BinaryOp::And) => "and",
            Some(BinaryOp::Or) => "or",
            Some(BinaryOp::Xor) => "xor",
            _ => return None,
        };
        Some(self.atomic_change(object, operation, None, (span, used)))
    }

    /// What a `cuda::atomic` gives where a number is wanted. A `cuda::atomic_ref` is copied like any object.
    pub(super) fn atomic_value(&mut self, object: &Pointer, span: Span) -> Option<Value> {
        let is_ref = self.atomic_class(&object.pointee)?;
        (!is_ref).then(|| self.atomic_load(object, None, true, span))
    }

    /// `cuda::atomic_thread_fence(order, scope)`
    pub(super) fn atomic_fence(&mut self, args: &[Expr], span: Span) -> Value {
        self.compiler.epoch += 1;
        let scope = match args.get(1) {
            None => Some(Scope::System),
            Some(scope) => {
                let number = self.constant(scope).and_then(|it| usize::try_from(it).ok());
                number.and_then(|it| SCOPES.get(it).copied())
            }
        };
        match (args.first().and_then(|order| self.constant(order)), scope) {
            (Some(RELAXED), _) => {}
            (Some(_), Some(scope)) => self.orders_by_memory(Orderer::Fence(scope), span),
            _ => self.may_order(span),
        }
        Value::Undefined
    }

    fn atomic_load(&mut self, object: &Pointer, order: Option<&Expr>, used: bool, span: Span) -> Value {
        let order = order.map_or(Some(i64::MAX), |order| self.constant(order));
        // What a load in full order has before it is a fence, too.
        let releases = order.is_none_or(|order| order > ACQUIRE);
        let work = Work { op: AccessOp::Load, operation: Operation::Exchange, used, releases };
        self.atomic_access(object, "load", work, span)
    }

    fn atomic_store(&mut self, object: &Pointer, order: Option<&Expr>, span: Span) {
        let releases = self.may_release(order);
        let work = Work { op: AccessOp::Store, operation: Operation::Exchange, used: false, releases };
        self.atomic_access(object, "store", work, span);
    }

    fn atomic_change(
        &mut self,
        object: &Pointer,
        operation: &str,
        order: Option<&Expr>,
        (span, used): (Span, bool),
    ) -> Value {
        let (kind, releases) = (atomics::integer_operation(operation), self.may_release(order));
        let work = Work { op: AccessOp::Atomic, operation: kind, used, releases };
        self.atomic_access(object, operation, work, span)
    }

    /// Whether something of this memory order may put what came before it behind a fence.
    fn may_release(&mut self, order: Option<&Expr>) -> bool {
        let order = order.map_or(Some(i64::MAX), |order| self.constant(order));
        !matches!(order, Some(RELAXED | CONSUME | ACQUIRE))
    }

    fn atomic_access(&mut self, object: &Pointer, name: &str, work: Work, span: Span) -> Value {
        let Ty::Record(layout) = &object.pointee else { return Value::Undefined };
        // What is atomic for one thread alone is nothing between threads.
        let Some(scope) = scope_of(layout) else { return self.call_unknown(name, &[], span) };
        let Ok(place) = self.member(object.clone(), &"place".into(), span) else {
            return self.call_unknown(name, &[], span);
        };
        // Nothing is kept in registers or joined over it.
        self.compiler.epoch += 1;
        // Within a block, who waits is what counts.
        if work.releases && self.sees_global_memory() {
            self.orders_by_memory(Orderer::Fence(scope), span);
        }
        if work.op != AccessOp::Load {
            self.note_changed(&place);
        }
        if self.is_recorded(&place) {
            let operation = match (&place.pointee, place.pointee.constant_size(), work.op) {
                (_, _, AccessOp::Load | AccessOp::Store) => work.operation,
                (_, Some(8), _) => Operation::Wide,
                (Ty::Scalar(scalar), Some(4), _) if scalar.is_integer() => work.operation,
                (_, Some(4), _) if work.operation == Operation::Exchange => work.operation,
                _ => Operation::Float,
            };
            let atomic = Atomic {
                used: work.used,
                // Some versions of the library are inline PTX, which each lane does for itself.
                address: Seen::Perhaps,
                scope,
                ..Atomic::new(operation)
            };
            self.record(work.op, &place, span, Some(atomic));
        } else {
            match work.op {
                AccessOp::Load => self.reads_unrecorded(span),
                _ => self.writes_unrecorded(span),
            }
        }
        if work.used {
            self.orders_by_memory(Orderer::Atomic(scope), span);
        }
        self.compiler.epoch += 1;
        let why = Unknown::new(Reason::DataDependent, span, "what an atomic finds");
        Value::opaque(Variation::Maybe, why)
    }
}

/// The threads among which the accesses of an object are one step; those of all devices where it is not known,
/// `None` where it is one thread.
fn scope_of(layout: &Layout) -> Option<Scope> {
    let number = match layout.env.bindings.get("Scope") {
        Some(Binding::Value(Value::Int(number, _))) => number.as_constant(),
        _ => None,
    };
    match number.and_then(|it| usize::try_from(it).ok()) {
        Some(number) => SCOPES.get(number).copied(),
        None => Some(Scope::System),
    }
}
