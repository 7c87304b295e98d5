//! Which variables may a function's text change?
//!
//! Every mention of a variable may change it, unless its form is known to read it only: an operand, an index, what a
//! variable of its own is initialised with. What a pointer leads to is not among the variables. A variable that a
//! reference is bound to counts as changed; the reference is not followed.
//!
//! | text | `n` |
//! |---|---|
//! | `n + 1`, `a[n]`, `int m = n;`, `if (n)` | is read |
//! | `n = 1`, `++n`, `(c ? n : m) = 1`, `(int &)n = 1`, `&n`, `int &m = n;` | is changed |
//! | `f(n)`, `x.f(n)`, `n.f()`, `T t(n)`, `x << n` | it depends on the callee |
//! | `int *p = n;`, `n + 1`, `*n = 1` | is changed if it is an array |

use super::visit::{children, own_exprs, own_stmts};
use super::{
    BinaryOp, Declaration, Expr, ExprKind, Function, LocalId, Module, Name, Param, Path, Stmt, StmtKind,
    TemplateArg, Through, Type, UnaryOp,
};

/// A variable that may be changed, and by what.
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) variable: Variable,
    pub(crate) by: By,
}

/// One of the function's own, or one by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Local(LocalId),
    /// The name, and whether it stands alone, so that it may be that of a member.
    Named(Name, bool),
}

/// What changes it.
#[derive(Clone, Debug)]
pub(crate) enum By {
    /// An assignment, or a step.
    Assignment,
    /// Its address is taken, a reference is bound to it, or nothing tells that it is only read.
    Itself,
    /// Nothing, but that its value is an address, if it is an array of more dimensions than it has subscripts here.
    Value(usize),
    /// The same of a member of this name.
    Member(Name, usize),
    /// An element of it is changed by that.
    Element(Box<By>),
    /// What lies behind it is changed: it is itself, unless it is a pointer.
    Behind(Box<By>),
    /// A function as its argument of this number, out of so many.
    Function(Path, usize, usize),
    /// The same of one whose result may be a reference to the argument, to which that happens.
    HandedBack(Path, usize, usize, Box<By>),
    /// That happens to an object that is made of it and others: `f({n, 1})`.
    Listed(Box<By>),
    /// What may be a macro of this name, as a part of an argument.
    Text(Name, usize),
    /// A method.
    Method(Name, usize, usize),
    /// A method whose object it is, with so many arguments.
    Object(Name, usize),
    /// A constructor of this class.
    Constructor(Name, usize, usize),
    /// The operator of two operands, as its first or second.
    Operator(BinaryOp, usize),
    /// The operator of one operand.
    Unary(UnaryOp),
    /// It is what a member of the class is initialised with.
    Initialiser(Name, Name),
}

/// The variables that a function's text may change, with repetitions.
#[must_use]
pub(crate) fn writes(function: &Function) -> &[Write] {
    function.writes.get_or_find(|| {
        let returned = Some(function.return_type.clone());
        let mut found = Mentions { function: Some(function), returned, found: Vec::new() };
        function.params.iter().for_each(|param| found.default(param));
        function.body.iter().flatten().for_each(|stmt| found.stmt(stmt));
        found.found
    })
}

/// The variables that are changed by way of what something outside of functions is initialised with.
#[must_use]
pub(crate) fn by_initialisers(module: &Module) -> &[Write] {
    module.writes.get_or_find(|| {
        let mut found = Mentions { function: None, returned: None, found: Vec::new() };
        let mut initialiser = |init: &Expr, ty: &Type, is_const: bool| {
            found.initialiser(init, ty, is_const && matches!(ty, Type::Reference(_)));
        };
        let records = || module.records.iter().filter(|it| !it.span.is_built_in());
        let constants = records().flat_map(|record| &record.constants);
        let variables = module.variables.iter().map(|it| &**it).filter(|it| !it.span.is_built_in());
        for variable in variables.chain(constants) {
            variable.init.iter().for_each(|init| initialiser(init, &variable.ty, variable.constant));
        }
        for field in records().flat_map(|record| &record.fields) {
            field.init.iter().for_each(|init| initialiser(init, &field.ty, false));
        }
        found.found
    })
}

