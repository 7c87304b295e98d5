//! Does the playground say what the command line says, and can it be used?
//!
//! Needs `playground/dist`, which `playground/build.sh` makes, and Chromium. Without them the tests in the browser
//! say that they were skipped; with `CUDALINT_NEEDS_PLAYGROUND=1`, as `.ci/run` sets it, they fail.

use crate::support::browser::Browser;
use crate::support::server::serve;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const EXAMPLES: &str = "playground/examples";

/// What the program finds in a text: the cards' titles in their order.
fn titles(text: &str, arguments: &[&str]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("kernel.cu"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(root.path()).args(["-q", "--sort", "cost", "--format", "json", "kernel.cu"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let message =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["message"].as_str().unwrap().to_owned();
    // What stands between back quotes is set as code.
    lines.lines().map(|line| message(line).replace('`', "")).collect()
}

/// The names of the examples' files and what they hold.
fn examples() -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(EXAMPLES).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_page_offers_all_examples_and_only_targets_that_exist() {
    let list = fs::read_to_string("playground/src/examples.ts").unwrap();
    for (name, _) in examples() {
        assert!(list.contains(&format!("../examples/{name}\"")), "{name}");
    }
    let page = fs::read_to_string("playground/src/index.html").unwrap();
    let targets: Vec<String> = Regex::new("<option value=\"(sm_[0-9]+)\"")
        .unwrap()
        .captures_iter(&page)
        .map(|found| found[1].to_owned())
        .collect();
    assert!(targets.len() > 8, "{targets:?}");
    titles("", &["--target", &targets.join(",")]);
}

/// The page in a browser, when its first check is done; `None` where it is not built, or there is no browser.
fn open() -> Option<(String, Browser)> {
    let built = Path::new("playground/dist");
    let browser = built.join("cudalint.wasm.gzip").is_file().then(Browser::start).flatten();
    let Some(mut browser) = browser else {
        assert!(
            std::env::var_os("CUDALINT_NEEDS_PLAYGROUND").is_none(),
            "there is no `chromium`, or `playground/build.sh` has not run"
        );
        println!("skipped: there is no `chromium`, or `playground/build.sh` has not run");
        return None;
    };
    let address = serve(built);
    browser.width(1280);
    browser.open(&address);
    settle(&mut browser);
    Some((address, browser))
}

/// Waits until what was typed or chosen is checked.
fn settle(browser: &mut Browser) {
    let settled = "new Promise((done) => { const look = () => \
                   document.body.dataset.state === 'done' ? done(true) : setTimeout(look, 20); setTimeout(look, 300); })";
    assert_eq!(browser.value(settled), true);
}

/// Chooses an entry of a list, or fills a field in.
fn choose(browser: &mut Browser, selector: &str, value: &str) {
    let value = json!(value);
    browser.value(&format!(
        "{{ const it = document.querySelector('{selector}'); it.value = {value}; \
         it.dispatchEvent(new Event('change')); }}"
    ));
    settle(browser);
}

/// Presses a key that does something, with modifiers as the protocol counts them: 2 is Control.
fn key(browser: &mut Browser, key: &str, code: u32, modifiers: u32) {
    let event =
        json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers });
    browser.call("Input.dispatchKeyEvent", event);
}

/// Puts a text into the editor as if it had been typed.
fn write(browser: &mut Browser, text: &str) {
    browser.value("document.querySelector('.cm-content').focus()");
    key(browser, "a", 65, 2);
    browser.call("Input.insertText", json!({ "text": text }));
    settle(browser);
}

fn texts(browser: &mut Browser, selector: &str) -> Vec<String> {
    let all =
        browser.value(&format!("[...document.querySelectorAll('{selector}')].map((it) => it.textContent)"));
    all.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn source(browser: &mut Browser) -> String {
    texts(browser, ".cm-line").join("\n")
}

/// The page said nothing in its console, and asked only for its own files.
fn assert_quiet(browser: &Browser, address: &str) {
    assert_eq!(browser.complaints(), Vec::<&Value>::new());
    let own = |asked: &String| ["data:", "blob:", address].iter().any(|it| asked.starts_with(it));
    let others: Vec<String> = browser.requests().into_iter().filter(|it| !own(it)).collect();
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn the_page_says_of_each_example_what_the_program_says() {
    let Some((address, mut browser)) = open() else { return };
    let mut seen = BTreeSet::new();
    for number in 0..examples().len() {
        choose(&mut browser, "#example", &number.to_string());
        let text = source(&mut browser);
        assert!(examples().iter().any(|(_, own)| *own == text), "{text}");
        assert_eq!(texts(&mut browser, ".finding h3"), titles(&text, &[]), "{text}");
        seen.extend(texts(&mut browser, ".standings b"));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["not decided", "proved free of races", "race found"]);
    // On this target the banks are as wide as two words.
    choose(&mut browser, "#example", "0");
    choose(&mut browser, "#target", "sm_35");
    let text = source(&mut browser);
    assert_eq!(texts(&mut browser, ".finding h3"), titles(&text, &["--target", "sm_35"]));
    choose(&mut browser, "#block", "32,8");
    assert_eq!(texts(&mut browser, ".finding h3"), titles(&text, &["--target", "sm_35", "--block", "32,8"]));
    choose(&mut browser, "#block", "0");
    assert!(texts(&mut browser, "#shown .complaints")[0].contains("--block"));
    assert_eq!(texts(&mut browser, ".finding h3"), Vec::<String>::new());
    assert_quiet(&browser, &address);
}

#[test]
fn findings_lead_to_the_text_and_fixes_change_it() {
    let Some((address, mut browser)) = open() else { return };
    assert_eq!(texts(&mut browser, ".cm-lintRange-warning"), ["tile[threadIdx.x][threadIdx.y]"]);
    // The first drawing is open, and can be played.
    browser.value("document.querySelector('.shot .player [aria-label=\"Next wavefront\"]').click()");
    assert_eq!(browser.value("document.querySelectorAll('.shot .w.now').length"), 2);
    browser.value("document.querySelector('.finding .meta a.at').click()");
    assert_eq!(
        texts(&mut browser, ".cm-activeLine"),
        ["    out[row * height + column] = tile[threadIdx.x][threadIdx.y];"]
    );
    assert_eq!(browser.value("document.activeElement.className.includes('cm-content')"), true);
    assert_eq!(browser.value("location.hash"), "");
    assert_eq!(
        texts(&mut browser, ".fix pre > *"),
        ["  __shared__ float tile[TILE][TILE];", "  __shared__ float tile[TILE][TILE + 1];"]
    );
    browser.value("document.querySelector('.fix button').click()");
    settle(&mut browser);
    assert!(source(&mut browser).contains("tile[TILE][TILE + 1];"));
    assert_eq!(texts(&mut browser, ".finding"), Vec::<String>::new());
    assert_eq!(texts(&mut browser, ".cm-lintRange"), Vec::<String>::new());

    // Columns count characters, not halves of them; marks and edits stand where they belong all the same.
    write(
        &mut browser,
        "__global__ void k(float* o) {\n/* \u{1f600}\u{e9} */ __shared__ float t[32][32]; o[threadIdx.x] = t[threadIdx.x][0];\n}\n\
         void r(float* o) { k<<<1, 32>>>(o); }\n",
    );
    assert!(texts(&mut browser, ".cm-lintRange").contains(&"t[threadIdx.x][0]".to_owned()));
    browser.value("document.querySelector('.fix button').click()");
    settle(&mut browser);
    assert!(
        source(&mut browser).contains("\u{1f600}\u{e9} */ __shared__ float t[32][33]; o"),
        "{}",
        source(&mut browser)
    );

    // What `--fix` would leave to the user is not offered: the size of the array would change.
    write(
        &mut browser,
        "__global__ void k(float* o, unsigned* n) {\n  __shared__ float t[32][32];\n  \
         o[threadIdx.x] = t[threadIdx.x][0];\n  *n = sizeof(t);\n}\n\
         void r(float* o, unsigned* n) { k<<<1, 32>>>(o, n); }\n",
    );
    assert!(!texts(&mut browser, ".finding").is_empty());
    assert_eq!(texts(&mut browser, ".fix button"), Vec::<String>::new());

    // Foreign text stays text.
    write(
        &mut browser,
        "// <img src=x onerror=alert(1)>\n__global__ void k() { __shared__ int a[1]; a[9] = 0; } // </style>\n",
    );
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    assert_quiet(&browser, &address);
}

#[test]
fn a_link_holds_the_text() {
    let Some((address, mut browser)) = open() else { return };
    let text = "__global__ void k(int* x) { *x = 1; } // \u{fc} & # \u{4e2d}";
    write(&mut browser, text);
    choose(&mut browser, "#target", "sm_70");
    choose(&mut browser, "#block", "64");
    browser.value("document.querySelector('#share').click()");
    browser.value("new Promise((done) => setTimeout(done, 200))");
    let link = browser.value("location.href").as_str().unwrap().to_owned();
    assert!(link.starts_with(&format!("{address}#code=")), "{link}");
    // Another page, not another place on this one.
    browser.open("about:blank");
    browser.events.clear();
    browser.open(&link);
    settle(&mut browser);
    assert_eq!(source(&mut browser), text);
    let fields = "['target', 'block', 'example'].map((it) => document.getElementById(it).value).join()";
    assert_eq!(browser.value(fields), "sm_70,64,");
    browser.events.clear();
    browser.value("location.hash = '#code=bm90IHBhY2tlZA'");
    settle(&mut browser);
    assert_eq!(
        texts(&mut browser, "#trouble:not([hidden])"),
        ["The address holds no text that can be read."]
    );
    // The first example is there instead.
    assert_eq!(texts(&mut browser, ".finding").len(), 1);
    assert_quiet(&browser, &address);
}

#[test]
fn the_playground_suits_keys_eyes_and_windows() {
    let Some((address, mut browser)) = open() else { return };
    // The next finding, by a key.
    browser.value("document.querySelector('.cm-content').focus()");
    key(&mut browser, "F8", 119, 0);
    let active = texts(&mut browser, ".cm-activeLine");
    assert!(active[0].contains("tile[threadIdx.x][threadIdx.y]"), "{active:?}");
    assert_eq!(browser.value("document.querySelectorAll('.finding.current').length"), 1);
    let paper = "getComputedStyle(document.querySelector('.cm-editor')).backgroundColor";
    let light = browser.value(paper);
    browser.value("document.querySelector('#theme').click()");
    assert_ne!(browser.value(paper), light);
    for width in [400, 900, 1440] {
        browser.width(width);
        let over =
            browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(over, 0, "{width}");
    }
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let used = ["button", "combobox", "link", "textbox", "slider", "image", "region"];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for node in tree["nodes"].as_array().unwrap().iter().filter(|it| it["ignored"] == false) {
        let Some(role) = used.iter().find(|role| node["role"]["value"] == **role) else { continue };
        seen.insert(role);
        assert!(!node["name"]["value"].as_str().unwrap_or_default().is_empty(), "{node}");
    }
    assert_eq!(seen.len(), used.len(), "{seen:?}");
    assert_quiet(&browser, &address);
}
