"""The fixture of checks over ranks."""

import json
import os
import time

import pytest

from rank_driver import failures


@pytest.fixture(scope="session")
def assert_passes(request, tmp_path_factory):
    """Assert that a check passes; the first one of a module runs all of them that are selected."""
    workers = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # they share what is run
        workers = workers.parent
    params = [getattr(item, "callspec", None) for item in request.session.items]
    selected = [p.params["check"] for p in params if p and "check" in p.params]

    def assert_passes(check):
        folder = workers / f"{check.module}-{check.n_ranks}"
        result = folder.with_suffix(".json")
        try:
            folder.mkdir()
        except FileExistsError:
            while not result.exists():
                time.sleep(0.05)
        else:
            names = [other.name for other in selected if other[:2] == check[:2]]
            failed = failures(*check[:2], names, folder)
            (folder / "failed").write_text(json.dumps(failed))
            (folder / "failed").rename(result)
        failed = json.loads(result.read_text())
        assert check.name not in failed, failed[check.name]

    return assert_passes
