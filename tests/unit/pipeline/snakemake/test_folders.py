"""One run at a time owns a folder, and jobs of earlier runs have ended before it starts."""

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
import time

import psutil
import pytest

from lssc.errors import InputError
from lssc.pipeline.snakemake import folders
from lssc.pipeline.store.files import write_text
from lssc.pipeline.store.locks import FOLDERS_VARIABLE, RUN_VARIABLE, Owner, lock, read_owner, write_owner

# A process that owns a folder for as many seconds as its second argument says.
RUN = """
import sys, time
from pathlib import Path
from lssc.pipeline.snakemake.folders import claim_folders
with claim_folders([Path(sys.argv[1])], remote=False, warn=lambda line: print(line, flush=True)) as run:
    print(run, flush=True)
    time.sleep(int(sys.argv[2]))
"""
# A job that takes its time between the first byte and the last.
JOB = """
import sys, time
from pathlib import Path
from lssc.pipeline.store.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("by an earlier run")
    print("begun", flush=True)
    time.sleep(600)
"""
OWNER = {"id": "0123456789ab", "host": "here", "pid": 1, "since": "2026-01-01 00:00:00", "remote": True}


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """Undoes what `claim_folders` sets for jobs."""
    monkeypatch.setenv(RUN_VARIABLE, "")
    monkeypatch.setenv(FOLDERS_VARIABLE, "")


