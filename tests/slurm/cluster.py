"""A real Slurm of one node on loopback, from Debian's packages; called as a program it installs them.

It never touches a Slurm that is already there, and ends what it started by process id, whatever happens in between.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "slurm-wlm-basic-plugins")
# The standard place: steps within jobs would not see SLURM_CONF, which a job does not hand on.
CONF = Path("/etc/slurm/slurm.conf")
MARK = "# Written by lssc's make test-slurm, which takes it away again."
MEMORY = 6000  # MB that jobs may share
PATIENCE = 300  # seconds at most for anything that is waited for: a busy machine takes its time


T = TypeVar("T")


class Unavailable(Exception):
    """Why no Slurm can be started here, in one line."""


def configuration(folder: Path) -> str:
    """slurm.conf: jobs are bound to their CPUs, as on any cluster, and ended once they outgrow their memory."""
    host = socket.gethostname().split(".")[0]
    cpus = min(2, len(os.sched_getaffinity(0)))  # so few that jobs have to wait
    return f"""{MARK}
ClusterName=lssc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
MinJobAge=3600
AccountingStorageType=accounting_storage/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={MEMORY}
PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=500 State=UP
"""


def refuse_others() -> None:
    """A Slurm that is already here is somebody's."""
    if os.geteuid() != 0:
        raise Unavailable("starting Slurm takes root")
    if "SLURM_CONF" in os.environ or (shutil.which("scontrol") and succeeds("scontrol", "ping")):
        raise Unavailable("this machine is part of a Slurm cluster already")
    running = {process.info["name"] for process in psutil.process_iter(["name"])}
    if found := sorted(running & {"slurmctld", "slurmd"}):
        raise Unavailable(f"{' and '.join(found)} already run on this machine and are left alone")
    if CONF.exists() and not CONF.read_text().startswith(MARK):
        raise Unavailable(f"{CONF} is not ours and is left alone; move it away to run these tests")


def install() -> None:
    """The packages that are missing, by apt."""
    refuse_others()
    if all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "munged"))):
        return
    if not shutil.which("apt-get"):
        raise Unavailable("Slurm is not installed, and there is no apt-get to do it")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(["apt-get", "--quiet", *command], env=quiet, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"apt-get {command[0]} failed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def wait_until(holds: Callable[[], T], what: str) -> T:
    """The first truth that comes back."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {PATIENCE} s")
        time.sleep(0.1)
    return found


def say(*command: str) -> str:
    """What a command of Slurm prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, timeout=PATIENCE).returncode == 0


def die_with_parent() -> None:
    """Runs in the child: the kernel ends it when this process is gone, even by kill -9."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Cluster:
    """The daemons, from `with` to its end."""

    def __init__(self) -> None:
        self.daemons: list[subprocess.Popen] = []
        self.folder: Path | None = None

    def __enter__(self) -> Cluster:
        refuse_others()
        self.folder = Path(tempfile.mkdtemp(prefix="lssc-slurm-"))
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        CONF.parent.mkdir(exist_ok=True)
        CONF.write_text(configuration(self.folder))
        if not succeeds("munge", "--no-input"):
            Path("/run/munge").mkdir(exist_ok=True)
            shutil.chown("/run/munge", "munge", "munge")
            self._run("munged", "--foreground", user="munge", group="munge", extra_groups=[])
            wait_until(lambda: succeeds("munge", "--no-input"), "munged answers")
        self._run("slurmctld", "-D")
        wait_until(lambda: succeeds("scontrol", "ping"), "slurmctld answers")
        self._run("slurmd", "-D", "-N", socket.gethostname().split(".")[0])
        wait_until(lambda: say("sinfo", "--noheader", "--format=%T") == "idle", "the node is idle")

    def _run(self, *command: str, **options) -> None:
        # A session of its own: Ctrl-C is for the tests, which then stop the daemons in order.
        log = (self.folder / f"{command[0]}.log").open("w")
        self.daemons.append(
            subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent, **options
            )
        )

    def __exit__(self, *_: object) -> None:
        if len(self.daemons) and succeeds("scontrol", "ping"):
            self.cancel_all()
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        if CONF.exists() and CONF.read_text().startswith(MARK):
            CONF.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cancel_all(self) -> None:
        """Every job is one of the tests': nobody else knows of this cluster."""
        subprocess.run(["scancel", "--quiet", "--user", "root"], check=False, timeout=PATIENCE)
        wait_until(lambda: not self.jobs(), "all jobs are gone")

    def jobs(self, *states: str) -> dict[str, str]:
        """Id -> comment of the jobs in the queue, or of those in some states, such as RUNNING."""
        chosen = ["--states", ",".join(states)] if states else []
        lines = say("squeue", "--noheader", "--format=%i %k", *chosen).splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    def memory(self) -> dict[str, tuple[float, float]]:
        """Id -> MB that Slurm has counted at most for all steps of a running job, and MB that it asked for."""
        found = {}
        for line in say("squeue", "--noheader", "--states=RUNNING", "--format=%i %m").splitlines():
            id, asked = line.split()
            steps = subprocess.run(
                ["sstat", "--allsteps", "--noheader", "--parsable2", "--format=MaxRSS", f"--jobs={id}"],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            ).stdout.splitlines()
            found[id] = sum(map(megabytes, filter(None, steps))), megabytes(asked)
        return found


def megabytes(text: str) -> float:
    """1024K or 1M, or bytes."""
    if text[-1].isdigit():
        return float(text) / 2**20
    return float(text[:-1]) * {"K": 2**-10, "M": 1, "G": 2**10}[text[-1]]


if __name__ == "__main__":
    try:
        install()
    except Unavailable as reason:
        sys.exit(f"test-slurm cannot run here: {reason}")
