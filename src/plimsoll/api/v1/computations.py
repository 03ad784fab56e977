# SPDX-License-Identifier: Apache-2.0

"""Limit how many long computations of a process are in progress at a time: each holds megabytes until its response is built.

A computation releases the permit of its request when it first pauses, so that the permits do not limit them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from plimsoll.http.problems import Problem
from plimsoll.permit import Permit

MAX_RUNNING = 4
"""Computations in progress, per process. An explanation of hundreds of groups takes 20 MB, usage by host of 10,000 hosts 7 MB."""
LONGEST_WAIT = 60.0
"""Seconds that a request waits for others: the search of each takes `search_budget` at most."""
TRIMMED_SECONDS = 1.0
"""After a computation that took longer, freed memory is returned to the operating system."""
_slots = threading.BoundedSemaphore(MAX_RUNNING)

_TOO_MANY = "Too many long computations are in progress. Try again."
_NO_MEMORY = (
    "Responses that other clients have not received yet use the memory that this response needs. Try again."
)


@contextlib.contextmanager
def computation(permit: Permit) -> Iterator[None]:
    """Wait for a slot, without the permit, and compute within it. Raises a `Problem` if none is free in time."""
    if not _slots.acquire(blocking=False):
        with permit.released():
            is_acquired = _slots.acquire(timeout=LONGEST_WAIT)
        if not is_acquired:
            raise Problem(503, _TOO_MANY, retry_after=5)
    began = time.monotonic()
    try:
        permit.begin_computation()
        yield
    finally:
        _slots.release()
        if time.monotonic() - began > TRIMMED_SECONDS:
            permit.trim_memory()


def wait_for_memory(permit: Permit) -> None:
    """Wait until there is memory for a response of megabytes. Raises a `Problem` if there is none in time."""
    with permit.released():
        has_memory = permit.wait_for_memory()
    if not has_memory:
        raise Problem(503, _NO_MEMORY, retry_after=5)
