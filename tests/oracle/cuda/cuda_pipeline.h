// Copies into shared memory that hardware makes, for a C++ compiler on the host. They are done at once.
#pragma once
#include "cuda_runtime.h"

ORACLE_AT_CALLER static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
    oracle::record_async_copy(to, bytes, ORACLE_PLACE);
    __builtin_memcpy(to, from, bytes - zeros);
    __builtin_memset(static_cast<char *>(to) + bytes - zeros, 0, zeros);
}
static inline void __pipeline_commit() {}
static inline void __pipeline_wait_prior(size_t) {}
