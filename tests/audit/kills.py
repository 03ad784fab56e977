# SPDX-License-Identifier: Apache-2.0

"""Kill the database every few seconds, break its connections more often, kill a service now and then."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from functools import partial

from tests.audit.databases import AuditedDatabase
from tests.audit.fleet import Fleet
from tests.audit.proxies import Proxies

KILL_PAUSE = (2.0, 5.0)
"""Pause between two kills."""
RARE_KILL_PAUSE = (8.0, 16.0)
CONNECTION_FAULT_PAUSE = (0.1, 1.0)
DOWN_SECONDS = (0.0, 1.5)


class Killer(threading.Thread):
    """Kills one of several victims at a time. All are running again when the thread has ended."""

    def __init__(
        self,
        name: str,
        count: int,
        kill: Callable[[int], None],
        revive: Callable[[int], None],
        pause: tuple[float, float],
        rng: random.Random,
    ) -> None:
        super().__init__(name=f"killer of {name}", daemon=True)
        self.events: list[tuple[int, str]] = []
        """Kills and restarts, with their time."""
        self.failure: BaseException | None = None
        self._victim = name
        self._count = count
        self._kill = kill
        self._revive = revive
        self._pause = pause
        self._rng = rng
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Make the thread end once the current victim is running again."""
        self._stopping.set()

    def run(self) -> None:
        try:
            while not self._stopping.wait(self._rng.uniform(*self._pause)):
                victim = self._rng.randrange(self._count)
                self._record(f"{self._victim} {victim} killed")
                self._kill(victim)
                self._stopping.wait(self._rng.uniform(*DOWN_SECONDS))
                self._revive(victim)
                self._record(f"{self._victim} {victim} is running again")
        except BaseException as failure:  # raised again by the thread that joins this one
            self.failure = failure

    def _record(self, event: str) -> None:
        self.events.append((time.monotonic_ns(), event))


def create_killers(seed: int, database: AuditedDatabase, proxies: Proxies, fleet: Fleet) -> list[Killer]:
    """Return killers for the services and, if the database can be killed, for it and its connections."""

    def seeded(name: str) -> random.Random:
        return random.Random(f"{seed}/{name}")

    services, service_pause = len(fleet.services), RARE_KILL_PAUSE if database.victims else KILL_PAUSE
    found = [Killer("service", services, fleet.kill, fleet.revive, service_pause, seeded("service"))]
    if fleet.workers > 1:
        inject = partial(fleet.inject_worker_fault, rng=seeded("faults of workers"))
        found.append(Killer("worker of service", services, inject, _do_nothing, KILL_PAUSE, seeded("worker")))
    if database.victims:
        kill, revive = database.kill, database.revive
        found.append(Killer("database", database.victims, kill, revive, KILL_PAUSE, seeded("database")))
    if proxies.count:
        found.append(
            Killer(
                "proxy",
                proxies.count,
                proxies.inject_fault,
                _do_nothing,
                CONNECTION_FAULT_PAUSE,
                seeded("proxy"),
            )
        )
    return found


def _do_nothing(_: int) -> None:
    """Do nothing: the services reconnect, and start workers."""
