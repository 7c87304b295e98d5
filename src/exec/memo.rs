//! What was looked up before?
//!
//! A kernel asks thousands of times for the same few things: the type of a declaration, what an
//! overload's parameters are, a class's constant. The answer is the same as long as the template
//! parameters are, so it is kept with them, if nothing in it is bound to the moment.
//!
//! Invariant: a key holds addresses of items of the program, which does not move while it runs, and
//! of template parameters and namespaces that its value keeps alive.

use super::machine::Machine;
use super::types::{Env, Ty};
use super::value::Value;
use crate::builtins::ptx;
use crate::ir::namespace::Namespace;
use crate::ir::{Asm, Declaration, Expr, ExprKind, Function, Name, TemplateArg, Type, unpack};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The bindings that are remembered of one function.
const ENVIRONMENTS: usize = 16;
/// Lookups within lookups from which on one may be cut short.
const DEEP: usize = 8;

/// Where a type is written, the template parameters and the namespace that it is looked up in, and
/// the class around.
type Use = (usize, usize, usize, usize);

/// A type, with the template parameters and the namespace that it was found in.
type Known = (Rc<Env>, Namespace, Option<Ty>);

/// What was looked up in one run.
#[derive(Debug, Default)]
pub struct Memo {
    /// Types; `None` for those that are looked up each time.
    types: FxHashMap<Use, Known>,
    /// Constants, by their declaration and the template parameters.
    constants: FxHashMap<(usize, usize), (Rc<Env>, Value)>,
    /// Template parameters, by function.
    environments: FxHashMap<usize, Vec<Rc<Env>>>,
    /// No template parameters.
    nothing: Rc<Env>,
    /// The instructions of inline assembly, by its address in the program.
    assembly: FxHashMap<usize, Rc<[String]>>,
    /// By the address of assembly: whether it orders nothing.
    ordering: FxHashMap<usize, bool>,
    /// By the address of assembly: how many of its instructions may access shared memory.
    accessing: FxHashMap<usize, usize>,
    /// Whether two functions do the same, by their address.
    pub(super) same: FxHashMap<(usize, usize), bool>,
    /// What is said of functions whose body is not visible, by name.
    unseen: FxHashMap<Box<str>, Arc<str>>,
    /// Functions whose packs are written out, by the address of the function and how long they are.
    instances: FxHashMap<(usize, Vec<(Name, usize)>, Option<usize>), Arc<Function>>,
    /// Expressions, how long packs in them are, and the same with these written out.
    written_out: Vec<(Expr, Vec<(Name, usize)>, Rc<Expr>)>,
}

impl Memo {
    /// No template parameters.
    #[must_use]
    pub fn no_env(&self) -> Rc<Env> {
        Rc::clone(&self.nothing)
    }

    /// A function with packs of these lengths; what is kept by address of its parts stays right, as it stays.
    pub fn instance(
        &mut self,
        function: &Arc<Function>,
        names: Vec<(Name, usize)>,
        arguments: Option<usize>,
    ) -> Arc<Function> {
        let key = (Arc::as_ptr(function).addr(), names, arguments);
        if let Some(made) = self.instances.get(&key) {
            return Arc::clone(made);
        }
        let made = Arc::new(unpack::function(function, &key.1, arguments));
        self.instances.insert(key, Arc::clone(&made));
        made
    }

    /// An expression with packs of these lengths.
    pub fn written_out(&mut self, expr: &Expr, names: Vec<(Name, usize)>) -> Rc<Expr> {
        // It may be one that does not stay where it is.
        if let Some((.., made)) = self.written_out.iter().find(|(of, packs, _)| of == expr && *packs == names)
        {
            return Rc::clone(made);
        }
        let made = Rc::new(unpack::expression(expr, &names));
        self.written_out.push((expr.clone(), names, Rc::clone(&made)));
        made
    }

    /// The template parameters of a call, the same as those of an earlier one if they are equal.
    pub fn shared_env(&mut self, function: &Function, env: Env) -> Rc<Env> {
        if env.bindings.is_empty() {
            return self.no_env();
        }
        let known = self.environments.entry(std::ptr::from_ref(function).addr()).or_default();
        if let Some(same) = known.iter().find(|known| known.same(&env)) {
            return Rc::clone(same);
        }
        let env = Rc::new(env);
        if known.len() < ENVIRONMENTS {
            known.push(Rc::clone(&env));
        }
        env
    }

    /// The instructions of inline assembly that bear on anything.
    pub fn instructions(&mut self, asm: &Asm) -> Rc<[String]> {
        let known = self.assembly.entry(std::ptr::from_ref(asm).addr());
        Rc::clone(known.or_insert_with(|| super::assembly::instructions(&asm.template).into()))
    }

