//! What do operators and conversions make of values? C++ integer semantics live here.

use super::int::{Int, NotAffine};
use super::lanes::Bits;
use super::machine::{Machine, Mode};
use super::symbol::{Origin, SymbolId};
use super::types::Ty;
use super::value::{Condition, Offset, Pointer, Reason, Relation, Steps, Target, Unknown, Value, Variation};
use crate::ir::{BinaryOp, Scalar, UnaryOp};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// A binary operator other than `&&` and `||`.
    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value, span: Span) -> Value {
        if let Some(relation) = relation(op) {
            return self.compare(relation, a, b, span);
        }
        match (a, b) {
            (Value::Int(x, _), Value::Int(y, _)) => {
                let scalar = promote(scalar_of(a), scalar_of(b), op);
                self.integer_operation(op, x, y, scalar, span)
            }
            (Value::Pointer(p), _) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => match b {
                Value::Pointer(q) => self.pointer_difference(p, q, span),
                _ => {
                    self.note_flattened(p);
                    let sign = if op == BinaryOp::Add { 1 } else { -1 };
                    Value::Pointer(self.advance(p, b, sign, span))
                }
            },
            (_, Value::Pointer(p)) if op == BinaryOp::Add => {
                self.note_flattened(p);
                Value::Pointer(self.advance(p, a, 1, span))
            }
            (Value::Pointer(p), _) => self.address_operation(op, p, b, span),
            (Value::Float(_), _) | (_, Value::Float(_)) => float_operation(op, a, b, span),
            (Value::Opaque(va, why), other) | (other, Value::Opaque(va, why)) => {
                Value::Opaque((*va).max(other.variation()), why.clone())
            }
            _ => {
                let scalar = promote(scalar_of(a), scalar_of(b), op);
                match (self.number(a, span), self.number(b, span)) {
                    (Ok(x), Ok(y)) => self.integer_operation(op, &x, &y, scalar, span),
                    (Err(why), _) | (_, Err(why)) => Value::Opaque(a.variation().max(b.variation()), why),
                }
            }
        }
    }

    /// An operator over integers, wrapped into its type.
    pub fn integer_operation(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar, span: Span) -> Value {
        if let Some(value) = self.host_operation(op, x, y, scalar) {
            return value;
        }
        self.note_pitched_operation(op, x, y, span);
        let world = &mut self.world;
        let result = match op {
            BinaryOp::Add => Ok(world.add(x, y)),
            BinaryOp::Sub => Ok(world.sub(x, y)),
            BinaryOp::Mul => world.mul(x, y),
            BinaryOp::Div => world.div(x, y),
            BinaryOp::Rem => world.rem(x, y),
            BinaryOp::Shl => world.shl(x, y),
            BinaryOp::Shr => world.shr(x, y),
            BinaryOp::And => world.and(x, y),
            BinaryOp::Or => world.or(x, y),
            BinaryOp::Xor => world.xor(x, y),
            _ => Err(NotAffine),
        };
        self.integer_result(result, x, y, scalar, span)
    }

    /// Wraps a result into its type; one that is not affine becomes a symbol or unknown.
    pub fn integer_result(
        &mut self,
        result: Result<Int, NotAffine>,
        x: &Int,
        y: &Int,
        scalar: Scalar,
        span: Span,
    ) -> Value {
        match result {
            Ok(int) => {
                let bits = scalar.bytes() as u32 * 8;
                Value::Int(self.world.wrap(int, bits, !scalar.is_unsigned()), scalar)
            }
            Err(NotAffine) if x.is_uniform() && y.is_uniform() => {
                let id = self.world.symbols.fresh("an intermediate value".into(), Origin::Given, None, None);
                Value::Int(Int::symbol(id), scalar)
            }
            Err(NotAffine) => {
                let names: Vec<&str> = x
                    .terms
                    .iter()
                    .chain(&y.terms)
                    .map(|(id, _)| self.world.symbols.get(*id).name.as_ref())
                    .collect();
                let detail = match names.first() {
                    Some(name) => format!("it depends on `{name}` in a way that is not affine"),
                    None => "it is not affine".to_string(),
                };
                Value::Opaque(Variation::Maybe, Unknown::new(Reason::NotAffine, span, detail))
            }
        }
    }

    /// Arithmetic on a shared address held in an integer: `^` and `|` with a swizzle, `&`.
    fn address_operation(&mut self, op: BinaryOp, p: &Pointer, b: &Value, span: Span) -> Value {
        if let (Target::Memory(object, Offset::Known(offset)), Value::Int(y, _)) = (&p.target, b) {
            let (object, offset, y) = (*object, offset.clone(), y.clone());
            if matches!(op, BinaryOp::Xor | BinaryOp::Or | BinaryOp::And)
                && let Value::Int(moved, _) = self.integer_operation(op, &offset, &y, Scalar::I64, span)
            {
                let target = Target::Memory(object, Offset::Known(moved));
                return Value::Pointer(Pointer { target, pointee: p.pointee.clone() });
            }
        }
        self.note_pitched_escape(&Value::Pointer(p.clone()), span, "its address is used as a number");
        let why = Unknown::new(Reason::UnknownPointer, span, "an address used as a number");
        Value::Opaque(Variation::Maybe, why)
    }

    fn pointer_difference(&mut self, p: &Pointer, q: &Pointer, span: Span) -> Value {
        if let (Target::Memory(a, Offset::Known(x)), Target::Memory(b, Offset::Known(y))) =
            (&p.target, &q.target)
            && a == b
            && let Some(size) = p.pointee.constant_size()
        {
            let bytes = self.world.sub(x, y);
            return self.integer_operation(
                BinaryOp::Div,
                &bytes,
                &Int::constant(size as i64),
                Scalar::I64,
                span,
            );
        }
        let why = Unknown::new(Reason::UnknownPointer, span, "a difference of pointers");
        Value::Opaque(Variation::Maybe, why)
    }

    fn compare(&mut self, relation: Relation, a: &Value, b: &Value, span: Span) -> Value {
        let difference = match (a, b) {
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(x, Offset::Known(i)), Target::Memory(y, Offset::Known(j))) if x == y => {
                    Ok(self.world.sub(i, j))
                }
                _ => Err(Unknown::new(Reason::UnknownPointer, span, "a comparison of pointers")),
            },
            (Value::Pointer(_), Value::Int(zero, _)) | (Value::Int(zero, _), Value::Pointer(_))
                if zero.as_constant() == Some(0) =>
            {
                // Pointers given to a kernel may be null; that is the same for every thread.
                Err(Unknown::new(Reason::DataDependent, span, "whether a pointer is null"))
            }
            (Value::Float(x), Value::Float(y)) => {
                Ok(Int::constant(x.partial_cmp(y).map_or(1, |ordering| ordering as i64)))
            }
            (Value::Int(x, _), Value::Int(y, _)) => Ok(self.world.sub(x, y)),
            _ => match (self.number(a, span), self.number(b, span)) {
                (Ok(x), Ok(y)) => Ok(self.world.sub(&x, &y)),
                (Err(why), _) | (_, Err(why)) => Err(why),
            },
        };
        match difference {
            Ok(difference) => self.relation_value(relation, difference, span),
            Err(why) => {
                let variation = a.variation().max(b.variation());
                Value::Condition(Rc::new(Condition::Opaque(variation, why)))
            }
        }
    }

    fn relation_value(&mut self, relation: Relation, difference: Int, span: Span) -> Value {
        let difference = self.refined(difference);
        self.note_pitched_comparison(&difference, span);
        if let Some(known) = difference.as_known() {
            let shape = self.shape();
            return Value::Int(Int::known(known.map(shape, |d| i64::from(relation.holds(d)))), Scalar::Bool);
        }
        let (low, high) = self.world.bounds(&difference);
        let decided = match relation {
            Relation::Less => decide(high.is_some_and(|h| h < 0), low.is_some_and(|l| l >= 0)),
            Relation::LessEqual => decide(high.is_some_and(|h| h <= 0), low.is_some_and(|l| l > 0)),
            Relation::Greater => decide(low.is_some_and(|l| l > 0), high.is_some_and(|h| h <= 0)),
            Relation::GreaterEqual => decide(low.is_some_and(|l| l >= 0), high.is_some_and(|h| h < 0)),
            Relation::Equal | Relation::NotEqual => {
                let apart =
                    low.is_some_and(|l| l > 0) || high.is_some_and(|h| h < 0) || self.never_zero(&difference);
                if relation == Relation::Equal { decide(false, apart) } else { decide(apart, false) }
            }
        };
        match decided {
            Some(truth) => Value::Int(Int::constant(i64::from(truth)), Scalar::Bool),
            None => Value::Condition(Rc::new(Condition::Compare { difference, relation, span })),
        }
    }

    /// Whether the known part is no multiple of what the symbolic part is a multiple of.
    fn never_zero(&self, difference: &Int) -> bool {
        let multiple = difference.terms_gcd() as i64;
        let base = difference.base.spread(self.shape());
        multiple > 1 && base.iter().all(|b| b % multiple != 0)
    }

    /// A unary operator.
    pub fn unary(&mut self, op: UnaryOp, value: Value, span: Span) -> Value {
        if op == UnaryOp::Not {
            return match self.condition_of(&value, span) {
                Condition::Known(bits) => {
                    let flipped = self.world.all.minus(&bits);
                    self.from_bits(&flipped)
                }
                other => Value::Condition(Rc::new(Condition::Not(Rc::new(other)))),
            };
        }
        match (&value, op) {
            (Value::Float(x), UnaryOp::Neg) => Value::Float(-x),
            (Value::Opaque(..), _) | (_, UnaryOp::Plus) => value,
            _ => match self.number(&value, span) {
                Ok(int) => {
                    let scalar = promote(scalar_of(&value), Scalar::I32, BinaryOp::Add);
                    let negated = self.world.scale(&int, -1);
                    let result = match op {
                        UnaryOp::BitNot => self.world.add(&negated, &Int::constant(-1)),
                        _ => negated,
                    };
                    self.integer_result(Ok(result), &int, &int, scalar, span)
                }
                Err(why) => Value::Opaque(value.variation(), why),
            },
        }
    }

    /// A set of threads as an integer, 1 inside and 0 outside.
    #[must_use]
    pub fn from_bits(&self, bits: &Bits) -> Value {
        if bits.is_empty() || *bits == self.world.all {
            return Value::Int(Int::constant(i64::from(!bits.is_empty())), Scalar::Bool);
        }
        let shape = self.shape();
        let lanes = (0..shape.threads()).map(|t| i64::from(bits.has(t))).collect();
        Value::Int(Int::known(super::lanes::Lanes::close(lanes, shape)), Scalar::Bool)
    }

    /// Converts to a type, as an assignment or cast does.
    pub fn convert(&mut self, value: Value, ty: &Ty) -> Value {
        match (value, ty) {
            (Value::Int(int, _), Ty::Scalar(Scalar::Bool)) => {
                self.relation_value(Relation::NotEqual, int, super::resolve::NOWHERE)
            }
            (Value::Int(int, from), Ty::Scalar(to)) if to.is_integer() => {
                let narrower = to.bytes() < from.bytes() || to.is_unsigned() != from.is_unsigned();
                let int = if narrower || to.bytes() <= 4 {
                    self.world.wrap(int, to.bytes() as u32 * 8, !to.is_unsigned())
                } else {
                    int
                };
                Value::Int(int, *to)
            }
            (Value::Int(int, _), Ty::Scalar(_)) => match int.as_constant() {
                Some(number) => Value::Float(number as f64),
                None => {
                    let variation = Value::Int(int, Scalar::I32).variation();
                    Value::Opaque(variation, float_unknown())
                }
            },
            (Value::Float(number), Ty::Scalar(to)) if to.is_integer() => {
                Value::Int(Int::constant(number as i64), *to)
            }
            (Value::Opaque(variation, _), Ty::Scalar(to))
                if to.is_integer() && (variation == Variation::Uniform || self.mode == Mode::Host) =>
            {
                let (low, high) = (super::resolve::low_of(*to), super::resolve::high_of(*to));
                let id =
                    self.world.symbols.fresh("a value given at run time".into(), Origin::Given, low, high);
                Value::Int(Int::symbol(id), *to)
            }
            (Value::Pointer(pointer), Ty::Pointer(inner)) => {
                // `void*` and unknown types keep what is known of the target.
                let pointee =
                    if matches!(**inner, Ty::Unknown(_)) { pointer.pointee } else { (**inner).clone() };
                Value::Pointer(Pointer { pointee, ..pointer })
            }
            (Value::Pointer(pointer), Ty::Scalar(to)) if to.is_integer() && to.bytes() >= 4 => {
                // An address as an integer: arithmetic on it counts bytes.
                Value::Pointer(Pointer { pointee: Ty::Scalar(Scalar::U8), ..pointer })
            }
            (value, _) => value,
        }
    }

    /// `a` in the threads of `mask`, `b` elsewhere.
    #[must_use]
    pub fn blend(&self, a: &Value, b: &Value, mask: &Bits) -> Value {
        if a == b || matches!(b, Value::Undefined) {
            return a.clone();
        }
        match (a, b) {
            (Value::Int(x, scalar), Value::Int(y, _)) => Value::Int(self.world.blend(x, y, mask), *scalar),
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(o, Offset::Known(x)), Target::Memory(r, Offset::Known(y))) if o == r => {
                    let target = Target::Memory(*o, Offset::Known(self.world.blend(x, y, mask)));
                    Value::Pointer(Pointer { target, pointee: p.pointee.clone() })
                }
                _ => self.lost(a, b),
            },
            (Value::Aggregate(x), Value::Aggregate(y)) => merge_parts(x, y, |a, b| self.blend(a, b, mask)),
            _ => self.lost(a, b),
        }
    }

    /// Either value, in a way that is not followed. A pointer keeps its object when it can.
    #[must_use]
    pub fn lost(&self, a: &Value, b: &Value) -> Value {
        let why = match (a, b) {
            (Value::Opaque(_, why), _) | (_, Value::Opaque(_, why)) => why.clone(),
            _ => Unknown::new(
                Reason::DataDependentMask,
                super::resolve::NOWHERE,
                "it differs between the branches of a condition that is not known per thread",
            ),
        };
        let shared = |v: &Value| match v {
            Value::Pointer(Pointer { target: Target::Memory(object, _), pointee }) => {
                Some((*object, pointee.clone()))
            }
            _ => None,
        };
        if let (Some((object, pointee)), Some((other, _))) = (shared(a), shared(b)) {
            let detail = if object == other {
                "its pointer depends on a condition"
            } else {
                "it points to one of two arrays"
            };
            let why = Unknown::new(Reason::UnknownPointer, why.span, detail);
            let target = Target::Memory(object, Offset::Unknown(Variation::Maybe, why));
            return Value::Pointer(Pointer { target, pointee });
        }
        let variation = a.variation().max(b.variation()).max(Variation::Maybe);
        Value::Opaque(variation, why)
    }

    /// `a` when the uniform `choice` is 1, `b` when it is 0.
    pub fn choose(&mut self, a: &Value, b: &Value, choice: SymbolId) -> Value {
        if a == b {
            return a.clone();
        }
        if let Some(value) = self.host_choose(a, b, choice) {
            return value;
        }
        match (a, b) {
            (Value::Undefined, other) | (other, Value::Undefined) => other.clone(),
            (Value::Int(x, scalar), Value::Int(y, _)) => {
                let difference = self.world.sub(x, y);
                match self.world.mul(&difference, &Int::symbol(choice)) {
                    Ok(part) => Value::Int(self.world.add(y, &part), *scalar),
                    Err(NotAffine) => self.lost(a, b),
                }
            }
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(o, Offset::Known(x)), Target::Memory(r, Offset::Known(y))) if o == r => {
                    let difference = self.world.sub(x, y);
                    match self.world.mul(&difference, &Int::symbol(choice)) {
                        Ok(part) => {
                            let target = Target::Memory(*o, Offset::Known(self.world.add(y, &part)));
                            Value::Pointer(Pointer { target, pointee: p.pointee.clone() })
                        }
                        Err(NotAffine) => self.lost(a, b),
                    }
                }
                _ => self.lost(a, b),
            },
            (Value::Aggregate(x), Value::Aggregate(y)) => {
                let (x, y) = (Rc::clone(x), Rc::clone(y));
                let mut merged = Vec::new();
                for (path, left) in x.iter() {
                    let right = y.iter().find(|(other, _)| other == path);
                    let value = match right {
                        Some((_, right)) => self.choose(left, right, choice),
                        None => left.clone(),
                    };
                    merged.push((path.clone(), value));
                }
                merged.extend(y.iter().filter(|(path, _)| !x.iter().any(|(p, _)| p == path)).cloned());
                Value::Aggregate(Rc::new(merged))
            }
            _ => {
                let uniform = a.variation() == Variation::Uniform && b.variation() == Variation::Uniform;
                match self.lost(a, b) {
                    Value::Opaque(_, why) if uniform => Value::Opaque(Variation::Uniform, why),
                    other => other,
                }
            }
        }
    }
}

