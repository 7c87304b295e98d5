//! Which length of rows is best where a block or the size of a type is not known?
//!
//! Where the ways to run a kernel differ, no verdict holds in all of them: of a tile of 32 x 32 elements whose rows
//! are one longer, a column is free of conflicts for 4 bytes and 2-way for 1. Yet it takes fewer wavefronts than with
//! rows that are 8 longer, whatever the size. So lengths are weighed in the way whose figures are told, and none is
//! taken that costs more than now in another.

use super::super::super::{KernelRun, listed};
use super::{Padding, Rows, Search, words_of_sizes};
use crate::remedy::Run;
use crate::remedy::longer::{self, Lengthened, Sites, find};

/// A way to run the kernel.
struct Way {
    /// The run, and which of its variants.
    of: (usize, usize),
    run: KernelRun,
}

impl Search<'_> {
    /// A padding by what it does in each way to run the kernel, if it is better than `known`.
    pub(super) fn in_each_variant(&self, known: Option<&Padding>) -> Option<Padding> {
        let Search { case, array, .. } = *self;
        let name = array.name_span;
        let mut ways: Vec<Way> = Vec::new();
        for number in 0..case.runs.len() {
            let one = [(number, 0)];
            let variants = (0..case.padder.variants(number)).map(|variant| (number, variant));
            let all: Vec<(usize, usize)> = variants.collect();
            if all.is_empty() && find(&case.runs[number].trace, name).is_some() {
                // What is run in one way is compared as it is.
                return None;
            }
            let of_run = if all.is_empty() { &one[..0] } else { &all };
            for of in of_run {
                ways.extend(case.padder.run_variant(*of, name, 0).map(|run| Way { of: *of, run }));
            }
        }
        let runs: Vec<Run<'_>> = ways
            .iter()
            .map(|way| Run {
                trace: &way.run.trace,
                judgements: &way.run.judgements,
                block: way.run.block,
                dynamic_bytes: way.run.dynamic_bytes.map(|(bytes, _)| bytes),
                of: (way.of.0, &case.runs[way.of.0].trace),
            })
            .collect();
        // An element that is too large for the array to fit is none that there is.
        let possible = |at: &usize| longer::is_possible(case.targets, &runs[*at]);
        let possible: Vec<usize> = (0..runs.len()).filter(possible).collect();
        let runs: Vec<Run<'_>> = possible.iter().map(|at| runs[*at]).collect();
        let ways: Vec<&Way> = possible.iter().map(|at| &ways[*at]).collect();
        let told: Vec<usize> = (0..ways.len()).filter(|at| ways[*at].of.1 == 0).collect();
        let before = Sites::of(&runs, name)?;
        let again = |number: usize, extra| {
            let of = ways.get(number)?.of;
            case.padder.run_variant(of, name, extra).map(Lengthened::from)
        };
        let rows = longer::Rows {
            runs: &runs,
            targets: case.targets,
            array,
            again: &again,
            forecast: &|_, _| None,
            in_indices: false,
            told: Some(&told),
            grown: &|_| None,
        };
        let (extra, after) = longer::best(&rows, &before, &mut false)?;
        let left: Vec<&Way> =
            (0..ways.len()).filter(|at| !after.of_runs(&[*at]).are_fine()).map(|at| ways[at]).collect();
        let of_usual = after.of_runs(&told);
        let usual = Search { before: &before.of_runs(&told), ..*self };
        if known.is_some_and(|known| known.left < of_usual.wavefronts()) {
            return None;
        }
        let open = (!left.is_empty()).then(|| self.open_words(&left, &ways));
        usual.describe(extra, &of_usual, Rows::Declared, open.as_deref())
    }

    /// In which ways a conflict is left, among all: by the sizes of elements or by the blocks.
    fn open_words(&self, left: &[&Way], all: &[&Way]) -> String {
        let name = self.array.name_span;
        let size = |way: &Way| find(&way.run.trace, name).and_then(|array| array.element_bytes).unwrap_or(0);
        if all.iter().any(|way| size(way) != size(all[0])) {
            let mut sizes: Vec<u64> = left.iter().map(|way| size(way)).collect();
            sizes.sort_unstable();
            sizes.dedup();
            return words_of_sizes(&sizes);
        }
        let mut blocks: Vec<String> = Vec::new();
        for [x, y, z] in left.iter().map(|way| way.run.block) {
            let block = format!("({x}, {y}, {z})");
            blocks.extend((!blocks.contains(&block)).then_some(block));
        }
        format!("with block {}", listed(&blocks).replace(" and ", " or "))
    }
}
