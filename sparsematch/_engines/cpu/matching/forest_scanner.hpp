// Claimed columns on their way into an alternating forest, in batches whose mates and links are
// prefetched.
#pragma once

#include "core/csr.hpp"
#include "core/portability.hpp"
#include "core/run_context.hpp"
#include "core/worklist.hpp"

namespace sparsematch {

// Of a row: the root of its tree, and the row through which its mate was reached.
template <class Index>
struct ForestLink {
    Index root, parent;
};
template <class Index>
struct ForestNode {
    Index row, root;
};

// One worker's: the mates of the columns that it claims get links, and are appended to the forest.
template <bool Threads, class Index>
class ForestScanner {
    static constexpr int batch = 64;
    struct Claim {
        Index col, parent, root;
    };
    using Forest = Worklist<Threads, ForestNode<Index>>;

  public:
    ForestScanner(const Index* col_mate, ForestLink<Index>* link, Bitmap& in_tree, Forest& forest,
                  RunContext& run, int rank)
        : counter(run, rank), col_mate_(col_mate), link_(link), in_tree_(in_tree), writer_(forest) {
    }
    ~ForestScanner() { attach_claims(); }
    void push(Index col, Index parent, Index root) {
        SPARSEMATCH_PREFETCH(&col_mate_[col]);
        claims_[size_] = {col, parent, root};
        if (++size_ == batch) attach_claims();
    }
    WorkCounter counter;

  private:
    void attach_claims() {
        for (int k = 0; k < size_; ++k) SPARSEMATCH_PREFETCH(&link_[col_mate_[claims_[k].col]], 1);
        for (int k = 0; k < size_; ++k) {
            const Index row = col_mate_[claims_[k].col];
            poke(link_[row].root, claims_[k].root);
            poke(link_[row].parent, claims_[k].parent);
            // after the link: a thread that sees the bit sees the link
            in_tree_.template claim<Threads>(row);
            writer_.push({row, claims_[k].root});
        }
        size_ = 0;
    }
    const Index* col_mate_;
    ForestLink<Index>* link_;
    Bitmap& in_tree_;
    typename Forest::Writer writer_;
    Claim claims_[batch];
    int size_ = 0;
};

}  // namespace sparsematch
