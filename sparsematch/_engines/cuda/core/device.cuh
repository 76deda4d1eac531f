// Device operations, spelled once.
//
// A kernel compiles in two ways: by NVRTC for a GPU, and as threaded C++ where SPARSEMATCH_HOST is
// defined (one thread a block, one lane a warp), so that tests and sanitizers run it without a GPU.
// So it uses only these operations, works with blocks of any size, and lets no thread leave before
// a barrier that others reach. Index is int or long long, by the compiler's command line.
#pragma once

#define UNMATCHED (static_cast<Index>(-1))

#ifdef SPARSEMATCH_HOST
#include "host.hpp"
#else

#define KERNEL extern "C" __global__ void
#define DEVICE __device__ __forceinline__
#define SHARED __shared__
// Words of shared memory, as many as the launch asks for.
#define DYNAMIC_SHARED(words) extern __shared__ Bits words[]
#define WARP 32

typedef unsigned int Bits;
typedef unsigned long long Wide;

// ---- Position of a thread. Loops over n items stride by the whole grid: for (i = thread_index();
// i < n; i += thread_count())
DEVICE long long thread_index() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
DEVICE long long thread_count() { return gridDim.x * (long long)blockDim.x; }
DEVICE int block_index() { return blockIdx.x; }
DEVICE int block_count() { return gridDim.x; }
DEVICE int thread_in_block() { return threadIdx.x; }
DEVICE int threads_in_block() { return blockDim.x; }
DEVICE int lane_in_warp() { return threadIdx.x & 31; }
DEVICE int warp_in_block() { return threadIdx.x >> 5; }
DEVICE int warps_in_block() { return blockDim.x >> 5; }

// ---- Memory that other threads write meanwhile. Relaxed: no order between addresses is promised.
template <class T> DEVICE T load(const T* p) { return *static_cast<const volatile T*>(p); }
// The value at the last barrier or a later one: from the processor's own cache.
DEVICE Bits load_old(const Bits* p) { return __ldca(p); }
// What no thread writes while the kernel runs: through the read-only cache.
template <class T> DEVICE T load_constant(const T* p) { return __ldg(p); }
template <class T> DEVICE void store(T* p, T value) { *static_cast<volatile T*>(p) = value; }

// The number that has these bits.
DEVICE float as_number(Bits bits) { return __uint_as_float(bits); }
DEVICE double as_number(Wide bits) { return __longlong_as_double(static_cast<long long>(bits)); }
// The bits of a number: of two that are not negative, the larger one's are the larger integer.
DEVICE Wide as_bits(double number) { return static_cast<Wide>(__double_as_longlong(number)); }

// Prefetches to the second-level cache.
DEVICE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// Each returns the value before.
DEVICE int compare_and_swap(int* p, int expected, int desired) {
    return atomicCAS(p, expected, desired);
}
DEVICE long long compare_and_swap(long long* p, long long expected, long long desired) {
    return (long long)atomicCAS((Wide*)p, (Wide)expected, (Wide)desired);
}
DEVICE int exchange(int* p, int value) { return atomicExch(p, value); }
DEVICE long long exchange(long long* p, long long value) {
    return (long long)atomicExch((Wide*)p, (Wide)value);
}
DEVICE int add(int* p, int value) { return atomicAdd(p, value); }
DEVICE long long add(long long* p, long long value) {
    return (long long)atomicAdd((Wide*)p, (Wide)value);
}
DEVICE Bits add(Bits* p, Bits value) { return atomicAdd(p, value); }
DEVICE Wide add(Wide* p, Wide value) { return atomicAdd(p, value); }
DEVICE int maximum(int* p, int value) { return atomicMax(p, value); }
DEVICE long long maximum(long long* p, long long value) { return atomicMax(p, value); }
DEVICE Wide maximum(Wide* p, Wide value) { return atomicMax(p, value); }
DEVICE int minimum(int* p, int value) { return atomicMin(p, value); }
DEVICE long long minimum(long long* p, long long value) { return atomicMin(p, value); }
DEVICE Bits bit_or(Bits* p, Bits bits) { return atomicOr(p, bits); }
DEVICE Bits bit_and(Bits* p, Bits bits) { return atomicAnd(p, bits); }

