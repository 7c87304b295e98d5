//! What does `cudalint explain` draw, and what does it say where there is nothing to draw?

use crate::support::folder::folder;
use std::path::Path;
use std::process::Command;

/// Exit code, stdout and stderr.
fn explain(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).arg("explain").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// What is printed of a place that there is something to tell of.
fn drawn(root: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = explain(root, arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
    out
}

/// The place of a line of a fixture that holds some text.
fn line_of(file: &str, text: &str) -> String {
    let source = std::fs::read_to_string(file).unwrap();
    let line = source.lines().position(|line| line.contains(text)).expect(text);
    format!("{file}:{}", line + 1)
}

fn here() -> &'static Path {
    Path::new(".")
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let page = std::fs::read_to_string("docs/explain.md").unwrap();
    let mut shown = 0;
    for block in page.split("```text\n$ cudalint explain ").skip(1) {
        let (command, rest) = block.split_once('\n').unwrap();
        let (expected, _) = rest.split_once("```").unwrap();
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_eq!(drawn(here(), &arguments).trim_end(), expected.trim_end(), "{command}");
        shown += 1;
    }
    assert!(shown >= 2, "{shown}");
}

#[test]
fn pictures_fit_80_columns() {
    for place in ["fixtures/explain/rows.cu:8", "fixtures/texts/column-read.cu:14"] {
        let out = drawn(here(), &[place]);
        let (_, picture) = out.split_once("\nA row is a lane").unwrap();
        assert_eq!(picture.lines().filter(|line| line.starts_with("lane ")).count(), 32);
        assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
    }
}

#[test]
fn colours_add_nothing_but_colour() {
    let place = "fixtures/explain/rows.cu:8";
    let plain = drawn(here(), &[place]);
    assert!(!plain.contains('\x1b'), "no terminal, no colour");
    let colored = drawn(here(), &[place, "--color", "always"]);
    assert!(colored.contains("\x1b[1;31m1\x1b[0m") && colored.contains("\x1b[32m1\x1b[0m"));
    let codes = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    let stripped =
        |text: &str| codes.replace_all(text, "").lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(stripped(&colored), stripped(&plain));
}

#[test]
fn a_barrier_shows_the_condition_and_the_threads() {
    let place = line_of("fixtures/divergent-barrier/half-a-warp.cu", "__syncthreads");
    let out = drawn(here(), &[&place]);
    assert!(out.starts_with("warning[divergent-barrier]: "), "{out}");
    assert!(out.contains("thread (0, 0, 0) reaches the barrier, thread (16, 0, 0) does not"), "{out}");
    assert!(
        out.contains(
            "\nwarp 0  ################................\nwarp 1  ................................\n"
        ),
        "{out}"
    );
    let root = folder(&[(
        "a.cu",
        "__global__ void k(float *x) {\n    __shared__ float s[40];\n    s[threadIdx.x] = x[threadIdx.x];\n    \
         __syncthreads();\n    x[threadIdx.x] = s[39 - threadIdx.x];\n}\nvoid run(float *x) { k<<<1, 40>>>(x); }\n",
    )]);
    let out = drawn(root.path(), &["a.cu:4"]);
    assert!(
        out.starts_with("note: no divergence: all threads of the block reach this `__syncthreads`"),
        "{out}"
    );
    assert!(out.contains("\nwarp 0  ################################\nwarp 1  ########\n"), "{out}");
}

#[test]
fn what_is_not_known_has_its_reason_and_place_and_no_picture() {
    let place = line_of("fixtures/unresolved-access/causes.cu", "far & 255");
    let out = drawn(here(), &[&place]);
    assert!(out.contains("bank conflicts of this read of `s` are unknown: "), "{out}");
    assert!(out.contains("its value comes from memory (`index`)") && !out.contains("lane  0"), "{out}");
}

#[test]
fn wavefronts_of_a_copy_that_are_not_for_banks_are_told_and_not_drawn() {
    let file = "fixtures/precision/copies.cu";
    let out = drawn(here(), &[&line_of(file, "&s[2 * threadIdx.x + 1], in")]);
    assert!(out.contains("takes 32 wavefronts instead of 4, but not because of banks"), "{out}");
    assert!(out.contains("only Nsight Compute's source page counts these wavefronts"), "{out}");
    let file = "fixtures/precision/copied_lines.cu";
    let through = drawn(here(), &[&line_of(file, "in + row * pitch + column")]);
    assert!(through.contains("takes 8 wavefronts instead of 4, but not because of banks"), "{through}");
    assert!(!out.contains("Warp 0") && !through.contains("Warp 0"), "{out}{through}");
}

#[test]
fn a_stride_is_drawn_with_a_bad_value_and_a_good_one() {
    let place = line_of("fixtures/stride-dependent-conflict/row-length.cu", "t * ld + k");
    let out = drawn(here(), &[&place]);
    assert!(out.contains("        `ld` modulo 32 is 0                 `ld` modulo 32 is 1\n"), "{out}");
    assert!(out.contains("        32 wavefronts                       1 wavefront\n"), "{out}");
}

