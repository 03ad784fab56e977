# SPDX-License-Identifier: Apache-2.0

"""Who does what where all requests of a process share one thread."""

import contextlib
import subprocess
import sys

import pytest

from plimsoll.turns import Counted

HERE_OR_ASIDE = """
from gevent import monkey
monkey.patch_all()
from plimsoll.turns import AT_WORK, aside, aside_for_a_moment

real_thread = monkey.get_original("threading", "get_ident")
here = real_thread()

def is_done_here(how):
    return how(real_thread) == here

with AT_WORK:
    print(is_done_here(aside), is_done_here(aside_for_a_moment))
    with AT_WORK:
        print(is_done_here(aside), is_done_here(aside_for_a_moment))
print(is_done_here(aside_for_a_moment))
"""


def test_who_is_alone_does_here_what_is_soon_done() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HERE_OR_ASIDE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split("\n")[:3] == ["False True", "False False", "True"]


HEARD = """
from plimsoll.turns import bell
from threading import Thread

def listener(listened):
    listened.wait()
    heard.append("rung")

heard, late = [], bell()
late.ring()
listener(late)  # whoever is late does not wait
asleep = bell()
waiting = Thread(target=listener, args=(asleep,))
waiting.start()
waiting.join(0.1)
heard.append("not yet")
asleep.ring()
waiting.join()
asleep.ring()
asleep.wait()  # and again
print(type(asleep).__name__, heard)
"""


@pytest.mark.parametrize(
    ("before", "kind"), [("", "Bell"), ("from gevent import monkey; monkey.patch_all()", "_BellOfGreenlets")]
)
def test_a_bell_wakes_whoever_waits_for_it_among_threads_and_among_greenlets(before: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", before + HEARD], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == f"{kind} ['rung', 'not yet', 'rung']"


LOOKED_OUT = """
from gevent import monkey
monkey.patch_all()
import contextlib, socket, time
from plimsoll import turns
turns.A_MOMENT = 0.2
here, there = socket.socketpair()

def took_long():
    began = time.perf_counter()
    turns.look_out_for_input(here.fileno())
    return time.perf_counter() - began > 0.1

def tried(at_work):
    with contextlib.ExitStack() as some:
        for _ in range(at_work):
            some.enter_context(turns.AT_WORK)
        return took_long()

print(tried(0), tried(1), tried(2))
there.send(b"x")
print(tried(1), here.recv(1))
"""


def test_who_is_alone_looks_out_for_what_must_come_and_gives_up_after_a_moment() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKED_OUT], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split("\n")[:2] == ["False True False", "False b'x'"]


def test_who_has_just_gone_is_counted_for_a_while() -> None:
    counted = Counted()
    with contextlib.ExitStack() as some:
        for _ in range(3):
            some.enter_context(counted)
        assert counted.lately() == 3
        assert counted.lately() == 3
    assert counted.count == 0
    assert [counted.lately() for _ in range(5)] == [3, 2, 1, 0, 0]
    with counted:
        assert counted.lately() == 1
