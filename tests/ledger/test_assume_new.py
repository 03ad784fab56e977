# SPDX-License-Identifier: Apache-2.0

"""A consumer that the client calls new is not read at first. If it exists, the outcome is correct all the same."""

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
from tests.ledger.conftest import ACTOR
from tests.ledger.test_ledger import make_claim, make_provider
from tests.support.external_writes import external_transaction


def make_new_claim(provider: Provider, consumer: str | None = None, **amounts: int) -> Claim:
    return replace(make_claim(provider, consumer, **amounts), expected_generation=None)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The consumers whose holdings are read from the database."""
    recorded: list[set[str]] = []
    original = Committer._holdings_query

    def recording(self: Committer, conn: object, consumers: set[str]) -> object:
        if consumers:
            recorded.append(set(consumers))
        return original(self, conn, consumers)  # type: ignore[arg-type]

    monkeypatch.setattr(Committer, "_holdings_query", recording)
    return recorded


def test_a_new_consumer_is_not_read(placement: Placement, reads: list[set[str]]) -> None:
    host = make_provider(placement, "host", VCPU=4)
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    assert reads == []
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_a_consumer_that_exists_already_is_detected(placement: Placement) -> None:
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=1)]) is None
    again = allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=2)])
    assert again == StaleConsumerGeneration(consumer, 1, None)
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_a_consumer_that_another_process_has_created_is_detected(
    placement: Placement, other: Placement
) -> None:
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    other.world()
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=1)]) is None
    again = allocations.claim(other, ACTOR, [make_new_claim(host, consumer, VCPU=2)])
    assert again == StaleConsumerGeneration(consumer, 1, None)
    assert differences(other.ledger) == []


def test_an_existing_consumer_is_refused_for_its_generation_before_any_other_reason(
    placement: Placement,
) -> None:
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=1)]) is None
    too_much = allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=5)])
    assert too_much == StaleConsumerGeneration(consumer, 1, None)
    new = allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=5)])
    assert new == CapacityExceeded(host.uuid, "host", "VCPU", asked=5, used=1, capacity=4)


def test_consumers_are_always_read_while_there_are_allocations_without_a_consumer(
    placement: Placement, database: Database
) -> None:
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=3)]) is None
    with external_transaction(database) as conn:  # as clients of the first releases of Placement left it
        conn.exec_driver_sql(f"DELETE FROM consumers WHERE uuid = '{consumer}'")
    old = Placement(Ledger(database))
    # Its old allocation is released: else there would be no capacity.
    assert allocations.claim(old, ACTOR, [make_new_claim(host, consumer, VCPU=2)]) is None
    assert old.world().providers[host.uuid].used == {"VCPU": 2}
    assert differences(old.ledger) == []
