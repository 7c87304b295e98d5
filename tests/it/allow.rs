//! Do comments allow what they stand beside or above, and nothing else?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;
use std::path::Path;

/// Two conflicts in a kernel, one in the function that it calls, one in another kernel.
const THREE: &str = "\
__device__ void turn(float *out, float (&tile)[32][32]) {
    out[threadIdx.x] = tile[threadIdx.x][1];
}
__global__ void first(float *out) {
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j++) tile[threadIdx.x][j] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] =
        tile[threadIdx.x][9];
    turn(out, tile);
}
template <int N>
__global__ void second(float *out) {
    __shared__ float other[32][N];
    other[threadIdx.x][0] = out[threadIdx.x];
}
void run(float *o) { first<<<1, 32>>>(o); second<32><<<1, 32>>>(o); }
";

/// The lines in which something is found, with the rule.
fn told(root: &Path, arguments: &[&str]) -> Vec<String> {
    let all = [&["-q", "--format", "json"], arguments].concat();
    let (_, out, err) = run(root, &all);
    assert_eq!(err, "", "{arguments:?}");
    let mut lines: Vec<String> = Vec::new();
    for finding in out.lines() {
        let finding: serde_json::Value = serde_json::from_str(finding).unwrap();
        let rule = finding["rule"].as_str().unwrap().to_owned();
        let own = std::iter::once(&finding["line"]);
        let lines_of_cause = finding["lines"].as_array().unwrap().iter().map(|line| &line["line"]);
        lines.extend(own.chain(lines_of_cause).map(|line| format!("{line} {rule}")));
    }
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn a_comment_above_a_kernel_is_about_all_of_it() {
    let root = folder(&[("a.cu", THREE)]);
    let all = ["15 bank-conflict", "2 bank-conflict", "6 bank-conflict", "9 bank-conflict"];
    assert_eq!(told(root.path(), &["a.cu"]), all);
    let with = |above: &str, comment: &str| {
        fs::write(root.path().join("a.cu"), THREE.replace(above, &format!("{comment}\n{above}"))).unwrap();
        told(root.path(), &["a.cu"])
    };
    let allow = "// cudalint: allow(bank-conflict): small";
    assert_eq!(
        with("__global__ void first", allow),
        ["16 bank-conflict", "2 bank-conflict"],
        "not what it calls"
    );
    assert_eq!(with("template <int N>", allow), &["2 bank-conflict", "6 bank-conflict", "9 bank-conflict"]);
    assert_eq!(with("__global__ void second", allow).len(), 3, "below `template`, too");
    assert_eq!(with("__device__ void turn", allow).len(), 3);
    let expect = "// cudalint: expect(bank-conflict)";
    assert_eq!(with("__global__ void second", expect).len(), 3);
    let barrier = "// cudalint: allow(divergent-barrier)";
    assert!(with("__global__ void first", barrier).contains(&"4 unused-directive".to_owned()));
    let loops = THREE.replace(
        "    other[",
        "    // cudalint: allow(bank-conflict)\n    for (int i = 0; i < 2; i++) {\n    other[",
    );
    fs::write(
        root.path().join("a.cu"),
        loops.replace("[threadIdx.x];\n}\nvoid", "[threadIdx.x];\n    }\n}\nvoid"),
    )
    .unwrap();
    let told = told(root.path(), &["a.cu"]);
    assert!(told.contains(&"17 bank-conflict".to_owned()), "of a loop, only the head: {told:?}");
}
