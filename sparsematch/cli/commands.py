"""The commands.

Each reads, calls the public API, writes the outputs, and returns the exit status.
"""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sparsematch
from sparsematch import BlockForm, DistributedBlockForm, DistributedMatching, RunInfo, plot
from sparsematch._base.arrays import import_cupy
from sparsematch._engines.operations import DeviceCompilerOps
from sparsematch._engines.registry import operations
from sparsematch._io import UnreadableFile, read_matrix, read_names, read_stream
from sparsematch._types.choices import Zeros
from sparsematch.cli import ranks, summary
from sparsematch.cli.outputs import STREAM, CannotProduce, check_outputs, print_written, write
from sparsematch.cli.progress import Progress, make_progress
from sparsematch.cli.zeros import StoredZeros, set_aside

__all__ = [
    "btf",
    "explain",
    "match",
    "names_of",
    "print_json",
    "rank",
    "read",
    "wants_text",
    "warm_up",
]

_DONE, _SINGULAR = 0, 1


def rank(arguments: Namespace) -> int:
    """Structural rank of a file's matrix."""
    progress = make_progress(arguments.quiet)
    matrix, zeros = _read(arguments, progress)
    matching, run = _match(matrix, arguments, progress)
    fields = summary.rank_fields(arguments.file, matrix, matching)
    fields |= zeros.fields(arguments, matrix, fields, progress)
    return _finish(arguments, fields, run, progress, {})


def match(arguments: Namespace) -> int:
    """Maximum transversal of a file's matrix."""
    progress = make_progress(arguments.quiet)
    matrix, zeros = _read(arguments, progress)
    matching, run = _match(matrix, arguments, progress)
    maximum = arguments.method != "none"
    describe = summary.match_fields if ranks.communicator() is None else ranks.match_fields
    fields = describe(arguments.file, matrix, matching, maximum=maximum)
    fields |= zeros.fields(arguments, matrix, fields, progress)
    arrays = _mates(arguments, matching)
    return _finish(arguments, fields, run, progress, arrays)


def _mates(arguments: Namespace, matching: Any) -> dict[str, Any]:
    """Return the arrays of a matching, which ranks bring together only if they are wanted."""
    if isinstance(matching, DistributedMatching):
        if not (arguments.arrays or arguments.save):
            return {}
        matching = matching.gather()
    return {
        "row_mate": matching.row_mate,
        "col_mate": matching.col_mate,
        "permutation": matching.as_permutation(),
    }


def btf(arguments: Namespace) -> int:
    """Block triangular form of a file's matrix."""
    progress = make_progress(arguments.quiet)
    matrix, zeros = _read(arguments, progress)
    matching, run = _match(matrix, arguments, progress)
    with progress.step("blocks", "finding the blocks"):
        form: Any = sparsematch.block_triangular_form(
            matrix, matching=matching, workers=arguments.workers
        )
    if isinstance(form, DistributedBlockForm):
        fields = ranks.block_fields(arguments.file, matrix, form)
        fields |= zeros.fields(arguments, matrix, fields, progress)
        arrays = _block_arrays(form.gather()) if arguments.arrays or arguments.save else {}
        return _finish(arguments, fields, run, progress, arrays)
    fields = summary.block_fields(arguments.file, matrix, form)
    fields |= zeros.fields(arguments, matrix, fields, progress)
    _plot(arguments, matrix, form, _title(arguments), progress)
    return _finish(arguments, fields, run, progress, _block_arrays(form))


def explain(arguments: Namespace) -> int:
    """Say why a file's matrix is singular, by its structure or by its numbers."""
    progress = make_progress(arguments.quiet)
    matrix = read(arguments, progress)
    names = names_of(arguments, matrix)
    zeros: Zeros = "drop" if arguments.numeric or arguments.drop_zeros else "keep"
    entries, stored = set_aside(arguments, matrix, zeros == "drop")
    matching, run = _match(matrix, arguments, progress, zeros)
    why = _explain(arguments, matrix, names, matching, zeros, progress)
    if arguments.plot:
        title = _title(arguments)
        _draw(arguments, progress, lambda: plot.spy_conflicts(entries, why, title=title))
    fields = {"command": "explain", **summary.rank_fields(arguments.file, matrix, matching)}
    fields |= why.to_dict(max_pieces=arguments.pieces)
    rank = fields.pop("rank_without_zeros")  # None if there are no zeros, or none any more
    fields |= stored.described(fields, why.structural_rank if rank is None else rank)
    fields |= summary.run_fields(run, progress.seconds)
    if arguments.json:
        print_json(fields, brief=arguments.brief)
    elif wants_text(arguments) and arguments.brief:
        print(summary.one_line(fields))
    elif wants_text(arguments):
        words = why.text(max_pieces=arguments.pieces) + _about_values(matrix, why)
        print(summary.explanation_text(fields, words))
        print_written(arguments)
    singular = why.is_singular or why.is_numerically_singular
    return _SINGULAR if arguments.check and singular else _DONE


def names_of(arguments: Namespace, matrix: Any) -> list[Any]:
    """Read the files with the names of rows and columns, if there are any."""
    files, nouns = (arguments.row_names, arguments.col_names), ("rows", "columns")
    return [
        read_names(name, size, noun) if name else None
        for name, size, noun in zip(files, matrix.shape, nouns, strict=True)
    ]


def _about_values(matrix: Any, why: Any) -> str:
    """Say how to look at the values; or, if they were looked at, that there may be none."""
    sound = not (why.overdetermined or why.underdetermined)
    if sound and not why.numeric:
        return "\n\nThe structure alone was looked at: --numeric looks at the values, too."
    if why.numbers is not None and matrix.nnz and np.all(matrix.data == 1):
        return "\n\nAll values are 1, as are those of a file that holds a pattern only."
    return ""


