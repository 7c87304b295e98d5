//! What do the methods of `cuda::pipeline` and `cuda::barrier` do?
//!
//! A pipeline of the thread's own is a queue of groups of copies. A stage is committed, waited for and released, one
//! after the other, so that the number of groups that may still be on their way is known:
//!
//! ```text
//! cuda::memcpy_async(&s[0][t], &in[t], cuda::aligned_size_t<4>(4), pipe);        a copy
//! pipe.producer_commit();                                                        a group: 1 committed
//! cuda::memcpy_async(&s[1][t], &in[t + n], cuda::aligned_size_t<4>(4), pipe);
//! pipe.producer_commit();                                                        2 committed
//! pipe.consumer_wait();                                                          for all groups but 2 - 0 - 1 = 1
//! pipe.consumer_release();                                                       1 released
//! ```
//!
//! A barrier object that was made for as many threads as the block has, and to which all of them come, is a barrier
//! of the block, if another one lies between: before, only the thread that made it knows of it. Whatever else these
//! objects do may order threads, and is not followed: pipelines that threads share, arrivals apart from waits, copies
//! that a barrier counts.

use super::machine::{Counted, Machine, Mode};
use super::types::{Binding, Layout, Ty};
use super::value::{Offset, Pointer, Step, Target, Value};
use crate::builtins;
use crate::domain::Int;
use crate::events::{AccessOp, Event, Split, SplitKind};
use crate::ir::{Expr, ExprKind, Path, Scalar, TemplateArg, Type};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;

/// `cuda::thread_scope_thread`, as `standard.h` numbers it.
const OF_THREAD: i64 = 3;
/// The bytes of which one instruction makes an asynchronous copy.
const COPIED: [i64; 3] = [4, 8, 16];

/// What kind of object it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pipeline,
    Barrier,
}

