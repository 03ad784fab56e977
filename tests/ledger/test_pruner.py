# SPDX-License-Identifier: Apache-2.0

"""The retention of the change log, by number and by age."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from plimsoll.ledger import pruner
from plimsoll.ledger.pruner import Pruner, Retention
from plimsoll.service import traits
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.sql import utc_now
from tests.ledger.conftest import ACTOR

WRITES = 30


@pytest.fixture
def numbers(placement: Placement) -> list[int]:
    """Numbers of changes, which get one hour older from each to the one before."""
    for number in range(WRITES):
        traits.create(placement, ACTOR, f"CUSTOM_{number}")
    found = kept(placement)
    with placement.ledger.database.transaction() as transaction:
        transaction.lock_head()
        for age, number in enumerate(reversed(found)):
            at = utc_now() - timedelta(hours=age, minutes=30)
            transaction.connection.execute(update(t.changes).where(t.changes.c.seq == number).values(at=at))
        transaction.commit()
    return found


def kept(placement: Placement) -> list[int]:
    with placement.ledger.database.read() as conn:
        return list(conn.scalars(select(t.changes.c.seq).order_by(t.changes.c.seq)))


@pytest.mark.parametrize(
    ("retention", "expected"),
    [
        (Retention(), WRITES),
        (Retention(changes=12), 12),
        (Retention(age=timedelta(hours=20)), 20),
        (Retention(changes=12, age=timedelta(hours=20)), 12),
        (Retention(changes=20, age=timedelta(hours=12)), 12),
        (Retention(age=timedelta(minutes=1)), 5),
    ],
)
def test_the_newest_changes_are_kept(
    placement: Placement,
    numbers: list[int],
    retention: Retention,
    expected: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pruner, "KEPT_AT_ANY_AGE", 5)
    monkeypatch.setattr(pruner, "PRUNE_BATCH", 7)
    Pruner(placement.ledger.database, retention).prune(numbers[-1])
    remaining = kept(placement)
    assert remaining == numbers[-len(remaining) :]
    assert len(remaining) == (len(numbers) if retention == Retention() else expected)
