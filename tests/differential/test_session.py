# SPDX-License-Identifier: Apache-2.0

"""A session reports a wrong response and a wrong state, and undoes known faults of the reference."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.differential.database_state import StateReader
from tests.differential.requests import Request, Version, read, write
from tests.differential.sabotage import SabotagedServer
from tests.differential.servers import Response, Server
from tests.differential.session import Session
from tests.differential.state import State

SCHEMA = """
CREATE TABLE resource_providers (id INTEGER PRIMARY KEY, uuid, name, generation, parent_provider_id, root_provider_id);
CREATE TABLE resource_classes (id INTEGER PRIMARY KEY, name);
CREATE TABLE inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,
                          allocation_ratio);
CREATE TABLE traits (id INTEGER PRIMARY KEY, name);
CREATE TABLE resource_provider_traits (resource_provider_id, trait_id);
CREATE TABLE placement_aggregates (id INTEGER PRIMARY KEY, uuid);
CREATE TABLE resource_provider_aggregates (resource_provider_id, aggregate_id);
CREATE TABLE projects (id INTEGER PRIMARY KEY, external_id);
CREATE TABLE users (id INTEGER PRIMARY KEY, external_id);
CREATE TABLE consumer_types (id INTEGER PRIMARY KEY, name);
CREATE TABLE consumers (uuid, generation, project_id, user_id, consumer_type_id);
CREATE TABLE allocations (consumer_id, resource_provider_id, resource_class_id, used);
INSERT INTO resource_providers VALUES (7, 'p', 'one', 3, NULL, 7);
"""


class ScriptedServer(Server):
    """Returns the same response to every request; tests write its database directly."""

    name = "scripted"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"
        with sqlite3.connect(path) as connection:
            connection.executescript(SCHEMA)
        connection.close()
        self.response = Response(
            200, {"content-type": "application/json"}, json.dumps({"generation": 3}).encode()
        )
        self.effect: str | None = None  # a statement that each request executes
        self._rows = StateReader(self.url)

    def stop(self) -> None:
        self._rows.close()

    def send(self, request: Request) -> Response:
        if self.effect:
            with sqlite3.connect(self.path) as connection:
                connection.execute(self.effect)
            connection.close()
        return self.response

    def state(self) -> State:
        return self._rows.read()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[ScriptedServer, ScriptedServer]]:
    one, other = ScriptedServer(tmp_path / "one.db"), ScriptedServer(tmp_path / "other.db")
    yield one, other
    one.stop()
    other.stop()


GET = read("test", "/resource_providers/p", Version.of("placement 1.39"))
PUT = write("test", "PUT", "/allocations/c", Version.of("placement 1.39"), {})


def test_equal_responses_and_states_are_equal(pair: tuple[ScriptedServer, ScriptedServer]) -> None:
    outcome = Session(*pair).run(GET)
    assert outcome.equal


@pytest.mark.parametrize("kind", ["answer", "status", "header", "state"])
def test_sabotage_is_reported(
    pair: tuple[ScriptedServer, ScriptedServer], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.differential.sabotage.EVERY", 1)
    outcome = Session(pair[0], SabotagedServer(pair[1], kind)).run(GET)
    assert not outcome.equal
    assert bool(outcome.state) == (kind == "state")


def test_a_write_that_only_one_service_stores_is_reported(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    session = Session(*pair)
    assert session.run(PUT).equal
    pair[0].effect = "UPDATE resource_providers SET generation = 4"
    outcome = session.run(PUT)
    assert outcome.state == (
        "providers: p: reference Provider(name='one', generation=4, parent=None, root='p'), "
        "here Provider(name='one', generation=3, parent=None, root='p')",
    )


def refused(status: int, detail: str) -> Response:
    body: Any = {"errors": [{"status": status, "title": "Bad Request", "detail": detail}]}
    return Response(status, {"content-type": "application/json"}, json.dumps(body).encode())


def test_a_consumer_that_a_refused_write_leaves_behind_is_a_known_fault(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].effect = "INSERT INTO consumers VALUES ('c', 0, 1, 1, NULL)"
    pair[0].response = pair[1].response = refused(
        400, "Allocation for resource provider 'x' that does not exist."
    )
    outcome = Session(*pair).run(PUT)
    assert outcome.equal
    assert outcome.faults == ("leftover consumer",)
    assert pair[0].state().consumers == {}


def test_a_consumer_that_an_empty_claim_leaves_behind_is_a_known_fault(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].effect = "INSERT INTO consumers VALUES ('c', 0, 1, 1, NULL)"
    pair[0].response = pair[1].response = Response(204, {}, b"")
    outcome = Session(*pair).run(PUT)
    assert outcome.equal
    assert outcome.faults == ("leftover consumer",)
    assert pair[0].state().consumers == {}


def test_a_consumer_left_behind_by_another_refusal_is_not(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].effect = "INSERT INTO consumers VALUES ('c', 0, 1, 1, NULL)"
    pair[0].response = pair[1].response = refused(409, "too much")
    assert not Session(*pair).run(PUT).equal


def test_an_owner_that_a_refused_write_leaves_behind_is_a_known_fault(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].effect = "INSERT INTO users VALUES (1, 'ann')"
    pair[0].response = pair[1].response = refused(409, "too much")
    outcome = Session(*pair).run(PUT)
    assert outcome.equal
    assert outcome.faults == ("leftover owner",)
    assert pair[0].state().users == frozenset()


def test_an_owner_that_only_one_service_stores_with_a_consumer_is_reported(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].effect = "INSERT INTO consumers VALUES ('c', 0, 1, 1, NULL)"
    assert not Session(*pair).run(PUT).equal
    pair[0].effect = "INSERT INTO users VALUES (1, 'ann')"
    assert "users: only in the reference: ann" in Session(*pair).run(PUT).state


AGGREGATE = "abcdef00-0000-0000-0000-0000000000a1"
UNSET = "DELETE FROM resource_provider_aggregates"


@pytest.fixture
def members(pair: tuple[ScriptedServer, ScriptedServer]) -> tuple[ScriptedServer, ScriptedServer]:
    """The provider is in the aggregate in both services."""
    for server in pair:
        with sqlite3.connect(server.path) as connection:
            connection.execute("INSERT INTO placement_aggregates VALUES (5, ?)", (AGGREGATE,))
            connection.execute("INSERT INTO resource_provider_aggregates VALUES (7, 5)")
        connection.close()
    return pair


def set_aggregates(minor: int, *aggregates: str, provider: str = "p") -> Request:
    body: Any = list(aggregates)
    if minor >= 19:
        body = {"aggregates": body, "resource_provider_generation": 3}
    path = f"/resource_providers/{provider}/aggregates"
    return write("test", "PUT", path, Version.of(f"placement 1.{minor}"), body)


@pytest.mark.parametrize("minor", [1, 39])
@pytest.mark.parametrize("provider", ["p", "P"])
def test_an_aggregate_that_is_lost_by_setting_it_in_another_spelling_is_a_known_fault(
    members: tuple[ScriptedServer, ScriptedServer], minor: int, provider: str
) -> None:
    members[0].effect = UNSET
    outcome = Session(*members).run(set_aggregates(minor, AGGREGATE.upper(), provider=provider))
    assert outcome.equal
    assert outcome.faults == ("loses respelled aggregates",)
    assert members[0].state().aggregates == {("p", AGGREGATE)}


@pytest.mark.parametrize(
    "request_",
    [
        set_aggregates(39),
        set_aggregates(39, AGGREGATE),
        set_aggregates(39, AGGREGATE, AGGREGATE.upper()),
        set_aggregates(39, AGGREGATE.upper().replace("A1", "A2")),
        set_aggregates(39, AGGREGATE.upper(), provider="q"),
        replace(set_aggregates(39, AGGREGATE.upper()), path="/resource_providers/p/traits"),
    ],
)
def test_an_aggregate_that_is_lost_in_any_other_way_is_reported(
    members: tuple[ScriptedServer, ScriptedServer], request_: Request
) -> None:
    members[0].effect = UNSET
    outcome = Session(*members).run(request_)
    assert outcome.faults == ()
    assert outcome.state == (f"aggregates: only here: ('p', '{AGGREGATE}')",)


def test_an_aggregate_that_is_lost_by_a_refused_write_is_reported(
    members: tuple[ScriptedServer, ScriptedServer],
) -> None:
    members[0].effect = UNSET
    members[0].response = members[1].response = refused(409, "too late")
    assert not Session(*members).run(set_aggregates(39, AGGREGATE.upper())).equal


def test_an_aggregate_that_is_lost_here_too_is_reported(
    members: tuple[ScriptedServer, ScriptedServer],
) -> None:
    members[0].effect = members[1].effect = UNSET
    outcome = Session(*members).run(set_aggregates(39, AGGREGATE.upper()))
    assert outcome.state == (f"aggregates: only in the reference: ('p', '{AGGREGATE}')",)


def test_an_aggregate_that_is_replaced_by_its_other_spelling_is_not_lost(
    members: tuple[ScriptedServer, ScriptedServer],
) -> None:
    members[0].effect = members[1].effect = f"UPDATE placement_aggregates SET uuid = '{AGGREGATE.upper()}'"
    outcome = Session(*members).run(set_aggregates(39, AGGREGATE.upper()))
    assert outcome.equal
    assert outcome.faults == ()
    assert members[0].state().aggregates == {("p", AGGREGATE.upper())}


def test_a_500_of_the_reference_is_explained_only_by_a_refusal_of_ours(
    pair: tuple[ScriptedServer, ScriptedServer],
) -> None:
    pair[0].response = replace(pair[0].response, status=500)
    pair[1].response = refused(400, "no")
    assert Session(*pair).run(PUT).faults == ("responds with 500",)
    pair[1].response = replace(pair[0].response, status=200)
    assert not Session(*pair).run(PUT).equal
    pair[1].response = replace(pair[0].response, status=503)
    assert not Session(*pair).run(PUT).equal
