//! Which kernels waste most, and in which order do they come?

use super::Report;
use crate::explanation::KernelView;
use crate::source::{Sources, Span};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::path::PathBuf;

/// The kernels, those first that waste most.
pub(super) struct Kernels<'a> {
    pub(super) sources: &'a Sources,
    /// Each with the number of its conflicts, races and other findings.
    pub(super) all: Vec<(&'a KernelView, Counts)>,
}

/// Its findings.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub conflicts: usize,
    pub races: usize,
    pub others: usize,
}

impl<'a> Kernels<'a> {
    pub(super) fn of(report: &Report<'a>) -> Kernels<'a> {
        let Report { sources, findings, views, .. } = *report;
        let place = |span: Span| (sources.get(span.file).path.clone(), span.start);
        let mut all: FxHashMap<(PathBuf, u32), (&'a KernelView, Counts)> = FxHashMap::default();
        for view in views {
            // A header's kernel may be judged for several files: it is shown where it wastes most.
            let (known, _) = all.entry(place(view.at)).or_insert((view, Counts::default()));
            if known.cost.extra < view.cost.extra {
                *known = view;
            }
        }
        for finding in findings {
            let kernel = finding.kernel_at.and_then(|at| all.get_mut(&place(at)));
            let Some((_, counts)) = kernel else { continue };
            match (&finding.conflict, &finding.hazard) {
                (Some(_), _) => counts.conflicts += 1,
                (_, Some(_)) => counts.races += 1,
                _ => counts.others += 1,
            }
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_cached_key(|(at, (view, counts))| {
            let Counts { races, others, .. } = *counts;
            (Reverse(view.cost.extra), Reverse(races), Reverse(others), Reverse(view.cost.kernel), at.clone())
        });
        Kernels { sources, all: all.into_iter().map(|(_, kernel)| kernel).collect() }
    }

    /// The first of them, and how many are left.
    pub(super) fn first(mut self, most: usize) -> (Kernels<'a>, usize) {
        let left = self.all.len().saturating_sub(most);
        self.all.truncate(most);
        (self, left)
    }

    pub(super) fn views(&self) -> impl Iterator<Item = &'a KernelView> {
        self.all.iter().map(|(view, _)| *view)
    }

    /// The name of the section on the kernel that is defined here.
    pub(super) fn id(&self, defined: Span) -> Option<String> {
        let place = |span: Span| (self.sources.get(span.file).path.clone(), span.start);
        let own = place(defined);
        let at = self.all.iter().position(|(view, _)| place(view.at) == own)?;
        Some(format!("k{}", at + 1))
    }
}

/// `32 × 8`
pub(super) fn block([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} × {y}"),
        _ => format!("{x} × {y} × {z}"),
    }
}
