//! Does a kernel get the launches of its own program, and the macros of its includers, whichever
//! files are given and in whatever order?

use crate::support::folder::folder;
use assert_cmd::Command;
use std::path::Path;

/// A kernel whose store has as many ways as a block's rows leave of a warp.
const ROWS: &str = "{
    __shared__ float s[32][32];
    s[threadIdx.y][threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[0][threadIdx.x];
}
";

/// A kernel whose store has as many ways as `STRIDE`, a power of two, says.
const STRIDED: &str = "__global__ void strided(float *out) {
    __shared__ float s[32 * STRIDE];
    s[threadIdx.x * STRIDE] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
";

/// Each store: its file, its kernel, the block, where that is from, and what is known of it.
fn stores(root: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command
        .current_dir(root)
        .args(["accesses", "--format", "json", "--quiet"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let rows = String::from_utf8(output.stdout).unwrap();
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    rows.filter(|row| row["op"] == "store")
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            let block: Vec<String> =
                row["block"].as_array().unwrap().iter().map(ToString::to_string).collect();
            let (file, kernel, status) = (text("file"), text("kernel"), text("status"));
            let from = text("block_from");
            let worst = row["worst"].as_u64().map_or("-".to_owned(), |worst| worst.to_string());
            format!("{file} {kernel} {} {from} {status} {worst}", block.join(","))
        })
        .collect()
}

