// Half precision, for a C++ compiler on the host: 16 bits in memory, computed as float.
#pragma once
#include "cuda_runtime.h"

struct __half {
    unsigned short bits;
    __half() = default;
    ORACLE_QUIET __half(float value) : bits(narrowed(value)) {}
    ORACLE_QUIET operator float() const { return widened(bits); }
    ORACLE_QUIET __half &operator+=(float value) { return *this = __half(float(*this) + value); }
    ORACLE_QUIET __half &operator*=(float value) { return *this = __half(float(*this) * value); }

  private:
    // Without subnormal numbers: they do not matter to where something is accessed.
    ORACLE_QUIET static unsigned short narrowed(float value) {
        unsigned u = __float_as_uint(value);
        int exponent = int(u >> 23 & 255) - 112;
        unsigned sign = u >> 16 & 0x8000;
        if (exponent <= 0) return sign;
        if (exponent >= 31) return sign | 0x7c00;
        return sign | exponent << 10 | (u >> 13 & 0x3ff);
    }
    ORACLE_QUIET static float widened(unsigned short h) {
        unsigned exponent = h >> 10 & 31;
        return __uint_as_float((h & 0x8000u) << 16 | (exponent ? (exponent + 112) << 23 | (h & 0x3ffu) << 13 : 0));
    }
};
typedef __half half;
struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;

ORACLE_QUIET static inline __half __float2half(float value) { return __half(value); }
ORACLE_QUIET static inline __half __float2half_rn(float value) { return __half(value); }
ORACLE_QUIET static inline float __half2float(__half value) { return value; }
ORACLE_QUIET static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
ORACLE_QUIET static inline __half2 make_half2(__half x, __half y) { return {x, y}; }
ORACLE_QUIET static inline float2 __half22float2(__half2 v) { return make_float2(v.x, v.y); }
ORACLE_QUIET static inline __half __low2half(__half2 v) { return v.x; }
ORACLE_QUIET static inline __half __high2half(__half2 v) { return v.y; }
ORACLE_QUIET static inline __half __hadd(__half a, __half b) { return __half(float(a) + float(b)); }
ORACLE_QUIET static inline __half __hmul(__half a, __half b) { return __half(float(a) * float(b)); }
ORACLE_QUIET static inline __half __hfma(__half a, __half b, __half c) { return __half(float(a) * float(b) + float(c)); }
ORACLE_QUIET static inline __half2 __hadd2(__half2 a, __half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
ORACLE_QUIET static inline __half2 __float2half2_rn(float value) { return {__half(value), __half(value)}; }
ORACLE_QUIET static inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
ORACLE_QUIET static inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
ORACLE_QUIET static inline __half2 __half2half2(__half x) { return {x, x}; }
ORACLE_QUIET static inline float __low2float(__half2 v) { return v.x; }
ORACLE_QUIET static inline float __high2float(__half2 v) { return v.y; }
ORACLE_QUIET static inline __half __int2half_rn(int value) { return __half(float(value)); }
ORACLE_QUIET static inline int __half2int_rz(__half value) { return int(float(value)); }
ORACLE_QUIET static inline int __half2int_rn(__half value) { return int(nearbyintf(float(value))); }

#define ORACLE_HALF_OF_ONE(NAME, EXPRESSION)                                                                           \
    ORACLE_QUIET static inline __half NAME(__half a) { float x = a; return __half(EXPRESSION); }
ORACLE_HALF_OF_ONE(hexp, expf(x))
ORACLE_HALF_OF_ONE(hlog, logf(x))
ORACLE_HALF_OF_ONE(hsqrt, sqrtf(x))
ORACLE_HALF_OF_ONE(hrsqrt, 1 / sqrtf(x))
ORACLE_HALF_OF_ONE(hrcp, 1 / x)
ORACLE_HALF_OF_ONE(__hneg, -x)
ORACLE_HALF_OF_ONE(__habs, fabsf(x))

// Of halves, and of each half of two pairs.
#define ORACLE_HALF_OF_TWO(NAME, EXPRESSION)                                                                           \
    ORACLE_QUIET static inline __half NAME(__half a, __half b) { float x = a, y = b; return __half(EXPRESSION); }      \
    ORACLE_QUIET static inline __half2 NAME##2(__half2 a, __half2 b) { return {NAME(a.x, b.x), NAME(a.y, b.y)}; }
ORACLE_HALF_OF_TWO(__hsub, x - y)
ORACLE_HALF_OF_TWO(__hdiv, x / y)
ORACLE_HALF_OF_TWO(__hmax, x < y ? y : x)
ORACLE_HALF_OF_TWO(__hmin, y < x ? y : x)
ORACLE_QUIET static inline __half2 __hmul2(__half2 a, __half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
ORACLE_QUIET static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
ORACLE_QUIET static inline bool __hgt(__half a, __half b) { return float(a) > float(b); }
ORACLE_QUIET static inline bool __hlt(__half a, __half b) { return float(a) < float(b); }
