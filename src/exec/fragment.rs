//! Which requests does a `nvcuda::wmma` call make?
//!
//! How a fragment is spread over the lanes is not documented, but measured for tiles of 16x16x16
//! (`fixtures/hardware/wmma-sm90.csv`, `tests/hardware.rs`), and the machine code of every target from
//! 8.0 on loads and stores them alike:
//!
//! | fragment | layout | one call |
//! |---|---|---|
//! | `matrix_a`, `matrix_b` of `half` | any | one `ldmatrix.x4`: lane `l` addresses row (or, column major, column) `l % 16`, the 16 bytes `l / 16` of it |
//! | accumulator of `float` | row major | for each 8x8 quarter 8 bytes: lane `l` holds row `l / 4`, columns `2 * (l % 4)` and the next |
//! | accumulator of `float` | column major | the same elements, one column apart: two requests of 4 bytes for each quarter |
//!
//! Anything else is not known.

use super::int::Int;
use super::lanes::Lanes;
use super::machine::Machine;
use super::types::Ty;
use super::value::{Offset, Pointer, Reason, Target, Unknown, Value, Variation};
use crate::ir::{Expr, Name, Path, Scalar, TemplateArg, Type};
use crate::source::Span;
use crate::verdict::AccessOp;
use std::rc::Rc;

/// The type `wmma::fragment<role, m, n, k, element, layout>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// `matrix_a`, `matrix_b` or `accumulator`, as written.
    role: Name,
    /// m, n and k, as far as known.
    shape: [Option<i64>; 3],
    element: Ty,
    /// `row_major` or `col_major`, as written.
    layout: Option<Name>,
}

/// What a call moves, of what is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tile {
    /// Rows (or columns) of 16 halves.
    Halves,
    /// 16x16 floats.
    Floats { by_row: bool },
}

