// Lists with one writer each, which other threads read as far as published (decision 0005).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

template <class Word> class PublishedLists {
    struct List {
        List(std::size_t capacity, std::size_t workers) : words(capacity), consumed(workers, 0) {}
        Buffer<Word> words;
        std::size_t n = 0;
        // how many words of each list this thread has consumed
        std::vector<std::size_t> consumed;
        alignas(64) std::atomic<std::size_t> published{0};  // words that the others may read
    };

  public:
    PublishedLists() = default;
    // Words that each thread can add in all.
    PublishedLists(std::size_t workers, std::size_t capacity) {
        for (std::size_t k = 0; k < workers; ++k)
            lists_.push_back(std::make_unique<List>(capacity, workers));
    }

    void add(int rank, Word word) {
        List& own = *lists_[rank];
        own.words[own.n++] = word;
    }
    void add(int rank, const Word* words, std::size_t n) {
        List& own = *lists_[rank];
        std::copy_n(words, n, own.words.data() + own.n);
        own.n += n;
    }
    // The others may read all that this thread has added.
    void publish(int rank) {
        lists_[rank]->published.store(lists_[rank]->n, std::memory_order_release);
    }

    // Calls use(words, n) for what each other thread has published since the last call.
    template <class Use> void consume(int rank, const Use& use) {
        for (std::size_t k = 0; k < lists_.size(); ++k) {
            if (k == static_cast<std::size_t>(rank)) continue;
            std::size_t& consumed = lists_[rank]->consumed[k];
            const std::size_t begin = consumed,
                              end = consumed = lists_[k]->published.load(std::memory_order_acquire);
            if (begin < end) use(lists_[k]->words.data() + begin, end - begin);
        }
    }

  private:
    std::vector<std::unique_ptr<List>> lists_;
};

}  // namespace sparsematch
