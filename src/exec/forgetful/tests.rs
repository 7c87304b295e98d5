//! A run in which something is remembered gives the verdicts of one in which nothing is.

use super::{ALL, Kept, without};
use crate::analysis::{Files, Options, Run};
use crate::kernels::Case;
use crate::random::Random;
use crate::styles::STYLES;
use std::fs;
use std::path::{Path, PathBuf};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }
}

/// All that is said of a text: its findings with their notes, and its verdicts.
fn told(path: &Path, text: &str) -> Vec<String> {
    let path = path.to_path_buf();
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(Disk));
    let report = run.analyze_file(&path, text.as_bytes().to_vec());
    let findings = report.diagnostics.iter().map(|it| format!("{it:?}"));
    findings.chain(report.verdicts.iter().map(|it| format!("{it:?}"))).collect()
}

/// Asks that a text's verdicts do not depend on what is remembered; how much was dropped.
fn compare(path: &Path, text: &str, wrong: &mut Vec<String>) -> u64 {
    static EACH: [&[Kept]; 6] = [
        &[Kept::Lookups],
        &[Kept::Results],
        &[Kept::Sharing],
        &[Kept::Slices],
        &[Kept::Counts],
        &[Kept::Layouts],
    ];
    let (remembered, _) = without(&[], || told(path, text));
    let mut dropped = 0;
    let (forgotten, times) = without(&ALL, || told(path, text));
    dropped += times;
    if forgotten != remembered {
        for kept in &EACH {
            let (forgotten, _) = without(kept, || told(path, text));
            let lines = remembered.iter().zip(&forgotten);
            if let Some((before, after)) = lines.clone().find(|(before, after)| before != after) {
                wrong.push(format!("{} without {kept:?}:\n- {before}\n+ {after}", path.display()));
            } else if remembered.len() != forgotten.len() {
                wrong.push(format!("{} without {kept:?}: another number of verdicts", path.display()));
            }
        }
        let lines = remembered.iter().zip(&forgotten).find(|(before, after)| before != after);
        wrong.push(format!("{} without anything: {lines:#?}", path.display()));
    }
    let (searched, times) = without(&[Kept::Plans], || told(path, text));
    dropped += times;
    for line in searched.iter().filter(|line| is_known(line)) {
        let (site, _) = line.split_once("status: ").unwrap();
        // Instances of a function may have arrays of several lengths at one place.
        let known = |line: &&String| line.starts_with(site) && is_known(line);
        let before: Vec<&String> = remembered.iter().filter(known).collect();
        if !before.is_empty() && !before.contains(&line) {
            wrong.push(format!("{} without plans:\n- {before:?}\n+ {line}\n{text}", path.display()));
        }
    }
    dropped
}

/// The verdicts that only a plan remembered of a loop gives.
fn known_by_plans(path: &Path, text: &str) -> usize {
    let known = |kept| without(kept, || told(path, text)).0.iter().filter(|line| is_known(line)).count();
    known(&[]).saturating_sub(known(&[Kept::Plans]))
}

/// Whether it is a verdict that says something, whatever the steps are spent on. Without plans a run takes more of
/// them, so that one that is cut short ends elsewhere.
fn is_known(line: &str) -> bool {
    (line.contains("status: Exact") || line.contains("status: Assumed")) && !line.contains("CutShort")
}

