//! What does a piece of the program look like as text?
//!
//! Renders IR as C-like text, for messages and tests. Redundant parentheses are added rather than
//! precedence tracked: only a name, a literal or a postfix expression stands bare as an operand.

use super::{
    BinaryOp, Case, Declaration, Expr, ExprKind, Function, FunctionKind, Join, Lambda, Launch, Name, Pack,
    Param, Path, Scalar, Stmt, StmtKind, Storage, TemplateArg, TemplateParam, TemplateParamKind, Type,
    UnaryOp,
};
use std::fmt::Write;

/// Looks up what a slot is called.
type Names<'a> = &'a dyn Fn(super::LocalId) -> Name;

/// An expression as text, with slots as `%0`.
#[must_use]
pub(crate) fn expr(expr: &Expr) -> String {
    Printer { names: None }.expr(expr)
}

/// A type as text; dimensions follow it: `float[32][33]`.
#[must_use]
pub(crate) fn ty(ty: &Type) -> String {
    Printer { names: None }.ty(ty)
}

/// Whether template arguments are written alike.
#[must_use]
pub(crate) fn are_alike(some: &[TemplateArg], others: &[TemplateArg]) -> bool {
    let printer = Printer { names: None };
    printer.template_args(some) == printer.template_args(others)
}

/// The same where each has its own names for template parameters.
#[must_use]
pub(crate) fn are_alike_but_for_names(
    (some, own): (&[TemplateArg], &[TemplateParam]),
    (others, theirs): (&[TemplateArg], &[TemplateParam]),
) -> bool {
    let text = |args| Printer { names: None }.template_args(args);
    own.len() == theirs.len() && numbered(&text(some), own) == numbered(&text(others), theirs)
}

/// Whether template arguments are the parameters of a template, in their order; each has its own names for them.
#[must_use]
pub(crate) fn are_parameters(
    (args, own): (&[TemplateArg], &[TemplateParam]),
    params: &[TemplateParam],
) -> bool {
    let names: Vec<String> =
        params.iter().map(|it| format!("{}{}", it.name, if it.pack { "..." } else { "" })).collect();
    let text = Printer { names: None }.template_args(args);
    own.len() == params.len() && numbered(&text, own) == numbered(&format!("<{}>", names.join(", ")), params)
}

/// A text with the numbers of template parameters in place of their names.
fn numbered(text: &str, params: &[TemplateParam]) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        match params.iter().position(|param| !word.is_empty() && *param.name == *word) {
            Some(at) => out.push_str(&format!("#{at}")),
            None => out.push_str(&word),
        }
        word.clear();
        out.push(c);
    }
    out
}

/// A path as text.
#[must_use]
pub(crate) fn path(path: &Path) -> String {
    Printer { names: None }.path(path)
}

/// A statement as text, on as many lines as it takes, with the slots of `function` by their names.
#[must_use]
#[cfg(test)]
pub(crate) fn stmt(function: &Function, stmt: &Stmt) -> String {
    let names = |local| slot_name(function, local);
    let mut out = String::new();
    Printer { names: Some(&names) }.stmt(stmt, 0, &mut out);
    out
}

/// A function's body as text.
#[must_use]
pub(crate) fn body(function: &Function) -> String {
    let names = |local| slot_name(function, local);
    let mut out = String::new();
    let printer = Printer { names: Some(&names) };
    printer.stmts(function.body.as_deref().unwrap_or_default(), 0, &mut out);
    out
}

/// What stands in front of a function's body: its name with all that belongs to it.
#[must_use]
pub(crate) fn head(function: &Function) -> String {
    let names = |local| slot_name(function, local);
    Printer { names: Some(&names) }.head(function)
}

/// A declaration outside any function as text.
#[must_use]
pub(crate) fn declaration(declaration: &Declaration) -> String {
    Printer { names: None }.declaration(declaration)
}

/// A scalar's usual spelling.
#[must_use]
pub(crate) fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned",
        Scalar::I64 => "long long",
        Scalar::U64 => "unsigned long long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// A binary operator's spelling.
#[must_use]
pub(crate) fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::LogicalAnd => "&&",
        BinaryOp::LogicalOr => "||",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}

fn slot_name(function: &Function, local: super::LocalId) -> Name {
    match function.locals.get(local.0 as usize) {
        Some(local) => local.name.clone(),
        None => "?".into(),
    }
}

struct Printer<'a> {
    names: Option<Names<'a>>,
}

