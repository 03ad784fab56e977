# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/changes: what was before and after, conditions, pages, and cursors that are no longer valid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import delete, update

from plimsoll.storage import tables as t
from tests.api.v1.roles import READERS, call_as, statuses_by_role
from tests.support.api import Api
from tests.support.mirror import Mirror

PATH = "/plimsoll/v1/changes"
HOST = "10000000-0000-0000-0000-000000000001"
CHILD = "10000000-0000-0000-0000-000000000002"
OTHER = "10000000-0000-0000-0000-000000000003"
AGGREGATE = "a0000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
SECOND = "c0000000-0000-0000-0000-000000000002"
GLOBAL_ID = "req-11111111-2222-3333-4444-555555555555"


def claim(
    client: Api,
    consumer: str,
    allocations: dict[str, dict[str, int]],
    generation: int | None = None,
    project: str = "engines",
    global_id: str | None = None,
) -> None:
    body = {
        "allocations": {uuid: {"resources": amounts} for uuid, amounts in allocations.items()},
        "project_id": project,
        "user_id": "ada",
        "consumer_type": "INSTANCE",
        "consumer_generation": generation,
    }
    headers = {} if global_id is None else {"X-Openstack-Request-Id": global_id}
    assert client.call("PUT", f"/allocations/{consumer}", body, headers=headers).status == 204


def pages(client: Api, query: str = "", cursor: str = "since") -> Iterator[Any]:
    """Yield the documents of all pages."""
    after = ""
    for _ in range(1000):
        document = client.get(f"{PATH}?{query}{after}").json
        yield document
        if not document["more"] if cursor == "since" else document["next"] is None:
            return
        after = f"&{cursor}={document['next']}"
        query = "&".join(part for part in query.split("&") if not part.startswith(f"{cursor}="))
    raise AssertionError("the pages do not end")


def changes(client: Api, query: str = "", cursor: str = "since") -> list[Any]:
    return [each for page in pages(client, query, cursor) for each in page["changes"]]


def newest(client: Api, query: str = "") -> Any:
    return client.get(f"{PATH}?limit=1&{query}").json["changes"][0]


def revision(client: Api) -> str:
    found: str = client.get(f"{PATH}?limit=1").json["revision"]
    return found


def write_everything(client: Api) -> None:
    """Make a change of each kind."""
    client.host(HOST, "host1", VCPU=16, MEMORY_MB=1000)
    client.host(OTHER, "host3", DISK_GB=100)
    client.host(CHILD, "numa1", parent=HOST, VCPU=4)
    provider = f"/resource_providers/{HOST}"
    for name in ("CUSTOM_FAST", "CUSTOM_SLOW"):
        assert client.put(f"/traits/{name}").status == 201
    generation = client.get(provider).json["generation"]
    traits = {"traits": ["CUSTOM_FAST"], "resource_provider_generation": generation}
    assert client.put(f"{provider}/traits", traits).status == 200
    aggregates = {"aggregates": [AGGREGATE], "resource_provider_generation": generation + 1}
    assert client.put(f"{provider}/aggregates", aggregates).status == 200
    assert client.post("/resource_classes", {"name": "CUSTOM_GPU"}).status == 201
    gpu = {"resource_class": "CUSTOM_GPU", "total": 4, "allocation_ratio": 1.7}
    gpu["resource_provider_generation"] = client.get(provider).json["generation"]
    assert client.post(f"{provider}/inventories", gpu).status == 201
    claim(client, CONSUMER, {HOST: {"VCPU": 2, "CUSTOM_GPU": 1}, OTHER: {"DISK_GB": 5}})
    claim(client, CONSUMER, {CHILD: {"VCPU": 1}, HOST: {"CUSTOM_GPU": 2}}, generation=1, project="planes")
    claim(client, SECOND, {OTHER: {"DISK_GB": 1}})
    assert client.put("/resource_classes/CUSTOM_GPU", {"name": "CUSTOM_VGPU"}, "1.2").status == 200
    assert client.put(f"/resource_providers/{OTHER}", {"name": "host-3"}, "1.39").status == 200
    moved = {"name": "numa1", "parent_provider_uuid": OTHER}
    assert client.put(f"/resource_providers/{CHILD}", moved).status == 200
    assert client.delete(f"/allocations/{SECOND}").status == 204
    assert client.delete("/traits/CUSTOM_SLOW").status == 204


