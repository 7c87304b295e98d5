//! Which conditions do data decide, for each thread separately?
//!
//! ```text
//! float v = in[i];
//! if (v > limit)               data: any thread may come here, alone or with others
//! if (i < n && v > limit)      likewise; a bound keeps out the threads beyond it at the most
//! if (s[t + 16] > s[t])        data: any thread may have the larger one
//! s[t] = in[i]; if (s[t] > 0)  data, as `in[i]` is, where nothing else is ever put into `s`
//! v = i < n ? in[i] : 0;       data, as in a launch with large `n`
//! if (rank == 0)               no: the number tells one thread from the others
//! if (atomicAdd(p, 1) == 0)    no: one thread alone gets a 0
//! ```
//!
//! A value is data if it is read from global memory through a parameter of the kernel, or computed from such values,
//! constants and parameters. Shared memory, shuffles, votes and atomics do not count, because threads use them to
//! agree with each other; but which of two elements is larger, each thread finds for itself. Two data compared for
//! equality may single out one thread, such as the one with the maximum, and do not count either.
//!
//! A condition on a shared variable has one answer for all threads. Data decide which, if the variable gets nothing but
//! literals and data: `if (t == 0) go = in[b];`.

use super::changes::{Change, Changes, Written, array_of, is_still, variable_of};
use super::computes;
use super::starts::Starts;
use crate::builtins::{self, Coordinate, Kind};
use crate::ir::program::Program;
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind, Function, FunctionKind, LocalId, Name, Type, UnaryOp};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// Constants and parameters: all threads have the same.
    Given,
    /// What all threads read from one place of global memory, or make of that.
    Same,
    /// Those, and the numbers of threads, blocks and rounds.
    Number,
    /// What a thread reads from global memory, and what is the same for all.
    Data,
    /// Data and numbers of threads, blocks or rounds.
    Mixed,
    /// Where a parameter of the kernel points, and places beside it.
    Pointer,
    /// A shared variable, or a part of one.
    Shared,
    /// A shared variable that gets nothing but literals and data.
    Flag,
    /// An element of a shared array, which the thread's number tells.
    Element,
    /// The same of an array that threads fill with data, each its own element.
    OwnElement,
    /// Anything else.
    Other,
}

impl Made {
    fn is_element(self) -> bool {
        matches!(self, Made::Element | Made::OwnElement)
    }

    /// Whether it is in shared memory.
    fn is_shared(self) -> bool {
        matches!(self, Made::Shared | Made::Flag) || self.is_element()
    }

    /// Whether all threads have the same.
    fn is_alike(self) -> bool {
        matches!(self, Made::Given | Made::Same)
    }

    /// What is made of two.
    fn and(self, other: Made) -> Made {
        use Made::{Data, Mixed, Number, Other, Pointer, Same, Shared};
        match (self, other) {
            (a, b) if a == b => a,
            (alike, Same) | (Same, alike) if alike.is_alike() => Same,
            (alike, made) | (made, alike) if alike.is_alike() && made != Shared => made,
            (Pointer, Number | Data | Mixed) | (Number | Data | Mixed, Pointer) => Pointer,
            (Number | Data | Mixed, Number | Data | Mixed) => Mixed,
            _ => Other,
        }
    }
}

/// What becomes of each variable.
type ByVariable<'a> = FxHashMap<LocalId, Vec<Change<'a>>>;
/// The shared arrays that threads fill with data: whether they hold nothing else.
type Filled = FxHashMap<LocalId, bool>;

/// What the variables of a kernel are made of.
#[derive(Debug, Default)]
pub(super) struct Choices {
    made: FxHashMap<LocalId, Made>,
    /// What those are made of that are changed, up to a place in the text: of what they are declared with.
    starts: FxHashMap<LocalId, (Span, Option<Made>)>,
    /// Template parameters.
    given: FxHashSet<Name>,
    /// The kernel's parameters.
    params: FxHashSet<LocalId>,
    /// Those of them that are never assigned to.
    fixed: FxHashSet<LocalId>,
    /// The shared arrays that threads fill with data, each its own element: whether they hold nothing else.
    filled: Filled,
    /// Variables that hold a condition: whether data choose, or a bound does.
    conditions: FxHashMap<LocalId, bool>,
}

