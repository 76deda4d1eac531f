"""What is computed, or imported, when it is first needed."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class lazy_attribute(Generic[_T]):
    """As ``functools.cached_property`` of Python 3.12 on, which holds no lock meanwhile."""

    # That of 3.11 holds one for all objects: a process forked then would wait for it for ever.
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


def offered(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__``, ``__all__`` of a package, by its file's stub."""
    # Each name is imported when it is first used, so that the command line starts at once.
    with open(f"{file}i", encoding="utf-8") as stub:
        words = stub.read().replace("(", "").split()
    places = {words[k - 1]: words[k - 3] for k, word in enumerate(words) if word == "as"}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if places[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(places[name]), name)
        setattr(import_module(package), name, value)
        return value

    public = sorted(name for name, place in places.items() if place != package)
    return get, lambda: sorted(places), public
