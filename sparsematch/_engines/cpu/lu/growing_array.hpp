// An array that grows at its end: as std::vector, but room is made once for several elements, which
// are then appended without a check, and new elements are not zeroed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/csr.hpp"

namespace sparsematch {

template <class T> class GrowingArray {
  public:
    std::size_t size() const { return size_; }
    T* data() { return data_.data(); }
    const T* data() const { return data_.data(); }
    T& operator[](std::size_t k) { return data_[k]; }
    const T& operator[](std::size_t k) const { return data_[k]; }

    void clear() { size_ = 0; }
    // Makes room for more elements: at least half as many again, so that copies take O(size).
    void make_room(std::size_t more) {
        if (size_ + more <= data_.size()) return;
        const std::size_t n = std::max(size_ + more, data_.size() + data_.size() / 2);
        if (size_ == 0) data_ = {};  // before the other is made
        Buffer<T> larger(n);
        std::copy_n(data_.data(), size_, larger.data());
        data_ = std::move(larger);
    }
    // Only where there is room.
    void push(T value) {
        SPARSEMATCH_ASSERT(size_ < data_.size());
        data_[size_++] = value;
    }
    // Shorter, or as long as there is room; what is new has no value yet.
    void set_size(std::size_t n) {
        SPARSEMATCH_ASSERT(n <= data_.size());
        size_ = n;
    }

  private:
    Buffer<T> data_;
    std::size_t size_ = 0;
};

}  // namespace sparsematch
