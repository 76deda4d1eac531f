"""Which external solver is predicted to factorise a block in half the time of SuperLU."""

import importlib.util
import math
from collections.abc import Callable
from typing import NamedTuple

from sparsematch.solvers._external import Choice, MakeExternal, SuperLUFactor


class BlockSize(NamedTuple):
    """What is known of a block before it is factorised."""

    rows: int
    entries: int
    foreseen: float  #: Entries of L + U, pivots on the diagonal; 0: no order was worth following.
    is_real: bool

    @property
    def work(self) -> float:
        """Multiplications at least, if columns of L + U were alike: n times the square of half."""
        return self.foreseen**2 / (2 * max(1, self.rows))

    @property
    def share(self) -> float:
        """Entries of L + U over those of a dense matrix."""
        return self.foreseen / max(1, self.rows) ** 2


class Rival(NamedTuple):
    """An external solver, where it is installed, and which blocks it takes half the time for."""

    name: str
    module: str
    least_work: float  #: Multiplications from which it does.
    least_share: float  #: Or the share of entries that are in L + U.
    complex_numbers: bool


#: In order of preference. Measured on one core of an EPYC, SuperLU's seconds in our order over the
#: other's. PARDISO: 1.1 at a work of 5e8, 1.3 at 2e9, 1.4 at 6e9, 1.7 at 7e9 (grids in three
#: dimensions, cage10, cvxqp3). UMFPACK: 0.7 to 1.3 on these, of a share up to 0.07; 2.3 to 4.9
#: on random patterns of 1,200 to 3,500 rows, share 0.26 to 0.34; PARDISO 1.0 to 2.3. MUMPS
#: with the reference BLAS: 0.3 to 1.5.
_RIVALS = (
    Rival("umfpack", "scikits.umfpack", math.inf, 0.2, True),
    Rival("umfpack", "kvxopt", math.inf, 0.2, True),
    Rival("pardiso", "pypardiso", 2e10, math.inf, False),
)
#: And where no order was worth following, as pivots leave it or it fills up: SuperLU's COLAMD took
#: 5 times as long as UMFPACK and MUMPS on CVXQP2_L_kkt, 7 times on cvxqp3. PARDISO replaces pivots
#: there.
_WITHOUT_ORDER = (
    Rival("umfpack", "scikits.umfpack", 0, 0, True),
    Rival("umfpack", "kvxopt", 0, 0, True),
    Rival("mumps", "mumps", 0, 0, True),
)
#: Rows of a block from which the other's fixed cost of some milliseconds does not count.
_LEAST_ROWS = 1000

FindSolver = Callable[[str], MakeExternal]


def predicted_choice(block: BlockSize, find: FindSolver) -> Choice:
    """Choose a solver for a block; SuperLU unless an installed one is predicted to win by 2.

    Time: a look for each module, which is not imported unless it is chosen.
    """
    for rival in _RIVALS if block.foreseen else _WITHOUT_ORDER:
        why = _reason(block, rival)
        if not why or not _is_there(rival.module):
            continue
        try:
            return Choice(find(rival.name), rival.name, why)
        except ImportError:  # broken: what is not there is not needed
            continue
    return Choice(
        SuperLUFactor, "superlu", "no installed solver is predicted to take half the time"
    )


def _reason(block: BlockSize, rival: Rival) -> str:
    """Return why a rival is predicted to take half the time, or nothing."""
    if block.rows < _LEAST_ROWS or not (block.is_real or rival.complex_numbers):
        return ""
    if not block.foreseen:
        return "predicted to take half the time: no order is worth following"
    if block.share >= rival.least_share:
        return f"predicted to take half the time: factors {block.share:.0%} full"
    if block.work >= rival.least_work:
        return f"predicted to take half the time: {block.work:.0e} multiplications"
    return ""


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
