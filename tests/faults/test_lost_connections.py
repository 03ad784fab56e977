# SPDX-License-Identifier: Apache-2.0

"""Connections end under the service's hands: while nobody uses them, and in the middle of a transaction."""

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
from tests.faults.books import Books
from tests.faults.ground import Ground
from tests.faults.requests import claim, new_uuid
from tests.faults.services import Storm, settle
from tests.faults.strangers import Stranger
from tests.support.api import Api, api

READERS = 5
STORM_SECONDS = 4.0


@dataclass
class Case:
    api: Api
    stranger: Stranger
    books: Books
    host: str


@pytest.fixture
def case(ground: Ground, url: str) -> Iterator[Case]:
    with api(url) as service:
        books = Books(url)
        yield Case(service, Stranger(ground.server, url), books, service.host(new_uuid(), VCPU=100_000))
        books.assert_sound()
        books.close()
        settle(service)


def test_requests_after_all_idle_connections_have_ended_are_answered_well(case: Case) -> None:
    consumer = new_uuid()
    assert case.api.put(f"/allocations/{consumer}", claim(case.host)).status == 204
    case.stranger.end_all()
    assert case.api.get(f"/resource_providers/{case.host}").status == 200
    case.stranger.end_all()
    assert case.api.get(f"/allocations/{consumer}").json["allocations"].keys() == {case.host}
    case.stranger.end_all()
    assert case.api.put(f"/allocations/{new_uuid()}", claim(case.host)).status == 204
    case.stranger.end_all()
    assert case.api.get("/allocation_candidates?resources=VCPU:1").status == 200


def test_a_pool_full_of_dead_connections_costs_no_request(case: Case) -> None:
    with ExitStack() as at_once:
        for _ in range(READERS):
            at_once.enter_context(case.api.database.read()).exec_driver_sql("SELECT 1")
    with Storm([lambda: nullcontext(case.api)], [case.host], clients=READERS) as storm:
        storm.until_claimed(READERS)
    case.stranger.end_all()
    for _ in range(READERS + 1):
        assert case.api.get("/usages?project_id=p").status == 200
        assert case.api.get(f"/allocations/{new_uuid()}").status == 200


def test_a_write_whose_connection_ends_while_it_decides_is_decided_again(case: Case, url: str) -> None:
    database = Database(url)
    decisions: list[int] = []

    def decide(draft: Draft) -> Refusal | None:
        decisions.append(1)
        if len(decisions) == 1:
            case.stranger.end_all()
        return providers.add_provider(draft, new_uuid(), "decided twice", None)

    outcome = Ledger(database).submit(Command("test", Actor("u", "p", "req-1"), decide))
    database.dispose()
    assert isinstance(outcome, World)
    assert len(decisions) == 2
    assert case.books.names()["decided twice"] == 1


@pytest.mark.parametrize("how", ["end", "interrupt"])
def test_claims_stay_whole_while_connections_are_ended_at_random(case: Case, how: str) -> None:
    dice = random.Random(7)
    harm = case.stranger.end if how == "end" else case.stranger.interrupt
    with Storm([lambda: nullcontext(case.api)], [case.host], clients=4) as storm:
        until = time.monotonic() + STORM_SECONDS
        while time.monotonic() < until:
            for connection in case.stranger.connections():
                if dice.random() < 0.5:
                    harm(connection)
            time.sleep(dice.uniform(0, 0.05))
        storm.until_claimed(10)
    storm.compare(case.books)
