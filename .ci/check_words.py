"""Find words that docs/contributing/words.md says to avoid: python .ci/check_words.py [PATH ...].

The first column of its tables has regular expressions between backticks, the second what to write.
A space in one also matches where a comment goes on in the next line; one without capitals matches
whatever the case; none matches within a longer word, but "_" and digits end a word.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "words.md"
KINDS = "*.py", "*.pyi", "*.[hc]pp", "*.cu", "*.cuh", "*.md", "*.rst"


def table() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns of the page, each with what to write in its place."""
    rows = []
    for avoid, write in re.findall(r"^\| (`.*?`) \| (.+) \|$", PAGE.read_text("utf-8"), re.M):
        for text in re.findall(r"`(.+?)`", avoid.replace(r"\|", "|")):
            words = text.replace(" ", r"[\s#/*]+")
            flags = re.IGNORECASE if text == text.lower() else re.NOFLAG
            rows.append((re.compile(f"(?<![A-Za-z])(?:{words})(?![A-Za-z])", flags), write))
    return rows


def hits(path: str, rows: list[tuple[re.Pattern[str], str]]) -> Iterator[tuple[int, str, str]]:
    """Yield the line, 0 for the name of the file, the words found there, and what to write."""
    text = f"{path}\n{(ROOT / path).read_text('utf-8')}"
    for pattern, write in rows:
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()), " ".join(match[0].split()), write


def is_source(path: Path) -> bool:
    """Whether this is a file of one of the kinds, which has not been removed."""
    return path.is_file() and any(path.match(kind) for kind in KINDS)


def main() -> int:
    """Print every hit as path:line, in the files that git knows, or those of them given."""
    paths = [str(Path(path).resolve()) for path in sys.argv[1:]] or [str(ROOT)]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows, count = table(), 0
    for path in sorted(filter(None, listed.split("\0"))):
        if ROOT / path != PAGE and is_source(ROOT / path):
            for line, found, write in sorted(hits(path, rows)):
                print(f"{path}:{line}: {found!r}: write {write}")
                count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
