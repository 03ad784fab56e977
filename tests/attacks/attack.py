# SPDX-License-Identifier: Apache-2.0

"""An attack: a function that sends requests to the target until it is stopped."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.attacks.sockets import Closed, RawConnection, TooLate
from tests.attacks.target import Target

MOST_SECONDS = 120.0
"""The longest duration of an attack."""


class Stop:
    """The end of an attack: when it is set, or after its deadline."""

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._event = threading.Event()
        self._deadline = time.monotonic() + min(seconds, MOST_SECONDS)

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set() or time.monotonic() > self._deadline

    def wait(self, seconds: float) -> bool:
        """Pause; True if the attack has to end."""
        self._event.wait(min(seconds, max(0.0, self._deadline - time.monotonic())))
        return self.is_set()


@dataclass
class Outcome:
    """The responses that the attacker received."""

    statuses: Counter[int] = field(default_factory=Counter)
    longest: int = 0
    """Bytes of the longest body."""
    closed: int = 0
    """Connections that the server closed without a response."""

    def unexpected(self) -> dict[int, int]:
        """Server errors that are not deliberate: 503 has a time to retry, 501 and 505 refuse a part of HTTP."""
        deliberate = (501, 503, 505)
        return {
            status: n for status, n in self.statuses.items() if status >= 500 and status not in deliberate
        }


Run = Callable[[Target, Stop, Outcome], None]


@dataclass(frozen=True)
class Attack:
    name: str
    point: str
    """Which requirement it tests: a number of the list in docs/internals/http-server.md, or `new`."""
    run: Run
    settings: Mapping[str, str] = field(default_factory=dict)
    engines: tuple[str, ...] = ("sqlite", "postgresql", "mariadb")
    cloud: str = "small"
    """The cloud of `python -m tests.attacks`, one of `tests.attacks.clouds`. Tests have the small one."""


ATTACKS: dict[str, Attack] = {}


def attack(
    point: str,
    engines: tuple[str, ...] = ("sqlite", "postgresql", "mariadb"),
    cloud: str = "small",
    **settings: str,
) -> Callable[[Run], Run]:
    """Register a function under its own name, with hyphens instead of underscores."""

    def register(run: Run) -> Run:
        name = run.__name__.replace("_", "-")
        ATTACKS[name] = Attack(name, point, run, settings, engines, cloud)
        return run

    return register


def exchange(
    target: Target, content: bytes, outcome: Outcome, *, seconds: float = 30.0, method: str = "GET"
) -> None:
    """Send one request on a new connection, and record the response or its absence."""
    with suppress(OSError), target.connect(seconds) as connection:
        connection.try_send(content)
        receive(connection, outcome, method)


def receive(connection: RawConnection, outcome: Outcome, method: str = "GET") -> bool:
    """Record the response; False if there is none, or if the connection ends with it."""
    try:
        response = connection.response(method)
    except Closed:
        outcome.closed += 1
        return False
    except (TooLate, OSError):
        return False
    outcome.statuses[response.status] += 1
    outcome.longest = max(outcome.longest, len(response.body))
    return not response.is_closing


@contextmanager
def in_threads(count: int, work: Callable[[int], None], stop: Stop) -> Iterator[None]:
    """Run `work` in this many threads; stop and join them at the end."""
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join(35)


@contextmanager
def under_way(attack_: Attack, target: Target, seconds: float = MOST_SECONDS) -> Iterator[Outcome]:
    """Run an attack in a thread for the duration of a `with` block."""
    stop, outcome = Stop(seconds), Outcome()
    with in_threads(1, lambda _: attack_.run(target, stop, outcome), stop):
        yield outcome
