// Large strong components, found by searches that can ask for their memory in advance, or read it in order.
//
// What a vertex, the pivot, both reaches and is reached from is its component (Fleischer, Hendrickson, Pinar 2000). The
// vertices are the matched columns of a matrix; column j has an arc to each column of its mate's row. What is found need not
// be a whole component: the caller contracts it to one vertex, with the arcs that are told here, and searches the rest.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "check.hpp"
#include "csr.hpp"

namespace sparsematch {

template <class Index>
class LargeComponents {
  public:
    static constexpr int most = 3;

    // Searches among the vertices that are not settled yet.
    LargeComponents(const Csr<Index>& a, Matching<Index> m, const Bitmap& settled_row, const Bitmap& settled_col, Run& run)
        : a_(a), m_(m), settled_row_(settled_row), settled_col_(settled_col), run_(run), left_(a.n_cols - settled_col.count()) {
    }

    // With the transpose: one breadth-first search forwards and one backwards for each pivot, the row with the most entries.
    // Time: O(n_rows + n_cols + nnz).
    void search(const Csr<Index>& t) {
        state_ = Buffer<unsigned char>(a_.n_cols, 0);
        Bitmap row(a_.n_rows), col(a_.n_cols);  // settled, or known to lead to an earlier pivot
        row.copy(settled_row_);
        col.copy(settled_col_);
        std::size_t left = left_;
        for (bool large = true; large && left > static_cast<std::size_t>(a_.n_cols) / 4 && size_ < most && !run_.stopped();) {
            const std::size_t before = left_;
            left -= peel(t, row, col);
            large = before - left_ > before / 8;
        }
    }

    // Without: sweeps over the rows in both directions, which tell along the arcs what the pivot reaches and against them what
    // leads to it. Where neighbours are near in memory, and their numbers too, a few sweeps find nearly everything, faster
    // than a search that follows the arcs. Given up where they do not. Time: O(n_rows + n_cols + nnz).
    void sweep(const Bitmap& horizontal_col) {
        const std::size_t all = left_;
        state_ = Buffer<unsigned char>(a_.n_cols);
        for (Index j = 0; j < a_.n_cols; ++j)
            state_[j] = (settled_col_.test(j) ? horizontal_col.test(j) ? horizontal : settled : 0) * part;
        for (bool large = true; large && left_ > all / 4 && size_ < most;) large = sweep_from(middle());
        if (left_ <= all / 2) return;
        size_ = 0;  // not worth it
        state_ = {};
    }

    int size() const { return size_; }
    // How many vertices are neither settled nor within a component.
    std::size_t left() const { return left_; }
    // The component of a column; -1: of none.
    int operator[](Index j) const { return size_ == 0 ? -1 : state_[j] / part - 1; }
    // Columns that arcs from it lead to: with arcs to these alone it reaches what it reaches in truth.
    const std::vector<Index>& targets(int g) const { return targets_[g]; }

  private:
    // What is known of a vertex: that the pivot reaches it, that it leads there, that all that it has arcs to is reached; and
    // above these bits its component + 1, or the part where it has been settled.
    static constexpr unsigned char reached = 1, leads = 2, told = 4, both = reached | leads, part = 8;
    static constexpr unsigned char horizontal = 6, settled = 7;
    static constexpr Index stride = 1 << 12;
    static constexpr int max_sweeps = 8;
    struct Known {
        std::size_t reached = 0, leads = 0, both = 0;
    };

