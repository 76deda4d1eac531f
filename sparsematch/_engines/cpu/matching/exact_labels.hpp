// Exact labels of columns for push-relabel: their distances to a free column, counted in columns,
// by breadth-first search from the free ones. The global relabelling of push_relabel.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/worklist.hpp"

namespace sparsematch {

template <class Index> struct LabelledColumn {
    Index label, mate;  // read together: one cache miss
};

// Threads: several workers, which share out the columns of a level.
template <bool Threads, class Index> class ExactLabels {
    using Column = LabelledColumn<Index>;
    using List = Worklist<Threads, Index>;

  public:
    ExactLabels(std::size_t n_rows, std::size_t n_cols, int n_workers)
        : row_seen_(n_rows), level_(n_cols), next_level_(n_cols), rows_(n_workers) {}

    // Whether the last search has reached a row, so that it has an augmenting path.
    bool has_reached(Index i) const { return row_seen_.test(i); }

    // Reads: the lists of the columns, mates. Writes: labels; `infinite` where no free column is
    // reached. use(label, n): that n columns have a label. Time: O(entries read).
    template <class Use>
    void find(const Csr<Index>& lists, Column* column, const Index* row_mate, Index infinite,
              RunContext& run, const Use& use) {
        const auto n_cols = static_cast<std::size_t>(lists.n_rows);
        ++run.stats.phases;
        row_seen_.fill(false);
        level_.resize(0);
        run.team.loop(lists.n_rows, 1 << 15, [&](int, std::int64_t begin, std::int64_t end) {
            typename List::Writer level(level_);
            for (auto j = static_cast<Index>(begin); j < end; ++j) {
                const bool is_free = column[j].mate == UNMATCHED<Index>;
                column[j].label = is_free ? 0 : infinite;
                if (is_free) level.push(j);
            }
        });
        std::size_t reached = 0;
        for (Index label = 0; level_.size() > 0 && !run.stopped(); ++run.stats.levels) {
            use(label, level_.size());
            reached += level_.size();
            next_level_.resize(0);
            ++label;
            run.team.loop(
                level_.size(), 1 << 10, [&](int rank, std::int64_t begin, std::int64_t end) {
                    WorkCounter counter(run, rank);
                    label_mates(lists, column, row_mate, begin, end, label, rows_[rank], counter);
                });
            level_.swap(next_level_);
        }
        use(infinite, n_cols - reached);
    }

  private:
    // Labels the mates of the unseen rows of columns begin..end-1 of the level: the next one.
    void label_mates(const Csr<Index>& lists, Column* column, const Index* row_mate,
                     std::int64_t begin, std::int64_t end, Index label, std::vector<Index>& rows,
                     WorkCounter& counter) {
        constexpr std::int64_t at_once = 1 << 10;  // columns: what is prefetched stays in the cache
        typename List::Writer next(next_level_);
        for (; begin < end; begin += at_once) {
            if (!list_rows(lists, row_mate, begin, std::min(end, begin + at_once), rows, counter))
                return;
            for (std::size_t k = 0; k < rows.size(); ++k) {
                if (k + 16 < rows.size())
                    SPARSEMATCH_PREFETCH(&column[std::max<Index>(row_mate[rows[k + 16]], 0)], 1);
                const Index j = row_mate[rows[k]];
                if (j == UNMATCHED<Index>) continue;
                column[j].label = label;
                next.push(j);
            }
        }
    }

    // The unseen rows of columns begin..end-1 of the level. False: stop now.
    bool list_rows(const Csr<Index>& lists, const Index* row_mate, std::int64_t begin,
                   std::int64_t end, std::vector<Index>& rows, WorkCounter& counter) {
        rows.clear();
        for (std::int64_t k = begin; k < end; ++k) {
            PrefetchAhead<12>::lists(lists, &level_[0], k, end);
            for (const Index i : lists.neighbours(level_[k])) {
                if (!row_seen_.template claim<Threads>(i)) continue;
                SPARSEMATCH_PREFETCH(&row_mate[i]);
                rows.push_back(i);
            }
            if (!counter.add(lists.degree(level_[k]))) return false;
        }
        return true;
    }

    Bitmap row_seen_;
    List level_, next_level_;
    std::vector<std::vector<Index>> rows_;  // of each worker
};

}  // namespace sparsematch
