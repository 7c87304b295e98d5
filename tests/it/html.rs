//! Is the page for browsers sound, and does it work in one?
//!
//! Needs Chromium for the second. Without it the test says that it was skipped; with
//! `CUDALINT_NEEDS_BROWSER=1`, as `.ci/run` sets it, it fails.

use crate::support::browser::Browser;
use crate::support::folder::folder;
use regex::Regex;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A column read, a race, a distance between lanes that is given at run time.
const KERNELS: &str = "\
__global__ void turn(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void shift(float *out, const float *in) {
    __shared__ float row[256];
    row[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = row[255 - threadIdx.x];
}

__global__ void apart(float *out, int ld) {
    extern __shared__ float wide[];
    wide[threadIdx.x * ld] = 0;
    out[threadIdx.x] = wide[threadIdx.x];
}

void run(float *out, const float *in, int ld) {
    turn<<<1, dim3(32, 32)>>>(out, in);
    shift<<<1, 256>>>(out, in);
    apart<<<1, 32, 4096>>>(out, ld);
}
";

/// Runs the program in a folder and returns the page that it writes.
fn page(root: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(root).args(["-q", "--format", "html"]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn kernels() -> TempDir {
    folder(&[("kernels.cu", KERNELS)])
}

/// The attributes of this name.
fn attributes(page: &str, name: &str) -> Vec<String> {
    let pattern = Regex::new(&format!(" {name}=\"([^\"]*)\"")).unwrap();
    pattern.captures_iter(page).map(|found| found[1].to_owned()).collect()
}

/// What of the elements does not close in order; the script and the styles aside.
fn unbalanced(page: &str) -> Vec<String> {
    let raw = Regex::new("(?s)<(style|script)>.*?</(style|script)>").unwrap();
    let tag = Regex::new(r"<(/?)([a-z][a-z0-9]*)[^>]*?(/?)>").unwrap();
    let void = ["meta", "link", "br", "input"];
    let mut open: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    for found in tag.captures_iter(&raw.replace_all(page, "")) {
        let name = found[2].to_owned();
        match (&found[1], &found[3]) {
            ("/", _) if open.last() == Some(&name) => drop(open.pop()),
            ("/", _) => wrong.push(format!("</{name}> in {open:?}")),
            (_, "/") => {}
            _ if void.contains(&name.as_str()) => {}
            _ => open.push(name),
        }
    }
    wrong.extend(open);
    wrong
}

#[test]
fn links_lead_somewhere_and_elements_are_closed() {
    let page = page(Path::new("."), &["fixtures", "examples"]);
    let ids = attributes(&page, "id");
    let distinct: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    let links: Vec<String> = attributes(&page, "href").into_iter().filter(|it| it.starts_with('#')).collect();
    assert!(links.len() > 1000, "{}", links.len());
    let dead: Vec<&String> = links.iter().filter(|it| !distinct.contains(&it[1..].to_owned())).collect();
    assert!(dead.is_empty(), "{dead:?}");
    for name in attributes(&page, "aria-labelledby") {
        assert!(distinct.contains(&name), "{name}");
    }
    assert_eq!(unbalanced(&page), Vec::<String>::new());
    // Nothing is loaded.
    assert!(!page.contains("http-equiv=\"refresh\"") && !page.contains(" src="));
    let other = attributes(&page, "href").into_iter().filter(|it| !it.starts_with('#'));
    assert_eq!(other.collect::<Vec<_>>(), ["data:,"]);
}

#[test]
fn the_numbers_are_those_of_the_other_formats() {
    let root = kernels();
    let page = page(root.path(), &["kernels.cu"]);
    let text = Regex::new("<[^>]*>").unwrap().replace_all(&page, " ").replace("&#39;", "'");
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        // The kernel: extra wavefronts, all, share; the finding; the line.
        "turn kernels.cu:1 992 1,056 94 % 1",
        "tile : 32-way bank conflict costs 94 % of this kernel's shared-memory wavefronts +992 94 %",
        "5 1,024 +992 out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y] ;",
        "float tile[32][32] kernels.cu:2 32 rows, 128 bytes apart: the first 32 begin in 1 bank.",
        "as written 32 wavefronts",
        "rows 1 element longer 1 wavefront",
        "the kernel begins",
        "wide[threadIdx.x * ld] store varies",
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    let waves = attributes(&page, "data-w").iter().filter(|it| *it == "32").count();
    assert!(waves > 0);
}

#[test]
fn the_same_input_gives_the_same_page() {
    let pages = ["1", "7"]
        .map(|threads| page(Path::new("."), &["--threads", threads, "fixtures/explain", "examples"]));
    assert!(pages[0] == pages[1]);
}

#[cfg(unix)]
#[test]
fn odd_names_and_bytes_do_no_harm() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let names: [&[u8]; 3] = [b"<script>alert(1)<.cu", b"\"'&`\n.cu", b"a\xff b.cu"];
    let mut source = KERNELS.as_bytes().to_vec();
    source.extend(b"// </script></pre><img src=x> \xff\xfe \x1b[2J \xe2\x80\xae\n");
    for name in names {
        fs::write(root.path().join(OsStr::from_bytes(name)), &source).unwrap();
    }
    let page = page(root.path(), &["."]);
    assert_eq!(unbalanced(&page), Vec::<String>::new());
    assert!(!page.contains("<img") && !page.contains("alert(1)<") && !page.contains('\u{1b}'));
    assert_eq!((page.matches("<script>").count(), page.matches("</script>").count()), (1, 1));
    assert_eq!(page.matches("class=\"sheet\"").count(), 3);
}

#[test]
fn a_page_with_nothing_on_it_says_so() {
    let root = folder(&[("a.cu", "__global__ void k(float *x) { *x = 0; }\n")]);
    let page = page(root.path(), &["."]);
    for said in
        ["Nothing was found.", "No kernel that uses shared memory was run.", "There is no line to show."]
    {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert_eq!(unbalanced(&page), Vec::<String>::new());
}

#[test]
fn fixed_files_are_shown_as_they_then_are() {
    let root = kernels();
    let page = page(root.path(), &["--fix", "kernels.cu"]);
    assert!(page.contains("tile[32][33]") && !page.contains("32-way bank conflict"), "{page}");
    assert!(page.contains("<figcaption><code>float tile[32][33]</code>"), "{page}");
}

/// The page on the kernels in a browser; `None` without one.
fn in_browser() -> Option<(TempDir, Browser)> {
    let Some(mut browser) = Browser::start() else {
        assert!(std::env::var_os("CUDALINT_NEEDS_BROWSER").is_none(), "there is no `chromium`");
        println!("skipped: there is no `chromium`");
        return None;
    };
    let root = kernels();
    fs::write(root.path().join("page.html"), page(root.path(), &["kernels.cu"])).unwrap();
    browser.width(1280);
    browser.open(&format!("file://{}", root.path().join("page.html").display()));
    Some((root, browser))
}

fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.complaints(), Vec::<&serde_json::Value>::new());
    let asked: Vec<String> = browser.requests().into_iter().filter(|it| !it.starts_with("data:")).collect();
    assert!(asked.len() == 1 && asked[0].starts_with("file://"), "{asked:?}");
}

