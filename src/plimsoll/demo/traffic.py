# SPDX-License-Identifier: Apache-2.0

"""Live traffic: boots, deletions, migrations and searches that find nothing, at a rate, until it is stopped.

All of it is read from the service, so it works on any cloud, and several of these processes may run at a time.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.client.errors import UnreachableService
from plimsoll.demo.naming import PROJECTS, USERS, random_uuid
from plimsoll.demo.sender import Sender
from plimsoll.demo.workload import FLAVORS, Flavor, MadeUpConsumer, consumer_type
from plimsoll.demo.writing import claim_body, search

CANDIDATES = 200
"""Candidates of a search, one of which is chosen at random."""
_WEIGHTS = {"boots": 40, "deletions": 38, "migrations": 15, "failed searches": 7}
_MOST_DELETIONS_AHEAD = 5
"""In a small cloud many boots find no host; without this limit, deletions would empty it."""
_KINDS = ("cmp", "cmp", "cmp", "cmp", "mem", "pin", "gpu", "vdi", "net")


def aggregates_of(sender: Sender) -> dict[str, int]:
    """Return the aggregates of the service with their numbers of providers."""
    groups = sender.require("GET", "/plimsoll/v1/usage?group_by=aggregate")["groups"]
    return {each["group"]: each["providers"] for each in groups if each["group"] and each["providers"]}


@dataclass(slots=True)
class Traffic:
    """One client of the cloud. `counts` has what was done, and what the service refused."""

    sender: Sender
    failing_queries: Sequence[str]
    aggregates: Mapping[str, int] = field(default_factory=dict)
    """Numbers of providers by aggregate. Each boot is in one of them, chosen at random; without any, anywhere."""
    source: random.Random = field(default_factory=random.Random)
    counts: Counter[str] = field(default_factory=Counter)

    def run(
        self, rate: float, is_stopped: Callable[[], bool], report: Callable[[Counter[str]], None]
    ) -> None:
        """Send `rate` actions per second until `is_stopped` returns true. A service that is away is tried again."""
        due = time.monotonic()
        while not is_stopped():
            try:
                self.act()
            except UnreachableService:
                self.counts["unreachable"] += 1
                time.sleep(1)
            report(self.counts)
            due = max(due + self.source.expovariate(rate), time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))

    def act(self) -> None:
        """Do one action, chosen at random."""
        kind = self.source.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        if kind == "deletions" and self.counts["deletions"] >= self.counts["boots"] + _MOST_DELETIONS_AHEAD:
            kind = "boots"
        if kind == "failed searches":
            search(self.sender, self.source.choice(self.failing_queries), self.source)
            done = True
        elif kind == "boots":
            done = self._boot()
        else:
            done = self._change_existing(moves=kind == "migrations")
        self.counts[kind if done else "refused"] += 1

    def _boot(self) -> bool:
        flavor = self.source.choice(FLAVORS[self.source.choice(_KINDS)])
        allocations = self._candidate(flavor.query)
        if allocations is None:
            return False
        consumer = MadeUpConsumer(
            random_uuid(self.source),
            self.source.choice(PROJECTS[:8]),
            self.source.choice(USERS),
            consumer_type(self.source) or "INSTANCE",
            allocations,
        )
        return self._put(consumer, None)

    def _change_existing(self, moves: bool) -> bool:
        found = self._any_consumer()
        if found is None:
            return False
        if not moves:
            status, _ = self.sender.call("DELETE", f"/allocations/{found['uuid']}")
            return status == 204
        groups = tuple(dict(each["resources"]) for each in found["allocations"].values())
        allocations = self._candidate(Flavor(groups).query)
        if allocations is None:
            return False
        kind = None if found["type"] == "unknown" else found["type"]
        consumer = MadeUpConsumer(
            found["uuid"], found["project"], found["user"], kind or "INSTANCE", allocations
        )
        return self._put(consumer, found["generation"])

    def _put(self, consumer: MadeUpConsumer, generation: int | None) -> bool:
        status, _ = self.sender.call("PUT", f"/allocations/{consumer.uuid}", claim_body(consumer, generation))
        return status == 204

    def _candidate(self, query: str) -> dict[str, dict[str, int]] | None:
        within = ""
        if self.aggregates:
            within = f"&member_of={self.source.choices([*self.aggregates], [*self.aggregates.values()])[0]}"
        found = search(self.sender, f"{query}{within}&limit={CANDIDATES}", self.source)
        choices: list[Any] = (found or {}).get("allocation_requests") or []
        if not choices:
            return None
        chosen = self.source.choice(choices)["allocations"]
        return {uuid: each["resources"] for uuid, each in chosen.items()}

    def _any_consumer(self) -> dict[str, Any] | None:
        """Return the consumer after a random uuid; at the end of the list, the first one."""
        for after in (f"&after={random_uuid(self.source)}", ""):
            page = self.sender.require("GET", f"/plimsoll/v1/consumers?limit=1{after}")
            if page["consumers"]:
                consumer: dict[str, Any] = page["consumers"][0]
                return consumer
        return None
