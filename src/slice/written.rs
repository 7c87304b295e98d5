//! Is a file-scope variable ever changed by what is seen of a program?
//!
//! Where nothing changes one, it is what it was at the beginning. A variable that is handed to a function is changed if
//! that may take it by reference: its declarations tell, or else its name.

use crate::builtins::by_value::{self, Takes};
use crate::ir::program::Program;
use crate::ir::writes::{By, Variable, Write, by_initialisers, writes};
use crate::ir::{BinaryOp, Function, LocalId, Name, Param, Path, TemplateArg, Type, print};
use crate::slice::operator_calls::unary_name;
use std::sync::Arc;

/// Classes in classes, and aliases of aliases, that are looked at, at the most.
const DEPTH: usize = 8;

/// What a variable is, as far as it matters to how it may be changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number or a pointer.
    Plain,
    /// An array of so many dimensions.
    Array(usize),
    /// An object, or something of which the type is not known.
    Object,
}

/// Whether the program may change a variable of this name and type.
#[must_use]
pub(crate) fn is_written(program: &Program, name: &str, ty: &Type) -> bool {
    is_mentioned(program, name, ty, |_, _| true)
}

/// Whether who is not seen may change it: its address is handed on, or a reference to it. A method may hand on the address
/// of its object.
#[must_use]
pub(crate) fn escapes(program: &Program, name: &str, ty: &Type) -> bool {
    is_mentioned(program, name, ty, |program, by| !is_assignment(program, by))
}

fn is_assignment(program: &Program, by: &By) -> bool {
    match by {
        By::Assignment => true,
        By::Behind(by) | By::Element(by) => is_assignment(program, by),
        // Those of libraries do not.
        By::Object(name, _) => {
            program.functions(name).iter().all(|f| f.owner.is_none() || f.span.is_built_in())
        }
        _ => false,
    }
}

/// Whether it is changed by something that counts.
fn is_mentioned(program: &Program, name: &str, ty: &Type, counts: fn(&Program, &By) -> bool) -> bool {
    let kind = kind_of(program, ty, DEPTH);
    let is_it = |function: Option<&Function>, write: &Write| match &write.variable {
        Variable::Named(other, is_bare) => {
            let is_member = || *is_bare && function.is_some_and(|it| is_member(program, it, name));
            **other == *name
                && counts(program, &write.by)
                && !is_member()
                && changes(program, kind, &write.by)
        }
        Variable::Local(_) => false,
    };
    program.modules.iter().any(|module| {
        let mut functions = module.functions.iter().filter(|f| !f.span.is_built_in());
        module.unfollowed.binary_search_by(|it| (**it).cmp(name)).is_ok()
            || functions.any(|f| writes(f).iter().any(|write| is_it(Some(f), write)))
            || by_initialisers(module).iter().any(|write| is_it(None, write))
    })
}

/// Whether what happens to a file-scope variable or a static member of this name may change it.
#[must_use]
pub(crate) fn may_write(program: &Program, name: &str, by: &By) -> bool {
    let variables = program.variables(name);
    let mut kinds = variables.iter().map(|it| kind_of(program, &it.ty, DEPTH));
    variables.is_empty() && changes(program, Kind::Plain, by) || kinds.any(|kind| changes(program, kind, by))
}

/// Whether a function may change a variable of its own.
#[must_use]
pub(crate) fn changes_local(program: &Program, function: &Function, local: LocalId, ty: &Type) -> bool {
    let kind = kind_of(program, ty, DEPTH);
    let is_it = |write: &&Write| write.variable == Variable::Local(local);
    writes(function).iter().filter(is_it).any(|write| changes(program, kind, &write.by))
}

/// Whether a function or method may change its argument `at`, of `count`. `otherwise`: what it takes if no declaration
/// of it is seen.
#[must_use]
pub(crate) fn may_change_argument(
    program: &Program,
    name: &str,
    (at, count): (usize, usize),
    otherwise: Takes,
) -> bool {
    match parameters(program, name, (at, count)) {
        Some(mut params) => params.any(|param| may_refer(param) && !param.to_const),
        None => otherwise.may_change(at),
    }
}

/// What a function takes of which no declaration is seen, by its path.
pub(crate) fn by_path(path: &Path) -> Takes {
    let outermost = path.qualifiers.first().map(|(name, _)| &**name);
    let innermost = path.qualifiers.last().map(|(name, _)| &**name);
    by_value::takes(outermost, innermost, &path.name)
}

