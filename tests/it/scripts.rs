//! Which macros come from build scripts, and what goes before them?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;

/// 32-way where the block is 32 x 8 and `N` is 32, none where it is 33.
const COLUMN: &str = "\
__global__ void column(float *out) {
    __shared__ float tile[32][N];
    tile[threadIdx.x % 32][threadIdx.y] = out[threadIdx.y];
}
";

/// A kernel with a conflict if `N` is 32.
const MAKE: &str = "N ?= 32\nNVCCFLAGS = -O3 -DN=$(N)\n%.o: %.cu\n\tnvcc $(NVCCFLAGS) -c $< -o $@\n";
const CMAKE: &str = "set(N 32 CACHE STRING \"rows\")\noption(WIDE \"\" OFF)\nadd_library(kernels a.cu)\n\
    if(WIDE)\n  add_definitions(-DM=1)\nendif()\ntarget_compile_definitions(kernels PRIVATE N=${N})\n";

#[test]
fn build_scripts_give_macros_where_there_are_no_compile_commands() {
    for (name, text, line) in [("Makefile", MAKE, 2), ("CMakeLists.txt", CMAKE, 7)] {
        let root = folder(&[("src/a.cu", COLUMN), (&format!("src/{name}"), text)]);
        let finds = |arguments: &[&str]| {
            let (exit, _, err) = run(root.path(), &[&["--block", "32,8", "src"], arguments].concat());
            (exit, err.contains(&format!("; macros from `src/{name}`")))
        };
        assert_eq!(finds(&[]), (1, true), "{name}");
        let (_, out, _) = run(root.path(), &["config", "src/a.cu"]);
        assert!(
            out.contains("defines.N = \"32\" ") && out.contains(&format!("# src/{name}:{line}\n")),
            "{out}"
        );
        assert!(
            out.contains(&format!("# found `src/{name}`; --no-compile-commands leaves it out\n")),
            "{out}"
        );
        assert_eq!(finds(&["--no-compile-commands"]), (0, false), "{name}");
        // What is written for this program goes first, and so does a database.
        assert_eq!(finds(&["--define", "N=33"]).0, 0, "{name}");
        let config = root.path().join("cudalint.toml");
        for (text, found) in [("[defines]\nN = 33\n", (0, true)), ("compile-commands = false\n", (0, false))]
        {
            fs::write(&config, text).unwrap();
            assert_eq!(finds(&[]), found, "{name}: {text}");
        }
        fs::remove_file(&config).unwrap();
        let at = fs::canonicalize(root.path()).unwrap();
        let entry =
            serde_json::json!({"directory": at, "file": "src/a.cu", "command": "nvcc -DN=33 -c src/a.cu"});
        fs::write(root.path().join("compile_commands.json"), serde_json::json!([entry]).to_string()).unwrap();
        assert_eq!(finds(&[]), (0, false), "{name}");
    }
}

#[test]
fn the_search_for_build_scripts_ends_at_the_root_of_the_repository() {
    let root = folder(&[("p/.git/HEAD", ""), ("p/src/a.cu", COLUMN)]);
    let finds =
        |from: &str, path: &str| run(&root.path().join(from), &["-q", "--block", "32,8", path]).0 == 1;
    let text = "NVCCFLAGS = -DN=32\n";
    fs::write(root.path().join("p/Makefile"), text).unwrap();
    assert!(finds("p", "src") && finds("p/src", "a.cu") && finds("", "p/src"));
    fs::rename(root.path().join("p/Makefile"), root.path().join("Makefile")).unwrap();
    assert!(!finds("p", "src") && !finds("", "p/src"));
    // Outside of a repository, it ends at the working folder, and where that is elsewhere at the file's own.
    fs::remove_dir_all(root.path().join("p/.git")).unwrap();
    assert!(finds("", "p/src") && !finds("p", "src") && !finds("p/src", "a.cu"));
}

#[test]
fn build_scripts_without_a_macro_for_the_file_are_not_named() {
    let root = folder(&[("a.cu", COLUMN), ("Makefile", "b: b.cu\n\tnvcc -DN=32 b.cu\n")]);
    let (exit, _, err) = run(root.path(), &["--block", "32,8", "a.cu"]);
    assert!(exit == 0 && !err.contains("macros from"), "{err}");
}
