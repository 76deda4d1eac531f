// A list that all threads of a team append to: each fills a small block of its own and copies it
// over when full. What size() counts may be read while others append.
#pragma once

#include <atomic>
#include <thread>
#include <utility>

#include "core/csr.hpp"

namespace sparsematch {

template <bool Threads, class T>
class Worklist {
  public:
    explicit Worklist(std::size_t capacity) : items_(capacity) {}

    std::size_t size() const { return size_.load(std::memory_order_acquire); }
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
        static constexpr std::size_t block = 256;

      public:
        explicit Writer(Worklist& list) : list_(list), size_(Threads ? 0 : list.size()) {}
        Writer(const Writer&) = delete;
        ~Writer() { flush(); }
        void flush() {
            if constexpr (Threads) list_.append(staged_, std::exchange(size_, 0));
            else list_.resize(size_);
        }

        void push(const T& item) {
            if constexpr (Threads) {
                if (size_ == block) flush();
                staged_[size_++] = item;
            } else {
                list_.items_[size_++] = item;
            }
        }

      private:
        Worklist& list_;
        std::size_t size_;
        T staged_[Threads ? block : 1];
    };

  private:
    // One thread at a time: the others wait for no longer than a block is copied.
    void append(const T* items, std::size_t n) {
        if (n == 0) return;
        for (int k = 1; locked_.exchange(true, std::memory_order_acquire); ++k) {
            if (k % 64 == 0) std::this_thread::yield();
            else spin_pause();
        }
        const std::size_t start = size_.load(std::memory_order_relaxed);
        std::memcpy(items_.data() + start, items, n * sizeof(T));
        size_.store(start + n, std::memory_order_release);
        locked_.store(false, std::memory_order_release);
    }
    Buffer<T> items_;
    alignas(64) std::atomic<std::size_t> size_{0};
    std::atomic<bool> locked_{false};
};

}  // namespace sparsematch
