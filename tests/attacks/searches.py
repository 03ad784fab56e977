# SPDX-License-Identifier: Apache-2.0

"""Points 6 and 13: searches for allocation candidates without an end, and responses without a limit."""

from __future__ import annotations

from contextlib import suppress

from tests.attacks.attack import Outcome, Stop, attack, exchange, in_threads
from tests.attacks.sockets import request
from tests.attacks.target import Target


def groups(*units: int, policy: str, limit: int | None = None) -> bytes:
    """A request with a group for each of these amounts of the devices' units."""
    query = "&".join(f"resources{n}=CUSTOM_DEVICE:{amount}" for n, amount in enumerate(units, 1))
    bound = "" if limit is None else f"&limit={limit}"
    return request("GET", f"/allocation_candidates?{query}&group_policy={policy}{bound}")


TOO_MANY = groups(*[5] * 40, policy="none", limit=1)
"""Each of 32 devices has room for one group of 5, and there are 40."""
ENDLESS = groups(*[5] * 24, *[4] * 20, policy="none", limit=1)
"""24 devices take a group of 5, the 8 others two groups of 4 each, and there are 20: only all combinations show it."""
LARGE = groups(1, 1, 1, 1, policy="isolate")
"""863,040 candidates."""
LARGER = groups(*[1] * 8, policy="isolate")


@attack("6")
def searches_without_end(target: Target, stop: Stop, outcome: Outcome) -> None:
    """20 at a time, which is more than a worker has permits."""

    def search(_: int) -> None:
        while not stop.is_set():
            exchange(target, ENDLESS, outcome, seconds=30)

    with in_threads(20, search, stop):
        while not stop.wait(0.2):
            pass


@attack("6")
def searches_of_clients_that_have_gone(target: Target, stop: Stop, outcome: Outcome) -> None:
    while not stop.wait(0.02):
        with suppress(OSError):
            connection = target.connect(5)
            connection.try_send(ENDLESS)
            stop.wait(0.05)
            connection.reset()


def _send_repeatedly(target: Target, stop: Stop, outcome: Outcome, content: bytes) -> None:
    while not stop.is_set():
        exchange(target, content, outcome, seconds=60)


@attack("13")
def candidates_without_a_limit(target: Target, stop: Stop, outcome: Outcome) -> None:
    _send_repeatedly(target, stop, outcome, LARGE)


@attack("13")
def more_candidates_without_a_limit(target: Target, stop: Stop, outcome: Outcome) -> None:
    _send_repeatedly(target, stop, outcome, LARGER)


@attack("new")
def large_answers_that_are_not_read(target: Target, stop: Stop, outcome: Outcome) -> None:
    """20 clients request a long response and do not read it."""

    def send(_: int) -> None:
        while not stop.is_set():
            with suppress(OSError), target.connect(5, receive_buffer=4096) as connection:
                connection.try_send(groups(1, 1, 1, 1, policy="isolate", limit=5_000))
                if stop.wait(5.0):
                    return

    with in_threads(20, send, stop):
        while not stop.wait(0.2):
            pass
