//! What does a kernel as a whole take, by access, and what is there to be drawn of its findings?

use super::super::{Case, KernelRun, stride_dependent_conflict};
use super::cost::Costs;
use super::{Remedy, explain, reported};
use crate::diagnostic::{Conflict as Figures, Cost, Diagnostic};
use crate::events::Access;
use crate::explanation::{Drawn, KernelView, Picture, SiteView};
use crate::source::Span;

/// What there is to be seen of a kernel that has these findings; `None` if it was not run.
pub(crate) fn view(case: &Case<'_>, findings: &[Diagnostic]) -> Option<KernelView> {
    let costs = Costs::of(case);
    let all = (0..case.runs.len()).flat_map(|run| (0..case.targets.len()).map(move |target| (run, target)));
    let costly = all.map(|(run, target)| (total(case, &costs, run, target), run, target));
    // The first of the worst.
    let (cost, run, target) = costly.rev().max_by_key(|(cost, ..)| (cost.extra, cost.kernel))?;
    let (own, hardware) = (&case.runs[run], &case.targets[target]);
    let accesses = own.trace.accesses.iter().enumerate();
    Some(KernelView {
        at: case.kernel,
        name: own.kernel.clone(),
        is_function: false,
        block: own.block,
        block_from: own.block_from,
        target: hardware.to_string(),
        banks: (hardware.banks(), hardware.bank_bytes()),
        cost,
        arrays: own.trace.arrays.clone(),
        sites: accesses.map(|(number, _)| site(own, &costs, (run, target, number))).collect(),
        drawn: Artist { case, arrays: Vec::new() }.draw(findings),
    })
}

/// What a block of a run takes on a target.
fn total(case: &Case<'_>, costs: &Costs<'_>, run: usize, target: usize) -> Cost {
    let kernel = &case.runs[run];
    let none = costs.none(run, target);
    let conflicts = kernel.trace.accesses.iter().zip(&kernel.judgements[target]);
    let conflicts =
        conflicts.filter(|(_, judgement)| reported(judgement).is_some() && !judgement.lanes_by_data);
    conflicts.map(|(access, judgement)| costs.cost(run, target, access, judgement)).fold(none, |sum, it| {
        Cost { extra: sum.extra.saturating_add(it.extra), at_most: sum.at_most || it.at_most, ..sum }
    })
}

fn site(kernel: &KernelRun, costs: &Costs<'_>, (run, target, number): (usize, usize, usize)) -> SiteView {
    let access = &kernel.trace.accesses[number];
    let judgement = &kernel.judgements[target][number];
    let (extra, all) = costs.wavefronts(run, access, judgement);
    let extra = if reported(judgement).is_some() { extra } else { 0 };
    let is_joined = judgement.follows || judgement.page_only;
    SiteView {
        span: access.span,
        op: access.op,
        wavefronts: judgement.totals.map(|_| if is_joined { (0, 0) } else { (all, extra) }),
        reason: judgement.reason.clone(),
        depends: judgement.table.is_some(),
        is_possible: judgement.lanes_by_data,
        is_joined,
    }
}

/// What is drawn of the arrays of a kernel: their remedies are searched once.
struct Artist<'c, 'a> {
    case: &'c Case<'a>,
    arrays: Vec<(Span, Remedy<'a>)>,
}

impl Artist<'_, '_> {
    fn draw(mut self, findings: &[Diagnostic]) -> Vec<Drawn> {
        let mut drawn = Vec::new();
        for finding in findings {
            let pictures = match &finding.conflict {
                Some(figures) => self.conflict(finding, figures),
                None if finding.rule == stride_dependent_conflict::RULE.id => self.table(finding),
                None => continue,
            };
            if !pictures.is_empty() {
                let Diagnostic { rule, primary, message, .. } = finding.clone();
                drawn.push(Drawn { rule, at: primary, message, pictures });
            }
        }
        drawn
    }

    /// Those of a conflict, in the run and on the target of its numbers.
    fn conflict(&mut self, finding: &Diagnostic, figures: &Figures) -> Vec<Picture> {
        let accesses = &self.case.runs[figures.run].trace.accesses;
        let own = |(_, access): &(usize, &Access)| (access.span, access.op) == (finding.primary, figures.op);
        let Some((number, _)) = accesses.iter().enumerate().find(own) else { return Vec::new() };
        self.access(figures.run, number, figures.target)
    }

    /// Those of the first run that depends on a value given at run time.
    fn table(&mut self, finding: &Diagnostic) -> Vec<Picture> {
        for (at, run) in self.case.runs.iter().enumerate() {
            for (target, judgements) in run.judgements.iter().enumerate() {
                let mut accesses = run.trace.accesses.iter().zip(judgements);
                let number =
                    accesses.position(|(it, judged)| it.span == finding.primary && judged.table.is_some());
                if let Some(number) = number {
                    return self.access(at, number, target);
                }
            }
        }
        Vec::new()
    }

    fn access(&mut self, run: usize, number: usize, target: usize) -> Vec<Picture> {
        let kernel = &self.case.runs[run];
        let name = kernel.trace.arrays[kernel.trace.accesses[number].array].name_span;
        let at = self.arrays.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.arrays.push((name, Remedy::search(self.case, name, true)));
            self.arrays.len() - 1
        });
        let remedy = &self.arrays[at].1;
        let padded = remedy.padding.as_ref().and_then(|padding| padding.run(self.case, name, run));
        explain::pictures(self.case, run, number, target, (remedy, padded.as_ref()))
    }
}
