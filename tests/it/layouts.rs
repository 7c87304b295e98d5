//! Are layouts written only where every place that names the array can change?
//!
//! Each case adds to a kernel whose array would be written in another layout something that keeps it as it is. What
//! `explain` says of it is the reason; no fix is made, whatever is asked for.

use crate::support::folder::folder;
use std::path::Path;
use std::process::Command;

fn run(root: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// A tile that is walked both ways; `before` the kernel, `inside` and at its end.
fn turned(before: &str, inside: &str) -> String {
    format!(
        "{before}__global__ void k(float *out, const float *in, int n) {{\n    __shared__ float tile[96][128];\n\
         \x20   int x = threadIdx.x, y = threadIdx.y;\n    for (int r = y; r < 96; r += 8)\n\
         \x20       for (int c = x; c < 128; c += 32)\n            tile[r][c] = in[r * 128 + c];\n\
         \x20   __syncthreads();\n    for (int c = y; c < 128; c += 8)\n        for (int r = x; r < 96; r += 32)\n\
         \x20           out[c * 96 + r] = tile[r][c]; // here\n{inside}}}\n\
         void run(float *out, const float *in) {{ k<<<1, dim3(32, 8)>>>(out, in, 7); }}\n"
    )
}

/// What a fix makes of a text, and what is said of the line that is marked.
fn outcome(text: &str) -> (String, String) {
    let root = folder(&[("a.cu", text)]);
    let (diff, _) =
        run(root.path(), &["--diff", "--unsafe-fixes", "-q", "-A", "all", "-W", "bank-conflict", "a.cu"]);
    let line = text.lines().position(|line| line.ends_with("// here")).unwrap() + 1;
    let (said, _) = run(root.path(), &["explain", "-q", &format!("a.cu:{line}")]);
    (diff, said)
}

fn stays(text: &str, why: &str) {
    let (diff, said) = outcome(text);
    assert_eq!(diff, "", "{text}");
    assert!(said.contains(why), "{why}\n{said}\n{text}");
}

#[test]
fn the_kernel_by_itself_is_written() {
    let (diff, said) = outcome(&turned("", ""));
    assert!(diff.contains("+            tile[r][c ^ (r & 31)] = in[r * 128 + c];"), "{diff}");
    assert!(!said.contains("no automatic fix"), "{said}");
}

#[test]
fn what_leads_from_an_element_to_its_neighbours() {
    for (before, inside, why) in [
        ("", "    if (x == 0) out[0] = sizeof(tile);\n", "the size or type of `tile` matters at a.cu:11"),
        (
            "",
            "    float *p = &tile[y][x];\n    out[x] = *p;\n",
            "address of an element of `tile` is taken at a.cu:11",
        ),
        (
            "",
            "    float &e = tile[y][x];\n    e = 1;\n",
            "address of an element of `tile` is taken at a.cu:11",
        ),
        (
            "__device__ float own(const float &e) { return e; }\n",
            "    out[x] = own(tile[y][x]);\n",
            "may be passed by reference at a.cu:12",
        ),
        ("", "    out[x] = __ldcg(&tile[y][x]);\n", "address of an element"),
        ("", "    asm volatile(\"\" :: \"l\"(&tile[y][x]));\n", "address of an element"),
        (
            "__device__ float atomicAll(float *p) { return p[1]; }\n",
            "    out[x] = atomicAll(&tile[y][x]);\n",
            "address of an element",
        ),
    ] {
        let text = turned(before, inside);
        let (diff, said) = outcome(&text);
        assert_eq!(diff, "", "{text}");
        let undecided = said.contains("other layouts are not judged");
        assert!(undecided || said.contains(why), "{why}\n{said}\n{text}");
    }
}

#[test]
fn rows_and_casts() {
    for inside in [
        "    float *row = tile[y];\n    out[x] = row[x];\n",
        "    float (&row)[128] = tile[y];\n    out[x] = row[x];\n",
        "    float4 v = *reinterpret_cast<float4 *>(&tile[y][x * 4]);\n    out[x] = v.x;\n",
        "    out[x] = (&tile[0][0])[y * 128 + x];\n",
        "    for (float &e : tile[y]) e = 0;\n",
        "    out[x] = *(tile[y] + x);\n",
        "    out[x] = (*tile)[x];\n",
        "    auto all = [&](int i) { return (&tile[0][0])[i]; };\n    out[x] = all(x);\n",
        "    memset(tile, 0, 512);\n",
    ] {
        let text = turned("", inside);
        assert_eq!(outcome(&text).0, "", "{text}");
    }
}

#[test]
fn what_the_analysis_does_not_see() {
    stays(
        &turned("", "#ifdef DUMP\n    dump(tile);\n#endif\n"),
        "`tile` is named at a.cu:12, where the analysis did not see it",
    );
    stays(
        &turned("", "    if (blockDim.x == 64) out[x] = tile[y][x];\n"),
        "a.cu:11, which the analysis did not run",
    );
    stays(
        &turned("#define AT(r, c) tile[r][c]\n", "    out[x] = AT(y, x);\n"),
        "the element of `tile` at a.cu:12 is not plain text",
    );
    stays(&turned("#define T tile\n", "    out[x] = T[y][x];\n"), "is not plain text");
    stays(
        &turned("", "    out[x] = tile[y][x /* the \" first */];\n"),
        "the element of `tile` at a.cu:11 is not plain text",
    );
}

#[test]
fn indices_that_leave_their_row() {
    for inside in [
        // By a number that is known, and by one that is not.
        "    out[x] = tile[0][x + 32 * y];\n",
        "    for (int i = 0; i < 8; ++i) out[x] = tile[y + 1][x - i * 8];\n",
        "    for (int i = 0; i < n; ++i) out[x] = tile[y][x + i * 32];\n",
        "    out[x] = tile[y][x + 32 * blockIdx.x];\n",
    ] {
        let text = turned("", inside);
        assert_eq!(outcome(&text).0, "", "{text}");
    }
}

#[test]
fn subscripts_that_cannot_be_written_twice() {
    stays(
        &turned("", "    int i = y;\n    out[x] = tile[i++][x];\n"),
        "the subscript at a.cu:12 would be written twice",
    );
    stays(
        &turned("", "    int i = y;\n    out[x] = tile[i = 5][x];\n"),
        "the subscript at a.cu:12 would be written twice",
    );
    stays(
        &turned("__device__ int next(int i) { return i; }\n", "    out[x] = tile[next(y)][x];\n"),
        "the subscript at a.cu:12 would be written twice",
    );
    let long = vec!["0"; 30].join(" + ");
    stays(&turned("", &format!("    out[x] = tile[y + {long}][x];\n")), "would be written twice");
    // Once is enough for a column.
    let (diff, _) = outcome(&turned("", "    int i = x;\n    out[x] = tile[y][i++];\n"));
    assert!(diff.contains("tile[y][(i++) ^ (y & 31)]"), "{diff}");
    let (diff, _) = outcome(&turned("", "    out[x] = tile[min(y, 7)][x];\n"));
    assert!(diff.contains("tile[min(y, 7)][x ^ ((min(y, 7)) & 31)]"), "{diff}");
}

/// Columns alone are walked.
fn stacks(inside: &str) -> String {
    format!(
        "__global__ void k(float *out, const float *in) {{\n    __shared__ float stack[384][32];\n\
         \x20   int t = threadIdx.x;\n    for (int j = 0; j < 32; ++j)\n        stack[t][j] = in[j * 384 + t]; // here\n\
         \x20   float sum = 0;\n    for (int j = 0; j < 32; ++j)\n        sum += stack[t][31 - j];\n\
         \x20   out[t] = sum;\n{inside}}}\nvoid run(float *out, const float *in) {{ k<<<1, 384>>>(out, in); }}\n"
    )
}

#[test]
fn subscripts_in_another_order() {
    let (diff, _) = outcome(&stacks("    int top = 3;\n    out[t] = stack[t][top++];\n"));
    assert!(diff.contains("+    out[t] = stack[top++][t];"), "{diff}");
    for inside in [
        "    int i = t & 31;\n    out[t] = stack[i][i++];\n",
        "    int i = 3;\n    out[t] = stack[t + i * 0][i -= 1];\n",
    ] {
        stays(&stacks(inside), "the evaluation order of the subscripts matters");
    }
}

#[test]
fn planes_that_are_left() {
    let planes = |index: &str| {
        format!(
            "__global__ void k(float *out, const float *in) {{\n    __shared__ float day[64][8][7];\n\
             \x20   int x = threadIdx.x, d = threadIdx.y;\n    for (int w = 0; w < 8; ++w)\n\
             \x20       day[x][w][d] = in[(w * 7 + d) * 64 + x]; // here\n    __syncthreads();\n    float sum = 0;\n\
             \x20   for (int w = 0; w < 8; ++w)\n        sum += day{index};\n    out[d * 64 + x] = sum;\n}}\n\
             void run(float *out, const float *in) {{ k<<<1, dim3(64, 7)>>>(out, in); }}\n"
        )
    };
    let (diff, _) = outcome(&planes("[63 - x][w][d]"));
    assert!(diff.contains("+    __shared__ float day[64][9][7];"), "{diff}");
    stays(
        &planes("[62 - x / 2][w + 8][d]"),
        "not every subscript of `day` is known to stay in its row or plane",
    );
    assert_eq!(outcome(&planes("[63 - x][0][w * 7 + d]")).0, "");
}

#[test]
fn declarations_that_are_not_written_out() {
    let typed = stacks("").replace("__shared__ float stack[384][32];", "__shared__ Row stack[384];");
    assert_eq!(outcome(&format!("typedef float Row[32];\n{typed}")).0, "");
    let macro_ = stacks("").replace("stack[384][32];", "stack ROWS;");
    assert_eq!(outcome(&format!("#define ROWS [384][32]\n{macro_}")).0, "");
    let of_file = stacks("").replace("    __shared__ float stack[384][32];\n", "");
    stays(&format!("__shared__ float stack[384][32];\n{of_file}"), "does not declare `stack` itself");
}
