//! Which threads run which cases of a switch?

use super::condition::Truth;
use super::instead::Instead;
use super::interior::Leaving;
use super::join::Join;
use super::machine::{LoopMask, Machine, Mode, State};
use super::value::{Condition, Value};
use crate::domain::{Origin, Reason, ThreadSet, Unknown};
use crate::events::{Is, Side, SplitKind, Taken};
use crate::ir::{Case, Expr};
use crate::source::Span;

/// What is known of a label.
pub(super) struct Entry {
    /// That the value is the label's.
    pub(super) condition: Condition,
    /// For which threads that holds.
    pub(super) truth: Truth,
}

impl Machine<'_> {
    pub(super) fn run_switch(&mut self, value: &Expr, cases: &[Case]) {
        let span = value.span;
        let (value, at_launch) = self.watching_launch(|machine| machine.operand(value));
        let before = self.state.active;
        self.state.loops.push(LoopMask { switch: true, ..LoopMask::default() });
        self.run_cases((&value, at_launch), cases, span, &before);
        if let Some(mask) = self.state.loops.pop() {
            self.state.active = self.state.active.or(&mask.broken);
            // `continue` inside a switch belongs to the loop around it.
            if let Some(outer) = self.state.loops.last_mut() {
                outer.continued = outer.continued.or(&mask.continued);
            }
        }
    }

    /// Runs the cases that threads may enter. With the value comes whether only the launch tells it.
    fn run_cases(
        &mut self,
        (value, at_launch): (&Value, bool),
        cases: &[Case],
        span: Span,
        before: &ThreadSet,
    ) {
        let mut truth_of = |case: &Case| {
            let label = self.evaluate(case.value.as_ref()?);
            let matches = self.binary(crate::ir::BinaryOp::Eq, value, &label, span);
            let condition = self.condition_of(&matches, span);
            let truth = Truth { at_launch, ..self.truth(&condition, Leaving::No) };
            Some(Entry { condition, truth })
        };
        let entries: Vec<Option<Entry>> = cases.iter().map(&mut truth_of).collect();
        if entries.iter().flatten().all(|entry| entry.truth.decided) {
            return self.run_known_cases(cases, &entries, span, before);
        }
        match self.mode {
            Mode::Host => self.host_cases(cases, &entries, span),
            Mode::Device => self.run_unknown_cases(cases, &entries, before, span),
        }
    }

    /// Each case is run once, by the threads that match it and those that fall into it: they meet at its
    /// label. `default`, wherever it stands, takes whoever matches nothing.
    fn run_known_cases(&mut self, cases: &[Case], entries: &[Option<Entry>], span: Span, before: &ThreadSet) {
        let mut waiting = *before;
        let mut entering: Vec<ThreadSet> = Vec::with_capacity(cases.len());
        for entry in entries {
            let matching = entry.as_ref().map_or(ThreadSet::NONE, |entry| entry.truth.can_hold.and(&waiting));
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
            let apart = running != *before || entries.iter().flatten().any(|entry| entry.truth.at_launch);
            self.in_own_branch(apart, |machine| {
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
        entries: &[Option<Entry>],
        before: &ThreadSet,
        span: Span,
    ) {
        self.state.active = *before;
        let start = self.state.clone();
        let mut joined: Option<State> = None;
        let may_hold = |entry: &Entry| !entry.truth.decided || !entry.truth.can_hold.is_empty();
        let labels = entries.iter().enumerate().filter_map(|(at, entry)| Some((at, Some(entry.as_ref()?))));
        let labels = labels.filter(|(_, entry)| entry.is_some_and(may_hold));
        // Who matches nothing goes to `default`, or past the switch.
        let default = cases.iter().position(|case| case.value.is_none()).unwrap_or(cases.len());
        let begun = self.requests.mark();
        let all_agree = entries.iter().flatten().all(|entry| entry.truth.uniform);
        let mut instead = Instead::of(self);
        for (at, entry) in labels.chain([(default, None)]) {
            self.state = start.clone();
            match entry {
                Some(entry) => self.claim(&entry.condition, true),
                None => entries.iter().flatten().for_each(|other| self.claim(&other.condition, false)),
            }
            let truth = entry.map(|entry| &entry.truth);
            let uniform = truth.map_or(all_agree, |truth| truth.uniform);
            let why = Unknown::new(Reason::DataDependentMask, span, "which case of a switch is taken");
            if !uniform {
                self.state.add_doubt(&why);
            }
            let label = cases.get(at).and_then(|case| case.value.as_ref());
            let side = label.map(|label| Side { span, is: Is::Case(label.span) });
            self.enter_passable(truth.map_or(Taken::unknown(), |truth| Taken { side, ..truth.taken(true) }));
            let entered = self.requests.mark();
            self.state.facts.extend(truth.and_then(|truth| truth.equality()));
            instead.run(self, |machine| {
                machine.in_own_branch(true, |machine| {
                    cases[at..].iter().for_each(|case| machine.run(&case.body))
                });
            });
            self.state.facts.truncate(start.facts.len());
            if all_agree {
                self.requests.keep_most([&begun, &entered], &mut self.trace.accesses);
            }
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
                        None,
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
        instead.join(self);
    }
}
