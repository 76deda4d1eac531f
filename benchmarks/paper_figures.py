"""The figures of two papers on approximate matching, remeasured on this machine.

    python benchmarks/paper_figures.py [FIGURE ...] [--out FOLDER] [--largest 18] [--data FOLDER]

red_blue_rounds         Fagginger Auer, Bisseling (2012), Fig. 2: vertices matched, round by round
red_blue_probability    the same, Fig. 3: the effect of the probability of blue, on ecology1, which
                        is a grid of 1000 x 1000
local_max_quality       Birn et al. (2013), Figs. 2, 3, 6-9: weight relative to gpa
local_max_times         the same, Figs. 2, 3, 5-11: running time; on a GPU, too, if there is one
local_max_rounds        the same, section 3: edges left, round by round

Needs matplotlib. Real matrices are read from a folder of .npz files; without it their panels are
left out. Times are the shortest of several calls of the engine, with one worker.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import driver
import sparsematch
from graphs import build

STYLES = {
    "gpa": ("C7", "s"),
    "greedy": ("C1", "v"),
    "local_max": ("C0", "o"),
    "suitor": ("C2", "^"),
    "red_blue": ("C3", "D"),
    "hem": ("C4", "P"),
}

FAMILIES = {
    "delaunay": ("Delaunay", "length", 3),
    "rgg": ("random geometric", "length", 7),
    "random_4": ("random, alpha = 4", "random", 4),
    "random_16": ("random, alpha = 16", "random", 16),
    "random_64": ("random, alpha = 64", "random", 64),
}
#: Of a family no graph with more edges than these is made.
MOST_EDGES = 1 << 22


# ---- graphs and runs


def match(G, method, **how):
    """A matching, and the account of its engine."""
    matching = sparsematch.approximate_matching(G, method=method, return_info=True, rng=1, **how)
    return matching, matching.info.steps[0]


def fastest(G, method, repeats=3, **how):
    """The shortest time of the engine, the check of the matrix excluded."""
    return min(match(G, method, **how)[1].seconds for _ in range(repeats))


def fastest_on_gpu(G, method, repeats=5):
    """The shortest time of a call on the device, waited for."""
    import cupy
    from cupyx.profiler import benchmark

    times = benchmark(lambda: match(G, method), n_repeat=repeats, n_warmup=1)
    cupy.cuda.Device().synchronize()
    return float(times.gpu_times.min())


def gpu():
    """Return the module of sparse matrices on a GPU, or None."""
    try:
        import cupy
        from cupyx.scipy import sparse

        return sparse if cupy.cuda.runtime.getDeviceCount() else None
    except Exception:
        return None


@cache
def sizes(name, largest):
    """The exponents of the numbers of vertices."""
    edges = FAMILIES[name][2]
    exponents = range(10, largest + 1, 2 if largest > 14 else 1)
    return [k for k in exponents if edges << k <= max(MOST_EDGES, edges << 10)]


@cache
def family(name, exponent):
    """The graph of a family with 2**exponent vertices."""
    return build(name, 1 << exponent, FAMILIES[name][1])


def grid_of(largest, weights):
    """The grid of ecology1, or a smaller one."""
    return build("grid", 1000 * 1000 if largest >= 18 else 1 << largest, weights)


@cache
def real_matrices(folder, least=1000):
    """The symmetric matrices with different values, by name, the smallest first."""
    found = {}
    for path in sorted(Path(folder).glob("*.npz")) if folder else []:
        A = sp.csr_array(sp.load_npz(path))
        if A.shape[0] != A.shape[1] or A.shape[0] > 200_000 or A.dtype.kind not in "fci":
            continue
        A.sum_duplicates()
        magnitudes = sp.csr_array(abs(A))
        edges = sp.triu(magnitudes, 1)
        several = edges.nnz >= least and np.unique(edges.data).size > 1
        if several and (magnitudes != magnitudes.T).nnz == 0:
            found[path.stem] = magnitudes
    if folder and not found:
        print(f"no such matrices in {folder}: their panels are left out", file=sys.stderr)
    return dict(sorted(found.items(), key=lambda item: item[1].nnz))


def weight_ratios(title, graphs, names):
    """The weight of each engine's matching of each graph, relative to that of gpa."""
    ratios = {name: [] for name in names}
    for G in graphs:
        unit = match(G, "gpa")[0].weight
        for name in names:
            ratios[name].append(match(G, name)[0].weight / unit)
    means = (f"{name} {driver.geometric_mean(y):.4f}" for name, y in ratios.items())
    print(f"{title}: weight relative to gpa, geometric mean: {', '.join(means)}")
    return ratios


