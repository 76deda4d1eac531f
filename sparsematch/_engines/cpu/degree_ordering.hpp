// In which order to eliminate the vertices of a symmetric graph so that little fill comes: approximate minimum degree.
//
// Amestoy, Davis, Duff, An approximate minimum degree ordering algorithm (SIAM J. Matrix Anal. Appl. 17, 1996), Algorithm 2.
// Paper's names: A_i and E_i are the two parts of the list of variable i, elements first; L_e the list of element e; nv, w and
// degree as there. Elements are appended to the pool, which is not compacted: the caller bounds the fill, and with it the pool.
// Vertices that are equal from the start are merged before it: Ashcraft, Compressed graphs and the minimum degree algorithm (SIAM
// J. Sci. Comput. 16, 1995).
// Invariant: L_e of a living element holds living variables only, and degree[e] is their number, merged ones counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "csr.hpp"

namespace sparsematch {

// What a factorisation L L^T in the order found costs at most.
struct EliminationCost {
    double entries = 0;  // below the diagonal
    double work = 0;     // multiplications
};

template <class Index>
class DegreeOrdering {
  public:
    // Reads: the graph without its diagonal, edge {i, j} in both lists, no repeats; vertex i's list is adjacency[start[i]...
    // start[i + 1]]. Writes: order, the vertices in order of elimination, and the cost. Returns false, and no order, when L would
    // have more than `most` entries, or, as far as that can be foreseen, need more than `work` multiplications for each. Time: O(n nnz) at worst, nearly O(nnz) in practice.
    bool run(Index n, const std::vector<std::int64_t>& start, const std::vector<Index>& adjacency, double most, double work,
             Index* order, EliminationCost& cost) {
        prepare(n, start, adjacency);
        cost = {};
        while (eliminated_ < n_) {
            const Index p = least();
            const Index weight = form_element(p);
            measure_overlap(p);
            const Index grown = update_degrees(p, weight);
            merge_twins(p);
            finish(p, grown);
            charge(grown, cost);
            entries_.push_back(cost.entries);
            if (cost.entries > most || (degree_[p] > work / 2 && is_heavy(degree_[p], work, cost))) return false;
        }
        write_order(order);
        return true;
    }

    // After a run: how many entries the columns of L have up to the one that is eliminated there, at most.
    void accumulate(double* entries) const {
        Index t = 0;
        for (std::size_t k = 0; k < pivots_.size(); ++k)
            while (t < ends_[k]) entries[t++] = entries_[k];
        while (t < n_) entries[t++] = entries_.empty() ? 0 : entries_.back();
    }

  private:
    static constexpr Index none = -1;

    void prepare(Index n, const std::vector<std::int64_t>& start, const std::vector<Index>& adjacency) {
        const auto size = static_cast<std::size_t>(n);
        n_ = n, eliminated_ = 0, least_ = 0, stamp_ = 2, largest_ = 0;
        pool_.assign(adjacency.begin(), adjacency.begin() + start[size]);
        begin_.assign(start.begin(), start.begin() + n);
        length_.resize(size), degree_.resize(size), next_.resize(size), previous_.resize(size), hash_.resize(size);
        n_elements_.assign(size, 0), nv_.assign(size, 1), w_.assign(size, 1), parent_.assign(size, none);
        head_.assign(size + 1, none), bucket_.assign(size, none);
        pivots_.clear(), last_.clear(), entries_.clear();
        // A vertex that nearly all others touch would be looked at in every step: it goes last.
        const double dense = std::max(16.0, 10 * std::sqrt(static_cast<double>(n)));
        for (Index i = 0; i < n; ++i) degree_[i] = length_[i] = static_cast<Index>(start[i + 1] - start[i]);
        if (start[size] >= 8 * n) merge_equal(dense);
        for (Index i = 0; i < n; ++i) {
            if (degree_[i] > dense) nv_[i] = 0, last_.push_back(i), ++eliminated_;
            else if (nv_[i] > 0) insert(i);
        }
    }

    // Neighbours that have all other neighbours in common. Told by sums of scattered numbers: that two be equal by chance will
    // not happen, and would cost some fill.
    void merge_equal(double dense) {
        const auto size = static_cast<std::size_t>(n_);
        std::vector<std::uint64_t> sum(size);
        for (Index i = 0; i < n_; ++i) sum[i] = hash(static_cast<std::uint64_t>(i));
        std::vector<std::uint64_t> closed(sum);
        for (Index i = 0; i < n_; ++i)
            for (auto q = begin_[i]; q < begin_[i] + length_[i]; ++q) closed[i] += sum[pool_[q]];
        Index merged = 0;
        for (Index i = 0; i < n_; ++i) {
            if (nv_[i] == 0 || degree_[i] > dense) continue;
            for (auto q = begin_[i]; q < begin_[i] + length_[i]; ++q)
                if (const Index j = pool_[q]; j > i && nv_[j] > 0 && closed[j] == closed[i])
                    nv_[j] = 0, parent_[j] = i, ++nv_[i], ++merged;
            degree_[i] -= nv_[i] - 1;
        }
        if (merged == 0) return;
        for (Index i = 0; i < n_; ++i) {
            auto to = begin_[i];
            const auto end = nv_[i] > 0 ? to + length_[i] : to;
            for (auto q = to; q < end; ++q)
                if (nv_[pool_[q]] > 0) pool_[to++] = pool_[q];
            length_[i] = static_cast<Index>(to - begin_[i]);
        }
    }

