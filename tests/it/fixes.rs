//! Do fixes repair what they say, and leave everything else as it was?

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const CONFLICT: &str = "\
__global__ void transpose(float *out, const float *in) {
\t__shared__ float tile[32][32]; // caf\u{e9}
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, const float *in) { transpose<<<1, dim3(32, 32)>>>(out, in); }
";

/// Exit code, stdout and stderr.
fn run(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cudalint")).current_dir(root).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(root.path().join(name), bytes).unwrap();
    }
    root
}

#[test]
fn a_fix_changes_its_bytes_alone_and_a_second_run_is_clean() {
    // A byte-order mark, line ends of Windows, a byte that is not UTF-8, no newline at the end.
    let mut bytes = b"\xef\xbb\xbf// \xe9\r\n".to_vec();
    bytes.extend(CONFLICT.trim_end().replace('\n', "\r\n").into_bytes());
    let root = folder(&[("a.cu", &bytes)]);
    let (exit, out, err) = run(root.path(), &["--fix", "a.cu"]);
    assert_eq!((exit, out.as_str()), (0, ""), "{err}");
    assert!(err.starts_with("cudalint: fixed 1 finding in 1 file\ncudalint: no findings in 1 file"), "{err}");
    let at = bytes.windows(4).position(|it| it == b"[32]").unwrap() + 4;
    bytes[at + 2] = b'3';
    assert_eq!(fs::read(root.path().join("a.cu")).unwrap(), bytes);
    let (exit, _, err) = run(root.path(), &["--fix", "a.cu"]);
    assert_eq!((exit, err.lines().next()), (0, Some("cudalint: fixed 0 findings in 0 files")));
}

#[test]
fn a_diff_changes_nothing_and_can_be_applied() {
    let root = folder(&[("a.cu", CONFLICT.as_bytes())]);
    let (exit, out, err) = run(root.path(), &["--diff", "a.cu"]);
    assert_eq!((exit, err.as_str()), (1, "cudalint: would fix 1 finding in 1 file\n"));
    assert!(out.starts_with("--- a/a.cu\n+++ b/a.cu\n@@ -1,5 +1,5 @@\n"), "{out}");
    assert!(
        out.contains("-\t__shared__ float tile[32][32];")
            && out.contains("+\t__shared__ float tile[32][33];")
    );
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), CONFLICT);
    let mut patch = Command::new("git")
        .args(["apply", "-p1"])
        .current_dir(root.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut patch.stdin.take().unwrap(), out.as_bytes()).unwrap();
    assert!(patch.wait().unwrap().success());
    assert_eq!(run(root.path(), &["a.cu"]).0, 0);
}

#[test]
fn what_may_rest_on_the_size_is_left_unless_asked_for() {
    let dump = "#ifdef DUMP\n    dump(tile);\n#endif\n    __syncthreads();";
    let code = CONFLICT.replace("    __syncthreads();", dump);
    let root =
        folder(&[("a.cu", code.as_bytes()), ("b.cu", CONFLICT.replace("transpose", "turn").as_bytes())]);
    let (exit, _, err) = run(root.path(), &["--fix", "a.cu", "b.cu"]);
    assert_eq!(exit, 1);
    let why = "cudalint: not fixed: a.cu:2: pad the rows of `tile` by one element: `tile` is used without all \
               its subscripts on line 5; --unsafe-fixes tries it\ncudalint: fixed 1 finding in 1 file\n";
    assert!(err.starts_with(why), "{err}");
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), code);
    let (exit, _, err) = run(root.path(), &["--fix", "--unsafe-fixes", "a.cu", "b.cu"]);
    assert_eq!(exit, 0, "{err}");
    let fixed = code.replace("tile[32][32]", "tile[32][33]");
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), fixed);
}

#[test]
fn rules_that_are_off_can_withhold_a_fix() {
    let code = "__device__ void part(float *s, float *out, const float *in) {\n    \
                if (threadIdx.x >= 100) return;\n    s[threadIdx.x] = in[threadIdx.x];\n    \
                out[threadIdx.x] = s[99 - threadIdx.x];\n}\n\
                __global__ void k(float *out, const float *in) {\n    __shared__ float s[256];\n    \
                part(s, out, in);\n    __syncthreads();\n    out[threadIdx.x + 256] = in[threadIdx.x];\n}\n\
                void run(float *out, const float *in) { k<<<1, 256>>>(out, in); }\n";
    let root = folder(&[("a.cu", code.as_bytes())]);
    // The barrier would stand where some threads have left the function, and wait at another.
    let rules = ["-A", "all", "-W", "missing-barrier"];
    let (_, _, err) = run(root.path(), &[&rules[..], &["--fix", "--unsafe-fixes", "a.cu"]].concat());
    assert!(err.contains("a second run did not confirm it"), "{err}");
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), code);
}

