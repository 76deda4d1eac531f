// The transpose of a matrix over ranks: each entry is sent to the owner of its minor.
#pragma once

#include "matching/over_ranks/message_buffers.hpp"

namespace sparsematch::over_ranks {

template <class Index> class Transposition {
  public:
    // Unless `fill`, `filled` counts the entries of each own minor; else it is the end of each
    // minor's list in `lists` so far. `budget`: entries sent in a step.
    Transposition(const std::int64_t* indptr, const Index* indices, Owners<Index> majors,
                  Owners<Index> minors, std::int64_t* filled, Index* lists, bool fill,
                  std::int64_t budget)
        : messages(majors.size(), 1), indptr_(indptr), indices_(indices), filled_(filled),
          lists_(lists), fill_(fill), budget_(budget), majors_(std::move(majors)),
          minors_(std::move(minors)) {}

    void step(bool) {
        messages.receive([this](int, std::span<const Index> words) {
            if (fill_)
                for (std::size_t k = 0; k < words.size(); k += 2) put(words[k], words[k + 1]);
            else
                for (const Index j : words) put(j, 0);
        });
        const std::int64_t all = indptr_[majors_.n()], end = std::min(all, next_ + budget_);
        for (; next_ < end; ++next_) {
            while (next_ >= indptr_[major_ + 1]) ++major_;
            const Index j = indices_[next_];
            if (minors_.own(j)) put(j, major_ + majors_.first());
            else if (fill_) messages.send(minors_(j), 0, j, major_ + majors_.first());
            else messages.send(minors_(j), 0, j);
        }
        messages.pack(next_ < all || messages.any(0));
    }

    MessageBuffers<Index> messages;

  private:
    void put(Index minor, Index major) {
        const std::int64_t place = filled_[minor - minors_.first()]++;
        if (fill_) lists_[place] = major;
    }

    const std::int64_t* indptr_;
    const Index* indices_;
    std::int64_t* filled_;
    Index* lists_;
    const bool fill_;
    const std::int64_t budget_;
    const Owners<Index> majors_, minors_;
    std::int64_t next_ = 0;
    Index major_ = 0;
};

}  // namespace sparsematch::over_ranks
