//! Which members of an object that is read as a whole does a function use?
//!
//! ```text
//! float4 q = s[i];        // of the read of `s[i]`, x and w are used
//! out[t] = q.x + q.w;
//! ```
//!
//! Said only of a variable that is given nothing but what lies in places, and of which nothing but members is read:
//! where it is copied, handed on or written in part, all of it may be of use. The other way round, it is told which
//! objects are made of members before they are written as a whole:
//!
//! ```text
//! Pair p;
//! p.first = a;
//! p.second = b;
//! s[i] = p;               // so is `s[i] = {a, b}`
//! ```
//!
//! And which are copied from one place to another: `s[i] = in[j]`.

use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{
    BinaryOp, Declaration, Expr, ExprKind, Function, LocalId, Name, Stmt, StmtKind, Storage, Type,
};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How deep a member may lie in members.
const DEEPEST: u32 = 6;

/// What is used of one read.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// The variable that takes it.
    pub local: LocalId,
    /// The members, in the order of the text; `a.x` for a member of one.
    pub members: Vec<Name>,
}

/// Of what an object is made that is written.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// A list, and how many of its items are no constants.
    List(usize),
    /// These members.
    Members(Vec<Name>),
}

/// What is known of a function, by the places.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberUses {
    reads: BTreeMap<Span, Used>,
    /// The places whose object is written to another as a whole, at once or by a variable.
    wholes: BTreeSet<Span>,
    writes: BTreeMap<Span, Made>,
    copies: BTreeMap<Span, Root>,
}

/// What the path to a place begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A variable of the function.
    Local(LocalId),
    /// A variable outside of functions.
    Outside,
}

impl MemberUses {
    /// What a function uses.
    pub(super) fn of(function: &Function) -> MemberUses {
        let mut uses = Uses::default();
        uses.stmts(function.body.as_deref().unwrap_or(&[]));
        uses.found()
    }

    /// What is used of the object that is read from the place with this span, if that is known.
    pub(crate) fn used(&self, place: Span) -> Option<&Used> {
        self.reads.get(&place)
    }

    /// Whether all of the object that is read from the place with this span is of use: it is written to another.
    pub(crate) fn is_written_on(&self, place: Span) -> bool {
        self.wholes.contains(&place)
    }

    /// Of what the object is made that is written to the place with this span, if that is known.
    pub(crate) fn made(&self, place: Span) -> Option<&Made> {
        self.writes.get(&place)
    }

    /// Of the place with this span, with what the path to the other one begins to which or from which an object is copied.
    pub(crate) fn copied(&self, place: Span) -> Option<Root> {
        self.copies.get(&place).copied()
    }
}

/// What is written to a place as a whole.
#[derive(Clone, Copy)]
enum Whole {
    Variable(LocalId),
    /// A list, and how many of its items are no constants.
    List(usize),
}

/// What was seen of the text.
#[derive(Default)]
struct Uses {
    /// The members read of each variable; none if it is used as a whole.
    of: FxHashMap<LocalId, Option<Vec<Name>>>,
    /// The places from which variables are read as a whole.
    reads: Vec<(LocalId, Span)>,
    /// The members that are written of each variable.
    written: FxHashMap<LocalId, Vec<Name>>,
    /// Variables that are given a member that is no constant.
    varied: FxHashSet<LocalId>,
    /// Variables that are declared as a list, and how many of its items are no constants.
    listed: FxHashMap<LocalId, usize>,
    /// Variables that are declared without a value, or as a list.
    own: FxHashSet<LocalId>,
    /// Variables that get something as a whole, or are used as one other than to write it to a place.
    others: FxHashSet<LocalId>,
    /// The places to which something is written as a whole.
    writes: Vec<(Span, Whole)>,
    /// The places that are copied to others, or are such, and what the paths to the others begin with.
    copies: Vec<(Span, Root)>,
    /// The places that are read where something is written to a place as a whole.
    moved: Vec<Span>,
    /// How many places have a span: in a macro, several may.
    places: BTreeMap<Span, u32>,
    /// Whether there is text that is not understood: it may use anything.
    hidden: bool,
}

