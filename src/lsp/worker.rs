//! When is what analysed, and who is told?
//!
//! The worker takes what the editor shows and what it asks, in order. What was changed again before its turn
//! came is not analysed, and a run that is under way is broken off when its text is not the newest any more.
//! Questions are answered from the newest text, after its findings are published.

use super::client::Client;
use super::places::Places;
use super::progress::Progress;
use super::publish::{refusal, shown};
use super::{Analyst, Checked, Watch, World, actions, definitions, hints, hover, lenses};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use ls_types::notification::{LogMessage, Notification as _, PublishDiagnostics, ShowMessage};
use ls_types::request::{CodeLensRefresh, InlayHintRefreshRequest, Request as _};
use ls_types::{
    CodeActionParams, Diagnostic, LogMessageParams, MessageType, Position, PublishDiagnosticsParams, Range,
    ShowMessageParams, Uri,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long nothing may change before the newest text is analysed.
const QUIET: Duration = Duration::from_millis(5);

/// Something for the worker.
pub(super) enum Job {
    /// The editor shows this now; the number grows.
    Check(u64, World),
    /// The editor asks something, of what it showed with this number.
    Answer(u64, RequestId, Question),
    /// An answer is not needed any more.
    Forget(RequestId),
}

/// What an editor may ask.
pub(super) enum Question {
    /// What there is to be told of a place.
    Hover(PathBuf, Position),
    /// What can be done about the findings of a place.
    Actions(PathBuf, Box<CodeActionParams>),
    /// What there is to be told of the kernels of a file.
    Lenses(PathBuf),
    /// Where a kernel is launched, or which kernel a launch means.
    Definition(PathBuf, Position),
    /// What is shown behind the accesses of a part of a file.
    Hints(PathBuf, Range),
}

/// What a file was last said to hold.
#[derive(Clone, Debug, PartialEq)]
struct Published {
    uri: Uri,
    version: Option<i32>,
    diagnostics: Vec<Diagnostic>,
}

pub(super) struct Worker<'a, A> {
    analyst: A,
    client: Client,
    jobs: Receiver<Job>,
    sender: Sender<Message>,
    /// The number of the newest thing that the editor shows.
    newest: &'a AtomicU64,
    due: Option<(u64, World)>,
    questions: VecDeque<(u64, RequestId, Question)>,
    /// What was analysed last, and what came of it.
    world: (u64, World),
    checked: Vec<Checked>,
    published: BTreeMap<PathBuf, Published>,
    /// What was said last beside findings.
    said: Vec<String>,
}

