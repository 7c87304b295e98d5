//! What does inline PTX do, as far as addresses and barriers go?

use super::int::Int;
use super::lanes::Lanes;
use super::machine::Machine;
use super::types::Ty;
use super::value::{Pointer, Reason, Unknown, Value, Variation};
use crate::ir::{Asm, Expr, Scalar};
use crate::source::Span;
use crate::trace::Atomic;
use crate::verdict::AccessOp;

impl Machine<'_> {
    /// Runs an `asm` statement.
    pub fn assembly(&mut self, asm: &Asm, span: Span) {
        let inputs: Vec<Value> = asm.inputs.iter().map(|(_, expr)| self.evaluate(expr)).collect();
        let mut results: Vec<Option<Value>> = vec![None; asm.outputs.len()];
        let operands = Operands { outputs: &asm.outputs, inputs: &inputs };
        let before = self.index.accesses();
        for instruction in asm.template.split([';', '\n']) {
            let text = instruction.replace("\\n", " ").replace("\\t", " ").replace("%%", "%");
            let text = text.trim().trim_start_matches('{').trim();
            if !text.is_empty() {
                self.instruction(text, &operands, &mut results, span);
            }
        }
        if self.recording && self.index.accesses() == before && !asm.template.contains("cvta") {
            for input in &inputs {
                self.note_pitched_escape(input, span, "it goes to inline assembly that is not followed");
            }
        }
        for ((_, target), result) in asm.outputs.iter().zip(results) {
            let value = result.unwrap_or_else(|| {
                let why = Unknown::new(Reason::DataDependent, span, "the result of inline assembly");
                Value::Opaque(Variation::Maybe, why)
            });
            if let Ok(pointer) = self.locate(target) {
                self.write(&pointer, value, span);
            }
        }
    }

    fn instruction(
        &mut self,
        text: &str,
        operands: &Operands<'_>,
        results: &mut [Option<Value>],
        span: Span,
    ) {
        // A guard predicate, `@p st.shared...`, leaves the active lanes in doubt.
        let (guarded, text) = match text.strip_prefix('@') {
            Some(rest) => (true, rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim())),
            None => (false, text),
        };
        let (opcode, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let parts: Vec<&str> = opcode.split('.').collect();
        let doubt = self.state.doubt.clone();
        if guarded {
            let why = Unknown::new(Reason::DataDependentMask, span, "a predicate of inline assembly");
            self.state.doubt.get_or_insert(why);
        }
        match parts[0] {
            "bar" | "barrier" if parts.contains(&"sync") || parts.contains(&"red") => {
                let list: Vec<&str> = rest.split(',').map(str::trim).collect();
                let count = list.get(1).and_then(|t| operands.number(t));
                let id = list.first().and_then(|t| operands.number(t));
                if !parts.contains(&"cluster")
                    && !parts.contains(&"warp")
                    && parts[1] != "warp"
                    && id.is_some()
                {
                    self.barrier(opcode, span, count.or((list.len() > 1).then_some(-1)));
                }
            }
            "ld" | "st" if parts.iter().any(|p| p.starts_with("shared")) => {
                let op = if parts[0] == "ld" { AccessOp::Load } else { AccessOp::Store };
                self.memory_operand(op, rest, operands, access_bytes(&parts), None, span);
            }
            "ldmatrix" | "stmatrix" => {
                let op = if parts[0] == "ldmatrix" { AccessOp::MatrixLoad } else { AccessOp::MatrixStore };
                let matrices = if parts.contains(&"x4") {
                    4
                } else if parts.contains(&"x2") {
                    2
                } else {
                    1
                };
                self.matrices = matrices;
                self.memory_operand(op, rest, operands, Some(16), None, span);
                self.matrices = 0;
            }
            "cp" if parts.get(1) == Some(&"async")
                && parts.contains(&"shared")
                && !parts.contains(&"bulk") =>
            {
                let bytes = rest.split(',').nth(2).and_then(|t| operands.number(t.trim()));
                let bytes = bytes.and_then(|b| u64::try_from(b).ok());
                let first = rest.split(',').next().unwrap_or("");
                // What is added to `[%1+16]` moves all lanes alike.
                let source = rest.split(',').nth(1).and_then(inside_brackets);
                let source = source.and_then(|s| operands.value(s.split('+').next().unwrap_or(s).trim()));
                self.bypass = parts.contains(&"cg");
                self.scattered = !self.reads_one_line(source, bytes);
                self.memory_operand(AccessOp::AsyncCopy, first, operands, bytes, None, span);
                (self.bypass, self.scattered) = (false, false);
            }
            "atom" | "red" if parts.iter().any(|p| p.starts_with("shared")) => {
                let bytes = access_bytes(&parts);
                let kind = if parts.contains(&"cas") {
                    Atomic::CompareAndSwap
                } else if bytes == Some(8) {
                    Atomic::Wide
                } else if parts.iter().any(|p| p.starts_with('f')) {
                    Atomic::Float
                } else {
                    Atomic::Integer
                };
                self.memory_operand(AccessOp::Atomic, rest, operands, bytes, Some(kind), span);
            }
            "mov" => {
                if let Some((target, source)) = rest.split_once(',')
                    && let Some(value) = self.special_register(source.trim())
                    && let Some(slot) = operands.output(target.trim())
                {
                    results[slot] = Some(value);
                }
            }
            _ if parts.contains(&"to") && opcode.contains("shared") && parts[0] == "cvta" => {
                if let Some((target, source)) = rest.split_once(',')
                    && let Some(value) = operands.value(source.trim())
                    && let Some(slot) = operands.output(target.trim())
                {
                    results[slot] = Some(self.convert(value.clone(), &Ty::Scalar(Scalar::U64)));
                }
            }
            _ => {}
        }
        self.state.doubt = doubt;
    }

    /// `[%1]`, `[%1+16]`: an access at that address.
    fn memory_operand(
        &mut self,
        op: AccessOp,
        text: &str,
        operands: &Operands<'_>,
        bytes: Option<u64>,
        atomic: Option<Atomic>,
        span: Span,
    ) {
        let Some(inside) = inside_brackets(text) else { return };
        let (base, offset) = match inside.split_once('+') {
            Some((base, offset)) => (base.trim(), operands.number(offset.trim())),
            None => (inside.trim(), Some(0)),
        };
        let Some(Value::Pointer(pointer)) = operands.value(base) else { return };
        let pointer = Pointer { pointee: Ty::Scalar(Scalar::U8), ..pointer.clone() };
        self.note_flattened(&pointer);
        let pointer = self.advance(&pointer, &Value::int(offset.unwrap_or(0)), 1, span);
        if self.is_shared(&pointer) {
            self.record_bytes(op, &pointer, bytes, span, atomic);
        }
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
        if let Some(axis) = name.strip_prefix("%tid.").and_then(axis) {
            return int(Lanes::coordinate(axis, shape));
        }
        let axis = name.strip_prefix("%ntid.").and_then(axis)?;
        int(Lanes::constant(i64::from(shape.dims[axis])))
    }
}

/// The address in `[%1]`.
fn inside_brackets(text: &str) -> Option<&str> {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inside, _)| inside)
}

/// The operands of an `asm`: outputs are numbered first.
struct Operands<'a> {
    outputs: &'a [(String, Expr)],
    inputs: &'a [Value],
}

impl Operands<'_> {
    fn index(&self, text: &str) -> Option<usize> {
        text.trim().strip_prefix('%')?.parse().ok()
    }

    fn output(&self, text: &str) -> Option<usize> {
        self.index(text).filter(|&at| at < self.outputs.len())
    }

    fn value(&self, text: &str) -> Option<&Value> {
        self.inputs.get(self.index(text)?.checked_sub(self.outputs.len())?)
    }

    fn number(&self, text: &str) -> Option<i64> {
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        match self.value(text)? {
            Value::Int(int, _) => int.as_constant(),
            _ => None,
        }
    }
}

/// `.v4.f32` is 16 bytes.
fn access_bytes(parts: &[&str]) -> Option<u64> {
    let lanes = parts.iter().find_map(|p| match *p {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    });
    let bits: u64 = parts.last()?.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    Some(lanes.unwrap_or(1) * bits / 8)
}