    void insert(Index i) {
        const Index d = degree_[i];
        next_[i] = head_[d], previous_[i] = none;
        if (head_[d] != none) previous_[head_[d]] = i;
        head_[d] = i;
        least_ = std::min(least_, d);
    }
    void unlink(Index i) {
        if (next_[i] != none) previous_[next_[i]] = previous_[i];
        if (previous_[i] != none) next_[previous_[i]] = next_[i];
        else head_[degree_[i]] = next_[i];
    }
    Index least() {
        while (head_[least_] == none) ++least_;
        const Index p = head_[least_];
        unlink(p);
        pivots_.push_back(p);
        return p;
    }

    // L_p, the union of A_p and of the L_e of all e in E_p, which it absorbs. Its variables have nv < 0 from here to finish.
    Index form_element(Index p) {
        eliminated_ += nv_[p];
        const Index weight = nv_[p];
        nv_[p] = -weight;
        const auto at = static_cast<std::int64_t>(pool_.size());
        Index degree = 0;
        auto take = [&](std::int64_t from, Index count) {
            for (std::int64_t q = from; q < from + count; ++q) {
                const Index i = pool_[q], nvi = nv_[i];
                if (nvi <= 0) continue;
                degree += nvi;
                nv_[i] = -nvi;
                pool_.push_back(i);
                unlink(i);
            }
        };
        for (std::int64_t q = begin_[p]; q < begin_[p] + n_elements_[p]; ++q) {
            const Index e = pool_[q];
            if (w_[e] == 0) continue;
            take(begin_[e], length_[e]);
            w_[e] = 0;
        }
        take(begin_[p] + n_elements_[p], length_[p] - n_elements_[p]);
        begin_[p] = at;
        length_[p] = static_cast<Index>(static_cast<std::int64_t>(pool_.size()) - at);
        degree_[p] = degree;
        return weight;
    }

    // w[e] - stamp becomes |L_e \ L_p| for every element that touches L_p.
    void measure_overlap(Index p) {
        for (std::int64_t q = begin_[p]; q < begin_[p] + length_[p]; ++q) {
            const Index i = pool_[q], nvi = -nv_[i];
            for (std::int64_t t = begin_[i]; t < begin_[i] + n_elements_[i]; ++t) {
                const Index e = pool_[t];
                if (w_[e] >= stamp_) w_[e] -= nvi;
                else if (w_[e] != 0) w_[e] = degree_[e] + stamp_ - nvi;
            }
        }
    }

    // Lists of the variables of L_p lose what is dead or inside L_p and gain p; one that has nothing else is eliminated along
    // with p. Returns how many p now stands for.
    Index update_degrees(Index p, Index weight) {
        for (std::int64_t q = begin_[p]; q < begin_[p] + length_[p]; ++q) {
            const Index i = pool_[q];
            const std::int64_t from = begin_[i], variables = from + n_elements_[i], end = from + length_[i];
            std::int64_t to = from;
            Index d = 0;
            std::uint64_t sum = 0;
            for (std::int64_t t = from; t < variables; ++t) {
                const Index e = pool_[t];
                if (w_[e] == 0) continue;
                if (const std::int64_t outside = w_[e] - stamp_; outside > 0) {
                    d += static_cast<Index>(outside), sum += static_cast<std::uint64_t>(e), pool_[to++] = e;
                } else {
                    w_[e] = 0;  // L_e lies inside L_p
                }
            }
            const std::int64_t split = to;
            for (std::int64_t t = variables; t < end; ++t) {
                const Index j = pool_[t];
                if (nv_[j] > 0) d += nv_[j], sum += static_cast<std::uint64_t>(j), pool_[to++] = j;
            }
            if (d == 0) {
                const Index nvi = -nv_[i];
                parent_[i] = p, weight += nvi, degree_[p] -= nvi, eliminated_ += nvi, nv_[i] = 0;
                continue;
            }
            // p, or an element that p absorbs, was in the list of i, so that there is room for one more.
            pool_[to] = pool_[split], pool_[split] = pool_[from], pool_[from] = p;
            n_elements_[i] = static_cast<Index>(split - from + 1);
            length_[i] = static_cast<Index>(to - from + 1);
            degree_[i] = std::min(degree_[i], d);
            hash_[i] = static_cast<Index>(sum % static_cast<std::uint64_t>(n_));
            next_[i] = bucket_[hash_[i]], bucket_[hash_[i]] = i;
        }
        largest_ = std::max<std::int64_t>(largest_, degree_[p]);
        stamp_ += largest_ + 1;
        return weight;
    }

