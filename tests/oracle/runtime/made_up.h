// What does a kernel get whose program does not run?
//
// Each pointer leads to memory of its own that holds small numbers, whatever type they are read as. Each number is
// the size that is tried. What is passed as a class is all zeros.
#pragma once

#include "runtime.h"

#include <sys/mman.h>

#include <type_traits>

namespace oracle {

constexpr size_t kMadeUpBytes = size_t(8) << 20;
constexpr size_t kMadeUpMargin = size_t(64) << 20;
inline size_t made_up_size = 0;
inline char *made_up_memory[48];

// Private to each launch, which is a process of its own: all of them begin with the same data.
ORACLE_QUIET inline void make_up() {
    for (char *&memory : made_up_memory) {
        void *whole = mmap(nullptr, kMadeUpBytes + 2 * kMadeUpMargin, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        memory = static_cast<char *>(whole) + kMadeUpMargin;
    }
    // Far enough for what the sizes that are tried can reach.
    for (char *memory : made_up_memory) {
        for (unsigned i = 0; i < (1u << 16); i++) reinterpret_cast<unsigned *>(memory)[i] = i % 3;
    }
}

// The argument of this number.
struct MadeUp {
    int number;
    template <typename T> ORACLE_QUIET operator T *() const {
        return reinterpret_cast<T *>(made_up_memory[number]);
    }
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> ORACLE_QUIET operator T() const {
        return T(made_up_size);
    }
    template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> ORACLE_QUIET operator T() const {
        return T(1);
    }
    template <typename T, std::enable_if_t<std::is_class_v<T> || std::is_enum_v<T>, int> = 0>
    ORACLE_QUIET operator T() const {
        alignas(T) char bytes[sizeof(T)] = {};
        return reinterpret_cast<const T &>(bytes);
    }
};

} // namespace oracle
