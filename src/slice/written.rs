//! Is a file-scope variable ever changed by what is seen of a program?
//!
//! Where none of its functions changes one, it is what it was at the beginning. A variable that is handed to a function
//! is changed if that may take it by reference: its declarations tell, or else its name.

use crate::builtins::by_value::{self, Takes};
use crate::ir::program::Program;
use crate::ir::writes::{By, Variable, writes};
use crate::ir::{Function, LocalId, Type};
use std::sync::Arc;

/// Whether a function of the program may change a variable of this name.
#[must_use]
pub(crate) fn is_written(program: &Program, name: &str) -> bool {
    let functions = program.modules.iter().flat_map(|module| &module.functions);
    functions.filter(|f| f.body.is_some() && !f.span.is_built_in()).any(|function| {
        writes(function).iter().any(|write| match &write.variable {
            Variable::Named(other) => {
                **other == *name && !is_member(program, function, name) && changes(program, &write.by)
            }
            Variable::Local(_) => false,
        })
    })
}

/// Whether a function may change a variable of its own.
#[must_use]
pub(crate) fn changes_local(program: &Program, function: &Function, local: LocalId) -> bool {
    writes(function)
        .iter()
        .any(|write| write.variable == Variable::Local(local) && changes(program, &write.by))
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
    let takes_them = |f: &&Arc<Function>| {
        let is_pack = f.params.last().is_some_and(|last| last.pack);
        !f.span.is_built_in() && (is_pack || count <= f.params.len())
    };
    let mut declared = program.functions(name).iter().filter(takes_them).peekable();
    if declared.peek().is_none() {
        return match otherwise {
            Takes::Values => false,
            Takes::Reference(number) => number == at,
            Takes::Anything => true,
        };
    }
    declared.any(|function| {
        let last = function.params.last().filter(|last| last.pack);
        function.params.get(at).or(last).is_some_and(|param| {
            let may_refer = matches!(param.ty, Type::Reference(_) | Type::Auto | Type::Opaque);
            may_refer && !param.to_const
        })
    })
}

/// Whether a bare name in a method is that of a data member.
fn is_member(program: &Program, function: &Function, name: &str) -> bool {
    let records = function.owner.iter().flat_map(|owner| program.records(owner));
    records.flat_map(|record| &record.fields).any(|field| *field.name == *name)
}

fn changes(program: &Program, by: &By) -> bool {
    match by {
        By::Itself => true,
        By::Function(path, at, count) => {
            let outermost = path.qualifiers.first().map(|(name, _)| &**name);
            let innermost = path.qualifiers.last().map(|(name, _)| &**name);
            let otherwise = by_value::takes(outermost, innermost, &path.name);
            may_change_argument(program, &path.name, (*at, *count), otherwise)
        }
        By::Method(name, at, count) => {
            may_change_argument(program, name, (*at, *count), by_value::method_takes(name))
        }
        By::Object(name, count) => {
            let takes_them =
                |f: &&Arc<Function>| f.owner.is_some() && !f.span.is_built_in() && *count <= f.params.len();
            let mut declared = program.functions(name).iter().filter(takes_them).peekable();
            match declared.peek().is_some() {
                true => declared.any(|f| !f.is_const),
                false => !by_value::only_reads(name),
            }
        }
    }
}
