# SPDX-License-Identifier: Apache-2.0

"""Long work that does not keep others from theirs.

Threads take turns by themselves. Where all requests of a process share one thread (gevent, see `serving`), others go on
only while somebody waits: whoever has much to do gives way now and then, or does it aside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

T = TypeVar("T")


def give_way() -> None:
    """Lets those go on who can."""
    time.sleep(0)


def aside(work: Callable[[], T]) -> T:
    """What this work gives. It may neither take a lock nor use a connection to a server: those are of this thread."""
    if not _all_share_one_thread():
        return work()
    from gevent import get_hub

    done: T = get_hub().threadpool.apply(work)
    return done


@cache
def _all_share_one_thread() -> bool:
    patches = sys.modules.get("gevent.monkey")
    return patches is not None and bool(patches.is_module_patched("threading"))
