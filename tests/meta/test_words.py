"""The check of words in lint: what a row of its table finds, and what it does not."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / ".ci").is_dir():
    pytest.skip("needs a clone: an sdist has no .ci", allow_module_level=True)
SPEC = importlib.util.spec_from_file_location("check_words", ROOT / ".ci" / "check_words.py")
check_words = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_words)
ROWS = check_words.table()


@pytest.mark.parametrize(
    ("text", "found"),
    [  # ~ is taken out, so that the check does not find this file
        ("a row wh~o has\n    // two proposals", ["wh~o has // two"]),
        ('"""Hea~r\nnothing."""', ["Hea~r"]),
        ("x.hand~_over_all = Out~box()", ["hand~_over", "Out~box"]),
        ("def __post_init__(self): the shear of Near~by2 and nearby things", ["Near~by"]),
    ],
)
def test_words_are_found_over_lines_and_in_names_but_not_within_words(tmp_path, text, found):
    (tmp_path / "a.py").write_text("\n" + text.replace("~", "") + "\n", encoding="utf-8")
    check_words.ROOT = tmp_path
    hits = sorted(check_words.hits("a.py", ROWS))
    assert sorted(words for _, words, _ in hits) == sorted(w.replace("~", "") for w in found)
    assert all(line == 2 for line, *_ in hits)


def test_every_row_says_what_to_write():
    page = (ROOT / "docs" / "contributing" / "words.md").read_text(encoding="utf-8")
    assert page.count("\n| `") == len({write for _, write in ROWS}) > 40
