//! Are conflicts told by their cause: worst first, line by line hidden, with numbers for programs?

use crate::support::folder::folder;
use crate::support::program::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two causes in one kernel: `tile`, in three lines, and `pair`, which costs little. What `fill` does is not known.
const TWO: &str = "\
__device__ void fill(); __global__ void two(float *out, const float *in) {
    __shared__ float tile[32 * 32];
    __shared__ float pair[64];
    int lane = threadIdx.x; fill();
    pair[2 * lane] = in[lane];
    tile[4 * lane] = in[lane];
    __syncwarp();
    out[lane] = tile[32 * lane];
    out[lane + 32] = tile[8 * lane] + pair[lane];
}
void run(float *o, const float *i) { two<<<1, 32>>>(o, i); }
";

/// What is told of `a.cu`, without the name of the file.
fn short(root: &Path, arguments: &[&str]) -> Vec<String> {
    let (_, out, _) = run(root, &[arguments, &["-q", "--format", "short", "a.cu"]].concat());
    out.lines().map(|line| line.strip_prefix("a.cu:").unwrap().to_owned()).collect()
}

const PAIR: &str = "5:5: warning[bank-conflict]: `pair`: 2-way bank conflict costs 2.1 % of this kernel's \
                    shared-memory wavefronts";
const TILE: &str = "8:17: warning[bank-conflict]: `tile`: 32-way bank conflict costs 87 % of this kernel's \
                    shared-memory wavefronts (also lines 6 and 9)";