// ---- Together: every thread of the block, every lane of the warp.
DEVICE void sync_block() { __syncthreads(); }
DEVICE bool any_in_block(bool mine) { return __syncthreads_or(mine); }
DEVICE void sync_warp() { __syncwarp(); }
// One bit for each lane of the warp; all lanes must call it.
DEVICE Bits ballot(bool mine) { return __ballot_sync(~0u, mine); }
DEVICE int count_bits(Bits set) { return __popc(set); }
DEVICE int count_lanes_before(Bits set) { return __popc(set & ((1u << (threadIdx.x & 31)) - 1)); }
// The value of the given lane; all lanes must call it.
template <class T> DEVICE T broadcast(T value, int lane) { return __shfl_sync(~0u, value, lane); }
// The value of the lane whose number differs in these bits; all lanes must call it.
template <class T> DEVICE T across(T value, int bits) { return __shfl_xor_sync(~0u, value, bits); }
// The least value of all lanes; all lanes must call it.
DEVICE Wide least_in_warp(Wide value) {
    for (int step = 16; step; step >>= 1) {
        const Wide other = __shfl_xor_sync(~0u, value, step);
        if (other < value) value = other;
    }
    return value;
}

// Appends the values of the lanes that want to; one atomic addition for all active lanes.
template <class T, class Count> DEVICE void push(T* queue, Count* count, T value, bool wanted) {
    const unsigned here = __activemask(), wanting = __ballot_sync(here, wanted);
    if (!wanted) return;
    const int leader = __ffs(wanting) - 1;
    Count first = 0;
    if (lane_in_warp() == leader) first = add(count, static_cast<Count>(__popc(wanting)));
    first = __shfl_sync(wanting, first, leader);
    queue[first + count_lanes_before(wanting)] = value;
}

// Different numbers from a counter for those of N flags of each lane that are set: one atomic.
template <int N, class Count>
DEVICE void draw_each(Count* count, const bool (&wanted)[N], Count (&numbers)[N]) {
    const unsigned here = __activemask();
    unsigned wanting[N];
    int total = 0;
    for (int u = 0; u < N; ++u) total += __popc(wanting[u] = __ballot_sync(here, wanted[u]));
    if (total == 0) return;
    const int leader = __ffs(here) - 1;
    Count first = 0;
    if (lane_in_warp() == leader) first = add(count, static_cast<Count>(total));
    first = __shfl_sync(here, first, leader);
    for (int u = 0; u < N; ++u) {
        numbers[u] = first + static_cast<Count>(count_lanes_before(wanting[u]));
        first += static_cast<Count>(__popc(wanting[u]));
    }
}
// Appends those of N values of each lane that are wanted.
template <int N, class T, class Count>
DEVICE void push_each(T* queue, Count* count, const T (&values)[N], const bool (&wanted)[N]) {
    Count at[N];
    draw_each(count, wanted, at);
    for (int u = 0; u < N; ++u)
        if (wanted[u]) queue[at[u]] = values[u];
}

// Adds one to the counter named, once for all active lanes naming it. Returns each its own number.
template <class T> DEVICE T draw_number(T* counts, T at) {
    const unsigned same = __match_any_sync(__activemask(), at);
    const int leader = __ffs(same) - 1;
    T first = 0;
    if (lane_in_warp() == leader) first = add(counts + at, static_cast<T>(__popc(same)));
    return __shfl_sync(same, first, leader) + static_cast<T>(count_lanes_before(same));
}

