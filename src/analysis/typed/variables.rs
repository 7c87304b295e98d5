//! Which variables and parameters have the length of a shared array's rows in their type?
//!
//! ```text
//! __device__ void fill(float (*t)[32], const float *in);          the parameter
//! __shared__ float a[32][32], b[32][32];                          the arrays
//! float (*p)[32] = k % 2 ? a : b;                                 a pointer to rows of either
//! fill(p, in);
//! ```
//!
//! All that one leads to have the same rows: `a`, `b`, `p` and `t` change together, or none does. What comes from
//! elsewhere, as the argument of another kernel does, has rows that stay as they are.

use super::super::pitch::sites::{Part, address, visit};
use super::super::runs::Subject;
use super::{element, lengths};
use crate::ir::{
    BinaryOp, Declaration, Expr, ExprKind, Function, FunctionKind, LocalId, Name, Storage, Type,
};
use crate::rules::{TypedLength, TypedWhat, Use, UseForm};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// Functions that ask for a length.
const ASKING: [&str; 3] = ["size", "ssize", "countof"];

/// A variable: of a function, by its address, or of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    Local(usize, LocalId),
    OfFile(usize),
}

/// Variables whose types change together.
pub(super) struct Together {
    pub what: TypedWhat,
    /// What becomes longer, by its address in the program.
    pub addresses: Vec<usize>,
    /// The names of the arrays among them.
    pub arrays: Vec<Span>,
    /// Where one of them is named by what another is given.
    pub named: Vec<Span>,
    /// In which forms the text may name them, if those are known.
    pub uses: Option<Vec<Use>>,
}

/// What is known of one whose type may have the length of rows in it.
struct Known<'p> {
    name: &'p Name,
    ty: &'p Type,
    /// Where it is declared, if it is a shared array.
    array: Option<Span>,
    /// Whether it is of another kernel.
    is_foreign: bool,
    /// Its name where it is declared, and the function that it is of.
    at: Span,
    of: Option<&'p Function>,
}

/// That a variable is, or leads to, what others are.
struct Leads {
    to: Variable,
    /// `None` if that is not known.
    from: Option<Vec<(Variable, Span)>>,
}

/// What changes with the rows of an array; nothing if that is its declaration alone, or more than is seen.
pub(super) fn together(subject: &Subject<'_>, declaration: &Declaration) -> Option<Together> {
    if lengths(&declaration.ty).len() < 2 || matches!(element(&declaration.ty), Type::Auto | Type::Opaque) {
        return None;
    }
    subject.program.seek_whole();
    let mut graph = Graph { subject, variables: FxHashMap::default(), leads: Vec::new(), start: None };
    graph.fill(declaration);
    let (set, named) = graph.all_of(graph.start?)?;
    if graph.are_asked(&set) {
        return None;
    }
    let mut found: Vec<(TypedLength, usize)> = Vec::new();
    let mut arrays = Vec::new();
    let uses = graph.uses(&set, &named);
    for variable in set {
        let known = graph.variables.get(&variable)?;
        if known.is_foreign {
            return None;
        }
        arrays.extend(known.array);
        let Some(all) = row_lengths(known.ty) else { continue };
        let Some(Some(last)) = all.last() else { continue };
        let lengths: Vec<Span> = all.iter().flatten().map(|length| length.span).collect();
        let length = TypedLength { name: known.name.to_string(), of: String::new(), lengths };
        found.push((length, address(last)));
    }
    found.sort_by_key(|(length, _)| length.lengths.last().copied());
    arrays.sort_unstable();
    if found.is_empty() {
        return None;
    }
    let (lengths, addresses) = found.into_iter().unzip();
    Some(Together { what: TypedWhat::Variables(lengths), addresses, arrays, named, uses })
}

/// The lengths in the type of something that has rows or leads to them, outermost first; `None` if it has none.
fn row_lengths(ty: &Type) -> Option<Vec<Option<&Expr>>> {
    let found = match ty {
        Type::Qualified(_, inner) => return row_lengths(inner),
        Type::Pointer(inner) | Type::Reference(inner) => match &**inner {
            Type::Pointer(_) | Type::Reference(_) => return row_lengths(inner),
            inner => lengths(inner),
        },
        Type::Array(..) => lengths(ty),
        _ => return None,
    };
    let least = if matches!(ty, Type::Array(..)) { 2 } else { 1 };
    (found.len() >= least).then_some(found)
}

/// How many subscripts lead to an element.
fn rank(ty: &Type) -> usize {
    match ty {
        Type::Array(inner, _) | Type::Pointer(inner) => 1 + rank(inner),
        Type::Qualified(_, inner) | Type::Reference(inner) => rank(inner),
        _ => 0,
    }
}

