// Cooperative groups of one block, for a C++ compiler on the host.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
  public:
    ORACLE_AT_CALLER void sync() const { sync_at(ORACLE_PLACE); }
    ORACLE_QUIET void sync_at(void *place) const { oracle::sync_threads(0, place); }
    ORACLE_QUIET unsigned thread_rank() const { return oracle::linear_thread(); }
    ORACLE_QUIET unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    ORACLE_QUIET unsigned num_threads() const { return size(); }
    ORACLE_QUIET dim3 thread_index() const { return threadIdx; }
    ORACLE_QUIET dim3 group_index() const { return blockIdx; }
    ORACLE_QUIET dim3 dim_threads() const { return blockDim; }
    ORACLE_QUIET dim3 group_dim() const { return blockDim; }
};
ORACLE_QUIET static inline thread_block this_thread_block() { return {}; }

// The threads of a tile; none of any other group.
template <typename Group> struct threads_of_tile { static constexpr unsigned value = 0; };

template <unsigned Size, typename Parent = void> class thread_block_tile {
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0, "a tile is a part of a warp");

  public:
    thread_block_tile() = default;
    // The lanes that take part: nothing that CUDA has.
    ORACLE_QUIET unsigned mask() const {
        unsigned lanes = Size == 32 ? ~0u : (1u << Size % 32) - 1;
        return lanes << (oracle::lane() & ~int(Size - 1));
    }
    // Which group it is a part of makes no difference.
    template <typename Other> ORACLE_QUIET thread_block_tile(const thread_block_tile<Size, Other> &) {}
    ORACLE_AT_CALLER void sync() const { sync_at(ORACLE_PLACE); }
    ORACLE_QUIET void sync_at(void *place) const { oracle::sync_warp(mask(), place); }
    ORACLE_QUIET unsigned thread_rank() const { return oracle::lane() % Size; }
    ORACLE_QUIET static constexpr unsigned size() { return Size; }
    ORACLE_QUIET static constexpr unsigned num_threads() { return Size; }
    // Of the group that it is a part of.
    ORACLE_QUIET unsigned meta_group_rank() const {
        unsigned around = threads_of_tile<Parent>::value;
        return (around ? oracle::linear_thread() % around : oracle::linear_thread()) / Size;
    }
    ORACLE_QUIET unsigned meta_group_size() const {
        unsigned around = threads_of_tile<Parent>::value;
        return (around ? around : this_thread_block().size()) / Size;
    }
    template <typename T> ORACLE_AT_CALLER T shfl(T value, int source) const {
        int first = oracle::lane() & ~int(Size - 1);
        return oracle::exchanged(mask(), value, first | (source & int(Size - 1)), ORACLE_PLACE);
    }
    template <typename T> ORACLE_AT_CALLER T shfl_down(T value, unsigned delta) const {
        int lane = oracle::lane(), source = lane + int(delta);
        return oracle::exchanged(mask(), value, source > (lane | int(Size - 1)) ? lane : source, ORACLE_PLACE);
    }
    template <typename T> ORACLE_AT_CALLER T shfl_up(T value, unsigned delta) const {
        int lane = oracle::lane(), source = lane - int(delta);
        return oracle::exchanged(mask(), value, source < (lane & ~int(Size - 1)) ? lane : source, ORACLE_PLACE);
    }
    template <typename T> ORACLE_AT_CALLER T shfl_xor(T value, unsigned other) const {
        return oracle::exchanged(mask(), value, oracle::lane() ^ int(other), ORACLE_PLACE);
    }
    ORACLE_AT_CALLER unsigned ballot(int p) const {
        return oracle::ballot(mask(), p != 0, ORACLE_PLACE) >> (oracle::lane() & ~int(Size - 1));
    }
    ORACLE_AT_CALLER int any(int p) const { return oracle::ballot(mask(), p != 0, ORACLE_PLACE) != 0; }
    ORACLE_AT_CALLER int all(int p) const { return oracle::ballot(mask(), p == 0, ORACLE_PLACE) == 0; }
};

template <unsigned Size, typename Parent> struct threads_of_tile<thread_block_tile<Size, Parent>> {
    static constexpr unsigned value = Size;
};
template <unsigned Size, typename Parent> ORACLE_QUIET thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    return {};
}

// The lanes that arrived together.
class coalesced_group {
    unsigned mask;

  public:
    ORACLE_QUIET explicit coalesced_group(unsigned mask) : mask(mask) {}
    ORACLE_AT_CALLER void sync() const { sync_at(ORACLE_PLACE); }
    ORACLE_QUIET void sync_at(void *place) const { oracle::sync_warp(mask, place); }
    ORACLE_QUIET unsigned thread_rank() const { return __builtin_popcount(mask & ((1u << oracle::lane()) - 1)); }
    ORACLE_QUIET unsigned size() const { return __builtin_popcount(mask); }
    template <typename T> ORACLE_AT_CALLER T shfl(T value, int source) const {
        int lane = 0;
        for (; lane < 32; lane++) {
            if (mask >> lane & 1 && source-- == 0) break;
        }
        return oracle::exchanged(mask, value, lane, ORACLE_PLACE);
    }
};
ORACLE_AT_CALLER static inline coalesced_group coalesced_threads() {
    return coalesced_group(oracle::active_mask(ORACLE_PLACE));
}

// One block runs; a barrier of the grid is one of it.
class grid_group {
  public:
    ORACLE_AT_CALLER void sync() const { sync_at(ORACLE_PLACE); }
    ORACLE_QUIET void sync_at(void *place) const { oracle::sync_threads(0, place); }
    ORACLE_QUIET unsigned thread_rank() const {
        return (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) * this_thread_block().size() +
               oracle::linear_thread();
    }
    ORACLE_QUIET unsigned size() const { return gridDim.x * gridDim.y * gridDim.z * this_thread_block().size(); }
};
ORACLE_QUIET static inline grid_group this_grid() { return {}; }

template <typename T> struct plus {
    ORACLE_QUIET T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct greater {
    ORACLE_QUIET T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T> struct less {
    ORACLE_QUIET T operator()(T a, T b) const { return b < a ? b : a; }
};
template <unsigned Size, typename Parent, typename T, typename Op>
ORACLE_AT_CALLER T reduce(const thread_block_tile<Size, Parent> &tile, T value, Op op) {
    for (unsigned step = Size / 2; step > 0; step /= 2) {
        T other = oracle::exchanged(tile.mask(), value, oracle::lane() ^ int(step), ORACLE_PLACE);
        value = op(value, other);
    }
    return value;
}

template <typename Group> ORACLE_AT_CALLER void sync(const Group &group) { group.sync_at(ORACLE_PLACE); }

} // namespace cooperative_groups