impl Machine<'_> {
    fn sync_class(&self, ty: &Ty) -> Option<Kind> {
        let Ty::Record(layout) = ty else { return None };
        let kind = match layout.built_in()? {
            "pipeline" | "make_pipeline" => Kind::Pipeline,
            "barrier" => Kind::Barrier,
            _ => return None,
        };
        (self.mode == Mode::Device).then_some(kind)
    }

    /// A call of a method of such an object; `None` for any other object.
    pub(super) fn sync_method(
        &mut self,
        object: &Pointer,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Value> {
        let kind = self.sync_class(&object.pointee)?;
        args.iter().for_each(|arg| {
            self.evaluate(arg);
        });
        match (kind, &*path.name) {
            (Kind::Pipeline, "producer_acquire") if self.is_of_thread(object, span) => {}
            (Kind::Pipeline, "producer_commit") if self.is_of_thread(object, span) => {
                self.copy_order(false, None, span);
                self.count_up(object, "committed", span);
            }
            (Kind::Pipeline, "consumer_wait") if self.is_of_thread(object, span) => {
                let [committed, waited, released] =
                    ["committed", "waited", "released"].map(|name| self.count(object, name, span));
                let behind = match (committed, waited, released) {
                    (Some(committed), Some(waited), Some(released)) if waited == released => {
                        let behind = self.world.sub(&committed, &released);
                        behind.as_constant().and_then(|groups| groups.checked_sub(1))
                    }
                    _ => None,
                };
                // Copies are waited for in the order of the thread, stages are counted by pipeline.
                match behind.filter(|_| self.memory.pipelines.len() < 2) {
                    // Every stage that was committed has been released: there is none to wait for.
                    Some(-1) => return Some(Value::Undefined),
                    Some(groups) if groups >= 0 => self.copy_order(true, Some(groups), span),
                    _ => self.may_order(span),
                }
                self.count_up(object, "waited", span);
            }
            (Kind::Pipeline, "consumer_release") if self.is_of_thread(object, span) => {
                self.count_up(object, "released", span);
            }
            (Kind::Barrier, "arrive_and_wait") if args.is_empty() && self.is_of_block(object) => {
                self.compiler.epoch += 1;
                self.show_barrier_objects();
                if self.recording {
                    let (threads, branches) = (self.state.active, self.branches());
                    let all = Some(true);
                    self.trace.tree.push(Event::Barrier { span, threads, all, is_sure: true, branches });
                }
            }
            _ => {
                self.compiler.epoch += 1;
                self.may_order(span);
                if kind == Kind::Barrier {
                    // Who has come to it counts for the phase, and whoever leaves it for all later ones.
                    self.memory.barrier_counts.iter_mut().for_each(|it| it.threads = None);
                }
            }
        }
        Some(Value::Undefined)
    }

    /// A function of the library that makes such an object or is given one; `None` for any other of that name.
    pub(super) fn with_sync_object(
        &mut self,
        kind: builtins::Kind,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Value> {
        match kind {
            builtins::Kind::InitBarrier => self.init_barrier(args),
            builtins::Kind::CopyInStage => self.copy_in_stage(args, span),
            builtins::Kind::StageWait => self.wait_for_stages(path, args, span),
            builtins::Kind::MakePipeline if args.is_empty() => {
                if !self.memory.pipelines.contains(&span) {
                    self.memory.pipelines.push(span);
                }
                let none = |name: &str| (smallvec![Step::Member(name.into())], Value::int(0));
                Some(Value::Aggregate(Rc::new(["committed", "waited", "released"].map(none).to_vec())))
            }
            _ => None,
        }
    }

    /// `init(&barrier, count)`; `None` where the first argument leads to no such object.
    fn init_barrier(&mut self, args: &[Expr]) -> Option<Value> {
        let [object, count] = args else { return None };
        let Ty::Pointer(to) = self.type_of(object) else { return None };
        if self.sync_class(&to) != Some(Kind::Barrier) {
            return None;
        }
        // Some barrier has to stay between this and the first thread that comes to the object.
        self.trace.tree.set_watched();
        let (object, threads) = (self.evaluate(object), self.constant(count));
        if let Value::Pointer(Pointer { target: Target::Memory(object, Offset::Known(at)), .. }) = object
            && !self.is_one_of_several(object)
        {
            let (branches, uncounted) = (self.state.passable.clone(), self.looping.uncounted.len());
            let counted = Counted { object, at, threads, is_seen: false, branches, uncounted };
            self.memory.barrier_counts.push(counted);
        } else {
            // It may be any of them.
            self.memory.barrier_counts.iter_mut().for_each(|it| it.threads = None);
        }
        Some(Value::Undefined)
    }

    /// `cuda::memcpy_async(to, from, size, pipeline)`, by each thread for itself; `None` for any other call.
    fn copy_in_stage(&mut self, args: &[Expr], span: Span) -> Option<Value> {
        let [to, from, size, pipeline] = args else { return None };
        let ty = self.type_of(pipeline);
        let object = self.locate(pipeline).ok().filter(|_| self.sync_class(&ty) == Some(Kind::Pipeline))?;
        if !self.is_of_thread(&object, span) {
            return None;
        }
        let (bytes, aligned) = self.copied_bytes(size)?;
        let (to, from) = (self.evaluate(to), self.evaluate(from));
        let pointer = Self::as_pointer(&to).cloned()?;
        // A copy of several instructions, or by the thread itself, is another thing.
        if aligned != Some(bytes) && pointer.pointee.constant_size() != u64::try_from(bytes).ok() {
            return None;
        }
        self.at_hand.copying = Some(self.copying(Some(&from), bytes == 16));
        self.record_bytes(AccessOp::AsyncCopy, &pointer, u64::try_from(bytes).ok(), span, None);
        self.at_hand.copying = None;
        Some(Value::Undefined)
    }

    /// `cuda::pipeline_consumer_wait_prior<n>(pipeline)`
    fn wait_for_stages(&mut self, path: &Path, args: &[Expr], span: Span) -> Option<Value> {
        let [pipeline] = args else { return None };
        let ty = self.type_of(pipeline);
        let object = self.locate(pipeline).ok().filter(|_| self.sync_class(&ty) == Some(Kind::Pipeline))?;
        let but = match path.args.as_deref() {
            Some([TemplateArg::Value(but)]) => self.constant(but),
            _ => None,
        };
        match but.filter(|_| self.is_of_thread(&object, span) && self.memory.pipelines.len() < 2) {
            Some(but) => self.copy_order(true, Some(but), span),
            None => self.may_order(span),
        }
        // Which stages are waited for by number is not known any more.
        if let Ok(place) = self.member(object, &"waited".into(), span) {
            self.write(&place, Value::Undefined, span);
        }
        Some(Value::Undefined)
    }

    /// How many bytes a size says, and to how many they are aligned, if it says so; only those that one instruction
    /// copies.
    fn copied_bytes(&mut self, size: &Expr) -> Option<(i64, Option<i64>)> {
        let (ty, args) = match &size.kind {
            ExprKind::Construct(Type::Named(path), args) => (path, args),
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => (path, args),
                _ => return None,
            },
            _ => {
                let (bytes, aligned) = match self.type_of(size) {
                    Ty::Record(layout) => {
                        (self.kept_size(size, &layout)?, Some(number_of(&layout, "Align")?))
                    }
                    _ => (self.constant(size)?, None),
                };
                return COPIED.contains(&bytes).then_some((bytes, aligned));
            }
        };
        let ([bytes], Some([TemplateArg::Value(aligned)])) = (args.as_slice(), ty.args.as_deref()) else {
            return None;
        };
        let (bytes, aligned) = (self.constant(bytes)?, self.constant(aligned)?);
        let is_one = &*ty.name == "aligned_size_t" && COPIED.contains(&bytes);
        is_one.then_some((bytes, Some(aligned)))
    }

    /// What a variable says that holds a `cuda::aligned_size_t`.
    fn kept_size(&mut self, size: &Expr, layout: &Layout) -> Option<i64> {
        let object = self.locate(size).ok().filter(|_| layout.built_in() == Some("aligned_size_t"))?;
        self.count(&object, "value", size.span)?.as_constant()
    }

    /// Whether a pipeline is the thread's own: its counts are numbers then.
    fn is_of_thread(&mut self, object: &Pointer, span: Span) -> bool {
        let Ty::Record(layout) = &object.pointee else { return false };
        let says_thread = scope_of(layout).is_none_or(|scope| scope == OF_THREAD);
        says_thread
            && matches!(object.target, Target::Place(_))
            && self.count(object, "committed", span).is_some()
    }

    fn count(&mut self, object: &Pointer, name: &str, span: Span) -> Option<Int> {
        let place = self.member(object.clone(), &name.into(), span).ok()?;
        match self.read(&place, span) {
            Value::Int(number, _) => Some(number),
            _ => None,
        }
    }

    fn count_up(&mut self, object: &Pointer, name: &str, span: Span) {
        let Some(number) = self.count(object, name, span) else { return };
        if let Ok(place) = self.member(object.clone(), &name.into(), span) {
            let next = self.world.add(&number, &Int::constant(1));
            self.write(&place, Value::Int(next, Scalar::I32), span);
        }
    }

    /// Whether a barrier object was made for all threads of the block, and all come to it.
    fn is_of_block(&self, object: &Pointer) -> bool {
        let Target::Memory(id, Offset::Known(at)) = &object.target else { return false };
        let all = i64::try_from(self.shape().threads()).ok();
        let mut made =
            self.memory.barrier_counts.iter().filter(|it| it.object == *id && it.at == *at).peekable();
        let is_ready = |it: &Counted| it.is_seen && it.threads.is_some() && it.threads == all;
        made.peek().is_some() && made.all(is_ready) && at.as_constant().is_some() && self.all_are_here()
    }

    /// Whether surely all threads of the block do what happens now.
    fn all_are_here(&self) -> bool {
        let is_known = |split: &Split| split.kind == SplitKind::Known;
        self.state.doubt.is_none()
            && self.world.all.minus(&self.state.active).is_empty()
            && self.around.splits.iter().all(is_known)
            && !self.state.may_have_left
    }

    /// A barrier of the block: if all threads surely come, all find the barrier objects that were made before.
    pub(super) fn show_barrier_objects(&mut self) {
        if self.memory.barrier_counts.is_empty() || !self.all_are_here() {
            return;
        }
        let (branches, uncounted) = (&self.state.passable, self.looping.uncounted.len());
        for made in &mut self.memory.barrier_counts {
            let comes = made.uncounted == uncounted && branches.iter().all(|it| made.branches.contains(it));
            made.is_seen |= comes;
        }
    }
}

/// The scope that the type names; `None` for what `cuda::make_pipeline` makes.
fn scope_of(layout: &Layout) -> Option<i64> {
    number_of(layout, "Scope")
}

/// A number that a type is given, or -1 if it is not known which.
fn number_of(layout: &Layout, param: &str) -> Option<i64> {
    match layout.env.bindings.get(param) {
        Some(Binding::Value(Value::Int(number, _))) => Some(number.as_constant().unwrap_or(-1)),
        Some(_) => Some(-1),
        None => None,
    }
}
