//! Which blocks of a launch are not for the device that the kernel is judged for?
//!
//! Host code may choose the block by the device, and the kernel its sizes by `__CUDA_ARCH__`:
//!
//! ```text
//! int warps = capability >= 700 ? 4 : 8;     in host code
//! rows<<<1, dim3(32, warps)>>>(in, out);
//!
//! #if __CUDA_ARCH__ >= 700                   in the kernel
//!     row<4>(in, out);                       an array for 4 warps
//! #else
//!     row<8>(in, out);
//! #endif
//! ```
//!
//! Each block is run with the text for one device. A block that leaves an array, where another block of the same launch
//! leaves none, goes with a text that the preprocessor takes out: nothing is said of it, and nothing proved.

use super::Subject;
use crate::facts::{Doubt, Facts, Freedom};
use crate::rules::KernelRun;

impl Subject<'_> {
    /// Takes back what follows from runs with a block that is for other devices, as far as can be told.
    pub(super) fn drop_unfit(&self, runs: &mut [KernelRun]) {
        let fits = |run: &KernelRun| run.facts.overruns.is_empty();
        let is_fit_beside = |run: &KernelRun, other: &KernelRun| {
            other.launch == run.launch && other.block != run.block && fits(other)
        };
        let is_unfit = |run: &KernelRun| {
            !fits(run) && run.launch.is_some() && runs.iter().any(|other| is_fit_beside(run, other))
        };
        let unfit: Vec<usize> = (0..runs.len()).filter(|at| is_unfit(&runs[*at])).collect();
        // Mostly there is none, and nothing has to be asked of the text.
        if unfit.is_empty() || !(self.is_cut)() {
            return;
        }
        for at in unfit {
            let Facts { freedom, overruns, .. } = std::mem::take(&mut runs[at].facts);
            let doubts = overruns.iter().take(1).map(|overrun| Doubt::OtherDevice(overrun.access)).collect();
            let freedom = freedom.map(|freedom| Freedom { doubts, ..freedom });
            runs[at].facts = Facts { freedom, ..Facts::default() };
        }
    }
}
