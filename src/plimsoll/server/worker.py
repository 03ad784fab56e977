# SPDX-License-Identifier: Apache-2.0

"""A worker process: load the application, serve it, and finish the requests in progress on SIGTERM.

The supervisor runs `python -m plimsoll.server.worker`. A worker never outlives its supervisor. Before it closes idle
connections it sends `Connection: close` with its responses for 0.25 s, so that clients do not reuse a connection that
is about to close.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import json
import os
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from plimsoll.runtime import memory
from plimsoll.server.application import ServedApplication, StartupError
from plimsoll.server.limits import Limits

if TYPE_CHECKING:
    from gevent.server import StreamServer

    from plimsoll.runtime.greenlets import Greenlets
    from plimsoll.server.connections import Connections

STOP_SECONDS = 60.0
"""How long a worker may take to finish the requests in progress."""
NOTICE_SECONDS = 0.25
"""How long it sends `Connection: close` before it closes idle connections."""
LISTENING = b"listening"
HEARTBEAT = b"."

_POLL_SECONDS = 0.02
_TICK_SECONDS = 1.0

# glibc's M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
_MALLOC_OPTIONS = {-8: 1, -3: 8 << 20, -1: 16 << 20}

_SET_PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


@dataclass(frozen=True, slots=True)
class Task:
    """The argument of a worker's command line, as JSON. Files are numbers of descriptors that it inherits."""

    factory: str
    """The function that makes the application for a runtime and the number of the worker, as module:name."""
    number: int
    """Of this worker among those that run at the same time. The number of a worker that has ended is used again."""
    listening: int
    """The socket."""
    status: int
    """A pipe to the supervisor: first `LISTENING` or the reason why not, then a `HEARTBEAT` each second."""
    progress: int
    """The table of requests in progress."""
    stack: int
    """A file to which the worker writes its stack if it hangs."""
    supervisor: int
    """The supervisor's process id."""
    writer: str
    """The name of the worker that writes for all; empty if there is only one worker: see `server.forwarding`."""
    limits: Limits

    @property
    def files(self) -> tuple[int, ...]:
        return self.listening, self.status, self.progress, self.stack

    def command(self) -> list[str]:
        return [sys.executable, "-P", "-m", __spec__.name, json.dumps(asdict(self), separators=(",", ":"))]

    @classmethod
    def parse(cls, argument: str) -> Task:
        values = json.loads(argument)
        return cls(**values | {"limits": Limits(**values["limits"])})


def main(task: Task) -> None:
    _end_with(task.supervisor)
    # A terminal sends Ctrl-C to every process; the supervisor handles it for its workers, and SIGHUP too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    runtime = _use_gevent()
    _configure_malloc()
    try:
        module, _, name = task.factory.partition(":")
        app: ServedApplication = getattr(importlib.import_module(module), name)(runtime, task.number)
    except StartupError as error:
        os.write(task.status, str(error).encode())
        sys.exit(1)
    except Exception as error:
        os.write(task.status, (str(error) or repr(error)).encode())
        raise
    memory.trim()
    _serve(app, task, runtime)


def _use_gevent() -> Greenlets:
    """Replace locks, sockets and sleeps by gevent's. Must run before other modules are imported."""
    from gevent import monkey

    monkey.patch_all()
    from plimsoll.runtime.greenlets import Greenlets

    return Greenlets()


def _serve(app: ServedApplication, task: Task, runtime: Greenlets) -> None:
    import gevent
    from gevent.event import Event
    from gevent.pool import Pool
    from gevent.server import StreamServer

    from plimsoll.server.connections import Connections
    from plimsoll.server.forwarding import Forwarder
    from plimsoll.server.progress import RequestsInProgress
    from plimsoll.server.sockets import max_connections

    stop = Event()
    gevent.signal_handler(signal.SIGTERM, stop.set)
    listening = socket.socket(fileno=task.listening)
    listening.setblocking(False)
    address, port = listening.getsockname()[:2]
    max_open = max_connections()
    in_progress = RequestsInProgress(task.progress)
    connections = Connections(app, task.limits, (address, port), runtime, in_progress, max_open)
    # A few more than the limit, so that an idle connection can be closed when a new one arrives.
    server = StreamServer(listening, connections.serve, spawn=Pool(max_open + 16))
    for_workers: list[StreamServer] = []
    server.start()
    if task.writer and app.shares_writer:

        def serve_as_writer(bound: socket.socket) -> None:
            for_workers.append(StreamServer(bound, connections.serve_worker))
            for_workers[-1].start()

        connections.forwarder = Forwarder(task.writer, serve_as_writer)
        connections.forwarder.become_writer()
    os.write(task.status, LISTENING)
    os.set_blocking(task.status, False)
    _beat(task)
    while not stop.wait(_TICK_SECONDS):
        connections.enforce_deadlines()
        if connections.had_large_message:
            connections.had_large_message = False
            memory.trim()
        _beat(task)
    if connections.forwarder is not None:
        connections.forwarder.stop()
    for each in for_workers:
        _stop_writer(each)
    server.stop_accepting()
    faulthandler.cancel_dump_traceback_later()
    _finish(connections)


def _stop_writer(server: StreamServer) -> None:
    """Let another worker become the writer: accept no further connection, and release the name.

    Connections that wait in the queue of the kernel are served: requests were sent on them already.
    """
    server.socket.shutdown(socket.SHUT_RD)  # connecting fails from now on
    server.stop_accepting()
    with contextlib.suppress(OSError):  # too many open files
        while (accepted := server.do_read()) is not None:
            server.do_handle(*accepted)
    server.close()


def _beat(task: Task) -> None:
    """Send the supervisor a heartbeat. Without another one within `worker_timeout`, write the stack of this process."""
    with contextlib.suppress(BlockingIOError):  # the pipe is full of unread heartbeats
        os.write(task.status, HEARTBEAT)
    if task.limits.worker_timeout:
        faulthandler.dump_traceback_later(task.limits.worker_timeout, file=task.stack)


def _finish(connections: Connections) -> None:
    """Finish the requests in progress, and close the connections as they become idle."""
    connections.is_draining = True
    connections.app.end_waits()
    end = time.monotonic() + STOP_SECONDS
    time.sleep(NOTICE_SECONDS)
    while not connections.are_all_closed and time.monotonic() < end:
        connections.enforce_deadlines()
        connections.close_idle(NOTICE_SECONDS)
        time.sleep(_POLL_SECONDS)


def _end_with(supervisor: int) -> None:
    """Have the kernel end this process with its supervisor: else it would block the port for the next service."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != supervisor:
        sys.exit(0)


def _configure_malloc() -> None:
    """Configure glibc's malloc: reuse the memory of large responses, and use one arena for all threads."""
    configure = getattr(ctypes.CDLL(None), "mallopt", None)  # not every system has glibc
    if configure is not None:
        for option, value in _MALLOC_OPTIONS.items():
            configure(option, value)


if __name__ == "__main__":
    main(Task.parse(sys.argv[1]))
