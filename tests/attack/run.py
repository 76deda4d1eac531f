"""All attacks for five minutes, with the date as their seed: `tox -e attack`.

    python tests/attack/run.py [SEED [SECONDS]]

Each program prints its first failures and a line at its end; it is repeated by the command that is
printed before it. The exit status is 1 if any of them found something.
"""

import datetime
import subprocess
import sys
from pathlib import Path

# Seconds of each: what has more kinds of cases has more time.
PROGRAMS = {
    "blocks": 60,
    "linear_systems": 60,
    "least_squares": 45,
    "arrays": 45,
    "files": 45,
    "processes": 45,
}


def main():
    arguments = sys.argv[1:]
    seed = arguments[0] if arguments else datetime.date.today().strftime("%Y%m%d")
    share = float(arguments[1]) / sum(PROGRAMS.values()) if arguments[1:] else 1.0
    failed = []
    for name, seconds in PROGRAMS.items():
        script = Path(__file__).with_name(f"{name}.py")
        shown = [f"tests/attack/{script.name}", seed, f"{seconds * share:g}"]
        print(f"python {' '.join(shown)}", flush=True)
        done = subprocess.run([sys.executable, str(script), *shown[1:]], check=False)
        if done.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "no attack found anything")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