/// The parameters that stand for the argument `at`, of `count`, of what is declared under a name; none if nothing is.
fn parameters<'p>(
    program: &'p Program,
    name: &str,
    (at, count): (usize, usize),
) -> Option<impl Iterator<Item = &'p Param>> {
    let takes_them = move |f: &&Arc<Function>| {
        let is_pack = f.params.last().is_some_and(|last| last.pack);
        !f.span.is_built_in() && (is_pack || count <= f.params.len())
    };
    let mut declared = program.functions(name).iter().filter(takes_them).peekable();
    declared.peek()?;
    Some(declared.filter_map(move |function| {
        let last = function.params.last().filter(|last| last.pack);
        function.params.get(at).or(last)
    }))
}

fn may_refer(param: &Param) -> bool {
    matches!(param.ty, Type::Reference(_) | Type::Auto | Type::Opaque)
}

/// Whether a bare name in a method is that of a data member.
fn is_member(program: &Program, function: &Function, name: &str) -> bool {
    let records = function.owner.iter().flat_map(|owner| program.records(owner));
    records.flat_map(|record| &record.fields).any(|field| *field.name == *name)
}

fn kind_of(program: &Program, ty: &Type, depth: usize) -> Kind {
    match ty {
        Type::Scalar(_) | Type::Pointer(_) => Kind::Plain,
        Type::Qualified(_, inner) => kind_of(program, inner, depth),
        Type::Array(inner, _) => match kind_of(program, inner, depth) {
            Kind::Array(dimensions) => Kind::Array(dimensions + 1),
            _ => Kind::Array(1),
        },
        Type::Named(path) if depth > 0 => match program.aliases(&path.name) {
            [alias] => kind_of(program, &alias.ty, depth - 1),
            _ if program.enumeration(&path.name).is_some() => Kind::Plain,
            _ => Kind::Object,
        },
        _ => Kind::Object,
    }
}

fn changes(program: &Program, kind: Kind, by: &By) -> bool {
    let hands_address = matches!(kind, Kind::Array(_));
    match by {
        By::Itself | By::Assignment => true,
        By::Value(subscripts) => matches!(kind, Kind::Array(dimensions) if *subscripts < dimensions),
        By::Member(name, subscripts) => is_array_member(program, name, *subscripts),
        By::Element(by) => match kind {
            Kind::Array(dimensions) if dimensions > 1 => changes(program, Kind::Array(dimensions - 1), by),
            Kind::Array(_) | Kind::Object => changes(program, Kind::Object, by),
            Kind::Plain => false,
        },
        By::Behind(by) => kind != Kind::Plain && changes(program, Kind::Object, by),
        By::Function(path, at, count) => {
            let is_read = || {
                let params = parameters(program, &path.name, (*at, *count));
                params.is_some_and(|mut params| params.all(|param| param.to_const))
            };
            match hands_address {
                true => !is_read(),
                false => {
                    may_change_argument(program, &path.name, (*at, *count), by_path(path))
                        || makes_what_binds(program, path, (*at, *count))
                }
            }
        }
        By::HandedBack(path, at, count, result) => {
            let changes_result = || changes(program, kind, result);
            match parameters(program, &path.name, (*at, *count)) {
                Some(params) => {
                    let referring: Vec<&Param> = params.filter(|it| may_refer(it)).collect();
                    hands_address
                        || referring.iter().any(|it| !it.to_const)
                        || !referring.is_empty() && changes_result()
                }
                None => hands_address || by_path(path).may_change(*at) || changes_result(),
            }
        }
        By::Listed(whole) => hands_address || list_may_bind(program, whole),
        By::Text(name, count) => {
            let is_declared = parameters(program, name, (0, *count)).is_some();
            !is_declared && matches!(by_value::takes(None, None, name), Takes::Text)
        }
        By::Method(name, at, count) => {
            let otherwise = by_value::method_takes(name);
            hands_address || may_change_argument(program, name, (*at, *count), otherwise)
        }
        By::Constructor(class, at, count) => {
            hands_address || may_be_bound(program, class, (*at, *count), DEPTH)
        }
        By::Operator(op, at) => hands_address || operator_changes(program, kind, *op, *at),
        By::Unary(op) => kind == Kind::Object && any_changes_object(program, unary_name(*op)),
        By::Object(name, count) => match kind {
            Kind::Plain => false,
            _ => may_change_object(program, name, *count, None),
        },
        By::Initialiser(class, member) => {
            let fields = program.records(class).iter().flat_map(|record| &record.fields);
            let mut named = fields.filter(|it| it.name == *member).peekable();
            let may_bind = match named.peek() {
                Some(_) => named.any(|it| may_bind(program, &it.ty, DEPTH)),
                // A base class.
                None => may_be_bound(program, member, (0, 1), DEPTH),
            };
            hands_address || may_bind
        }
    }
}

