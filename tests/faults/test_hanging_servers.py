# SPDX-License-Identifier: Apache-2.0

"""A server that hangs: its host acknowledges what is sent, but no result arrives. Each wait times out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from sqlalchemy import text

from plimsoll.domain.actor import Actor
from plimsoll.ledger.ledger import Ledger
from plimsoll.service import providers
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.dialects import mysql, postgresql
from plimsoll.storage.errors import DatabaseFault, OutcomeUnknown, Unreachable
from tests.faults.private_server import PrivateServer


@pytest.fixture
def placement(url: str, short_timeouts: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placement]:
    for dialect in (postgresql, mysql):
        monkeypatch.setattr(dialect, "RESULT_SECONDS", 1)
        monkeypatch.setattr(dialect, "CONNECT_SECONDS", 2)
    database = Database(url)
    yield Placement(Ledger(database))
    database.dispose()


def head(placement: Placement) -> object:
    return placement.ledger.database.head()


def query(placement: Placement) -> object:
    return placement.ledger.database.run_read(lambda connection: connection.scalar(text("SELECT 1")))


def point_query(placement: Placement) -> object:
    return placement.ledger.database.select_in(
        "SELECT id FROM resource_providers WHERE uuid IN (%s)", ["none"]
    )


def write(placement: Placement) -> object:
    return providers.create(placement, Actor("u", "p", "req-1"), str(uuid4()), str(uuid4()), None)


@pytest.mark.long
@pytest.mark.parametrize("operation", [head, query, point_query, write])
def test_an_operation_on_a_hanging_server_times_out(
    private_server: PrivateServer, placement: Placement, operation: Callable[[Placement], object]
) -> None:
    operation(placement)
    private_server.server.pause()
    try:
        with pytest.raises(DatabaseFault) as failed:
            operation(placement)
    finally:
        private_server.server.resume()
    assert isinstance(failed.value, Unreachable | OutcomeUnknown)
    operation(placement)
