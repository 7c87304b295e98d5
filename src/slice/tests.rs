use crate::analysis::{NoFiles, Options, Run};
use crate::events::AccessOp;
use crate::verdict::SiteVerdict;
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

#[test]
fn what_a_reference_stands_for_is_changed_through_it() {
    assert_eq!(found("", "int i = 1; { int &r = i; r = 4; } s[t * i] = 1;"), [store(4)]);
    assert_eq!(found("", "int a[2][2]; { auto &r = a[1]; r[1] = 8; } s[t * a[1][1]] = 1;"), [store(8)]);
}

/// A loop of an unknown number of rounds, which is first run to see what changes in it.
fn rounds(before: &str, body: &str) -> String {
    format!("{before} for (int k = 0; k < n; k++) {{ {body} }}")
}

#[test]
fn what_a_round_leaves_for_the_next_is_seen() {
    let counter = rounds("int at = 0;", "int row = t * 2; s[row + at] = 1; at += 64;");
    assert_eq!(found("", &counter), [store(2)]);
    // It is only known how `at` changes where `by` is computed, too.
    let step = rounds("int at = t;", "int by = t * 3; s[at] = 1; at += by + 32;");
    assert!(matches!(found("", &step)[..], [(AccessOp::Store, _)]));
    let lengths =
        rounds("int at = t;", "int by = 32; int many[2]; many[0] = by; s[at * 2] = 1; at += many[0];");
    assert_eq!(found("", &lengths), [store(2)]);
    let lost = rounds("int i = t;", "int next = (i * 5) & 31; s[i] = 1; i = next;");
    assert_eq!(found("", &lost).len(), 1);
}

#[test]
fn who_goes_on_is_seen_in_a_round_that_is_only_watched() {
    let leaves =
        rounds("int at = 0;", "int half = t / 16; if (half == 1) break; s[t * 2 + at] = 1; at += 32;");
    assert_eq!(found("", &leaves), [store(1)]);
    let masked = rounds("int at = 0;", "int half = t / 16; if (half == 0) at += 32; s[t + at] = 1;");
    assert_eq!(found("", &masked).len(), 1);
}

#[test]
fn what_a_function_changes_by_reference_is_carried() {
    let set = "__device__ void step(int &i, int by) { i += by; }";
    let body = rounds("int at = 0;", "int by = 2 * 16; s[t * 2 + at] = 1; step(at, by);");
    assert_eq!(found(set, &body), [store(2)]);
    let set = "__device__ void step(int *i, int by) { *i += by; }";
    let body = rounds("int at = 0;", "int by = 2 * 16; s[t * 2 + at] = 1; step(&at, by);");
    assert_eq!(found(set, &body), [store(2)]);
    let body = rounds("int at = 0; int *p = &at;", "int by = 32; s[t * 2 + at] = 1; *p += by;");
    assert_eq!(found("", &body), [store(2)]);
    let body = rounds("int at = 0;", "int by = 32; s[t * 2 + at] = 1; { int &r = at; r += by; }");
    assert_eq!(found("", &body), [store(2)]);
}

#[test]
fn constants_declared_in_a_loop_stay_known() {
    let wide = "template <int N> __device__ void step(int &i) { i += N; }";
    let body = rounds("int at = 0;", "const int N = 32; s[t * 2 + at] = 1; step<N>(at);");
    assert_eq!(found(wide, &body), [store(2)]);
}

#[test]
fn a_pointer_to_data_leads_to_its_variable() {
    let read = "float a[4]; a[0] = in[t]; float *p = a; p[1] = s[t * 2]; out[t] = a[1];";
    assert_eq!(found("", read), [load(2)]);
    let index = "unsigned a[2][2]; half *h = reinterpret_cast<half *>(&a[0][0]); h[1] = in[t]; int *p = (int *)a; p[3] = 4; s[t * a[1][1]] = 1;";
    assert_eq!(found("", index).len(), 1);
    assert_ne!(found("", index), [store(1)]);
    let through = "int a[2]; a[0] = 4; int *p = a; int i = p[0]; s[t * i] = 1;";
    assert_eq!(found("", through), [store(4)]);
    let moved = "int a[2]; int *p = a; for (int k = 0; k < 2; k++) { *p = 4 * k; ++p; } s[t * a[1]] = 1;";
    assert_eq!(found("", moved), [store(4)]);
    let member = "float4 v; float *p = &v.x; p[1] = s[t * 4]; out[t] = v.y;";
    assert_eq!(found("", member), [load(4)]);
}

