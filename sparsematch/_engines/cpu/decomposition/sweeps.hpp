// Large strong components without the transpose: sweeps over the rows, which push along the arcs
// what a pivot reaches and pull against them what leads to it.
//
// Where neighbours are near in memory, and their numbers too, a few sweeps find nearly everything,
// faster than a search that follows the arcs; where they do not, they are given up. Two pivots at a
// time, of which the second seems not to be in the component of the first: without its diagonal, a
// mesh of two colours has two large components. Several workers take a strip about the diagonal
// each, with pivots of its own and the arcs within it; then pivots that reach each other are one.
// Invariant: what a state says of a vertex is true; what it does not say may be true as well. Hence
// (1) of large_components.hpp: what a pivot reaches and what leads to it are its component.
// Of (2): `follow` scans every open vertex that the pivot reaches, so all arcs from these lead to
// what it reaches; that, less the component, is the targets. Settled vertices are not scanned: to
// reach one of a place is to reach the place.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// A step of a sweep, of rows with mates among some columns. Held by value in a loop, what it reads
// stays in registers: in a member of another object it might be overwritten with the states, which
// are bytes.
template <class Index, bool whole> struct RowScan {
    const Index *indptr, *indices, *mate;
    VertexState* state;
    Index begin, end;

    bool has(Index j) const { return j >= begin && (whole || j < end); }
    void visit(Index i) const {
        const Index j = mate[i];
        if (!has(j)) return;  // or the row has no mate
        const VertexState s = state[j];
        const bool complete = s.reached_by() & s.leads_to() & s.scanned_by();
        if (s.is_open() && !complete) scan(i, j);
    }
    // Without a branch on what is known (decision 0005).
    void scan(Index i, Index j) const {
        const VertexState own = state[j];
        VertexState heads;
        bool outer = false;
        for (Index p = indptr[i], last = indptr[i + 1]; p < last; ++p) {
            const Index k = indices[p];
            if (!whole && !has(k)) {
                outer = true;
                continue;
            }
            heads = heads.or_known(state[k]);
            state[k] = state[k].reached_also(own.reached_by());
        }
        state[j] = own.scanned(heads, outer);
    }
};