    /// Whether assembly does nothing that may order threads.
    pub fn orders_nothing(&mut self, asm: &Asm) -> bool {
        let of = |asm: &Asm| {
            let texts = asm.template.split([';', '\n']);
            texts.map(super::assembly::clean).all(|text| ptx::orders_nothing(&text))
        };
        *self.ordering.entry(std::ptr::from_ref(asm).addr()).or_insert_with(|| of(asm))
    }

    /// How many instructions of assembly may access shared memory; `memory`: or any other, as all of a run ask.
    pub fn accesses(&mut self, asm: &Asm, memory: bool) -> usize {
        let of = |asm: &Asm| {
            let texts = asm.template.split([';', '\n']);
            texts.filter(|text| memory && text.contains('[') || ptx::may_access_shared(text)).count()
        };
        *self.accessing.entry(std::ptr::from_ref(asm).addr()).or_insert_with(|| of(asm))
    }

    /// What is said of a function whose body is not visible.
    pub fn unseen(&mut self, name: &str, callee: impl std::fmt::Display) -> Arc<str> {
        if let Some(known) = self.unseen.get(name) {
            return Arc::clone(known);
        }
        let words: Arc<str> = format!("the body of {callee} is not visible").into();
        self.unseen.insert(name.into(), Arc::clone(&words));
        words
    }

    /// The value of a constant, if it was evaluated before.
    #[must_use]
    pub fn constant(&self, declaration: &Declaration, env: &Rc<Env>) -> Option<Value> {
        self.constants.get(&key(declaration, env)).map(|(_, value)| value.clone())
    }

    /// Remembers the value of a constant, if it is one number.
    pub fn keep_constant(&mut self, declaration: &Declaration, env: &Rc<Env>, value: &Value) {
        if matches!(value, Value::Int(int, _) if int.as_constant().is_some()) {
            self.constants.insert(key(declaration, env), (Rc::clone(env), value.clone()));
        }
    }
}

fn key(declaration: &Declaration, env: &Rc<Env>) -> (usize, usize) {
    (std::ptr::from_ref(declaration).addr(), Rc::as_ptr(env).addr())
}

impl Machine<'_> {
    /// The type that a statement, a parameter or a class of the program is written with.
    pub fn resolve_written(&mut self, ty: &Type) -> Ty {
        match ty {
            Type::Named(_) => {}
            Type::Pointer(inner) => return Ty::Pointer(Rc::new(self.resolve_written(inner))),
            Type::Reference(inner) => return self.resolve_written(inner),
            _ => return self.resolve_type(ty),
        }
        if self.lookup_depth > DEEP || !self.own_aliases.is_empty() {
            return self.resolve_type(ty);
        }
        let Some(frame) = self.frame() else { return self.resolve_type(ty) };
        let env = Rc::clone(&frame.env);
        let owner = frame.function.owner.as_ref().map_or(0, |owner| owner.as_ptr().addr());
        let namespace = Arc::clone(&frame.namespace);
        let place = std::ptr::from_ref(ty).addr();
        let key = (place, Rc::as_ptr(&env).addr(), namespace.as_ptr().addr(), owner);
        match self.memo.types.get(&key) {
            Some((_, _, Some(known))) => return known.clone(),
            Some((_, _, None)) => return self.resolve_type(ty),
            None => {}
        }
        let resolved = self.resolve_type(ty);
        let kept = (is_closed(ty) && is_settled(&resolved)).then(|| resolved.clone());
        self.memo.types.insert(key, (env, namespace, kept));
        resolved
    }
}

/// Whether no variable of a function stands in a type.
fn is_closed(ty: &Type) -> bool {
    match ty {
        Type::Void | Type::Scalar(_) | Type::Auto | Type::Opaque => true,
        Type::Pointer(inner) | Type::Reference(inner) | Type::Qualified(_, inner) => is_closed(inner),
        Type::Named(path) => {
            let closed = |args: &[TemplateArg]| {
                args.iter().all(|arg| match arg {
                    TemplateArg::Type(ty) => is_closed(ty),
                    TemplateArg::Value(expr) => {
                        matches!(&expr.kind, ExprKind::Int(..))
                            || matches!(&expr.kind, ExprKind::Path(path) if path.args.is_none())
                    }
                })
            };
            path.qualifiers.iter().all(|(_, args)| closed(args))
                && path.args.as_ref().is_none_or(|args| closed(args))
        }
        Type::Array(..) | Type::Decltype(_) => false,
    }
}

/// Whether a type holds no number that is not known.
fn is_settled(ty: &Ty) -> bool {
    match ty {
        Ty::Void | Ty::Scalar(_) | Ty::Sized { .. } | Ty::Fragment(_) | Ty::Unknown(_) => true,
        Ty::Record(layout) => layout.size.is_some(),
        Ty::Pointer(inner) | Ty::Qualified(_, inner) => is_settled(inner),
        Ty::Array(inner, length) => {
            is_settled(inner) && length.as_ref().is_none_or(|length| length.as_constant().is_some())
        }
    }
}
