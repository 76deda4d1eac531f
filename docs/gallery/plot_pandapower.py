"""
A pandapower network: what its meters do not see
================================================

State estimation takes the voltages of a network from measurements. Where too many
are missing, pandapower's ``estimate`` says ``System is not observable``, and how
many there must be. :func:`sparsematch.explain_singularity` says which buses are not
seen, and which of the other meters must not fail.

:doc:`/howto/explain_singular_values` has the call, and what it promises.
"""

# %%
# The network
# -----------
#
# A medium-voltage network on the upper Rhine, which comes with pandapower: trees of
# lines that two substations feed. A switch that is open takes its line out.

import json
import logging

import matplotlib.pyplot as plt
import numpy as np
import pandapower as pp
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from pandapower.networks import mv_oberrhein
from pandapower.topology import create_nxgraph

from sparsematch import explain_singularity

logging.getLogger("pandapower").setLevel(logging.ERROR)  # on what would be faster
net = mv_oberrhein()
graph = create_nxgraph(net, calc_branch_impedances=True)
print(f"{len(graph)} buses, {graph.number_of_edges()} branches in use")

# %%
# Meters
# ------
#
# Power is metered at each bus with a load or a generator, and on a dozen lines.
# Eight of the meters at buses have failed.

rng = np.random.default_rng(5)
buses = np.union1d(net.load.bus, net.sgen.bus)
in_use = [line for *_, (kind, line) in graph.edges(keys=True) if kind == "line"]
on_lines = rng.choice(in_use, 12, replace=False)
failed = rng.choice(buses, 8, replace=False)
for line in on_lines:
    pp.create_measurement(net, "p", "line", 0.0, 0.1, element=line, side="from")
for bus in np.setdiff1d(buses, failed):
    pp.create_measurement(net, "p", "bus", 0.0, 0.1, element=bus)

# %%
# The equations
# -------------
#
# What matters for observability is how measured powers depend on the angles of the
# voltages, to first order: the difference of the angles over the reactance of a
# branch. A bus without load or generator injects nothing, which is as good as a
# meter, and the angle is given where the network is fed.


def flow(a, b):
    """The terms of the power from bus a to bus b."""
    return [
        (end, sign / branch["x_ohm"])
        for branch in graph[a][b].values()
        for end, sign in ((a, 1), (b, -1))
    ]


def injection(bus):
    """The terms of the power that enters at a bus."""
    return [term for other in graph[bus] for term in flow(bus, other)]


equations = {f"angle of bus {bus} given": [(bus, 1.0)] for bus in net.ext_grid.bus}
for bus in np.setdiff1d(net.bus.index, np.union1d(buses, net.ext_grid.bus)):
    equations[f"nothing enters at bus {bus}"] = injection(bus)
for kind, at in net.measurement[["element_type", "element"]].itertuples(index=False):
    line = net.line.loc[at] if kind == "line" else None
    terms = injection(at) if line is None else flow(line.from_bus, line.to_bus)
    equations[f"power of {kind} {at}"] = terms

column = {bus: j for j, bus in enumerate(net.bus.index)}
entries = [
    (value, i, column[bus])
    for i, terms in enumerate(equations.values())
    for bus, value in terms
]
values, rows, cols = map(np.array, zip(*entries, strict=True))
H = sp.csr_array((values, (rows, cols)), shape=(len(equations), len(column)))

# %%
# What they see
# -------------
#
# More equations than angles, and still four of the angles are missing. By the
# pattern alone it would be three.

names = list(equations), [f"bus {bus}" for bus in column]
why = explain_singularity(H, *names, numeric=True)
print(why.text(max_names=4))

# %%
# On the map
# ----------
#
# A bus is not seen if the angle there may change and no equation notices. A meter
# must not fail if the rank is less without it; the others check each other.

unseen = set(net.bus.index[why.numbers.undetermined_cols])
critical = {list(equations)[i] for i in why.numbers.critical_rows}
place = {bus: json.loads(geo)["coordinates"] for bus, geo in net.bus.geo.items()}
course = {line: json.loads(geo)["coordinates"] for line, geo in net.line.geo.items()}

figure, ax = plt.subplots(figsize=(9, 7.5), layout="constrained")
for lines, color, width in (in_use, "0.8", 1.5), (on_lines, "C4", 5):
    ax.add_collection(
        LineCollection([course[k] for k in lines], color=color, linewidth=width)
    )
needed = [bus for bus in buses if f"power of bus {bus}" in critical]
groups = {
    "seen": (set(net.bus.index) - unseen, "o", 5, "C0"),
    "not seen": (unseen, "o", 7, "C1"),
    "meter that must not fail": (needed, "o", 2.5, "black"),
    "failed meter": (failed, "X", 11, "C3"),
}
for label, (members, marker, size, color) in groups.items():
    x, y = zip(*(place[bus] for bus in members), strict=True)
    ax.plot(x, y, marker, markersize=size, color=color, label=label)
ax.plot([], [], color="C4", linewidth=5, label="metered line")
ax.set_aspect(1 / np.cos(np.radians(48.4)))  # degrees of longitude and latitude
ax.set_axis_off()
ax.legend(frameon=False)
plt.show()

# %%
# As many phasor measurements as the rank lacks, at buses outside a basis of the
# columns, and all is seen:

more = np.setdiff1d(np.arange(len(column)), why.numbers.basis_cols)
measured = sp.vstack([H, sp.eye_array(len(column), format="csr")[more]])
after = explain_singularity(measured, numeric=True).numbers
print(f"at {net.bus.index[more].tolist()}: {after.undetermined_cols.size} not seen")
