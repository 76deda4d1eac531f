// An elimination order of a symmetric graph that makes little fill: approximate minimum degree.
//
// Amestoy, Davis, Duff, An approximate minimum degree ordering algorithm (SIAM J. Matrix Anal.
// Appl. 17, 1996), Algorithm 2.
// Paper's names: A_i and E_i are the two parts of the list of variable i, elements first; L_e the
// list of element e; nv, w and degree as there. An element of no others takes the place of A_p, the
// rest are appended to the pool, which is compacted when it has doubled. Vertices that are equal
// from the start are merged first: Ashcraft, Compressed graphs and the minimum degree algorithm
// (SIAM J. Sci. Comput. 16, 1995). What has absorbed an element is its parent in a tree, of which
// the order is a postorder: it fills as the order of the pivots does.
// Invariant: a living element's L_e has living variables only; degree[e] counts them, merged too.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/elimination_cost.hpp"

namespace sparsematch {

// Vertices by degree: a doubly linked list for each degree.
template <class Index> class DegreeLists {
    static constexpr Index no_vertex = UNMATCHED<Index>;

  public:
    // No vertex of n is in a list.
    void clear(std::size_t n) {
        next.resize(n), previous_.resize(n);
        head_.assign(n + 1, no_vertex);
        least_ = 0;
    }
    void insert(Index i, Index degree) {
        next[i] = head_[degree], previous_[i] = no_vertex;
        if (head_[degree] != no_vertex) previous_[head_[degree]] = i;
        head_[degree] = i;
        least_ = std::min(least_, degree);
    }
    void unlink(Index i, Index degree) {
        if (next[i] != no_vertex) previous_[next[i]] = previous_[i];
        if (previous_[i] != no_vertex) next[previous_[i]] = next[i];
        else head_[degree] = next[i];
    }
    // The first vertex of a list; UNMATCHED if there is none.
    Index first(Index degree) const { return head_[degree]; }
    // Unlinks a vertex of the least degree; there is one.
    Index pop_least() {
        while (head_[least_] == no_vertex) ++least_;
        const Index i = head_[least_];
        unlink(i, least_);
        return i;
    }

    std::vector<Index> next;  // of a vertex that is in no list: free to use

  private:
    std::vector<Index> head_, previous_;
    Index least_ = 0;
};

template <class Index> class Amd {
  public:
    // Reads: the graph, whose pool is used up; last (null: none), vertices that are not eliminated
    // but count as neighbours. Writes: order, the other vertices in order of elimination, and the
    // cost. Returns false, no order, and the cost predicted when that exceeds a limit, or the run
    // was stopped. Time: O(n nnz) at worst, nearly O(nnz) mostly.
    bool run(AdjacencyLists<Index>& graph, const EliminationLimits& limits, Index* order,
             EliminationCost& cost, WorkCounter& counter, const std::vector<bool>* last = nullptr) {
        last_ = last;
        pool_.swap(graph.pool);
        prepare(graph);
        pool_.swap(graph.pool);
        return resume(graph, limits, order, cost, counter);
    }
    // Goes on where a run has exceeded its limits, with others.
    bool resume(AdjacencyLists<Index>& graph, const EliminationLimits& limits, Index* order,
                EliminationCost& cost, WorkCounter& counter) {
        pool_.swap(graph.pool);
        const bool found = eliminate(limits, cost, counter);
        if (found) write_order(order);
        pool_.swap(graph.pool);
        return found;
    }

    // With an order: how many entries the columns of L have at most, up to each place of it.
    // put(t, entries) in this order, of any type that holds those of a pivot.
    template <class Number, class Put> void accumulate(Number* entries, const Put& put) const {
        std::fill(entries, entries + n_, Number(0));
        for (const Pivot& pivot : pivots_)
            entries[pivot.begin] = static_cast<Number>(pivot.entries);
        const Index end = n_ - n_last_;
        for (Index t = end - n_dense(); t < end; ++t) entries[t] = static_cast<Number>(n_ - 1 - t);
        double sum = 0;
        for (Index t = 0; t < n_; ++t) put(t, sum += static_cast<double>(entries[t]));
    }
    void accumulate(double* entries) const {
        accumulate(entries, [=](Index t, double sum) { entries[t] = sum; });
    }

    // Vertices that nearly all others touch: the last of the order.
    Index n_dense() const { return static_cast<Index>(dense_.size()); }

  private:
    static constexpr Index no_vertex = -1;
    static constexpr std::int64_t step_work = 64;  // per element of a list, in edges scanned

    // What a step reads of a vertex, a variable or an element, side by side; its list in the pool.
    struct Vertex {
        std::int64_t begin, w;
        Index length, n_elements, nv, degree;
    };
    // A pivot, the vertices that it stands for, these with all below it in the tree, where the
    // first of them is in the order; entries of L.
    struct Pivot {
        Index vertex, weight, subtree, begin;
        double entries;
    };
    std::span<const Index> list(Index i) const {
        return {pool_.data() + v_[i].begin, static_cast<std::size_t>(v_[i].length)};
    }
    bool is_last(Index i) const { return last_ && (*last_)[i]; }
    void insert(Index i) {
        if (!is_last(i)) lists_.insert(i, v_[i].degree);
    }
    void unlink(Index i) {
        if (!is_last(i)) lists_.unlink(i, v_[i].degree);
    }
    std::span<const Index> elements(Index i) const { return list(i).first(v_[i].n_elements); }
    std::span<const Index> variables(Index i) const { return list(i).subspan(v_[i].n_elements); }

    bool eliminate(const EliminationLimits& limits, EliminationCost& cost, WorkCounter& counter) {
        while (eliminated_ < n_ - n_last_) {
            const Index p = lists_.pop_least();
            if (!counter.add(step_work * (1 + v_[p].length))) return false;
            if (eliminate_leaf(p)) {
                add_cost(p, std::exchange(v_[p].nv, 0));
                continue;
            }
            if (pool_.size() > room_) compact();
            const Index weight = form_element(p);
            measure_overlap(p);
            const Index grown = update_degrees(p, weight);
            merge_indistinguishable(p);
            finish(p, grown);
            add_cost(p, grown);
            const EliminationCost predicted = cost_.predicted(v_[p].degree, n_ - eliminated_);
            if (limits.exceeded_by(predicted)) return cost = predicted, false;
        }
        cost = cost_;
        return true;
    }

    void prepare(const AdjacencyLists<Index>& graph) {
        const Index n = graph.n();
        const auto size = static_cast<std::size_t>(n);
        room_ = 2 * pool_.size();
        n_last_ = last_ ? static_cast<Index>(std::count(last_->begin(), last_->end(), true)) : 0;
        n_ = n, eliminated_ = 0, stamp_ = 2, largest_ = 0, cost_ = {};
        mask_ = std::bit_floor(size) - 1;
        lists_.clear(size), hash_.resize(size);
        parent_.assign(size, no_vertex), bucket_.assign(size, no_vertex);
        pivots_.clear(), pivots_.reserve(size), dense_.clear();
        // A vertex that nearly all others touch would be scanned in every step: it goes last.
        const double dense = dense_limit(size);
        v_.resize(size);
        std::int64_t entries = 0;
        for (Index i = 0; i < n; ++i)
            v_[i] = {graph.begin[i], 1, graph.length[i], 0, 1, graph.length[i]},
            entries += graph.length[i];
        if (entries >= 8 * std::int64_t{n}) compress(dense);
        for (Index i = 0; i < n; ++i) {
            if (v_[i].degree > dense && !is_last(i))
                v_[i].nv = 0, dense_.push_back(i), ++eliminated_;
            else if (v_[i].nv > 0) insert(i);
        }
        cost_.add(static_cast<double>(dense_.size()), 0);
    }

    // Merges neighbours that have all other neighbours in common, recognised by sums of hashes: two
    // that are equal by chance are unlikely, and would cost some fill.
    void compress(double dense) {
        const auto size = static_cast<std::size_t>(n_);
        std::vector<std::uint64_t> sum(size);
        for (Index i = 0; i < n_; ++i) sum[i] = hash(static_cast<std::uint64_t>(i));
        std::vector<std::uint64_t> closed(sum);
        for (Index i = 0; last_ && i < n_; ++i) closed[i] += hash((*last_)[i]);
        for (Index i = 0; i < n_; ++i)
            for (const Index j : list(i)) closed[i] += sum[j];
        Index merged = 0;
        for (Index i = 0; i < n_; ++i) {
            if (v_[i].degree > dense) continue;
            Index& first = bucket_[closed[i] & mask_];
            Index j = first;
            while (j != no_vertex && closed[j] != closed[i]) j = lists_.next[j];
            if (j != no_vertex) v_[i].nv = 0, parent_[i] = j, ++v_[j].nv, ++merged;
            else lists_.next[i] = first, first = i;
        }
        std::fill(bucket_.begin(), bucket_.end(), no_vertex);
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

    // Moves the lists of living variables and elements to the front of the pool.
    void compact() {
        std::vector<Index> living;
        for (Index i = 0; i < n_; ++i)
            if (v_[i].nv > 0 && v_[i].w != 0) living.push_back(i);
        std::sort(living.begin(), living.end(),
                  [&](Index i, Index j) { return v_[i].begin < v_[j].begin; });
        auto to = pool_.begin();
        for (const Index i : living) {
            const auto from = pool_.begin() + v_[i].begin;
            v_[i].begin = to - pool_.begin();
            to = std::copy(from, from + v_[i].length, to);
        }
        pool_.erase(to, pool_.end());
        room_ = std::max(room_, 2 * pool_.size());
    }

    // A p without neighbours, or with one and no elements, leaves none: its neighbour loses it.
    bool eliminate_leaf(Index p) {
        if (v_[p].n_elements > 0) return false;
        Index only = no_vertex;
        for (const Index i : list(p)) {
            if (v_[i].nv == 0) continue;
            if (only != no_vertex) return false;
            only = i;
        }
        eliminated_ += v_[p].nv;
        v_[p].degree = only == no_vertex ? 0 : v_[only].nv;
        parent_[p] = only;
        if (only == no_vertex) return true;
        unlink(only);
        v_[only].degree -= v_[p].nv;
        insert(only);
        return true;
    }

    // L_p: A_p and all L_e, e in E_p, which it absorbs. Its variables have nv < 0 until finish.
    Index form_element(Index p) {
        const Index weight = v_[p].nv;
        eliminated_ += weight, v_[p].nv = -weight;
        // where A_p is, if there is nothing else
        const bool in_place = v_[p].n_elements == 0;
        const std::int64_t at = in_place ? v_[p].begin : static_cast<std::int64_t>(pool_.size());
        std::int64_t to = at;
        Index degree = 0;
        const auto add = [&](std::int64_t from, Index count) {
            for (std::int64_t q = from; q < from + count; ++q) {
                const Index i = pool_[q], nvi = v_[i].nv;
                if (nvi <= 0) continue;
                degree += nvi;
                v_[i].nv = -nvi;
                if (in_place) pool_[to] = i;
                else pool_.push_back(i);
                ++to, unlink(i);
            }
        };
        for (std::int64_t q = v_[p].begin; q < v_[p].begin + v_[p].n_elements; ++q) {
            const Index e = pool_[q];
            if (v_[e].w == 0) continue;
            add(v_[e].begin, v_[e].length);
            v_[e].w = 0, parent_[e] = p;
        }
        add(v_[p].begin + v_[p].n_elements, v_[p].length - v_[p].n_elements);
        v_[p].begin = at;
        v_[p].length = static_cast<Index>(to - at);
        v_[p].degree = degree;
        return weight;
    }

    // w[e] - stamp becomes |L_e \ L_p| for every element that touches L_p.
    void measure_overlap(Index p) {
        for (const Index i : list(p)) {
            const Index nvi = -v_[i].nv;
            for (const Index e : elements(i)) {
                if (v_[e].w >= stamp_) v_[e].w -= nvi;
                else if (v_[e].w != 0) v_[e].w = v_[e].degree + stamp_ - nvi;
            }
        }
    }

    // The lists of the variables of L_p lose what is dead or inside L_p and gain p; a variable that
    // has nothing else is eliminated along with p. Returns how many p now stands for.
    Index update_degrees(Index p, Index weight) {
        for (const Index i : list(p)) {
            const Kept kept = prune(p, i);
            if (kept.degree == 0 && !is_last(i)) {
                const Index nvi = -v_[i].nv;
                parent_[i] = p, v_[i].nv = 0;
                weight += nvi, v_[p].degree -= nvi, eliminated_ += nvi;
                continue;
            }
            put_first(p, i, kept);
            v_[i].degree = std::min(v_[i].degree, kept.degree);
            hash_[i] = static_cast<Index>(kept.hash & mask_);
            lists_.next[i] = std::exchange(bucket_[hash_[i]], i);
        }
        largest_ = std::max<std::int64_t>(largest_, v_[p].degree);
        stamp_ += largest_ + 1;
        return weight;
    }

    // What is left of a list: elements up to `split`, variables up to `end`; their degrees outside
    // L_p, and numbers, summed up.
    struct Kept {
        std::int64_t split, end;
        Index degree;
        std::uint64_t hash;
    };

    // Takes elements that are dead or inside L_p, and variables that are not outside L_p, out of
    // the list of i. Elements inside L_p die.
    Kept prune(Index p, Index i) {
        std::int64_t to = v_[i].begin;
        Index degree = 0;
        std::uint64_t hash = 0;
        const auto keep = [&](Index k, Index outside) {
            degree += outside, hash += static_cast<std::uint64_t>(k), pool_[to++] = k;
        };
        for (const Index e : elements(i)) {
            const std::int64_t outside = v_[e].w - stamp_;
            if (v_[e].w == 0) continue;
            if (outside > 0) keep(e, static_cast<Index>(outside));
            else v_[e].w = 0, parent_[e] = p;
        }
        const std::int64_t split = to;
        for (const Index j : variables(i))
            if (v_[j].nv > 0) keep(j, v_[j].nv);
        return {split, to, degree, hash};
    }

    // p, or an element that p absorbs, was in the list of i, so that there is room for one more.
    void put_first(Index p, Index i, const Kept& kept) {
        const std::int64_t begin = v_[i].begin;
        pool_[kept.end] = pool_[kept.split], pool_[kept.split] = pool_[begin], pool_[begin] = p;
        v_[i].n_elements = static_cast<Index>(kept.split - begin + 1);
        v_[i].length = static_cast<Index>(kept.end - begin + 1);
    }

    // Variables with equal lists, which are in one bucket, are eliminated together.
    void merge_indistinguishable(Index p) {
        for (const Index k : list(p)) {
            if (v_[k].nv == 0) continue;
            Index i = std::exchange(bucket_[hash_[k]], no_vertex);
            for (; i != no_vertex && lists_.next[i] != no_vertex; i = lists_.next[i], ++stamp_)
                merge_equal_of_bucket(i);
        }
    }
    // Merges into i those behind it in its bucket that have its list.
    void merge_equal_of_bucket(Index i) {
        for (const Index k : list(i).subspan(1)) v_[k].w = stamp_;
        for (Index before = i, j = lists_.next[i]; j != no_vertex; j = lists_.next[j]) {
            if (same_lists(i, j)) {
                v_[i].nv += v_[j].nv, v_[j].nv = 0;
                parent_[j] = i, lists_.next[before] = lists_.next[j];
            } else {
                before = j;
            }
        }
    }
    bool same_lists(Index i, Index j) const {
        if (v_[i].length != v_[j].length || v_[i].n_elements != v_[j].n_elements ||
            is_last(i) != is_last(j))
            return false;
        for (const Index k : list(j).subspan(1))
            if (v_[k].w != stamp_) return false;
        return true;
    }

    void finish(Index p, Index weight) {
        std::int64_t to = v_[p].begin;
        const bool is_last_list = to + v_[p].length == static_cast<std::int64_t>(pool_.size());
        for (const Index i : list(p)) {
            const Index nvi = -v_[i].nv;
            if (nvi <= 0) continue;
            v_[i].nv = nvi;
            v_[i].degree =
                std::min<Index>(v_[i].degree + v_[p].degree - nvi, n_ - eliminated_ - nvi);
            insert(i);
            pool_[to++] = i;
        }
        if (is_last_list) pool_.resize(static_cast<std::size_t>(to));
        v_[p].length = static_cast<Index>(to - v_[p].begin);
        v_[p].nv = weight;
        if (v_[p].length == 0) v_[p].w = 0;
    }

    // A pivot that stands for `weight` vertices.
    void add_cost(Index p, Index weight) {
        const double before = cost_.entries;
        cost_.add(weight, static_cast<double>(v_[p].degree) + static_cast<double>(dense_.size()));
        pivots_.push_back({p, weight, weight, 0, cost_.entries - before});
    }

    // A postorder of pivots, each followed by what merged into it. Dense vertices last, by degree.
    void write_order(Index* order) {
        std::vector<Index>& turn = hash_;  // of a pivot
        std::fill(turn.begin(), turn.end(), no_vertex);
        Index n_pivots = 0, end = 0;
        for (const Pivot& pivot : pivots_) turn[pivot.vertex] = n_pivots++, end += pivot.weight;
        const auto above = [&](const Pivot& pivot) {
            const Index r = pivot_of(parent_[pivot.vertex]);
            return r == no_vertex ? nullptr : &pivots_[turn[r]];
        };
        for (const Pivot& pivot : pivots_)
            if (Pivot* const up = above(pivot)) up->subtree += pivot.subtree;
        // From the last on, each subtree ends where its parent's vertices, or a later sibling's
        // subtree, begin: `begin` is where the next child's ends, until all are placed.
        for (auto pivot = pivots_.rbegin(); pivot != pivots_.rend(); ++pivot) {
            Pivot* const up = above(*pivot);
            Index& place = up ? up->begin : end;
            pivot->begin = place - pivot->weight, place -= pivot->subtree;
        }
        for (Pivot& pivot : pivots_) {
            pivot.begin += pivot.subtree - pivot.weight;
            order[pivot.begin] = pivot.vertex, pivot.subtree = pivot.begin + 1;
        }
        for (Index i = 0; i < n_; ++i)
            if (turn[i] == no_vertex)
                if (const Index r = pivot_of(i); r != no_vertex)
                    order[pivots_[turn[r]].subtree++] = i;
        std::stable_sort(dense_.begin(), dense_.end(),
                         [&](Index a, Index b) { return v_[a].degree < v_[b].degree; });
        std::copy(dense_.begin(), dense_.end(), order + n_ - n_last_ - n_dense());
    }
    // The pivot that stands for a vertex, in the end, if it was eliminated. Paths are compressed.
    Index pivot_of(Index i) {
        const auto is_between = [&](Index k) { return k != no_vertex && hash_[k] == no_vertex; };
        Index r = i;
        while (is_between(r)) r = parent_[r];
        while (is_between(i)) i = std::exchange(parent_[i], r);
        return r;
    }

    std::vector<Vertex> v_;
    DegreeLists<Index> lists_;  // variables in none of them: next links their hash bucket
    const std::vector<bool>* last_ = nullptr;
    Index n_ = 0, n_last_ = 0, eliminated_ = 0;
    std::int64_t stamp_ = 0, largest_ = 0;
    std::uint64_t mask_ = 0;
    std::size_t room_ = 0;  // size of the pool at which it is compacted
    EliminationCost cost_;  // so far
    // parent_: what a vertex was merged into; of a pivot, a vertex that its parent stands for.
    std::vector<Index> pool_, bucket_, hash_, parent_, dense_;
    std::vector<Pivot> pivots_;
};

}  // namespace sparsematch
