// How does a block of threads run on the host, and what did each of its threads touch?
//
// The kernel is compiled with -fsanitize=thread, -fsanitize-coverage=trace-pc and -fsanitize=bounds,
// but linked with the functions below instead of the sanitizers' own. So every load, every store,
// every basic block and every subscript that leaves its array calls us, with its address.
//
// Each thread is a fiber. It runs until it waits at a barrier or for its warp, or ends. What it did is a
// list of events; when the block has ended, the lists of a warp's lanes are merged into one: again and
// again, the lanes whose next event comes first in program order take it together. First in program
// order is the smallest path of call sites, then the smallest program counter. Unoptimised code lies in
// memory in the order in which it was written, so lanes that are behind catch up before the others go
// on, as they do where branches meet again.
//
// The result goes to the file that ORACLE_TRACE names; `trace.rs` reads it and describes the format.
// With ORACLE_ONCE in the environment, a launch that was made before is not made again. With ORACLE_FORK each
// launch is a process of its own, so that one that fails or does not end leaves the others alone.
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

// What the compiler provides in a kernel. Set whenever another thread goes on.
extern oracle::Extent oracle_thread_index asm("oracle_threadIdx");
extern oracle::Extent oracle_block_index asm("oracle_blockIdx");
extern oracle::Extent oracle_block_extent asm("oracle_blockDim");
extern oracle::Extent oracle_grid_extent asm("oracle_gridDim");
oracle::Extent oracle_thread_index, oracle_block_index, oracle_block_extent, oracle_grid_extent;

// Every array in shared memory is aligned to this (see cuda_runtime.h) and has such a stretch to itself,
// so that an access that leaves its array meets nothing else. The linker sorts by alignment: first what
// stands here with a greater one, then the arrays, then the tail, as this file is linked last.
constexpr size_t kSlot = 1 << 18;
extern "C" {
alignas(4 * kSlot) char oracle_dynamic_area[4 * kSlot];
alignas(kSlot) char oracle_tail[kSlot];
}
// All `extern __shared__` arrays are this symbol: behind a margin, one stretch long, before another margin.
asm(".globl oracle_dynamic\n.set oracle_dynamic, oracle_dynamic_area + 262144\n");
constexpr size_t kDynamicOffset = kSlot;

namespace oracle {
namespace {

constexpr int kWarp = 32;
constexpr size_t kStackBytes = 256 << 10;
// Loads, stores and basic blocks of all threads together. A launch that takes more is given up.
constexpr uint64_t kMostEvents = 48'000'000;
// The same, and seconds, of a launch that may not end because of a fault.
constexpr uint64_t kMostForkedEvents = 16'000'000;
constexpr unsigned kMostForkedSeconds = 3;

// Numbers of `trace.rs`.
enum Kind : uint8_t {
    kBlock = 0, // a basic block: only there to put lanes in order, never written out
    kLoad = 1,
    kStore = 2,
    kAtomic = 3,
    kAsyncCopy = 4,
    kBarrier = 5,
    kWarpSync = 6,
    kWarpOp = 7,
    kSubscript = 8,
    kUndefined = 9,
    kMisaligned = 10,
};
enum Flag : uint8_t {
    kWhole = 1,    // a class or an array as a whole, or a wide access of unknown alignment
    kVolatile = 2,
    kValueIsOne = 4,
    kNotAll = 8,   // a warp-wide operation that went on without all lanes of its mask
    kNoSource = 16, // a shuffle from a lane that does not take part
};

struct Event {
    uint32_t pc;
    uint32_t path;
    // An address; for kSubscript the index; for warp-wide operations the mask.
    uint32_t address;
    uint16_t bytes;
    Kind kind;
    uint8_t flags; // of kAtomic, the operation is in the upper four bits
};

// Where a call was made from, and the path to there. Path 0 is the launch.
struct Path {
    uint32_t parent;
    uint32_t return_address;
    uint32_t depth;
};

struct Frame {
    uint32_t path;
    const void *frame;
};

enum class Waits : uint8_t { No, Block, WarpSync, Ballot, Exchange, ActiveMask };

struct Fiber {
    ucontext_t context;
    void *stack = nullptr;
    unsigned number = 0;
    Extent index{};
    bool done = false;
    Waits waits = Waits::No;
    unsigned mask = 0;
    uint64_t value = 0;
    int source = 0;
    bool predicate = false;
    uint64_t result = 0;
    // The event with which it began to wait.
    uint32_t waiting_event = 0;
    std::vector<Frame> frames;
    std::vector<Event> events;
};

// A subscript that left its array, as the compiler describes it.
struct SourceLocation {
    const char *file;
    uint32_t line, column;
};
struct TypeDescriptor {
    uint16_t kind, info;
    char name[1];
};
struct OutOfBoundsData {
    SourceLocation location;
    const TypeDescriptor *array, *index;
};

Fiber *current = nullptr;
ucontext_t scheduler;
std::vector<Fiber *> pool;
unsigned threads = 0;
void (*kernel_body)(void *);
void *kernel_context;
std::vector<Path> paths;
std::unordered_map<uint64_t, uint32_t> path_numbers;
std::vector<const OutOfBoundsData *> subscripts;
uint64_t event_count = 0, most_events = kMostEvents;
bool too_long = false;
FILE *trace = nullptr;

uintptr_t shared_begin() { return reinterpret_cast<uintptr_t>(oracle_dynamic_area); }
uintptr_t shared_end() { return reinterpret_cast<uintptr_t>(oracle_tail) + sizeof oracle_tail; }

uint32_t narrow(const volatile void *address) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)); }

