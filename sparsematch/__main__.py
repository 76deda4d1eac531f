"""``python -m sparsematch``: the command line."""

import sys

from sparsematch.cli import main

if __name__ == "__main__":
    sys.exit(main())
