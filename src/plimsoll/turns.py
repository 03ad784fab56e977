# SPDX-License-Identifier: Apache-2.0

"""Long work that does not keep others from theirs.

Threads take turns by themselves. Where all requests of a process share one thread (gevent, see `serving`), others go on
only while somebody waits: whoever has much to do gives way now and then, or does it aside.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

T = TypeVar("T")


class Counted:
    """How many there are of something, as the server of this process counts them: `with AT_WORK`."""

    __slots__ = ("_most", "count")

    def __init__(self) -> None:
        self.count = 0
        self._most = 0

    def __enter__(self) -> None:
        self.count += 1
        if self.count > self._most:
            self._most = self.count

    def __exit__(self, *_: object) -> None:
        self.count -= 1

    def lately(self) -> int:
        """The most at the same time, lately: one less each time that this is asked, unless there were as many again."""
        most = self._most
        self._most = max(self.count, most - 1)
        return most


CONNECTED = Counted()
"""Clients that may ask for something."""
AT_WORK = Counted()
"""Requests that are being answered."""


def give_way() -> None:
    """Lets those go on who can."""
    time.sleep(0)


def let_others_come() -> None:
    """For who is about to do something for all: those who have asked by now are heard. Nobody is, if there is one client."""
    if CONNECTED.count > 1:
        give_way()


def aside(work: Callable[[], T]) -> T:
    """What this work gives. It may neither take a lock nor use a connection to a server: those are of this thread."""
    if not _all_share_one_thread():
        return work()
    from gevent import get_hub

    done: T = get_hub().threadpool.apply(work)
    return done


def aside_for_a_moment(work: Callable[[], T]) -> T:
    """The same for what is soon done. Who is alone does it here: to hand it to a thread takes as long."""
    return aside(work) if AT_WORK.count > 1 else work()


def wait_for_input(descriptor: int) -> None:
    """Until there is something to read there. gevent has a `poll` as well, but it takes twice as long as this."""
    if _all_share_one_thread():
        from gevent.socket import wait_read

        wait_read(descriptor)
    else:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        waiting.poll()


@cache
def _all_share_one_thread() -> bool:
    patches = sys.modules.get("gevent.monkey")
    return patches is not None and bool(patches.is_module_patched("threading"))
