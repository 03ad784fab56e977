# SPDX-License-Identifier: Apache-2.0

"""Start worker processes, replace those that end or hang, and stop them.

On SIGHUP each worker is replaced by one that reads the configuration again. The new one listens before the old one
stops; if the new one cannot start, the old one stays.
"""

from __future__ import annotations

import itertools
import logging
import socket
import sys
import time
from collections.abc import Callable, Sequence

from plimsoll.server import forwarding
from plimsoll.server.limits import Limits
from plimsoll.server.signals import Signals, Stopped
from plimsoll.server.sockets import Listen
from plimsoll.server.worker import STOP_SECONDS
from plimsoll.server.worker_process import WorkerProcess, wait_readable

LOG = logging.getLogger(__name__)

APPLICATION_FACTORY = "plimsoll.wsgi:load_for_server"

_RESTART_SECONDS = 1.0
"""Between two attempts to start a worker in place of one that has ended."""
_WATCH_SECONDS = 1.0


class _NoWorker(Exception):
    """No worker runs, and none could be started."""


def run(
    listen: Listen,
    limits: Limits,
    when_ready: Callable[[], None],
    factory: str = APPLICATION_FACTORY,
    read_limits: Callable[[], Limits] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Exit with 1 if no worker can be started.

    On SIGHUP, `read_limits` checks the configuration (and raises if it cannot be used) before workers are replaced.
    """
    with listen.open() as listening, Signals() as signals:
        supervisor = _Supervisor(factory, listening, listen.workers, limits, signals)
        try:
            supervisor.start(when_ready)
            supervisor.watch(read_limits or (lambda: limits))
        except Stopped:
            LOG.info("Stopping: requests in progress have %g s to finish", STOP_SECONDS)
        except _NoWorker:
            sys.exit(1)
        finally:
            supervisor.stop()
        LOG.info("Stopped")


class _Supervisor:
    def __init__(
        self, factory: str, listening: socket.socket, count: int, limits: Limits, signals: Signals
    ) -> None:
        self._factory = factory
        self._listening = listening
        self._count = count
        self._limits = limits
        self._signals = signals
        self._writer = forwarding.new_name() if count > 1 else ""
        self._workers: list[WorkerProcess] = []

    def start(self, when_ready: Callable[[], None]) -> None:
        for _ in range(self._count):
            self._workers.append(self._start_worker())
        for worker in self._workers:
            try:
                worker.wait_until_listening(self._signals)
            except RuntimeError as problem:
                LOG.error("A worker cannot start: %s", problem)
                raise _NoWorker from None
        when_ready()

    def watch(self, read_limits: Callable[[], Limits]) -> None:
        """Replace workers as needed, until the service is to stop, which raises Stopped."""
        while True:
            if self._signals.reload:
                self._signals.reload = False
                self._reload(read_limits)
            for number, worker in enumerate(self._workers):
                if not worker.is_alive:
                    LOG.error("Worker %s %s. Another one is started.", worker.pid, worker.describe_end())
                    worker.close()
                    self._replace(number)
                elif worker.is_hanging():
                    self._end_hanging(worker)
                    self._replace(number)
            wait_readable([self._signals, *self._workers], _WATCH_SECONDS)
            self._signals.check()

    def stop(self) -> None:
        _stop([worker for worker in self._workers if worker.is_alive])

    def _start_worker(self) -> WorkerProcess:
        used = {worker.number for worker in self._workers if worker.is_alive}
        number = next(number for number in itertools.count() if number not in used)
        return WorkerProcess(self._factory, self._listening, self._limits, number, self._writer)

    def _end_hanging(self, worker: WorkerProcess) -> None:
        LOG.error(
            "Worker %s has sent no heartbeat for %g s ([plimsoll]worker_timeout). It is killed and replaced. Its requests"
            " in progress and its stack follow.",
            *(worker.pid, self._limits.worker_timeout),
        )
        for line in worker.describe_hang():
            LOG.error("Worker %s: %s", worker.pid, line)
        worker.kill()

    def _reload(self, read_limits: Callable[[], Limits]) -> None:
        LOG.info("Reloading: each worker is replaced by one that reads the configuration again")
        before, replaced = self._limits, 0
        try:
            self._limits = read_limits()
            for number, old in enumerate(self._workers):
                self._workers[number] = self._start_listening()
                replaced += 1
                _stop([old])
        except Stopped:
            raise
        except Exception as problem:
            self._limits = before
            if replaced:
                LOG.error(
                    "Reloaded %s of %s workers, the others continue with the previous configuration: %s",
                    *(replaced, self._count, problem),
                )
            else:
                LOG.error("Not reloaded, the service continues with the previous configuration: %s", problem)
        else:
            LOG.info("Reloaded")

    def _start_listening(self) -> WorkerProcess:
        worker = self._start_worker()
        try:
            worker.wait_until_listening(self._signals)
        except BaseException:
            worker.kill()
            raise
        return worker

    def _replace(self, number: int) -> None:
        """Start a worker in place of one that has ended; retry until that succeeds."""
        while True:
            try:
                self._workers[number] = self._start_listening()
                LOG.info("Worker %s has started", self._workers[number].pid)
                return
            except (RuntimeError, OSError) as problem:  # OSError: out of memory, processes or files
                LOG.error("A worker cannot start: %s", problem)
                if not any(worker.is_alive for worker in self._workers):
                    raise _NoWorker from None
            wait_readable([self._signals], _RESTART_SECONDS)
            self._signals.check()


def _stop(workers: Sequence[WorkerProcess]) -> None:
    """Stop all workers in parallel, after they have finished their requests in progress."""
    for worker in workers:
        worker.terminate()
    deadline = time.monotonic() + STOP_SECONDS + 1
    for worker in workers:
        if not worker.join(deadline):
            LOG.warning("Worker %s was killed: it did not stop within %g s", worker.pid, STOP_SECONDS)