#[test]
fn a_barrier_is_not_put_where_only_a_part_of_the_block_comes() {
    let code = "__global__ void k(float *out, const float *in) {\n    __shared__ float s[256];\n    \
                if (threadIdx.x < 100) {\n        s[threadIdx.x] = in[threadIdx.x];\n        \
                out[threadIdx.x] = s[99 - threadIdx.x];\n    }\n}\n\
                void run(float *out, const float *in) { k<<<1, 256>>>(out, in); }\n";
    let root = folder(&[("a.cu", code.as_bytes())]);
    let (_, _, err) = run(root.path(), &["--fix", "--unsafe-fixes", "a.cu"]);
    assert!(err.contains("1 warning") && !err.contains("a second run"), "{err}");
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), code);
}

#[test]
fn a_part_that_was_not_run_may_know_where_rows_begin() {
    let flag = "template <bool Flat> __global__";
    let code = CONFLICT.replacen("__global__", flag, 1).replace(
        "    __syncthreads();",
        "    __syncthreads();\n    if (Flat) out[0] = tile[0][threadIdx.y * 32 + threadIdx.x];",
    );
    let code = code.replace("transpose<<<", "transpose<false><<<");
    let root = folder(&[("a.cu", code.as_bytes())]);
    let (_, _, err) = run(root.path(), &["--fix", "a.cu"]);
    assert!(
        err.contains("`tile` is named at a.cu:5, which the analysis did not run; --unsafe-fixes tries it"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), code);
}

#[test]
fn fixes_of_the_fixtures_leave_no_finding_that_they_repaired() {
    let root = tempfile::tempdir().unwrap();
    let mut fixed = 0;
    for entry in fs::read_dir("fixtures/bank-conflict").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "cu") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let before = fs::read(&path).unwrap();
        fs::write(root.path().join(name), &before).unwrap();
        let count = |arguments: &[&str]| run(root.path(), arguments).1.lines().count();
        let findings = count(&["--format", "short", name]);
        let (_, _, err) = run(root.path(), &["--fix", "-q", "--format", "short", name]);
        let told = err.lines().find_map(|line| line.strip_prefix("cudalint: fixed ")).unwrap();
        let repaired: usize = told.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(count(&["--format", "short", name]), findings - repaired, "{name}: {err}");
        assert_eq!(fs::read(root.path().join(name)).unwrap() != before, repaired > 0, "{name}");
        fixed += repaired;
    }
    assert!(fixed >= 5, "{fixed}");
}

/// What `--diff` prints for a fixture, and why fixes are left out; unsafe fixes are those of fixtures that
/// are named so. Their arguments count.
fn diff_of(name: &str) -> String {
    let text = fs::read_to_string(Path::new("fixtures/fixes").join(name)).unwrap();
    let own = text.lines().filter_map(|line| line.strip_prefix("//@ args: ")).flat_map(str::split_whitespace);
    let mut arguments = vec!["--diff", name];
    arguments.extend(own);
    arguments.extend(name.starts_with("unsafe-").then_some("--unsafe-fixes"));
    let (_, out, err) = run(Path::new("fixtures/fixes"), &arguments);
    let left = err.lines().filter(|line| line.contains("not fixed"));
    left.map(|line| format!("{line}\n")).fold(out, |all, line| all + &line)
}

#[test]
fn fixes_change_what_their_fixtures_show_and_nothing_else() {
    let mut names: Vec<String> = fs::read_dir("fixtures/fixes")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".cu"))
        .collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let expected = Path::new("fixtures/fixes").join(&name).with_extension("diff");
        let diff = diff_of(&name);
        if std::env::var_os("CUDALINT_BLESS").is_some() {
            fs::write(&expected, &diff).unwrap();
        }
        assert_eq!(diff, fs::read_to_string(&expected).unwrap(), "{name}");
    }
}

/// The bytes of a file in other dress.
fn dressed(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("windows", text.replace('\n', "\r\n").into_bytes()),
        ("tabs", text.replace("    ", "\t").into_bytes()),
        ("mark", format!("\u{feff}{text}").into_bytes()),
        ("latin", [b"// \xe9\xff\n".as_slice(), text.as_bytes()].concat()),
        ("open end", text.trim_end().as_bytes().to_vec()),
    ]
}

#[test]
fn fixes_do_not_depend_on_how_a_file_is_dressed_and_keep_it() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.cu");
    for name in [
        "fixes/pitch-in-index.cu",
        "fixes/pitch-in-names.cu",
        "programs/matmul.cu",
        "bank-conflict/transpose-32x8.cu",
    ] {
        let text = fs::read_to_string(Path::new("fixtures").join(name)).unwrap();
        let fixed = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            run(root.path(), &["--fix", "-q", "a.cu"]);
            let once = fs::read(&path).unwrap();
            let (_, _, err) = run(root.path(), &["--fix", "-q", "a.cu"]);
            assert!(err.contains("fixed 0 findings in 0 files"), "{name}: {err}");
            assert_eq!(fs::read(&path).unwrap(), once, "{name}: a second run changes nothing");
            once
        };
        let plain = String::from_utf8(fixed(text.as_bytes())).unwrap();
        assert_ne!(plain, text, "{name}");
        for ((dress, before), (_, after)) in dressed(&text).into_iter().zip(dressed(&plain)) {
            assert_eq!(fixed(&before), after, "{name} with {dress}");
        }
    }
}

