//! What does a member of a class stand for that belongs to no object: a constant or a type?
//!
//! In a class and in its methods, its members and those of its bases are found by their bare names.

use super::machine::{Asked, Machine};
use super::types::Env;
use super::types::{Layout, Ty};
use super::value::{NOWHERE, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::print;
use crate::ir::{Alias, Expr, Name, Path, Record, TemplateArg, TemplateParam, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Bases of bases that are searched.
pub(super) const BASES: usize = 8;

impl Machine<'_> {
    /// The number that names a part instead of a member: it is that of a member, unless the program says by
    /// `std::tuple_size` that the class has parts of its own.
    pub(super) fn part_number(&self, name: &str, ty: &Ty, span: Span) -> Result<Option<usize>, Unknown> {
        let number = name.parse::<usize>().ok();
        let (Some(_), Ty::Record(layout)) = (number, ty) else { return Ok(number) };
        let Some(record) = &layout.record else { return Ok(number) };
        let is_it = |arg: &TemplateArg| match arg {
            TemplateArg::Type(Type::Named(path)) => path.name == record.name,
            _ => false,
        };
        let mut sizes = self.program.records("tuple_size").iter().filter(|it| !it.extent.is_built_in());
        if sizes.any(|it| it.specialization.iter().any(is_it)) {
            return Err(Unknown::new(Reason::Unsupported, span, "a part that the class's own `get` tells"));
        }
        Ok(number)
    }

    /// The classes that the running method, or the class that is laid out, may belong to: the one that
    /// holds its text, if one does.
    pub(super) fn own_records(&self) -> Rc<[Arc<Record>]> {
        let Some(function) = self.frame().map(|frame| &frame.function) else { return Rc::default() };
        let Some(owner) = &function.owner else { return Rc::default() };
        self.lookups.memo.scopes.classes_of(function, || {
            let records = self.program.records(owner);
            match records.iter().find(|record| record.holds(function.span)) {
                Some(own) => Rc::new([Arc::clone(own)]),
                None if !function.owner_args.is_empty() => {
                    let written = (function.owner_args.as_slice(), function.owner_params.as_slice());
                    let is_own = |record: &&Arc<Record>| {
                        let own = (record.specialization.as_slice(), record.template_params.as_slice());
                        print::are_alike_but_for_names(own, written)
                    };
                    match records.iter().find(is_own) {
                        Some(own) => Rc::new([Arc::clone(own)]),
                        None => records.iter().filter(|it| it.specialization.is_empty()).cloned().collect(),
                    }
                }
                None => records.into(),
            }
        })
    }

    /// The classes around a class, the nearest first: in its text, their members have bare names too.
    fn enclosing(&self, record: &Record) -> Vec<Arc<Record>> {
        let mut found = Vec::new();
        let mut name: &str = &record.name;
        while let Some((outer, _)) = name.rsplit_once("::") {
            let records = self.program.records(outer);
            found.extend(records.iter().filter(|outer| outer.holds(record.span)).cloned());
            name = outer;
        }
        found
    }

    /// Whether the text of a class may name template parameters that are not its own.
    pub(super) fn is_within_template(&self, record: &Record) -> bool {
        record.is_local || self.enclosing(record).iter().any(|around| !around.template_params.is_empty())
    }

    /// The classes around those that the running method may belong to.
    pub(super) fn enclosing_records(&self) -> Vec<Arc<Record>> {
        self.own_records().iter().flat_map(|record| self.enclosing(record)).collect()
    }

    /// The names of the classes around the running method's class.
    pub(super) fn enclosing_names(&self) -> Vec<Name> {
        self.enclosing_records().iter().map(|record| record.name.clone()).collect()
    }

    /// Whether a bare name is that of a data member of the running method's class.
    pub(super) fn is_field(&self, name: &Name) -> bool {
        self.own_records().iter().any(|record| record.fields.iter().any(|field| field.name == *name))
    }

    /// A class template by its bare name where its own text says it: for the arguments that it has there.
    pub(super) fn own_class(&mut self, name: &Name) -> Option<Ty> {
        let frame = self.frame()?;
        let own = self.own_records().iter().find(|it| it.name == *name).cloned()?;
        if let Some(Ty::Record(layout)) = frame.this.as_ref().map(|this| &this.pointee)
            && layout.record.as_ref().is_some_and(|record| Arc::ptr_eq(record, &own))
        {
            return Some(Ty::Record(Rc::clone(layout)));
        }
        let env = self.env();
        let is_bound = |param: &TemplateParam| env.bindings.contains_key(&param.name);
        let is_known = !own.template_params.is_empty() && own.template_params.iter().all(is_bound);
        is_known.then(|| self.lay_out(&own, env))
    }

    /// A member typedef of the class that the running method belongs to.
    pub(super) fn own_alias(&mut self, path: &Path) -> Option<Ty> {
        let records = self.own_records();
        let found = records.iter().find_map(|record| Some((record, alias_of(record, &path.name)?)));
        let Some((record, alias)) = found else {
            let env = self.env();
            let of_bases = records.iter().find_map(|record| {
                let bases = self.bases_seen(record, &env, &path.name);
                self.type_of_some(bases, path, BASES)
            });
            return of_bases.or_else(|| self.enclosing_alias(path));
        };
        // `using Shape = Shape<M, N>;`: in its own definition the name is that of something else.
        if self.lookups.own_aliases.contains(&alias.name) {
            self.lookups.passed_over += 1;
            return None;
        }
        self.lookups.own_aliases.push(alias.name.clone());
        let ty = if alias.template_params.is_empty() {
            Some(self.resolve_part(&alias.ty))
        } else {
            let env = self.env();
            self.member_alias(record, path, &env)
        };
        self.lookups.own_aliases.pop();
        ty
    }

    /// A member typedef that a bare name means in the running method's class, whatever else has the name outside.
    pub(super) fn alias_in_class(&mut self, path: &Path) -> Option<Ty> {
        let is_bare = path.qualifiers.is_empty() && !path.global;
        let is_parameter = || self.env().bindings.contains_key(&path.name);
        if !is_bare || !self.program.has_member_type(&path.name) || is_parameter() {
            return None;
        }
        self.own_alias(path)
    }

    /// A member typedef of a class around that of the running method.
    fn enclosing_alias(&mut self, path: &Path) -> Option<Ty> {
        let env = self.env();
        self.enclosing_records().into_iter().find_map(|record| {
            let own = self.member_alias(&record, path, &env);
            own.or_else(|| self.type_of_bases(&record, &env, path, BASES))
        })
    }

    /// What a member typedef of a class stands for, where the class's parameters stand for what `env` says.
    fn member_alias(&mut self, record: &Arc<Record>, path: &Path, env: &Rc<Env>) -> Option<Ty> {
        let alias = alias_of(record, &path.name)?;
        let env = self.alias_env(alias, path, env);
        self.member_meaning(alias, env, |machine, env| {
            Some(machine.within(env, &record.namespace, |machine| {
                machine.member_scope(record, |machine| machine.resolve_part(&alias.ty))
            }))
        })
    }

    /// `Layout::type`.
    pub(super) fn member_type(&mut self, layout: &Rc<Layout>, path: &Path) -> Ty {
        let record = layout.record.clone();
        if let Some(ty) = record.as_ref().and_then(|record| self.member_alias(record, path, &layout.env)) {
            return ty;
        }
        let of_bases = record.and_then(|record| self.type_of_bases(&record, &layout.env, path, BASES));
        of_bases.unwrap_or_else(|| Ty::Unknown(path.name.clone()))
    }

    /// What names mean in a member typedef that a path names, which may be a template.
    fn alias_env(&mut self, alias: &Alias, path: &Path, of_class: &Rc<Env>) -> Rc<Env> {
        if alias.template_params.is_empty() {
            return Rc::clone(of_class);
        }
        let env = self.bind(&alias.template_params, path.args.as_deref(), of_class);
        Rc::new(self.bind_defaults(&alias.template_params, &alias.namespace, env))
    }

    pub(super) fn type_of_bases(
        &mut self,
        record: &Arc<Record>,
        env: &Rc<Env>,
        path: &Path,
        depth: usize,
    ) -> Option<Ty> {
        let bases = self.bases(record, env, depth);
        self.type_of_some(bases, path, depth)
    }

    fn type_of_some(&mut self, bases: Vec<Rc<Layout>>, path: &Path, depth: usize) -> Option<Ty> {
        bases.into_iter().find_map(|base| {
            let record = base.record.clone()?;
            let own = self.member_alias(&record, path, &base.env);
            own.or_else(|| self.type_of_bases(&record, &base.env, path, depth - 1))
        })
    }

    /// The classes that a class is made of; none at a depth of 0.
    pub(super) fn bases(&mut self, record: &Arc<Record>, env: &Rc<Env>, depth: usize) -> Vec<Rc<Layout>> {
        self.bases_where(record, env, depth, &|_| true)
    }

    /// Those of them that are written so that something is so.
    pub(super) fn bases_where(
        &mut self,
        record: &Arc<Record>,
        env: &Rc<Env>,
        depth: usize,
        is_so: &dyn Fn(&Type) -> bool,
    ) -> Vec<Rc<Layout>> {
        if record.bases.is_empty() || depth == 0 {
            return Vec::new();
        }
        let bases = self.within(Rc::clone(env), &record.namespace, |machine| -> Vec<Ty> {
            record.bases.iter().filter(|base| is_so(base)).map(|base| machine.resolve_type(base)).collect()
        });
        let layout = |ty| if let Ty::Record(layout) = ty { Some(layout) } else { None };
        bases.into_iter().filter_map(layout).collect()
    }

    /// The first of a class and those that it is made of, as far as to a depth, for which something is so.
    pub(super) fn class_where(
        &mut self,
        class: &Rc<Layout>,
        depth: usize,
        is_so: &dyn Fn(&Layout) -> bool,
    ) -> Option<Rc<Layout>> {
        if is_so(class) {
            return Some(Rc::clone(class));
        }
        let record = class.record.clone()?;
        let bases = self.bases(&record, &class.env, depth);
        bases.iter().find_map(|base| self.class_where(base, depth - 1, is_so))
    }

    /// The record in front of `::`, by its own name or by a typedef's.
    pub(super) fn owner_layout(&mut self, owner: &Path) -> Option<Rc<Layout>> {
        let ty = match self.alias_in_class(owner) {
            Some(ty) => ty,
            None => match self.named_record(owner) {
                Some(ty) => ty,
                None => self.resolve_named(owner),
            },
        };
        if let Ty::Record(layout) = ty { Some(layout) } else { None }
    }

    /// The class in front of the last `::` of a path, which may be a member of another.
    pub(super) fn qualifying_class(&mut self, path: &Path) -> Option<Rc<Layout>> {
        self.class_before(path, false)
    }

    /// The same. `keeps_empty`: whether what has no template arguments is taken to be given an empty list of them.
    pub(super) fn class_before(&mut self, path: &Path, keeps_empty: bool) -> Option<Rc<Layout>> {
        if path.qualifiers.is_empty() {
            return None;
        }
        let asked = if keeps_empty { Asked::ClassOfEmpty } else { Asked::Class };
        let found = self
            .meaning(asked, path, |machine| machine.look_for_class_before(path, keeps_empty).map(Ty::Record));
        match found {
            // Of a namespace and a class of one name, the one that has such a member.
            Some(Ty::Record(layout)) => Some(layout).filter(|_| !self.program.has_in_namespace(path)),
            _ => None,
        }
    }

    fn look_for_class_before(&mut self, path: &Path, keeps_empty: bool) -> Option<Rc<Layout>> {
        let ((name, args), before) = path.qualifiers.split_last()?;
        let args = (keeps_empty || !args.is_empty()).then(|| args.clone());
        let owner = Path { qualifiers: before.to_vec(), name: name.clone(), args, global: path.global };
        let (env, program) = (self.env(), self.program);
        let may_be_class = |(name, args): &(Name, Vec<TemplateArg>)| {
            !args.is_empty() || env.bindings.contains_key(name) || program.may_be_class(name)
        };
        let around = match before.iter().any(may_be_class) {
            true => self.class_before(&owner, keeps_empty),
            false => None,
        };
        match around {
            Some(around) => match self.member_type(&around, &owner) {
                Ty::Record(layout) => Some(layout),
                _ => None,
            },
            None => self.owner_layout(&owner),
        }
    }

    /// `Layout::constant`.
    pub(super) fn member_constant(&mut self, layout: &Rc<Layout>, name: &Name) -> Option<Value> {
        let record = layout.record.clone()?;
        let bound =
            |param: &TemplateParam| param.name.is_empty() || layout.env.bindings.contains_key(&param.name);
        let env = if record.template_params.iter().all(bound) {
            Rc::clone(&layout.env)
        } else {
            let env = Env { bindings: layout.env.bindings.clone() };
            Rc::new(self.bind_rest(&record.template_params, env))
        };
        self.constant_of(&record, &env, name, BASES)
    }

    /// `object.name`, where `name` is a constant of the object's class.
    pub(super) fn constant_of_class(&mut self, object: &Expr, name: &str) -> Option<Value> {
        let layout = match self.type_of(object) {
            Ty::Record(layout) => layout,
            Ty::Pointer(inner) => match &*inner {
                Ty::Record(layout) => Rc::clone(layout),
                _ => return None,
            },
            _ => return None,
        };
        self.member_constant(&layout, &name.into())
    }

    /// A constant of the class that the running method belongs to.
    pub(super) fn own_constant(&mut self, name: &Name) -> Option<Value> {
        let records = self.own_records();
        let env = self.env();
        let own = records.iter().find_map(|record| self.constant_seen(record, &env, name));
        own.or_else(|| {
            let around = self.enclosing_records();
            around.iter().find_map(|record| self.constant_seen(record, &env, name))
        })
    }

    /// A constant of a class or of a base, that a bare name means in the text of the class.
    fn constant_seen(&mut self, record: &Arc<Record>, env: &Rc<Env>, name: &Name) -> Option<Value> {
        if record.constants.iter().any(|constant| constant.name == *name) {
            return self.constant_of(record, env, name, BASES);
        }
        self.bases_seen(record, env, name).into_iter().find_map(|base| {
            let record = base.record.clone()?;
            self.constant_of(&record, &base.env, name, BASES - 1)
        })
    }

    /// `E::A` of an `enum class E`, which is a constant of that whole name where `E` is declared; of a plain `enum E`,
    /// it is one where `E` is.
    pub(super) fn enumerator(&mut self, path: &Path, span: Span) -> Option<Value> {
        let ((owner, args), before) = path.qualifiers.split_last()?;
        if !args.is_empty() {
            return None;
        }
        let name: Name = format!("{owner}::{}", path.name).into();
        let of_class = if before.is_empty() {
            self.own_constant(&name)
        } else {
            let of =
                Path { qualifiers: before.to_vec(), name: owner.clone(), args: None, global: path.global };
            let layout = self.qualifying_class(&of);
            layout.and_then(|layout| {
                let scoped = self.member_constant(&layout, &name);
                if scoped.is_none() && self.program.enumeration(owner).is_some() {
                    return self.member_constant(&layout, &path.name);
                }
                scoped
            })
        };
        of_class.or_else(|| {
            let whole = Path { qualifiers: before.to_vec(), name, args: None, global: false };
            let variable = self.program.variable_meant(&whole, &self.namespace())?.clone();
            Some(self.file_scope_variable(&variable, span))
        })
    }

    pub(super) fn constant_of(
        &mut self,
        record: &Arc<Record>,
        env: &Rc<Env>,
        name: &Name,
        depth: usize,
    ) -> Option<Value> {
        let Some(constant) = record.constants.iter().find(|constant| constant.name == *name) else {
            return self.bases(record, env, depth).into_iter().find_map(|base| {
                let record = base.record.clone()?;
                self.constant_of(&record, &base.env, name, depth - 1)
            });
        };
        if !self.is_settled_member(constant) {
            let why =
                Unknown::new(Reason::DataDependent, NOWHERE, "a static member that the program changes");
            return Some(Value::opaque(Variation::Uniform, why));
        }
        let init = constant.init.as_ref()?;
        if let Some(value) = self.lookups.memo.constant(constant, env) {
            return Some(value);
        }
        if let Type::Array(..) = &constant.ty
            && let Some(table) = self.member_table(record, constant, env)
        {
            return Some(Value::Pointer(table));
        }
        let value = self.within(Rc::clone(env), &record.namespace, |machine| {
            machine.member_scope(record, |machine| {
                let value = match machine.written_out(init) {
                    Some(out) => machine.evaluate(&out),
                    None => machine.evaluate(init),
                };
                let ty = machine.resolve_type(&constant.ty);
                machine.convert(value, &ty)
            })
        });
        self.lookups.memo.keep_constant(constant, env, &value);
        Some(value)
    }

    /// Lets unqualified names find the record's own constants and typedefs.
    pub(super) fn member_scope<R>(&mut self, record: &Arc<Record>, work: impl FnOnce(&mut Self) -> R) -> R {
        if let Some(frame) = self.state.frames.last_mut() {
            frame.function = self.lookups.memo.scopes.of_class(&frame.function, record);
        }
        work(self)
    }
}

fn alias_of<'a>(record: &'a Record, name: &Name) -> Option<&'a Alias> {
    record.aliases.iter().find(|alias| alias.name == *name)
}
