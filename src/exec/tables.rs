//! Which numbers are in a constant outside of functions that is an array or an object?
//!
//! ```text
//! constexpr int steps[4] = {1, 2, 4, 8};      s[threadIdx.x * steps[2]]
//! struct Squares { int v[8]; constexpr Squares() : v{} { ... } };
//! constexpr Squares squares{};                s[squares.v[i]]
//! template <int... N> struct List { static constexpr int at[] = {N...}; };    s[List<1, 2, 4>::at[i]]
//! ```
//!
//! It lies in memory, where nobody may write to it. What `__constant__` alone holds the host may change, for which it has to
//! name it: `cudaMemcpyToSymbol(steps, ...)`.

use super::machine::{Declared, Machine, Mode, Table};
use super::types::{Env, Ty, nameless};
use super::value::{Offset, Pointer, Step, Steps, Target, Value};
use crate::domain::{Int, Lanes, Sight};
use crate::ir::{Declaration, Expr, ExprKind, Path, Record, Scalar, Storage};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Of a longer list the numbers are not kept.
const MOST: usize = 4096;

impl Machine<'_> {
    /// Where such an object lies.
    pub(super) fn table_named(&mut self, path: &Path) -> Option<Pointer> {
        if let Some(table) = self.table_of_class(path) {
            return Some(table);
        }
        let variable = self.program.variable_meant(path, &self.namespace()).cloned()?;
        let ty = match (self.resolve_type(&variable.ty), &variable.init) {
            (Ty::Unknown(name), Some(init)) if &*name == nameless::AUTO => {
                let env = self.lookups.memo.no_env();
                self.within(env, &variable.namespace, |machine| machine.type_of(init))
            }
            (ty, _) => ty,
        };
        self.table(&variable, &ty)
    }

    /// The same of a member of a class, which a path names.
    fn table_of_class(&mut self, path: &Path) -> Option<Pointer> {
        let (records, env) = match path.qualifiers.is_empty() {
            true if path.global => return None,
            true => (self.own_records(), self.env()),
            false => {
                let class = self.qualifying_class(path)?;
                (Rc::from([Arc::clone(class.record.as_ref()?)]), Rc::clone(&class.env))
            }
        };
        let is_it = |constant: &Declaration| constant.name == path.name;
        let record = records.iter().find(|record| record.constants.iter().any(is_it))?;
        let constant = record.constants.iter().find(|constant| is_it(constant))?;
        self.member_table(record, constant, &env)
    }

    /// Where a constant lies whose numbers are known.
    pub(super) fn table(&mut self, variable: &Arc<Declaration>, ty: &Ty) -> Option<Pointer> {
        let env = self.lookups.memo.no_env();
        self.table_in(Declared::Outside(Arc::clone(variable)), variable, &env, ty)
    }

    /// The same of a constant of a class.
    pub(super) fn member_table(
        &mut self,
        record: &Arc<Record>,
        constant: &Declaration,
        env: &Rc<Env>,
    ) -> Option<Pointer> {
        if self.mode != Mode::Device || !constant.constant {
            return None;
        }
        let ty = self.within(Rc::clone(env), &record.namespace, |machine| {
            machine.member_scope(record, |machine| machine.resolve_type(&constant.ty))
        });
        if !matches!(ty, Ty::Array(..) | Ty::Record(_)) {
            return None;
        }
        let at = record.constants.iter().position(|own| std::ptr::eq(own, constant))?;
        self.table_in(Declared::In(Arc::clone(record), at), constant, env, &ty)
    }

    fn table_in(
        &mut self,
        declared: Declared,
        variable: &Declaration,
        env: &Rc<Env>,
        ty: &Ty,
    ) -> Option<Pointer> {
        let init = variable.init.as_ref().filter(|_| self.mode == Mode::Device)?;
        if !variable.constant && !self.is_left_alone(variable) {
            return None;
        }
        let at = |object| {
            let target = Target::Memory(object, Offset::Known(Int::constant(0)));
            Pointer { target, pointee: ty.clone(), volatile: false }
        };
        let is_it = |table: &Table| table.declared.is(variable) && table.env.same(env);
        if let Some((object, _)) = self.memory.tables.iter().find(|(_, table)| is_it(table)) {
            return Some(at(*object));
        }
        let numbers = match length(init) {
            ..=MOST => self.numbers_of(&declared, variable, env, ty),
            _ => FxHashMap::default(),
        };
        if numbers.is_empty() {
            return None;
        }
        let object = self.global_object(variable.name.clone());
        let at_launch = (!variable.constant).then(|| variable.name.clone());
        let table = Rc::new(Table { declared, env: Rc::clone(env), numbers, at_launch });
        self.memory.tables.push((object, table));
        Some(at(object))
    }

    /// Whether a variable in constant memory keeps what it is initialised with.
    fn is_left_alone(&self, variable: &Declaration) -> bool {
        variable.storage == Storage::Constant && self.is_never_named_by_host(variable)
    }

    fn numbers_of(
        &mut self,
        declared: &Declared,
        variable: &Declaration,
        env: &Rc<Env>,
        ty: &Ty,
    ) -> FxHashMap<i64, (i64, Scalar)> {
        let Some(init) = &variable.init else { return FxHashMap::default() };
        let before = self.state.clone();
        let recording = std::mem::replace(&mut self.recording, false);
        // It is the same for all threads, whichever of them ask first.
        (self.state.active, self.state.doubt) = (self.world.all, None);
        let value = match declared {
            Declared::Outside(_) => {
                self.within(Rc::clone(env), &variable.namespace, |machine| machine.initial(init, ty))
            }
            Declared::In(record, _) => self.within(Rc::clone(env), &record.namespace, |machine| {
                machine.member_scope(record, |machine| match machine.written_out(init) {
                    Some(out) => machine.initial(&out, ty),
                    None => machine.initial(init, ty),
                })
            }),
        };
        self.state = before;
        self.recording = recording;
        let Value::Aggregate(parts) = &value else { return FxHashMap::default() };
        let number = |(steps, part): &(Steps, Value)| match part {
            Value::Int(int, scalar) => Some((bytes_to(ty, steps)?, (int.as_constant()?, *scalar))),
            _ => None,
        };
        parts.iter().filter_map(number).collect()
    }

    /// The number that is read there, if it is in such a constant.
    pub(super) fn read_table(&self, pointer: &Pointer) -> Option<Value> {
        let Target::Memory(object, Offset::Known(offset)) = &pointer.target else { return None };
        let Ty::Scalar(scalar) = &pointer.pointee else { return None };
        let (_, table) = self.memory.tables.iter().find(|(it, _)| it == object)?;
        let at =
            |byte: i64| table.numbers.get(&byte).filter(|(_, of)| of == scalar).map(|(number, _)| *number);
        let of_table = |int: Int| match &table.at_launch {
            Some(name) => {
                self.compiler.at_launch.note_read();
                Value::Int(Int { sight: Sight::at_launch(name), ..int }, *scalar)
            }
            None => Value::Int(int, *scalar),
        };
        let known = offset.as_known()?;
        if let Some(byte) = known.as_constant() {
            return Some(of_table(Int::constant(at(byte)?)));
        }
        let bytes = known.spread(self.shape());
        let mut numbers = vec![0; bytes.len()];
        for thread in self.state.active.threads() {
            numbers[thread] = at(bytes[thread])?;
        }
        Some(of_table(Int::known(Lanes::close(numbers, self.shape()))))
    }
}

/// How many numbers are written in a list.
fn length(init: &Expr) -> usize {
    match &init.kind {
        ExprKind::InitList(items) | ExprKind::Construct(_, items) => items.iter().map(length).sum(),
        _ => 1,
    }
}

/// How far a part of something is from its beginning.
fn bytes_to(ty: &Ty, steps: &[Step]) -> Option<i64> {
    let mut ty = ty.clone();
    let mut bytes = 0i64;
    for step in steps {
        let (inner, at) = match (&ty, step) {
            (Ty::Array(element, _), Step::Index(index)) => {
                let size = i64::try_from(element.constant_size()?).ok()?;
                ((**element).clone(), index.checked_mul(size)?)
            }
            (Ty::Record(layout), Step::Member(name)) => {
                let field = layout.field(name)?;
                (field.ty.clone(), field.begins()?.as_constant()?)
            }
            _ => return None,
        };
        bytes = bytes.checked_add(at)?;
        ty = inner;
    }
    Some(bytes)
}
