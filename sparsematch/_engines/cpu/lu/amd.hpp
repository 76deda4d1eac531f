// In which order to eliminate the vertices of a symmetric graph so that little fill comes:
// approximate minimum degree.
//
// Amestoy, Davis, Duff, An approximate minimum degree ordering algorithm (SIAM J. Matrix Anal.
// Appl. 17, 1996), Algorithm 2.
// Paper's names: A_i and E_i are the two parts of the list of variable i, elements first; L_e the
// list of element e; nv, w and degree as there. Elements are appended to the pool, which is not
// compacted: the caller bounds the fill, and with it the pool. Vertices that are equal from the
// start are merged before it: Ashcraft, Compressed graphs and the minimum degree algorithm (SIAM J.
// Sci. Comput. 16, 1995).
// Invariant: L_e of a living element holds living variables only, and degree[e] is their number,
// merged ones counted.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// What a factorisation L L^T in the order found costs at most.
struct EliminationCost {
    double entries = 0;  // below the diagonal
    double work = 0;     // multiplications
};

template <class Index>
class Amd {
  public:
    // Reads: the graph without its diagonal, edge {i, j} in both lists, no repeats; vertex i's list
    // is the length[i] numbers at pool[begin[i]]; the pool is used up. Writes: order, the vertices
    // in order of elimination, and the cost. Returns false, and no order, when L would have more
    // than `most` entries, or, as far as that can be foreseen, need more than `work`
    // multiplications for each. Time: O(n nnz) at worst, nearly O(nnz) in practice.
    bool run(Index n, const std::vector<std::int64_t>& begin, const std::vector<Index>& length,
             std::vector<Index>& pool, double most, double work, Index* order,
             EliminationCost& cost) {
        pool_.swap(pool);
        const bool found = eliminate(n, begin, length, most, work, order, cost);
        pool_.swap(pool);
        return found;
    }

    // After a run: how many entries the columns of L have up to the one that is eliminated there,
    // at most.
    void accumulate(double* entries) const {
        Index t = 0;
        for (std::size_t k = 0; k < pivots_.size(); ++k)
            while (t < ends_[k]) entries[t++] = entries_[k];
        while (t < n_) entries[t++] = entries_.empty() ? 0 : entries_.back();
    }

  private:
    static constexpr Index none = -1;

    // What is asked of a vertex, a variable or an element, side by side; its list in the pool.
    struct Vertex {
        std::int64_t begin, w;
        Index length, n_elements, nv, degree;
    };

    bool eliminate(Index n, const std::vector<std::int64_t>& begin,
                   const std::vector<Index>& length, double most, double work, Index* order,
                   EliminationCost& cost) {
        prepare(n, begin, length);
        cost = {};
        while (eliminated_ < n_) {
            const Index p = least();
            if (take_leaf(p)) {
                charge(v_[p].nv, cost);
                entries_.push_back(cost.entries);
                v_[p].nv = 0;
                continue;
            }
            const Index weight = form_element(p);
            measure_overlap(p);
            const Index grown = update_degrees(p, weight);
            merge_twins(p);
            finish(p, grown);
            charge(grown, cost);
            entries_.push_back(cost.entries);
            if (cost.entries > most ||
                (v_[p].degree > work / 2 && is_heavy(v_[p].degree, work, cost)))
                return false;
        }
        write_order(order);
        return true;
    }

    void prepare(Index n, const std::vector<std::int64_t>& begin,
                 const std::vector<Index>& length) {
        const auto size = static_cast<std::size_t>(n);
        n_ = n, eliminated_ = 0, least_ = 0, stamp_ = 2, largest_ = 0;
        mask_ = std::bit_floor(size) - 1;
        next_.resize(size), previous_.resize(size), hash_.resize(size);
        parent_.assign(size, none);
        head_.assign(size + 1, none), bucket_.assign(size, none);
        pivots_.clear(), last_.clear(), entries_.clear();
        // A vertex that nearly all others touch would be looked at in every step: it goes last.
        const double dense = std::max(16.0, 10 * std::sqrt(static_cast<double>(n)));
        v_.resize(size);
        std::int64_t entries = 0;
        for (Index i = 0; i < n; ++i)
            v_[i] = {begin[i], 1, length[i], 0, 1, length[i]}, entries += length[i];
        if (entries >= 8 * std::int64_t{n}) merge_equal(dense);
        for (Index i = 0; i < n; ++i) {
            if (v_[i].degree > dense) v_[i].nv = 0, last_.push_back(i), ++eliminated_;
            else if (v_[i].nv > 0) insert(i);
        }
    }

