// Large strong components, found by searches that can ask for their memory in advance, or read it
// in order.
//
// What a vertex, the pivot, both reaches and is reached from is its component (Fleischer,
// Hendrickson, Pinar 2000). The vertices are the matched columns of a matrix; column j has an arc
// to each column of its mate's row. What is found need not be a whole component: the caller
// contracts it to one vertex, with the arcs that are told here, and searches the rest.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"

namespace sparsematch {

template <class Index>
class LargeComponents {
  public:
    static constexpr int most = 3;

    // Searches among the vertices that are not settled.
    LargeComponents(const Csr<Index>& a, Matching<Index> m, const Bitmap& settled_row,
                    const Bitmap& settled_col, RunContext& run)
        : a_(a), m_(m), settled_row_(settled_row), settled_col_(settled_col), run_(run),
          left_(a.n_cols - settled_col.count()) {}

    // With the transpose: one breadth-first search forwards and one backwards for each pivot, the
    // row with the most entries.
    // Time: O(n_rows + n_cols + nnz).
    void search(const Csr<Index>& t) {
        state_ = Buffer<unsigned char>(a_.n_cols, 0);
        Bitmap row(a_.n_rows), col(a_.n_cols);  // settled, or known to lead to an earlier pivot
        row.copy(settled_row_);
        col.copy(settled_col_);
        left_ = a_.n_cols - col.count();
        std::size_t left = left_;
        for (bool large = true; large && left > static_cast<std::size_t>(a_.n_cols) / 4 &&
                                size_ < most && !run_.stopped();) {
            large = peel(t, row, col);
            left = a_.n_cols - col.count();
        }
    }

    // Without: sweeps over the rows, which tell along the arcs what a pivot reaches and against
    // them what leads to it. Where neighbours are near in memory, and their numbers too, a few
    // sweeps find nearly everything, faster than a search that follows the arcs. Given up where
    // they do not. Time: O(n_rows + n_cols + nnz).
    void sweep(const Bitmap& horizontal_col) {
        const std::size_t all = left_;
        state_ = Buffer<unsigned char>(a_.n_cols, 0);
        each(settled_col_, true, a_.n_cols,
             [&](Index j) { state_[j] = horizontal_col.test(j) ? horizontal : settled; });
        for (bool large = true; large && left_ > all / 4 && size_ < most;) {
            large = sweep_from_middle();
            if (left_ > 0) forget();
        }
        if (left_ <= all / 2) return;
        size_ = 0;  // not worth it
        state_ = {};
    }

    int size() const { return size_; }
    // How many vertices are neither settled nor within a component.
    std::size_t left() const { return left_; }
    // The component of a column; -1: of none.
    int operator[](Index j) const {
        return size_ > 0 && state_[j] >= member ? (state_[j] - member) / first_told : -1;
    }
    // Columns that arcs from it lead to: with arcs to these alone it reaches what it reaches in
    // truth.
    const std::vector<Index>& targets(int g) const { return targets_[g]; }

  private:
    // What is known of a vertex: for each of two pivots that it reaches the vertex (bits 0 and 1),
    // that the vertex leads to it (2 and 3), and that all that it has arcs to is known to be
    // reached (4 and 5). From `settled` on it stands somewhere: in this part, or in the component
    // in bits 4 and 5.
    static constexpr unsigned char reached = 3, leads = 12, first_leads = 4, told = 48,
                                   first_told = 16;
    static constexpr unsigned char settled = 64, horizontal = 128, member = 192;
    static constexpr Index stride = 1 << 12;
    static constexpr int max_sweeps = 8;
    struct Known {
        std::size_t reached = 0, leads = 0, both = 0;
    };

    // One pivot's component. False if it is not large. Adds what leads to it to the bitmaps.
    bool peel(const Csr<Index>& t, Bitmap& row, Bitmap& col) {
        Index pivot = UNMATCHED<Index>, most_entries = -1;
        for (Index i = 0; i < a_.n_rows; ++i)
            if (a_.degree(i) > most_entries && !row.test(i)) {
                pivot = i;
                most_entries = a_.degree(i);
            }
        // What the pivot reaches, and what leads to it; on the side that is searched with all that
        // is in row and col.
        Bitmap ahead_row(a_.n_rows), ahead(a_.n_cols), behind_row(a_.n_rows), behind(a_.n_cols);
        reach(a_, m_, pivot, col, ahead_row, ahead);
        reach(t, m_.flipped(), m_.row_mate[pivot], row, behind, behind_row);
        ahead.remove(col);
        row.copy(behind_row);
        col.merge(behind);
        behind.keep(ahead);  // what is in both is the component
        ahead.remove(behind);
        const std::size_t found = behind.count();
        if (found <= left_ / 8) return false;
        const unsigned char own = member + size_ * first_told;
        each(behind, true, a_.n_cols, [&](Index j) { state_[j] = own; });
        each(ahead, true, a_.n_cols, [&](Index j) { targets_[size_].push_back(j); });
        left_ -= found;
        ++size_;
        return true;
    }

