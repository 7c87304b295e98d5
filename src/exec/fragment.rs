//! Which requests does a `nvcuda::wmma` call make?
//!
//! Reads the fragment's type, the leading dimension and the layout off a call; which elements each lane
//! then moves is known to [`banks::fragment`](crate::banks::fragment). Other tiles are not known.

use super::machine::Machine;
use super::tree::Together;
use super::types::Ty;
use super::value::{Fragment, Offset, Pointer, Target, Value};
use crate::banks::fragment::{Element, FragmentRequest, Role, Tile};
use crate::domain::{Int, Lanes, Reason, Unknown, Variation};
use crate::events::{AccessOp, Tile as Lines};
use crate::ir::{Expr, ExprKind, Name, Path, Scalar, TemplateArg, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes by a multiple of which a tile starts, and its lines lie apart: the CUDA C++ Programming Guide asks for
/// a 256-bit aligned pointer, and for a leading dimension of a multiple of 8 `half`s or 4 `float`s.
const TILE_ALIGN: u64 = 32;
const LINE_ALIGN: u64 = 16;

impl Fragment {
    /// The type of a member: `x` are the elements that a thread holds, in registers.
    pub(crate) fn member(&self, name: &Name) -> Ty {
        match &**name {
            "x" => Ty::Array(Rc::new(self.element.clone()), None),
            _ => Ty::Unknown(name.clone()),
        }
    }
}

impl Machine<'_> {
    /// `wmma::fragment` with these arguments.
    pub(crate) fn fragment_type(&mut self, path: &Path) -> Option<Ty> {
        let args = path.args.as_deref().filter(|_| &*path.name == "fragment")?;
        let number = |machine: &mut Self, arg: &TemplateArg| match arg {
            TemplateArg::Value(expr) => machine.constant(expr),
            TemplateArg::Type(Type::Named(name)) => match machine.lookup(name, super::value::NOWHERE) {
                Value::Int(int, _) => int.as_constant(),
                _ => None,
            },
            TemplateArg::Type(_) => None,
        };
        let [role, m, n, k, element, layout @ ..] = args else { return None };
        let shape = [m, n, k].map(|arg| number(self, arg));
        let element = self.argument_type(element)?;
        let role = name_of(self.argument_type(role)?)?;
        let layout = layout.first().and_then(|arg| self.argument_type(arg)).and_then(name_of);
        Some(Ty::Fragment(Rc::new(Fragment { role, shape, element, layout })))
    }

    /// A template argument that stands for a type, even if the grammar took it for a value.
    fn argument_type(&mut self, arg: &TemplateArg) -> Option<Ty> {
        match arg {
            TemplateArg::Type(ty) => Some(self.resolve_type(ty)),
            TemplateArg::Value(expr) => match &expr.kind {
                ExprKind::Path(path) => Some(self.resolve_type(&Type::Named(path.clone()))),
                _ => None,
            },
        }
    }

    /// `load_matrix_sync(fragment, pointer, ld, layout)`, `store_matrix_sync(pointer, fragment, ld, layout)`.
    pub(crate) fn fragment_access(&mut self, load: bool, args: &[Expr], span: Span) -> Value {
        let (fragment, pointer) = if load { (&args[0], &args[1]) } else { (&args[1], &args[0]) };
        let tile = match self.locate(fragment).map(|place| place.pointee) {
            Ok(Ty::Fragment(fragment)) => tile(&fragment, args.get(3), load),
            _ => None,
        };
        let requests = tile.and_then(|tile| Some((tile, tile.requests()?)));
        let pointer = self.evaluate(pointer);
        // All lanes of the warp come to the call before any of them goes on.
        self.warp_order(Together::Warp, false, span);
        if !matches!(&pointer, Value::Pointer(pointer) if self.is_shared(pointer)) {
            match load {
                true => self.reads_unrecorded(span),
                false => self.writes_unrecorded(span),
            }
        }
        let Value::Pointer(pointer) = pointer else { return Value::Undefined };
        let ld = self.evaluate(&args[2]);
        self.note_flattened(&pointer);
        if !self.is_shared(&pointer) {
            return Value::Undefined;
        }
        let (Target::Memory(object, Offset::Known(start)), Some((tile, requests)), Ok(ld)) =
            (&pointer.target, requests, self.number(&ld, span))
        else {
            self.record_unknown_fragment(load, &pointer, span);
            return Value::Undefined;
        };
        let size = i64::from(tile.element.bytes());
        let lane = |thread: i64, of: &[(u32, u32); 32]| of[thread as usize % 32];
        let address = |machine: &mut Self, of: &[(u32, u32); 32]| {
            let lines = machine.by_thread(&|thread| i64::from(lane(thread, of).0));
            let places = machine.by_thread(&|thread| i64::from(lane(thread, of).1));
            let down = machine.world.mul(&lines, &ld).ok()?;
            let sum = machine.world.add(&down, &places);
            let moved = machine.world.scale(&sum, size);
            let target = Target::Memory(*object, Offset::Known(machine.world.add(start, &moved)));
            Some(Pointer { target, pointee: Ty::Scalar(Scalar::U8), volatile: false })
        };
        let parts = ld.as_constant().and_then(|ld| parts(&requests, ld, size));
        let requests: Option<Vec<(FragmentRequest, Pointer)>> =
            requests.into_iter().map(|request| Some((request, address(self, &request.lanes)?))).collect();
        let Some(requests) = requests else {
            self.record_unknown_fragment(load, &pointer, span);
            return Value::Undefined;
        };
        let are_multiples = |of: &Int, bytes: u64| {
            let terms = of.terms.iter().all(|(_, factor)| factor.gcd().is_multiple_of(bytes));
            of.base.gcd().is_multiple_of(bytes) && terms
        };
        self.at_hand.tiles_fit =
            are_multiples(start, TILE_ALIGN) && are_multiples(&self.world.scale(&ld, size), LINE_ALIGN);
        self.at_hand.fragment = true;
        self.at_hand.lines_apart = Some(self.world.scale(&ld, size));
        for (number, (request, pointer)) in requests.into_iter().enumerate() {
            self.at_hand.tile = parts.as_ref().and_then(|parts| parts.get(number).cloned());
            self.at_hand.matrices = request.matrices;
            let op = match (request.matrices, load) {
                (0, true) => AccessOp::Load,
                (0, false) => AccessOp::Store,
                _ => AccessOp::MatrixLoad,
            };
            self.record_bytes(op, &pointer, Some(request.bytes.into()), span, None);
        }
        (self.at_hand.matrices, self.at_hand.fragment, self.at_hand.tiles_fit, self.at_hand.tile) =
            (0, false, true, None);
        self.at_hand.lines_apart = None;
        Value::Undefined
    }

    /// A known number for each thread, by its linear index.
    fn by_thread(&self, number: &dyn Fn(i64) -> i64) -> Int {
        let shape = self.shape();
        let lanes = (0..shape.threads() as i64).map(number).collect();
        Int::known(Lanes::close(lanes, shape))
    }

    fn record_unknown_fragment(&mut self, load: bool, pointer: &Pointer, span: Span) {
        let op = if load { AccessOp::MatrixLoad } else { AccessOp::MatrixStore };
        let why = match &pointer.target {
            Target::Memory(_, Offset::Unknown(_, why, ..)) => why.clone(),
            _ => Unknown::new(
                Reason::Hardware,
                span,
                "how this wmma fragment is spread over the lanes is neither documented nor measured",
            ),
        };
        if let Target::Memory(object, _) = pointer.target {
            let target = Target::Memory(object, Offset::unknown(Variation::Varying, why));
            self.record(op, &Pointer { target, ..pointer.clone() }, span, None);
        }
    }
}

