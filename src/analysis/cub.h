// Of `<cub/cub.cuh>`: what `exec` follows of its collectives. The methods are not here. Of a block that is no whole
// number of warps, nor a power of two, nothing is said: lanes that cannot shuffle have a storage of their own.
namespace cub {

inline constexpr int BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY = 0;
inline constexpr int BLOCK_REDUCE_RAKING = 1;
inline constexpr int BLOCK_REDUCE_WARP_REDUCTIONS = 2;
inline constexpr int BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC = 3;

inline constexpr int BLOCK_SCAN_RAKING = 0;
inline constexpr int BLOCK_SCAN_RAKING_MEMOIZE = 1;
inline constexpr int BLOCK_SCAN_WARP_SCANS = 2;

struct NoStorage { char nothing; };

// One item of each thread, in a segment for each lane that rakes; an odd number of items apart, or one or two.
template <class T, int Threads> struct alignas(16) RakingGrid {
  static constexpr int lanes = Threads < 32 ? Threads : 32;
  static constexpr int segment = (Threads + 31) / 32;
  T items[lanes * (segment > 2 && segment % 2 == 0 ? segment + 1 : segment)];
};

template <class T, int Warps> struct WarpReductions {
  cub::NoStorage warp_reduce[Warps];
  T warp_aggregates[Warps];
  T block_prefix;
};
template <class T, int Threads> struct RakingReduce {
  cub::RakingGrid<T, Threads> grid;
};
// The first warp keeps its items for itself, if there are others.
template <class T, int Threads> struct CommutativeReduce {
  struct Shared { cub::NoStorage warp_reduce; cub::RakingGrid<T, (Threads > 32 ? Threads - 32 : 1)> grid; };
  union Either { Shared others; cub::RakingGrid<T, Threads> grid; };
  Either either;
};
template <class T, int X, int Algorithm = 2, int Y = 1, int Z = 1, int Arch = 0> struct BlockReduce {
  using TempStorage = std::conditional_t<
      Algorithm == 2, cub::WarpReductions<T, (X * Y * Z + 31) / 32>,
      std::conditional_t<
          (Algorithm == 0 || Algorithm == 1) && (X * Y * Z % 32 == 0 || 32 % (X * Y * Z) == 0),
          std::conditional_t<Algorithm == 1, cub::RakingReduce<T, X * Y * Z>, cub::CommutativeReduce<T, X * Y * Z>>,
          cub::StorageOfBlock>>;
  TempStorage& storage;
};

template <class T, int Threads> struct RakingScan {
  cub::NoStorage warp_scan;
  cub::RakingGrid<T, Threads> grid;
  T block_aggregate;
};
// As large as if it were aligned to 32 bytes.
template <class T, int Warps> struct WarpScans {
  T warp_aggregates[Warps];
  cub::NoStorage warp_scan[Warps];
  T block_prefix;
};
template <class T, int Warps> struct alignas(16) WarpScansOfBlock {
  union Either { cub::WarpScans<T, Warps> scans; char all[(sizeof(cub::WarpScans<T, Warps>) + 31) / 32 * 32]; };
  Either either;
};
// Where warps are not whole, they are raked.
template <class T, int X, int Algorithm = 0, int Y = 1, int Z = 1, int Arch = 0> struct BlockScan {
  using TempStorage = std::conditional_t<
      Algorithm == 2 && X * Y * Z % 32 == 0, cub::WarpScansOfBlock<T, (X * Y * Z + 31) / 32>,
      std::conditional_t<X * Y * Z % 32 == 0 || 32 % (X * Y * Z) == 0, cub::RakingScan<T, X * Y * Z>, cub::StorageOfBlock>>;
  TempStorage& storage;
};

inline constexpr int BLOCK_LOAD_DIRECT = 0;
inline constexpr int BLOCK_LOAD_STRIPED = 1;
inline constexpr int BLOCK_LOAD_VECTORIZE = 2;
inline constexpr int BLOCK_LOAD_TRANSPOSE = 3;
inline constexpr int BLOCK_LOAD_WARP_TRANSPOSE = 4;
inline constexpr int BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED = 5;

inline constexpr int BLOCK_STORE_DIRECT = 0;
inline constexpr int BLOCK_STORE_STRIPED = 1;
inline constexpr int BLOCK_STORE_VECTORIZE = 2;
inline constexpr int BLOCK_STORE_TRANSPOSE = 3;
inline constexpr int BLOCK_STORE_WARP_TRANSPOSE = 4;
inline constexpr int BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED = 5;

// One more for each 32, where each thread has 8, 16, 32, ... of them.
template <class T, int Threads, int Items> struct alignas(16) ExchangedItems {
  static constexpr int all = Threads * Items;
  T items[Items > 4 && (Items & (Items - 1)) == 0 ? all + all / 32 : all];
};
template <class T, int X, int Items, bool Sliced = false, int Y = 1, int Z = 1, int Arch = 0> struct BlockExchange {
  using TempStorage = cub::ExchangedItems<T, (Sliced && X * Y * Z > 32 ? 32 : X * Y * Z), Items>;
  TempStorage& storage;
};
template <class T, int X, int Items, int Algorithm = 0, int Y = 1, int Z = 1, int Arch = 0> struct BlockLoad {
  using TempStorage = std::conditional_t<
      Algorithm == 0 || Algorithm == 1 || Algorithm == 2, cub::NoStorage,
      cub::ExchangedItems<T, (Algorithm == 5 && X * Y * Z > 32 ? 32 : X * Y * Z), Items>>;
  TempStorage& storage;
};
template <class T, int Threads, int Items> struct StoredItems {
  cub::ExchangedItems<T, Threads, Items> exchanged;
  int valid_items;
};
template <class T, int X, int Items, int Algorithm = 0, int Y = 1, int Z = 1, int Arch = 0> struct BlockStore {
  using TempStorage = std::conditional_t<
      Algorithm == 0 || Algorithm == 1 || Algorithm == 2, cub::NoStorage,
      cub::StoredItems<T, (Algorithm == 5 && X * Y * Z > 32 ? 32 : X * Y * Z), Items>>;
  TempStorage& storage;
};

// Where two items differ is told by one barrier, and keys are ranked behind some: of these only sizes are known.
template <class T, int Threads> struct EdgesOfItems {
  T first_items[Threads];
  T last_items[Threads];
};
template <class T, int X, int Y = 1, int Z = 1, int Arch = 0> struct BlockDiscontinuity {
  using TempStorage = cub::EdgesOfItems<T, X * Y * Z>;
  TempStorage& storage;
};
struct NullType { char nothing; };
template <class K, int Threads, int Items, class V, int Bits> struct RankedKeys {
  struct Ranks {
    unsigned counters[((1 << (Bits > 1 ? Bits - 1 : 0)) + 1) * Threads];
    cub::WarpScansOfBlock<unsigned, (Threads + 31) / 32> scan;
  };
  union Either {
    Ranks ranks;
    cub::ExchangedItems<K, Threads, Items> keys;
    cub::ExchangedItems<V, Threads, Items> values;
  };
  Either either;
};
template <class K, int X, int Items, class V = cub::NullType, int Bits = 4, bool Memoize = true, int Inner = 2,
          int Bank = 1, int Y = 1, int Z = 1, int Arch = 0>
struct BlockRadixSort {
  using TempStorage = std::conditional_t<X * Y * Z % 32 == 0 && Inner == 2 && Bank == 1,
                                         cub::RankedKeys<K, X * Y * Z, Items, V, Bits>, cub::StorageOfBlock>;
  TempStorage& storage;
};

// By shuffles, if the number of lanes is a power of two; nothing is said of the storage of others.
template <class T, int Lanes = 32, int Arch = 0> struct WarpReduce {
  using TempStorage = std::conditional_t<(Lanes & (Lanes - 1)) == 0, cub::NoStorage, StorageOfWarp>;
  TempStorage& storage;
};
template <class T, int Lanes = 32, int Arch = 0> struct WarpScan {
  using TempStorage = std::conditional_t<(Lanes & (Lanes - 1)) == 0, cub::NoStorage, StorageOfWarp>;
  TempStorage& storage;
};

template <class K, class V> struct KeyValuePair { K key; V value; };

// Operators without members.
struct Sum {};
struct Max {};
struct Min {};
struct ArgMax {};
struct ArgMin {};

}  // namespace cub
