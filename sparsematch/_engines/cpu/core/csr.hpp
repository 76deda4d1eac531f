// The data types of the CPU core: the pattern of a matrix, a matching of it, and two containers.
//
// A Csr is a bipartite graph seen from its rows; the transpose is the same type seen from its
// columns, so that an algorithm which searches from the columns is the same code called with both
// arguments flipped. So a row of the core is a stored row, what indptr runs over: a row of the
// user's CSR matrix, a column of a CSC matrix. Python names these major and minor where it has to
// tell them from the user's rows and columns (BipartiteCSR).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "core/portability.hpp"

namespace sparsematch {

template <class Index> inline constexpr Index UNMATCHED = -1;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Const all the way down: no algorithm writes to the matrix.
template <class Index> struct Csr {
    Index n_rows, n_cols;
    const Index* indptr;
    const Index* indices;

    Index nnz() const { return indptr[n_rows]; }
    Index degree(Index i) const { return indptr[i + 1] - indptr[i]; }
    std::span<const Index> neighbours(Index i) const {
        return {indices + indptr[i], indices + indptr[i + 1]};
    }
};
template <class Index> inline constexpr const Csr<Index>* untransposed = nullptr;  // not built

// The first row of a part, of `parts` with about as many entries each; n_rows for part `parts`.
template <class Index> Index first_row_of(const Csr<Index>& a, int part, int parts) {
    if (part == 0 || part == parts) return part ? a.n_rows : 0;
    const auto goal = static_cast<Index>(static_cast<std::int64_t>(a.nnz()) / parts * part);
    return static_cast<Index>(std::lower_bound(a.indptr, a.indptr + a.n_rows, goal) - a.indptr);
}

// row_mate[i] == j if and only if col_mate[j] == i; UNMATCHED elsewhere.
template <class Index> struct Matching {
    Index* row_mate;
    Index* col_mate;

    void match(Index i, Index j) const {
        row_mate[i] = j;
        col_mate[j] = i;
    }
    Matching flipped() const { return {col_mate, row_mate}; }
};

// Whether any of n mates is UNMATCHED, the one value below zero. Branch-free.
template <class Index> bool any_free(const Index* mate, std::size_t n) {
    Index all = 0;
    for (std::size_t k = 0; k < n; ++k) all |= mate[k];
    return all < 0;
}

// Uninitialised array. Large ones request huge pages: the algorithms gather at random, and address
// translation is half the cost of a miss.
template <class T> class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);
    static constexpr std::size_t page = std::size_t{1} << 21;  // bytes of a huge page

  public:
    Buffer() = default;
    explicit Buffer(std::size_t n) : size_(n) {
        const std::size_t bytes = (n ? n : 1) * sizeof(T);
        align_ = bytes >= 2 * page ? page : 64;
        data_ = static_cast<T*>(::operator new(bytes, std::align_val_t{align_}));
        if (align_ == page) request_huge_pages(data_, bytes);
    }
    Buffer(std::size_t n, T value) : Buffer(n) {
        for (std::size_t k = 0; k < n; ++k) data_[k] = value;
    }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          align_(other.align_) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(align_, other.align_);
        return *this;
    }
    ~Buffer() {
        if (data_) ::operator delete(data_, std::align_val_t{align_});
    }

    T& operator[](std::size_t k) { return data_[k]; }
    const T& operator[](std::size_t k) const { return data_[k]; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    std::size_t size() const { return size_; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0, align_ = 64;
};

// One bit per vertex: a million vertices fit in the second-level cache, where the mates do not.
class Bitmap {
  public:
    explicit Bitmap(std::size_t n, bool value = false)
        : words_((n + 63) / 64, value ? ~std::uint64_t{0} : 0) {}

    // Acquired, what was written before the bit was claimed is visible.
    bool test(std::size_t k, std::memory_order order = std::memory_order_relaxed) const {
        return word(k).load(order) >> (k & 63) & 1;
    }
    void set(std::size_t k) { words_[k >> 6] |= bit(k); }
    void clear(std::size_t k) { words_[k >> 6] &= ~bit(k); }
    void set_if(std::size_t k, bool yes) { words_[k >> 6] |= std::uint64_t{yes} << (k & 63); }
    void fill(bool value) {
        std::memset(words_.data(), value ? 0xff : 0, words_.size() * sizeof(std::uint64_t));
    }
    // Bit k says whether wanted(k), from begin, a multiple of 64, to end - 1. A word at a time,
    // since bits set one by one depend on each other.
    template <class Wanted> void mark(std::size_t begin, std::size_t end, const Wanted& wanted) {
        for (; begin < end; begin += 64) {
            std::uint64_t bits = 0;
            for (std::size_t k = 0; k < std::min<std::size_t>(64, end - begin); ++k)
                bits |= std::uint64_t{wanted(begin + k)} << k;
            words_[begin >> 6] = bits;
        }
    }
    void copy(const Bitmap& other) {
        std::memcpy(words_.data(), other.words_.data(), words_.size() * sizeof(std::uint64_t));
    }
    void merge(const Bitmap& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    }
    void keep(const Bitmap& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    }
    void remove(const Bitmap& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    }
    std::size_t count() const {
        std::size_t n = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) n += std::popcount(words_[w]);
        return n;
    }
    // The 64 bits of which k is the first.
    std::uint64_t bits(std::size_t k) const { return word(k).load(std::memory_order_relaxed); }
    // The words of the bits from begin, a multiple of 64, to end - 1.
    std::span<std::uint64_t> words(std::size_t begin, std::size_t end) {
        return {words_.data() + (begin >> 6), (end - begin + 63) / 64};
    }
    SPARSEMATCH_INLINE void prefetch(std::size_t k) const { SPARSEMATCH_PREFETCH(&words_[k >> 6]); }

    // Sets the bit; true for the one caller that set it. Threads: several callers at a time.
    template <bool Threads> bool claim(std::size_t k) {
        if constexpr (Threads) {
            return !(word(k).load(std::memory_order_relaxed) & bit(k)) &&
                   !(word(k).fetch_or(bit(k), std::memory_order_acq_rel) & bit(k));
        } else {
            if (words_[k >> 6] & bit(k)) return false;
            words_[k >> 6] |= bit(k);
            return true;
        }
    }
    // As claim, of one thread and branch-free.
    bool insert(std::size_t k) {
        std::uint64_t& w = words_[k >> 6];
        const std::uint64_t before = w;
        w = before | bit(k);
        return !(before >> (k & 63) & 1);
    }
    // As set, with several callers at a time.
    void set_shared(std::size_t k) { word(k).fetch_or(bit(k), std::memory_order_acq_rel); }
    template <bool Threads> void release(std::size_t k) {
        if constexpr (Threads) word(k).fetch_and(~bit(k), std::memory_order_acq_rel);
        else clear(k);
    }

  private:
    static std::uint64_t bit(std::size_t k) { return std::uint64_t{1} << (k & 63); }
    std::atomic_ref<std::uint64_t> word(std::size_t k) const {
        return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(words_[k >> 6]));
    }
    Buffer<std::uint64_t> words_;
};

