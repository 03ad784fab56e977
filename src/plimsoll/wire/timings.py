# SPDX-License-Identifier: Apache-2.0

"""Where the time of a request goes: the seconds of each of its parts, measured from one lap to the next."""

from __future__ import annotations

import time
from wsgiref.types import WSGIEnvironment

from plimsoll.permit import permit_of

KEY = "plimsoll.timings"

PERMIT = "waiting for a permit"
AUTHENTICATION = "authentication"
BODY = "reading the body"
SEARCH = "search"
ENCODING = "encoding"
OTHER = "decision and database"

_SHOWN = 0.001
"""Seconds of a part that is worth to be named."""


class Timings:
    __slots__ = ("_last", "_parts")

    def __init__(self, environ: WSGIEnvironment) -> None:
        """Begin to measure. The wait for a permit is over when the application is called."""
        self._parts = {PERMIT: permit_of(environ).waited}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Count the time since the last lap for this part."""
        now = time.perf_counter()
        self._parts[part] = self._parts.get(part, 0.0) + now - self._last
        self._last = now

    @property
    def total(self) -> float:
        return sum(self._parts.values())

    def __str__(self) -> str:
        longest_first = sorted(self._parts.items(), key=lambda part: -part[1])
        return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in longest_first if seconds >= _SHOWN)


def lap(environ: WSGIEnvironment, part: str) -> None:
    timings: Timings | None = environ.get(KEY)
    if timings is not None:
        timings.lap(part)