fn merge_parts(x: &[(Steps, Value)], y: &[(Steps, Value)], merge: impl Fn(&Value, &Value) -> Value) -> Value {
    let mut merged: Vec<(Steps, Value)> = Vec::new();
    for (path, left) in x {
        let right = y.iter().find(|(other, _)| other == path);
        merged.push((path.clone(), right.map_or_else(|| left.clone(), |(_, right)| merge(left, right))));
    }
    merged.extend(y.iter().filter(|(path, _)| !x.iter().any(|(p, _)| p == path)).cloned());
    Value::Aggregate(Rc::new(merged))
}

fn decide(yes: bool, no: bool) -> Option<bool> {
    if yes {
        Some(true)
    } else if no {
        Some(false)
    } else {
        None
    }
}

fn relation(op: BinaryOp) -> Option<Relation> {
    Some(match op {
        BinaryOp::Lt => Relation::Less,
        BinaryOp::Le => Relation::LessEqual,
        BinaryOp::Gt => Relation::Greater,
        BinaryOp::Ge => Relation::GreaterEqual,
        BinaryOp::Eq => Relation::Equal,
        BinaryOp::Ne => Relation::NotEqual,
        _ => return None,
    })
}

/// The type of a value in arithmetic.
#[must_use]
pub fn scalar_of(value: &Value) -> Scalar {
    match value {
        Value::Int(_, scalar) => *scalar,
        Value::Float(_) => Scalar::F64,
        _ => Scalar::I32,
    }
}

