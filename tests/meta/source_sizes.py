"""The functions of a Python, C++ or CUDA file and their sizes.

`python tests/meta/source_sizes.py` prints a summary of the whole package.
"""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).resolve().parents[2] / "sparsematch"
LANGUAGES = {"Python": {".py"}, "C++": {".hpp", ".cpp"}, "CUDA": {".cu", ".cuh"}}


@dataclass(frozen=True)
class Function:
    """A function, method, kernel or lambda that has a body."""

    name: str
    line: int
    code_lines: int
    parameters: int


@functools.cache
def functions(path):
    text = path.read_text(encoding="utf-8")
    return list(in_python(text) if path.suffix in LANGUAGES["Python"] else in_cpp(text))


def in_python(text):
    """Code lines are those of the body, without docstring and blank ones; `self` is not counted."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            a = node.args
            named = [arg.arg for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs]]
            named = named[named[:1] in (["self"], ["cls"]) :]
            several = (a.vararg is not None) + (a.kwarg is not None)
            size = sum(bool(line.strip()) for line in code)
            yield Function(node.name, node.lineno, size, len(named) + several)


# In C++ and CUDA, brackets are matched; nothing is parsed.
NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])+'
    | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
CONTROL = {"if", "for", "while", "switch", "catch", "constexpr", "return", "sizeof", "decltype"}
LAMBDA = re.compile(r"(?:^|[^\w\s)\]]|\breturn)\s*\[[^][]*\]\s*(?:<[^()]*>)?\s*\Z")
NAME = re.compile(
    r"(operator\s*(?:\(\)|[^\s\w(]+|\w+)|~?\w+)\s*(?:<(?:[^()<>]|<[^()<>]*>)*>)?\s*\Z"
)
QUALIFIERS = re.compile(
    r"(?:\s|\b(?:const|mutable|override|final|constexpr)\b|&+|\bnoexcept\b(?:\([^()]*\))?)*"
    r"(?:->[\w\s:<>,*&]+)?"
)
OPENING = re.compile(r"\(|\](?=\s*(?:mutable\s*)?\{)")
BRACKET = re.compile(r"[(){}]")
INNERMOST = re.compile("|".join(rf"\{a}[^][(){{}}<>]*\{b}" for a, b in ("()", "[]", "{}", "<>")))
MEMBER = re.compile(r"\s*[:,]\s*[\w:]+(?:<[^(){}]*>)?\s*([({])")


def code_only(text):
    """The text without comments, strings, characters and directives; line breaks are kept."""

    def blank(match):
        return " " + "\n" * match[0].count("\n")

    return NO_CODE.sub(blank, text)


def closing(code, start):
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for bracket in BRACKET.finditer(code, start):
        depth += 1 if bracket[0] in "({" else -1
        if depth == 0:
            return bracket.start()
    raise ValueError(f"line {code.count(chr(10), 0, start) + 1}: {code[start]} is never closed")


def body_after(code, end):
    """Where the body of a function opens whose parameters end before `end`; None if it has none."""
    position = QUALIFIERS.match(code, end).end()
    while member := MEMBER.match(code, position):  # that a constructor initialises
        position = closing(code, member.start(1)) + 1
    body = re.compile(r"\s*\{").match(code, position)
    return body.end() - 1 if body else None


def count_parameters(text):
    """Commas outside brackets of any kind, those of templates included, plus one."""
    flat, inner = text.replace("->", ""), None
    while flat != inner:
        flat, inner = INNERMOST.sub(" ", flat), flat
    return 0 if flat.strip() in ("", "void") else flat.count(",") + 1


def in_cpp(text):
    """Code lines are those between the braces, without comments, directives and blank lines."""
    code = code_only(text)
    position = 0
    while opening := OPENING.search(code, position):
        start, bare = opening.start(), opening[0] == "]"  # bare: a lambda without a list
        position = start + 1
        before = code[max(0, start - 200) : start + bare]
        name = "lambda" if LAMBDA.search(before) else (NAME.search(before) or ["", ""])[1]
        if name in CONTROL or name == "":
            continue
        end = start if bare else closing(code, start)
        if (body := body_after(code, end + 1)) is not None:
            lines = code[body + 1 : closing(code, body)].split("\n")
            size = sum(bool(line.strip()) for line in lines)
            parameters = count_parameters(code[start + 1 : end])
            yield Function(name, code.count("\n", 0, start) + 1, size, parameters)
            position = body + 1


def main():
    """Median, 90th percentile and maximum by language, and the files beyond 300 lines."""
    for language, suffixes in LANGUAGES.items():
        paths = [path for path in PACKAGE.rglob("*") if path.suffix in suffixes]
        found = [(f.code_lines, f.parameters) for path in paths for f in functions(path)]
        sizes, parameters = np.array(found).T
        median, p90, most = np.quantile(sizes, [0.5, 0.9, 1]).round().astype(int)
        print(
            f"{language}: {len(paths)} files, {len(found)} functions of {median} lines (median),"
            f" {p90} (p90), {most} (max); at most {parameters.max()} parameters"
        )
        for path in sorted(paths):
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300:
                print(f"    {path.relative_to(PACKAGE.parent)}: {lines} lines")


if __name__ == "__main__":
    main()
