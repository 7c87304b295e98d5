//! A browser without a window, driven over a pipe by the protocol of its developer tools.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--remote-debugging-pipe",
];

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A page in a browser, which is ended with it.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    asked: u64,
    /// What happened, as the browser tells it.
    pub events: Vec<Value>,
    /// What it keeps of itself.
    _profile: TempDir,
}

impl Browser {
    /// An empty page; `None` where there is no browser.
    pub fn start() -> Option<Browser> {
        let is_there =
            |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success());
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there)?;
        let profile = tempfile::tempdir().unwrap();
        // It reads orders from descriptor 3 and answers on 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut command = Command::new("sh");
        command.args(["-c", script, program]).args(FLAGS);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (send, answers) = channel();
        thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                if send.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let (session, events) = (None, Vec::new());
        let mut browser = Browser { child, input, answers, session, asked: 0, events, _profile: profile };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"].as_array().unwrap().iter().find(|it| it["type"] == "page").unwrap();
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Asks for something and waits for the answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer =
                self.answers.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens an address and waits until it is there.
    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        while !self.events.iter().any(|it| it["method"] == "Page.loadEventFired") {
            let event = self.answers.recv_timeout(PATIENCE).expect("the page loads");
            self.events.push(event);
        }
    }

    /// The value of an expression of the page's language.
    pub fn value(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses a key, and waits until the page has done what it does a moment later.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { json!(key) } else { Value::Null };
        for (kind, text) in [("keyDown", text), ("keyUp", Value::Null)] {
            let mut event = json!({ "type": kind, "key": key });
            if !text.is_null() {
                event["text"] = text;
            }
            self.call("Input.dispatchKeyEvent", event);
        }
        self.value("new Promise((done) => setTimeout(done, 100))");
    }

    /// Types a text into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
        self.value("new Promise((done) => setTimeout(done, 50))");
    }

    /// The width of the window in pixels.
    pub fn width(&mut self, width: u32) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// The addresses that the page asked for.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.events.iter().filter(|it| it["method"] == "Network.requestWillBeSent");
        sent.map(|it| it["params"]["request"]["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Errors and words of the page's script.
    pub fn complaints(&self) -> Vec<&Value> {
        let kinds = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        self.events.iter().filter(|it| kinds.iter().any(|kind| it["method"] == *kind)).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
