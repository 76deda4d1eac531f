"""Configuration of Sphinx: `sphinx-build -W -b html docs docs/_build/html`, or `tox -e docs`.

The pages are built and read without a network. A hosted build sets SPARSEMATCH_DOCS_ONLINE=1:
then names of NumPy, SciPy, Python and NetworkX are linked to their pages.
"""

import os
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))  # the circuit

import registry
from docutils import nodes

import sparsematch

project = "sparsematch"
author = "The sparsematch developers"
copyright = "the sparsematch developers"
release = sparsematch.__version__
version = release

extensions = [
    "mathml",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# For those who change the source, read in the repository.
for_contributors = ["contributing", "decisions", "architecture.md"]
exclude_patterns = [
    *for_contributors,
    "_build",
    "gallery",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
]
nitpicky = False

intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "networkx": ("https://networkx.org/documentation/stable", None),
}
if os.environ.get("SPARSEMATCH_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")

html_theme = "pydata_sphinx_theme"
html_title = "sparsematch"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "sparsematch", "alt_text": "sparsematch: home"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
# Pages that belong to no section have no navigation of one.
LONE = "index", "install", "getting_started/index", "speed", "alternatives"
html_sidebars = {page: [] for page in (*LONE, "references", "glossary")}

with open(Path(__file__).parents[1] / "pyproject.toml", "rb") as file:
    urls = tomllib.load(file)["project"].get("urls", {})
if repository := urls.get("Repository") or urls.get("Source"):
    icon = {"name": "Source code", "url": repository, "icon": "fa-solid fa-code-branch"}
    html_theme_options["icon_links"] = [icon]

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_enable_extensions += ["substitution"]
myst_heading_anchors = 3
# Help texts come out the same everywhere.
os.environ.update(COLUMNS="85", NO_COLOR="1")
myst_substitutions = {
    "engine_table": registry.engine_table(),
    "host_engine_table": registry.engine_table("heuristic", "exact", backends=("numpy",)),
    "command_line_help": registry.command_line_help(),
}

# The reference pages name every object themselves, so nothing is generated into the source tree.
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Prompts are not copied, nor what is printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The programs in figures/ and gallery/ run when the pages are built; one that fails ends the build.
plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 160)]
plot_rcparams = {"font.size": 11, "savefig.bbox": "tight"}
plot_apply_rcparams = True
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_pages",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (480, 320),
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,
}


def trim_code(app, doctree):
    """Drop the empty line that ends an example, for the sake of doctest, from what is shown."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource == block.astext():
            block.rawsource, block.children = text, [nodes.Text(text)]


def setup(app):
    """Register what is done to pages after they are read."""
    app.connect("doctree-read", trim_code)
