//! Is what is proved free of races just what can be?
//!
//! That nothing is proved that races is held against the host in `oracle::mutants` and `oracle::generated`.

use crate::support::folder::folder;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What is said of the kernels of a file, in order, and on stderr.
fn standings(root: &Path, file: &str) -> (Vec<Value>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .current_dir(root)
        .args(["accesses", "--races", "--format", "json", file])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (rows, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn kernels_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/standings.cu",
        "22 runs of kernels with shared memory: 13 proved free of races",
    );
}

#[test]
fn a_launch_whose_block_is_not_always_known_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (rows, _) = standings(root, "fixtures/launches/nothing-to-do.cu");
    let lines: Vec<_> = rows.iter().map(|row| row["open_launch"]["line"].as_u64()).collect();
    assert_eq!(lines, [None, Some(31), None]);
}

#[test]
fn a_proof_for_a_block_at_its_limit_says_so() {
    let (rows, _) = standings(Path::new("."), "fixtures/races/at-the-limit.cu");
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(row["races"], "proved");
    let assumed = "block is (1024, 1, 1), from a launch, if the `min` in host code reaches its limit";
    assert_eq!(row["assumptions"], serde_json::json!([assumed]));
}

#[test]
fn kernels_whose_buffers_take_turns_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/turns.cu",
        "27 runs of kernels with shared memory: 9 proved free of races",
    );
}

#[test]
fn kernels_with_conditions_on_one_number_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/left-of-numbers.cu",
        "18 runs of kernels with shared memory: 7 proved free of races",
    );
}

#[test]
fn kernels_that_ask_for_signs_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/signs-of-rests.cu",
        "8 runs of kernels with shared memory: 2 proved free of races",
    );
}

#[test]
fn pointers_that_change_places_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/change-places.cu",
        "5 runs of kernels with shared memory: 2 proved free of races",
    );
}

#[test]
fn kernels_whose_threads_exit_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/behind-exits.cu",
        "8 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn kernels_over_types_of_unknown_size_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/any-type.cu",
        "4 runs of kernels with shared memory: 1 proved free of races",
    );
}

#[test]
fn kernels_over_types_with_traits_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/some-types.cu",
        "1 run of kernels with shared memory: 0 proved free of races",
    );
}

#[test]
fn kernels_that_hand_on_functors_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/functors.cu",
        "4 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn kernels_beside_functions_of_other_namespaces_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/other-namespaces.cu",
        "3 runs of kernels with shared memory: 2 proved free of races",
    );
}

#[test]
fn kernels_with_copies_on_their_way_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/copies.cu",
        "12 runs of kernels with shared memory: 5 proved free of races",
    );
}

#[test]
fn kernels_that_get_several_results_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/several-results.cu",
        "6 runs of kernels with shared memory: 4 proved free of races",
    );
}

#[test]
fn kernels_that_use_libraries_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/libraries.cu",
        "10 runs of kernels with shared memory: 4 proved free of races",
    );
}

#[test]
fn kernels_in_which_a_bound_decides_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/usual-sides.cu",
        "18 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn pointers_into_one_of_several_arrays_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/either-array.cu",
        "14 runs of kernels with shared memory: 2 proved free of races",
    );
}

#[test]
fn kernels_that_do_things_in_operands_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/operands.cu",
        "15 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn kernels_with_arrays_at_file_scope_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/file-scope.cu",
        "5 runs of kernels with shared memory: 1 proved free of races",
    );
}

#[test]
fn kernels_whose_lanes_come_together_stand_as_their_names_say() {
    stand_as_named("fixtures/races/lanes.cu", "6 runs of kernels with shared memory: 2 proved free of races");
}

#[test]
fn kernels_with_objects_of_the_library_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/objects.cu",
        "16 runs of kernels with shared memory: 6 proved free of races",
    );
}

#[test]
fn kernels_that_call_in_several_ways_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/calls.cu",
        "13 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn what_folds_and_objects_do_stands_as_named() {
    stand_as_named(
        "fixtures/races/written-out.cu",
        "10 runs of kernels with shared memory: 5 proved free of races",
    );
}

#[test]
fn kernels_that_write_one_value_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/values.cu",
        "30 runs of kernels with shared memory: 9 proved free of races",
    );
}

#[test]
fn races_that_are_hard_to_see_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/hard-to-see.cu",
        "14 runs of kernels with shared memory: 1 proved free of races",
    );
}

#[test]
fn loops_that_a_block_leaves_together_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/left-together.cu",
        "11 runs of kernels with shared memory: 4 proved free of races",
    );
}

#[test]
fn kernels_with_pointers_in_memory_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/addresses.cu",
        "15 runs of kernels with shared memory: 5 proved free of races",
    );
}

#[test]
fn kernels_with_names_of_their_own_stand_as_named() {
    stand_as_named(
        "fixtures/races/own-names.cu",
        "9 runs of kernels with shared memory: 2 proved free of races",
    );
}

#[test]
fn kernels_in_which_it_matters_who_comes_stand_as_their_names_say() {
    stand_as_named(
        "fixtures/races/who-comes.cu",
        "15 runs of kernels with shared memory: 3 proved free of races",
    );
}

