"""The layout of the coarse Dulmage-Mendelsohn decomposition, with the names of its boundaries."""

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from sparsematch.plot.cells import PARTS

columns, rows = [0, 2.2, 4.4, 6.8, 9], [0, 2, 4.2, 6.2, 7.6]
horizontal, square, vertical = (PARTS[name][1] for name in ("horizontal", "square", "vertical"))
colours = {
    (0, 0): horizontal,
    (0, 1): horizontal,
    (1, 2): square,
    (2, 3): vertical,
    (3, 3): vertical,
}
zero = {(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)}

figure, ax = plt.subplots(figsize=(8.6, 5.4))
for i in range(4):
    for j in range(4):
        x, y = columns[j], rows[i]
        width, height = columns[j + 1] - x, rows[i + 1] - y
        colour = colours.get((i, j), "none" if (i, j) in zero else "#f0f0f0")
        ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="#555"))
        name = "0" if (i, j) in zero else f"$A_{{{i + 1}{j + 1}}}$"
        middle = {"ha": "center", "va": "center", "zorder": 3}
        box = {"boxstyle": "round", "facecolor": colour, "edgecolor": "none"}
        ax.text(x + width / 2, y + height / 2, name, size=16, bbox=box, **middle)
        if (i, j) in {(0, 1), (1, 2), (2, 3)}:  # no zero on their diagonals
            ax.plot([x, x + width], [y, y + height], color="#222", linewidth=1.2, alpha=0.5)
for k in range(5):
    ax.text(columns[k], -0.35, f"cc[{k}]", ha="center", va="bottom", family="monospace")
    ax.text(-0.15, rows[k], f"rr[{k}]", ha="right", va="center", family="monospace")
for k, name in enumerate(("horizontal", "square", "vertical,\nmatched", "vertical,\nunmatched")):
    ax.text(9.2, (rows[k] + rows[k + 1]) / 2, name, va="center")
names = "horizontal,\nunmatched", "horizontal,\nmatched", "square", "vertical"
for k, name in enumerate(names):
    ax.text((columns[k] + columns[k + 1]) / 2, 7.75, name, ha="center", va="top")
ax.set(xlim=(-1, 11), ylim=(8.7, -0.7), aspect="equal")
ax.axis("off")
