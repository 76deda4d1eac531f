"""Configuration of Sphinx: `sphinx-build -W -b html docs docs/_build/html`, or `tox -e docs`."""

import os
import re

# Help texts come out the same everywhere.
os.environ.update(COLUMNS="100", NO_COLOR="1")

import sparsematch
from sparsematch.cli.arguments import build_parser

project = "sparsematch"
author = "The sparsematch developers"
copyright = "the sparsematch developers"
release = sparsematch.__version__
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "sg_execution_times.rst", "**/sg_execution_times.rst"]
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "sparsematch"
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}

myst_enable_extensions = ["deflist", "substitution"]
myst_heading_anchors = 3

# The reference pages name every object themselves, so nothing is generated into the source tree.
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The programs in gallery/ run when the pages are built; one that fails ends the build.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_pages",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,
}


def engine_table():
    """Return what is registered as a table: the pages of the engines are linked by their names."""
    lines = [
        "| engine | where | kind | options | transpose | workers | what it does |",
        "|---|---|---|---|---|---|---|",
    ]
    for engine in sparsematch.engines(backend=None):
        where = "host" if engine.backend == "numpy" else "GPU"
        options = (
            ", ".join(f"`{name}={default!r}`" for name, default in engine.options.items()) or "none"
        )
        workers = "any number" if engine.multithreaded else "one"
        link = f"[`{engine.name}`](/algorithms/{engine.name}.md)"
        kind, transpose = engine.kind, engine.transpose
        if kind == "approximate":
            kind, transpose = f"{kind}, {engine.guarantee:g}" if engine.guarantee else kind, ""
        cells = where, kind, options, transpose, workers, engine.summary
        lines.append(f"| {link} | {' | '.join(cells)} |")
    return "\n".join(lines)


def command_line_help():
    """Return the help of the program and of each of its commands."""
    parser = build_parser()
    (commands,) = (action for action in parser._actions if action.choices)
    parsers = {parser.prog: parser, **{p.prog: p for p in commands.choices.values()}}
    return "\n".join(f"## {name}\n\n```text\n{p.format_help()}```\n" for name, p in parsers.items())


myst_substitutions = {"engine_table": engine_table(), "command_line_help": command_line_help()}


def one_download(app, name, source):
    """Offer the program of a page of the gallery as it is, without a notebook or an archive."""
    if name.startswith("gallery_pages/"):
        others = r" *\.\. container:: sphx-glr-download sphx-glr-download-(jupyter|zip)\n\n.*\n"
        source[0] = re.sub(others, "", source[0])


def setup(app):
    app.connect("source-read", one_download)
