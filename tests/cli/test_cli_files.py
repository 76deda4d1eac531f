"""The files of the command line: none is destroyed; how it ends, and one sentence for a fault."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sparsematch
from calls import run_python
from corruption import archive, mat, mtx, npz
from sparsematch._io import UnreadableFile, read_matrix, read_stream
from sparsematch.cli import main
from sparsematch.cli.arguments import build_parser

MATCH = "-P", "-m", "sparsematch", "match"
SINGULAR = sp.csr_array([[0, 1, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
FULL = sp.csr_array(np.eye(4)[::-1])


@pytest.fixture
def folder(tmp_path):
    sp.save_npz(tmp_path / "a.npz", FULL)
    sp.save_npz(tmp_path / "singular.npz", SINGULAR)
    (tmp_path / "names.png").write_text("a\nb\nc\nd\n")
    return tmp_path


def alias(path, how):
    """Another name for the same file."""
    if how == "itself":
        return path
    other = path.with_name(f"other{path.suffix}")
    other.symlink_to(path) if how == "symlink" else other.hardlink_to(path)
    return other


@pytest.mark.parametrize("how", ["itself", "symlink", "hard link"])
@pytest.mark.parametrize("command", ["match", "btf"])
def test_no_output_overwrites_what_is_read(folder, command, how, capsys):
    path = folder / "a.npz"
    before = path.read_bytes()
    assert main([command, str(path), "--save", str(alias(path, how))]) == 2
    assert path.read_bytes() == before
    assert "would be overwritten" in capsys.readouterr().err


def test_no_output_overwrites_what_standard_input_reads(folder):
    path = folder / "a.npz"
    before = path.read_bytes()
    with path.open("rb") as stream:
        done = run_python(*MATCH, "-", "--save", str(path), stdin=stream, text=False)
    assert (done.returncode, path.read_bytes()) == (2, before)
    assert b"is the file that is read (standard input)" in done.stderr


@pytest.mark.parametrize("option", ["--row-names", "--col-names"])
def test_no_picture_overwrites_the_names(folder, option, capsys):
    names = folder / "names.png"
    call = ["explain", str(folder / "a.npz"), option, str(names), "--plot", str(names)]
    assert main(call) == 2
    assert names.read_text() == "a\nb\nc\nd\n"
    assert "would be overwritten" in capsys.readouterr().err


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [b"what was there", None])
def test_no_half_a_file_is_left(folder, error, existing, capsys, monkeypatch):
    def fail(stream, **_arrays):
        stream.write(b"half")
        raise error

    target = folder / "out.npz"
    if existing is not None:
        target.write_bytes(existing)
    files = sorted(folder.iterdir())
    monkeypatch.setattr(np, "savez_compressed", fail)
    status = main(["match", str(folder / "a.npz"), "--save", str(target)])
    assert status == (130 if isinstance(error, KeyboardInterrupt) else 4)
    assert sorted(folder.iterdir()) == files
    assert existing is None or target.read_bytes() == existing
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
def test_an_output_is_written_through_a_link_and_keeps_its_mode(folder):
    target, link = folder / "target.npz", folder / "link.npz"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert main(["match", str(folder / "a.npz"), "--quiet", "--save", str(link)]) == 0
    assert link.is_symlink()
    assert np.load(target)["row_mate"].tolist() == [3, 2, 1, 0]
    assert target.stat().st_mode & 0o777 == 0o640


def test_several_files_take_a_line_each(folder, capsys):
    files = [str(folder / name) for name in ("a.npz", "absent.npz", "singular.npz")]
    assert main(["rank", *files]) == 3
    captured = capsys.readouterr()
    first, last = captured.out.splitlines()
    assert first.startswith(f"{files[0]}: 4 x 4, 4 entries, structural rank 4 of 4")
    assert "structurally SINGULAR, short by 1" in last
    assert captured.err == f"sparsematch: {files[1]}: there is no such file\n"
    assert main(["rank", "--check", files[0], files[2]]) == 1
    assert main(["rank", files[0], files[2]]) == 0
    capsys.readouterr()
    assert main(["btf", "--json", files[0], files[2]]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["n_blocks"] for line in lines] == [4, 3]
    assert main(["explain", files[0], files[2]]) == 0
    assert "1 conflict over-determined" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_options_for_one_file(folder, option, capsys):
    out = str(folder / ("out.npz" if option == "--save" else "out.png"))
    assert main(["btf", str(folder / "a.npz"), str(folder / "singular.npz"), option, out]) == 2
    assert f"{option} is for one file, but 2 are given" in capsys.readouterr().err
    assert main(["rank", "-", "-"]) == 2


def of_suitesparse(matrix, *others):
    members = [("circuit/circuit.mtx", mtx(matrix))]
    return archive(members + [(name, mtx(np.ones((4, 1)))) for name in others])


@pytest.mark.parametrize(
    "text",
    [mtx, lambda A: gzip.compress(mtx(A)), lambda A: mat({"A": A}), npz, of_suitesparse],
    ids=["mtx", "mtx.gz", "mat", "npz", "tar.gz"],
)
def test_standard_input_is_recognised(text):
    np.testing.assert_array_equal(read_stream(io.BytesIO(text(FULL))).toarray(), FULL.toarray())


@pytest.mark.parametrize(("text", "words"), [(b"", "is empty"), (b"words", "is none of")])
def test_standard_input_that_is_not(text, words):
    with pytest.raises(UnreadableFile, match=f"standard input: {words}"):
        read_stream(io.BytesIO(text))


@pytest.mark.parametrize("end", [b"", b" ", b"\t", b"\r", b" \t \r", b"\n"])
@pytest.mark.parametrize(
    "text", [b"coordinate real general\n1 1 1\n1 1 5", b"array real general\n1 1\n5"]
)
def test_a_file_may_end_within_its_last_line(text, end, tmp_path):
    # SciPy's parser went on beyond blanks there, and the process died
    text, file = b"%%MatrixMarket matrix " + text + end, tmp_path / "a.mtx"
    file.write_bytes(text)
    code = f"from sparsematch.cli import main; main(['rank', {str(file)!r}]); main(['rank', '-'])"
    done = run_python("-c", code, input=text, text=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"1 of 1") == 2


def test_standard_input_and_output(folder):
    done = run_python(*MATCH, "-", "--save", "-", input=mtx(FULL), text=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert np.load(io.BytesIO(done.stdout))["row_mate"].tolist() == [3, 2, 1, 0]
    assert main(["match", str(folder / "a.npz"), "--save", "-", "--json"]) == 2


@pytest.mark.parametrize("others", [(), ("circuit/circuit_b.mtx",), ("circuit/notes.mtx",)])
@pytest.mark.parametrize("name", ["circuit.tar.gz", "circuit.tgz", "renamed.tar.gz"])
def test_archive_of_suitesparse(tmp_path, others, name):
    (tmp_path / name).write_bytes(of_suitesparse(FULL, *others))
    np.testing.assert_array_equal(read_matrix(tmp_path / name).toarray(), FULL.toarray())


def test_matlab_files(tmp_path):
    path = tmp_path / "a.mat"
    for variables, words in (
        ({"B": SINGULAR, "C": SINGULAR}, "holds B, C"),
        ({"words": "text"}, r"holds no matrix \(words\)"),
    ):
        scipy.io.savemat(path, variables)
        with pytest.raises(UnreadableFile, match=words):
            read_matrix(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400))
    with pytest.raises(UnreadableFile, match=r"-v7"):
        read_matrix(path)


def test_a_result_is_no_matrix(tmp_path):
    np.savez(tmp_path / "result.npz", row_mate=np.arange(4))
    with pytest.raises(UnreadableFile, match="what --save writes is the result"):
        read_matrix(tmp_path / "result.npz")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are any bytes")
def test_a_name_that_is_not_utf8(folder):
    name = os.fsencode(folder) + b"/\xff.mtx"
    with open(name, "wb") as file:
        file.write(mtx(FULL))
    done = run_python("-P", "-m", "sparsematch", "rank", name)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are any bytes")
@pytest.mark.parametrize("command", ["btf", "explain"])
@pytest.mark.parametrize("name", [b"\xff.npz", b"a$b^$.npz"])
def test_a_picture_of_a_file_of_any_name(folder, command, name):
    path = os.fsencode(folder) + b"/" + name
    os.rename(folder / "singular.npz", path)
    picture = folder / "picture.svg"
    assert main([command, os.fsdecode(path), "--quiet", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 0


def test_version_says_what_there_is(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"sparsematch {sparsematch.__version__}\n")
    assert all(f"\n  {name} " in out for name in ("numpy", "scipy", "cupy", "workers"))
    assert np.__version__ in out
    assert "at most" in out


@pytest.mark.parametrize("command", ["", "rank", "match", "btf", "explain", "diagnose", "warm-up"])
def test_help_tells_of_exit_status_1_where_it_occurs(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: sparsematch {command}".rstrip())
    assert ("1 singular, with --check" in " ".join(out.split())) is (
        "  --check" in out or not command
    )


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_of_the_shell(shell):
    """As docs/howto/command_line.md says; the parser needs nothing that shtab does not know."""
    shtab = pytest.importorskip("shtab", reason="writes completions: pip install shtab")
    script = shtab.complete(build_parser(), shell)
    assert all(word in script for word in ("explain", "warm-up", "--row-names", "push_relabel"))


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
        (["rank", "a.mtx", "--seed", "-1"], "-1 is not 0 or more"),
        (["rank", "a.mtx", "--save", "b.npz"], "unrecognized arguments: --save"),
        (["diagnose", "a.mtx", "b.mtx"], "usage: sparsematch diagnose [-h]"),
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


@pytest.mark.parametrize("command", ["rank", "match", "btf"])
@pytest.mark.parametrize(
    "name",
    ["missing.mtx", "folder.mtx", "words.mtx", "words.npz", "words.txt", "empty_file.mtx"],
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
    file = str(folder / "a.npz")
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
    assert main(["btf", str(folder / "a.npz"), "--plot", str(tmp_path / "a.png")]) == 4
    assert "python -m pip install matplotlib" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, 130), (MemoryError, 4), (BrokenPipeError, 141)]
)
@pytest.mark.library_independent
def test_interrupted(error, status, folder, capsys, monkeypatch):
    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(sparsematch, "maximum_transversal", fail)
    assert main(["btf", str(folder / "a.npz")]) == status
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
    command = [sys.executable, "-P", "-m", "sparsematch", "btf", str(folder / "a.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        error = child.stderr.read()
        assert child.wait(timeout=120) == 141
    assert error == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_cannot_be_written(folder):
    where = {"capture_output": False, "stderr": subprocess.PIPE}
    with open("/dev/full", "w") as full:
        done = run_module("rank", str(folder / "a.npz"), stdout=full, **where)
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
