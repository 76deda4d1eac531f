"""What is written twice about the package, and is the same: versions, bounds, links, tests."""

import configparser
import re
import tomllib
from pathlib import Path

import pytest

import sparsematch

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / ".ci").is_dir():
    pytest.skip("needs a clone: an sdist has no .ci and no recipe", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
# What tests are run with, in any version; the others are what users combine with the package.
TOOLS = {"pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "nvidia-cuda-nvrtc", "mpich"}
TOOLS |= {"lizard"}


def bounds(requirements):
    """The lower bound of each, by name."""
    return dict(re.match(r"([a-z0-9-]+)>=([0-9.]+)", text).groups() for text in requirements)


def required(*extras):
    texts = PROJECT["project"]["dependencies"] + [t for extra in extras for t in EXTRAS[extra]]
    return bounds(texts)


def test_the_oldest_versions_are_tested():
    """`tox -e oldest` pins each library to its lower bound."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    lines = tox["testenv:oldest"]["deps"].splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    libraries = {name: v for name, v in required("plot", "test").items() if name not in TOOLS}
    assert pinned == {name: f"{version}.*" for name, version in libraries.items()}


def test_one_package_has_one_bound():
    bound = required(*(extra for extra in EXTRAS if extra != "dev"))
    for requirements in [*EXTRAS.values(), *PROJECT["dependency-groups"].values()]:
        for text in requirements:
            if match := re.match(r"([a-z0-9-]+)>=([0-9.]+)", text):
                assert bound.get(match[1], match[2]) == match[2]


def readme_of_an_index():
    """The README after the substitutions that pyproject.toml has for it."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "".join((ROOT / part["path"]).read_text(encoding="utf-8") for part in hook["fragments"])
    for substitution in hook["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    return text


def test_links_of_the_readme_lead_to_files_of_this_version():
    source = PROJECT["project"]["urls"]["Source"]
    links = re.findall(r"\]\(([^)\s]*)", readme_of_an_index())
    assert [link for link in links if not re.match(r"https://|#", link)] == []
    ours = [link for link in links if link.startswith(f"{source}/blob/")]
    assert len(ours) > 10
    for link in ours:
        path = link.removeprefix(f"{source}/blob/v$HFPR_VERSION/").partition("#")[0]
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("recipe/recipe.yaml", r'version: "(.*)"'), ("CITATION.cff", r"(?m)^version: (.*)$")],
)
def test_the_version_is_written_alike(path, pattern):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(pattern, text)[1] == sparsematch.__version__


def test_the_recipe_requires_what_the_package_does():
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    wanted = required() | bounds(PROJECT["build-system"]["requires"])
    found = dict(re.findall(r"- ([a-z0-9-]+) >=([0-9.]+)", text))
    assert {name: found.get(name) for name in wanted} == wanted
    listed = PROJECT["dependency-groups"]["wheel"]
    assert {name: found.get(name) for name in bounds(listed)} == bounds(listed)


def test_wheels_are_tested_with_all_that_tests_import():
    """Where only these folders of the source are: by cibuildwheel, and for conda-forge."""
    wanted = {path.split("/")[0] for path in PROJECT["tool"]["pytest"]["ini_options"]["pythonpath"]}
    assert wanted | {"pyproject.toml"} == set(PROJECT["tool"]["cibuildwheel"]["test-sources"])
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    assert all(re.search(rf"^ +- {name}/$", text, re.MULTILINE) for name in wanted)
