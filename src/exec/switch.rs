//! Which threads run which cases of a switch?

use super::condition::Truth;
use super::join::Join;
use super::machine::{LoopMask, Machine, State};
use super::value::Value;
use crate::domain::{Origin, Reason, ThreadSet, Unknown};
use crate::events::{Blocks, SplitKind};
use crate::ir::{Case, Expr};
use crate::source::Span;

impl Machine<'_> {
    pub(super) fn run_switch(&mut self, value: &Expr, cases: &[Case]) {
        let span = value.span;
        let value = self.evaluate(value);
        let before = self.state.active;
        self.state.loops.push(LoopMask { switch: true, ..LoopMask::default() });
        self.run_cases(&value, cases, span, &before);
        if let Some(mask) = self.state.loops.pop() {
            self.state.active = self.state.active.or(&mask.broken);
            // `continue` inside a switch belongs to the loop around it.
            if let Some(outer) = self.state.loops.last_mut() {
                outer.continued = outer.continued.or(&mask.continued);
            }
        }
    }

    /// Runs the cases that threads may enter.
    fn run_cases(&mut self, value: &Value, cases: &[Case], span: Span, before: &ThreadSet) {
        let mut truth_of = |case: &Case| {
            let label = self.evaluate(case.value.as_ref()?);
            let matches = self.binary(crate::ir::BinaryOp::Eq, value, &label, span);
            let condition = self.condition_of(&matches, span);
            Some(self.truth(&condition, false))
        };
        let truths: Vec<Option<Truth>> = cases.iter().map(&mut truth_of).collect();
        if truths.iter().flatten().all(|truth| truth.decided) {
            return self.run_known_cases(cases, &truths, span, before);
        }
        let may_hold = |truth: &Truth| !truth.decided || !truth.can_hold.is_empty();
        let entries = truths.into_iter().enumerate().filter_map(|(at, truth)| Some((at, truth?)));
        self.run_unknown_cases(cases, entries.filter(|(_, truth)| may_hold(truth)).collect(), before, span);
    }

    /// Each case is run once, by the threads that match it and those that fall into it: they meet at its
    /// label. `default`, wherever it stands, takes whoever matches nothing.
    fn run_known_cases(&mut self, cases: &[Case], truths: &[Option<Truth>], span: Span, before: &ThreadSet) {
        let mut waiting = *before;
        let mut entering: Vec<ThreadSet> = Vec::with_capacity(cases.len());
        for truth in truths {
            let matching = truth.as_ref().map_or(ThreadSet::NONE, |truth| truth.can_hold.and(&waiting));
            waiting = waiting.minus(&matching);
            entering.push(matching);
        }
        if let Some(default) = cases.iter().position(|case| case.value.is_none()) {
            entering[default] = std::mem::replace(&mut waiting, ThreadSet::NONE);
        }
        self.around.next_split += 1;
        let id = self.around.next_split;
        let mut inside = ThreadSet::NONE;
        for (at, (case, entering)) in cases.iter().zip(entering).enumerate() {
            self.state.active = *before;
            let running = inside.or(&entering);
            let known = |_: &ThreadSet| SplitKind::Known;
            self.in_branch(running != *before, |machine| {
                machine.run_side(id, span, at == 0, running, known, &mut |this, _| this.run(&case.body));
            });
            inside = self.state.active;
        }
        self.state.active = inside.or(&waiting);
    }

    /// Not known which case: each is run from a copy and joined.
    fn run_unknown_cases(
        &mut self,
        cases: &[Case],
        unknown: Vec<(usize, Truth)>,
        before: &ThreadSet,
        span: Span,
    ) {
        self.state.active = *before;
        let start = self.state.clone();
        let mut joined: Option<State> = None;
        let entries = unknown
            .into_iter()
            .map(|(at, truth)| (at, Some(truth)))
            .chain(cases.iter().position(|case| case.value.is_none()).map(|at| (at, None)));
        for (at, truth) in entries {
            self.state = start.clone();
            let uniform = truth.as_ref().is_none_or(|t| t.uniform);
            let why = Unknown::new(Reason::DataDependentMask, span, "which case of a switch is taken");
            if !uniform {
                self.state.add_doubt(&why);
            }
            let blocks = truth.as_ref().map_or(Blocks::NONE, |truth| truth.blocks[0]);
            self.enter_passable(blocks);
            self.state.facts.extend(truth.and_then(|t| t.equality));
            self.in_branch(true, |machine| cases[at..].iter().for_each(|case| machine.run(&case.body)));
            self.state.facts.truncate(start.facts.len());
            if let Some(mask) = self.state.loops.last_mut() {
                self.state.active = self.state.active.or(&mask.broken);
                mask.broken = ThreadSet::NONE;
            }
            if !uniform && self.state.active != *before {
                self.note_maybe_left(&start, &why);
            }
            if let Some(held) = joined.take() {
                let how = if uniform {
                    let name = "the case of a switch";
                    Join::Uniform(
                        self.world.symbols.fresh(name.into(), Origin::Choice, Some(0), Some(1)),
                        why,
                    )
                } else {
                    Join::Varying(why)
                };
                self.join(held, how);
            }
            joined = Some(std::mem::replace(&mut self.state, start.clone()));
        }
        if let Some(state) = joined {
            self.state = state;
        }
    }
}
