"""The server: takes commands from its socket and passes each on to the process that has imported the command's module.

That process, made at the first command of a module, forks once more for each job. Nothing here depends on the parent:
if Snakemake dies, jobs under way go on as they would without a server; if the server dies, they go on as well, and
later commands run by themselves.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from lssc.pipeline.server.client import CODE, LENGTH, VARIABLE

# Descriptors that come with a command: its standard input, output and error.
STREAMS = 3
# Seconds that a job has to end by itself when its client is gone.
END_SECONDS = 3.0
# Seconds between two looks at jobs that were told to end.
LOOK_SECONDS = 0.5


def serve(listener: socket.socket) -> None:
    """Pass commands on until standard input ends: Snakemake holds its other end."""
    watch = selectors.DefaultSelector()
    watch.register(listener, selectors.EVENT_READ)
    watch.register(sys.stdin, selectors.EVENT_READ)
    importers: dict[str, socket.socket] = {}
    while True:
        for key, _ in watch.select():
            if key.fileobj is sys.stdin:
                return
            with contextlib.suppress(OSError, ValueError):
                _pass_on(listener, importers)


def _pass_on(listener: socket.socket, importers: dict[str, socket.socket]) -> None:
    connection, _ = listener.accept()
    with connection:
        message, streams = _receive(connection, STREAMS)
        module = json.loads(message)["module"]
        try:
            if module not in importers:
                ours = [listener, connection, *importers.values()]
                importers[module] = _start_importer(module, [*streams, *(other.fileno() for other in ours)])
            _send(importers[module], message, [*streams, connection.fileno()])
        except OSError:
            # It died; the next command gets another one, this one runs by itself.
            importers.pop(module, None)
            raise
        finally:
            for descriptor in streams:
                os.close(descriptor)


def _start_importer(module: str, ours: list[int]) -> socket.socket:
    """A process for the module; the descriptors that are the server's alone are closed there."""
    near, far = socket.socketpair()
    if os.fork():
        far.close()
        return near
    # Whoever holds the other end of one of them would wait for this process, too.
    for descriptor in (near.fileno(), sys.stdin.fileno(), *ours):
        os.close(descriptor)
    _Importer(module, far).run()
    os._exit(0)


def _send(pipe: socket.socket, message: bytes, descriptors: list[int]) -> None:
    socket.send_fds(pipe, [len(message).to_bytes(LENGTH, "big")], descriptors)
    pipe.sendall(message)


def _receive(pipe: socket.socket, n_descriptors: int) -> tuple[bytes, list[int]]:
    """A message with its descriptors; OSError if the other side is gone."""
    head, descriptors, *_ = socket.recv_fds(pipe, LENGTH, n_descriptors)
    parts, left = [], int.from_bytes(head, "big") if len(head) == LENGTH else -1
    while left > 0:
        part = pipe.recv(min(left, 2**20))
        if not part:
            left = -1
        parts.append(part)
        left -= len(part)
    if left < 0 or len(descriptors) != n_descriptors:
        for descriptor in descriptors:
            os.close(descriptor)
        raise ConnectionError("the other side is gone")
    return b"".join(parts), list(descriptors)


@dataclass
class _Job:
    connection: socket.socket
    told: float | None = None  # when it was told to end, because its client is gone


class _Importer:
    """A process that has imported a module, and runs it in a process of its own for each command."""

    def __init__(self, module: str, pipe: socket.socket) -> None:
        self.module, self.pipe = module, pipe
        self.jobs: dict[int, _Job] = {}
        self.warm: set[tuple[str, str]] = set()
        self.watch = selectors.DefaultSelector()

    def run(self) -> None:
        """Until the server is gone and all jobs are done."""
        os.environ.pop(VARIABLE, None)
        with contextlib.suppress(Exception):
            importlib.import_module(self.module)
            # The job runs it as the main module; what it imports stays.
            del sys.modules[self.module]
        self.watch.register(self.pipe, selectors.EVENT_READ)
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.watch.register(woken, selectors.EVENT_READ)
        is_served = True
        while is_served or self.jobs:
            waiting = LOOK_SECONDS if any(job.told for job in self.jobs.values()) else None
            for key, _ in self.watch.select(waiting):
                if key.fileobj == woken:
                    os.read(woken, 1024)
                elif key.fileobj is self.pipe:
                    is_served = self._start()
                else:
                    self._tell(key.data)
            self._end()

    def _start(self) -> bool:
        """Start the job of a command; whether there may be more."""
        try:
            message, (*streams, connection) = _receive(self.pipe, STREAMS + 1)
        except OSError:
            self.watch.unregister(self.pipe)
            return False
        request, client = json.loads(message), socket.socket(fileno=connection)
        self._warm_up(request["arguments"])
        # Objects that are there already are not looked at by the jobs' garbage collection, which would copy them.
        gc.collect()
        gc.freeze()
        job = os.fork()
        if not job:
            self._become(request, streams)
        for descriptor in streams:
            os.close(descriptor)
        self.jobs[job] = _Job(client)
        self.watch.register(client, selectors.EVENT_READ, job)
        return True

    def _warm_up(self, arguments: list[str]) -> None:
        """Load the kernels of the command's part, once. Errors are left to the job, which reports them."""
        with contextlib.suppress(Exception):
            part = json.loads(arguments[arguments.index("--recipe") + 1])["part"]
            name = part["kind"], part["name"]
            # Whole methods are other libraries' code, which may start threads; threads do not survive a fork.
            if name not in self.warm and part["kind"] != "method":
                from lssc.parts.registry import find

                find(*name).warm_up()
                self.warm.add(name)

    def _become(self, request: dict[str, Any], streams: list[int]) -> NoReturn:
        """Run the command in this process, which has been forked for it."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        for place, descriptor in enumerate(streams):
            os.dup2(descriptor, place)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(request["environment"])
        # A process that the job starts is no command of the server.
        os.environ.pop(VARIABLE, None)
        code = 1
        try:
            os.chdir(request["folder"])
            sys.argv = [self.module, *request["arguments"]]
            runpy.run_module(self.module, run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as end:
            code = _code(end)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _tell(self, job: int) -> None:
        """The client is gone: Snakemake ended it. End its job as Ctrl-C would."""
        self.watch.unregister(self.jobs[job].connection)
        self.jobs[job].told = time.monotonic()
        _signal_group(job, signal.SIGINT)

    def _end(self) -> None:
        """Report jobs that have ended, and kill those that do not."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._report(*ended)
        for id, job in self.jobs.items():
            if job.told and time.monotonic() > job.told + END_SECONDS:
                _signal_group(id, signal.SIGKILL)

    def _report(self, id: int, status: int) -> None:
        job = self.jobs.pop(id)
        code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError), job.connection:
            if not job.told:
                self.watch.unregister(job.connection)
            # As shells report the end by a signal.
            job.connection.sendall((code if code >= 0 else 128 - code).to_bytes(CODE, "big"))


def _code(end: SystemExit) -> int:
    """The exit code; a message goes to standard error, as Python does."""
    if end.code is None or isinstance(end.code, int):
        return (end.code or 0) & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def _signal_group(job: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(job, number)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
