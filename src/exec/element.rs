//! Where does an element lie that an index names, and is it in its row?

use super::converted::Wanted;
use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::{Place, Pointer, Step, Steps, Target, Value};
use crate::domain::{Reason, ThreadSet, Unknown, Variation};
use crate::events::{Event, Subscript};
use crate::ir::{Expr, ExprKind};
use crate::source::Span;
use smallvec::SmallVec;
use std::rc::Rc;

impl Machine<'_> {
    /// Where `base[index]` lies.
    pub(super) fn locate_element(
        &mut self,
        expr: &Expr,
        base: &Expr,
        index: &Expr,
    ) -> Result<Pointer, Unknown> {
        if let Some(element) = self.own_element(expr) {
            return Ok(element);
        }
        if let Some(place) = self.called_place(expr) {
            return place;
        }
        let (base, declared) = self.indexed(base);
        let index = self.operand(index);
        match base {
            Value::Pointer(pointer) => {
                if let Some(length) = declared {
                    self.note_extent(&pointer, &index, length);
                    self.note_row_end(&pointer, &index, length);
                    self.note_outside(&pointer, &index, length, expr.span);
                }
                Ok(self.moved(pointer, &index, expr.span))
            }
            Value::Opaque(_, why, ..) => {
                self.note_lost_pointer(expr.span);
                Err(why)
            }
            // `2[s]`
            base => match index {
                Value::Pointer(pointer) => Ok(self.moved(pointer, &base, expr.span)),
                _ => Err(Unknown::new(
                    Reason::UnknownPointer,
                    expr.span,
                    "indexing something that is not followed",
                )),
            },
        }
    }

    /// An element of an array that is a variable of the innermost frame: `sums[i][j]`.
    fn own_element(&mut self, expr: &Expr) -> Option<Pointer> {
        let mut indices: SmallVec<[&Expr; 4]> = SmallVec::new();
        let mut base = expr;
        while let ExprKind::Index(inner, index) = &base.kind {
            indices.push(index);
            base = inner;
        }
        let ExprKind::Local(local) = base.kind else { return None };
        let frame = self.top();
        let slot = self.frame()?.slots.get(local.0 as usize).filter(|slot| !slot.reference)?;
        let mut ty = &slot.ty;
        for _ in &indices {
            let Ty::Array(element, _) = ty else { return None };
            ty = element;
        }
        let pointee = ty.clone();
        let mut place = Place { frame, local, path: Steps::new(), blurred: false };
        for index in indices.into_iter().rev() {
            let index = self.operand(index);
            if !place.blurred {
                place.path.push(Step::Index(0));
                place = self.advance_place(place, &index, 1);
            }
        }
        Some(Pointer { target: Target::Place(place), pointee, volatile: false })
    }

    /// The base of a subscript as a pointer to its elements, and the length of a shared array.
    fn indexed(&mut self, base: &Expr) -> (Value, Option<u64>) {
        let located = match &base.kind {
            ExprKind::Local(_)
            | ExprKind::Path(_)
            | ExprKind::Index(..)
            | ExprKind::Member { .. }
            | ExprKind::Deref(_) => self.locate(base),
            _ => {
                let value = self.evaluate(base);
                // `(&rows[0][0])[i]`
                if let (ExprKind::AddressOf(_), Value::Pointer(pointer)) = (&base.kind, &value) {
                    self.note_flattened(pointer);
                }
                return (value, None);
            }
        };
        match located {
            Ok(pointer) => match &pointer.pointee {
                Ty::Array(_, length) => {
                    let length =
                        length.as_ref().and_then(|n| n.as_constant()).and_then(|n| u64::try_from(n).ok());
                    let length = length.filter(|_| self.is_shared(&pointer));
                    (Value::Pointer(Self::decay(pointer)), length)
                }
                // A subscript of its own that is not seen.
                Ty::Record(layout) if layout.record.is_some() && self.mode == Mode::Device => {
                    let layout = Rc::clone(layout);
                    if let Some(Ok(function)) = self.conversion(&layout, Wanted::Pointer, base.span) {
                        return (self.converted_at(&function, &pointer, base.span), None);
                    }
                    let words = "the body of `operator[]` is not visible";
                    let why = Unknown::new(Reason::UnknownFunction, base.span, words);
                    (Value::opaque(Variation::Maybe, why), None)
                }
                _ => {
                    let value = self.read(&pointer, base.span);
                    if let Value::Pointer(inner) = &value {
                        self.note_flattened(inner);
                        self.note_mention(inner, base.span);
                    }
                    (value, None)
                }
            },
            Err(_) if matches!(base.kind, ExprKind::Path(_) | ExprKind::Member { .. }) => {
                (self.evaluate(base), None)
            }
            Err(why) if matches!(base.kind, ExprKind::Index(..)) => {
                let value = self.called_value(base);
                (value.unwrap_or_else(|| self.read_somewhere(base, why)), None)
            }
            Err(why) => (self.read_somewhere(base, why), None),
        }
    }

    /// A subscript that may run past the end of its row rests on the distance between rows; one that may run past
    /// that of another dimension, on the length of its planes.
    fn note_row_end(&mut self, pointer: &Pointer, index: &Value, length: u64) {
        let inside = match index.known_part() {
            Some((int, _)) => {
                let (low, high) = self.world.bounds(int);
                let in_all = low.is_some_and(|v| v >= 0) && high.is_some_and(|v| (v as u64) < length);
                in_all
                    || int.as_known().is_some_and(|known| {
                        let values = known.spread(self.shape());
                        self.state.active.threads().all(|t| values[t] >= 0 && (values[t] as u64) < length)
                    })
            }
            None => false,
        };
        match &pointer.pointee {
            _ if inside => {}
            Ty::Array(inner, _) => self.note_stray(pointer, inner),
            _ => self.note_flattened(pointer),
        }
    }

    /// Records a subscript of an inner dimension, or of a row, that surely lies outside of it.
    fn note_outside(&mut self, pointer: &Pointer, index: &Value, length: u64, span: Span) {
        if !self.recording || self.state.doubt.is_some() {
            return;
        }
        let Some(values) = index.known_part().and_then(|(int, _)| int.as_known()) else { return };
        let values = values.spread(self.shape());
        let is_outside = |thread: &usize| !u64::try_from(values[*thread]).is_ok_and(|at| at < length);
        let mut outside = ThreadSet::NONE;
        self.state.active.threads().filter(is_outside).for_each(|thread| outside.insert(thread));
        let Some(thread) = outside.threads().next() else { return };
        let (mut inner, mut element) = (0, &pointer.pointee);
        while let Ty::Array(next, _) = element {
            (inner, element) = (inner + 1, next);
        }
        for array in self.arrays_of(pointer) {
            let dimensions = &self.trace.arrays[array].dimensions;
            let dimension = dimensions.len().checked_sub(inner + 1).filter(|dimension| *dimension > 0);
            // Its outermost subscript; another length is that of the rows to which a pointer leads.
            if dimension.is_none() && dimensions.first().copied().flatten() == Some(length) {
                continue;
            }
            let index = values[thread];
            let subscript = Subscript { span, array, dimension, length, outside, thread, index };
            self.trace.tree.push(Event::Subscript(subscript));
        }
    }

    /// Notes what a subscript by bare coordinates says of the block's extents: `x`, or `x + 32 * y`, where
    /// `x` has 32 places and `y` the rest.
    fn note_extent(&mut self, pointer: &Pointer, index: &Value, length: u64) {
        let (Value::Int(int, _), Target::Memory(object, _)) = (index, &pointer.target) else { return };
        let Some(array) = self.memory.objects.get(object.0 as usize).and_then(|it| it.array) else { return };
        let Some(crate::domain::Lanes::Closed([0, factors @ ..])) = int.as_known() else { return };
        let places = |(axis, factor): (usize, &i64)| Some((u64::try_from(*factor).ok()?, axis));
        let used = factors.iter().enumerate().filter(|(_, factor)| **factor != 0);
        let Some(mut used) = used.map(places).collect::<Option<SmallVec<[(u64, usize); 3]>>>() else {
            return;
        };
        used.sort_unstable();
        let inner = used.iter().map(|(factor, _)| *factor);
        let outer = inner.clone().skip(1).chain([length]);
        // Each coordinate steps over all places of the one before it.
        if used.first().is_none_or(|(factor, _)| *factor != 1) || inner.zip(outer).any(|(a, b)| a >= b.max(2))
        {
            return;
        }
        for (at, (factor, axis)) in used.iter().enumerate() {
            let places = used.get(at + 1).map_or(length, |(next, _)| *next) / factor;
            let extent = &mut self.trace.extents[*axis];
            *extent = Some(extent.filter(|old| old.0 <= places).unwrap_or((places, array)));
        }
    }
}
