"""The commands.

Each reads, calls the public API, writes the outputs, and returns the exit status.
"""

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import sparsematch
from sparsematch import DistributedCSR, RunInfo, block_triangular_form, explain_singularity, plot
from sparsematch._base.arrays import import_cupy
from sparsematch._engines.operations import DeviceCompilerOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import read_entries
from sparsematch._io import UnreadableFile, read_matrix, read_names, read_stream
from sparsematch._text.explanation import NOT_LOOKED_AT
from sparsematch._types.over_ranks.agreement import collect
from sparsematch.cli import ranks, summary
from sparsematch.cli.outputs import STREAM, CannotProduce, check_outputs, print_result, write
from sparsematch.cli.progress import Progress
from sparsematch.cli.summary import Fields

_DONE, _SINGULAR = 0, 1


def rank(arguments: Namespace) -> int:
    """Structural rank of a file's matrix."""
    progress, matrix, zeros, matching, run = _matched(arguments)
    fields = summary.rank_fields(arguments.file, matrix, matching)
    return _finish(arguments, fields | zeros, run, progress, {})


def match(arguments: Namespace) -> int:
    """Maximum transversal of a file's matrix."""
    progress, matrix, zeros, matching, run = _matched(arguments)
    fields = summary.match_fields(arguments.file, matrix, matching, arguments.method != "none")
    whole = _whole(arguments, matching)
    arrays = _mates(whole) | {"permutation": whole.as_permutation()} if whole else {}
    return _finish(arguments, fields | zeros, run, progress, arrays)


def btf(arguments: Namespace) -> int:
    """Block triangular form of a file's matrix."""
    progress, matrix, zeros, matching, run = _matched(arguments)
    with progress.step("blocks", "finding the blocks"):
        how: Any = {"matching": matching, "workers": arguments.workers, "return_info": True}
        form, info = block_triangular_form(matrix, **how)
    fields = summary.block_fields(arguments.file, matrix, form) | zeros
    fields["stages"] = {step.engine: round(step.seconds, 6) for step in info.steps}
    if arguments.plot:
        _draw(arguments, progress, lambda title: plot.spy_blocks(matrix, form, title=title))
    arrays = {}
    if whole := _whole(arguments, form):
        names = "row_perm", "col_perm", "row_blocks", "col_blocks", "coarse_rows", "coarse_cols"
        arrays = {k: np.asarray(getattr(whole, k)) for k in names} | _mates(whole.matching)
    return _finish(arguments, fields, run, progress, arrays)


def explain(arguments: Namespace) -> int:
    """Say why a file's matrix is singular, by its structure or by its numbers."""
    progress = Progress(sys.stderr, arguments.quiet)
    given = _read(arguments, progress)
    names = _names_of(arguments, given)
    numeric, drop = arguments.numeric, arguments.numeric or arguments.drop_zeros
    matrix, zeros = _without_zeros(given, drop)
    matching, run = _match(matrix, arguments, progress)
    with progress.step("explain", f"looking for {'dependences' if numeric else 'conflicts'}"):
        try:
            how: Any = {"tolerance": arguments.tolerance, "workers": arguments.workers}
            seen = sparsematch.view(given, zeros="drop") if drop else given
            why = explain_singularity(seen, *names, numeric=numeric, matching=matching, **how)
        except ValueError as error:  # a value that is not finite
            raise CannotProduce(f"{arguments.file}: {error}") from None
    if arguments.plot:
        _draw(arguments, progress, lambda title: plot.spy_conflicts(matrix, why, title=title))
    fields = {"command": "explain", **summary.rank_fields(arguments.file, matrix, matching)}
    fields |= why.to_dict(max_pieces=arguments.pieces) | zeros
    fields |= summary.run_fields(run, progress.rounded())

    def words(fields: Fields) -> str:
        if arguments.brief:
            return summary.one_line(fields)
        said = why.text(max_pieces=arguments.pieces)
        if why.numbers is not None and matrix.nnz and np.all(matrix.data == 1):
            said += "\n\nAll values are 1, as are those of a file that holds a pattern only."
        said = said.replace(NOT_LOOKED_AT, NOT_LOOKED_AT.replace("numeric=True", "--numeric"))
        return summary.explanation_text(fields, said)

    print_result(arguments, fields, words)
    singular = why.is_singular or why.is_numerically_singular
    return _SINGULAR if arguments.check and singular else _DONE


def diagnose(arguments: Namespace) -> int:
    """Say what to expect of a linear system with a file's matrix."""
    # it needs scipy.sparse.linalg, which other commands do not
    from sparsematch import solvers

    progress = Progress(sys.stderr, arguments.quiet)
    matrix = _read(arguments, progress)
    rows, cols = _names_of(arguments, matrix)
    right = None
    if arguments.rhs:
        lines = read_names(arguments.rhs, matrix.shape[0], "rows", "number")
        right = [_number(arguments.rhs, line) for line in lines]
    with progress.step("diagnose", f"factorising {summary.size_words(matrix.shape, matrix.nnz)}"):
        try:
            found = solvers.diagnose(matrix, right, row_names=rows, col_names=cols)
        except ValueError as error:  # not square, or a value is not finite
            raise CannotProduce(f"{arguments.file}: {error}") from None
    fields = {"command": "diagnose", "file": arguments.file, **found.to_dict()}
    print_result(arguments, fields | {"seconds": progress.rounded()}, lambda _: str(found))
    return _SINGULAR if arguments.check and found.is_singular else _DONE


