// What differs between GCC, Clang and MSVC; Linux, macOS and Windows. The rest is standard C++20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#elif defined(_WIN32)
#include <filesystem>
#endif

// SPARSEMATCH_PREFETCH(place) to read, SPARSEMATCH_PREFETCH(place, 1) to write. A macro, as GCC
// drops some calls of functions that only prefetch (decision 0005).
// SPARSEMATCH_INLINE is put before a function, or after the parameters of a lambda, where Clang
// takes no attribute in brackets.
#if defined(__clang__)
#define SPARSEMATCH_PREFETCH __builtin_prefetch
#define SPARSEMATCH_INLINE __attribute__((always_inline))
#define SPARSEMATCH_NOINLINE [[gnu::noinline]]
#elif defined(__GNUC__)
#define SPARSEMATCH_PREFETCH __builtin_prefetch
#define SPARSEMATCH_INLINE [[gnu::always_inline]]
#define SPARSEMATCH_NOINLINE [[gnu::noinline]]
#else
#include <intrin.h>
#if defined(_M_ARM64)
#define SPARSEMATCH_PREFETCH(place, ...) __prefetch(place)
#else
#define SPARSEMATCH_PREFETCH(place, ...) \
    _mm_prefetch(reinterpret_cast<const char*>(place), _MM_HINT_T0)
#endif
#define SPARSEMATCH_INLINE [[msvc::forceinline]]
#define SPARSEMATCH_NOINLINE [[msvc::noinline]]
#endif

// Before a function whose loops a compiler turns into vector instructions: those of the processor
// at hand, if it has wider ones than all have. None are fused, so that results are the same.
// Resolving the choice needs glibc, and is in the way of sanitizers.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(SPARSEMATCH_CHECKS)
#define SPARSEMATCH_WIDE [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define SPARSEMATCH_WIDE
#endif

// Ends the process where an invariant does not hold, in builds that check them: with sanitizers, or
// -DSPARSEMATCH_CHECKS=ON. Elsewhere the condition is compiled and never evaluated.
#if defined(SPARSEMATCH_CHECKS)
#define SPARSEMATCH_ASSERT(...) \
    ((__VA_ARGS__) ? void() : sparsematch::violated(#__VA_ARGS__, __FILE__, __LINE__))
namespace sparsematch {
inline constexpr bool checks_invariants = true;
}
#else
#define SPARSEMATCH_ASSERT(...) static_cast<void>(sizeof(!(__VA_ARGS__)))
namespace sparsematch {
inline constexpr bool checks_invariants = false;
}
#endif

namespace sparsematch {

[[noreturn]] inline void violated(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    std::abort();
}

struct WideProduct {
    std::uint64_t low, high;
};

// All 128 bits of x * y.
inline WideProduct multiply_wide(std::uint64_t x, std::uint64_t y) {
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(x) * y;
    return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
    return {x * y, __umulh(x, y)};
#else
    const std::uint64_t half = 0xffffffffu;
    const std::uint64_t low = (x & half) * (y & half);
    const std::uint64_t cross = (x >> 32) * (y & half) + (low >> 32);
    const std::uint64_t other = (x & half) * (y >> 32) + (cross & half);
    return {x * y, (x >> 32) * (y >> 32) + (cross >> 32) + (other >> 32)};
#endif
}

// Tells the core that a loop waits for another thread: some 40 to 140 cycles.
inline void spin_pause() {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_pause();
#elif defined(_MSC_VER)
    __yield();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Moves a thread that is starting off its creator's core, where schedulers that pack threads (of
// virtual machines) leave it until the next tick, 4 ms, or until the creator waits.
inline void move_off_this_core([[maybe_unused]] std::thread& thread) {
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    cpu_set_t others = allowed;
    CPU_CLR(sched_getcpu(), &others);
    for (const cpu_set_t* set : {&others, &allowed})  // refused where there is no other
        pthread_setaffinity_np(thread.native_handle(), sizeof *set, set);
#endif
}

// Asks for huge pages where the system has them on request.
inline void request_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

// Pages of their own, which grow and shrink without a copy; without data, new ones. Null: there are
// none left. Of systems without such, as std::realloc.
inline void* resize_pages(void* data, [[maybe_unused]] std::size_t before, std::size_t bytes) {
#if defined(__linux__)
    constexpr int own = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const moved = data ? mremap(data, before, bytes, MREMAP_MAYMOVE)
                             : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, own, -1, 0);
    return moved == MAP_FAILED ? nullptr : moved;
#else
    return std::realloc(data, bytes);
#endif
}
inline void free_pages(void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    munmap(data, bytes);
#else
    std::free(data);
#endif
}

// As std::fopen; the path is UTF-8 on Windows.
inline std::FILE* open_file(const char* path, const char* mode) {
#if defined(_WIN32)
    const auto wide = [](const char* text) {
        return std::filesystem::path(reinterpret_cast<const char8_t*>(text)).wstring();
    };
    return _wfopen(wide(path).c_str(), wide(mode).c_str());
#else
    return std::fopen(path, mode);
#endif
}

// Goes to a byte of a file, which may be larger than a long can say. False if it fails.
inline bool seek_file(std::FILE* file, std::int64_t place) {
#if defined(_WIN32)
    return _fseeki64(file, place, SEEK_SET) == 0;
#else
    return fseeko(file, static_cast<off_t>(place), SEEK_SET) == 0;
#endif
}

}  // namespace sparsematch