// The places from begin, a multiple of 64, to end - 1 whose bits have this value; ascending.
template <class Index, class Use>
void each(const Bitmap& bitmap, bool value, std::size_t begin, std::size_t end, const Use& use) {
    for (std::size_t base = begin; base < end; base += 64) {
        std::uint64_t bits = value ? bitmap.bits(base) : ~bitmap.bits(base);
        if (end - base < 64) bits &= (std::uint64_t{1} << (end - base)) - 1;
        if (bits == ~std::uint64_t{0}) {
            for (std::size_t k = base; k < base + 64; ++k) use(static_cast<Index>(k));
            continue;
        }
        for (; bits != 0; bits &= bits - 1) use(static_cast<Index>(base + std::countr_zero(bits)));
    }
}
template <class Index, class Use>
void each(const Bitmap& bitmap, bool value, Index n, const Use& use) {
    each<Index>(bitmap, value, 0, n, use);
}

// Appends what(j) to a list of `size` for every neighbour j that is not in `seen`, which it joins.
// Returns the new size. The list has room for one more than it can come to hold, as every neighbour
// is written and stays if it is new (branch-free selection, decision 0005).
template <class Index, class Size, class What = std::identity>
SPARSEMATCH_INLINE inline Size append_unseen(std::span<const Index> neighbours, Bitmap& seen,
                                             Index* list, Size size, const What& what = {}) {
    for (const Index j : neighbours) {
        list[size] = what(j);
        size += seen.insert(j);
    }
    return size;
}

// Access to a word that another thread may write meanwhile: a plain move, and no data race.
template <class T> T peek(const T& place, std::memory_order order = std::memory_order_relaxed) {
    return std::atomic_ref<T>(const_cast<T&>(place)).load(order);
}
template <class T>
void poke(T& place, std::type_identity_t<T> value,
          std::memory_order order = std::memory_order_relaxed) {
    std::atomic_ref<T>(place).store(value, order);
}

// A fixed scatter of the bits of x (the finaliser of splitmix64): random choices without a state.
inline std::uint64_t hash(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

}  // namespace sparsematch