template <class Index> class Sweeps {
  public:
    Sweeps(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
           LargeComponents<Index>& found, const SweepLimits& limits, RunContext& run)
        : a_(a), m_(m), parts_(parts), found_(found), limits_(limits), run_(run) {}

    // Searches what is not settled. Writes: the components found; none where too many vertices are
    // left. Workspace: two bytes per column, an index per vertex. Time: O(n_rows + n_cols + nnz).
    void search() {
        all_ = found_.left;
        found_.place = Buffer<Place>(a_.n_cols, no_place);
        state_ = Buffer<VertexState>(a_.n_cols, VertexState());
        each(parts_.settled_col, true, a_.n_cols, [&](Index j) {
            found_.place[j] = parts_.horizontal_col.test(j) ? in_horizontal_part : in_other_part;
            state_[j] = VertexState::settled();
        });
        for (bool large = true;
             large && is_above(limits_.go_on, found_.left) && found_.size < found_.most;) {
            large = search_from_middle();
            if (found_.left > 0)
                for (VertexState& s : state_) s = s.renamed(0, 0);
        }
        if (!is_above(limits_.most_left, found_.left)) return;
        found_ = {};  // depth-first search of all is faster
        found_.left = all_;
    }

  private:
    static constexpr Index block = 128;     // states that are tested together
    static constexpr int most_strips = 32;  // with two pivots each, of which a word has a bit
    using Names = std::array<Pivots, 2 * most_strips>;
    struct Counts {
        std::size_t reached = 0, leading = 0, strong = 0;
        std::size_t known() const { return reached + leading; }
    };
    // Columns; the rank that sweeps over them; about how many are open; rows, and where those near
    // the first pivot begin.
    struct Strip {
        Index begin, end;
        int rank;
        double left;
        Index first_row, last_row, low = first_row;
    };

    // Whether n is more than this share of all vertices.
    bool is_above(double share, std::size_t n) const {
        return static_cast<double>(n) > share * static_cast<double>(all_);
    }

    // The components of two pivots. False if none is large, or the run was stopped.
    bool search_from_middle() {
        const Strip whole = strip_of(0, a_.n_cols, 0);
        const Index width = width_of_strips();
        if (width < a_.n_cols ? !sweep_strips(width) || !sweep_all(whole) : !sweep_within(whole))
            return false;
        const double large = limits_.large * static_cast<double>(found_.left);
        const int before = found_.size;
        for (const Pivots p : {first_pivot, second_pivot}) {
            if (found_.size == found_.most ||
                static_cast<double>(count(0, a_.n_cols, p).strong) <= large)
                continue;
            Buffer<Index> list(found_.left + 1);
            if (!follow(p, list) || !pull(p, list)) return false;
            keep(p);
        }
        return found_.size > before;
    }

    // All columns where half of some rows have mates in other strips, and would not be swept over.
    Index width_of_strips() const {
        const std::int64_t n = a_.n_cols, strips = std::min(run_.team.size(), most_strips),
                           even = (n + strips - 1) / strips;
        const auto width = std::clamp(even, std::min(limits_.strip, n), n);
        int elsewhere = 0;
        for (std::int64_t k = 0; k < limits_.candidates; ++k) {
            const std::int64_t row = a_.n_rows * k / limits_.candidates;
            elsewhere += row * n / a_.n_rows / width != m_.row_mate[row] / width;
        }
        return static_cast<Index>(2 * elsewhere > limits_.candidates ? n : width);
    }

    // Each worker sweeps over a strip. False if the pivots that are one have no large component.
    bool sweep_strips(Index width) {
        const Index n = a_.n_cols;
        SPARSEMATCH_ASSERT((n - 1) / width < most_strips);
        Names name{};
        run_.team.loop(n, width, [&](int rank, Index begin, Index end) {
            sweep_within(strip_of(begin, end, rank));
        });
        const bool large = !run_.stopped() && join(width, name);
        run_.team.loop(n, width, [&](int, Index begin, Index end) {
            const Index own = begin / width * 2;
            for (Index j = begin; j < end; ++j)
                state_[j] = state_[j].renamed(name[own], name[own + 1]);
        });
        run_.team.loop(n, width,
                       [&](int rank, Index begin, Index end) { confirm(begin, end, rank); });
        return large;
    }

    // Names the pivots of all strips, two each, after those two sets of pivots that reach each
    // other from which most is known. False, and no names, if the first has no large component.
    bool join(Index width, Names& name) {
        std::array<std::uint64_t, 2 * most_strips> reaches{};  // bit q of p: pivot p reaches q
        std::array<std::size_t, 2 * most_strips> strong{};
        run_.team.loop(a_.n_cols, width, [&](int, Index begin, Index end) {
            const Index own = begin / width * 2;
            for (const int p : {0, 1}) strong[own + p] = count(begin, end, 1 << p).strong;
            link(begin, end, width, &reaches[own]);
        });
        for (int via = 0; via < 2 * most_strips; ++via)
            for (std::uint64_t& by : reaches)
                if (by >> via & 1) by |= reaches[via];
        for (const Pivots set : {first_pivot, second_pivot}) {
            std::uint64_t best = 0;
            std::size_t most = 0;
            for (int p = 0; p < 2 * most_strips; ++p) {
                std::uint64_t members = 0;
                std::size_t all = 0;
                for (int q = 0; q < 2 * most_strips; ++q)
                    if (!name[q] && (p == q || (reaches[p] >> q & reaches[q] >> p & 1)))
                        members |= std::uint64_t{1} << q, all += strong[q];
                if (all > most) most = all, best = members;
            }
            if (static_cast<double>(most) <= limits_.large * static_cast<double>(found_.left))
                return set == second_pivot;
            for (int q = 0; q < 2 * most_strips; ++q)
                if (best >> q & 1) name[q] = set;
        }
        return true;
    }
    // Which pivots those of a strip reach, by its outer vertices and the arcs from these.
    void link(Index begin, Index end, Index width, std::uint64_t* reaches) const {
        const auto leads = [&](Index k) {
            return std::uint64_t{state_[k].leads_to()} << k / width * 2;
        };
        each_outer(begin, end, [&](Index j) {
            std::uint64_t found = leads(j);
            for (const Index k : a_.neighbours(m_.col_mate[j])) found |= leads(k);
            for (const int p : {0, 1})
                if (state_[j].reached_by() >> p & 1) reaches[p] |= found;
        });
    }
    // Of the outer vertices of a strip: by which pivots all their neighbours are reached.
    void confirm(Index begin, Index end, int rank) {
        WorkCounter counter(run_, rank);
        each_outer(begin, end, [&](Index j) {
            Pivots all = any_pivot;
            for (const Index k : a_.neighbours(m_.col_mate[j])) all &= peek(state_[k]).reached_by();
            counter.add(a_.degree(m_.col_mate[j]));
            poke(state_[j], state_[j].confirmed(all));
        });
    }

    Strip strip_of(Index begin, Index end, int rank) const {
        const auto row = [&](std::int64_t j) {
            return static_cast<Index>(j * a_.n_rows / a_.n_cols);
        };
        const double left = static_cast<double>(found_.left) * (end - begin) / a_.n_cols;
        return {begin, end, rank, left, row(begin), row(end)};
    }

    // Sweeps from one or two pivots about the middle. False if there is no order to follow, or the
    // run was stopped.
    bool sweep_within(Strip strip) {
        const Index pivot = middle(strip);
        if (pivot == UNMATCHED<Index> || !sweep_near(strip, pivot)) return false;
        const Index other = middle(strip);
        if (other != UNMATCHED<Index>) state(other) = VertexState::of_pivot(second_pivot);
        if (!sweep_all(strip)) return false;
        if (other != UNMATCHED<Index> && state(pivot).reached_by() & second_pivot &&
            state(other).reached_by() & first_pivot)
            for (Index j = strip.begin; j < strip.end; ++j)
                state_[j] = state_[j].renamed(first_pivot, first_pivot);
        return true;
    }

    // Sweeps over the rows near the pivot. False if they find little.
    bool sweep_near(Strip& strip, Index pivot) {
        const Index first = strip.first_row, last = strip.last_row,
                    near = static_cast<Index>(limits_.near * a_.n_rows);
        const Index low = strip.low = pivot - std::min(pivot - first, near),
                    high = pivot + std::min(last - pivot, near);
        state(pivot) = VertexState::of_pivot(first_pivot);
        return sweep(strip, pivot, high) && sweep(strip, high, low) && sweep(strip, low, high) &&
               sweep(strip, high, low) &&
               static_cast<double>(count(strip.begin, strip.end).known()) >
                   std::min(limits_.near_gain * strip.left, limits_.enough_near);
    }

    // Sweeps over all rows as long as they find much. False: stopped.
    bool sweep_all(const Strip& strip) {
        const double left = strip.left;
        Counts counts = count(strip.begin, strip.end);
        const auto is_done = [&] {
            return left - static_cast<double>(counts.strong) <= limits_.rest * left;
        };
        if (is_done()) return true;
        bool going = sweep(strip, strip.low, strip.last_row);
        for (int sweeps = 0; going; ++sweeps) {
            const auto before = static_cast<double>(counts.known());
            counts = count(strip.begin, strip.end);
            const auto now = static_cast<double>(counts.known());
            const bool gains = sweeps == 0 ? now > limits_.first_gain * left
                                           : now - before > limits_.gain * (2 * left - before);
            // Where each that is reached leads back, there is most likely no more.
            if (sweeps == limits_.sweeps || !gains || counts.known() == 2 * counts.strong ||
                is_done())
                break;
            going = sweeps % 2 == 0 ? sweep(strip, strip.last_row, strip.first_row)
                                    : sweep(strip, strip.first_row, strip.last_row);
        }
        return going;
    }

    // Breadth-first search from what is reached and not scanned.
    bool follow(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        std::size_t n = 0;
        each_where(
            0, a_.n_cols, [p](VertexState s) { return s.must_scan(p); },
            [&](Index j) { list[n++] = j; });
        for (std::size_t head = 0; head < n; ++head) {
            PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), head, n);
            const Index i = m_.col_mate[list[head]];
            for (const Index k : a_.neighbours(i)) {
                const VertexState s = state_[k];
                list[n] = k;
                n += s.is_new_to(p);
                state_[k] = s.reached_also(p);
            }
            if (!counter.add(a_.degree(i))) return false;
        }
        return true;
    }

    // Scans again what does not lead to the pivot yet, as long as that finds much.
    bool pull(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        const auto rows = scan<true>(strip_of(0, a_.n_cols, 0));
        std::size_t n = 0;
        each_where(
            0, a_.n_cols, [p](VertexState s) { return s.might_lead(p); },
            [&](Index j) { list[n++] = j; });
        for (std::size_t before = 2 * n; before - n > before / 4;) {
            before = n;
            std::reverse(list.begin(), list.begin() + n);
            n = 0;
            for (std::size_t k = 0; k < before; ++k) {
                PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), k, before);
                const Index j = list[k], i = m_.col_mate[j];
                rows.scan(i, j);
                list[n] = j;
                n += !(state_[j].leads_to() & p);
                if (!counter.add(a_.degree(i))) return false;
            }
        }
        return true;
    }

    // Makes a component of what is reached and leads back.
    void keep(Pivots p) {
        const int g = found_.size++;
        VertexState* const state = state_.data();
        Place* const place = found_.place.data();
        unsigned seen = 0;  // one vertex of each place is enough
        each_where(
            0, a_.n_cols, [p](VertexState s) { return s.reached_by() & p && !s.is_strong(p); },
            [&](Index j) {
                const unsigned bit = 1u << (place[j] - in_horizontal_part);
                if (place[j] == no_place || !(seen & bit)) found_.targets[g].push_back(j);
                seen |= bit;
            });
        for (Index base = 0, stop; base < a_.n_cols; base = stop) {
            unsigned char n = 0;
            stop = end_of_block(base, a_.n_cols);
            for (Index j = base; j < stop; ++j) {
                const bool member = state[j].is_strong(p);
                n += member;
                place[j] = member ? static_cast<Place>(g) : place[j];
                state[j] = state[j].settled_if(member);
            }
            found_.left -= n;
        }
    }

    static Index end_of_block(Index base, Index end) {
        return std::min<Index>(end - base, block) + base;
    }
    // Open vertices that are reached by one of these pivots, that lead to one, and both.
    Counts count(Index begin, Index end, Pivots of = any_pivot) const {
        Counts counts;
        const VertexState* const state = state_.data();
        for (Index base = begin, stop; base < end; base = stop) {
            unsigned char reached = 0, leading = 0, strong = 0;
            stop = end_of_block(base, end);
            for (Index j = base; j < stop; ++j) {
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

    // The columns whose state is wanted, ascending. They are few: whole blocks are tested first.
    template <class Wanted, class Use>
    void each_where(Index begin, Index end, const Wanted& wanted, const Use& use) const {
        const VertexState* const state = state_.data();
        for (Index base = begin, stop; base < end; base = stop) {
            stop = end_of_block(base, end);
            unsigned char any = 0;
            for (Index j = base; j < stop; ++j) any |= wanted(state[j]);
            for (Index j = base; any && j < stop; ++j)
                if (wanted(state[j])) use(j);
        }
    }

    template <class Use> void each_outer(Index begin, Index end, const Use& use) const {
        each_where(begin, end, [](VertexState s) { return s.is_outer(); }, use);
    }

    // A row with many entries, about in the middle of those of which nothing is known.
    Index middle(const Strip& strip) const {
        Index pivot = UNMATCHED<Index>;
        const Index first = strip.first_row, last = strip.last_row,
                    half = first + (last - first) / 2;
        int candidates = 0;
        const auto consider = [&](Index i) {
            const Index j = m_.row_mate[i];
            if (j < strip.begin || j >= strip.end || !state_[j].is_unknown()) return;
            ++candidates;
            if (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot)) pivot = i;
        };
        for (Index d = 0; d < last - half && candidates < limits_.candidates; ++d) {
            consider(half + d);
            if (d < half - first) consider(half - 1 - d);
        }
        return pivot;
    }

    // The rows between two places, upwards or downwards. False: the run was stopped.
    bool sweep(const Strip& strip, Index from, Index to) {
        return strip.end - strip.begin == a_.n_cols ? sweep(strip, scan<true>(strip), from, to)
                                                    : sweep(strip, scan<false>(strip), from, to);
    }
    template <class Scan> bool sweep(const Strip& strip, const Scan rows, Index from, Index to) {
        WorkCounter counter(run_, strip.rank);
        const Index stride = static_cast<Index>(limits_.rows_at_a_time);
        for (Index begin; from != to;) {
            begin = from;
            if (from < to)
                for (const Index stop = std::min<Index>(to - from, stride) + from; from < stop;)
                    rows.visit(from++);
            else
                for (const Index stop = from - std::min<Index>(from - to, stride); from > stop;)
                    rows.visit(--from);
            if (!counter.add(std::abs(a_.indptr[from] - a_.indptr[begin]) + stride)) return false;
        }
        return true;
    }
    template <bool whole> RowScan<Index, whole> scan(const Strip& strip) {
        return {a_.indptr, a_.indices, m_.row_mate, state_.data(), strip.begin, strip.end};
    }

    VertexState& state(Index row) { return state_[m_.row_mate[row]]; }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const CoarseParts& parts_;
    LargeComponents<Index>& found_;
    const SweepLimits& limits_;
    RunContext& run_;
    Buffer<VertexState> state_;  // of a column
    std::size_t all_ = 0;        // vertices that are not settled
};

}  // namespace sparsematch
