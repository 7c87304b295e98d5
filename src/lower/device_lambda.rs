//! Which lambdas of host code run on the device?
//!
//! A kernel that runs a lambda which host code hands to it shows nothing of what that does:
//!
//! ```text
//! template <class F> __global__ void run(F f) { f(); }
//! void launch(float *out, int n) {
//!     run<<<1, 64>>>([=] __device__ () { __shared__ float s[64]; s[threadIdx.x] = n; ... });
//! }
//! ```
//!
//! What is `__device__` or declares shared memory runs on the device. Such a lambda becomes a class beside its host
//! function, whose members are what it captures. A launch that is handed the lambda has the class for its template
//! argument, and what the kernel does with it is followed as with any object.
//!
//! If it declares shared memory, it becomes a device function, too, which is judged as those are to which no kernel
//! leads. What it captures is given at run time, as a parameter is, or a constant of the host function; what it is called
//! with may be another thing for each thread.

use super::waits::may_wait;
use crate::ir::declared::declaration_in;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{
    Declaration, Expr, ExprKind, Field, Function, FunctionKind, Lambda, LocalId, Mentions, Name, Param,
    Record, Stmt, StmtKind, Storage, Type,
};
use crate::preproc::Expanded;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many lambdas around each other are looked through for a variable that the innermost captures.
const MOST_AROUND: usize = 8;

/// The device functions that the lambdas of a host function are, and their classes.
pub(super) fn functions(host: &Function, expanded: &Expanded) -> (Vec<Function>, Vec<Record>) {
    let Some(body) = host.body.as_deref() else { return Default::default() };
    if host.kind != FunctionKind::Host {
        return Default::default();
    }
    let mut found = Found::default();
    body.iter().for_each(|stmt| found.statement(stmt));
    let alone = |(lambda, span): &(&Lambda, Span)| {
        let name_span = Span { end: span.end.min(span.start + 1), ..*span };
        let block_directive = super::directive::block(expanded, *span, name_span);
        Function { name_span, block_directive, ..alone(host, lambda, *span, &found) }
    };
    let (mut functions, mut classes) = (Vec::new(), Vec::new());
    for of in &found.lambdas {
        let ((lambda, span), alone) = (*of, alone(of));
        if has_classes(host) {
            classes.push(class(host, lambda, (span, alone.name_span), &found));
            functions.push(called(host, lambda, &alone, &found));
        }
        if declares_shared(&lambda.body) {
            functions.push(alone);
        }
    }
    (functions, classes)
}

/// Whether the lambdas of a function have classes. In a method, they may capture its object; of a pack it is not known
/// how long it is.
fn has_classes(host: &Function) -> bool {
    host.owner.is_none() && host.specialization.is_empty() && host.template_params.iter().all(|it| !it.pack)
}

/// The class of a lambda. It has the template parameters of the function around it.
fn class(host: &Function, lambda: &Lambda, (span, name_span): (Span, Span), found: &Found<'_>) -> Record {
    let field = |param: Param| Field {
        name: param.name,
        ty: param.ty,
        align: None,
        bit_field: false,
        mutable: lambda.mutable,
        volatile: param.to_volatile,
        init: None,
    };
    let given = lambda.copies.iter().filter(|local| found.constant(**local).is_none());
    let fields = given.map(|local| field(captured(host, *local, found.origin(*local), span))).collect();
    let (name, namespace) = (lambda.class_name(host), host.namespace.clone());
    let class = Record::empty(name, namespace, host.template_params.clone(), (name_span, span));
    Record { fields, is_local: true, ..class }
}

/// The call operator of that class: of the lambda as a function of its own, with what it captures in the object.
fn called(host: &Function, lambda: &Lambda, alone: &Function, found: &Found<'_>) -> Function {
    let span = alone.span;
    let mut body: Vec<Stmt> = found.constants.iter().map(|it| declare((*it).clone(), span)).collect();
    for local in &lambda.copies {
        body.push(match found.constant(*local) {
            Some(constant) => declare(Declaration { local: *local, ..constant.clone() }, span),
            None => {
                let param = captured(host, *local, found.origin(*local), span);
                let this = Box::new(Expr { kind: ExprKind::This, span });
                let name = param.name.clone();
                let kind = ExprKind::Member { base: this, name, arrow: true, args: None, class: None };
                let ty = match param.ty {
                    Type::Opaque => Type::Auto,
                    ty if lambda.mutable || matches!(ty, Type::Array(..)) => Type::Reference(Box::new(ty)),
                    ty => ty,
                };
                declare(variable(*local, param.name, ty, Expr { kind, span }), span)
            }
        });
    }
    body.extend(lambda.body.iter().cloned());
    Function {
        name: "operator()".into(),
        owner: Some(lambda.class_name(host)),
        owner_params: host.template_params.clone(),
        template_params: lambda.template_params.clone(),
        is_const: !lambda.mutable,
        mentions: Mentions { waits: may_wait(&lambda.params, &body), ..alone.mentions },
        params: lambda.params.clone(),
        body: Some(body),
        block_directive: None,
        calls: Default::default(),
        declared_types: Default::default(),
        shared_locals: Default::default(),
        ..alone.clone()
    }
}

/// What is found in a host function.
#[derive(Default)]
struct Found<'a> {
    /// The lambdas that run on the device.
    lambdas: Vec<(&'a Lambda, Span)>,
    /// Constants that are known without running the function.
    constants: Vec<&'a Declaration>,
    /// What lambdas keep of their own, and of what it is a copy; `None`: of something that is computed.
    copies: FxHashMap<LocalId, Option<LocalId>>,
}

