"""The compiled core: beside the source, or where this version of sparsematch is installed.

In a clone that was installed with ``pip install .`` the source lies here and the core there.
"""

import hashlib
import sys
from importlib import import_module, metadata
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_NAME = f"{__package__}._core"


def load_core() -> ModuleType | None:
    """Load the core of the installation unless one lies beside the source (then None)."""
    # ImportError: there is neither, it is of another source, or this is a sub-interpreter.
    if not _in_main_interpreter():
        raise ImportError(
            "sparsematch cannot be used in a sub-interpreter: its compiled core works in the main "
            "interpreter only; use threads, which it lets run meanwhile, or processes"
        )
    if _NAME in sys.modules or find_spec(_NAME) is not None:
        return None
    if (spec := _installed()) is None or spec.loader is None:
        raise ImportError(
            f"sparsematch is not compiled for Python {sys.version_info[0]}.{sys.version_info[1]} "
            f"in {_ROOT}: run 'python -m pip install .' there, or start Python in another folder "
            "to use one that is installed"
        )
    module = module_from_spec(spec)
    sys.modules[_NAME] = module
    try:
        spec.loader.exec_module(module)
        if getattr(module, "source_digest", None) != source_digest():
            raise ImportError(
                f"the core in {spec.origin} was compiled from another source: run 'python -m pip "
                f"install .' in {_ROOT} again"
            )
    except ImportError:
        del sys.modules[_NAME]
        raise
    return module


def source_digest() -> str:
    """Return the SHA-256 of the C++ source beside this file, however its lines end."""
    # The build compiles it into the core.
    found = hashlib.sha256()
    for path in sorted(p for p in _HERE.rglob("*") if p.suffix in (".hpp", ".cpp")):
        found.update(f"{path.relative_to(_HERE).as_posix()}\n{path.read_text('utf-8')}".encode())
    return found.hexdigest()


def _in_main_interpreter() -> bool:
    """Tell whether this is the main interpreter; in another, the core would wait for ever."""
    for name in "_interpreters", "_xxsubinterpreters":  # from Python 3.13 on, and before
        try:
            interpreters = import_module(name)
        except ImportError:
            continue
        return bool(interpreters.get_current() == interpreters.get_main())
    return True


def _installed() -> ModuleSpec | None:
    """Find the core of an installed sparsematch other than this one."""
    for distribution in metadata.distributions(name="sparsematch"):
        folder = Path(str(distribution.locate_file(Path(*_NAME.split(".")[:-1]))))
        if folder == _HERE or not folder.is_dir():
            continue
        for suffix in EXTENSION_SUFFIXES:
            if (path := folder / f"_core{suffix}").exists():
                return spec_from_file_location(_NAME, path)
    return None


if __name__ == "__main__":
    sys.stdout.write(source_digest())
