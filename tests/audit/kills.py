# SPDX-License-Identifier: Apache-2.0

"""Kills the database every few seconds, cuts its wires more often, and kills a service once in a while."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from tests.audit.databases import AuditedDatabase
from tests.audit.fleet import Fleet
from tests.audit.wires import Wires

EVERY_FEW_SECONDS = (2.0, 5.0)
"""So long everything is well between two kills."""
ONCE_IN_A_WHILE = (8.0, 16.0)
OFTEN = (0.1, 1.0)
DOWN_SECONDS = (0.0, 1.5)


class Killer(threading.Thread):
    """Kills one of several at a time. Whatever it has killed is up again when the thread has ended."""

    def __init__(
        self,
        what: str,
        count: int,
        kill: Callable[[int], None],
        revive: Callable[[int], None],
        pause: tuple[float, float],
        dice: random.Random,
    ) -> None:
        super().__init__(name=f"killer of {what}", daemon=True)
        self.events: list[tuple[int, str]] = []
        """What was done, and when."""
        self.failure: BaseException | None = None
        self._what = what
        self._count = count
        self._kill = kill
        self._revive = revive
        self._pause = pause
        self._dice = dice
        self._stop_asked = threading.Event()

    def stop(self) -> None:
        """Asks the thread to end as soon as all is up again."""
        self._stop_asked.set()

    def run(self) -> None:
        try:
            while not self._stop_asked.wait(self._dice.uniform(*self._pause)):
                victim = self._dice.randrange(self._count)
                self._tell(f"{self._what} {victim} killed")
                self._kill(victim)
                self._stop_asked.wait(self._dice.uniform(*DOWN_SECONDS))
                self._revive(victim)
                self._tell(f"{self._what} {victim} is back")
        except BaseException as failure:  # told to whoever waits for the thread
            self.failure = failure

    def _tell(self, what: str) -> None:
        self.events.append((time.monotonic_ns(), what))


def killers(seed: int, database: AuditedDatabase, wires: Wires, fleet: Fleet) -> list[Killer]:
    """One for the database and one for its wires, if it is one that can be killed, and one for the services."""

    def dice(what: str) -> random.Random:
        return random.Random(f"{seed}/{what}")

    services, service_pause = len(fleet.services), ONCE_IN_A_WHILE if database.victims else EVERY_FEW_SECONDS
    found = [Killer("service", services, fleet.kill, fleet.revive, service_pause, dice("service"))]
    if database.victims:
        kill, revive = database.kill, database.revive
        found.append(Killer("database", database.victims, kill, revive, EVERY_FEW_SECONDS, dice("database")))
    if wires.count:
        found.append(Killer("wire", wires.count, wires.cut, _heals_by_itself, OFTEN, dice("wire")))
    return found


def _heals_by_itself(_: int) -> None:
    """Whoever needs a connection makes a new one."""