impl Machine<'_> {
    /// `wmma::fragment` with these arguments.
    pub fn fragment_type(&mut self, path: &Path) -> Option<Ty> {
        let args = path.args.as_deref().filter(|_| &*path.name == "fragment")?;
        let number = |machine: &mut Self, arg: &TemplateArg| match arg {
            TemplateArg::Value(expr) => machine.constant(expr),
            TemplateArg::Type(Type::Named(name)) => match machine.lookup(name, super::resolve::NOWHERE) {
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
                crate::ir::ExprKind::Path(path) => Some(self.resolve_type(&Type::Named(path.clone()))),
                _ => None,
            },
        }
    }

    /// `load_matrix_sync(fragment, pointer, ld, layout)`, `store_matrix_sync(pointer, fragment, ld, layout)`.
    pub fn fragment_access(&mut self, load: bool, args: &[Expr], span: Span) -> Value {
        let (fragment, pointer) = if load { (&args[0], &args[1]) } else { (&args[1], &args[0]) };
        let tile = match self.locate(fragment).map(|place| place.pointee) {
            Ok(Ty::Fragment(fragment)) => tile(&fragment, args.get(3), load),
            _ => None,
        };
        let Value::Pointer(pointer) = self.evaluate(pointer) else { return Value::Undefined };
        let ld = self.evaluate(&args[2]);
        self.note_flattened(&pointer);
        if !self.is_shared(&pointer) {
            return Value::Undefined;
        }
        let (Target::Memory(object, Offset::Known(start)), Some(tile), Ok(ld)) =
            (&pointer.target, tile, self.number(&ld, span))
        else {
            self.record_unknown_fragment(load, &pointer, span);
            return Value::Undefined;
        };
        let plain = if load { AccessOp::Load } else { AccessOp::Store };
        let lane = |x: i64| x % 32;
        let bytes = |machine: &mut Self, row: &dyn Fn(i64) -> i64, column: &dyn Fn(i64) -> i64, size: i64| {
            let rows = machine.by_lane(&|x| row(lane(x)));
            let columns = machine.by_lane(&|x| column(lane(x)));
            let down = machine.world.mul(&rows, &ld).ok()?;
            let sum = machine.world.add(&down, &columns);
            let moved = machine.world.scale(&sum, size);
            let target = Target::Memory(*object, Offset::Known(machine.world.add(start, &moved)));
            Some(Pointer { target, pointee: Ty::Scalar(Scalar::U8) })
        };
        let mut requests: Vec<(AccessOp, u64, Option<Pointer>)> = Vec::new();
        match tile {
            Tile::Halves => {
                let rows = bytes(self, &|l| l % 16, &|l| l / 16 * 8, 2);
                requests.push((AccessOp::MatrixLoad, 16, rows));
            }
            Tile::Floats { by_row } => {
                for quarter in 0..4 {
                    let row = |l: i64| quarter / 2 * 8 + l / 4;
                    let column = |right: i64| move |l: i64| quarter % 2 * 8 + 2 * (l % 4) + right;
                    if by_row {
                        requests.push((plain, 8, bytes(self, &row, &column(0), 4)));
                    } else {
                        requests.push((plain, 4, bytes(self, &column(0), &row, 4)));
                        requests.push((plain, 4, bytes(self, &column(1), &row, 4)));
                    }
                }
            }
        }
        if requests.iter().any(|(_, _, request)| request.is_none()) {
            self.record_unknown_fragment(load, &pointer, span);
            return Value::Undefined;
        }
        self.fragment = true;
        for (op, size, request) in requests {
            self.matrices = if op == AccessOp::MatrixLoad { 4 } else { 0 };
            if let Some(request) = request {
                self.record_bytes(op, &request, Some(size), span, None);
            }
        }
        (self.matrices, self.fragment) = (0, false);
        Value::Undefined
    }

    /// A known number for each thread, by its linear index.
    fn by_lane(&self, number: &dyn Fn(i64) -> i64) -> Int {
        let shape = self.shape();
        let lanes = (0..shape.threads() as i64).map(number).collect();
        Int::known(Lanes::close(lanes, shape))
    }

    fn record_unknown_fragment(&mut self, load: bool, pointer: &Pointer, span: Span) {
        let op = if load { AccessOp::MatrixLoad } else { AccessOp::MatrixStore };
        let why = match &pointer.target {
            Target::Memory(_, Offset::Unknown(_, why)) => why.clone(),
            _ => Unknown::new(
                Reason::Hardware,
                span,
                "how this wmma fragment is spread over the lanes is neither documented nor measured",
            ),
        };
        if let Target::Memory(object, _) = pointer.target {
            let target = Target::Memory(object, Offset::Unknown(Variation::Varying, why));
            self.record(op, &Pointer { target, pointee: pointer.pointee.clone() }, span, None);
        }
    }
}

/// What is measured of a fragment and the layout that a call names for it.
fn tile(fragment: &Fragment, layout: Option<&Expr>, load: bool) -> Option<Tile> {
    if fragment.shape != [Some(16); 3] {
        return None;
    }
    let half = matches!(&fragment.element, Ty::Sized { name, .. } if matches!(&**name, "half" | "__half"));
    let named = |layout: &Expr| match &layout.kind {
        crate::ir::ExprKind::Path(path) => Some(Name::clone(&path.name)),
        _ => None,
    };
    match (&*fragment.role, &fragment.layout) {
        ("matrix_a" | "matrix_b", Some(_)) if half && load => Some(Tile::Halves),
        ("accumulator", None) if fragment.element == Ty::Scalar(Scalar::F32) => match &*named(layout?)? {
            "mem_row_major" => Some(Tile::Floats { by_row: true }),
            "mem_col_major" => Some(Tile::Floats { by_row: false }),
            _ => None,
        },
        _ => None,
    }
}

/// `row_major`, which is nothing but a name.
fn name_of(ty: Ty) -> Option<Name> {
    match ty {
        Ty::Unknown(name) => Some(name),
        _ => None,
    }
}