def test_a_claim_has_everything_before_and_after(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    claim(client, CONSUMER, {HOST: {"VCPU": 2}}, global_id=GLOBAL_ID)
    change = newest(client)
    assert change["operation"] == "allocations.claim"
    assert (change["user"], change["project"]) == ("admin", "admin")
    assert change["request_id"].startswith("req-")
    assert change["global_request_id"] == GLOBAL_ID
    assert change["revision"] == revision(client)
    assert change["reload"] is False
    assert change["providers"] == [
        {"uuid": HOST, "name": "host1", "before": {"generation": 1}, "after": {"generation": 2}}
    ]
    held = {HOST: {"name": "host1", "resources": {"VCPU": 2}}}
    after = {"project": "engines", "user": "ada", "type": "INSTANCE", "generation": 1, "allocations": held}
    assert change["consumers"] == [{"uuid": CONSUMER, "before": None, "after": after}]
    claim(client, CONSUMER, {HOST: {"VCPU": 3}}, generation=1)
    (changed,) = newest(client)["consumers"]
    assert changed["before"] == after
    assert changed["after"] == after | {
        "generation": 2,
        "allocations": {HOST: {"name": "host1", "resources": {"VCPU": 3}}},
    }
    assert client.delete(f"/allocations/{CONSUMER}").status == 204
    (removed,) = newest(client)["consumers"]
    assert removed["after"] is None
    assert removed["before"]["allocations"] == changed["after"]["allocations"]


def test_changes_alone_rebuild_the_cloud(client: Api) -> None:
    start = revision(client)
    write_everything(client)
    mirror = Mirror()
    for change in changes(client, f"since={start}&limit=3"):
        mirror.apply(change)
    assert not mirror.differences(present(client))
    assert mirror.providers[OTHER]["name"] == "host-3"
    assert mirror.consumers[CONSUMER]["allocations"] == {CHILD: {"VCPU": 1}, HOST: {"CUSTOM_VGPU": 2}}


def present(client: Api) -> Mirror:
    """Return the cloud as other routes show it."""
    return Mirror(
        client.get("/plimsoll/v1/providers").json["providers"],
        client.get("/plimsoll/v1/consumers?limit=1000").json["consumers"],
    )


def test_a_removed_provider_is_shown_as_it_was(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    assert client.delete(f"/resource_providers/{HOST}").status == 204
    (removed,) = newest(client)["providers"]
    assert (removed["name"], removed["after"]) == ("host1", None)
    assert removed["before"]["inventories"]["VCPU"]["total"] == 16
    assert [each["operation"] for each in changes(client, f"provider={HOST}", "before")] == [
        "provider.delete",
        "inventories.replace",
        "provider.create",
    ]


def test_pages_have_each_change_once_in_both_orders(client: Api) -> None:
    start = revision(client)
    write_everything(client)
    numbers = [
        int(each["revision"].partition(":")[2]) for each in changes(client, f"since={start}&limit=1000")
    ]
    first = int(start.partition(":")[2]) + 1
    assert numbers == list(range(first, first + len(numbers)))
    for limit in (1, 3, 7):
        forward = [each["revision"] for each in changes(client, f"since={start}&limit={limit}")]
        backward = [each["revision"] for each in changes(client, f"limit={limit}", "before")]
        assert [int(each.partition(":")[2]) for each in forward] == numbers
        assert backward[: len(numbers)] == forward[::-1]


def test_a_page_at_the_end_has_a_cursor_for_the_next_change(client: Api) -> None:
    document = client.get(f"{PATH}?since={revision(client)}").json
    assert (document["changes"], document["more"]) == ([], False)
    client.host(HOST, "host1", VCPU=1)
    found = changes(client, f"since={document['next']}")
    assert [each["operation"] for each in found] == ["provider.create", "inventories.replace"]


@pytest.mark.parametrize(
    ("query", "operations"),
    [
        (
            f"provider={CHILD}",
            ["provider.create", "inventories.replace", "allocations.claim", "provider.update"],
        ),
        ("provider=numa1&operation=provider.update&operation=reshape", ["provider.update"]),
        (f"subtree={OTHER}&operation=allocations.claim", ["allocations.claim"] * 3),
        (f"aggregate={AGGREGATE}&operation=provider.aggregates.set", ["provider.aggregates.set"]),
        (f"aggregate={AGGREGATE}&subtree=host-3", ["allocations.claim"] * 2),
        (f"consumer={SECOND}", ["allocations.claim", "allocations.release"]),
        ("project=planes", ["allocations.claim"]),
        ("project=none-such", []),
        (f"request_id={GLOBAL_ID}", []),
        ("from=1h&operation=trait.create", ["trait.create"] * 2),
        ("to=1h", []),
    ],
)
def test_conditions_select_changes(client: Api, query: str, operations: list[str]) -> None:
    start = revision(client)
    write_everything(client)
    assert [each["operation"] for each in changes(client, f"since={start}&limit=2&{query}")] == operations


def test_a_request_id_finds_its_change(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    claim(client, CONSUMER, {HOST: {"VCPU": 2}}, global_id=GLOBAL_ID)
    for request_id in (GLOBAL_ID, newest(client)["request_id"]):
        (found,) = changes(client, f"request_id={request_id}", "before")
        assert found["consumers"][0]["uuid"] == CONSUMER


@pytest.mark.parametrize(
    "query",
    [
        *("since=x", "since=5f3a9c1e", "since=5f3a9c1e:-1", "before=1:1", "limit=0", "limit=1001", "other=1"),
        *(
            "subtree=none-such",
            "aggregate=x",
            "consumer=x",
            "from=x",
            "to=2026-13-01",
            "project=",
            "operation=",
        ),
        "since=5f3a9c1e:1&before=5f3a9c1e:1",
    ],
)
def test_a_bad_query_is_refused(client: Api, query: str) -> None:
    assert client.get(f"{PATH}?{query}").status == 400


def test_a_cursor_behind_the_pruned_log_is_a_410_with_the_lowest_revision(client: Api) -> None:
    start = revision(client)
    write_everything(client)
    epoch, _, number = start.partition(":")
    with client.database.transaction() as transaction:
        transaction.connection.execute(delete(t.changes).where(t.changes.c.seq <= int(number) + 3))
        transaction.commit()
    response = client.get(f"{PATH}?since={start}")
    assert (response.status, response.code) == (410, "plimsoll.changes.pruned")
    error = response.json["errors"][0]
    assert error["lowest"] == f"{epoch}:{int(number) + 3}"
    found = changes(client, f"since={error['lowest']}")
    assert found[0]["revision"] == f"{epoch}:{int(number) + 4}"
    assert client.get(f"{PATH}?limit=1000").json["next"] is None


def test_a_cursor_of_another_history_is_a_410(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    document = client.get(f"{PATH}?since={revision(client)}").json
    epoch, _, number = document["revision"].partition(":")
    beyond = f"{epoch}:{int(number) + 1}"
    of_other_epoch = f"{'0' * 8}:{number}"
    of_other_write = f"{epoch}:{number}:123"
    for cursor in (beyond, of_other_epoch, of_other_write):
        response = client.get(f"{PATH}?since={cursor}")
        assert (response.status, response.code) == (410, "plimsoll.changes.other_history"), cursor
        assert response.json["errors"][0]["highest"] == document["highest"]


def test_a_change_that_is_not_described_needs_a_reload(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    with client.database.transaction() as transaction:
        newer = '[["format",{"version":2}],["something",{}]]'
        last = update(t.changes).where(t.changes.c.operation == "inventories.replace").values(effects=newer)
        transaction.connection.execute(last)
        transaction.commit()
    change = newest(client)
    assert change["reload"] is True
    assert (change["providers"], change["consumers"], change["names"]) == ([], [], [])


def test_json_lines_have_the_rest_in_headers(client: Api) -> None:
    start = revision(client)
    write_everything(client)
    document = client.get(f"{PATH}?since={start}&limit=4").json
    lines = client.call("GET", f"{PATH}?since={start}&limit=4", headers={"Accept": "application/x-ndjson"})
    assert [json.loads(line) for line in lines.body.splitlines()] == document["changes"]
    names = ("revision", "lowest", "highest", "next")
    assert [lines.headers[f"plimsoll-{name}"] for name in names] == [document[name] for name in names]
    assert lines.headers["plimsoll-more"] == "true"


def test_a_page_has_an_entity_tag(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    first = client.get(f"{PATH}?limit=2")
    headers = {"If-None-Match": first.headers["etag"]}
    assert client.call("GET", f"{PATH}?limit=2", headers=headers).status == 304
    claim(client, CONSUMER, {HOST: {"VCPU": 2}})
    assert client.call("GET", f"{PATH}?limit=2", headers=headers).status == 200


def test_readers_may_read(client: Api) -> None:
    assert statuses_by_role(client, PATH) == READERS


def test_readers_see_consumers_of_their_own_project_alone(client: Api) -> None:
    client.host(HOST, "host1", VCPU=16)
    start = revision(client)
    claim(client, CONSUMER, {HOST: {"VCPU": 2}}, project="engines")
    claim(client, SECOND, {HOST: {"VCPU": 1}}, project="planes")
    both = {
        uuid: {
            "allocations": {HOST: {"resources": {"VCPU": 3}}},
            "project_id": project,
            "user_id": "ada",
            "consumer_generation": 1,
            "consumer_type": "INSTANCE",
        }
        for uuid, project in ((CONSUMER, "engines"), (SECOND, "planes"))
    }
    assert client.post("/allocations", both).status == 204
    assert client.put("/traits/CUSTOM_FAST").status == 201
    seen = call_as(client, "reader", f"{PATH}?since={quote(start)}", "engines").json["changes"]
    assert [each["operation"] for each in seen] == ["allocations.claim"] * 2 + ["trait.create"]
    assert [[one["uuid"] for one in each["consumers"]] for each in seen] == [[CONSUMER], [CONSUMER], []]
    assert {(each["user"], each["project"]) for each in seen} == {(None, None)}
    assert b"planes" not in json.dumps(seen).encode()
    assert call_as(client, "reader", f"{PATH}?project=planes", "engines").status == 403
    assert len(call_as(client, "service", f"{PATH}?since={quote(start)}", "x").json["changes"]) == 4


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize("time", ["0001-01-01", "9999-12-31T23:59:59.999999", "999999999w"])
def test_the_first_and_the_last_time_can_be_asked_for(client: Api, name: str, time: str) -> None:
    client.host(HOST, "host1", VCPU=16)
    is_in = (name == "from") != time.startswith("9999-")
    assert bool(client.get(f"{PATH}?{name}={time}").json["changes"]) is is_in
