"""Hands a stage's command over to the server of the run. Imports little: this is what every job costs."""

from __future__ import annotations

import json
import os
import sys

# The server's socket. A run that finds it set starts no server; with `off`, every job starts by itself.
VARIABLE, OFF = "LSSC_SERVER", "off"
# Bytes that hold the length of a message, and the exit code of a job.
LENGTH, CODE = 8, 4


def hand_over() -> None:
    """If this is `python -m MODULE` and a server answers, end as its process for the module ends.

    The package of a stage calls this, so that it runs before the stage imports anything. If there is no server, or it
    dies, this returns and the command goes on by itself.
    """
    address, module = os.environ.get(VARIABLE), _module()
    if address in (None, "", OFF) or not module:
        return
    import socket

    request = {"module": module, "arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}
    message = json.dumps(request).encode()
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            socket.send_fds(connection, [len(message).to_bytes(LENGTH, "big")], [0, 1, 2])
            connection.sendall(message)
            code = connection.recv(CODE)
    except OSError:
        return
    if len(code) == CODE:
        os._exit(int.from_bytes(code, "big"))


def _module() -> str | None:
    """The module of `python -m MODULE ...` while its package is imported; None in any other program."""
    # Later, Python puts the path of the module in the place of -m.
    if sys.argv[:1] != ["-m"]:
        return None
    place = len(sys.orig_argv) - len(sys.argv)
    return sys.orig_argv[place] if sys.orig_argv[place - 1] == "-m" else None
