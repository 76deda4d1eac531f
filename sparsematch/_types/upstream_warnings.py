"""Warnings by which other libraries say that a call failed, turned into exceptions.

The one place of the package that touches Python's list of filters, which all threads share.
CuPy and ``numpy.fromstring`` say it in no other way. What is raised is of a category of their own,
or has their words, so that no other thread's warning becomes an error; and one thread at a time, as
each puts back the list that it found.
"""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: What ``numpy.fromstring`` says of text that is no number.
NO_NUMBER = "string or file could not be read"

_one_at_a_time = threading.RLock()


def _renew() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.RLock()  # the thread that held it is not in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


@contextmanager
def upstream_warnings_raised(category: type[Warning], message: str = "") -> Iterator[None]:
    """Raise warnings of a category whose texts begin as `message`, a regular expression."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.filterwarnings("error", message, category)
        yield
