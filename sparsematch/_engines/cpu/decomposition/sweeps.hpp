// Large strong components without the transpose: sweeps over the rows, which push along the arcs
// what a pivot reaches and pull against them what leads to it.
//
// Where neighbours are near in memory, and their numbers too, a few sweeps find nearly everything,
// faster than a search that follows the arcs; where they do not, they are given up. Two pivots at a
// time, of which the second seems not to be in the component of the first: without its diagonal, a
// mesh of two colours has two large components.
// Invariant: what a state says of a vertex is true; what it does not say may be true as well.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"

namespace sparsematch {

// A step of a sweep. Held by value in a loop, what it reads stays in registers: in a member of
// another object it might be overwritten with the states, which are bytes.
template <class Index>
struct RowScan {
    const Index *indptr, *indices, *mate;
    VertexState* state;

    void visit(Index i) const {
        const Index j = mate[i];
        if (j == UNMATCHED<Index>) return;
        const VertexState s = state[j];
        const bool complete = s.reached_by() & s.leads_to() & s.scanned_by();
        if (s.is_open() && !complete) scan(i, j);
    }
    // Without a branch on what is known (decision 0005).
    void scan(Index i, Index j) const {
        const VertexState own = state[j];
        VertexState heads;
        for (Index p = indptr[i], last = indptr[i + 1]; p < last; ++p) {
            const Index k = indices[p];
            heads = heads.or_known(state[k]);
            state[k] = state[k].reached_also(own.reached_by());
        }
        state[j] = own.scanned(heads);
    }
};

template <class Index>
class Sweeps {
  public:
    Sweeps(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
           LargeComponents<Index>& found, RunContext& run)
        : a_(a), m_(m), parts_(parts), found_(found), run_(run) {}

    // Searches among the vertices that are not settled. Writes: the components found; none where
    // they hold less than half of the vertices. Workspace: a byte per column, an index per vertex.
    // Time: O(n_rows + n_cols + nnz).
    void search() {
        const std::size_t all = found_.left;
        found_.state = Buffer<VertexState>(a_.n_cols, VertexState());
        each(parts_.settled_col, true, a_.n_cols, [&](Index j) {
            found_.state[j] =
                parts_.horizontal_col.test(j) ? VertexState::horizontal() : VertexState::settled();
        });
        for (bool large = true; large && found_.left > all / 4 && found_.size < found_.most;) {
            large = search_from_middle();
            if (found_.left > 0)
                for (VertexState& s : found_.state) s = s.without_pivots();
        }
        if (found_.left <= all / 2) return;
        found_.size = 0;  // depth-first search of all is faster
        found_.state = {};
    }

  private:
    static constexpr int max_sweeps = 8;
    static constexpr Index stride = 1 << 12;   // rows between two checks for a stop
    static constexpr std::size_t block = 128;  // states that are tested together
    struct Counts {
        std::size_t reached = 0, leading = 0, strong = 0;
        std::size_t known() const { return reached + leading; }
    };

    // The components of two pivots. False if none is large, or the run was stopped.
    bool search_from_middle() {
        const Index pivot = middle();
        if (!sweep_near(pivot)) return false;
        const Index other = middle();
        if (!sweep_all(pivot, other)) return false;
        const std::size_t all = found_.left;
        const int before = found_.size;
        for (const Pivots p : {first_pivot, second_pivot}) {
            if (found_.size == found_.most || count(p).strong <= all / 8) continue;
            if (!complete(p)) return false;
            keep(p);
        }
        return found_.size > before;
    }

    // Sweeps over the rows near the pivot. False if they find little: then there is no order that
    // sweeps could follow.
    bool sweep_near(Index pivot) {
        const Index n = a_.n_rows, near = n / 64;
        low_ = pivot - std::min(pivot, near);
        const Index high = pivot + std::min(n - pivot, near);
        state(pivot) = VertexState::of_pivot(first_pivot);
        return up(pivot, high) && down(high, low_) && up(low_, high) && down(high, low_) &&
               count().known() > std::min<std::size_t>(found_.left / 128, 64);
    }

    // Sweeps over all rows as long as they find much, from both pivots; the second may be missing.
    // False: the run was stopped.
    bool sweep_all(Index pivot, Index other) {
        const Index n = a_.n_rows;
        Counts counts = count();
        if (other != UNMATCHED<Index>) state(other) = VertexState::of_pivot(second_pivot);
        bool going = up(low_, n);
        for (int sweeps = 0; going; ++sweeps) {
            const std::size_t before = counts.known(), open = 2 * found_.left - before;
            counts = count();
            const std::size_t now = counts.known();
            const bool gains = sweeps == 0 ? now > found_.left / 128 : now - before > open / 4;
            // Where each that is reached leads back, there is most likely no more.
            if (sweeps == max_sweeps || !gains || now == 2 * counts.strong ||
                found_.left - counts.strong <= found_.left / 16)
                break;
            going = sweeps % 2 == 0 ? down(n, 0) : up(0, n);
        }
        if (other != UNMATCHED<Index> && state(pivot).reached_by() & second_pivot &&
            state(other).reached_by() & first_pivot)
            for (VertexState& s : found_.state) s = s.pivots_united();
        return going;
    }

    // Finds all that the pivot reaches, and most of what leads to it.
    bool complete(Pivots p) {
        Buffer<Index> list(found_.left + 1);
        return follow(p, list) && pull(p, list);
    }