/// By request: the part of the tile that its lanes ask for, of lines that are `ld` elements of `size` bytes apart.
fn parts(requests: &[FragmentRequest], ld: i64, size: i64) -> Option<Vec<Arc<Lines>>> {
    let distance = ld.checked_mul(size)?;
    let own = |request: &FragmentRequest| {
        let ends = request.lanes.iter().map(|(_, at)| at.saturating_mul(size as u32) + request.bytes);
        let lines = request.lanes.iter().map(|(line, _)| line + 1);
        Some((lines.max()?, ends.max()?))
    };
    let all = requests.iter().map(own).collect::<Option<Vec<_>>>()?;
    let (lines, length) = all.into_iter().reduce(|(a, b), (c, d)| (a.max(c), b.max(d)))?;
    let part = |request: &FragmentRequest| {
        let lane =
            |(line, at): (u32, u32)| i64::from(line).checked_mul(distance)?.checked_add(i64::from(at) * size);
        let mut lanes = [0; 32];
        for (to, place) in lanes.iter_mut().zip(request.lanes) {
            *to = lane(place)?;
        }
        Some(Arc::new(Lines { distance, lines, length, element: size as u32, lanes }))
    };
    requests.iter().map(part).collect()
}

/// The tile in memory, by the fragment and the layout that a call names for it.
fn tile(fragment: &Fragment, layout: Option<&Expr>, load: bool) -> Option<Tile> {
    let [Some(m), Some(n), Some(k)] = fragment.shape.map(|extent| u32::try_from(extent?).ok()) else {
        return None;
    };
    let role = match &*fragment.role {
        "matrix_a" if load => Role::A,
        "matrix_b" if load => Role::B,
        "accumulator" => Role::Accumulator,
        _ => return None,
    };
    let named = |layout: &Expr| match &layout.kind {
        ExprKind::Path(path) => Some(Name::clone(&path.name)),
        _ => None,
    };
    let layout = if role == Role::Accumulator { named(layout?)? } else { fragment.layout.clone()? };
    let by_row = match &*layout {
        "row_major" | "mem_row_major" => true,
        "col_major" | "mem_col_major" => false,
        _ => return None,
    };
    let element = match &fragment.element {
        Ty::Scalar(Scalar::I8 | Scalar::U8) => Element::Byte,
        Ty::Scalar(Scalar::I32) => Element::Int,
        Ty::Scalar(Scalar::F32) => Element::Float,
        Ty::Scalar(Scalar::F64) => Element::Double,
        Ty::Sized { size: 2, name } if name.ends_with("bfloat16") || &**name == "bfloat16_t" => {
            Element::Bfloat16
        }
        Ty::Sized { size: 2, .. } => Element::Half,
        Ty::Unknown(name) if &**name == "tf32" => Element::Tf32,
        _ => return None,
    };
    Some(Tile { role, shape: [m, n, k], element, by_row })
}

/// `row_major`, which is nothing but a name.
fn name_of(ty: Ty) -> Option<Name> {
    match ty {
        Ty::Unknown(name) => Some(name),
        _ => None,
    }
}
