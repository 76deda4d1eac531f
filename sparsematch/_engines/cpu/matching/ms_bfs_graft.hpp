// MS-BFS-Graft: an alternating forest grown from all free rows at once; trees that found a path are
// augmented and their vertices grafted onto the trees that did not, instead of growing all again.
//
// Azad, Buluc, Pothen: A parallel tree grafting algorithm for maximum cardinality matching in
// bipartite graphs (IPDPS 2015), Algorithms 3 to 7. Paper's X: rows; Y: columns; visited: the same;
// parent[mate[x]]: link_[i].parent; root[x]: link_[i].root; leaf[root] != -1: finished_. Slip
// corrected: line 15 of Algorithm 7 resets root[x]. Different here: the parent of a column is kept
// with its mate, next to the root, so that claiming a column writes one word; the list of rows in
// trees (forest_) is also the breadth-first queue, and the statistics of a phase read this list and
// not all vertices; visited, free and finished are bits, which stay in the cache.
// Invariant: a column is claimed by one tree at a time, so augmenting paths are vertex-disjoint;
// link_[i] is meant only where in_tree_ has i, and then i hangs in that tree by a complete chain of
// parents. The rows of a tree and their mates are its vertices before and after its path is flipped
// (then with the leaf).
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/portability.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/worklist.hpp"

