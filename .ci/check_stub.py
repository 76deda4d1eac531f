"""Compare `_core.pyi` with the compiled core by mypy's stubtest: names, and parameters."""

import re
import sys
from pathlib import Path

from mypy import stubtest

from sparsematch._engines.cpu import _core


def as_function(compiled):
    """Return a function of Python with the parameters of a compiled one, for `inspect`."""
    signature, _, *defaults = compiled.__nb_signature__[0]
    text = signature.rpartition(" -> ")[0]
    text = re.sub(r"\\(\d+)", lambda found: repr(defaults[0][int(found[1])]), text)
    while (shorter := re.sub(r"\[[^][]*\]", "", text)) != text:  # the parts of annotations
        text = shorter
    # a parameter without a name: stubtest takes one letter for any
    text = re.sub(r"\barg(\d*)\b", lambda found: chr(ord("a") + int(found[1] or 0)), text)
    scope = {}
    exec(f"from __future__ import annotations\n{text}: ...", scope)
    return scope[compiled.__name__]


def replace_functions(scope):
    """Replace the compiled functions of a module or class, which `inspect` does not know."""
    for name, value in list(vars(scope).items()):
        if hasattr(value, "__nb_signature__"):
            setattr(scope, name, as_function(value))
        elif isinstance(value, type):
            replace_functions(value)


replace_functions(_core)
here = Path(__file__).resolve().parent
options = ["--allowlist", str(here / "stub_allowlist"), "--ignore-unused-allowlist"]
options += ["--mypy-config-file", str(here.parent / "pyproject.toml")]  # libraries without stubs
options += ["--concise", _core.__name__]
sys.exit(stubtest.test_stubs(stubtest.parse_options(options)))
