//! What are the ways of a scenario, each judged by itself?
//!
//! A verdict on a scenario is one that all ways to run it share. Where they differ, there is none; but which of two
//! texts is better can be told by what they cost in each of the ways.

use super::{Subject, Variant};
use crate::ir::TemplateParamKind;
use crate::rules::KernelRun;
use crate::scenario::Scenario;
use crate::source::Span;

impl Subject<'_> {
    /// The variants over which the verdicts on a scenario are taken, the first of which gives the figures; none where
    /// there is one, or where they differ in more than their blocks and the sizes of a single type.
    #[must_use]
    pub fn variants(&self, scenario: &Scenario) -> Vec<Variant> {
        if scenario.alternatives.is_empty() && !self.may_have_open_types(scenario) {
            return Vec::new();
        }
        let mut variants: Vec<Variant> = Vec::new();
        let whole = self.judged(scenario, &mut |variant| {
            variants.extend((!variants.contains(variant)).then(|| variant.clone()));
            self.run(scenario, variant, &[])
        });
        // Where sizes are tried, runs without one only ask which there are.
        if variants.iter().any(|variant| !variant.types.is_empty()) {
            variants.retain(|variant| !variant.types.is_empty());
        }
        let Some(first) = variants.first() else { return Vec::new() };
        let names = |it: &Variant| it.types.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let (own, residues) = (names(first), first.residues.clone());
        let alike = |it: &Variant| names(it) == own && it.residues == residues;
        if whole.judgements.is_empty() || variants.len() < 2 || own.len() > 1 || !variants.iter().all(alike) {
            return Vec::new();
        }
        variants
    }

    /// Whether the size of a type may be open.
    fn may_have_open_types(&self, scenario: &Scenario) -> bool {
        let mut params = self.kernel.template_params.iter().chain(&self.kernel.owner_params);
        let given = &scenario.setting.template_args;
        params.any(|param| matches!(param.kind, TemplateParamKind::Type(_)))
            && (given.is_empty() || given.iter().any(|arg| arg.told() == 0))
    }

    /// A scenario in one of its ways, judged by itself, with some arrays padded.
    #[must_use]
    pub fn alone(&self, scenario: &Scenario, variant: &Variant, pads: &[(Span, u64)]) -> KernelRun {
        let mut alone = scenario.clone();
        alone.setting = super::setting(scenario, variant);
        alone.alternatives = Vec::new();
        self.judged(&alone, &mut |variant| self.run(&alone, variant, pads))
    }

    /// The ways in which a scenario is run, each judged by itself, where its verdicts are those that all shapes of its
    /// block share; none where they differ in anything else.
    #[must_use]
    pub fn ways(&self, scenario: &Scenario) -> Vec<KernelRun> {
        let variants = self.variants(scenario);
        let first = Variant::of(scenario);
        let by_block = |it: &Variant| (&it.residues, &it.types) == (&first.residues, &first.types);
        if !variants.iter().all(by_block) {
            return Vec::new();
        }
        // As `judged` does, it passes over shapes in which the kernel leaves an array.
        let ways = variants.iter().map(|variant| self.alone(scenario, variant, &[]));
        ways.filter(|run| run.block == first.block || !run.trace.leaves_an_array()).collect()
    }
}