// All blocks of a cooperative launch wait for each other; afterwards each sees what any wrote
// before. `barrier` is two ints, zero at the launch. What the blocks add to the first makes 2^31
// together, so its highest bit turns when the last has arrived.
DEVICE void sync_grid(int* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        Bits* arrived = reinterpret_cast<Bits*>(barrier);
        __threadfence();
        const Bits before = atomicAdd(arrived, blockIdx.x ? 1u : 0x80000001u - gridDim.x);
        while (!((before ^ load(arrived)) >> 31)) {
        }
        __threadfence();
    }
    __syncthreads();
}

// One thread of every block of a cooperative launch adds a number whose lowest 12 bits are zero,
// waits for the others, and gets the sum above the count of blocks. `before` is the word when it
// was last complete, zero at first; two words are to be used in turn. Unlike after a barrier, what
// others wrote is not seen, except by atomics that had returned.
DEVICE Wide sum_over_grid(Wide* word, Wide before, Wide mine) {
    atomicAdd(word, mine + 1);
    Wide sum;
    do sum = load(word) - before;
    while ((sum & 0xfff) != gridDim.x);
    return sum;
}
#endif

// The threads that share a list, where a driver says how many: on the host no more than a warp has.
#if defined(LANES) && LANES > WARP
#undef LANES
#define LANES WARP
#endif

// Calls visit(v, lane, lanes) for 0 .. n - 1, each shared by 2^shift neighbouring threads.
template <class Visit> DEVICE void for_shared(Index n, int shift, Visit visit) {
    const Index lanes = static_cast<Index>(1) << shift;
    const long long jobs = static_cast<long long>(n) << shift;
    for (long long t = thread_index(); t < jobs; t += thread_count())
        visit(static_cast<Index>(t >> shift), static_cast<Index>(t & (lanes - 1)), lanes);
}

// The same numbers as thread_index(), dealt warp by warp to one block after the other: so that all
// processors do a few items, not the first few, where they would queue for the cache.
DEVICE long long spread_index(int block, int blocks) {
    return (static_cast<long long>(warp_in_block()) * blocks + block) * WARP + lane_in_warp();
}
DEVICE long long spread_index() { return spread_index(block_index(), block_count()); }

