//! What is to be told and drawn of one access, whether or not it conflicts?

use super::super::{Case, KernelRun, access_words, plural, stride_dependent_conflict, unresolved_access};
use super::{Conflict, Padding, Remedy, describe, reported, words};
use crate::codegen::Merges;
use crate::diagnostic::{Diagnostic, Level};
use crate::events::{Access, Trace};
use crate::explanation::{Explanation, Panel, Picture};
use crate::verdict::{
    Example, Judgement, Sought, Status, StrideTable, TableRow, TableSymbol, Totals, example,
};
use std::ops::Range;

/// Explains an access of a run, by its number.
pub(crate) fn explain(case: &Case<'_>, run: usize, number: usize) -> Explanation {
    let kernel = &case.runs[run];
    let access = &kernel.trace.accesses[number];
    let name = kernel.trace.arrays[access.array].name_span;
    let remedy = match conflicts(kernel, access.array) {
        true => Remedy::search(case, name, true),
        false => Remedy {
            padding: None,
            fixed: None,
            found: None,
            is_written: false,
            views: Vec::new(),
            fix: None,
        },
    };
    let padded = remedy.padding.as_ref().and_then(|it| it.run(case, name, run));
    let site = Site { case, run, number, remedy: &remedy, padded: padded.as_ref() };
    let mut pictures = site.pictures(0..case.targets.len());
    pictures.extend(site.layouts());
    Explanation { words: site.words(), pictures, run: case.run_words(run) }
}

/// The pictures of an access on one target. `remedy`: that of its array; `padded`: the run with longer rows.
pub(super) fn pictures(
    case: &Case<'_>,
    run: usize,
    number: usize,
    target: usize,
    (remedy, padded): (&Remedy<'_>, Option<&KernelRun>),
) -> Vec<Picture> {
    let site = Site { case, run, number, remedy, padded };
    site.pictures(target..target + 1).into_iter().chain(site.layouts()).collect()
}

/// Whether some access of an array conflicts.
fn conflicts(kernel: &KernelRun, array: usize) -> bool {
    kernel.judgements.iter().any(|judgements| {
        let of_array = kernel.trace.accesses.iter().zip(judgements).filter(|(it, _)| it.array == array);
        of_array.filter_map(|(_, judgement)| reported(judgement)).next().is_some()
    })
}

/// One access in one run.
struct Site<'a> {
    case: &'a Case<'a>,
    run: usize,
    number: usize,
    remedy: &'a Remedy<'a>,
    /// The run with longer rows.
    padded: Option<&'a KernelRun>,
}