fn stand_as_named(file: &str, counts: &str) {
    let (standings, summary) = standings(Path::new("."), file);
    let kernels = standings.iter().map(|it| (it["kernel"].as_str().unwrap(), it["races"].as_str().unwrap()));
    let mut seen = 0;
    for (kernel, races) in kernels {
        let expected = match kernel.rsplit('_').next() {
            Some("free") => "proved",
            Some("racy") => "found",
            Some("open") => "undecided",
            other => panic!("{kernel}: {other:?}"),
        };
        assert_eq!(races, expected, "{kernel}");
        seen += 1;
    }
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(seen, text.matches("__global__").count());
    assert!(summary.contains(counts), "{summary}");
}

#[test]
fn what_is_in_doubt_is_told_with_its_places() {
    let (standings, _) = standings(Path::new("."), "fixtures/races/standings.cu");
    let reason = |kernel: &str| {
        let it = standings.iter().find(|it| it["kernel"] == kernel).unwrap();
        let reason = &it["reasons"][0];
        let lines = reason["places"].as_array().unwrap().iter().map(|at| at["line"].as_u64().unwrap());
        (reason["text"].as_str().unwrap().to_owned(), lines.collect::<Vec<u64>>())
    };
    let (text, lines) = reason("histogram_open");
    assert_eq!(text, "two threads may race on `bins`: its value comes from memory (`in`)");
    assert_eq!(lines, [155, 156]);
    let (text, lines) = reason("unseen_open");
    assert_eq!(text, "`elsewhere(s)` is not followed, and it may access shared memory");
    assert_eq!(lines, [225]);
}

#[test]
fn what_only_computes_keeps_no_kernel_from_being_proved() {
    stand_as_named(
        "fixtures/races/limits.cu",
        "3 runs of kernels with shared memory: 3 proved free of races",
    );
}

#[test]
fn nothing_is_proved_of_a_block_that_is_for_other_devices_than_the_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (rows, _) = standings(root, "fixtures/shared-out-of-bounds/by-device.cu");
    let of = |kernel: &str| -> Vec<_> {
        let own = rows.iter().filter(|row| row["kernel"] == kernel);
        own.map(|row| (row["block"][1].as_u64(), row["races"].as_str())).collect()
    };
    assert_eq!(of("by_architecture"), [(Some(4), Some("proved")), (Some(8), Some("undecided"))]);
    assert_eq!(of("for_every_device"), [(Some(4), Some("proved")), (Some(8), Some("proved"))]);
    let why = rows.iter().find(|row| row["races"] == "undecided").unwrap();
    assert!(why.to_string().contains("devices whose code is not compiled here"), "{why}");
}

/// Operations of a program may have names that those of the library have.
#[test]
fn an_own_sum_is_not_one_value_of_a_warp() {
    let kernel = |plus: &str| {
        format!(
            "namespace cg = cooperative_groups;
namespace own {{
template <class T> struct {plus} {{
    __device__ T operator()(T a, T b) const {{ return a; }}
}};
}}
__global__ void k(float *out, const float *in) {{
    __shared__ float s[32];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float sum = cg::reduce(warp, in[threadIdx.x], own::{plus}<float>());
    s[threadIdx.x / 32] = sum;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x % 4];
}}
void run(float *out, const float *in) {{ k<<<1, 128>>>(out, in); }}
"
        )
    };
    let root = folder(&[("a.cu", &kernel("plus")), ("b.cu", &kernel("first"))]);
    for file in ["a.cu", "b.cu"] {
        let (found, _) = standings(root.path(), file);
        assert_eq!(found[0]["races"], "undecided", "{file}");
    }
}

#[test]
fn nothing_is_proved_for_a_block_that_nobody_gave() {
    let text = "__global__ void k(float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
";
    let root = folder(&[("a.cu", text), ("b.cu", &format!("// cudalint: block(64)\n{text}"))]);
    let (without, _) = standings(root.path(), "a.cu");
    assert_eq!(without[0]["races"], "undecided");
    assert!(without[0]["reasons"][0]["text"].as_str().unwrap().starts_with("no visible launch"));
    let (with, _) = standings(root.path(), "b.cu");
    assert_eq!((&with[0]["races"], &with[0]["block_from"]), (&"proved".into(), &"directive".into()));
}

#[test]
fn what_keeps_a_run_from_being_judged_is_named() {
    let body = "(float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
";
    let guarded = body.replace("__syncthreads();", "__syncthreads();\n    Guard{};");
    let hidden = format!(
        "struct Guard {{
    __device__ ~Guard() {{ __syncthreads(); }}
}};
__global__ void k{guarded}void launch(float *out) {{ k<<<1, 64>>>(out); }}
"
    );
    let rival = format!(
        "__global__ void k{body}__global__ void k(int *out) {{}}
void launch(elsewhere_t *out) {{ k<<<1, 64>>>(out); }}
"
    );
    let root = folder(&[("hidden.cu", &hidden), ("rival.cu", &rival)]);
    let reason = |file: &str| {
        let (standings, _) = standings(root.path(), file);
        let reason = &standings[0]["reasons"][0];
        (reason["text"].as_str().unwrap().to_owned(), reason["places"][0]["line"].as_u64())
    };
    let text = "`~Guard` has a barrier, and cudalint does not follow every place where it runs";
    assert_eq!(reason("hidden.cu"), (text.to_owned(), Some(2)));
    assert_eq!(
        reason("rival.cu"),
        ("its launch may mean another kernel of the same name".to_owned(), Some(7))
    );
}