    // Neighbours that have all other neighbours in common. Told by sums of scattered numbers: that
    // two be equal by chance will not happen, and would cost some fill.
    void merge_equal(double dense) {
        const auto size = static_cast<std::size_t>(n_);
        std::vector<std::uint64_t> sum(size);
        for (Index i = 0; i < n_; ++i) sum[i] = hash(static_cast<std::uint64_t>(i));
        std::vector<std::uint64_t> closed(sum);
        for (Index i = 0; i < n_; ++i)
            for (auto q = v_[i].begin; q < v_[i].begin + v_[i].length; ++q)
                closed[i] += sum[pool_[q]];
        Index merged = 0;
        for (Index i = 0; i < n_; ++i) {
            if (v_[i].degree > dense) continue;
            Index& first = bucket_[closed[i] & mask_];
            Index j = first;
            while (j != none && closed[j] != closed[i]) j = next_[j];
            if (j != none) v_[i].nv = 0, parent_[i] = j, ++v_[j].nv, ++merged;
            else next_[i] = first, first = i;
        }
        std::fill(bucket_.begin(), bucket_.end(), none);
        if (merged == 0) return;
        for (Index i = 0; i < n_; ++i) v_[i].degree -= std::max<Index>(v_[i].nv - 1, 0);
        for (Index i = 0; i < n_; ++i) {
            auto to = v_[i].begin;
            const auto end = v_[i].nv > 0 ? to + v_[i].length : to;
            for (auto q = to; q < end; ++q)
                if (v_[pool_[q]].nv > 0) pool_[to++] = pool_[q];
            v_[i].length = static_cast<Index>(to - v_[i].begin);
        }
    }

    void insert(Index i) {
        const Index d = v_[i].degree;
        next_[i] = head_[d], previous_[i] = none;
        if (head_[d] != none) previous_[head_[d]] = i;
        head_[d] = i;
        least_ = std::min(least_, d);
    }
    void unlink(Index i) {
        if (next_[i] != none) previous_[next_[i]] = previous_[i];
        if (previous_[i] != none) next_[previous_[i]] = next_[i];
        else head_[v_[i].degree] = next_[i];
    }
    Index least() {
        while (head_[least_] == none) ++least_;
        const Index p = head_[least_];
        unlink(p);
        pivots_.push_back(p);
        return p;
    }

