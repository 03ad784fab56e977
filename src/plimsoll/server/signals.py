# SPDX-License-Identifier: Apache-2.0

"""The signals that the supervisor handles."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

_TERMINAL = Path("/dev/tty")


class Stopped(Exception):
    """Raised after SIGTERM or SIGINT: the service stops."""


class Signals:
    """SIGTERM and SIGINT stop the service, SIGHUP reloads it. `fileno` is readable when one of them has arrived."""

    def __init__(self) -> None:
        self.reload = False
        self._stop = False
        self._had_terminal = _has_terminal()
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        os.set_blocking(self._reading, False)

    def __enter__(self) -> Signals:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_hang_up)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        # The handlers stay: a second signal while the service stops must not interrupt that.
        signal.set_wakeup_fd(-1)
        os.close(self._reading)
        os.close(self._writing)

    def fileno(self) -> int:
        return self._reading

    def check(self) -> None:
        """Raise Stopped if the service is to stop."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reading, 512)
        if self._stop:
            raise Stopped

    def _on_stop(self, *_: Any) -> None:
        self._stop = True

    def _on_hang_up(self, *_: Any) -> None:
        # The terminal in which the service was started was closed.
        if self._had_terminal and not _has_terminal():
            self._stop = True
        else:
            self.reload = True


def _has_terminal() -> bool:
    try:
        with _TERMINAL.open("rb"):
            return True
    except OSError:
        return False
