"""One run at a time owns a folder; what earlier ones left behind is over before it begins."""

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import h5py
import psutil
import pytest

from lssc.errors import InputError
from lssc.pipeline.snakemake import folders as runs
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.store.files import seal_of, write_text
from lssc.pipeline.store.locks import FOLDERS, RUN, Owner, enter_owner, lock, owner_of

# Another process that owns folders until it is killed.
RUNNING = """
import sys, time
from pathlib import Path
from lssc.pipeline.snakemake.folders import claimed
with claimed([Path(sys.argv[1])], remote=False, tell=print) as run:
    print(run, flush=True)
    time.sleep(600)
"""
# A job that takes its time between the first byte and the last.
WRITING = """
import sys, time
from pathlib import Path
from lssc.pipeline.store.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("by an earlier run")
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """What `claimed` sets for jobs goes away with the test."""
    monkeypatch.setenv(RUN, "")
    monkeypatch.setenv(FOLDERS, "")


@pytest.fixture
def start():
    started = []

    def begin(code, *args, **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, args)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield begin
    for process in started:
        process.kill()
        process.wait()


def claim(*folders, remote=False):
    told = []
    with runs.claimed(folders, remote=remote, tell=told.append) as run:
        return run, told


def test_a_second_run_is_refused_with_one_line_that_names_the_first(tmp_path, start):
    first, _ = start(RUNNING, tmp_path)
    with pytest.raises(InputError, match=rf"^{tmp_path}: another run is under way there, process {first.pid} on ") as e:
        claim(tmp_path)
    assert "\n" not in str(e.value)
    assert first.poll() is None


def test_a_folder_that_both_need_is_enough_to_refuse(tmp_path, start):
    start(RUNNING, tmp_path / "data")
    with pytest.raises(InputError, match="data: another run"):
        claim(tmp_path / "results", tmp_path / "data")
    claim(tmp_path / "results")


def test_a_killed_run_leaves_no_lock(tmp_path, start):
    first, old = start(RUNNING, tmp_path)
    first.kill()
    first.wait()
    run, told = claim(tmp_path)
    assert (run != old, told) == (True, [])
    assert owner_of(tmp_path).id == run


def test_jobs_of_a_killed_run_are_ended_before_the_next_begins(tmp_path, start):
    first, old = start(RUNNING, tmp_path)
    job, said = start(WRITING, tmp_path / "x", **{RUN: old, FOLDERS: str(tmp_path)})
    assert said == "begun"
    first.kill()
    first.wait()
    _, told = claim(tmp_path)
    job.wait(timeout=10)  # it would sleep on for minutes
    assert len(told) == 1
    assert told[0].startswith("ended 1 processes that the run of ")
    assert not (tmp_path / "x").exists()


def test_jobs_that_cannot_be_ended_are_waited_for(tmp_path):
    claim(tmp_path)
    # As if held by a job on another machine.
    held = lock(tmp_path / ".jobs", fcntl.LOCK_SH)
    code = "from lssc.pipeline.snakemake.folders import claimed; from pathlib import Path; import sys\n"
    code += "with claimed([Path(sys.argv[1])], remote=False, tell=lambda line: print(line, flush=True)): print('mine')"
    waiting = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert waiting.stdout.readline().strip() == f"{tmp_path}: waiting for jobs that an earlier run left behind"
    time.sleep(0.5)
    assert waiting.poll() is None
    os.close(held)
    assert waiting.communicate(timeout=10)[0].strip() == "mine"


def test_jobs_that_start_while_others_are_waited_for_are_shut_out(tmp_path, monkeypatch):
    old, _ = claim(tmp_path)
    held = lock(tmp_path / ".jobs", fcntl.LOCK_SH)

    def late(line):
        assert "waiting for jobs" in line
        monkeypatch.setenv(RUN, old)
        monkeypatch.setenv(FOLDERS, str(tmp_path))
        with pytest.raises(InputError, match="belongs to a later run"):
            write_text(tmp_path / "x", "late")
        os.close(held)

    with runs.claimed([tmp_path], remote=False, tell=late):
        pass


def test_a_dead_process_that_nobody_takes_note_of_is_not_waited_for(tmp_path, start):
    old, _ = claim(tmp_path)
    # A child of this process, which does not ask for it before the end of the test.
    job, _ = start(WRITING, tmp_path / "x", **{RUN: old, FOLDERS: str(tmp_path)})
    begun = time.monotonic()
    claim(tmp_path)
    assert time.monotonic() - begun < 10
    assert psutil.Process(job.pid).status() == psutil.STATUS_ZOMBIE


def test_what_killed_jobs_left_half_written_goes_when_a_run_begins(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.codes.h5.123.tmp").write_text("half")
    (tmp_path / "a/notes.tmp").write_text("somebody's")
    claim(tmp_path)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["notes.tmp"]


def test_a_job_that_starts_after_its_run_is_over_writes_nothing(tmp_path, monkeypatch):
    old, _ = claim(tmp_path)
    claim(tmp_path)
    monkeypatch.setenv(RUN, old)
    with pytest.raises(InputError, match="belongs to a later run"):
        write_text(tmp_path / "x", "late")
    assert not (tmp_path / "x").exists()


def test_a_job_of_the_run_writes(tmp_path):
    claim(tmp_path)
    write_text(tmp_path / "x", "in time")
    assert (tmp_path / "x").read_text() == "in time"


def test_what_is_run_by_hand_writes(tmp_path, monkeypatch):
    claim(tmp_path)
    for name in (RUN, FOLDERS):
        monkeypatch.delenv(name)
    write_text(tmp_path / "x", "by hand")
    assert (tmp_path / "x").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3}', "\x00" * 400])
def test_an_illegible_name_of_the_last_owner_is_no_obstacle(tmp_path, text):
    (tmp_path / ".run").write_text(text)
    run, _ = claim(tmp_path)
    assert owner_of(tmp_path).id == run


@pytest.fixture(params=[errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def no_locks(request, monkeypatch):
    def refuse(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("no_locks")
def test_where_there_are_no_locks_a_living_run_of_this_machine_is_seen_and_another_machine_told_of(tmp_path, start):
    first, _ = start(RUNNING, tmp_path)
    with pytest.raises(InputError, match=rf"^{tmp_path}: another run is under way there, process {first.pid} on "):
        claim(tmp_path)
    assert first.poll() is None
    first.kill()
    first.wait()
    assert claim(tmp_path)[1] == []
    enter_owner(tmp_path, Owner(**OWNER | {"host": "elsewhere", "remote": False}))
    told = "its file system knows no locks; no run may be under way there on elsewhere"
    assert claim(tmp_path)[1] == [f"{tmp_path}: {told}"]


def test_a_number_that_another_process_has_got_since_is_no_run(tmp_path, monkeypatch, start):
    monkeypatch.setattr(fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, "")))
    claim(tmp_path)
    other, _ = start("print(flush=True); import time; time.sleep(600)")
    enter_owner(tmp_path, Owner(**OWNER | {"host": socket.gethostname(), "pid": other.pid, "remote": False}))
    claim(tmp_path)
    assert other.poll() is None


@pytest.mark.usefixtures("no_locks")
def test_where_there_are_no_locks_the_name_alone_shuts_earlier_jobs_out(tmp_path, monkeypatch):
    old, _ = claim(tmp_path)
    claim(tmp_path)
    monkeypatch.setenv(RUN, old)
    with pytest.raises(InputError, match="belongs to a later run"):
        write_text(tmp_path / "x", "late")


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch):
    """squeue and scancel that remember jobs in a file: the real ones are met by tests/slurm."""
    queue = tmp_path / "queue"
    queue.write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in {"squeue": f"cat {queue}", "scancel": f'for i; do sed -i "/^$i /d" {queue}; done'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return queue


def test_queued_jobs_of_the_earlier_run_are_cancelled_and_no_others(tmp_path, fake_slurm):
    folder = tmp_path / "results"
    old, _ = claim(folder, remote=True)
    fake_slurm.write_text(f"11 RUNNING lssc-{old}_abc\n12 PENDING lssc-{old}_abc\n13 RUNNING somebody else\n")
    _, told = claim(folder)
    assert fake_slurm.read_text() == "13 RUNNING somebody else\n"
    assert told[0].startswith("ended 2 jobs on the cluster that the run of ")


def test_a_run_that_ends_leaves_no_jobs_in_the_queue(tmp_path, fake_slurm):
    with runs.claimed([tmp_path / "results"], remote=True, tell=print) as run:
        fake_slurm.write_text(f"11 RUNNING lssc-{run}_abc\n13 RUNNING somebody else\n")
    assert fake_slurm.read_text() == "13 RUNNING somebody else\n"


def test_jobs_that_do_not_end_are_told(tmp_path, fake_slurm, monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE", 0.5)
    old, _ = claim(tmp_path / "results", remote=True)
    fake_slurm.write_text(f"11 RUNNING lssc-{old}_abc\n")
    (tmp_path / "bin/scancel").write_text("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(InputError, match=r"^jobs 11 of an earlier run do not end"):
        claim(tmp_path / "results")


def test_a_queue_that_does_not_answer_stops_the_run(tmp_path, fake_slurm):
    claim(tmp_path / "results", remote=True)
    (tmp_path / "bin/squeue").write_text("#!/bin/sh\necho unable to contact slurm controller >&2; exit 1\n")
    with pytest.raises(InputError, match=r"^squeue: unable to contact slurm controller; jobs of an earlier") as e:
        claim(tmp_path / "results")
    assert str(e.value).endswith(f"Once they are over: rm {tmp_path}/results/.run")
    (tmp_path / "results/.run").unlink()
    claim(tmp_path / "results")


def artifact(path: Path) -> Path:
    import numpy as np

    with writing(path) as writer:
        writer.add(0, Record({"x": np.arange(1000.0)}))
    return path


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def age(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"lssc artifact 1", b"lssc artifact 0", 1))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_in_its_first_line(path: Path) -> None:
    os.truncate(path, 3)


def flip_in_its_first_line(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in (0, 4, 13):
        content[place] ^= 0xFF
    path.write_bytes(content)


def lose_its_first_block(path: Path) -> None:
    path.write_bytes(bytes(4096) + path.read_bytes()[4096:])


@pytest.mark.parametrize(
    "harm", [flip, cut, empty, age, cut_in_its_first_line, flip_in_its_first_line, lose_its_first_block]
)
def test_a_damaged_artifact_is_set_aside_when_a_run_begins(tmp_path, harm):
    path, other = artifact(tmp_path / "a/x.h5"), artifact(tmp_path / "a/y.h5")
    harm(path)
    _, told = claim(tmp_path)
    assert [line.split(":")[0] for line in told] == [str(path)]
    assert not path.exists()
    assert path.with_name("x.h5.damaged").exists()
    assert other.exists()


@pytest.mark.parametrize("harm", [flip, cut, empty])
def test_a_damaged_table_is_set_aside_when_a_run_begins(tmp_path, harm):
    write_text(tmp_path / "scores.csv", "a,b\n" + "1,2\n" * 100)
    write_text(tmp_path / "other.csv", "a,b\n")
    harm(tmp_path / "scores.csv")
    _, told = claim(tmp_path)
    assert len(told) == 1
    assert (tmp_path / "scores.csv.damaged").exists()
    assert not (tmp_path / "scores.csv").exists()
    assert (tmp_path / "other.csv").exists()


def test_files_of_others_are_left_alone(tmp_path):
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        file["x"] = [1]
    with h5py.File(tmp_path / "with_room.h5", "w", userblock_size=512) as file:
        file["x"] = [1]
    with (tmp_path / "with_room.h5").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    (tmp_path / "no_hdf5.h5").write_text("lists of all I know about landmarks")
    (tmp_path / "theirs.iso").write_text("theirs")
    (tmp_path / "theirs.iso.sha256").write_text("SHA256 (theirs.iso) = 0123")
    (tmp_path / ".theirs.iso.sha256").write_bytes(b"\xff 1 2")
    os.mkfifo(tmp_path / "pipe.h5")
    (tmp_path / "nowhere.h5").symlink_to("nothing")
    before = sorted(tmp_path.iterdir())
    assert claim(tmp_path)[1] == []
    assert set(before) <= set(tmp_path.iterdir())


def test_what_a_link_leads_to_is_left_alone(tmp_path):
    elsewhere = artifact(tmp_path / "elsewhere/x.h5")
    flip(elsewhere)
    before = elsewhere.read_bytes()
    (tmp_path / "results").mkdir()
    (tmp_path / "results/x.h5").symlink_to(elsewhere)
    assert claim(tmp_path / "results")[1] == []
    assert (tmp_path / "results/x.h5").read_bytes() == before


OWNER = {"id": "0123456789ab", "host": "here", "pid": 1, "since": "2026-01-01 00:00:00", "remote": True}


@pytest.mark.parametrize(
    "change",
    [
        {"id": None},
        {"id": ""},
        {"id": 1},
        {"id": ["0123456789ab"]},
        {"id": "0"},
        {"host": "\x1b[31m"},
        {"pid": [1]},
        {"more": 1},
    ],
)
def test_a_run_of_no_id_of_ours_is_none(tmp_path, change):
    """By the id None every process of the user would belong to the run, and would be ended; by "" every job."""
    (tmp_path / ".run").write_text(json.dumps(OWNER))
    assert owner_of(tmp_path) is not None
    (tmp_path / ".run").write_text(json.dumps(OWNER | change))
    assert owner_of(tmp_path) is None


def test_what_was_only_touched_or_copied_is_kept(tmp_path, monkeypatch):
    path = artifact(tmp_path / "x.h5")
    write_text(tmp_path / "scores.csv", "a,b\n")
    os.utime(path)
    os.utime(tmp_path / "scores.csv")
    times = path.stat().st_mtime_ns, (tmp_path / "scores.csv").stat().st_mtime_ns
    assert claim(tmp_path)[1] == []
    assert times == (path.stat().st_mtime_ns, (tmp_path / "scores.csv").stat().st_mtime_ns)
    with reading(path) as file:
        assert file.trials == [0]
    # From now on that is their time.
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read though untouched"))
    claim(tmp_path)


def test_what_still_has_its_time_is_not_read_again(tmp_path, monkeypatch):
    artifact(tmp_path / "x.h5")
    write_text(tmp_path / "scores.csv", "a,b\n")
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read though untouched"))
    claim(tmp_path)


def test_a_file_whose_seal_is_missing_or_that_is_missing_itself_is_no_damage(tmp_path):
    write_text(tmp_path / "a.csv", "a\n")
    write_text(tmp_path / "b.csv", "b\n")
    seal_of(tmp_path / "a.csv").unlink()
    (tmp_path / "b.csv").unlink()
    assert claim(tmp_path)[1] == []


def test_the_folder_of_another_run_inside_is_left_alone(tmp_path):
    claim(tmp_path / "demo")
    path = artifact(tmp_path / "demo/x.h5")
    cut(path)
    assert claim(tmp_path)[1] == []
    assert path.exists()
