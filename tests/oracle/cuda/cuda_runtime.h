// What nvcc provides without being asked, for a C++ compiler on the host.
//
// Force-included before every kernel file. Qualifiers become nothing, shared arrays become statics that
// lie far apart, built-in functions are written out. What cannot be had on the host is missing, so that
// a file that needs it does not compile instead of running wrongly.
#pragma once

#include "../runtime/runtime.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>
#include <new>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define CUDART_VERSION 12000

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __noinline__ __attribute__((noinline))
// The alignment is `kSlot` of runtime.cpp; debug information tells by it which variables are shared.
#define __shared__ static __attribute__((aligned(262144)))

// ---- Vector types --------------------------------------------------------------------------------

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define ORACLE_VECTOR(NAME, T, ALIGN2, ALIGN4)                                                                         \
    struct NAME##1 { T x; };                                                                                           \
    struct alignas(ALIGN2) NAME##2 { T x, y; };                                                                        \
    struct NAME##3 { T x, y, z; };                                                                                     \
    struct alignas(ALIGN4) NAME##4 { T x, y, z, w; };                                                                  \
    ORACLE_QUIET static inline NAME##1 make_##NAME##1(T x) { return {x}; }                                             \
    ORACLE_QUIET static inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                     \
    ORACLE_QUIET static inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                             \
    ORACLE_QUIET static inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

ORACLE_VECTOR(char, signed char, 2, 4)
ORACLE_VECTOR(uchar, unsigned char, 2, 4)
ORACLE_VECTOR(short, short, 4, 8)
ORACLE_VECTOR(ushort, unsigned short, 4, 8)
ORACLE_VECTOR(int, int, 8, 16)
ORACLE_VECTOR(uint, unsigned, 8, 16)
ORACLE_VECTOR(float, float, 8, 16)
ORACLE_VECTOR(long, long, 16, 16)
ORACLE_VECTOR(ulong, unsigned long, 16, 16)
ORACLE_VECTOR(longlong, long long, 16, 16)
ORACLE_VECTOR(ulonglong, unsigned long long, 16, 16)
ORACLE_VECTOR(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    ORACLE_QUIET constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    ORACLE_QUIET constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    ORACLE_QUIET constexpr operator uint3() const { return {x, y, z}; }
};

extern uint3 threadIdx asm("oracle_threadIdx");
extern uint3 blockIdx asm("oracle_blockIdx");
extern dim3 blockDim asm("oracle_blockDim");
extern dim3 gridDim asm("oracle_gridDim");
static const int warpSize = 32;

// ---- Launches ------------------------------------------------------------------------------------

namespace oracle {

// `kernel<<<grid, block, bytes, stream>>>(arguments)` is rewritten to this.
template <typename Body>
ORACLE_QUIET void launch(const char *kernel, const char *file, int line, dim3 grid, dim3 block, size_t dynamic_bytes,
                         Body body) {
    struct Thread {
        ORACLE_QUIET static void run(void *body) { (*static_cast<Body *>(body))(); }
    };
    launch_block(kernel, file, line, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_bytes, Thread::run,
                 &body);
}

template <typename T> struct Same { typedef T type; };

} // namespace oracle

// ---- Barriers, votes, shuffles -------------------------------------------------------------------

#define ORACLE_PLACE __builtin_return_address(0)

ORACLE_AT_CALLER static inline void __syncthreads() { oracle::sync_threads(0, ORACLE_PLACE); }
ORACLE_AT_CALLER static inline int __syncthreads_count(int p) { return oracle::sync_threads(p != 0, ORACLE_PLACE); }
ORACLE_AT_CALLER static inline int __syncthreads_or(int p) { return oracle::sync_threads(p != 0, ORACLE_PLACE) != 0; }
ORACLE_AT_CALLER static inline int __syncthreads_and(int p) { return oracle::sync_threads(p == 0, ORACLE_PLACE) == 0; }
ORACLE_AT_CALLER static inline void __syncwarp(unsigned mask = 0xffffffff) { oracle::sync_warp(mask, ORACLE_PLACE); }

