"""Recipes of the Makefile, with a stand-in for Python: whatever files are called, no shell runs their names."""

import os
import shutil
import subprocess
import sys

import pytest
from tests.conftest import REPO

HOSTILE = """it's a "b" $(touch pwned) `touch pwned` {n} #é;&"""
# Make itself would fill in what stands behind a $.
GIVEN = """it's a "b" `touch pwned` {n} é;&"""
NOTED = f"""#!{sys.executable}
import os, sys
with open(os.environ["NOTED"], "a") as file:
    file.write("\\0".join(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def make(tmp_path):
    """Runs make in a checkout of a hostile name; the arguments that Python was called with, one list a call."""
    folder = tmp_path / HOSTILE
    for name in ("envs/requirements.lock", "pyproject.toml", ".venv/bin/python", ".venv/.ready", ".venv/.compiled"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(NOTED)
    (folder / ".venv/bin/python").chmod(0o755)
    shutil.copy(REPO / "Makefile", folder)

    def run(*command):
        environment = {**os.environ, "NOTED": str(tmp_path / "noted")}
        done = subprocess.run(["make", *command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert list(tmp_path.rglob("pwned")) == []
        return [line.split("\0") for line in (tmp_path / "noted").read_text().splitlines()]

    return run


def test_a_results_folder_is_one_argument_whatever_its_name(make):
    out = f"{GIVEN}/lssc-archive.tar.gz"
    assert make("archive", f"RESULTS={GIVEN}") == [
        ["-m", "lssc.report.archive", "pack", "--results", GIVEN, "--out", out]
    ]


def test_an_archive_to_repeat_is_unpacked_by_what_verifies_it(make, tmp_path):
    source = tmp_path / HOSTILE / "results/repeat/lssc-archive/source"
    source.mkdir(parents=True)
    (source / "Makefile").write_text("repeat:\n\t@touch repeated\n")
    unpack = ["-m", "lssc.report.archive", "unpack", GIVEN, "results/repeat/lssc-archive"]
    assert make("repeat", f"ARCHIVE={GIVEN}") == [unpack]
    assert (source / "repeated").exists()


def test_other_variables_are_one_argument_each(make):
    assert make("paper", f"CORES={GIVEN}") == [["-m", "snakemake", "--cores", GIVEN]]
    assert make("bench", f"MNIST={GIVEN}")[1:] == [["benchmarks/run.py", "--mnist", GIVEN]]


def test_python_may_lie_in_a_folder_with_spaces(make, tmp_path):
    (tmp_path / HOSTILE / ".venv/.ready").unlink()
    python = tmp_path / GIVEN / "python3.11"
    python.parent.mkdir()
    shutil.copy(tmp_path / HOSTILE / ".venv/bin/python", python)
    calls = make(".venv/.ready", f"PYTHON={python}")
    assert [call[1] for call in calls[1:]] == ["venv", "pip", "pip"]


def test_help_says_that_a_repeat_runs_the_code_of_the_archive():
    said = subprocess.run(["make", "-C", REPO, "help"], capture_output=True, text=True, check=True).stdout
    assert "this runs the code in the archive" in said
