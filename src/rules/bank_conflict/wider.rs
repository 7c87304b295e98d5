//! What is told of threads that go to four neighbours one by one, and not in one access?
//!
//! The compiler joins what it knows to be aligned. Where it does not know, only the author can say so: the help names
//! what has to be aligned, and what one access of 16 bytes would take then. A misaligned one is an error at run time,
//! so no fix writes it.

use super::super::{Case, plural};
use super::Conflict;
use crate::events::AccessOp;
use crate::remedy::{self, Seen};

/// What to type, and what it takes, if the access of a conflict is one of four such neighbours.
pub(super) fn help(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let run = &case.runs[conflict.run];
    let trace = &run.trace;
    let seen = Seen {
        trace,
        judgements: run.judgements.get(conflict.target)?,
        block: run.block,
        target: case.targets.get(conflict.target)?,
    };
    let number = trace.accesses.iter().position(|it| std::ptr::eq(it, conflict.access))?;
    let found = remedy::wider(seen, number)?;
    let wide = match trace.arrays[conflict.access.array].element.as_str() {
        "float" => "float4",
        "int" | "int32_t" => "int4",
        "unsigned" | "unsigned int" | "uint" | "uint32_t" => "uint4",
        _ => return None,
    };
    let first = (case.text)(trace.accesses[found.first].span);
    let does = if conflict.access.op == AccessOp::Store { "write" } else { "read" };
    (!first.contains(['\n', '`'])).then(|| {
        format!(
            "if the address of `{first}` is always a multiple of 16, {does} the four neighbours as one `{wide}`: \
             {} instead of {}",
            plural(found.after, "wavefront"),
            found.before,
        )
    })
}
