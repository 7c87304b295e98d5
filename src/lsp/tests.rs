use super::*;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value, json};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const FILE: &str = "file:///a.cu";
const FOREVER: Duration = Duration::from_secs(60);

/// Finds nothing, tells of each text that it is shown, and can be made to take its time or to panic.
struct Fake {
    seen: Sender<String>,
}

impl Analyst for Fake {
    fn check(&mut self, world: &World, watch: Watch<'_>) -> Option<Vec<Checked>> {
        let text = world.buffers.first().map_or_else(String::new, |buffer| buffer.text.to_string());
        self.seen.send(text.clone()).unwrap();
        if text == "slow" {
            while !(watch.cancelled)() {
                thread::yield_now();
            }
            return None;
        }
        assert!(text != "panic", "no such text");
        Some(vec![Checked { messages: vec![format!("warning: {text}")], ..Checked::default() }])
    }

    fn explain(&mut self, _: &Path, _: usize, _: usize) -> Vec<Explanation> {
        panic!("nothing can be told");
    }

    fn offers(&mut self, _: usize, _: &[usize]) -> Vec<Offer> {
        Vec::new()
    }

    fn rest(&mut self) {}
}

/// A client, what the analyst saw, and the server's thread.
struct Client {
    connection: Connection,
    seen: Receiver<String>,
    server: JoinHandle<bool>,
}

impl Client {
    fn start() -> Client {
        let (connection, other) = Connection::memory();
        let (sender, seen) = unbounded();
        let server = thread::spawn(move || serve(&other, false, || Fake { seen: sender }).is_ok());
        let client = Client { connection, seen, server };
        client.ask(1, "initialize", json!({ "capabilities": {} }));
        client.tell("initialized", json!({}));
        assert_eq!(client.saw(), "");
        client
    }

    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification { method: method.to_owned(), params }.into()).unwrap();
    }

    fn show(&self, version: i32, text: &str) {
        let document = json!({ "uri": FILE, "languageId": "cuda", "version": version, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn request(&self, id: i32, method: &str, params: Value) {
        let request = Request { id: id.into(), method: method.to_owned(), params };
        self.connection.sender.send(request.into()).unwrap();
    }

    /// Waits for an answer; its error's code, or 0.
    fn ask(&self, id: i32, method: &str, params: Value) -> i32 {
        self.request(id, method, params);
        loop {
            if let Message::Response(Response { id: other, response_result }) = self.next()
                && other == id.into()
            {
                return response_result.err().map_or(0, |error| error.code);
            }
        }
    }

    fn next(&self) -> Message {
        self.connection.receiver.recv_timeout(FOREVER).unwrap()
    }

    fn saw(&self) -> String {
        self.seen.recv_timeout(FOREVER).unwrap()
    }

    /// The next version of which findings are told.
    fn published(&self) -> i64 {
        loop {
            if let Message::Notification(it) = self.next()
                && it.method == "textDocument/publishDiagnostics"
            {
                return it.params["version"].as_i64().unwrap();
            }
        }
    }

    fn place() -> Value {
        json!({ "textDocument": { "uri": FILE }, "position": { "line": 0, "character": 0 } })
    }

    fn end(self) {
        self.ask(99, "shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.join().unwrap());
    }
}

#[test]
fn a_run_is_broken_off_for_a_newer_text_and_what_lies_between_is_passed_over() {
    let client = Client::start();
    client.show(1, "slow");
    assert_eq!(client.saw(), "slow");
    // A question about a text that is not there any more when its turn comes.
    client.request(2, "textDocument/hover", Client::place());
    client.show(2, "between");
    client.show(3, "last");
    let mut answer = None;
    while answer.is_none() {
        if let Message::Response(Response { id, response_result }) = client.next()
            && id == 2.into()
        {
            answer = response_result.err().map(|error| error.code);
        }
    }
    assert_eq!(answer, Some(-32801));
    let seen: Vec<String> = client.seen.try_iter().collect();
    assert_eq!(seen.last().map(String::as_str), Some("last"));
    assert!(!seen.contains(&"slow".to_owned()));
    client.end();
}

#[test]
fn the_server_answers_while_a_run_is_under_way() {
    let client = Client::start();
    client.show(1, "slow");
    assert_eq!(client.saw(), "slow");
    assert_eq!(client.ask(2, "no/such", Value::Null), -32601);
    client.request(3, "textDocument/codeLens", json!({ "textDocument": { "uri": FILE } }));
    // What is not wanted any more waits for no run.
    client.show(2, "quick");
    assert_eq!(client.published(), 2);
    client.end();
}

#[test]
fn a_panic_costs_one_run_or_one_answer() {
    let client = Client::start();
    client.show(1, "panic");
    let said = loop {
        if let Message::Notification(it) = client.next()
            && it.method == "window/logMessage"
            && it.params["type"] == 1
        {
            break it.params["message"].as_str().unwrap().to_owned();
        }
    };
    assert_eq!(said, "internal error: no such text");
    client.show(2, "well");
    assert_eq!(client.published(), 2);
    assert_eq!(client.ask(2, "textDocument/hover", Client::place()), -32603);
    assert_eq!(client.ask(3, "textDocument/codeLens", json!({ "textDocument": { "uri": FILE } })), 0);
    client.end();
}

#[test]
fn a_run_that_nobody_waits_for_ends_with_the_server() {
    let client = Client::start();
    client.show(1, "slow");
    assert_eq!(client.saw(), "slow");
    client.end();
    // Nor does an editor that is gone leave it behind.
    let client = Client::start();
    client.show(1, "slow");
    assert_eq!(client.saw(), "slow");
    let Client { connection, server, .. } = client;
    drop(connection);
    assert!(server.join().unwrap());
}