ORACLE_AT_CALLER static inline unsigned __ballot_sync(unsigned mask, int p) {
    return oracle::ballot(mask, p != 0, ORACLE_PLACE);
}
ORACLE_AT_CALLER static inline int __any_sync(unsigned mask, int p) {
    return oracle::ballot(mask, p != 0, ORACLE_PLACE) != 0;
}
ORACLE_AT_CALLER static inline int __all_sync(unsigned mask, int p) {
    return oracle::ballot(mask, p == 0, ORACLE_PLACE) == 0;
}
ORACLE_AT_CALLER static inline unsigned __activemask() { return oracle::active_mask(ORACLE_PLACE); }

namespace oracle {

template <typename T> ORACLE_QUIET T exchanged(unsigned mask, T value, int source, const void *place) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = exchange(mask, bits, source, place);
    T result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

} // namespace oracle

template <typename T> ORACLE_AT_CALLER T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    int first = oracle::lane() & ~(width - 1);
    return oracle::exchanged(mask, value, first | (source & (width - 1)), ORACLE_PLACE);
}
template <typename T> ORACLE_AT_CALLER T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = oracle::lane(), source = lane - int(delta);
    return oracle::exchanged(mask, value, source < (lane & ~(width - 1)) ? lane : source, ORACLE_PLACE);
}
template <typename T> ORACLE_AT_CALLER T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = oracle::lane(), source = lane + int(delta);
    return oracle::exchanged(mask, value, source > (lane | (width - 1)) ? lane : source, ORACLE_PLACE);
}
template <typename T> ORACLE_AT_CALLER T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32) {
    int lane = oracle::lane(), source = lane ^ other;
    return oracle::exchanged(mask, value, source > (lane | (width - 1)) ? lane : source, ORACLE_PLACE);
}

#define ORACLE_REDUCE_SYNC(NAME, T, EXPRESSION)                                                                        \
    ORACLE_AT_CALLER static inline T NAME(unsigned mask, T value) {                                                    \
        T a = 0;                                                                                                       \
        bool begun = false;                                                                                            \
        for (int lane = 0; lane < 32; lane++) {                                                                        \
            if (!(mask >> lane & 1)) continue;                                                                         \
            T b = oracle::exchanged(mask, value, lane, ORACLE_PLACE);                                                  \
            a = begun ? (EXPRESSION) : b;                                                                              \
            begun = true;                                                                                              \
        }                                                                                                              \
        return a;                                                                                                      \
    }
ORACLE_REDUCE_SYNC(__reduce_add_sync, unsigned, a + b)
ORACLE_REDUCE_SYNC(__reduce_min_sync, unsigned, a < b ? a : b)
ORACLE_REDUCE_SYNC(__reduce_max_sync, unsigned, a > b ? a : b)
ORACLE_REDUCE_SYNC(__reduce_and_sync, unsigned, a & b)
ORACLE_REDUCE_SYNC(__reduce_or_sync, unsigned, a | b)
ORACLE_REDUCE_SYNC(__reduce_xor_sync, unsigned, a ^ b)
ORACLE_REDUCE_SYNC(__reduce_add_sync, int, a + b)
ORACLE_REDUCE_SYNC(__reduce_min_sync, int, a < b ? a : b)
ORACLE_REDUCE_SYNC(__reduce_max_sync, int, a > b ? a : b)

template <typename T> ORACLE_AT_CALLER unsigned __match_any_sync(unsigned mask, T value) {
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (mask >> lane & 1 && oracle::exchanged(mask, value, lane, ORACLE_PLACE) == value) same |= 1u << lane;
    }
    return same;
}

ORACLE_QUIET static inline void __threadfence() {}
ORACLE_QUIET static inline void __threadfence_block() {}
ORACLE_QUIET static inline void __threadfence_system() {}
ORACLE_QUIET static inline void __nanosleep(unsigned) {}

// ---- Atomic operations ---------------------------------------------------------------------------

