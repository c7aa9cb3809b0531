"""Starts the server of a run, and ends it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lssc.pipeline.server.client import VARIABLE

# Seconds that the server has to end by itself; jobs do not depend on it.
END_SECONDS = 10.0


@contextlib.contextmanager
def serving() -> Iterator[subprocess.Popen[bytes] | None]:
    """Start a server that the commands within the block find. It ends with the block, or with this process.

    Yields None if the server is off, or if the environment already names one.
    """
    if os.environ.get(VARIABLE):
        yield None
        return
    # A short path: that of a socket may have a hundred characters. Only this user may enter the folder.
    with tempfile.TemporaryDirectory(prefix="lssc-") as folder, socket.socket(socket.AF_UNIX) as listener:
        address = str(Path(folder) / "server")
        listener.bind(address)
        listener.listen(256)
        command = [sys.executable, "-m", "lssc.pipeline.server.main", str(listener.fileno())]
        # In a session of its own: Ctrl-C is for Snakemake, which ends the jobs.
        # What jobs say goes to their own streams.
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(command, pass_fds=[listener.fileno()], start_new_session=True, **streams)
        # Held by the server alone: if it dies, commands see that nobody listens.
        listener.close()
        os.environ[VARIABLE] = address
        try:
            yield server
        finally:
            del os.environ[VARIABLE]
            assert server.stdin
            server.stdin.close()
            try:
                server.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
