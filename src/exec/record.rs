//! What goes into the trace: requests, barriers, shared arrays.

use super::int::Int;
use super::lanes::gcd;
use super::machine::{Machine, Object, ObjectKind};
use super::symbol::{Origin, SymbolId};
use super::types::Ty;
use super::value::{ObjectId, Offset, Pointer, Reason, Target, Unknown};
use crate::ir::{Declaration, Storage};
use crate::source::Span;
use crate::trace::{Access, Array, Atomic, Barrier, Pattern, Split, SymbolFacts};
use crate::verdict::AccessOp;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes after which the bank of an address repeats on every target.
const WINDOW: i64 = 256;

/// Finds sites and patterns that are already in the trace.
#[derive(Debug, Default)]
pub struct Index {
    sites: FxHashMap<(Span, AccessOp, usize, Option<u32>), usize>,
    patterns: FxHashMap<(usize, Box<PatternKey>), usize>,
    symbols: FxHashMap<SymbolId, u32>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PatternKey {
    offsets: [i64; 32],
    active: u32,
    varying: Vec<(u32, [i64; 32])>,
    unit: u64,
}

impl Machine<'_> {
    /// The object of a shared variable, made on first sight.
    pub fn shared_variable(&mut self, declaration: &Declaration) -> Pointer {
        let mut ty = self.resolve_type(&declaration.ty);
        if let Some((_, extra)) = self.pads.iter().find(|(span, _)| *span == declaration.name_span) {
            ty = self.widen_rows(&ty, *extra as i64);
        }
        let object = match self.shared.get(&declaration.name_span) {
            Some(&object) => object,
            None => {
                let array = self.array_facts(declaration, &ty);
                self.trace.arrays.push(array);
                self.objects.push(Object {
                    kind: ObjectKind::Shared,
                    name: declaration.name.clone(),
                    array: Some(self.trace.arrays.len() - 1),
                });
                let object = ObjectId(self.objects.len() as u32 - 1);
                self.shared.insert(declaration.name_span, object);
                object
            }
        };
        Pointer { target: Target::Memory(object, Offset::Known(Int::constant(0))), pointee: ty }
    }

    fn widen_rows(&self, ty: &Ty, extra: i64) -> Ty {
        match ty {
            Ty::Array(element, length) if !matches!(**element, Ty::Array(..)) => {
                let wider = length.as_ref().map(|n| self.world.add(n, &Int::constant(extra)));
                Ty::Array(element.clone(), wider)
            }
            Ty::Array(element, length) => Ty::Array(self.widen_rows(element, extra).into(), length.clone()),
            other => other.clone(),
        }
    }

    fn array_facts(&self, declaration: &Declaration, ty: &Ty) -> Array {
        let mut dimensions = Vec::new();
        let mut inner = ty;
        while let Ty::Array(element, length) = inner {
            let length = length.as_ref().and_then(Int::as_constant);
            dimensions.push(length.and_then(|n| u64::try_from(n).ok()));
            inner = element;
        }
        Array {
            name: declaration.name.to_string(),
            name_span: declaration.name_span,
            span: declaration.span,
            dimensions,
            dimension_spans: declaration.dimension_spans.clone(),
            element_bytes: inner.constant_size(),
            element: inner.describe(),
            dynamic: declaration.storage == Storage::DynamicShared,
            flattened: false,
        }
    }

    /// Notes that a pointer into a shared array is moved by arithmetic, not by subscripts.
    pub fn note_flattened(&mut self, pointer: &Pointer) {
        if let Target::Memory(object, _) = pointer.target
            && let Some(array) = self.objects[object.0 as usize].array
        {
            self.trace.arrays[array].flattened = true;
        }
    }

    /// Whether a pointer leads into shared memory.
    #[must_use]
    pub fn is_shared(&self, pointer: &Pointer) -> bool {
        matches!(pointer.target, Target::Memory(object, _)
            if self.objects[object.0 as usize].kind == ObjectKind::Shared)
    }

