// A maximum matching of a small matrix, whose features would take as long to find, in one call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/engine_table.hpp"
#include "core/transpose.hpp"
#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/min_degree.hpp"
#include "matching/pothen_fan.hpp"
#include "matching/push_relabel.hpp"
#include "matching/single_source_bfs.hpp"
#include "ordering/features.hpp"

namespace sparsematch {

// Policy of matching/auto.py has these, and says why.
struct SmallPolicy {
    std::int64_t small, large;  // entries from which on features pay; from which on they go first
    double few, shallow, joint, search, many, leaves, thin, chains, sparse, near, even, by_search;
};

// What each stage did, and the time in which a transpose was built; 0: there is none.
struct SmallRun {
    std::vector<RunReport> stages;
    double transpose_seconds = 0;
    bool is_maximum = true;
};

// Features.chains of matching/auto.py, whatever the surplus.
template <class Index>
bool chains_lead(const Csr<Index>& a, const SmallPolicy& policy, RunContext& run) {
    const auto rows = degree_statistics(a, run);
    if (rows.mean() > policy.sparse || rows.ones() >= policy.leaves) return false;
    const double vertices = static_cast<double>(a.n_rows) + a.n_cols;
    if (a.nnz() <= policy.thin * vertices && rows.ones() < policy.chains) return true;
    return column_statistics(a, run).ones() >= policy.chains;
}

// Whether features, and a start with least degrees first, which goes through all entries and
// vertices twice, cost less than searches from what is free.
template <class Index>
bool degrees_pay(const Csr<Index>& a, double free, const SmallPolicy& policy, RunContext& run) {
    const double start = 2.0 * (static_cast<double>(a.nnz()) + a.n_rows + a.n_cols);
    return policy.by_search * free >= start + static_cast<double>(policy.small) &&
           !order_features(a).are_near(policy.near) &&
           (degree_statistics(a, run).variation() >= policy.even ||
            column_statistics(a, run).variation() >= policy.even);
}

// Replaces a matching that leaves some rows free by that of `min_degree`, if it leaves fewer.
template <class Index> void start_again(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    Buffer<Index> row(a.n_rows, UNMATCHED<Index>), col(a.n_cols, UNMATCHED<Index>);
    min_degree(a, untransposed<Index>, {row.data(), col.data()}, {}, run);
    const auto before = std::count(m.row_mate, m.row_mate + a.n_rows, UNMATCHED<Index>);
    if (std::ranges::count(row, UNMATCHED<Index>) >= before) return;
    std::ranges::copy(row, m.row_mate);
    std::ranges::copy(col, m.col_mate);
}

// The transpose, in buffers that it allocates, and the time that it took.
template <class Index>
Csr<Index> transpose_into(Buffer<Index>& indptr, Buffer<Index>& indices, const Csr<Index>& a,
                          double& seconds, RunContext& run) {
    const auto begin = std::chrono::steady_clock::now();
    indptr = Buffer<Index>(a.n_cols + std::size_t{1}), indices = Buffer<Index>(a.nnz());
    transpose_directly(a, indptr.data(), indices.data(), run);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {a.n_cols, a.n_rows, indptr.data(), indices.data()};
}

// Empties the matching, if it is to, and adds what one pass finds. True: it matches all rows of a
// square matrix, by its diagonal.
template <class Index, class Stage>
bool initialise(const Csr<Index>& a, Matching<Index> m, bool from_empty, SmallRun& done,
                const Stage& stage) {
    if (from_empty) {
        std::fill_n(m.row_mate, a.n_rows, UNMATCHED<Index>);
        std::fill_n(m.col_mate, a.n_cols, UNMATCHED<Index>);
    }
    if (from_empty && a.n_rows == a.n_cols) {
        bool found = false;
        stage("diagonal", "the diagonal has no zero", 0,
              [&](RunContext& run) { found = match_diagonal(a, m, run); });
        if (found) return true;
        done.stages.pop_back();
    }
    stage("cheap", "one pass; often all there is to do", 0,
          [&](RunContext& run) { cheap(a, untransposed<Index>, m, {}, run); });
    return false;
}

// Makes a matching maximum, the empty one or a given one. Searches begin with what is fewer, rows
// or columns, and end when they have scanned some passes; pushes match the rest. Neither does where
// chains lead through a matrix that is not so small: other stages match more.
template <class Index>
SmallRun small_stages(const Csr<Index>& a, Matching<Index> m, bool from_empty,
                      const SmallPolicy& policy, RunContext& whole) {
    SmallRun done;
    const auto stage = [&](const char* engine, const char* reason, double passes,
                           const auto& improve) {
        RunContext run(whole, static_cast<std::int64_t>(std::ceil(passes * a.nnz())));
        done.stages.push_back(reported(engine, reason, m.row_mate, a.n_rows, run, improve));
    };
    if (initialise(a, m, from_empty, done, stage)) return done;
    const auto most = std::min(a.n_rows, a.n_cols);
    const auto free = most - done.stages.back().cardinality;
    if (free == 0) return done;
    const auto hands_over = [&] {
        done.is_maximum = !(from_empty && a.nnz() >= policy.small && chains_lead(a, policy, whole));
        return !done.is_maximum;
    };
    if (static_cast<double>(free) > policy.many * most && hands_over()) return done;
    Buffer<Index> indptr, indices;
    const auto transposed = [&] {
        return transpose_into(indptr, indices, a, done.transpose_seconds, whole);
    };
    const bool by_cols = a.n_cols < a.n_rows;
    const Csr<Index> rows = by_cols ? transposed() : a;
    const Matching<Index> mates = by_cols ? m.flipped() : m;
    if (whole.stopped()) return done;
    const auto search = [&](const char* reason, double passes) {
        stage("single_source_bfs", reason, passes, [&](RunContext& run) {
            single_source_bfs(rows, untransposed<Index>, mates, {}, run);
        });
        return done.stages.back().exhausted && !whole.stopped();
    };
    if (static_cast<double>(free) <= policy.few * most) {
        if (!search("do brief searches match the few", policy.shallow)) return done;
    } else if (from_empty && degrees_pay(a, static_cast<double>(free), policy, whole)) {
        stage("min_degree", "degrees may match more than the order", 0,
              [&](RunContext& run) { start_again(rows, mates, run); });
        if (!search("a better start leaves fewer paths", policy.search)) return done;
    }
    stage("pothen_fan", "a small matrix", policy.joint,
          [&](RunContext& run) { pothen_fan(rows, untransposed<Index>, mates, {}, run); });
    if (!done.stages.back().exhausted || whole.stopped() || hands_over()) return done;
    const Csr<Index> cols = by_cols ? a : transposed();
    if (whole.stopped()) return done;
    stage("push_relabel", "many searches at once, whatever the graph", 0,
          [&](RunContext& run) { push_relabel(rows, &cols, mates, {}, run); });
    return done;
}

}  // namespace sparsematch
