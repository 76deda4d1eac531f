"""What the programs share: options, timing in processes of their own and in turns, tables.

Run as a command it is the child of `measure`: it prepares one call, times it, checks the result and
prints a line of JSON. The clock of the limit starts when everything is loaded and the timed call
begins; like the times it counts processor time for one worker.
"""

import argparse
import importlib
import itertools
import json
import math
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time

#: Seconds that calls may have taken before another is made. A first call that takes longer counts
#: itself: what it warms up is milliseconds.
ENOUGH = 0.5
#: How many times as long as the limit the clock on the wall may take, on a machine that is shared.
PATIENCE = 20
#: What signals mean that end a child.
KILLED = {"SIGXCPU": "limit", "SIGKILL": "MemoryError"}
OPTIONS = {
    "scale": (int, "generated matrices have about 2**SCALE rows"),
    "seed": (int, "draws other generated matrices of the same kinds"),
    "repeats": (int, "timed calls after one that warms up"),
    "workers": (int, "threads for sparsematch"),
    "limit": (float, "seconds until a measurement is stopped"),
}


# ---- options


def parser(doc, write=False, **defaults):
    """Return a parser with those of the common options that have a default here."""
    result = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        kind, text = OPTIONS[name]
        text += " (default %(default)s)"
        result.add_argument(f"--{name}", type=kind, default=default, help=text)
    if write:
        text = "put the table between the marks of FILE"
        result.add_argument("--write", type=pathlib.Path, metavar="FILE", help=text)
    return result


# ---- timing


def times(call, repeats, clock=time.perf_counter):
    """Return the times of some calls after one that warms up, and the last result.

    They are as many as wanted, or as fit into half a second. A slow first one is the only one.
    """
    seconds = []
    while len(seconds) <= repeats and sum(seconds) <= ENOUGH:
        begin = clock()
        result = call()
        seconds.append(clock() - begin)
    return seconds[1:] or seconds, result


def median(call, clock, repeats):
    """Return the median of `times`, and the last result."""
    seconds, result = times(call, repeats, clock)
    return statistics.median(seconds), result


def seconds_of(call):
    """Return the time of one call, on the wall."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def in_turns(calls, rounds):
    """Return the medians of what calls return that are made in turns."""
    return [
        statistics.median(of)
        for of in zip(*([call() for call in calls] for _ in range(rounds)), strict=True)
    ]


def measure(prepare, *given, workers=1, repeats=3, limit=20.0):
    """Return what `child` finds in a process of its own, or {"failed": "limit"}."""
    module = pathlib.Path(prepare.__code__.co_filename).stem
    command = json.dumps([module, prepare.__name__, given, workers, repeats, limit])
    # Unbuffered, so that reading the first line consumes nothing of the second.
    with subprocess.Popen(
        [sys.executable, __file__, command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as process:
        process.stdout.readline()
        try:
            out, err = process.communicate(timeout=limit * PATIENCE if workers == 1 else limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"failed": "limit"}
    killed = signal.Signals(-process.returncode).name if process.returncode < 0 else ""
    if killed in KILLED:
        return {"failed": KILLED[killed]}
    if process.returncode:
        raise RuntimeError(f"{prepare.__name__}{given} failed:\n{err.decode()}")
    return json.loads(out)


def child(module, function, given, workers, repeats, limit):
    """Time the call that a function prepares; return the seconds and its check's figures."""
    call, check = getattr(importlib.import_module(module), function)(*given)
    print("ready", flush=True)
    if workers == 1:
        stop_after(limit)
    try:
        clock = time.thread_time if workers == 1 else time.perf_counter
        seconds, result = median(call, clock, repeats)
    except (MemoryError, RecursionError) as error:
        return {"failed": type(error).__name__}
    return {"seconds": seconds} | check(result)


def stop_after(seconds):
    """Have the system end this process after some more seconds of processor time."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock alone
        return
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))


# ---- tables


def three(value):
    """Three significant digits, and thousands in full."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def geometric_mean(values):
    """Return the geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def ratio(figures, unit, limit):
    """How many times `unit` was taken; a bound where it was stopped, or the error."""
    if figures.get("failed") == "limit":
        return f"> {three(limit / unit)}"
    return figures.get("failed") or three(figures["seconds"] / unit)


def table(heads, rows):
    """Yield the lines of a markdown table, each as soon as its cells are there."""
    for cells in (heads, ["---", *["---:"] * (len(heads) - 1)]):
        yield f"| {' | '.join(cells)} |"
    for cells in rows:
        yield f"| {' | '.join(cells)} |"


def show(heads, rows):
    """Print a table line by line, as soon as the cells are there."""
    for line in table(heads, rows):
        print(line, flush=True)


def conditions(args, *options, packages=("SciPy", "NumPy"), more=(), device=None):
    """When, what, where and how, in one line."""
    names = ("sparsematch", *packages)
    versions = [f"{name} {importlib.import_module(name.lower()).__version__}" for name in names]
    if device is None:
        versions.append(f"Python {platform.python_version()}")
    versions += more
    settings = " ".join(f"--{name} {getattr(args, name):g}" for name in options)
    date = time.strftime("%d %B %Y").lstrip("0")
    line = f"{date}: {', '.join(versions)}, {device or processor()}"
    return f"{line}; `{settings}`." if settings else f"{line}."


def processor():
    """What the machine calls its processor."""
    try:
        with open("/proc/cpuinfo") as info:
            return next(
                text.split(":", 1)[1].strip() for text in info if text.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def publish(lines, args, what, conditions):
    """Print conditions and lines as they come; put them between the marks of the page."""
    begin = f"<!-- {what}: written by benchmarks/{pathlib.Path(sys.argv[0]).name} -->"
    page = args.write.read_text(encoding="utf-8") if args.write else begin
    if begin not in page:
        raise SystemExit(f"{args.write} has no line {begin}")
    shown = []
    for text in itertools.chain([conditions, ""], lines):
        print(text, flush=True)
        shown.append(text)
    if args.write:
        before, rest = args.write.read_text(encoding="utf-8").split(begin, 1)
        end = f"<!-- end of the {what} -->"
        text = "\n".join(shown)
        page = f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end, 1)[1]}"
        args.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    print(json.dumps(child(*json.loads(sys.argv[1]))))
