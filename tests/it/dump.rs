//! What does `cudalint dump` show of each stage?

use crate::support::folder::folder;
use std::path::Path;
use std::process::Command;

/// A kernel of one warp that makes a conflict, and its launch.
const KERNEL: &str = "\
#define SIDE 32
template <int BY> __device__ float scaled(float value) { return value * BY; }

__global__ void column(float *out, int n) {
    __shared__ float tile[SIDE][SIDE];
    tile[n][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = scaled<2>(tile[threadIdx.x][0]);
}

void launch(float *out, int n) { column<<<1, 32>>>(out, n); }
";

/// Exit code, stdout and stderr.
fn dump(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).args(["dump", "--stage"]).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_program_is_shown_as_it_was_lowered() {
    let root = folder(&[("a.cu", KERNEL)]);
    let expected = "\
a.cu:2:36: device function
template <int BY> __device__ float scaled(float value) {
  return value * BY;
}

a.cu:4:17: kernel
__global__ void column(float* out, int n) {
  __shared__ float tile[32][32];
  tile[n][threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 16) {
    out[threadIdx.x] = scaled<2>(tile[threadIdx.x][0]);
  }
}

a.cu:11:6: host function that launches
void launch(float* out, int n) {
  column<<<1, 32>>>(out, n);
}
";
    assert_eq!(dump(root.path(), &["hir", "a.cu"]), (0, expected.to_owned(), String::new()));
}

#[test]
fn what_a_macro_is_depends_on_the_options_and_headers_are_shown_once() {
    let header = "__shared__ float all[SIDE];\n__device__ float first() { return all[0]; }\n";
    let with = "#include \"all.cuh\"\n__global__ void k(float *out) { *out = first(); }\n";
    let root = folder(&[("inc/all.cuh", header), ("a.cu", with), ("b.cu", with)]);
    let (code, out, err) = dump(root.path(), &["hir", "-I", "inc", "--define", "SIDE=48", "a.cu", "b.cu"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out.matches("inc/all.cuh:1:18: __shared__ float all[48];\n").count(), 1, "{out}");
    assert_eq!(out.matches("inc/all.cuh:2:18: device function\n").count(), 1, "{out}");
    assert_eq!(out.matches(": kernel\n").count(), 2, "{out}");
}

#[test]
fn a_file_with_nothing_in_it_or_that_is_missing_is_told_of_and_the_others_are_shown() {
    let root = folder(&[("a.cu", KERNEL), ("empty.cu", "int x;\n")]);
    let stages =
        [("hir", "\nempty.cu: not lowered: nothing in it or in its headers can lead to a verdict\n")];
    for (stage, nothing) in stages {
        let (_, alone, _) = dump(root.path(), &[stage, "a.cu"]);
        let (code, out, err) = dump(root.path(), &[stage, "none.cu", "empty.cu", "a.cu"]);
        assert_eq!((code, err.as_str()), (2, "cudalint: error: `none.cu` does not exist\n"));
        assert_eq!(out, format!("{alone}{nothing}"));
    }
}
