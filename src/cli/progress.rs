//! How far is a long run?

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on stderr, if that is a terminal, once a run has lasted a second.
pub(super) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// Whether a bar may still appear.
    waiting: AtomicBool,
}

impl Progress {
    /// A bar over `files` files.
    pub(super) fn new(files: usize, quiet: bool) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files {eta}") {
            bar.set_style(style);
        }
        let waiting = !quiet && std::io::stderr().is_terminal();
        Progress { bar, start: Instant::now(), waiting: AtomicBool::new(waiting) }
    }

    /// One more file is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
        if self.waiting.load(Ordering::Relaxed)
            && self.start.elapsed() > PATIENCE
            && self.waiting.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
