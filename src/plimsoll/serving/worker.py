# SPDX-License-Identifier: Apache-2.0

"""A worker process: loads the application, serves it, and finishes what it has begun when it is told to end.

`python -m plimsoll.serving.worker`, as the supervisor runs it. It never outlives the supervisor. Who takes leave says
`Connection: close` for a moment, so that clients do not send a further request into a connection that is being closed.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import socket
import sys
import time
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING
from wsgiref.types import WSGIApplication

if TYPE_CHECKING:
    from plimsoll.serving.connections import Connections

SECONDS_TO_FINISH = 60.0
LEAVE_SECONDS = 0.25
"""How long a worker says that it goes before it closes what is idle."""
LISTENING = "listening"

_LOOK_SECONDS = 0.02
_SWEEP_SECONDS = 5.0

# glibc's M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
_MEMORY = {-8: 1, -3: 8 << 20, -1: 16 << 20}

_SET_PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is told on its command line."""

    factory: str
    """Where to find what makes the application, as module:name."""
    listening: int
    """The number of the open socket,"""
    line: int
    """and of a pipe on which the supervisor is told that it serves, or why it cannot. It is open as long as it lives."""
    most_requests: int
    supervisor: int

    def command(self) -> list[str]:
        return [sys.executable, "-P", "-m", __spec__.name, *map(str, astuple(self))]

    @classmethod
    def of(cls, words: list[str]) -> Task:
        return cls(words[0], *map(int, words[1:]))


def main(task: Task) -> None:
    """The whole life of a worker."""
    _end_with(task.supervisor)
    # Ctrl-C reaches every process of a terminal; the supervisor passes it on. It also sees to SIGHUP.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _make_waiting_cooperative()
    _keep_memory_at_hand()
    try:
        app = _load(task.factory)
    except Exception as problem:
        _say(task, str(problem) or repr(problem))
        raise
    _give_back_memory()
    _serve(app, task)


def _say(task: Task, word: str) -> None:
    os.write(task.line, word.encode())


def _make_waiting_cooperative() -> None:
    """Before anything else is imported: locks, sockets and sleeps are gevent's from here on."""
    from gevent import monkey

    monkey.patch_all()


def _load(factory: str) -> WSGIApplication:
    module, _, name = factory.partition(":")
    app: WSGIApplication = getattr(importlib.import_module(module), name)()
    return app


def _serve(app: WSGIApplication, task: Task) -> None:
    import gevent
    from gevent.event import Event
    from gevent.pool import Pool
    from gevent.server import StreamServer

    from plimsoll.serving.connections import IDLE_SECONDS, Connections
    from plimsoll.serving.listening import room_for_connections

    told_to_end = Event()
    gevent.signal_handler(signal.SIGTERM, told_to_end.set)
    listening = socket.socket(fileno=task.listening)
    listening.setblocking(False)
    address, port = listening.getsockname()[:2]
    connections = Connections(app, task.most_requests, (address, port))
    server = StreamServer(listening, connections.serve, spawn=Pool(room_for_connections()))
    server.start()
    _say(task, LISTENING)
    while not told_to_end.wait(_SWEEP_SECONDS):
        connections.close_idle(IDLE_SECONDS)
    server.stop_accepting()
    _take_leave(connections)


def _take_leave(connections: Connections) -> None:
    connections.is_leaving = True
    end = time.monotonic() + SECONDS_TO_FINISH
    time.sleep(LEAVE_SECONDS)
    while not connections.are_all_closed and time.monotonic() < end:
        connections.close_idle(LEAVE_SECONDS)
        time.sleep(_LOOK_SECONDS)


def _end_with(supervisor: int) -> None:
    """A worker left alone would go on answering on the port that the next service wants."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != supervisor:
        sys.exit(0)


def _keep_memory_at_hand() -> None:
    """What one large answer took serves the next: to ask the system for it anew takes longer than to fill it.

    And all threads share one store, instead of each of them keeping some.
    """
    set_up = getattr(ctypes.CDLL(None), "mallopt", None)  # not every system has glibc
    if set_up is not None:
        for option, value in _MEMORY.items():
            set_up(option, value)


def _give_back_memory() -> None:
    """To read a world takes more than to have it, and none of what is over is needed again."""
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)


if __name__ == "__main__":
    main(Task.of(sys.argv[1:]))