@pytest.fixture
def start():
    """Starts a Python process; returns it and the first line that it prints."""
    started = []

    def begin(code, *args, **environment):
        command = [sys.executable, "-c", code, *map(str, args)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        started.append(process)
        return process, process.stdout.readline().strip()

    yield begin
    for process in started:
        process.kill()
        process.wait()


def claim(*paths, remote=False):
    """The id of a run that ends at once, and its warnings."""
    warnings = []
    with folders.claim_folders(paths, remote=remote, warn=warnings.append) as run:
        return run, warnings


def kill(process):
    process.kill()
    process.wait()


def test_refuses_a_second_run_and_names_the_first(tmp_path, start):
    first, _ = start(RUN, tmp_path, 600)
    with pytest.raises(InputError, match=rf"^{tmp_path}: another run is under way there, process {first.pid} on ") as e:
        claim(tmp_path)
    assert "\n" not in str(e.value)
    assert first.poll() is None


def test_one_shared_folder_is_enough_to_refuse(tmp_path, start):
    start(RUN, tmp_path / "data", 600)
    with pytest.raises(InputError, match="data: another run"):
        claim(tmp_path / "results", tmp_path / "data")
    claim(tmp_path / "results")


def test_a_killed_run_leaves_no_lock(tmp_path, start):
    first, old = start(RUN, tmp_path, 600)
    kill(first)
    run, warnings = claim(tmp_path)
    assert (run != old, warnings) == (True, [])
    assert read_owner(tmp_path).id == run


def test_ends_jobs_of_a_killed_run(tmp_path, start):
    first, old = start(RUN, tmp_path, 600)
    job, line = start(JOB, tmp_path / "x", **{RUN_VARIABLE: old, FOLDERS_VARIABLE: str(tmp_path)})
    assert line == "begun"
    kill(first)
    _, warnings = claim(tmp_path)
    # Nobody has waited for the job yet: it is a zombie, which must not hold up the run.
    assert psutil.Process(job.pid).status() == psutil.STATUS_ZOMBIE
    assert len(warnings) == 1
    assert warnings[0].startswith("ended 1 processes that the run of ")
    assert not (tmp_path / "x").exists()


def test_waits_for_jobs_on_other_machines(tmp_path, start):
    claim(tmp_path)
    held = lock(tmp_path / ".jobs", fcntl.LOCK_SH)
    waiting, line = start(RUN, tmp_path, 0)
    assert line == f"{tmp_path}: waiting for jobs that an earlier run left behind"
    time.sleep(0.5)
    assert waiting.poll() is None
    os.close(held)
    waiting.wait(timeout=10)
    assert read_owner(tmp_path).id == waiting.stdout.readline().strip()


def test_refuses_jobs_that_start_while_a_run_waits(tmp_path, monkeypatch):
    old, _ = claim(tmp_path)
    held = lock(tmp_path / ".jobs", fcntl.LOCK_SH)

    def start_late_job(line):
        assert "waiting for jobs" in line
        monkeypatch.setenv(RUN_VARIABLE, old)
        monkeypatch.setenv(FOLDERS_VARIABLE, str(tmp_path))
        with pytest.raises(InputError, match="belongs to a later run"):
            write_text(tmp_path / "x", "late")
        os.close(held)

    with folders.claim_folders([tmp_path], remote=False, warn=start_late_job):
        pass


def test_refuses_a_job_of_an_earlier_run(tmp_path, monkeypatch):
    old, _ = claim(tmp_path)
    claim(tmp_path)
    monkeypatch.setenv(RUN_VARIABLE, old)
    for _ in range(2):
        with pytest.raises(InputError, match="belongs to a later run"):
            write_text(tmp_path / "x", "late")
        assert not (tmp_path / "x").exists()
        # Without a legible owner, too.
        (tmp_path / ".run").write_text("")


def test_jobs_of_the_run_and_programs_without_a_run_may_write(tmp_path, monkeypatch):
    claim(tmp_path)
    write_text(tmp_path / "x", "by a job")
    for name in (RUN_VARIABLE, FOLDERS_VARIABLE):
        monkeypatch.delenv(name)
    write_text(tmp_path / "y", "by hand")
    assert {path.name for path in tmp_path.iterdir()} > {"x", "y"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3}', "\x00" * 400])
def test_an_illegible_owner_is_no_obstacle(tmp_path, text):
    (tmp_path / ".run").write_text(text)
    run, _ = claim(tmp_path)
    assert read_owner(tmp_path).id == run


@pytest.mark.parametrize(
    "change",
    [
        *({"id": id} for id in (None, "", 1, ["0123456789ab"], "0")),
        *({"host": "\x1b[31m"}, {"pid": [1]}, {"more": 1}),
    ],
)
def test_an_invalid_owner_is_none(tmp_path, change):
    """With the id None every process of the user would be killed, with "" every job cancelled."""
    (tmp_path / ".run").write_text(json.dumps(OWNER))
    assert read_owner(tmp_path) is not None
    (tmp_path / ".run").write_text(json.dumps(OWNER | change))
    assert read_owner(tmp_path) is None


@pytest.fixture(params=[errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def no_locks(request, monkeypatch):
    """A file system without locks."""

    def refuse(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_a_live_run_is_refused_and_another_machine_reported(tmp_path, start):
    first, _ = start(RUN, tmp_path, 600)
    with pytest.raises(InputError, match=rf"^{tmp_path}: another run is under way there, process {first.pid} on "):
        claim(tmp_path)
    kill(first)
    assert claim(tmp_path)[1] == []
    write_owner(tmp_path, Owner(**OWNER | {"host": "elsewhere", "remote": False}))
    message = "its file system has no locks; make sure that no run is under way there on elsewhere"
    assert claim(tmp_path)[1] == [f"{tmp_path}: {message}"]


@pytest.mark.usefixtures("no_locks")
def test_without_locks_a_reused_process_number_is_no_run(tmp_path, start):
    other, _ = start("print(flush=True); import time; time.sleep(600)")
    claim(tmp_path)
    write_owner(tmp_path, Owner(**OWNER | {"host": socket.gethostname(), "pid": other.pid, "remote": False}))
    claim(tmp_path)
    assert other.poll() is None


@pytest.mark.usefixtures("no_locks")
def test_without_locks_jobs_of_an_earlier_run_are_refused(tmp_path, monkeypatch):
    test_refuses_a_job_of_an_earlier_run(tmp_path, monkeypatch)


@pytest.fixture
def fake_slurm(tmp_path, monkeypatch):
    """squeue and scancel that keep their jobs in a file; tests/slurm has real ones."""
    queue = tmp_path / "queue"
    queue.write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in {"squeue": f"cat {queue}", "scancel": f'for i; do sed -i "/^$i /d" {queue}; done'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return queue


def test_cancels_queued_jobs_of_the_earlier_run_only(tmp_path, fake_slurm):
    old, _ = claim(tmp_path / "results", remote=True)
    fake_slurm.write_text(f"11 RUNNING lssc-{old}_abc\n12 PENDING lssc-{old}_abc\n13 RUNNING somebody else\n")
    _, warnings = claim(tmp_path / "results")
    assert fake_slurm.read_text() == "13 RUNNING somebody else\n"
    assert warnings[0].startswith("ended 2 jobs on the cluster that the run of ")


def test_a_run_that_ends_leaves_no_jobs_in_the_queue(tmp_path, fake_slurm):
    with folders.claim_folders([tmp_path / "results"], remote=True, warn=print) as run:
        fake_slurm.write_text(f"11 RUNNING lssc-{run}_abc\n13 RUNNING somebody else\n")
    assert fake_slurm.read_text() == "13 RUNNING somebody else\n"


def test_reports_jobs_that_do_not_end(tmp_path, fake_slurm, monkeypatch):
    monkeypatch.setattr(folders, "END_SECONDS", 0.5)
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


def test_reports_a_full_disk(tmp_path, monkeypatch):
    lines = []
    folders.report_full_disk([tmp_path, tmp_path / "missing"], lines.append)
    assert lines == []
    monkeypatch.setattr(folders, "MIN_FREE_BYTES", 10**18)
    folders.report_full_disk([tmp_path], lines.append)
    assert lines[0].startswith(f"{tmp_path}: no space left on its disk (")
