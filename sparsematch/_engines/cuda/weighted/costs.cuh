// What the weighted kernels share: lists with costs, and groups of lanes that have a list each.
//
// Lists stand for rows, what they name for columns. Duals: u of rows, v of columns; a reduced cost
// is c - u - v. `shift`: 1 << shift neighbouring lanes share a list.
#pragma once

struct Costs {
    ReadOnly<Index> indptr, indices;
    ReadOnly<double> cost;
};

#define INFINITE as_number(static_cast<Wide>(0x7ff0000000000000ull))

// The least value of `lanes` neighbouring lanes; all lanes of the warp must call it.
DEVICE double least_of(double mine, int lanes) {
    for (int bit = lanes >> 1; bit; bit >>= 1) {
        const double other = across(mine, bit);
        if (other < mine) mine = other;
    }
    return mine;
}
template <class T> DEVICE T sum_of(T mine, int lanes) {
    for (int bit = lanes >> 1; bit; bit >>= 1) mine += across(mine, bit);
    return mine;
}

// Calls each(k, lane, lanes) for the numbers below count: one group of lanes has a number. All
// lanes of a warp call it as often; k is -1 where nothing is left. `first` of `threads`.
template <class Each>
DEVICE void for_groups(Wide count, int shift, Wide first, Wide threads, Each each) {
    const int lanes = 1 << shift < WARP ? 1 << shift : WARP, lane = lane_in_warp() % lanes;
    const Wide per_warp = WARP / lanes;
    for (Wide base = first / WARP * per_warp; base < count; base += threads / WARP * per_warp) {
        const Wide k = base + lane_in_warp() / lanes;
        each(k < count ? static_cast<long long>(k) : -1ll, lane, lanes);
    }
}
