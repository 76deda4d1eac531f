"""Which external solver is predicted to factorise a block in half the time of SuperLU."""

import importlib.util
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


class Rival(NamedTuple):
    """An external solver, where it is installed, and from which size on it wins."""

    name: str
    module: str
    #: Multiplications from which it takes half of SuperLU's time, one thread: see `_RIVALS`.
    least_work: float
    complex_numbers: bool


#: In order of preference where the order is followed. Measured on one core of an EPYC, blocks of
#: real matrices and grids of two and three dimensions (SuperLU's seconds over the other's; work of
#: `BlockSize`): PARDISO 1.5 at 2e8, 1.9 at 3e8, 2.8 at 1.3e9, 5.8 at 1.1e10; UMFPACK 1.2, 2.4, 1.9,
#: 2.1; MUMPS with the reference BLAS 0.5, 1.1, 0.8, 1.8. KLU never: 0.1 to 1.4.
_RIVALS = (
    Rival("pardiso", "pypardiso", 5e8, False),
    Rival("umfpack", "scikits.umfpack", 5e9, True),
    Rival("umfpack", "kvxopt", 5e9, True),
    Rival("mumps", "mumps", 1.5e10, True),
)
#: And where no order was worth following: pivots leave it, or it fills up. CVXQP2_L_kkt: UMFPACK
#: 4.9, MUMPS 5.2, PARDISO 6.1, whose pivots are replaced there, which costs solutions; random
#: patterns of 2,000 rows: 7.6, 1.0, 2.4.
_WITHOUT_ORDER = ("umfpack", "mumps")
#: Rows of these from which the other's fixed cost of some milliseconds does not count.
_LEAST_ROWS = 1000

FindSolver = Callable[[str], MakeExternal]


def predicted_choice(block: BlockSize, find: FindSolver) -> Choice:
    """Choose a solver for a block; SuperLU unless an installed one is predicted to win by 2.

    Time: a look for each module, which is not imported unless it is chosen.
    """
    for rival in _RIVALS:
        if why := _reason(block, rival):
            if not _is_there(rival.module):
                continue
            try:
                return Choice(find(rival.name), rival.name, why)
            except ImportError:  # broken: what is not there is not needed
                continue
    expected = f"{block.foreseen:,.0f} entries foreseen" if block.foreseen else "no order followed"
    return Choice(SuperLUFactor, "superlu", f"no installed solver is predicted to win ({expected})")


def _reason(block: BlockSize, rival: Rival) -> str:
    """Return why a rival is predicted to take half the time, or nothing."""
    if not (block.is_real or rival.complex_numbers):
        return ""
    if block.foreseen:
        if block.work < rival.least_work:
            return ""
        return f"{block.work:.0e} multiplications foreseen, wins from {rival.least_work:.0e} on"
    if block.rows < _LEAST_ROWS or rival.name not in _WITHOUT_ORDER:
        return ""
    return "pivots leave every order, or it fills up: wins where fronts are dense"


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
