//! An editor as the language server knows it: a program that speaks the protocol with it over stdio.

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// No answer takes so long, unless none comes.
const FOREVER: Duration = Duration::from_secs(120);

/// A server and what it said so far.
pub struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Message>,
    next: i32,
    /// What is shown of each file, by URI: the version and the findings.
    pub shown: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    /// Everything else that came, in order.
    pub others: Vec<Message>,
    /// What the server said that it can do.
    pub capabilities: Value,
}

/// What a file is called.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// An LSP position.
pub fn position(line: usize, character: usize) -> Value {
    json!({ "line": line, "character": character })
}

impl Editor {
    /// Starts a server for some folders.
    pub fn open(folders: &[&Path], capabilities: Value) -> Editor {
        Editor::with_arguments(&[], folders, capabilities)
    }

    /// The same with arguments on its command line.
    pub fn with_arguments(arguments: &[&str], folders: &[&Path], capabilities: Value) -> Editor {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.arg("lsp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let (shown, others, capabilities_of_server) = (BTreeMap::new(), Vec::new(), Value::Null);
        let capabilities_given = capabilities;
        let mut editor =
            Editor { child, stdin, messages, next: 0, shown, others, capabilities: capabilities_of_server };
        let folder = |path: &&Path| json!({ "uri": uri(path), "name": "folder" });
        let answer = editor.ask(
            "initialize",
            json!({
                "processId": null,
                "rootUri": null,
                "capabilities": capabilities_given,
                "workspaceFolders": folders.iter().map(folder).collect::<Vec<_>>(),
            }),
        );
        editor.capabilities = answer.unwrap()["capabilities"].clone();
        editor.tell("initialized", json!({}));
        editor
    }

    /// Sends a message as it is.
    pub fn send(&mut self, message: Message) {
        message.write(self.stdin.as_mut().unwrap()).unwrap();
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    /// Asks without waiting.
    pub fn request(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id: RequestId = self.next.into();
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        id
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.request(method, params);
        self.answer(&id)
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            match self.take() {
                Message::Response(Response { id: other, response_result }) if other == *id => {
                    return response_result.map_err(|error| (error.code, error.message));
                }
                other => self.note(other),
            }
        }
    }

    fn take(&mut self) -> Message {
        self.messages.recv_timeout(FOREVER).expect("the server says something more")
    }

    fn note(&mut self, message: Message) {
        match message {
            Message::Notification(it) if it.method == "textDocument/publishDiagnostics" => {
                let uri = it.params["uri"].as_str().unwrap().to_owned();
                let findings = it.params["diagnostics"].as_array().unwrap().clone();
                self.shown.insert(uri, (it.params["version"].as_i64(), findings));
            }
            Message::Request(request) => {
                let answer = Response::new_ok(request.id.clone(), Value::Null);
                self.others.push(Message::Request(request));
                self.send(answer.into());
            }
            other => self.others.push(other),
        }
    }

    /// Waits until a message of this method has come.
    pub fn wait_for(&mut self, method: &str) -> Value {
        loop {
            let of = |message: &Message| match message {
                Message::Notification(it) if it.method == method => Some(it.params.clone()),
                Message::Request(it) if it.method == method => Some(it.params.clone()),
                _ => None,
            };
            if let Some(params) = self.others.iter().find_map(of) {
                return params;
            }
            let message = self.take();
            self.note(message);
        }
    }

    /// Shows a text of a file, as its first version.
    pub fn show(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": uri(path), "languageId": "cuda", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a whole text.
    pub fn replace(&mut self, path: &Path, version: i64, text: &str) {
        self.change(path, version, json!([{ "text": text }]));
    }

    pub fn change(&mut self, path: &Path, version: i64, changes: Value) {
        let document = json!({ "uri": uri(path), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    pub fn close(&mut self, path: &Path) {
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri(path) } }));
    }

    /// Waits until all that was sent is analysed and shown: what is asked is answered after that.
    pub fn settle(&mut self) {
        let nowhere = uri(Path::new("/nowhere.cu"));
        self.ask("textDocument/codeLens", json!({ "textDocument": { "uri": nowhere } })).unwrap();
    }

    /// The findings that are shown of a file once all is analysed.
    pub fn findings(&mut self, path: &Path) -> Vec<Value> {
        self.settle();
        self.shown.get(&uri(path)).map_or_else(Vec::new, |(_, findings)| findings.clone())
    }

    /// The rules of those findings.
    pub fn rules(&mut self, path: &Path) -> Vec<String> {
        self.findings(path).iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
    }

    /// What can be done at a line.
    pub fn actions(&mut self, path: &Path, line: usize) -> Vec<Value> {
        let range = json!({ "start": position(line, 0), "end": position(line, 200) });
        let params = json!({
            "textDocument": { "uri": uri(path) }, "range": range, "context": { "diagnostics": [] },
        });
        self.ask("textDocument/codeAction", params).unwrap().as_array().unwrap().clone()
    }

    /// Says goodbye; how the server ends.
    pub fn quit(mut self) -> ExitStatus {
        self.ask("shutdown", Value::Null).unwrap();
        self.tell("exit", Value::Null);
        self.child.wait().unwrap()
    }

    /// Goes away without a word; how the server ends.
    pub fn vanish(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text with the edits that an action makes to a file, where columns count ASCII characters.
pub fn edited(text: &str, action: &Value, path: &Path) -> String {
    let mut edits = action["edit"]["changes"][uri(path)].as_array().unwrap().clone();
    let place = |position: &Value| {
        (position["line"].as_u64().unwrap() as usize, position["character"].as_u64().unwrap() as usize)
    };
    let offset = |position: &Value| {
        let (line, column) = place(position);
        text.split_inclusive('\n').take(line).map(str::len).sum::<usize>() + column
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(&edit["range"]["start"])));
    let mut text = text.to_owned();
    let places: Vec<(usize, usize, String)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"]), offset(&range["end"]), edit["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    for (start, end, new) in places {
        text.replace_range(start..end, &new);
    }
    text
}