#[test]
fn a_cause_is_one_finding_and_order_and_thresholds_choose() {
    let root = folder(&[("a.cu", TWO)]);
    let told = |arguments: &[&str]| short(root.path(), arguments);
    assert_eq!(told(&[]), [PAIR, TILE]);
    assert_eq!(told(&["--sort", "cost"]), [TILE, PAIR]);
    assert_eq!(told(&["--top", "1"]), [TILE]);
    assert_eq!(told(&["--top", "9"]), [PAIR, TILE]);
    assert_eq!(told(&["--min-share", "3"]), [TILE]);
    assert_eq!(told(&["--min-ways", "2"]), [PAIR, TILE]);
    assert_eq!(told(&["--min-ways", "3"]), [TILE]);
    assert_eq!(told(&["--min-ways", "33"]), [] as [&str; 0]);
    let heads = |arguments: &[&str]| -> Vec<String> {
        let (_, out, _) = run(root.path(), &[arguments, &["-q", "a.cu"]].concat());
        let heads = out.lines().filter(|line| line.starts_with("warning["));
        heads.map(|line| line.split('`').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(heads(&[]), ["tile", "pair"], "for people, what costs most comes first");
    assert_eq!(heads(&["--sort", "path"]), ["pair", "tile"]);
}

/// A helper with a conflict, and two kernels that call it for arrays of one name.
const HELPER: &str = "\
__device__ float get(const float *s, int t) { return s[t * 32]; }
__global__ void once(float *out) {
    __shared__ float s[1024];
    for (int i = 0; i < 32; ++i) s[i * 32 + threadIdx.x] = out[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = get(s, threadIdx.x);
}
__global__ void often(float *out) {
    __shared__ float s[1024];
    for (int i = 0; i < 32; ++i) s[i * 32 + threadIdx.x] = out[threadIdx.x];
    __syncwarp();
    for (int i = 0; i < 8; ++i) out[i * 32 + threadIdx.x] = get(s, threadIdx.x ^ i);
}
void run(float *o) { once<<<1, 32>>>(o); often<<<1, 32>>>(o); }
";

#[test]
fn a_line_of_a_helper_is_told_of_each_kernel_that_calls_it() {
    let root = folder(&[("a.cu", HELPER)]);
    let (_, out, _) = run(root.path(), &["-q", "a.cu"]);
    let kernels = out.lines().filter_map(|line| line.split("reached from kernel `").nth(1));
    let kernels: Vec<&str> = kernels.filter_map(|rest| rest.split('`').next()).collect();
    assert_eq!(kernels, ["often", "once"], "{out}");
}

#[test]
fn ways_count_at_whichever_line_they_are() {
    let often = TWO.replace(
        "    out[lane] = tile[32 * lane];\n",
        "    for (int i = 0; i < 64; i++) out[i] = tile[2 * lane + 8 * i];\n",
    );
    let root = folder(&[("a.cu", &often)]);
    let told = short(root.path(), &["--min-ways", "8"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("8:") && told[0].contains("`tile`: 2-way") && told[0].ends_with("6 and 9)"));
    assert_eq!(short(root.path(), &["--min-ways", "9"]), [] as [&str; 0]);
}

#[test]
fn what_is_left_out_is_counted_and_only_thresholds_end_well() {
    let root = folder(&[("a.cu", TWO)]);
    let (code, _, err) = run(root.path(), &["--top", "1", "a.cu"]);
    assert!(code == 1 && err.contains("2 warnings") && err.contains("; 1 finding not shown"), "{err}");
    let (code, _, err) = run(root.path(), &["--min-ways", "64", "a.cu"]);
    assert!(
        code == 0 && err.contains("no findings") && err.contains("; 2 findings below the thresholds"),
        "{err}"
    );
}

#[test]
fn thresholds_stand_in_the_configuration_and_flags_win() {
    let root = folder(&[("a.cu", TWO), ("cudalint.toml", "min-share = 50\nmin-ways = 2\n")]);
    assert_eq!(short(root.path(), &[]), [TILE]);
    assert_eq!(short(root.path(), &["--min-share", "0"]), [PAIR, TILE]);
    let (_, out, _) = run(root.path(), &["config", "a.cu"]);
    assert!(out.contains("min-share = 50") && out.contains("# cudalint.toml:1"), "{out}");
    for (wrong, message) in [
        ("min-share = 101\n", "a share is 0 to 100 percent"),
        ("min-ways = -1\n", "ways are counted from 2"),
        ("min-share = \"5\"\n", "`min-share` is a number"),
    ] {
        fs::write(root.path().join("cudalint.toml"), wrong).unwrap();
        let (code, _, err) = run(root.path(), &["a.cu"]);
        assert!(code == 2 && err.contains(message), "{err}");
    }
}

#[test]
fn a_comment_takes_its_line_out_of_a_cause() {
    let worst = "    out[lane] = tile[32 * lane];\n";
    let allowed = TWO.replace(worst, &worst.replace('\n', " // cudalint: allow(bank-conflict)\n"));
    let root = folder(&[("a.cu", &allowed)]);
    let told = short(root.path(), &["--min-ways", "3"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("9:22: ") && told[0].contains("`tile`: 8-way bank conflict costs 21 % of"));
    assert!(told[0].ends_with("(also line 6)"), "{told:?}");
    let (_, _, err) = run(root.path(), &["a.cu"]);
    assert!(err.contains("; 1 finding silenced by comments"), "{err}");
}

#[test]
fn a_baseline_hides_a_cause_line_by_line() {
    let root = folder(&[("a.cu", TWO)]);
    let (code, _, err) = run(root.path(), &["--write-baseline", "known.json", "a.cu"]);
    assert!(code == 0 && err.contains("wrote 2 findings to"), "{err}");
    let (code, out, err) = run(root.path(), &["--baseline", "known.json", "a.cu"]);
    assert!(code == 0 && out.is_empty() && err.contains("; 2 findings in the baseline"), "{err}");
    let more =
        TWO.replace("    __syncwarp();\n", "    __syncwarp();\n    out[lane + 64] = tile[16 * lane];\n");
    fs::write(root.path().join("a.cu"), more).unwrap();
    let told = short(root.path(), &["--baseline", "known.json"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("8:22: ") && told[0].contains("`tile`: 16-way"), "{told:?}");
    assert!(!told[0].contains("also"), "{told:?}");
}

#[test]
fn statistics_are_a_table_of_causes() {
    let root = folder(&[("a.cu", TWO)]);
    let (code, out, err) = run(root.path(), &["--statistics", "a.cu"]);
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["rule", "kernel", "cause", "findings", "extra", "share", "first", "at"]);
    assert_eq!(rows[1], ["bank-conflict", "two", "tile", "1", "41", "87", "%", "a.cu:8"]);
    assert_eq!(rows[2], ["bank-conflict", "two", "pair", "1", "1", "2.1", "%", "a.cu:5"]);
    assert!(code == 1 && rows.len() == 3 && err.contains("2 warnings"), "{out}{err}");
    assert_eq!(run(root.path(), &["--statistics", "--format", "json", "a.cu"]).0, 2);
}

#[test]
fn programs_find_each_line_and_the_numbers() {
    let root = folder(&[("a.cu", TWO)]);
    let (_, out, _) = run(root.path(), &["-q", "--format", "json", "a.cu"]);
    let findings: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tile = &findings[1];
    let figures = &tile["conflict"];
    for (field, value) in [("extra", 41), ("kernel_wavefronts", 47), ("ways", 32), ("instances", 1)] {
        assert_eq!(figures[field], value, "{field}: {figures}");
    }
    assert_eq!((&figures["confidence"], &figures["block"]), (&"exact".into(), &vec![32, 1, 1].into()));
    assert_eq!(figures["share"], 0.8723);
    let lines: Vec<(u64, u64)> = tile["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["line"].as_u64().unwrap(), line["extra"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [(8, 31), (9, 7), (6, 3)]);
    let (_, out, _) = run(root.path(), &["-q", "--format", "sarif", "a.cu"]);
    let log: Value = serde_json::from_str(&out).unwrap();
    let result = &log["runs"][0]["results"][1];
    assert_eq!(result["properties"]["conflict"], *figures);
    let related = result["relatedLocations"].as_array().unwrap().iter();
    let related: Vec<u64> =
        related.map(|it| it["physicalLocation"]["region"]["startLine"].as_u64().unwrap()).collect();
    assert_eq!(related, [2, 9, 6]);
    for format in ["github", "gitlab", "junit"] {
        let (_, out, _) = run(root.path(), &["-q", "--format", format, "a.cu"]);
        assert!(out.contains("(also lines 6 and 9)"), "{format}: {out}");
    }
}

#[test]
fn a_cause_of_many_lines_stays_short() {
    let read = |shift: usize| format!("    out[{shift}] = tile[32 * lane + {shift}]; __syncwarp();\n");
    let reads: String = (0..20).map(|shift| read(shift) + if shift > 5 { "\n" } else { "" }).collect();
    let kernel = format!(
        "#include \"more.cuh\"\n__global__ void many(float *out) {{\n    __shared__ float tile[1024];\n    \
         int lane = threadIdx.x;\n    for (int i = 0; i < 32; ++i) tile[i * 32 + lane] = out[lane];\n    \
         __syncwarp();\n{reads}    more(out, tile);\n}}\nvoid run(float *o) {{ many<<<1, 32>>>(o); }}\n"
    );
    let more: String = (0..12).map(read).collect();
    let more =
        format!("__device__ void more(float *out, float *tile) {{\n    int lane = threadIdx.x;\n{more}}}\n");
    let root = folder(&[("a.cu", kernel.as_str()), ("more.cuh", more.as_str())]);
    let told = short(root.path(), &[]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].ends_with("(also lines 8 to 13, 15, 17, 19, 21, 9 more and 12 in another file)"),
        "{told:?}"
    );
    let (_, out, _) = run(root.path(), &["-q", "a.cu"]);
    assert!(out.contains("and 28 more lines: "), "{out}");
    let (_, out, _) = run(root.path(), &["-q", "--format", "json", "a.cu"]);
    let finding: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!(finding["lines"].as_array().unwrap().len(), 32);
}
