# SPDX-License-Identifier: Apache-2.0

"""Whoever writes gives new rows their ids, which nobody has had, and which the database counts along with."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from sqlalchemy import Engine, Table, event, insert, select

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import RowInTheWay
from plimsoll.ledger.ledger import Ledger
from plimsoll.service import aggregates, allocations, inventories, providers, traits
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_beliefs import as_new
from tests.ledger.test_ledger import make


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """What is run one by one, before the last message or instead of it."""
    run: list[str] = []

    def noted(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            run.append(statement)

    event.listen(Engine, "before_cursor_execute", noted)
    yield run
    event.remove(Engine, "before_cursor_execute", noted)


def report(placement: Placement, name: str, racks: list[str]) -> Provider:
    """What a host does when it is new: all that it does at once."""
    host = make(placement, name)
    stock = {"VCPU": Inventory(8, allocation_ratio=16.0), "DISK_GB": Inventory(100)}
    inventories.replace(placement, SOMEBODY, host.uuid, 0, stock, reserve_all=True)
    traits.set_for_provider(placement, SOMEBODY, host.uuid, 1, ["HW_CPU_X86_AVX", "HW_CPU_X86_AVX2"])
    reported = aggregates.set_for_provider(placement, SOMEBODY, host.uuid, racks, 2)
    assert isinstance(reported, Provider)
    return reported


def without_an_id(database: Database, table: Table, **values: object) -> int:
    """A row that the database numbers, as for the reference."""
    with database.write() as conn:
        key = conn.execute(insert(table), values).inserted_primary_key
    assert key is not None
    return int(key[0])


def test_a_host_that_reports_takes_one_message_for_each_request(
    placement: Placement, statements: list[str]
) -> None:
    racks = [str(uuid4()), str(uuid4())]
    report(placement, "first", racks)
    statements.clear()
    host = report(placement, "second", racks)
    assert statements == []
    assert host.generation == 3
    assert host.aggregates == frozenset(racks)


def test_an_id_is_not_given_twice(placement: Placement, other: Placement) -> None:
    first, second = make(placement, "first"), make(placement, "second")
    assert second.id == first.id + 1
    other.world()
    providers.delete(placement, SOMEBODY, second.uuid)
    assert make(placement, "third").id == second.id + 1
    assert make(other, "fourth").id == second.id + 2


def test_who_starts_later_goes_on_after_the_highest_that_is_there(
    placement: Placement, database: Database
) -> None:
    first, second = make(placement, "first"), make(placement, "second")
    providers.delete(placement, SOMEBODY, second.uuid)
    third = make(Placement(Ledger(database)), "third")
    assert third.id == first.id + 1
    assert make(placement, "fourth").id == second.id + 1
    assert placement.world().providers[third.uuid] == third


def test_a_root_is_its_own_root_and_a_child_has_its_parents(placement: Placement, database: Database) -> None:
    root = make(placement, "root")
    child = make(placement, "child", root.uuid)
    p = t.resource_providers.c
    with database.read() as conn:
        rows = conn.execute(select(p.id, p.root_provider_id, p.parent_provider_id).order_by(p.id)).all()
    assert [tuple(row) for row in rows] == [(root.id, root.id, None), (child.id, root.id, root.id)]


def test_the_database_goes_on_counting_where_we_stopped(placement: Placement, database: Database) -> None:
    host = [make(placement, str(number), VCPU=1) for number in range(5)][-1]
    trait, _ = traits.create(placement, SOMEBODY, "CUSTOM_LAST")
    assert allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=1)]) is None
    kind = placement.world().consumer_types.by_name["INSTANCE"]
    assert without_an_id(database, t.resource_providers, uuid=str(uuid4()), name="next") > host.id
    assert without_an_id(database, t.traits, name="CUSTOM_NEXT") > trait.id
    assert without_an_id(database, t.consumer_types, name="NEXT") > kind.id
    with database.write() as conn:
        for table in (t.resource_providers, t.traits, t.consumer_types):
            conn.execute(table.delete().where(table.c.name.in_(["next", "CUSTOM_NEXT", "NEXT"])))


def test_an_id_that_an_unknown_row_has_is_passed_over(placement: Placement, database: Database) -> None:
    make(placement, "first")
    hidden = without_an_id(database, t.resource_providers, uuid=str(uuid4()), name="hidden")
    assert make(placement, "second").id == hidden + 1
    assert make(placement, "third").id == hidden + 2
    assert providers.create(placement, SOMEBODY, str(uuid4()), "hidden", None) == RowInTheWay()
    unknown = without_an_id(database, t.traits, name="CUSTOM_UNKNOWN")
    trait, is_new = traits.create(placement, SOMEBODY, "CUSTOM_KNOWN")
    assert is_new
    assert trait.id == unknown + 1
    with database.write() as conn:
        for table in (t.resource_providers, t.traits):
            conn.execute(table.delete().where(table.c.name.in_(["hidden", "CUSTOM_UNKNOWN"])))


@pytest.mark.parametrize("table", [t.allocations, t.inventories, t.resource_provider_aggregates])
def test_what_has_outlived_its_provider_does_not_become_anothers(
    placement: Placement, database: Database, table: Table
) -> None:
    last = make(placement, "last")
    needed = [column.name for column in table.columns if not column.nullable and column.name != "id"]
    row: dict[str, object] = dict.fromkeys(needed, 1)
    row |= {"consumer_id": str(uuid4())} if table is t.allocations else {}
    row["resource_provider_id"] = last.id + 5
    with database.write() as conn:
        conn.execute(insert(table), row)
    placement.ledger.reload()
    assert make(placement, "next").id == last.id + 6
    with database.write() as conn:
        conn.execute(table.delete().where(table.c.resource_provider_id == last.id + 5))
    placement.ledger.reload()


@pytest.mark.parametrize("ratio", [1.0, 16.0, 0.1, 1.1, 1 / 3, 1e-5, 123456.789, 3.4e38])
def test_a_ratio_is_kept_as_the_driver_would_have_kept_it(
    placement: Placement, database: Database, ratio: float
) -> None:
    host = make(placement, "host")
    stock = Inventory(2, allocation_ratio=ratio)
    added = inventories.add(placement, SOMEBODY, host.uuid, "VCPU", stock, reserve_all=True)
    assert isinstance(added, Provider)
    column, row = t.inventories.c.allocation_ratio, {"resource_provider_id": -1, "resource_class_id": 0}
    figures = {"total": 2, "reserved": 0, "min_unit": 1, "max_unit": 1, "step_size": 1}
    with database.write() as conn:
        conn.execute(insert(t.inventories), {**row, **figures, "allocation_ratio": ratio})
        ours, theirs = conn.scalars(select(column).order_by(t.inventories.c.id)).all()
        same = select(t.inventories.c.id).where(
            column == select(column).where(t.inventories.c.resource_provider_id == -1).scalar_subquery()
        )
        assert len(conn.scalars(same).all()) == 2
        conn.execute(t.inventories.delete().where(t.inventories.c.resource_provider_id == -1))
    assert ours == theirs == added.inventories["VCPU"].allocation_ratio
