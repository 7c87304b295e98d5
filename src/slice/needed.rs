//! Which loads are of use only in a part of what follows?
//!
//! The compiler may put a load where its value is needed, or leave it out. Seen in the machine code of nvcc 13 for 9.0:
//!
//! | | loaded by |
//! |---|---|
//! | `v = s[t]; if (t < 32) out[t] = v;` | the threads that store |
//! | `v = s[t]; if (t >= 32) return; out[t] = v;` | the threads that stay |
//! | `for (k = 0; k < 8; k++) sum += s[k]; if (t == 0) out[0] = sum;`, unrolled | one thread |
//! | `v = s[t]; __syncthreads(); if (t < 32) s[t] = v;` | all threads |
//! | `v = s[t];` and no more | nobody |
//!
//! It does so where nothing is written and nobody waits in between. Each place of a function has a path: the branches and
//! loops around it, and behind `if (c) return;` one more branch. A variable is needed where all its uses have their path
//! in common. Example:
//!
//! ```text
//! float v = s[t];            []        v is needed where w is: at [1, 2]
//! if (t < n) {               []
//!     float w = v * 2;       [1]
//!     if (w > 0) out[t] = w; [1, 2]
//! }
//! ```

use super::is_pure;
use crate::builtins;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, Function, LocalId, Stmt, StmtKind, Storage, Type};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The most passes over the flows between variables.
const MOST_PASSES: usize = 16;

/// Where the value of a load is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// Only on a side of a later condition.
    OnOneSide {
        /// Whether that is behind a loop around the load.
        behind_loop: bool,
    },
    Never,
}

/// The loads that are of use only in a part of what follows, by their text.
#[derive(Debug, Default)]
pub(super) struct Needed {
    loads: FxHashMap<Span, Used>,
}

impl Needed {
    pub(super) fn of(function: &Function, body: &[Stmt], program: &Program) -> Needed {
        let mut found = Needed::default();
        if function.damaged {
            return found;
        }
        let mut reader = Reader::new(program);
        reader.read(body, &[]);
        if reader.is_unclear {
            return found;
        }
        let Some(needed) = reader.needed() else { return found };
        for load in &reader.loads {
            let used = match needed.get(&load.into) {
                None => Used::Never,
                Some(at) => match beyond(&load.path, at).first() {
                    Some(branch) if reader.is_reached_unchanged(*branch, load.written) => {
                        let left = beyond(at, &load.path);
                        Used::OnOneSide { behind_loop: left.iter().any(|part| reader.is_loop(*part)) }
                    }
                    _ => continue,
                },
            };
            found.loads.insert(load.span, used);
        }
        found
    }

    pub(super) fn used(&self, load: Span) -> Option<Used> {
        self.loads.get(&load).copied()
    }
}

/// The branches and loops around a place, by number, outermost first.
type Path = Vec<u32>;

/// A load whose value goes into a variable and nowhere else.
struct Load {
    span: Span,
    path: Path,
    /// The writes before it.
    written: u32,
    into: LocalId,
}

/// A branch or loop.
struct Part {
    /// Whether some threads may pass it by that come to it together.
    is_branch: bool,
    is_loop: bool,
    /// The writes before it.
    written: u32,
}

struct Reader<'a> {
    program: &'a Program,
    parts: Vec<Part>,
    /// What may write memory or let threads wait, so far.
    written: u32,
    loads: Vec<Load>,
    /// Uses of variables other than to give another variable its value, and their paths.
    uses: Vec<(LocalId, Path)>,
    /// Flows between variables: from which, into which, and the path of the assignment.
    flows: Vec<(LocalId, LocalId, Path)>,
    /// Variables that hold their value themselves, and whether they are arrays.
    own: FxHashMap<LocalId, bool>,
    /// Whether something is not followed.
    is_unclear: bool,
}

