//! What is defined before the first line is read?
//!
//! What nvcc predefines on Linux, the user's `-D`, and, for the text alone, well-known macros
//! of CUDA libraries whose headers are seldom in the tree that is linted.

use super::directives::Directives;
use super::macros::Macros;
use crate::source::{FileId, SourceFile};
use std::fmt::Write as _;
use std::sync::Arc;

/// The macros that are defined from the start, for one target.
#[derive(Debug, Clone)]
pub struct Defines {
    pub(crate) macros: Macros,
}

impl Defines {
    /// The built-ins for `cuda_arch` (the value of `__CUDA_ARCH__`: 900 for sm_90) and then the
    /// `user`'s definitions in order: a name, which may be `f(a, b)`, and its replacement.
    #[must_use]
    pub fn new<'u>(cuda_arch: u32, user: impl IntoIterator<Item = (&'u str, &'u str)>) -> Defines {
        let mut text = String::from(BUILTIN);
        let _ = writeln!(text, "#define __CUDA_ARCH__ {cuda_arch}");
        let _ = writeln!(text, "#define __CUDA_ARCH_LIST__ {cuda_arch}");
        for (name, value) in user {
            // A newline would end the definition and let the rest through as directives.
            let _ = writeln!(text, "#define {} {}", one_line(name), one_line(value));
        }
        let builtin = read("<built-in>", text);
        let fallback = read("<well-known>", [FALLBACK, &super::dispatch::definitions()].concat());
        Defines { macros: Macros::new(&builtin, &fallback) }
    }

    /// The texts of all these definitions.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.macros.files.iter().map(|directives| directives.file.text.as_str())
    }
}

