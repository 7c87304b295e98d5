//! What may a call change, written as a call, as an operator or as inline assembly?

use super::super::operator_calls::may_act;
use super::super::own_place::{is_own_place, prints};
use super::super::places::{given_to, root};
use super::super::{computes, is_arithmetic, key};
use super::Flow;
use crate::ir::{Asm, Expr, ExprKind, LocalId, TemplateArg, Type};

impl<'a> Flow<'a> {
    /// The variables that a call of a function may change that only computes data.
    fn computed(&self, callee: &Expr, args: &[Expr]) -> Option<Vec<LocalId>> {
        let ExprKind::Path(path) = &callee.kind else { return None };
        // `set<int &>(x)`
        let is_reference = |arg: &TemplateArg| matches!(arg, TemplateArg::Type(Type::Reference(_)));
        if path.args.iter().flatten().any(is_reference) {
            return None;
        }
        let plain = self.plains.is_plain(&path.name, self.program, self.depth);
        plain.then(|| given_to(&path.name, args, &self.places, self.program)).flatten()
    }

    pub(super) fn call(&mut self, expr: &'a Expr, callee: &'a Expr, args: &'a [Expr]) {
        if let Some(given) = self.computed(callee, args) {
            for local in &given {
                self.note_kept(*local);
                self.flows.extend(args.iter().map(|arg| (*local, arg, false)));
            }
            self.calls.insert(key(expr), given);
            args.iter().for_each(|arg| self.pointed(arg, true));
            return;
        }
        // What is printed of a thread's own place bears on nothing, not even on how many dimensions a block has.
        let is_told = |arg: &&'a Expr| !(prints(callee) && is_own_place(arg));
        let args: Vec<&'a Expr> = args.iter().filter(is_told).collect();
        let pure = match &callee.kind {
            ExprKind::Path(path) => computes(&path.name, self.program, self.minds_lanes()),
            _ => false,
        };
        if !pure {
            self.seed(callee);
            match &callee.kind {
                ExprKind::Path(_) => {}
                // A method may change its object, a lambda anything.
                _ => args.iter().copied().chain([callee]).for_each(|part| self.seed_course(part)),
            }
            args.iter().for_each(|arg| self.seed(arg));
            self.pointers.written.extend(args.iter().copied());
            // They may be taken by reference.
            for local in args.iter().filter_map(|arg| handed(arg)) {
                self.pointers.handed.insert(local);
                self.note_kept(local);
                self.flows.extend(args.iter().map(|arg| (local, *arg, false)));
            }
        }
        self.expr(callee);
        args.iter().for_each(|arg| self.pointed(arg, pure));
    }

    /// A function that an operator calls may change its operands.
    pub(super) fn called_by_operator(&mut self, expr: &'a Expr) {
        if !may_act(expr, self.program) {
            return;
        }
        let operands = match &expr.kind {
            ExprKind::Binary(_, a, b) => vec![&**a, &**b],
            ExprKind::Unary(_, a) => vec![&**a],
            _ => return,
        };
        for local in operands.iter().filter_map(|operand| root(operand)).map(|(local, _)| local) {
            // Numbers and pointers stay what they are.
            if self.places.may_be_object(local) {
                self.note_kept(local);
                self.flows.extend(operands.iter().map(|operand| (local, *operand, false)));
            }
        }
    }

    /// Operands matter where one of them may be an address.
    pub(super) fn assembly(&mut self, asm: &'a Asm) {
        for (_, target) in &asm.outputs {
            if let Some((local, _)) = root(target) {
                self.pointers.handed.insert(local);
                self.flows.extend(asm.inputs.iter().map(|(_, value)| (local, value, false)));
            }
            self.write(target, None, false);
            self.expr(target);
        }
        for (_, value) in &asm.inputs {
            if !is_arithmetic(asm) {
                self.seed(value);
                self.pointers.written.push(value);
            }
            self.expr(value);
        }
    }
}

/// The variable that a function may change when it is given this.
fn handed(arg: &Expr) -> Option<LocalId> {
    match &arg.kind {
        ExprKind::AddressOf(inner) => root(inner),
        _ => root(arg),
    }
    .map(|(local, _)| local)
}
