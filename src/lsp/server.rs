//! What does the editor say, and who does something about it?

use super::client::{Client, folders};
use super::documents::{Documents, path_of};
use super::worker::{Job, Question, Worker};
use super::{Analyst, World};
use crossbeam_channel::Sender;
use ls_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, LogMessage, Notification as _,
};
use ls_types::request::{
    CodeActionRequest, CodeLensRequest, GotoDefinition, HoverRequest, InlayHintRequest, RegisterCapability,
    Request as _,
};
use ls_types::{
    CancelParams, CodeActionParams, CodeLensParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, FileSystemWatcher, GlobPattern, GotoDefinitionParams, HoverParams,
    InitializeParams, InlayHintParams, LogMessageParams, MessageType, NumberOrString, Registration,
    RegistrationParams,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The files whose changes on disk may change findings.
const WATCHED: &str = "**/{*.cu,*.cuh,*.hip,*.h,*.hpp,*.hh,*.hxx,*.inl,*.c,*.cc,*.cpp,*.cxx,cudalint.toml,compile_commands.json,\
    CMakeLists.txt,Makefile,makefile,GNUmakefile,*.mk}";

/// Serves an editor until it says goodbye or is gone. An error is about what it said. `hints`: whether inlay
/// hints are offered. `analyst` is called on the thread that analyses.
pub(crate) fn serve<A: Analyst>(
    connection: &Connection,
    hints: bool,
    analyst: impl FnOnce() -> A + Send,
) -> Result<(), ProtocolError> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let why = format!("cannot read the client's capabilities: {error}");
            let refusal = Response::new_err(id, ErrorCode::InvalidParams as i32, why);
            // Where nobody listens, the next message says so.
            let _ = connection.sender.send(refusal.into());
            return serve(connection, hints, analyst);
        }
    };
    let client = Client::of(&params.capabilities, hints);
    let offer = serde_json::to_value(client.offer()).unwrap_or_default();
    connection.initialize_finish(id, offer)?;
    let (jobs, waiting) = crossbeam_channel::unbounded();
    let newest = AtomicU64::new(0);
    let (agreed, sender) = (client.clone(), connection.sender.clone());
    thread::scope(|scope| {
        scope.spawn(|| Worker::new(analyst(), agreed, waiting, sender, &newest).run());
        let documents = Documents::new(client.encoding);
        let mut server = Server { connection, jobs, newest: &newest, documents, folders: folders(&params) };
        if client.watches {
            server.watch();
        }
        let served = server.run();
        // What is under way is broken off; the worker ends as there is nothing more for it.
        newest.store(u64::MAX, Ordering::SeqCst);
        served
    })
}

struct Server<'a> {
    connection: &'a Connection,
    jobs: Sender<Job>,
    newest: &'a AtomicU64,
    documents: Documents,
    folders: Vec<PathBuf>,
}

impl Server<'_> {
    fn run(&mut self) -> Result<(), ProtocolError> {
        self.check();
        for message in &self.connection.receiver {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.request(request);
                }
                Message::Notification(notification) => self.notification(notification),
                // Nothing hangs on what the editor answers.
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    fn send(&self, message: impl Into<Message>) {
        // Where the editor is gone, no message comes any more either.
        let _ = self.connection.sender.send(message.into());
    }

    /// Has analysed what the editor shows now.
    fn check(&mut self) {
        let number = self.newest.load(Ordering::SeqCst) + 1;
        self.newest.store(number, Ordering::SeqCst);
        let world = World { folders: self.folders.clone(), buffers: self.documents.buffers() };
        self.tell(Job::Check(number, world));
    }

    fn tell(&self, job: Job) {
        // The worker ends only after this thread's work.
        let _ = self.jobs.send(job);
    }

    /// Asks to be told of files that change on disk.
    fn watch(&self) {
        let watcher = FileSystemWatcher { glob_pattern: GlobPattern::String(WATCHED.to_owned()), kind: None };
        let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
        let registration = Registration {
            id: "files".to_owned(),
            method: DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        self.send(Request::new("watch".to_owned().into(), RegisterCapability::METHOD.to_owned(), params));
    }

    fn request(&self, request: Request) {
        let Request { id, method, params } = request;
        let question = match method.as_str() {
            HoverRequest::METHOD => parsed(params).map(|params: HoverParams| {
                let place = params.text_document_position_params;
                path_of(&place.text_document.uri).map(|path| Question::Hover(path, place.position))
            }),
            GotoDefinition::METHOD => parsed(params).map(|params: GotoDefinitionParams| {
                let place = params.text_document_position_params;
                path_of(&place.text_document.uri).map(|path| Question::Definition(path, place.position))
            }),
            InlayHintRequest::METHOD => parsed(params).map(|params: InlayHintParams| {
                path_of(&params.text_document.uri).map(|path| Question::Hints(path, params.range))
            }),
            CodeActionRequest::METHOD => parsed(params).map(|params: CodeActionParams| {
                let path = path_of(&params.text_document.uri);
                path.map(|path| Question::Actions(path, Box::new(params)))
            }),
            CodeLensRequest::METHOD => parsed(params)
                .map(|params: CodeLensParams| path_of(&params.text_document.uri).map(Question::Lenses)),
            _ => {
                let why = format!("unknown method `{method}`");
                self.send(Response::new_err(id, ErrorCode::MethodNotFound as i32, why));
                return;
            }
        };
        match question {
            Ok(Some(question)) => {
                self.tell(Job::Answer(self.newest.load(Ordering::SeqCst), id, question));
            }
            // Of what is no file there is nothing to say.
            Ok(None) => self.send(Response::new_ok(id, serde_json::Value::Null)),
            Err(why) => self.send(Response::new_err(id, ErrorCode::InvalidParams as i32, why)),
        }
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let changed = match method.as_str() {
            DidOpenTextDocument::METHOD => parsed(params).map(|params| self.documents.open(params)),
            DidChangeTextDocument::METHOD => parsed(params).map(|params| self.documents.change(params)),
            DidCloseTextDocument::METHOD => parsed(params).map(|params| self.documents.close(&params)),
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => Ok(true),
            DidChangeWorkspaceFolders::METHOD => parsed(params).map(|params| self.change_folders(&params)),
            Cancel::METHOD => parsed(params).map(|params: CancelParams| {
                self.tell(Job::Forget(match params.id {
                    NumberOrString::Number(id) => id.into(),
                    NumberOrString::String(id) => id.into(),
                }));
                false
            }),
            _ => Ok(false),
        };
        match changed {
            Ok(true) => self.check(),
            Ok(false) => {}
            Err(why) => {
                let message = format!("cannot read `{method}`: {why}");
                let params = LogMessageParams { typ: MessageType::WARNING, message };
                self.send(Notification::new(LogMessage::METHOD.to_owned(), params));
            }
        }
    }

    fn change_folders(&mut self, params: &DidChangeWorkspaceFoldersParams) -> bool {
        let gone: Vec<PathBuf> = params.event.removed.iter().filter_map(|it| path_of(&it.uri)).collect();
        self.folders.retain(|folder| !gone.contains(folder));
        for folder in params.event.added.iter().filter_map(|it| path_of(&it.uri)) {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        true
    }
}

fn parsed<T: DeserializeOwned>(params: serde_json::Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}
