// A list that all threads of a team append to: each fills a small block and copies it when full.
#pragma once

#include <atomic>

#include "core/csr.hpp"

namespace sparsematch {

template <bool Threads, class T> class Worklist {
  public:
    explicit Worklist(std::size_t capacity) : items_(capacity) {}
    Worklist(Worklist&& other) noexcept : items_(std::move(other.items_)), size_(other.size()) {}

    std::size_t size() const { return size_.load(std::memory_order_relaxed); }
    void resize(std::size_t n) { size_.store(n, std::memory_order_relaxed); }
    T& operator[](std::size_t k) { return items_[k]; }
    void swap(Worklist& other) {
        std::swap(items_, other.items_);
        const std::size_t size = other.size();
        other.resize(this->size());
        resize(size);
    }

    // One thread's end of the list; flushed when it goes out of scope.
    class Writer {
        static constexpr std::size_t block = 256;  // items appended to the list together

      public:
        explicit Writer(Worklist& list) : list_(list), size_(Threads ? 0 : list.size()) {}
        Writer(const Writer&) = delete;
        ~Writer() { flush(); }

        void push(const T& item) {
            if constexpr (Threads) {
                if (size_ == block) flush();
                staged_[size_++] = item;
            } else {
                list_.items_[size_++] = item;
            }
        }

      private:
        void flush() {
            if constexpr (Threads) {
                const std::size_t start = list_.size_.fetch_add(size_, std::memory_order_relaxed);
                std::memcpy(list_.items_.data() + start, staged_, size_ * sizeof(T));
                size_ = 0;
            } else {
                list_.resize(size_);
            }
        }
        Worklist& list_;
        std::size_t size_;
        T staged_[Threads ? block : 1];
    };

  private:
    Buffer<T> items_;
    std::atomic<std::size_t> size_{0};
};

}  // namespace sparsematch
