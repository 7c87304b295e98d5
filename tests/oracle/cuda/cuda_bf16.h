// Brain floats, for a C++ compiler on the host: 16 bits in memory, computed as float.
#pragma once
#include "cuda_runtime.h"

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    ORACLE_QUIET __nv_bfloat16(float value) : bits(__float_as_uint(value) >> 16) {}
    ORACLE_QUIET operator float() const { return __uint_as_float(unsigned(bits) << 16); }
    ORACLE_QUIET __nv_bfloat16 &operator+=(float value) { return *this = __nv_bfloat16(float(*this) + value); }
};
typedef __nv_bfloat16 nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

ORACLE_QUIET static inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
ORACLE_QUIET static inline __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
ORACLE_QUIET static inline float __bfloat162float(__nv_bfloat16 value) { return value; }
ORACLE_QUIET static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
ORACLE_QUIET static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
