# SPDX-License-Identifier: Apache-2.0

"""Where the time of a request goes: the seconds of each of its parts, measured from one lap to the next."""

from __future__ import annotations

import time
from itertools import pairwise
from wsgiref.types import WSGIEnvironment

from plimsoll.runtime.permit import permit_of

KEY = "plimsoll.timings"
"""A list of parts with the time at which each ended: cheap to add to, and read only for a slow request."""

Laps = list[tuple[str, float]]

PERMIT = "waiting for a permit"
AUTHENTICATION = "authentication"
BODY = "reading the body"
SEARCH = "search"
ENCODING = "encoding"
OTHER = "decision and database"

_SHOWN = 0.001
"""Seconds of a part that is worth to be named."""


def start(environ: WSGIEnvironment) -> Laps:
    """Begin to measure a request. The wait for a permit is over when the application is called."""
    now = time.perf_counter()
    laps = environ[KEY] = [("", now - permit_of(environ).waited), (PERMIT, now)]
    return laps


def lap(environ: WSGIEnvironment, part: str) -> None:
    """Count the time since the last lap for this part."""
    laps = environ.get(KEY)
    if laps is not None:
        laps.append((part, time.perf_counter()))


def describe(laps: Laps) -> str:
    """The parts that took longest, in that order."""
    parts: dict[str, float] = {}
    for (_, begin), (name, end) in pairwise(laps):
        parts[name] = parts.get(name, 0.0) + end - begin
    longest_first = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in longest_first if seconds >= _SHOWN)
