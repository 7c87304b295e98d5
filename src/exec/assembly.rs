//! What does inline PTX do, as far as addresses and barriers go?

mod registers;
pub(super) mod text;

use super::barriers::Waits;
use super::machine::Machine;
use super::types::Ty;
use super::value::{Offset, Pointer, Target, Value};
use crate::builtins::ptx;
use crate::codegen::atomics;
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{AccessOp, Atomic, Operation, Seen};
use crate::ir::{Asm, Scalar};
use crate::source::Span;
use registers::Registers;
use text::{clean, opcode_of};

impl Machine<'_> {
    /// Runs an `asm` statement.
    pub(crate) fn assembly(&mut self, asm: &Asm, span: Span) {
        let inputs: Vec<Value> = asm.inputs.iter().map(|(_, expr)| self.evaluate(expr)).collect();
        let old = asm.outputs.iter().map(|(constraint, target)| {
            constraint.trim_matches('"').starts_with('+').then(|| self.evaluate(target))
        });
        let mut registers = Registers::new(old.collect(), inputs);
        self.forget_contents();
        self.assembly_event(asm, span);
        let (before, events) = (self.requests.accesses(), self.trace.tree.len());
        for text in self.lookups.memo.instructions(asm).iter() {
            self.instruction(text, &mut registers, span);
        }
        let memory = self.sees_global_memory();
        if self.trace.tree.len() - events < self.lookups.memo.accesses(asm, memory) {
            self.may_access(span);
            self.touch_operands(asm, &registers, span);
        }
        if ptx::reads_clock(&asm.template) {
            self.trace.tree.set_watched();
        }
        // What gives no value acts on memory.
        if asm.outputs.is_empty() {
            self.clobber();
        }
        let followed = !registers.outputs.is_empty() && registers.outputs.iter().all(Option::is_some);
        if self.recording && self.requests.accesses() == before && !followed {
            for input in &registers.inputs {
                self.note_pitched_escape(input, span, "it goes to inline assembly that is not followed");
            }
        }
        for ((_, target), result) in asm.outputs.iter().zip(registers.outputs) {
            let value = result.unwrap_or_else(|| {
                let why = Unknown::new(Reason::DataDependent, span, "the result of inline assembly");
                Value::opaque(Variation::Maybe, why)
            });
            match self.locate(target) {
                Ok(pointer) => self.write(&pointer, value, span),
                Err(_) => self.write_somewhere(span),
            }
        }
    }

    /// What instructions do that are not followed to the arrays whose addresses they are given.
    fn touch_operands(&mut self, asm: &Asm, registers: &Registers, span: Span) {
        for text in asm.template.split([';', '\n']).map(clean) {
            let (opcode, operands) = opcode_of(&text);
            if !ptx::may_access_shared(&text) || ptx::is_of_barrier(opcode) || records(opcode) {
                continue;
            }
            for (at, inside) in operands.split('[').skip(1).enumerate() {
                let end = inside.find([']', ',', '+']).unwrap_or(inside.len());
                let Some(Value::Pointer(pointer)) = registers.value(&inside[..end]) else { continue };
                // The last of a bulk copy is the barrier that it arrives at.
                let is_barrier = at > 1 && opcode.contains("mbarrier");
                if self.is_recorded(pointer) && !is_barrier {
                    let reads = at > 0 || opcode.starts_with("ld");
                    let op = if reads { AccessOp::Load } else { AccessOp::Store };
                    self.touch_unknown(&pointer.clone(), (op, None), opcode, span);
                }
            }
        }
    }

    fn instruction(&mut self, text: &str, registers: &mut Registers, span: Span) {
        // A guard predicate, `@p st.shared...`, leaves the active lanes in doubt unless it is one number.
        let (guard, text) = match text.strip_prefix('@') {
            Some(rest) => {
                let (guard, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                (Some(guard), rest.trim())
            }
            None => (None, text),
        };
        let taken = guard.and_then(|guard| match guard.strip_prefix('!') {
            Some(guard) => registers.number(guard).map(|number| number == 0),
            None => registers.number(guard).map(|number| number != 0),
        });
        if taken == Some(false) {
            return;
        }
        let guarded = guard.is_some() && taken.is_none();
        let (opcode, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let parts: Vec<&str> = opcode.split('.').collect();
        let doubt = self.state.doubt.clone();
        if guarded {
            let why = Unknown::new(Reason::DataDependentMask, span, "a predicate of inline assembly");
            self.state.add_doubt(&why);
        }
        match parts[0] {
            "bar" | "barrier" if parts.contains(&"sync") || parts.contains(&"red") => {
                self.barrier_instruction(opcode, &parts, rest, registers, span);
            }
            "ld" | "st" if parts.iter().any(|p| p.starts_with("shared")) => {
                let op = if parts[0] == "ld" { AccessOp::Load } else { AccessOp::Store };
                self.memory_operand(op, rest, registers, access_bytes(&parts), None, span);
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
                self.at_hand.matrices = matrices;
                self.memory_operand(op, rest, registers, Some(16), None, span);
                self.at_hand.matrices = 0;
            }
            "cp" if parts.get(1) == Some(&"async") && !parts.contains(&"bulk") => {
                self.copy_instruction(&parts, rest, registers, span);
            }
            "atom" | "red" if parts.iter().any(|p| p.starts_with("shared")) => {
                self.atomic_instruction(&parts, rest, registers, span);
            }
            "trap" | "exit" => {
                if !guarded {
                    // A trap ends the whole grid.
                    if parts[0] == "exit" {
                        self.note_exit();
                    }
                    self.end_threads();
                }
            }
            _ => {
                let list: Vec<&str> = rest.split(',').map(str::trim).collect();
                self.computes(&parts, &list, registers, guarded, span);
            }
        }
        self.state.doubt = doubt;
    }

    /// `bar.sync`, `barrier.sync`, `bar.red`
    fn barrier_instruction(
        &mut self,
        opcode: &str,
        parts: &[&str],
        rest: &str,
        registers: &Registers,
        span: Span,
    ) {
        let list: Vec<&str> = rest.split(',').map(str::trim).collect();
        // `bar.red.popc.u32 result, barrier, count, predicate`
        let list = match parts.contains(&"red") {
            true => list.get(1..list.len().saturating_sub(1)).unwrap_or(&[]),
            false => &list[..],
        };
        let id = list.first().and_then(|t| registers.number(t));
        if let Some(id) = id.filter(|_| !parts.contains(&"cluster") && !parts.contains(&"warp")) {
            let waits = match list.get(1) {
                None => Waits::ForBlock(id),
                Some(count) => Waits::For { number: id, count: registers.number(count).unwrap_or(-1) },
            };
            self.barrier(opcode, span, waits);
        }
    }

    /// `cp.async` into shared memory, and what gathers such copies into groups and waits for them.
    fn copy_instruction(&mut self, parts: &[&str], rest: &str, registers: &Registers, span: Span) {
        if parts.contains(&"shared") {
            let bytes = rest.split(',').nth(2).and_then(|t| registers.number(t.trim()));
            let bytes = bytes.and_then(|b| u64::try_from(b).ok());
            let first = rest.split(',').next().unwrap_or("");
            // What is added to `[%1+16]` moves all lanes alike.
            let source = rest.split(',').nth(1).and_then(inside_brackets);
            let source = source.and_then(|s| registers.value(s.split('+').next().unwrap_or(s)));
            self.at_hand.copying = Some(self.copying(source, parts.contains(&"cg")));
            self.memory_operand(AccessOp::AsyncCopy, first, registers, bytes, None, span);
            self.at_hand.copying = None;
            return;
        }
        match parts.get(2) {
            Some(&"commit_group") => self.copy_order(false, None, span),
            Some(&"wait_group") => {
                let but = registers.number(rest.trim());
                self.copy_order(true, but, span);
            }
            Some(&"wait_all") => self.wait_for_copies(),
            _ => {}
        }
    }

    /// `atom.shared`, `red.shared`
    fn atomic_instruction(&mut self, parts: &[&str], rest: &str, registers: &Registers, span: Span) {
        let bytes = access_bytes(parts);
        let float = |part: &str| part.starts_with('f') || part.starts_with("bf");
        let operations = parts.iter().map(|part| atomics::integer_operation(part));
        let operation = match bytes {
            Some(8) => Operation::Wide,
            _ if parts.iter().any(|part| float(part)) => Operation::Float,
            _ => operations.into_iter().find(|it| *it != Operation::Exchange).unwrap_or(Operation::Exchange),
        };
        let list: Vec<&str> = rest.split(',').map(str::trim).collect();
        let one = list.last().and_then(|operand| registers.number(operand)) == Some(1);
        let adds_one = one && parts.contains(&"add");
        let atomic = Atomic { used: parts[0] == "atom", adds_one, ..Atomic::new(operation) };
        self.memory_operand(AccessOp::Atomic, rest, registers, bytes, Some(atomic), span);
    }

    /// `[%1]`, `[%1+16]`: an access at that address.
    fn memory_operand(
        &mut self,
        op: AccessOp,
        text: &str,
        registers: &Registers,
        bytes: Option<u64>,
        atomic: Option<Atomic>,
        span: Span,
    ) {
        let Some(inside) = inside_brackets(text) else { return };
        let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
        let Some(Value::Pointer(pointer)) = registers.value(base) else { return };
        let pointer = Pointer { pointee: Ty::Scalar(Scalar::U8), ..pointer.clone() };
        self.note_flattened(&pointer);
        let offset = self.held_by(registers, offset.trim()).unwrap_or_else(|| {
            let why = Unknown::new(Reason::DataDependent, span, "what inline assembly adds to an address");
            Value::opaque(Variation::Maybe, why)
        });
        let pointer = self.advance(&pointer, &offset, 1, span);
        if self.is_recorded(&pointer) {
            // Of an address that all lanes have it is not known whether the compiler sees that.
            let atomic = atomic.map(|atomic| match &pointer.target {
                Target::Memory(_, Offset::Known(offset)) if !offset.is_uniform() => {
                    Atomic { address: Seen::Apart, ..atomic }
                }
                _ => atomic,
            });
            self.record_bytes(op, &pointer, bytes, span, atomic);
        }
    }
}

/// Whether [`Machine::instruction`] records what an instruction accesses.
fn records(opcode: &str) -> bool {
    let parts: Vec<&str> = opcode.split('.').collect();
    match parts[0] {
        "ldmatrix" | "stmatrix" => true,
        "ld" | "st" | "atom" | "red" => parts.iter().any(|part| part.starts_with("shared")),
        "cp" => parts.contains(&"shared") && !parts.contains(&"bulk"),
        _ => false,
    }
}

/// The address in `[%1]`.
fn inside_brackets(text: &str) -> Option<&str> {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inside, _)| inside)
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
