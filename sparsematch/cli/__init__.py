"""The command line: ``sparsematch rank | match | btf | explain | diagnose | warm-up``.

`main` is the only public name. It imports the rest when it is called, so that Ctrl-C is answered
from the first moment on. `run` chooses the exit status, `arguments` declares the options,
`commands` does it, `ranks` on several ranks, `summary` words the answer for people and for
programs, `outputs` writes files, `progress` shows the running step. Matrix files are read by
`sparsematch._io`.

The exit status is part of the interface (see docs/howto/command_line.md): 0 done, 1 structurally
singular and ``--check`` was given, 2 wrong usage, 3 the matrix file cannot be read, 4 the result
cannot be produced (a file cannot be written, matplotlib is missing, no memory), 130 interrupted,
141 the reader of the output went away.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : list of str, optional
        The arguments after the program's name; ``sys.argv[1:]`` if not given.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    SystemExit
        From argparse: status 2 on wrong usage, 0 after ``--help`` and ``--version``.

    Examples
    --------
    >>> from sparsematch.cli import main
    >>> main(["rank", "absent.mtx"])
    3
    """
    try:
        from sparsematch.cli.run import run

        return run(argv)
    # an interrupted import may fail with another error, of which Ctrl-C is the cause
    except BaseException as error:
        from sparsematch._base.errors import is_an_interrupt

        if not is_an_interrupt(error):
            raise
        print("sparsematch: interrupted", file=sys.stderr)
        return 130