impl Choices {
    /// Of a kernel; of any other function nothing is known, as it is not known what its parameters are.
    pub(super) fn of(function: &Function, program: &Program) -> Choices {
        let mut found = Choices::default();
        let Some(body) = function.body.as_deref().filter(|_| function.kind == FunctionKind::Kernel) else {
            return found;
        };
        found.given.extend(function.template_params.iter().map(|param| param.name.clone()));
        let params: FxHashSet<LocalId> = function.params.iter().map(|param| param.local).collect();
        let Some(Changes { of: changes, written, shared, rows, starts }) =
            Changes::of(body, &params, program)
        else {
            return Choices::default();
        };
        found.made.extend(shared.into_iter().map(|local| (local, Made::Shared)));
        for param in function.params.iter().filter(|param| !changes.contains_key(&param.local)) {
            let made = match &param.ty {
                Type::Pointer(to) if matches!(**to, Type::Pointer(_)) => Made::Other,
                Type::Pointer(_) | Type::Array(..) => Made::Pointer,
                _ => Made::Given,
            };
            found.made.insert(param.local, made);
            found.fixed.insert(param.local);
        }
        found.params = params;
        let given = found.made.clone();
        found.settle(&changes, &starts, program);
        let flags = found.find_flags(&written, &changes, program);
        found.filled = found.find_filled(&written, &rows, program);
        if !found.filled.is_empty() || !flags.is_empty() {
            found.made = given;
            found.made.extend(flags.into_iter().map(|local| (local, Made::Flag)));
            found.settle(&changes, &starts, program);
        }
        found.conditions = found.find_conditions(&changes, program);
        found
    }

    /// Variables that get nothing but one condition.
    fn find_conditions(&self, changes: &ByVariable<'_>, program: &Program) -> FxHashMap<LocalId, bool> {
        let of = |(local, changes): (&LocalId, &Vec<Change<'_>>)| {
            let [Change::To(cond)] = changes.as_slice() else { return None };
            let is_condition = matches!(&cond.kind, ExprKind::Binary(op, ..) if is_relation(*op));
            Some((*local, self.chooses(cond, program).filter(|_| is_condition)?))
        };
        changes.iter().filter_map(of).collect()
    }

