// Local max on a file of edges, with memory for the vertices alone: a round passes over the rest.
//
// Birn, Osipov, Sanders, Schulz, Sitchinava (Euro-Par 2013), section 2, its first pass: an edge
// that precedes the candidate C[v] of one of its ends replaces it. The second pass needs no edges:
// each other's candidates are matched. The third, dropping the edges of matched vertices, begins
// the next round's pass. What is left is written to a scratch file once it is less than half, so
// all rounds together read a few times the user's file. Invariant: after a pass the candidate of a
// free vertex is its first edge, in the strict order of graph.hpp, to a free one.
#pragma once

#include <cmath>

#include "stream/edge_stream.hpp"

namespace sparsematch {

// What is wrong: the file or an edge of it.
struct EdgeFault {
    const char* kind = nullptr;  // unreadable, unwritable, vertex, or weight; null: nothing
    std::int64_t edge = 0;
    EdgeSource::Ends ends{};
};

struct StreamReport {
    EdgeFault fault;
    std::int64_t scanned = 0;  // edges read in all passes
    double weight = 0;
    // edges with both ends free at the beginning of each round; vertices by its end
    std::vector<std::int64_t> live, matched;
};

template <class Index, bool Weighted> class StreamLocalMax {
    using Edge = StreamedEdge<Index, Weighted>;
    struct Vertex {
        std::uint64_t key;  // of its candidate, or of its matched edge
        Index partner;      // its candidate, or its mate; UNMATCHED: none
    };

  public:
    StreamLocalMax(EdgeSource& file, Index n, const std::string& folder, std::uint64_t seed,
                   RunContext& run)
        : file_(file), n_(n), seed_(seed), order_(no_graph_, seed), scratch_(folder), run_(run),
          vertex_(n, Vertex{0, UNMATCHED<Index>}), matched_(n) {}

    StreamReport match(Index* mate) {
        std::int64_t left = file_.count(), n_matched = 0;
        while (left > 0) {
            left = scratch_.started() ? pass<false>(scratch_.size()) : pass<true>(file_.count());
            if (report_.fault.kind || run_.stopped()) return std::move(report_);
            if (left == 0) break;
            n_matched += match_candidates();
            report_.live.push_back(left), report_.matched.push_back(n_matched);
        }
        for (Index v = 0; v < n_; ++v) {
            mate[v] = matched_.test(v) ? vertex_[v].partner : UNMATCHED<Index>;
            if (mate[v] > v)
                report_.weight += Weighted ? std::bit_cast<double>(vertex_[v].key) : 1.0;
        }
        return std::move(report_);
    }

  private:
    static constexpr std::int64_t ahead = 16;

    bool is_first() const { return report_.live.empty(); }  // of the rounds

    // Reads: the edges, the user's checked the first time. Writes: candidates. Returns live edges.
    template <bool FromFile> std::int64_t pass(std::int64_t count) {
        if (!scratch_.begin(is_first() ? -1 : count / 2)) return fail("unwritable");
        if (!(FromFile ? file_.rewind() : scratch_.rewind())) return fail("unreadable");
        std::int64_t left = 0;
        for (done_ = 0; done_ < count;) {
            const std::int64_t n = FromFile ? file_.read() : scratch_.read(chunk_);
            if (n <= 0) return fail("unreadable");
            const std::int64_t kept = FromFile ? decode(n) : filter(n);
            if (report_.fault.kind) return 0;
            compete(kept);
            if (!scratch_.write(chunk_.data(), kept)) return fail("unwritable");
            left += kept;
            report_.scanned += n, done_ += n;
            if (!run_.flush(n, 0)) return 0;
        }
        scratch_.end();
        return left;
    }

    // Copies the live ones of the records that were read to the chunk. Returns how many.
    std::int64_t decode(std::int64_t n) {
        chunk_.resize(n);
        std::int64_t kept = 0;
        for (std::int64_t k = 0; k < n; ++k) {
            const auto [u, v, weight] = file_.edge(k);
            if (is_first() && !check(k, {u, v, weight})) return 0;
            if (u == v || matched_.test(u) || matched_.test(v)) continue;
            Edge& e = chunk_[kept++];
            e.u = static_cast<Index>(u), e.v = static_cast<Index>(v);
            if constexpr (Weighted) e.key = std::bit_cast<std::uint64_t>(std::abs(weight));
        }
        return kept;
    }
    std::int64_t filter(std::int64_t n) {
        std::int64_t kept = 0;
        for (std::int64_t k = 0; k < n; ++k)
            if (!matched_.test(chunk_[k].u) && !matched_.test(chunk_[k].v))
                chunk_[kept++] = chunk_[k];
        return kept;
    }

    // Offers each edge of the chunk to both its ends.
    void compete(std::int64_t kept) {
        for (std::int64_t k = 0; k < kept; ++k) {
            if (k + ahead < kept) {
                SPARSEMATCH_PREFETCH(&vertex_[chunk_[k + ahead].u], 1);
                SPARSEMATCH_PREFETCH(&vertex_[chunk_[k + ahead].v], 1);
            }
            const Edge& e = chunk_[k];
            const std::uint64_t key = e.key_of(seed_);
            offer(e.u, e.v, key);
            offer(e.v, e.u, key);
        }
    }
    void offer(Index u, Index v, std::uint64_t key) {
        Vertex& x = vertex_[u];
        if (x.partner == UNMATCHED<Index> || order_.before(key, u, v, x.key, u, x.partner))
            x = {key, v};
    }

    // Matches mutual candidates, and clears those of the others. Returns the vertices matched.
    std::int64_t match_candidates() {
        std::int64_t n = 0;
        for (Index v = 0; v < n_; ++v) {
            const Index u = vertex_[v].partner;
            if (u > v && vertex_[u].partner == v && !matched_.test(v))
                matched_.set(v), matched_.set(u), n += 2;
        }
        for (Index v = 0; v < n_; ++v)
            if (!matched_.test(v)) vertex_[v] = {0, UNMATCHED<Index>};
        return n;
    }

    bool check(std::int64_t k, const EdgeSource::Ends& e) {
        EdgeFault& fault = report_.fault;
        if (e.u < 0 || e.v < 0 || e.u >= n_ || e.v >= n_) fault = {"vertex", done_ + k, e};
        else if (Weighted && e.u != e.v && !std::isfinite(e.weight))
            fault = {"weight", done_ + k, e};
        return !fault.kind;
    }
    std::int64_t fail(const char* kind) {
        report_.fault.kind = kind;
        return 0;
    }

    EdgeSource& file_;
    const Index n_;
    const std::uint64_t seed_;
    const Graph<Index> no_graph_{};  // keys are stored with the edges, not looked up in a graph
    const EdgeOrder<Index, Weighted> order_;
    Scratch<Edge> scratch_;
    RunContext& run_;
    Buffer<Vertex> vertex_;
    Bitmap matched_;
    std::vector<Edge> chunk_;
    std::int64_t done_ = 0;  // edges that the pass has read
    StreamReport report_;
};

// Reads: the file. Writes: mate. Workspace: three numbers and a bit a vertex, two chunks of edges.
// Time: O(n rounds + m), expected, for m edges.
template <class Index>
StreamReport local_max_stream(EdgeSource& file, Index n, bool weighted, const std::string& folder,
                              std::uint64_t seed, RunContext& run, Index* mate) {
    if (weighted) return StreamLocalMax<Index, true>(file, n, folder, seed, run).match(mate);
    return StreamLocalMax<Index, false>(file, n, folder, seed, run).match(mate);
}

}  // namespace sparsematch
