# SPDX-License-Identifier: Apache-2.0

"""The HTTP server: Granian, set up for this service, and what each of its worker processes does first.

Workers finish what they have begun when the service is told to stop, are replaced when they die, and never
outlive the process that started them.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from plimsoll.cli import workers

APPLICATION_FACTORY = "plimsoll.wsgi:load_application"

# Granian counts open connections against its backpressure, idle ones too, and lets no further one in. Every
# host of a cloud keeps one open, so there must be room for many.
MOST_CONNECTIONS = 16_384
FILES_FOR_OURSELVES = 256

# Nova's hosts report once a minute: a connection that is closed a little later than that serves them all day.
IDLE_MILLISECONDS = 75_000

SECONDS_TO_FINISH = 60

# glibc's M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
_MEMORY = {-8: 1, -3: 8 << 20, -1: 16 << 20}

_SET_PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen, and with how much."""

    address: str
    port: int
    workers: int
    threads: int

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}"


def run(
    listen: Listen,
    when_ready: Callable[[], None],
    factory: str = APPLICATION_FACTORY,
    reread: Callable[[], int] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Exits the process with 1 if workers keep dying.

    On SIGHUP workers are replaced, after `reread` found nothing wrong with the configuration (else it raises) and said
    how many threads each is to have now.
    """
    # A fresh interpreter per worker: what a worker is must not depend on what this process did before.
    multiprocessing.set_start_method("spawn", force=True)
    # Until Granian minds it, it would end us, and there is nothing to reload yet.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    server = workers.Workers(
        factory,
        reread=reread or (lambda: listen.threads),
        address=listen.address,
        port=listen.port,
        interface=Interfaces.WSGI,
        workers=listen.workers,
        blocking_threads=listen.threads,
        backpressure=_room_for_connections(),
        # With both protocols on, a connection that says nothing is never closed.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_MILLISECONDS),
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=SECONDS_TO_FINISH,
        log_level=LogLevels.warning,
        log_dictconfig=_logging(),
    )
    stopped = threading.Event()
    threading.Thread(target=_announce, args=(listen, when_ready, stopped), daemon=True).start()
    try:
        server.serve(target_loader=_load_application)
    finally:
        stopped.set()


def _load_application(factory: str, line: Connection) -> Any:
    """What a worker does before its first request."""
    _end_with_parent()
    _keep_memory_at_hand()
    # Ctrl-C reaches every process of a terminal. The parent passes it on as SIGTERM; both at once can leave a
    # Granian worker waiting for ever.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    module, _, name = factory.partition(":")
    app = workers.begin(lambda: getattr(importlib.import_module(module), name)(), line)
    _give_back_memory()
    return app


def _end_with_parent() -> None:
    """A worker left alone would go on answering on the port that the next service wants."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
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


def _room_for_connections() -> int:
    """As many as the system lets us have files open, after asking it for all it allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + FILES_FOR_OURSELVES
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    return max(128, limit - FILES_FOR_OURSELVES)


def _announce(listen: Listen, when_ready: Callable[[], None], stopped: threading.Event) -> None:
    """Call back once the port answers: until then there is nothing to announce."""
    while not stopped.wait(0.05):
        if _answers(listen):
            when_ready()
            return


def _answers(listen: Listen) -> bool:
    # Granian opens the port once to see whether it can, and closes it again: only one that stays open counts.
    try:
        with socket.create_connection((listen.address, listen.port), timeout=0.2) as connection:
            connection.recv(1)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


class _OnlyNews(logging.Filter):
    """Drops what Granian thinks of the number of threads: ours wait for the disk together, so many are right."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "Python threads" not in record.getMessage()


def _logging() -> dict[str, Any]:
    return {
        "filters": {"news": {"()": _OnlyNews}},
        "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["news"]}},
        "loggers": {"_granian": {"handlers": ["stderr"], "propagate": False}},
    }
