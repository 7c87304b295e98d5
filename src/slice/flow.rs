//! How do values flow between the variables of a function?

mod calls;
mod exprs;

use super::endings::ends_with_effect;
use super::known_plain::Plains;
use super::places::{Places, is_indirect, root, stands_for_others};
use super::{Given, is_global};
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, Function, LocalId, Param, Stmt, StmtKind, Storage, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// How values flow between the variables of a function.
pub(super) struct Flow<'a> {
    program: &'a Program,
    /// All variables of the function.
    pub(super) seen: FxHashSet<LocalId>,
    /// Those that stand where something matters.
    pub(super) matters: FxHashSet<LocalId>,
    /// Those of them that may bear on who goes on, or on variables in ways that are not known.
    course: FxHashSet<LocalId>,
    /// The loops around each variable's declaration, and those around the statement.
    declared_in: FxHashMap<LocalId, usize>,
    loops: usize,
    /// Variables that are written after they are declared.
    pub(super) changed: FxHashSet<LocalId>,
    /// Variables written in a loop that they are declared outside of.
    kept: FxHashSet<LocalId>,
    /// Into which variable the value of an expression goes, and whether as a whole (`=`).
    flows: Vec<(LocalId, &'a Expr, bool)>,
    /// What is known of its pointers.
    pub(super) pointers: Pointers<'a>,
    /// Whether what the next expression points to is known to whoever uses it.
    followed: bool,
    pub(super) places: Places,
    /// Calls of functions that only compute data, and the variables that they may change.
    pub(super) calls: FxHashMap<usize, Vec<LocalId>>,
    plains: &'a Plains,
    depth: usize,
    /// Whether what is returned is followed by whoever asks.
    plain: bool,
    pub(super) shared: FxHashSet<LocalId>,
    pub(super) aliases: FxHashSet<LocalId>,
    pub(super) global: FxHashSet<LocalId>,
    pub(super) axes: [bool; 3],
}

/// What is known of the pointers of a function.
#[derive(Default)]
pub(super) struct Pointers<'a> {
    /// Values written through pointers, the pointers, and arguments of functions that may do so.
    written: Vec<&'a Expr>,
    /// Variables whose address is taken, arrays that become pointers among them.
    pub(super) taken: FxHashSet<LocalId>,
    /// Variables given to functions.
    handed: FxHashSet<LocalId>,
    /// Pointers declared here.
    declared: Vec<LocalId>,
    /// Whether pointers given to the function may lead to its caller's variables.
    pub(super) lead_out: bool,
}

