"""Attacks: cases that nobody has tried before. `tox -e attack`: 20 s of each.

    python tests/attack/run.py [SEED [SECONDS EACH]]
    python tests/attack/run.py NAME SEED SECONDS [CASE]

Without a seed one is drawn and printed. The modules below each have a `case`; of one, CASE is run
alone. The first failures are printed, and a line at the end of each; the exit status is 1 if any
of them found something.
"""

import importlib
import secrets
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))
from harness import attack

NAMES = "blocks", "linear_systems", "graded_systems", "least_squares", "rectangular"
NAMES += "gpu", "arrays", "files", "processes"


def run(name, seed, seconds, *only):
    """Run the cases of one module, print one line; return whether any failed."""
    # of Python's own, about forking with threads we know; solvers warn of most cases
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    module = importlib.import_module(name)
    getattr(module, "prepare", lambda: None)()
    how = getattr(module, "HOW", {})
    tried, failed = attack(module.case, int(seed), float(seconds), *map(int, only), **how)
    again = f"; one again: python tests/attack/run.py {name} {seed} 1 CASE" if failed else ""
    print(f"{name}, seed {seed}: {tried:,} cases, {failed:,} failed{again}", flush=True)
    return failed > 0


def run_all(seed=None, seconds="20"):
    """Run each module in a process of its own; return whether any failed."""
    seed = seed or str(secrets.randbelow(10**9))
    commands = [[sys.executable, __file__, name, seed, seconds] for name in NAMES]
    done = [subprocess.run(command, check=False).returncode for command in commands]
    failed = [name for name, status in zip(NAMES, done, strict=True) if status]
    print(f"failed: {', '.join(failed)}" if failed else "no attack found anything")
    return bool(failed)


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(int(run(*given) if given[:1] and given[0] in NAMES else run_all(*given)))
