"""What the readers of files raise."""


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
