# SPDX-License-Identifier: Apache-2.0

"""The queue of greenlets that have yielded, so that a new request does not wait for all of them.

gevent runs everything that is ready between two polls of the sockets: 16 requests that yield at the same time would all
run on before a request that has just arrived. Here greenlets that yield wait in a queue, and a few of them are resumed
after each poll.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from functools import cache

from gevent import get_hub, getcurrent
from gevent.hub import Hub
from greenlet import greenlet

BETWEEN_POLLS = 0.0002
"""Seconds for which short steps run between two polls of the sockets. At least one step runs."""
_SHORTEST_TIMER = 1e-6
"""Seconds. Even the shortest timer expires after the next poll of the sockets."""
_LOWEST_PRIORITY = -2  # the lowest of gevent's loop


class YieldQueue:
    """The greenlets of one thread that have yielded, and wait to be resumed.

    The timer that resumes them has the lowest priority: it runs after the callbacks of all sockets that have input.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._timer = hub.loop.timer(_SHORTEST_TIMER, priority=_LOWEST_PRIORITY)
        self._is_started = False
        self._steps: deque[greenlet] = deque()
        self._computations: deque[greenlet] = deque()

    def wait(self, *, is_computation: bool = False) -> None:
        """Yield to other greenlets, including greenlets whose sockets were not polled yet.

        One computation is resumed after each poll of the sockets.
        """
        queue = self._computations if is_computation else self._steps
        current = getcurrent()
        queue.append(current)
        self._start()
        try:
            self._hub.switch()
        except BaseException:  # a timeout, or the end of the greenlet
            with contextlib.suppress(ValueError):
                queue.remove(current)
            raise

    @property
    def are_computations_waiting(self) -> bool:
        return bool(self._computations)

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            self._timer.start(self._resume)

    def _resume(self) -> None:
        self._is_started = False
        end = time.perf_counter() + BETWEEN_POLLS
        while self._steps:
            self._steps.popleft().switch()
            if time.perf_counter() >= end:
                break
        if self._computations:
            self._computations.popleft().switch()
        if self._steps or self._computations:
            self._start()


@cache
def _queue_of(hub: Hub) -> YieldQueue:
    return YieldQueue(hub)


def yield_now() -> None:
    """Yield to other requests, between two short steps of this one."""
    _queue_of(get_hub()).wait()


def yield_computation() -> None:
    """Yield to other requests. Computations that yield with this function are resumed in rotation."""
    _queue_of(get_hub()).wait(is_computation=True)


def are_computations_waiting() -> bool:
    return _queue_of(get_hub()).are_computations_waiting
