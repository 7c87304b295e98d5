//! What is found in each kernel of a file, and in each function that no kernel leads to?

use super::kept::Judged;
use super::links::{Links, Work};
use super::padded::Padded;
use super::runs::Subject;
use super::texts::Texts;
use super::{FileReport, Loaded, MetKernel, Run, Wanted};
use crate::banks::{BankSize, Target};
use crate::events::{Assumption, Barrier, LaunchSite};
use crate::exec::budget::FileBudget;
use crate::exec::entry::constant_in_kernel;
use crate::explanation::KernelView;
use crate::ir::program::Program;
use crate::ir::{Function, FunctionKind};
use crate::rules::{self, Case, KernelRun};
use crate::scenario::{self, Probes};
use crate::shape::BlockOption;
use crate::verdict::{SiteVerdict, Status};
use std::sync::Arc;

impl Run {
    /// Runs the kernels to be judged for a file.
    pub(super) fn judge(&self, loaded: &Loaded, links: &Links, wanted: Wanted<'_>) -> FileReport {
        let work = loaded.file().map_or(&[][..], |file| links.work(file));
        let budget = FileBudget::default();
        let mut report = FileReport::default();
        for Work { kernel, launches, left_out } in work {
            let judged = Judged {
                program: Arc::clone(&loaded.program),
                kernel: Arc::clone(kernel),
                launches: launches.clone(),
                left_out: *left_out,
                hosts: links.hosts(&kernel.name).to_vec(),
                alone: false,
                follow: wanted.follow(),
            };
            report.add(self.part(loaded, judged, &budget, wanted));
        }
        report
    }

    /// Runs these functions as if they were kernels.
    pub(super) fn judge_unreached(
        &self,
        loaded: &Loaded,
        functions: &[&Arc<Function>],
        wanted: Wanted<'_>,
    ) -> FileReport {
        let budget = FileBudget::default();
        let mut report = FileReport::default();
        for &function in functions {
            let judged = Judged {
                program: Arc::clone(&loaded.program),
                kernel: Arc::clone(function),
                launches: Vec::new(),
                left_out: 0,
                hosts: Vec::new(),
                alone: true,
                follow: wanted.follow(),
            };
            report.add(self.part(loaded, judged, &budget, wanted));
        }
        report
    }

    /// What is found in a kernel, or was before and still holds.
    fn part(&self, loaded: &Loaded, judged: Judged, budget: &FileBudget, wanted: Wanted<'_>) -> FileReport {
        let of = judged.clone();
        let make = |program: &Program, texts: &Texts<'_>| {
            self.judge_kernel(loaded, &of, program, texts, budget, wanted)
        };
        match wanted {
            Wanted::Findings | Wanted::Editor => {
                let file = loaded.file().unwrap_or(judged.kernel.span.file);
                let path = &self.sources().get(file).path;
                self.memory.part(path, judged, self.sources(), budget, make)
            }
            _ => make(&judged.program, &Texts::new(self.sources(), &judged.program, false)),
        }
    }

    fn judge_kernel(
        &self,
        loaded: &Loaded,
        Judged { kernel, launches, left_out, hosts, alone, follow, .. }: &Judged,
        program: &Program,
        texts: &Texts<'_>,
        budget: &FileBudget,
        wanted: Wanted<'_>,
    ) -> FileReport {
        let mut probes = Probes::new(budget);
        let blocks = self.blocks_of(loaded, kernel);
        let mut scenarios = scenario::scenarios(program, kernel, launches, blocks, &mut probes);
        scenarios.extend(scenario::rest(&scenarios, *left_out));
        let subject = Subject {
            program,
            kernel,
            scenarios: &scenarios,
            launches,
            targets: &self.targets_of(loaded),
            hosts,
            budget,
            follow: *follow,
            asks: self.asks_of(loaded),
            is_cut: &|| is_cut(texts, kernel),
        };
        let runs = subject.run_all(probes);
        let mut report = FileReport::default();
        for barrier in runs.iter().flat_map(|run| &run.trace.barriers) {
            if is_in_doubt(barrier) && !report.in_doubt.contains(&barrier.span) {
                report.in_doubt.push(barrier.span);
            }
        }
        if !alone {
            report.entered.extend(runs.iter().flat_map(|run| &run.trace.entered));
            report.kernels.push(MetKernel::of(kernel, launches, &runs));
        }
        self.report(&subject, runs, texts, wanted, &mut report);
        report
    }

    fn targets_of(&self, loaded: &Loaded) -> Vec<Target> {
        let settings = &self.settings[loaded.settings];
        let own = loaded.program.modules.first();
        let eight = settings.eight_byte_banks || own.is_some_and(|module| module.eight_byte_banks);
        let bank_size = if eight { BankSize::Eight } else { BankSize::Four };
        settings.targets.iter().map(|target| Target { bank_size, ..*target }).collect()
    }

    /// The block shapes given for the file that a function stands in.
    fn blocks_of(&self, loaded: &Loaded, function: &Function) -> &[BlockOption] {
        let path = self.headers.sources().get(function.name_span.file).path.clone();
        let settings =
            if self.headers.is_given_path(&path) { self.settings_of(&path) } else { loaded.settings };
        &self.settings[settings].blocks
    }

    fn report(
        &self,
        subject: &Subject<'_>,
        runs: Vec<KernelRun>,
        texts: &Texts<'_>,
        wanted: Wanted<'_>,
        report: &mut FileReport,
    ) {
        let targets = subject.targets;
        for run in &runs {
            verdicts(run, targets, &mut report.verdicts);
        }
        if matches!(wanted, Wanted::Runs | Wanted::Races) {
            let name = subject.kernel.name_span;
            report.runs.extend(runs.into_iter().map(|run| (name, Arc::new(run))));
            return;
        }
        if wanted == Wanted::Verdicts {
            return;
        }
        let runs = runs.as_slice();
        let padder = Padded::new(*subject, runs);
        let bound = |launch: &LaunchSite| {
            let bound = subject.kernel.launch_bounds.first()?;
            let args = launch.template_args.as_deref().unwrap_or_default();
            let most = constant_in_kernel(subject.program, subject.kernel, args, bound)?;
            Some((u64::try_from(most).ok()?, bound.span))
        };
        let case = Case {
            kernel: subject.kernel.name_span,
            runs,
            launches: subject.launches,
            bound: &bound,
            targets,
            padder: &padder,
            text: &|span| texts.text(span),
            constant: &|span| texts.constant(span),
            place: &|span| texts.place(span),
            line: &|span| texts.line(span),
            between: &|places, across, statement| texts.between(places, across, statement),
            removal: &|span| texts.removal(span),
            says: &|span, words| texts.says(span, words),
            is_hip: &|span| texts.is_hip(span),
            calls: &|span, name| texts.calls(span, name),
            shape_asked: &|array, known| texts.shape_asked(array, known),
            stray_use: &|uses| texts.stray_use(uses),
            also_used: &|array| texts.also_used(array, subject.kernel.name_span),
        };
        let check = |report: &mut FileReport| {
            let found = rules::check(&case).into_iter();
            let (undecided, findings): (Vec<_>, Vec<_>) =
                found.partition(|it| subject.program.is_undecided(it.primary));
            report.undecided.extend(undecided);
            findings
        };
        match wanted {
            Wanted::Findings | Wanted::Editor => {
                let findings = check(report);
                report.diagnostics.extend(findings);
            }
            Wanted::Views => {
                let findings = check(report);
                let is_function = subject.kernel.kind != FunctionKind::Kernel;
                report.views.extend(rules::view(&case, &findings).map(|it| KernelView { is_function, ..it }));
                report.diagnostics.extend(findings);
            }
            Wanted::Place(place) => {
                let sources = self.sources();
                report.explanations.extend(rules::explain(&case, &|span| place.is_in(sources, span)));
            }
            Wanted::Verdicts | Wanted::Program | Wanted::Runs | Wanted::Races => {}
        }
    }
}