/// The usual arithmetic conversions; a shift has its left operand's type.
#[must_use]
pub fn promote(a: Scalar, b: Scalar, op: BinaryOp) -> Scalar {
    let promoted = |s: Scalar| if s.bytes() < 4 { Scalar::I32 } else { s };
    let (a, b) = (promoted(a), promoted(b));
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        return a;
    }
    let wider = if a.bytes() >= b.bytes() { a } else { b };
    let unsigned =
        (a.bytes() == wider.bytes() && a.is_unsigned()) || (b.bytes() == wider.bytes() && b.is_unsigned());
    match (wider.bytes(), unsigned) {
        (8, true) => Scalar::U64,
        (8, false) => Scalar::I64,
        (_, true) => Scalar::U32,
        (_, false) => Scalar::I32,
    }
}

pub(super) fn float_unknown() -> Unknown {
    Unknown::new(Reason::Unsupported, super::resolve::NOWHERE, "a floating-point value")
}

fn float_operation(op: BinaryOp, a: &Value, b: &Value, span: Span) -> Value {
    let number = |v: &Value| match v {
        Value::Float(x) => Some(*x),
        Value::Int(int, _) => int.as_constant().map(|x| x as f64),
        _ => None,
    };
    match (number(a), number(b), op) {
        (Some(x), Some(y), BinaryOp::Add) => Value::Float(x + y),
        (Some(x), Some(y), BinaryOp::Sub) => Value::Float(x - y),
        (Some(x), Some(y), BinaryOp::Mul) => Value::Float(x * y),
        (Some(x), Some(y), BinaryOp::Div) => Value::Float(x / y),
        _ => {
            let why = Unknown::new(Reason::Unsupported, span, "a floating-point value");
            Value::Opaque(a.variation().max(b.variation()), why)
        }
    }
}
