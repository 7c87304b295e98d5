//! How is work on many files shared among threads, and what if some of it panics?

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};

/// Enough for the deepest nesting that the analysis follows.
const STACK_BYTES: usize = 32 << 20;
/// More threads than any machine has cores for would only take long to start.
const MOST_THREADS: usize = 256;

/// So many threads; without a number, as many as the environment or else the machine says.
/// WebAssembly has no threads: there the one that asks does the work.
pub(super) fn pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let mut builder = ThreadPoolBuilder::new().stack_size(STACK_BYTES);
    if cfg!(target_family = "wasm") {
        return builder.num_threads(1).use_current_thread().build();
    }
    let from_environment = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    if let Some(threads) = threads.map(NonZeroUsize::get).or_else(from_environment) {
        builder = builder.num_threads(threads.min(MOST_THREADS));
    }
    builder.build()
}

/// Applies `work` to every item, the largest first, so that no thread is left alone with
/// a large file at the end. Results are in the order of `items`.
pub(super) fn in_parallel<I: Send, T: Send>(
    items: Vec<I>,
    sizes: &[usize],
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let mut queue: Vec<(usize, I)> = items.into_iter().enumerate().collect();
    queue.sort_by_key(|(at, _)| Reverse(sizes.get(*at).copied().unwrap_or(0)));
    // A bridge hands out one item at a time, in order; splitting the vector would not.
    let queue = queue.into_iter().par_bridge();
    let mut results: Vec<(usize, T)> = queue.map(|(at, item)| (at, work(item))).collect();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes its message and place. Where a panic ends the program, it says so itself.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    if cfg!(panic = "abort") {
        return Ok(work());
    }
    static HOOK: std::sync::Once = std::sync::Once::new();
    // The default hook would print at once, among the output of other threads.
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let message = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("panic");
            let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
            let guarded = PANIC.try_with(|slot| match &mut *slot.borrow_mut() {
                Some(text) => {
                    *text = format!("{message}{}", place.unwrap_or_default());
                    true
                }
                None => false,
            });
            if !guarded.unwrap_or(false) {
                default(info);
            }
        }));
    });
    PANIC.set(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let message = PANIC.take();
    result.map_err(|_| message.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn results_come_in_the_order_given() {
        let sizes = [3, 9, 1, 9, 2];
        assert_eq!(in_parallel(sizes.to_vec(), &sizes, |size| size), sizes);
    }

    #[test]
    fn large_files_go_first() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let order = Mutex::new(Vec::new());
        let sizes = [3, 9, 1, 7];
        pool.install(|| in_parallel(sizes.to_vec(), &sizes, |size| order.lock().unwrap().push(size)));
        assert_eq!(order.into_inner().unwrap(), [9, 7, 3, 1]);
    }

    #[test]
    fn a_panic_is_a_message_with_its_place() {
        let result: Result<(), String> = guarded(|| panic!("lane {} is gone", 3));
        let message = result.unwrap_err();
        assert!(message.starts_with("lane 3 is gone (src/cli/parallel.rs:"), "{message}");
        assert_eq!(guarded(|| 7), Ok(7));
    }
}
