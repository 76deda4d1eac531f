"""Matrix files: Matrix Market, SciPy ``.npz``, MATLAB ``.mat``, Harwell-Boeing, archives of these.

All are read by SciPy. `read_matrix` answers a CSR or CSC matrix whose structure has been checked,
or raises `UnreadableFile` with one sentence that a person can act on; `read_stream` does so for
standard input. `read_names` reads what the rows or columns are called. Files of edges are another
matter (`sparsematch._types.edge_file`).
"""

from sparsematch._io.errors import UnreadableFile
from sparsematch._io.formats import FORMATS
from sparsematch._io.read import read_matrix, read_names, read_stream

__all__ = ["FORMATS", "UnreadableFile", "read_matrix", "read_names", "read_stream"]
