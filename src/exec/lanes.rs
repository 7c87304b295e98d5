//! Which lanes of a warp meet at an intrinsic, and which lanes does it name?
//!
//! A shuffle names a lane to read from, within the group of `width` lanes that the reader is in. One that lies
//! beyond the group stands for the reader itself:
//!
//! ```text
//! __shfl_down_sync(m, v, 8)        lane 3 reads lane 11, lane 27 itself
//! __shfl_xor_sync(m, v, 8, 16)     lane 3 reads lane 11, lane 27 lane 19
//! ```

use super::machine::{Machine, Mode};
use super::tree::Together;
use super::value::{Condition, Value};
use crate::builtins::{self, Kind};
use crate::codegen::sight;
use crate::domain::{Int, Lanes, Origin, Reason, SymbolId, Unknown, Variation};
use crate::events::{LaneMask, LaneOp, Split, SplitKind};
use crate::ir::{Expr, ExprKind, Scalar};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The mask of `__syncwarp()`.
const ALL_LANES: i64 = 0xffff_ffff;

/// Conditions around one operation that are kept at the most.
const MOST_SPLITS: usize = 64;

impl Machine<'_> {
    /// Shuffles and votes: their results vary by lane unless what goes in is uniform.
    pub(super) fn between_lanes(&mut self, kind: Kind, name: &str, args: &[Expr], expr: &Expr) -> Value {
        let span = expr.span;
        let values: Vec<Value> = args.iter().map(|arg| self.evaluate(arg)).collect();
        let names_lanes = name.ends_with("_sync");
        let moved = values.get(usize::from(names_lanes));
        if name != "__activemask" {
            let lanes = match values.first().filter(|_| names_lanes) {
                Some(mask) => self.lanes_named(mask, span),
                None => Together::Warp,
            };
            self.warp_order(lanes, false, span);
            self.lane_op(name, args, &values, expr);
        }
        if kind == Kind::Shuffle
            && let Some(value) = moved
            && value.variation() == Variation::Uniform
        {
            return value.clone();
        }
        if name == "__activemask" {
            // Where lanes have met shows in it.
            self.trace.tree.set_watched();
        }
        // `__match_all_sync` tells by its third argument whether all have the same.
        if let (true, Some(Value::Pointer(told))) = (name.starts_with("__match_all"), values.get(2)) {
            let why = Unknown::new(Reason::DataDependent, span, format!("the result of `{name}`"));
            let told = told.clone();
            self.write(&told, Value::opaque(Variation::Maybe, why), span);
        }
        if let Some(value) = self.agreed(name, &values, span) {
            return value;
        }
        if let Some(value) = self.passed_on(kind, name, &values, span) {
            return value;
        }
        Value::opaque(
            Variation::Maybe,
            Unknown::new(Reason::DataDependent, span, format!("the result of `{name}`")),
        )
    }

    /// What comes of a vote on what all lanes of a warp have in common, whoever takes part: that.
    fn agreed(&mut self, name: &str, values: &[Value], span: Span) -> Option<Value> {
        let at = match name {
            "__any_sync" | "__all_sync" => 1,
            "__any" | "__all" => 0,
            _ => return None,
        };
        if self.mode != Mode::Device || !self.program.functions(name).is_empty() {
            return None;
        }
        let condition = self.condition_of(values.get(at)?, span);
        // The compiler knows no result, not even of what it knows itself.
        let is_known = matches!(condition, Condition::Known(_));
        (!is_known && self.holds_alike_in_warps(&condition)).then(|| Value::Condition(Rc::new(condition)))
    }

    /// What lanes get from each other, or find out together, as far as it is known.
    fn passed_on(&mut self, kind: Kind, name: &str, values: &[Value], span: Span) -> Option<Value> {
        if self.mode != Mode::Device || !self.program.functions(name).is_empty() {
            return None;
        }
        let is_masked = name.ends_with("_sync");
        let is_of_all = match values.first().filter(|_| is_masked) {
            Some(mask) => self.lanes_named(mask, span) == Together::Named(u32::MAX),
            None => name != "__activemask",
        };
        let form = name.trim_end_matches("_sync");
        let why = Unknown::new(Reason::DataDependent, span, format!("the result of `{name}`"));
        let own = (None, None);
        if kind == Kind::Vote {
            let (scalar, range) = match form {
                "__any" | "__all" => (Scalar::I32, (Some(0), Some(1))),
                "__ballot" | "__activemask" | "__match_any" | "__match_all" => (Scalar::U32, own),
                _ => match values.get(1)?.known_part()?.1 {
                    scalar @ (Scalar::I32 | Scalar::U32) => (scalar, own),
                    _ => return None,
                },
            };
            // Each lane is told which have the same value as itself.
            return Some(match is_of_all && form != "__match_any" {
                true => self.integer_of_warp((scalar, range), Origin::Own, Variation::Maybe, why),
                false => self.own_integer(scalar, Origin::Own, Variation::Maybe, why),
            });
        }
        let values = values.get(usize::from(is_masked)..)?;
        let (moved, by) = (values.first()?, values.get(1)?);
        let (int, scalar) = moved.known_part()?;
        let (int, (by, _)) = (int.clone(), by.known_part()?);
        let width = match values.get(2) {
            Some(width) => width.known_part()?.0.as_constant()?,
            None => 32,
        };
        if let Some(by) = by.as_known()
            && !int.is_per_thread()
            && let Some(sources) = self.sources(form, by, width)
        {
            let moved = |lanes: &Lanes| sources.iter().map(|&from| lanes.at(from, self.shape())).collect();
            let moved = |lanes: &Lanes| Lanes::close(moved(lanes), self.shape());
            let terms = int.terms.iter().map(|(id, factor)| (*id, moved(factor)));
            let terms = terms.filter(|(_, factor)| !factor.is_zero()).collect();
            let sight = sight::through(name, &[&int]);
            return Some(Value::Int(Int { sight, ..Int::of(moved(&int.base), terms) }, scalar));
        }
        let is_of_one_lane = form == "__shfl" && width == 32 && self.is_alike_in_warps(by);
        if !scalar.is_integer() {
            return None;
        }
        let range = self.world.bounds(&int);
        Some(match is_of_all && (is_of_one_lane || self.is_alike_in_warps(&int)) {
            true => self.integer_of_warp((scalar, range), Origin::Own, Variation::Maybe, why),
            false => self.own_integer(scalar, Origin::Own, Variation::Maybe, why),
        })
    }

    /// From which thread each one gets what a shuffle moves, where all threads do that.
    fn sources(&self, form: &str, by: &Lanes, width: i64) -> Option<Vec<usize>> {
        if !matches!(width, 1 | 2 | 4 | 8 | 16 | 32) {
            return None;
        }
        let shape = self.shape();
        let active = self.state.active;
        let source = |thread: usize| {
            let lane = (thread % 32) as i64;
            let by = by.at(thread, shape);
            let (first, last) = (lane / width * width, lane / width * width + width - 1);
            let from = match form {
                "__shfl" => first + by.rem_euclid(width),
                "__shfl_up" if lane - by >= first => lane - by,
                "__shfl_down" if lane + by <= last => lane + by,
                "__shfl_xor" if lane ^ by <= last => lane ^ by,
                "__shfl_up" | "__shfl_down" | "__shfl_xor" => lane,
                _ => return None,
            };
            let from = thread - thread % 32 + usize::try_from(from).ok().filter(|from| *from < 32)?;
            (from < shape.threads() && (active.has(from) || !active.has(thread))).then_some(from)
        };
        (0..shape.threads()).map(source).collect()
    }

    /// The lanes that a mask names.
    pub(super) fn lanes_named(&mut self, mask: &Value, span: Span) -> Together {
        let mask = self.number(mask, span).ok().and_then(|mask| mask.as_constant());
        mask.map_or(Together::Some, |mask| Together::Named(mask as u32))
    }

    /// The active threads come to an intrinsic by which lanes meet.
    pub(super) fn lane_op(&mut self, name: &str, args: &[Expr], values: &[Value], expr: &Expr) {
        let Some(form) = builtins::lane_form(name) else { return };
        let ours = self.program.functions(name).is_empty();
        if !self.recording || self.mode != Mode::Device {
            return;
        }
        // With fewer arguments it is none that CUDA defines.
        let fits = args.len() >= form.arguments;
        if !ours || !fits {
            return self.trace.lanes.open();
        }
        let span = expr.span;
        let known = |machine: &mut Self, at: usize| {
            let number = machine.number(values.get(at)?, span).ok()?;
            machine.substitute(&number).as_known().cloned()
        };
        let mask = match (form.is_masked, args.first()) {
            (false, _) => LaneMask::Nobody,
            (true, None) => LaneMask::Known(Lanes::constant(ALL_LANES)),
            (true, Some(mask)) if is_call_of(mask, "__activemask") => LaneMask::Active,
            (true, Some(_)) => known(self, 0).map_or(LaneMask::Unknown, LaneMask::Known),
        };
        let sources = form.reads.filter(|_| form.is_masked).and_then(|reads| {
            let by = known(self, 2)?;
            let width = if args.len() > 3 { known(self, 3)?.as_constant()? } else { 32 };
            let is_width = matches!(width, 1 | 2 | 4 | 8 | 16 | 32);
            let (shape, by) = (self.shape(), by.spread(self.shape()));
            is_width.then(|| (0..shape.threads()).map(|at| reads.source(at % 32, by[at], width)).collect())
        });
        let Some(splits) = self.splits_of_lanes() else { return self.trace.lanes.open() };
        let bounds = self.state.course.left().iter().map(|left| &left.1);
        let mut exits: Vec<Split> = Vec::new();
        for split in bounds.filter(|split| matches!(split.kind, SplitKind::Guard(_))).take(MOST_SPLITS) {
            if !exits.iter().any(|known| known.is_like(split)) {
                exits.push(split.clone());
            }
        }
        let mut splits = splits;
        splits.iter_mut().chain(&mut exits).for_each(|split| self.forget_order(split));
        let op = LaneOp {
            span,
            name: Arc::from(name),
            calls: self.around.calls.clone(),
            threads: self.state.active,
            exited: self.state.exited,
            at: self.trace.tree.len(),
            is_sure: self.state.doubt.is_none(),
            times: self.weight,
            is_counted: self.looping.uncounted.is_empty(),
            mask,
            sources,
            is_set_aside: self.at_hand.set_aside == Some(std::ptr::from_ref(expr).addr()),
            splits,
            exits,
            assumptions: Arc::clone(&self.state.assumptions),
        };
        self.trace.lanes.push(op);
    }

    /// The conditions because of which other threads do not run what runs now; `None` for too many. Of a loop that is run
    /// round by round, each round may have left the same.
    fn splits_of_lanes(&self) -> Option<Vec<Split>> {
        let differs = |split: &&Split| !matches!(split.kind, SplitKind::Iterations(_));
        // Those who left the kernel as data decided are not waited for.
        let counts = |split: &&Split| !split.kind.is_data() || split.of_loop;
        let left = self.around.departures.iter().map(|left| &left.split).filter(counts);
        let mut found: Vec<Split> = Vec::new();
        for split in self.around.splits.iter().chain(left).filter(differs) {
            if found.iter().any(|known| known.is_like(split)) {
                continue;
            }
            if found.len() >= MOST_SPLITS {
                return None;
            }
            found.push(split.clone());
        }
        Some(found)
    }

    /// Forgets in which order bounds let lanes in of which the kernel asks what they leave when divided: `n % 32 == 0`.
    fn forget_order(&self, split: &mut Split) {
        let SplitKind::Guard(bound) = &mut split.kind else { return };
        let is_asked = |id: &SymbolId| self.world.symbols.has_remainder(*id);
        bound.ranks.retain(|ranks| !ranks.symbols.iter().any(is_asked));
    }

    /// What an expression gives is only put into a variable.
    pub(super) fn put_aside(&mut self, expr: &Expr) {
        self.at_hand.set_aside = Some(std::ptr::from_ref(expr).addr());
    }
}

/// Whether an expression is a call of this function, with or without a cast.
fn is_call_of(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Cast(_, inner) => is_call_of(inner, name),
        ExprKind::Call { callee, .. } => {
            matches!(&callee.kind, ExprKind::Path(path) if &*path.name == name)
        }
        _ => false,
    }
}
