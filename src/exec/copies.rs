//! What do the lanes of an asynchronous copy read from global memory?

use super::lanes::Lanes;
use super::machine::Machine;
use super::value::{Offset, Target, Value};

/// Bytes of a line of global memory, and of what is copied at a time.
const LINE: u64 = 128;

impl Machine<'_> {
    /// Whether lanes that are served together, as many as fill a line, surely read within the length
    /// of one. What moves them all alike is taken to keep them in it.
    pub(super) fn reads_one_line(&self, source: Option<&Value>, bytes: Option<u64>) -> bool {
        let (Some(Value::Pointer(pointer)), Some(bytes @ (4 | 8 | 16))) = (source, bytes) else {
            return false;
        };
        let Target::Memory(_, Offset::Known(offset)) = &pointer.target else { return false };
        let offset = self.substitute(offset);
        let alike = offset.terms.iter().all(|(_, factor)| self.spreads_at_most(factor, bytes, 0));
        alike && self.spreads_at_most(&offset.base, bytes, LINE - bytes)
    }

    /// Whether the values of active lanes that are served together differ by no more than `most`.
    fn spreads_at_most(&self, lanes: &Lanes, bytes: u64, most: u64) -> bool {
        if lanes.as_constant().is_some() {
            return true;
        }
        let together = (LINE / bytes) as usize;
        let values = lanes.spread(self.shape());
        values.chunks(together).enumerate().all(|(group, values)| {
            let first = group * together;
            let active = self.state.active.warp(first / 32) >> (first % 32);
            let own = || (0..values.len()).filter(|lane| active >> lane & 1 == 1).map(|lane| values[lane]);
            match (own().min(), own().max()) {
                (Some(low), Some(high)) => low.abs_diff(high) <= most,
                _ => true,
            }
        })
    }
}
