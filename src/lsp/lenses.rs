//! What does the editor show above each kernel?

use super::Checked;
use super::places::Places;
use crate::analysis::{MetKernel, MetSite};
use crate::output::count;
use crate::rules::standing::Races;
use crate::source::Span;
use ls_types::{CodeLens, Command};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;

/// A lens for each kernel of a file that has shared memory.
pub(super) fn lenses(checked: &Checked, places: &Places<'_>, path: &Path) -> Vec<CodeLens> {
    let mut kernels: BTreeMap<Span, Vec<&MetKernel>> = BTreeMap::new();
    for kernel in &checked.kernels {
        if places.path(kernel.name.file).is_some_and(|other| other == path) {
            kernels.entry(kernel.name).or_default().push(kernel);
        }
    }
    let lens = |(name, met): (Span, Vec<&MetKernel>)| {
        let command = Command { title: title(&met)?, command: String::new(), arguments: None };
        Some(CodeLens { range: places.range(name), command: Some(command), data: None })
    };
    kernels.into_iter().filter_map(lens).collect()
}

/// `3 shared arrays, 4.1 KiB, no conflicts, 12 accesses unknown, races not decided`
fn title(met: &[&MetKernel]) -> Option<String> {
    let mut arrays: FxHashMap<Span, Option<u64>> = FxHashMap::default();
    for array in met.iter().flat_map(|kernel| &kernel.arrays) {
        let bytes = arrays.entry(array.name).or_insert(array.bytes);
        *bytes = bytes.zip(array.bytes).map(|(one, other)| one.max(other));
    }
    if arrays.is_empty() {
        return None;
    }
    let mut sites: FxHashMap<_, MetSite> = FxHashMap::default();
    for site in met.iter().flat_map(|kernel| &kernel.sites) {
        sites.entry((site.span, site.op)).or_insert(*site).join(site);
    }
    let conflicts = sites.values().filter(|site| site.conflicts()).count();
    let unknown = sites.values().filter(|site| site.unknown).count();
    let mut parts = vec![count(arrays.len(), "shared array")];
    let known: u64 = arrays.values().flatten().sum();
    let open = arrays.values().any(Option::is_none);
    match (known, open) {
        (0, true) => {}
        (known, true) => parts.push(format!("{} and more", size(known))),
        (known, false) => parts.push(size(known)),
    }
    let known = sites.len() - unknown;
    parts.push(match (conflicts, known) {
        (0, 0) => "no access known".to_owned(),
        (0, _) => "no conflicts".to_owned(),
        (conflicts, _) => format!("{} with conflicts", count(conflicts, "access")),
    });
    if unknown > 0 && (conflicts, known) != (0, 0) {
        parts.push(format!("{} unknown", count(unknown, "access")));
    }
    let races = met.iter().filter_map(|kernel| kernel.races).reduce(Races::join);
    parts.extend(races.map(|races| {
        let words = match races {
            Races::Proved => "proved race-free",
            Races::Found => "races",
            Races::Undecided => "races not decided",
        };
        words.to_owned()
    }));
    Some(parts.join(", "))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{:.1} KiB", bytes as f64 / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{MetArray, MetWays};
    use crate::events::AccessOp;
    use crate::source::FileId;

    fn span(at: u32) -> Span {
        Span { file: FileId(0), start: at, end: at + 1, nth: 0 }
    }

    fn kernel(arrays: &[(u32, Option<u64>)], sites: &[(u32, bool, bool)], races: Option<Races>) -> MetKernel {
        MetKernel {
            races,
            name: span(0),
            launches: Vec::new(),
            whole: span(0),
            directive: None,
            assumed: None,
            arrays: arrays.iter().map(|&(at, bytes)| MetArray { name: span(at), bytes }).collect(),
            sites: sites
                .iter()
                .map(|&(at, conflicts, unknown)| MetSite {
                    span: span(at),
                    op: AccessOp::Load,
                    ways: Some(MetWays { least: 1, most: if conflicts { 2 } else { 1 } }),
                    unknown,
                })
                .collect(),
        }
    }

    #[test]
    fn a_kernel_is_summed_up_over_its_runs() {
        let one = kernel(&[(1, Some(4096)), (2, Some(100))], &[(5, false, false), (6, false, true)], None);
        assert_eq!(
            title(&[&one]).as_deref(),
            Some("2 shared arrays, 4.1 KiB, no conflicts, 1 access unknown")
        );
        let other = kernel(&[(1, Some(2048))], &[(5, true, false)], Some(Races::Proved));
        assert_eq!(
            title(&[&one, &other]).as_deref(),
            Some("2 shared arrays, 4.1 KiB, 1 access with conflicts, 1 access unknown, proved race-free")
        );
        let open = kernel(&[(1, None)], &[(5, false, true)], Some(Races::Undecided));
        assert_eq!(title(&[&open]).as_deref(), Some("1 shared array, no access known, races not decided"));
        assert_eq!(title(&[&kernel(&[], &[], None)]), None);
    }

    #[test]
    fn a_kernel_is_free_of_races_only_if_all_its_runs_are() {
        let title_of = |all: &[Races]| {
            let met: Vec<MetKernel> =
                all.iter().map(|races| kernel(&[(1, Some(4))], &[(5, false, false)], Some(*races))).collect();
            title(&met.iter().collect::<Vec<_>>()).unwrap()
        };
        let (proved, found, open) = (Races::Proved, Races::Found, Races::Undecided);
        for (all, words) in [
            (&[proved, proved][..], "proved race-free"),
            (&[proved, open], "races not decided"),
            (&[open, found, proved], "races"),
        ] {
            assert_eq!(title_of(all), format!("1 shared array, 4 bytes, no conflicts, {words}"));
        }
    }
}
