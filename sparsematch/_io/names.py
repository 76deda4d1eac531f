"""Files with the names of rows or columns."""

import os
from pathlib import Path

from sparsematch._io.errors import UnreadableFile
from sparsematch._io.read import check_is_file, in_one_sentence


def read_names(path: str | os.PathLike[str], size: int, noun: str) -> list[str]:
    """Read the names of all rows or all columns, one per line, blanks around them removed.

    There must be `size` of them; `noun` says in messages what has them, in the plural. Empty lines
    are empty names, but those left over at the end do not count. Raises UnreadableFile if the file
    is missing, is no text in UTF-8, or has another number of names.
    """
    path = Path(path)
    check_is_file(path)
    with in_one_sentence(str(path)):
        names = [name.strip() for name in path.read_text(encoding="utf-8-sig").splitlines()]
        while len(names) > size and not names[-1]:
            names.pop()
        if len(names) != size:
            count = "1 name" if len(names) == 1 else f"{len(names):,} names"
            raise UnreadableFile(
                f"has {count}, but the matrix has {size:,} {noun}: there must be one a line for "
                "each"
            )
    return names
