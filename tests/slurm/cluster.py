"""A real Slurm of one node on loopback, from Debian's packages; run as a program, this module installs them.

It does not touch a Slurm that is already there, and ends only processes that it started.
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
# The standard place: a job does not pass SLURM_CONF on to its steps.
CONF = Path("/etc/slurm/slurm.conf")
MARK = "# Written by lssc's make test-slurm, which deletes it at its end."
MEMORY = 6000  # MB for all jobs together
MAX_WAIT = 300  # seconds for any condition or command; a busy machine is slow


T = TypeVar("T")


class Unavailable(Exception):
    """Why no Slurm can be started here, in one line."""


def configuration(folder: Path) -> str:
    """slurm.conf: jobs are bound to their CPUs and killed if they exceed their memory."""
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
    """Unavailable if this machine has a Slurm already."""
    if os.geteuid() != 0:
        raise Unavailable("starting Slurm takes root")
    if "SLURM_CONF" in os.environ or (shutil.which("scontrol") and succeeds("scontrol", "ping")):
        raise Unavailable("this machine is part of a Slurm cluster already")
    running = {process.info["name"] for process in psutil.process_iter(["name"])}
    if daemons := sorted(running & {"slurmctld", "slurmd"}):
        raise Unavailable(f"{' and '.join(daemons)} already run on this machine and are left alone")
    if CONF.exists() and not CONF.read_text().startswith(MARK):
        raise Unavailable(f"{CONF} is not ours and is left alone; move it away to run these tests")


def install() -> None:
    """Install missing packages by apt."""
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


def wait_until(condition: Callable[[], T], text: str) -> T:
    """The first true value that `condition` returns."""
    end = time.monotonic() + MAX_WAIT
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{text}: not within {MAX_WAIT} s")
        time.sleep(0.1)
    return value


def output_of(*command: str) -> str:
    """What a command of Slurm prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=MAX_WAIT).stdout.strip()


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, timeout=MAX_WAIT).returncode == 0


def die_with_parent() -> None:
    """Runs in the child: the kernel ends it when this process ends, even by kill -9."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Cluster:
    """The daemons of a Slurm, which run within a `with` block."""

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
        wait_until(lambda: output_of("sinfo", "--noheader", "--format=%T") == "idle", "the node is idle")

    def _run(self, *command: str, **options) -> None:
        # A session of its own: Ctrl-C ends the tests, which then stop the daemons in order.
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
                daemon.wait(MAX_WAIT)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        if CONF.exists() and CONF.read_text().startswith(MARK):
            CONF.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cancel_all(self) -> None:
        """Cancel all jobs: nobody else uses this cluster."""
        subprocess.run(["scancel", "--quiet", "--user", "root"], check=False, timeout=MAX_WAIT)
        wait_until(lambda: not self.jobs(), "all jobs are gone")

    def jobs(self, *states: str) -> dict[str, str]:
        """Comments of the jobs in the queue by id, or of those in some states, such as RUNNING."""
        options = ["--states", ",".join(states)] if states else []
        lines = output_of("squeue", "--noheader", "--format=%i %k", *options).splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    def memory(self) -> dict[str, tuple[float, float]]:
        """MB used by all steps of a running job, as Slurm measured, and MB requested, by id."""
        memory = {}
        for line in output_of("squeue", "--noheader", "--states=RUNNING", "--format=%i %m").splitlines():
            id, requested = line.split()
            steps = subprocess.run(
                ["sstat", "--allsteps", "--noheader", "--parsable2", "--format=MaxRSS", f"--jobs={id}"],
                capture_output=True,
                text=True,
                timeout=MAX_WAIT,
            ).stdout.splitlines()
            memory[id] = sum(map(megabytes, filter(None, steps))), megabytes(requested)
        return memory


def megabytes(text: str) -> float:
    """Slurm's 1024K, 1M or number of bytes in MB."""
    if text[-1].isdigit():
        return float(text) / 2**20
    return float(text[:-1]) * {"K": 2**-10, "M": 1, "G": 2**10}[text[-1]]


if __name__ == "__main__":
    try:
        install()
    except Unavailable as reason:
        sys.exit(f"test-slurm cannot run here: {reason}")
