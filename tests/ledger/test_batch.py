# SPDX-License-Identifier: Apache-2.0

"""A batch of commands has the same result as the same commands one by one, however they depend on each other."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from sqlalchemy import select

from plimsoll.domain.draft import Decision
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import (
    allocations,
    classes_and_traits,
    inventories,
    providers,
    traits_and_aggregates,
)
from plimsoll.domain.rules.allocations import ANY_GENERATION, Claim
from plimsoll.domain.world import World
from plimsoll.fast_paths import FastPaths
from plimsoll.ledger.command import Command, Ticket
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import integrity
from tests.ledger.conftest import ACTOR, make_tables
from tests.support.databases import Databases

PROVIDERS = ("p1", "p2", "p3")
CONSUMERS = ("c1", "c2", "c3")
CLASSES = ("CUSTOM_A", "CUSTOM_B")
TRAITS = ("CUSTOM_X", "CUSTOM_Y")
NOW = datetime(2026, 1, 1)


def random_decision(r: random.Random) -> tuple[Decision, tuple[str, ...]]:
    """Return a random decision and its consumers, in a world so small that most decisions conflict."""
    one, another, name = (
        r.choice(PROVIDERS),
        r.choice((None, *PROVIDERS)),
        r.choice(("left", "right", "middle")),
    )
    kind, other_kind, trait = r.choice(CLASSES), r.choice(CLASSES), r.choice(TRAITS)
    first, second = r.sample(CONSUMERS, 2)
    amounts = r.choice(({}, {one: {kind: r.randint(1, 3)}}, {p: {kind: 1} for p in PROVIDERS}))
    claim = Claim(
        first, amounts, r.choice("pq"), "u", r.choice((None, "T1", "T2")), r.choice((ANY_GENERATION, None, 1))
    )
    swap = Claim(second, {} if amounts else {one: {kind: 1}}, "p", "u")
    stock = Inventory(r.randint(1, 9))
    choices: tuple[tuple[Decision, tuple[str, ...]], ...] = (
        (lambda d: providers.add_provider(d, one, name, another), ()),
        (lambda d: providers.add_provider(d, one, name, None), ()),
        (lambda d: providers.change_provider(d, one, name, another, reparenting=True), ()),
        (lambda d: providers.remove_provider(d, one), ()),
        (lambda d: inventories.add_inventory(d, one, kind, stock, reserve_all=True), ()),
        (lambda d: inventories.clear_inventories(d, one), ()),
        (lambda d: traits_and_aggregates.set_traits(d, one, [trait], None), ()),
        (lambda d: traits_and_aggregates.set_aggregates(d, one, r.sample("abc", 2), None), ()),
        (lambda d: classes_and_traits.add_class(d, kind), ()),
        (lambda d: classes_and_traits.rename_class(d, kind, other_kind), ()),
        (lambda d: classes_and_traits.remove_class(d, kind), ()),
        (lambda d: classes_and_traits.add_trait(d, trait), ()),
        (lambda d: classes_and_traits.remove_trait(d, trait), ()),
        *[(lambda d: allocations.claim(d, [claim]), (first,))] * 4,
        (lambda d: allocations.claim(d, [claim, swap]), (first, second)),
        *[(lambda d: allocations.release(d, first), (first,))] * 2,
    )
    return r.choice(choices)


def random_commands(seed: int, count: int) -> list[Command]:
    r = random.Random(seed)
    return [Command("test", ACTOR, *random_decision(r)) for _ in range(count)]


def outcomes_of(tickets: Sequence[Ticket]) -> list[Refusal | None]:
    results = [ticket.result() for ticket in tickets]
    return [None if isinstance(result, World) else result for result in results]


def write(ledger: Ledger, commands: Sequence[Command], batch_size: int) -> list[Refusal | None]:
    outcomes: list[Refusal | None] = []
    for start in range(0, len(commands), batch_size):
        tickets = [Ticket(command, ledger.runtime) for command in commands[start : start + batch_size]]
        ledger._queue.extend(tickets)
        ledger._last_batch_size = len(tickets)  # so that all are taken into one batch
        ledger._commit_lock.acquire(tickets[0])
        lease = Lease(ledger._commit_lock, ledger.runtime)
        ledger._write_batch(lease)
        lease.release()
        outcomes += outcomes_of(tickets)
    return outcomes


@pytest.fixture
def ledgers(databases: Databases, fast_paths: FastPaths) -> Iterator[tuple[Ledger, Ledger]]:
    with databases.fresh("tables", make_tables) as single, databases.fresh("tables", make_tables) as batched:
        opened = [Database(url, fast_paths=fast_paths) for url in (single, batched)]
        one, many = (Ledger(each, fast_paths=fast_paths, clock=lambda: NOW) for each in opened)
        yield one, many
        for database in opened:
            database.dispose()


def rows_of_consumers(database: Database) -> list[tuple[object, ...]]:
    c, a = t.consumers.c, t.allocations.c
    with database.read() as conn:
        consumers = conn.execute(
            select(c.uuid, t.projects.c.external_id, c.generation, t.consumer_types.c.name)
            .join(t.projects, c.project_id == t.projects.c.id)
            .outerjoin(t.consumer_types, c.consumer_type_id == t.consumer_types.c.id)
            .order_by(c.uuid)
        ).all()
        allocations = conn.execute(
            select(a.consumer_id, a.resource_provider_id, a.resource_class_id, a.used).order_by(*a)
        ).all()
    return [tuple(row) for row in (*consumers, *sorted(allocations))]


def test_a_claim_after_a_class_rename_in_the_same_batch_uses_the_new_name(
    ledgers: tuple[Ledger, Ledger],
) -> None:
    def command(decide: Decision, *consumers: str) -> Command:
        return Command("test", ACTOR, decide, consumers)

    def claim_command(amount: int, kind: str) -> Command:
        claim = Claim("c1", {"p1": {kind: amount}}, "p", "u")
        return command(lambda d: allocations.claim(d, [claim]), "c1")

    commands = [
        command(lambda d: classes_and_traits.add_class(d, "CUSTOM_A")),
        command(lambda d: providers.add_provider(d, "p1", "left", None)),
        command(lambda d: inventories.add_inventory(d, "p1", "CUSTOM_A", Inventory(9), reserve_all=True)),
        claim_command(5, "CUSTOM_A"),
        command(lambda d: classes_and_traits.rename_class(d, "CUSTOM_A", "CUSTOM_B")),
        claim_command(7, "CUSTOM_B"),
    ]
    for ledger, batch_size in zip(ledgers, (1, len(commands)), strict=True):
        assert write(ledger, commands, batch_size) == [None] * len(commands)
        assert ledger.world().providers["p1"].used == {"CUSTOM_B": 7}


def test_a_late_command_in_a_batch_with_a_class_rename_uses_the_new_name(
    ledgers: tuple[Ledger, Ledger],
) -> None:
    ledger, _ = ledgers
    claim = Claim("c1", {"p1": {"CUSTOM_A": 5}}, "p", "u")
    first: list[Decision] = [
        lambda d: classes_and_traits.add_class(d, "CUSTOM_A"),
        lambda d: providers.add_provider(d, "p1", "left", None),
        lambda d: inventories.add_inventory(d, "p1", "CUSTOM_A", Inventory(9), reserve_all=True),
        lambda d: allocations.claim(d, [claim]),
    ]
    assert write(ledger, [Command("test", ACTOR, decide, ("c1",)) for decide in first], 1) == [None] * 4
    rename = Ticket(
        Command("test", ACTOR, lambda d: classes_and_traits.rename_class(d, "CUSTOM_A", "CUSTOM_B")),
        ledger.runtime,
    )
    late = [Ticket(Command("test", ACTOR, lambda d: allocations.release(d, "c1"), ("c1",)), ledger.runtime)]
    tickets = [rename, *late]

    def take_queued(batch: list[Ticket]) -> list[Ticket]:
        taken = late[:]
        late.clear()
        batch += taken
        return taken

    ledger._commit_lock.acquire(rename)
    lease = Lease(ledger._commit_lock, ledger.runtime)
    ledger._retrier.write([rename], take_queued, lease)
    lease.release()
    for ticket in tickets:
        ticket.finish()
    assert outcomes_of(tickets) == [None, None]
    assert ledger.world().providers["p1"].used == {}
    assert differences(ledger) == []


@pytest.mark.parametrize(("in_flight", "sizes"), [(0, [3, 3]), (2, [4, 2]), (6, [6]), (99, [6])])
def test_a_batch_takes_half_of_the_queued_commands_and_those_in_flight_on_a_server(
    ledgers: tuple[Ledger, Ledger], in_flight: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "commits_in_background", True)
    assert sizes_of_batches(ledgers[0], in_flight) == sizes


def test_a_batch_takes_all_queued_commands_on_an_in_process_database(
    ledgers: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "commits_in_background", False)
    assert sizes_of_batches(ledgers[0], 0) == [6]


def sizes_of_batches(ledger: Ledger, in_flight: int) -> list[int]:
    """Return the sizes of the batches in which six queued commands are written, after a batch of this size."""
    ledger._last_batch_size = in_flight

    def adds_provider(uuid: str) -> Command:
        return Command("test", ACTOR, lambda d: providers.add_provider(d, uuid, uuid, None))

    ledger._queue.extend(Ticket(adds_provider(uuid), ledger.runtime) for uuid in "abcdef")
    sizes = []
    while ledger._queue:
        before = len(ledger.world().providers)
        ledger._commit_lock.acquire(ledger._queue[0])
        lease = Lease(ledger._commit_lock, ledger.runtime)
        ledger._write_batch(lease)
        lease.release()
        sizes.append(len(ledger.world().providers) - before)
    return sizes


def test_a_provider_can_be_added_changed_removed_and_added_again_in_one_batch(
    ledgers: tuple[Ledger, Ledger],
) -> None:
    def command(decide: Decision, *consumers: str) -> Command:
        return Command("test", ACTOR, decide, consumers)

    def put(*kinds: str, total: int) -> Command:
        stocks = {kind: Inventory(total) for kind in kinds}
        return command(lambda d: inventories.put_inventories(d, "p1", stocks))

    def set_traits(*traits: str) -> Command:
        return command(lambda d: traits_and_aggregates.set_traits(d, "p1", traits, None))

    def set_aggregates(*aggregates: str) -> Command:
        return command(lambda d: traits_and_aggregates.set_aggregates(d, "p1", aggregates, None))

    def claim_command(amounts: dict[str, int]) -> Command:
        claim = Claim("c1", {"p1": amounts} if amounts else {}, "p", "u")
        return command(lambda d: allocations.claim(d, [claim]), "c1")

    def add_class(kind: str) -> Command:
        return command(lambda d: classes_and_traits.add_class(d, kind))

    def add_trait(trait: str) -> Command:
        return command(lambda d: classes_and_traits.add_trait(d, trait))

    add = command(lambda d: providers.add_provider(d, "p1", "left", None))
    commands = [
        *map(add_class, CLASSES),
        *map(add_trait, TRAITS),
        add,
        put("CUSTOM_A", total=3),
        put("CUSTOM_A", "CUSTOM_B", total=5),
        set_traits("CUSTOM_X"),
        set_aggregates("a", "b"),
        claim_command({"CUSTOM_A": 1, "CUSTOM_B": 5}),
        claim_command({"CUSTOM_A": 2}),
        put("CUSTOM_A", total=2),
        command(lambda d: providers.change_provider(d, "p1", "right", None, reparenting=True)),
        claim_command({}),
        command(lambda d: providers.remove_provider(d, "p1")),
        add,
        put("CUSTOM_B", total=7),
        set_traits("CUSTOM_X", "CUSTOM_Y"),
        set_aggregates("b", "c"),
        set_traits("CUSTOM_Y"),
        claim_command({"CUSTOM_B": 7}),
    ]
    for ledger, batch_size in zip(ledgers, (1, len(commands)), strict=True):
        assert write(ledger, commands, batch_size) == [None] * len(commands)
        assert differences(ledger) == []
        provider = ledger.world().providers["p1"]
        assert (provider.name, provider.used, provider.inventories) == (
            "left",
            {"CUSTOM_B": 7},
            {"CUSTOM_B": Inventory(7)},
        )
        assert (provider.traits, provider.aggregates) == (frozenset({"CUSTOM_Y"}), frozenset("bc"))


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_has_the_same_result_as_its_commands_one_by_one(
    ledgers: tuple[Ledger, Ledger], seed: int
) -> None:
    single, batched = ledgers
    first, second = (
        write(single, random_commands(seed, 240), 1),
        write(batched, random_commands(seed, 240), 40),
    )
    assert first == second
    assert first.count(None) > 30
    assert replace(batched.world(), semantics=single.world().semantics) == single.world()
    assert rows_of_consumers(batched.database) == rows_of_consumers(single.database)
    for ledger in ledgers:
        assert differences(ledger) == []
        with ledger.database.read() as conn:
            assert [each for each in integrity.verify(conn) if each.severity == "fault"] == []
