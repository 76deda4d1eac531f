"""Small corruptions of files, and what reading them must do."""

import io
import random
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from sparsematch import UnreadableFile, read_distributed
from sparsematch._io import read_matrix, read_stream

_TOKENS = b"E e+ - + . nan inf 1e999 % 0x1 99999999999999999999 2147483648 -1 [ { '".split()
_TOKENS += [b"4294967297", b" ", b"\n", b"\0", b"\xff"]


def corrupted(content: bytes, rng: random.Random) -> bytes:
    """Flip, cut, remove, insert or repeat a few bytes, or change a number."""
    text = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        size = len(text) + 1
        at = rng.randrange(size) if rng.random() < 0.7 else rng.randrange(200) % size
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


def written(write, what, **how) -> bytes:
    """The bytes that a function writes into a stream."""
    stream = io.BytesIO()
    write(stream, what, **how)
    return stream.getvalue()


npz, mat, mtx = (partial(written, f) for f in (sp.save_npz, scipy.io.savemat, scipy.io.mmwrite))


def archive(members: list[tuple[str, Any]]) -> bytes:
    """A .tar.gz of names with bytes, or with a link's kind and target."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                tar.addfile(info)
    return stream.getvalue()


def samples() -> dict[str, list[bytes]]:
    """Sound files, by their extension."""
    A = sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    S, whole = A + A.T, (A * 100).astype(int)
    formats = [A, A.tocsc(), A.tocoo(), A.tobsr((2, 2)), sp.eye_array(30).todia()]
    return {
        ".mtx": [mtx(B) for B in (A, S, whole, A * 1j, A.toarray())]
        + [mtx(A, field="pattern"), mtx(A, precision=3)],
        ".mat": [mat({"A": A.tocsc()}, do_compression=packed) for packed in (False, True)]
        + [mat({"Problem": {"name": "x", "A": S, "b": np.ones(3)}}), mat({"A": A}, format="4")]
        + [mat({"B": whole, "c": "text", "d": A.toarray()})],
        ".npz": [npz(B, compressed=packed) for B in formats for packed in (False, True)],
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