impl Printer<'_> {
    fn list<T>(&self, items: &[T], mut one: impl FnMut(&T) -> String) -> String {
        items.iter().map(&mut one).collect::<Vec<_>>().join(", ")
    }

    fn path(&self, path: &Path) -> String {
        let mut out = String::new();
        for (name, args) in &path.qualifiers {
            out.push_str(name);
            if !args.is_empty() {
                out.push_str(&self.template_args(args));
            }
            out.push_str("::");
        }
        out.push_str(&path.name);
        if let Some(args) = &path.args {
            out.push_str(&self.template_args(args));
        }
        out
    }

    fn template_args(&self, args: &[TemplateArg]) -> String {
        let one = |arg: &TemplateArg| match arg {
            TemplateArg::Type(ty) => self.ty(ty),
            TemplateArg::Value(value) => self.operand(value),
        };
        format!("<{}>", self.list(args, one))
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Scalar(kind) => scalar(*kind).into(),
            Type::Named(path) => self.path(path),
            Type::Pointer(to) => match **to {
                Type::Array(..) => format!("({})*", self.ty(to)),
                _ => format!("{}*", self.ty(to)),
            },
            Type::Reference(to) => match **to {
                Type::Array(..) => format!("({})&", self.ty(to)),
                _ => format!("{}&", self.ty(to)),
            },
            Type::Array(..) => {
                let (mut element, mut dimensions) = (ty, String::new());
                while let Type::Array(of, length) = element {
                    let length = length.as_ref().map(|length| self.expr(length)).unwrap_or_default();
                    let _ = write!(dimensions, "[{length}]");
                    element = of;
                }
                format!("{}{dimensions}", self.ty(element))
            }
            Type::Qualified(qualifiers, of) => {
                let mut words: Vec<&str> = Vec::new();
                words.extend(qualifiers.constant.then_some("const"));
                words.extend(qualifiers.volatile.then_some("volatile"));
                match **of {
                    Type::Pointer(_) => format!("{} {}", self.ty(of), words.join(" ")),
                    _ => format!("{} {}", words.join(" "), self.ty(of)),
                }
            }
            Type::Auto => "auto".into(),
            Type::Decltype(of) => format!("decltype({})", self.expr(of)),
            Type::Opaque => "?".into(),
        }
    }

    /// An expression that is an operand of another: in parentheses unless it is tight.
    fn operand(&self, expr: &Expr) -> String {
        match expr.kind {
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Assign(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Deref(..)
            | ExprKind::AddressOf(..)
            | ExprKind::Cast(..)
            | ExprKind::Step { .. } => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Int(value, Scalar::Bool) => (if *value == 0 { "false" } else { "true" }).into(),
            ExprKind::Int(value, kind) => {
                let suffix = match kind {
                    Scalar::U32 => "u",
                    Scalar::I64 => "ll",
                    Scalar::U64 => "ull",
                    _ => "",
                };
                format!("{value}{suffix}")
            }
            ExprKind::Float(value, Scalar::F32) => format!("{value:?}f"),
            ExprKind::Float(value, _) => format!("{value:?}"),
            ExprKind::Str(text) => format!("{text:?}"),
            ExprKind::Null => "nullptr".into(),
            ExprKind::Local(local) => match self.names {
                Some(names) => names(*local).to_string(),
                None => format!("%{}", local.0),
            },
            ExprKind::Path(path) => self.path(path),
            ExprKind::This => "this".into(),
            ExprKind::Unary(op, of) => {
                let op = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Plus => "+",
                };
                format!("{op}{}", self.operand(of))
            }
            ExprKind::Binary(op, left, right) => {
                format!("{} {} {}", self.operand(left), operator(*op), self.operand(right))
            }
            ExprKind::Assign(op, left, right) => {
                let op = op.map_or("", operator);
                format!("{} {op}= {}", self.operand(left), self.operand(right))
            }
            ExprKind::Step { target, by, post } => {
                let op = if *by < 0 { "--" } else { "++" };
                match post {
                    true => format!("{}{op}", self.operand(target)),
                    false => format!("{op}{}", self.operand(target)),
                }
            }
            ExprKind::Conditional(cond, then, otherwise) => {
                format!("{} ? {} : {}", self.operand(cond), self.operand(then), self.operand(otherwise))
            }
            ExprKind::Comma(first, second) => format!("{}, {}", self.expr(first), self.expr(second)),
            ExprKind::Index(base, index) => format!("{}[{}]", self.operand(base), self.expr(index)),
            ExprKind::Member { base, name, arrow, .. } => {
                format!("{}{}{name}", self.operand(base), if *arrow { "->" } else { "." })
            }
            ExprKind::Deref(of) => format!("*{}", self.operand(of)),
            ExprKind::AddressOf(of) => format!("&{}", self.operand(of)),
            _ => self.rarer(expr),
        }
    }

    fn rarer(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Cast(ty, of) => format!("({}){}", self.ty(ty), self.operand(of)),
            ExprKind::Construct(ty, args) => format!("{}{{{}}}", self.ty(ty), self.exprs(args)),
            ExprKind::InitList(items) => format!("{{{}}}", self.exprs(items)),
            ExprKind::Designated(member, value) => format!(".{member} = {}", self.expr(value)),
            ExprKind::SizeofPack(name) => format!("sizeof...({name})"),
            ExprKind::Expansion(name) => format!("{name}..."),
            ExprKind::Pack(pack) => self.pack(pack),
            ExprKind::SizeofType(ty) => format!("sizeof({})", self.ty(ty)),
            ExprKind::SizeofExpr(of) => format!("sizeof {}", self.operand(of)),
            ExprKind::AlignofType(ty) => format!("alignof({})", self.ty(ty)),
            ExprKind::Offsetof(ty, member) => format!("offsetof({}, {member})", self.ty(ty)),
            ExprKind::Call { callee, args } => format!("{}({})", self.operand(callee), self.exprs(args)),
            ExprKind::Launch(launch) => self.launch(launch),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Asm(asm) => {
                let operands = |list: &[(String, Expr)]| {
                    self.list(list, |(constraint, value)| format!("{constraint:?}({})", self.expr(value)))
                };
                format!("asm({:?} : {} : {})", asm.template, operands(&asm.outputs), operands(&asm.inputs))
            }
            ExprKind::Unsupported(what) => format!("<unsupported: {what}>"),
            ExprKind::Damaged => "<damaged>".into(),
            _ => String::new(),
        }
    }

    fn pack(&self, pack: &Pack) -> String {
        let op = match pack.join {
            None => return pack.left.as_ref().map_or(String::new(), |it| format!("{}...", self.operand(it))),
            Some(Join::Comma) => ",".into(),
            Some(Join::Binary(op)) => operator(op).to_owned(),
            Some(Join::Assign(op)) => format!("{}=", op.map_or("", operator)),
        };
        let side = |side: &Option<Expr>| side.as_ref().map(|it| self.operand(it));
        match (side(&pack.left), side(&pack.right)) {
            (Some(left), Some(right)) => format!("({left} {op} ... {op} {right})"),
            (Some(left), None) => format!("({left} {op} ...)"),
            (None, right) => format!("(... {op} {})", right.unwrap_or_default()),
        }
    }

    fn exprs(&self, items: &[Expr]) -> String {
        self.list(items, |item| self.expr(item))
    }

    fn launch(&self, launch: &Launch) -> String {
        let mut config = Vec::new();
        for part in [&launch.grid, &launch.block, &launch.dynamic_bytes].into_iter().flatten() {
            config.push(self.expr(part));
        }
        let (kernel, args) = (self.operand(&launch.kernel), self.exprs(&launch.args));
        format!("{kernel}<<<{}>>>({args})", config.join(", "))
    }

    fn lambda(&self, lambda: &Lambda) -> String {
        let mut body = String::new();
        self.stmts(&lambda.body, 0, &mut body);
        let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("[]({}) {{ {body} }}", self.params(&lambda.params))
    }

    fn params(&self, params: &[Param]) -> String {
        let one = |param: &Param| {
            let mut out = format!("{} {}", self.ty(&param.ty), param.name).trim_end().to_string();
            if let Some(default) = &param.default {
                let _ = write!(out, " = {}", self.expr(default));
            }
            out
        };
        self.list(params, one)
    }

    fn head(&self, function: &Function) -> String {
        let mut out = String::new();
        for params in [&function.owner_params, &function.template_params] {
            if !params.is_empty() {
                let _ = write!(out, "template <{}> ", self.list(params, |param| self.template_param(param)));
            }
        }
        out.push_str(match function.kind {
            FunctionKind::Kernel => "__global__ ",
            FunctionKind::Device => "__device__ ",
            FunctionKind::Host => "",
        });
        if !function.launch_bounds.is_empty() {
            let _ = write!(out, "__launch_bounds__({}) ", self.exprs(&function.launch_bounds));
        }
        let _ = write!(out, "{} ", self.ty(&function.return_type));
        for around in &*function.namespace {
            let _ = write!(out, "{around}::");
        }
        if let Some(owner) = &function.owner {
            let args = match function.owner_args.as_slice() {
                [] => String::new(),
                args => self.template_args(args),
            };
            let _ = write!(out, "{owner}{args}::");
        }
        out.push_str(&function.name);
        if !matches!(function.specialization.as_slice(), [] | [TemplateArg::Type(Type::Auto)]) {
            out.push_str(&self.template_args(&function.specialization));
        }
        let _ = write!(out, "({})", self.params(&function.params));
        if function.is_const {
            out.push_str(" const");
        }
        out
    }

    fn template_param(&self, param: &TemplateParam) -> String {
        let pack = if param.pack { "..." } else { "" };
        let (kind, default) = match &param.kind {
            TemplateParamKind::Type(default) => {
                ("typename".to_owned(), default.as_ref().map(|ty| self.ty(ty)))
            }
            TemplateParamKind::Value(ty, default) => {
                (self.ty(ty), default.as_ref().map(|value| self.operand(value)))
            }
            TemplateParamKind::Template(default) => {
                ("template".to_owned(), default.as_ref().map(|ty| self.ty(ty)))
            }
        };
        let default = default.map(|default| format!(" = {default}")).unwrap_or_default();
        format!("{kind}{pack} {}{default}", param.name)
    }

    fn declaration(&self, declaration: &Declaration) -> String {
        let mut out = String::new();
        out.push_str(match declaration.storage {
            Storage::Automatic | Storage::Global => "",
            Storage::Static => "static ",
            Storage::Shared => "__shared__ ",
            Storage::DynamicShared => "extern __shared__ ",
            Storage::Constant => "__constant__ ",
        });
        if let Some(align) = &declaration.align {
            let _ = write!(out, "alignas({}) ", self.expr(align));
        }
        if declaration.constant {
            out.push_str("const ");
        }
        let (mut element, mut dimensions) = (&declaration.ty, String::new());
        while let Type::Array(of, length) = element {
            let length = length.as_ref().map(|length| self.expr(length)).unwrap_or_default();
            let _ = write!(dimensions, "[{length}]");
            element = of;
        }
        let _ = write!(out, "{} {}{dimensions}", self.ty(element), declaration.name);
        if let Some(init) = &declaration.init {
            let _ = write!(out, " = {}", self.expr(init));
        }
        out
    }

    fn stmts(&self, stmts: &[Stmt], depth: usize, out: &mut String) {
        for stmt in stmts {
            self.stmt(stmt, depth, out);
        }
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        let block = |header: &str, stmts: &[Stmt], out: &mut String| {
            let _ = writeln!(out, "{pad}{header}{{");
            self.stmts(stmts, depth + 1, out);
            let _ = writeln!(out, "{pad}}}");
        };
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                let _ = writeln!(out, "{pad}{};", self.expr(expr));
            }
            StmtKind::Declare(declarations) => {
                for declaration in declarations {
                    let _ = writeln!(out, "{pad}{};", self.declaration(declaration));
                }
            }
            StmtKind::Block(stmts) => block("", stmts, out),
            StmtKind::If { cond, then, otherwise } => {
                block(&format!("if ({}) ", self.expr(cond)), then, out);
                if !otherwise.is_empty() {
                    block("else ", otherwise, out);
                }
            }
            StmtKind::Loop { cond, body, step, body_first, .. } => {
                let cond = cond.as_ref().map(|cond| self.expr(cond)).unwrap_or_default();
                let step = step.as_ref().map(|step| format!("; {}", self.expr(step))).unwrap_or_default();
                let word = if *body_first { "do while" } else { "while" };
                block(&format!("{word} ({cond}{step}) "), body, out);
            }
            StmtKind::Switch { value, cases } => {
                let _ = writeln!(out, "{pad}switch ({}) {{", self.expr(value));
                for Case { value, body } in cases {
                    let _ = match value {
                        Some(value) => writeln!(out, "{pad}case {}:", self.expr(value)),
                        None => writeln!(out, "{pad}default:"),
                    };
                    self.stmts(body, depth + 1, out);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            StmtKind::Return(None) => {
                let _ = writeln!(out, "{pad}return;");
            }
            StmtKind::Return(Some(value)) => {
                let _ = writeln!(out, "{pad}return {};", self.expr(value));
            }
            StmtKind::Break => {
                let _ = writeln!(out, "{pad}break;");
            }
            StmtKind::Continue => {
                let _ = writeln!(out, "{pad}continue;");
            }
            StmtKind::Goto(label) => {
                let _ = writeln!(out, "{pad}goto {label};");
            }
            StmtKind::Label(label) => {
                let _ = writeln!(out, "{pad}{label}:");
            }
            StmtKind::Throw => block("<unsupported: throw> ", &[], out),
            StmtKind::Try(stmts) => block("<unsupported: try> ", stmts, out),
            StmtKind::Unsupported(what, stmts) => block(&format!("<unsupported: {what}> "), stmts, out),
            StmtKind::Damaged => {
                let _ = writeln!(out, "{pad}<damaged>;");
            }
        }
    }
}
