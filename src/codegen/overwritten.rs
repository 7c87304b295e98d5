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
//! | `s[t] = 0; for (i = 0; i < 500; i++) s[t] += in[i];` | made, as the loop is not written out; those of its rounds are left out but the last |

use super::met::{Kept, Met, behind, distance};
use smallvec::SmallVec;

/// Stores that are kept in mind; of more, the oldest are taken to be made.
const MOST_KEPT: usize = 64;

/// The stores of the straight code at hand that nothing has read.
#[derive(Debug, Default)]
pub(super) struct Unread(Vec<Store>);

/// A store.
#[derive(Debug)]
struct Store {
    made: Kept,
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
        self.0.retain(|store| store.made.array != array);
    }

    /// What an access reads is stored for it.
    pub(super) fn read(&mut self, met: &Met<'_>) {
        self.0.retain(|it| {
            it.made.array != met.array || distance((&it.made.offset, it.made.bytes), met.target()).is_some()
        });
    }

    /// A store with this number, in this stretch of code without branches. The numbers of those that it makes needless.
    pub(super) fn write(&mut self, met: &Met<'_>, stretch: u32, number: u32) -> SmallVec<[u32; 2]> {
        let mut needless = SmallVec::new();
        self.0.retain(|store| {
            let made = &store.made;
            let same = (made.array, made.bytes, made.weight) == (met.array, met.bytes, met.weight)
                && (made.iteration, store.stretch) == (met.iteration, stretch);
            let gone = same
                && made.doubt == *met.doubt
                && made.active.minus(&met.active).is_empty()
                && behind(&made.offset, met.target()) == Some(0);
            needless.extend(gone.then_some(store.number));
            !gone
        });
        if self.0.len() >= MOST_KEPT {
            self.0.remove(0);
        }
        self.0.push(Store { made: met.kept(), stretch, number });
        needless
    }
}
