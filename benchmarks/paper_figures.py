"""The figures of two papers on approximate matching, remeasured on this machine.

    python benchmarks/paper_figures.py [FIGURE ...] [--out FOLDER] [--largest 18] [--data FOLDER]

red_blue_rounds         Fagginger Auer, Bisseling (2012), Fig. 2: vertices matched, round by round
red_blue_probability    the same, Fig. 3: the effect of the probability of blue, on ecology1, which
                        is a grid of 1000 x 1000
local_max_quality       Birn et al. (2013), Figs. 2, 3, 6-9: weight relative to gpa
local_max_times         the same, Figs. 2, 3, 5-11: running time; on a GPU, too, if there is one
local_max_rounds        the same, section 3: edges left, round by round

Needs matplotlib. Real matrices are read from a folder of .npz files; without it their panels are
left out, and so are engines that are not there. Times are the shortest of several calls of the
engine, with one worker.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from graphs import build
from paper_data import (
    FAMILIES,
    family,
    fastest,
    fastest_on_gpu,
    gpu,
    match,
    methods,
    real_matrices,
    sizes,
    weight_ratios,
)

STYLES = {
    "gpa": ("C7", "s"),
    "greedy": ("C1", "v"),
    "local_max": ("C0", "o"),
    "suitor": ("C2", "^"),
    "red_blue": ("C3", "D"),
    "hem": ("C4", "P"),
}


def panels(plt, count, wide=3, size=(4.2, 3.4)):
    """A figure with so many axes, in lines of a few."""
    wide = min(wide, count)
    lines = -(-count // wide)
    figure, axes = plt.subplots(
        lines, wide, figsize=(size[0] * wide, size[1] * lines), layout="constrained", squeeze=False
    )
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    return figure, list(axes.flat[:count])


def red_blue_rounds(plt, given):
    if not methods("red_blue"):
        return None
    graphs = {
        "grid, as ecology1": build(
            "grid", 1000 * 1000 if given.largest >= 18 else 1 << given.largest, "unit"
        ),
        "Delaunay": build("delaunay", 1 << min(given.largest, 17)),
        "random geometric": build("rgg", 1 << min(given.largest, 17)),
        "random, alpha = 16": build("random_16", 1 << min(given.largest, 17)),
        "Kronecker": build("kron", 1 << min(given.largest, 17)),
    }
    figure, axes = panels(plt, 2, size=(5.2, 4))
    for ax, weights in zip(axes, (False, True), strict=True):
        for k, (name, G) in enumerate(graphs.items()):
            _, step = match(G, "red_blue", weights=weights)
            matched = np.array([0, *step.matched]) / G.shape[0]
            ax.plot(
                range(len(matched)),
                matched,
                "o-",
                color=f"C{k}",
                markersize=3,
                label=f"{name} ({G.nnz // 2:,})",
            )
        ax.set(
            xlabel="rounds",
            ylabel="share of the vertices that are matched",
            xlim=(0, 25),
            ylim=(0, 1.02),
        )
        ax.set_title("weighted" if weights else "random")
    axes[1].legend(frameon=False, title="graph (edges)", loc="lower right", fontsize=8)
    figure.suptitle("red_blue: vertices matched, round by round")
    return figure


def first_round(G, p, weights):
    """The share of the vertices that the first round matches."""
    _, step = match(G, "red_blue", weights=weights, options={"p": p})
    return step.matched[0] / G.shape[0]


def red_blue_probability(plt, given):
    if not methods("red_blue"):
        return None
    G = build("grid", 1000 * 1000 if given.largest >= 18 else 1 << given.largest, "random")
    p = np.linspace(0.05, 0.95, 19)
    runs = [match(G, "red_blue", options={"p": x}) for x in p]
    measured = {
        "pairs": [m.cardinality for m, _ in runs],
        "weight": [m.weight for m, _ in runs],
        "time": [fastest(G, "red_blue", 2, options={"p": x}) for x in p],
    }
    figure, (left, right) = panels(plt, 2, size=(5.2, 4))
    for name, style in zip(measured, ("o-C0", "s-C1", "^-C2"), strict=True):
        left.plot(
            p, 100 * np.array(measured[name]) / max(measured[name]), style, markersize=4, label=name
        )
    left.set(xlabel="probability of blue, p", ylabel="% of the largest", ylim=(0, 103))
    fine = np.linspace(0.001, 0.999, 400)
    right.plot(
        fine, 2 * (1 - fine) * (1 - np.exp(-fine / (1 - fine))), "k-", label="theory, eq. (2)"
    )
    for weights, style, name in ((False, "oC0", "random"), (True, "sC1", "weighted")):
        right.plot(
            p,
            [first_round(G, x, weights) for x in p],
            style,
            markersize=4,
            label=f"measured, {name}",
        )
    right.set(
        xlabel="probability of blue, p", ylabel="share of the vertices, first round", ylim=(0, None)
    )
    for ax in (left, right):
        ax.axvline(0.53406, color="0.6", linestyle=":", label="p = 0.53406")
    left.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.7))
    right.legend(frameon=False, loc="lower center")
    figure.suptitle(f"red_blue on a grid of {G.shape[0]:,} vertices")
    return figure


def local_max_quality(plt, given):
    if not methods("gpa"):
        return None
    names = methods("local_max", "red_blue", "hem")
    real = real_matrices(given.data)
    figure, axes = panels(plt, len(FAMILIES) + bool(real))
    for ax, (name, (title, _, _)) in zip(axes, FAMILIES.items(), strict=False):
        exponents = sizes(name, given.largest)
        ratios = weight_ratios((family(name, k) for k in exponents), names)
        _curves(ax, [1 << k for k in exponents], ratios)
        ax.set(title=title, xlabel="vertices", ylim=(0.78, 1.015))
        ax.set_xscale("log", base=2)
        _print_means(title, ratios)
    if real:
        ratios = weight_ratios(real.values(), names)
        order = np.argsort(ratios["local_max"])
        _curves(
            axes[-1], range(len(real)), {k: np.array(v)[order] for k, v in ratios.items()}, line=""
        )
        axes[-1].set(title="real matrices", xlabel="matrix, by the weight of local_max")
        _print_means("real matrices", ratios)
    for ax in axes:
        ax.axhline(1, color=STYLES["gpa"][0], linewidth=1)
        ax.set_ylabel("weight / weight of gpa")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    figure.suptitle("Weight relative to gpa; greedy and suitor find the matching of local_max")
    return figure


def _curves(ax, x, ratios, line="-"):
    for name, y in ratios.items():
        color, marker = STYLES[name]
        label = "local_max = greedy = suitor" if name == "local_max" else name
        ax.plot(
            x, y, marker=marker, linestyle=line or "none", color=color, markersize=4, label=label
        )


def _print_means(title, ratios):
    means = (f"{name} {np.exp(np.mean(np.log(y))):.4f}" for name, y in ratios.items())
    print(f"{title}: weight relative to gpa, geometric mean: {', '.join(means)}")


def local_max_times(plt, given):
    names = methods(*STYLES)
    on_gpu = gpu()
    there = methods("local_max", "red_blue", backend="cupy") if on_gpu else []
    real = real_matrices(given.data)
    figure, axes = panels(plt, len(FAMILIES) + bool(real))
    for ax, (name, (title, _, _)) in zip(axes, FAMILIES.items(), strict=False):
        exponents = sizes(name, given.largest)
        graphs = [family(name, k) for k in exponents]
        for method in names:
            y = [fastest(G, method) * 2e9 / G.nnz for G in graphs]
            ax.plot([1 << k for k in exponents], y, *_style(method), markersize=4, label=method)
        for method in there:
            on_device = [on_gpu.csr_matrix(sp.csr_matrix(G)) for G in graphs]
            y = [fastest_on_gpu(G, method) * 2e9 / G.nnz for G in on_device]
            ax.plot(
                [1 << k for k in exponents],
                y,
                *_style(method, "--"),
                markersize=4,
                label=f"{method}, GPU",
            )
        ax.set_xscale("log", base=2)
        ax.set(title=title, xlabel="vertices")
    if real:
        edges = [G.nnz // 2 for G in real.values()]
        for method in names:
            y = [fastest(G, method) * 1e9 / m for G, m in zip(real.values(), edges, strict=True)]
            axes[-1].plot(edges, y, *_style(method, ""), markersize=4)
        axes[-1].set_xscale("log")
        axes[-1].set(title="real matrices", xlabel="edges")
        axes[-1].xaxis.set_minor_formatter("")
    low = min(min(line.get_ydata()) for ax in axes for line in ax.lines)
    for ax in axes:
        ax.set(ylabel="ns per edge", yscale="log", ylim=(0.8 * min(low, 3), 300))
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(axes[0].lines),
        frameon=False,
    )
    figure.suptitle("Time of the engines, one worker")
    return figure


def _style(method, line="-"):
    color, marker = STYLES[method]
    return (f"{marker}{line}{color}",)


def local_max_rounds(plt, given):
    figure, (left, right) = panels(plt, 2, size=(5.2, 4))
    for k, (name, (title, _, _)) in enumerate(FAMILIES.items()):
        _rounds(left, family(name, sizes(name, given.largest)[-1]), f"C{k}", title)
    _rounds(left, build("kron", 1 << min(given.largest, 16)), "C5", "Kronecker")
    real = real_matrices(given.data)
    if real:
        for G in real.values():
            _rounds(right, G, "C0", None, alpha=0.4)
        right.set_title("real matrices")
    else:
        right.set_visible(False)
    left.set_title("families")
    for ax in (left, right):
        rounds = np.arange(10)
        ax.plot(rounds, 0.25**rounds, "k:", label="a quarter is left")
        ax.set(
            xlabel="rounds",
            ylabel="share of the edges that are left",
            yscale="log",
            ylim=(1e-6, 1.5),
        )
        ax.xaxis.get_major_locator().set_params(integer=True)
    left.legend(frameon=False, fontsize=8)
    figure.suptitle("local_max: edges left, round by round")
    return figure


def _rounds(ax, G, color, label, **how):
    _, step = match(G, "local_max")
    left = np.array([*step.live_edges, 0]) / max(step.live_edges[0], 1)
    ax.plot(
        range(len(left)),
        np.maximum(left, 1e-7),
        "o-",
        color=color,
        markersize=3,
        label=label,
        **how,
    )


FIGURES = {
    f.__name__: f
    for f in (
        red_blue_rounds,
        red_blue_probability,
        local_max_quality,
        local_max_times,
        local_max_rounds,
    )
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", choices=[*FIGURES, "all"], default="all"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        help="folder for the pictures (default: figures)",
    )
    parser.add_argument(
        "--largest",
        type=int,
        default=18,
        help="exponent of the largest number of vertices (default: 18)",
    )
    parser.add_argument("--data", help="folder of real matrices")
    given = parser.parse_args()
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    given.out.mkdir(parents=True, exist_ok=True)
    for name in FIGURES if "all" in given.figures else given.figures:
        figure = FIGURES[name](plt, given)
        if figure is None:
            print(f"{name}: left out", file=sys.stderr)
            continue
        path = given.out / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    main()
