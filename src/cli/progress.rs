//! How far is a long run?

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on stderr, if that is a terminal, once a run has lasted a second.
pub(super) struct Progress<'a> {
    bar: ProgressBar,
    start: Instant,
    /// Whether a bar may still appear.
    waiting: AtomicBool,
    /// Is told how many steps are done, and of how many.
    told: &'a (dyn Fn(usize, usize) + Sync),
    steps: usize,
    done: AtomicUsize,
}

impl<'a> Progress<'a> {
    /// A bar over so many steps, of each of which `told` is told, too.
    pub(super) fn new(steps: usize, quiet: bool, told: &'a (dyn Fn(usize, usize) + Sync)) -> Progress<'a> {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files {eta}") {
            bar.set_style(style);
        }
        let waiting = !quiet && std::io::stderr().is_terminal();
        let (waiting, done) = (AtomicBool::new(waiting), AtomicUsize::new(0));
        Progress { bar, start: Instant::now(), waiting, told, steps, done }
    }

    /// One more step is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
        (self.told)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.steps);
        if self.waiting.load(Ordering::Relaxed)
            && self.start.elapsed() > PATIENCE
            && self.waiting.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