    // Whether p has no neighbours, or one and no elements. It leaves no element then: its neighbour
    // only loses it.
    bool take_leaf(Index p) {
        if (v_[p].n_elements > 0) return false;
        Index only = none;
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].length; ++q) {
            if (v_[pool_[q]].nv == 0) continue;
            if (only != none) return false;
            only = pool_[q];
        }
        eliminated_ += v_[p].nv;
        v_[p].degree = only == none ? 0 : v_[only].nv;
        if (only == none) return true;
        unlink(only);
        v_[only].degree -= v_[p].nv;
        insert(only);
        return true;
    }

    // L_p, the union of A_p and of the L_e of all e in E_p, which it absorbs. Its variables have nv
    // < 0 from here to finish.
    Index form_element(Index p) {
        eliminated_ += v_[p].nv;
        const Index weight = v_[p].nv;
        v_[p].nv = -weight;
        const auto at = static_cast<std::int64_t>(pool_.size());
        Index degree = 0;
        auto take = [&](std::int64_t from, Index count) {
            for (std::int64_t q = from; q < from + count; ++q) {
                const Index i = pool_[q], nvi = v_[i].nv;
                if (nvi <= 0) continue;
                degree += nvi;
                v_[i].nv = -nvi;
                pool_.push_back(i);
                unlink(i);
            }
        };
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].n_elements; ++q) {
            const Index e = pool_[q];
            if (v_[e].w == 0) continue;
            take(v_[e].begin, v_[e].length);
            v_[e].w = 0;
        }
        take(v_[p].begin + v_[p].n_elements, v_[p].length - v_[p].n_elements);
        v_[p].begin = at;
        v_[p].length = static_cast<Index>(static_cast<std::int64_t>(pool_.size()) - at);
        v_[p].degree = degree;
        return weight;
    }

    // w[e] - stamp becomes |L_e \ L_p| for every element that touches L_p.
    void measure_overlap(Index p) {
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].length; ++q) {
            const Index i = pool_[q], nvi = -v_[i].nv;
            for (std::int64_t t = v_[i].begin; t < v_[i].begin + v_[i].n_elements; ++t) {
                const Index e = pool_[t];
                if (v_[e].w >= stamp_) v_[e].w -= nvi;
                else if (v_[e].w != 0) v_[e].w = v_[e].degree + stamp_ - nvi;
            }
        }
    }

    // Lists of the variables of L_p lose what is dead or inside L_p and gain p; one that has
    // nothing else is eliminated along with p. Returns how many p now stands for. What stays is no
    // better than a coin to foretell: no branches.
    Index update_degrees(Index p, Index weight) {
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].length; ++q) {
            const Index i = pool_[q];
            const std::int64_t from = v_[i].begin, variables = from + v_[i].n_elements,
                               end = from + v_[i].length;
            std::int64_t to = from;
            Index d = 0;
            std::uint64_t sum = 0;
            for (std::int64_t t = from; t < variables; ++t) {
                const Index e = pool_[t];
                if (v_[e].w == 0) continue;
                if (const std::int64_t outside = v_[e].w - stamp_; outside > 0) {
                    d += static_cast<Index>(outside), sum += static_cast<std::uint64_t>(e),
                        pool_[to++] = e;
                } else {
                    v_[e].w = 0;  // L_e lies inside L_p
                }
            }
            const std::int64_t split = to;
            if (end - variables < 5) {
                for (std::int64_t t = variables; t < end; ++t) {
                    const Index j = pool_[t];
                    if (v_[j].nv > 0)
                        d += v_[j].nv, sum += static_cast<std::uint64_t>(j), pool_[to++] = j;
                }
            } else {
                for (std::int64_t t = variables; t < end; ++t) {
                    const Index j = pool_[t], nvj = v_[j].nv;
                    const bool stays = nvj > 0;
                    d += stays ? nvj : 0, sum += stays ? static_cast<std::uint64_t>(j) : 0;
                    pool_[to] = j, to += stays;
                }
            }
            if (d == 0) {
                const Index nvi = -v_[i].nv;
                parent_[i] = p, weight += nvi, v_[p].degree -= nvi, eliminated_ += nvi,
                v_[i].nv = 0;
                continue;
            }
            // p, or an element that p absorbs, was in the list of i, so that there is room for one
            // more.
            pool_[to] = pool_[split], pool_[split] = pool_[from], pool_[from] = p;
            v_[i].n_elements = static_cast<Index>(split - from + 1);
            v_[i].length = static_cast<Index>(to - from + 1);
            v_[i].degree = std::min(v_[i].degree, d);
            hash_[i] = static_cast<Index>(sum & mask_);
            next_[i] = bucket_[hash_[i]], bucket_[hash_[i]] = i;
        }
        largest_ = std::max<std::int64_t>(largest_, v_[p].degree);
        stamp_ += largest_ + 1;
        return weight;
    }

    // Variables with equal lists are eliminated together.
    void merge_twins(Index p) {
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].length; ++q) {
            if (v_[pool_[q]].nv == 0) continue;
            Index i = bucket_[hash_[pool_[q]]];
            bucket_[hash_[pool_[q]]] = none;
            for (; i != none && next_[i] != none; i = next_[i], ++stamp_) {
                for (std::int64_t t = v_[i].begin + 1; t < v_[i].begin + v_[i].length; ++t)
                    v_[pool_[t]].w = stamp_;
                for (Index before = i, j = next_[i]; j != none; j = next_[j]) {
                    if (same_lists(i, j))
                        v_[i].nv += v_[j].nv, v_[j].nv = 0, parent_[j] = i,
                                              next_[before] = next_[j];
                    else before = j;
                }
            }
        }
    }
    bool same_lists(Index i, Index j) const {
        if (v_[i].length != v_[j].length || v_[i].n_elements != v_[j].n_elements) return false;
        for (std::int64_t t = v_[j].begin + 1; t < v_[j].begin + v_[j].length; ++t)
            if (v_[pool_[t]].w != stamp_) return false;
        return true;
    }

    void finish(Index p, Index weight) {
        std::int64_t to = v_[p].begin;
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].length; ++q) {
            const Index i = pool_[q], nvi = -v_[i].nv;
            if (nvi <= 0) continue;
            v_[i].nv = nvi;
            v_[i].degree =
                std::min<Index>(v_[i].degree + v_[p].degree - nvi, n_ - eliminated_ - nvi);
            insert(i);
            pool_[to++] = i;
        }
        pool_.resize(static_cast<std::size_t>(to));
        v_[p].length = static_cast<Index>(to - v_[p].begin);
        v_[p].nv = weight;
        if (v_[p].length == 0) v_[p].w = 0;
    }

    void charge(Index weight, EliminationCost& cost) const {
        const double k = weight, d = static_cast<double>(v_[pivots_.back()].degree) +
                                     static_cast<double>(last_.size());
        cost.entries += k * d + k * (k - 1) / 2;
        cost.work += k * d * d + k * (k - 1) * d + k * (k - 1) * (2 * k - 1) / 6;
    }

    // Degrees hardly fall any more until few vertices are left: if all that come have this one, is
    // the whole too heavy?
    bool is_heavy(Index degree, double work, const EliminationCost& cost) const {
        const double d = degree,
                     rest = std::max<double>(static_cast<double>(n_ - eliminated_) - d, 0);
        return cost.work + rest * d * d + d * d * d / 3 >
               work * (cost.entries + rest * d + d * d / 2 + 0.5 * n_);
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
        std::stable_sort(last_.begin(), last_.end(),
                         [&](Index a, Index b) { return v_[a].degree < v_[b].degree; });
        std::copy(last_.begin(), last_.end(), order + n_ - static_cast<Index>(last_.size()));
    }
    Index root(Index i) {
        Index r = i;
        while (parent_[r] != none) r = parent_[r];
        while (parent_[i] != none && parent_[i] != r) i = std::exchange(parent_[i], r);
        return r;
    }

    std::vector<Vertex> v_;
    Index n_ = 0, eliminated_ = 0, least_ = 0;
    std::int64_t stamp_ = 0, largest_ = 0;
    std::uint64_t mask_ = 0;
    std::vector<Index> pool_, head_, next_, previous_, bucket_, hash_, parent_;
    std::vector<Index> pivots_, last_, ends_;
    std::vector<double> entries_;
};

}  // namespace sparsematch
