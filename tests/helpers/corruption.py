"""Small corruptions of files, and what reading them does.

``python tests/helpers/corruption.py SEED COUNT`` reads so many corrupted files of each kind, in
child processes of bounded memory, and prints those that end in neither a matrix nor an
`UnreadableFile`.
"""

import io
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from sparsematch import UnreadableFile, read_distributed
from sparsematch._io import read_matrix, read_stream

_TOKENS = [
    b"E",
    b"e+",
    b"-",
    b"+",
    b".",
    b" ",
    b"\n",
    b"\0",
    b"nan",
    b"inf",
    b"1e999",
    b"%",
    b"0x1",
]
_TOKENS += [b"99999999999999999999", b"2147483648", b"-1", b"4294967297", b"\xff", b"[", b"{", b"'"]

_MEMORY = 4 << 30  # bytes of address space that a child has: ten times what the files need
_SECONDS = 20  # until a file counts as a hang: a thousand times what the files need


def corrupted(content: bytes, rng: random.Random) -> bytes:
    """Flip, cut, remove, insert or repeat a few bytes, or change a number."""
    text = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = (
            rng.randrange(len(text) + 1)
            if rng.random() < 0.7
            else rng.randrange(200) % (len(text) + 1)
        )
        kind = rng.choice(("flip", "byte", "cut", "remove", "insert", "token", "repeat", "digit"))
        if kind == "cut":
            del text[at:]
        elif kind == "remove":
            del text[at : at + rng.choice((1, 1, 2, 8, 100))]
        elif kind == "insert":
            text[at:at] = rng.randbytes(rng.choice((1, 1, 2, 8)))
        elif kind == "token":
            text[at : at + rng.choice((0, 1, 2))] = rng.choice(_TOKENS)
        elif kind == "repeat":
            text[at:at] = text[at : at + rng.choice((1, 8, 50))]
        elif at < len(text):
            digit = rng.choice(b"0123456789") if kind == "digit" else rng.randrange(256)
            text[at] = text[at] ^ 1 << rng.randrange(8) if kind == "flip" else digit
    return bytes(text)


def _npz(matrix, **how) -> bytes:
    stream = io.BytesIO()
    sp.save_npz(stream, matrix, **how)
    return stream.getvalue()


def _mat(variables, **how) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, **how)
    return stream.getvalue()


def _mtx(matrix, **how) -> bytes:
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, matrix, **how)
    return stream.getvalue()


def samples() -> dict[str, list[bytes]]:
    """Sound files, by their extension."""
    A = sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    S, whole = A + A.T, (A * 100).astype(int)
    formats = [A, A.tocsc(), A.tocoo(), A.tobsr((2, 2)), sp.eye_array(30).todia()]
    return {
        ".mtx": [_mtx(B) for B in (A, S, whole, A * 1j, A.toarray())]
        + [_mtx(A, field="pattern"), _mtx(A, precision=3)],
        ".mat": [_mat({"A": A.tocsc()}, do_compression=packed) for packed in (False, True)]
        + [_mat({"Problem": {"name": "x", "A": S, "b": np.ones(3)}}), _mat({"A": A}, format="4")]
        + [_mat({"B": whole, "c": "text", "d": A.toarray()})],
        ".npz": [_npz(B, compressed=packed) for B in formats for packed in (False, True)],
    }


def read(path: Path) -> None:
    """Read a file in each way; what is wrong with it may be said, and nothing else."""
    ways = [lambda: read_matrix(path), lambda: read_stream(io.BytesIO(path.read_bytes()))]
    ways += [lambda: read_distributed(path, None)] if path.suffix != ".mat" else []
    for way in ways:
        try:
            way()
        except UnreadableFile as error:
            if "\n" in str(error):
                raise ValueError(f"more than a sentence: {error}") from error


def _in_child(path: Path) -> str:
    """Return what is wrong with the way a file was read, in few words."""
    import resource

    with tempfile.TemporaryFile() as report:
        if not (child := os.fork()):
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            signal.alarm(_SECONDS)
            try:
                read(path)
            except BaseException as error:  # what it is, is what is looked for
                os.write(report.fileno(), f"{type(error).__name__}: {error}".encode()[:200])
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        report.seek(0)
        return f"signal {os.WTERMSIG(status)}" if status else report.read().decode()


def main(seed: int, count: int) -> int:
    """Read corrupted files of all kinds, and return how many must be looked at."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for suffix, sound in samples().items():
            found, rng = 0, random.Random(f"{seed}{suffix}")
            for k in range(count):
                path = Path(folder) / f"{seed}-{k}{suffix}"
                path.write_bytes(corrupted(sound[k % len(sound)], rng))
                if words := _in_child(path):
                    kept = Path(tempfile.gettempdir()) / path.name
                    kept.write_bytes(path.read_bytes())
                    print(f"LOOK {kept}: {words}", flush=True)
                    found += 1
                path.unlink()
            print(f"{suffix}: {found} of {count} to look at", flush=True)
            wrong += found
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)
