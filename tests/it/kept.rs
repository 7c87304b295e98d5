//! Is the answer of a run that takes over what earlier ones worked out that of a run from nothing?

use crate::support::random::Random;
use crate::support::thorough;
use cudalint::analysis::{FileReport, Files, Kept, Loaded, Options, Run, Wanted};
use cudalint::cli::found::findings;
use cudalint::output::{accesses, json};
use cudalint::source::{Sources, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is on the disk of a test.
type Texts = BTreeMap<PathBuf, Arc<str>>;

struct Disk(Texts);

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.get(path).map(|text| text.as_bytes().to_vec())
    }
}

/// Files that rest on each other in every way: macros, headers, launches, device functions, what may be there
/// or not.
const PROJECT: [(&str, &str); 8] = [
    ("p/size.h", "#pragma once\n#define TILE 32\n#ifdef WIDE\n#define PAD 1\n#else\n#define PAD 0\n#endif\n"),
    (
        "p/turn.cuh",
        "#include \"size.h\"\n__device__ inline float get(float (*tile)[TILE + PAD], int row, int column) {\n  \
         return tile[row][column];\n}\ntemplate <int N>\n__global__ void turn(float* out) {\n  __shared__ float \
         tile[N][N + PAD];\n  tile[threadIdx.y][threadIdx.x] = 1;\n  __syncthreads();\n  out[threadIdx.x] = \
         tile[threadIdx.x][threadIdx.y];\n}\n",
    ),
    (
        "p/one.cu",
        "#include \"turn.cuh\"\n__global__ void own(float* out) {\n  __shared__ float tile[TILE][TILE + PAD];\n  \
         tile[threadIdx.y][threadIdx.x] = 2;\n  __syncthreads();\n  out[threadIdx.x] = get(tile, threadIdx.x, \
         threadIdx.y);\n}\nvoid run(float* out) {\n  own<<<1, dim3(32, 8)>>>(out);\n  turn<32><<<1, dim3(32, \
         32)>>>(out);\n}\n",
    ),
    (
        "p/two.cu",
        "#define WIDE\n#include \"turn.cuh\"\nvoid go(float* out) {\n  turn<16><<<1, dim3(16, 16)>>>(out);\n}\n",
    ),
    (
        "p/there.cu",
        "__global__ void far(float* out, int n) {\n  __shared__ float s[64 * 32];\n  s[threadIdx.x * 32] = 1;\n  \
         if (threadIdx.x < 7) __syncthreads();\n  out[n] = s[threadIdx.x * n];\n}\n",
    ),
    (
        "p/host.cu",
        "__global__ void far(float* out, int n);\nvoid lead(float* out) {\n  int threads = 64;\n  far<<<1, \
         threads>>>(out, 4);\n}\n",
    ),
    (
        "p/maybe.cu",
        "#if __has_include(\"extra.h\")\n#include \"extra.h\"\n#endif\n#ifndef STEP\n#define STEP 2\n#endif\n\
         // cudalint: allow(bank-conflict)\n__device__ float lone(int i) {\n  __shared__ float s[512];\n  s[i] = \
         1;\n  return s[threadIdx.x * STEP];\n}\n",
    ),
    ("p/extra.h", "#define STEP 8\n"),
];

/// All that two runs can differ in, without what numbers files have.
fn told(sources: &Sources, reports: &[FileReport]) -> String {
    let place = |span: Span| {
        let file = sources.get(span.file);
        (file.path.clone(), file.line_column(span.start), file.line_column(span.end))
    };
    let mut met: Vec<_> = reports
        .iter()
        .flat_map(|report| &report.kernels)
        .map(|it| {
            let launches: Vec<_> = it.launches.iter().map(|launch| place(*launch)).collect();
            let arrays: Vec<_> = it.arrays.iter().map(|array| (place(array.name), array.bytes)).collect();
            let sites: Vec<_> =
                it.sites.iter().map(|site| (place(site.span), site.ways, site.unknown)).collect();
            (place(it.name), launches, it.directive.map(place), arrays, sites, it.races)
        })
        .collect();
    met.sort_by(|a, b| a.0.cmp(&b.0));
    let found = findings(sources, reports, &|_, _, default| default);
    let mut verdicts: Vec<_> = reports.iter().flat_map(|report| &report.verdicts).collect();
    verdicts.sort_by_key(|it| (sources.get(it.span.file).path.clone(), it.span.start, it.kernel.clone()));
    let all = [json::render(sources, &found.told), accesses::render_json(sources, &verdicts)].concat();
    format!("{}\n{} silenced\n{met:?}", String::from_utf8(all).unwrap(), found.silenced)
}

/// Runs over all files but those of which only headers know.
fn run(kept: Kept, texts: &Texts) -> (String, Kept) {
    let given = || texts.keys().filter(|path| !path.ends_with("extra.h"));
    let mut run = Run::after(
        kept,
        &[Options::default()],
        given().map(|path| (path.clone(), 0)),
        Box::new(Disk(texts.clone())),
    );
    let files = given().map(|path| (path.as_path(), texts[path].as_bytes().to_vec())).collect();
    let reports = run.analyze_all(files, Wanted::Editor);
    (told(run.sources(), &reports), run.keep(true))
}