uint32_t path_below(uint32_t parent, uint32_t return_address) {
    uint64_t key = uint64_t(parent) << 32 | return_address;
    auto [entry, is_new] = path_numbers.try_emplace(key, uint32_t(paths.size()));
    if (is_new) {
        paths.push_back({parent, return_address, paths[parent].depth + 1});
    }
    return entry->second;
}

void give_up() {
    too_long = true;
    Fiber *fiber = current;
    swapcontext(&fiber->context, &scheduler);
}

void add(const void *pc, uint32_t address, size_t bytes, Kind kind, uint8_t flags) {
    if (++event_count > most_events) {
        give_up();
    }
    uint32_t path = current->frames.empty() ? 0 : current->frames.back().path;
    current->events.push_back({narrow(pc), path, address, uint16_t(bytes), kind, flags});
}

void touch(const void *pc, const volatile void *address, size_t bytes, Kind kind, uint8_t flags) {
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    if (current && at >= shared_begin() && at < shared_end()) {
        add(pc, narrow(address), bytes, kind, flags);
    }
}

// The fiber stops here until the scheduler has an answer.
uint64_t wait(Waits what, Kind kind, unsigned mask, const void *place) {
    Fiber *fiber = current;
    fiber->waits = what;
    fiber->mask = mask;
    fiber->waiting_event = uint32_t(fiber->events.size());
    add(place, mask, 0, kind, 0);
    swapcontext(&fiber->context, &scheduler);
    return fiber->result;
}

void fiber_main() {
    kernel_body(kernel_context);
    current->done = true;
    swapcontext(&current->context, &scheduler);
}

// Whether event `a` comes before `b` in program order: -1, 0 or 1.
int compare(const Event &a, const Event &b) {
    uint32_t x = a.path, y = b.path, last_x = a.pc, last_y = b.pc;
    auto up = [](uint32_t &path, uint32_t &last) {
        last = paths[path].return_address;
        path = paths[path].parent;
    };
    while (paths[x].depth > paths[y].depth) up(x, last_x);
    while (paths[y].depth > paths[x].depth) up(y, last_y);
    while (x != y) {
        up(x, last_x);
        up(y, last_y);
    }
    if (last_x != last_y) return last_x < last_y ? -1 : 1;
    // The same place on the shorter path: only equal if both paths are.
    if (a.path == b.path) return 0;
    return paths[a.path].depth < paths[b.path].depth ? -1 : 1;
}

void run(Fiber *fiber) {
    current = fiber;
    oracle_thread_index = fiber->index;
    swapcontext(&scheduler, &fiber->context);
    current = nullptr;
}

bool waits_for_warp(const Fiber &fiber) {
    return !fiber.done && fiber.waits != Waits::No && fiber.waits != Waits::Block;
}

