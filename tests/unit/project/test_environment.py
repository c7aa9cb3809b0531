"""pyproject.toml, the lock and the conda environment agree on versions."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import tomllib
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lssc

REPO = Path(__file__).parents[3]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
LOCK = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (REPO / "envs/requirements.lock").read_text(), re.MULTILINE))
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((REPO / "envs/environment.yaml").read_text())["dependencies"]


def conda_versions():
    pip = next(entry["pip"] for entry in CONDA if isinstance(entry, dict))
    entries = [entry for entry in CONDA if isinstance(entry, str) and "=" in entry] + pip
    return {canonicalize_name(name): version for name, version in (re.split("=+", entry) for entry in entries)}


@pytest.mark.parametrize("entry", sum(EXTRAS.values(), start=PROJECT["dependencies"]))
def test_lock_satisfies_every_requirement(entry):
    requirement = Requirement(entry)
    assert LOCK[canonicalize_name(requirement.name)] in requirement.specifier


@pytest.mark.parametrize("entry", PROJECT["dependencies"])
def test_library_sets_no_upper_bound(entry):
    assert {part.operator for part in Requirement(entry).specifier} == {">="}


def test_conda_environment_has_the_locked_versions():
    conda = conda_versions()
    assert conda.pop("python") == "3.11"
    assert conda == {name: LOCK[name] for name in conda}
    runtime = sum((EXTRAS[extra] for extra in ("pipeline", "images", "peers")), start=PROJECT["dependencies"])
    # Pygments belongs to snakemake[reports]: conda has no extras.
    assert set(conda) == {canonicalize_name(Requirement(entry).name) for entry in runtime} | {"pygments"}


def test_lock_has_hashes_and_no_address():
    text = (REPO / "envs/requirements.lock").read_text()
    assert text.count("--hash=sha256:") > len(LOCK)
    assert not re.search(r"https?://|file://|--index|--find-links", text)


def test_version_comes_from_the_package():
    assert "version" in PROJECT["dynamic"]
    assert version("lssc") == lssc.__version__
    assert f"version: {lssc.__version__}" in (REPO / "CITATION.cff").read_text()
