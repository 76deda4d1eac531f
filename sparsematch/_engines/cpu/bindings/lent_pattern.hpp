// A pattern as Python holds it, read where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "bindings/nanobind_helpers.hpp"

namespace sparsematch {

// A BipartiteCSR, or a tuple of its fields, arrays of any type, length and content. It fits only if
// all are of these indices, no side longer than other users bear: INT32_MAX of compressed.py.
template <class Index> struct LentPattern {
    explicit LentPattern(const nb::tuple& graph)
        : starts(graph[2]), lists(graph[3]), flipped(nb::cast<bool>(graph[5])) {
        constexpr std::int64_t longest = std::numeric_limits<Index>::max() - 7;
        auto n_rows = nb::cast<std::int64_t>(graph[0]), n_cols = nb::cast<std::int64_t>(graph[1]);
        if (flipped) std::swap(n_rows, n_cols);
        fits = std::min(n_rows, n_cols) >= 0 && std::max(n_rows, n_cols) <= longest &&
               starts.fits_vector(n_rows + 1) && lists.fits_vector(lists.length());
        if (fits)
            a = {static_cast<Index>(n_rows), static_cast<Index>(n_cols), starts.data(),
                 lists.data()};
    }

    const LentArray<const Index> starts, lists;
    const bool flipped;
    bool fits;
    Csr<Index> a{};
};

// An optional: call.operator()<Index>() for 32 bits, or for 64 if that has returned nothing.
template <class Call> auto by_index_type(const Call& call) {
    auto small = call.template operator()<std::int32_t>();
    return small ? small : call.template operator()<std::int64_t>();
}

}  // namespace sparsematch
