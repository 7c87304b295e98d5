//! What do the operands and registers of inline PTX hold?
//!
//! `%0`, `%1`, ... are the operands of the statement, outputs first; a name is a register that the text
//! declares itself (`{ .reg .u64 address; cvta.to.shared.u64 address, %1; cvt.u32.u64 %0, address; }`).

use crate::domain::{Int, Lanes, Reason, Unknown, Variation};
use crate::exec::machine::Machine;
use crate::exec::types::Ty;
use crate::exec::value::Value;
use crate::ir::{BinaryOp, Scalar};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// What was written to so far, and what is given.
#[derive(Debug, Default)]
pub(super) struct Registers {
    /// The outputs; `None` while nothing known was written.
    pub(super) outputs: Vec<Option<Value>>,
    pub(super) inputs: Vec<Value>,
    named: FxHashMap<String, Value>,
}

impl Registers {
    pub(super) fn new(outputs: Vec<Option<Value>>, inputs: Vec<Value>) -> Registers {
        Registers { outputs, inputs, named: FxHashMap::default() }
    }

    fn operand(&self, text: &str) -> Option<usize> {
        text.strip_prefix('%')?.parse().ok()
    }

    /// What an operand or register holds, if known.
    pub(super) fn value(&self, text: &str) -> Option<&Value> {
        let text = text.trim();
        match self.operand(text) {
            Some(at) if at < self.outputs.len() => self.outputs.get(at)?.as_ref(),
            Some(at) => self.inputs.get(at - self.outputs.len()),
            None => self.named.get(text),
        }
    }

    /// A number that is the same for all threads.
    pub(super) fn number(&self, text: &str) -> Option<i64> {
        if let Some(number) = literal(text) {
            return Some(number);
        }
        match self.value(text)? {
            Value::Int(int, _) => int.as_constant(),
            _ => None,
        }
    }

    /// Writes a register; what is not known replaces what was.
    pub(super) fn write(&mut self, text: &str, value: Option<Value>) {
        let text = text.trim();
        match (self.operand(text), value) {
            (Some(at), value) => {
                if let Some(slot) = self.outputs.get_mut(at) {
                    *slot = value;
                }
            }
            (None, Some(value)) => _ = self.named.insert(text.to_string(), value),
            (None, None) => _ = self.named.remove(text),
        }
    }
}

fn literal(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(['U', 'u']);
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1i64, digits));
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    number.checked_mul(sign)
}

/// The type that an instruction works in: of `add.s64`, the last part.
fn scalar(part: &str) -> Option<Scalar> {
    Some(match part {
        "u16" | "b16" => Scalar::U16,
        "s16" => Scalar::I16,
        "u32" | "b32" => Scalar::U32,
        "s32" => Scalar::I32,
        "u64" | "b64" => Scalar::U64,
        "s64" => Scalar::I64,
        _ => return None,
    })
}

