# SPDX-License-Identifier: Apache-2.0

"""The runtime with threads: it does not interrupt, and it also works on modules that gevent has patched."""

from __future__ import annotations

import subprocess
import sys
import time

from plimsoll.runtime.threads import Threads

ON_PATCHED_MODULES = """
from gevent import monkey
monkey.patch_all()
import gevent, socket
from plimsoll.runtime.threads import Threads

runtime, order = Threads(), []
here, there = socket.socketpair()
event = runtime.new_event()

def wait():
    event.wait(60)
    order.append("event")
    runtime.wait_for_input(here.fileno(), 60)
    order.append("input")

waiter = gevent.spawn(wait)
runtime.yield_to_ready()
order.append("blocked")
event.set()
gevent.sleep(0.05)
order.append("blocked")
there.send(b"x")
waiter.join()
print(order, runtime.has_input(here.fileno()))
"""


def test_waits_switch_to_other_greenlets_where_gevent_has_patched_the_modules() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_PATCHED_MODULES], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "['blocked', 'event', 'blocked', 'input'] True"


def test_a_thread_is_not_interrupted() -> None:
    with Threads().time_limit(0.01):
        time.sleep(0.05)
        done = True
    assert done