#define ORACLE_ATOMIC(NAME, OP, RESULT)                                                                                \
    template <typename T> ORACLE_AT_CALLER T NAME(T *address, typename oracle::Same<T>::type value) {                  \
        oracle::record_atomic(address, sizeof(T), oracle::AtomicOp::OP, value == T(1), ORACLE_PLACE);                  \
        T old = *address;                                                                                              \
        *address = T(RESULT);                                                                                          \
        return old;                                                                                                    \
    }                                                                                                                  \
    template <typename T> ORACLE_AT_CALLER T NAME##_block(T *address, typename oracle::Same<T>::type value) {          \
        oracle::record_atomic(address, sizeof(T), oracle::AtomicOp::OP, value == T(1), ORACLE_PLACE);                  \
        T old = *address;                                                                                              \
        *address = T(RESULT);                                                                                          \
        return old;                                                                                                    \
    }
ORACLE_ATOMIC(atomicAdd, Add, old + value)
ORACLE_ATOMIC(atomicSub, Sub, old - value)
ORACLE_ATOMIC(atomicMin, Min, value < old ? value : old)
ORACLE_ATOMIC(atomicMax, Max, old < value ? value : old)
ORACLE_ATOMIC(atomicAnd, And, old & value)
ORACLE_ATOMIC(atomicOr, Or, old | value)
ORACLE_ATOMIC(atomicXor, Xor, old ^ value)
ORACLE_ATOMIC(atomicExch, Exchange, value)
ORACLE_ATOMIC(atomicInc, Increment, old >= value ? 0 : old + 1)
ORACLE_ATOMIC(atomicDec, Decrement, old == 0 || old > value ? value : old - 1)

template <typename T>
ORACLE_AT_CALLER T atomicCAS(T *address, typename oracle::Same<T>::type compare, typename oracle::Same<T>::type value) {
    oracle::record_atomic(address, sizeof(T), oracle::AtomicOp::CompareAndSwap, false, ORACLE_PLACE);
    T old = *address;
    if (old == compare) *address = value;
    return old;
}

// ---- Integers ------------------------------------------------------------------------------------

ORACLE_QUIET static inline int __mul24(int a, int b) { return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8)); }
ORACLE_QUIET static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
ORACLE_QUIET static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
ORACLE_QUIET static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
ORACLE_QUIET static inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
ORACLE_QUIET static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
ORACLE_QUIET static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
ORACLE_QUIET static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
ORACLE_QUIET static inline int __popc(unsigned x) { return __builtin_popcount(x); }
ORACLE_QUIET static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
ORACLE_QUIET static inline int __ffs(int x) { return __builtin_ffs(x); }
ORACLE_QUIET static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
ORACLE_QUIET static inline unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
    return r;
}
ORACLE_QUIET static inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
ORACLE_QUIET static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return r;
}
ORACLE_QUIET static inline unsigned __sad(int a, int b, unsigned c) { return (unsigned)(a > b ? a - b : b - a) + c; }
ORACLE_QUIET static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
ORACLE_QUIET static inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
ORACLE_QUIET static inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
ORACLE_QUIET static inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
ORACLE_QUIET static inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
ORACLE_QUIET static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) { return (by & 31) ? high << (by & 31) | low >> (32 - (by & 31)) : high; }
ORACLE_QUIET static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) { return (by & 31) ? high << (32 - (by & 31)) | low >> (by & 31) : low; }
ORACLE_QUIET static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) { return by < 32 ? __funnelshift_l(low, high, by) : low; }
ORACLE_QUIET static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) { return by < 32 ? __funnelshift_r(low, high, by) : high; }

#define ORACLE_MIN_MAX(T)                                                                                              \
    ORACLE_QUIET static inline T min(T a, T b) { return b < a ? b : a; }                                                            \
    ORACLE_QUIET static inline T max(T a, T b) { return a < b ? b : a; }