impl Machine<'_> {
    /// What the operand of an instruction holds: a register, a number, a special register.
    pub(super) fn held_by(&self, registers: &Registers, text: &str) -> Option<Value> {
        let number = || literal(text).map(Value::int);
        registers.value(text).cloned().or_else(|| self.special_register(text.trim())).or_else(number)
    }

    /// Carries out an instruction that only computes; whether it is one.
    pub(super) fn computes(
        &mut self,
        parts: &[&str],
        operands: &[&str],
        registers: &mut Registers,
        guarded: bool,
        span: Span,
    ) -> bool {
        let Some((target, from)) = operands.split_first() else { return false };
        let ty = parts.last().and_then(|part| scalar(part));
        let operator = match parts[0] {
            "add" => Some(BinaryOp::Add),
            "sub" => Some(BinaryOp::Sub),
            "mul" if parts.get(1) == Some(&"lo") => Some(BinaryOp::Mul),
            "shl" => Some(BinaryOp::Shl),
            "shr" => Some(BinaryOp::Shr),
            "and" => Some(BinaryOp::And),
            "or" => Some(BinaryOp::Or),
            "xor" => Some(BinaryOp::Xor),
            "setp" => match parts.get(1).copied() {
                Some("eq") => Some(BinaryOp::Eq),
                Some("ne") => Some(BinaryOp::Ne),
                Some("lt" | "lo") => Some(BinaryOp::Lt),
                Some("le" | "ls") => Some(BinaryOp::Le),
                Some("gt" | "hi") => Some(BinaryOp::Gt),
                Some("ge" | "hs") => Some(BinaryOp::Ge),
                _ => None,
            },
            _ => None,
        };
        let result = match (parts[0], from) {
            ("mov", [source]) => self.held_by(registers, source),
            // Within shared memory a generic address and its offset are one to us.
            ("cvta", [source]) if parts.iter().any(|part| part.starts_with("shared")) => {
                self.held_by(registers, source).map(|value| self.convert(value, &Ty::Scalar(Scalar::U64)))
            }
            ("cvt", [source]) => {
                let to = parts.iter().skip(1).find_map(|part| scalar(part));
                self.held_by(registers, source)
                    .zip(to)
                    .map(|(value, to)| self.convert(value, &Ty::Scalar(to)))
            }
            ("mad", [a, b, c]) if parts.get(1) == Some(&"lo") => {
                let three = || {
                    Some((
                        self.held_by(registers, a)?,
                        self.held_by(registers, b)?,
                        self.held_by(registers, c)?,
                        ty?,
                    ))
                };
                three().map(|(a, b, c, ty)| {
                    let product = self.in_type(BinaryOp::Mul, a, b, ty, span);
                    self.in_type(BinaryOp::Add, product, c, ty, span)
                })
            }
            (_, [a, b]) if operator.is_some() => {
                let both =
                    || Some((self.held_by(registers, a)?, self.held_by(registers, b)?, ty?, operator?));
                both().map(|(a, b, ty, operator)| self.in_type(operator, a, b, ty, span))
            }
            ("mov" | "cvta" | "cvt" | "mad", _) => None,
            _ if operator.is_some() => None,
            _ => return false,
        };
        let result = if guarded {
            let why =
                Unknown::new(Reason::DataDependent, span, "a result of inline assembly under a predicate");
            Some(Value::opaque(Variation::Maybe, why))
        } else {
            result
        };
        registers.write(target, result);
        true
    }

    /// An operation on numbers taken as of one type; on addresses as they are.
    fn in_type(&mut self, operator: BinaryOp, a: Value, b: Value, ty: Scalar, span: Span) -> Value {
        let mut of_type = |value: Value| match value {
            Value::Int(..) => self.convert(value, &Ty::Scalar(ty)),
            other => other,
        };
        let (a, b) = (of_type(a), of_type(b));
        self.binary(operator, &a, &b, span)
    }

    fn special_register(&self, name: &str) -> Option<Value> {
        let shape = self.shape();
        let int = |lanes: Lanes| Some(Value::Int(Int::known(lanes), Scalar::U32));
        let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
        if name == "%laneid" || name == "%warpid" {
            let lanes = (0..shape.threads() as i64)
                .map(|t| if name == "%laneid" { t % 32 } else { t / 32 })
                .collect();
            return int(Lanes::close(lanes, shape));
        }
        if let Some(which) = name.strip_prefix("%lanemask_") {
            let mask = |lane: i64| {
                let own = 1i64 << lane;
                Some(match which {
                    "eq" => own,
                    "lt" => own - 1,
                    "le" => 2 * own - 1,
                    "gt" => (1 << 32) - 2 * own,
                    "ge" => (1 << 32) - own,
                    _ => return None,
                })
            };
            let lanes: Option<Vec<i64>> = (0..shape.threads() as i64).map(|t| mask(t % 32)).collect();
            return int(Lanes::close(lanes?, shape));
        }
        if let Some(axis) = name.strip_prefix("%tid.").and_then(axis) {
            return int(Lanes::coordinate(axis, shape));
        }
        let axis = name.strip_prefix("%ntid.").and_then(axis)?;
        int(Lanes::constant(i64::from(shape.dims[axis])))
    }
}
