// The active rows of a push-relabel worker, first in, first out.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/csr.hpp"

namespace sparsematch {

// A ring in a part of a list: never more rows than initially.
template <class Index>
class ActiveRows {
  public:
    ActiveRows() = default;
    ActiveRows(Index* rows, std::size_t n) : rows_(rows), capacity_(n), size_(n) {}

    std::size_t size() const { return size_; }
    Index operator[](std::size_t k) const { return rows_[place(k)]; }
    Index pop() {
        const Index i = rows_[head_];
        head_ = place(1);
        --size_;
        return i;
    }
    void append(Index i) { rows_[place(size_++)] = i; }
    // Appends all to a list of `size`; returns its new size.
    std::size_t copy_to(Index* list, std::size_t size) const {
        for (std::size_t k = 0; k < size_; ++k) list[size++] = (*this)[k];
        return size;
    }

    // What the next pushes read: the bounds of their lists, then these, then the first columns.
    template <class Column>
    SPARSEMATCH_INLINE void prefetch(const Csr<Index>& a, const Column* column,
                                     const Index* row_mate) const {
        constexpr Index first_columns = 8;  // columns of a list that are prefetched
        const std::size_t step = std::min<std::size_t>(size_ / 4, 4);
        if (step == 0) return;
        const Index last = (*this)[4 * step - 1], later = (*this)[2 * step], soon = (*this)[step];
        SPARSEMATCH_PREFETCH(&a.indptr[last]);
        SPARSEMATCH_PREFETCH(&a.indices[a.indptr[later]]);
        SPARSEMATCH_PREFETCH(&row_mate[later], 1);
        const Index end = std::min(a.indptr[soon + 1], a.indptr[soon] + first_columns);
        for (Index p = a.indptr[soon]; p < end; ++p) SPARSEMATCH_PREFETCH(&column[a.indices[p]], 1);
    }

  private:
    std::size_t place(std::size_t k) const {
        return head_ + k < capacity_ ? head_ + k : head_ + k - capacity_;
    }
    Index* rows_ = nullptr;
    std::size_t capacity_ = 0, head_ = 0, size_ = 0;
};

}  // namespace sparsematch