impl<'a> Flow<'a> {
    /// The flows of a function.
    pub(super) fn of(
        function: &Function,
        body: &'a [Stmt],
        given: Given,
        program: &'a Program,
        plains: &'a Plains,
    ) -> Flow<'a> {
        let mut first = Flow::new(function, given, program, plains);
        first.stmts(body);
        let places = first.with_leads();
        if !first.pointers.declared.iter().any(|pointer| places.leads(*pointer)) {
            return first;
        }
        let mut flow = Flow { places, ..Flow::new(function, given, program, plains) };
        flow.stmts(body);
        flow
    }

    /// The flows of a function that is taken to compute data alone: whatever it is given is as one of
    /// its own variables.
    pub(super) fn of_plain(
        function: &'a Function,
        program: &'a Program,
        plains: &'a Plains,
        depth: usize,
    ) -> Flow<'a> {
        let given = Given::default();
        let mut flow = Flow { depth, plain: true, ..Flow::new(function, given, program, plains) };
        flow.matters.clear();
        flow.course.clear();
        flow.aliases.clear();
        for param in &function.params {
            match &param.ty {
                Type::Pointer(_) => flow.places.lead(param.local, param.local),
                Type::Reference(inner) => flow.places.own(param.local, inner, program),
                ty => flow.places.own(param.local, ty, program),
            }
        }
        flow.stmts(function.body.as_deref().unwrap_or(&[]));
        flow
    }

    fn new(function: &Function, given: Given, program: &'a Program, plains: &'a Plains) -> Flow<'a> {
        let mut flow = Flow {
            program,
            seen: FxHashSet::default(),
            matters: FxHashSet::default(),
            course: FxHashSet::default(),
            declared_in: FxHashMap::default(),
            loops: 0,
            changed: FxHashSet::default(),
            kept: FxHashSet::default(),
            flows: Vec::new(),
            followed: false,
            places: Places::default(),
            calls: FxHashMap::default(),
            plains,
            depth: 0,
            plain: false,
            shared: FxHashSet::default(),
            aliases: FxHashSet::default(),
            global: FxHashSet::default(),
            pointers: Pointers { lead_out: given.escaping, ..Pointers::default() },
            axes: [false; 3],
        };
        for param in &function.params {
            flow.seen.insert(param.local);
            // What is written to it may be the caller's.
            if !matches!(param.ty, Type::Scalar(_)) {
                flow.matters.insert(param.local);
                if given.escaping {
                    flow.course.insert(param.local);
                }
            }
            if matches!(param.ty, Type::Reference(_) | Type::Auto) {
                flow.aliases.insert(param.local);
            }
        }
        flow
    }

    /// Pointers that lead to global memory: parameters that do, and what is made of them alone.
    pub(super) fn find_global(&mut self, function: &Function, given: Given) {
        let leads =
            |(at, param): &(usize, &Param)| given.is_global(*at) && matches!(param.ty, Type::Pointer(_));
        let params = function.params.iter().enumerate().filter(leads).map(|(_, param)| param.local);
        // What a parameter holds at first stands in no assignment.
        let is_param = |local: &LocalId| function.params.iter().any(|param| param.local == *local);
        let assigned = self.flows.iter().map(|(local, ..)| *local).filter(|local| !is_param(local));
        // Suppose all pointers that are only assigned to do, then take back what contradicts it.
        self.global = params
            .chain(assigned)
            .filter(|l| !self.pointers.taken.contains(l) && !self.pointers.handed.contains(l))
            .collect();
        loop {
            let known = &self.global;
            let wrong: Vec<LocalId> = self
                .flows
                .iter()
                .filter(|(local, value, whole)| *whole && known.contains(local) && !is_global(value, known))
                .map(|(local, ..)| *local)
                .collect();
            if wrong.is_empty() {
                break;
            }
            wrong.iter().for_each(|local| {
                self.global.remove(local);
            });
        }
    }

    /// The variables, with the pointers that surely lead to one of them.
    fn with_leads(&self) -> Places {
        let mut places = self.places.clone();
        let mut open: Vec<LocalId> = self.pointers.declared.clone();
        open.retain(|pointer| {
            !self.pointers.taken.contains(pointer) && !self.pointers.handed.contains(pointer)
        });
        let mut given: FxHashMap<LocalId, Vec<&Expr>> = FxHashMap::default();
        for (local, value, whole) in &self.flows {
            if *whole && open.contains(local) {
                given.entry(*local).or_default().push(value);
            }
        }
        // A pointer may be made of one that is found to lead somewhere.
        loop {
            let before = open.len();
            open.retain(|pointer| {
                let mut values = given.get(pointer).into_iter().flatten();
                let to = values.next().and_then(|value| places.points_to(value));
                let to = to.filter(|to| values.all(|value| places.points_to(value) == Some(*to)));
                to.iter().for_each(|to| places.lead(*pointer, *to));
                to.is_none()
            });
            if open.len() == before {
                return places;
            }
        }
    }

    /// What is carried at the least, of what matters.
    pub(super) fn carried_of(&self, matters: &FxHashSet<LocalId>) -> FxHashSet<LocalId> {
        let kept = self.kept.iter().chain(&self.pointers.taken).filter(|local| matters.contains(local));
        self.course.iter().chain(kept).copied().collect()
    }

    /// Follows the flows backwards from these variables, each of them once: all that flow into them.
    pub(super) fn all_into(&self, mut found: FxHashSet<LocalId>) -> FxHashSet<LocalId> {
        let mut into: FxHashMap<LocalId, Vec<&'a Expr>> = FxHashMap::default();
        for (local, value, _) in &self.flows {
            into.entry(*local).or_default().push(value);
        }
        let mut waiting: Vec<LocalId> = found.iter().copied().collect();
        let (mut pointers, mut followed) = (self.pointers.lead_out, false);
        let mut values = Vec::<&Expr>::new();
        loop {
            if pointers && !followed {
                followed = true;
                values.extend_from_slice(&self.pointers.written);
            }
            for value in values {
                each_local(value, &mut |local| {
                    if found.insert(local) {
                        waiting.push(local);
                    }
                });
            }
            let Some(local) = waiting.pop() else { return found };
            pointers |= self.pointers.taken.contains(&local);
            values = into.remove(&local).unwrap_or_default();
        }
    }

    /// Every variable in an expression matters.
    fn seed(&mut self, expr: &Expr) {
        each_local(expr, &mut |local| {
            self.matters.insert(local);
        });
    }

    /// Every variable in an expression matters, and is carried.
    fn seed_course(&mut self, expr: &Expr) {
        self.seed(expr);
        each_local(expr, &mut |local| {
            self.course.insert(local);
        });
    }

    /// A variable is written.
    fn note_kept(&mut self, local: LocalId) {
        self.changed.insert(local);
        if self.declared_in.get(&local).copied().unwrap_or(0) < self.loops {
            self.kept.insert(local);
        }
    }

    pub(super) fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(list) => {
                for declaration in list {
                    self.seen.insert(declaration.local);
                    self.declared_in.insert(declaration.local, self.loops);
                    let shared = declaration.storage.is_shared();
                    if shared {
                        self.shared.insert(declaration.local);
                    }
                    // What its destructor changes lies elsewhere.
                    let stands = stands_for_others(&declaration.ty, self.program)
                        || ends_with_effect(&declaration.ty, self.program);
                    if shared || stands || matches!(declaration.ty, Type::Reference(_) | Type::Auto) {
                        self.aliases.insert(declaration.local);
                        self.matters.insert(declaration.local);
                        declaration.init.iter().for_each(|init| self.seed(init));
                        if !shared {
                            // It may stand for any variable.
                            self.course.insert(declaration.local);
                            let other = declaration.init.as_ref().and_then(root);
                            self.pointers.taken.extend(other.map(|(local, _)| local));
                        }
                    } else {
                        self.places.own(declaration.local, &declaration.ty, self.program);
                        if let Type::Pointer(pointee) = &declaration.ty
                            && declaration.storage == Storage::Automatic
                            && !is_indirect(pointee)
                        {
                            self.pointers.declared.push(declaration.local);
                        }
                    }
                    self.type_lengths(&declaration.ty);
                    if let Some(init) = &declaration.init {
                        self.flows.push((declaration.local, init, true));
                        self.pointed(init, self.places.leads(declaration.local));
                    }
                }
            }
            StmtKind::Block(body) => self.stmts(body),
            // It may run any number of times.
            StmtKind::Unsupported(_, body) | StmtKind::Try(body) => {
                self.loops += 1;
                self.stmts(body);
                self.loops -= 1;
            }
            StmtKind::If { cond, then, otherwise } => {
                self.condition(cond);
                self.stmts(then);
                self.stmts(otherwise);
            }
            StmtKind::Loop { cond, body, step, .. } => {
                self.loops += 1;
                cond.iter().for_each(|cond| self.condition(cond));
                step.iter().for_each(|step| self.expr(step));
                self.stmts(body);
                self.loops -= 1;
            }
            StmtKind::Switch { value, cases } => {
                self.condition(value);
                cases.iter().for_each(|case| self.stmts(&case.body));
            }
            StmtKind::Return(value) => value.iter().for_each(|value| match self.plain {
                true => self.expr(value),
                false => self.condition(value),
            }),
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::Throw
            | StmtKind::Damaged => {}
        }
    }

    fn type_lengths(&mut self, ty: &Type) {
        if let Type::Array(inner, length) = ty {
            length.iter().for_each(|length| self.seed_course(length));
            self.type_lengths(inner);
        }
    }

    /// Something whose value decides what runs.
    fn condition(&mut self, expr: &'a Expr) {
        self.seed_course(expr);
        self.expr(expr);
    }

    fn write(&mut self, target: &'a Expr, value: Option<&'a Expr>, whole: bool) {
        if let ExprKind::Conditional(cond, a, b) = &target.kind {
            self.seed_course(cond);
            self.write(a, value, false);
            return self.write(b, value, false);
        }
        match self.places.part_of(target) {
            Some(local) => {
                self.note_kept(local);
                self.flows.extend(value.map(|value| (local, value, whole)));
                // An index of an array that matters matters.
                if !matches!(target.kind, ExprKind::Local(_)) {
                    self.flows.push((local, target, false));
                }
            }
            None => {
                // An array in a struct is a part of it, though one behind a pointer in it is not.
                if let Some(local) = self.places.perhaps_part_of(target) {
                    self.note_kept(local);
                    self.flows.extend(value.map(|value| (local, value, false)));
                    self.flows.push((local, target, false));
                }
                self.seed(target);
                self.pointers.written.push(target);
                self.pointers.written.extend(value);
            }
        }
    }

    /// Whether it matters where the lanes of a warp meet.
    pub(super) fn minds_lanes(&self) -> bool {
        self.plains.lanes()
    }

    /// Whether it matters what is done to global memory.
    pub(super) fn minds_memory(&self) -> bool {
        self.plains.memory()
    }
}

/// Visits every variable in an expression, those in lambdas too.
fn each_local(expr: &Expr, visit: &mut dyn FnMut(LocalId)) {
    match &expr.kind {
        ExprKind::Local(local) => visit(*local),
        ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| each_local_of(stmt, visit)),
        _ => children(expr, &mut |child| each_local(child, visit)),
    }
}

fn each_local_of(stmt: &Stmt, visit: &mut dyn FnMut(LocalId)) {
    own_exprs(stmt, &mut |expr| each_local(expr, visit));
    own_stmts(stmt, &mut |inner| each_local_of(inner, visit));
}
