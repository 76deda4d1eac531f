// What elimination of a symmetric graph in a given order costs, exactly, before any number is
// computed; and an equivalent order in which what depends on each other is side by side.
//
// Liu, The role of elimination trees in sparse factorization (SIAM J. Matrix Anal. Appl. 11, 1990)
// for the tree and its postorder; Gilbert, Ng, Peyton, An efficient algorithm to compute row and
// column counts for sparse Cholesky factorization (SIAM J. Matrix Anal. Appl. 15, 1994), Fig. 3.
// Paper's names: fst_desc, prev_p, prev_nbr and wt as there.
// Invariant: a postorder of the tree makes the same fill, and every vertex still comes behind the
// neighbours that it came behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "elimination/adjacency_lists.hpp"
#include "elimination/elimination_cost.hpp"

namespace sparsematch {

template <class Index> class EliminationTree {
  public:
    // Reads: the graph. Writes: order, the vertices in order of elimination, becomes a postorder.
    // Returns the exact cost. Time: O(n + nnz alpha(n)).
    EliminationCost postorder(const AdjacencyLists<Index>& graph, std::vector<Index>& order) {
        const Index n = graph.n();
        number(order);
        find_parents(graph, order);
        sort_postorder(n, order);
        number(order);
        count(graph, order);
        EliminationCost cost;
        for (const Index below : count_) cost.add(1, static_cast<double>(below));
        return cost;
    }
    // Makes a tree that is given one in postorder: the parent of each place in the order, and this.
    void sort(std::vector<Index>& parent, std::vector<Index>& order) {
        parent_.swap(parent);
        sort_postorder(static_cast<Index>(order.size()), order);
        parent_.swap(parent);
    }
    // After postorder: the parent of the t-th vertex in the order, which comes behind it, or
    // no_parent; and the entries of its column of L below the diagonal.
    const std::vector<Index>& parent() const { return parent_; }
    const std::vector<Index>& counts() const { return count_; }

    // After postorder: how many entries the columns of L have up to the t-th.
    void accumulate(double* entries) const {
        double sum = 0;
        for (const Index below : count_) *entries++ = sum += below;
    }

    static constexpr Index no_parent = -1;

  private:
    void number(const std::vector<Index>& order) {
        turn_.resize(order.size());
        for (std::size_t t = 0; t < order.size(); ++t) turn_[order[t]] = static_cast<Index>(t);
    }

    // The parent of t is the first row below the diagonal of its column of L. Paths are compressed.
    void find_parents(const AdjacencyLists<Index>& graph, const std::vector<Index>& order) {
        parent_.assign(order.size(), no_parent), ancestor_.assign(order.size(), no_parent);
        for (Index t = 0; t < graph.n(); ++t)
            for (const Index j : graph[order[t]]) {
                Index i = turn_[j];
                while (i < t) {
                    const Index next = std::exchange(ancestor_[i], t);
                    if (next == no_parent) {
                        parent_[i] = t;
                        break;
                    }
                    i = next;
                }
            }
    }

    // Children in order of elimination, then their parent; parent_ is numbered by it afterwards.
    void sort_postorder(Index n, std::vector<Index>& order) {
        std::vector<Index>&first = ancestor_, &next = count_, &place = previous_leaf_;
        first.assign(order.size(), no_parent), next.resize(order.size());
        Index root = no_parent;
        for (Index t = n - 1; t >= 0; --t) {
            Index& head = parent_[t] == no_parent ? root : first[parent_[t]];
            next[t] = std::exchange(head, t);
        }
        place.resize(order.size()), old_.resize(order.size());
        Index done = 0, t = root;
        while (t != no_parent) {
            while (first[t] != no_parent) t = first[t];
            while (true) {  // t has no children that are left
                place[t] = done, old_[done++] = order[t];
                if (next[t] != no_parent || parent_[t] == no_parent) break;
                t = parent_[t];
            }
            t = next[t];
        }
        for (Index u = 0; u < n; ++u)
            next[place[u]] = parent_[u] == no_parent ? no_parent : place[parent_[u]];
        parent_.swap(count_), order.swap(old_);
    }

    // A column of L is the sum of weights in its subtree: +1 for a leaf of the row subtree of each
    // row, -1 where two of its paths meet.
    void count(const AdjacencyLists<Index>& graph, const std::vector<Index>& order) {
        const auto n = static_cast<Index>(order.size());
        std::vector<Index>&first_descendant = old_, &previous = ancestor_;
        first_descendant.resize(order.size()), set_.resize(order.size());
        count_.assign(order.size(), 1);
        for (Index t = 0; t < n; ++t) first_descendant[t] = set_[t] = t;
        for (Index t = 0; t < n; ++t)
            if (const Index u = parent_[t]; u != no_parent) {
                first_descendant[u] = std::min(first_descendant[u], first_descendant[t]);
                count_[u] = 0;
            }
        previous.assign(order.size(), no_parent);
        previous_leaf_.assign(order.size(), no_parent);
        for (Index t = 0; t < n; ++t) {
            for (const Index j : graph[order[t]]) {
                const Index u = turn_[j];
                if (u < t) continue;
                if (first_descendant[t] > previous[u]) {
                    ++count_[t];
                    if (const Index leaf = previous_leaf_[u]; leaf != no_parent)
                        --count_[find(leaf)];
                    previous_leaf_[u] = t;
                }
                previous[u] = t;
            }
            if (parent_[t] != no_parent) --count_[parent_[t]], set_[t] = parent_[t];
        }
        for (Index t = 0; t < n; ++t)
            if (parent_[t] != no_parent) count_[parent_[t]] += count_[t];
        for (Index& below : count_) --below;
    }
    Index find(Index t) {
        Index top = t;
        while (set_[top] != top) top = set_[top];
        while (set_[t] != top) t = std::exchange(set_[t], top);
        return top;
    }

    std::vector<Index> turn_, parent_, ancestor_, count_, previous_leaf_, old_, set_;
};

}  // namespace sparsematch
