# SPDX-License-Identifier: Apache-2.0

"""Where the time of a request goes: the seconds of each of its parts, measured from one lap to the next."""

from __future__ import annotations

import time
from itertools import pairwise
from wsgiref.types import WSGIEnvironment

from plimsoll.permit import permit_of

KEY = "plimsoll.timings"
"""A list of parts with the time at which each ended: cheap to add to, and read only for a slow request."""

PERMIT = "waiting for a permit"
AUTHENTICATION = "authentication"
BODY = "reading the body"
SEARCH = "search"
ENCODING = "encoding"
OTHER = "decision and database"

_SHOWN = 0.001
"""Seconds of a part that is worth to be named."""


def start(environ: WSGIEnvironment) -> None:
    """Begin to measure a request. The wait for a permit is over when the application is called."""
    now = time.perf_counter()
    environ[KEY] = [("", now - permit_of(environ).waited), (PERMIT, now)]


def lap(environ: WSGIEnvironment, part: str) -> None:
    """Count the time since the last lap for this part."""
    laps = environ.get(KEY)
    if laps is not None:
        laps.append((part, time.perf_counter()))


def total(environ: WSGIEnvironment) -> float:
    """Seconds from the arrival of the request to the last lap."""
    laps = environ[KEY]
    return float(laps[-1][1] - laps[0][1])


def describe(environ: WSGIEnvironment) -> str:
    """The parts that took longest, in that order."""
    laps: list[tuple[str, float]] = environ[KEY]
    parts: dict[str, float] = {}
    for (_, begin), (name, end) in pairwise(laps):
        parts[name] = parts.get(name, 0.0) + end - begin
    longest_first = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in longest_first if seconds >= _SHOWN)