ORACLE_MIN_MAX(int)
ORACLE_MIN_MAX(unsigned)
ORACLE_MIN_MAX(long)
ORACLE_MIN_MAX(unsigned long)
ORACLE_MIN_MAX(long long)
ORACLE_MIN_MAX(unsigned long long)
ORACLE_MIN_MAX(float)
ORACLE_MIN_MAX(double)
#define ORACLE_MIXED_MIN_MAX(A, B, T)                                                                                  \
    ORACLE_QUIET static inline T min(A a, B b) { return min((T)a, (T)b); }                                                          \
    ORACLE_QUIET static inline T min(B a, A b) { return min((T)a, (T)b); }                                                          \
    ORACLE_QUIET static inline T max(A a, B b) { return max((T)a, (T)b); }                                                          \
    ORACLE_QUIET static inline T max(B a, A b) { return max((T)a, (T)b); }
ORACLE_MIXED_MIN_MAX(int, unsigned, unsigned)
ORACLE_MIXED_MIN_MAX(float, double, double)
ORACLE_MIXED_MIN_MAX(long, unsigned long, unsigned long)
ORACLE_MIXED_MIN_MAX(long long, unsigned long long, unsigned long long)
ORACLE_QUIET static inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
ORACLE_QUIET static inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
using std::abs;

// ---- Floating point ------------------------------------------------------------------------------

ORACLE_QUIET static inline int __float2int_rz(float f) { return (int)f; }
ORACLE_QUIET static inline int __float2int_rd(float f) { return (int)floorf(f); }
ORACLE_QUIET static inline int __float2int_ru(float f) { return (int)ceilf(f); }
ORACLE_QUIET static inline int __float2int_rn(float f) { return (int)nearbyintf(f); }
ORACLE_QUIET static inline unsigned __float2uint_rz(float f) { return (unsigned)f; }
ORACLE_QUIET static inline float __int2float_rn(int i) { return (float)i; }
ORACLE_QUIET static inline float __uint2float_rn(unsigned i) { return (float)i; }
ORACLE_QUIET static inline int __double2int_rz(double d) { return (int)d; }
ORACLE_QUIET static inline int __float_as_int(float f) { int i; __builtin_memcpy(&i, &f, 4); return i; }
ORACLE_QUIET static inline unsigned __float_as_uint(float f) { unsigned i; __builtin_memcpy(&i, &f, 4); return i; }
ORACLE_QUIET static inline float __int_as_float(int i) { float f; __builtin_memcpy(&f, &i, 4); return f; }
ORACLE_QUIET static inline float __uint_as_float(unsigned i) { float f; __builtin_memcpy(&f, &i, 4); return f; }
ORACLE_QUIET static inline long long __double_as_longlong(double d) { long long i; __builtin_memcpy(&i, &d, 8); return i; }
ORACLE_QUIET static inline double __longlong_as_double(long long i) { double d; __builtin_memcpy(&d, &i, 8); return d; }
ORACLE_QUIET static inline float __fdividef(float a, float b) { return a / b; }
ORACLE_QUIET static inline float __frcp_rn(float a) { return 1 / a; }
ORACLE_QUIET static inline float __fsqrt_rn(float a) { return sqrtf(a); }
ORACLE_QUIET static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
ORACLE_QUIET static inline float __fadd_rn(float a, float b) { return a + b; }
ORACLE_QUIET static inline float __fmul_rn(float a, float b) { return a * b; }
ORACLE_QUIET static inline float __saturatef(float a) { return a < 0 ? 0 : a > 1 ? 1 : a; }
// glibc has functions of these names.
#define __expf(a) expf(a)
#define __logf(a) logf(a)
#define __log2f(a) log2f(a)
#define __powf(a, b) powf(a, b)
#define __sinf(a) sinf(a)
#define __cosf(a) cosf(a)
ORACLE_QUIET static inline float rsqrtf(float a) { return 1 / sqrtf(a); }
ORACLE_QUIET static inline double rsqrt(double a) { return 1 / sqrt(a); }
ORACLE_QUIET static inline float sinpif(float a) { return sinf(3.14159265358979f * a); }
ORACLE_QUIET static inline float cospif(float a) { return cosf(3.14159265358979f * a); }

