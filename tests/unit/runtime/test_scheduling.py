# SPDX-License-Identifier: Apache-2.0

"""Who does what where all requests of a process share one thread."""

import contextlib
import subprocess
import sys

import pytest

from plimsoll.runtime.scheduling import Counted

HERE_OR_ASIDE = """
import time
from gevent import monkey
monkey.patch_all()
from plimsoll.runtime.scheduling import AT_WORK, Errand, aside

real_thread, sleep = monkey.get_original("threading", "get_ident"), monkey.get_original("time", "sleep")
here = real_thread()
errand = Errand(0.05)

def where(how, seconds=0):
    done = how(lambda: sleep(seconds) or real_thread())
    print("here" if done == here else "aside", errand.is_aside)

with AT_WORK, AT_WORK:
    where(aside)
    where(errand.do)
    where(errand.do, 0.1)
    where(errand.do)
    AT_WORK.count -= 1
    where(errand.do)
    AT_WORK.count += 1
    for _ in range(14):
        errand.do(lambda: None)
    where(errand.do)
"""


def test_what_took_long_is_done_aside_for_a_while_unless_nobody_waits_for_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HERE_OR_ASIDE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "aside False",
        "here False",
        "here True",  # it has taken long
        "aside True",
        "here True",  # one client alone
        "here False",
    ]


HEARD = """
from plimsoll.runtime.scheduling import bell
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
    ("before", "kind"), [("", "Event"), ("from gevent import monkey; monkey.patch_all()", "_BellOfGreenlets")]
)
def test_a_bell_wakes_whoever_waits_for_it_among_threads_and_among_greenlets(before: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", before + HEARD], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == f"{kind} ['rung', 'not yet', 'rung']"


RUNG_AS_THE_TIMER_FIRES = """
from gevent import monkey
monkey.patch_all()
import gevent
from plimsoll.runtime.scheduling import bell
rung = bell()
waiting = gevent.spawn(lambda: print(rung.wait(10), rung.wait(10)))
gevent.sleep(0)
gevent.get_hub().loop.run_callback(rung._resume)  # as the timer does
rung.ring()
gevent.sleep(0.1)
rung.ring()
waiting.join()
"""


def test_a_bell_that_rings_as_the_wait_times_out_does_not_end_the_next_wait() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNG_AS_THE_TIMER_FIRES],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "True True"


LOOKED_OUT = """
from gevent import monkey
monkey.patch_all()
import contextlib, socket, time
from plimsoll.runtime import scheduling
here, there = socket.socketpair()
lookout = scheduling.Lookout(0.4)

def tried(*clients, at_work=1, worked=0.5, slept=0):
    # How long it was looked out for, and whether anything was there.
    for client in clients:
        scheduling.CLIENTS.note(client)
    time.sleep(worked)
    with contextlib.ExitStack() as some:
        for _ in range(at_work):
            some.enter_context(scheduling.AT_WORK)
        with lookout:
            began = time.perf_counter()
            found = lookout.spots(here.fileno())
            looked = time.perf_counter() - began > 0.2
            time.sleep(slept)
    return f"{'looked' if looked else 'did not'}, {found}"

print("the first time:", tried("one", "one", "one"))
print("after it came soon:", tried("one"))
print("little done:", tried("one", worked=0.05))
print("two clients:", tried("two", "one", "two"))
print("one again:", tried("one", "one", "one"))
print("two at work:", tried("one", at_work=2))
print("slowly:", tried("one", slept=0.8))
print("after that:", tried("one"))
there.send(b"x")
print("it is there:", tried("one"), here.recv(1))
print("nowhere:", lookout.spots(None), lookout.spots(-1))
"""


def test_a_lookout_is_kept_for_one_client_alone_and_for_what_came_soon_the_last_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKED_OUT], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "the first time: did not, False",
        "after it came soon: looked, False",
        "little done: did not, False",
        "two clients: did not, False",
        "one again: looked, False",
        "two at work: did not, False",
        "slowly: looked, False",
        "after that: did not, False",
        "it is there: did not, True b'x'",
        "nowhere: False False",
    ]


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
