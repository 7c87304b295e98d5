//! Does a remedy do what the help says, once it is typed?
//!
//! Each kernel names its array through a macro, `#define S(i) s[i]`. The help of its finding says what to type
//! for that and for the declaration; that is typed, and the program judged again: the wavefronts have to be
//! those that were promised.

use crate::support::folder::folder;
use crate::support::kernels::verdicts;
use regex::Regex;
use std::process::Command;

/// What the tool prints of a text.
fn findings(text: &str) -> String {
    let folder = folder(&[("case.cu", text)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(folder.path()).args(["-q", "case.cu"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The wavefronts of all accesses of an array, each of which has to be known.
fn wavefronts(text: &str, array: &str) -> u64 {
    let all = verdicts(text);
    let sites: Vec<_> = all.iter().filter(|site| site.array == array).collect();
    assert!(!sites.is_empty(), "{text}");
    // The other part of a joined access has none.
    sites.iter().map(|site| site.wavefronts.unwrap_or_else(|| panic!("{site:?}\n{text}"))).sum()
}

/// The text as the help says, `index` an element of the array as it is written.
fn applied(text: &str, help: &str, array: &str) -> String {
    let mut text = text.to_owned();
    if let Some(found) = Regex::new("declare `([^`]*)`").unwrap().captures(help) {
        let declaration = Regex::new(&format!(r"(__shared__) [\w ]*\b{array}(\[[^;]*\])?;")).unwrap();
        assert!(declaration.is_match(&text), "{text}");
        text = declaration.replace(&text, format!("$1 {};", &found[1])).into_owned();
    }
    if let Some(found) = Regex::new("index `([^`]*)` as `([^`]*)`").unwrap().captures(help) {
        let definition = Regex::new(r"(?m)^#define S\(([a-z, ]*)\) (.*)$").unwrap();
        let (parameters, old) = {
            let macro_ = definition.captures(&text).expect("a macro");
            (macro_[1].to_owned(), macro_[2].to_owned())
        };
        assert_eq!(&found[1], old, "{help}");
        let mut new = found[2].to_owned();
        for parameter in parameters.split(", ") {
            let word = Regex::new(&format!(r"\b{parameter}\b")).unwrap();
            new = word.replace_all(&new, format!("({parameter})")).into_owned();
        }
        text = definition.replace(&text, format!("#define S({parameters}) {new}")).into_owned();
    }
    let apart = Regex::new(r"lay the rows of (\d+) elements of `\w+` (\d+) apart").unwrap();
    if let Some(found) = apart.captures(help) {
        let (row, next) = (&found[1], &found[2]);
        text = text.replace(
            &format!("#define S(i) {array}[i]"),
            &format!("#define S(i) {array}[(i) / {row} * {next} + (i) % {row}]"),
        );
    }
    let leading = Regex::new(r"the leading dimension (\d+) instead of (\d+)").unwrap();
    if let Some(found) = leading.captures(help) {
        text = text.replace(&format!("#define L {}", &found[2]), &format!("#define L {}", &found[1]));
    }
    text
}

/// The text with the remedy of an array typed as its help says.
pub fn typed(text: &str, array: &str) -> String {
    let said = findings(text);
    let help =
        said.lines().find(|line| line.contains("= help: ")).unwrap_or_else(|| panic!("{said}\n{text}"));
    applied(text, help, array)
}

/// Asks for the remedy of the kernel's array, types it, and compares what was promised with what is found.
fn keeps_its_word(text: &str, array: &str, remedy: &str) {
    let said = findings(text);
    let help =
        said.lines().find(|line| line.contains("= help: ")).unwrap_or_else(|| panic!("{said}\n{text}"));
    assert!(help.contains(remedy), "{help}");
    let figures = Regex::new(r"then takes (up to )?(\d+) wavefronts? in total instead of (\d+)").unwrap();
    let figures = figures.captures(help).unwrap_or_else(|| panic!("{help}"));
    let number = |at: usize| figures[at].parse::<u64>().unwrap();
    // Of a joined access each part tells of the whole.
    let now = wavefronts(text, array);
    assert!(now == number(3) || figures.get(1).is_some() && now > number(3), "{now}: {help}");
    let typed = applied(text, help, array);
    assert_ne!(typed, text, "{help}");
    let then = wavefronts(&typed, array);
    match figures.get(1) {
        Some(_) => assert!(then <= number(2), "{then}: {help}\n{typed}"),
        None => assert_eq!(then, number(2), "{help}\n{typed}"),
    }
    if help.contains("no layout can take fewer (") || help.ends_with("no layout can take fewer") {
        let again = findings(&typed);
        assert!(!again.contains("bank-conflict"), "{again}\n{typed}");
    }
}

/// A kernel of one array that reads and writes `float`s, and its launch.
pub fn kernel(macro_: &str, declaration: &str, body: &str, block: &str) -> String {
    format!(
        "#define S{macro_}\n__global__ void k(float *out, const float *in) {{\n    __shared__ {declaration};\n\
         \x20   int x = threadIdx.x, y = threadIdx.y;\n{body}}}\n\
         void run(float *out, const float *in) {{ k<<<1, dim3({block})>>>(out, in); }}\n"
    )
}

#[test]
fn a_skew() {
    let tree = "    S(2 * x) = in[2 * x];\n    S(2 * x + 1) = in[2 * x + 1];\n    int step = 1;\n\
                \x20   for (int d = 256; d > 0; d >>= 1) {\n        __syncthreads();\n\
                \x20       if (x < d) S(step * (2 * x + 2) - 1) += S(step * (2 * x + 1) - 1);\n\
                \x20       step *= 2;\n    }\n    __syncthreads();\n    out[x] = S(x);\n";
    keeps_its_word(&kernel("(i) s[i]", "float s[512]", tree, "256"), "s", "`s[i + (i >> 5)]`");
    let strides = "    S(32 * x) = in[x];\n    __syncthreads();\n    float sum = 0;\n\
                   \x20   for (int d = 8; d <= 32; d *= 2) sum += S(d * (x & ~3));\n    out[x] = sum;\n";
    keeps_its_word(&kernel("(i) s[i]", "float s[3201]", strides, "100"), "s", "`s[i + (i >> 5)]`");
}

#[test]
fn an_exclusive_or_of_row_and_column() {
    let transposed = "    for (int i = y; i < 96; i += 8)\n        for (int j = x; j < 128; j += 32)\n\
                      \x20           S(i, j) = in[i * 128 + j];\n    __syncthreads();\n\
                      \x20   for (int i = y; i < 128; i += 8)\n        for (int j = x; j < 96; j += 32)\n\
                      \x20           out[i * 96 + j] = S(j, i);\n";
    let text = kernel("(r, c) tile[r][c]", "float tile[96][128]", transposed, "32, 8");
    keeps_its_word(&text, "tile", "`tile[r][c ^ (r & 31)]`");
    let narrow = transposed.replace("96", "24").replace("128", "512");
    let text = kernel("(r, c) tile[r][c]", "float tile[24][512]", &narrow, "32, 8");
    keeps_its_word(&text, "tile", "`tile[r][c ^ r]`");
}

#[test]
fn an_exclusive_or_within_a_flat_array() {
    let columns = "    for (int i = x; i < 12288; i += 256) S(i) = in[i];\n    __syncthreads();\n\
                   \x20   float sum = 0;\n    for (int j = 0; j < 8; ++j) sum += S((x % 32) * 256 + x / 32 + j * 8);\n\
                   \x20   out[x] = sum;\n";
    let text = kernel("(i) s[i]", "float s[12288]", columns, "256");
    keeps_its_word(&text, "s", "`s[i ^ ((i >> 8) & 31)]`");
    let text = text.replace("12288", "8192").replace("(x % 32) * 256", "(x % 32) * 128");
    let text = text
        .replace("float s[8192]", "float s[8192], t[4096]")
        .replace("    out[x]", "    t[x] = sum;\n    out[x]");
    keeps_its_word(&text, "s", "`s[i ^ ((i >> 7) & 31)]`");
}

#[test]
fn an_exclusive_or_within_a_row() {
    // Each thread reads 16 neighbours as four times 16 bytes, so 8 lanes meet in 8 of the 32 banks.
    let body = "    for (int r = 0; r < 4; ++r) S(r, x) = reinterpret_cast<const float4 *>(in)[r * 128 + x];\n\
                \x20   __syncthreads();\n    float sum = 0;\n\
                \x20   for (int r = 0; r < 4; ++r)\n        for (int j = 0; j < 4; ++j) sum += S(r, (x % 32) * 4 + j).x;\n\
                \x20   out[x] = sum;\n";
    let body = body.replace("S(r, (x % 32) * 4 + j).x", "read(&S(r, (x % 32) * 4 + j))");
    let read = "__device__ float read(const float4 *p) { float4 v = *p; return v.x + v.y + v.z + v.w; }\n";
    for (columns, lanes) in [(128, "128"), (256, "256")] {
        let body = body.replace("128", lanes);
        let text = kernel("(r, c) tile[r][c]", &format!("float4 tile[4][{columns}]"), &body, lanes);
        keeps_its_word(&format!("{read}{text}"), "tile", "`tile[r][c ^ ((c >> 3) & 7)]`");
    }
}

/// The kernel as a template, launched with each of the lists of arguments.
pub fn template(text: &str, parameters: &str, launched: &[&str]) -> String {
    let text = text.replace("__global__", &format!("template <{parameters}> __global__"));
    let (kernel, run) = text.split_once("void run").unwrap();
    let (_, launch) = run.split_once("k<<<").unwrap();
    let (launch, _) = launch.split_once(';').unwrap();
    let launches: String = launched.iter().map(|args| format!(" k<{args}><<<{launch};")).collect();
    format!("{kernel}void run(float *out, const float *in) {{{launches} }}\n")
}

#[test]
fn one_text_for_instances_of_several_lengths() {
    let strides = "    S(32 * x) = in[x];\n    __syncthreads();\n    float sum = 0;\n\
                   \x20   for (int d = 8; d <= 32; d *= 2) sum += S(d * (x & ~3));\n    out[x] = sum;\n";
    let text = template(&kernel("(i) s[i]", "float s[N + 1]", strides, "100"), "int N", &["3200", "4000"]);
    keeps_its_word(&text, "s", "declare `float s[N + 1 + (N >> 5)]`");
    keeps_its_word(&text, "s", "conflict-free in all 2 instances");
    let transposed = "    for (int i = y; i < R; i += 8)\n        for (int j = x; j < C; j += 32)\n\
                      \x20           S(i, j) = in[i * C + j];\n    __syncthreads();\n\
                      \x20   for (int i = y; i < C; i += 8)\n        for (int j = x; j < R; j += 32)\n\
                      \x20           out[i * R + j] = S(j, i);\n";
    // 48 KiB are full. The first has too few rows for a mask, the second has more than 32.
    let text = kernel("(r, c) tile[r][c]", "float tile[R][C]", transposed, "32, 8");
    let both = template(&text, "int R, int C", &["24, 512", "96, 128"]);
    keeps_its_word(&both, "tile", "`tile[r][c ^ (r & 31)]`");
}

#[test]
fn a_text_that_helps_one_instance_and_costs_no_other_more() {
    let columns = "    for (int r = y; r < 32; r += 8) S(r, x) = in[r * 32 + x];\n    __syncthreads();\n\
                   \x20   for (int c = y; c < 32; c += 8) out[c * 32 + x] = S(x, c);\n";
    // One element more would make rows of 34 of those of 33.
    let text = kernel("(r, c) tile[r][c]", "float tile[32][N]", columns, "32, 8");
    let text = template(&text, "int N", &["32", "33"]);
    keeps_its_word(&text, "tile", "conflict-free in 1 of 2 instances; `k<32>` still takes ");
}

#[test]
fn reads_of_which_most_find_their_element_in_a_register() {
    // Of the four rounds of `m` one reads, and which is not known.
    let body = "    for (int i = y; i < 96; i += 8)\n        for (int j = x; j < 128; j += 32)\n\
                \x20           S(i, j) = in[i * 128 + j];\n    __syncthreads();\n    float sums[4] = {};\n\
                #pragma unroll\n    for (int m = 0; m < 4; ++m)\n#pragma unroll\n\
                \x20       for (int j = 0; j < 8; ++j) sums[m] += in[m] * S(x, y + 8 * j);\n\
                \x20   for (int m = 0; m < 4; ++m) out[m * 256 + y * 32 + x] = sums[m];\n";
    let text = kernel("(r, c) tile[r][c]", "float tile[96][128]", body, "32, 8");
    keeps_its_word(&text, "tile", "`tile[r][c ^ (r & 31)]`");
}

#[test]
fn rows_for_columns() {
    // 48 KiB are full, and only columns are walked.
    for (rows, columns) in [(96, 128), (384, 32)] {
        let body = format!(
            "    for (int j = y; j < {columns}; j += 8)\n        for (int i = x; i < {rows}; i += 32)\n\
             \x20           S(i, j) = in[j * {rows} + i];\n    __syncthreads();\n\
             \x20   for (int j = y; j < {columns}; j += 8) out[j * 32 + x] = S(x, j);\n"
        );
        let text = kernel("(r, c) tile[r][c]", &format!("float tile[{rows}][{columns}]"), &body, "32, 8");
        keeps_its_word(&text, "tile", "index `tile[r][c]` as `tile[c][r]`");
    }
}

#[test]
fn longer_planes() {
    for planes in [16, 32] {
        let body = format!(
            "    for (int r = 0; r < 8; ++r) S(x, r, y) = in[(x * 8 + r) * 4 + y];\n    __syncthreads();\n\
             \x20   float sum = 0;\n    for (int r = 0; r < 8; ++r) sum += S(x, r, y);\n    out[y * {planes} + x] = sum;\n"
        );
        let text = kernel(
            "(p, r, c) box[p][r][c]",
            &format!("float box[{planes}][8][4]"),
            &body,
            &format!("{planes}, 4"),
        );
        keeps_its_word(&text, "box", "declare `float box[");
    }
}

#[test]
fn an_array_for_each_member() {
    for (members, last) in [("float x, y, z, w, u, v, p, q;", "q"), ("float x, y, z, w;", "w")] {
        let text = kernel(
            "(i, m) s[i].m",
            "Body s[128]",
            &format!(
                "    S(x, x) = in[x];\n    S(x, {last}) = in[x + 128];\n    __syncthreads();\n    out[x] = S(127 - x, x) + S(x, {last});\n"
            ),
            "128",
        );
        let text = format!("struct Body {{ {members} }};\n{text}");
        let said = findings(&text);
        let help = "give each member of `s` its own array: `s` then takes 16 wavefronts in total";
        assert!(said.contains(help), "{said}");
        let apart = text
            .replace("s[i].m", "s_##m[i]")
            .replace("__shared__ Body s[128]", &format!("__shared__ float s_x[128], s_{last}[128]"));
        assert_eq!(wavefronts(&apart, "s_x") + wavefronts(&apart, &format!("s_{last}")), 16);
        assert!(!findings(&apart).contains("bank-conflict"), "{apart}");
    }
}

/// Halves in shared memory and `wmma` calls that read them as tiles, `L` elements from line to line.
fn tiles(declaration: &str, body: &str, threads: u32) -> String {
    format!(
        "#include <mma.h>\nusing namespace nvcuda;\n#define L 16\n#define S(i) s[i]\n\
         __global__ void k(float *out, const half *in) {{\n    __shared__ {declaration};\n    int t = threadIdx.x;\n\
         \x20   wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;\n\
         \x20   *reinterpret_cast<int4 *>(&S(t * 8)) = *reinterpret_cast<const int4 *>(in + t * 8);\n\
         \x20   __syncthreads();\n{body}}}\n\
         void run(float *out, const half *in) {{ k<<<1, {threads}>>>(out, in); }}\n"
    )
}

#[test]
fn rows_of_tiles_farther_apart() {
    let twice = "    for (int i = 0; i < 2; ++i) {\n        wmma::load_matrix_sync(a, &S(0), L);\n\
                 \x20       out[t] = a.x[i];\n    }\n";
    keeps_its_word(&tiles("half s[256]", twice, 32), "s", "the leading dimension 24 instead of 16");
    // With its columns, where rows are the array's whole width.
    let wide = "    wmma::load_matrix_sync(a, &S(t / 32 * 16), L);\n    out[t] = a.x[0];\n";
    let wide = tiles("half s[4096]", wide, 512).replace("#define L 16", "#define L 256");
    keeps_its_word(&wide, "s", "the leading dimension 264 instead of 256");
}

#[test]
fn tiles_that_no_rows_hold() {
    // Loaded once, what longer rows save is what chunks then cost.
    let once = "    wmma::load_matrix_sync(a, &S(0), L);\n    out[t] = a.x[0];\n";
    let said = findings(&tiles("half s[256]", once, 32));
    assert!(said.contains("none of 7 other layouts tried takes fewer than the 12 wavefronts"), "{said}");
    // Lines from the middle of one row to the middle of the next are in no row.
    let between = "    wmma::load_matrix_sync(a, &S(48), L);\n    wmma::load_matrix_sync(a, &S(0), 2 * L);\n\
                   \x20   out[t] = a.x[0];\n";
    let said = findings(&tiles("half s[1024]", between, 128));
    assert!(!said.contains("lay the rows of 32"), "{said}");
}

/// Operands, and results in their place: rows of `A` and of `R` elements.
const IN_TURN: &str = "#include <mma.h>
using namespace nvcuda;
#define A 32
#define R 64
__global__ void k(float *out, const half *in, int n) {
    extern __shared__ half memory[];
    float *results = reinterpret_cast<float *>(memory);
    int t = threadIdx.x, warp = t / 32;
    for (int block = blockIdx.x; block < n; block += gridDim.x) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        for (int i = t; i < 256; i += 128)
            *reinterpret_cast<int4 *>(memory + i / 4 * A + i % 4 * 8) = *reinterpret_cast<const int4 *>(in + i * 8);
        __syncthreads();
        wmma::load_matrix_sync(a, memory + warp * 16 * A, A);
        wmma::load_matrix_sync(a, memory + warp * 16 * A + 16, A);
        sum.x[0] = a.x[0];
        /* here */
        __syncthreads();
        wmma::store_matrix_sync(results + warp * 16, sum, R, wmma::mem_row_major);
        __syncthreads();
        for (int i = t; i < 16 * 64; i += 128)
            out[block * 1024 + i] = results[i / 64 * R + i % 64];
        __syncthreads();
    }
}
void run(float *out, const half *in, int n) { k<<<16, 128, 8192>>>(out, in, n); }
";

#[test]
fn each_use_of_an_array_by_itself() {
    let said = findings(IN_TURN);
    let help =
        Regex::new(r"leading dimension (\d+) instead of (\d+); that takes (\d+) wavefronts instead of (\d+)")
            .unwrap();
    let helps: Vec<Vec<u64>> = help
        .captures_iter(&said)
        .map(|found| (1..5).map(|at| found[at].parse().unwrap()).collect())
        .collect();
    assert_eq!(helps.len(), 2, "{said}");
    // It is not known how often the loop around all of it runs: the help counts 8 rounds, a verdict one.
    let sum = |at: usize| helps.iter().map(|help| help[at]).sum::<u64>() / 8;
    assert_eq!(wavefronts(IN_TURN, "memory"), sum(3), "{said}");
    let typed = helps.iter().fold(IN_TURN.to_owned(), |text, help| {
        let define = |number: u64| Regex::new(&format!(r"(?m)^(#define \w) {number}$")).unwrap();
        define(help[1]).replace(&text, format!("${{1}} {}", help[0])).into_owned()
    });
    assert_eq!(wavefronts(&typed, "memory"), sum(2), "{said}\n{typed}");
}

#[test]
fn uses_that_share_something_are_one() {
    let said = |change: &str| {
        let text = IN_TURN.replace("/* here */", change);
        assert_ne!(text, IN_TURN);
        findings(&text)
    };
    assert!(said("sum.x[1] = 0;").contains("a separate use"));
    // No barrier is between what is read and what is written over it.
    let text = IN_TURN.replace("/* here */\n        __syncthreads();", "");
    assert!(!findings(&text).contains("separate use"), "{text}");
    // Operands that lie behind the results are still to be read when those are written.
    let behind = IN_TURN.replace("memory + ", "memory + 2048 + ");
    assert!(findings(&behind).contains("a separate use"), "{behind}");
    let kept = behind.replace(
        "results[i / 64 * R + i % 64];",
        "results[i / 64 * R + i % 64] + __half2float(memory[2048 + i]);",
    );
    assert_ne!(kept, behind);
    assert!(!findings(&kept).contains("separate use"), "{kept}");
    // Not all operands are written anew.
    let text = IN_TURN
        .replace("for (int i = t; i < 256; i += 128)", "if (n > 3) for (int i = t; i < 256; i += 128)");
    assert!(!findings(&text).contains("separate use"), "{text}");
    // What is not followed may do anything.
    assert!(!said("unknown(memory);").contains("separate use"));
}