impl Site<'_> {
    /// The layouts that were tried, or why none was.
    fn layouts(&self) -> Option<Picture> {
        let rows = self.remedy.table(self.case, (self.run, self.number));
        let bound = self.remedy.bound(self.case, (self.run, self.number))?;
        let name = &self.kernel().trace.arrays[self.access().array].name;
        let title = format!("layouts of `{name}`; {bound}");
        (rows.len() > 1).then_some(Picture::Layouts { title, rows })
    }

    fn kernel(&self) -> &KernelRun {
        &self.case.runs[self.run]
    }

    fn padding(&self) -> Option<&Padding> {
        self.remedy.padding.as_ref()
    }

    fn access(&self) -> &Access {
        &self.kernel().trace.accesses[self.number]
    }

    fn judgement(&self, target: usize) -> &Judgement {
        &self.kernel().judgements[target][self.number]
    }

    fn conflict(&self, target: usize) -> Option<Conflict<'_>> {
        let judgement = self.judgement(target);
        let (totals, extra) = (judgement.totals?, judgement.extra.as_slice());
        let lanes_by_data = judgement.lanes_by_data;
        Some(Conflict { run: self.run, target, access: self.access(), totals, extra, lanes_by_data })
    }

    /// The words of the finding for the first target that has one, or that there is none.
    fn words(&self) -> Diagnostic {
        let targets = 0..self.case.targets.len();
        let found = |target: &usize| reported(self.judgement(*target)).is_some();
        let target = targets.clone().find(found).unwrap_or(0);
        let (case, judgement) = (self.case, self.judgement(target));
        let mut words = match (self.conflict(target), &judgement.table) {
            (Some(conflict), _) if found(&target) => {
                let mut words = describe(case, &conflict, self.remedy);
                // Every run is told of by itself.
                let others = words::other_runs(case, &conflict);
                words.notes.retain(|note| Some(note) != others.as_ref());
                words
            }
            (Some(conflict), _) => self.no_finding(&conflict),
            (None, Some(table)) => {
                stride_dependent_conflict::describe(case, self.run, target, self.access(), table)
            }
            (None, None) => unresolved_access::describe(case, self.run, self.access(), judgement),
        };
        words.notes.insert(0, format!("in kernel `{}`", self.kernel().kernel));
        words.notes.extend(self.remedy.undecided(case));
        words.notes.extend(self.remedy.unwritten(case));
        if judgement.status == Status::Exact {
            words.notes.push("the verdict needs no assumption".to_owned());
        }
        // A finding says itself how other targets differ.
        if !found(&target) {
            let others = targets.filter(|&other| self.summary(other) != self.summary(target));
            words.notes.extend(others.map(|it| format!("on {}: {}", case.targets[it], self.summary(it))));
        }
        words
    }

    /// What is said of an access that is known and no finding.
    fn no_finding(&self, conflict: &Conflict<'_>) -> Diagnostic {
        let (case, access, totals) = (self.case, conflict.access, conflict.totals);
        let array = &self.kernel().trace.arrays[access.array];
        let judgement = self.judgement(conflict.target);
        let this = format!("this {} `{}`", access_words(access.op).0, array.name);
        let wavefronts = plural(totals.worst.wavefronts.into(), "wavefront");
        let message = match totals.worst {
            _ if totals.requests == 0 => format!("no request: the compiler needs none for {this}"),
            _ if judgement.follows => {
                format!(
                    "no finding here: the compiler combines {this} with a neighbour, which stands for both"
                )
            }
            worst if totals.wavefronts > totals.usual => {
                format!(
                    "no finding: {this} takes {wavefronts} instead of {}, but not because of banks",
                    worst.ideal
                )
            }
            _ => format!("no bank conflict: {this} takes {wavefronts}, the fewest it can"),
        };
        let mut notes = vec![case.block_words(self.run)];
        notes.extend((totals.requests > 0).then(|| words::counts(case, conflict)).flatten());
        notes.extend(words::calls(case, conflict));
        notes.extend(case.assumption_words(self.run, conflict.target, access));
        if judgement.page_only {
            let text = "only Nsight Compute's source page counts these wavefronts; run time does not depend \
                        on them";
            notes.push(text.to_owned());
        }
        let rows = words::rows(array, &case.targets[conflict.target], conflict);
        Diagnostic {
            labels: vec![(words::declarator(case, array), rows)],
            notes,
            helps: self.padding().map(|padding| padding.help.clone()).into_iter().collect(),
            kernel: self.kernel().kernel.clone(),
            ..Diagnostic::plain("", Level::Note, access.span, message)
        }
    }

    /// A target's verdict in a few words.
    fn summary(&self, target: usize) -> String {
        let judgement = self.judgement(target);
        match (judgement.totals, &judgement.reason) {
            (Some(Totals { worst, .. }), _) if reported(judgement).is_some() => {
                format!("{} instead of {}", plural(worst.wavefronts.into(), "wavefront"), worst.ideal)
            }
            (Some(_), _) => "no conflict".to_owned(),
            (None, Some(reason)) if judgement.status == Status::Depends => reason.clone(),
            (None, reason) => format!("not known: {}", reason.as_deref().unwrap_or_default()),
        }
    }

    /// A picture for each of these targets; for those that look alike, one.
    fn pictures(&self, targets: Range<usize>) -> Vec<Picture> {
        let merges = Merges::of(&self.kernel().trace);
        let mut groups: Vec<(Vec<Panel>, Vec<String>)> = Vec::new();
        for (target, name) in self.case.targets.iter().enumerate().filter(|(at, _)| targets.contains(at)) {
            let panels = self.panels(&merges, target);
            match groups.iter_mut().find(|(known, _)| *known == panels) {
                Some((_, names)) => names.push(name.to_string()),
                None => groups.push((panels, vec![name.to_string()])),
            }
        }
        let drawn = groups.into_iter().filter(|(panels, _)| !panels.is_empty());
        drawn
            .map(|(panels, names)| {
                let warp = panels.first().map_or(0, |panel| panel.example.warp);
                let title = format!("warp {warp} on {}", super::super::listed(&names));
                Picture::Requests { title, panels }
            })
            .collect()
    }

    fn panels(&self, merges: &Merges, target: usize) -> Vec<Panel> {
        let (trace, judgement) = (&self.kernel().trace, self.judgement(target));
        let seek =
            |sought: Sought<'_>| example(trace, merges, self.number, &self.case.targets[target], sought);
        if let Some(table) = &judgement.table {
            let rows = [worst_row(table), table.rows.iter().find(|row| row.is_free())];
            let panel = |row: &TableRow| {
                let example = seek(Sought::Row(table, row))?;
                Some(Panel { caption: values(table, row), example })
            };
            return rows.into_iter().flatten().filter_map(panel).collect();
        }
        let Some(totals) = &judgement.totals else { return Vec::new() };
        // What is not for the banks of shared memory has no picture of them.
        if judgement.page_only || totals.wavefronts > totals.usual && totals.worst.ways <= 1 {
            return Vec::new();
        }
        let Some(example) = seek(Sought::Worst(totals)) else { return Vec::new() };
        let hardware = &self.case.targets[target];
        let laid_out = self.remedy.laid_out(self.case, (self.run, self.number), &example, hardware);
        let longer = || {
            let (padding, example) = self.padding().zip(self.after(target, &example))?;
            Some((format!("rows {} longer", plural(padding.extra, "element")), example))
        };
        let second = laid_out.or_else(longer).map(|(caption, example)| Panel { caption, example });
        let first = Panel { caption: "as written".to_owned(), example };
        std::iter::once(first).chain(second).collect()
    }

    /// The same lanes with the padding.
    fn after(&self, target: usize, before: &Example) -> Option<Example> {
        let trace: &Trace = &self.padded?.trace;
        let own = self.access();
        let number = trace.accesses.iter().position(|it| (it.span, it.op) == (own.span, own.op))?;
        let sought = Sought::Lanes(before.warp, before.active);
        example(trace, &Merges::of(trace), number, &self.case.targets[target], sought)
    }
}

fn worst_row(table: &StrideTable) -> Option<&TableRow> {
    // The first of the worst.
    table.rows.iter().rev().max_by_key(|row| row.wavefronts.saturating_sub(row.ideal))
}

/// `ld` modulo 32 is 0
fn values(table: &StrideTable, row: &TableRow) -> String {
    let one = |(symbol, value): (&TableSymbol, &i64)| match symbol.modulus {
        Some(modulus) => format!("`{}` modulo {modulus} is {value}", symbol.name),
        None => format!("`{}` is {value}", symbol.name),
    };
    table.symbols.iter().zip(&row.values).map(one).collect::<Vec<_>>().join(", ")
}
