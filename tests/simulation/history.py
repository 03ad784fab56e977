# SPDX-License-Identifier: Apache-2.0

"""The commits of the database, and the checks of each.

Each commit is applied to a plain model of the rules (`tests/model/plain.py`) and compared with the rows. The states of
the model are then compared with memory and with the results of reads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from plimsoll.domain.world import World
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.storage.head import QUERY, Head
from tests.model.plain import PlainConsumer, PlainInventory, PlainPlacement, PlainProvider
from tests.simulation.operations import RESOURCE_CLASS, Write
from tests.simulation.scheduler import Violation

CLASS_ID = 0


@dataclass(frozen=True, eq=False)
class Entry:
    """A committed state of the database."""

    head: Head
    state: PlainPlacement
    between: tuple[PlainPlacement, ...] = ()
    """The states between the commands of its batch: reads do not see them, but a command was decided on each."""

    @cached_property
    def used(self) -> dict[str, int]:
        """By provider."""
        used: dict[str, int] = {}
        for consumer in self.state.consumers.values():
            for provider, amounts in consumer.holds.items():
                used[provider] = used.get(provider, 0) + amounts[RESOURCE_CLASS]
        return used

    @cached_property
    def used_by_project(self) -> dict[str, int]:
        used: dict[str, int] = {}
        for consumer in self.state.consumers.values():
            amount = sum(amounts[RESOURCE_CLASS] for amounts in consumer.holds.values())
            used[consumer.project] = used.get(consumer.project, 0) + amount
        return used


@dataclass(frozen=True)
class Moment:
    """A position in the history: when an operation began."""

    restores: int
    position: int


class History:
    """All commits, in order. A restore from a backup ends one line of commits and begins another."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.line: list[Entry] = [Entry(_head(connection), read_state(connection))]
        """The commits that the database contains now."""
        self.by_head: dict[Head, Entry] = {self.line[0].head: self.line[0]}
        """Every commit ever made."""
        self.revisions: dict[str, Head] = {}
        self.restores = 0
        self.writes: dict[str, Write] = {}
        self.committed: dict[str, int] = {}
        """The position of each write that the database contains, by its request."""
        self.ever_committed: set[str] = set()
        self.not_written: dict[str, str] = {}
        """The answer of each request that was refused or failed: it must never be written."""

    @property
    def last(self) -> Entry:
        return self.line[-1]

    def moment(self) -> Moment:
        return Moment(self.restores, len(self.line) - 1)

    def entries_since(self, moment: Moment) -> list[Entry]:
        """The states that a read may return that began at this moment and ends now."""
        if moment.restores == self.restores:
            return self.line[moment.position :]
        return list(self.by_head.values())

    def on_commit(self, connection: sqlite3.Connection) -> None:
        """Check the commit that this connection sees for the first time."""
        before = self.last
        head = _head(connection)
        if head == before.head:
            return  # it pruned the log
        rows = connection.execute(
            "SELECT seq, mark, request_id FROM plimsoll_changes WHERE seq > ? ORDER BY seq",
            (before.head.seq,),
        ).fetchall()
        if [row[0] for row in rows] != list(range(before.head.seq + 1, head.seq + 1)):
            raise Violation(
                f"the log leads from {before.head.seq} to {head.seq} by {[row[0] for row in rows]}"
            )
        if any(row[1] != head.mark for row in rows):
            raise Violation(f"change {head.seq}: its lines have other marks than the head")
        state, states = before.state, []
        for request_id, _ in groupby(row[2] for row in rows):
            state = copied(state)
            self._apply(request_id, state, head)
            states.append(state)
        entry = Entry(head, state, tuple(states[:-1]))
        found = read_state(connection)
        self._check_capacity(before.state, found, head)
        if found != state:
            raise Violation(f"change {head.seq}: " + "; ".join(_differences(state, found)))
        self.line.append(entry)
        self.by_head[head] = entry

    def restored_to(self, position: int) -> None:
        """The database was restored to the state that it had at this position."""
        self.restores += 1
        del self.line[position + 1 :]
        self.committed = {request: at for request, at in self.committed.items() if at <= position}

    def check_memory(self, snapshot: Snapshot, owner: str) -> None:
        """Memory equals the database at the head that it claims to be at."""
        entry = self.by_head.get(snapshot.head)
        if entry is None:
            raise Violation(f"memory of {owner} is at change {snapshot.head}, which was never committed")
        differences = list(_memory_differences(snapshot.world, entry))
        if differences:
            raise Violation(f"memory of {owner} at change {snapshot.head.seq}: " + "; ".join(differences))

    def _apply(self, request_id: str | None, state: PlainPlacement, head: Head) -> None:
        if request_id is None:
            return  # by the service itself, after a restore: a new epoch, and nothing else
        write = self.writes[request_id]
        if request_id in self.committed:
            raise Violation(
                f"change {head.seq}: {write} was committed before, as {self.committed[request_id]}"
            )
        if request_id in self.not_written:
            raise Violation(
                f"change {head.seq}: {write} was committed after its client was told:"
                f" {self.not_written[request_id]}"
            )
        if not write.apply(state):
            raise Violation(f"change {head.seq}: {write} was committed, and the rules refuse it")
        self.committed[request_id] = len(self.line)
        self.ever_committed.add(request_id)

    def _check_capacity(self, before: PlainPlacement, after: PlainPlacement, head: Head) -> None:
        """More than the capacity is used only where the capacity was lowered, and never comes to be used."""
        for uuid, provider in after.providers.items():
            inventory = provider.inventories.get(RESOURCE_CLASS)
            used = after.used(uuid, RESOURCE_CLASS)
            if used and (inventory is None or used > inventory.total):
                earlier = before.providers.get(uuid)
                was_lowered = earlier is None or earlier.inventories.get(RESOURCE_CLASS) != inventory
                if not was_lowered and used > before.used(uuid, RESOURCE_CLASS):
                    raise Violation(f"change {head.seq}: {used} of {inventory} are used at {uuid}")