    void reach(const Csr<Index>& a, Matching<Index> m, Index pivot, const Bitmap& without,
               Bitmap& row, Bitmap& col) {
        col.copy(without);
        row.set(pivot);
        col.set(m.row_mate[pivot]);
        AlternatingSearch<Index> search(a, m.col_mate, row, col);
        search.from(pivot);
        search.run(run_);
    }

    // The components of two pivots, of which the second is one that the first seems to have no part
    // in: without its diagonal a mesh of two colours has two large components. False if none is
    // large, or the run was stopped.
    bool sweep_from_middle() {
        const Index n = a_.n_rows, near = n / 64, pivot = middle();
        const Index low = pivot - std::min(pivot, near), high = pivot + std::min(n - pivot, near);
        state_[m_.row_mate[pivot]] = 1 | first_leads;
        bool going = up(pivot, high) && down(high, low) && up(low, high) && down(high, low);
        Known known = count();
        // Little nearby: there is no order that sweeps could follow.
        if (!going || known.reached + known.leads <= std::min<std::size_t>(left_ / 128, 64))
            return false;
        const Index other = middle(), col = m_.row_mate[pivot],
                    other_col = m_.row_mate[std::max<Index>(other, 0)];
        if (other != UNMATCHED<Index>) state_[other_col] = 2 | 2 * first_leads;
        going = up(low, n);
        for (int sweeps = 0; going; ++sweeps) {
            const std::size_t before = known.reached + known.leads, open = 2 * left_ - before;
            known = count();
            const std::size_t now = known.reached + known.leads;
            const bool gains = sweeps == 0 ? now > left_ / 128 : now - before > open / 4;
            // Where each that is reached leads back, there is most likely no more.
            if (sweeps == max_sweeps || !gains || now == 2 * known.both ||
                left_ - known.both <= left_ / 16)
                break;
            going = sweeps % 2 == 0 ? down(n, 0) : up(0, n);
        }
        if (other != UNMATCHED<Index> && state_[col] & 2 && state_[other_col] & 1) unite();
        const std::size_t all = left_;
        const int components = size_;
        for (unsigned char bit = 1; bit <= 2 && size_ < most && going; ++bit) {
            if (count(bit).both <= all / 8) continue;
            going = close(bit);
            if (going) keep(bit);
        }
        return going && size_ > components;
    }

    // What is known of either pivot is known of the first.
    void unite() {
        constexpr unsigned char first = 1 | first_leads | first_told;
        for (unsigned char& s : state_) s = s < settled ? (s | s >> 1) & first : s;
    }

    // Of one of the pivots, or of any.
    Known count(unsigned char bit = reached) const {
        Known known;
        const unsigned char* const state = state_.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += 128) {
            unsigned char n_reached = 0, n_leads = 0, n_both = 0;
            for (std::size_t j = base; j < std::min(base + 128, end); ++j) {
                const unsigned char s = state[j] < settled ? state[j] : 0;
                n_reached += (s & bit) != 0;
                n_leads += (s >> 2 & bit) != 0;
                n_both += (s & s >> 2 & bit) != 0;
            }
            known.reached += n_reached;
            known.leads += n_leads;
            known.both += n_both;
        }
        return known;
    }

