//! How long does an editor wait for findings?
//!
//! `cargo bench --bench editor` starts the released program as an editor does, for a generated folder of 500
//! files, and one file of 2,000 lines among them. The table holds the time from the start to the first
//! findings, and from an edit to its findings, the server's pause for quiet among it: of a blank that comes and
//! goes, and of statements that are typed, character by character, most of which leave a text with errors. With
//! `CUDALINT_CORPUS=FOLDER` every folder in FOLDER is measured too, with edits of its largest file.
//! Criterion's figure is an edit of the generated folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use criterion::{Criterion, criterion_group, criterion_main};
use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How many edits of a file are measured.
const EDITS: usize = 60;

/// What is typed.
const TYPED: &str =
    "\n  // then what follows\n  float more = 2.0f;\n  if (more > 3) { more += more; }\n  more = more * 2;";

/// A server and the text that it is shown.
struct Editor {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    uri: String,
    text: String,
    version: i64,
}

impl Editor {
    /// Starts a server for a folder and shows it a file of it; with the time to the first findings.
    fn start(folder: &Path, file: &Path) -> (Editor, Duration) {
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
        let uri = |path: &Path| format!("file://{}", path.display());
        let mut editor =
            Editor { child, stdin, stdout: BufReader::new(stdout), uri: uri(file), text, version: 1 };
        let folders = json!([{ "uri": uri(folder), "name": "bench" }]);
        let params = json!({ "processId": null, "capabilities": {}, "workspaceFolders": folders });
        let method = "initialize".to_owned();
        editor.send(Request { id: 1.into(), method, params }.into());
        editor.tell("initialized", json!({}));
        let document = json!({ "uri": editor.uri, "languageId": "cuda", "version": 1, "text": editor.text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        editor.wait();
        (editor, start.elapsed())
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.stdin).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    /// Waits for the findings of the newest version.
    fn wait(&mut self) {
        loop {
            let message = Message::read(&mut self.stdout).unwrap().expect("the server goes on");
            if let Message::Notification(it) = message
                && it.method == "textDocument/publishDiagnostics"
                && it.params["uri"] == self.uri
                && it.params["version"] == self.version
            {
                return;
            }
        }
    }

    /// Replaces `length` characters of a line; the time to the findings.
    fn replace(&mut self, line: usize, at: usize, length: usize, text: &str) -> Duration {
        let (start, end) =
            (json!({ "line": line, "character": at }), json!({ "line": line, "character": at + length }));
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let change = json!([{ "range": { "start": start, "end": end }, "text": text }]);
        let start = Instant::now();
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
        self.wait();
        start.elapsed()
    }

    /// Puts a blank into the middle of the file, or takes it out again; the time to the findings.
    fn edit(&mut self) -> Duration {
        let line = self.text.lines().count() / 2;
        match self.version % 2 {
            1 => self.replace(line, 0, 0, " "),
            _ => self.replace(line, 0, 1, ""),
        }
    }

    /// Types statements into a body in the middle of the file; the time to the findings of each character.
    fn type_in(&mut self) -> Vec<Duration> {
        let middle = self.text.lines().count() / 2;
        let ends = |line: &&str| line.ends_with(';') && line.starts_with("  ");
        let below = self.text.lines().skip(middle).position(|line| ends(&line));
        let mut line = middle + below.unwrap_or_default();
        let mut at = self.text.lines().nth(line).unwrap_or_default().chars().count();
        let mut times = Vec::new();
        for typed in TYPED.chars() {
            times.push(self.replace(line, at, 0, &typed.to_string()));
            (line, at) = if typed == '\n' { (line + 1, 0) } else { (line, at + 1) };
            // Nobody types faster.
            std::thread::sleep(Duration::from_millis(30));
        }
        times
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A kernel of 33 lines, and its launch.
fn kernel(number: usize) -> String {
    let mut text = format!(
        "__global__ void turn{number}(float *out, const float *in, int n) {{\n  __shared__ float \
         tile[32][{}];\n  int x = blockIdx.x * 32 + threadIdx.x;\n  int y = blockIdx.y * 32 + threadIdx.y;\n  \
         for (int i = 0; i < 32; i += 8)\n    tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + \
         x];\n  __syncthreads();\n  float sum = 0;\n",
        32 + number % 2
    );
    for line in 0..17 {
        writeln!(text, "  sum += out[x + {line}] * {number}.0f; // a line that does something else").unwrap();
    }
    text.push_str(
        "  for (int i = 0; i < 32; i += 8)\n    out[(y + i) * n + x] = sum + tile[threadIdx.x][threadIdx.y + i];\n}\n",
    );
    write!(
        text,
        "void run{number}(float *out, const float *in, int n) {{\n  turn{number}<<<dim3(n / 32, n / 32), \
         dim3(32, 8)>>>(out, in, n);\n}}\n\n"
    )
    .unwrap();
    text
}

/// 500 files: a third kernels, a third kernels of a header, a third host code; one of them of 2,000 lines.
fn generated(root: &Path) -> PathBuf {
    fs::write(root.join("common.cuh"), format!("#pragma once\n#define TILE 32\n{}", kernel(9999))).unwrap();
    for number in 0..498 {
        let text = match number % 3 {
            0 => kernel(number),
            1 => format!("#include \"common.cuh\"\n{}", kernel(number)),
            _ => format!(
                "void run{0}(float *, const float *, int);\nint step{number}(float *a) {{\n  run{0}(a, a, \
                 {number});\n  return cudaGetLastError();\n}}\n",
                number - 1
            ),
        };
        fs::write(root.join(format!("{number}.cu")), text).unwrap();
    }
    let large = root.join("large.cu");
    fs::write(&large, (1000..1061).map(kernel).collect::<String>()).unwrap();
    large
}

/// The largest file that the program would take for CUDA.
fn largest(root: &Path) -> Option<PathBuf> {
    let found = cudalint::walk::find(&[root.to_path_buf()], &[], &|_, _| false).candidates;
    let cuda = found.into_iter().filter(|it| !it.only_if_cuda).map(|it| it.path);
    cuda.max_by_key(|path| fs::metadata(path).map_or(0, |it| it.len()))
}

fn row(name: &str, folder: &Path, file: &Path) {
    let (mut editor, first) = Editor::start(folder, file);
    let of = |mut times: Vec<Duration>| {
        times.sort();
        [50, 95].map(|share| times[(times.len() * share).div_ceil(100).saturating_sub(1)])
    };
    let [half, most] = of((0..EDITS).map(|_| editor.edit()).collect());
    let [typed_half, typed_most] = of(editor.type_in());
    let lines = editor.text.lines().count();
    println!(
        "| {name} | {lines} | {first:.0?} | {half:.0?} | {most:.0?} | {typed_half:.0?} | {typed_most:.0?} |"
    );
}

fn edits(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let large = generated(&root);
    println!("| folder | lines of the file | first findings | a blank, half | 95 % | typing, half | 95 % |");
    println!("|---|---|---|---|---|---|---|");
    row("generated, 500 files", &root, &large);
    row("the same, a small file", &root, &root.join("3.cu"));
    if let Some(corpora) = std::env::var_os("CUDALINT_CORPUS") {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(corpora).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        for folder in folders.iter().filter_map(|it| it.canonicalize().ok()).filter(|it| it.is_dir()) {
            if let Some(file) = largest(&folder) {
                row(&folder.file_name().unwrap_or_default().to_string_lossy(), &folder, &file);
            }
        }
    }
    let (mut editor, _) = Editor::start(&root, &large);
    criterion.bench_function("an edit of 2,000 lines among 500 files", |bencher| {
        bencher.iter(|| editor.edit());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = edits
}
criterion_main!(benches);
