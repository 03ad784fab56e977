# SPDX-License-Identifier: Apache-2.0

"""Commands written together leave what they would have left one by one, whatever they do to each other."""

import contextlib
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
from plimsoll.domain.rules.allocations import UNGUARDED, Claim
from plimsoll.domain.world import World
from plimsoll.ledger.command import Command, Ticket
from plimsoll.ledger.group_commit import Lease
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.runtime.scheduling import Counted
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import integrity
from tests.ledger.conftest import SOMEBODY, make_tables
from tests.support.databases import Databases

PROVIDERS = ("p1", "p2", "p3")
CONSUMERS = ("c1", "c2", "c3")
CLASSES = ("CUSTOM_A", "CUSTOM_B")
TRAITS = ("CUSTOM_X", "CUSTOM_Y")
NOW = datetime(2026, 1, 1)


def a_decision(r: random.Random) -> tuple[Decision, tuple[str, ...]]:
    """Something to do in a world so small that everything gets in the way of everything else."""
    one, another, name = (
        r.choice(PROVIDERS),
        r.choice((None, *PROVIDERS)),
        r.choice(("left", "right", "middle")),
    )
    kind, other_kind, trait = r.choice(CLASSES), r.choice(CLASSES), r.choice(TRAITS)
    first, second = r.sample(CONSUMERS, 2)
    amounts = r.choice(({}, {one: {kind: r.randint(1, 3)}}, {p: {kind: 1} for p in PROVIDERS}))
    claim = Claim(
        first, amounts, r.choice("pq"), "u", r.choice((None, "T1", "T2")), r.choice((UNGUARDED, None, 1))
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


def some_commands(seed: int, count: int) -> list[Command]:
    r = random.Random(seed)
    return [Command("test", SOMEBODY, *a_decision(r)) for _ in range(count)]


def answers(tickets: Sequence[Ticket]) -> list[Refusal | None]:
    results = [ticket.result() for ticket in tickets]
    return [None if isinstance(result, World) else result for result in results]


def write(ledger: Ledger, commands: Sequence[Command], at_once: int) -> list[Refusal | None]:
    told: list[Refusal | None] = []
    for start in range(0, len(commands), at_once):
        tickets = [Ticket(command) for command in commands[start : start + at_once]]
        ledger._queue.extend(tickets)
        ledger._pen.taken_by(tickets[0])
        turn = Lease(ledger._pen)
        ledger._write_batch(turn)
        turn.pass_on()
        told += answers(tickets)
    return told


@pytest.fixture
def ledgers(databases: Databases) -> Iterator[tuple[Ledger, Ledger]]:
    with databases.fresh("tables", make_tables) as alone, databases.fresh("tables", make_tables) as together:
        opened = Database(alone), Database(together)
        yield Ledger(opened[0], clock=lambda: NOW), Ledger(opened[1], clock=lambda: NOW)
        for database in opened:
            database.dispose()


def held(database: Database) -> list[tuple[object, ...]]:
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


def test_a_claim_after_a_rename_in_the_same_batch_knows_the_class_by_its_new_name(
    ledgers: tuple[Ledger, Ledger],
) -> None:
    def command(decide: Decision, *consumers: str) -> Command:
        return Command("test", SOMEBODY, decide, consumers)

    def claiming(amount: int, kind: str) -> Command:
        claim = Claim("c1", {"p1": {kind: amount}}, "p", "u")
        return command(lambda d: allocations.claim(d, [claim]), "c1")

    commands = [
        command(lambda d: classes_and_traits.add_class(d, "CUSTOM_A")),
        command(lambda d: providers.add_provider(d, "p1", "left", None)),
        command(lambda d: inventories.add_inventory(d, "p1", "CUSTOM_A", Inventory(9), reserve_all=True)),
        claiming(5, "CUSTOM_A"),
        command(lambda d: classes_and_traits.rename_class(d, "CUSTOM_A", "CUSTOM_B")),
        claiming(7, "CUSTOM_B"),
    ]
    for ledger, at_once in zip(ledgers, (1, len(commands)), strict=True):
        assert write(ledger, commands, at_once) == [None] * len(commands)
        assert ledger.world().providers["p1"].used == {"CUSTOM_B": 7}


def test_who_comes_late_to_a_batch_with_a_rename_is_known_by_the_new_name(
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
    assert write(ledger, [Command("test", SOMEBODY, decide, ("c1",)) for decide in first], 1) == [None] * 4
    rename = Ticket(
        Command("test", SOMEBODY, lambda d: classes_and_traits.rename_class(d, "CUSTOM_A", "CUSTOM_B"))
    )
    late = [Ticket(Command("test", SOMEBODY, lambda d: allocations.release(d, "c1"), ("c1",)))]
    tickets = [rename, *late]

    def take_up(batch: list[Ticket]) -> list[Ticket]:
        came = late[:]
        late.clear()
        batch += came
        return came

    ledger._pen.taken_by(rename)
    turn = Lease(ledger._pen)
    ledger._scribe.write([rename], take_up, turn)
    turn.pass_on()
    for ticket in tickets:
        ticket.finish()
    assert answers(tickets) == [None, None]
    assert ledger.world().providers["p1"].used == {}
    assert differences(ledger) == []


@pytest.mark.parametrize(
    ("at_work", "sizes"), [(0, [6]), (2, [2, 2, 2]), (5, [3, 3]), (8, [4, 2]), (99, [6])]
)
def test_half_of_those_at_work_are_written_while_the_other_half_is_decided(
    ledgers: tuple[Ledger, Ledger], at_work: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "works_by_itself", True)
    assert sizes_of_batches(ledgers[0], at_work, monkeypatch) == sizes


def test_all_who_wait_are_written_where_the_database_is_this_process(
    ledgers: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "works_by_itself", False)
    assert sizes_of_batches(ledgers[0], 5, monkeypatch) == [6]


def sizes_of_batches(ledger: Ledger, at_work: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of six that wait, while so many are at work."""
    counted = Counted()
    monkeypatch.setattr("plimsoll.ledger.ledger.AT_WORK", counted)

    def adding(uuid: str) -> Command:
        return Command("test", SOMEBODY, lambda d: providers.add_provider(d, uuid, uuid, None))

    ledger._queue.extend(Ticket(adding(uuid)) for uuid in "abcdef")
    found = []
    with contextlib.ExitStack() as all_of_them:
        for _ in range(at_work):
            all_of_them.enter_context(counted)
        while ledger._queue:
            before = len(ledger.world().providers)
            ledger._pen.taken_by(ledger._queue[0])
            turn = Lease(ledger._pen)
            ledger._write_batch(turn)
            turn.pass_on()
            found.append(len(ledger.world().providers) - before)
    return found


def test_one_provider_may_come_change_and_go_and_come_again_in_one_batch(
    ledgers: tuple[Ledger, Ledger],
) -> None:
    def command(decide: Decision, *consumers: str) -> Command:
        return Command("test", SOMEBODY, decide, consumers)

    def put(*kinds: str, total: int) -> Command:
        stocks = {kind: Inventory(total) for kind in kinds}
        return command(lambda d: inventories.put_inventories(d, "p1", stocks))

    def marked(*traits: str) -> Command:
        return command(lambda d: traits_and_aggregates.set_traits(d, "p1", traits, None))

    def joining(*aggregates: str) -> Command:
        return command(lambda d: traits_and_aggregates.set_aggregates(d, "p1", aggregates, None))

    def claiming(amounts: dict[str, int]) -> Command:
        claim = Claim("c1", {"p1": amounts} if amounts else {}, "p", "u")
        return command(lambda d: allocations.claim(d, [claim]), "c1")

    def adding_class(kind: str) -> Command:
        return command(lambda d: classes_and_traits.add_class(d, kind))

    def adding_trait(trait: str) -> Command:
        return command(lambda d: classes_and_traits.add_trait(d, trait))

    add = command(lambda d: providers.add_provider(d, "p1", "left", None))
    commands = [
        *map(adding_class, CLASSES),
        *map(adding_trait, TRAITS),
        add,
        put("CUSTOM_A", total=3),
        put("CUSTOM_A", "CUSTOM_B", total=5),
        marked("CUSTOM_X"),
        joining("a", "b"),
        claiming({"CUSTOM_A": 1, "CUSTOM_B": 5}),
        claiming({"CUSTOM_A": 2}),
        put("CUSTOM_A", total=2),
        command(lambda d: providers.change_provider(d, "p1", "right", None, reparenting=True)),
        claiming({}),
        command(lambda d: providers.remove_provider(d, "p1")),
        add,
        put("CUSTOM_B", total=7),
        marked("CUSTOM_X", "CUSTOM_Y"),
        joining("b", "c"),
        marked("CUSTOM_Y"),
        claiming({"CUSTOM_B": 7}),
    ]
    for ledger, at_once in zip(ledgers, (1, len(commands)), strict=True):
        assert write(ledger, commands, at_once) == [None] * len(commands)
        assert differences(ledger) == []
        provider = ledger.world().providers["p1"]
        assert (provider.name, provider.used, provider.inventories) == (
            "left",
            {"CUSTOM_B": 7},
            {"CUSTOM_B": Inventory(7)},
        )
        assert (provider.traits, provider.aggregates) == (frozenset({"CUSTOM_Y"}), frozenset("bc"))


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_leaves_what_its_commands_leave_one_by_one(ledgers: tuple[Ledger, Ledger], seed: int) -> None:
    alone, together = ledgers
    first, second = (write(alone, some_commands(seed, 240), 1), write(together, some_commands(seed, 240), 40))
    assert first == second
    assert first.count(None) > 30
    assert replace(together.world(), keeping=alone.world().keeping) == alone.world()
    assert held(together.database) == held(alone.database)
    for ledger in ledgers:
        assert differences(ledger) == []
        with ledger.database.read() as conn:
            assert [each for each in integrity.verify(conn) if each.severity == "fault"] == []
