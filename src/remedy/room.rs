//! Does a block still fit into shared memory where an array that it declares becomes larger?
//!
//! What a block declares has a limit. Together with what a launch gives, it has the same one, unless the program asks
//! for more by `cudaFuncAttributeMaxDynamicSharedMemorySize`. That it does is known if the block takes more already.
//! Example, for 9.0, where the limits are 48 and 227 KiB:
//!
//! ```text
//! 16 KiB declared, 32 KiB given       not one byte more
//! 16 KiB declared, 64 KiB given       up to 48 KiB declared
//! ```

use crate::banks::Target;

/// Whether a block that declared so many bytes `before`, and so many `after`, fits with `given` bytes of dynamic
/// shared memory.
pub(super) fn fits(targets: &[Target], (before, after): (u64, u64), given: u64) -> bool {
    let most = |of: fn(&Target) -> u32| targets.iter().map(|target| u64::from(of(target))).min().unwrap_or(0);
    let (unasked, asked) = (most(Target::static_shared_limit), most(Target::dynamic_shared_limit));
    let limit = if before.saturating_add(given) > unasked { asked } else { unasked };
    after <= unasked && after.saturating_add(given) <= limit
}
