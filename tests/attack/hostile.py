"""What files.py writes into files: wrong members, headers and edges."""

import io
import os

import numpy as np


class Evil:
    """Unpickled, it leaves a file."""

    marker = None

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def pickled():
    return np.array([Evil()], dtype=object)


#: Values of a member of an .npz, none of them right beside the others.
MEMBERS = {
    "shape": [
        *([10**9, 10**9], [3], [3, 3, 3], [-3, 3], [2**62, 2**62], [3.5, 3], [], [0, 0], [3, 2]),
        *(pickled(), "3"),
    ],
    "indptr": [
        *([0, 1, 2, 10**6], [0, -1, 2, 3], [3, 2, 1, 0], [[0, 1, 2, 3]], [], [0, 1, 2]),
        *(pickled(), [0, 1, 2, -3], [0.0, 1.0, 2.0, 3.0], ["a", "b", "c", "d"]),
    ],
    "indices": [
        *([0, 1, 10**9], [0, 1, -5], [0.0, 1.0, 2.0], ["a", "b", "c"], [], [[0, 1, 2]], [0, 1]),
        pickled(),
    ],
    "data": [["a", "b", "c"], np.ones(2), np.ones((3, 3)), pickled(), np.ones((3, 0, 2)), []],
    "format": [*map(np.array, ("bsr", "xyz", 5, ["csr", "csc"], "dia", "coo", b"\xff")), pickled()],
    "_is_array": [pickled(), "yes"],
}

REAL = "%%MatrixMarket matrix coordinate real general\n"
#: Entries of a matrix of 3 by 3 that are said to be two, none of them right.
LINES = (
    *("1 1 1.0\n2 2 1.5E", "1 1 1.0\n2 2 1.5E ", "1 1 1.0e+\n2 2 1.5\n", "1 1 1.0\n2 2 -\n"),
    *("1 1 1.0\0\n2 2 1.5\n", "1 1 1.2.3\n2 2 1.5\n", "1 1 0x10\n2 2 1.5\n"),
    *("1 1 1.0D5\n2 2 1.5\n", "1 1 1.0abc\n2 2 1.5\n", "1 1 1.0 7\n2 2 1.5\n"),
    *("1 1\n2 2 1.5\n", "1 1 1.0 2 2 1.5\n", "1.5 1 1.0\n2 2 1.5\n", "-1 1 1.0\n2 2 1.5\n"),
    *("0 1 1.0\n2 2 1.5\n", "4 1 1.0\n2 2 1.5\n", "99999999999999999999 1 1.0\n2 2 1.5\n"),
    *("1 1 1.0\n2 2 1.5\n3 3 1\n", "1 1 1.0\n", "1 1 1.0\n% words\n2 2 1.5\n"),
)
_BODIES = (
    *(f"3 3 2\n{lines}" for lines in LINES),
    "1000000000000 1000000000000 1000000000000\n1 1 1\n",
    "3 3 2000000000\n1 1 1\n",
    "2000000000 2000000000 1\n1 1 1\n",
    "3 3 99999999999999999999999\n",
    "-3 3 1\n1 1 1\n",
    "3 3 1\n1 1 nan\n",
    "3 3 1\n1 1 inf\n",
    "3 3\n",
    "",
    "0 0 0\n",
    "%" * 10**6 + "\n3 3 0\n",
    "3 3 1\n1 1 1" + "0" * 10**5 + "\n",
)
#: Matrix Market files.
HEADERS = (
    *(REAL + body for body in _BODIES),
    "%%MatrixMarket\n",
    REAL.replace("general", "hermitian") + "3 3 1\n1 1 1\n",
    REAL.replace("coordinate", "array") + "100000 100000\n1\n",
    REAL.replace("real", "pattern").replace("general", "symmetric") + "3 2 1\n1 1\n",
    REAL.replace("real", "integer") + "3 3 1\n1 1 99999999999999999999999\n",
    REAL.replace("real", "complex") + "3 3 1\n1 1 1\n",
    REAL.replace("matrix", "vector") + "3 1\n1 1\n",
    "\ufeff" + REAL + "1 1 1\n1 1 1\n",
)

_PAIR = "[('u', '<i4'), ('v', '<i4')]"
_TRIPLE = "[('u', '<i4'), ('v', '<i4'), ('weight', '<f4')]"
_NPY_HEADERS = (
    (_PAIR, "(__import__('os').system('touch PWNED'),)"),
    ("'|O'", "(3,)"),
    (_PAIR, "(1000000000000,)"),
    (_PAIR, "(-3,)"),
    (_TRIPLE, "(2, 2)"),
    (_PAIR.replace("<", ">"), "(2,)"),
    (_TRIPLE.replace("f4", "f2"), "(2,)"),
    ("[('u', '<i4', (3,)), ('v', '<i4')]", "(2,)"),
    ("{" * 9000, "(2,)"),
)
_SINGLE = [("u", "i4"), ("v", "i4"), ("weight", "f8")]
_DOUBLE = [("u", "i8"), ("v", "i8")]
_EDGES = (
    ([(0, -1, 1.0)], _SINGLE),
    ([(0, 2**31 - 1, 1.0)], _SINGLE),
    ([(0, 1, np.nan)], _SINGLE),
    ([(0, 1, np.inf)], _SINGLE),
    ([], _SINGLE),
    ([(0, 0, 1.0)], _SINGLE),
    ([(0, 2**62)], _DOUBLE),
    ([(0, 2**63 - 1)], _DOUBLE),
)


def _with_header(descr, shape):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + min(len(text), 65535).to_bytes(2, "little") + text + bytes(64)


def _with_edges(edges, kind):
    stream = io.BytesIO()
    np.save(stream, np.array(edges, kind))
    return stream.getvalue()


def _pickle():
    stream = io.BytesIO()
    np.save(stream, pickled(), allow_pickle=True)
    return stream.getvalue()


#: Functions that return a file of edges.
EDGE_FILES = (
    *(lambda given=given: _with_header(*given) for given in _NPY_HEADERS),
    *(lambda given=given: _with_edges(*given) for given in _EDGES),
    _pickle,
)
