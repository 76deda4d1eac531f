"""Formulas as MathML, which every browser of today draws by itself: no script, no network.

The converter from TeX is that of docutils. Brackets around a matrix are drawn by the style sheet,
since browsers stretch them only where a font for mathematics is installed.
"""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

BAR = re.compile(r"<mo[^>]*>\|</mo>")
logger = logging.getLogger(__name__)
MATRIX = re.compile(r"<mo>\[</mo>\s*<mtable>(.*?)</mtable>\s*<mo>\]</mo>", re.DOTALL)


def convert(node, block):
    """The formula of a node as MathML; what cannot be converted is a warning and stays TeX."""
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"
    formula = BAR.sub('<mo lspace="0em" rspace="0em" stretchy="false">|</mo>', formula)
    return MATRIX.sub(r'<mtable class="bracketed">\1</mtable>', formula)


def visit_inline(translator, node):
    """Write a formula within a line."""
    translator.body.append(convert(node, block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math-block">{convert(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Add the renderer, to be chosen by ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