impl<'a, A: Analyst> Worker<'a, A> {
    pub(super) fn new(
        analyst: A,
        client: Client,
        jobs: Receiver<Job>,
        sender: Sender<Message>,
        newest: &'a AtomicU64,
    ) -> Worker<'a, A> {
        Worker {
            analyst,
            client,
            jobs,
            sender,
            newest,
            due: None,
            questions: VecDeque::new(),
            world: (0, World::default()),
            checked: Vec::new(),
            published: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    /// Works until no one can have anything more for it.
    pub(super) fn run(mut self) {
        while let Ok(job) = self.jobs.recv() {
            self.take(job);
            loop {
                match self.jobs.recv_timeout(if self.due.is_some() { QUIET } else { Duration::ZERO }) {
                    Ok(job) => self.take(job),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            if let Some((number, world)) = self.due.take() {
                self.check(number, world);
            }
            // Else there is a newer text on its way.
            if self.is_newest(self.world.0) {
                while let Some((number, id, question)) = self.questions.pop_front() {
                    self.answer(number, id, question);
                }
            }
            self.analyst.rest();
        }
    }

    fn is_newest(&self, number: u64) -> bool {
        self.newest.load(Ordering::SeqCst) == number
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Check(number, world) => self.due = Some((number, world)),
            Job::Answer(number, id, question) => self.questions.push_back((number, id, question)),
            Job::Forget(id) => {
                let before = self.questions.len();
                self.questions.retain(|(_, other, _)| *other != id);
                if self.questions.len() < before {
                    let message = "it was cancelled".to_owned();
                    self.send(Response::new_err(id, ErrorCode::RequestCanceled as i32, message));
                }
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // Where the editor is gone, the main thread ends soon.
        let _ = self.sender.send(message.into());
    }

    fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn log(&self, kind: MessageType, message: String) {
        self.notify(LogMessage::METHOD, LogMessageParams { typ: kind, message });
    }

    /// Analyses and publishes, unless something newer comes.
    fn check(&mut self, number: u64, world: World) {
        let newest = self.newest;
        let sender = self.sender.clone();
        let progress = self.client.progress.then(|| Progress::new(&sender, number));
        let step = |done: usize, steps: usize| progress.iter().for_each(|it| it.step(done, steps));
        let cancelled = || newest.load(Ordering::SeqCst) != number;
        let watch = Watch { cancelled: &cancelled, step: &step };
        let analyst = &mut self.analyst;
        let checked = panic::catch_unwind(AssertUnwindSafe(|| analyst.check(&world, watch)));
        drop(progress);
        match checked {
            Ok(Some(checked)) => {
                self.checked = checked;
                self.world = (number, world);
                if self.is_newest(number) {
                    self.publish();
                    self.say();
                }
            }
            Ok(None) => {}
            Err(panic) => {
                let why = panic.downcast_ref::<&str>().map(|why| (*why).to_owned());
                let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                self.log(MessageType::ERROR, format!("internal error: {why}"));
                self.checked.clear();
                self.world = (number, world);
            }
        }
    }

    /// Tells what was found, as far as it is news.
    fn publish(&mut self) {
        let buffers = &self.world.1.buffers;
        let mut found: BTreeMap<PathBuf, Published> = BTreeMap::new();
        for buffer in buffers {
            let (uri, version) = (buffer.uri.clone(), Some(buffer.version));
            found.insert(buffer.path.clone(), Published { uri, version, diagnostics: Vec::new() });
        }
        for checked in &self.checked {
            let places = Places::new(checked, buffers, self.client.encoding);
            for finding in &checked.findings {
                let file = finding.primary.file;
                let (Some(path), Some(uri)) = (places.path(file), places.uri(file)) else { continue };
                let new = || Published { uri, version: None, diagnostics: Vec::new() };
                let published = found.entry(path.clone()).or_insert_with(new);
                let shown = shown(finding, &places, &self.client);
                // A header may be met in the folders and from a file beside them.
                if !published.diagnostics.contains(&shown) {
                    published.diagnostics.push(shown);
                }
            }
        }
        for refused in self.checked.iter().flat_map(|checked| &checked.refused) {
            let Some(uri) = Uri::from_file_path(&refused.path) else { continue };
            let new = || Published { uri, version: None, diagnostics: Vec::new() };
            let published = found.entry(refused.path.clone()).or_insert_with(new);
            let shown = refusal(refused, self.client.encoding);
            if !published.diagnostics.contains(&shown) {
                published.diagnostics.push(shown);
            }
        }
        let gone = self
            .published
            .iter()
            .filter(|(path, it)| !found.contains_key(*path) && !it.diagnostics.is_empty());
        for (_, Published { uri, .. }) in gone {
            let params = PublishDiagnosticsParams::new(uri.clone(), Vec::new(), None);
            self.notify(PublishDiagnostics::METHOD, params);
        }
        for (path, new) in &found {
            if self.published.get(path) != Some(new) {
                let Published { uri, version, diagnostics } = new.clone();
                let params = PublishDiagnosticsParams::new(uri, diagnostics, version);
                self.notify(PublishDiagnostics::METHOD, params);
            }
        }
        self.published = found;
        if self.client.refreshes_lenses {
            let id = format!("lenses-{}", self.world.0).into();
            self.send(Request::new(id, CodeLensRefresh::METHOD.to_owned(), ()));
        }
        if self.client.refreshes_hints {
            let id = format!("hints-{}", self.world.0).into();
            self.send(Request::new(id, InlayHintRefreshRequest::METHOD.to_owned(), ()));
        }
    }

    /// Says what there is to say beside findings, if it is not what was said last.
    fn say(&mut self) {
        let refused = || self.checked.iter().flat_map(|checked| &checked.refused);
        let messages = self.checked.iter().flat_map(|it| &it.messages);
        let messages: Vec<String> = messages.chain(refused().map(|it| &it.words)).cloned().collect();
        // Who types in a configuration sees there what is wrong.
        let is_open = |path: &Path| self.world.1.buffers.iter().any(|buffer| buffer.path == path);
        let shown: Vec<&str> = refused().filter(|it| is_open(&it.path)).map(|it| it.words.as_str()).collect();
        for message in messages.iter().filter(|message| !self.said.contains(message)) {
            let kind = match message {
                text if text.starts_with("error") => MessageType::ERROR,
                text if text.starts_with("warning") => MessageType::WARNING,
                _ => MessageType::INFO,
            };
            self.log(kind, message.clone());
            // Nothing is checked as long as it is so.
            if kind == MessageType::ERROR && !shown.contains(&message.as_str()) {
                let params = ShowMessageParams { typ: kind, message: format!("cudalint: {message}") };
                self.notify(ShowMessage::METHOD, params);
            }
        }
        self.said = messages;
    }

    fn answer(&mut self, number: u64, id: RequestId, question: Question) {
        if number != self.world.0 {
            let message = "the text has changed".to_owned();
            self.send(Response::new_err(id, ErrorCode::ContentModified as i32, message));
            return;
        }
        let answered = panic::catch_unwind(AssertUnwindSafe(|| self.answer_to(question)));
        self.send(match answered {
            Ok(answer) => Response::new_ok(id, answer),
            Err(_) => Response::new_err(id, ErrorCode::InternalError as i32, "internal error".to_owned()),
        });
    }

    fn answer_to(&mut self, question: Question) -> serde_json::Value {
        let Worker { analyst, client, checked, world, .. } = self;
        let buffers = &world.1.buffers;
        let value = match question {
            Question::Hover(path, position) => {
                let buffer = buffers.iter().find(|buffer| buffer.path == path);
                let hover = buffer.and_then(|it| hover::hover(analyst, it, position, client));
                serde_json::to_value(hover)
            }
            Question::Actions(path, params) => {
                let mut all = Vec::new();
                for (number, checked) in checked.iter().enumerate() {
                    let places = Places::new(checked, buffers, client.encoding);
                    all.extend(actions::actions(analyst, number, &places, checked, &path, &params, client));
                }
                serde_json::to_value(all)
            }
            Question::Definition(path, position) => {
                let all = checked.iter().flat_map(|checked| {
                    let places = Places::new(checked, buffers, client.encoding);
                    definitions::definitions(checked, &places, &path, position)
                });
                serde_json::to_value(all.collect::<Vec<_>>())
            }
            Question::Hints(path, range) => {
                let all = checked.iter().flat_map(|checked| {
                    let places = Places::new(checked, buffers, client.encoding);
                    hints::hints(checked, &places, &path, range)
                });
                serde_json::to_value(all.collect::<Vec<_>>())
            }
            Question::Lenses(path) => {
                let all = checked.iter().flat_map(|checked| {
                    let places = Places::new(checked, buffers, client.encoding);
                    lenses::lenses(checked, &places, &path)
                });
                serde_json::to_value(all.collect::<Vec<_>>())
            }
        };
        value.unwrap_or_default()
    }
}