# ---- panels


def panels(plt, count, wide=3, size=(4.2, 3.4)):
    """A figure with `count` axes, a few in a line."""
    wide = min(wide, count)
    lines = -(-count // wide)
    size = size[0] * wide, size[1] * lines
    figure, axes = plt.subplots(lines, wide, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    return figure, list(axes.flat[:count])


def panels_of_families(plt, given):
    """A figure with axes for each family and for the real matrices, and those matrices."""
    real = real_matrices(given.data)
    figure, axes = panels(plt, len(FAMILIES) + bool(real))
    for ax, (title, _, _) in zip(axes, FAMILIES.values(), strict=False):
        ax.set(title=title, xlabel="vertices")
        ax.set_xscale("log", base=2)
    return figure, axes, real


def style(method, line="-"):
    """The format of an engine's curve."""
    color, marker = STYLES[method]
    return f"{marker}{line}{color}"


def legend_below(figure, ax, ncols):
    """One legend for all panels."""
    lines = ax.get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=ncols, frameon=False)


def red_blue_rounds(plt, given):
    n = 1 << min(given.largest, 17)
    graphs = {"grid, as ecology1": grid_of(given.largest, "unit"), "Delaunay": build("delaunay", n)}
    graphs |= {"random geometric": build("rgg", n), "random, alpha = 16": build("random_16", n)}
    graphs |= {"Kronecker": build("kron", n)}
    figure, axes = panels(plt, 2, size=(5.2, 4))
    for ax, weights in zip(axes, (False, True), strict=True):
        for k, (name, G) in enumerate(graphs.items()):
            matched = np.array([0, *match(G, "red_blue", weights=weights)[1].matched]) / G.shape[0]
            ax.plot(matched, f"o-C{k}", markersize=3, label=f"{name} ({G.nnz // 2:,})")
        ax.set(xlabel="rounds", ylabel="share of the vertices that are matched")
        ax.set(xlim=(0, 25), ylim=(0, 1.02), title="weighted" if weights else "random")
    axes[1].legend(frameon=False, title="graph (edges)", loc="lower right", fontsize=8)
    figure.suptitle("red_blue: vertices matched, round by round")
    return figure


def red_blue_probability(plt, given):
    G, p = grid_of(given.largest, "random"), np.linspace(0.05, 0.95, 19)
    runs = [match(G, "red_blue", options={"p": x}) for x in p]
    measured = {
        "pairs": [m.cardinality for m, _ in runs],
        "weight": [m.weight for m, _ in runs],
        "time": [fastest(G, "red_blue", 2, options={"p": x}) for x in p],
    }
    figure, (left, right) = panels(plt, 2, size=(5.2, 4))
    for (name, y), marker in zip(measured.items(), ("o-C0", "s-C1", "^-C2"), strict=True):
        left.plot(p, 100 * np.array(y) / max(y), marker, markersize=4, label=name)
    left.set(ylabel="% of the largest", ylim=(0, 103))
    fine = np.linspace(0.001, 0.999, 400)
    theory = 2 * (1 - fine) * (1 - np.exp(-fine / (1 - fine)))
    right.plot(fine, theory, "k-", label="theory, eq. (2)")
    for weights, marker, name in ((False, "oC0", "random"), (True, "sC1", "weighted")):
        steps = [match(G, "red_blue", weights=weights, options={"p": x})[1] for x in p]
        y = [step.matched[0] / G.shape[0] for step in steps]
        right.plot(p, y, marker, markersize=4, label=f"measured, {name}")
    right.set(ylabel="share of the vertices, first round", ylim=(0, None))
    for ax in (left, right):
        ax.set_xlabel("probability of blue, p")
        ax.axvline(0.53406, color="0.6", linestyle=":", label="p = 0.53406")
    left.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.7))
    right.legend(frameon=False, loc="lower center")
    figure.suptitle(f"red_blue on a grid of {G.shape[0]:,} vertices")
    return figure


