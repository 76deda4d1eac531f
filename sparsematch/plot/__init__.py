"""Pictures of sparse matrices, their block triangular forms and their conflicts.

matplotlib is imported when the first one is drawn.

A picture is an image with one cell for every entry of a small matrix and one cell for many entries
of a large one, the darker the more, so that twenty rows and a million rows are drawn by the same
code. Blocks too small to be seen as boxes are not outlined, and the legend says how many.
"""

from sparsematch.plot.blocks import spy_blocks
from sparsematch.plot.cells import check_picture as check_picture
from sparsematch.plot.conflicts import spy_conflicts

__all__ = ["spy_blocks", "spy_conflicts"]
__dir__ = __all__.copy  # lists these alone