// Answers the lanes of `group` (bits) of the warp that begins at `first`, and lets them go on.
void answer_warp(unsigned first, unsigned group, bool all) {
    unsigned ballot = 0;
    for (int lane = 0; lane < kWarp; lane++) {
        if (group >> lane & 1 && pool[first + lane]->predicate) ballot |= 1u << lane;
    }
    for (int lane = 0; lane < kWarp; lane++) {
        if (!(group >> lane & 1)) continue;
        Fiber &fiber = *pool[first + lane];
        switch (fiber.waits) {
        case Waits::Ballot: fiber.result = ballot & fiber.mask; break;
        case Waits::ActiveMask: fiber.result = group; break;
        case Waits::Exchange: {
            // From a lane that does not take part the value is undefined: one's own, here.
            bool there = fiber.source >= 0 && fiber.source < kWarp && (group >> fiber.source & 1);
            fiber.result = there ? pool[first + fiber.source]->value : fiber.value;
            if (!there) fiber.events[fiber.waiting_event].flags |= kNoSource;
            break;
        }
        default: break;
        }
        if (!all) fiber.events[fiber.waiting_event].flags |= kNotAll;
    }
    for (int lane = 0; lane < kWarp; lane++) {
        if (group >> lane & 1) pool[first + lane]->waits = Waits::No;
    }
}

// Lets lanes go on that wait for each other. Whether some did.
bool release_warp(unsigned first) {
    unsigned last = first + kWarp < threads ? first + kWarp : threads;
    unsigned alive = 0, waiting = 0;
    for (unsigned i = first; i < last; i++) {
        if (!pool[i]->done) alive |= 1u << (i - first);
        if (waits_for_warp(*pool[i])) waiting |= 1u << (i - first);
    }
    if (!waiting) return false;
    // All living lanes of a mask have come.
    for (unsigned i = first; i < last; i++) {
        const Fiber &one = *pool[i];
        if (!(waiting >> (i - first) & 1) || one.waits == Waits::ActiveMask) continue;
        unsigned group = 0;
        for (unsigned j = first; j < last; j++) {
            const Fiber &other = *pool[j];
            if (waiting >> (j - first) & 1 && other.waits == one.waits && other.mask == one.mask)
                group |= 1u << (j - first);
        }
        if ((one.mask & alive & ~group) == 0) {
            answer_warp(first, group, true);
            return true;
        }
    }
    // Some lanes will not come: those at the first place go on without them.
    const Event *first_event = nullptr;
    for (unsigned i = first; i < last; i++) {
        if (!(waiting >> (i - first) & 1)) continue;
        const Event &event = pool[i]->events[pool[i]->waiting_event];
        if (!first_event || compare(event, *first_event) < 0) first_event = &event;
    }
    unsigned group = 0;
    bool asks = true;
    for (unsigned i = first; i < last; i++) {
        if (!(waiting >> (i - first) & 1)) continue;
        const Fiber &fiber = *pool[i];
        if (compare(fiber.events[fiber.waiting_event], *first_event) == 0) {
            group |= 1u << (i - first);
            asks = asks && fiber.waits == Waits::ActiveMask;
        }
    }
    answer_warp(first, group, asks);
    return true;
}

// Lets the block go on if all that have not ended wait at its barrier.
void release_block() {
    uint64_t count = 0;
    for (unsigned i = 0; i < threads; i++) {
        if (!pool[i]->done && pool[i]->predicate) count++;
    }
    for (unsigned i = 0; i < threads; i++) {
        pool[i]->result = count;
        pool[i]->waits = Waits::No;
    }
}

void run_block() {
    for (;;) {
        bool alive = false, released = false;
        for (unsigned first = 0; first < threads; first += kWarp) {
            unsigned last = first + kWarp < threads ? first + kWarp : threads;
            do {
                for (unsigned i = first; i < last; i++) {
                    if (!pool[i]->done && pool[i]->waits == Waits::No) run(pool[i]);
                    if (too_long) return;
                }
                released = release_warp(first);
            } while (released);
            for (unsigned i = first; i < last; i++) alive = alive || !pool[i]->done;
        }
        if (!alive) return;
        release_block();
    }
}

