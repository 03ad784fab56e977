# SPDX-License-Identifier: Apache-2.0

"""The interface of a runtime, as threads and greenlets implement it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import gevent
import pytest

from plimsoll.runtime.base import Runtime
from plimsoll.runtime.greenlets import Greenlets
from plimsoll.runtime.threads import Threads

Join = Callable[[], object]

SHORT = 0.05


def start(runtime: Runtime, work: Callable[[], object]) -> Join:
    """Run work beside this test, in a thread or a greenlet. Return the function that waits for its end."""
    if isinstance(runtime, Greenlets):
        return gevent.spawn(work).join
    thread = threading.Thread(target=work)
    thread.start()
    return thread.join


def sleep(runtime: Runtime, seconds: float) -> None:
    (gevent.sleep if isinstance(runtime, Greenlets) else time.sleep)(seconds)


@pytest.fixture(params=[Threads, Greenlets])
def runtime(request: pytest.FixtureRequest) -> Runtime:
    made: Runtime = request.param()
    return made


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def test_an_event_that_is_set_ends_one_wait(runtime: Runtime) -> None:
    event = runtime.new_event()
    assert not event.wait(0)
    event.set()
    assert event.wait()
    assert not event.wait(SHORT)
    event.set()
    event.set()
    assert event.wait(SHORT)
    assert not event.wait(0), "set twice is the same as once"


def test_an_event_resumes_its_waiter(runtime: Runtime) -> None:
    event = runtime.new_event()
    order: list[object] = []

    def wait() -> None:
        order.append(event.wait(60))
        order.append(event.wait())

    join = start(runtime, wait)
    sleep(runtime, SHORT)
    order.append("blocked")
    event.set()
    while len(order) < 2:
        sleep(runtime, 0.001)
    event.set()
    join()
    assert order == ["blocked", True, True]


@pytest.mark.parametrize("name", ["yield_now", "yield_to_ready"])
def test_a_greenlet_or_thread_that_yields_is_resumed(runtime: Runtime, name: str) -> None:
    done: list[int] = []

    def run() -> None:
        for number in range(3):
            getattr(runtime, name)()
            done.append(number)

    for join in [start(runtime, run) for _ in range(2)]:
        join()
    assert sorted(done) == [0, 0, 1, 1, 2, 2]


def test_offloaded_work_returns_its_result_or_raises_its_exception(
    runtime: Runtime, capfd: pytest.CaptureFixture[str]
) -> None:
    assert runtime.offload(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        runtime.offload(lambda: 1 / 0)
    assert capfd.readouterr().err == ""


def test_a_block_that_ends_in_time_is_not_interrupted(runtime: Runtime) -> None:
    with runtime.time_limit(SHORT):
        done = True
    sleep(runtime, 2 * SHORT)
    assert done


def test_input_is_found_also_after_the_other_side_has_closed(
    runtime: Runtime, pair: tuple[socket.socket, socket.socket]
) -> None:
    here, there = pair
    assert not runtime.has_input(here.fileno())
    there.send(b"x")
    assert runtime.has_input(here.fileno())
    here.recv(1)
    assert not runtime.has_input(here.fileno())
    there.close()
    assert runtime.has_input(here.fileno())


def test_a_wait_for_input_ends_with_input_or_at_its_time_limit(
    runtime: Runtime, pair: tuple[socket.socket, socket.socket]
) -> None:
    here, there = pair
    with pytest.raises(TimeoutError):
        runtime.wait_for_input(here.fileno(), SHORT)

    def send() -> None:
        sleep(runtime, SHORT)
        there.send(b"x")

    join = start(runtime, send)
    runtime.wait_for_input(here.fileno(), 60)
    assert here.recv(1) == b"x"
    join()


def test_a_wait_for_output_space_ends_with_space_with_input_or_at_its_time_limit(
    runtime: Runtime, pair: tuple[socket.socket, socket.socket]
) -> None:
    here, there = pair
    runtime.wait_for_input_or_output_space(here.fileno(), 60)
    here.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            here.send(b"x" * 65536)
    with pytest.raises(TimeoutError):
        runtime.wait_for_input_or_output_space(here.fileno(), SHORT)
    there.send(b"x")
    runtime.wait_for_input_or_output_space(here.fileno(), 60)


def test_iterating_with_yields_returns_all_items(runtime: Runtime) -> None:
    assert list(runtime.iterate_with_yields(range(100))) == list(range(100))
