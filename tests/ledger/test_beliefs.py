# SPDX-License-Identifier: Apache-2.0

"""A client that says that a consumer is new is believed at first; whatever it says, the answer is the right one."""

from dataclasses import replace
from uuid import uuid4

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import CapacityExceeded, StaleConsumerGeneration
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger.commit import Committer
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.service import allocations
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_ledger import make, wants
from tests.support.outsiders import by_hand


def as_new(provider: Provider, consumer: str | None = None, **amounts: int) -> Claim:
    return replace(wants(provider, consumer, **amounts), guard=None)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The consumers that the database is asked about."""
    looked: list[set[str]] = []
    asked = Committer._asked

    def noted(self: Committer, conn: object, consumers: set[str]) -> object:
        if consumers:
            looked.append(set(consumers))
        return asked(self, conn, consumers)  # type: ignore[arg-type]

    monkeypatch.setattr(Committer, "_asked", noted)
    return looked


def test_a_new_consumer_is_not_looked_for(placement: Placement, looks: list[set[str]]) -> None:
    host = make(placement, "host", VCPU=4)
    assert allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=1)]) is None
    assert looks == []
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_one_that_is_there_already_is_found_out(placement: Placement) -> None:
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=1)]) is None
    again = allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=2)])
    assert again == StaleConsumerGeneration(consumer, 1, None)
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_one_that_another_process_has_made_is_found_out(placement: Placement, other: Placement) -> None:
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    other.world()
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=1)]) is None
    again = allocations.claim(other, SOMEBODY, [as_new(host, consumer, VCPU=2)])
    assert again == StaleConsumerGeneration(consumer, 1, None)
    assert differences(other.ledger) == []


def test_that_it_is_there_already_counts_before_any_other_reason_to_refuse(placement: Placement) -> None:
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=1)]) is None
    too_much = allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=5)])
    assert too_much == StaleConsumerGeneration(consumer, 1, None)
    new = allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=5)])
    assert new == CapacityExceeded(host.uuid, "host", "VCPU", asked=5, used=1, capacity=4)


def test_nobody_is_believed_where_allocations_have_no_consumer(
    placement: Placement, database: Database
) -> None:
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=3)]) is None
    with by_hand(database) as conn:  # as a client of the first days left it
        conn.exec_driver_sql(f"DELETE FROM consumers WHERE uuid = '{consumer}'")
    old = Placement(Ledger(database))
    # What it holds is let go of: else there would not be room.
    assert allocations.claim(old, SOMEBODY, [as_new(host, consumer, VCPU=2)]) is None
    assert old.world().providers[host.uuid].used == {"VCPU": 2}
    assert differences(old.ledger) == []