    // Breadth-first search from what is reached and not scanned.
    bool follow(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        std::size_t n = 0;
        each_where([p](VertexState s) { return s.must_scan(p); }, [&](Index j) { list[n++] = j; });
        for (std::size_t head = 0; head < n; ++head) {
            PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), head, n);
            const Index i = m_.col_mate[list[head]];
            for (const Index k : a_.neighbours(i)) {
                const VertexState s = found_.state[k];
                list[n] = k;
                n += s.is_new_to(p);
                found_.state[k] = s.reached_also(p);
            }
            if (!counter.add(a_.degree(i))) return false;
        }
        return true;
    }

    // Scans again what does not lead to the pivot yet, as long as that finds much.
    bool pull(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        const RowScan<Index> rows = row_scan();
        std::size_t n = 0;
        each_where([p](VertexState s) { return s.might_lead(p); }, [&](Index j) { list[n++] = j; });
        for (std::size_t before = 2 * n; before - n > before / 4;) {
            before = n;
            std::reverse(list.begin(), list.begin() + n);
            n = 0;
            for (std::size_t k = 0; k < before; ++k) {
                PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), k, before);
                const Index j = list[k], i = m_.col_mate[j];
                rows.scan(i, j);
                list[n] = j;
                n += !(found_.state[j].leads_to() & p);
                if (!counter.add(a_.degree(i))) return false;
            }
        }
        return true;
    }

    // Makes a component of what is reached and leads back.
    void keep(Pivots p) {
        VertexState* const state = found_.state.data();
        const int g = found_.size;
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            unsigned char n = 0;
            for (std::size_t j = base; j < std::min(base + block, end); ++j) {
                n += state[j].is_strong(p);
                state[j] = state[j].joined(g, p);
            }
            found_.left -= n;
        }
        unsigned seen = 0;  // one of the vertices of each place is enough
        each_where([p](VertexState s) { return s.reached_by() & p; },
                   [&](Index j) {
                       const bool open = state[j].is_open();
                       const unsigned place = open ? 0 : 1u << state[j].place();
                       if (open || !(seen & place)) found_.targets[g].push_back(j);
                       seen |= place;
                   });
        ++found_.size;
    }

    // Open vertices that are reached by one of these pivots, that lead to one, and both.
    Counts count(Pivots of = any_pivot) const {
        Counts counts;
        const VertexState* const state = found_.state.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            unsigned char reached = 0, leading = 0, strong = 0;
            for (std::size_t j = base; j < std::min(base + block, end); ++j) {
                const VertexState s = state[j].is_open() ? state[j] : VertexState();
                reached += (s.reached_by() & of) != 0;
                leading += (s.leads_to() & of) != 0;
                strong += (s.reached_by() & s.leads_to() & of) != 0;
            }
            counts.reached += reached;
            counts.leading += leading;
            counts.strong += strong;
        }
        return counts;
    }

    // The columns whose state is wanted, in ascending order. They are few: whole blocks are tested
    // first.
    template <class Wanted, class Use>
    void each_where(const Wanted& wanted, const Use& use) const {
        const VertexState* const state = found_.state.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            const std::size_t stop = std::min(base + block, end);
            unsigned char any = 0;
            for (std::size_t j = base; j < stop; ++j) any |= wanted(state[j]);
            for (std::size_t j = base; any && j < stop; ++j)
                if (wanted(state[j])) use(static_cast<Index>(j));
        }
    }

    // A row with many entries, about in the middle of those of which nothing is known.
    Index middle() const {
        Index pivot = UNMATCHED<Index>;
        const Index half = a_.n_rows / 2;
        int candidates = 0;
        const auto consider = [&](Index i) {
            const Index j = m_.row_mate[i];
            if (j == UNMATCHED<Index> || !found_.state[j].is_unknown()) return;
            ++candidates;
            if (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot)) pivot = i;
        };
        for (Index d = 0; d < a_.n_rows - half && candidates < 64; ++d) {
            consider(half + d);
            if (d < half) consider(half - 1 - d);
        }
        return pivot;
    }

    // Rows begin..end-1, in this order or the opposite one. False: the run was stopped.
    bool up(Index begin, Index end) {
        WorkCounter counter(run_);
        const RowScan<Index> rows = row_scan();
        for (Index i = begin; i < end;) {
            const Index stop = std::min<Index>(end - i, stride) + i, first = a_.indptr[i];
            for (; i < stop; ++i) rows.visit(i);
            if (!counter.add(a_.indptr[stop] - first + stride)) return false;
        }
        return true;
    }
    bool down(Index end, Index begin) {
        WorkCounter counter(run_);
        const RowScan<Index> rows = row_scan();
        for (Index i = end; i > begin;) {
            const Index stop = i - std::min<Index>(i - begin, stride), last = a_.indptr[i];
            while (i > stop) rows.visit(--i);
            if (!counter.add(last - a_.indptr[stop] + stride)) return false;
        }
        return true;
    }
    RowScan<Index> row_scan() { return {a_.indptr, a_.indices, m_.row_mate, found_.state.data()}; }

    VertexState& state(Index row) { return found_.state[m_.row_mate[row]]; }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const CoarseParts& parts_;
    LargeComponents<Index>& found_;
    RunContext& run_;
    Index low_ = 0;  // where the rows near the first pivot begin
};

}  // namespace sparsematch
