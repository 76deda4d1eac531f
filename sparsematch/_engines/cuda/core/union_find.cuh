// Union and find with compare-and-swap, after Jaiganesh, Burtscher: A high-performance connected
// components implementation for GPUs (HPDC 2018). Invariant: up[v] <= v, so a root is the least of
// its tree, and trees are joined at their roots only.
#pragma once

// Halves the path on the way: every write replaces a pointer by one further up, in any order.
template <class T> DEVICE T find(T* up, T v) {
    T u = load(up + v);
    while (u != v) {
        const T next = load(up + u);
        if (next != u) store(up + v, next);
        v = u;
        u = next;
    }
    return v;
}

// The same without a write. The root may be written to the vertex afterwards while others search
// for theirs, but not while they halve paths: these would put back what they have read before.
template <class T> DEVICE T root_of(const T* up, T v) {
    for (T u; (u = load(up + v)) != v;) v = u;
    return v;
}

// Safe: a compare-and-swap puts a root under another; losers retry. Returns a's root as known then.
template <class T> DEVICE T join(T* up, T a, T b) {
    a = find(up, a), b = find(up, b);
    while (a != b) {
        if (a < b) {
            const T c = a;
            a = b;
            b = c;
        }
        if (compare_and_swap(up + a, a, b) == a) return b;
        a = find(up, a);
        b = find(up, b);
    }
    return a;
}
