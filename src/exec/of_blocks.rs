//! Which blocks take a branch?
//!
//! A condition that is made of the numbers of threads and blocks alone is decided for each block. Example, in a
//! block of 256:
//!
//! ```text
//! blockIdx.x == 0 && threadIdx.x == 0      thread 0 of the blocks (0, y, z), and nobody else
//! ```
//!
//! So is one that asks how many blocks there are, where it has one answer for all grids of several blocks, as
//! `gridDim.x > 1` has.

use super::condition::Truth;
use super::machine::{Asserted, Machine};
use super::value::{Condition, Relation, Value};
use crate::domain::{AmongBlocks, Int, Key, Lanes, Origin, SymbolId, ThreadSet, Variation};
use crate::events::{Asks, Blocks, Roots};
use crate::source::Span;
use smallvec::SmallVec;

impl Machine<'_> {
    /// The blocks in which all active threads are on this side of a comparison.
    pub(super) fn blocks_on_side(&self, difference: &Int, relation: Relation, taken: bool) -> Blocks {
        let active = self.state.active;
        let on_side = |threads: ThreadSet| match taken {
            true => active.minus(&threads).is_empty(),
            false => active.and(&threads).is_empty(),
        };
        let blocks = Blocks::collect(|block| {
            self.compared_in(block, difference, relation, false).is_some_and(on_side)
        });
        self.launched(blocks, self.sizes_in(difference))
    }

    /// The blocks whose threads take the sides of a condition, where it holds and where it fails, as its truth tells.
    /// `large`: where sizes given at run time are as large as one likes.
    pub(super) fn blocks_by_side(&self, condition: &Condition, truth: &Truth, large: bool) -> [Blocks; 2] {
        let active = self.state.active;
        let of = |side: Option<ThreadSet>, holds: bool| {
            let Some(side) = side else { return Blocks::NONE };
            let blocks = Blocks::collect(|block| {
                self.holds_in(block, condition, large).is_some_and(|threads| {
                    let there = if holds { threads } else { self.world.all.minus(&threads) };
                    there.and(&active) == side.and(&active)
                })
            });
            self.launched(blocks, self.sizes_asked(condition))
        };
        [of(truth.holds, true), of(truth.fails, false)]
    }

    /// Some blocks, in a grid of several in these directions; none if none of them is launched. Where there is one block
    /// in a direction, that is the first.
    fn launched(&self, blocks: Blocks, several: [bool; 3]) -> Blocks {
        let counted = self.settings.grid;
        let flat = [0, 1, 2].map(|axis| self.settings.flat[axis] || counted[axis] == Some(1));
        if (0..3).any(|axis| flat[axis] && several[axis]) {
            return Blocks::NONE;
        }
        let there = Blocks::collect(|block| (0..3).all(|axis| !flat[axis] || block[axis] == 0));
        let is_counted = |axis: usize, number: i64| counted[axis].is_none_or(|count| number < count);
        let in_grid = Blocks::collect(|block| (0..3).all(|axis| flat[axis] || is_counted(axis, block[axis])));
        match blocks.and(there).and(in_grid) {
            Blocks::NONE => Blocks::NONE,
            // In the directions in which there is one block, it is the first.
            _ => blocks.and(in_grid).where_several(several),
        }
    }

    /// Whether a number tells blocks apart, or counts them, in a direction in which there is one.
    fn is_of_one(&self, id: SymbolId) -> bool {
        let axis = match self.world.symbols.get(id).among_blocks {
            AmongBlocks::Index(axis) => Some(axis),
            _ => self.size_of_grid(id),
        };
        axis.is_some_and(|axis| self.settings.flat[axis])
    }

    /// Whether the launch tells what comes of comparing a number with 0 in which this one stands: a number of blocks that
    /// it gives, or one of a block that is not among them.
    fn is_settled(&self, number: &Int, id: SymbolId) -> bool {
        let blocks = |axis: usize| self.settings.grid[axis];
        match self.world.symbols.get(id).among_blocks {
            AmongBlocks::Index(axis) => {
                let asked = || match number.terms.as_slice() {
                    [(_, factor)] => number.base.as_constant()?.checked_div(-factor.as_constant()?),
                    _ => None,
                };
                blocks(axis).zip(asked()).is_some_and(|(blocks, asked)| !(0..blocks).contains(&asked))
            }
            _ => self.size_of_grid(id).is_some_and(|axis| blocks(axis).is_some()),
        }
    }

    /// The threads of a block for which a condition holds, if that is known.
    fn holds_in(&self, block: [i64; 3], condition: &Condition, large: bool) -> Option<ThreadSet> {
        match condition {
            Condition::Known(threads) => Some(*threads),
            Condition::Compare { difference, relation, .. } => {
                self.compared_in(block, difference, *relation, large)
            }
            Condition::Opaque(..) => None,
            Condition::Not(inner) => Some(self.world.all.minus(&self.holds_in(block, inner, large)?)),
            Condition::And(a, b) => match (self.holds_in(block, a, large), self.holds_in(block, b, large)) {
                (Some(a), Some(b)) => Some(a.and(&b)),
                (Some(one), None) | (None, Some(one)) => one.is_empty().then_some(one),
                (None, None) => None,
            },
            Condition::Or(a, b) => match (self.holds_in(block, a, large), self.holds_in(block, b, large)) {
                (Some(a), Some(b)) => Some(a.or(&b)),
                (Some(one), None) | (None, Some(one)) => (one == self.world.all).then_some(one),
                (None, None) => None,
            },
        }
    }

    /// The threads of a block for which a comparison holds, if it is made of nothing else that is not known, and for
    /// all grids of several blocks alike.
    fn compared_in(
        &self,
        block: [i64; 3],
        difference: &Int,
        relation: Relation,
        large: bool,
    ) -> Option<ThreadSet> {
        let shape = self.shape();
        let mut added: SmallVec<[(&Lanes, i64); 4]> = SmallVec::new();
        let (mut growth, mut outgrows, mut is_counted) = (0, 0, false);
        for (id, factor) in &difference.terms {
            if large && self.is_nothing_in(block, *id) {
                continue;
            }
            if large
                && !self.is_asserted(*id)
                && let Some(value) = self.world.at_large(*id)
            {
                added.push((factor, value));
                continue;
            }
            if large && self.is_size(*id) {
                // One direction only: of several numbers it is not known which is larger.
                let by = factor.as_constant()?.signum();
                outgrows = Some(by).filter(|by| *by != 0 && outgrows * *by >= 0)?;
                continue;
            }
            // Of the first rounds there are, sizes outgrow the number.
            if large && self.world.symbols.get(*id).origin == Origin::Loop {
                is_counted = true;
                continue;
            }
            if let Some(axis) = self.size_of_grid(*id) {
                // One size grows: of several it is not known which grows how much.
                let by = factor.as_constant().filter(|_| growth == 0)?;
                added.push((factor, block[axis].max(1) + 1));
                growth = by;
                continue;
            }
            added.push((factor, self.world.in_block(*id, block)?));
        }
        let holds = |number: i64| relation.holds(number);
        if outgrows != 0 {
            // Numbers that are compared for being equal are no sizes.
            let is_order = !matches!(relation, Relation::Equal | Relation::NotEqual);
            return is_order.then(|| if holds(outgrows) { self.world.all } else { ThreadSet::NONE });
        }
        if is_counted {
            return None;
        }
        let mut value = difference.base.clone();
        for (factor, times) in added {
            value = value.add(&factor.scale(times), shape);
        }
        let at_least = ThreadSet::collect(shape, |thread| holds(value.at(thread, shape)));
        let stays = |thread: usize| {
            let number = value.at(thread, shape);
            match relation {
                // Once it is beyond it, it stays beyond it.
                Relation::Equal | Relation::NotEqual => number != 0 && number.signum() == growth.signum(),
                _ => holds(number) == holds(growth.signum()),
            }
        };
        (growth == 0 || self.world.all.threads().all(stays)).then_some(at_least)
    }

    /// Whether a number is a size that may be as large as one likes, in any round of any loop.
    fn is_size(&self, id: SymbolId) -> bool {
        let symbol = self.world.symbols.get(id);
        symbol.origin == Origin::Given
            && !symbol.compiled
            && !self.is_asserted(id)
            && symbol.factors.iter().all(|of| self.world.symbols.get(*of).origin == Origin::Given)
            && self.world.symbols.is_unbounded(id)
    }

    /// An assertion claims that this holds.
    pub(super) fn note_claim(&mut self, claim: &Value, span: Span) {
        let condition = self.condition_of(claim, span);
        self.note_asserted(&condition);
        let may_fail =
            !matches!(&condition, Condition::Known(holds) if self.state.active.minus(holds).is_empty());
        if self.recording && may_fail {
            // An assertion that is not followed may ask for anything. One that always fails asks for what the conditions
            // around it do, which is not looked into.
            let is_followed = !matches!(&condition, Condition::Known(_)) && !has_opaque(&condition);
            let asks = if is_followed { self.asked_by(&condition) } else { Asks::Hidden };
            let branches = self.branches();
            self.trace.tree.note_asserted(asks, branches);
        }
    }

    /// Takes note of the numbers of which a condition that holds may say how large they are. What one leaves when
    /// divided says nothing of that.
    fn note_asserted(&mut self, condition: &Condition) {
        match condition {
            Condition::Known(_) => {}
            Condition::Opaque(..) => self.settings.asserted.any = true,
            Condition::Compare { difference, .. } => {
                let is_bounded = matches!(self.world.bounds(difference), (Some(_), Some(_)));
                for (id, _) in difference.terms.iter().filter(|_| !is_bounded) {
                    match self.world.symbols.roots(*id) {
                        Some(roots) => self.settings.asserted.of.extend(roots),
                        None => self.settings.asserted.any = true,
                    }
                }
            }
            Condition::Not(inner) => self.note_asserted(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.note_asserted(a);
                self.note_asserted(b);
            }
        }
    }

    /// Whether an assertion may say how large a number is.
    pub(super) fn is_asserted(&self, id: SymbolId) -> bool {
        let Asserted { any, of } = &self.settings.asserted;
        let roots = || self.world.symbols.roots(id);
        *any || !of.is_empty() && roots().is_none_or(|roots| roots.iter().any(|root| of.contains(root)))
    }

    /// Whether a number is a multiple of one of the block's, and that is 0.
    fn is_nothing_in(&self, block: [i64; 3], id: SymbolId) -> bool {
        let among = |of: &SymbolId| self.world.symbols.get(*of).among_blocks;
        let is_zero = |of: &SymbolId| matches!(among(of), AmongBlocks::Index(axis) if block[axis] == 0);
        self.world.symbols.get(id).factors.iter().any(is_zero)
    }

    /// What a condition asks for, of what is the same for all threads.
    pub(super) fn asked_by(&self, condition: &Condition) -> Asks {
        match condition {
            Condition::Known(_) => Asks::nothing(),
            Condition::Opaque(Variation::Uniform, _) => Asks::Data,
            Condition::Opaque(..) => Asks::Hidden,
            // Who is let in by it is assumed.
            Condition::Compare { difference, .. } if !difference.is_uniform() => Asks::nothing(),
            Condition::Compare { difference, .. } => self.asked_of(difference),
            Condition::Not(inner) => self.asked_by(inner),
            Condition::And(a, b) | Condition::Or(a, b) => self.asked_by(a).and(self.asked_by(b)),
        }
    }

    /// Whether it only tests what the kernel is given, or data, for equality.
    pub(super) fn is_choice(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Known(_) => true,
            Condition::Opaque(variation, _) => *variation == Variation::Uniform,
            Condition::Compare { difference, relation, .. } => {
                let of_launch = |id: &SymbolId| {
                    !matches!(
                        self.world.symbols.get(*id).origin,
                        Origin::Loop | Origin::LoopValue | Origin::BlockIndex | Origin::GridSize
                    )
                };
                let of_all = |id: &SymbolId| {
                    of_launch(id)
                        && self.world.symbols.roots(*id).is_none_or(|roots| roots.iter().all(of_launch))
                };
                matches!(relation, Relation::Equal | Relation::NotEqual)
                    && difference.is_uniform()
                    && difference.terms.iter().all(|(id, _)| of_all(id))
            }
            Condition::Not(inner) => self.is_choice(inner),
            Condition::And(a, b) | Condition::Or(a, b) => self.is_choice(a) && self.is_choice(b),
        }
    }

    /// The numbers of which one is made.
    fn asked_of(&self, number: &Int) -> Asks {
        let (mut roots, mut is_data) = (Vec::new(), false);
        for (id, _) in &number.terms {
            let symbol = self.world.symbols.get(*id);
            let is_told = !matches!(symbol.origin, Origin::Choice | Origin::LoopValue | Origin::Own);
            if symbol.compiled || !is_told || self.is_of_one(*id) || self.is_settled(number, *id) {
                return Asks::Hidden;
            }
            let is_place = matches!(symbol.origin, Origin::Loop | Origin::BlockIndex | Origin::GridSize);
            match self.world.symbols.roots(*id) {
                _ if !symbol.named && !is_place => is_data = true,
                Some(of) => roots.extend(of),
                None => return Asks::Hidden,
            }
        }
        if is_data {
            return Asks::Data;
        }
        Asks::Of { roots: Roots::new(roots), last: number.terms.iter().map(|(id, _)| *id).max() }
    }

    /// The direction of which a symbol is the number of blocks.
    pub(super) fn size_of_grid(&self, id: SymbolId) -> Option<usize> {
        let symbols = &self.world.symbols;
        let is_size = symbols.get(id).origin == Origin::GridSize;
        match symbols.name_key(id).filter(|_| is_size)? {
            Key::Grid(axis) => Some(*axis),
            _ => None,
        }
    }

    /// The directions of which the number of blocks stands in a number.
    fn sizes_in(&self, number: &Int) -> [bool; 3] {
        let has = |axis| number.terms.iter().any(|(id, _)| self.size_of_grid(*id) == Some(axis));
        std::array::from_fn(has)
    }

    /// The directions of which a condition asks for the number of blocks.
    fn sizes_asked(&self, condition: &Condition) -> [bool; 3] {
        match condition {
            Condition::Known(_) | Condition::Opaque(..) => [false; 3],
            Condition::Compare { difference, .. } => self.sizes_in(difference),
            Condition::Not(inner) => self.sizes_asked(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                let (a, b) = (self.sizes_asked(a), self.sizes_asked(b));
                std::array::from_fn(|axis| a[axis] || b[axis])
            }
        }
    }
}

/// Whether a part of a condition is not followed.
fn has_opaque(condition: &Condition) -> bool {
    match condition {
        Condition::Opaque(..) => true,
        Condition::Known(_) | Condition::Compare { .. } => false,
        Condition::Not(inner) => has_opaque(inner),
        Condition::And(a, b) | Condition::Or(a, b) => has_opaque(a) || has_opaque(b),
    }
}
