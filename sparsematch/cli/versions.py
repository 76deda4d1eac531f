"""What ``sparsematch --version`` prints: versions, and what is available on this machine."""

import os
import platform
from importlib import metadata

import sparsematch
from sparsematch._base.errors import pip_install
from sparsematch.cli.summary import line

__all__ = ["text"]

_NEEDED = "numpy", "scipy"
_OPTIONAL = {
    "matplotlib": ("matplotlib", "pictures", pip_install("matplotlib")),
    "cupy": ("cupy-cuda12x cupy-cuda13x cupy", "GPU", pip_install("cupy-cuda12x")),
    "networkx": ("networkx", "its back-end", pip_install("networkx")),
}


def text() -> str:
    """Word the versions of everything, and how many workers there can be."""
    lines = [
        f"sparsematch {sparsematch.__version__}",
        line("python", f"{platform.python_version()}, {platform.platform(terse=True)}"),
        *(line(name, _version(name) or "not installed") for name in _NEEDED),
    ]
    for name, (packages, purpose, remedy) in _OPTIONAL.items():
        found = next((v for package in packages.split() if (v := _version(package))), None)
        lines.append(line(name, found or f"not installed ({purpose}: {remedy})"))
    with sparsematch.set_workers(-1):
        workers = sparsematch.get_workers()
    lines.append(line("workers", f"1 by default, {workers} at most ({os.cpu_count()} cores)"))
    names = ", ".join(engine.name for engine in sparsematch.engines("exact"))
    return "\n".join([*lines, line("exact engines", names)])


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
