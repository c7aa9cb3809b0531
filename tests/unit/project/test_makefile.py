"""Makefile recipes pass names with special characters as single arguments; Python is replaced by a recorder."""

import os
import shutil
import subprocess
import sys

import pytest
from tests.conftest import REPO

HOSTILE = """it's a "b" $(touch pwned) `touch pwned` {n} #é;&"""
# Without $, which make itself would expand.
ARGUMENT = """it's a "b" `touch pwned` {n} é;&"""
RECORDER = f"""#!{sys.executable}
import os, sys
with open(os.environ["RECORD"], "a") as file:
    file.write("\\0".join(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def make(tmp_path):
    """Runs make in a folder with a hostile name; returns the arguments of each call of Python."""
    folder = tmp_path / HOSTILE
    for name in ("envs/requirements.lock", "pyproject.toml", ".venv/bin/python", ".venv/.ready", ".venv/.compiled"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(RECORDER)
    (folder / ".venv/bin/python").chmod(0o755)
    shutil.copy(REPO / "Makefile", folder)

    def run(*command):
        environment = {**os.environ, "RECORD": str(tmp_path / "calls")}
        done = subprocess.run(["make", *command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert list(tmp_path.rglob("pwned")) == []
        return [line.split("\0") for line in (tmp_path / "calls").read_text().splitlines()]

    return run


def test_results_folder_is_one_argument(make):
    out = f"{ARGUMENT}/lssc-archive.tar.gz"
    assert make("archive", f"RESULTS={ARGUMENT}") == [
        ["-m", "lssc.report.archive", "pack", "--results", ARGUMENT, "--out", out]
    ]


def test_repeat_unpacks_the_archive_and_calls_its_makefile(make, tmp_path):
    source = tmp_path / HOSTILE / "results/repeat/lssc-archive/source"
    source.mkdir(parents=True)
    (source / "Makefile").write_text("repeat:\n\t@touch repeated\n")
    unpack = ["-m", "lssc.report.archive", "unpack", ARGUMENT, "results/repeat/lssc-archive"]
    assert make("repeat", f"ARCHIVE={ARGUMENT}") == [unpack]
    assert (source / "repeated").exists()


def test_other_variables_are_one_argument_each(make):
    assert make("paper", f"CORES={ARGUMENT}") == [["-m", "snakemake", "--cores", ARGUMENT]]
    assert make("bench", f"MNIST={ARGUMENT}")[1:] == [["benchmarks/run.py", "--mnist", ARGUMENT]]


def test_python_may_be_in_a_folder_with_spaces(make, tmp_path):
    (tmp_path / HOSTILE / ".venv/.ready").unlink()
    python = tmp_path / ARGUMENT / "python3.11"
    python.parent.mkdir()
    shutil.copy(tmp_path / HOSTILE / ".venv/bin/python", python)
    calls = make(".venv/.ready", f"PYTHON={python}")
    assert [call[1] for call in calls[1:]] == ["venv", "pip", "pip"]


def test_help_warns_that_repeat_runs_code_from_the_archive():
    said = subprocess.run(["make", "-C", REPO, "help"], capture_output=True, text=True, check=True).stdout
    assert "this runs the code in the archive" in said
