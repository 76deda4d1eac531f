"""Matrices of the SuiteSparse collection with known answers, and how to fetch them.

    python tests/helpers/suitesparse.py [NAME ...] [--source URL]

fetches those of `suitesparse.csv`, some 10 MB, into the folder SPARSEMATCH_MATRICES, or else
`~/.cache/sparsematch`. A matrix is stored when its pattern has the checksum of the table: SHA-256
of the row pointers and then the column indices, in ascending order, of the entries that are not
zero, as little-endian integers of 64 bits.

Structural ranks and numbers of blocks are those that the collection publishes; of graphs, for which
it has none, SciPy's.
"""

import argparse
import csv
import functools
import hashlib
import io
import os
import sys
import tarfile
import urllib.request
import zlib
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse as sp

SOURCE = "https://sparse.tamu.edu/MM"
ROOT = Path(__file__).resolve().parents[2]
FETCHED = Path(os.environ.get("SPARSEMATCH_MATRICES") or Path.home() / ".cache" / "sparsematch")
#: Where matrices are, as NAME.npz. The second may have more of them, with an index of its own.
FOLDERS = [FETCHED, ROOT.parent / "shared" / "data"]
SHIPPED = {"west0479": ROOT / "docs" / "getting_started" / "west0479.mtx"}
COMMAND = "python tests/helpers/suitesparse.py"


class FetchError(Exception):
    """A matrix cannot be fetched."""


def _read_table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


TABLE = _read_table(Path(__file__).with_suffix(".csv"))
INDEXES = [folder / "index.csv" for folder in FOLDERS]
#: The known answers by name, as text.
ROWS = next((_read_table(path) for path in INDEXES if path.exists()), {}) | TABLE


def find(name):
    """The file of a matrix, or None."""
    paths = [folder / f"{name}.npz" for folder in FOLDERS]
    return next((path for path in paths if path.exists()), SHIPPED.get(name))


def cases(wanted=lambda row: True):
    """The names whose row is wanted, as parameters of a test; those that are absent are skipped."""
    names = [name for name, row in ROWS.items() if wanted(row) and (name in TABLE or find(name))]
    skip = pytest.mark.skip(reason=f"the real matrices are not here: {COMMAND} fetches them")
    return [pytest.param(name, marks=[] if find(name) else [skip]) for name in names]


@functools.lru_cache(maxsize=2)
def load(name):
    """One matrix; the tests of a matrix follow each other."""
    path = find(name)
    if path.suffix == ".npz":
        return sp.load_npz(path)
    return sp.csc_array(scipy.io.mmread(path, spmatrix=False))


def copy(names, folder):
    """Write matrices that are here, and an index of them, as benchmarks read them."""
    with (folder / "index.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(TABLE["west0479"]), extrasaction="ignore")
        writer.writeheader()
        for name in names:
            writer.writerow(ROWS[name])
            sp.save_npz(folder / f"{name}.npz", load(name))


def pattern_digest(A):
    """The checksum of the table; explicit zeros are removed from A."""
    A = sp.csr_array(A)
    A.eliminate_zeros()
    A.sort_indices()
    digest = hashlib.sha256(A.indptr.astype("<i8").tobytes())
    digest.update(A.indices.astype("<i8").tobytes())
    return digest.hexdigest()


def fetch(name, folder=FETCHED, source=SOURCE):
    """Store one matrix of the table as NAME.npz in the folder; all or nothing is stored."""
    folder.mkdir(parents=True, exist_ok=True)
    url = f"{source}/{TABLE[name]['group']}/{name}.tar.gz"
    new = folder / f"{name}.part.npz"
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            archive = io.BytesIO(reply.read())
    except OSError as error:
        raise FetchError(f"{url}: {error}") from error
    A = _extract(archive, name)
    found, expected = pattern_digest(A), TABLE[name]["sha256"]
    if found != expected:
        raise FetchError(f"{url}: its pattern has the SHA-256 {found}, expected {expected}")
    sp.save_npz(new, sp.csc_array(A))
    os.replace(new, folder / f"{name}.npz")


def _extract(archive, name):
    """The matrix of an archive, which may have others beside it."""
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as files:
            member = files.extractfile(f"{name}/{name}.mtx")
            return sp.csr_array(scipy.io.mmread(member, spmatrix=False))
    except (tarfile.TarError, KeyError, EOFError, OSError, ValueError, zlib.error) as error:
        raise FetchError(f"{name}.tar.gz has no matrix {name}/{name}.mtx: {error}") from error


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Fetch matrices of the SuiteSparse collection.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of suitesparse.csv; else all")
    parser.add_argument("--source", default=SOURCE, metavar="URL", help=f"a mirror of {SOURCE}")
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in TABLE]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(TABLE)}")
    failed = 0
    for name in chosen.names or TABLE:
        if (FETCHED / f"{name}.npz").exists():
            continue
        try:
            fetch(name, FETCHED, chosen.source)
            print(f"{name}: in {FETCHED}", flush=True)
        except FetchError as error:
            failed += 1
            print(error, file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
