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
fn a_run_is_shown_with_its_requests_and_barriers() {
    let root = folder(&[("a.cu", KERNEL)]);
    let expected = "\
a.cu:4:17: column, block 32x1x1 (launch at 11:34)
  array tile at 5:22: float[32][32], 4096 bytes, aligned to 4
  store of tile at 6:5: 4 bytes a lane, reached once
    request #0: once, warps 0, lanes 0xffffffff, bytes 0..124 step 4
      and a multiple of 128 that is not known, the same for all lanes
      first as number 1, epoch 0, region 0, iteration 0, stretch 0
  load of tile at 8:56: 4 bytes a lane, reached once
    request #0: once, warps 0, lanes 0x0000ffff, bytes 0..1920 step 128
      first as number 2, epoch 1, region 0, iteration 0, stretch 2, branches [1, 2]
";
    assert_eq!(dump(root.path(), &["requests", "a.cu"]), (0, expected.to_owned(), String::new()));
}

#[test]
fn a_run_is_shown_in_order() {
    let text = "\
__global__ void sums(float *out, const float *in, int n) {
    __shared__ float s[64];
    float sum = 0;
    for (int k = 0; k < n; ++k) {
        s[threadIdx.x] = in[k];
        __syncthreads();
        if (threadIdx.x < 32) sum += s[63 - threadIdx.x + k];
        UNSEEN(sum);
    }
    out[threadIdx.x] = sum;
}

void launch(float *out, const float *in, int n) { sums<<<1, 64>>>(out, in, n); }
";
    let root = folder(&[("a.cu", text)]);
    let (code, out, err) = dump(root.path(), &["events", "a.cu"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let in_order: Vec<&str> = out.lines().skip_while(|line| *line != "  in order:").take(8).collect();
    let expected = [
        "  in order:",
        "    loop at 4:5",
        "      store of s at 5:9, threads 0-63, bytes 4 x",
        "      barrier at 6:9, threads 0-63",
        "      load of s at 7:38, threads 0-31, bytes 252 + -4 x + (4) #1",
        "      perhaps an access at 8:9",
        "      perhaps a barrier at 8:9",
        "    end of it, rounds counted by #1",
    ];
    assert_eq!(in_order, expected, "{out}");
}

#[test]
fn what_is_not_known_and_who_is_missing_is_said() {
    let text = "__global__ void k(float *out, const int *at, int ld) {
    extern __shared__ float s[];
    s[at[threadIdx.x]] = 0;
    s[threadIdx.x * ld] = 1;
    if (threadIdx.x < 16) {
        __syncthreads();
    }
}
";
    let root = folder(&[("a.cu", text)]);
    let (code, out, err) = dump(root.path(), &["events", "--block", "32", "a.cu"]);
    let (_, requests, _) = dump(root.path(), &["requests", "--block", "32", "a.cu"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let out = out + &requests;
    for line in [
        "a.cu:1:17: k, block 32x1x1 (flag)\n",
        "  array s at 2:29: float[?], sized at launch, aligned to 16\n",
        "  symbol #0 `ld`, given from outside\n",
        "    not known: its value comes from memory (`at`) (the index is read from memory, at 3:7)\n",
        "      and symbol #0 times 0..124 step 4\n",
        "    reached by 16 threads (0-15) of 32 threads (0-31)\n",
        "    not by 16 threads (16-31), kept away by the condition at 5:9, true for 16 threads (0-15) of 32 \
         threads (0-31): they leave the kernel\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let page = std::fs::read_to_string("docs/architecture.md").unwrap();
    let mut shown = 0;
    for block in page.split("```text\n$ cudalint ").skip(1) {
        let (command, rest) = block.split_once('\n').unwrap();
        let (expected, _) = rest.split_once("```").unwrap();
        let ran = Command::new(env!("CARGO_BIN_EXE_cudalint")).args(command.split(' ')).output().unwrap();
        assert_eq!(String::from_utf8(ran.stdout).unwrap().trim_end(), expected.trim_end(), "{command}");
        shown += 1;
    }
    assert_eq!(shown, 5);
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
    let stages = [
        ("hir", "\nempty.cu: not lowered: nothing in it or in its headers can lead to a verdict\n"),
        ("events", "\nempty.cu: no kernel of it is run\n"),
        ("requests", "\nempty.cu: no kernel of it is run\n"),
    ];
    for (stage, nothing) in stages {
        let (_, alone, _) = dump(root.path(), &[stage, "a.cu"]);
        let (code, out, err) = dump(root.path(), &[stage, "none.cu", "empty.cu", "a.cu"]);
        assert_eq!((code, err.as_str()), (2, "cudalint: error: `none.cu` does not exist\n"));
        assert_eq!(out, format!("{alone}{nothing}"));
    }
}