void put(uint32_t word) { fwrite(&word, sizeof word, 1, trace); }

void put_text(const char *text) {
    uint32_t length = uint32_t(strlen(text));
    put(length);
    char padded[4] = {};
    fwrite(text, 1, length, trace);
    fwrite(padded, 1, (4 - length % 4) % 4, trace);
}

// Merges the events of a warp's lanes; writes one record for each that several lanes did together.
void write_warp(unsigned first) {
    unsigned lanes = first + kWarp < threads ? kWarp : threads - first;
    size_t at[kWarp] = {};
    uint32_t interval[kWarp] = {};
    for (;;) {
        int least = -1;
        for (unsigned lane = 0; lane < lanes; lane++) {
            const Fiber &fiber = *pool[first + lane];
            if (at[lane] >= fiber.events.size()) continue;
            if (least >= 0) {
                if (interval[lane] > interval[least]) continue;
                const Event &best = pool[first + least]->events[at[least]];
                if (interval[lane] == interval[least] && compare(fiber.events[at[lane]], best) >= 0) continue;
            }
            least = int(lane);
        }
        if (least < 0) return;
        const Event head = pool[first + least]->events[at[least]];
        const uint32_t head_interval = interval[least];
        uint32_t mask = 0, flags = 0xff, count = 0, addresses[kWarp];
        for (unsigned lane = 0; lane < lanes; lane++) {
            const Fiber &fiber = *pool[first + lane];
            if (at[lane] >= fiber.events.size() || interval[lane] != head_interval) continue;
            const Event &event = fiber.events[at[lane]];
            if (event.pc != head.pc || event.path != head.path || event.kind != head.kind) continue;
            mask |= 1u << lane;
            flags &= event.flags;
            addresses[count++] = event.address;
            at[lane]++;
            if (event.kind == kBarrier) interval[lane]++;
        }
        if (head.kind == kBlock) continue;
        put(uint32_t(head.kind) | flags << 8 | uint32_t(head.bytes) << 16);
        put(head.path);
        put(head.pc);
        put(head_interval);
        put(mask);
        fwrite(addresses, sizeof(uint32_t), count, trace);
    }
}

void write_trace(const char *kernel, const char *file, int line, size_t dynamic_bytes) {
    if (!trace) {
        const char *name = getenv("ORACLE_TRACE");
        trace = fopen(name ? name : "/dev/null", getenv("ORACLE_FORK") ? "ab" : "wb");
        if (!trace) {
            perror(name);
            exit(3);
        }
    }
    put(0x4c52434f); // "OCRL"
    put_text(kernel);
    put_text(file);
    put(uint32_t(line));
    for (Extent extent : {oracle_grid_extent, oracle_block_extent, oracle_block_index}) {
        put(extent.x);
        put(extent.y);
        put(extent.z);
    }
    put(uint32_t(shared_begin() + kDynamicOffset));
    put(uint32_t(dynamic_bytes));
    put(too_long);
    put(uint32_t(paths.size()));
    for (const Path &path : paths) {
        put(path.parent);
        put(path.return_address);
    }
    put(uint32_t(subscripts.size()));
    for (const OutOfBoundsData *data : subscripts) {
        put_text(data->array->name);
        put(data->location.line);
        put(data->location.column);
    }
    put((threads + kWarp - 1) / kWarp);
    for (unsigned first = 0; first < threads; first += kWarp) {
        if (!too_long) write_warp(first);
        put(0xffffffff);
    }
    fflush(trace);
}

void prepare(Fiber &fiber, unsigned number) {
    fiber.number = number;
    fiber.index = {number % oracle_block_extent.x, number / oracle_block_extent.x % oracle_block_extent.y,
                   number / (oracle_block_extent.x * oracle_block_extent.y)};
    fiber.done = false;
    fiber.waits = Waits::No;
    fiber.predicate = false;
    fiber.frames.clear();
    fiber.events.clear();
    if (!fiber.stack) {
        fiber.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, fiber_main, 0);
}

