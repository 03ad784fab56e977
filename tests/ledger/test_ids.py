# SPDX-License-Identifier: Apache-2.0

"""The ledger assigns the ids of new rows: unused ones, and the database's own counter stays ahead of them."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from sqlalchemy import Engine, Table, event, insert, select

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import HiddenRowConflict, Refusal
from plimsoll.ledger.ledger import Ledger
from plimsoll.service import aggregates, allocations, classes, inventories, providers, traits
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from tests.ledger.conftest import ACTOR
from tests.ledger.test_assume_new import make_new_claim
from tests.ledger.test_ledger import make_provider
from tests.support.external_writes import committed_write


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements that are executed one by one, outside of the message that commits."""
    executed: list[str] = []

    def record(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            executed.append(statement)

    event.listen(Engine, "before_cursor_execute", record)
    yield executed
    event.remove(Engine, "before_cursor_execute", record)


def create_and_report(placement: Placement, name: str, racks: list[str]) -> Provider:
    """Create a provider and send its inventories, traits and aggregates, as a new compute host does."""
    host = make_provider(placement, name)
    stock = {"VCPU": Inventory(8, allocation_ratio=16.0), "DISK_GB": Inventory(100)}
    inventories.replace(placement, ACTOR, host.uuid, 0, stock, reserve_all=True)
    traits.set_for_provider(placement, ACTOR, host.uuid, 1, ["HW_CPU_X86_AVX", "HW_CPU_X86_AVX2"])
    reported = aggregates.set_for_provider(placement, ACTOR, host.uuid, racks, 2)
    assert isinstance(reported, Provider)
    return reported


def insert_without_id(database: Database, table: Table, **values: object) -> int:
    """Insert a row whose id the database assigns, as the reference does. Return the id."""
    with committed_write(database) as conn:
        key = conn.execute(insert(table), values).inserted_primary_key
    assert key is not None
    return int(key[0])


def test_each_request_of_a_reporting_host_takes_one_message(
    placement: Placement, statements: list[str]
) -> None:
    racks = [str(uuid4()), str(uuid4())]
    create_and_report(placement, "first", racks)
    statements.clear()
    host = create_and_report(placement, "second", racks)
    assert statements == []
    assert host.generation == 3
    assert host.aggregates == frozenset(racks)


def test_an_id_is_not_assigned_twice(placement: Placement, other: Placement) -> None:
    first, second = make_provider(placement, "first"), make_provider(placement, "second")
    assert second.id == first.id + 1
    other.world()
    providers.delete(placement, ACTOR, second.uuid)
    assert make_provider(placement, "third").id == second.id + 1
    assert make_provider(other, "fourth").id == second.id + 2


def test_a_process_that_starts_later_continues_after_the_highest_id(
    placement: Placement, database: Database
) -> None:
    first, second = make_provider(placement, "first"), make_provider(placement, "second")
    providers.delete(placement, ACTOR, second.uuid)
    third = make_provider(Placement(Ledger(database)), "third")
    assert third.id == first.id + 1
    assert make_provider(placement, "fourth").id == second.id + 1
    assert placement.world().providers[third.uuid] == third


def test_a_root_row_has_its_own_id_as_root_and_a_child_row_that_of_its_parent(
    placement: Placement, database: Database
) -> None:
    root = make_provider(placement, "root")
    child = make_provider(placement, "child", root.uuid)
    p = t.resource_providers.c
    with database.read() as conn:
        rows = conn.execute(select(p.id, p.root_provider_id, p.parent_provider_id).order_by(p.id)).all()
    assert [tuple(row) for row in rows] == [(root.id, root.id, None), (child.id, root.id, root.id)]


def test_the_database_assigns_ids_above_those_of_the_ledger(placement: Placement, database: Database) -> None:
    host = [make_provider(placement, str(number), VCPU=1) for number in range(5)][-1]
    created = traits.create(placement, ACTOR, "CUSTOM_LAST")
    assert not isinstance(created, Refusal)
    trait, _ = created
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    kind = placement.world().consumer_types.by_name["INSTANCE"]
    assert insert_without_id(database, t.resource_providers, uuid=str(uuid4()), name="next") > host.id
    assert insert_without_id(database, t.traits, name="CUSTOM_NEXT") > trait.id
    assert insert_without_id(database, t.consumer_types, name="NEXT") > kind.id
    with committed_write(database) as conn:
        for table in (t.resource_providers, t.traits, t.consumer_types):
            conn.execute(table.delete().where(table.c.name.in_(["next", "CUSTOM_NEXT", "NEXT"])))


def test_an_id_of_a_row_that_is_not_in_memory_is_skipped(placement: Placement, database: Database) -> None:
    make_provider(placement, "first")
    hidden_id = insert_without_id(database, t.resource_providers, uuid=str(uuid4()), name="hidden")
    assert make_provider(placement, "second").id == hidden_id + 1
    assert make_provider(placement, "third").id == hidden_id + 2
    assert providers.create(placement, ACTOR, str(uuid4()), "hidden", None) == HiddenRowConflict()
    hidden_trait_id = insert_without_id(database, t.traits, name="CUSTOM_UNKNOWN")
    created = traits.create(placement, ACTOR, "CUSTOM_KNOWN")
    assert not isinstance(created, Refusal)
    trait, is_new = created
    assert is_new
    assert trait.id == hidden_trait_id + 1
    assert traits.create(placement, ACTOR, "CUSTOM_UNKNOWN") == HiddenRowConflict()
    with committed_write(database) as conn:
        conn.execute(insert(t.resource_classes), {"id": 20_000, "name": "CUSTOM_UNKNOWN"})
    assert classes.ensure(placement, ACTOR, "CUSTOM_UNKNOWN") == HiddenRowConflict()
    with committed_write(database) as conn:
        for table in (t.resource_providers, t.traits, t.resource_classes):
            conn.execute(table.delete().where(table.c.name.in_(["hidden", "CUSTOM_UNKNOWN"])))


@pytest.mark.parametrize("table", [t.allocations, t.inventories, t.resource_provider_aggregates])
def test_rows_of_a_deleted_provider_do_not_become_those_of_a_new_one(
    placement: Placement, database: Database, table: Table
) -> None:
    last = make_provider(placement, "last")
    required = [column.name for column in table.columns if not column.nullable and column.name != "id"]
    row: dict[str, object] = dict.fromkeys(required, 1)
    row |= {"consumer_id": str(uuid4())} if table is t.allocations else {}
    row["resource_provider_id"] = last.id + 5
    with committed_write(database) as conn:
        conn.execute(insert(table), row)
    placement.ledger.reload()
    assert make_provider(placement, "next").id == last.id + 6
    with committed_write(database) as conn:
        conn.execute(table.delete().where(table.c.resource_provider_id == last.id + 5))
    placement.ledger.reload()


@pytest.mark.parametrize("ratio", [1.0, 16.0, 0.1, 1.1, 1 / 3, 1e-5, 123456.789, 3.4e38])
def test_a_ratio_is_stored_as_the_driver_would_store_it(
    placement: Placement, database: Database, ratio: float
) -> None:
    host = make_provider(placement, "host")
    stock = Inventory(2, allocation_ratio=ratio)
    added = inventories.add(placement, ACTOR, host.uuid, "VCPU", stock, reserve_all=True)
    assert isinstance(added, Provider)
    column, row = t.inventories.c.allocation_ratio, {"resource_provider_id": -1, "resource_class_id": 0}
    figures = {"total": 2, "reserved": 0, "min_unit": 1, "max_unit": 1, "step_size": 1}
    with committed_write(database) as conn:
        conn.execute(insert(t.inventories), {**row, **figures, "allocation_ratio": ratio})
        stored, stored_by_driver = conn.scalars(select(column).order_by(t.inventories.c.id)).all()
        equal_rows = select(t.inventories.c.id).where(
            column == select(column).where(t.inventories.c.resource_provider_id == -1).scalar_subquery()
        )
        assert len(conn.scalars(equal_rows).all()) == 2
        conn.execute(t.inventories.delete().where(t.inventories.c.resource_provider_id == -1))
    assert stored == stored_by_driver == added.inventories["VCPU"].allocation_ratio