    /// Finds what each variable is made of: it is known once all that it gets is.
    fn settle(&mut self, changes: &ByVariable<'_>, starts: &Starts<'_>, program: &Program) {
        let mut open: Vec<(&LocalId, &Vec<Change<'_>>)> = changes.iter().collect();
        open.retain(|(local, _)| !self.made.contains_key(local));
        // Most variables are made of those that are declared before them.
        open.sort_unstable_by_key(|(local, _)| local.0);
        let mut begun: Vec<_> = starts.of_changed().collect();
        self.starts = begun.iter().map(|start| (start.local, (start.until, None))).collect();
        loop {
            let known = (self.made.len(), begun.len());
            begun.retain(|start| {
                let made = self.value(start.value, None, program);
                self.starts.insert(start.local, (start.until, made));
                made.is_none()
            });
            open.retain(|(local, changes)| match self.of_changes(**local, changes, program) {
                Some(made) => {
                    self.made.insert(**local, made);
                    false
                }
                None => true,
            });
            if (self.made.len(), begun.len()) == known {
                return;
            }
        }
    }

    /// The shared arrays to whose elements each thread writes data.
    fn find_filled(&self, written: &[Written<'_>], rows: &FxHashSet<LocalId>, program: &Program) -> Filled {
        let made = |expr: &Expr| self.value(expr, None, program);
        let is_own = |it: &Written<'_>| made(it.place) == Some(Made::Element);
        let data = |it: &Written<'_>| matches!(made(it.value), Some(Made::Data | Made::Mixed));
        let array = |it: &Written<'_>| array_of(it.place);
        let filled = written.iter().filter(|it| is_own(it) && data(it)).filter_map(array);
        let holds_more = |it: &Written<'_>| {
            let is_plain = matches!(made(it.value), Some(Made::Data)) || is_literal(it.value);
            !(it.is_whole && is_own(it) && is_plain)
        };
        let only = |local: LocalId| {
            let mut of_it = written.iter().filter(|it| array(it) == Some(local));
            rows.contains(&local) && !of_it.any(holds_more)
        };
        filled.map(|local| (local, only(local))).collect()
    }

    /// The shared variables that get nothing but literals, of which there are several, and data.
    fn find_flags(
        &self,
        written: &[Written<'_>],
        changes: &ByVariable<'_>,
        program: &Program,
    ) -> Vec<LocalId> {
        let is_data =
            |value: &Expr| matches!(self.value(value, None, program), Some(Made::Data | Made::Same));
        let is_flag = |local: &LocalId| {
            let own = |it: &&Written<'_>| matches!(it.place.kind, ExprKind::Local(of) if of == *local);
            let all: Vec<&Written<'_>> = written.iter().filter(own).collect();
            let literals = all.iter().filter(|it| is_literal(it.value)).map(|it| &it.value.kind);
            let (first, mut literals) = (literals.clone().next(), literals);
            let is_plain = |it: &&Written<'_>| it.is_whole && (is_data(it.value) || is_literal(it.value));
            // Nothing else changes it.
            changes.get(local).is_some_and(|changes| changes.len() == all.len())
                && all.iter().all(is_plain)
                && (literals.any(|it| Some(it) != first) || all.iter().any(|it| is_data(it.value)))
        };
        let shared = self.made.iter().filter(|(_, made)| **made == Made::Shared);
        shared.map(|(local, _)| *local).filter(is_flag).collect()
    }

    fn of_changes(&self, local: LocalId, changes: &[Change<'_>], program: &Program) -> Option<Made> {
        let mut all = Made::Given;
        for change in changes {
            all = all.and(match change {
                Change::To(value) => self.value(value, Some(local), program)?,
                Change::Step => Made::Number,
                Change::AsLongAs(cond) => match self.value(cond, Some(local), program)? {
                    made @ (Made::Given | Made::Same | Made::Number) => made,
                    // Each thread stays in the loop for as long as its own data say.
                    Made::Data | Made::Mixed | Made::OwnElement => Made::Mixed,
                    _ => Made::Other,
                },
                Change::Anyhow => Made::Other,
            });
        }
        Some(all)
    }

    /// What a value is made of. `own`: the variable that gets it, which counts for nothing there. `None` if that rests
    /// on a variable of which it is not known yet.
    fn value(&self, expr: &Expr, own: Option<LocalId>, program: &Program) -> Option<Made> {
        let value = |expr: &Expr| self.value(expr, own, program);
        Some(match &expr.kind {
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::SizeofType(_) => Made::Given,
            ExprKind::Local(local) if own == Some(*local) => Made::Given,
            ExprKind::Local(local) => match self.starts.get(local) {
                Some((until, made)) if until.file == expr.span.file && expr.span.end <= until.start => {
                    (*made)?
                }
                _ => *self.made.get(local)?,
            },
            ExprKind::Path(path) => match program.variables(&path.name).first() {
                Some(variable) if variable.storage.is_shared() => Made::Shared,
                Some(variable) if variable.constant => Made::Given,
                None if self.given.contains(&path.name) => Made::Given,
                _ => Made::Other,
            },
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => value(inner)?,
            ExprKind::Binary(op, a, b) => match (value(a)?, value(b)?) {
                (Made::Data, Made::Data) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => Made::Other,
                (a, b) => a.and(b),
            },
            ExprKind::Conditional(cond, a, b) => match (value(cond)?, value(a)?, value(b)?) {
                (Made::Number, Made::Data, Made::Given | Made::Same | Made::Data)
                | (Made::Number, Made::Given | Made::Same, Made::Data)
                    if self.is_bound(cond, program) =>
                {
                    Made::Data
                }
                (cond, a, b) => cond.and(a).and(b),
            },
            ExprKind::Index(base, index) if is_still(index) => match (place(value(base)?), value(index)?) {
                (Made::Shared, Made::Number) => match self.is_filled(base) {
                    Some(true) => Made::Data,
                    Some(false) => Made::OwnElement,
                    None => Made::Element,
                },
                // All threads read one place.
                (Made::Data, _) if self.is_alike(base) && self.is_alike(index) => Made::Same,
                (made, _) => made,
            },
            ExprKind::Deref(pointer) if is_still(pointer) => match place(value(pointer)?) {
                Made::Data if self.is_alike(pointer) => Made::Same,
                made => made,
            },
            ExprKind::AddressOf(place) => match &place.kind {
                ExprKind::Index(base, index) if is_still(index) => value(base)?,
                _ => Made::Other,
            },
            ExprKind::Member { base, name, arrow: false, args: None, .. } => match &base.kind {
                ExprKind::Path(path) => builtin_member(&path.name, name),
                _ => value(base)?,
            },
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path)
                    if builtins::kind(&path.name) == Some(Kind::CachedLoad)
                        && program.functions(&path.name).is_empty() =>
                {
                    args.first().map_or(Some(Made::Other), value).map(place)?
                }
                // Of a group of threads.
                ExprKind::Member { name, .. } if args.is_empty() => match &**name {
                    "thread_rank" | "meta_group_rank" => Made::Number,
                    "size" | "num_threads" | "meta_group_size" => Made::Given,
                    _ => Made::Other,
                },
                ExprKind::Path(path) if computes(&path.name, program, true) => {
                    let mut all = Made::Given;
                    for arg in args {
                        all = all.and(value(arg)?);
                    }
                    all
                }
                _ => Made::Other,
            },
            _ => Made::Other,
        })
    }

    /// Whether an expression is made of constants, parameters and the block's number alone.
    fn is_alike(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(..) | ExprKind::SizeofType(_) => true,
            ExprKind::Local(local) => {
                self.made.get(local).is_some_and(|made| made.is_alike()) || self.fixed.contains(local)
            }
            ExprKind::Member { base, arrow: false, args: None, .. } => match &base.kind {
                ExprKind::Path(path) => Coordinate::of(&path.name).is_some_and(|it| it != Coordinate::Thread),
                _ => self.is_alike(base),
            },
            ExprKind::Binary(_, a, b) => self.is_alike(a) && self.is_alike(b),
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => self.is_alike(inner),
            _ => false,
        }
    }

