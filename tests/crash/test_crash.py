"""Runs that are killed, meet damaged files or run out of disk end with the same scores as an undisturbed run.

Every test repeats one command: nothing is unlocked, forced or cleaned up in between.
"""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from lssc.pipeline.store.locks import RUN_VARIABLE, read_owner
from tests.workflow.conftest import SCORES, Pipeline, environment, jobs

# `make test-crash ROUNDS=100` kills more often.
N_KILLS = int(os.environ.get("ROUNDS") or 25)


@pytest.fixture
def fresh(tmp_path):
    return Pipeline(tmp_path / "run")


@pytest.fixture
def begin():
    """Starts a run in a process group of its own, which is killed at the end of the test."""
    started = []

    def start(pipeline: Pipeline, *options: str) -> subprocess.Popen:
        output = (pipeline.folder / "output").open("a")
        process = subprocess.Popen(
            pipeline.command(*options), stdout=output, stderr=output, env=environment(), start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        kill_group(process)


def kill_group(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(condition, seconds: float = 120):
    """The first true value that `condition` returns."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"not true within {seconds} s")


def jobs_of(pipeline: Pipeline, *words: str) -> list[psutil.Process]:
    """The processes of the run that owns the results or owned them last, with these words in their commands."""
    owner, processes = read_owner(pipeline.folder / "results"), []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = owner and process.environ().get(RUN_VARIABLE) == owner.id
            command = " ".join(process.cmdline())
            if ours and process.status() != psutil.STATUS_ZOMBIE and all(word in command for word in words):
                processes.append(process)
    return processes


def check_same(pipeline: Pipeline, finished: Pipeline) -> None:
    assert pipeline.scores() == finished.scores()
    # Damaged labels are not made again if their scores are there.
    expected = finished.labels()
    for name, value in pipeline.labels().items():
        np.testing.assert_array_equal(value, expected[name], err_msg=str(name))


def results(pipeline: Pipeline) -> list[Path]:
    """All files that a run keeps."""
    kinds = ("h5", "csv", "json", "png", "pdf", "html")
    return sorted(p for kind in kinds for p in pipeline.folder.glob(f"results/**/*.{kind}"))


def damage(path: Path, chance: random.Random) -> None:
    """Cut a file short or change some of its bytes."""
    content = bytearray(path.read_bytes())
    if chance.random() < 0.5:
        content = content[: chance.randrange(len(content) or 1)]
    else:
        for _ in range(chance.randint(1, 8)):
            content[chance.randrange(len(content))] ^= chance.randint(1, 255)
    path.write_bytes(content)


def kill_server(pipeline: Pipeline, chance: random.Random) -> int:
    """Kill the server of a run, or a process of it that runs the jobs of a stage, but no job; how many were killed."""
    served = {process.pid: process for process in jobs_of(pipeline, "lssc.pipeline.server.main")}
    first = [process for process in served.values() if process.ppid() not in served]
    stages = [process for process in served.values() if process.ppid() in {server.pid for server in first}]
    if not first:
        return 0
    with contextlib.suppress(psutil.NoSuchProcess):
        chance.choice([*first, *stages]).kill()
    return 1


def test_many_kills_and_damaged_files_change_no_score(fresh, finished, begin):
    seed = int.from_bytes(os.urandom(4), "little")
    chance = random.Random(seed)
    kills, damaged, finishes, servers = 0, [], 0, 0
    while kills < N_KILLS:
        run = begin(fresh)
        try:
            if chance.random() < 0.5:
                # The run goes on without its server.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.wait(timeout=chance.uniform(0.5, 8))
                servers += kill_server(fresh, chance)
            run.wait(timeout=chance.uniform(0.2, 8))
        except subprocess.TimeoutExpired:
            kill_group(run)
            kills += 1
        else:
            # The run ended before it was killed: start again from nothing.
            assert run.returncode == 0, (fresh.folder / "output").read_text()[-3000:]
            check_same(fresh, finished)
            finishes += 1
            subprocess.run(["rm", "-rf", str(fresh.folder / "results")], check=True)
        if chance.random() < 0.5 and (files := results(fresh)):
            damaged.append(chance.choice(files))
            damage(damaged[-1], chance)
    summary = f"seed {seed}: {kills} kills, {servers} of servers, {finishes} runs that ended before"
    summary += f", {len(damaged)} files damaged"
    done = fresh.run()
    assert done.returncode == 0, f"{summary}\n{done.stderr[-4000:]}"
    check_same(fresh, finished)
    assert "Nothing to be done" in (again := fresh.run()).stdout + again.stderr
    print(summary)


def test_the_next_run_rebuilds_every_kind_of_file(pipeline, finished):
    chance = random.Random(0)
    victims = [
        pipeline.artifacts("data")[0],
        pipeline.artifacts("scores")[0],
        pipeline.folder / SCORES,
        pipeline.folder / "results/claims.json",
        pipeline.folder / "results/experiments/landmarks/figures/fig1a.png",
        pipeline.folder / "results/report.html",
    ]
    for victim in victims:
        damage(victim, chance)
    done = pipeline.run()
    assert done.returncode == 0, done.stderr[-3000:]
    assert all(str(v.relative_to(pipeline.folder)) in done.stderr for v in victims)
    check_same(pipeline, finished)
    # Data and scores of a block are not needed, so they are not made again.
    assert all(v.exists() for v in victims[2:])


def test_a_second_run_is_refused_and_changes_nothing(fresh, finished, begin):
    first = begin(fresh)
    wait_for(lambda: fresh.artifacts("data"))
    for target in ([], [SCORES], ["results/experiments/points/scores.csv"]):
        second = fresh.run(*target)
        assert second.returncode != 0
        [message] = [line for line in second.stderr.splitlines() if "another run is under way" in line]
        assert f"process {first.pid} on" in message
        assert "Traceback" not in second.stderr
        assert jobs(second) == {}
    # A dry run is allowed.
    assert fresh.run("--dry-run").returncode == 0
    assert first.wait(timeout=300) == 0
    check_same(fresh, finished)


def test_the_next_run_ends_jobs_of_a_killed_run(fresh, finished, begin):
    # A job that takes minutes, longer than the run that is killed.
    fresh.experiment["n"] = [4000]
    fresh.experiment["methods"] = ["ssc_admm"]
    run = begin(fresh)
    slow = wait_for(lambda: jobs_of(fresh, "n4000", "code_points"))
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    time.sleep(1)
    assert any(p.is_running() for p in slow)
    fresh.config = Pipeline(fresh.folder).config
    done = fresh.run()
    assert done.returncode == 0, done.stderr[-3000:]
    assert "had left behind" in done.stderr
    assert not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in slow)
    assert fresh.scores() == finished.scores()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few megabytes, mounted for the test."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_reports_a_full_disk_and_continues_once_there_is_room(small_disk, finished):
    pipeline = Pipeline(small_disk / "run")
    ballast = small_disk / "ballast"
    pipeline.command()
    # Full before the first job, while Snakemake writes its records, and while jobs write.
    for room in (0, 150_000, 500_000):
        fill(ballast, leave=room)
        done = pipeline.run()
        assert done.returncode != 0
        assert any("o space left" in line for line in done.stderr.splitlines())
        assert "Traceback" not in done.stderr
        ballast.unlink()
    pipeline.finish()
    check_same(pipeline, finished)


def fill(path: Path, leave: int) -> None:
    free = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
    with path.open("wb") as file:
        file.write(bytes(free - leave))


def test_reports_a_read_only_results_folder_in_one_line(small_disk, finished):
    pipeline = Pipeline(small_disk / "run")
    subprocess.run(["cp", "-a", f"{finished.folder}/results", str(small_disk)], check=True)
    (pipeline.folder.parent / "work").mkdir()
    pipeline.config["results"] = str(small_disk / "results")
    pipeline.command()
    outside = small_disk.parent / "outside"
    outside.mkdir()
    (outside / "config.yaml").write_bytes((pipeline.folder / "config.yaml").read_bytes())
    pipeline.folder = outside
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = pipeline.run()
    assert done.returncode != 0
    [message] = [line for line in done.stderr.splitlines() if "Read-only file system" in line]
    assert str(small_disk / "results") in message
    assert "Traceback" not in done.stderr


def test_an_artifact_of_another_version_is_made_again(pipeline, finished):
    old = pipeline.artifacts("codes")[0]
    old.write_bytes(old.read_bytes().replace(b"lssc artifact 1 ", b"lssc artifact 9 ", 1))
    # Without the files made from them, codes are needed.
    for path in [pipeline.folder / SCORES, *old.parent.glob("**/*.h5")]:
        if path != old:
            path.unlink()
    done = pipeline.run()
    assert done.returncode == 0, done.stderr[-3000:]
    assert str(old.relative_to(pipeline.folder)) in done.stderr
    assert jobs(done)["code_points"] == 1
    assert old.with_name("codes.h5.damaged").exists()
    check_same(pipeline, finished)
