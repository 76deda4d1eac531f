"""Exceptions worded in one way: the argument, the value given, the choices.

Most functions return an exception, so that ``raise`` stands where the mistake is found.
"""

import sys
import warnings
from collections.abc import Collection, Iterable
from os import PathLike
from typing import Any


def pip_install(*packages: str) -> str:
    """Word the command that installs packages."""
    # They are named themselves, not an extra of sparsematch: that is found in a clone only.
    return f"python -m pip install {' '.join(packages)}"


def wrong_type(argument: str, value: Any, expected: str) -> TypeError:
    """Describe a value of the wrong type."""
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return TypeError(f"{argument} must be {expected}, not {name}")


def not_sparse(argument: str, value: Any, expected: str) -> TypeError:
    """Describe what is no sparse matrix, and say how to make one of it."""
    if hasattr(value, "to_local"):  # a DistributedCSR
        return TypeError(
            f"{argument} is distributed over ranks, but this is done in one process only; "
            f"{argument}.to_local() returns the own rows"
        )
    error = wrong_type(argument, value, expected)
    package, kind = type(value).__module__.partition(".")[0], type(value).__name__
    hint = None
    if package == "pandas":
        hint = f"scipy.sparse.csr_array({argument}.to_numpy()), or {argument}.sparse.to_coo()"
    elif package == "xarray":
        hint = f"scipy.sparse.csr_array({argument}.to_numpy())"
    elif (package, kind) == ("numpy", "ndarray") or isinstance(value, list | tuple):
        hint = f"scipy.sparse.csr_array({argument})"
    elif package == "networkx":
        hint = f"networkx.to_scipy_sparse_array({argument})"
    elif isinstance(value, str | PathLike):
        hint = "scipy.io.mmread(path, spmatrix=False), for example"
    return TypeError(f"{error}; convert it: {hint}") if hint else error


def unknown_choice(argument: str, value: Any, choices: Iterable[str]) -> TypeError | ValueError:
    """Describe a string that is none of the choices, or a value that is no string at all."""
    names = [repr(choice) for choice in dict.fromkeys(choices)]
    listed = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    if not isinstance(value, str):
        return wrong_type(argument, value, f"a string, {listed}")
    return ValueError(f"{argument} is {value!r}, but must be {listed}")


def check_choice(argument: str, value: Any, choices: Collection[str]) -> None:
    """Raise TypeError or ValueError unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise unknown_choice(argument, value, choices)


def check_count(argument: str, value: Any, least: int = 0) -> None:
    """Raise unless the value is an integer, and not less than the least."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise wrong_type(argument, value, "an integer")
    if value < least:
        allowed = f"be {least} or more" if least else "not be negative"
        raise ValueError(f"{argument} is {value}, but must {allowed}")


def warn(category: type[Warning], text: str) -> None:
    """Warn at the line that called this package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def is_an_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: an interrupted import fails with another one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def one_line_of(error: BaseException) -> str:
    """Return what an exception says, in one line, or its kind."""
    return " ".join(str(error).split()) or type(error).__name__


def is_utf8(path: str) -> bool:
    """Tell whether a file has a name that compiled code can open it by."""
    return path.encode(errors="ignore").decode() == path
