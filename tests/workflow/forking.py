"""Runs of Snakemake that are forked from a process that has imported it: each starts a second earlier."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Seconds after which a run that hangs is ended.
TIMEOUT = 600
# Nothing of lssc is imported here: a run imports the code of its own checkout.
PARENT = f"""
import json, os, signal, sys
import h5py, jsonschema, numpy, pandas, scipy.sparse, yaml
from snakemake import api, cli, dag, workflow

def become_a_run(arguments, environment, out, err):
    for path, descriptor in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["snakemake", *arguments]
    signal.alarm({TIMEOUT})
    sys.exit(cli.main())

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        become_a_run(*json.loads(line))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forker:
    """The process that Snakemake's runs are forked from, one at a time."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process

    def run(self, arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess:
        """What `subprocess.run` of `python -m snakemake` with these arguments returns."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            out.touch()
            err.touch()
            print(json.dumps([arguments, environment, str(out), str(err)]), file=self.process.stdin, flush=True)
            code = int(self.process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())


@contextmanager
def forking() -> Iterator[Forker]:
    """Start the process, and end it."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Forker(process)
        process.stdin.close()
