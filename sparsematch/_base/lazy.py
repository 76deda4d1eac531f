"""Attributes that are computed when they are first needed."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class lazy_attribute(Generic[_T]):
    """As ``functools.cached_property`` of Python 3.12 on, which holds no lock meanwhile.

    That of 3.11 holds one for all objects: a process forked then would wait for it for ever.
    """

    def __init__(self, function: Callable[[Any], _T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> "lazy_attribute[_T]": ...
    @overload
    def __get__(self, owner: object, kind: type) -> _T: ...
    def __get__(self, owner: object | None, kind: type) -> "lazy_attribute[_T] | _T":
        """Return the value, kept in the object's ``__dict__``, where it is found first."""
        if owner is None:
            return self
        value = self._function(owner)
        owner.__dict__[self._function.__name__] = value
        return value
