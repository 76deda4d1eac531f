"""All attacks, a minute each, with a seed that is drawn and printed: `tox -e attack`.

    python tests/attack/run.py [SEED [SECONDS EACH]]

Each program prints its first failures and a line at its end; it is repeated by the command that is
printed before it. The exit status is 1 if any of them found something.
"""

import secrets
import subprocess
import sys
from pathlib import Path

PROGRAMS = (
    "blocks",
    "linear_systems",
    "graded_systems",
    "least_squares",
    "gpu",
    "arrays",
    "files",
    "processes",
)


def main():
    given = sys.argv[1:]
    seed = given[0] if given else str(secrets.randbelow(10**9))
    seconds = given[1] if given[1:] else "60"
    failed = []
    for name in PROGRAMS:
        script = Path(__file__).with_name(f"{name}.py")
        shown = [f"tests/attack/{script.name}", seed, seconds]
        print(f"python {' '.join(shown)}", flush=True)
        done = subprocess.run([sys.executable, str(script), *shown[1:]], check=False)
        if done.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "no attack found anything")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