void run_launch(const char *kernel, const char *file, int line, Extent grid, Extent block, size_t dynamic_bytes,
                void (*body)(void *), void *context) {
    threads = block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || dynamic_bytes > kSlot) {
        fprintf(stderr, "%s:%d: a block of %u threads and %zu bytes cannot be launched\n", file, line, threads, dynamic_bytes);
        return;
    }
    oracle_grid_extent = grid;
    oracle_block_extent = block;
    oracle_block_index = {grid.x / 2, grid.y / 2, grid.z / 2};
    kernel_body = body;
    kernel_context = context;
    paths.assign(1, Path{0, 0, 0});
    path_numbers.clear();
    subscripts.clear();
    event_count = 0;
    too_long = false;
    // Shared memory begins as zeros, so that a run can be repeated.
    madvise(reinterpret_cast<void *>(shared_begin()), shared_end() - shared_begin(), MADV_DONTNEED);
    while (pool.size() < threads) pool.push_back(new Fiber);
    for (unsigned i = 0; i < threads; i++) prepare(*pool[i], i);
    run_block();
    // What is written is whole.
    alarm(0);
    write_trace(kernel, file, line, dynamic_bytes);
}

} // namespace

void launch_block(const char *kernel, const char *file, int line, Extent grid, Extent block, size_t dynamic_bytes,
                  void (*body)(void *), void *context) {
    // A program may launch the same many times, to measure it.
    static std::set<std::string> launched;
    if (getenv("ORACLE_ONCE")) {
        unsigned shape[] = {unsigned(line), grid.x, grid.y, grid.z, block.x, block.y, block.z, unsigned(dynamic_bytes)};
        if (!launched.emplace(std::string(kernel) + '\n' + std::string(reinterpret_cast<char *>(shape), sizeof shape)).second) return;
    }
    const bool forks = getenv("ORACLE_FORK");
    if (forks) {
        pid_t child = fork();
        if (child != 0) {
            if (child > 0) waitpid(child, nullptr, 0);
            return;
        }
        most_events = kMostForkedEvents;
        alarm(kMostForkedSeconds);
    }
    run_launch(kernel, file, line, grid, block, dynamic_bytes, body, context);
    if (forks) _exit(0);
}

int sync_threads(int predicate, const void *place) {
    current->predicate = predicate != 0;
    int count = int(wait(Waits::Block, kBarrier, 0, place));
    current->predicate = false;
    return count;
}

void sync_warp(unsigned mask, const void *place) { wait(Waits::WarpSync, kWarpSync, mask, place); }

unsigned ballot(unsigned mask, bool predicate, const void *place) {
    current->predicate = predicate;
    unsigned result = unsigned(wait(Waits::Ballot, kWarpOp, mask, place));
    current->predicate = false;
    return result;
}

uint64_t exchange(unsigned mask, uint64_t value, int source, const void *place) {
    current->value = value;
    current->source = source;
    return wait(Waits::Exchange, kWarpOp, mask, place);
}

unsigned active_mask(const void *place) { return unsigned(wait(Waits::ActiveMask, kWarpOp, 0, place)); }

int lane() { return int(current->number % kWarp); }
unsigned linear_thread() { return current->number; }

void record_atomic(const volatile void *address, size_t bytes, AtomicOp op, bool value_is_one, const void *place) {
    uint8_t flags = uint8_t(uint8_t(op) << 4 | (value_is_one ? kValueIsOne : 0));
    touch(place, address, bytes, kAtomic, flags);
}

void record_async_copy(const volatile void *address, size_t bytes, const void *place) {
    touch(place, address, bytes, kAsyncCopy, 0);
    // The hardware copies 4, 8 or 16 bytes to a multiple of as many.
    if (reinterpret_cast<uintptr_t>(address) % bytes != 0) touch(place, address, 0, kMisaligned, 0);
}

void *allocate(size_t bytes) {
    constexpr size_t kMargin = size_t(64) << 20;
    size_t whole = bytes + 2 * kMargin;
    // What one launch writes, another reads, be it in another process.
    const int sharing = getenv("ORACLE_FORK") ? MAP_SHARED : MAP_PRIVATE;
    void *memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(3);
    }
    return static_cast<char *>(memory) + kMargin;
}

} // namespace oracle

// ---- What the instrumented code calls ------------------------------------------------------------