    // Variables with equal lists are eliminated together.
    void merge_twins(Index p) {
        for (std::int64_t q = begin_[p]; q < begin_[p] + length_[p]; ++q) {
            if (nv_[pool_[q]] == 0) continue;
            Index i = bucket_[hash_[pool_[q]]];
            bucket_[hash_[pool_[q]]] = none;
            for (; i != none && next_[i] != none; i = next_[i], ++stamp_) {
                for (std::int64_t t = begin_[i] + 1; t < begin_[i] + length_[i]; ++t) w_[pool_[t]] = stamp_;
                for (Index before = i, j = next_[i]; j != none; j = next_[j]) {
                    if (same_lists(i, j)) nv_[i] += nv_[j], nv_[j] = 0, parent_[j] = i, next_[before] = next_[j];
                    else before = j;
                }
            }
        }
    }
    bool same_lists(Index i, Index j) const {
        if (length_[i] != length_[j] || n_elements_[i] != n_elements_[j]) return false;
        for (std::int64_t t = begin_[j] + 1; t < begin_[j] + length_[j]; ++t)
            if (w_[pool_[t]] != stamp_) return false;
        return true;
    }

    void finish(Index p, Index weight) {
        std::int64_t to = begin_[p];
        for (std::int64_t q = begin_[p]; q < begin_[p] + length_[p]; ++q) {
            const Index i = pool_[q], nvi = -nv_[i];
            if (nvi <= 0) continue;
            nv_[i] = nvi;
            degree_[i] = std::min<Index>(degree_[i] + degree_[p] - nvi, n_ - eliminated_ - nvi);
            insert(i);
            pool_[to++] = i;
        }
        pool_.resize(static_cast<std::size_t>(to));
        length_[p] = static_cast<Index>(to - begin_[p]);
        nv_[p] = weight;
        if (length_[p] == 0) w_[p] = 0;
    }

    void charge(Index weight, EliminationCost& cost) const {
        const double k = weight, d = static_cast<double>(degree_[pivots_.back()]) + static_cast<double>(last_.size());
        cost.entries += k * d + k * (k - 1) / 2;
        cost.work += k * d * d + k * (k - 1) * d + k * (k - 1) * (2 * k - 1) / 6;
    }

    // Degrees hardly fall any more until few vertices are left: if all that come have this one, is the whole too heavy?
    bool is_heavy(Index degree, double work, const EliminationCost& cost) const {
        const double d = degree, rest = std::max<double>(static_cast<double>(n_ - eliminated_) - d, 0);
        return cost.work + rest * d * d + d * d * d / 3 > work * (cost.entries + rest * d + d * d / 2 + 0.5 * n_);
    }

    // A pivot is followed by those that were merged into it.
    void write_order(Index* order) {
        std::vector<Index>& place = hash_;
        Index n_pivots = 0;
        for (const Index p : pivots_) place[p] = n_pivots++;
        std::vector<Index> count(static_cast<std::size_t>(n_pivots) + 1, 0);
        for (const Index i : last_) parent_[i] = i;
        for (Index i = 0; i < n_; ++i)
            if (parent_[i] == none) ++count[place[i] + 1];
            else if (parent_[i] != i) ++count[place[root(i)] + 1];
        for (Index k = 0; k < n_pivots; ++k) count[k + 1] += count[k];
        for (const Index p : pivots_) order[count[place[p]]++] = p;
        for (Index i = 0; i < n_; ++i)
            if (parent_[i] != none && parent_[i] != i) order[count[place[root(i)]]++] = i;
        ends_.assign(count.begin(), count.end() - 1);
        std::stable_sort(last_.begin(), last_.end(), [&](Index a, Index b) { return degree_[a] < degree_[b]; });
        std::copy(last_.begin(), last_.end(), order + n_ - static_cast<Index>(last_.size()));
    }
    Index root(Index i) {
        Index r = i;
        while (parent_[r] != none) r = parent_[r];
        while (parent_[i] != none && parent_[i] != r) i = std::exchange(parent_[i], r);
        return r;
    }

    Index n_ = 0, eliminated_ = 0, least_ = 0;
    std::int64_t stamp_ = 0, largest_ = 0;
    std::vector<Index> pool_, length_, n_elements_, nv_, degree_, head_, next_, previous_, bucket_, hash_, parent_;
    std::vector<Index> pivots_, last_, ends_;
    std::vector<double> entries_;
    std::vector<std::int64_t> begin_, w_;
};

}  // namespace sparsematch
