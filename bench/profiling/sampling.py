# SPDX-License-Identifier: Apache-2.0

"""Finds out where a thread spends its time, by looking at it a thousand times a second.

What is measured runs at full speed. Each look is worth the time since the last one, so that a wait in which the
thread could not be looked at (a commit, a query) counts in full, for the place where it comes back.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERVAL = 0.001

Place = tuple[str, str]
"""A file and a function in it."""

Classify = Callable[[list[Place]], tuple[str, str]]
"""From the places on the stack, innermost first, to what the time is counted for."""


@contextmanager
def sampled(classify: Classify) -> Iterator[dict[tuple[str, str], float]]:
    """Looks at the main thread, which must be the calling one; seconds by what `classify` makes of the stack."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    last = time.perf_counter()

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[classify(_places(frame))] += now - last
        # The look itself is nobody's.
        last = time.perf_counter()

    before = signal.signal(signal.SIGALRM, look)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        yield seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _places(frame: FrameType | None) -> list[Place]:
    places = []
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    return places
