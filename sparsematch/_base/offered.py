"""What a package offers: its stub says so, to type checkers and here."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def offered(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__``, ``__all__`` of a package, by the stub beside its file.

    Each name is imported when it is first used, so that the command line starts at once.
    """
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
