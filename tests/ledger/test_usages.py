# SPDX-License-Identifier: Apache-2.0

"""What owners use, in memory: the same for who wrote it, who followed, and who read it from SQL."""

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
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_ledger import make
from tests.support.outsiders import by_hand


def claim(placement: Placement, host: Provider, consumer: str, project: str, user: str, vcpu: int) -> None:
    wanted = {host.uuid: {"VCPU": vcpu}} if vcpu else {}
    assert allocations.claim(placement, SOMEBODY, [Claim(consumer, wanted, project, user, "T")]) is None


def test_who_follows_and_who_reads_anew_have_the_same_sums(
    placement: Placement, other: Placement, database: Database
) -> None:
    other.world()
    host = make(placement, "host", VCPU=100)
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


def test_owners_are_those_that_the_database_takes_for_the_same(
    placement: Placement, other: Placement, database: Database
) -> None:
    other.world()
    host = make(placement, "host", VCPU=100)
    claim(placement, host, str(uuid4()), "red", "ann", 1)
    claim(placement, host, str(uuid4()), "RED", "Ann", 2)
    same = database.keeping().key("red") == database.keeping().key("RED")
    for each in (placement, other, Placement(Ledger(database))):
        assert usages.of_owner(each, "red", None) == {"VCPU": 3 if same else 1}
        assert usages.of_owner(each, "red", "ANN") == ({"VCPU": 3} if same else {})
    assert differences(other.ledger) == []


def test_the_online_migration_gives_an_owner_to_what_had_none(
    placement: Placement, database: Database
) -> None:
    host = make(placement, "host", VCPU=100)
    claim(placement, host, str(uuid4()), "red", "ann", 3)
    with by_hand(database) as conn:
        conn.exec_driver_sql("DELETE FROM consumers")
    assert usages.of_owner(placement, "red", None) == {}
    assert placement.ledger.snapshot().origin.has_unrecorded
    data_migrations.run_batch(database, 50, data_migrations.MigrationSettings("nobodys", "nobody"))
    assert usages.of_owner(placement, "nobodys", "nobody") == {"VCPU": 3}
    assert not placement.ledger.snapshot().origin.has_unrecorded


def test_what_an_earlier_release_wrote_is_read_from_sql(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """It did not say whose the allocations were and are."""
    host, consumer = make(placement, "host", VCPU=100), str(uuid4())
    claim(placement, host, consumer, "red", "ann", 3)
    before, after = ([[host.uuid, "VCPU", amount]] for amount in (3, 4))
    line = ["allocations_replaced", {"consumer": consumer, "before": before, "after": after}]
    with by_hand(database, json.dumps([line])) as conn:
        conn.exec_driver_sql("UPDATE allocations SET used = 4")
    assert usages.of_owner(placement, "red", "ann") == {"VCPU": 4}
    assert "do not fit" not in caplog.text


def test_sums_that_are_wrong_are_told(placement: Placement, database: Database) -> None:
    host, consumer = make(placement, "host", VCPU=100), str(uuid4())
    claim(placement, host, consumer, "red", "ann", 3)
    before = placement.world()
    claim(placement, host, consumer, "red", "ann", 4)
    key = before.keeping.key
    expected = f"project {key('red')}, user {key('ann')}, consumers T: usage is "
    with database.read() as conn:
        told = list(compare(before, load_world(conn, before.keeping).world))
    assert len([each for each in told if each.startswith(expected)]) == 1