def local_max_quality(plt, given):
    names = "local_max", "red_blue", "hem"
    labels = {"local_max": "local_max = greedy = suitor"}
    figure, axes, real = panels_of_families(plt, given)
    for ax, (name, (title, _, _)) in zip(axes, FAMILIES.items(), strict=False):
        exponents = sizes(name, given.largest)
        ratios = weight_ratios(title, (family(name, k) for k in exponents), names)
        for method, y in ratios.items():
            label = labels.get(method, method)
            ax.plot([1 << k for k in exponents], y, style(method), markersize=4, label=label)
    if real:
        ratios = weight_ratios("real matrices", real.values(), names)
        order = np.argsort(ratios["local_max"])
        for method, y in ratios.items():
            axes[-1].plot(np.array(y)[order], style(method, ""), markersize=4)
        axes[-1].set(title="real matrices", xlabel="matrix, by the weight of local_max")
    for ax in axes:
        ax.axhline(1, color=STYLES["gpa"][0], linewidth=1)
        ax.set(ylabel="weight / weight of gpa", ylim=(0.78, 1.015))
    legend_below(figure, axes[0], 3)
    figure.suptitle("Weight relative to gpa; greedy and suitor find the matching of local_max")
    return figure


def local_max_times(plt, given):
    on_gpu = gpu()
    there = ("local_max", "red_blue") if on_gpu else ()
    figure, axes, real = panels_of_families(plt, given)
    for ax, name in zip(axes, FAMILIES, strict=False):
        exponents = sizes(name, given.largest)
        x, graphs = [1 << k for k in exponents], [family(name, k) for k in exponents]
        for method in STYLES:
            y = [fastest(G, method) * 2e9 / G.nnz for G in graphs]
            ax.plot(x, y, style(method), markersize=4, label=method)
        on_device = [on_gpu.csr_matrix(sp.csr_matrix(G)) for G in graphs] if there else []
        for method in there:
            y = [fastest_on_gpu(G, method) * 2e9 / G.nnz for G in on_device]
            ax.plot(x, y, style(method, "--"), markersize=4, label=f"{method}, GPU")
    if real:
        edges = [G.nnz // 2 for G in real.values()]
        for method in STYLES:
            y = [fastest(G, method) * 1e9 / m for G, m in zip(real.values(), edges, strict=True)]
            axes[-1].plot(edges, y, style(method, ""), markersize=4)
        axes[-1].set(title="real matrices", xlabel="edges", xscale="log")
        axes[-1].xaxis.set_minor_formatter("")
    low = min(min(line.get_ydata()) for ax in axes for line in ax.lines)
    for ax in axes:
        ax.set(ylabel="ns per edge", yscale="log", ylim=(0.8 * min(low, 3), 300))
    legend_below(figure, axes[0], len(axes[0].lines))
    figure.suptitle("Time of the engines, one worker")
    return figure


def local_max_rounds(plt, given):
    figure, (left, right) = panels(plt, 2, size=(5.2, 4))
    graphs = [
        (title, family(name, sizes(name, given.largest)[-1]))
        for name, (title, _, _) in FAMILIES.items()
    ]
    graphs.append(("Kronecker", build("kron", 1 << min(given.largest, 16))))
    real = real_matrices(given.data)
    right.set_visible(bool(real))
    lines = [(left, G, f"o-C{k}", title) for k, (title, G) in enumerate(graphs)]
    for ax, G, marker, label in [*lines, *((right, G, "o-C0", None) for G in real.values())]:
        edges = match(G, "local_max")[1].live_edges
        y = np.maximum(np.array([*edges, 0]) / max(edges[0], 1), 1e-7)
        ax.plot(y, marker, markersize=3, label=label, alpha=1 if label else 0.4)
    for ax, title in ((left, "families"), (right, "real matrices")):
        ax.plot(0.25 ** np.arange(10), "k:", label="a quarter is left")
        ax.set(xlabel="rounds", ylabel="share of the edges that are left", title=title)
        ax.set(yscale="log", ylim=(1e-6, 1.5))
        ax.xaxis.get_major_locator().set_params(integer=True)
    left.legend(frameon=False, fontsize=8)
    figure.suptitle("local_max: edges left, round by round")
    return figure


DRAWN = red_blue_rounds, red_blue_probability, local_max_quality, local_max_times, local_max_rounds
FIGURES = {figure.__name__: figure for figure in DRAWN}


def main():
    """Draw the figures that are asked for."""
    parser = driver.parser(__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}")
    text = "folder for the pictures (default %(default)s)"
    parser.add_argument("--out", type=Path, default=Path("figures"), help=text)
    text = "exponent of the largest number of vertices (default %(default)s)"
    parser.add_argument("--largest", type=int, default=18, help=text)
    parser.add_argument("--data", help="folder of real matrices")
    given = parser.parse_args()
    if unknown := {*given.figures} - {*FIGURES}:
        parser.error(f"no figure is called {', '.join(sorted(unknown))}")
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.figures or FIGURES:
        figure = FIGURES[name](plt, given)
        path = given.out / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    main()