impl Uses {
    fn found(&self) -> MemberUses {
        let mut found = MemberUses::default();
        if self.hidden {
            return found;
        }
        let is_one = |place: &Span| self.places.get(place) == Some(&1);
        let is_written = |local: LocalId| {
            self.writes.iter().any(|(_, it)| matches!(it, Whole::Variable(of) if *of == local))
        };
        found.wholes.extend(self.moved.iter().filter(|place| is_one(place)));
        for (local, place) in self.reads.iter().filter(|(_, place)| is_one(place)) {
            found.wholes.extend(is_written(*local).then_some(*place));
            if let Some(Some(members)) = self.of.get(local) {
                found.reads.insert(*place, Used { local: *local, members: members.clone() });
            }
        }
        for (place, of) in self.writes.iter().filter(|(place, _)| is_one(place)) {
            found.writes.extend(self.made(*of).map(|made| (*place, made)));
        }
        found.copies.extend(self.copies.iter().filter(|(place, _)| is_one(place)).copied());
        found
    }

    /// Of what is made what is written.
    fn made(&self, of: Whole) -> Option<Made> {
        let local = match of {
            Whole::List(items) => return Some(Made::List(items)),
            Whole::Variable(local) => local,
        };
        if self.others.contains(&local) || !self.own.contains(&local) {
            return None;
        }
        match self.listed.get(&local) {
            Some(items) => Some(Made::List(*items)),
            None => {
                let written = self.written.get(&local).filter(|_| self.varied.contains(&local));
                written.cloned().map(Made::Members)
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(list) => list.iter().for_each(|it| self.declaration(it)),
            StmtKind::Expr(expr) => match &expr.kind {
                ExprKind::Assign(None, target, value) => match &target.kind {
                    ExprKind::Local(local) => self.gives(*local, value),
                    ExprKind::Index(..) | ExprKind::Deref(_) => self.writes(target, value),
                    _ => self.expr(expr),
                },
                _ => self.expr(expr),
            },
            StmtKind::Damaged | StmtKind::Unsupported(..) | StmtKind::Try(_) | StmtKind::Throw => {
                self.hidden = true
            }
            _ => own_exprs(stmt, &mut |expr| self.expr(expr)),
        }
        own_stmts(stmt, &mut |inner| self.stmt(inner));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let local = declaration.local;
        let is_own = declaration.storage == Storage::Automatic
            && !matches!(declaration.ty, Type::Reference(_) | Type::Pointer(_));
        let Some(init) = &declaration.init else {
            self.own.extend(is_own.then_some(local));
            return;
        };
        match list(init) {
            _ if !is_own => self.expr(init),
            Some(items) => {
                self.own.insert(local);
                self.listed.insert(local, items);
                self.of.insert(local, None);
                self.expr(init);
            }
            None => self.gives(local, init),
        }
    }

    /// A place is given a value.
    fn writes(&mut self, target: &Expr, value: &Expr) {
        self.expr(target);
        match &value.kind {
            ExprKind::Local(local) => {
                self.writes.push((target.span, Whole::Variable(*local)));
                self.of.insert(*local, None);
            }
            _ => {
                let is_place = matches!(value.kind, ExprKind::Index(..) | ExprKind::Deref(_));
                self.moved.extend(is_place.then_some(value.span));
                self.copies.extend(root(value).map(|from| (target.span, from)));
                self.copies.extend(root(target).map(|to| (value.span, to)));
                self.writes.extend(list(value).map(|items| (target.span, Whole::List(items))));
                self.expr(value);
            }
        }
    }

    /// A variable is given a value.
    fn gives(&mut self, local: LocalId, value: &Expr) {
        match value.kind {
            ExprKind::Index(..) | ExprKind::Deref(_) => self.reads.push((local, value.span)),
            // Of what is made otherwise, members may be known.
            _ => self.is_whole(local),
        }
        self.others.insert(local);
        self.expr(value);
    }

    fn is_whole(&mut self, local: LocalId) {
        self.of.insert(local, None);
        self.others.insert(local);
    }

    fn expr(&mut self, expr: &Expr) {
        if matches!(expr.kind, ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. }) {
            *self.places.entry(expr.span).or_default() += 1;
        }
        match &expr.kind {
            ExprKind::Local(local) => self.is_whole(*local),
            ExprKind::Member { base, .. } => match member_of_variable(expr) {
                Some((local, name)) => {
                    let members = self.of.entry(local).or_insert_with(|| Some(Vec::new()));
                    if let Some(members) = members.as_mut().filter(|members| !members.contains(&name)) {
                        members.push(name);
                    }
                }
                None => self.expr(base),
            },
            ExprKind::Assign(None, target, value) => {
                match member_of_variable(target) {
                    Some((local, name)) => {
                        self.of.insert(local, None);
                        self.written.entry(local).or_default().push(name);
                        if varies(value) {
                            self.varied.insert(local);
                        }
                    }
                    None => self.touched(target),
                }
                self.expr(value);
            }
            ExprKind::AddressOf(inner) => self.touched(inner),
            ExprKind::Call { callee, args } => {
                self.touched(callee);
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Lambda(lambda) => self.stmts(&lambda.body),
            ExprKind::Unsupported(_) | ExprKind::Damaged => self.hidden = true,
            _ => children(expr, &mut |child| self.expr(child)),
        }
    }

    /// A part of a variable is written, its address taken, or it is called.
    fn touched(&mut self, target: &Expr) {
        let mut of = target;
        while let ExprKind::Member { base: inner, .. } | ExprKind::Index(inner, _) = &of.kind {
            of = inner;
        }
        if let ExprKind::Local(local) = of.kind {
            self.is_whole(local);
        }
        self.expr(target);
    }
}

/// What the path to a place begins with: `a` of `a[i]`, `*a` and `*(a + i)`; none of what goes through members or calls.
fn root(place: &Expr) -> Option<Root> {
    let mut of = match &place.kind {
        ExprKind::Index(base, _) | ExprKind::Deref(base) => base,
        _ => return None,
    };
    loop {
        of = match &of.kind {
            ExprKind::Index(base, _)
            | ExprKind::Deref(base)
            | ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, base, _) => base,
            ExprKind::Local(local) => return Some(Root::Local(*local)),
            ExprKind::Path(_) => return Some(Root::Outside),
            _ => return None,
        };
    }
}

/// How many items of a list, with or without its type, are no constants; none if it is no list of several.
fn list(value: &Expr) -> Option<usize> {
    match &value.kind {
        ExprKind::InitList(items) | ExprKind::Construct(_, items) if items.len() > 1 => {
            Some(items.iter().filter(|item| varies(item)).count())
        }
        _ => None,
    }
}

/// Whether a value is surely no constant.
fn varies(value: &Expr) -> bool {
    let mut found = matches!(
        value.kind,
        ExprKind::Local(_) | ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. }
    );
    children(value, &mut |child| found |= varies(child));
    found
}

/// `v.name`, or `v.name.part`
fn member_of_variable(expr: &Expr) -> Option<(LocalId, Name)> {
    member_within(expr, DEEPEST)
}

fn member_within(expr: &Expr, depth: u32) -> Option<(LocalId, Name)> {
    let ExprKind::Member { base, name, arrow: false, args: None, class: None } = &expr.kind else {
        return None;
    };
    match &base.kind {
        ExprKind::Local(local) => Some((*local, name.clone())),
        _ => {
            let (local, path) = member_within(base, depth.checked_sub(1)?)?;
            Some((local, format!("{path}.{name}").into()))
        }
    }
}