impl<'a> Found<'a> {
    fn statement(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Declare(list) = &stmt.kind {
            for declaration in list {
                if self.is_constant(declaration) {
                    self.constants.push(declaration);
                }
            }
        }
        own_exprs(stmt, &mut |expr| self.expression(expr));
        own_stmts(stmt, &mut |inner| self.statement(inner));
    }

    fn expression(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Lambda(lambda) if lambda.device || declares_shared(&lambda.body) => {
                self.lambdas.push((lambda, expr.span));
            }
            ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| self.statement(stmt)),
            _ => {
                if let ExprKind::Assign(None, target, value) = &expr.kind
                    && let ExprKind::Local(copy) = target.kind
                {
                    let of = match value.kind {
                        ExprKind::Local(of) => Some(of),
                        _ => None,
                    };
                    self.copies.insert(copy, of);
                }
                children(expr, &mut |inner| self.expression(inner));
            }
        }
    }

    fn is_constant(&self, declaration: &Declaration) -> bool {
        let is_number = matches!(declaration.ty, Type::Scalar(_) | Type::Auto);
        declaration.constant
            && is_number
            && declaration.init.as_ref().is_some_and(|init| self.is_computed(init))
    }

    /// Whether an expression is made of numbers and constants.
    fn is_computed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(..) | ExprKind::Path(_) | ExprKind::SizeofType(_) => true,
            ExprKind::Local(local) => self.constants.iter().any(|it| it.local == *local),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.is_computed(a),
            ExprKind::Binary(_, a, b) => self.is_computed(a) && self.is_computed(b),
            _ => false,
        }
    }

    /// The constant of which a captured variable is a copy.
    fn constant(&self, captured: LocalId) -> Option<&'a Declaration> {
        let origin = self.origin(captured);
        self.constants.iter().find(|it| Some(it.local) == origin).copied()
    }

    /// The variable of the function of which a captured one is a copy.
    fn origin(&self, captured: LocalId) -> Option<LocalId> {
        let mut local = captured;
        for _ in 0..MOST_AROUND {
            match self.copies.get(&local) {
                Some(of) => local = (*of)?,
                None => return Some(local),
            }
        }
        None
    }
}

/// Whether statements declare shared memory, other than in lambdas.
fn declares_shared(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        let is_shared = |it: &Declaration| matches!(it.storage, Storage::Shared | Storage::DynamicShared);
        let mut found = matches!(&stmt.kind, StmtKind::Declare(list) if list.iter().any(is_shared));
        own_stmts(stmt, &mut |inner| found |= declares_shared(std::slice::from_ref(inner)));
        found
    })
}

/// A lambda as a function of its own, with the slots of the one around it.
fn alone(host: &Function, lambda: &Lambda, span: Span, found: &Found<'_>) -> Function {
    let mut params = Vec::new();
    let mut body: Vec<Stmt> = found.constants.iter().map(|it| declare((*it).clone(), span)).collect();
    for local in &lambda.copies {
        match found.constant(*local) {
            Some(constant) => body.push(declare(Declaration { local: *local, ..constant.clone() }, span)),
            None => params.push(captured(host, *local, found.origin(*local), span)),
        }
    }
    body.extend(lambda.params.iter().map(|param| declare(called_with(param), span)));
    body.extend(lambda.body.iter().cloned());
    let waits = may_wait(&params, &body);
    Function {
        name: format!("lambda in {}", host.name).into(),
        kind: FunctionKind::Device,
        is_virtual: false,
        is_const: false,
        params,
        return_type: lambda.return_type.clone().unwrap_or(Type::Auto),
        body: Some(body),
        launch_bounds: Vec::new(),
        calls: Default::default(),
        declared_types: Default::default(),
        shared_locals: Default::default(),
        mentions: Mentions { launch: false, waits, ..host.mentions },
        span,
        ..host.clone()
    }
}

/// What a lambda captures, as a parameter.
fn captured(host: &Function, local: LocalId, origin: Option<LocalId>, span: Span) -> Param {
    let name = host.locals.get(local.0 as usize).map(|it| it.name.clone()).unwrap_or_else(|| Arc::from(""));
    let given = host.params.iter().find(|param| Some(param.local) == origin);
    let declared =
        || origin.and_then(|origin| Some(&declaration_in(host.body.as_deref()?, origin)?.ty)).cloned();
    let ty = given.map(|param| param.ty.clone()).or_else(declared).unwrap_or(Type::Opaque);
    let ty = match ty {
        Type::Reference(to) => *to,
        ty => ty,
    };
    let (to_const, to_volatile) = given.map_or((false, false), |param| (param.to_const, param.to_volatile));
    Param {
        local,
        name,
        ty,
        to_const,
        to_volatile,
        moves: false,
        restrict: false,
        pack: false,
        default: None,
        span: given.map_or(span, |param| param.span),
    }
}

/// A parameter of a lambda, of which nothing is known.
fn called_with(param: &Param) -> Declaration {
    let kind = ExprKind::Unsupported("what a lambda is called with");
    variable(param.local, param.name.clone(), param.ty.clone(), Expr { kind, span: param.span })
}

fn declare(declaration: Declaration, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Declare(vec![declaration]), span }
}

/// A variable that stands where its initialiser does.
fn variable(local: LocalId, name: Name, ty: Type, init: Expr) -> Declaration {
    let span = init.span;
    Declaration {
        local,
        name,
        namespace: Default::default(),
        template_params: Vec::new(),
        specialization: Vec::new(),
        ty,
        storage: Storage::Automatic,
        align: None,
        init: Some(init),
        name_span: span,
        span,
        dimension_spans: Vec::new(),
        constant: false,
        internal: false,
        volatile: false,
    }
}
