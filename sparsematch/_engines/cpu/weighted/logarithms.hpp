// Natural logarithms of many numbers, without a branch or a table, so that compilers take several
// at once.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sparsematch {

// Writes -log of n positive finite numbers; least: none is below it. Error: below 1 ulp. A number
// is 2^k (1 + f), with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) is f - f^2 / 2 + s (f^2
// / 2 + R(s^2)), where s is f / (2 + f): reduction and coefficients are those of fdlibm (Sun
// Microsystems, 1993, e_log.c).
inline void write_costs(const double* x, double* cost, std::size_t n, double least) {
    constexpr std::uint64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd,  // sqrt(1/2)
        fraction = 0x000fffffffffffff, two_52 = 0x4330000000000000;
    constexpr double log_2_high = 6.93147180369123816490e-01,
                     log_2_low = 1.90821492927058770002e-10;
    if (least < std::numeric_limits<double>::min()) {  // some have another format
        for (std::size_t p = 0; p < n; ++p) cost[p] = -std::log(x[p]);
        return;
    }
    for (std::size_t p = 0; p < n; ++p) {
        const auto bits = std::bit_cast<std::uint64_t>(x[p]) + (one - root);
        // k + 1023, as the last bits of a double
        const double k = std::bit_cast<double>((bits >> 52) | two_52) - (0x1p52 + 1023);
        const double f = std::bit_cast<double>((bits & fraction) + root) - 1;
        const double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
        const double even = w * (3.999999999940941908e-01 +
                                 w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
        const double odd =
            z * (6.666666666666735130e-01 +
                 w * (2.857142874366239149e-01 +
                      w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
        const double rest = s * (half + (odd + even)) + k * log_2_low;
        cost[p] = ((half - rest) - f) - k * log_2_high;
    }
}

}  // namespace sparsematch
