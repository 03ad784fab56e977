# SPDX-License-Identifier: Apache-2.0

"""The server closes connections of the service: idle ones, and in the middle of a transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass

import pytest

from plimsoll.domain.actor import Actor
from plimsoll.domain.draft import Draft
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import providers
from plimsoll.domain.world import World
from plimsoll.ledger.command import Command
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage.database import Database
from tests.faults.administrator import Administrator
from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer
from tests.faults.requests import claim, new_uuid
from tests.faults.services import ClaimLoad, wait_until_recovered
from tests.support.api import Api, api

READERS = 5
LOAD_SECONDS = 4.0


@dataclass
class Case:
    api: Api
    administrator: Administrator
    database_rows: DatabaseRows
    host: str


@pytest.fixture
def case(private_server: PrivateServer, url: str) -> Iterator[Case]:
    with api(url) as service:
        database_rows = DatabaseRows(url)
        yield Case(
            service,
            Administrator(private_server.server, url),
            database_rows,
            service.host(new_uuid(), VCPU=100_000),
        )
        database_rows.assert_consistent()
        database_rows.close()
        wait_until_recovered(service)


def test_requests_succeed_after_all_idle_connections_were_closed(case: Case) -> None:
    consumer = new_uuid()
    assert case.api.put(f"/allocations/{consumer}", claim(case.host)).status == 204
    case.administrator.terminate_all()
    assert case.api.get(f"/resource_providers/{case.host}").status == 200
    case.administrator.terminate_all()
    assert case.api.get(f"/allocations/{consumer}").json["allocations"].keys() == {case.host}
    case.administrator.terminate_all()
    assert case.api.put(f"/allocations/{new_uuid()}", claim(case.host)).status == 204
    case.administrator.terminate_all()
    assert case.api.get("/allocation_candidates?resources=VCPU:1").status == 200


def test_a_pool_full_of_closed_connections_fails_no_request(case: Case) -> None:
    with ExitStack() as connections:
        for _ in range(READERS):
            connections.enter_context(case.api.database.read()).exec_driver_sql("SELECT 1")
    with ClaimLoad([lambda: nullcontext(case.api)], [case.host], clients=READERS) as load:
        load.wait_for_claims(READERS)
    case.administrator.terminate_all()
    for _ in range(READERS + 1):
        assert case.api.get("/usages?project_id=p").status == 200
        assert case.api.get(f"/allocations/{new_uuid()}").status == 200


def test_a_write_whose_connection_is_closed_during_the_decision_is_decided_again(
    case: Case, url: str
) -> None:
    database = Database(url)
    decisions: list[int] = []

    def decide(draft: Draft) -> Refusal | None:
        decisions.append(1)
        if len(decisions) == 1:
            case.administrator.terminate_all()
        return providers.add_provider(draft, new_uuid(), "decided twice", None)

    outcome = Ledger(database).submit(Command("test", Actor("u", "p", "req-1"), decide))
    database.dispose()
    assert isinstance(outcome, World)
    assert len(decisions) == 2
    assert case.database_rows.names()["decided twice"] == 1


@pytest.mark.parametrize("how", ["terminate", "interrupt"])
def test_claims_stay_complete_while_connections_are_closed_or_interrupted_at_random(
    case: Case, how: str
) -> None:
    dice = random.Random(7)
    fault = case.administrator.terminate if how == "terminate" else case.administrator.interrupt
    with ClaimLoad([lambda: nullcontext(case.api)], [case.host], clients=4) as load:
        until = time.monotonic() + LOAD_SECONDS
        while time.monotonic() < until:
            for connection in case.administrator.connections():
                if dice.random() < 0.5:
                    fault(connection)
            time.sleep(dice.uniform(0, 0.05))
        load.wait_for_claims(10)
    load.compare(case.database_rows)