impl<'a> Reader<'a> {
    fn new(program: &'a Program) -> Reader<'a> {
        Reader {
            program,
            parts: Vec::new(),
            written: 0,
            loads: Vec::new(),
            uses: Vec::new(),
            flows: Vec::new(),
            own: FxHashMap::default(),
            is_unclear: false,
        }
    }

    /// A path into a new branch or loop.
    fn enter(&mut self, path: &[u32], (is_branch, is_loop): (bool, bool)) -> Path {
        self.parts.push(Part { is_branch, is_loop, written: self.written });
        [path, &[self.parts.len() as u32 - 1]].concat()
    }

    fn read(&mut self, list: &[Stmt], path: &[u32]) {
        let mut path = path.to_vec();
        for stmt in list {
            match &stmt.kind {
                StmtKind::Expr(expr) => self.read_statement(expr, &path),
                StmtKind::Declare(variables) => {
                    for variable in variables {
                        if variable.storage == Storage::Automatic && holds_itself(&variable.ty) {
                            self.own.insert(variable.local, is_array(&variable.ty));
                        }
                        if let Some(init) = &variable.init {
                            self.give(variable.local, init, &path);
                        }
                    }
                }
                StmtKind::Block(body) => self.read(body, &path),
                StmtKind::If { cond, then, otherwise } => {
                    self.use_all(cond, &path);
                    let may_part = !is_fixed(cond);
                    for side in [then, otherwise] {
                        let inside = self.enter(&path, (may_part, false));
                        self.read(side, &inside);
                    }
                    if may_part && (leaves(then) || leaves(otherwise)) {
                        path = self.enter(&path, (true, false));
                    }
                }
                StmtKind::Loop { cond, body, step, .. } => {
                    let inside = self.enter(&path, (false, true));
                    cond.iter().for_each(|cond| self.use_all(cond, &inside));
                    self.read(body, &inside);
                    step.iter().for_each(|step| self.read_statement(step, &inside));
                }
                StmtKind::Switch { value, cases } => {
                    self.use_all(value, &path);
                    for case in cases {
                        let inside = self.enter(&path, (true, false));
                        self.read(&case.body, &inside);
                    }
                }
                StmtKind::Return(value) => value.iter().for_each(|value| self.use_all(value, &path)),
                StmtKind::Break | StmtKind::Continue => {}
                StmtKind::Goto(_)
                | StmtKind::Label(_)
                | StmtKind::Throw
                | StmtKind::Try(_)
                | StmtKind::Unsupported(..)
                | StmtKind::Damaged => self.is_unclear = true,
            }
        }
    }

    fn read_statement(&mut self, expr: &Expr, path: &[u32]) {
        match &expr.kind {
            ExprKind::Assign(_, target, value) => match self.own_target(target) {
                Some(local) => {
                    self.give(local, value, path);
                    let mut indices = Vec::new();
                    subscripts(target, &mut indices);
                    indices.into_iter().for_each(|index| self.use_all(index, path));
                }
                None => self.use_all(expr, path),
            },
            ExprKind::Step { target, .. } if self.own_target(target).is_some() => {}
            ExprKind::Comma(a, b) => [a, b].into_iter().for_each(|side| self.read_statement(side, path)),
            _ => self.use_all(expr, path),
        }
    }

    /// The variable that an assignment changes, or a part of it, if that is no memory.
    fn own_target(&self, target: &Expr) -> Option<LocalId> {
        match &target.kind {
            ExprKind::Local(local) => self.own.contains_key(local).then_some(*local),
            // A name may stand for a pointer.
            ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Local(local) if self.own.get(&local) != Some(&true)) => {
                None
            }
            ExprKind::Index(base, _) | ExprKind::Member { base, arrow: false, .. } => self.own_target(base),
            _ => None,
        }
    }

