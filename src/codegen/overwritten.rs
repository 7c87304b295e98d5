//! Which stores does the compiler leave out, because their place is written again before anything reads it?
//!
//! Only a thread's own reads count, as long as nothing orders threads between. Seen in the machine code of nvcc 13 for
//! 7.5 to 12.0:
//!
//! | `__shared__ int s[128], r[64]`, in one thread | the first store |
//! |---|---|
//! | `s[t] = a; s[t] = b;` | left out |
//! | `s[t] = a; s[t] += b;` also `#pragma unroll` over it | left out: what is read is in a register |
//! | `s[t] = a; c = s[t + 32]; s[t] = c;` | left out: surely another place is read |
//! | `s[t] = a; r[k] = b; c = r[t]; s[t] = c;` | left out: another array |
//! | `s[2 * t] = a; s[2 * t + 1] = b; *(int2 *)&s[2 * t] = c;` | left out, the second not always |
//! | `s[t] = a; c = s[k]; s[t] = c;` | made |
//! | `s[t] = a; __syncwarp(); s[t] = b;` | made |
//! | `s[t] = a; if (k) out[t] = 0; s[t] = b;` | made up to 9.0, left out on 12.0 |
//! | `if (k) s[t] = a; s[t] = b;` | made up to 9.0, left out on 12.0 |
//! | `s[t] = a; if (k) s[t] = b;` | made |
//! | `s[t] = 0; for (i = 0; i < n; i++) s[t] += in[i];` | made |
//! | `s[t] = 0; for (i = 0; i < n; i++) sum += in[i]; s[t] = sum;` | made |

use super::met::{Met, behind, distance};
use crate::domain::{Int, ThreadSet, Unknown};
use smallvec::SmallVec;

/// Stores that are kept in mind; of more, the oldest are taken to be made.
const MOST_KEPT: usize = 64;

/// The stores of the straight code at hand that nothing has read.
#[derive(Debug, Default)]
pub(super) struct Unread(Vec<Store>);

/// A store.
#[derive(Debug)]
struct Store {
    array: usize,
    bytes: u32,
    offset: Int,
    active: ThreadSet,
    doubt: Option<Unknown>,
    weight: u64,
    iteration: u32,
    stretch: u32,
    number: u32,
}

impl Unread {
    /// Any of them may be read.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Any of them in an array may be read.
    pub(super) fn forget_array(&mut self, array: usize) {
        self.0.retain(|store| store.array != array);
    }

    /// What an access reads is stored for it.
    pub(super) fn read(&mut self, met: &Met<'_>) {
        self.0.retain(|it| it.array != met.array || distance((&it.offset, it.bytes), met).is_some());
    }

    /// A store with this number, in this stretch of code without branches. The numbers of those that it makes needless.
    pub(super) fn write(&mut self, met: &Met<'_>, stretch: u32, number: u32) -> SmallVec<[u32; 2]> {
        let mut needless = SmallVec::new();
        self.0.retain(|store| {
            let same = (store.array, store.bytes, store.weight) == (met.array, met.bytes, met.weight)
                && (store.iteration, store.stretch) == (met.iteration, stretch);
            let gone = same
                && store.doubt == *met.doubt
                && store.active.minus(&met.active).is_empty()
                && (store.offset == *met.offset || behind(&store.offset, met) == Some(0));
            needless.extend(gone.then_some(store.number));
            !gone
        });
        if self.0.len() >= MOST_KEPT {
            self.0.remove(0);
        }
        self.0.push(Store {
            array: met.array,
            bytes: met.bytes,
            offset: met.offset.clone(),
            active: met.active,
            doubt: met.doubt.clone(),
            weight: met.weight,
            iteration: met.iteration,
            stretch,
            number,
        });
        needless
    }
}