#[test]
fn filters_players_and_keys_work_in_a_browser() {
    let Some((_root, mut browser)) = in_browser() else { return };
    let count = "document.querySelector('.count').value";
    let shown = "[...document.querySelectorAll('.finding')].filter((it) => !it.hidden).map((it) => it.dataset.rule).join()";
    assert_eq!(browser.value(count), "3 of 3");
    assert_eq!(browser.value(shown), "missing-barrier,bank-conflict,stride-dependent-conflict");
    browser.press("/");
    browser.write("TILE 32-way");
    assert_eq!((browser.value(count), browser.value(shown)), (json!("1 of 3"), json!("bank-conflict")));
    browser.write(" nowhere");
    assert_eq!(browser.value(count), "0 of 3");
    assert_eq!(browser.value("document.querySelector('.no-match').hidden"), false);
    browser.press("Escape");
    assert_eq!(browser.value(count), "3 of 3");
    for (field, value, rule) in
        [("rule", "missing-barrier", "missing-barrier"), ("level", "note", "stride-dependent-conflict")]
    {
        browser.value(&format!(
            "{{ const it = document.querySelector('[name={field}]'); it.value = '{value}'; \
             it.dispatchEvent(new Event('input', {{ bubbles: true }})); }}"
        ));
        assert_eq!(browser.value(shown), rule);
        browser.press("Escape");
    }

    let focus = "document.activeElement.id";
    for (key, id) in [("j", "f1"), ("j", "f2"), ("j", "f3"), ("j", "f3"), ("k", "f2")] {
        browser.press(key);
        assert_eq!(browser.value(focus), id, "{key}");
    }
    // Its drawing: before and after, wavefront by wavefront.
    browser.press("o");
    assert_eq!(browser.value("document.activeElement.textContent"), "Play");
    let told = "document.querySelector('#f2 .player output').value";
    let cells = "['now', 'done'].map((it) => document.querySelectorAll('#f2 .w.' + it).length).join()";
    assert_eq!(browser.value("document.querySelectorAll('#f2 .w').length"), 33);
    browser.press("ArrowRight");
    let first = "as written: wavefront 1: lane 0 in bank 0\nrows 1 element longer: wavefront 1: lanes 0-31 in banks 0-31";
    assert_eq!((browser.value(told), browser.value(cells)), (json!(first), json!("2,0")));
    browser.press("End");
    let last = "as written: wavefront 32: lane 31 in bank 0\nrows 1 element longer: done";
    assert_eq!((browser.value(told), browser.value(cells)), (json!(last), json!("1,32")));
    browser.press("ArrowLeft");
    assert_eq!(browser.value(cells), "1,31");
    browser.press("Home");
    assert_eq!((browser.value(told), browser.value(cells)), (json!(""), json!("0,0")));
    browser.press(" ");
    let playing = "new Promise((done) => { const look = () => \
                   document.querySelectorAll('#f2 .w.done').length > 2 ? done(true) : setTimeout(look, 50); look(); })";
    assert_eq!(browser.value(playing), true);
    assert_eq!(browser.value("document.activeElement.textContent"), "Pause");
    browser.press(" ");
    assert_eq!(browser.value("document.activeElement.textContent"), "Play");

    // The line of the finding, and back.
    browser.press("s");
    assert_eq!(browser.value("location.hash"), "#s1-5");
    assert_eq!(browser.value("document.querySelector(':target').matches('tr.h4')"), true);
    browser.value("document.querySelector('.code a[href=\"#f1\"]').click()");
    browser.value("new Promise((done) => setTimeout(done, 200))");
    assert_eq!(browser.value(focus), "f1");

    // The bank that is marked.
    browser.value("document.querySelector('#k1').open = true");
    browser.value("document.querySelector('#k1 .map input').focus()");
    browser.press("ArrowRight");
    assert_eq!(browser.value("document.querySelector('#k1 .map output').value"), "1");
    assert_quiet(&browser);
}

