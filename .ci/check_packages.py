"""check_packages.py WHEELHOUSE DIST: what is in the wheel of one folder and the sdist of the other.

All that is needed, nothing else, and a README whose links an index can follow.
"""

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

CORE = "sparsematch/_engines/cpu/_core"
NEEDED = ["sparsematch/py.typed", "sparsematch/__init__.pyi", f"{CORE}.pyi", f"{CORE}.abi3.so"]
PARTS = re.compile(r"sparsematch/.*\.(py|pyi|typed|cu|cuh|so)|sparsematch-[^/]*\.dist-info/.*")
NOT_IN_SDIST = re.compile(r"\..*|recipe/.*")  # for those who work on a clone
DEAD_LINK = re.compile(r"\]\((?![a-z]+:|#)[^)]*\)")


def only(folder: str, pattern: str) -> Path:
    """Return the one file of that name."""
    (path,) = Path(folder).glob(pattern)
    return path


def check_wheel(path: Path) -> None:
    """Look for kernels, types and licence, and for what should not be there."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        message = email.message_from_bytes(wheel.read(metadata))
    expect("lacks", [name for name in NEEDED if name not in names])
    files = [name for name in names if not name.endswith("/")]
    expect("should not have", [name for name in files if not PARTS.fullmatch(name)])
    expect("has dead links:", DEAD_LINK.findall(message.get_payload()))
    kernels = [name for name in names if name.endswith((".cu", ".cuh"))]
    expect("lacks", [] if kernels else ["the CUDA kernels"])
    expect("lacks", [] if any(name.endswith("/LICENSE") for name in names) else ["its licence"])
    expect("lacks", [] if message.get_all("Project-URL") else ["the addresses of the project"])
    print(f"{path.name}: {path.stat().st_size // 1024} kB, {len(files)} files")


def check_sdist(path: Path) -> None:
    """Compare it with what git tracks, less what serves the work on a clone alone."""
    with tarfile.open(path) as sdist:
        files = [member.name for member in sdist if member.isfile()]
    names = {name.split("/", 1)[1] for name in files} - {"PKG-INFO"}
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.split("\n") if name and Path(name).exists()}
    tracked = {name for name in tracked if not NOT_IN_SDIST.fullmatch(name)}
    expect("lacks", sorted(tracked - names))
    expect("should not have", sorted(names - tracked))
    print(f"{path.name}: {path.stat().st_size // 1024} kB, {len(files)} files")


def expect(what: str, found: list[str]) -> None:
    """End with a message unless the list is empty."""
    if found:
        sys.exit(f"the package {what} {', '.join(found)}")


if __name__ == "__main__":
    check_sdist(only(sys.argv[2], "*.tar.gz"))
    check_wheel(only(sys.argv[1], "*.whl"))
