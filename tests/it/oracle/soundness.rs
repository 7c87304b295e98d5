//! Does a kernel do what no program should, so that nothing follows from what is said of it?
//!
//! Kernels of `fixtures/oracle` are meant to be right: they stay inside their arrays, do not overflow, read
//! only what was written, and do not race. A kernel whose name ends with `_racy` may race: old code that
//! relies on lanes in step.

use super::escapes::{escapes, wrong_subscripts};
use super::execution::{Launch, SiteId, Step};
use super::races::races;
use super::unwritten::unwritten;
use std::collections::BTreeSet;

/// What is wrong with a launch, a line each.
pub fn complaints(launch: &Launch) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut complain = |site: SiteId, what: String| {
        found.insert(format!("{}: {}: {what}", launch.place(site).line, launch.kernel));
    };
    for step in launch.warps.iter().flatten() {
        if let Step::Undefined { site } = step {
            complain(*site, "arithmetic that is not defined".to_owned());
        }
    }
    let name = |variable: usize| &launch.variables[variable].name;
    for it in escapes(launch) {
        let what = format!("thread {} leaves `{}`: byte {}", it.thread, name(it.variable), it.highest);
        complain(it.site, what);
    }
    for it in wrong_subscripts(launch) {
        complain(it.site, format!("subscript {} to {} of `{}`", it.lowest, it.highest, it.array));
    }
    for it in unwritten(launch).iter().filter(|it| !it.is_race) {
        let what =
            format!("thread {} reads byte {} of `{}` unwritten", it.thread, it.offset, name(it.variable));
        complain(it.site, what);
    }
    if !launch.kernel.split('<').next().is_some_and(|name| name.ends_with("_racy")) {
        for it in races(launch) {
            let (line, other) = (launch.place(it.first.site).line, it.second.site);
            let what = format!("races with line {line} in byte {} of `{}`", it.offset, name(it.variable));
            complain(other, format!("{what} ({:?})", it.between));
        }
    }
    if launch.given_up {
        found.insert(format!("{}: took too long", launch.kernel));
    }
    found.into_iter().collect()
}
