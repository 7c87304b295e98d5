//! Is a header one that compilers, systems or the CUDA toolkit bring, or one of a library for the host?
//!
//! What kernels do with shared memory does not rest on such a header, and a project's include folders do
//! not lead to it. Names are those of the C and C++ standards, of POSIX and Windows, and of the toolkit
//! (12.9 and 13.0, with those that earlier versions had).

/// Whether a header comes with a compiler, the system or the CUDA toolkit.
#[must_use]
pub(crate) fn is_provided(spec: &str) -> bool {
    if let Some((folder, _)) = spec.split_once('/') {
        return FOLDERS.contains(&folder) || is_of_cub(spec);
    }
    // Only the headers of C++ have no extension.
    if !spec.contains('.') {
        return true;
    }
    let stem = spec.strip_suffix(".h").or_else(|| spec.strip_suffix(".hpp"));
    let listed =
        |lists: &[&str]| lists.iter().any(|list| list.split_whitespace().any(|word| Some(word) == stem));
    let is_of_family = |stem: &str| FAMILIES.iter().any(|start| stem.starts_with(start));
    // Of these, only headers of the toolkit end in `.hpp`.
    spec.ends_with(".h") && listed(&[C, POSIX, COMPILER, WINDOWS])
        || listed(&[CUDA, CUDA_LIBRARIES])
        || stem.is_some_and(is_of_family)
}

/// The folder of CUB.
pub(super) const CUB: &str = "cub";

/// Whether a header is one of CUB, which comes with the toolkit, and which projects copy.
#[must_use]
pub(super) fn is_of_cub(spec: &str) -> bool {
    let mut parts = spec.split('/').skip_while(|part| *part != CUB).skip(1);
    let parts = (parts.next(), parts.next().is_some());
    matches!(
        parts,
        (Some("cub.cuh" | "version.cuh" | "config.cuh"), false)
            | (Some("block" | "warp" | "thread" | "device" | "grid" | "agent" | "iterator" | "host"), true)
    ) || matches!(parts, (Some(name), false) if name.starts_with("util_"))
}

/// Whether a header belongs to a library for host code that kernels are often written beside.
#[must_use]
pub(crate) fn is_of_host_library(spec: &str) -> bool {
    match spec.split_once('/') {
        Some((folder, _)) => HOST_FOLDERS.split_whitespace().any(|known| known == folder),
        None => HOST_HEADERS.split_whitespace().any(|known| known == spec),
    }
}

/// Folders of system headers and of the toolkit's.
const FOLDERS: [&str; 21] = [
    "arpa",
    "asm",
    "bits",
    "cooperative_groups",
    "crt",
    "cub",
    "cuda",
    "cudnn_frontend",
    "experimental",
    "ext",
    "linux",
    "mach",
    "machine",
    "net",
    "netinet",
    "nv",
    "nvtx3",
    "sys",
    "thrust",
    "tr1",
    "x86_64-linux-gnu",
];

/// C, without the extension.
const C: &str = "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal \
    stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string \
    tgmath threads time uchar wchar wctype";

/// POSIX and what Linux and macOS have besides.
const POSIX: &str = "aio alloca cpio dirent dlfcn endian err execinfo fcntl features fmtmsg fnmatch ftw \
    getopt glob grp iconv ifaddrs langinfo libgen link malloc memory monetary mqueue ndbm netdb nl_types \
    numa numaif poll pthread pwd regex sched search semaphore spawn strings stropts syslog tar termios \
    ucontext ulimit unistd utime utmpx values wordexp";

/// Intrinsics and the like.
const COMPILER: &str = "adxintrin ammintrin arm_acle arm_fp16 arm_neon arm_sve avx2intrin avxintrin cpuid \
    cxxabi emmintrin fmaintrin immintrin intrin mm_malloc mmintrin nmmintrin omp openacc pmmintrin \
    quadmath smmintrin tmmintrin unwind wmmintrin x86intrin xmmintrin zmmintrin";

/// Windows and Microsoft's compiler.
const WINDOWS: &str = "BaseTsd basetsd conio corecrt crtdbg d3d10 d3d10_1 d3d11 d3d11_1 d3d12 d3d9 d3dcompiler \
    d3dx9 direct dxgi dxgi1_4 excpt guiddef io malloc mmsystem ppl process psapi sal sdkddkver shellapi \
    shlobj synchapi tchar timeapi vadefs versionhelpers winbase windef Windows windows windowsx winnt \
    winsock2 wrl ws2tcpip";

