//! What can the editor do, and what is it offered?

use super::documents::path_of;
use super::position::Encoding;
use ls_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, SaveOptions, ServerCapabilities,
    ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use std::path::PathBuf;

/// What was agreed on with the editor.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// What columns count.
    pub(super) encoding: Encoding,
    /// It shows how far work is that it did not ask for.
    pub(super) progress: bool,
    /// It shows other places beside a finding.
    pub(super) related: bool,
    /// It tells of files that change on disk if it is asked to.
    pub(super) watches: bool,
    /// It asks for the lenses again when it is told to.
    pub(super) refreshes_lenses: bool,
    /// It asks for the inlay hints again when it is told to.
    pub(super) refreshes_hints: bool,
    /// It reads Markdown in what it shows beside the text.
    pub(super) markdown: bool,
    /// The user wants inlay hints.
    pub(super) hints: bool,
}

impl Client {
    pub(super) fn of(capabilities: &ClientCapabilities, hints: bool) -> Client {
        let general = capabilities.general.as_ref();
        let window = capabilities.window.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let document = capabilities.text_document.as_ref();
        let related = document.and_then(|it| it.publish_diagnostics.as_ref()?.related_information);
        let watches = workspace.and_then(|it| it.did_change_watched_files.as_ref()?.dynamic_registration);
        let refreshes = workspace.and_then(|it| it.code_lens.as_ref()?.refresh_support);
        let refreshes_hints = workspace.and_then(|it| it.inlay_hint.as_ref()?.refresh_support);
        let formats = document.and_then(|it| it.hover.as_ref()?.content_format.as_ref());
        Client {
            encoding: Encoding::of(general.and_then(|it| it.position_encodings.as_deref())),
            progress: window.and_then(|it| it.work_done_progress).unwrap_or(false),
            related: related.unwrap_or(false),
            watches: watches.unwrap_or(false),
            refreshes_lenses: refreshes.unwrap_or(false),
            refreshes_hints: hints && refreshes_hints.unwrap_or(false),
            hints,
            markdown: formats.is_some_and(|it| it.contains(&ls_types::MarkupKind::Markdown)),
        }
    }

    /// What the server answers when it starts.
    pub(super) fn offer(&self) -> InitializeResult {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        };
        let actions = CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            work_done_progress_options: WorkDoneProgressOptions::default(),
            resolve_provider: None,
        };
        let folders = WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(OneOf::Left(true)),
        };
        let workspace =
            WorkspaceServerCapabilities { workspace_folders: Some(folders), file_operations: None };
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(self.encoding.kind()),
                text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
                hover_provider: Some(HoverProviderCapability::Simple(true)),
                code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
                definition_provider: Some(OneOf::Left(true)),
                inlay_hint_provider: self.hints.then_some(OneOf::Left(true)),
                code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
                workspace: Some(workspace),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        }
    }
}

/// The folders that are open from the start.
#[allow(deprecated)] // `root_uri` is all that some editors send
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders {
        Some(folders) => folders.iter().filter_map(|folder| path_of(&folder.uri)).collect(),
        None => params.root_uri.iter().filter_map(path_of).collect(),
    }
}