def _number(file: str, text: str) -> complex | float:
    for kind in (float, complex):
        with suppress(ValueError):
            return kind(text)
    raise UnreadableFile(f"{file}: {text!r} is no number")


def warm_up(_: Namespace) -> int:
    """Compile everything for the current GPU, and say how long it took."""
    try:
        cupy = import_cupy("warm-up")
    except (ImportError, RuntimeError) as error:
        raise CannotProduce(str(error)) from error
    progress, device = Progress(sys.stderr), cupy.cuda.Device().compute_capability
    with progress.step("kernels", "compiling kernels"):
        count = operations(DeviceCompilerOps, "cupy").compile_all()
    with progress.step("CuPy", "compiling what CuPy has for calls on weights"):
        A = np.random.default_rng(1).random((8, 8))
        for last in (8, 1):  # whole, and singular: three rows with one column
            A[:3, last:] = 0
            B = sparsematch.view(sp.csr_array(A), device="cuda")
            sparsematch.maximum_product_transversal(B)
    seconds = sum(progress.seconds.values())
    print(f"{count} modules for compute capability {device} are in the cache ({seconds:.1f} s)")
    return _DONE


def _read(arguments: Namespace, progress: Progress) -> Any:
    """Read the matrix file, as a step of its own, once the outputs are known to be possible."""
    if ranks.communicator() is not None:
        return ranks.read(arguments, progress)
    check_outputs(arguments)
    if arguments.file == STREAM:
        with progress.step("read", "reading standard input"):
            if sys.stdin is None:
                raise UnreadableFile("standard input: is closed")
            return read_stream(sys.stdin.buffer)
    with progress.step("read", f"reading {Path(arguments.file).name}"):
        return read_matrix(arguments.file)


def _names_of(arguments: Namespace, matrix: Any) -> list[Any]:
    """Read the files with the names of rows and columns, if there are any."""
    files, nouns = (arguments.row_names, arguments.col_names), ("rows", "columns")
    return [
        read_names(name, size, noun) if name else None
        for name, size, noun in zip(files, matrix.shape, nouns, strict=True)
    ]


def _without_zeros(matrix: Any, drop: bool) -> tuple[Any, dict[str, Any]]:
    """Return a matrix that was read, its stored zeros perhaps dropped, and the fields of these."""
    fields: Fields = {"n_entries": int(matrix.nnz), "stored_zeros": _count_zeros(matrix)}
    fields["explicit_zeros"] = "drop" if drop else "keep"
    if drop:
        dropped: Any = sparsematch.view(matrix, zeros="drop")
        matrix = dropped if isinstance(dropped, DistributedCSR) else dropped.read()
    return matrix, fields


def _count_zeros(matrix: Any) -> int:
    """Count them, over all ranks; of values that are no numbers none is known to be zero."""
    if isinstance(matrix, DistributedCSR):
        counts = collect(matrix.comm, "stored zeros", lambda: _count_zeros(matrix.to_local()))
        return int(sum(counts))
    with suppress(TypeError):
        return read_entries(matrix).without_zeros()[1]
    return 0


def _matched(arguments: Namespace) -> tuple[Progress, Any, dict[str, Any], Any, RunInfo]:
    """Read a file's matrix and match it; the fields are those of stored zeros."""
    progress = Progress(sys.stderr, arguments.quiet)
    matrix, zeros = _without_zeros(_read(arguments, progress), arguments.drop_zeros)
    return progress, matrix, zeros, *_match(matrix, arguments, progress)


def _match(matrix: Any, arguments: Namespace, progress: Progress) -> tuple[Any, RunInfo]:
    with progress.step("match", f"matching {summary.size_words(matrix.shape, matrix.nnz)}"):
        engines: Any = {"method": arguments.method, "init": arguments.init, "rng": arguments.seed}
        how: Any = {"workers": arguments.workers, "return_info": True}
        return sparsematch.maximum_transversal(matrix, **engines, **how)


def _whole(arguments: Namespace, result: Any) -> Any:
    """Return a result; ranks bring theirs together if it is wanted, else there is None."""
    if ranks.communicator() is None:
        return result
    return result.gather() if arguments.arrays or arguments.save else None


def _mates(matching: Any) -> dict[str, Any]:
    return {"row_mate": matching.row_mate, "col_mate": matching.col_mate}


def _finish(
    arguments: Namespace, fields: Fields, run: RunInfo, progress: Progress, arrays: Fields
) -> int:
    """Save, print as JSON or text, and choose the exit status."""
    comm = ranks.communicator()
    output = getattr(arguments, "save", None)
    if output and (comm is None or comm.Get_rank() == 0):
        shape = np.array([fields["n_rows"], fields["n_cols"]])
        write(output, lambda stream: np.savez_compressed(stream, shape=shape, **arrays))
    account = summary.run_fields(run, progress.rounded(), 1 if comm is None else comm.Get_size())
    fields = {"command": arguments.name, **fields, **account}
    print_result(arguments, fields, summary.one_line if arguments.brief else summary.text, arrays)
    return _SINGULAR if arguments.check and fields["structurally_singular"] else _DONE


def _draw(arguments: Namespace, progress: Progress, draw: Callable[[str], Any]) -> None:
    """Draw a picture; its title has letters that any font has, and is no mathematics."""
    title = "standard input"
    if arguments.file != STREAM:
        name = Path(arguments.file).name.encode(errors="backslashreplace").decode()
        title = name.replace("$", r"\$")
    kind = Path(arguments.plot).suffix.lower().removeprefix(".")
    with progress.step("plot", "drawing the picture"):
        write(arguments.plot, lambda stream: draw(title).savefig(stream, format=kind, dpi=150))