#[test]
fn a_proof_that_rests_on_an_assumed_block_or_an_unseen_use_is_no_safe_one() {
    let kernel = "__global__ void k(float *o) {\n    __shared__ float s[1024];\n    s[threadIdx.y * 32 + threadIdx.x] = 0;\n    \
                  __syncthreads();\n    o[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.x * 32 + threadIdx.y];\n}\n";
    let launched = format!("{kernel}void f(float *o) {{ k<<<1, dim3(32, 32)>>>(o); }}\n");
    let unseen =
        launched.replace("    __syncthreads();", "#ifdef DUMP\n    dump(s);\n#endif\n    __syncthreads();");
    let bounded = kernel.replace("void k", "void __launch_bounds__(1024) k");
    for (code, why) in [
        (launched.as_str(), None),
        (unseen.as_str(), Some("`s` is named on line 5, where the analysis did not see it")),
        (bounded.as_str(), None),
    ] {
        let root = folder(&[("a.cu", code.as_bytes())]);
        let (_, out, err) = run(root.path(), &["--diff", "a.cu"]);
        match why {
            Some(why) => {
                assert!(err.contains(why) && out.is_empty(), "{err}{out}");
                let (_, out, _) = run(root.path(), &["--diff", "--unsafe-fixes", "a.cu"]);
                assert!(out.contains("+    __shared__ float s[1056];"), "{out}");
            }
            None => {
                assert_eq!(out.contains("s[1056]"), std::ptr::eq(code, launched.as_str()), "{code}{err}{out}")
            }
        }
    }
}

#[test]
fn what_a_launch_gives_changes_only_when_asked_for_and_given() {
    let kernel = "__global__ void k(float *o) {\n    extern __shared__ float s[];\n    s[threadIdx.y * 32 + threadIdx.x] = 0;\n    \
                  __syncthreads();\n    o[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.x * 32 + threadIdx.y];\n}\n";
    let launch = "void f(float *o) { k<<<1, dim3(32, 32), 32 * 32 * sizeof(float)>>>(o); }\n";
    let host = format!("#include \"k.cuh\"\n{launch}");
    let root = folder(&[("k.cuh", kernel.as_bytes()), ("a.cu", host.as_bytes())]);
    let (exit, _, err) = run(root.path(), &["--fix", "."]);
    assert!(
        exit == 1 && err.contains("the byte counts at its launches change, too; --unsafe-fixes tries it"),
        "{err}"
    );
    let (_, _, err) = run(root.path(), &["--fix", "--unsafe-fixes", "k.cuh"]);
    assert!(err.contains("fixed 0 findings"), "no launch is seen: {err}");
    let (exit, _, err) = run(root.path(), &["--fix", "--unsafe-fixes", "."]);
    assert_eq!(exit, 0, "{err}");
    let read = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
    assert_eq!(
        read("k.cuh"),
        kernel
            .replace("* 32 + threadIdx.x]", "* 33 + threadIdx.x]")
            .replace("o[threadIdx.y * 33", "o[threadIdx.y * 32")
            .replace("s[threadIdx.x * 32", "s[threadIdx.x * 33")
    );
    assert_eq!(read("a.cu"), host.replace("32 * 32 * sizeof", "32 * 33 * sizeof"));
}

#[test]
fn a_constant_that_a_header_names_stays_what_it_is() {
    let kernel = "__global__ void k(float *o) {\n    __shared__ float s[32 * PITCH];\n    s[threadIdx.y * PITCH + threadIdx.x] = 0;\n    \
                  __syncthreads();\n    o[threadIdx.x] = s[threadIdx.x * PITCH + threadIdx.y];\n}\n\
                  void f(float *o) { k<<<1, dim3(32, 32)>>>(o); }\n";
    let code = format!("#define PITCH 32\n#include \"b.cuh\"\n{kernel}");
    for (header, expected) in [
        ("inline int bytes() { return 128; }\n", code.replace("PITCH 32", "PITCH 33")),
        (
            "inline int bytes() { return PITCH * 4; }\n",
            format!("#define PITCH 32\n#include \"b.cuh\"\n{}", kernel.replace("PITCH", "(PITCH + 1)")),
        ),
    ] {
        let root = folder(&[("a.cu", code.as_bytes()), ("b.cuh", header.as_bytes())]);
        let (exit, _, err) = run(root.path(), &["--fix", "."]);
        assert_eq!(exit, 0, "{err}");
        assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), expected);
    }
}
