"""Stored zeros of a file: how many there are, and what changes without them."""

from argparse import Namespace
from contextlib import suppress
from typing import Any, NamedTuple

import sparsematch
from sparsematch import DistributedCSR
from sparsematch._input.bipartite import read_entries
from sparsematch._io import UnreadableFile
from sparsematch._types.over_ranks.agreement import collect
from sparsematch.cli.progress import Progress

__all__ = ["StoredZeros", "set_aside"]


class StoredZeros(NamedTuple):
    """Those of a file, dropped or not."""

    n_entries: int  #: That the file stores, zeros and all.
    n_zeros: int
    dropped: bool

    def fields(
        self, arguments: Namespace, matrix: Any, fields: dict[str, Any], progress: Progress
    ) -> dict[str, Any]:
        """Describe them; where they count, find what there is without them.

        `fields` are those of the matrix that the command has worked on.
        """
        if not self.n_zeros or self.dropped:
            return self.described(fields, fields["structural_rank"], fields.get("n_blocks"))
        if arguments.method == "none":  # no rank was asked for
            return self.described(fields, None)
        how: Any = {"method": arguments.method, "workers": arguments.workers}
        without = sparsematch.view(matrix, zeros="drop")
        with progress.step("zeros", "matching without stored zeros"):
            if "n_blocks" not in fields:
                rank = sparsematch.structural_rank(without, **how)
                return self.described(fields, rank)
            form = sparsematch.block_triangular_form(without, **how)
            return self.described(fields, form.matching.cardinality, form.n_blocks)

    def described(
        self, fields: dict[str, Any], rank: int | None, n_blocks: int | None = None
    ) -> dict[str, Any]:
        """Return their fields: how many, and the rank, and where it is asked for the blocks."""
        found = {
            "n_entries": self.n_entries,
            "stored_zeros": self.n_zeros,
            "explicit_zeros": "drop" if self.dropped else "keep",
            "structural_rank_without_zeros": rank,
        }
        return found | ({"n_blocks_without_zeros": n_blocks} if "n_blocks" in fields else {})


def set_aside(arguments: Namespace, matrix: Any, drop: bool) -> tuple[Any, StoredZeros]:
    """Count the stored zeros of a matrix; return it without them if they are to be dropped."""
    zeros = StoredZeros(int(matrix.nnz), _count(matrix), drop)
    if not drop:
        return matrix, zeros
    try:
        return _without_zeros(matrix), zeros
    except ValueError as error:  # the values are no numbers
        raise UnreadableFile(f"{arguments.file}: {error}") from None


def _count(matrix: Any) -> int:
    """Count them, over all ranks; values that are no numbers are not known to be zero."""
    if isinstance(matrix, DistributedCSR):
        counts = collect(matrix.comm, "stored zeros", lambda: _count(matrix.to_local()))
        return int(sum(counts))
    with suppress(TypeError):
        return read_entries(matrix).without_zeros()[1]
    return 0


def _without_zeros(matrix: Any) -> Any:
    if isinstance(matrix, DistributedCSR):
        own = _without_zeros(matrix.to_local())
        return DistributedCSR.from_local(matrix.comm, own, matrix.n_cols)
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
