# SPDX-License-Identifier: Apache-2.0

"""Usage sums in memory: equal in the process that wrote, in one that followed, and after a full load."""

import json
from uuid import uuid4

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import compare, differences
from plimsoll.service import allocations, usages
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.load import load_world
from plimsoll.storage.maintenance import data_migrations
from tests.ledger.conftest import ACTOR
from tests.ledger.test_ledger import make_provider
from tests.support.external_writes import external_transaction


def claim(placement: Placement, host: Provider, consumer: str, project: str, user: str, vcpu: int) -> None:
    wanted = {host.uuid: {"VCPU": vcpu}} if vcpu else {}
    assert allocations.claim(placement, ACTOR, [Claim(consumer, wanted, project, user, "T")]) is None


def test_sums_are_equal_after_following_and_after_a_full_load(
    placement: Placement, other: Placement, database: Database
) -> None:
    other.world()
    host = make_provider(placement, "host", VCPU=100)
    one, two, three = (str(uuid4()) for _ in range(3))
    for step in (
        (one, "red", "ann", 3),
        (two, "red", "bob", 2),
        (three, "red", "ann", 1),
        (one, "blue", "ann", 3),
        (two, "red", "ann", 4),
        (three, "red", "ann", 0),
    ):
        claim(placement, host, *step)
        world = placement.world()
        assert other.world().usages == world.usages
        assert Placement(Ledger(database)).world().usages == world.usages
    assert usages.of_owner(other, "red", None) == {"VCPU": 4}
    assert usages.by_consumer_type(other, "blue", "ann", None) == {"T": (1, {"VCPU": 3})}


def test_owners_are_compared_as_the_database_compares_them(
    placement: Placement, other: Placement, database: Database
) -> None:
    other.world()
    host = make_provider(placement, "host", VCPU=100)
    claim(placement, host, str(uuid4()), "red", "ann", 1)
    claim(placement, host, str(uuid4()), "RED", "Ann", 2)
    same = database.semantics().key("red") == database.semantics().key("RED")
    for each in (placement, other, Placement(Ledger(database))):
        assert usages.of_owner(each, "red", None) == {"VCPU": 3 if same else 1}
        assert usages.of_owner(each, "red", "ANN") == ({"VCPU": 3} if same else {})
    assert differences(other.ledger) == []


def test_the_online_migration_adds_owners_to_allocations_without_a_consumer(
    placement: Placement, database: Database
) -> None:
    host = make_provider(placement, "host", VCPU=100)
    claim(placement, host, str(uuid4()), "red", "ann", 3)
    with external_transaction(database) as conn:
        conn.exec_driver_sql("DELETE FROM consumers")
    assert usages.of_owner(placement, "red", None) == {}
    assert placement.ledger.snapshot().origin.has_allocations_without_consumer
    data_migrations.run_batch(database, 50, data_migrations.MigrationSettings("nobodys", "nobody"))
    assert usages.of_owner(placement, "nobodys", "nobody") == {"VCPU": 3}
    assert not placement.ledger.snapshot().origin.has_allocations_without_consumer


def test_a_change_of_an_earlier_release_causes_a_full_load(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Its effects have no owners of the allocations."""
    host, consumer = make_provider(placement, "host", VCPU=100), str(uuid4())
    claim(placement, host, consumer, "red", "ann", 3)
    before, after = ([[host.uuid, "VCPU", amount]] for amount in (3, 4))
    line = ["allocations_replaced", {"consumer": consumer, "before": before, "after": after}]
    with external_transaction(database, json.dumps([line])) as conn:
        conn.exec_driver_sql("UPDATE allocations SET used = 4")
    assert usages.of_owner(placement, "red", "ann") == {"VCPU": 4}
    assert "do not fit" not in caplog.text


def test_wrong_sums_are_reported(placement: Placement, database: Database) -> None:
    host, consumer = make_provider(placement, "host", VCPU=100), str(uuid4())
    claim(placement, host, consumer, "red", "ann", 3)
    before = placement.world()
    claim(placement, host, consumer, "red", "ann", 4)
    key = before.semantics.key
    expected = f"project {key('red')}, user {key('ann')}, consumers T: usage is "
    with database.read() as conn:
        differences_found = list(compare(before, load_world(conn, before.semantics).world))
    assert len([each for each in differences_found if each.startswith(expected)]) == 1
