// What `auto` does with a matrix so small that its features would take as long to find: the
// diagonal, the first free columns, searches from one row after the other, pushes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/run_report.hpp"
#include "core/transpose.hpp"
#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/push_relabel.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

// What the stages have done, one after the other, and how often a transpose was built.
struct SmallReport {
    std::vector<RunReport> stages;
    int transposes_built = 0;
    double transpose_seconds = 0;
};

template <class Index>
class SmallStages {
  public:
    // transposed: null unless it is built already.
    SmallStages(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                RunContext& run)
        : a_(a), transposed_(transposed), m_(m), run_(run) {}

    // Makes a matching maximum, one that may be replaced or not. Searches scan so many passes over
    // the entries at most; they and pushes begin with the columns where fewer of these are free.
    void improve(bool replaceable, double passes) {
        if (replaceable && a_.n_rows == a_.n_cols && is_diagonal()) return;
        if (stage("cheap", 0, [&](RunContext& run) { cheap(a_, none, m_, {}, run); })) return;
        const bool by_cols = a_.n_cols < a_.n_rows;
        const auto& from = by_cols ? transposed() : a_;
        const auto pairs = by_cols ? m_.flipped() : m_;
        const auto most = static_cast<std::int64_t>(std::ceil(passes * a_.nnz()));
        const bool all = stage("single_source_bfs", most, [&](RunContext& run) {
            single_source_bfs(from, none, pairs, {}, run);
        });
        if (all || !report.stages.back().exhausted) return;
        const auto& to = by_cols ? a_ : transposed();
        stage("push_relabel", 0, [&](RunContext& run) { push_relabel(from, &to, pairs, {}, run); });
    }

    SmallReport report;

  private:
    static constexpr const Csr<Index>* none = nullptr;

    // Whether all that can be is matched by then.
    template <class Improve>
    bool stage(const char* engine, std::int64_t edge_limit, const Improve& improve) {
        RunContext part(run_, edge_limit);
        report.stages.push_back(reported(engine, m_.row_mate, a_.n_rows, part, improve));
        return report.stages.back().cardinality == std::min(a_.n_rows, a_.n_cols) || run_.stopped();
    }

    bool is_diagonal() {
        bool found = false;
        stage("diagonal", 0, [&](RunContext& run) {
            found = match_diagonal(a_, m_);
            if (found) WorkCounter(run).add(a_.nnz());
        });
        if (!found) report.stages.pop_back();
        return found;
    }

    const Csr<Index>& transposed() {
        if (transposed_) return *transposed_;
        const auto begin = std::chrono::steady_clock::now();
        indptr_.resize(a_.n_cols + std::size_t{1});
        indices_.resize(a_.nnz());
        transpose(a_, indptr_.data(), indices_.data(), run_);
        built_ = {a_.n_cols, a_.n_rows, indptr_.data(), indices_.data()};
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        report.transposes_built = 1;
        report.transpose_seconds = took.count();
        return *(transposed_ = &built_);
    }

    const Csr<Index>& a_;
    const Csr<Index>* transposed_;
    Matching<Index> m_;
    RunContext& run_;
    Csr<Index> built_;
    std::vector<Index> indptr_, indices_;
};

}  // namespace sparsematch
