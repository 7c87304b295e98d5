//! What do operators and conversions make of values? C++ integer semantics live here.

use super::alternatives::one_of_two;
use super::arithmetic::{promote, scalar_of, undefined};
use super::machine::{Machine, Mode};
use super::parts::merge_parts;
use super::revised::lost_parts;
use super::types::Ty;
use super::value::{Condition, Offset, Place, Pointer, Relation, Step, Target, Value};
use crate::domain::{Int, Lanes, Origin, Reason, ThreadSet, Unknown, Variation};
use crate::ir::{BinaryOp, Scalar, UnaryOp};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// A binary operator other than `&&` and `||`.
    pub(crate) fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value, span: Span) -> Value {
        if let Some(relation) = relation(op) {
            return self.compare(relation, a, b, span);
        }
        match (a, b) {
            _ if matches!(op, BinaryOp::And | BinaryOp::Or) && are_truths(a, b) => {
                let (a, b) = (self.condition_of(a, span), self.condition_of(b, span));
                self.both_operands(a, b, op == BinaryOp::And)
            }
            (Value::Int(x, from_x), Value::Int(y, from_y)) => {
                self.integer_binary(op, (x, *from_x), (y, *from_y), span)
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
            (Value::Float(..), _) | (_, Value::Float(..)) => float_operation(op, a, b, span),
            (Value::Opaque(_, why, _), _) | (_, Value::Opaque(_, why, _)) => {
                let variation = a.variation().max(b.variation());
                self.own_binary(op, (a, b), variation, why.clone(), span)
            }
            _ => match (self.number(a, span), self.number(b, span)) {
                (Ok(x), Ok(y)) => self.integer_binary(op, (&x, scalar_of(a)), (&y, scalar_of(b)), span),
                (Err(why), _) | (_, Err(why)) => Value::opaque(a.variation().max(b.variation()), why),
            },
        }
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
        Value::opaque(Variation::Maybe, why)
    }

    fn compare(&mut self, relation: Relation, a: &Value, b: &Value, span: Span) -> Value {
        if let Some(condition) = compared_with_truth(relation, a, b) {
            return condition;
        }
        let difference = match (a, b) {
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(x, Offset::Known(i)), Target::Memory(y, Offset::Known(j))) if x == y => {
                    Ok(self.world.sub(i, j))
                }
                (Target::Place(x), Target::Place(y)) if let Some(elements) = elements_between(x, y) => {
                    Ok(Int::constant(elements))
                }
                _ => Err(Unknown::new(Reason::UnknownPointer, span, "a comparison of pointers")),
            },
            (Value::Pointer(_), Value::Int(zero, _)) | (Value::Int(zero, _), Value::Pointer(_))
                if zero.as_constant() == Some(0) =>
            {
                // Pointers given to a kernel may be null; that is the same for every thread.
                Err(Unknown::new(Reason::DataDependent, span, "whether a pointer is null"))
            }
            (Value::Float(..), _) | (_, Value::Float(..)) => match self.compare_floats(relation, a, b) {
                Some(value) => return value,
                None => Err(match (a, b) {
                    (Value::Opaque(_, why, ..), _) | (_, Value::Opaque(_, why, ..)) => why.clone(),
                    _ => float_unknown(),
                }),
            },
            _ => match (self.number(a, span), self.number(b, span)) {
                (Ok(x), Ok(y)) => {
                    return self.compare_integers(relation, (&x, scalar_of(a)), (&y, scalar_of(b)), span);
                }
                (Err(why), _) | (_, Err(why)) => match self.own_comparison(relation, a, b, span) {
                    Some(value) => return value,
                    None => Err(why),
                },
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

    /// Compares known numbers of which one is a floating-point number.
    fn compare_floats(&mut self, relation: Relation, a: &Value, b: &Value) -> Option<Value> {
        let holds = |x: f64, y: f64| match x.partial_cmp(&y) {
            Some(ordering) => relation.orders(ordering),
            None => relation == Relation::NotEqual,
        };
        let shape = self.shape();
        let lanes = match (a, b) {
            (Value::Float(x, _), Value::Float(y, _)) => Lanes::constant(i64::from(holds(*x, *y))),
            (Value::Int(x, from), Value::Float(y, _)) => {
                x.as_known()?.map(shape, |x| i64::from(holds(as_float(x, *from), *y)))
            }
            (Value::Float(x, _), Value::Int(y, from)) => {
                y.as_known()?.map(shape, |y| i64::from(holds(*x, as_float(y, *from))))
            }
            _ => return None,
        };
        Some(Value::Int(Int::known(lanes), Scalar::Bool))
    }

    pub(super) fn relation_value(&mut self, relation: Relation, difference: Int, span: Span) -> Value {
        let difference = self.refined(difference);
        self.note_pitched_comparison(&difference, span);
        if let Some(known) = difference.as_known() {
            let shape = self.shape();
            return Value::Int(Int::known(known.map(shape, |d| i64::from(relation.holds(d)))), Scalar::Bool);
        }
        match self.decided_here(relation, &difference, span) {
            Some(truth) => Value::Int(Int::constant(i64::from(truth)), Scalar::Bool),
            None => Value::Condition(Rc::new(Condition::Compare { difference, relation, span })),
        }
    }

    /// Whether a difference has a relation to 0 for all values that its symbols can have; `None` if it depends.
    pub(super) fn decided_by_range(&self, relation: Relation, difference: &Int) -> Option<bool> {
        self.decided_within(relation, difference, self.world.bounds_of_any_sign(difference))
    }

    /// The same on this path, if the comparison at `span` is of such numbers as path conditions are about.
    pub(super) fn decided_here(&self, relation: Relation, difference: &Int, span: Span) -> Option<bool> {
        match relation {
            _ if !self.is_told_of(difference, span) => self.decided_by_range(relation, difference),
            Relation::Equal if self.is_excluded_here(difference) => Some(false),
            Relation::NotEqual if self.is_excluded_here(difference) => Some(true),
            _ => self.decided_within(relation, difference, self.bounds_here(difference)),
        }
    }

    fn decided_within(
        &self,
        relation: Relation,
        difference: &Int,
        (low, high): (Option<i64>, Option<i64>),
    ) -> Option<bool> {
        match relation {
            Relation::Less => decide(high.is_some_and(|h| h < 0), low.is_some_and(|l| l >= 0)),
            Relation::LessEqual => decide(high.is_some_and(|h| h <= 0), low.is_some_and(|l| l > 0)),
            Relation::Greater => decide(low.is_some_and(|l| l > 0), high.is_some_and(|h| h <= 0)),
            Relation::GreaterEqual => decide(low.is_some_and(|l| l >= 0), high.is_some_and(|h| h < 0)),
            Relation::Equal | Relation::NotEqual => {
                let apart =
                    low.is_some_and(|l| l > 0) || high.is_some_and(|h| h < 0) || self.never_zero(difference);
                let is_zero = low == Some(0) && high == Some(0);
                if relation == Relation::Equal { decide(is_zero, apart) } else { decide(apart, is_zero) }
            }
        }
    }

    /// Whether the known part is no multiple of what the symbolic part is a multiple of.
    fn never_zero(&self, difference: &Int) -> bool {
        let multiple = difference.terms_gcd() as i64;
        let base = difference.base.spread(self.shape());
        multiple > 1 && base.iter().all(|b| b % multiple != 0)
    }

    /// A unary operator.
    pub(crate) fn unary(&mut self, op: UnaryOp, value: Value, span: Span) -> Value {
        if op == UnaryOp::Not {
            return match self.condition_of(&value, span) {
                Condition::Known(bits) => {
                    let flipped = self.world.all.minus(&bits);
                    self.truth_in(&flipped)
                }
                other => Value::Condition(Rc::new(Condition::Not(Rc::new(other)))),
            };
        }
        match (&value, op) {
            (Value::Float(x, scalar), UnaryOp::Neg) => Value::Float(-x, *scalar),
            (Value::Opaque(variation, why, Some(_)), UnaryOp::Neg | UnaryOp::BitNot) => {
                let (variation, why) = (*variation, why.clone());
                let zero = Value::Int(Int::constant(if op == UnaryOp::Neg { 0 } else { -1 }), Scalar::I32);
                // `-x` is `0 - x`, `~x` is `-1 - x`.
                self.own_binary(BinaryOp::Sub, (&zero, &value), variation, why, span)
            }
            (Value::Opaque(..) | Value::Float(..), _) => value,
            _ => match self.number(&value, span) {
                Ok(int) => {
                    let scalar = promote(scalar_of(&value), Scalar::I32, BinaryOp::Add);
                    let negated = self.world.scale(&int, -1);
                    let result = match op {
                        UnaryOp::Plus => int.clone(),
                        UnaryOp::BitNot => self.world.add(&negated, &Int::constant(-1)),
                        _ if self.overflows(&negated, scalar) => {
                            return undefined(span, "a signed number that overflows");
                        }
                        _ => negated,
                    };
                    self.integer_result(Ok(result), &int, &int, scalar, span)
                }
                Err(why) => Value::opaque(value.variation(), why),
            },
        }
    }

    /// A set of threads as an integer, 1 inside and 0 outside.
    #[must_use]
    pub(crate) fn truth_in(&self, bits: &ThreadSet) -> Value {
        if bits.is_empty() || *bits == self.world.all {
            return Value::Int(Int::constant(i64::from(!bits.is_empty())), Scalar::Bool);
        }
        let shape = self.shape();
        let lanes = (0..shape.threads()).map(|t| i64::from(bits.has(t))).collect();
        Value::Int(Int::known(crate::domain::Lanes::close(lanes, shape)), Scalar::Bool)
    }

    /// Converts to a type, as an assignment or cast does.
    pub(crate) fn convert(&mut self, value: Value, ty: &Ty) -> Value {
        match (value, ty) {
            (Value::Int(int, _), Ty::Scalar(Scalar::Bool)) => {
                self.relation_value(Relation::NotEqual, int, super::value::NOWHERE)
            }
            (Value::Int(int, from), Ty::Scalar(to)) if to.is_integer() => {
                self.convert_integer(int, from, *to)
            }
            (Value::Int(int, from), Ty::Scalar(to)) => match int.as_constant() {
                Some(number) => float(as_float(number, from), *to),
                None => {
                    let variation = Value::Int(int, Scalar::I32).variation();
                    Value::opaque(variation, float_unknown())
                }
            },
            (Value::Float(number, _), Ty::Scalar(Scalar::Bool)) => {
                Value::Int(Int::constant(i64::from(number != 0.0)), Scalar::Bool)
            }
            (Value::Float(number, _), Ty::Scalar(to)) if to.is_integer() => match as_integer(number, *to) {
                Some(number) => Value::Int(Int::constant(number), *to),
                None => {
                    undefined(super::value::NOWHERE, "a floating-point number that its type does not hold")
                }
            },
            (Value::Float(number, _), Ty::Scalar(to)) => float(number, *to),
            (Value::Opaque(variation, ..), Ty::Scalar(to))
                if to.is_integer() && (variation == Variation::Uniform || self.mode == Mode::Host) =>
            {
                let (low, high) = (super::resolve::low_of(*to), super::resolve::high_of(*to));
                let id =
                    self.world.symbols.fresh("a value given at run time".into(), Origin::Given, low, high);
                Value::Int(Int::symbol(id), *to)
            }
            (Value::Opaque(variation, why, part), Ty::Scalar(to)) if to.is_integer() => {
                self.own_converted(*to, variation, why, part.as_deref())
            }
            (Value::Opaque(variation, why, Some(_)), _) => Value::opaque(variation, why),
            (Value::Pointer(pointer), Ty::Pointer(inner)) => {
                // `void*` and unknown types keep what is known of the target.
                let pointee = if matches!(**inner, Ty::Unknown(_)) {
                    pointer.pointee.clone()
                } else {
                    (**inner).clone()
                };
                Value::Pointer(Pointer { pointee, ..self.as_declared(pointer, inner) })
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
    pub(crate) fn blend(&self, a: &Value, b: &Value, mask: &ThreadSet) -> Value {
        if a.is_surely(b) || matches!(b, Value::Undefined) {
            return a.clone();
        }
        match (a, b) {
            (Value::Int(x, scalar), Value::Int(y, _)) => Value::Int(self.world.blend(x, y, mask), *scalar),
            (Value::Opaque(..), Value::Opaque(..) | Value::Int(..)) | (Value::Int(..), Value::Opaque(..)) => {
                self.blend_parts(a, b, mask)
            }
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(o, Offset::Known(x)), Target::Memory(r, Offset::Known(y))) if o == r => {
                    let target = Target::Memory(*o, Offset::Known(self.world.blend(x, y, mask)));
                    Value::Pointer(Pointer { target, ..p.clone() })
                }
                _ => self.lost(a, b),
            },
            (Value::Aggregate(x), Value::Aggregate(y)) => merge_parts(x, y, |a, b| self.blend(a, b, mask)),
            _ => self.lost(a, b),
        }
    }

    /// Either value, in a way that is not followed. A pointer keeps its object when it can.
    #[must_use]
    pub(crate) fn lost(&self, a: &Value, b: &Value) -> Value {
        let why = match (a, b) {
            (Value::Opaque(_, why, ..), _) | (_, Value::Opaque(_, why, ..)) => why.clone(),
            _ => Unknown::new(
                Reason::DataDependentMask,
                super::value::NOWHERE,
                "it differs between the branches of a condition that is not known per thread",
            ),
        };
        let shared = |v: &Value| match v {
            Value::Pointer(Pointer { target: Target::Memory(object, _), pointee, volatile }) => {
                Some((*object, pointee.clone(), *volatile))
            }
            _ => None,
        };
        if let (Some((object, pointee, one)), Some((other, _, two))) = (shared(a), shared(b)) {
            let why = match object == other {
                true => {
                    let words = "its pointer depends on a condition";
                    Unknown::new(Reason::UnknownPointer, why.span, words)
                }
                false => one_of_two(why.span),
            };
            let object = self.either_object(object, other);
            let target = Target::Memory(object, Offset::unknown(Variation::Maybe, why));
            return Value::Pointer(Pointer { target, pointee, volatile: one || two });
        }
        let variation = a.variation().max(b.variation()).max(Variation::Maybe);
        match (a, b) {
            (Value::Pointer(pointer), _) if self.is_recorded(pointer) => self.anything(a, variation, why),
            (_, Value::Pointer(pointer)) if self.is_recorded(pointer) => self.anything(b, variation, why),
            (object @ Value::Aggregate(_), other) | (other, object @ Value::Aggregate(_))
                if !matches!(other, Value::Aggregate(_)) =>
            {
                let rest = Value::opaque(variation, why.clone());
                lost_parts(object, rest, |pointer| self.anything(pointer, variation, why.clone()))
            }
            _ => Value::opaque(variation, why),
        }
    }
}

/// Whether two values are 0 or 1 each, and not both of them known numbers: `on &= i < n`.
fn are_truths(a: &Value, b: &Value) -> bool {
    let is_condition = |value: &Value| matches!(value, Value::Condition(_));
    let is_truth = |value: &Value| is_condition(value) || matches!(value, Value::Int(_, Scalar::Bool));
    is_truth(a) && is_truth(b) && (is_condition(a) || is_condition(b))
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

pub(super) fn float_unknown() -> Unknown {
    Unknown::new(Reason::Unsupported, super::value::NOWHERE, "a floating-point value")
}

/// A floating-point number as its type holds it.
pub(super) fn float(number: f64, scalar: Scalar) -> Value {
    match scalar {
        Scalar::F32 => Value::Float(f64::from(number as f32), scalar),
        _ => Value::Float(number, scalar),
    }
}

/// An integer of this type as a floating-point number.
fn as_float(number: i64, from: Scalar) -> f64 {
    if from == Scalar::U64 { number as u64 as f64 } else { number as f64 }
}

/// A floating-point number as an integer of this type, if that holds it.
fn as_integer(number: f64, to: Scalar) -> Option<i64> {
    let whole = number.trunc();
    let bits = to.bytes() as i32 * 8;
    let (low, high) = match to.is_unsigned() {
        true => (0.0, 2f64.powi(bits)),
        false => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
    };
    let holds = whole >= low && whole < high;
    holds.then_some(if to == Scalar::U64 { whole as u64 as i64 } else { whole as i64 })
}

fn float_operation(op: BinaryOp, a: &Value, b: &Value, span: Span) -> Value {
    let scalar = promote(scalar_of(a), scalar_of(b), op);
    let number = |v: &Value| match v {
        Value::Float(x, _) => Some(*x),
        Value::Int(int, from) => int.as_constant().map(|x| as_float(x, *from)),
        _ => None,
    };
    let number = |v: &Value| match (number(v)?, scalar) {
        (x, Scalar::F32) => Some(f64::from(x as f32)),
        (x, _) => Some(x),
    };
    match (number(a), number(b), op) {
        (Some(x), Some(y), BinaryOp::Add) => float(x + y, scalar),
        (Some(x), Some(y), BinaryOp::Sub) => float(x - y, scalar),
        (Some(x), Some(y), BinaryOp::Mul) => float(x * y, scalar),
        (Some(x), Some(y), BinaryOp::Div) => float(x / y, scalar),
        _ => {
            let why = Unknown::new(Reason::Unsupported, span, "a floating-point value");
            Value::opaque(a.variation().max(b.variation()), why)
        }
    }
}

/// `holds == true`, `holds != 0`: the condition, or what holds where it does not.
fn compared_with_truth(relation: Relation, a: &Value, b: &Value) -> Option<Value> {
    let (condition, number) = match (a, b) {
        (Value::Condition(condition), Value::Int(number, _))
        | (Value::Int(number, _), Value::Condition(condition)) => (condition, number.as_constant()?),
        _ => return None,
    };
    let wanted = match (relation, number) {
        (Relation::Equal, 1) | (Relation::NotEqual, 0) => true,
        (Relation::Equal, 0) | (Relation::NotEqual, 1) => false,
        _ => return None,
    };
    let not = || Rc::new(Condition::Not(Rc::clone(condition)));
    Some(Value::Condition(if wanted { Rc::clone(condition) } else { not() }))
}

/// How far one element of a local array is from another.
fn elements_between(a: &Place, b: &Place) -> Option<i64> {
    let (Some((Step::Index(i), before)), Some((Step::Index(j), other))) =
        (a.path.split_last(), b.path.split_last())
    else {
        return None;
    };
    let is_same = (a.frame, a.local, before) == (b.frame, b.local, other) && !a.blurred && !b.blurred;
    is_same.then(|| i.checked_sub(*j))?
}
