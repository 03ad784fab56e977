# SPDX-License-Identifier: Apache-2.0

"""The supervisor's side of a worker process: start it, read its heartbeats, detect hangs, stop it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterable
from typing import IO, Any

from plimsoll.server import worker
from plimsoll.server.limits import Limits
from plimsoll.server.progress import SIZE, RequestsInProgress
from plimsoll.server.signals import Signals

_EXIT_SECONDS = 5.0
_HANG_GRACE_SECONDS = 2.0
"""A worker writes its stack after `worker_timeout`; this many seconds later it is replaced."""


class WorkerProcess:
    """A new interpreter: a worker must not depend on the state of the supervisor's process."""

    def __init__(
        self, factory: str, listening: socket.socket, limits: Limits, number: int = 0, writer: str = ""
    ) -> None:
        self.number = number
        """No other worker that is alive has the same one."""
        self._limits = limits
        self._last_heartbeat: float | None = None
        """When the last heartbeat arrived. None until the worker listens."""
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            self._stack = ours.enter_context(_memory_file())
            progress = theirs.enter_context(_memory_file())
            progress.truncate(SIZE)
            self._in_progress = RequestsInProgress(progress.fileno())
            self._status, status = os.pipe()
            ours.callback(os.close, self._status)
            theirs.callback(os.close, status)
            files = listening.fileno(), status, progress.fileno(), self._stack.fileno()
            task = worker.Task(factory, number, *files, os.getpid(), writer, limits)
            self._process = subprocess.Popen(task.command(), pass_fds=task.files)  # noqa: S603  # our own module
            self._files = ours.pop_all()

    @property
    def pid(self) -> int:
        return self._process.pid

    def fileno(self) -> int:
        """The status pipe: readable after a heartbeat, and when the worker has ended."""
        return self._status

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def is_hanging(self) -> bool:
        """True if no heartbeat has arrived for `worker_timeout`."""
        with contextlib.suppress(BlockingIOError):
            if os.read(self._status, 4096):
                self._last_heartbeat = time.monotonic()
        timeout = self._limits.worker_timeout
        if not timeout or self._last_heartbeat is None:
            return False
        return time.monotonic() - self._last_heartbeat > timeout + _HANG_GRACE_SECONDS

    def wait_until_listening(self, signals: Signals) -> None:
        """Raise RuntimeError with the reason if the worker cannot start, Stopped if the service is to stop."""
        while self not in wait_readable([signals, self]):
            signals.check()
        reported = os.read(self._status, 4096)
        if not reported.startswith(worker.LISTENING):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_SECONDS)
            raise RuntimeError(
                reported.decode("utf-8", "replace")
                or f"worker {self.pid} {self.describe_end()}; see standard error"
            )
        self._last_heartbeat = time.monotonic()
        os.set_blocking(self._status, False)

    def describe_end(self) -> str:
        """Return a description of how the process ended."""
        code = self._process.returncode
        if code is None or code >= 0:
            return f"has exited with status {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        hint = ", which the kernel sends when memory runs out: see its log" if -code == signal.SIGKILL else ""
        return f"was ended by signal {-code} ({name}{hint})"

    def describe_hang(self) -> list[str]:
        """Return the worker's requests in progress, and the stack in which it hangs."""
        size = os.fstat(self._stack.fileno()).st_size
        stack = os.pread(self._stack.fileno(), size, 0).decode("utf-8", "replace").splitlines()
        requests = [f"request in progress: {line}" for line in self._in_progress.lines()]
        return [*requests, *(stack or ["no stack was written"])]

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        self.close()

    def join(self, deadline: float) -> bool:
        """Wait until the process ends after `terminate`; False if it had to be killed."""
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self.close()
        return True

    def close(self) -> None:
        """Release the files of a process that has ended."""
        self._files.close()


def _memory_file() -> IO[bytes]:
    """Open a file in memory: the service must start on a read-only file system."""
    return os.fdopen(os.memfd_create("plimsoll"), "w+b")


def wait_readable(sources: Iterable[Signals | WorkerProcess], seconds: float | None = None) -> list[Any]:
    """Wait until a source is readable, at most `seconds`; return the readable ones."""
    with selectors.DefaultSelector() as selector:
        for each in sources:
            selector.register(each, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(seconds)]
