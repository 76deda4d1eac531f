// Label propagation over ranks: each vertex of a directed graph gets the largest label of the
// vertices that reach it. With one label it is a search; with a label of its own for each vertex,
// the colouring of Orzan, On distributed verification and verified distribution (2004).
//
// A rank propagates labels through its own vertices, large ones first, so that within a step few
// vertices are reached twice. Labels for vertices of other ranks are sent as messages.
//
// Invariant: a vertex that is not pending has propagated its label.
#pragma once

#include "matching/over_ranks/message_buffers.hpp"

namespace sparsematch::over_ranks {

template <class Index> class Propagation {
  public:
    // `label` of each own vertex, -1 for none, is raised. `budget`: about the entries a step reads.
    Propagation(const std::int64_t* indptr, const Index* indices, Index* label,
                Owners<Index> owners, std::int64_t budget)
        : messages(owners.size(), 1), indptr_(indptr), indices_(indices), label_(label),
          budget_(budget), owners_(std::move(owners)),
          is_pending_(static_cast<std::size_t>(owners_.n())),
          sent_(owners_.size() > 1 ? cache_size(indptr_[owners_.n()], 16) : 1,
                Sent{UNMATCHED<Index>, UNMATCHED<Index>}) {
        for (Index v = 0; v < owners_.n(); ++v)
            if (label_[v] >= 0) defer(v);
    }

    void step(bool) {
        messages.receive([this](int, std::span<const Index> words) {
            for (std::size_t k = 0; k < words.size(); k += 2) {
                const Index v = words[k] - owners_.first();
                if (label_[v] >= words[k + 1]) continue;
                label_[v] = words[k + 1];
                defer(v);
            }
        });
        if (!is_sorted_)
            std::sort(pending_.begin(), pending_.end(),
                      [this](Index v, Index w) { return label_[v] < label_[w]; });
        is_sorted_ = true;
        for (std::int64_t read = 0; read < budget_;) {
            if (stack_.empty()) {
                if (pending_.empty()) break;
                const Index v = pending_.back();
                pending_.pop_back();
                // unless a larger label has reached it since
                if (is_pending_[v]) stack_.push_back(v);
                continue;
            }
            const Index v = stack_.back();
            stack_.pop_back();
            read += expand(v);
        }
        for (const Index v : stack_) defer(v);
        stack_.clear();
        messages.pack(!pending_.empty() || messages.any(0));
    }

    MessageBuffers<Index> messages;

  private:
    struct Sent {
        Index vertex, label;
    };
    Sent& slot_of(Index w) { return sent_[mix(w) & (sent_.size() - 1)]; }

    void defer(Index v) {
        if (!is_pending_[v]) pending_.push_back(v), is_sorted_ = false;
        is_pending_[v] = true;
    }
    // Propagates the label of an own vertex; returns the number of its entries.
    std::int64_t expand(Index v) {
        is_pending_[v] = false;
        const Index label = label_[v];
        for (auto p = indptr_[v]; p < indptr_[v + 1]; ++p) {
            const Index w = indices_[p];
            if (owners_.own(w)) {
                const Index own = w - owners_.first();
                if (label_[own] >= label) continue;
                label_[own] = label;
                stack_.push_back(own);
            } else if (Sent& last = slot_of(w); last.vertex != w || last.label < label) {
                last = {w, label};
                messages.send(owners_(w), 0, w, label);
            }
        }
        return indptr_[v + 1] - indptr_[v] + 1;
    }

    const std::int64_t* indptr_;
    const Index* indices_;
    Index* label_;
    const std::int64_t budget_;
    const Owners<Index> owners_;
    std::vector<char> is_pending_;
    bool is_sorted_ = false;
    std::vector<Index> pending_, stack_;  // to be expanded: labels ascending; reached in this step
    std::vector<Sent> sent_;              // cache of labels sent, the last of each hash
};

}  // namespace sparsematch::over_ranks