/// The names among them, in order: whether a variable is ever changed is asked of all functions at once.
#[must_use]
pub(crate) fn named(function: &Function) -> Vec<&Name> {
    let mut names: Vec<&Name> = writes(function)
        .iter()
        .filter_map(|write| match &write.variable {
            Variable::Named(name, _) => Some(name),
            Variable::Local(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Looks for what may change variables.
struct Mentions<'f> {
    function: Option<&'f Function>,
    /// What the function or lambda hands back; `None` where that is a value.
    returned: Option<Type>,
    found: Vec<Write>,
}

impl Mentions<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(list) => list.iter().for_each(|it| self.declaration(it)),
            StmtKind::Return(Some(value)) => match self.returned.clone() {
                Some(Type::Auto) => self.place(value, &By::Itself),
                Some(ty) => self.initialiser(value, &ty, false),
                None => self.value(value),
            },
            _ => own_exprs(stmt, &mut |expr| self.value(expr)),
        }
        own_stmts(stmt, &mut |stmt| self.stmt(stmt));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.named_in_type(&declaration.ty);
        let Some(init) = &declaration.init else { return };
        let local = self.function.and_then(|it| it.locals.get(declaration.local.0 as usize));
        self.initialiser(init, &declaration.ty, local.is_some_and(|it| it.through == Through::Const));
    }

    /// What something of a type is initialised with. `reads_only`: if it is a reference, to `const`.
    fn initialiser(&mut self, init: &Expr, ty: &Type, reads_only: bool) {
        match (ty, &init.kind) {
            (Type::Qualified(_, ty), _) => self.initialiser(init, ty, reads_only),
            (Type::Reference(_), ExprKind::Construct(_, items)) if items.len() == 1 => {
                self.initialiser(&items[0], ty, reads_only);
            }
            (Type::Reference(_), ExprKind::InitList(items)) if items.len() == 1 => {
                self.initialiser(&items[0], ty, reads_only);
            }
            (Type::Reference(_), _) if reads_only => self.value(init),
            (Type::Reference(_) | Type::Decltype(_) | Type::Opaque, _) => self.place(init, &By::Itself),
            (Type::Array(inner, _), ExprKind::InitList(items) | ExprKind::Construct(_, items)) => {
                items.iter().for_each(|item| self.initialiser(item, inner, false));
            }
            (Type::Array(..), _) => self.value(init),
            (_, ExprKind::InitList(items)) => self.constructed(ty, items),
            _ => self.value(init),
        }
    }

    /// An object is made of these.
    fn constructed(&mut self, ty: &Type, items: &[Expr]) {
        self.named_in_type(ty);
        let class = match ty {
            Type::Qualified(_, ty) => return self.constructed(ty, items),
            // `std::tuple<int &>`
            Type::Named(path) if has_reference(path) => {
                return items.iter().for_each(|item| self.place(item, &By::Itself));
            }
            Type::Named(path) => path.name.clone(),
            Type::Scalar(_) | Type::Pointer(_) => return items.iter().for_each(|item| self.value(item)),
            Type::Array(inner, _) => return items.iter().for_each(|it| self.initialiser(it, inner, false)),
            _ => return items.iter().for_each(|item| self.place(item, &By::Itself)),
        };
        for (at, item) in items.iter().enumerate() {
            self.place(item, &By::Constructor(class.clone(), at, items.len()));
        }
    }

    /// An expression of which only the value is used.
    fn value(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(_) | ExprKind::Path(_) => self.note(expr, By::Value(0)),
            ExprKind::Member { .. } | ExprKind::Index(..) => self.element(expr, 0),
            ExprKind::Deref(inner) => self.value(inner),
            ExprKind::Unary(op, inner) => self.place(inner, &By::Unary(*op)),
            ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, a, b) => {
                self.value(a);
                self.value(b);
            }
            ExprKind::Cast(ty, inner) => match ty {
                Type::Named(_) => self.constructed(ty, std::slice::from_ref(inner)),
                Type::Auto => self.value(inner),
                _ => self.initialiser(inner, ty, false),
            },
            ExprKind::Comma(a, b) => {
                self.value(a);
                self.value(b);
            }
            ExprKind::Conditional(cond, a, b) => [cond, a, b].into_iter().for_each(|it| self.value(it)),
            _ => self.inside(expr, &By::Value(0)),
        }
    }

    /// What is read is an element of a variable, or a member.
    fn element(&mut self, expr: &Expr, subscripts: usize) {
        match &expr.kind {
            ExprKind::Index(base, index) => {
                self.index(index);
                self.element(base, subscripts.saturating_add(1));
            }
            ExprKind::Member { base, name, arrow, .. } => {
                match arrow {
                    true => self.value(base),
                    false => self.element(base, usize::MAX),
                }
                if subscripts != usize::MAX {
                    self.of_variable(base, &By::Member(name.clone(), subscripts));
                }
            }
            ExprKind::Local(_) | ExprKind::Path(_) => self.note(expr, By::Value(subscripts)),
            _ => self.value(expr),
        }
    }

    /// Notes the variable of which something is a part, alone.
    fn of_variable(&mut self, place: &Expr, by: &By) {
        match &place.kind {
            ExprKind::Local(_) | ExprKind::Path(_) => self.note(place, by.clone()),
            ExprKind::Member { base, arrow: false, .. } | ExprKind::Index(base, _) => {
                self.of_variable(base, by);
            }
            _ => {}
        }
    }

    /// A class may take the index by reference.
    fn index(&mut self, index: &Expr) {
        self.place(index, &By::Method("operator[]".into(), 0, 1));
    }

    /// A place that something happens to.
    fn place(&mut self, expr: &Expr, by: &By) {
        match &expr.kind {
            ExprKind::Local(_) | ExprKind::Path(_) => self.note(expr, by.clone()),
            ExprKind::Member { base, name, arrow: false, .. } => {
                self.of_variable(base, &By::Member(name.clone(), 0));
                self.place(base, by);
            }
            ExprKind::Member { base, arrow: true, .. } | ExprKind::Deref(base) => self.behind(base, by),
            ExprKind::Index(base, index) => {
                match by {
                    By::Itself | By::Assignment => self.behind(base, by),
                    _ => self.place(base, &By::Element(Box::new(by.clone()))),
                }
                self.index(index);
            }
            ExprKind::Conditional(cond, a, b) => {
                self.value(cond);
                self.place(a, by);
                self.place(b, by);
            }
            ExprKind::Comma(a, b) => {
                self.value(a);
                self.place(b, by);
            }
            ExprKind::Cast(Type::Reference(_), inner) => self.place(inner, by),
            ExprKind::Call { callee, args } if hands_on(callee) => {
                args.iter().for_each(|arg| self.place(arg, by));
            }
            _ => self.inside(expr, by),
        }
    }

    /// What leads to a place that is changed.
    fn behind(&mut self, base: &Expr, by: &By) {
        match &base.kind {
            ExprKind::Binary(_, a, b) => {
                self.behind(a, by);
                self.behind(b, by);
            }
            // An array in an object.
            ExprKind::Member { base, arrow: false, .. } => self.place(base, by),
            _ => self.place(base, &By::Behind(Box::new(by.clone()))),
        }
    }

    /// What happens in an expression that is no variable or a part of one. `by`: to what it hands back.
    fn inside(&mut self, expr: &Expr, by: &By) {
        match &expr.kind {
            ExprKind::Assign(op, target, value) => {
                self.place(target, &By::Assignment);
                match op {
                    Some(op) => self.place(value, &By::Operator(*op, 1)),
                    None => self.assigned(target, value),
                }
            }
            ExprKind::Step { target, .. } => self.place(target, &By::Assignment),
            ExprKind::AddressOf(target) => self.place(target, &By::Itself),
            ExprKind::Binary(op, a, b) => {
                self.place(a, &By::Operator(*op, 0));
                self.place(b, &By::Operator(*op, 1));
            }
            ExprKind::Call { callee, args } => self.call(callee, args, by),
            ExprKind::Construct(ty, items) => self.constructed(ty, items),
            ExprKind::Launch(launch) => {
                [&launch.grid, &launch.block, &launch.dynamic_bytes]
                    .into_iter()
                    .flatten()
                    .chain(&launch.args)
                    .for_each(|it| self.value(it));
            }
            ExprKind::Asm(asm) => {
                asm.outputs.iter().for_each(|(_, output)| self.place(output, &By::Itself));
                asm.inputs.iter().for_each(|(_, input)| self.value(input));
            }
            ExprKind::Lambda(lambda) => {
                lambda.params.iter().for_each(|param| self.default(param));
                let around = std::mem::replace(&mut self.returned, lambda.return_type.clone());
                lambda.body.iter().for_each(|stmt| self.stmt(stmt));
                self.returned = around;
            }
            ExprKind::SizeofExpr(_) => {}
            ExprKind::Local(_)
            | ExprKind::Path(_)
            | ExprKind::Member { .. }
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Cast(..)
            | ExprKind::Unary(..) => self.value(expr),
            ExprKind::Designated(_, inner) => self.place(inner, by),
            ExprKind::InitList(items) => {
                items.iter().for_each(|item| self.place(item, &By::Listed(Box::new(by.clone()))));
            }
            _ => children(expr, &mut |child| self.place(child, &By::Itself)),
        }
    }

    fn default(&mut self, param: &Param) {
        if let Some(default) = &param.default {
            self.initialiser(default, &param.ty, param.to_const);
        }
    }

    /// A constructor may bind a reference that way.
    fn assigned(&mut self, target: &Expr, value: &Expr) {
        let class = self.function.and_then(|it| it.owner.clone().filter(|owner| *owner == it.name));
        match (class, &target.kind) {
            (Some(class), ExprKind::Member { base, name, .. }) if matches!(base.kind, ExprKind::This) => {
                self.place(value, &By::Initialiser(class, name.clone()));
            }
            _ => self.value(value),
        }
    }

    /// A template may have a reference as its parameter, or a pointer: `set<n>()`, `Counter<&n> counter;`.
    fn named_in_type(&mut self, ty: &Type) {
        match ty {
            Type::Named(path) => self.named_in_path(path),
            Type::Array(inner, _)
            | Type::Qualified(_, inner)
            | Type::Pointer(inner)
            | Type::Reference(inner) => {
                self.named_in_type(inner);
            }
            _ => {}
        }
    }

    fn named_in_path(&mut self, path: &Path) {
        for arg in path.args.iter().flatten().chain(path.qualifiers.iter().flat_map(|(_, args)| args)) {
            match arg {
                // A name may be that of a value.
                TemplateArg::Type(Type::Named(named)) => {
                    let is_bare = named.qualifiers.is_empty() && !named.global;
                    let variable = Variable::Named(named.name.clone(), is_bare);
                    self.found.push(Write { variable, by: By::Itself });
                    self.named_in_path(named);
                }
                TemplateArg::Type(ty) => self.named_in_type(ty),
                TemplateArg::Value(value) => self.place(value, &By::Itself),
            }
        }
    }

    fn call(&mut self, callee: &Expr, args: &[Expr], by: &By) {
        if let ExprKind::Path(path) = &callee.kind {
            self.named_in_path(path);
        }
        let count = args.len();
        let is_changed = !matches!(by, By::Value(_) | By::Operator(..) | By::Unary(_));
        for (at, arg) in args.iter().enumerate() {
            match &callee.kind {
                ExprKind::Path(path) => {
                    let path = (**path).clone();
                    children(arg, &mut |part| self.mentioned(part, &path, count));
                    match is_changed {
                        true => self.place(arg, &By::HandedBack(path, at, count, Box::new(by.clone()))),
                        false => self.place(arg, &By::Function(path, at, count)),
                    }
                }
                ExprKind::Member { name, .. } => self.place(arg, &By::Method(name.clone(), at, count)),
                _ => self.place(arg, &By::Itself),
            }
        }
        match &callee.kind {
            // Once only: of `a.b().c().d()`, each call is asked for what it is called on.
            ExprKind::Member { base, arrow: false, .. } if is_changed => self.place(base, &By::Itself),
            ExprKind::Member { base, name, arrow: false, .. } => {
                self.place(base, &By::Object(name.clone(), count));
            }
            ExprKind::Member { base, .. } => self.value(base),
            ExprKind::Path(_) => {}
            _ => self.value(callee),
        }
    }

    /// Notes whatever is named in an argument, which may be that of a macro.
    fn mentioned(&mut self, arg: &Expr, path: &Path, count: usize) {
        if path.qualifiers.is_empty() {
            self.note(arg, By::Text(path.name.clone(), count));
            children(arg, &mut |part| self.mentioned(part, path, count));
        }
    }

    fn note(&mut self, variable: &Expr, by: By) {
        let variable = match &variable.kind {
            ExprKind::Local(local) => Variable::Local(*local),
            ExprKind::Path(path) => {
                Variable::Named(path.name.clone(), path.qualifiers.is_empty() && !path.global)
            }
            _ => return,
        };
        if !matches!(by, By::Value(usize::MAX)) {
            self.found.push(Write { variable, by });
        }
    }
}

/// Whether a template argument of a class is a reference.
fn has_reference(class: &Path) -> bool {
    let is_one = |arg: &TemplateArg| matches!(arg, TemplateArg::Type(Type::Reference(_)));
    class.args.iter().flatten().any(is_one)
}

/// Functions that hand back their argument as it is.
const HANDING_ON: [&str; 3] = ["move", "forward", "as_const"];

/// Whether a call hands back its argument as it is: `std::move(x)`.
pub(crate) fn hands_on(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Path(path) if HANDING_ON.contains(&&*path.name))
}
