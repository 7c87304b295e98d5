//! Does what an earlier run found in a kernel still hold?
//!
//! It does if all that the run came by is as it was, but for where it stands in the text:
//!
//! | it came by | and it is as it was if |
//! |---|---|
//! | the kernel, types, constants, heads of functions | they are the same, places aside |
//! | functions' bodies | none that changed was ever looked up by name |
//! | its launches, what they tell | they are the same, places aside |
//! | the host code around launches | it was not asked for, or no changed function names the kernel |
//! | the text itself: words, named constants | the same questions have the same answers |
//! | lines that its words name | they are as many as before |
//! | the steps that all kernels of the file share | they lasted for it, and do so now |
//!
//! Then the report on it is that of before with its places moved, and with lines named as they are numbered now.

use super::super::FileReport;
use super::super::links::Modules;
use super::super::pitch::names;
use super::super::runs::Follow;
use super::super::texts::{Asked, Named, Notes, Texts};
use super::are_same;
use super::difference::{Difference, Differences};
use super::pieces::{Piece, Pieces};
use crate::events::LaunchSite;
use crate::exec::budget::{FileBudget, Spent};
use crate::ir::Function;
use crate::ir::program::{Program, Sought};
use crate::source::Sources;
use std::sync::Arc;

/// A kernel to be judged, and all that its report is made from.
#[derive(Clone, Debug)]
pub(in super::super) struct Judged {
    /// The program that it is part of.
    pub program: Arc<Program>,
    /// The kernel.
    pub kernel: Arc<Function>,
    /// What launches it.
    pub launches: Vec<LaunchSite>,
    /// In how many more contexts it should be judged, and is not.
    pub left_out: usize,
    /// The programs with launches of a kernel of that name.
    pub hosts: Vec<Modules>,
    /// Whether it is a function that no kernel entered.
    pub alone: bool,
    /// What becomes of the event trees of its runs.
    pub follow: Follow,
}

/// What was found in a kernel, and what that rests on.
#[derive(Clone, Debug)]
pub(super) struct Part {
    of: Judged,
    /// What was looked up in its program.
    sought: Arc<Sought>,
    /// What was asked of the text.
    asked: Vec<Asked>,
    /// What its runs took of what the file's kernels share.
    spent: Spent,
    /// The places that its words name.
    named: Named,
    /// The report, with marks for their names.
    report: FileReport,
}

impl Judged {
    /// Whether this kernel may be that of an earlier run.
    fn may_be(&self, earlier: &Judged) -> bool {
        self.alone == earlier.alone
            && self.follow == earlier.follow
            && self.kernel.name == earlier.kernel.name
            && self.left_out == earlier.left_out
            && self.launches.len() == earlier.launches.len()
            && self.hosts.len() == earlier.hosts.len()
    }

    /// Whether nothing at all has changed.
    fn is(&self, earlier: &Judged) -> bool {
        Arc::ptr_eq(&self.program, &earlier.program)
            && Arc::ptr_eq(&self.kernel, &earlier.kernel)
            && self.launches == earlier.launches
            && self.hosts.iter().zip(&earlier.hosts).all(|(now, before)| are_same(now, before))
    }

    /// What differs in its program, and in those that launch it.
    fn difference(
        &self,
        earlier: &Judged,
        differences: &Differences,
        sources: &Sources,
    ) -> Option<Difference> {
        let programs = (&*earlier.program.modules, &*self.program.modules);
        let hosts = earlier.hosts.iter().zip(&self.hosts).map(|(before, now)| (&**before, &**now));
        let mut all = Difference::default();
        for (before, now) in std::iter::once(programs).chain(hosts) {
            let one = differences.between(before, now, sources)?;
            all.moves.add(&one.moves);
            all.functions.extend(one.functions);
        }
        Some(all)
    }
}

impl Part {
    pub(super) fn new(
        of: Judged,
        sought: Arc<Sought>,
        Notes { asked, named }: Notes,
        spent: Spent,
        report: FileReport,
    ) -> Part {
        Part { of, sought, asked, spent, named, report }
    }

    /// The report as it reads now.
    pub(super) fn report(&self) -> FileReport {
        let mut report = self.report.clone();
        let named = report.each(&mut |piece| {
            if let Piece::Words(words) = piece {
                self.named.put_into(words);
            }
            Some(())
        });
        debug_assert!(named.is_some());
        report
    }

    /// Whether another one is this one with its places moved.
    #[cfg(test)]
    pub(super) fn is_carried_on_by(&self, other: &Part) -> bool {
        Arc::ptr_eq(&self.sought, &other.sought)
    }

    /// The same for a kernel of now, if it still holds; its steps are taken from the budget then.
    pub(super) fn still(
        self: &Arc<Part>,
        now: &Judged,
        differences: &Differences,
        budget: &FileBudget,
        sources: &Sources,
    ) -> Option<Arc<Part>> {
        if !now.may_be(&self.of) {
            return None;
        }
        if now.is(&self.of) {
            return budget.spend(&self.spent).then(|| Arc::clone(self));
        }
        let Difference { moves, functions } = now.difference(&self.of, differences, sources)?;
        let names_kernel = |function: &Function| self.sought.all() && names(function, &now.kernel);
        let is_met = |function: &Arc<Function>| {
            Arc::ptr_eq(function, &now.kernel)
                || self.sought.whole()
                || self.sought.function(&function.name)
                || names_kernel(function)
        };
        let is_same = moves.now(self.of.kernel.name_span) == Some(now.kernel.name_span)
            && moves.lead(&self.of.launches, &now.launches)
            && !functions.iter().any(is_met);
        if !is_same {
            return None;
        }
        let asked = Texts::new(sources, &now.program, true).ask_again(&self.asked, &moves)?;
        let named = self.named.moved(&moves, sources)?;
        let mut report = self.report.clone();
        report.each(&mut |piece| {
            if let Piece::Place(span) = piece {
                *span = moves.now(*span)?;
            }
            Some(())
        })?;
        budget.spend(&self.spent).then(|| {
            let (of, sought) = (now.clone(), Arc::clone(&self.sought));
            Arc::new(Part { of, sought, asked, spent: self.spent, named, report })
        })
    }
}