impl Default for Defines {
    fn default() -> Defines {
        Defines::new(900, [])
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn read(name: &str, text: String) -> Arc<Directives> {
    let file = SourceFile::new(FileId(u32::MAX), name.into(), text.into_bytes());
    Arc::new(Directives::read(Arc::new(file), false))
}

/// Whether a fallback name only stands for attributes, so that it must be followed by
/// a declaration to be what it seems: `DI float f()` but not `int DI = 1`.
pub(crate) fn is_short_fallback(name: &str) -> bool {
    matches!(name, "DI" | "HDI" | "HD" | "KERNEL" | "HOSTDEVICE" | "DEVICE" | "GLOBAL")
}

/// nvcc 13 on Linux, as the device compilation sees it.
const BUILTIN: &str = "\
#define __cplusplus 201703L
#define __STDC__ 1
#define __STDC_HOSTED__ 1
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 48
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_ARCH_HAS_FEATURE__(x) 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define __GNUC__ 13
#define __GNUC_MINOR__ 3
#define __GNUC_PATCHLEVEL__ 0
#define __VERSION__ \"13.3.0\"
#define __OPTIMIZE__ 1
#define __linux 1
#define __linux__ 1
#define __gnu_linux__ 1
#define __unix__ 1
#define __x86_64__ 1
#define __x86_64 1
#define __amd64__ 1
#define _LP64 1
#define __LP64__ 1
#define __ELF__ 1
#define __CHAR_BIT__ 8
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG__ 8
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_INT128__ 16
#define __INT_MAX__ 2147483647
#define __LONG_MAX__ 9223372036854775807L
#define __BYTE_ORDER__ 1234
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __FILE__ \"\"
#define __LINE__ 1
#define __COUNTER__ 0
#define __DATE__ \"\"
#define __TIME__ \"\"
";

/// Names that a library's own header would define. Invisible to `#if`.
const FALLBACK: &str = "\
#define CHAR_BIT 8
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##L
#define INTMAX_C(c) c##L
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##UL
#define UINTMAX_C(c) c##UL
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \\
    kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define RAFT_KERNEL static __global__ void
#define CUVS_KERNEL static __global__ void
#define CUML_KERNEL static __global__ void
#define CUGRAPH_KERNEL static __global__ void
#define CUDF_KERNEL static __global__
#define CUDF_HOST_DEVICE __host__ __device__
#define CUSPATIAL_KERNEL static __global__
#define CUSPATIAL_HOST_DEVICE __host__ __device__
#define RMM_KERNEL static __global__
#define CUTLASS_GLOBAL __global__ static
#define CUTLASS_DEVICE __forceinline__ __device__
#define CUTLASS_HOST_DEVICE __forceinline__ __device__ __host__
#define CUTLASS_HOST __host__
#define CUTLASS_CONSTEXPR_IF_CXX17 constexpr
#define CUTLASS_PRAGMA_UNROLL
#define CUTLASS_PRAGMA_NO_UNROLL
#define CUTLASS_GEMM_LOOP
#define CUTLASS_LAMBDA_FUNC_INLINE
#define CUTE_DEVICE __forceinline__ __device__
#define CUTE_HOST_DEVICE __forceinline__ __host__ __device__
#define CUTE_HOST __forceinline__ __host__
#define CUTE_UNROLL
#define CUTE_NO_UNROLL
#define CUTE_INLINE_CONSTANT static const __device__
#define CUTE_STATIC_ASSERT(...)
#define CUTE_GRID_CONSTANT
#define CUTLASS_GRID_CONSTANT
#define CUTE_ALIGNAS(n) alignas(n)
#define CUTLASS_ALIGN(n) alignas(n)
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(a) __launch_bounds__(a)
#define C10_LAUNCH_BOUNDS_2(a, b) __launch_bounds__(a, b)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE inline
#define C10_API
#define C10_EXPORT
#define C10_UNUSED
#define C10_CUDA_API
#define C10_RESTRICT __restrict__
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define TORCH_CUDA_API
#define GPU_LAMBDA __host__ __device__
#define CUT_BANK_CHECKER(array, index) array[index]
#define CUT_SAFE_CALL(call) call
#define CUT_CHECK_ERROR(message)
#define CUT_EXIT(count, values)
#define CUDA_SAFE_CALL(call) call
#define CUFFT_SAFE_CALL(call) call
#define AT_ALIGN(n) alignas(n)
#define __ubsan_ignore_undefined__
#define __ubsan_ignore_float_divide_by_zero__
#define DI __device__ __forceinline__
#define HDI __host__ __device__ __forceinline__
#define HD __host__ __device__
#define HOSTDEVICE __host__ __device__
#define DEVICE __device__
#define GLOBAL __global__
#define KERNEL __global__
#define HOST_DEVICE __host__ __device__
#define HOST_DEVICE_INLINE __host__ __device__ inline
#define DEVICE_INLINE __device__ inline
#define EIGEN_DEVICE_FUNC __host__ __device__
#define EIGEN_STRONG_INLINE inline
#define EIGEN_ALWAYS_INLINE inline
#define PADDLE_RESTRICT __restrict__
#define XLA_DEVICE __device__
#define MXNET_KERNEL __global__
#define MSHADOW_XINLINE inline __host__ __device__
#define MSHADOW_CINLINE inline
#define THRUST_HOST_DEVICE __host__ __device__
#define CUB_RUNTIME_FUNCTION __host__ __device__
#define CUB_DETAIL_KERNEL_ATTRIBUTES __global__
#define _CCCL_DEVICE __device__
#define _CCCL_HOST __host__
#define _CCCL_HOST_DEVICE __host__ __device__
#define _CCCL_FORCEINLINE __forceinline__
#define _CCCL_DEVICE_API __device__
#define _CCCL_HOST_API __host__
#define _CCCL_API __host__ __device__
#define _CCCL_HIDE_FROM_ABI inline
#define _CCCL_KERNEL_ATTRIBUTES __global__
#define _CCCL_GRID_CONSTANT
#define _CCCL_PRAGMA_UNROLL_FULL()
#define _CCCL_PRAGMA_UNROLL(n)
#define _CCCL_PRAGMA_NOUNROLL()
#define _CCCL_SORT_MAYBE_UNROLL()
#define _CCCL_ALIGNAS(n) alignas(n)
#define _CCCL_ALIGNAS_TYPE(...)
#define _CCCL_IF_CONSTEXPR if constexpr
#define _CCCL_CONSTEXPR_CXX20 constexpr
#define _CCCL_TEMPLATE(...) template <__VA_ARGS__>
#define _CCCL_AND ,
#define _LIBCUDACXX_HIDE_FROM_ABI inline __host__ __device__
#define NPP_DEVICE __device__
#define SUTIL_HOSTDEVICE __host__ __device__
#define SUTIL_INLINE inline
#define TINYNN_DEVICE __device__
#define FLASHINFER_INLINE inline __attribute__((always_inline)) __device__
#define VLLM_LDG(arg) __ldg(arg)
";
