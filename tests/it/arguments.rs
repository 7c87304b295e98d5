//! Is a slip in what the user writes told, with what to write instead?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;

const CONFLICT: &str = "\
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, const float *in) { transpose<<<1, dim3(32, 32)>>>(out, in); }
";

#[test]
fn options_stand_before_or_behind_the_subcommand() {
    let root = folder(&[("a.cu", CONFLICT)]);
    for (before, behind) in [
        (&["--target", "sm_80", "check", "a.cu"][..], &["check", "--target", "sm_80", "a.cu"][..]),
        (&["--target=sm_80", "-q", "accesses", "a.cu"], &["accesses", "--target=sm_80", "-q", "a.cu"]),
        (&["--block", "32,8", "explain", "a.cu:5"], &["explain", "--block", "32,8", "a.cu:5"]),
        (&["-I", ".", "-D", "all", "check", "a.cu"], &["check", "-I", ".", "-D", "all", "a.cu"]),
    ] {
        let found = run(root.path(), before);
        assert_eq!(found, run(root.path(), behind), "{before:?}");
        assert!(found.0 < 2 && !found.1.is_empty(), "{before:?}: {}", found.2);
    }
    let (code, out, err) = run(root.path(), &["--target", "sm_80", "rules"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("unexpected argument '--target'") && err.contains("cudalint rules"), "{err}");
    // A file of a subcommand's name is written as a path.
    fs::write(root.path().join("rules"), CONFLICT).unwrap();
    assert_eq!(run(root.path(), &["-q", "./rules"]).0, 1);
}

#[test]
fn a_misspelt_subcommand_is_one_error() {
    let root = folder(&[("src/a.cu", CONFLICT)]);
    let (code, out, err) = run(root.path(), &["chek", "src"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(err, "cudalint: error: there is no file or subcommand `chek`; did you mean `check`?\n");
    let (code, _, err) = run(root.path(), &["--target", "sm_80", "explian", "src/a.cu:5"]);
    assert_eq!(code, 2);
    assert_eq!(err, "cudalint: error: there is no file or subcommand `explian`; did you mean `explain`?\n");
    // What is there is a path.
    fs::rename(root.path().join("src"), root.path().join("chek")).unwrap();
    assert_eq!(run(root.path(), &["chek"]).0, 1);
}

#[test]
fn a_device_that_cannot_be_is_refused_and_one_to_come_is_told() {
    let root = folder(&[("a.cu", CONFLICT)]);
    for wrong in ["sm_999", "sm_91", "sm_85", "0.0", "sm_250"] {
        let (code, out, err) = run(root.path(), &["--target", wrong, "a.cu"]);
        assert_eq!((code, out.as_str()), (2, ""), "{wrong}");
        assert!(err.contains(&format!("`{wrong}` is not a compute capability; did you mean")), "{err}");
    }
    let (code, _, err) = run(root.path(), &["-q", "--target", "sm_90,sm_130", "a.cu"]);
    assert_eq!(code, 1);
    assert_eq!(err, "cudalint: warning: unknown device `sm_130`: it is judged like `sm_121`\n");
    fs::write(root.path().join("cudalint.toml"), "targets = ['sm_999']\n").unwrap();
    let (code, _, err) = run(root.path(), &["a.cu"]);
    assert_eq!(code, 2);
    assert!(err.contains("`sm_999` is not a target") && err.contains("cudalint.toml:1:"), "{err}");
}

#[test]
fn a_block_for_a_kernel_that_is_not_there_is_told() {
    let clean = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n";
    let root =
        folder(&[("src/a.cu", CONFLICT), ("src/b.cu", clean), ("c.cu", "__global__ void other() {}\n")]);
    let told = |arguments: &[&str]| {
        let (code, _, err) = run(root.path(), &[&["-q"], arguments].concat());
        assert_eq!(code, 1, "{err}");
        err
    };
    let warning = "cudalint: warning: `--block`: the files given have no kernel `transpos`; did you mean \
                   `transpose`?\n";
    assert_eq!(told(&["--block", "transpos=32,32", "src"]), warning);
    // A kernel that holds nothing to judge is one all the same.
    assert_eq!(told(&["--block", "transpose=32,32", "--block", "scale=32", "--block", "8", "src"]), "");
    assert!(told(&["--block", "nosuch=32", "src"]).ends_with("have no kernel `nosuch`\n"));
    assert!(told(&["--block", "lib::transpose<float>=32", "src"]).ends_with("did you mean `transpose`?\n"));
    assert!(told(&["--block", "other=32", "src"]).contains("no kernel `other`"), "elsewhere");
    // A configuration speaks of its whole folder, of which not every file need be given.
    fs::write(root.path().join("cudalint.toml"), "[blocks]\nother = [64]\ntranspos = [32]\n").unwrap();
    let warning = "cudalint: warning: cudalint.toml:3: no file here has a kernel `transpos`; did you mean \
                   `transpose`?\n";
    assert_eq!(told(&["src/a.cu"]), warning);
    assert_eq!(told(&["."]), warning);
}

#[test]
fn an_include_folder_that_is_not_there_is_told() {
    let root = folder(&[("a.cu", CONFLICT), ("inc/b.h", "")]);
    let told = |arguments: &[&str]| run(root.path(), &[&["-q", "a.cu"], arguments].concat()).2;
    assert_eq!(told(&["-I", "inc"]), "");
    assert_eq!(told(&["-I", "nosuch"]), "cudalint: warning: `-I nosuch`: there is no folder `nosuch`\n");
    assert_eq!(told(&["-Iinc/b.h"]), "cudalint: warning: `-I inc/b.h`: there is no folder `inc/b.h`\n");
    fs::write(root.path().join("cudalint.toml"), "\ninclude = ['inc', 'nosuch']\n").unwrap();
    assert_eq!(told(&[]), "cudalint: warning: cudalint.toml:2: there is no folder `nosuch`\n");
}

#[test]
fn a_macro_behind_the_letter_for_deny_leads_to_the_right_flag() {
    let root = folder(&[("a.cu", CONFLICT)]);
    for (arguments, macro_) in
        [(&["-D", "TILE=16", "a.cu"][..], "TILE=16"), (&["-DNDEBUG", "a.cu"], "NDEBUG")]
    {
        let (code, out, err) = run(root.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""));
        let tip = format!("`-D` denies a rule; to define a macro, write `--define {macro_}`");
        assert!(err.contains(&tip), "{err}");
    }
    for arguments in [["-D", "bank-conflit", "a.cu"], ["-A", "TILE", "a.cu"]] {
        let (_, _, err) = run(root.path(), &arguments);
        assert!(!err.contains("--define"), "{err}");
    }
}

#[test]
fn a_comment_without_its_colon_is_told() {
    let code =
        CONFLICT.replace("[threadIdx.y];\n", "[threadIdx.y]; // cudalint allow(bank-conflict): once\n");
    let root = folder(&[("a.cu", &code)]);
    let (code, out, _) = run(root.path(), &["a.cu"]);
    assert_eq!(code, 1);
    assert!(out.contains("warning[unknown-directive]: `cudalint allow` is not understood"), "{out}");
    assert!(out.contains("= help: write `cudalint: allow(bank-conflict)`"), "{out}");
    assert!(out.contains("warning[bank-conflict]"), "{out}");
}

#[test]
fn text_in_two_bytes_a_character_is_told() {
    let root = folder(&[("b.cu", CONFLICT), ("main.cu", "#include \"wide.cuh\"\n__global__ void k() {}\n")]);
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(CONFLICT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fs::write(root.path().join("a.cu"), &wide).unwrap();
    let (code, out, err) = run(root.path(), &["--format", "short", "a.cu", "b.cu"]);
    assert_eq!(code, 2);
    assert!(out.starts_with("b.cu:5:43: warning[bank-conflict]"), "the others are checked: {out}");
    assert_eq!(
        err,
        "cudalint: error: `a.cu` is UTF-16, which is not read; as UTF-8 it is: `iconv -f UTF-16 -t UTF-8`\n"
    );
}

#[test]
fn config_asks_for_a_file_that_is_there() {
    let root = folder(&[("src/a.cu", CONFLICT), ("src/cudalint.toml", "targets = ['sm_80']\n")]);
    let (code, out, err) = run(root.path(), &["config", "nosuch.cu"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(err, "cudalint: error: `nosuch.cu` does not exist\n");
    let of_file = run(root.path(), &["config", "src/a.cu"]);
    assert!(of_file.0 == 0 && of_file.1.contains("sm_80"), "{of_file:?}");
    assert_eq!(run(root.path(), &["config", "src"]), of_file, "of a folder: of the files in it");
}
