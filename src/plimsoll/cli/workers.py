# SPDX-License-Identifier: Apache-2.0

"""The worker processes: how they begin, take leave, and are replaced by others while requests go on.

On SIGHUP each worker is replaced by one that reads the configuration anew. The new one listens before the old one
takes leave; if it cannot even begin, the old one stays. Who takes leave says `Connection: close` for a moment, so that
clients do not send a further request into a connection that is being closed.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from granian.server.mp import MPServer

LOG = logging.getLogger(__name__)

LEAVE_SECONDS = 0.25
"""How long a worker says that it goes before it does."""

LISTENING = "listening"
_LOOK_SECONDS = 0.02
_OPEN_FILES = Path("/proc/self/fd")
_TERMINAL = Path("/dev/tty")

_Granian: Any = MPServer  # its methods carry no types


class Workers(_Granian):  # type: ignore[misc]  # of which mypy knows nothing
    """Granian's, which cannot tell whether a new worker serves before it stops the old one."""

    def __init__(self, *args: Any, reread: Callable[[], int], **options: Any) -> None:
        """`reread` checks the configuration, raises what is wrong with it, and returns how many threads it wants."""
        super().__init__(*args, **options)
        self._reread = reread
        self._had_terminal = _has_terminal()

    def signal_handler_reload(self, *args: Any, **kwargs: Any) -> None:
        if self._had_terminal and not _has_terminal():  # it hung up: whoever started us there has gone
            self.signal_handler_interrupt()
        else:
            super().signal_handler_reload()

    def _spawn_worker(self, idx: int, target: Any, callback_loader: Any) -> Any:
        ours, theirs = multiprocessing.Pipe()
        worker: Any = super()._spawn_worker(idx, target, partial(callback_loader, theirs))
        worker.line = ours
        return worker

    def _reload(self, spawn_target: Any, target_loader: Any) -> None:
        self.reload_signal = False
        self.main_loop_interrupt.clear()
        if self.interrupt_signal or self.interrupt_children:  # came meanwhile, and must not be forgotten
            self.main_loop_interrupt.set()
        LOG.info("Reloading: each worker is replaced by one that reads the configuration anew")
        try:
            self.blocking_threads = self._reread()
            for idx in range(self.workers):
                self._replace(idx, spawn_target, target_loader)
        except _Stopped:
            return
        except Exception as problem:
            LOG.error("Not reloaded, the service goes on as it was: %s", problem)
        else:
            LOG.info("Reloaded")

    def _replace(self, idx: int, spawn_target: Any, target_loader: Any) -> None:
        new = self._spawn_worker(idx, spawn_target, target_loader)
        new.interrupt_by_parent = True  # until it serves, its end is no crash
        new.start()
        try:
            self._wait_for(new)
        except Exception:
            new.kill()
            new.join()
            raise
        new.interrupt_by_parent = False
        old, self.wrks[idx] = self.wrks[idx], new
        _take_leave([old])
        old.terminate()
        old.join(self.workers_kill_timeout)
        if old.is_alive():
            LOG.warning("Killing an old worker that did not end within %s s", self.workers_kill_timeout)
            old.kill()

    def _wait_for(self, worker: Any) -> None:
        """Until it listens. Raises the reason if it does not get there."""
        while not wait([worker.line, worker.inner.sentinel], _LOOK_SECONDS):
            if self.interrupt_signal:
                raise _Stopped
        said = "the new worker ended before it served; standard error has its last words"
        with contextlib.suppress(EOFError, OSError):
            if worker.line.poll():
                said = worker.line.recv()
        if said != LISTENING:
            raise RuntimeError(said)

    def _stop_workers(self) -> None:
        _take_leave(self.wrks)
        super()._stop_workers()


class _Stopped(Exception):
    """The service is to stop: there is nothing to reload any more."""


def _take_leave(workers: Sequence[Any]) -> None:
    for worker in workers:
        with contextlib.suppress(OSError):
            worker.line.send(None)
    time.sleep(LEAVE_SECONDS)


def _has_terminal() -> bool:
    try:
        with _TERMINAL.open("rb"):
            return True
    except OSError:
        return False


# --- in a worker -----------------------------------------------------------------------------------------------------


class Leaving:
    """The application of a worker, which can be told to say goodbye."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app
        self.is_leaving = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self.is_leaving:
            return self._app(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, ("connection", "close")], *more)

        return self._app(environ, start)


def begin(load: Callable[[], WSGIApplication], line: Connection) -> WSGIApplication:
    """Loads the application of a worker, and tells the parent when it is served, or why it cannot be."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the parent sees to it
    try:
        app = Leaving(load())
    except Exception as problem:
        line.send(str(problem) or repr(problem))
        raise
    threading.Thread(target=_keep_in_touch, args=(line, app), name="parent", daemon=True).start()
    return app


def _keep_in_touch(line: Connection, app: Leaving) -> None:
    while not _is_listening():
        time.sleep(_LOOK_SECONDS)
    with contextlib.suppress(EOFError, OSError):
        line.send(LISTENING)
        line.recv()
        app.is_leaving = True


def _is_listening() -> bool:
    """Whether a socket of this process does. Granian opens its own after the application is loaded."""
    if not _OPEN_FILES.exists():  # not Linux: then it has been open since before
        return True
    return any(map(_is_listener, map(int, os.listdir(_OPEN_FILES))))  # noqa: PTH208  # names are wanted, not paths


def _is_listener(number: int) -> bool:
    try:
        with socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as each:
            return bool(each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:  # no socket, or closed meanwhile
        return False