/// Whether a type is made of what the variable is given.
fn is_deduced(ty: &Type, function: &Function) -> bool {
    match ty {
        Type::Auto => true,
        Type::Qualified(_, inner) | Type::Pointer(inner) | Type::Reference(inner) => {
            is_deduced(inner, function)
        }
        Type::Named(path) => function.template_params.iter().any(|param| param.name == path.name),
        _ => false,
    }
}

struct Graph<'s, 'p> {
    subject: &'s Subject<'p>,
    variables: FxHashMap<Variable, Known<'p>>,
    leads: Vec<Leads>,
    start: Option<Variable>,
}

impl<'p> Graph<'_, 'p> {
    /// Notes all variables of the program that have rows, and what they are.
    fn fill(&mut self, start: &Declaration) {
        let program = self.subject.program;
        for variable in program.modules.iter().flat_map(|module| &module.variables) {
            let of_file = Variable::OfFile(std::ptr::from_ref(&**variable).addr());
            let is_shared = variable.storage == Storage::Shared;
            let (name, ty) = (&variable.name, &variable.ty);
            let (at, array) = (variable.name_span, Some(variable.name_span));
            self.variables.insert(of_file, Known { name, ty, array, is_foreign: !is_shared, at, of: None });
            if variable.name_span == start.name_span {
                self.start = Some(of_file);
            }
        }
        for function in program.modules.iter().flat_map(|module| &module.functions) {
            self.note_variables(function, start);
        }
        for function in program.modules.iter().flat_map(|module| &module.functions) {
            self.note_leads(function);
        }
    }

    fn note_variables(&mut self, function: &'p Function, start: &Declaration) {
        let own = std::ptr::from_ref(function).addr();
        let is_foreign =
            function.kind == FunctionKind::Kernel && function.name_span != self.subject.kernel.name_span;
        for param in &function.params {
            if row_lengths(&param.ty).is_some() || is_deduced(&param.ty, function) {
                let (name, ty, at, of) = (&param.name, &param.ty, param.span, Some(function));
                let known = Known { name, ty, array: None, is_foreign, at, of };
                self.variables.insert(Variable::Local(own, param.local), known);
            }
        }
        visit(function.body.as_deref().unwrap_or(&[]), &mut |part| {
            let Part::Declaration(it) = part else { return };
            if row_lengths(&it.ty).is_none() && !is_deduced(&it.ty, function) {
                return;
            }
            let variable = Variable::Local(own, it.local);
            let array = (it.storage == Storage::Shared).then_some(it.name_span);
            let is_foreign = is_foreign || it.storage == Storage::DynamicShared;
            let (name, ty, at, of) = (&it.name, &it.ty, it.name_span, Some(function));
            self.variables.insert(variable, Known { name, ty, array, is_foreign, at, of });
            if it.name_span == start.name_span {
                self.start = Some(variable);
            }
        });
    }

    fn note_leads(&mut self, function: &'p Function) {
        let own = std::ptr::from_ref(function).addr();
        visit(function.body.as_deref().unwrap_or(&[]), &mut |part| match part {
            Part::Declaration(it) => {
                if let Some(init) = &it.init {
                    self.lead(Variable::Local(own, it.local), init, own);
                }
            }
            Part::Expr(expr) => match &expr.kind {
                ExprKind::Assign(None, target, value) => {
                    if let ExprKind::Local(local) = target.kind {
                        self.lead(Variable::Local(own, local), value, own);
                    }
                }
                ExprKind::Call { callee, args } => {
                    let name = match &callee.kind {
                        ExprKind::Path(path) => &path.name,
                        ExprKind::Member { name, .. } => name,
                        _ => return,
                    };
                    for called in self.subject.program.functions(name) {
                        let to = std::ptr::from_ref(&**called).addr();
                        for (param, arg) in called.params.iter().zip(args) {
                            self.lead(Variable::Local(to, param.local), arg, own);
                        }
                    }
                }
                _ => {}
            },
        });
    }

    /// Notes what a variable with rows is given.
    fn lead(&mut self, to: Variable, value: &Expr, function: usize) {
        let Some(known) = self.variables.get(&to) else { return };
        // An element has no rows.
        if row_lengths(known.ty).is_none() && (subscripts(value) > 1 || !self.names_rows(value, function)) {
            return;
        }
        let mut from = Some(Vec::new());
        self.roots(value, function, &mut from);
        self.leads.push(Leads { to, from });
    }

    /// Whether a value is made of a variable with rows.
    fn names_rows(&self, value: &Expr, function: usize) -> bool {
        let mut from = Some(Vec::new());
        self.roots(value, function, &mut from);
        from.is_some_and(|from| !from.is_empty())
    }

    /// Adds the variables that a value leads to; none is left if it may lead elsewhere.
    fn roots(&self, value: &Expr, function: usize, found: &mut Option<Vec<(Variable, Span)>>) {
        let variable = match &value.kind {
            ExprKind::Local(local) => Some(Variable::Local(function, *local)),
            ExprKind::Path(path) => {
                let [variable] = self.subject.program.variables(&path.name) else {
                    *found = None;
                    return;
                };
                Some(Variable::OfFile(std::ptr::from_ref(&**variable).addr()))
            }
            ExprKind::Index(base, _) | ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, base, _) => {
                return self.roots(base, function, found);
            }
            ExprKind::AddressOf(inner) | ExprKind::Deref(inner) | ExprKind::Comma(_, inner) => {
                return self.roots(inner, function, found);
            }
            ExprKind::Conditional(_, a, b) => {
                self.roots(a, function, found);
                return self.roots(b, function, found);
            }
            _ => None,
        };
        match (variable.filter(|it| self.variables.contains_key(it)), &mut *found) {
            (Some(variable), Some(found)) => found.push((variable, value.span)),
            _ => *found = None,
        }
    }

    /// In which forms the text may name these, and the functions that are given them; `None` if that is not known: of
    /// a type that is deduced, or a function that is one of several.
    fn uses(&self, set: &[Variable], named: &[Span]) -> Option<Vec<Use>> {
        let mut uses: Vec<Use> = Vec::new();
        for variable in set {
            let known = self.variables.get(variable)?;
            row_lengths(known.ty)?;
            // That of a function may be another kernel's, too.
            let is_own = known.of.is_some_and(|of| of.name_span == self.subject.kernel.name_span);
            if known.array.is_some() && !is_own {
                return None;
            }
            let form = UseForm::Rows(rank(known.ty), named.to_vec());
            let (name, scope) = (known.name.to_string(), known.of.map(|of| of.span));
            uses.push(Use { name, declared: known.at, scope, form });
            let Some(of) = known.of.filter(|of| of.kind != FunctionKind::Kernel) else { continue };
            let namesakes = self.subject.program.functions(&of.name).iter();
            let is_only = namesakes.filter(|it| it.namespace == of.namespace).count() == 1;
            if !is_only || of.owner.is_some() || !of.template_params.is_empty() {
                return None;
            }
            let (name, declared) = (of.name.to_string(), of.name_span);
            let function = Use { name, declared, scope: None, form: UseForm::Function };
            uses.extend((!uses.contains(&function)).then_some(function));
        }
        Some(uses)
    }

    /// Whether something asks for the size or the type of one of these or its rows.
    fn are_asked(&self, set: &[Variable]) -> bool {
        let mut found = false;
        for function in self.subject.program.modules.iter().flat_map(|module| &module.functions) {
            let own = std::ptr::from_ref(&**function).addr();
            let is_one = |expr: &Expr| {
                let mut from = Some(Vec::new());
                self.roots(expr, own, &mut from);
                subscripts(expr) < 2 && from.iter().flatten().any(|(it, _)| set.contains(it))
            };
            visit(function.body.as_deref().unwrap_or(&[]), &mut |part| match part {
                Part::Expr(Expr { kind: ExprKind::SizeofExpr(inner), .. }) => found |= is_one(inner),
                Part::Expr(Expr { kind: ExprKind::Call { callee, args }, .. }) => {
                    let is_size =
                        matches!(&callee.kind, ExprKind::Path(path) if ASKING.contains(&&*path.name));
                    found |= is_size && args.iter().any(is_one);
                }
                Part::Declaration(Declaration { ty: Type::Decltype(expr), .. }) => found |= is_one(expr),
                _ => {}
            });
        }
        found
    }

    /// All that have the rows of one, and where one is named by what another is given; `None` if some of them may have
    /// other rows, too.
    fn all_of(&self, start: Variable) -> Option<(Vec<Variable>, Vec<Span>)> {
        let mut all = vec![start];
        let mut named: Vec<Span> = Vec::new();
        loop {
            let before = all.len();
            for Leads { to, from } in &self.leads {
                let is_of_it = all.contains(to);
                let comes_of_it = from.iter().flatten().any(|(it, _)| all.contains(it));
                if !is_of_it && !comes_of_it {
                    continue;
                }
                let from = from.as_ref()?;
                named.extend(from.iter().map(|(_, span)| *span));
                for variable in from.iter().map(|(variable, _)| variable).chain([to]) {
                    if !all.contains(variable) {
                        all.push(*variable);
                    }
                }
            }
            if all.len() == before {
                named.sort_unstable();
                named.dedup();
                return Some((all, named));
            }
        }
    }
}

/// How many subscripts an expression has.
fn subscripts(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Index(base, _) => 1 + subscripts(base),
        _ => 0,
    }
}