fn assumptions(root: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let command = command.current_dir(root).args(["accesses", "--format", "json", "--quiet"]);
    let output = command.args(arguments).output().unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    rows.filter(|row| row["op"] == "store")
        .flat_map(|row| row["assumptions"].as_array().unwrap().clone())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

fn kernel(name: &str) -> String {
    format!("__global__ void {name}(float *out) {ROWS}")
}

fn program(name: &str, block: &str) -> String {
    format!("__global__ void {name}(float *out);\nint main() {{ {name}<<<1, {block}>>>(nullptr); }}\n")
}

#[test]
fn a_launch_of_another_program_is_not_taken() {
    let (kernel, a, b) =
        (kernel("reduce"), program("reduce", "dim3(16, 16)"), program("reduce", "dim3(8, 8)"));
    let root = folder(&[
        ("one/kernel.cu", &kernel),
        ("one/main.cu", &a),
        ("two/kernel.cu", &kernel),
        ("two/main.cu", &b),
        ("three/kernel.cu", &kernel),
    ]);
    let found = [
        "one/kernel.cu reduce 16,16,1 launch exact 2",
        "three/kernel.cu reduce 32,32,1 implied assumed 1",
        "two/kernel.cu reduce 8,8,1 launch exact 4",
    ];
    assert_eq!(stores(root.path(), &["."]), found);
}

#[test]
fn a_launch_goes_to_the_kernel_of_its_name_even_if_that_holds_nothing_to_judge() {
    let plain = "__global__ void reduce(float *out) { out[threadIdx.x] = 0; }\n";
    let root = folder(&[
        ("one/kernel.cu", plain),
        ("one/main.cu", &program("reduce", "dim3(16, 16)")),
        ("two/kernel.cu", &kernel("reduce")),
    ]);
    assert_eq!(stores(root.path(), &["."]), ["two/kernel.cu reduce 32,32,1 implied assumed 1"]);
}

#[test]
fn two_files_with_a_main_are_two_programs() {
    let own = format!("{}int main() {{}}\n", kernel("fill"));
    let root = folder(&[("a.cu", &own), ("b.cu", &program("fill", "dim3(16, 16)"))]);
    assert_eq!(stores(root.path(), &["."]), ["a.cu fill 32,32,1 implied assumed 1"]);
    // What is linked to it may be far away.
    let root = folder(&[
        ("app/a.cu", &own),
        ("app/b.cu", &program("fill", "dim3(16, 16)")),
        ("lib/kernels/fill.cu", &kernel("fill")),
    ]);
    let found =
        ["app/a.cu fill 32,32,1 implied assumed 1", "lib/kernels/fill.cu fill 16,16,1 launch exact 2"];
    assert_eq!(stores(root.path(), &["."]), found);
}

#[test]
fn a_kernel_is_launched_by_its_own_file_and_by_others_of_its_folder() {
    let own = format!("{}void test(float *out) {{ fill<<<1, dim3(8, 8)>>>(out); }}\n", kernel("fill"));
    let near = program("fill", "dim3(16, 16)");
    let root = folder(&[("lib/fill.cu", &own), ("lib/main.cu", &near)]);
    let both = ["lib/fill.cu fill 8,8,1 launch exact 4", "lib/fill.cu fill 16,16,1 launch exact 2"];
    assert_eq!(stores(root.path(), &["."]), both);
    let root = folder(&[("lib/fill.cu", &own), ("app/main.cu", &near)]);
    assert_eq!(stores(root.path(), &["."]), ["lib/fill.cu fill 8,8,1 launch exact 4"]);
}

#[test]
fn the_nearest_kernel_is_meant_and_of_several_each_with_a_word() {
    let main = program("fill", "dim3(16, 16)");
    let root = folder(&[
        ("p/main.cu", &main),
        ("p/src/fill.cu", &kernel("fill")),
        ("p/src/old/fill.cu", &kernel("fill")),
        ("fill.cu", &kernel("fill")),
    ]);
    let found = [
        "fill.cu fill 32,32,1 implied assumed 1",
        "p/src/fill.cu fill 16,16,1 launch exact 2",
        "p/src/old/fill.cu fill 32,32,1 implied assumed 1",
    ];
    assert_eq!(stores(root.path(), &["."]), found);

    let root = folder(&[("main.cu", &main), ("new.cu", &kernel("fill")), ("old.cu", &kernel("fill"))]);
    let found = ["new.cu fill 16,16,1 launch assumed 2", "old.cu fill 16,16,1 launch assumed 2"];
    assert_eq!(stores(root.path(), &["."]), found);
    let text = "block is (16, 16, 1), from a launch, which may mean another kernel of the same name";
    assert_eq!(assumptions(root.path(), &["."]), [text, text]);
}

#[test]
fn a_launch_means_a_kernel_that_takes_what_is_declared() {
    let other = format!("__global__ void fill(float *out, int n) {ROWS}");
    let third = format!("__global__ void fill(double *out) {ROWS}");
    let root = folder(&[
        ("main.cu", &program("fill", "dim3(16, 16)")),
        ("other.cu", &other),
        ("third.cu", &third),
        ("lib/fill.cu", &kernel("fill")),
    ]);
    let found = [
        "lib/fill.cu fill 16,16,1 launch exact 2",
        "other.cu fill 32,32,1 implied assumed 1",
        "third.cu fill 32,32,1 implied assumed 1",
    ];
    assert_eq!(stores(root.path(), &["."]), found);
}

#[test]
fn of_overloads_the_one_is_launched_that_takes_the_arguments() {
    let both = format!(
        "__global__ void fill(float *out) {ROWS}__global__ void fill(float *out, int n) {ROWS}
void start(float *out) {{ fill<<<1, dim3(16, 16)>>>(out); fill<<<1, dim3(8, 8)>>>(out, 3); }}\n"
    );
    let root = folder(&[("a.cu", &both)]);
    let found = ["a.cu fill 16,16,1 launch exact 2", "a.cu fill 8,8,1 launch exact 4"];
    assert_eq!(stores(root.path(), &["."]), found);
}

#[test]
fn a_template_that_is_only_declared_is_launched_as_it_is_instantiated() {
    let kernel = "template <typename T, int N> __global__ void copy(T *out) {
    __shared__ T s[64];
    s[threadIdx.x] = out[N];
    __syncthreads();
    out[threadIdx.x] = s[0];
}
template __global__ void copy<double, 4>(double *);
template __global__ void copy<float, 2>(float *);
template __global__ void copy<char, 2>(char *);
";
    let launch = "template <typename T, int N> __global__ void copy(T *out);
template <typename T> void start(T *out) { copy<T, 2><<<1, 64>>>(out); }\n";
    let root = folder(&[("k.cu", kernel), ("main.cu", launch)]);
    let found = ["k.cu copy<char, 2> 64,1,1 launch exact 1", "k.cu copy<float, 2> 64,1,1 launch exact 1"];
    assert_eq!(stores(root.path(), &["."]), found);
}