def _explain(
    arguments: Namespace,
    matrix: Any,
    names: list[Any],
    matching: Any,
    zeros: Zeros,
    progress: Progress,
) -> Any:
    what = "dependences" if arguments.numeric else "conflicts"
    with progress.step("explain", f"looking for {what}"):
        try:
            return sparsematch.explain_singularity(
                sparsematch.view(matrix, zeros=zeros),
                *names,
                numeric=arguments.numeric,
                tolerance=arguments.tolerance,
                matching=matching,
                workers=arguments.workers,
            )
        except ValueError as error:  # a value that is not finite
            raise CannotProduce(f"{arguments.file}: {error}") from None


def warm_up(_: Namespace) -> int:
    """Compile everything for the current GPU, and say how long it took."""
    try:
        cupy = import_cupy("warm-up")
    except (ImportError, RuntimeError) as error:
        raise CannotProduce(str(error)) from error
    begin, device = time.perf_counter(), cupy.cuda.Device().compute_capability
    on_terminal = sys.stderr.isatty()

    def show(name: str, done: int, of: int) -> None:
        if on_terminal:
            print(f"\r{done} of {of}: {name:40s}", end="", file=sys.stderr, flush=True)

    count = operations(DeviceCompilerOps, "cupy").compile_all(show)
    if on_terminal:
        print("\r" + " " * 60, end="\r", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begin
    print(f"{count} modules for compute capability {device} are in the cache ({seconds:.1f} s)")
    return 0


def read(arguments: Namespace, progress: Progress) -> Any:
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


def _read(arguments: Namespace, progress: Progress) -> tuple[Any, StoredZeros]:
    """Read the matrix file, and count its stored zeros, or drop them."""
    return set_aside(arguments, read(arguments, progress), arguments.drop_zeros)


def _title(arguments: Namespace) -> str:
    """Name the matrix above its picture, in letters that any font has and not as mathematics."""
    if arguments.file == STREAM:
        return "standard input"
    name = Path(arguments.file).name.encode(errors="backslashreplace").decode()
    return name.replace("$", r"\$")


def _match(
    matrix: Any, arguments: Namespace, progress: Progress, zeros: Zeros = "keep"
) -> tuple[Any, RunInfo]:
    with progress.step("match", f"matching {summary.size_words(matrix)}"):
        return sparsematch.maximum_transversal(
            sparsematch.view(matrix, zeros=zeros),
            method=arguments.method,
            init=arguments.init,
            workers=arguments.workers,
            rng=arguments.seed,
            return_info=True,
        )


def _block_arrays(form: BlockForm) -> dict[str, Any]:
    names = ("row_perm", "col_perm", "row_blocks", "col_blocks", "coarse_rows", "coarse_cols")
    arrays = {name: np.asarray(getattr(form, name)) for name in names}
    return arrays | {"row_mate": form.matching.row_mate, "col_mate": form.matching.col_mate}


def _finish(
    arguments: Namespace,
    fields: dict[str, Any],
    run: RunInfo,
    progress: Progress,
    arrays: dict[str, Any],
) -> int:
    """Save, print as JSON or text, and choose the exit status."""
    comm = ranks.communicator()
    if comm is None or comm.Get_rank() == 0:
        _save(arguments, arrays, fields)
    account = summary.run_fields(run, progress.seconds, 1 if comm is None else comm.Get_size())
    fields = {"command": arguments.name, **fields, **account}
    if arrays and arguments.arrays:
        lists = {name: array.tolist() for name, array in arrays.items()}
        print_json(fields | lists, brief=arguments.brief)
    elif arguments.json:
        print_json(fields, brief=arguments.brief)
    elif wants_text(arguments) and arguments.brief:
        print(summary.one_line(fields))
    elif wants_text(arguments):
        print(summary.text(fields))
        if not getattr(arguments, "save", True):  # of `match` and `btf`
            print(summary.line("permutation", "written by --save OUT.npz, printed by --arrays"))
        print_written(arguments)
    return _SINGULAR if arguments.check and fields["structurally_singular"] else _DONE


def print_json(fields: dict[str, Any], brief: bool = False) -> None:
    """Print one JSON object, one key to a line, or one of several (`brief`) all in one line."""
    fields = {"sparsematch": sparsematch.__version__, **fields}
    pairs = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    print("{" + ", ".join(pairs) + "}" if brief else "{\n  " + ",\n  ".join(pairs) + "\n}")


def wants_text(arguments: Namespace) -> bool:
    """Tell whether a summary is to be printed: not where standard output holds something else."""
    return not (arguments.quiet or arguments.json or getattr(arguments, "save", None) == STREAM)


def _save(arguments: Namespace, arrays: dict[str, Any], fields: dict[str, Any]) -> None:
    if name := getattr(arguments, "save", None):
        shape = np.array([fields["n_rows"], fields["n_cols"]])
        write(name, lambda stream: np.savez_compressed(stream, shape=shape, **arrays))


def _plot(
    arguments: Namespace, matrix: Any, form: BlockForm, title: str, progress: Progress
) -> None:
    if arguments.plot:
        _draw(arguments, progress, lambda: plot.spy_blocks(matrix, form, title=title))


def _draw(arguments: Namespace, progress: Progress, draw: Callable[[], Any]) -> None:
    kind = Path(arguments.plot).suffix.lower().removeprefix(".")
    with progress.step("plot", "drawing the picture"):
        write(arguments.plot, lambda stream: draw().savefig(stream, format=kind, dpi=150))
