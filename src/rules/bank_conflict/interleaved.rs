//! What is told of a loop that adds up an array by interleaved addressing?
//!
//! `remedy::sequential` sees from the events that neighbouring lanes on neighbouring elements would bring all elements
//! together as well, and what that takes. Other pairs are added then, so no fix writes it: sums and products of
//! floating-point numbers round otherwise, and the other elements end up with other values, which nobody reads.

use super::super::{Case, Fold, FoldedBy, KernelRun, plural};
use super::Conflict;
use crate::remedy::{self, Combined, Seen, Sequential};

/// Types of elements whose sums and products do not depend on the order.
const EXACT: [&str; 8] =
    ["int", "unsigned", "unsigned int", "uint", "int32_t", "uint32_t", "long long", "unsigned long long"];

/// What to type, and what it takes, if the access of a conflict is a part of such a loop.
pub(super) fn help(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let run = &case.runs[conflict.run];
    let array = &run.trace.arrays[conflict.access.array];
    let span = conflict.access.span;
    let mut folds = case.padder.folds();
    folds.retain(|it| [it.target, it.one, it.other].contains(&span));
    if folds.is_empty() {
        return None;
    }
    // Where no launch tells the block, it has to hold in each that is possible.
    let ways = case.padder.ways(conflict.run);
    let ways = if ways.is_empty() { std::slice::from_ref(run) } else { ways };
    let (fold, found) = folds.iter().find_map(|fold| Some((fold, all_ways(case, conflict, fold, ways)?)))?;
    let (way, found) = found.into_iter().max_by_key(|(_, found)| found.before)?;
    let text = (case.text)(fold.target);
    let name = text.split_once('[').map(|(name, _)| name.trim()).filter(|name| is_name(name))?;
    let (here, there) = (format!("{name}[threadIdx.x]"), format!("{name}[threadIdx.x + d]"));
    let statement = match &fold.by {
        FoldedBy::Operator(sign) => format!("{here} {sign}= {there};"),
        FoldedBy::Function(function) => format!("{here} = {function}({here}, {there});"),
    };
    let [threads, y, z] = way.block;
    let (first, block) = match ways.len() {
        1 => ((found.elements / 2).to_string(), String::new()),
        _ if found.elements == u64::from(threads) => {
            ("blockDim.x / 2".to_owned(), format!(" with block ({threads}, {y}, {z})"))
        }
        _ => return None,
    };
    let is_exact = name == array.name && EXACT.contains(&array.element.as_str());
    let caveat = match matches!(fold.by, FoldedBy::Operator("+" | "*")) && !is_exact {
        true => "; floating-point results may round differently",
        false => "",
    };
    Some(format!(
        "combine distant elements first: `for (int d = {first}; d > 0; d /= 2)`, with `if (threadIdx.x < d) \
         {statement}` and a barrier in each iteration; these accesses then take {} instead of {}{block}{caveat}",
        plural(found.after, "wavefront"),
        found.before,
    ))
}

/// What is found in each way to run the kernel; nothing if it does not hold in one.
fn all_ways<'w>(
    case: &Case<'_>,
    conflict: &Conflict<'_>,
    fold: &Fold,
    ways: &'w [KernelRun],
) -> Option<Vec<(&'w KernelRun, Sequential)>> {
    let name = case.runs[conflict.run].trace.arrays[conflict.access.array].name_span;
    let target = case.targets.get(conflict.target)?;
    let of = |way: &'w KernelRun| {
        let seen = Seen {
            trace: &way.trace,
            judgements: way.judgements.get(conflict.target)?,
            block: way.block,
            target,
        };
        let combined = Combined { target: fold.target, one: fold.one, other: fold.other };
        Some((way, remedy::sequential(seen, name, combined)?))
    };
    let found: Option<Vec<_>> = ways.iter().map(of).collect();
    // Figures of one way speak for all only where each takes as many threads as elements.
    let is_block = |(way, found): &(&KernelRun, Sequential)| found.elements == u64::from(way.block[0]);
    found.filter(|found| found.len() == 1 || found.iter().all(is_block))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
