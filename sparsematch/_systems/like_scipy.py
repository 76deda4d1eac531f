"""What SciPy's functions do that these do not, for code that was written for them.

The keywords of `sparsematch.linalg` for SuperLU are checked and ignored; NaN for what has no
solution is returned where a call asks for it.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import MatrixRankWarning

from sparsematch._base.errors import warn
from sparsematch._numerics.foreign_calls import splu, spsolve
from sparsematch._systems.checks import check_right_hand_side

#: What to do with a matrix that has no solution.
Singular: TypeAlias = Literal["raise", "nan"]


class IgnoredOptionWarning(UserWarning):
    """A keyword of SciPy's functions was given that has no meaning here, and was ignored.

    Of each keyword, once in a process: orders and pivots are chosen for each block, whatever
    ``permc_spec`` or ``diag_pivot_thresh`` say, and no other library is called for ``use_umfpack``.

    Examples
    --------
    >>> import warnings
    >>> from sparsematch.solvers import IgnoredOptionWarning
    >>> warnings.simplefilter("ignore", IgnoredOptionWarning)
    """


_warned: set[str] = set()
#: What was checked last of each call: its keywords, as they were spelt.
_checked: dict[str, list[str]] = {}


def ignore_options(call: str, **options: Any) -> None:
    """Refuse what SciPy's function of this name refuses; warn once of each keyword else ignored."""
    # Of a float SciPy checks the type, and FiPy passes another with each matrix. Time: 90 us where
    # a keyword has another value than the last time, else 1.
    spelt = ["a float" if isinstance(v, float) else repr(v) for v in options.values()]
    if spelt == _checked.get(call):
        return
    given = {k: v for k, v in options.items() if v is not None}
    one = csc_array(np.ones((1, 1)))  # SciPy's function shows on it what it would refuse
    if call == "spsolve":
        spsolve(one, np.ones(1), **given)
    else:
        splu(one, **given)
    for name in sorted(given.keys() - _warned):
        _warned.add(name)
        text = f"{name}={given[name]!r} has no meaning for a block triangular form, and is ignored"
        warn(IgnoredOptionWarning, f"{text}; solver= and pivoting= are the choices here")
    _checked[call] = spelt


def no_solution(b: NDArray[Any], n: int, dtype: Any) -> NDArray[Any]:
    """Return NaN for each right-hand side, with SciPy's warning; errors are those of a `solve`."""
    check_right_hand_side(b, n, "N")
    text = "Matrix is exactly singular, or not finite: the solution is NaN; splu says why"
    warn(MatrixRankWarning, text)
    return np.full(b.shape, np.nan, np.result_type(dtype, b.dtype, np.float64))