/// Whether data, or what is not known, may keep threads of the block from a barrier.
fn is_in_doubt(barrier: &Barrier) -> bool {
    barrier.doubt.is_some() || barrier.splits.iter().any(|split| split.kind.is_data())
}

/// Whether the preprocessor takes parts out of a kernel's text, which other builds may hold.
fn is_cut(texts: &Texts<'_>, kernel: &Function) -> bool {
    let text = texts.text(kernel.span);
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix('#'))
        .any(|it| it.trim_start().starts_with("if"))
}

impl FileReport {
    /// Takes in what was found in a kernel.
    pub(super) fn add(&mut self, part: FileReport) {
        self.diagnostics.extend(part.diagnostics);
        self.undecided.extend(part.undecided);
        self.verdicts.extend(part.verdicts);
        self.views.extend(part.views);
        self.explanations.extend(part.explanations);
        self.kernels.extend(part.kernels);
        self.entered.extend(part.entered);
        self.in_doubt.extend(part.in_doubt);
        self.runs.extend(part.runs);
    }
}

fn verdicts(run: &KernelRun, targets: &[Target], out: &mut Vec<SiteVerdict>) {
    for (target, judgements) in targets.iter().zip(&run.judgements) {
        for (access, judgement) in run.trace.accesses.iter().zip(judgements) {
            let mut assumptions: Vec<Assumption> = Vec::new();
            if matches!(judgement.status, Status::Assumed | Status::Depends) {
                for assumed in access.assumptions.iter().chain(&judgement.assumptions) {
                    if !assumptions.iter().any(|known| known.reads_like(assumed)) {
                        assumptions.push(assumed.clone());
                    }
                }
            }
            let totals = judgement.totals;
            out.push(SiteVerdict {
                span: access.span,
                kernel: run.kernel.clone(),
                array: run.trace.arrays[access.array].name.clone(),
                op: access.op,
                bytes: access.bytes,
                block: run.block,
                block_from: run.block_from,
                target: target.to_string(),
                status: judgement.status,
                assumptions,
                reason: judgement.reason.clone(),
                kind: judgement.kind,
                requests: totals.map(|t| t.split),
                wavefronts: totals.map(|t| t.wavefronts),
                ideal: totals.map(|t| t.ideal),
                usual: totals.map(|t| t.usual),
                worst: totals.map(|t| t.worst.wavefronts),
                worst_ideal: totals.map(|t| t.worst.ideal),
                uncounted_loops: if totals.is_some() { access.uncounted_loops() } else { Vec::new() },
                rounds: totals.map_or(1, |totals| access.rounds_judged(totals.requests)),
                table: judgement.table.clone(),
            });
        }
    }
}
