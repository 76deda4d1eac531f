// The operations of device.cuh as threaded C++: a block is one thread, a warp has one lane, the
// grid is as many threads as a test starts. Each thread says which block it is (enter), then calls
// the kernel as a plain function.
#pragma once

#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <memory>

#define KERNEL extern "C" __attribute__((visibility("default"))) void
#define DEVICE inline
#define SHARED static thread_local
#define DYNAMIC_SHARED(words) static thread_local Bits words[232448 / sizeof(Bits)]
#define WARP 1
#define __restrict__ __restrict
#define __launch_bounds__(...)

typedef unsigned int Bits;
typedef unsigned long long Wide;

inline thread_local int host_block = 0;
inline int host_blocks = 1;
inline std::unique_ptr<std::barrier<>> host_barrier;

// Called once before a launch, by one thread.
extern "C" __attribute__((visibility("default"))) void host_launch(int blocks) {
    host_blocks = blocks;
    host_barrier = std::make_unique<std::barrier<>>(blocks);
}
// Called by each thread of the launch.
extern "C" __attribute__((visibility("default"))) void host_enter(int block) { host_block = block; }

DEVICE long long thread_index() { return host_block; }
DEVICE long long thread_count() { return host_blocks; }
DEVICE int block_index() { return host_block; }
DEVICE int block_count() { return host_blocks; }
DEVICE int thread_in_block() { return 0; }
DEVICE int threads_in_block() { return 1; }
DEVICE int lane_in_warp() { return 0; }
DEVICE int warp_in_block() { return 0; }
DEVICE int warps_in_block() { return 1; }

template <class T> DEVICE T load(const T* p) {
    return std::atomic_ref<T>(*const_cast<T*>(p)).load(std::memory_order_relaxed);
}
template <class T, class U> DEVICE void store(T* p, U value) {
    std::atomic_ref<T>(*p).store(static_cast<T>(value), std::memory_order_relaxed);
}
DEVICE Bits load_old(const Bits* p) { return load(p); }
template <class T> DEVICE T load_constant(const T* p) { return *p; }
DEVICE void prefetch(const void*) {}
DEVICE float as_number(Bits bits) { return std::bit_cast<float>(bits); }
DEVICE double as_number(Wide bits) { return std::bit_cast<double>(bits); }
DEVICE Wide as_bits(double number) { return std::bit_cast<Wide>(number); }
template <class T, class U, class V> DEVICE T compare_and_swap(T* p, U expected, V desired) {
    T old = static_cast<T>(expected);
    std::atomic_ref<T>(*p).compare_exchange_strong(old, static_cast<T>(desired),
                                                   std::memory_order_acq_rel);
    return old;
}
template <class T, class U> DEVICE T exchange(T* p, U value) {
    return std::atomic_ref<T>(*p).exchange(static_cast<T>(value), std::memory_order_acq_rel);
}
template <class T, class U> DEVICE T add(T* p, U value) {
    return std::atomic_ref<T>(*p).fetch_add(static_cast<T>(value), std::memory_order_acq_rel);
}
template <class T, class U> DEVICE T maximum(T* p, U value) {
    T old = load(p);
    while (old < static_cast<T>(value) &&
           !std::atomic_ref<T>(*p).compare_exchange_weak(old, static_cast<T>(value))) {
    }
    return old;
}
template <class T, class U> DEVICE T minimum(T* p, U value) {
    T old = load(p);
    while (old > static_cast<T>(value) &&
           !std::atomic_ref<T>(*p).compare_exchange_weak(old, static_cast<T>(value))) {
    }
    return old;
}
DEVICE Bits bit_or(Bits* p, Bits bits) {
    return std::atomic_ref<Bits>(*p).fetch_or(bits, std::memory_order_acq_rel);
}
DEVICE Bits bit_and(Bits* p, Bits bits) {
    return std::atomic_ref<Bits>(*p).fetch_and(bits, std::memory_order_acq_rel);
}

DEVICE void sync_block() {}
DEVICE bool any_in_block(bool mine) { return mine; }
DEVICE void sync_warp() {}
DEVICE Bits ballot(bool mine) { return mine; }
DEVICE int count_bits(Bits set) { return __builtin_popcount(set); }
DEVICE int count_lanes_before(Bits) { return 0; }
template <class T> DEVICE T broadcast(T value, int) { return value; }
template <class T> DEVICE T across(T value, int) { return value; }
DEVICE Wide least_in_warp(Wide value) { return value; }

template <class T, class Count> DEVICE void push(T* queue, Count* count, T value, bool wanted) {
    if (wanted) queue[add(count, Count{1})] = value;
}

template <int N, class Count>
DEVICE void draw_each(Count* count, const bool (&wanted)[N], Count (&numbers)[N]) {
    for (int u = 0; u < N; ++u)
        if (wanted[u]) numbers[u] = add(count, Count{1});
}
template <int N, class T, class Count>
DEVICE void push_each(T* queue, Count* count, const T (&values)[N], const bool (&wanted)[N]) {
    for (int u = 0; u < N; ++u) push(queue, count, values[u], wanted[u]);
}

template <class T> DEVICE T draw_number(T* counts, T at) { return add(counts + at, T{1}); }

DEVICE void sync_grid(int*) { host_barrier->arrive_and_wait(); }
DEVICE Wide sum_over_grid(Wide* word, Wide before, Wide mine) {
    add(word, mine + 1);
    host_barrier->arrive_and_wait();
    return load(word) - before;
}