    /// Records an access of the pointee's size by the active threads.
    pub fn record(&mut self, op: AccessOp, pointer: &Pointer, span: Span, atomic: Option<Atomic>) {
        let bytes = pointer.pointee.constant_size();
        self.record_bytes(op, pointer, bytes, span, atomic);
    }

    /// Records an access of `bytes` per lane by the active threads.
    pub fn record_bytes(
        &mut self,
        op: AccessOp,
        pointer: &Pointer,
        bytes: Option<u64>,
        span: Span,
        atomic: Option<Atomic>,
    ) {
        let Target::Memory(object, offset) = &pointer.target else { return };
        let Some(array) = self.objects[object.0 as usize].array else { return };
        if !self.recording {
            return;
        }
        let bytes = bytes.and_then(|b| u32::try_from(b).ok());
        let align = split_alignment(&pointer.pointee, bytes);
        let site = self.site(op, array, bytes, align, span, atomic);
        let doubt = self.state.doubt.clone();
        let assumptions = self.state.assumptions.clone();
        let access = &mut self.trace.accesses[site];
        if access.doubt.is_none() {
            access.doubt = doubt;
        }
        for text in assumptions {
            if !access.assumptions.contains(&text) {
                access.assumptions.push(text);
            }
        }
        let unknown = match (offset, bytes) {
            (Offset::Unknown(_, why), _) => Some(why.clone()),
            (_, None) => Some(Unknown::new(
                Reason::UnknownType,
                span,
                format!("the size of `{}` is not known", pointer.pointee.describe()),
            )),
            _ => None,
        };
        match (unknown, offset) {
            (None, Offset::Known(offset)) => {
                let offset = self.substitute(offset);
                self.record_patterns(site, &offset);
            }
            (unknown, _) => {
                let access = &mut self.trace.accesses[site];
                if access.unknown.is_none() {
                    access.unknown = unknown;
                }
            }
        }
    }

    fn site(
        &mut self,
        op: AccessOp,
        array: usize,
        bytes: Option<u32>,
        align: u32,
        span: Span,
        atomic: Option<Atomic>,
    ) -> usize {
        let key = (span, op, array, bytes);
        if let Some(&site) = self.index.sites.get(&key) {
            return site;
        }
        let site = self.trace.accesses.len();
        self.trace.accesses.push(Access {
            span,
            op,
            atomic,
            bytes,
            align,
            matrices: self.matrices,
            array,
            calls: self.calls.clone(),
            patterns: Vec::new(),
            by_warp: vec![0; self.shape().threads().div_ceil(32)],
            uncounted: false,
            unknown: None,
            doubt: None,
            assumptions: Vec::new(),
        });
        self.index.sites.insert(key, site);
        site
    }