template <typename T> static inline T __ldg(const T *p) { return *p; }
template <typename T> static inline T __ldcg(const T *p) { return *p; }
template <typename T> static inline T __ldcs(const T *p) { return *p; }
template <typename T> static inline void __stcs(T *p, T value) { *p = value; }
template <typename T> static inline void __stcg(T *p, T value) { *p = value; }
ORACLE_QUIET static inline long long clock64() { return 0; }

// Textures hold zeros.
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
template <typename T, typename... Coordinates> ORACLE_QUIET T tex1Dfetch(cudaTextureObject_t, Coordinates...) { return T(); }
template <typename T, typename... Coordinates> ORACLE_QUIET T tex1D(cudaTextureObject_t, Coordinates...) { return T(); }
template <typename T, typename... Coordinates> ORACLE_QUIET T tex2D(cudaTextureObject_t, Coordinates...) { return T(); }
template <typename T, typename... Coordinates> ORACLE_QUIET T tex3D(cudaTextureObject_t, Coordinates...) { return T(); }

// ---- The host's side -----------------------------------------------------------------------------

typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
typedef enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault } cudaMemcpyKind;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };

template <typename T> static inline cudaError_t cudaMalloc(T **p, size_t bytes) {
    *p = static_cast<T *>(oracle::allocate(bytes));
    return cudaSuccess;
}
template <typename T> static inline cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned = 1) { return cudaMalloc(p, bytes); }
template <typename T> static inline cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0) { return cudaMalloc(p, bytes); }
ORACLE_QUIET static inline cudaError_t cudaFree(void *) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaFreeHost(void *) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) { memcpy(to, from, bytes); return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t = 0) { memcpy(to, from, bytes); return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaMemset(void *p, int value, size_t bytes) { memset(p, value, bytes); return cudaSuccess; }
template <typename T> ORACLE_QUIET static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
    memcpy(reinterpret_cast<char *>(&symbol) + offset, from, bytes);
    return cudaSuccess;
}
ORACLE_QUIET static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
ORACLE_QUIET static inline const char *cudaGetErrorString(cudaError_t) { return "no error"; }
template <typename F> static inline cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; }
template <typename F> static inline cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
ORACLE_QUIET static inline const char *cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 4 };
template <typename T> ORACLE_QUIET static inline cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned) { return cudaMalloc(p, bytes); }
template <typename T> ORACLE_QUIET static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(p, *pitch * height);
}
ORACLE_QUIET static inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind) {
    for (size_t row = 0; row < height; row++) {
        memcpy(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
    }
    return cudaSuccess;
}
template <typename T> ORACLE_QUIET static inline cudaError_t cudaMemcpyFromSymbol(void *to, T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    memcpy(to, reinterpret_cast<const char *>(&symbol) + offset, bytes);
    return cudaSuccess;
}
ORACLE_QUIET static inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t = 0) { return cudaMemset(p, value, bytes); }
ORACLE_QUIET static inline cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = 0; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { *event = 0; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) { *milliseconds = 1; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = 0; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
ORACLE_QUIET static inline cudaError_t cudaDeviceReset() { return cudaSuccess; }

struct cudaDeviceProp {
    char name[256] = "host";
    size_t totalGlobalMem = size_t(1) << 34, sharedMemPerBlock = 49152, totalConstMem = 65536, sharedMemPerMultiprocessor = 233472;
    int regsPerBlock = 65536, warpSize = 32, maxThreadsPerBlock = 1024, maxThreadsPerMultiProcessor = 2048;
    int maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {2147483647, 65535, 65535};
    int clockRate = 1000000, memoryClockRate = 1000000, memoryBusWidth = 5120, major = 9, minor = 0;
    int multiProcessorCount = 132, l2CacheSize = 50 << 20, deviceOverlap = 1, integrated = 0, canMapHostMemory = 1;
    int computeMode = 0, concurrentKernels = 1, ECCEnabled = 1, asyncEngineCount = 1, unifiedAddressing = 1;
};
ORACLE_QUIET static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) { *properties = cudaDeviceProp(); return cudaSuccess; }