#[test]
fn a_pointer_that_may_lead_elsewhere_is_followed() {
    let chosen = "float a[4]; float *p = a; if (sizeof(float) == 4) p = s; p[t * 2] = 1; out[t] = a[0];";
    assert_eq!(found("", chosen), [store(2)]);
    let either = "float a[4]; float *p = sizeof(float) == 8 ? a : s; p[t * 2] = 1; out[t] = a[0];";
    assert_eq!(found("", either), [store(2)]);
    let handed = "__device__ void turn(float *&p, float *q) { p = q; }";
    assert_eq!(
        found(handed, "float a[4]; float *p = a; turn(p, s); p[t * 2] = 1; out[t] = a[0];"),
        [store(2)]
    );
    let taken = "float a[4]; float *p = a; float **q = &p; *q = s; p[t * 2] = 1; out[t] = a[0];";
    assert_eq!(found("", taken).len(), 1);
    let inside = "struct Row { float *at; }; Row r; r.at = s; Row *p = &r; p->at[t * 2] = 1;";
    assert_eq!(found("", inside), [store(2)]);
}

#[test]
fn a_function_that_only_computes_is_like_an_operator() {
    let fill = "template <typename T, int N> __device__ void fill(T (&r)[N], T with) { for (int i = 0; i < N; ++i) r[i] = with; }";
    assert_eq!(found(fill, "int a[4]; fill<int, 4>(a, 2); s[t * a[1]] = 1;").len(), 1);
    assert_eq!(found(fill, "float a[4]; fill<float, 4>(a, s[t * 4]); out[t] = a[0];"), [load(4)]);
    let shared =
        "__device__ void fill(float *r, float with) { for (int i = 0; i < 2; ++i) r[i * 32] = with; }";
    assert_eq!(found(shared, "fill(s + t * 2, 1); out[t] = s[t];"), [store(4), load(1)]);
    let set = "__device__ void set(int &i, int to) { i = to; }";
    assert_eq!(found(set, "int i = 1; set(i, 4); s[t * i] = 1;"), [store(4)]);
    let set = "__device__ void set(int *i, int to) { *i = to; }";
    assert_eq!(found(set, "int i = 1; int *p = &i; set(p, 4); s[t * i] = 1;"), [store(4)]);
    let given = "__device__ int twice(int i) { int r = i; r += i; return r; }";
    assert_eq!(found(given, "int i = twice(2); s[t * i] = 1;"), [store(4)]);
}

#[test]
fn a_function_that_does_more_is_run() {
    let barrier = "__device__ float sum(float x) { __syncthreads(); return x; }";
    assert_eq!(found(barrier, "float x = s[t * 2]; x = sum(x); out[t] = x; s[t] = 1;"), [load(2), store(1)]);
    let own =
        "__device__ float sum(float x) { __shared__ float u[64]; u[threadIdx.x * 2] = x; return u[0]; }";
    assert_eq!(found(own, "float x = 1; x = sum(x); out[t] = x;"), [store(2), load(1)]);
    let inner = "__device__ void put(float *p, float x) { p[threadIdx.x * 2] = x; } __device__ float sum(float *p, float x) { put(p, x); return x; }";
    assert_eq!(found(inner, "float x = 1; x = sum(s, x); out[t] = x;"), [store(2)]);
}

#[test]
fn assembly_that_computes_is_passed_over_only_where_it_makes_data() {
    let mma = "asm volatile(\"mma.sync.m8n8k4 {%0}, {%1};\" : \"=r\"(d[0]) : \"r\"(a));";
    assert_eq!(found("", &format!("unsigned d[2], a = s[t * 2]; {mma} out[t] = d[0];")), [load(2)]);
    assert_eq!(
        found("", &format!("unsigned d[2], a = 1; d[0] = 0; {mma} s[t * d[0]] = 1;")),
        [(AccessOp::Store, None)]
    );
}
