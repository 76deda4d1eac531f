"""
A Pyomo model with one variable fixed too many
==============================================

A tank over time: its level follows from its inlet and outlet. Somebody has fixed a
level that the equations determine. :func:`sparsematch.pyomo.explain_model` lists the
fixed variables that may be to blame, by name, and
:func:`sparsematch.plot.spy_conflicts` draws the equations that are too many.

:doc:`/howto/use_with_networkx_and_pyomo` has the calls.
"""

import matplotlib.pyplot as plt
import pyomo.environ as pyo

from sparsematch.plot import spy_conflicts
from sparsematch.pyomo import explain_model

model = pyo.ConcreteModel()
model.t = pyo.RangeSet(6)
model.level, model.volume, model.inlet, model.outlet = (
    pyo.Var(model.t, initialize=1.0) for _ in range(4)
)


@model.Constraint(model.t)
def geometry(m, t):
    return m.volume[t] == 2 * m.level[t]


@model.Constraint(model.t)
def discharge(m, t):
    return m.outlet[t] == pyo.sqrt(m.level[t])


@model.Constraint(model.t)
def balance(m, t):
    before = m.volume[t - 1] if t > 1 else 2
    return m.volume[t] == before + m.inlet[t] - m.outlet[t]


model.inlet.fix(1.0)
model.level[4].fix(0.5)
why = explain_model(model)
print(why)

# %%
# The equations up to that time are over-determined; those after it are not.

figure = plt.figure(figsize=(11, 4.2))
spy_conflicts(why.matrix, why.explanation, title="a tank", figure=figure)
plt.show()

# %%
# The level is suggested first, since all others of its family are free. Without it:

print(why.suspects[0].name)
model.level[4].unfix()
print(explain_model(model).explanation)
