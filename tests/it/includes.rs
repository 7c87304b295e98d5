//! Is the user told of headers that were not found, and what would find them?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;

const KERNEL: &str = "\
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
";

/// A file that launches the kernel of a header.
fn launch(include: &str) -> String {
    format!(
        "#include {include}\n#include <cuda_runtime.h>\n#include <vector>\n#include \"stdio.h\"\n\
         void run(float *o, const float *i) {{ transpose<<<1, dim3(32, 32)>>>(o, i); }}\n"
    )
}

#[test]
fn a_header_that_was_not_found_is_named_at_the_end() {
    let launch = launch("\"kernels/transpose.cuh\"");
    let root =
        folder(&[("src/a.cu", &launch), ("src/b.cu", &launch), ("lib/cuda/kernels/transpose.cuh", KERNEL)]);
    let at = root.path();
    let line = "cudalint: 2 files include `kernels/transpose.cuh`, which was not found: pass -I or -p\n";
    let (code, out, err) = run(at, &["src"]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(err, format!("cudalint: no findings in 2 files\n{line}"));
    assert_eq!(run(at, &["-q", "src"]).2, "");
    assert_eq!(run(at, &["--format", "json", "src"]).2, line, "not a word on stdout");
    let (_, _, err) = run(at, &["accesses", "--summary", "src"]);
    assert!(err.ends_with(line), "{err}");
    let (_, out, _) = run(at, &["accesses", "--summary", "--format", "json", "src"]);
    let row: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let expected =
        serde_json::json!({"not_found": "kernels/transpose.cuh", "files": 2, "example": "src/a.cu:1"});
    assert_eq!(row, expected);
    let (_, _, err) = run(at, &["explain", "src/a.cu:5"]);
    assert!(err.ends_with(&line.replace("2 files include", "1 file includes")), "{err}");
    for arguments in [&["."][..], &["-I", "lib/cuda", "src"]] {
        let (code, out, err) = run(at, arguments);
        assert!(code == 1 && out.contains("from the launch at src/a.cu:5"), "{out}");
        assert!(!err.contains("not found"), "{err}");
    }
}

#[test]
fn a_path_leads_to_a_header_of_the_folders_given() {
    let root = folder(&[
        ("src/a.cu", &launch("<kernels/transpose.cuh>")),
        ("include/kernels/transpose.cuh", KERNEL),
        ("include/other/transpose.cuh", "#error another"),
    ]);
    let (code, out, err) = run(root.path(), &["."]);
    assert!(code == 1 && out.contains("from the launch at src/a.cu:5"), "{out}{err}");
    // As near as the first, so that nobody can tell.
    fs::create_dir_all(root.path().join("old/kernels")).unwrap();
    fs::write(root.path().join("old/kernels/transpose.cuh"), KERNEL).unwrap();
    let (_, _, err) = run(root.path(), &["."]);
    assert!(err.contains("`kernels/transpose.cuh`, which was not found: pass -I or -p"), "{err}");
}

#[test]
fn a_name_in_angle_brackets_is_not_taken_for_the_systems() {
    let root = folder(&[
        ("src/a.cu", &launch("<transpose.h>")),
        ("common/include/transpose.h", KERNEL),
        ("src/b.cu", &format!("#include <string.h>\n{KERNEL}")),
        ("lib/string.h", "#define threadIdx blockIdx"),
    ]);
    let (_, out, err) = run(root.path(), &["."]);
    assert!(out.contains("src/b.cu:6"), "the system's header is meant: {out}{err}");
    assert!(out.contains("from the launch at src/a.cu:5"), "{out}{err}");
}

#[test]
fn what_leads_to_much_of_a_large_library_is_left_to_the_option() {
    let last_words = |includes: usize| {
        let kernel = format!("#include <many/0.h>\n{KERNEL}");
        let mut files = vec![
            ("src/a.cu".to_owned(), launch("<kernels/transpose.cuh>")),
            ("include/kernels/transpose.cuh".to_owned(), kernel),
        ];
        files.extend((0..512).map(|number| {
            let next = format!("#include <many/{}.h>\n", number + 1);
            (format!("include/many/{number}.h"), if number < includes { next } else { String::new() })
        }));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        let root = folder(&files);
        run(root.path(), &["."])
    };
    let (code, out, err) = last_words(200);
    assert!(code == 1 && out.contains("from the launch at src/a.cu:5"), "{out}{err}");
    let (_, _, err) = last_words(400);
    assert!(err.contains("`kernels/transpose.cuh`") && err.ends_with("pass `-I include`\n"), "{err}");
}

#[test]
fn hip_is_read_as_cuda() {
    let hip = KERNEL.replace("threadIdx.", "hipThreadIdx_")
        + "void run(float *o, const float *i) {\n    \
           hipLaunchKernelGGL(HIP_KERNEL_NAME(transpose), dim3(1), dim3(32, 32), 0, 0, o, i);\n}\n";
    let root = folder(&[("a.hip", &format!("#include <hip/hip_runtime.h>\n{hip}"))]);
    let (code, out, err) = run(root.path(), &["."]);
    assert!(code == 1 && out.contains("32-way") && out.contains("from the launch at a.hip:9"), "{out}{err}");
    assert!(!err.contains("not found"), "{err}");
}

/// Kernels that are compiled at run time include nothing: only the file's name says that they are HIP.
#[test]
fn a_file_can_be_hip_by_its_name_alone() {
    let kernel = "__global__ void k(int* a) { a[threadIdx.x] = __shfl_down(a[threadIdx.x], 1); }\n";
    let root = folder(&[("cuda.cu", kernel), ("for_hip.hip", kernel)]);
    let (code, out, err) = run(root.path(), &["."]);
    assert!(code == 1 && out.contains("cuda.cu:1:46") && !out.contains("for_hip.hip"), "{out}{err}");
}

#[test]
fn the_usual_folders_of_a_project_are_proposed() {
    let root = folder(&[
        ("project/.git/HEAD", ""),
        ("project/src/gpu/a.cu", &launch("<kernels/transpose.cuh>")),
        ("project/include/kernels/transpose.cuh", KERNEL),
    ]);
    let proposed = |folder: &str, argument: &str| {
        let (_, _, err) = run(&root.path().join(folder), &[argument]);
        err.lines().last().unwrap().split("pass ").last().unwrap().to_owned()
    };
    assert_eq!(proposed("project", "src"), "`-I include`");
    assert_eq!(proposed("", "project/src/gpu/a.cu"), "`-I project/include`");
    // Above the root of the repository no one looks.
    fs::rename(root.path().join("project/include"), root.path().join("include")).unwrap();
    assert_eq!(proposed("project", "src"), "-I or -p");
}

#[test]
fn only_headers_that_kernels_may_rest_on_are_named() {
    let includes = "\
#include <cuda_runtime.h>
#include <cooperative_groups/memcpy_async.h>
#include <thrust/device_vector.h>
#include <sys/time.h>
#include <windows.h>
#include <filesystem>
#include \"cublas_v2.h\"
#include <torch/extension.h>
#include <gtest/gtest.h>
#ifdef USE_HIP
#include \"hip_kernels.cuh\"
#endif
#if __has_include(\"config.h\")
#include \"config.h\"
#endif
__global__ void k() {}
";
    let own = "#include \"z.h\"\n#include \"big.cuh\"\n#include <other/b.hpp>\n#include \"a.h\"\n__global__ void k() {}\n";
    let root = folder(&[("a.cu", includes)]);
    assert_eq!(run(root.path(), &["a.cu"]).2, "cudalint: no findings in 1 file\n");
    fs::write(root.path().join("b.cu"), own).unwrap();
    fs::write(root.path().join("c.cu"), "#include \"z.h\"\n__global__ void k() {}\n").unwrap();
    let (_, _, err) = run(root.path(), &["."]);
    let line = "cudalint: 2 files include headers that were not found, `big.cuh` (1 file), `z.h` (2 files), \
                `a.h` (1 file) and 1 more: pass -I or -p\n";
    assert!(err.ends_with(line), "{err}");
}

#[test]
fn a_name_that_several_files_have_is_said_to_be_one() {
    let launch = launch("\"transpose.cuh\"");
    let root = folder(&[("a.cu", &launch), ("x/transpose.cuh", KERNEL), ("y/transpose.cuh", KERNEL)]);
    let (_, _, err) = run(root.path(), &["."]);
    let line =
        "cudalint: 1 file includes `transpose.cuh`, which could be any of several files: pass -I or -p\n";
    assert!(err.ends_with(line), "{err}");
}

#[test]
fn a_library_that_a_folder_leads_to_is_the_users_no_more() {
    let root = folder(&[
        ("own/a.cu", "#include <lib/k.cuh>\n__global__ void k() { f(); }\n"),
        ("other/lib/k.cuh", "#include \"missing.cuh\"\n__device__ void f() {}\n"),
    ]);
    let include = root.path().join("other");
    let (_, _, err) = run(&root.path().join("own"), &["-I", include.to_str().unwrap(), "a.cu"]);
    assert_eq!(err, "cudalint: no findings in 1 file\n");
}

/// A build names the toolkit's folder to its compiler, and what the toolkit's headers say is built in.
#[test]
fn headers_of_the_toolkit_are_not_followed() {
    let reduction = "#include <cub/cub.cuh>\n#include \"cuda_runtime.h\"\n#include <memory.h>\n\
         __global__ void sum(float *out, const float *in) {\n\
         \x20   typedef cub::BlockReduce<float, 128> Reduce;\n\
         \x20   __shared__ typename Reduce::TempStorage temp;\n\
         \x20   __shared__ float s[WIDTH * 128];\n\
         \x20   s[threadIdx.x * WIDTH] = in[threadIdx.x];\n\
         \x20   float all = Reduce(temp).Sum(in[threadIdx.x]);\n\
         \x20   if (threadIdx.x == 0) out[0] = all + s[0];\n\
         }\n\
         void launch(float *o, const float *i) { sum<<<1, 128>>>(o, i); }\n";
    let root = folder(&[
        ("src/a.cu", reduction),
        ("toolkit/cuda_runtime_api.h", ""),
        ("toolkit/cuda_runtime.h", "#define threadIdx nothing\n#define __shared__ nothing\n"),
        ("toolkit/cub/cub.cuh", "namespace cub { template <class T, int N> class BlockReduce {}; }\n"),
        ("own/memory.h", "#define WIDTH 2\n"),
    ]);
    let with = |folders: &[&str]| {
        let folders = folders.iter().flat_map(|folder| ["-I", folder]);
        let arguments: Vec<&str> = ["accesses"].into_iter().chain(folders).chain(["src"]).collect();
        run(root.path(), &arguments)
    };
    let (_, out, err) = with(&["toolkit", "own"]);
    assert!(err.contains("4 accesses: 2 exact, 2 assumed"), "a header of the project counts: {out}{err}");
    assert_eq!(with(&["own"]), (0, out, err));
}

/// Kernels that wait for a macro are no kernels without conflicts.
#[test]
fn a_macro_that_hides_all_kernels_of_a_file_is_named_at_the_end() {
    let behind = |macro_name: &str| format!("#ifdef {macro_name}\n{KERNEL}#endif\n");
    let asked = |condition: &str| format!("#if {condition}\n{KERNEL}#endif\n");
    let (with_cuda, chosen) = (behind("USE_CUDA"), format!("{}{KERNEL}", behind("FAST")));
    let (rocm, configured) = (behind("USE_ROCM"), behind("HAS_GPU"));
    let root = folder(&[
        ("src/a.cu", &with_cuda),
        ("src/b.cu", &asked("defined(USE_CUDA) // a build with CUDA")),
        ("src/c.cu", &asked("USE_CUDA")),
        ("src/d.cu", &asked("USE_CUDA == 1")),
        ("src/other.cu", &asked("USE_CUDA == 2")),
        ("src/either.cu", &asked("defined(USE_CUDA) || HAS(x)")),
        ("src/chosen.cu", &chosen),
        ("src/rocm.cu", &rocm),
        ("src/configured.cu", &configured),
        ("src/config.cu", "#define HAS_GPU 1\n__global__ void k() { __shared__ int s[1]; s[0] = 1; }\n"),
    ]);
    let line = "cudalint: 4 files have kernels only where `USE_CUDA` is defined, which nothing does: pass \
                --define USE_CUDA\n";
    let err = |args: &[&str]| run(root.path(), args).2;
    assert!(err(&["src"]).ends_with(line), "{}", err(&["src"]));
    assert!(err(&["accesses", "src"]).ends_with(line));
    assert!(!err(&["--define", "USE_CUDA", "src"]).contains("USE_CUDA"));
    assert!(!err(&["-q", "src"]).contains("USE_CUDA"));
}

#[test]
fn a_macro_of_hip_and_one_of_an_architecture_is_named_too() {
    let last = |name: &str| {
        let root = folder(&[("a.cu", &format!("#ifdef {name}\n{KERNEL}#endif\n"))]);
        run(root.path(), &["a.cu"]).2.lines().last().unwrap_or("").to_owned()
    };
    for name in ["__HIPCC__", "__CUDA_ARCH_FEAT_SM90_ALL"] {
        assert!(last(name).ends_with(&format!("pass --define {name}")), "{}", last(name));
    }
    assert!(!last("__clang__").contains("pass --define"));
}

#[test]
fn code_that_a_newer_target_would_see_is_told_of_at_the_end() {
    let body = "__shared__ int s[32]; s[threadIdx.x] = 0;\n";
    let kernel = |inner: &str| format!("__global__ void k() {{\n{inner}}}\n");
    let newer = |code: &str| format!("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1000)\n{code}#endif\n");
    let or = |other: &str| format!("#if __CUDA_ARCH__ >= 1000\n{body}#else\n{other}#endif\n");
    let root = folder(&[
        ("src/inside.cu", &kernel(&newer(body))),
        ("src/around.cu", &newer(&kernel(body))),
        ("src/called.cu", &kernel(&newer("work();\n"))),
        ("src/other.cu", &kernel(&or("trap();\n"))),
        ("chosen/chosen.cu", &kernel(&or(body))),
        ("chosen/older.cu", &kernel(&format!("#if __CUDA_ARCH__ < 700\n{body}#endif\n"))),
        ("chosen/part.cu", &kernel(&format!("{body}{}", newer("s[0] = 1;\n")))),
        ("chosen/host.cu", &newer("int host;\n")),
    ]);
    let line = "cudalint: 4 files have kernel code that is left out for sm_90: pass --target sm_100\n";
    let err = |args: &[&str]| run(root.path(), args).2;
    assert!(err(&["src"]).ends_with(line), "{}", err(&["src"]));
    assert!(err(&["accesses", "src"]).ends_with(line));
    for args in [&["--target", "sm_100", "src"][..], &["-q", "src"], &["chosen"]] {
        assert!(!err(args).contains("left out"), "{}", err(args));
    }
}
