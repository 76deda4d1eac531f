// An array that grows at its end: as std::vector, but room is made once for several elements, which
// are then appended without a check, and new elements are not zeroed. Large ones have their own
// pages, which grow without a copy and leave no hole; room that was not written to takes no memory.
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
        std::size_t& pages = data_.get_deleter().bytes;
        const std::size_t bytes = n * sizeof(T);
        const bool own = pages > 0 || bytes >= large, is_new = own && pages == 0;
        void* const moved = own ? resize_pages(is_new ? nullptr : data(), pages, bytes)
                                : std::realloc(data(), bytes);
        if (!moved) throw std::bad_alloc();
        if (is_new) {
            request_huge_pages(moved, bytes);  // all of them: parts that differ do not move
            std::copy_n(data(), size_, static_cast<T*>(moved));
            data_.reset();
        }
        const auto before = -reinterpret_cast<std::uintptr_t>(moved) % (std::size_t{1} << 21);
        if (!own && bytes > before)  // which begin there
            request_huge_pages(static_cast<char*>(moved) + before, bytes - before);
        (void)data_.release();
        data_.reset(static_cast<T*>(moved)), room_ = n, pages = own ? bytes : 0;
    }

    // Bytes from which on the time in which pages are made does not count beside that of what comes
    // into them; from a quarter of it on, first solutions of 80,000 rows took 1.06 times as long.
    static constexpr std::size_t large = std::size_t{1} << 22;
    struct Free {
        std::size_t bytes = 0;  // of pages of its own
        void operator()(T* data) const {
            if (bytes > 0) free_pages(data, bytes);
            else std::free(data);
        }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace sparsematch
