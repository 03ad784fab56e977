# SPDX-License-Identifier: Apache-2.0

"""Events, busy-polling and offloading, with threads and with gevent."""

import contextlib
import subprocess
import sys

import pytest

from plimsoll.runtime.scheduling import ConcurrencyGauge

INLINE_OR_OFFLOAD = """
import time
from gevent import monkey
monkey.patch_all()
from plimsoll.runtime.scheduling import ACTIVE_REQUESTS, InlineOrOffload, offload

real_thread, sleep = monkey.get_original("threading", "get_ident"), monkey.get_original("time", "sleep")
main_thread = real_thread()
runner = InlineOrOffload(0.05)

def print_thread(run, seconds=0):
    thread = run(lambda: sleep(seconds) or real_thread())
    print("inline" if thread == main_thread else "offloaded", runner.is_offloading)

with ACTIVE_REQUESTS, ACTIVE_REQUESTS:
    print_thread(offload)
    print_thread(runner.run)
    print_thread(runner.run, 0.1)
    print_thread(runner.run)
    ACTIVE_REQUESTS.count -= 1
    print_thread(runner.run)
    ACTIVE_REQUESTS.count += 1
    for _ in range(14):
        runner.run(lambda: None)
    print_thread(runner.run)
"""


def test_after_a_slow_run_work_is_offloaded_for_a_while_unless_one_request_is_active() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INLINE_OR_OFFLOAD], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "offloaded False",
        "inline False",
        "inline True",  # this run was slow
        "offloaded True",
        "inline True",  # a single active request
        "inline False",
    ]


SET_AND_WAIT = """
from plimsoll.runtime.scheduling import new_event
from threading import Thread

def wait_for(event):
    event.wait()
    order.append("resumed")

order, early = [], new_event()
early.set()
wait_for(early)  # an event that is set already does not block
late = new_event()
waiter = Thread(target=wait_for, args=(late,))
waiter.start()
waiter.join(0.1)
order.append("blocked")
late.set()
waiter.join()
late.set()
late.wait()  # and again
print(type(late).__name__, order)
"""


@pytest.mark.parametrize(
    ("before", "kind"), [("", "Event"), ("from gevent import monkey; monkey.patch_all()", "GreenletEvent")]
)
def test_an_event_resumes_its_waiter_with_threads_and_with_greenlets(before: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", before + SET_AND_WAIT], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == f"{kind} ['resumed', 'blocked', 'resumed']"


SET_AS_THE_TIMER_EXPIRES = """
from gevent import monkey
monkey.patch_all()
import gevent
from plimsoll.runtime.scheduling import new_event
event = new_event()
waiter = gevent.spawn(lambda: print(event.wait(10), event.wait(10)))
gevent.sleep(0)
gevent.get_hub().loop.run_callback(event._resume)  # as the timer does
event.set()
gevent.sleep(0.1)
event.set()
waiter.join()
"""


def test_an_event_that_is_set_as_the_wait_times_out_does_not_end_the_next_wait() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SET_AS_THE_TIMER_EXPIRES],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "True True"


BUSY_POLLS = """
from gevent import monkey
monkey.patch_all()
import contextlib, socket, time
from plimsoll.runtime import scheduling
here, there = socket.socketpair()
busy_poll = scheduling.BusyPoll(0.4)

def wait(*clients, active=1, worked=0.5, slept=0):
    # Whether it polled in a loop, and whether it found input.
    for client in clients:
        scheduling.CLIENT_TRACKER.record_request(client)
    time.sleep(worked)
    with contextlib.ExitStack() as requests:
        for _ in range(active):
            requests.enter_context(scheduling.ACTIVE_REQUESTS)
        with busy_poll:
            began = time.perf_counter()
            found = busy_poll.poll_until_readable(here.fileno())
            polled = time.perf_counter() - began > 0.2
            time.sleep(slept)
    return f"{'polled' if polled else 'did not poll'}, {found}"

print("first wait:", wait("one", "one", "one"))
print("after a short wait:", wait("one"))
print("little work in between:", wait("one", worked=0.05))
print("two clients:", wait("two", "one", "two"))
print("one client again:", wait("one", "one", "one"))
print("two active requests:", wait("one", active=2))
print("a long wait:", wait("one", slept=0.8))
print("after a long wait:", wait("one"))
there.send(b"x")
print("input is there:", wait("one"), here.recv(1))
print("no descriptor:", busy_poll.poll_until_readable(None), busy_poll.poll_until_readable(-1))
"""


def test_busy_polling_needs_a_single_client_and_a_short_last_wait() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUSY_POLLS], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "first wait: did not poll, False",
        "after a short wait: polled, False",
        "little work in between: did not poll, False",
        "two clients: did not poll, False",
        "one client again: polled, False",
        "two active requests: did not poll, False",
        "a long wait: polled, False",
        "after a long wait: did not poll, False",
        "input is there: did not poll, True b'x'",
        "no descriptor: False False",
    ]


def test_the_recent_maximum_of_a_gauge_decreases_by_one_per_call() -> None:
    gauge = ConcurrencyGauge()
    with contextlib.ExitStack() as blocks:
        for _ in range(3):
            blocks.enter_context(gauge)
        assert gauge.recent_maximum() == 3
        assert gauge.recent_maximum() == 3
    assert gauge.count == 0
    assert [gauge.recent_maximum() for _ in range(5)] == [3, 2, 1, 0, 0]
    with gauge:
        assert gauge.recent_maximum() == 1