/// The toolkit's own.
const CUDA: &str = "builtin_types channel_descriptor common_functions cooperative_groups cuComplex cuda \
    cudaD3D10 cudaD3D11 cudaD3D9 cudaEGL cudaEGLTypedefs cudaGL cudaGLTypedefs cudaProfiler \
    cudaProfilerTypedefs cudaTypedefs cudaVDPAU cudaVDPAUTypedefs cuda_awbarrier cuda_awbarrier_helpers \
    cuda_awbarrier_primitives cuda_bf16 cuda_d3d10_interop cuda_d3d11_interop cuda_d3d9_interop \
    cuda_device_runtime_api cuda_egl_interop cuda_fp16 cuda_fp4 cuda_fp6 cuda_fp8 cuda_gl_interop \
    cuda_occupancy cuda_pipeline cuda_pipeline_helpers cuda_pipeline_primitives cuda_profiler_api \
    cuda_runtime cuda_runtime_api cuda_stdint cuda_surface_types cuda_texture_types cuda_vdpau_interop \
    cudart_platform device_atomic_functions device_double_functions device_functions \
    device_launch_parameters device_types driver_functions driver_types fatBinaryCtl fatbinary \
    fatbinary_section host_config host_defines library_types math_constants math_functions mma \
    sm_20_atomic_functions sm_20_intrinsics sm_30_intrinsics sm_32_atomic_functions sm_32_intrinsics \
    sm_35_atomic_functions sm_35_intrinsics sm_60_atomic_functions sm_61_intrinsics storage_class \
    surface_functions surface_indirect_functions surface_types texture_fetch_functions \
    texture_indirect_functions texture_types vector_functions vector_types";

/// Libraries that come with it or beside it.
const CUDA_LIBRARIES: &str = "cublas cublasLt cublasXt cublas_api cublas_v2 cufft cufftXt cufftw cufile \
    cupti curand curand_kernel cusolverDn cusolverMg cusolverRf cusolverSp cusolver_common cusparse \
    cusparseLt cusparse_v2 cutensor nccl nvFatbin nvJitLink nvPTXCompiler nvToolsExt nvToolsExtCuda \
    nvToolsExtCudaRt nvToolsExtMeta nvToolsExtSync nvblas nvcuvid nvjpeg nvml nvperf_host nvrtc nvshmem \
    nvshmemx nvvm";

/// Names that only headers of one library begin with.
const FAMILIES: [&str; 6] = ["cublasLt", "cudnn", "curand_", "cusolver", "npp", "nvtx3"];

/// Folders of libraries whose headers say nothing of a kernel's shared memory.
const HOST_FOLDERS: &str = "ATen CL EGL Eigen GL GLES2 GLES3 GLFW Imath KHR OpenEXR QtCore QtGui QtWidgets SDL \
    SDL2 SFML X11 absl benchmark boost c10 c10d caffe2 catch2 cxxopts doctest fmt gflags \
    glad glm glog gmock google grpc grpcpp gtest hdf5 hip hipblas hipcub jni lapacke \
    level_zero llvm msgpack nanobind nlohmann numpy onnx openblas opencv2 png pybind11 \
    pytorch rapidjson rocblas rocprim rocrand rocthrust spdlog sycl tbb torch \
    torchvision vulkan xla yaml-cpp zlib";

/// Headers of such libraries.
const HOST_HEADERS: &str = "D3Dcompiler.h DirectXMath.h FreeImage.h Python.h cblas.h catch.hpp clblast.h \
    cxxopts.hpp doctest.h fftw3.h hdf5.h hipblas.h json.hpp lapacke.h mkl.h mkl_cblas.h \
    mpi.h png.h stb_image.h stb_image_write.h tiffio.h zlib.h";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_compilers_systems_and_the_toolkit_are_known() {
        for spec in [
            "iostream",
            "vector",
            "stdio.h",
            "sys/time.h",
            "unistd.h",
            "windows.h",
            "immintrin.h",
            "cuda.h",
            "cuda_runtime.h",
            "cuda_fp16.hpp",
            "cooperative_groups.h",
            "cooperative_groups/memcpy_async.h",
            "cuda/barrier",
            "thrust/device_vector.h",
            "cub/cub.cuh",
            "mma.h",
            "cublas_v2.h",
            "curand_mtgp32.h",
            "nppi_filtering_functions.h",
            "cudnn_ops.h",
        ] {
            assert!(is_provided(spec), "{spec}");
        }
    }

    #[test]
    fn a_copy_of_cub_is_cub() {
        for spec in ["3rdparty/cub/cub.cuh", "cub/block/block_reduce.cuh", "../cub/util_type.cuh"] {
            assert!(is_of_cub(spec) && is_provided(spec), "{spec}");
        }
        for spec in ["cub.cuh", "lib/cub/mine.cuh", "lib/cub/block", "cubes/cub.cuh"] {
            assert!(!is_of_cub(spec), "{spec}");
        }
    }

    #[test]
    fn headers_of_projects_are_not() {
        for spec in [
            "gemm.cuh",
            "cuda_utils.h",
            "cudaUtils.cuh",
            "cuda_helpers.hpp",
            "math.hpp",
            "memory.hpp",
            "common/math.h",
            "utils/timer.h",
            "helper_cuda.h",
            "cutlass/cutlass.h",
            "cute/tensor.hpp",
            "mylib/cuda/kernels.cuh",
            "nvidia_tools.h",
        ] {
            assert!(!is_provided(spec) && !is_of_host_library(spec), "{spec}");
        }
    }

    #[test]
    fn libraries_of_the_host_are_known() {
        for spec in ["torch/extension.h", "ATen/ATen.h", "gtest/gtest.h", "mpi.h", "opencv2/core.hpp"] {
            assert!(is_of_host_library(spec) && !is_provided(spec), "{spec}");
        }
    }
}
