"""How the command line ends: its exit status, and one sentence instead of a traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import scipy.sparse as sp

import sparsematch
from calls import run_python
from sparsematch.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrices")
    sp.save_npz(folder / "full.npz", sp.eye_array(30, format="csr"))
    singular = sp.csr_array([[0, 1, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    sp.save_npz(folder / "singular.npz", singular)
    return folder


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "COMMAND"),
        (["nothing"], "invalid choice: 'nothing'"),
        (["rank"], "FILE"),
        (["rank", "a.mtx", "--method", "nothing"], "invalid choice: 'nothing'"),
        (["rank", "a.mtx", "--method", "none"], "invalid choice: 'none'"),
        (["rank", "a.mtx", "--init", "nothing"], "invalid choice: 'nothing'"),
        (["rank", "a.mtx", "--workers", "0"], "workers is 0, but must be"),
        (["rank", "a.mtx", "--workers", "99999"], "workers is 99999, but must be"),
        (["rank", "a.mtx", "--workers", "two"], "'two' is not an integer"),
        (["rank", "a.mtx", "--seed", "-1"], "-1 is negative"),
        (["rank", "a.mtx", "--save", "b.npz"], "unrecognized arguments: --save"),
        (["btf", "a.mtx", "--save", "b.txt"], "b.txt: the name must end in .npz"),
    ],
)
def test_wrong_usage(argv, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert message in captured.err


@pytest.mark.parametrize("option", [["--help"], ["rank", "--help"], ["coarsen", "--help"]])
def test_help(option, capsys):
    with pytest.raises(SystemExit) as caught:
        main(option)
    assert caught.value.code == 0
    assert "sparsematch" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["rank", "match", "btf"])
@pytest.mark.parametrize(
    "name", ["missing.mtx", "folder.mtx", "words.mtx", "words.npz", "words.txt", "empty_file.mtx"]
)
def test_unreadable_file(command, name, tmp_path, capsys):
    path = tmp_path / name
    if name.startswith("folder"):
        path.mkdir()
    elif not name.startswith("missing"):
        path.write_text("" if name.startswith("empty") else "words")
    assert main([command, str(path), "--json"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"sparsematch: {path}: ")
    assert captured.err.count("\n") == 1


def test_results_that_cannot_be_written(folder, tmp_path, capsys):
    file = str(folder / "full.npz")
    absent, blocked = tmp_path / "absent", tmp_path / "blocked.npz"
    blocked.mkdir()
    for option, target, message in (
        ("--save", absent / "a.npz", "the folder does not exist"),
        ("--plot", absent / "a.png", "the folder does not exist"),
        ("--plot", tmp_path / "a.xyz", "is not a kind of picture"),
        ("--save", blocked, "Is a directory"),
    ):
        assert main(["btf", file, option, str(target)]) == 4
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"sparsematch: cannot write {target}: ")
        assert message in captured.err


def test_without_matplotlib(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["btf", str(folder / "full.npz"), "--plot", str(tmp_path / "a.png")]) == 4
    assert "python -m pip install matplotlib" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, 130), (MemoryError, 4), (BrokenPipeError, 141)]
)
@pytest.mark.library_independent
def test_interrupted(error, status, folder, capsys, monkeypatch):
    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(sparsematch, "maximum_transversal", fail)
    assert main(["btf", str(folder / "full.npz")]) == status
    assert "Traceback" not in capsys.readouterr().err


run_module = partial(run_python, "-P", "-m", "sparsematch")


def test_as_a_program(folder):
    done = run_module("rank", str(folder / "singular.npz"), "--check", "--json")
    assert done.returncode == 1
    assert done.stderr == ""
    assert json.loads(done.stdout)["structural_rank"] == 3
    done = run_module("rank", str(folder / "absent.npz"))
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.endswith("absent.npz: there is no such file\n")
    assert run_module().returncode == 2


def test_output_into_a_closed_pipe(folder):
    command = [sys.executable, "-P", "-m", "sparsematch", "btf", str(folder / "full.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        error = child.stderr.read()
        assert child.wait(timeout=120) == 141
    assert error == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_cannot_be_written(folder):
    where = {"capture_output": False, "stderr": subprocess.PIPE}
    with open("/dev/full", "w") as full:
        done = run_module("rank", str(folder / "full.npz"), stdout=full, **where)
    assert done.returncode == 4
    assert done.stderr.startswith("sparsematch: cannot write the output: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(
    not hasattr(os, "mkfifo"),
    reason="needs named pipes to stop the program in the middle of its work",
)
@pytest.mark.library_independent
def test_interrupted_by_the_user(tmp_path):
    pipe = tmp_path / "a.mtx.gz"
    os.mkfifo(pipe)
    command = [sys.executable, "-P", "-m", "sparsematch", "rank", str(pipe)]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # the pipe opens when the program has begun to read
    with subprocess.Popen(command, text=True, **both) as child, pipe.open("wb"):
        time.sleep(0.5)  # SciPy's reader is imported by then, and waits for the first byte
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=120)
    assert child.returncode == 130
    assert (out, error) == ("", "sparsematch: interrupted\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs signals of POSIX")
@pytest.mark.parametrize("module", ["sparsematch", "numpy", "scipy.io"])
@pytest.mark.library_independent
def test_interrupted_while_it_imports(module, tmp_path):
    """Ctrl-C at the moment when a module is looked for, wherever that is."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module + '.cli' * (module == 'sparsematch')!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = run_module("rank", "a.mtx", env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sparsematch: interrupted\n")