#[test]
fn a_type_that_nothing_tells_is_not_an_int() {
    let text = "template <typename T> __global__ void copy(T *out, T first) {
    __shared__ T s[64];
    s[threadIdx.x] = first;
    __syncthreads();
    out[threadIdx.x] = s[0];
}
template <typename T> void launch(T *out, T first) { copy<<<1, 64>>>(out, first); }
template <typename T> void start(T *out, T first) { launch(out, first); }\n";
    let root = folder(&[("a.cu", text)]);
    assert_eq!(stores(root.path(), &["."]), ["a.cu copy 64,1,1 launch assumed 1"]);
}

/// The stores are the same whether the folder is given or any of the files alone.
#[track_caller]
fn same_both_ways(files: &[(&str, &str)], given: &[&str], expected: &[&str]) {
    let root = folder(files);
    assert_eq!(stores(root.path(), &["."]), expected, "the folder");
    for file in given {
        assert_eq!(stores(root.path(), &[file]), expected, "{file} alone");
    }
}

#[test]
fn a_header_sees_what_its_includer_defines() {
    let main = "#include \"k.cuh\"\nint main() { strided<<<1, 32>>>(nullptr); }\n";
    let known = ["k.cuh strided 32,1,1 launch exact 4"];
    for before in ["#define STRIDE 4\n", "constexpr int STRIDE = 4;\n", "enum { STRIDE = 4 };\n"] {
        let main = format!("{before}{main}");
        same_both_ways(&[("k.cuh", STRIDED), ("main.cu", &main)], &["main.cu"], &known);
    }
    // Through another header, and by a name that another name is made of.
    let main = format!("#include \"sizes.cuh\"\n{main}");
    let files = [
        ("base.cuh", "constexpr int WORDS = 2;\n"),
        ("sizes.cuh", "#include \"base.cuh\"\nconstexpr int STRIDE = 2 * WORDS;\n"),
        ("k.cuh", STRIDED),
        ("main.cu", &main),
    ];
    same_both_ways(&files, &["main.cu"], &known);
}

#[test]
fn a_header_s_template_sees_the_types_that_its_launches_name() {
    let kernel = "template <typename Op> __global__ void apply(float *out) {
    __shared__ float s[32 * Op::stride];
    s[threadIdx.x * Op::stride] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}\n";
    let main = "#include \"k.cuh\"
struct Wide { static constexpr int stride = 4; };
int main() { apply<Wide><<<1, 32>>>(nullptr); }\n";
    let found = ["k.cuh apply<Wide> 32,1,1 launch exact 4"];
    same_both_ways(&[("k.cuh", kernel), ("main.cu", main)], &["main.cu"], &found);
}

#[test]
fn includers_that_differ_are_judged_each() {
    let main = |stride: u32| {
        format!(
            "#define STRIDE {stride}\n#include \"k.cuh\"\nint main() {{ strided<<<1, 32>>>(nullptr); }}\n"
        )
    };
    let root = folder(&[("k.cuh", STRIDED), ("a.cu", &main(4)), ("b.cu", &main(8))]);
    let found = ["k.cuh strided 32,1,1 launch exact 4", "k.cuh strided 32,1,1 launch exact 8"];
    assert_eq!(stores(root.path(), &["."]), found);
    assert_eq!(stores(root.path(), &["a.cu", "b.cu"]), found);
    assert_eq!(stores(root.path(), &["a.cu"]), found[..1]);
    assert_eq!(stores(root.path(), &["b.cu"]), found[1..]);
}