    /// A variable gets a value.
    fn give(&mut self, into: LocalId, value: &Expr, path: &[u32]) {
        if !self.own.contains_key(&into) || !self.only_computes(value) {
            return self.use_all(value, path);
        }
        let mut open = vec![value];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Local(local) => self.flows.push((*local, into, path.to_vec())),
                // Calls are named, and not read.
                ExprKind::Call { args, .. } => {
                    open.extend(args);
                    continue;
                }
                _ => {}
            }
            if matches!(
                expr.kind,
                ExprKind::Local(_)
                    | ExprKind::Path(_)
                    | ExprKind::Index(..)
                    | ExprKind::Deref(_)
                    | ExprKind::Member { .. }
            ) {
                let written = self.written;
                self.loads.push(Load { span: expr.span, path: path.to_vec(), written, into });
            }
            children(expr, &mut |child| open.push(child));
        }
    }

    /// Whether an expression does nothing but compute a value.
    fn only_computes(&self, expr: &Expr) -> bool {
        let mut computes = match &expr.kind {
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => {
                    is_pure(&path.name, self.program) && builtins::lane_form(&path.name).is_none()
                }
                _ => false,
            },
            ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::AddressOf(_)
            | ExprKind::Asm(_)
            | ExprKind::Lambda(_)
            | ExprKind::Launch(_)
            | ExprKind::Pack(_)
            | ExprKind::Unsupported(_)
            | ExprKind::Damaged => false,
            _ => true,
        };
        children(expr, &mut |child| {
            let is_callee =
                matches!(&expr.kind, ExprKind::Call { callee, .. } if std::ptr::eq(&**callee, child));
            computes = computes && (is_callee || self.only_computes(child));
        });
        computes
    }

    /// Each variable in an expression is used for what it does.
    fn use_all(&mut self, expr: &Expr, path: &[u32]) {
        if !self.only_computes(expr) {
            self.written += 1;
        }
        self.use_in(expr, path);
    }

    /// Like [`Reader::use_all`], for an expression of which it is noted already whether it may write.
    fn use_in(&mut self, expr: &Expr, path: &[u32]) {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Local(local) => self.uses.push((*local, path.to_vec())),
                ExprKind::Conditional(cond, a, b) if !is_fixed(cond) => {
                    open.push(cond);
                    for side in [a, b] {
                        let inside = self.enter(path, (true, false));
                        self.use_in(side, &inside);
                    }
                    continue;
                }
                ExprKind::Lambda(lambda) => {
                    self.written += 1;
                    self.use_statements(&lambda.body);
                }
                // What is lent may be used anywhere.
                ExprKind::AddressOf(inner) => {
                    let mut lent = vec![&**inner];
                    while let Some(expr) = lent.pop() {
                        if let ExprKind::Local(local) = expr.kind {
                            self.uses.push((local, Path::new()));
                        }
                        children(expr, &mut |child| lent.push(child));
                    }
                }
                ExprKind::Pack(_) | ExprKind::Unsupported(_) | ExprKind::Damaged => self.is_unclear = true,
                _ => {}
            }
            children(expr, &mut |child| open.push(child));
        }
    }

    /// What a lambda names may be used anywhere.
    fn use_statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            own_exprs(stmt, &mut |expr| self.use_all(expr, &[]));
            own_stmts(stmt, &mut |inner| self.use_statements(std::slice::from_ref(inner)));
        }
    }

    /// Where each variable is needed; those that are not listed are not. None if that takes too long to find.
    fn needed(&self) -> Option<FxHashMap<LocalId, Path>> {
        let mut needed: FxHashMap<LocalId, Path> = FxHashMap::default();
        let note = |needed: &mut FxHashMap<LocalId, Path>, local: LocalId, at: Path| -> bool {
            match needed.get_mut(&local) {
                Some(known) => {
                    let before = known.len();
                    known.truncate(common(known, &at));
                    known.len() < before
                }
                None => {
                    needed.insert(local, at);
                    true
                }
            }
        };
        for (local, path) in &self.uses {
            note(&mut needed, *local, path.clone());
        }
        for _ in 0..MOST_PASSES {
            let mut grows = false;
            // What is needed last is known first.
            for (of, into, path) in self.flows.iter().rev() {
                if let Some(at) = needed.get(into) {
                    let at = [path, beyond(path, at)].concat();
                    grows |= note(&mut needed, *of, at);
                }
            }
            if !grows {
                return Some(needed);
            }
        }
        None
    }

    fn is_loop(&self, part: u32) -> bool {
        self.parts.get(part as usize).is_some_and(|part| part.is_loop)
    }

    /// Whether a branch begins where nothing was written since there were so many writes.
    fn is_reached_unchanged(&self, branch: u32, written: u32) -> bool {
        self.parts.get(branch as usize).is_some_and(|part| part.is_branch && part.written == written)
    }
}

/// How many steps two paths have in common.
fn common(one: &[u32], other: &[u32]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// What is left of a path where another parts from it.
fn beyond<'p>(path: &[u32], at: &'p [u32]) -> &'p [u32] {
    &at[common(path, at)..]
}

/// Whether a variable of this type is no pointer and no reference.
fn holds_itself(ty: &Type) -> bool {
    match ty {
        Type::Qualified(_, inner) | Type::Array(inner, _) => holds_itself(inner),
        Type::Scalar(_) | Type::Named(_) | Type::Auto => true,
        _ => false,
    }
}

fn is_array(ty: &Type) -> bool {
    match ty {
        Type::Qualified(_, inner) => is_array(inner),
        _ => matches!(ty, Type::Array(..)),
    }
}

/// Whether a condition is the same for all threads, whatever they are given: it names no variable.
fn is_fixed(cond: &Expr) -> bool {
    let mut fixed = matches!(
        cond.kind,
        ExprKind::Int(..)
            | ExprKind::Path(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast(..)
            | ExprKind::SizeofType(_)
    );
    children(cond, &mut |child| fixed = fixed && is_fixed(child));
    fixed
}

/// Whether threads that come to the end of a side leave what follows it.
fn leaves(side: &[Stmt]) -> bool {
    side.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(body) => leaves(body),
        _ => false,
    })
}

fn subscripts<'e>(target: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &target.kind {
        ExprKind::Index(base, index) => {
            found.push(index);
            subscripts(base, found);
        }
        ExprKind::Member { base, .. } => subscripts(base, found),
        _ => {}
    }
}
