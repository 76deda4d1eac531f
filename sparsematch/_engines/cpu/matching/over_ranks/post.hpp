// What a rank says to the others: who owns a vertex, and messages collected by receiver.
//
// A kernel of this folder works in steps: it reads the letters that have come, goes on as far as it
// can alone, and writes a letter to each rank. The caller exchanges them between two steps, by one
// collective call: every header has room for a short letter, and says whether its sender is busy.
// The rest of long letters goes in a second call. When no rank is busy, no letter is under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch::over_ranks {

// The ranks own consecutive vertices: `size` + 1 starts.
template <class Index>
class Owners {
    using Unsigned = std::make_unsigned_t<Index>;
    static constexpr Index buckets = 1 << 12;

  public:
    Owners(const std::int64_t* starts, int size, int rank)
        : starts_(starts, starts + size + 1), rank_(rank), first_(starts_[rank]),
          n_(starts_[rank + 1] - starts_[rank]) {
        const Index n = starts_[size];
        while (n >> shift_ >= buckets) ++shift_;
        int owner = 0;
        for (Index b = 0; b <= n >> shift_; ++b) {
            while (owner + 1 < size && b << shift_ >= starts_[owner + 1]) ++owner;
            of_bucket_.push_back(owner);
        }
    }
    int size() const { return static_cast<int>(starts_.size()) - 1; }
    int rank() const { return rank_; }
    Index first() const { return first_; }
    Index n() const { return n_; }
    SPARSEMATCH_INLINE bool own(Index v) const {
        return static_cast<Unsigned>(v - first_) < static_cast<Unsigned>(n_);
    }
    SPARSEMATCH_INLINE int operator()(Index v) const {
        int owner = of_bucket_[v >> shift_];
        while (v >= starts_[owner + 1]) ++owner;
        return owner;
    }

  private:
    std::vector<Index> starts_;
    int rank_;
    Index first_, n_;
    int shift_ = 0;
    std::vector<int> of_bucket_;
};

// Messages of one kind to one rank. Room is made for a whole message, not word by word.
template <class Index>
class Messages {
  public:
    template <class... Words>
    SPARSEMATCH_INLINE void append(Words... words) {
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
    std::size_t capacity() const { return words_.size(); }

  private:
    std::vector<Index> words_;
    std::size_t size_ = 0;
};

template <class Index>
class Post {
  public:
    // BUSY: messages are under way, or work is left. WAITS: work is left for when no rank is busy.
    // LARGE: a letter is longer than what a header has room for.
    static constexpr Index BUSY = 1, WAITS = 2, LARGE = 4;

    // Messages are of several kinds, each a fixed number of words.
    Post(int size, int kinds)
        : size_(size), kinds_(kinds), width_(std::clamp(512 / size, 16, 128)), room_(width_ - 2),
          lists_(static_cast<std::size_t>(size) * kinds), headers_out_(size * width_),
          headers_in_(size * width_), sizes_out_(size), sizes_in_(size) {}

    template <class... Words>
    SPARSEMATCH_INLINE void send(int rank, int kind, Words... words) {
        lists_[static_cast<std::size_t>(rank) * kinds_ + kind].append(words...);
    }
    bool any(int kind) const {
        for (int r = 0; r < size_; ++r)
            if (!lists_[static_cast<std::size_t>(r) * kinds_ + kind].empty()) return true;
        return false;
    }

    // Writes the letters: of each kind how many words, then the words.
    void seal(bool busy, bool waits = false) {
        outbox_.clear();
        Index flags = (busy ? BUSY : 0) | (waits ? WAITS : 0);
        for (int r = 0; r < size_; ++r) {
            auto* lists = lists_.data() + static_cast<std::size_t>(r) * kinds_;
            std::size_t words = 0;
            for (int k = 0; k < kinds_; ++k) words += lists[k].size();
            if (words) words += kinds_;
            Index* header = headers_out_.data() + r * width_;
            header[1] = static_cast<Index>(words);
            sizes_out_[r] = words > room_ ? static_cast<std::int64_t>(words) : 0;
            if (!words) continue;
            if (words > room_) flags |= LARGE, outbox_.resize(outbox_.size() + words);
            Index* to = words > room_ ? &outbox_[outbox_.size() - words] : header + 2;
            for (int k = 0; k < kinds_; ++k) *to++ = static_cast<Index>(lists[k].size());
            for (int k = 0; k < kinds_; ++k) {
                to = lists[k].move_to(to);
            }
        }
        for (int r = 0; r < size_; ++r) headers_out_[r * width_] = flags;
    }

    // The flags of all ranks, once the headers have come; makes room for what follows them.
    Index open() {
        Index flags = 0;
        std::size_t words = 0;
        for (int r = 0; r < size_; ++r) {
            const Index* header = headers_in_.data() + r * width_;
            flags |= header[0];
            const auto n = static_cast<std::size_t>(header[1]);
            sizes_in_[r] = n > room_ ? header[1] : 0;
            words += sizes_in_[r];
        }
        if (!(flags & (BUSY | WAITS))) return forget(), 0;
        inbox_.resize(words);
        return flags;
    }

    // read(kind, words) of each letter, by sender; they are gone afterwards.
    template <class Read>
    void receive(const Read& read) {
        const Index* large = inbox_.data();
        for (int r = 0; r < size_; ++r) {
            const Index* header = headers_in_.data() + r * width_;
            const auto n = static_cast<std::size_t>(header[1]);
            if (!n) continue;
            const Index* counts = n > room_ ? large : header + 2;
            if (n > room_) large += n;
            const Index* words = counts + kinds_;
            for (int k = 0; k < kinds_; ++k) {
                read(k, std::span<const Index>(words, static_cast<std::size_t>(counts[k])));
                words += counts[k];
            }
        }
        forget();
    }
    void forget() { std::fill(headers_in_.begin(), headers_in_.end(), Index{0}); }

    std::vector<Index>& headers_out() { return headers_out_; }
    std::vector<Index>& headers_in() { return headers_in_; }
    std::vector<Index>& outbox() { return outbox_; }
    std::vector<Index>& inbox() { return inbox_; }
    std::vector<std::int64_t>& sizes_out() { return sizes_out_; }
    std::vector<std::int64_t>& sizes_in() { return sizes_in_; }
    std::size_t bytes() const {
        std::size_t words = outbox_.capacity() + inbox_.capacity() + 2 * headers_in_.size();
        for (const auto& list : lists_) words += list.capacity();
        return words * sizeof(Index);
    }

  private:
    int size_, kinds_;
    // Words of a header: flags, length of the letter, and the letter if it is short.
    std::size_t width_, room_;
    std::vector<Messages<Index>> lists_;
    std::vector<Index> headers_out_, headers_in_, outbox_, inbox_;
    std::vector<std::int64_t> sizes_out_, sizes_in_;
};

}  // namespace sparsematch::over_ranks