    // The columns with these of the bits in `mask`, in ascending order. They are few: many are
    // looked at together.
    template <class Use>
    void each_few(unsigned char mask, unsigned char bits, const Use& use) const {
        const unsigned char* const state = state_.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += 128) {
            const std::size_t stop = std::min(base + 128, end);
            unsigned char any = 0;
            for (std::size_t j = base; j < stop; ++j) any |= (state[j] & mask) == bits;
            for (std::size_t j = base; any && j < stop; ++j)
                if ((state[j] & mask) == bits) use(static_cast<Index>(j));
        }
    }

    // Finds all that the pivot reaches, and of what leads to it most of what is missing.
    bool close(unsigned char bit) {
        WorkCounter counter(run_);
        Buffer<Index> list(left_ + 1);
        std::size_t n = 0;
        each_few(member | bit | bit * first_told, bit, [&](Index j) { list[n++] = j; });
        for (std::size_t head = 0; head < n; ++head) {
            ask(list, head, n);
            const Index i = m_.col_mate[list[head]];
            for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) {
                const Index k = a_.indices[p];
                const unsigned char s = state_[k];
                list[n] = k;
                n += (s & bit) == 0 && s < settled;
                state_[k] = s | bit;
            }
            if (!counter.add(a_.degree(i))) return false;
        }
        n = 0;
        const Rows rows = this->rows();
        each_few(member | bit | bit * first_leads, bit, [&](Index j) { list[n++] = j; });
        for (std::size_t before = 2 * n; before - n > before / 4;) {
            before = n;
            std::reverse(list.begin(), list.begin() + n);
            n = 0;
            for (std::size_t k = 0; k < before; ++k) {
                ask(list, k, before);
                const Index j = list[k], i = m_.col_mate[j];
                rows.tell(i, j);
                list[n] = j;
                n += !(state_[j] & bit * first_leads);
                if (!counter.add(a_.degree(i))) return false;
            }
        }
        return true;
    }

    // Asks for the rows of the columns that come soon. Inlined, or the compiler sees a call without
    // effect.
    [[gnu::always_inline]] void ask(const Buffer<Index>& list, std::size_t k, std::size_t n) const {
        if (k + 24 < n) __builtin_prefetch(&m_.col_mate[list[k + 24]]);
        if (k + 16 < n) __builtin_prefetch(&a_.indptr[m_.col_mate[list[k + 16]]]);
        if (k + 8 < n) __builtin_prefetch(&a_.indices[a_.indptr[m_.col_mate[list[k + 8]]]]);
    }

    // Makes a component of what is reached and leads back.
    void keep(unsigned char bit) {
        unsigned char* const state = state_.data();
        const unsigned char in = bit | bit * first_leads, own = member + size_ * first_told;
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += 128) {
            unsigned char n = 0;
            for (std::size_t j = base; j < std::min(base + 128, end); ++j) {
                const unsigned char s = state[j], is = (s & (member | in)) == in;
                state[j] = is ? own | (s & (reached ^ bit)) : s;  // the other pivot may reach it
                n += is;
            }
            left_ -= n;
        }
        unsigned seen = 0;  // of what is settled, one of a kind
        each_few(bit, bit, [&](Index j) {
            const unsigned char kind = state[j] / first_told;
            if (state[j] < settled || !(seen >> kind & 1)) targets_[size_].push_back(j);
            if (state[j] >= settled) seen |= 1u << kind;
        });
        ++size_;
    }

    // Keeps only where those stand that stand somewhere.
    void forget() {
        for (unsigned char& s : state_) s = s < settled ? 0 : s & ~reached;
    }

    // A row with many entries, about in the middle of those that are in question.
    Index middle() const {
        Index pivot = UNMATCHED<Index>;
        const Index half = a_.n_rows / 2;
        int looked = 0;
        const auto look = [&](Index i) {
            const Index j = m_.row_mate[i];
            if (j == UNMATCHED<Index> || state_[j] != 0) return;
            ++looked;
            if (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot)) pivot = i;
        };
        for (Index d = 0; d < a_.n_rows - half && looked < 64; ++d) {
            look(half + d);
            if (d < half) look(half - 1 - d);
        }
        return pivot;
    }

    // Rows begin..end-1, in this order or the opposite one.
    bool up(Index begin, Index end) {
        WorkCounter counter(run_);
        const Rows rows = this->rows();
        for (Index i = begin; i < end;) {
            const Index stop = std::min<Index>(end - i, stride) + i, first = a_.indptr[i];
            for (; i < stop; ++i) rows.visit(i);
            if (!counter.add(a_.indptr[stop] - first + stride)) return false;
        }
        return true;
    }
    bool down(Index end, Index begin) {
        WorkCounter counter(run_);
        const Rows rows = this->rows();
        for (Index i = end; i > begin;) {
            const Index stop = i - std::min<Index>(i - begin, stride), last = a_.indptr[i];
            while (i > stop) rows.visit(--i);
            if (!counter.add(last - a_.indptr[stop] + stride)) return false;
        }
        return true;
    }

    // A copy of what a sweep reads, which the compiler can hold in registers: bytes that are
    // written may be part of anything.
    struct Rows {
        const Index *indptr, *indices, *mate;
        unsigned char* state;

        void visit(Index i) const {
            const Index j = mate[i];
            if (j == UNMATCHED<Index>) return;
            const unsigned char s = state[j];
            if (s < settled && (s & s >> 2 & s >> 4 & reached) == 0) tell(i, j);
        }
        // Without a branch on what is known: none could be predicted.
        void tell(Index i, Index j) const {
            const unsigned char own = state[j], on = own & reached;
            unsigned char back = 0;
            for (Index p = indptr[i], last = indptr[i + 1]; p < last; ++p) {
                const Index k = indices[p];
                const unsigned char s = state[k];
                back |= s;
                state[k] = s | on;
            }
            state[j] = own | (back & leads) | on * first_told;
        }
    };
    Rows rows() { return {a_.indptr, a_.indices, m_.row_mate, state_.data()}; }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const Bitmap &settled_row_, &settled_col_;
    RunContext& run_;
    std::size_t left_;
    int size_ = 0;
    Buffer<unsigned char> state_;  // of a column
    std::array<std::vector<Index>, most> targets_;
};

}  // namespace sparsematch