    /// Whether a condition keeps out the threads beyond what a parameter says, and none of those before.
    fn is_bound(&self, cond: &Expr, program: &Program) -> bool {
        use BinaryOp::{Ge, Gt, Le, LogicalAnd, LogicalOr, Lt};
        match &cond.kind {
            ExprKind::Binary(LogicalAnd | LogicalOr, a, b) => {
                self.is_bound(a, program) && self.is_bound(b, program)
            }
            ExprKind::Binary(Lt | Le | Gt | Ge, a, b) => {
                let made = |expr: &Expr| self.value(expr, None, program);
                match (made(a), made(b)) {
                    (Some(Made::Number), Some(bound)) if bound.is_alike() => self.names_a_parameter(b),
                    (Some(bound), Some(Made::Number)) if bound.is_alike() => self.names_a_parameter(a),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn names_a_parameter(&self, expr: &Expr) -> bool {
        let mut found = matches!(&expr.kind, ExprKind::Local(local) if self.params.contains(local));
        children(expr, &mut |inner| found |= self.names_a_parameter(inner));
        found
    }

    /// Whether what an index is of is an array, or a row of one, that threads fill with data: and with nothing else.
    fn is_filled(&self, base: &Expr) -> Option<bool> {
        match &base.kind {
            ExprKind::Index(base, _) => self.is_filled(base),
            _ => self.filled.get(&variable_of(base)?).copied(),
        }
    }

    /// Whether data choose which threads a condition holds for.
    pub(super) fn is_choice(&self, cond: &Expr, program: &Program) -> bool {
        self.chooses(cond, program) == Some(true)
    }

    /// Whether a condition asks for nothing but what data decide for all threads.
    pub(super) fn is_flag(&self, cond: &Expr, program: &Program) -> bool {
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.is_flag(inner, program),
            ExprKind::Binary(op, a, b) if is_relation(*op) && is_literal(b) => self.is_flag(a, program),
            ExprKind::Binary(op, a, b) if is_relation(*op) && is_literal(a) => self.is_flag(b, program),
            _ => self.value(cond, None, program) == Some(Made::Flag),
        }
    }

    /// Whether lanes vote on what data choose for each of them: it may come out either way.
    pub(super) fn is_vote_on_data(&self, cond: &Expr, program: &Program) -> bool {
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.is_vote_on_data(inner, program),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, vote, number) if is_zero(number) => {
                self.is_vote_on_data(vote, program)
            }
            ExprKind::Call { callee, args } => match (&callee.kind, args.as_slice()) {
                (ExprKind::Path(path), [_, chosen]) => {
                    matches!(&*path.name, "__any_sync" | "__all_sync")
                        && program.functions(&path.name).is_empty()
                        && self.is_choice(chosen, program)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a condition depends on what each thread reads from global memory for itself, or finds in its element of
    /// an array that is filled with that, and on nothing in which threads agree with each other.
    pub(super) fn is_of_own_data(&self, cond: &Expr, program: &Program) -> bool {
        let of_data = |made: Made| matches!(made, Made::Data | Made::Mixed | Made::OwnElement);
        // The parts of a condition that none of the others touches.
        let mut open = vec![cond];
        let mut found = false;
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Unary(UnaryOp::Not, inner) => open.push(inner),
                ExprKind::Binary(op, a, b) if is_relation(*op) => open.extend([&**a, &**b]),
                _ => match self.value(expr, None, program).unwrap_or(Made::Other) {
                    made if of_data(made) => found = true,
                    Made::Given | Made::Same | Made::Number => {}
                    _ => return false,
                },
            }
        }
        found
    }

    /// Whether an operand is itself a condition that data decide.
    fn is_choice_of_data(&self, operand: &Expr, program: &Program) -> bool {
        let is_condition = match &operand.kind {
            ExprKind::Binary(op, ..) => is_relation(*op),
            ExprKind::Local(local) => self.conditions.contains_key(local),
            _ => false,
        };
        is_condition && self.is_choice(operand, program)
    }

    /// Whether data choose; `Some(false)`: a bound does. `None`: something else has a say.
    fn chooses(&self, cond: &Expr, program: &Program) -> Option<bool> {
        use BinaryOp::{Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne};
        let made = |expr: &Expr| self.value(expr, None, program).unwrap_or(Made::Other);
        let is_number = |made: Made| made.is_alike() || made == Made::Number;
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.chooses(inner, program),
            ExprKind::Local(local) if self.conditions.contains_key(local) => {
                self.conditions.get(local).copied()
            }
            ExprKind::Binary(LogicalAnd | LogicalOr, a, b) => {
                match (self.chooses(a, program)?, self.chooses(b, program)?) {
                    // `begin[i] <= x && x < begin[i + 1]` holds for one thread.
                    (true, true) if variable_compared(a).is_none() => None,
                    (true, true) if variable_compared(a) != variable_compared(b) => None,
                    (a, b) => Some(a | b),
                }
            }
            ExprKind::Binary(op @ (Lt | Le | Gt | Ge), a, b) => match (made(a), made(b)) {
                // `v >= greatest` holds for the greatest alone.
                (Made::Data | Made::Mixed, shared) | (shared, Made::Data | Made::Mixed)
                    if shared.is_shared() =>
                {
                    matches!(op, Lt | Gt).then_some(true)
                }
                // `s[t + 16] > s[t]`: each thread has two of its own to compare.
                (a, b) if a.is_element() && b.is_element() => matches!(op, Lt | Gt).then_some(true),
                (Made::Data, Made::Data) => Some(true),
                (Made::Data, alike) | (alike, Made::Data) if alike.is_alike() => Some(true),
                (a, b) if is_number(a) && is_number(b) => Some(false),
                // Each thread compares its data with its number.
                (Made::Data, Made::Number) | (Made::Number, Made::Data) => Some(true),
                _ => None,
            },
            // `(a > b) == is_up`: a thread may go either way, whatever its number says.
            ExprKind::Binary(Eq | Ne, a, b) if is_number(made(b)) && self.is_choice_of_data(a, program) => {
                Some(true)
            }
            ExprKind::Binary(Eq | Ne, a, b) if is_number(made(a)) && self.is_choice_of_data(b, program) => {
                Some(true)
            }
            // What is asked for by a parameter may be there once.
            ExprKind::Binary(op @ (Eq | Ne), a, b) => match (made(a), made(b)) {
                (Made::Data, alike) if alike.is_alike() => (*op == Ne || is_literal(b)).then_some(true),
                (alike, Made::Data) if alike.is_alike() => (*op == Ne || is_literal(a)).then_some(true),
                _ => None,
            },
            _ => (made(cond) == Made::Data).then_some(true),
        }
    }
}

/// Whether an operator compares, or joins conditions.
fn is_relation(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne};
    matches!(op, Eq | Ge | Gt | Le | LogicalAnd | LogicalOr | Lt | Ne)
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(0, _))
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) => true,
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => is_literal(inner),
        _ => false,
    }
}

/// The variable that a comparison compares with something, if its other side is none that changes.
fn variable_compared(cond: &Expr) -> Option<LocalId> {
    let ExprKind::Binary(_, a, b) = &cond.kind else { return None };
    let local = |expr: &Expr| match expr.kind {
        ExprKind::Local(local) => Some(local),
        _ => None,
    };
    match (local(a), local(b)) {
        (Some(local), _) if is_literal(b) => Some(local),
        (_, Some(local)) if is_literal(a) => Some(local),
        _ => None,
    }
}

/// What lies where something points.
fn place(pointer: Made) -> Made {
    match pointer {
        Made::Pointer => Made::Data,
        shared if shared.is_shared() => Made::Shared,
        _ => Made::Other,
    }
}

/// `threadIdx.x`, `blockDim.x` and the like.
fn builtin_member(variable: &Name, member: &Name) -> Made {
    let is_axis = matches!(&**member, "x" | "y" | "z");
    match &**variable {
        "threadIdx" if is_axis => Made::Number,
        "blockIdx" | "blockDim" | "gridDim" if is_axis => Made::Given,
        _ => Made::Other,
    }
}