/// Whether a method may change the object that it is called on, with so many arguments. `owner`: the class of the object,
/// if that is known.
#[must_use]
pub(crate) fn may_change_object(program: &Program, name: &str, count: usize, owner: Option<&Name>) -> bool {
    let takes_them = |f: &&Arc<Function>| {
        let is_of_class = owner.is_none_or(|owner| f.owner.as_ref() == Some(owner));
        f.owner.is_some() && is_of_class && !f.span.is_built_in() && count <= f.params.len()
    };
    let mut declared = program.functions(name).iter().filter(takes_them).peekable();
    match declared.peek().is_some() {
        true => declared.any(|f| !f.is_const),
        false => !by_value::only_reads(name),
    }
}

fn any_changes_object(program: &Program, name: &str) -> bool {
    program.functions(name).iter().any(|f| match f.owner {
        Some(_) => !f.is_const,
        None => f.params.first().is_some_and(|param| may_refer(param) && !param.to_const),
    })
}

fn operator_changes(program: &Program, kind: Kind, op: BinaryOp, at: usize) -> bool {
    // `in >> x`, of a library.
    if op == BinaryOp::Shr && at == 1 {
        return true;
    }
    let changes_operand = |f: &Arc<Function>| match (&f.owner, at) {
        (Some(_), 0) => kind == Kind::Object && !f.is_const,
        (Some(_), _) => f.params.first().is_some_and(|param| may_refer(param) && !param.to_const),
        (None, _) => f.params.get(at).is_some_and(|param| may_refer(param) && !param.to_const),
    };
    let named = [format!("operator{}", print::operator(op)), format!("operator{}=", print::operator(op))];
    let mut all = named.iter().flat_map(|name| program.functions(name));
    all.any(|f| !f.span.is_built_in() && changes_operand(f))
}

/// Whether any class has a member of this name that is an array, of more dimensions than that.
fn is_array_member(program: &Program, name: &str, subscripts: usize) -> bool {
    let records = program.modules.iter().flat_map(|module| &module.records);
    records.flat_map(|record| &record.fields).filter(|field| *field.name == *name).any(|field| {
        matches!(kind_of(program, &field.ty, DEPTH), Kind::Array(dimensions) if subscripts < dimensions)
    })
}

/// Whether an object of a class may refer to what it is made of.
fn may_be_bound(program: &Program, class: &str, (at, count): (usize, usize), depth: usize) -> bool {
    if let Some(mut params) = parameters(program, class, (at, count)) {
        return params.any(|param| may_refer(param) && !param.to_const);
    }
    match (program.aliases(class), program.records(class)) {
        ([alias], _) => may_bind(program, &alias.ty, depth),
        (_, records) if records.iter().all(|it| it.span.is_built_in()) => {
            by_value::class_takes(class).may_change(at) && program.enumeration(class).is_none()
        }
        (_, records) => {
            let fields = records.iter().flat_map(|record| &record.fields);
            let mut parts = records.iter().flat_map(|record| &record.bases).chain(fields.map(|it| &it.ty));
            parts.any(|ty| may_bind(program, ty, depth))
        }
    }
}

/// Whether what a call is given a list for may refer to the items of the list.
fn list_may_bind(program: &Program, by: &By) -> bool {
    let (name, at, count, otherwise) = match by {
        By::Function(path, at, count) => (&path.name, *at, *count, by_path(path)),
        By::Method(name, at, count) => (name, *at, *count, by_value::method_takes(name)),
        By::Constructor(name, at, count) => (name, *at, *count, by_value::class_takes(name)),
        _ => return true,
    };
    match parameters(program, name, (at, count)) {
        Some(mut params) => params.any(|param| may_bind(program, &param.ty, DEPTH)),
        None => otherwise.may_change(at),
    }
}

/// `std::make_unique<View>(n)`: whether a class that is written as a template argument may refer to what it is made of.
fn makes_what_binds(program: &Program, path: &Path, number: (usize, usize)) -> bool {
    path.args.iter().flatten().any(|arg| match arg {
        TemplateArg::Type(Type::Named(class)) => {
            !program.records(&class.name).is_empty() && may_be_bound(program, &class.name, number, DEPTH)
        }
        _ => false,
    })
}

/// Whether what has this type may refer to what it is initialised with.
fn may_bind(program: &Program, ty: &Type, depth: usize) -> bool {
    match ty {
        Type::Scalar(_) | Type::Pointer(_) => false,
        Type::Array(inner, _) | Type::Qualified(_, inner) => may_bind(program, inner, depth),
        Type::Named(path) => depth == 0 || may_be_bound(program, &path.name, (0, 1), depth - 1),
        _ => true,
    }
}