// A bijection that scatters: two rounds of multiply and shift.
DEVICE unsigned scatter(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

// A number below n that is drawn for v; 0 if there is no choice.
DEVICE Index drawn_below(Index n, Index v, unsigned seed) {
    return n > 1 ? scatter(static_cast<unsigned>(v) ^ seed) % static_cast<unsigned>(n) : 0;
}

// A bijection of 0 .. n-1 hiding the order: mixes `bits` bits, the fewest for n - 1, until below n.
DEVICE Index shuffle(Index v, Index n, int bits, unsigned seed) {
    const Wide mask = (Wide(1) << bits) - 1;
    const int half = (bits + 1) / 2;
    Wide x = static_cast<Wide>(v);
    do {
        x = (x * 0x9e3779b97f4a7c15ull + seed) & mask;
        x ^= x >> half;
        x = (x * 0xd6e8feb86659fd93ull) & mask;
        x ^= x >> half;
        x = (x * 0xca5a826395121157ull) & mask;
    } while (x >= static_cast<Wide>(n));
    return static_cast<Index>(x);
}

// Reserves n places for each thread of a block; one addition to the counter for all of them. Every
// thread of the block must call it. Returns where its places begin.
template <class T> DEVICE T reserve(T* count, int n) {
    SHARED int together;
    SHARED T first;
    if (thread_in_block() == 0) together = 0;
    sync_block();
    const int at = n ? add(&together, n) : 0;
    sync_block();
    if (thread_in_block() == 0 && together) first = add(count, static_cast<T>(together));
    sync_block();
    return first + static_cast<T>(at);  // undefined for a thread without places
}

// Adds the numbers of all threads of the block; all must call it.
template <class T> DEVICE void add_of_block(T* count, T mine) {
    SHARED T together;
    for (int bits = WARP / 2; bits; bits /= 2) mine += across(mine, bits);
    if (thread_in_block() == 0) together = 0;
    sync_block();
    if (mine && lane_in_warp() == 0) add(&together, mine);
    sync_block();
    if (thread_in_block() == 0 && together) add(count, together);
    sync_block();  // the next call clears what is read here
}

// Counts those of 0 .. n - 1 for which wanted(v), and calls put(own place, v): all blocks together.
template <class Count, class Wanted, class Put>
DEVICE void place_all(long long n, Count* count, Wanted wanted, Put put) {
    enum { EACH = 8 };
    const long long step = static_cast<long long>(EACH) * threads_in_block();
    for (long long base = block_index() * step; base < n; base += block_count() * step) {
        bool mine[EACH];
        int total = 0;
        for (int k = 0; k < EACH; ++k) {
            const long long v =
                base + static_cast<long long>(k) * threads_in_block() + thread_in_block();
            mine[k] = v < n && wanted(v);
            total += mine[k];
        }
        Count at = reserve(count, total);
        for (int k = 0; k < EACH; ++k)
            if (mine[k])
                put(at++,
                    base + static_cast<long long>(k) * threads_in_block() + thread_in_block());
    }
}
// Appends those of 0 .. n - 1 for which wanted(v) to a queue: all blocks of a launch together.
template <class Wanted> DEVICE void list_all(Index n, Index* queue, Index* count, Wanted wanted) {
    place_all(
        n, count, [&](long long v) { return wanted(static_cast<Index>(v)); },
        [&](Index at, long long v) { queue[at] = static_cast<Index>(v); });
}

// The first place, from low to high - 1, whose number is not below the value, else high; ascending.
template <class Numbers, class Place, class Value>
DEVICE Place first_not_below(Numbers numbers, Place low, Place high, Value value) {
    while (low < high) {
        const Place middle = low + (high - low) / 2;
        if (numbers[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// ---- A set of vertices, one bit each, that other threads change meanwhile.
DEVICE bool has(const Bits* set, Index v) { return load(set + (v >> 5)) >> (v & 31) & 1; }
// Whether it was this thread that put v in.
DEVICE bool claim(Bits* set, Index v) {
    const Bits bit = 1u << (v & 31);
    return !(bit_or(set + (v >> 5), bit) & bit);
}
DEVICE void insert(Bits* set, Index v) { bit_or(set + (v >> 5), 1u << (v & 31)); }
DEVICE void remove(Bits* set, Index v) { bit_and(set + (v >> 5), ~(1u << (v & 31))); }
// Whether v is in a set that no thread changes meanwhile.
DEVICE bool is_in(const Bits* set, Index v) { return set[v >> 5] >> (v & 31) & 1; }
// Makes a set of the wanted of n vertices, and of another's, if any. Each thread writes own words.
template <class Wanted>
DEVICE void make_set(Bits* set, long long n, const Bits* other, Wanted wanted) {
    for (long long w = thread_index(); w < n / 32 + 1; w += thread_count()) {
        Bits bits = other ? other[w] : 0;
#pragma unroll 8
        for (int k = 0; k < 32; ++k)  // the loads of eight under way at once
            bits |= static_cast<Bits>(w * 32 + k < n && wanted(w * 32 + k)) << k;
        set[w] = bits;
    }
}

// ---- An array that no thread writes meanwhile, in a struct; as a parameter const __restrict__.
template <class T> struct ReadOnly {
    const T* data;
    DEVICE T operator[](long long k) const { return load_constant(data + k); }
    DEVICE ReadOnly operator+(long long k) const { return {data + k}; }
};

// Lists of vertices: that of v is indices[indptr[v]] .. indices[indptr[v + 1] - 1].
struct Csr {
    ReadOnly<Index> indptr, indices;
};
