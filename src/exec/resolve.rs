//! What do a type and a name stand for, seen from the innermost frame?

use super::machine::{Asked, Frame, Machine, Mode, ObjectKind};
use super::templates::Undecided;
use super::types::{Binding, Env, Ty, builtin, nameless};
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Int, Key, Origin, Reason, UNSEEN_NAME, Unknown, Variation};
use crate::ir::namespace::{Named, Namespace, is_where_said};
use crate::ir::{Alias, Declaration, Function, Name, Path, Record, Scalar, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Lookups within lookups (an alias of an alias, a constant made of constants).
const LOOKUP_DEPTH: usize = 48;
/// Lookups that one lookup may lead to in all: aliases that each name another twice would never end.
const LOOKUPS_WITHIN: u32 = 1 << 16;
/// Layouts of one record that are remembered.
const LAYOUTS: usize = 64;

fn too_deep() -> Ty {
    Ty::Unknown(nameless::TOO_DEEP.into())
}

impl Machine<'_> {
    /// The type, with names resolved in the innermost frame.
    pub(crate) fn resolve_type(&mut self, ty: &Type) -> Ty {
        self.resolved(ty, false)
    }

    /// The same of a template argument, with `const` and `volatile`, and with the name of an enumeration.
    pub(super) fn resolve_argument(&mut self, ty: &Type) -> Ty {
        self.resolved(ty, true)
    }

    /// The same of a type within another, with `const` where the other one is wanted with it.
    pub(super) fn resolve_part(&mut self, ty: &Type) -> Ty {
        self.resolved(ty, self.lookups.keeps_qualifiers)
    }

    fn resolved(&mut self, ty: &Type, keeps_qualifiers: bool) -> Ty {
        let outer = std::mem::replace(&mut self.lookups.keeps_qualifiers, keeps_qualifiers);
        let found = self.nested(|machine| machine.type_meant(ty)).unwrap_or_else(too_deep);
        self.lookups.keeps_qualifiers = outer;
        found
    }

    /// One lookup, perhaps within others; `None` when there are too many.
    pub(super) fn nested<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.lookups.depth == 0 {
            self.lookups.within = 0;
        }
        if self.lookups.depth > LOOKUP_DEPTH || self.lookups.within >= LOOKUPS_WITHIN {
            self.lookups.momentary += 1;
            return None;
        }
        self.lookups.depth += 1;
        self.lookups.within += 1;
        let found = look(self);
        self.lookups.depth -= 1;
        Some(found)
    }

    fn type_meant(&mut self, ty: &Type) -> Ty {
        match ty {
            Type::Void => Ty::Void,
            Type::Scalar(scalar) => Ty::Scalar(*scalar),
            Type::Named(path) => self.resolve_named(path),
            Type::Pointer(inner) => Ty::Pointer(Rc::new(self.resolve_part(inner))),
            Type::Reference(inner) => self.resolve_part(inner),
            Type::Qualified(qualifiers, inner) => match self.lookups.keeps_qualifiers {
                true => self.resolve_part(inner).qualified(*qualifiers),
                false => self.resolve_part(inner),
            },
            Type::Array(inner, length) => {
                let element = self.resolve_part(inner);
                let length = length.as_ref().map(|length| match self.evaluate(length) {
                    Value::Int(length, _) => length,
                    _ => self.unknown_symbol("an array length"),
                });
                Ty::Array(Rc::new(element), length.map(Rc::new))
            }
            Type::Decltype(expr) => match (self.unseen_name(expr), self.lookups.keeps_qualifiers) {
                (Some(name), _) => Ty::Unknown(name),
                (None, true) => self.type_to_deduce_from(expr),
                (None, false) => self.type_of(expr),
            },
            Type::Auto => Ty::Unknown(nameless::AUTO.into()),
            Type::Opaque => Ty::Unknown(nameless::NOT_MODELLED.into()),
        }
    }

    fn unknown_symbol(&mut self, name: &str) -> Int {
        Int::symbol(self.world.symbols.fresh(name.to_string().into(), Origin::Given, None, None))
    }

    /// The type of a name.
    pub(crate) fn resolve_named_type(&mut self, path: &Path) -> Ty {
        self.nested(|machine| machine.resolve_named(path)).unwrap_or_else(too_deep)
    }

    pub(super) fn resolve_named(&mut self, path: &Path) -> Ty {
        if path.qualifiers.is_empty()
            && let Some(binding) = self.env().bindings.get(&path.name)
        {
            return match binding {
                Binding::Type(ty) if path.args.as_ref().is_none_or(Vec::is_empty) => {
                    if self.lookups.keeps_qualifiers { ty.clone() } else { ty.unqualified() }
                }
                Binding::Type(ty) => {
                    let ty = ty.unqualified();
                    self.named_record(path).unwrap_or(ty)
                }
                Binding::Value(_) | Binding::Pack(_) => Ty::Unknown(path.name.clone()),
            };
        }
        let found = self.meaning(Asked::Type, path, |machine| Some(machine.look_for_type(path)));
        found.unwrap_or_else(too_deep)
    }

    fn look_for_type(&mut self, path: &Path) -> Ty {
        let name = &path.name;
        if let Some((owner, args)) = path.qualifiers.last() {
            if let Some(layout) = self.class_before(path, true) {
                return self.member_type(&layout, path);
            }
            if (&**owner, &**name) == ("conditional", "type")
                && let args = Some(args.clone())
                && let Some(ty) = self.one_of_two(&Path { args, ..Path::simple(owner.clone()) })
            {
                return ty;
            }
        }
        if let Some(ty) = self.own_alias(path) {
            return ty;
        }
        if path.args.is_none()
            && path.qualifiers.is_empty()
            && let Some(own) = self.own_class(name)
        {
            return own;
        }
        if let Some(ty) = self.named_record(path) {
            return ty;
        }
        if let Some(alias) = self.program.alias_meant(path, &self.namespace()).cloned() {
            // `using barrier = cuda::barrier<S>;`: in its own definition the name is that of something else.
            if !self.lookups.aliases.iter().any(|outer| Arc::ptr_eq(outer, &alias)) {
                return self.type_of_alias(&alias, path);
            }
            self.lookups.passed_over += 1;
        }
        if let Some(underlying) = self.program.enumeration(name).cloned() {
            let several = self.program.several_enumerations(name);
            if several == Some(false) {
                return Ty::Unknown(name.clone());
            }
            let numbers = underlying.map_or(Ty::Scalar(Scalar::I32), |ty| self.resolve_type(&ty));
            // Of several it is not known which is meant.
            let meant = several.is_none().then(|| name.clone());
            return match self.lookups.keeps_qualifiers {
                true => Ty::Enum(meant, Rc::new(numbers)),
                false => numbers,
            };
        }
        if path.qualifiers.is_empty()
            && let Some(ty) = self.type_of_unseen_base(path)
        {
            return ty;
        }
        if let Some(ty) = self.sequence_type(path) {
            return ty;
        }
        if let Some(ty) = self.fragment_type(path) {
            return ty;
        }
        builtin(name).unwrap_or_else(|| {
            let hidden = self.hidden_name(path);
            let tried = self.settings.member_types.iter().find(|(name, _)| *name == hidden);
            tried.map_or(Ty::Unknown(hidden), |(_, ty)| ty.clone())
        })
    }

    /// The type that a typedef of a file or namespace stands for.
    fn type_of_alias(&mut self, alias: &Arc<Alias>, path: &Path) -> Ty {
        let env = self.bind(&alias.template_params, path.args.as_deref(), &Env::default());
        let env = self.bind_defaults(&alias.template_params, &alias.namespace, env);
        let outer = self.lookups.aliases.len();
        self.lookups.aliases.extend(alias.template_params.is_empty().then(|| Arc::clone(alias)));
        let ty = self.within(Rc::new(env), &alias.namespace, |machine| machine.resolve_part(&alias.ty));
        self.lookups.aliases.truncate(outer);
        ty
    }

    /// The record of this name for these template arguments, laid out.
    pub(crate) fn named_record(&mut self, path: &Path) -> Option<Ty> {
        if path.qualifiers.is_empty()
            && let Some(Binding::Type(ty)) = self.env().bindings.get(&path.name)
        {
            let ty = ty.unqualified();
            let template = match &ty {
                Ty::Record(layout) if path.args.as_ref().is_some_and(|args| !args.is_empty()) => {
                    layout.record.clone()
                }
                _ => None,
            };
            return match template.filter(|it| !it.template_params.is_empty() && it.name != path.name) {
                // `Box<T>`, where `Box` is a template parameter that stands for a template.
                Some(record) => {
                    let qualifiers = record.namespace.iter().map(|name| (name.clone(), Vec::new()));
                    let (name, args) = (record.name.clone(), path.args.clone());
                    self.named_record(&Path { qualifiers: qualifiers.collect(), name, args, global: false })
                }
                None => Some(ty),
            };
        }
        let program = self.program;
        let from = self.namespace();
        let records = program.records_meant(path, &from);
        let specialized = records.clone().filter(|record| !record.specialization.is_empty());
        let first = records.clone().next()?;
        let mut primaries = records.filter(|record| record.specialization.is_empty());
        let defined = primaries.clone().nth(1).and_then(|_| {
            // Each specialisation of the class around may have a member class of this name.
            let own = self.own_records();
            primaries.clone().find(|record| own.iter().any(|own| own.holds(record.span)))
        });
        let defined = defined.or_else(|| primaries.next());
        let declared = || program.declared_class_meant(path, &from).filter(|_| path.args.is_some());
        let is_declared_only = defined.is_none();
        let primary = Arc::clone(defined.or_else(declared).unwrap_or(first));
        if primary.name.is_empty() {
            return None;
        }
        let outer = if self.is_within_template(&primary) { self.env() } else { self.lookups.memo.no_env() };
        let mut env = self.bind(&primary.template_params, path.args.as_deref(), &outer);
        let specialized: Vec<Arc<Record>> = specialized.cloned().collect();
        if let Some(explicit) = path.args.as_deref() {
            env = self.bind_defaults(&primary.template_params, &primary.namespace, env);
            let found = match specialized.is_empty() {
                true => Ok(None),
                false => self.specialization_of(&primary, &specialized, explicit, &env),
            };
            match found {
                Ok(Some((record, env))) => return Some(self.lay_out(&record, env)),
                // The primary template has no body that is seen.
                Ok(None) if is_declared_only => return Some(Ty::Unknown(path.name.clone())),
                Ok(None) => {}
                Err(Undecided) => return Some(Ty::Unknown(path.name.clone())),
            }
        }
        Some(self.lay_out(&primary, Rc::new(env)))
    }

    /// Whether a class template is only declared but for other arguments than these: what it would have is nowhere.
    pub(super) fn is_left_undefined(&mut self, path: &Path) -> bool {
        let (program, from) = (self.program, self.namespace());
        let specialized: Vec<Arc<Record>> = program.records_meant(path, &from).cloned().collect();
        let Some((first, args)) = specialized.first().zip(path.args.as_deref()) else { return false };
        if specialized.iter().any(|record| record.specialization.is_empty()) {
            return false;
        }
        let primary = Arc::clone(program.declared_class_meant(path, &from).unwrap_or(first));
        let env = self.bind(&primary.template_params, Some(args), &Env::default());
        let env = self.bind_defaults(&primary.template_params, &primary.namespace, env);
        matches!(self.specialization_of(&primary, &specialized, args, &env), Ok(None))
    }

    pub(super) fn lay_out(&mut self, record: &Arc<Record>, env: Rc<Env>) -> Ty {
        let key = (record.name.clone(), record.span);
        let made = self.lookups.layouts.entry(key.clone()).or_default();
        if let Some((_, ty)) = made.iter().find(|(other, _)| env.same(other)) {
            // What it is while it is laid out, it is not afterwards.
            self.lookups.momentary += u64::from(matches!(ty, Ty::Unknown(_)));
            return ty.clone();
        }
        if made.len() >= LAYOUTS {
            made.clear();
            self.lookups.memo.meanings.clear();
        }
        // A record that holds itself by value is not C++; the guard keeps broken code finite.
        made.push((Rc::clone(&env), Ty::Unknown(record.name.clone())));
        let layout = self.within(Rc::clone(&env), &record.namespace, |machine| {
            machine.member_scope(record, |machine| machine.compute_layout(record, &env))
        });
        let ty = Ty::Record(Rc::new(layout));
        let made = self.lookups.layouts.entry(key).or_default();
        made.retain(|(other, _)| !Rc::ptr_eq(other, &env));
        made.push((env, ty.clone()));
        ty
    }

    /// Runs `work` in a frame that only has these template parameters.
    pub(crate) fn within_env<R>(&mut self, env: Rc<Env>, work: impl FnOnce(&mut Self) -> R) -> R {
        let namespace = self.namespace();
        self.within(env, &namespace, work)
    }

    /// Runs `work` in a frame that only has these template parameters, where names are looked up as
    /// in `namespace`.
    pub(crate) fn within<R>(
        &mut self,
        env: Rc<Env>,
        namespace: &Namespace,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let namespace = Arc::clone(namespace);
        self.state.frames.push(Frame { env, namespace, ..self.lookups.blank.clone() });
        let result = work(self);
        self.state.frames.pop();
        self.unexpose(self.state.frames.len());
        result
    }

    /// Runs `work` where names mean what they mean in the head of a function: with its template parameters, in its
    /// namespace, and in the class that it is a method of.
    pub(super) fn within_head<R>(
        &mut self,
        function: &Arc<Function>,
        env: Rc<Env>,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (function, namespace) = (Arc::clone(function), Arc::clone(&function.namespace));
        self.state.frames.push(Frame { function, env, namespace, ..self.lookups.blank.clone() });
        let result = work(self);
        self.state.frames.pop();
        self.unexpose(self.state.frames.len());
        result
    }

    /// The namespaces around the code that runs.
    pub(crate) fn namespace(&self) -> Namespace {
        self.frame().map(|frame| Arc::clone(&frame.namespace)).unwrap_or_default()
    }

    /// What a name that is not a local variable stands for.
    pub(crate) fn lookup(&mut self, path: &Path, span: Span) -> Value {
        let value = self.nested(|machine| machine.lookup_value(path, span)).flatten();
        value.unwrap_or_else(|| self.unseen(path, span))
    }

    /// A name that is not visible is a constant, a macro or a global: the same for every thread.
    fn unseen(&mut self, path: &Path, _span: Span) -> Value {
        let name = qualified(path);
        // Of a class that is not visible, one for other arguments has another.
        let key = Key::Named(format!("{UNSEEN_NAME}{}", self.hidden_name(path)));
        let id = self.world.symbols.intern(key, |_| name, Origin::Given, None, None);
        Value::Int(self.with_residue(id), Scalar::I32)
    }

    fn lookup_value(&mut self, path: &Path, span: Span) -> Option<Value> {
        let name = &path.name;
        if !path.qualifiers.is_empty() {
            if let Some(layout) = self.qualifying_class(path)
                && let Some(value) = self.member_constant(&layout, name)
            {
                return Some(value);
            }
            if let Some(value) = self.enumerator(path, span) {
                return Some(value);
            }
            if matches!((&**owner_name(path), &**name), ("std", "numeric_limits")) {
                return None;
            }
        } else if !path.global {
            if let Some(binding) = self.env().bindings.get(name) {
                return match binding {
                    Binding::Value(value) => Some(value.clone()),
                    Binding::Type(_) | Binding::Pack(_) => None,
                };
            }
            if let Some(value) = self.own_constant(name) {
                return Some(value);
            }
            if self.is_field(name) {
                let why = Unknown::new(Reason::UnknownPointer, span, "`this` is not known");
                return Some(Value::opaque(Variation::Maybe, why));
            }
        }
        match &**name {
            "warpSize" if !self.is_defined_again(path) => return Some(Value::int(32)),
            "INT_MAX" => return Some(Value::int(i64::from(i32::MAX))),
            "CHAR_BIT" => return Some(Value::int(8)),
            _ => {}
        }
        if let Some(value) = self.variable_template(path) {
            return value;
        }
        if let Some(variable) = self.program.variable_meant(path, &self.namespace()).cloned() {
            if let Some(pointer) = self.host_variable(&variable) {
                return Some(Value::Pointer(pointer));
            }
            return Some(self.file_scope_variable(&variable, span));
        }
        if path.qualifiers.is_empty()
            && !path.global
            && let Some(value) = self.constant_of_unseen_base(name)
        {
            return Some(value);
        }
        if !self.program.functions(name).is_empty() {
            return Some(self.function_named(path));
        }
        None
    }

    /// Whether the program gives a name of CUDA's a value of its own, in some namespace.
    fn is_defined_again(&self, path: &Path) -> bool {
        let from = self.namespace();
        let meant = self.program.variable_meant(path, &from);
        meant.is_some_and(|it| it.init.is_some() && is_where_said(it.namespace(), path, &from))
    }

    /// `is_small<T>`, a constant that is a template; none for anything else. Of one that is specialised in
    /// part, or for arguments that are not known, nothing is known.
    fn variable_template(&mut self, path: &Path) -> Option<Option<Value>> {
        let args = path.args.as_deref()?;
        let (program, namespace) = (self.program, self.namespace());
        let named = program.in_sight(&path.name, program.variables(&path.name), &path.qualifiers, &namespace);
        let named: Vec<Arc<Declaration>> = named.cloned().collect();
        let primary =
            named.iter().find(|it| it.specialization.is_empty() && !it.template_params.is_empty())?;
        let env = self.bind(&primary.template_params, Some(args), &Env::default());
        let env = self.bind_rest(&primary.template_params, env);
        let of: Vec<Option<Binding>> =
            primary.template_params.iter().map(|param| env.bindings.get(&param.name).cloned()).collect();
        let mut chosen = (Arc::clone(primary), env);
        for special in named.iter().filter(|it| !it.specialization.is_empty()) {
            match self.is_specialized_for(special, &of) {
                Some(true) => chosen = (Arc::clone(special), Env::default()),
                Some(false) => {}
                None => return Some(None),
            }
        }
        let (variable, env) = chosen;
        let init = variable.init.as_ref().filter(|_| variable.constant)?;
        Some(Some(self.within(Rc::new(env), &variable.namespace, |machine| {
            let ty = machine.resolve_type(&variable.ty);
            let value = machine.evaluate(init);
            machine.convert(value, &ty)
        })))
    }

    /// A file-scope variable as a value: constants by their initialiser, arrays as memory.
    pub(crate) fn file_scope_variable(&mut self, variable: &Arc<Declaration>, span: Span) -> Value {
        if variable.storage.is_shared() {
            return Value::Pointer(self.shared_variable_of_file(variable));
        }
        let env = self.lookups.memo.no_env();
        if let Some(value) = self.lookups.memo.constant(variable, &env) {
            return value;
        }
        let ty = self.resolve_type(&variable.ty);
        if variable.constant
            && !matches!(ty, Ty::Array(..))
            && let Some(init) = &variable.init
        {
            let value = self.within(Rc::clone(&env), &variable.namespace, |machine| machine.evaluate(init));
            let value = self.convert(value, &ty);
            self.lookups.memo.keep_constant(variable, &env, &value);
            return value;
        }
        match &ty {
            Ty::Array(..) | Ty::Record(_) => {
                if let Some(table) = self.table(variable, &ty) {
                    return Value::Pointer(table);
                }
                let pointer = self.named_global(&variable.name, &ty);
                if let Target::Memory(object, _) = pointer.target {
                    self.note_constant_memory(object, variable, &ty);
                }
                Value::Pointer(pointer)
            }
            _ => {
                if let Some(number) = self.constant_number(variable, &ty) {
                    return number;
                }
                let words = format!("`{}` is set at run time", variable.name);
                let what = Unknown::new(Reason::DataDependent, span, words);
                let variation = self.variation_of_variable(&variable.name);
                self.unknown_of(&ty, variation, &variable.name, &what)
            }
        }
    }

    /// A pointer to the memory known by this name, the same object each time.
    pub(crate) fn named_global(&mut self, name: &Name, ty: &Ty) -> Pointer {
        let known = self.memory.objects.iter().position(|o| o.kind == ObjectKind::Global && o.name == *name);
        let object = match known {
            Some(at) => super::value::ObjectId(at as u32),
            None => {
                let object = self.global_object(name.clone());
                self.memory.objects[object.0 as usize].array = self.global_array(name);
                object
            }
        };
        Pointer {
            target: Target::Memory(object, Offset::Known(Int::constant(0))),
            pointee: ty.clone(),
            volatile: false,
        }
    }

    /// A value of this type of which only the variation is known. Integers that are the same for
    /// every thread become symbols named `name`.
    pub(crate) fn unknown_of(&mut self, ty: &Ty, variation: Variation, name: &str, why: &Unknown) -> Value {
        match ty {
            Ty::Scalar(scalar) if scalar.is_integer() && variation == Variation::Uniform => {
                let id = self.world.symbols.fresh(
                    name.to_string().into(),
                    Origin::Given,
                    low_of(*scalar),
                    high_of(*scalar),
                );
                Value::Int(Int::symbol(id), *scalar)
            }
            Ty::Pointer(inner) if variation == Variation::Uniform => {
                let object = self.global_object(name.into());
                let target = Target::Memory(object, Offset::Known(Int::constant(0)));
                Value::Pointer(Pointer { target, pointee: (**inner).clone(), volatile: false })
            }
            Ty::Scalar(scalar) if scalar.is_integer() && self.mode == Mode::Device => {
                self.own_integer(*scalar, Origin::Own, variation, why.clone())
            }
            _ => Value::opaque(variation, why.clone()),
        }
    }

    /// A number, if the expression is one that is known here.
    pub(crate) fn constant(&mut self, expr: &crate::ir::Expr) -> Option<i64> {
        match self.evaluate(expr) {
            Value::Int(int, _) => int.as_constant(),
            _ => None,
        }
    }
}

/// The least value of an integer type, when that tells something.
#[must_use]
pub(crate) fn low_of(scalar: Scalar) -> Option<i64> {
    scalar.is_unsigned().then_some(0)
}

/// The greatest value of an integer type, when that tells something.
#[must_use]
pub(crate) fn high_of(scalar: Scalar) -> Option<i64> {
    match scalar {
        Scalar::Bool => Some(1),
        Scalar::I8 => Some(127),
        Scalar::U8 => Some(255),
        Scalar::I16 => Some(32767),
        Scalar::U16 => Some(65535),
        _ => None,
    }
}

/// The path with its qualifiers, for keys and messages.
#[must_use]
pub(crate) fn qualified(path: &Path) -> String {
    let mut text: String = path.qualifiers.iter().map(|(name, _)| format!("{name}::")).collect();
    text.push_str(&path.name);
    text
}

fn owner_name(path: &Path) -> &Name {
    path.qualifiers.last().map_or(&path.name, |(name, _)| name)
}
