# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/consumers and /plimsoll/v1/consumers/{uuid}, on each engine."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import update

from plimsoll.api.v1.documents.consumers import CONSUMER, CONSUMERS
from plimsoll.storage import tables as t
from plimsoll.storage.sql import utc_now
from tests.support.api import Api, Response

PATH = "/plimsoll/v1/consumers"
HOSTS = [f"10000000-0000-0000-0000-00000000000{number}" for number in range(1, 4)]
DISK = "20000000-0000-0000-0000-000000000001"
CONSUMERS_MADE = 40

CONDITIONS = {
    "project": ("p0", "p1", "none-such"),
    "user": ("u0", "u1", "none-such"),
    "type": ("INSTANCE", "MIGRATION", "unknown", "NONE_SUCH"),
    "provider": ("host1", HOSTS[1], "disk"),
    "tree": ("host1", "numa1", DISK),
    "older_than": ("1h", "100d"),
    "newer_than": ("1h", "1d"),
}
OLD = timedelta(days=10)


class Cloud:
    """Hosts, one of them with a child, and consumers with random owners, types, ages and providers."""

    def __init__(self, client: Api) -> None:
        self.client = client
        random = Random(7)
        for number, host in enumerate(HOSTS, 1):
            client.host(host, f"host{number}", VCPU=1000)
        self.numa = client.host(
            "10000000-0000-0000-0000-0000000000a1", "numa1", parent=HOSTS[0], MEMORY_MB=1000
        )
        client.host(DISK, "disk", DISK_GB=10_000)
        self.consumers = [self._claim(random) for _ in range(CONSUMERS_MADE)]
        old = {each["uuid"] for each in self.consumers[: CONSUMERS_MADE // 2]}
        with client.database.transaction() as transaction:
            transaction.lock_head()
            transaction.connection.execute(
                update(t.consumers)
                .where(t.consumers.c.uuid.in_(old))
                .values(created_at=(utc_now() - OLD).replace(microsecond=0))
            )
            transaction.commit()
        for each in self.consumers:
            each["is_old"] = each["uuid"] in old

    def _claim(self, random: Random) -> dict[str, Any]:
        uuid = f"{random.getrandbits(128):032x}"
        uuid = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
        host = random.choice(HOSTS)
        allocations = {host: {"resources": {"VCPU": random.randint(1, 3)}}}
        if host == HOSTS[0] and random.random() < 0.5:
            allocations[self.numa] = {"resources": {"MEMORY_MB": 5}}
        if random.random() < 0.7:
            allocations[DISK] = {"resources": {"DISK_GB": 10}}
        claim = {
            "allocations": allocations,
            "project_id": random.choice(("p0", "p1", "p2")),
            "user_id": random.choice(("u0", "u1")),
            "consumer_generation": None,
        }
        kind, version = random.choice((("INSTANCE", "1.39"), ("MIGRATION", "1.39"), (None, "1.37")))
        if kind:
            claim["consumer_type"] = kind
        assert self.client.put(f"/allocations/{uuid}", claim, version).status == 204
        return claim | {"uuid": uuid, "type": kind or "unknown"}

    def expected(self, conditions: dict[str, str]) -> list[str]:
        found = [
            each["uuid"]
            for each in self.consumers
            if all(self._meets(each, name, text) for name, text in conditions.items())
        ]
        return sorted(found)

    def _meets(self, consumer: dict[str, Any], name: str, text: str) -> bool:
        held = consumer["allocations"].keys()
        by_name = {"host1": HOSTS[0], "numa1": self.numa, "disk": DISK}
        match name:
            case "project" | "user":
                return bool(consumer[f"{name}_id"] == text)
            case "type":
                return bool(consumer["type"] == text)
            case "provider":
                return by_name.get(text, text) in held
            case "tree":
                uuid = by_name.get(text, text)
                return bool(held & ({HOSTS[0], self.numa} if uuid in (HOSTS[0], self.numa) else {uuid}))
            case "older_than":
                return text == "1h" and consumer["is_old"]
            case _:
                return not consumer["is_old"]


@pytest.fixture
def cloud(client: Api) -> Cloud:
    return Cloud(client)


@pytest.fixture(params=["narrow", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Conditions with few rows are read by their index, with many rows by a walk: here every condition is one of them."""
    if request.param == "walk":
        monkeypatch.setattr("plimsoll.storage.consumer_list.NARROW_ROWS", -1)
        monkeypatch.setattr("plimsoll.storage.consumer_list.EXAMINED_ROWS", 7)
    return str(request.param)


def listed(client: Api, conditions: dict[str, str], limit: int) -> list[Any]:
    """Return the consumers of all pages."""
    found: list[Any] = []
    query = "".join(f"&{name}={text}" for name, text in conditions.items())
    after = ""
    for _ in range(CONSUMERS_MADE + 1):
        document = client.get(f"{PATH}?limit={limit}{query}{after}").json
        Draft202012Validator(dict(CONSUMERS.schema)).validate(document)
        assert len(document["consumers"]) <= limit
        found += document["consumers"]
        if document["next"] is None:
            return found
        after = f"&after={document['next']}"
    raise AssertionError("the pages do not end")


def combinations() -> Iterator[dict[str, str]]:
    """Return each condition alone, and random combinations."""
    yield {}
    for name, texts in CONDITIONS.items():
        yield from ({name: text} for text in texts)
    random = Random(3)
    for names in itertools.chain(
        itertools.combinations(CONDITIONS, 2), itertools.combinations(CONDITIONS, 3)
    ):
        yield {name: random.choice(CONDITIONS[name]) for name in names}


def test_each_combination_of_conditions_lists_the_consumers_that_meet_it(cloud: Cloud, way: str) -> None:
    for conditions in combinations():
        found = [each["uuid"] for each in listed(cloud.client, conditions, 6)]
        assert found == cloud.expected(conditions), (way, conditions)


def test_a_consumer_is_shown_with_everything_it_holds(cloud: Cloud) -> None:
    made = next(
        each for each in cloud.consumers if len(each["allocations"]) == 3 and each["type"] != "unknown"
    )
    shown = cloud.client.get(f"{PATH}/{made['uuid']}").json
    Draft202012Validator(dict(CONSUMER.schema)).validate(shown)
    assert shown.pop("revision") == cloud.client.get(f"{PATH}?limit=1").json["revision"]
    assert shown == next(each for each in listed(cloud.client, {}, 100) if each["uuid"] == made["uuid"])
    assert (shown["project"], shown["user"]) == (made["project_id"], made["user_id"])
    assert (shown["type"], shown["generation"]) == (made["type"], 1)
    assert {uuid: each["resources"] for uuid, each in shown["allocations"].items()} == {
        uuid: each["resources"] for uuid, each in made["allocations"].items()
    }
    assert shown["allocations"][DISK]["name"] == "disk"
    assert cloud.client.get(f"{PATH}/{made['uuid'].upper()}").json["uuid"] == made["uuid"]


@pytest.mark.parametrize("uuid", ["c0000000-0000-0000-0000-00000000ffff", "x", "%00", "a" * 300])
def test_a_consumer_that_does_not_exist_is_a_404(client: Api, uuid: str) -> None:
    assert client.get(f"{PATH}/{uuid}").status == 404


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=1001", "after=", "after='", "older_than=1", "older_than=x", "newer_than=-1h"),
        *("provider=none-such", "tree=none-such", "other=1", "project=", "type="),
    ],
)
def test_a_bad_query_is_refused(client: Api, query: str) -> None:
    assert client.get(f"{PATH}?{query}").status == 400


@pytest.mark.parametrize("query", ["older_than=999999999w", "newer_than=999999999w", "project=%F0%9F%98%80"])
def test_an_unusual_value_is_no_error(client: Api, query: str) -> None:
    assert client.get(f"{PATH}?{query}").json["consumers"] == []


def as_lines(client: Api, query: str = "") -> Response:
    return client.call("GET", f"{PATH}{query}", headers={"Accept": "application/x-ndjson"})


def test_lines_without_a_limit_are_all_consumers(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.api.v1.handlers.consumers._LINES_PER_PAGE", 7)
    lines = as_lines(cloud.client)
    assert [json.loads(line) for line in lines.body.splitlines()] == listed(cloud.client, {}, 100)
    assert lines.headers["plimsoll-revision"] == cloud.client.get(PATH).json["revision"]


def test_lines_with_a_limit_are_a_page(cloud: Cloud) -> None:
    lines, page = as_lines(cloud.client, "?limit=5"), cloud.client.get(f"{PATH}?limit=5").json
    assert [json.loads(line) for line in lines.body.splitlines()] == page["consumers"]
    assert lines.headers["plimsoll-next"] == page["next"]


def test_an_unchanged_page_is_not_sent_again(cloud: Cloud) -> None:
    client = cloud.client
    tag = client.get(PATH).headers["etag"]
    assert client.call("GET", PATH, headers={"If-None-Match": tag}).status == 304
    assert client.delete(f"/allocations/{cloud.consumers[0]['uuid']}").status == 204
    assert client.call("GET", PATH, headers={"If-None-Match": tag}).status == 200
    assert "etag" not in client.get(f"{PATH}?older_than=1h").headers, "it changes with time alone"


def as_reader(client: Api, project: str, path: str) -> Response:
    return client.call("GET", path, headers={"X-Auth-Token": project, "X-Roles": "reader"})


def test_a_reader_sees_only_the_consumers_of_the_own_project(cloud: Cloud) -> None:
    client = cloud.client
    own, other = ([each for each in cloud.consumers if each["project_id"] == name] for name in ("p0", "p1"))
    page = as_reader(client, "p0", f"{PATH}?limit=1000").json["consumers"]
    assert [each["uuid"] for each in page] == sorted(each["uuid"] for each in own)
    assert as_reader(client, "p0", PATH).headers["plimsoll-projects"] == "own"
    assert "plimsoll-projects" not in client.get(PATH).headers
    assert as_reader(client, "p0", f"{PATH}?project=p0").status == 200
    assert as_reader(client, "p0", f"{PATH}?project=p1").status == 403
    assert as_reader(client, "p0", f"{PATH}/{own[0]['uuid']}").status == 200
    assert as_reader(client, "p0", f"{PATH}/{other[0]['uuid']}").status == 404
