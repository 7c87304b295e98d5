use crate::analysis::{NoFiles, Options, Run};
use crate::verdict::{AccessOp, SiteVerdict};
use std::path::{Path, PathBuf};

fn verdicts(text: &str) -> Vec<SiteVerdict> {
    let path = PathBuf::from("a.cu");
    let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(NoFiles));
    run.analyze_file(Path::new("a.cu"), text.as_bytes().to_vec()).verdicts
}

/// Operation and wavefronts of each access, in a block of 32.
fn found(before: &str, body: &str) -> Vec<(AccessOp, Option<u64>)> {
    let text = format!(
        "{before}\n// cudalint: block(32)\n__global__ void k(float *out, const float *in, int n) {{\n__shared__ float s[2048];\nint t = threadIdx.x;\n{body}\n}}"
    );
    verdicts(&text).iter().map(|it| (it.op, it.wavefronts)).collect()
}

fn load(wavefronts: u64) -> (AccessOp, Option<u64>) {
    (AccessOp::Load, Some(wavefronts))
}

fn store(wavefronts: u64) -> (AccessOp, Option<u64>) {
    (AccessOp::Store, Some(wavefronts))
}

#[test]
fn reads_in_data_are_seen() {
    assert_eq!(found("", "float a[4]; a[n] = in[t] * s[t * 2]; out[t] = a[0];"), [load(2)]);
    assert_eq!(found("", "float x = 0; x += n > 0 ? s[t * 4] : in[t]; out[t] = x;"), [load(4)]);
    assert_eq!(found("", "float x; x = fmaf(s[t * 2], in[t], x); out[t] = x;"), [load(2)]);
    assert_eq!(found("", "float x; x = *(s + t * 8); out[t] = x;"), [load(8)]);
}

#[test]
fn a_shared_scalar_is_read_wherever_it_stands() {
    assert_eq!(found("", "__shared__ float u; float x = 1; x += u; out[t] = x;"), [load(1)]);
    assert_eq!(found("__shared__ float u;", "float x = 1; x += u; out[t] = x;"), [load(1)]);
    assert_eq!(found("", "float &r = s[t * 2]; float x = 1; x += r; out[t] = x;"), [load(2)]);
}

#[test]
fn what_goes_into_an_address_is_followed() {
    let through_data = "float f = 2; int i = (int)f; s[t * i] = 1;";
    assert_eq!(found("", through_data), [store(2)]);
    let through_pointer = "int i = 1; int *p = &i; *p = 4; s[t * i] = 1;";
    assert_eq!(found("", through_pointer), [store(4)]);
    let through_array = "int a[2]; a[0] = 1; a[1] = 2; s[t * a[1]] = 1;";
    assert_eq!(found("", through_array), [store(2)]);
    let reference = "__device__ void set(int &i) { i = 8; }";
    assert_eq!(found(reference, "int i = 1; for (int k = 0; k < 3; k++) set(i); s[t * i] = 1;"), [store(8)]);
    let pointer = "__device__ void set(int *i) { for (int k = 0; k < 3; k++) *i = 8; }";
    assert_eq!(found(pointer, "int i = 1; set(&i); s[t * i] = 1;"), [store(8)]);
}

#[test]
fn a_pointer_that_may_be_shared_is_followed() {
    let chosen = "const float *p = in; if (n > 0) p = s; float x = 0; x += p[t * 2]; out[t] = x;";
    assert_eq!(found("", chosen).len(), 1);
    let handed = "__device__ void first(const float *&p, const float *q) { p = q; }";
    assert_eq!(
        found(handed, "const float *p = in; first(p, s); float x = 0; x += p[t * 2]; out[t] = x;"),
        [load(2)]
    );
}

#[test]
fn an_idle_loop_leaves_the_rest_as_it_is() {
    let idle = "float a[64]; for (int i = 0; i < 64; i++) a[i] = in[i] * 2; s[t] = a[3]; __syncthreads(); out[t] = s[t * 2];";
    assert_eq!(found("", idle), [store(1), load(2)]);
}