#define PLACE __builtin_return_address(0)
using oracle::touch;

#define ORACLE_HOOKS(N)                                                                                                \
    void __tsan_read##N(void *p) { touch(PLACE, p, N, oracle::kLoad, 0); }                                             \
    void __tsan_write##N(void *p) { touch(PLACE, p, N, oracle::kStore, 0); }                                           \
    void __tsan_unaligned_read##N(void *p) { touch(PLACE, p, N, oracle::kLoad, oracle::kWhole); }                      \
    void __tsan_unaligned_write##N(void *p) { touch(PLACE, p, N, oracle::kStore, oracle::kWhole); }                    \
    void __tsan_volatile_read##N(void *p) { touch(PLACE, p, N, oracle::kLoad, oracle::kVolatile); }                    \
    void __tsan_volatile_write##N(void *p) { touch(PLACE, p, N, oracle::kStore, oracle::kVolatile); }                  \
    void __tsan_unaligned_volatile_read##N(void *p) { touch(PLACE, p, N, oracle::kLoad, oracle::kVolatile | oracle::kWhole); } \
    void __tsan_unaligned_volatile_write##N(void *p) { touch(PLACE, p, N, oracle::kStore, oracle::kVolatile | oracle::kWhole); }

extern "C" {
ORACLE_HOOKS(1)
ORACLE_HOOKS(2)
ORACLE_HOOKS(4)
ORACLE_HOOKS(8)
ORACLE_HOOKS(16)
void __tsan_read_range(void *p, size_t bytes) { touch(PLACE, p, bytes, oracle::kLoad, oracle::kWhole); }
void __tsan_write_range(void *p, size_t bytes) { touch(PLACE, p, bytes, oracle::kStore, oracle::kWhole); }
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

// The frame of the instrumented function: ours is right below it.
#define CALLER_FRAME (*static_cast<void *const *>(__builtin_frame_address(0)))

void __tsan_func_entry(void *return_address) {
    if (!oracle::current) return;
    auto &frames = oracle::current->frames;
    uint32_t parent = frames.empty() ? 0 : frames.back().path;
    frames.push_back({oracle::path_below(parent, oracle::narrow(return_address)), CALLER_FRAME});
}

void __tsan_func_exit() {
    if (oracle::current && !oracle::current->frames.empty()) oracle::current->frames.pop_back();
}

void __sanitizer_cov_trace_pc() {
    if (!oracle::current) return;
    // A function's last block comes after it has left its frame; nothing can happen there.
    auto &frames = oracle::current->frames;
    if (frames.empty() || frames.back().frame != CALLER_FRAME) return;
    oracle::add(PLACE, 0, 0, oracle::kBlock, 0);
}

void __ubsan_handle_out_of_bounds(void *data, unsigned long index) {
    if (!oracle::current) return;
    auto *known = static_cast<const oracle::OutOfBoundsData *>(data);
    size_t number = 0;
    while (number < oracle::subscripts.size() && oracle::subscripts[number] != known) number++;
    if (number == oracle::subscripts.size()) oracle::subscripts.push_back(known);
    oracle::add(PLACE, uint32_t(index), number, oracle::kSubscript, 0);
}

// Arithmetic that C++ leaves undefined: what comes after it proves nothing.
#define ORACLE_UNDEFINED(NAME)                                                                                         \
    void __ubsan_handle_##NAME(void *, unsigned long, unsigned long) {                                                 \
        if (oracle::current) oracle::add(PLACE, 0, 0, oracle::kUndefined, 0);                                          \
    }
// A pointer that is no multiple of what its type asks for; null is none of ours.
void __ubsan_handle_type_mismatch_v1(void *, unsigned long pointer) {
    touch(PLACE, reinterpret_cast<void *>(pointer), 0, oracle::kMisaligned, 0);
}

ORACLE_UNDEFINED(add_overflow)
ORACLE_UNDEFINED(sub_overflow)
ORACLE_UNDEFINED(mul_overflow)
ORACLE_UNDEFINED(divrem_overflow)
ORACLE_UNDEFINED(shift_out_of_bounds)
ORACLE_UNDEFINED(negate_overflow)
}
