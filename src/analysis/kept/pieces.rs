//! Which places and which words does a report hold?

use super::super::{FileReport, MetArray, MetKernel, MetSite};
use crate::diagnostic::{Basis, Cause, Conflict, Dependence, Diagnostic, Edit, Fix, Hazard, Step};
use crate::source::Span;
use crate::verdict::SiteVerdict;

/// A piece of a report.
pub(super) enum Piece<'a> {
    Place(&'a mut Span),
    /// What a rule says.
    Words(&'a mut String),
}

/// Is told of each piece; `None` ends it.
type Found<'f> = &'f mut dyn FnMut(Piece<'_>) -> Option<()>;

/// Something that is made of pieces.
pub(super) trait Pieces {
    /// Tells of each; `None` as soon as that says so.
    fn each(&mut self, found: Found<'_>) -> Option<()>;
}

impl Pieces for Span {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        found(Piece::Place(self))
    }
}

impl Pieces for String {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        found(Piece::Words(self))
    }
}

impl<T: Pieces, U: Pieces> Pieces for (T, U) {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        self.0.each(found)?;
        self.1.each(found)
    }
}

impl<T: Pieces> Pieces for Vec<T> {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        self.iter_mut().try_for_each(|it| it.each(found))
    }
}

impl<T: Pieces> Pieces for Option<T> {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        self.iter_mut().try_for_each(|it| it.each(found))
    }
}

impl<T: Pieces> Pieces for Box<T> {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        (**self).each(found)
    }
}

impl Pieces for FileReport {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let FileReport {
            diagnostics,
            undecided,
            verdicts,
            kernels,
            entered,
            in_doubt,
            views,
            explanations,
            asked,
            cut_short,
            modules,
            runs,
        } = self;
        // These are not what is kept of a kernel.
        let others =
            views.len() + explanations.len() + asked.len() + cut_short.len() + modules.len() + runs.len();
        if others > 0 {
            return None;
        }
        diagnostics.each(found)?;
        undecided.each(found)?;
        verdicts.each(found)?;
        kernels.each(found)?;
        entered.each(found)?;
        in_doubt.each(found)
    }
}

impl Pieces for Diagnostic {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let Diagnostic {
            rule: _,
            level: _,
            loudest: _,
            message,
            primary,
            primary_label,
            labels,
            launches,
            notes,
            helps,
            fix,
            kernel: _,
            kernel_at,
            conflict,
            dependence,
            hazard,
            parts,
        } = self;
        message.each(found)?;
        primary.each(found)?;
        primary_label.each(found)?;
        labels.each(found)?;
        launches.each(found)?;
        notes.each(found)?;
        helps.each(found)?;
        fix.each(found)?;
        kernel_at.each(found)?;
        conflict.each(found)?;
        dependence.each(found)?;
        hazard.each(found)?;
        parts.each(found)
    }
}

impl Pieces for Fix {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let Fix { title, edits, basis, leaves: _ } = self;
        title.each(found)?;
        edits.iter_mut().try_for_each(|Edit { span, text: _ }| span.each(found))?;
        match basis {
            Basis::Judgement(why) => why.each(found),
            Basis::Subscripts => Some(()),
            Basis::Accesses { name: _, scope, seen, doubt } => {
                scope.each(found)?;
                seen.each(found)?;
                doubt.each(found)
            }
        }
    }
}

impl Pieces for Conflict {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let Conflict {
            cause: Cause { kernel, array, one_word: _ },
            array: _,
            through: _,
            op: _,
            ways: _,
            certainty: _,
            wavefronts: _,
            ideal: _,
            cost: _,
            counts,
            exact: _,
            assumptions: _,
            assumed,
            run: _,
            target: _,
            block: _,
            instances: _,
            remedy: _,
        } = self;
        kernel.each(found)?;
        array.each(found)?;
        counts.each(found)?;
        assumed.each(found)
    }
}

impl Pieces for Dependence {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let Dependence { array, words } = self;
        array.each(found)?;
        words.each(found)
    }
}

impl Pieces for Hazard {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let Hazard { array: _, declared, places, first, second, across, after, before } = self;
        for span in [declared, &mut places.0, &mut places.1] {
            span.each(found)?;
        }
        for Step { thread: _, span, does: _ } in [first, second] {
            span.each(found)?;
        }
        [across, after, before].into_iter().try_for_each(|it| it.each(found))
    }
}

impl Pieces for SiteVerdict {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let SiteVerdict {
            span,
            kernel: _,
            array: _,
            op: _,
            bytes: _,
            block: _,
            block_from: _,
            target: _,
            status: _,
            assumptions: _,
            reason: _,
            kind: _,
            requests: _,
            wavefronts: _,
            ideal: _,
            usual: _,
            worst: _,
            worst_ideal: _,
            uncounted_loops,
            rounds: _,
            table: _,
        } = self;
        span.each(found)?;
        uncounted_loops.each(found)
    }
}

impl Pieces for MetKernel {
    fn each(&mut self, found: Found<'_>) -> Option<()> {
        let MetKernel { name, launches, whole, directive, assumed: _, arrays, sites, races: _ } = self;
        name.each(found)?;
        whole.each(found)?;
        launches.each(found)?;
        directive.each(found)?;
        arrays.iter_mut().try_for_each(|MetArray { name, bytes: _ }| name.each(found))?;
        sites.iter_mut().try_for_each(|MetSite { span, op: _, ways: _, unknown: _ }| span.each(found))
    }
}