fn on_deep_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn nothing_that_is_remembered_changes_what_is_said_of_fixtures() {
    on_deep_stack(|| {
        let files = walkdir::WalkDir::new("fixtures").sort_by_file_name().into_iter();
        let paths = files.filter_map(Result::ok).map(|entry| entry.into_path());
        let kernels = paths.filter(|path| path.extension().is_some_and(|it| it == "cu"));
        let (mut wrong, mut dropped, mut count) = (Vec::new(), 0, 0);
        for path in kernels {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            dropped += compare(&path, &text, &mut wrong);
            count += 1;
        }
        assert!(count > 100 && dropped > 100_000, "{count} files, dropped {dropped} times");
        assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}

#[test]
fn nothing_that_is_remembered_changes_what_is_said_of_random_kernels() {
    on_deep_stack(|| {
        let mut random = Random(0x6d65_6d6f);
        let (mut wrong, mut dropped) = (Vec::new(), 0);
        for at in 0..60 {
            let text = Case::random(&mut random).text(STYLES[at % STYLES.len()]);
            dropped += compare(&PathBuf::from("case.cu"), &text, &mut wrong);
        }
        assert!(dropped > 10_000, "dropped {dropped} times");
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}

/// A kernel that runs instances of one template one after the other, some of them again, and loops in
/// loops that change in other ways each time.
fn instances(random: &mut Random) -> String {
    let number = |random: &mut Random| random.of(&[1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 33]);
    let calls: Vec<String> = (0..6)
        .map(|_| {
            let element = random.of(&["char", "short", "int", "double", "float4"]);
            format!("    part<{element}, {}>(raw, n, m);\n", random.of(&[1, 2, 4, 7, 16]))
        })
        .collect();
    let [a, b, c, d, e] = std::array::from_fn(|_| number(random));
    let change = random.of(&["s += 3", "s ^= 8", "s = 32 - s", "s *= 2", "s = j", "s = n", "s = x", "s = 5"]);
    let step = random.of(&["+= s", "+= s * x", "+= x * (j & 3)", "= x * s", "= a * 2 + x", "^= x * s"]);
    let bound = random.of(&["n", "m", "2", "4", "j + 1"]);
    format!(
        "template <typename T, int N> struct Tile {{\n\
         \x20   typedef T Element;\n\
         \x20   enum {{ WIDTH = N * {a} }};\n\
         \x20   static constexpr int PITCH = N + {b};\n\
         \x20   T data[N];\n\
         }};\n\
         template <typename T, int N> constexpr int STRIDE = N * {c} + sizeof(T);\n\
         template <typename T, int N> __device__ void part(char *raw, int n, int m) {{\n\
         \x20   typedef typename Tile<T, N>::Element Element;\n\
         \x20   const int x = threadIdx.x;\n\
         \x20   Element *p = reinterpret_cast<Element *>(raw);\n\
         \x20   Tile<T, N> *q = reinterpret_cast<Tile<T, N> *>(raw);\n\
         \x20   volatile T *r = (T *)raw;\n\
         \x20   p[x * Tile<T, N>::PITCH & 1023] = Element();\n\
         \x20   r[x * Tile<T, N>::WIDTH & 1023] = T();\n\
         \x20   r[x * STRIDE<T, N> & 1023] = T();\n\
         \x20   q[x & 63].data[0] = T();\n\
         }}\n\
         // cudalint: block(64)\n\
         __global__ void k(int n, int m) {{\n\
         \x20   __shared__ char raw[1 << 15];\n\
         \x20   __shared__ int words[8192];\n\
         {}\
         \x20   int x = threadIdx.x, s = {d}, a = x * {e};\n\
         \x20   for (int j = 0; j < {}; j++) {{\n\
         \x20       for (int i = 0; i < {bound}; i++) {{\n\
         \x20           words[a & 8191] = j;\n\
         \x20           a {step};\n\
         \x20       }}\n\
         \x20       if (m > 3) words[(x * s) & 8191] = 1;\n\
         \x20       {change};\n\
         \x20   }}\n\
         }}\n",
        calls.concat(),
        random.of(&["n", "m", "4", "7"]),
    )
}

#[test]
fn nothing_that_is_remembered_changes_what_is_said_of_instances_of_templates() {
    on_deep_stack(|| {
        let mut random = Random(0x7465_6d70);
        let (mut wrong, mut dropped, mut decided, mut by_plans) = (Vec::new(), 0, 0, 0);
        for _ in 0..120 {
            let text = instances(&mut random);
            dropped += compare(Path::new("case.cu"), &text, &mut wrong);
            by_plans += known_by_plans(Path::new("case.cu"), &text);
            let said = told(Path::new("case.cu"), &text);
            decided += said.iter().filter(|line| is_known(line)).count();
        }
        // One that was found before and still holds may not be found from the state at hand, but seldom.
        assert!(by_plans <= 2, "{by_plans} of {decided} verdicts only by what was remembered");
        assert!(dropped > 10_000 && decided > 300, "dropped {dropped} times, {decided} decided");
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}
