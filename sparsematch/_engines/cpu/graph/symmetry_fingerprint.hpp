// Fingerprints by which both triangles of a matrix are compared without a search: each entry is
// hashed by its place as an unordered pair and a key of its value, and the hashes of each triangle
// are added up. Equal sums show that each entry has its partner, but for one case in 2**64.
#pragma once

#include <cstdint>

#include "core/portability.hpp"

namespace sparsematch {

// Both halves of a product of x with nearly itself: what adds up linearly in x, as shifted patterns
// do, does not after it. low and high: the smaller and the larger index of the entry.
inline std::uint64_t entry_fingerprint(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
    const std::uint64_t x = low * 0xd6e8feb86659fd93u + high * 0xa0761d6478bd642fu + key;
    const WideProduct product = multiply_wide(x, x ^ 0x9e3779b97f4a7c15u);
    return product.low ^ product.high;
}

}  // namespace sparsematch
