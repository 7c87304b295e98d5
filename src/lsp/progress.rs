//! How is an editor told how far a long run is?

use crossbeam_channel::Sender;
use ls_types::notification::{Notification as _, Progress as Progressed};
use ls_types::request::{Request as _, WorkDoneProgressCreate};
use ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use lsp_server::{Message, Notification, Request};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs shorter than this are not told of.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often there is news.
const PAUSE: Duration = Duration::from_millis(100);

/// One run that an editor may be told of.
pub(super) struct Progress<'a> {
    sender: &'a Sender<Message>,
    token: String,
    start: Instant,
    /// When the editor was told last, if it was.
    told: Mutex<Option<Instant>>,
}

impl<'a> Progress<'a> {
    /// Starts the clock. `number`: of the run, which no other has.
    pub(super) fn new(sender: &'a Sender<Message>, number: u64) -> Progress<'a> {
        let token = format!("cudalint-{number}");
        Progress { sender, token, start: Instant::now(), told: Mutex::new(None) }
    }

    /// So many steps are done.
    pub(super) fn step(&self, done: usize, steps: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let due = match *told {
            None => now.duration_since(self.start) > PATIENCE,
            Some(last) => now.duration_since(last) > PAUSE,
        };
        if !due {
            return;
        }
        let percentage = u32::try_from(done * 100 / steps.max(1)).ok();
        if told.is_none() {
            let token = NumberOrString::String(self.token.clone());
            let method = WorkDoneProgressCreate::METHOD.to_owned();
            let params = WorkDoneProgressCreateParams { token };
            let id = format!("create-{}", self.token).into();
            let _ = self.sender.send(Request::new(id, method, params).into());
            self.tell(WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: "cudalint".to_owned(),
                cancellable: Some(false),
                message: None,
                percentage,
            }));
        } else {
            let (cancellable, message) = (Some(false), None);
            let report = WorkDoneProgressReport { cancellable, message, percentage };
            self.tell(WorkDoneProgress::Report(report));
        }
        *told = Some(now);
    }

    fn tell(&self, progress: WorkDoneProgress) {
        let token = NumberOrString::String(self.token.clone());
        let params = ProgressParams { token, value: ProgressParamsValue::WorkDone(progress) };
        // An editor that is gone is told nothing.
        let _ = self.sender.send(Notification::new(Progressed::METHOD.to_owned(), params).into());
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            self.tell(WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
        }
    }
}
