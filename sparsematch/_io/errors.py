"""What the readers of files raise."""

from sparsematch._base.arrays import Array


class UnreadableFile(OSError, ValueError):
    """A file is missing, unrecognised or malformed; the message says which.

    It is an OSError and a ValueError; of a missing file, a FileNotFoundError too.

    Attributes
    ----------
    args : tuple of str
        The message, which begins with the name of the file.

    Examples
    --------
    >>> import sparsematch
    >>> try:
    ...     sparsematch.read_distributed("absent.mtx", None)
    ... except FileNotFoundError as error:
    ...     print(isinstance(error, sparsematch.UnreadableFile), error)
    True absent.mtx: there is no such file
    """


class MissingFile(UnreadableFile, FileNotFoundError):
    """There is no such file."""


def check_places(rows: Array, cols: Array, shape: tuple[int, int], first: int = 0) -> None:
    """Raise UnreadableFile if an entry lies outside; the file counts from `first`."""
    for name, indices, size in zip(("row", "column"), (rows, cols), shape, strict=True):
        if indices.size and not 0 <= indices.min() <= indices.max() < size:
            wrong = indices[(indices < 0) | (indices >= size)][0] + first
            raise UnreadableFile(f"has an entry in {name} {wrong}, of {size} {name}s")