#[test]
fn targets_that_differ_are_drawn_apart() {
    let place = "fixtures/texts/column-read.cu:14";
    let out = drawn(here(), &[place, "--target", "sm_80,sm_90,sm_35,sm_13", "--bank-size", "8"]);
    assert!(out.contains("Warp 0 on sm_80 and sm_90:\n"), "{out}");
    assert!(out.contains("Warp 0 on sm_35 with 8-byte banks:\n"), "{out}");
    assert!(out.contains("        16 wavefronts                       1 wavefront\n"), "{out}");
    assert!(out.contains("Warp 0 on sm_13: not drawn"), "{out}");
}

#[test]
fn lanes_that_are_served_apart_stand_apart() {
    let source = "__global__ void k(float4 *x) {\n    __shared__ float4 s[128];\n    s[threadIdx.x] = x[0];\n    \
                  x[1] = s[threadIdx.x * 4];\n}\nvoid run(float4 *x) { k<<<1, 32>>>(x); }\n";
    let root = folder(&[("a.cu", source)]);
    let out = drawn(root.path(), &["a.cu:4"]);
    let rules = out.lines().filter(|line| line.trim_start().starts_with("----")).count();
    assert_eq!(rules, 3, "{out}");
    assert!(out.contains("\nlane  7 ················4444············    "), "{out}");
    assert!(out.contains("\nlane  8 5555····························    "), "{out}");
    // Beside it the layout of the help.
    assert!(out.contains("        as written                          as `s[i + (i >> 3)]`\n"), "{out}");
    assert!(out.contains("        16 wavefronts                       4 wavefronts\n"), "{out}");
}

const TILE: &str = "\
template <int N>
__device__ float column(float (*tile)[N], int k) {
    return tile[threadIdx.x][k];
}
";
const USER: &str = "\
#include \"tile.cuh\"
template <int N, int USE>
__global__ void k(float *x) {
    __shared__ float tile[32][N];
    tile[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = column<N>(tile, 0);
}
void run(float *x) {
    k<32, 0><<<1, 32>>>(x);
    k<32, 1><<<1, 32>>>(x);
    k<33, 0><<<1, 32>>>(x);
}
";

#[test]
fn a_header_is_explained_through_the_files_that_include_it() {
    let root = folder(&[("d/tile.cuh", TILE), ("a.cu", &USER.replace("tile.cuh", "d/tile.cuh"))]);
    let out = drawn(root.path(), &["./d/tile.cuh:3", "a.cu"]);
    assert!(out.contains("reached from kernel `k<32, 0>` through `column`, called at a.cu:7"), "{out}");
    assert!(out.contains(" = note: the same for kernel `k<32, 1>` with block (32, 1, 1)\n"), "{out}");
    // Both without and with a conflict.
    assert_eq!(
        out.matches("\nwarning[bank-conflict]").count() + usize::from(out.starts_with("warning")),
        1,
        "{out}"
    );
    assert_eq!(out.matches("note: no bank conflict: this read of `tile`").count(), 1, "{out}");
}

#[test]
fn a_column_chooses_among_the_accesses_of_a_line() {
    let source = "__global__ void k() {\n    __shared__ float a[64], b[64];\n    a[threadIdx.x] = b[2 * threadIdx.x];\n}\n\
                  void run() { k<<<1, 32>>>(); }\n";
    let root = folder(&[("a.cu", source)]);
    let out = drawn(root.path(), &["a.cu:3"]);
    assert!(out.contains("this write of `a`") && out.contains("this read of `b`"), "{out}");
    let out = drawn(root.path(), &["a.cu:3:22"]);
    assert!(!out.contains("this write of `a`") && out.contains("this read of `b`"), "{out}");
}

#[test]
fn where_there_is_nothing_the_nearest_access_is_named() {
    let root = folder(&[("tile.cuh", TILE), ("a.cu", USER), ("b.cu", "__global__ void k() {}\n")]);
    let says = |arguments: &[&str], words: &str| {
        let (code, out, err) = explain(root.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(words), "{err}");
    };
    says(&["a.cu:3"], "line 3 of a.cu has no shared-memory access");
    says(&["a.cu:3"], "the nearest access is on line 5 (`tile`, column 5)");
    says(&["b.cu:1"], "nor does any other line of the file");
    says(&["c.cu:1"], "c.cu");
}

#[test]
fn a_buffer_from_stdin_is_explained() {
    let root = folder(&[]);
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(root.path()).args(["explain", "new.cu:3", "--stdin-filename", "new.cu"]);
    let source = "__global__ void k() {\n    __shared__ float a[64];\n    a[2 * threadIdx.x] = 1;\n}\n\
                  void run() { k<<<1, 32>>>(); }\n";
    let output = command.write_stdin(source).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("\nlane 16 2"), "{text}");
}