#[test]
fn includers_beyond_the_most_are_not_silent() {
    let names: Vec<String> = (0..20).map(|at| format!("m{at:02}.cu")).collect();
    let texts: Vec<String> = (0..20)
        .map(|at| {
            format!(
                "#define STRIDE {}\n#include \"k.cuh\"\nvoid f{at}() {{ strided<<<1, 32>>>(0); }}\n",
                at + 1
            )
        })
        .collect();
    let mut files = vec![("k.cuh", STRIDED)];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    let root = folder(&files);
    let found = stores(root.path(), &["."]);
    assert_eq!(found.iter().filter(|row| row.contains("exact")).count(), 5, "{found:#?}");
    assert!(found.contains(&"k.cuh strided 32,1,1 launch unknown -".to_owned()), "{found:#?}");
}

#[test]
fn a_header_that_no_one_launches_sees_its_includer_too() {
    let main = "#define STRIDE 4\n#include \"k.cuh\"\nint main() {}\n";
    let root = folder(&[("k.cuh", STRIDED), ("main.cu", main)]);
    assert_eq!(stores(root.path(), &["."]), ["k.cuh strided 32,1,1 implied assumed 4"]);
    // What is not given is judged for who launches it.
    assert!(stores(root.path(), &["main.cu"]).is_empty());

    let other = program("strided", "32");
    let root = folder(&[("k.cuh", STRIDED), ("a.cu", &main.replace("int main() {}", "")), ("b.cu", &other)]);
    let found = ["k.cuh strided 32,1,1 launch exact 4"];
    assert_eq!(stores(root.path(), &["."]), found);
    assert_eq!(stores(root.path(), &["a.cu", "b.cu"]), found);
}

#[test]
fn a_launcher_of_a_header_launches_what_its_includer_defines() {
    let launcher = "void bench(float *out) { fill<<<1, dim3(16, 16)>>>(out); }\n";
    let one = format!("{}#include \"bench.cuh\"\nint main() {{ bench(nullptr); }}\n", kernel("fill"));
    let idle = format!("{}#include \"bench.cuh\"\n", kernel("fill"));
    let far = kernel("fill");
    let files = [("p/bench.cuh", launcher), ("p/main.cu", &one), ("q/fill.cu", &far)];
    let found = ["p/main.cu fill 16,16,1 launch exact 2", "q/fill.cu fill 32,32,1 implied assumed 1"];
    let root = folder(&files);
    assert_eq!(stores(root.path(), &["."]), found);
    let root = folder(&[("p/bench.cuh", launcher), ("p/main.cu", &idle), ("q/fill.cu", &far)]);
    assert_eq!(stores(root.path(), &["."]), found, "no one calls it");
}

#[test]
fn a_header_s_device_function_is_not_judged_apart_from_the_kernels_that_call_it() {
    let header = "__device__ inline float sum(float x) {
    __shared__ float parts[32];
    parts[threadIdx.x / 32] = x;
    return parts[0];
}\n";
    let main = "#include \"sum.cuh\"
__global__ void total(float *out) { out[threadIdx.x] = sum(out[threadIdx.x]); }
int main() { total<<<1, 64>>>(nullptr); }\n";
    let found = ["sum.cuh total 64,1,1 launch exact 1"];
    same_both_ways(&[("sum.cuh", header), ("main.cu", main)], &["main.cu"], &found);
    let root = folder(&[("sum.cuh", header)]);
    assert_eq!(stores(root.path(), &["."]), ["sum.cuh sum 256,1,1 default assumed 1"]);
}

#[test]
fn files_that_are_included_and_compiled_are_both() {
    let kernels = format!("{}void test(float *out) {{ fill<<<1, dim3(8, 8)>>>(out); }}\n", kernel("fill"));
    let main = "#include \"fill.cu\"\nint main() { fill<<<1, dim3(16, 16)>>>(nullptr); }\n";
    let root = folder(&[("fill.cu", &kernels), ("main.cu", main)]);
    let found = ["fill.cu fill 8,8,1 launch exact 4", "fill.cu fill 16,16,1 launch exact 2"];
    assert_eq!(stores(root.path(), &["."]), found);
}
