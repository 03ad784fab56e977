# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/unplaced: searches that found nothing, on each engine."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import text

from plimsoll.api.v1.documents.unplaced import UNPLACED
from plimsoll.http.request_id import new_request_id
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Unreachable
from tests.api.conftest import start_once
from tests.support.api import Api, Response, api
from tests.support.databases import Databases, open_connection, run_sql
from tests.support.waiting import eventually

HOST = "10000000-0000-0000-0000-000000000001"
PATH = "/plimsoll/v1/unplaced"
SEARCH = "/allocation_candidates?resources=VCPU:9"

Open = Callable[..., AbstractContextManager[Api]]


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("started", start_once) as url:
        yield url


@pytest.fixture
def open_api(url: str, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open a service on the database of this test."""
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.GATHER_SECONDS", 0.0)

    @contextmanager
    def opened(**options: Any) -> Iterator[Api]:
        with api(url, **options) as client:
            if client.get(f"/resource_providers/{HOST}").status == 404:
                client.host(HOST, "host1", VCPU=8)
            yield client

    return opened


@pytest.fixture
def service(open_api: Open) -> Iterator[Api]:
    with open_api() as client:
        yield client


def search(
    client: Api, path: str = SEARCH, global_id: str | None = None, user: str = "admin", version: str = "1.39"
) -> Response:
    headers = {"X-Openstack-Request-Id": global_id} if global_id else {}
    response = client.call(
        "GET", path, version=version, headers=headers | {"X-Auth-Token": user, "X-Roles": "service,admin"}
    )
    assert response.status == 200
    assert response.json["allocation_requests"] == []
    return response


def listed(client: Api, query: str = "") -> list[Any]:
    document = client.get(f"{PATH}{query}").json
    Draft202012Validator(dict(UNPLACED.schema)).validate(document)
    entries: list[Any] = document["unplaced"]
    return entries


def searches(client: Api) -> int:
    return sum(entry["searches"] for entry in listed(client))


def wait_for(client: Api, count: int) -> None:
    assert eventually(lambda: searches(client) >= count), f"{searches(client)} of {count} were recorded"


def test_a_search_that_found_nothing_is_found_by_the_request_id_of_the_client(service: Api) -> None:
    nova = new_request_id()
    response = search(service, global_id=nova)
    wait_for(service, 1)

    (entry,) = listed(service, f"?request_id={nova}")

    revision = service.get(PATH).json["revision"]
    assert (entry["query"], entry["microversion"], entry["searches"]) == ("resources=VCPU:9", "1.39", 1)
    assert (entry["user"], entry["project"]) == ("admin", "admin")
    explained = service.get("/plimsoll/v1/explain?resources=VCPU:9").json
    assert (entry["summary"], entry["verdict"]) == (explained["summary"], explained["verdict"])
    assert entry["verdict"] == "never"
    assert entry["reason"] in {clause["reason"] for clause in explained["clauses"]}
    (request,) = entry["requests"]
    assert request["global_request_id"] == nova
    assert request["request_id"] == response.headers["x-openstack-request-id"]
    assert request["revision"] == entry["revision"] == revision
    assert entry["first_at"] == entry["last_at"] == request["at"]


def test_a_host_that_is_full_is_a_reason_for_now(service: Api) -> None:
    claim = {
        "allocations": {HOST: {"resources": {"VCPU": 5}}},
        **{"project_id": "p", "user_id": "u", "consumer_generation": None, "consumer_type": "INSTANCE"},
    }
    assert service.put("/allocations/c0000000-0000-0000-0000-000000000000", claim).status == 204
    search(service, "/allocation_candidates?resources=VCPU:4")
    wait_for(service, 1)
    (entry,) = listed(service)
    assert entry["verdict"] == "not now"


def test_our_own_request_id_finds_it_too(service: Api) -> None:
    own = search(service).headers["x-openstack-request-id"]
    wait_for(service, 1)
    assert [entry["searches"] for entry in listed(service, f"?request_id={own}")] == [1]
    assert listed(service, f"?request_id={new_request_id()}") == []


def test_a_search_with_candidates_is_not_recorded(service: Api) -> None:
    assert service.get("/allocation_candidates?resources=VCPU:8").json["allocation_requests"] != []
    search(service)
    wait_for(service, 1)
    assert [entry["query"] for entry in listed(service)] == ["resources=VCPU:9"]


def test_equal_queries_are_one_entry_and_each_request_id_finds_it(service: Api) -> None:
    ids = [new_request_id() for _ in range(15)]
    for each in ids:
        search(service, global_id=each)
    wait_for(service, 15)

    (entry,) = listed(service)
    assert entry["searches"] == 15
    assert len(entry["requests"]) == 10, "the last ones"
    assert [each["global_request_id"] for each in entry["requests"]] == ids[:4:-1]
    for each in ids:
        (found,) = listed(service, f"?request_id={each}")
        assert [request["global_request_id"] for request in found["requests"]] == [each]


@pytest.mark.parametrize(
    "second",
    [{"path": "/allocation_candidates?resources=VCPU:10"}, {"user": "other"}, {"version": "1.38"}],
    ids=["query", "project", "microversion"],
)
def test_another_query_project_or_microversion_is_another_entry(service: Api, second: dict[str, str]) -> None:
    search(service)
    search(service, **second)
    wait_for(service, 2)
    assert [entry["searches"] for entry in listed(service)] == [1, 1]


def test_each_search_has_the_summary_of_its_time(service: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.SAME_SUMMARY_SECONDS", -1.0)
    path, first, second = f"{SEARCH}&required=CUSTOM_A", new_request_id(), new_request_id()
    assert service.put("/traits/CUSTOM_A").status == 201
    search(service, path, first)
    wait_for(service, 1)
    traits = {"resource_provider_generation": 1, "traits": ["CUSTOM_A"]}
    assert service.put(f"/resource_providers/{HOST}/traits", traits).status == 200
    search(service, path, second)
    wait_for(service, 2)

    (entry,) = listed(service)
    newer, older = entry["requests"]
    assert newer["revision"] != older["revision"]
    assert newer["summary"] != older["summary"]
    assert entry["summary"] == newer["summary"]
    (found,) = listed(service, f"?request_id={first}")
    assert found["requests"] == [older]


def test_entries_are_filtered_by_project_reason_and_time(service: Api) -> None:
    search(service)
    search(service, user="other")
    wait_for(service, 2)
    assert [entry["project"] for entry in listed(service, "?project=other")] == ["other"]
    reason = listed(service)[0]["reason"]
    assert len(listed(service, f"?reason={reason}")) == 2
    assert listed(service, "?reason=none-such") == []
    assert len(listed(service, "?since=1h")) == 2
    assert len(listed(service, "?since=2026-01-01T00:00:00Z")) == 2
    assert listed(service, "?since=2999-01-01") == []


def test_pages_are_newest_first_and_complete(service: Api) -> None:
    for amount in range(9, 14):
        search(service, f"/allocation_candidates?resources=VCPU:{amount}")
        wait_for(service, amount - 8)
    pages, after = [], ""
    while True:
        document = service.get(f"{PATH}?limit=2{after}").json
        pages.append([entry["query"] for entry in document["unplaced"]])
        if document["next"] is None:
            break
        after = f"&after={document['next']}"
    assert pages == [
        ["resources=VCPU:13", "resources=VCPU:12"],
        ["resources=VCPU:11", "resources=VCPU:10"],
        ["resources=VCPU:9"],
    ]


def test_lines_have_the_same_entries(service: Api) -> None:
    for amount in (9, 10):
        search(service, f"/allocation_candidates?resources=VCPU:{amount}")
    wait_for(service, 2)
    lines = service.call("GET", f"{PATH}?limit=1", headers={"Accept": "application/x-ndjson"})
    page = service.get(f"{PATH}?limit=1").json
    assert lines.headers["plimsoll-revision"] == page["revision"]
    assert lines.headers["plimsoll-next"] == page["next"]
    assert [json.loads(line) for line in lines.body.splitlines()] == page["unplaced"]


def test_an_unchanged_list_is_not_sent_again(service: Api) -> None:
    search(service)
    wait_for(service, 1)
    tag = service.get(PATH).headers["etag"]
    assert service.call("GET", PATH, headers={"If-None-Match": tag}).status == 304
    search(service)
    wait_for(service, 2)
    assert service.call("GET", PATH, headers={"If-None-Match": tag}).status == 200


@pytest.mark.one_engine("they are refused before the list is read")
@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=1001", "limit=x", "after=x", "after=2026-99-99T00:00:00.000000.1", "since=x"),
        *("since=2026-13-01", "since=9", "request_id=", "project=", "other=1", "limit=1&limit=2"),
    ],
)
def test_a_bad_query_is_refused(service: Api, query: str) -> None:
    assert service.get(f"{PATH}?{query}").status == 400


def as_reader(client: Api, project: str, query: str = "") -> Response:
    headers = {"X-Auth-Token": project, "X-Roles": "reader"}
    return client.call("GET", f"{PATH}{query}", headers=headers)


def test_a_reader_sees_only_the_searches_of_the_own_project(service: Api) -> None:
    nova = new_request_id()
    search(service, user="one")
    search(service, user="two", global_id=nova)
    wait_for(service, 2)
    assert [entry["project"] for entry in as_reader(service, "one").json["unplaced"]] == ["one"]
    assert as_reader(service, "one", f"?request_id={nova}").json["unplaced"] == []
    assert len(as_reader(service, "two", f"?request_id={nova}").json["unplaced"]) == 1
    assert as_reader(service, "one", "?project=one").status == 200
    refused = as_reader(service, "one", "?project=two")
    assert (refused.status, "plimsoll:projects:all" in refused.detail) == (403, True)


def test_two_services_on_one_database_show_the_same(open_api: Open) -> None:
    with open_api() as one, open_api() as two:
        search(one)
        search(two)
        wait_for(one, 2)
        assert listed(one) == listed(two)
        assert [entry["searches"] for entry in listed(one)] == [2]


def test_one_line_is_logged_for_each_new_entry(service: Api, caplog: pytest.LogCaptureFixture) -> None:
    nova = new_request_id()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            search(service, global_id=nova)
        wait_for(service, 3)
    lines = [each.getMessage() for each in caplog.records if "No allocation candidates" in each.getMessage()]
    assert len(lines) == 1
    assert nova in lines[0]
    assert lines[0].endswith("Query: resources=VCPU:9")


def test_with_zero_nothing_is_recorded_and_each_search_is_logged(
    open_api: Open, caplog: pytest.LogCaptureFixture
) -> None:
    with open_api(plimsoll__unplaced_keep=0) as client, caplog.at_level(logging.INFO):
        search(client)
        search(client)
        assert listed(client) == []
    assert caplog.text.count("No allocation candidates") == 2


def test_entries_beyond_the_limit_are_pruned_the_oldest_first(
    open_api: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.PRUNE_SECONDS", 0.0)
    with open_api(plimsoll__unplaced_keep=2) as client:
        for amount in range(9, 14):
            search(client, f"/allocation_candidates?resources=VCPU:{amount}")
        expected = ["resources=VCPU:13", "resources=VCPU:12"]
        assert eventually(lambda: [entry["query"] for entry in listed(client)] == expected)


def test_what_is_queued_is_written_when_the_service_ends(open_api: Open) -> None:
    with open_api() as client:
        search(client)
    with open_api() as client:
        assert searches(client) == 1


@pytest.mark.parametrize("table", ["plimsoll_unplaced", "plimsoll_unplaced_requests"])
def test_a_search_succeeds_if_it_cannot_be_recorded(
    open_api: Open, url: str, caplog: pytest.LogCaptureFixture, table: str
) -> None:
    with open_api() as client, caplog.at_level(logging.WARNING):
        run_sql(url, f"ALTER TABLE {table} RENAME TO plimsoll_elsewhere")
        search(client)
        assert eventually(lambda: "1 searches that found nothing were not recorded" in caplog.text)
        run_sql(url, f"ALTER TABLE plimsoll_elsewhere RENAME TO {table}")
        search(client)
        wait_for(client, 1)


def test_without_the_database_searches_are_dropped_and_reported_once(
    open_api: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open_api() as client, caplog.at_level(logging.WARNING):
        with monkeypatch.context() as patch:
            patch.setattr(Database, "background_transaction", _unreachable)
            for _ in range(3):
                search(client)
            assert eventually(lambda: "were not recorded" in caplog.text)
            search(client)
        assert caplog.text.count("were not recorded") == 1
        assert "The database cannot be reached" in caplog.text
        assert "Database outage" not in caplog.text


def _unreachable(_: object) -> None:
    raise Unreachable


LOCKS = {
    "postgresql": "LOCK TABLE plimsoll_unplaced IN EXCLUSIVE MODE",
    "mariadb": "SELECT * FROM plimsoll_unplaced FOR UPDATE",
}


def test_neither_searches_nor_claims_wait_while_another_session_locks_the_table(
    service: Api, url: str, databases: Databases
) -> None:
    if databases.engine not in LOCKS:
        pytest.skip("SQLite locks the whole database")
    search(service)
    wait_for(service, 1)
    with open_connection(url) as connection:
        connection.execute(text(LOCKS[databases.engine])).close()
        for _ in range(5):
            search(service)
        claim = {
            "allocations": {HOST: {"resources": {"VCPU": 1}}},
            **{"project_id": "p", "user_id": "u", "consumer_generation": None, "consumer_type": "INSTANCE"},
        }
        assert service.put("/allocations/c0000000-0000-0000-0000-000000000000", claim).status == 204
        assert searches(service) == 1
    wait_for(service, 6)


def test_more_searches_than_the_queue_holds_are_dropped(
    open_api: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.MAX_QUEUED", 2)
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.GATHER_SECONDS", 1.0)
    with caplog.at_level(logging.WARNING), open_api() as client:
        for _ in range(5):
            search(client)
        wait_for(client, 2)
        assert eventually(lambda: "3 searches that found nothing were not recorded" in caplog.text)
        assert searches(client) == 2


def test_long_queries_do_not_fill_the_memory(
    open_api: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.MAX_QUEUED_CHARS", 10_000)
    monkeypatch.setattr("plimsoll.ledger.unplaced_writer.GATHER_SECONDS", 1.0)
    aggregates = ",".join([HOST] * 230)
    with caplog.at_level(logging.WARNING), open_api() as client:
        for number in range(3):
            search(client, f"{SEARCH}&member_of=in:{aggregates}&limit={number + 1}")
        assert eventually(lambda: "2 searches that found nothing were not recorded" in caplog.text)
        (entry,) = listed(client)
        assert len(entry["query"]) <= 8_000
        assert " characters, " in entry["query"]
