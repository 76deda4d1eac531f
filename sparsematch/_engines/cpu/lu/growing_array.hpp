// An array that grows at its end: as std::vector, but room is made once for several elements, which
// are then appended without a check, and new elements are not zeroed. Systems move large ones
// without a copy, and room that was not written to takes no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/csr.hpp"

namespace sparsematch {

template <class T> class GrowingArray {
  public:
    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t k) { return data()[k]; }
    const T& operator[](std::size_t k) const { return data()[k]; }

    void clear() { size_ = 0; }
    // Makes room for more elements: at least half as many again, so that copies take O(size).
    void make_room(std::size_t more) {
        if (size_ + more <= room_) return;
        if (size_ == 0) *this = {};  // before the other is made
        resize(std::max(size_ + more, room_ + room_ / 2));
    }
    // Gives back the room that is left, where that is some pages.
    void trim() {
        if ((room_ - size_) * sizeof(T) >> 16 > 0) resize(size_ + 1);
    }
    // Only where there is room.
    void push(T value) {
        SPARSEMATCH_ASSERT(size_ < room_);
        data()[size_++] = value;
    }
    // Shorter, or as long as there is room; what is new has no value yet.
    void set_size(std::size_t n) {
        SPARSEMATCH_ASSERT(n <= room_);
        size_ = n;
    }

  private:
    void resize(std::size_t n) {
        void* const moved = std::realloc(data(), n * sizeof(T));
        if (!moved) throw std::bad_alloc();
        (void)data_.release();
        data_.reset(static_cast<T*>(moved)), room_ = n;
        const auto before = -reinterpret_cast<std::uintptr_t>(moved) % (std::size_t{1} << 21);
        if (n * sizeof(T) > before)  // which begin there
            request_huge_pages(static_cast<char*>(moved) + before, n * sizeof(T) - before);
    }

    std::unique_ptr<T, void (*)(void*)> data_{nullptr, std::free};
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace sparsematch