fn project() -> Texts {
    let mut texts: Texts = PROJECT.iter().map(|(path, text)| (path.into(), Arc::from(*text))).collect();
    let folders = ["fixtures/launches", "fixtures/precision"].map(walkdir::WalkDir::new);
    let entries = folders.into_iter().flat_map(|folder| folder.sort_by_file_name());
    for (at, entry) in entries.flatten().enumerate() {
        // Headers stay with those who include them.
        let is_taken = thorough() || at % 4 == 0 || entry.path().extension().is_some_and(|it| it == "cuh");
        if is_taken && entry.path().extension().is_some_and(|it| it == "cu" || it == "cuh") {
            texts.insert(entry.path().into(), std::fs::read_to_string(entry.path()).unwrap().into());
        }
    }
    texts
}

/// One more text for a file, such as someone types who knows what he wants, or does not.
fn edited(random: &mut Random, texts: &Texts, original: &Texts, path: &Path) -> Arc<str> {
    let text = &texts[path];
    let mut lines: Vec<&str> = text.lines().collect();
    let at = random.below(lines.len().max(1) as u64) as usize;
    match random.below(12) {
        0 => return Arc::clone(&original[path]),
        1 => lines.insert(at.min(lines.len()), "// a comment"),
        2 if !lines.is_empty() => drop(lines.remove(at)),
        3 if !lines.is_empty() => lines.insert(at, lines[at]),
        4 => {
            let digit = |c: char| c.is_ascii_digit();
            let places: Vec<usize> = text.match_indices(digit).map(|(at, _)| at).collect();
            if let Some(at) = places.get(random.below(places.len().max(1) as u64) as usize) {
                let digit = char::from(b'0' + random.below(9) as u8);
                return format!("{}{digit}{}", &text[..*at], &text[at + 1..]).into();
            }
        }
        5 => {
            let other = original.keys().nth(random.below(original.len() as u64) as usize).unwrap();
            // One that has gone is as it was at first.
            return format!("{text}\n{}", texts.get(other).unwrap_or(&original[other])).into();
        }
        6 => lines.insert(0, "#define WIDE 1"),
        // Within bodies, where most is typed.
        7..11 => {
            let ends: Vec<usize> = text.match_indices([';', '{']).map(|(at, _)| at + 1).collect();
            if let Some(at) = ends.get(random.below(ends.len().max(1) as u64) as usize) {
                let typed = [
                    " ",
                    " int typed = 7;",
                    "\n",
                    " typed(",
                    " if (threadIdx.x < 9) { }",
                    " __syncthreads();",
                ];
                let typed = typed[random.below(typed.len() as u64) as usize];
                return format!("{}{typed}{}", &text[..*at], &text[*at..]).into();
            }
        }
        _ => lines.truncate(at),
    }
    lines.join("\n").into()
}

#[test]
fn random_edits_come_to_what_a_fresh_run_says() {
    let original = project();
    let mut texts = original.clone();
    let (first, mut kept) = run(Kept::nothing_yet(), &texts);
    assert!(first.matches("bank-conflict").count() > 5, "{first}");
    let mut random = Random(7);
    let (mut same, mut changed) = (0, 0);
    let mut before = first;
    for step in 0..if thorough() { 600 } else { 40 } {
        // Two edits out of three are of the files that rest on each other.
        let own: Vec<&PathBuf> = original.keys().filter(|path| path.starts_with("p")).collect();
        let all: Vec<&PathBuf> = original.keys().collect();
        let choice = if random.below(3) > 0 { own } else { all };
        let path = choice[random.below(choice.len() as u64) as usize];
        // A file may go, and come again.
        if path.ends_with("extra.h") && texts.contains_key(path) {
            texts.remove(path);
        } else if !texts.contains_key(path) {
            texts.insert(path.clone(), Arc::clone(&original[path]));
        } else {
            let text = edited(&mut random, &texts, &original, path);
            texts.insert(path.clone(), text);
        }
        let (continued, next) = run(kept, &texts);
        let (fresh, _) = run(Kept::default(), &texts);
        assert!(continued == fresh, "step {step}, {}:\n{continued}\n{fresh}", path.display());
        if continued == before {
            same += 1
        } else {
            changed += 1
        }
        (kept, before) = (next, continued);
    }
    assert!(same > 0 && changed > 5, "{same} edits changed nothing, {changed} did");
}

#[test]
fn a_run_that_was_broken_off_leaves_what_was_there() {
    let mut texts = project();
    let (_, kept) = run(Kept::nothing_yet(), &texts);
    let path = PathBuf::from("p/there.cu");
    let text: Arc<str> = texts[&path].replace("* 32]", "* 16]").into();
    texts.insert(path.clone(), Arc::clone(&text));
    let files = texts.keys().filter(|path| !path.ends_with("extra.h")).map(|path| (path.clone(), 0));
    let mut broken = Run::after(kept, &[Options::default()], files, Box::new(Disk(texts.clone())));
    let loaded: Loaded = broken.load(&path, text.as_bytes().to_vec());
    drop(loaded);
    let (continued, _) = run(broken.keep(false), &texts);
    let (fresh, _) = run(Kept::default(), &texts);
    assert_eq!(continued, fresh);
}