    /// The warps' requests for one offset: known lanes, lane-dependent factors, and what is only
    /// a uniform shift.
    fn record_patterns(&mut self, site: usize, offset: &Int) {
        let shape = self.shape();
        let base = offset.base.spread(shape);
        let mut unit = 0u64;
        let mut varying: Vec<(u32, std::rc::Rc<[i64]>)> = Vec::new();
        for (id, factor) in &offset.terms {
            match factor.as_constant() {
                Some(factor) => unit = gcd(unit, factor.unsigned_abs()),
                None => {
                    let number = self.symbol_number(*id);
                    varying.push((number, factor.spread(shape)));
                }
            }
        }
        let active = self.state.active;
        for warp in 0..shape.threads().div_ceil(32) {
            let mask = active.warp(warp);
            if mask == 0 {
                continue;
            }
            let lane_values = |values: &[i64]| {
                let mut lanes = [0i64; 32];
                for (lane, slot) in lanes.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                    *slot = values[warp * 32 + lane];
                }
                lanes
            };
            let offsets = normalise(lane_values(&base), mask);
            let mut warp_unit = unit;
            let mut warp_varying = Vec::new();
            for (number, values) in &varying {
                let lanes = lane_values(values);
                let mut factors = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| lanes[lane]);
                let first = factors.next().unwrap_or(0);
                if factors.all(|f| f == first) {
                    warp_unit = gcd(warp_unit, first.unsigned_abs());
                } else {
                    warp_varying.push((*number, lanes));
                }
            }
            self.add_pattern(site, offsets, mask, warp_varying, warp_unit, warp as u32);
        }
    }

    fn add_pattern(
        &mut self,
        site: usize,
        offsets: [i64; 32],
        active: u32,
        varying: Vec<(u32, [i64; 32])>,
        unit: u64,
        warp: u32,
    ) {
        // A multiple of the window shifts nothing that a bank depends on.
        let unit = if unit % WINDOW as u64 == 0 { 0 } else { gcd(unit, WINDOW as u64) };
        let key = (site, Box::new(PatternKey { offsets, active, varying: varying.clone(), unit }));
        let weight = self.weight;
        let uncounted = self.uncounted > 0;
        let access = &mut self.trace.accesses[site];
        access.uncounted |= uncounted;
        if let Some(requests) = access.by_warp.get_mut(warp as usize) {
            *requests = requests.saturating_add(weight);
        }
        if let Some(&at) = self.index.patterns.get(&key) {
            let count = &mut access.patterns[at].count;
            *count = count.saturating_add(weight);
            return;
        }
        if access.patterns.len() >= 4096 {
            access.unknown.get_or_insert(Unknown::new(
                Reason::Budget,
                access.span,
                "over 4096 different warp requests",
            ));
            return;
        }
        self.index.patterns.insert(key, access.patterns.len());
        access.patterns.push(Pattern { offsets, active, varying, unit, first_warp: warp, count: weight });
    }

    fn symbol_number(&mut self, id: SymbolId) -> u32 {
        let next = self.trace.symbols.len() as u32;
        let number = *self.index.symbols.entry(id).or_insert(next);
        if number == next {
            let symbol = self.world.symbols.get(id);
            self.trace.symbols.push(SymbolFacts {
                name: symbol.name.clone(),
                given: symbol.origin == Origin::Given,
                range: (symbol.low, symbol.high),
            });
        }
        number
    }

    /// Records a block barrier reached by the active threads.
    pub fn barrier(&mut self, name: &str, span: Span, count: Option<i64>) {
        if !self.recording {
            return;
        }
        let expected = self.everyone();
        let missing = expected.minus(&self.state.active);
        let mut splits: Vec<Split> = self.splits.clone();
        for (lanes, split) in &self.departures {
            let known = splits.iter().any(|s| s.id == split.id);
            if !known && (!lanes.and(&missing).is_empty() || split.kind != crate::trace::SplitKind::Known) {
                splits.push(split.clone());
            }
        }
        let barrier = Barrier {
            span,
            name: Arc::from(name),
            calls: self.calls.clone(),
            active: self.state.active,
            expected,
            doubt: self.state.doubt.clone(),
            splits,
            count,
        };
        let seen = |b: &Barrier| {
            b.span == span
                && b.active == barrier.active
                && b.expected == barrier.expected
                && b.calls == barrier.calls
                && b.splits.iter().map(|s| s.span).eq(barrier.splits.iter().map(|s| s.span))
        };
        if self.trace.barriers.len() < 4096 && !self.trace.barriers.iter().any(seen) {
            self.trace.barriers.push(barrier);
        }
    }

    /// Notes that the active threads leave a function or loop because of the conditions around.
    pub fn note_departure(&mut self) {
        if let Some(split) = self.splits.last() {
            self.departures.push((self.state.active, split.clone()));
        }
    }
}

fn normalise(mut offsets: [i64; 32], mask: u32) -> [i64; 32] {
    let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
    let lowest = lanes.clone().map(|lane| offsets[lane]).min().unwrap_or(0);
    let shift = lowest.div_euclid(WINDOW) * WINDOW;
    for lane in lanes {
        offsets[lane] = offsets[lane].wrapping_sub(shift);
    }
    offsets
}

/// The type's alignment where it is less than its size asks for; 0 when it is natural.
fn split_alignment(ty: &Ty, bytes: Option<u32>) -> u32 {
    match (ty, bytes) {
        (Ty::Record(layout), Some(bytes)) if layout.size == Some(u64::from(bytes)) => {
            layout.align.min(16) as u32
        }
        _ => 0,
    }
}
