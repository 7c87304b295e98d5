//! What was looked up before?
//!
//! Invariant: a key holds addresses of items of the program, which does not move while it runs, and
//! of template parameters and namespaces that its value keeps alive.

use super::meanings::{Meanings, Scopes};
use crate::builtins::ptx;
use crate::exec::assembly::text::{clean, instructions};
use crate::exec::value::{Binding, Env, Ty, Value};
use crate::ir::namespace::Namespace;
use crate::ir::{Asm, Declaration, Expr, Function, Name, Record, Scalar, unpack};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The bindings that are remembered of one function.
const ENVIRONMENTS: usize = 32;

/// Where a type is written, the template parameters and the namespace that it is looked up in, and
/// the class around.
pub(crate) type Use = (usize, usize, usize, usize);

/// A type, with the template parameters and the namespace that it was found in.
pub(crate) type Known = (Rc<Env>, Namespace, Option<Ty>);

/// A specialisation, and what its parameters stand for.
pub(crate) type Chosen = (Arc<Record>, Rc<Env>);

/// Template arguments, and the specialisation that is meant for them, if one is.
pub(crate) type Specialised = (Vec<Binding>, Option<Chosen>);

/// How long packs are, by name.
type Lengths = Vec<(Name, usize)>;

/// A call of a function with nothing but constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConstantCall {
    /// The address of the function.
    pub function: usize,
    /// The address of what its template parameters stand for.
    pub env: usize,
    /// The arguments, with their types.
    pub args: Vec<(i64, Scalar)>,
}

/// What was looked up in one run.
#[derive(Debug, Default)]
pub struct Memo {
    /// What names stand for.
    pub meanings: Meanings,
    /// In which classes names are looked up.
    pub scopes: Scopes,
    /// Types; `None` for those that are looked up each time.
    pub types: FxHashMap<Use, Known>,
    /// Member typedefs, by their address and the template parameters.
    pub members: FxHashMap<(usize, usize), (Rc<Env>, Ty)>,
    /// Constants, by their declaration and the template parameters.
    pub constants: FxHashMap<(usize, usize), (Rc<Env>, Value)>,
    /// What functions returned that were given nothing but constants.
    pub calls: FxHashMap<ConstantCall, (Rc<Env>, Value)>,
    /// Whether functions have what their heads ask for, by their address and what the arguments tell of their
    /// template parameters.
    pub met: FxHashMap<(usize, usize), (Rc<Env>, Option<bool>)>,
    /// Specialisations, by the name and place of the primary template.
    pub specialisations: FxHashMap<(Name, Span), Vec<Specialised>>,
    /// Template parameters, by function.
    pub environments: FxHashMap<usize, Vec<Rc<Env>>>,
    /// No template parameters.
    pub nothing: Rc<Env>,
    /// The instructions of inline assembly, by its address in the program.
    pub assembly: FxHashMap<usize, Rc<[String]>>,
    /// By the address of assembly: whether it orders nothing.
    pub ordering: FxHashMap<usize, bool>,
    /// By the address of assembly: how many of its instructions may access shared memory.
    pub accessing: FxHashMap<usize, usize>,
    /// Whether two functions do the same, by their address.
    pub same: FxHashMap<(usize, usize), bool>,
    /// What is said of functions whose body is not visible, by name.
    pub unseen: FxHashMap<Box<str>, Arc<str>>,
    /// Functions whose packs are written out, by the address of the function and how long they are.
    pub instances: FxHashMap<(usize, Lengths, Option<usize>), Arc<Function>>,
    /// Expressions, how long packs in them are, and the same with these written out.
    pub written_out: Vec<(Expr, Lengths, Rc<Expr>)>,
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
        names: Lengths,
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
    pub fn written_out(&mut self, expr: &Expr, names: Lengths) -> Rc<Expr> {
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
        Rc::clone(known.or_insert_with(|| instructions(&asm.template).into()))
    }

    /// Whether assembly does nothing that may order threads.
    pub fn orders_nothing(&mut self, asm: &Asm) -> bool {
        let of = |asm: &Asm| {
            let texts = asm.template.split([';', '\n']);
            texts.map(clean).all(|text| ptx::orders_nothing(&text))
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