    // One pivot's component. Returns the number of vertices that lead to it, among those that are in neither bitmap.
    std::size_t peel(const Csr<Index>& t, Bitmap& row, Bitmap& col) {
        Index pivot = UNMATCHED<Index>;
        for (Index i = 0; i < a_.n_rows; ++i)
            if (!row.test(i) && (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot))) pivot = i;
        Bitmap ahead(a_.n_cols), behind(a_.n_rows);
        ahead.copy(col);
        ahead.set(m_.row_mate[pivot]);
        {
            Reach<Index> forward(a_, m_.col_mate, ahead);
            forward.from(pivot);
            forward.run(run_);
        }
        behind.copy(row);
        behind.set(pivot);
        std::size_t n_behind = 1, component = 0;
        {
            Reach<Index> backward(t, m_.row_mate, behind);
            backward.from(m_.row_mate[pivot]);
            backward.run(run_);
            n_behind += backward.size();
        }
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (row.test(i)) continue;
            const Index j = m_.row_mate[i];
            if (ahead.test(j)) {
                if (behind.test(i)) {
                    state_[j] = (size_ + 1) * part;
                    ++component;
                } else {
                    targets_[size_].push_back(j);
                }
            }
            if (behind.test(i)) col.set(j);
        }
        row.copy(behind);
        left_ -= component;
        ++size_;
        return n_behind;
    }

    // One pivot's component. False if it is not large, or the run was stopped.
    bool sweep_from(Index pivot) {
        state_[m_.row_mate[pivot]] = both;
        const Index n = a_.n_rows, near = n / 64, low = pivot - std::min(pivot, near), high = pivot + std::min(n - pivot, near);
        bool going = up(pivot, high) && down(high, low) && up(low, high) && down(high, low);
        Known known = count();
        // Little nearby: there is no order that sweeps could follow.
        if (going && known.reached + known.leads > std::min<std::size_t>(left_ / 128, 64)) going = up(low, n);
        for (int sweeps = 0; going; ++sweeps) {
            const std::size_t before = known.reached + known.leads, open = 2 * left_ - before;
            known = count();
            const std::size_t now = known.reached + known.leads;
            const bool gains = sweeps == 0 ? now > left_ / 128 : now - before > open / 4;
            // Where each that is reached leads back, there is most likely no more.
            if (sweeps == max_sweeps || !gains || now == 2 * known.both || left_ - known.both <= left_ / 16) break;
            going = sweeps % 2 == 0 ? down(n, 0) : up(0, n);
        }
        const bool large = going && known.both > left_ / 8 && close();
        keep(large);
        return large;
    }

    Known count() const {
        Known known;
        const unsigned char* const state = state_.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += 128) {
            unsigned char n_reached = 0, n_leads = 0, n_both = 0;
            for (std::size_t j = base; j < std::min(base + 128, end); ++j) {
                const unsigned char s = state[j], open = s < part;
                n_reached += open & s;
                n_leads += open & (s >> 1);
                n_both += open & s & (s >> 1);
            }
            known.reached += n_reached;
            known.leads += n_leads;
            known.both += n_both;
        }
        return known;
    }

    // Finds all that the pivot reaches, and of what leads to it most of what is missing.
    bool close() {
        Meter meter(run_);
        Buffer<Index> list(static_cast<std::size_t>(a_.n_cols) + 1);
        std::size_t n = 0;
        for (Index j = 0; j < a_.n_cols; ++j) {
            if (state_[j] < part && (state_[j] & (reached | told)) == reached) list[n++] = j;
        }
        for (std::size_t head = 0; head < n; ++head) {
            const Index i = m_.col_mate[list[head]];
            for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) {
                const Index k = a_.indices[p];
                const unsigned char s = state_[k];
                list[n] = k;
                n += (s & reached) == 0 && s < part;
                state_[k] = s | reached;
            }
            if (!meter.charge(a_.degree(i))) return false;
        }
        n = 0;
        for (Index j = 0; j < a_.n_cols; ++j) {
            if (state_[j] < part && (state_[j] & both) == reached) list[n++] = j;
        }
        for (std::size_t before = 2 * n; before - n > before / 4;) {
            before = n;
            std::reverse(list.begin(), list.begin() + n);
            n = 0;
            for (std::size_t k = 0; k < before; ++k) {
                const Index j = list[k], i = m_.col_mate[j];
                tell(i);
                list[n] = j;
                n += !(state_[j] & leads);
                if (!meter.charge(a_.degree(i))) return false;
            }
        }
        return true;
    }

    // Makes a component of what is reached and leads back, if it is large; forgets what else is known.
    void keep(bool large) {
        unsigned seen = 0;
        const unsigned char own = (size_ + 1) * part;
        for (Index j = 0; j < a_.n_cols; ++j) {
            const unsigned char s = state_[j];
            const bool member = large && s < part && (s & both) == both;
            state_[j] = member ? own : s & ~(part - 1);
            left_ -= member;
            if (large && (s & reached) && !member && !(s >= part && seen >> s / part & 1)) {
                targets_[size_].push_back(j);
                if (s >= part) seen |= 1u << s / part;
            }
        }
        size_ += large;
    }

    // A row with many entries, about in the middle of those that are in question.
    Index middle() const {
        Index pivot = UNMATCHED<Index>;
        const Index n = a_.n_rows, half = n / 2;
        for (Index d = 0, looked = 0; d < n && looked < 64; ++d) {
            const Index i = d < n - half ? half + d : n - 1 - d, j = m_.row_mate[i];
            if (j == UNMATCHED<Index> || state_[j] != 0) continue;
            ++looked;
            if (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot)) pivot = i;
        }
        return pivot;
    }

    // Rows begin..end-1, in this order or the opposite one.
    bool up(Index begin, Index end) {
        Meter meter(run_);
        for (Index i = begin; i < end;) {
            const Index stop = std::min<Index>(end - i, stride) + i, first = a_.indptr[i];
            for (; i < stop; ++i) visit(i);
            if (!meter.charge(a_.indptr[stop] - first + stride)) return false;
        }
        return true;
    }
    bool down(Index end, Index begin) {
        Meter meter(run_);
        for (Index i = end; i > begin;) {
            const Index stop = i - std::min<Index>(i - begin, stride), last = a_.indptr[i];
            while (i > stop) visit(--i);
            if (!meter.charge(last - a_.indptr[stop] + stride)) return false;
        }
        return true;
    }
    void visit(Index i) {
        const Index j = m_.row_mate[i];
        if (j != UNMATCHED<Index> && state_[j] < (both | told)) tell(i);
    }
    // Without a branch on what is known: none could be predicted.
    void tell(Index i) {
        unsigned char* const state = state_.data();
        const Index j = m_.row_mate[i];
        const unsigned char on = state[j] & reached;
        unsigned char back = 0;
        for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) {
            const Index k = a_.indices[p];
            const unsigned char s = state[k];
            back |= s;
            state[k] = s | on;
        }
        state[j] |= (back & leads) | on * told;
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const Bitmap &settled_row_, &settled_col_;
    Run& run_;
    std::size_t left_;
    int size_ = 0;
    Buffer<unsigned char> state_;  // of a column
    std::array<std::vector<Index>, most> targets_;
};

}  // namespace sparsematch