def read_state(connection: sqlite3.Connection) -> PlainPlacement:
    """Return the rows of the database as a plain model."""
    uuids: dict[int, str] = {}
    providers: dict[str, PlainProvider] = {}
    query = connection.execute
    for id_, uuid, name, generation in query("SELECT id, uuid, name, generation FROM resource_providers"):
        uuids[id_] = uuid
        providers[uuid] = PlainProvider(name, None, generation)
    figures = "total, reserved, allocation_ratio, min_unit, max_unit, step_size"
    for id_, *row in query(f"SELECT resource_provider_id, {figures} FROM inventories"):
        providers[uuids[id_]].inventories[RESOURCE_CLASS] = PlainInventory(*row)
    for id_, aggregate in query(
        "SELECT resource_provider_id, uuid FROM resource_provider_aggregates"
        " JOIN placement_aggregates ON id = aggregate_id"
    ):
        providers[uuids[id_]].aggregates.add(aggregate)
    consumers = {
        uuid: PlainConsumer(generation, {}, project)
        for uuid, generation, project in query(
            "SELECT uuid, generation, external_id FROM consumers JOIN projects ON projects.id = project_id"
        )
    }
    for consumer, id_, used in query("SELECT consumer_id, resource_provider_id, used FROM allocations"):
        if consumer not in consumers:
            raise Violation(f"an allocation of {consumer}, which has no row of its own")
        amounts = consumers[consumer].holds.setdefault(uuids[id_], {})
        if RESOURCE_CLASS in amounts:
            raise Violation(f"{consumer} has two allocations at {uuids[id_]}")
        amounts[RESOURCE_CLASS] = used
    return PlainPlacement(providers, consumers)


def copied(state: PlainPlacement) -> PlainPlacement:
    """A copy whose methods do not change the original."""
    return PlainPlacement(
        {uuid: replace(each) for uuid, each in state.providers.items()}, dict(state.consumers)
    )


def _head(connection: sqlite3.Connection) -> Head:
    return Head(*connection.execute(QUERY).fetchone())


def _differences(expected: PlainPlacement, found: PlainPlacement) -> Iterator[str]:
    for kind in ("providers", "consumers"):
        in_model, in_rows = getattr(expected, kind), getattr(found, kind)
        for uuid in sorted(in_model.keys() | in_rows.keys()):
            if in_model.get(uuid) != in_rows.get(uuid):
                yield f"{uuid} must be {in_model.get(uuid)} and is {in_rows.get(uuid)}"


def _memory_differences(world: World, entry: Entry) -> Iterator[str]:
    expected = entry.state.providers
    if set(world.providers) != expected.keys():
        yield f"providers {sorted(world.providers)} instead of {sorted(expected)}"
        return
    for uuid, provider in world.providers.items():
        plain = expected[uuid]
        totals = {name: inventory.total for name, inventory in provider.inventories.items()}
        in_memory = (provider.generation, totals, provider.used.get(RESOURCE_CLASS, 0), provider.aggregates)
        plain_totals = {name: inventory.total for name, inventory in plain.inventories.items()}
        in_model = (plain.generation, plain_totals, entry.used.get(uuid, 0), frozenset(plain.aggregates))
        if in_memory != in_model:
            yield f"{uuid}: generation, totals, usage, aggregates are {in_memory} instead of {in_model}"
    usage = {
        project: sum(sums.get(RESOURCE_CLASS, 0) for users in types.values() for sums in users.values())
        for project, types in world.usages.items()
    }
    for project in usage.keys() | entry.used_by_project.keys():
        if usage.get(project, 0) != entry.used_by_project.get(project, 0):
            yield (
                f"{project}: usage is {usage.get(project, 0)} instead of"
                f" {entry.used_by_project.get(project, 0)}"
            )
