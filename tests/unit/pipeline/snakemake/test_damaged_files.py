"""A run that starts moves damaged files aside, and leaves all others alone."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from lssc.pipeline.snakemake.folders import set_damaged_aside
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.store.files import seal_of, write_text


def check(folder: Path) -> list[str]:
    """The warnings about a folder."""
    warnings = []
    set_damaged_aside(folder, warnings.append)
    return warnings


def artifact(path: Path) -> Path:
    with writing(path) as writer:
        writer.add(0, Record({"x": np.arange(1000.0)}))
    return path


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def age(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"lssc artifact 1", b"lssc artifact 0", 1))


def cut_first_line(path: Path) -> None:
    os.truncate(path, 3)


def flip_first_line(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in (0, 4, 13):
        content[place] ^= 0xFF
    path.write_bytes(content)


def lose_first_block(path: Path) -> None:
    path.write_bytes(bytes(4096) + path.read_bytes()[4096:])


@pytest.mark.parametrize("damage", [flip, cut, empty, age, cut_first_line, flip_first_line, lose_first_block])
def test_moves_a_damaged_artifact_aside(tmp_path, damage):
    path, other = artifact(tmp_path / "a/x.h5"), artifact(tmp_path / "a/y.h5")
    damage(path)
    assert [line.split(":")[0] for line in check(tmp_path)] == [str(path)]
    assert not path.exists()
    assert path.with_name("x.h5.damaged").exists()
    assert other.exists()


@pytest.mark.parametrize("damage", [flip, cut, empty])
def test_moves_a_damaged_table_aside(tmp_path, damage):
    write_text(tmp_path / "scores.csv", "a,b\n" + "1,2\n" * 100)
    write_text(tmp_path / "other.csv", "a,b\n")
    damage(tmp_path / "scores.csv")
    assert len(check(tmp_path)) == 1
    assert (tmp_path / "scores.csv.damaged").exists()
    assert not (tmp_path / "scores.csv").exists()
    assert (tmp_path / "other.csv").exists()


def test_deletes_half_written_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.codes.h5.123.tmp").write_text("half")
    (tmp_path / "a/notes.tmp").write_text("somebody's")
    check(tmp_path)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["notes.tmp"]


def test_leaves_files_of_others_alone(tmp_path):
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        file["x"] = [1]
    with h5py.File(tmp_path / "with_user_block.h5", "w", userblock_size=512) as file:
        file["x"] = [1]
    with (tmp_path / "with_user_block.h5").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    (tmp_path / "no_hdf5.h5").write_text("lists of all I know about landmarks")
    (tmp_path / "theirs.iso").write_text("theirs")
    (tmp_path / "theirs.iso.sha256").write_text("SHA256 (theirs.iso) = 0123")
    (tmp_path / ".theirs.iso.sha256").write_bytes(b"\xff 1 2")
    os.mkfifo(tmp_path / "pipe.h5")
    (tmp_path / "nowhere.h5").symlink_to("nothing")
    before = sorted(tmp_path.iterdir())
    assert check(tmp_path) == []
    assert sorted(tmp_path.iterdir()) == before


def test_does_not_follow_links(tmp_path):
    elsewhere = artifact(tmp_path / "elsewhere/x.h5")
    flip(elsewhere)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/x.h5").symlink_to(elsewhere)
    assert check(tmp_path / "results") == []
    assert elsewhere.exists()


def test_leaves_the_folder_of_another_run_alone(tmp_path):
    path = artifact(tmp_path / "demo/x.h5")
    (tmp_path / "demo/.run").touch()
    cut(path)
    assert check(tmp_path) == []
    assert path.exists()


def test_missing_seal_or_file_is_not_damaged(tmp_path):
    write_text(tmp_path / "a.csv", "a\n")
    write_text(tmp_path / "b.csv", "b\n")
    seal_of(tmp_path / "a.csv").unlink()
    (tmp_path / "b.csv").unlink()
    assert check(tmp_path) == []


def test_keeps_touched_files_and_reads_no_file_twice(tmp_path, monkeypatch):
    files = [artifact(tmp_path / "x.h5"), tmp_path / "scores.csv"]
    write_text(files[1], "a,b\n")
    for path in files:
        os.utime(path)
    times = [path.stat().st_mtime_ns for path in files]
    assert check(tmp_path) == []
    assert times == [path.stat().st_mtime_ns for path in files]
    with reading(files[0]) as file:
        assert file.trials == [0]
    # The check has noted the new times.
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read though untouched"))
    check(tmp_path)


def test_does_not_read_files_that_have_their_time(tmp_path, monkeypatch):
    artifact(tmp_path / "x.h5")
    write_text(tmp_path / "scores.csv", "a,b\n")
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read though untouched"))
    check(tmp_path)
