"""Progress: the step that is running, on a terminal, and the seconds of each for the report."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_DELAY = 0.5  # seconds before a step is worth a line
_PERIOD = 0.2


class Progress:
    """Times named steps, and shows the running one on `stream` if that is a terminal."""

    # The line appears after half a second, is rewritten in place, and is erased when the step ends,
    # so that nothing is left on the screen; if `quiet`, it never appears.
    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self._stream = stream
        self._shown = not quiet and stream.isatty()

    @contextmanager
    def step(self, key: str, words: str) -> Iterator[None]:
        """Run the body as the step `key`, shown as `words`; its time goes to ``seconds[key]``."""
        start = time.perf_counter()
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(words, start, ended), daemon=True)
        if self._shown:
            try:
                ticker.start()
            except RuntimeError:  # the system refuses threads: the work goes on
                self._shown = False
        try:
            yield
        finally:
            self.seconds[key] = time.perf_counter() - start
            if self._shown:
                ended.set()
                ticker.join()

    def rounded(self) -> dict[str, float]:
        """Return the seconds of each step, to a microsecond."""
        return {key: round(value, 6) for key, value in self.seconds.items()}

    def _tick(self, words: str, start: float, ended: threading.Event) -> None:
        width, pause = 0, _DELAY
        while not ended.wait(pause):
            elapsed = time.perf_counter() - start
            line = f"{words} ... {elapsed:.1f} s"[: shutil.get_terminal_size().columns - 1]
            self._write("\r" + line.ljust(width))
            width, pause = len(line), _PERIOD
        if width:
            self._write("\r" + " " * width + "\r")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone: the work goes on
            self._shown = False