#[test]
fn the_page_suits_eyes_windows_and_paper() {
    let Some((_root, mut browser)) = in_browser() else { return };
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = browser.value(paper);
    browser.press("t");
    let dark = browser.value(paper);
    assert_ne!(light, dark);
    browser.press("t");
    assert_eq!(browser.value(paper), light);
    for width in [400, 900, 1440] {
        browser.width(width);
        browser.value("document.querySelectorAll('details').forEach((it) => { it.open = true; })");
        let over =
            browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(over, 0, "{width}");
    }
    // What a screen reader is told: everything that can be used has a name.
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let used = ["button", "combobox", "link", "searchbox", "slider", "table", "image", "region", "figure"];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for node in tree["nodes"].as_array().unwrap().iter().filter(|it| it["ignored"] == false) {
        let Some(role) = used.iter().find(|role| node["role"]["value"] == **role) else { continue };
        seen.insert(role);
        let name = node["name"]["value"].as_str().unwrap_or_default();
        assert!(!name.is_empty() || matches!(*role, "table" | "figure"), "{node}");
    }
    assert!(seen.len() >= 7, "{seen:?}");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let display = "['.top', '.filters', '.player', '.finding', '.sheet'].map((it) => \
                   getComputedStyle(document.querySelector(it)).display === 'none').join()";
    assert_eq!(browser.value(display), "true,true,false,false,false");
    assert!(browser.call("Page.printToPDF", json!({}))["data"].as_str().unwrap().len() > 10_000);
    assert_quiet(&browser);
}

#[test]
fn without_its_script_the_page_says_all_that_it_knows() {
    let Some((root, mut browser)) = in_browser() else { return };
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.events.clear();
    browser.open(&format!("file://{}", root.path().join("page.html").display()));
    let tree = browser.call("DOM.getDocument", json!({ "depth": 0 }));
    let find = |browser: &mut Browser, selector: &str| {
        let ask = json!({ "nodeId": tree["root"]["nodeId"], "selector": selector });
        browser.call("DOM.querySelectorAll", ask)["nodeIds"].as_array().unwrap().len()
    };
    assert_eq!(find(&mut browser, "html.scripted"), 0);
    assert_eq!(
        [".finding", ".finding[hidden]", "#f2 .w", ".player", ".race li"].map(|it| find(&mut browser, it)),
        [3, 0, 33, 0, 5]
    );
    let text = browser.call("Accessibility.getFullAXTree", json!({})).to_string();
    assert!(text.contains("nothing orders the two") && !text.contains("word, array, line"));
}
