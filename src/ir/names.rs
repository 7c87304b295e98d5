//! Which names does a function's text mention at all?

use super::visit::children;
use super::{
    Declaration, Expr, ExprKind, Function, Name, Path, Stmt, StmtKind, TemplateArg, TemplateParamKind, Type,
};

/// Every name in a body through which code or shared memory may be reached: functions, variables,
/// and types, whose constructors and operators have no name of their own at their use.
#[must_use]
pub(crate) fn mentioned_names(function: &Function) -> Vec<Name> {
    let mut names = Names { list: Vec::new() };
    function.params.iter().for_each(|param| names.ty(&param.ty));
    names.stmts(function.body.as_deref().unwrap_or_default());
    names.list
}

/// Every name in what stands around a body: template parameters and launch bounds.
#[must_use]
pub(crate) fn header_names(function: &Function) -> Vec<Name> {
    let mut names = Names { list: Vec::new() };
    for param in function.template_params.iter().chain(&function.owner_params) {
        match &param.kind {
            TemplateParamKind::Type(default) | TemplateParamKind::Template(default) => {
                default.iter().for_each(|ty| names.ty(ty));
            }
            TemplateParamKind::Value(ty, default) => {
                names.ty(ty);
                default.iter().for_each(|default| names.expr(default));
            }
        }
    }
    names.exprs(&function.launch_bounds);
    names.list
}

/// Every name in a file-scope variable or a constant of a class.
#[must_use]
pub(crate) fn variable_names(variable: &Declaration) -> Vec<Name> {
    let mut names = Names { list: Vec::new() };
    names.declaration(variable);
    names.list
}

/// Every name in a type.
#[must_use]
pub(crate) fn type_names(ty: &Type) -> Vec<Name> {
    let mut names = Names { list: Vec::new() };
    names.ty(ty);
    names.list
}

struct Names {
    list: Vec<Name>,
}

impl Names {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(list) => {
                list.iter().for_each(|declaration| self.declaration(declaration));
            }
            StmtKind::Block(body) | StmtKind::Unsupported(_, body) | StmtKind::Try(body) => self.stmts(body),
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.stmts(then);
                self.stmts(otherwise);
            }
            StmtKind::Loop { cond, body, step, .. } => {
                cond.iter().chain(step).for_each(|e| self.expr(e));
                self.stmts(body);
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                for case in cases {
                    case.value.iter().for_each(|value| self.expr(value));
                    self.stmts(&case.body);
                }
            }
            StmtKind::Return(Some(expr)) => self.expr(expr),
            StmtKind::Return(None)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::Throw
            | StmtKind::Damaged => {}
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.ty(&declaration.ty);
        declaration.init.iter().for_each(|init| self.expr(init));
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                match &callee.kind {
                    ExprKind::Path(path) => self.path(path),
                    ExprKind::Member { base, name, .. } => {
                        self.list.push(name.clone());
                        self.expr(base);
                    }
                    _ => self.expr(callee),
                }
                self.exprs(args);
            }
            ExprKind::Construct(ty, items) => {
                self.ty(ty);
                self.exprs(items);
            }
            ExprKind::SizeofType(ty) | ExprKind::AlignofType(ty) | ExprKind::Offsetof(ty, _) => self.ty(ty),
            ExprKind::Lambda(lambda) => {
                lambda.params.iter().for_each(|param| self.ty(&param.ty));
                lambda.return_type.iter().for_each(|ty| self.ty(ty));
                self.stmts(&lambda.body);
            }
            ExprKind::Cast(ty, a) => {
                self.ty(ty);
                self.expr(a);
            }
            // A function handed on by name may be called.
            ExprKind::Path(path) => self.path(path),
            _ => children(expr, &mut |child| self.expr(child)),
        }
    }

    fn path(&mut self, path: &Path) {
        self.list.push(path.name.clone());
        for (name, args) in &path.qualifiers {
            self.list.push(name.clone());
            self.args(args);
        }
        self.args(path.args.as_deref().unwrap_or_default());
    }

    fn args(&mut self, args: &[TemplateArg]) {
        for arg in args {
            match arg {
                TemplateArg::Type(ty) => self.ty(ty),
                TemplateArg::Value(expr) => self.expr(expr),
            }
        }
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Named(path) => self.path(path),
            Type::Pointer(inner) | Type::Reference(inner) | Type::Qualified(_, inner) => self.ty(inner),
            Type::Array(inner, length) => {
                self.ty(inner);
                length.iter().for_each(|length| self.expr(length));
            }
            Type::Decltype(expr) => self.expr(expr),
            _ => {}
        }
    }
}
