// Message buffers between ranks.
//
// A kernel of this folder works in steps: it reads the messages that have arrived, works as far as
// it can on its own vertices, and appends messages to other ranks. After a step, the messages to
// each rank are packed into one array. The caller exchanges these by one collective call: a header
// of fixed length for each rank has room for a short array, and says whether its sender is busy.
// Long arrays follow in a second call. When no rank is busy, no message is in flight.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "matching/over_ranks/owners.hpp"

namespace sparsematch::over_ranks {

// Of a cache of what was sent: its slots, one for `share` entries, and the hash of a vertex.
inline std::size_t cache_size(std::int64_t entries, std::size_t share) {
    return std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(entries, 4096)) / share);
}
inline std::size_t mix(std::int64_t v) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(v) * 0x9E3779B97F4A7C15u >> 20);
}

// Messages of one kind to one rank. Memory is reserved for a whole message, not word by word.
template <class Index> class MessageList {
  public:
    template <class... Words> SPARSEMATCH_INLINE void append(Words... words) {
        if (size_ + sizeof...(Words) > words_.size()) words_.resize(2 * words_.size() + 16);
        Index* to = words_.data() + size_;
        ((*to++ = words), ...);
        size_ += sizeof...(Words);
    }
    Index* move_to(Index* to) {
        to = std::copy_n(words_.data(), size_, to);
        size_ = 0;
        return to;
    }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

  private:
    std::vector<Index> words_;
    std::size_t size_ = 0;
};

template <class Index> class MessageBuffers {
  public:
    // BUSY: messages are in flight, or work is left. DEFERRED: work is left for when no rank is
    // busy. LONG: an array is longer than a header has room for.
    static constexpr Index BUSY = 1, DEFERRED = 2, LONG = 4;

    // Messages are of several kinds, each a fixed number of words.
    MessageBuffers(int size, int kinds)
        : size_(size), kinds_(kinds), width_(std::clamp(512 / size, 16, 128)),
          capacity_(width_ - 2), lists_(static_cast<std::size_t>(size) * kinds) {
        send_headers.resize(size * width_), receive_headers.resize(size * width_);
        send_counts.resize(size), receive_counts.resize(size);
    }

    template <class... Words> SPARSEMATCH_INLINE void send(int rank, int kind, Words... words) {
        lists_[static_cast<std::size_t>(rank) * kinds_ + kind].append(words...);
    }
    bool any(int kind) const {
        for (int r = 0; r < size_; ++r)
            if (!lists_[static_cast<std::size_t>(r) * kinds_ + kind].empty()) return true;
        return false;
    }

    // Packs the messages to each rank: the number of words of each kind, then the words.
    void pack(bool busy, bool deferred = false) {
        send_buffer.clear();
        Index flags = (busy ? BUSY : 0) | (deferred ? DEFERRED : 0);
        for (int r = 0; r < size_; ++r) {
            auto* lists = lists_.data() + static_cast<std::size_t>(r) * kinds_;
            std::size_t words = 0;
            for (int k = 0; k < kinds_; ++k) words += lists[k].size();
            if (words) words += kinds_;
            const bool is_long = words > capacity_;
            Index* header = send_headers.data() + r * width_;
            header[1] = static_cast<Index>(words);
            send_counts[r] = is_long ? static_cast<std::int64_t>(words) : 0;
            if (!words) continue;
            if (is_long) flags |= LONG, send_buffer.resize(send_buffer.size() + words);
            Index* to = is_long ? &send_buffer[send_buffer.size() - words] : header + 2;
            for (int k = 0; k < kinds_; ++k) *to++ = static_cast<Index>(lists[k].size());
            for (int k = 0; k < kinds_; ++k) to = lists[k].move_to(to);
        }
        for (int r = 0; r < size_; ++r) send_headers[r * width_] = flags;
    }

    // The flags of all ranks, once the headers have arrived; sizes the receive buffer.
    Index read_headers() {
        Index flags = 0;
        std::size_t words = 0;
        for (int r = 0; r < size_; ++r) {
            const Index* header = receive_headers.data() + r * width_;
            flags |= header[0];
            const auto n = static_cast<std::size_t>(header[1]);
            receive_counts[r] = n > capacity_ ? header[1] : 0;
            words += receive_counts[r];
        }
        if (!(flags & (BUSY | DEFERRED))) return clear_headers(), 0;
        receive_buffer.resize(words);
        return flags;
    }

    // Calls read(kind, words) for the messages of each rank and kind, and removes them.
    template <class Read> void receive(const Read& read) {
        const Index* next_long = receive_buffer.data();
        for (int r = 0; r < size_; ++r) {
            const Index* header = receive_headers.data() + r * width_;
            const auto n = static_cast<std::size_t>(header[1]);
            if (!n) continue;
            const Index* counts = n > capacity_ ? next_long : header + 2;
            if (n > capacity_) next_long += n;
            const Index* words = counts + kinds_;
            for (int k = 0; k < kinds_; ++k) {
                read(k, std::span<const Index>(words, static_cast<std::size_t>(counts[k])));
                words += counts[k];
            }
        }
        clear_headers();
    }

    // What the caller exchanges.
    std::vector<Index> send_headers, receive_headers, send_buffer, receive_buffer;
    std::vector<std::int64_t> send_counts, receive_counts;

  private:
    void clear_headers() { std::fill(receive_headers.begin(), receive_headers.end(), Index{0}); }

    int size_, kinds_;
    // Words of a header: flags, length of the array, and the array if it is short.
    std::size_t width_, capacity_;
    std::vector<MessageList<Index>> lists_;
};

}  // namespace sparsematch::over_ranks
