"""The command that says what to expect of a linear system."""

from argparse import Namespace

from sparsematch.cli import summary
from sparsematch.cli.commands import names_of, print_json, read, wants_text
from sparsematch.cli.outputs import CannotProduce
from sparsematch.cli.progress import make_progress

__all__ = ["diagnose"]


def diagnose(arguments: Namespace) -> int:
    """Say what to expect of a linear system with a file's matrix."""
    # it needs scipy.sparse.linalg, which other commands do not
    from sparsematch import solvers

    progress = make_progress(arguments.quiet)
    matrix = read(arguments, progress)
    rows, cols = names_of(arguments, matrix)
    with progress.step("diagnose", f"factorising {summary.size_words(matrix)}"):
        try:
            found = solvers.diagnose(matrix, row_names=rows, col_names=cols)
        except ValueError as error:  # not square, or a value is not finite
            raise CannotProduce(f"{arguments.file}: {error}") from None
    if arguments.json:
        fields = {"command": "diagnose", "file": arguments.file, **found.to_dict()}
        print_json(fields | {"seconds": {k: round(s, 6) for k, s in progress.seconds.items()}})
    elif wants_text(arguments):
        print(found)
    return int(arguments.check and found.is_singular)
