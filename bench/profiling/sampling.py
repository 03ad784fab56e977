# SPDX-License-Identifier: Apache-2.0

"""Sampling profiler of the main thread, a thousand samples per second.

The measured code runs at full speed. Each sample counts the time since the last one, so a wait during which no sample
was possible (a commit, a query) counts in full, for the function that was waiting.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERVAL = 0.001

Frame = tuple[str, str]
"""A file and a function in it."""

Classify = Callable[[list[Frame]], tuple[str, str]]
"""Maps the frames of the stack, innermost first, to a stage and a function."""


@contextmanager
def sample(classify: Classify) -> Iterator[dict[tuple[str, str], float]]:
    """Sample the main thread, which must be the caller; yield seconds by the result of `classify`."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    last = time.perf_counter()

    def take_sample(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[classify(_frames(frame))] += now - last
        # The time of the sampling itself is not counted.
        last = time.perf_counter()

    before = signal.signal(signal.SIGALRM, take_sample)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        yield seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _frames(frame: FrameType | None) -> list[Frame]:
    frames = []
    while frame is not None:
        frames.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    return frames
