// What may a kernel that runs on the host ask of the one who runs it?
//
// The other side of this interface is runtime.cpp. The headers in ../cuda spell it as CUDA does.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Neither recorded nor counted as a step: part of the machinery, not of the program.
#define ORACLE_QUIET __attribute__((no_sanitize("thread", "bounds", "undefined"), no_sanitize_coverage))
// The same for a function whose caller is the place that is recorded.
#define ORACLE_AT_CALLER ORACLE_QUIET __attribute__((noinline))

namespace oracle {

// Three numbers, as a launch gives them.
struct Extent {
    unsigned x, y, z;
};

// What a thread does at a place that is not a plain load or store.
enum class AtomicOp : unsigned char { Add, Sub, Min, Max, And, Or, Xor, Exchange, CompareAndSwap, Increment, Decrement };

// Runs one block: the middle one of the grid. `body(context)` is what one thread does.
void launch_block(const char *kernel, const char *file, int line, Extent grid, Extent block, size_t dynamic_bytes,
                  void (*body)(void *), void *context);

// Barrier of the whole block; the number of threads for which `predicate` holds.
int sync_threads(int predicate, const void *place);
// Barrier of the lanes in `mask`; orders their accesses.
void sync_warp(unsigned mask, const void *place);
// The lanes of `mask` for which `predicate` holds.
unsigned ballot(unsigned mask, bool predicate, const void *place);
// The value that lane `source` of the same warp brings; orders nothing.
uint64_t exchange(unsigned mask, uint64_t value, int source, const void *place);
// The lanes that arrived at this place together.
unsigned active_mask(const void *place);
// The lane's number in its warp.
int lane();
// Threads of the block, `x` fastest.
unsigned linear_thread();

// Records an atomic operation, or a copy that hardware makes into shared memory.
void record_atomic(const volatile void *address, size_t bytes, AtomicOp op, bool value_is_one, const void *place);
void record_async_copy(const volatile void *address, size_t bytes, const void *place);

// Zeroed memory with a wide margin on both sides.
void *allocate(size_t bytes);

} // namespace oracle
