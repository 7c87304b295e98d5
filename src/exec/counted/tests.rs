use crate::analysis::{NoFiles, Options, Run};
use crate::verdict::{SiteVerdict, Status};
use std::path::{Path, PathBuf};

/// The verdicts of a kernel with this body, in a block of 32.
fn verdicts(body: &str) -> Vec<SiteVerdict> {
    let path = PathBuf::from("a.cu");
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(NoFiles));
    let text = format!(
        "// cudalint: block(32)\n__global__ void k(float *out) {{\n__shared__ float s[8192];\nfloat sum = 0;\nint t = threadIdx.x;\n{body}\nout[t] = sum;\n}}"
    );
    run.analyze_file(Path::new("a.cu"), text.into_bytes()).verdicts
}

fn wavefronts(body: &str) -> Vec<Option<u64>> {
    verdicts(body).iter().map(|it| it.wavefronts).collect()
}

#[test]
fn every_round_is_counted() {
    assert_eq!(wavefronts("for (int k = 0; k < 200; ++k) s[t + 32 * k] = 1;"), [Some(200)]);
    assert_eq!(wavefronts("for (int k = 199; k >= 0; --k) s[t * 2 + 32 * k] = 1;"), [Some(400)]);
    assert_eq!(wavefronts("for (int k = 0; k < 999; k += 5) s[t + 8 * k] = 1;"), [Some(200)]);
}

#[test]
fn a_special_round_is_run_as_such() {
    let first =
        "for (int k = 0; k < 100; ++k) { if (k == 0) s[t * 32] = 1; else s[t] = 1; __syncthreads(); }";
    assert_eq!(wavefronts(first), [Some(32), Some(99)]);
    let last = "for (int k = 0; k < 100; ++k) { if (k + 1 == 100) s[t * 32] = 1; __syncthreads(); }";
    assert_eq!(wavefronts(last), [Some(32)]);
    let middle = "for (int k = 0; k < 100; ++k) { if (k == 50) s[t * 32] = 1; __syncthreads(); }";
    assert_eq!(wavefronts(middle), [Some(32)]);
}

#[test]
fn what_follows_sees_the_last_values() {
    let after = "int i = 0; for (int k = 0; k < 100; ++k) { s[t + k] = 1; i += 3; } s[t * (i - 299)] = 1;";
    assert_eq!(wavefronts(after), [Some(100), Some(1)]);
}

#[test]
fn rounds_whose_banks_differ_are_run_one_by_one() {
    // Lanes k apart: free of conflicts when k is odd.
    let found = verdicts("for (int k = 0; k < 64; ++k) { s[t * k] = 1; __syncthreads(); }");
    assert_eq!(found[0].status, Status::Exact);
    let ways = |k: u64| if k == 0 { 1 } else { 1 << k.trailing_zeros().min(5) };
    assert_eq!(found[0].wavefronts, Some((0..64).map(ways).sum()));
}

#[test]
fn a_number_that_wraps_is_followed() {
    let body =
        "unsigned char c = 0; for (int k = 0; k < 400; ++k) { s[t + c] = 1; c += 64; __syncthreads(); }";
    assert_eq!(wavefronts(body), [Some(400)]);
    let body = "unsigned char c = 0; for (int k = 0; k < 40; ++k) { c += 64; } s[t * c] = 1;";
    assert_eq!(wavefronts(body), [Some(1)]);
}

#[test]
fn one_round_is_counted_of_a_loop_that_is_only_known_by_several() {
    let of = |divisor: u32| {
        wavefronts(&format!(
            "for (int r = blockIdx.x; r < gridDim.z; r += gridDim.x) {{ \
             sum += out[(r * gridDim.y + t) / {divisor}]; s[t * 2] = sum; __syncthreads(); \
             for (int i = 0; i < 3; i++) {{ sum += s[t + i]; __syncthreads(); }} }}"
        ))
    };
    for divisor in [1, 2, 4, 8] {
        assert_eq!(of(divisor), [Some(2), Some(3)], "{divisor}");
    }
    // One in two rounds is no number of requests, and so both rounds are counted.
    let turns = "int c = 0; for (int r = blockIdx.x; r < gridDim.z; r++) { \
                 s[t * (c + 1)] = 1; __syncthreads(); c ^= 1; }";
    assert_eq!(wavefronts(turns), [Some(3)]);
}

#[test]
fn loops_of_one_macro_are_told_apart() {
    let body = "float p[12] = {};\n\
                #define EACH _Pragma(\"unroll\") for (int c = 0; c < 12; c++) { \
                _Pragma(\"unroll\") for (int i = 0; i < 40; i++) p[c] += s[t + i]; }\n\
                EACH\nfor (int c = 0; c < 12; c++) sum += p[c];";
    assert_eq!(wavefronts(body), [Some(40)]);
}
