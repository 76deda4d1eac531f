"""``python -m sparsematch`` and ``sparsematch``: the command line."""

import os
import signal
import sys
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> int:
    """Run the command line; Ctrl-C during the imports ends it as quietly as later on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    import sparsematch.cli.run  # noqa: F401
    from sparsematch.cli import main as run

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _leave(*_: Any) -> NoReturn:
    """Exit at once: an exception within an import may come out as another one, or not at all."""
    os.write(2, b"sparsematch: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
