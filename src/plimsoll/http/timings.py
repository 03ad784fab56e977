# SPDX-License-Identifier: Apache-2.0

"""Timings of a request: the seconds of each of its parts, measured from one lap to the next."""

from __future__ import annotations

import time
from itertools import pairwise
from wsgiref.types import WSGIEnvironment

from plimsoll.permit import permit_of

KEY = "plimsoll.timings"
"""Key of the WSGI environment: a list of parts with the time at which each ended. Read only for slow requests."""

Laps = list[tuple[str, float]]

PERMIT = "waiting for a permit"
AUTHENTICATION = "authentication"
BODY = "reading the body"
SEARCH = "search"
ENCODING = "encoding"
OTHER = "decision and database"

_MIN_SHOWN_SECONDS = 0.001
"""Shorter parts are left out."""


def start(environ: WSGIEnvironment) -> Laps:
    """Start to measure a request. The wait for a permit ended before the application was called."""
    now = time.perf_counter()
    laps = environ[KEY] = [("", now - permit_of(environ).waited), (PERMIT, now)]
    return laps


def lap(environ: WSGIEnvironment, part: str) -> None:
    """Add the time since the last lap to this part."""
    laps = environ.get(KEY)
    if laps is not None:
        laps.append((part, time.perf_counter()))


def leave_out(environ: WSGIEnvironment, seconds: float) -> None:
    """Leave out a wait that the client has requested, and that is over now."""
    laps = environ.get(KEY)
    if laps is not None:
        laps[:] = [(part, end + seconds) for part, end in laps]


def describe(laps: Laps) -> str:
    """Return the parts with their seconds, longest first."""
    parts: dict[str, float] = {}
    for (_, begin), (name, end) in pairwise(laps):
        parts[name] = parts.get(name, 0.0) + end - begin
    longest_first = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(
        f"{name} {seconds:.3f} s" for name, seconds in longest_first if seconds >= _MIN_SHOWN_SECONDS
    )