namespace sparsematch {

// Of a row: the root of its tree, and the row through which its mate was reached.
template <class Index> struct ForestLink {
    Index root, parent;
};
template <class Index> struct ForestNode {
    Index row, root;
};

// Claimed columns of one worker on their way into the forest: their mates get links and are
// appended, in batches whose mates and links are prefetched.
template <bool Threads, class Index> class ForestScanner {
    static constexpr int batch = 64;  // columns
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

struct MsBfsGraftOptions {
    // Graft the trees of a phase onto those of the next.
    bool grafting = true;
    // Bottom-up levels where the frontier is large: above unvisited / alpha.
    bool direction = true;
    double alpha = 5.0;

    static constexpr auto fields() {
        return std::tuple{Option{"grafting", &MsBfsGraftOptions::grafting},
                          Option{"direction", &MsBfsGraftOptions::direction},
                          Option{"alpha", &MsBfsGraftOptions::alpha}};
    }
};

template <bool Threads, class Index> class MsBfsGraft {
    struct Path {
        Index root, parent, leaf;
    };
    using Link = ForestLink<Index>;
    using Node = ForestNode<Index>;
    using Forest = Worklist<Threads, Node>;
    using Scanner = ForestScanner<Threads, Index>;

  public:
    MsBfsGraft(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
               const MsBfsGraftOptions& options, RunContext& run)
        : a_(a), t_(transposed), m_(m), options_(options), run_(run),
          roots_(free_rows(a, m, run.team)), n_free_(roots_.size()), link_(a.n_rows),
          visited_(a.n_cols), open_(a.n_cols), in_tree_(a.n_rows), finished_(a.n_rows),
          forest_(a.n_rows), kept_(a.n_rows), renewable_(a.n_cols), paths_(roots_.size()),
          further_leaves_(Threads ? a.n_cols : 0) {
        mark_free(open_, a.n_cols, m.col_mate, run.team);
    }

    // Reads: the matrix, and its transpose if grafting or direction is on. Writes: both mates.
    // Workspace: 6 indices per row, one per column, some bits. Time: O(n nnz), mostly a few nnz.
    void improve() {
        plant();
        while (n_free_ > 0 && !run_.stopped()) {
            ++run_.stats.phases;
            grow();
            if (paths_.size() == 0) return;
            augment();
            if (run_.stopped() || run_.exhausted()) return;
            if (projection_.exceeds_budget(run_, run_.edges(), run_.stats.augmentations))
                return run_.give_up();
            rebuild();
        }
    }

  private:
    // Starts every tree at its free row. The first level is read from the roots, not the forest.
    void plant() {
        roots_.resize(keep_free(roots_, roots_.size(), m_));
        share_out(roots_.size(), [&](int, std::int64_t k, std::int64_t end) {
            for (; k < end; ++k) {
                in_tree_.template claim<Threads>(roots_[k]);
                link_[roots_[k]] = {roots_[k], UNMATCHED<Index>};
            }
        });
        forest_.resize(0);
        level_begin_ = 0;
        from_roots_ = true;
    }

    // Step 1: level by level until no tree grows.
    void grow() {
        for (;;) {
            const std::size_t level_end = forest_.size(),
                              width = from_roots_ ? roots_.size() : level_end - level_begin_;
            if (width == 0 || run_.stopped()) return;
            ++run_.stats.levels;
            if (run_.detailed) run_.stats.frontier.push_back(static_cast<std::int64_t>(width));
            const bool upwards = prefers_bottom_up(width, level_end);
            auto timer = run_.time(upwards ? "bottom-up" : "top-down");
            if (!upwards) top_down(width);
            else bottom_up(a_.n_cols, [](std::int64_t j) { return static_cast<Index>(j); }, true);
            level_begin_ = level_end;
            from_roots_ = false;
        }
    }
    bool prefers_bottom_up(std::size_t width, std::size_t visited) const {
        const std::size_t unvisited = a_.n_cols - std::min<std::size_t>(visited, a_.n_cols);
        return options_.direction && t_ &&
               static_cast<double>(width) * options_.alpha >= static_cast<double>(unvisited);
    }

    // Algorithm 4.
    void top_down(std::size_t width) {
        const std::size_t begin_level = level_begin_;
        share_out(width, [&](int rank, std::int64_t begin, std::int64_t end) {
            Scanner scanner = start_scanner(rank);
            const auto row = [&](std::int64_t k) {
                return from_roots_ ? roots_[k] : forest_[begin_level + k].row;
            };
            for (auto k = begin; k < end; ++k) {
                PrefetchAhead<8>::lists(a_, row, k, end);
                const Index root = from_roots_ ? roots_[k] : forest_[begin_level + k].root;
                if (!finished_.test(root) && !scan_row(row(k), root, scanner)) return;
            }
        });
    }

    bool scan_row(Index i, Index root, Scanner& scanner) {
        const Index first = a_.indptr[i], last = a_.indptr[i + 1];
        for (Index p = first; p < last; ++p) {
            if (!visited_.claim<Threads>(a_.indices[p])) continue;
            if (attach(a_.indices[p], i, root, scanner)) return scanner.counter.add(p + 1 - first);
        }
        return scanner.counter.add(last - first);
    }

    // Algorithm 5: claimed column j becomes a child of row i. True if it is free, which finishes
    // the tree. A further leaf, found by another thread meanwhile, stays claimed until the tree is
    // split off: rows of other trees have passed over it, and only the next phase offers it again.
    bool attach(Index j, Index i, Index root, Scanner& scanner) {
        if (!open_.test(j)) return scanner.push(j, i, root), false;
        if (finished_.claim<Threads>(root)) {  // the first leaf of the tree is the end of its path
            typename Worklist<Threads, Path>::Writer(paths_).push({root, i, j});
        } else {
            typename Worklist<Threads, Index>::Writer(further_leaves_).push(j);
        }
        return true;
    }

    // Algorithm 6: attaches each unvisited column of `columns` to a row of a tree that grows.
    template <class Columns>
    void bottom_up(std::size_t n, const Columns& columns, bool whole = false) {
        share_out(n, [&](int rank, std::int64_t begin, std::int64_t end) {
            Scanner scanner = start_scanner(rank);
            for (auto k = begin; k < end; ++k) {
                const Index j = columns(k);
                if (!whole) PrefetchAhead<8>::lists(*t_, columns, k, end);
                if (visited_.test(j)) {
                    if (whole && j % 64 == 0 && visited_.bits(j) == ~std::uint64_t{0}) k += 63;
                    continue;
                }
                const Index first = t_->indptr[j], last = t_->indptr[j + 1];
                Index p = first;
                for (; p < last; ++p) {
                    const Index i = t_->indices[p];
                    if (!in_tree_.test(i, std::memory_order_acquire)) continue;
                    const Index root = peek(link_[i].root);
                    if (finished_.test(root)) continue;
                    visited_.claim<Threads>(j);
                    attach(j, i, root, scanner);
                    break;
                }
                if (!scanner.counter.add(p - first)) return;
            }
        });
    }

    // Step 2: flips the path of every finished tree.
    void augment() {
        auto timer = run_.time("augment");
        std::atomic<std::int64_t> edges{0};
        // A path may be as long as the phase had levels.
        run_.team.even_loop(paths_.size(), 1, 64, [&](int, std::int64_t begin, std::int64_t end) {
            std::int64_t length = 0;
            for (auto k = begin; k < end; ++k) {
                open_.release<Threads>(paths_[k].leaf);
                for (Index i = paths_[k].parent, j = paths_[k].leaf; i != UNMATCHED<Index>;
                     i = link_[i].parent) {
                    const Index next = m_.row_mate[i];
                    m_.match(i, j);
                    j = next;
                    length += 2;
                }
                --length;
            }
            edges.fetch_add(length, std::memory_order_relaxed);
        });
        run_.stats.augmentations += static_cast<std::int64_t>(paths_.size());
        run_.stats.path_edges += edges.load();
    }

    // Step 3, Algorithm 7: frees the vertices of finished trees; grafts them, or starts again.
    void rebuild() {
        auto timer = run_.time("graft");
        split();
        n_free_ -= paths_.size();
        paths_.resize(0);
        const std::size_t active = forest_.size() + n_free_;
        if (options_.grafting && t_ &&
            static_cast<double>(active) * options_.alpha > static_cast<double>(renewable_.size())) {
            level_begin_ = forest_.size();
            from_roots_ = false;
            bottom_up(renewable_.size(), [this](std::int64_t k) { return renewable_[k]; });
            return;
        }
        in_tree_.fill(false);
        visited_.fill(false);
        plant();
    }

    // Splits the forest into rows of trees that still grow, which stay, and those of finished
    // trees, which are forgotten; their columns may be claimed again.
    void split() {
        const std::size_t n = forest_.size(), rows = n + paths_.size();
        renewable_.resize(0);
        kept_.resize(0);
        share_out(rows + further_leaves_.size(), [&](int, std::size_t k, std::size_t end) {
            typename Forest::Writer kept(kept_);
            typename Worklist<Threads, Index>::Writer renewable(renewable_);
            const auto renew = [&](Index j) {
                visited_.release<Threads>(j);
                renewable.push(j);
            };
            for (; k < std::min(end, rows); ++k) {
                const Node node = k < n ? forest_[k] : Node{paths_[k - n].root, paths_[k - n].root};
                if (!finished_.test(node.root)) {
                    kept.push(node);
                    continue;
                }
                in_tree_.release<Threads>(node.row);
                renew(m_.row_mate[node.row]);
            }
            for (; k < end; ++k) renew(further_leaves_[k - rows]);
        });
        further_leaves_.resize(0);
        forest_.swap(kept_);
    }

    Scanner start_scanner(int rank) {
        return {m_.col_mate, link_.data(), in_tree_, forest_, run_, rank};
    }
    template <class Body> void share_out(std::size_t n, const Body& body) {
        run_.team.even_loop(n, 64, 1 << 10, body);
    }

    const Csr<Index>& a_;
    const Csr<Index>* t_;
    const Matching<Index> m_;
    const MsBfsGraftOptions& options_;
    RunContext& run_;
    std::vector<Index> roots_;  // of the trees as they were planted
    std::size_t n_free_, level_begin_ = 0;
    bool from_roots_ = true;
    Buffer<Link> link_;
    // columns claimed; columns free; rows in trees; roots with a path
    Bitmap visited_, open_, in_tree_, finished_;
    Forest forest_, kept_;
    Worklist<Threads, Index> renewable_;
    Worklist<Threads, Path> paths_;
    Worklist<Threads, Index> further_leaves_;
    PhaseProjection projection_;
};

template <class Index>
void ms_bfs_graft(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                  const MsBfsGraftOptions& options, RunContext& run) {
    if (run.team.size() > 1) MsBfsGraft<true, Index>(a, transposed, m, options, run).improve();
    else MsBfsGraft<false, Index>(a, transposed, m, options, run).improve();
}

}  // namespace sparsematch
