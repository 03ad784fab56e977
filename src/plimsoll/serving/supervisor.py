# SPDX-License-Identifier: Apache-2.0

"""Starts worker processes, replaces those that die, and ends them.

On SIGHUP each worker is replaced by one that reads the configuration anew. The new one listens before the old one
takes leave; if it cannot even begin, the old one stays.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from plimsoll.serving import worker
from plimsoll.serving.listening import Listen

LOG = logging.getLogger(__name__)

APPLICATION_FACTORY = "plimsoll.wsgi:load_for_good"

_PAUSE = 1.0
"""Seconds before a worker is started again in the place of one that could not begin."""
_LAST_WORDS_SECONDS = 5.0
_TERMINAL = Path("/dev/tty")


def run(
    listen: Listen,
    when_ready: Callable[[], None],
    factory: str = APPLICATION_FACTORY,
    reread: Callable[[], int] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Exits the process with 1 if no worker can be had.

    On SIGHUP workers are replaced, after `reread` found nothing wrong with the configuration (else it raises) and said
    how many requests each is to handle at a time now.
    """
    with listen.open() as listening, _Told() as told:
        supervisor = _Supervisor(factory, listening, listen, told)
        try:
            supervisor.begin(when_ready)
            supervisor.watch(reread or (lambda: listen.threads))
        except _Stopped:
            pass
        except _NoWorker:
            sys.exit(1)
        finally:
            supervisor.end()


class _Stopped(Exception):
    """The service is to stop."""


class _NoWorker(Exception):
    """None could begin, and none is left."""


class _Told:
    """What signals have asked for."""

    def __init__(self) -> None:
        self.reload = False
        self._to_stop = False
        self._had_terminal = _has_terminal()
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        os.set_blocking(self._reading, False)

    def __enter__(self) -> _Told:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._stop)
        signal.signal(signal.SIGHUP, self._hang_up)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        # Not back to what they were: to ask more than once changes nothing.
        signal.set_wakeup_fd(-1)
        os.close(self._reading)
        os.close(self._writing)

    def fileno(self) -> int:
        """Readable as soon as something is said."""
        return self._reading

    def hear(self) -> None:
        """Raises _Stopped if that was said."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reading, 512)
        if self._to_stop:
            raise _Stopped

    def _stop(self, *_: Any) -> None:
        self._to_stop = True

    def _hang_up(self, *_: Any) -> None:
        if self._had_terminal and not _has_terminal():  # it hung up: whoever started us there has gone
            self._stop()
        else:
            self.reload = True


def _has_terminal() -> bool:
    try:
        with _TERMINAL.open("rb"):
            return True
    except OSError:
        return False


class _Worker:
    """A fresh interpreter: what a worker is must not depend on what this process did before."""

    def __init__(self, factory: str, listening: socket.socket, threads: int) -> None:
        self._line, theirs = os.pipe()
        task = worker.Task(factory, listening.fileno(), theirs, threads, os.getpid())
        self.process = subprocess.Popen(task.command(), pass_fds=(task.listening, task.line))  # noqa: S603  # ourselves
        os.close(theirs)

    def fileno(self) -> int:
        """Readable when it says something, and from its end on."""
        return self._line

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def wait_until_it_listens(self, told: _Told) -> None:
        """Raises the reason if it does not get there."""
        while self not in _wait([told, self]):
            told.hear()
        said = os.read(self._line, 4096).decode()
        if said != worker.LISTENING:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_LAST_WORDS_SECONDS)
            raise RuntimeError(said or "the worker ended before it served; standard error has its last words")

    def end(self, until: float) -> None:
        """After SIGTERM."""
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            LOG.warning("Killing a worker that did not end within %s s", worker.SECONDS_TO_FINISH)
            self.kill()
        os.close(self._line)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _wait(sources: Iterable[_Told | _Worker], seconds: float | None = None) -> list[Any]:
    """Those that have something to say, once there is one."""
    with selectors.DefaultSelector() as selector:
        for each in sources:
            selector.register(each, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(seconds)]


def _end(workers: Sequence[_Worker]) -> None:
    """All at once, after they have finished what they have begun."""
    for each in workers:
        each.process.terminate()
    until = time.monotonic() + worker.SECONDS_TO_FINISH + 1
    for each in workers:
        each.end(until)


class _Supervisor:
    def __init__(self, factory: str, listening: socket.socket, listen: Listen, told: _Told) -> None:
        self._factory = factory
        self._listening = listening
        self._count = listen.workers
        self._threads = listen.threads
        self._told = told
        self._workers: list[_Worker] = []

    def begin(self, when_ready: Callable[[], None]) -> None:
        self._workers = [self._started() for _ in range(self._count)]
        for each in self._workers:
            try:
                each.wait_until_it_listens(self._told)
            except RuntimeError as problem:
                LOG.error("A worker cannot begin: %s", problem)
                raise _NoWorker from None
        when_ready()

    def watch(self, reread: Callable[[], int]) -> None:
        """Until it is to stop, which raises _Stopped."""
        while True:
            if self._told.reload:
                self._told.reload = False
                self._reload(reread)
            for place, each in enumerate(self._workers):
                if not each.is_alive:
                    LOG.error("Worker %s has died: %s", each.process.pid, each.process.returncode)
                    self._put_in_place_of_dead(place)
            _wait([self._told, *self._workers])
            self._told.hear()

    def end(self) -> None:
        _end(self._workers)

    def _started(self) -> _Worker:
        return _Worker(self._factory, self._listening, self._threads)

    def _reload(self, reread: Callable[[], int]) -> None:
        LOG.info("Reloading: each worker is replaced by one that reads the configuration anew")
        try:
            self._threads = reread()
            for place, old in enumerate(self._workers):
                self._workers[place] = self._new()
                _end([old])
        except _Stopped:
            raise
        except Exception as problem:
            LOG.error("Not reloaded, the service goes on as it was: %s", problem)
        else:
            LOG.info("Reloaded")

    def _new(self) -> _Worker:
        new = self._started()
        try:
            new.wait_until_it_listens(self._told)
        except BaseException:
            new.kill()
            new.end(time.monotonic())
            raise
        return new

    def _put_in_place_of_dead(self, place: int) -> None:
        while True:
            try:
                self._workers[place] = self._new()
                return
            except RuntimeError as problem:
                LOG.error("No worker in the place of one that died: %s", problem)
                if not any(each.is_alive for each in self._workers):
                    raise _NoWorker from None
            _wait([self._told], _PAUSE)
            self._told.hear()
