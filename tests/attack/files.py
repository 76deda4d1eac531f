"""Broken and hostile files given to the command line, and to the reader of matrices over ranks.

Matrix Market, .npz, .mat, .npy, Harwell-Boeing and archives: bytes changed, cut, members replaced,
headers that promise what is not there, pickles, links that lead elsewhere. Right is a result, or an
exit status of 3 or 4 with a message of a few lines; wrong are tracebacks, crashes, statuses beyond,
and anything executed or written elsewhere. Each case is a process of its own, with little memory.
"""

import bz2
import gzip
import io
import os
import random
import resource
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import sparsematch as sm
from corruption import archive, corrupted, mat, mtx, npz
from harness import announce
from hostile import EDGE_FILES, HEADERS, MEMBERS, Evil
from sparsematch.cli import main as command_line

HOW = {"isolated": True}
FOLDER = Path(tempfile.mkdtemp(prefix="sparsematch-attack-"))
MEMORY = 2 << 30  # bytes beyond what the process has: headers may promise more
COMMANDS = "rank", "match", "btf", "explain"
ANSWERS = {0, 3, 4}  # a result, a file that cannot be read, a result that cannot be produced
LINES, SECONDS = 6, 20  # at most, of a message and until it comes


def good_files():
    """One file of each kind, as bytes by suffix."""
    A = sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    text = mtx(A.tocoo())
    path = FOLDER / "a.rua"
    scipy.io.hb_write(path, sp.csc_matrix(A))
    return {
        "csr.npz": npz(A),
        "coo.npz": npz(A.tocoo(), compressed=False),
        "bsr.npz": npz(A.tobsr((2, 2)), compressed=False),
        "a.mtx": text,
        "a.mtx.gz": gzip.compress(text),
        "a.mtx.bz2": bz2.compress(text),
        "a.mat": mat({"A": sp.csc_array(A)}),
        "a.rua": path.read_bytes(),
        "a.tar.gz": archive([("a/a.mtx", text)]),
    }


GOOD = good_files()


def damaged(rng):
    """A good file with small corruptions."""
    suffix = list(GOOD)[rng.integers(len(GOOD))]
    return suffix, corrupted(GOOD[suffix], random.Random(int(rng.integers(1 << 62))))


def replaced(rng):
    """An .npz with a member that is not what it should be."""
    members = {"format": np.array("csr"), "shape": np.array([3, 3]), "data": np.ones(3)}
    members |= {"indices": np.arange(3, dtype=np.int32), "indptr": np.arange(4, dtype=np.int32)}
    name = list(MEMBERS)[rng.integers(len(MEMBERS))]
    values = MEMBERS[name]
    value = np.asanyarray(values[rng.integers(len(values))])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for key, array in (members | {name: value}).items():
            content = io.BytesIO()
            if key == name and rng.random() < 0.2:  # promised, and not there
                header = {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)}
                np.lib.format.write_array_header_1_0(content, header)
            else:
                np.lib.format.write_array(content, np.asanyarray(array), allow_pickle=True)
            file.writestr(f"{key}.npy", content.getvalue())
    return "a.npz", stream.getvalue()


def market(rng):
    """A Matrix Market file with another header or first lines."""
    return "a.mtx", HEADERS[rng.integers(len(HEADERS))].encode()


def archived(rng):
    """Archives with links, other names, and what is no file."""
    text = GOOD["a.mtx"]
    targets = "/etc/passwd", "../x/a.mtx", "a/a.mtx", "../../../../etc/passwd"
    kinds = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE
    link = kinds[rng.integers(len(kinds))], str(rng.choice(targets))
    names = "a/a.mtx", "../../../../PWNED.mtx", "PWNED.mtx", "/tmp/PWNED.mtx"
    name = str(rng.choice(names))
    members = [[(name, text)], [(name, link)], [("x/a.mtx", text), (name, link)], []]
    return "a.tar.gz", archive(members[rng.integers(len(members))])


def edges(rng):
    """A file of edges, with a header or numbers that cannot be."""
    return "a.npy", EDGE_FILES[rng.integers(len(EDGE_FILES))]()


KINDS = damaged, damaged, damaged, replaced, market, archived, edges


def case(rng):
    """Write a file, give it to a command or the reader for ranks, look at what is left."""
    kind = KINDS[rng.integers(len(KINDS))]
    suffix, content = kind(rng)
    folder = FOLDER / "case"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    path = folder / suffix
    path.write_bytes(content)
    os.chdir(folder)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    if kind is edges or rng.random() < 0.2:
        announce(f"in read_distributed, {kind.__name__} {suffix}")
        yield from called(partial(sm.read_distributed, path, None), path)
        if kind is edges:
            yield from called(partial(sm.edge_files.match_edge_file, path), path)
    else:
        command, stream = str(rng.choice(COMMANDS)), rng.random() < 0.2
        announce(f"in {command}, {kind.__name__} {suffix}" + " on standard input" * stream)
        yield from told(command, path, stream)
    left = {found.name for found in folder.iterdir()} - {suffix}
    if left or Path("/tmp/PWNED.mtx").exists() or (FOLDER / "PWNED").exists():
        yield f"{kind.__name__} {suffix}: something was executed or written: {left}"


def called(read, path):
    """What a reader raises is for people, and no mistake of its own."""
    try:
        read()
    except (OSError, ValueError, MemoryError):
        pass
    except Exception as error:
        if type(error).__name__ != "UnreadableFile":
            yield f"reading {path.name}: {type(error).__name__}: {error}"


def told(command, path, stream):
    """What is wrong with the exit status and the messages of a command."""
    begin = time.monotonic()
    with (FOLDER / "out").open("w+") as out, (FOLDER / "err").open("w+") as err:
        standard = sys.stdin, sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        if stream:
            sys.stdin = path.open()
        try:
            status = command_line([command, "-" if stream else str(path)])
        except BaseException:
            status = traceback.format_exc()[-300:]
        finally:
            sys.stdin, sys.stdout, sys.stderr = standard
        err.seek(0)
        said = err.read()
    seconds = time.monotonic() - begin
    if status not in ANSWERS or said.count("\n") > LINES or "Traceback" in said:
        yield f"{command} {path.name}: status {status}: {said[-300:]}"
    if seconds > SECONDS:
        yield f"{command} {path.name}: {seconds:.0f} s"


def prepare():
    """Good files are read, and what is imported for them is not imported by each child again."""
    Evil.marker = FOLDER / "PWNED"
    for suffix, content in GOOD.items():
        path = FOLDER / suffix
        path.write_bytes(content)
        for command in COMMANDS:
            assert not list(told(command, path, stream=suffix != "a.rua"))
        if suffix in ("csr.npz", "a.mtx"):
            assert not list(called(partial(sm.read_distributed, path, None), path))
