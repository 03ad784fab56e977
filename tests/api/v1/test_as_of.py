# SPDX-License-Identifier: Apache-2.0

"""The parameter `at` of the Plimsoll API: answers as of an earlier revision or time, on each engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select

from plimsoll.service import history
from plimsoll.storage import tables as t
from tests.support.api import Api, Response, api

ONE = "10000000-0000-0000-0000-000000000001"
TWO = "10000000-0000-0000-0000-000000000002"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
V1 = "/plimsoll/v1"
BIG = "explain?resources=VCPU:8&relax=false"


@pytest.fixture
def cloud(client: Api) -> Api:
    client.host(ONE, "one", VCPU=8)
    return client


def revision(client: Api) -> str:
    return str(client.get(f"{V1}/usage").json["revision"])


def claim(client: Api, vcpus: int, consumer: str = CONSUMER) -> str:
    """Claim on the host, and return the revision after it."""
    body = {
        "allocations": {ONE: {"resources": {"VCPU": vcpus}}},
        "project_id": "engines",
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    assert client.put(f"/allocations/{consumer}", body).status == 204
    return revision(client)


def get(client: Api, path: str, at: str) -> Response:
    return client.get(f"{V1}/{path}{'&' if '?' in path else '?'}at={at}")


def used(client: Api, at: str) -> Any:
    response = get(client, "usage", at)
    assert response.status == 200, response.body
    return response.json["groups"][0]["resources"]["VCPU"]["used"]


def test_a_response_as_of_then_has_the_state_and_the_revision_of_then(cloud: Api) -> None:
    before = revision(cloud)
    claim(cloud, 3)
    assert used(cloud, before) == 0
    assert get(cloud, "usage", before).json["revision"] == before
    assert get(cloud, BIG, before).json["verdict"] == "found"
    assert cloud.get(f"{V1}/{BIG}").json["verdict"] == "not now"
    assert get(cloud, "fit?resources=VCPU:1", before).json["now"]["instances"] == 8
    assert get(cloud, f"providers/{ONE}", before).json["inventories"]["VCPU"]["free"] == 8


def test_a_revision_is_also_given_by_its_number_alone(cloud: Api) -> None:
    before = revision(cloud)
    claim(cloud, 3)
    assert used(cloud, before.partition(":")[2]) == 0


def test_a_provider_that_was_deleted_is_there_as_of_then(cloud: Api) -> None:
    cloud.host(TWO, "two", VCPU=4)
    before = revision(cloud)
    shown = cloud.get(f"{V1}/providers/two").json
    assert cloud.delete(f"/resource_providers/{TWO}").status == 204
    assert cloud.get(f"{V1}/providers/two").status == 404
    assert get(cloud, "providers/two", before).json == shown
    assert [each["name"] for each in get(cloud, "providers", before).json["providers"]] == ["one", "two"]


def test_a_provider_that_did_not_exist_is_a_404(cloud: Api) -> None:
    before = revision(cloud)
    cloud.host(TWO, "two", VCPU=4)
    assert get(cloud, "providers/two", before).status == 404


def test_a_time_gives_the_state_after_the_last_change_up_to_it(cloud: Api) -> None:
    revisions = [revision(cloud)] + [claim(cloud, 1, f"{CONSUMER[:-1]}{number}") for number in range(2, 6)]
    with cloud.database.read() as conn:
        times = {row.seq: row.at for row in conn.execute(select(t.changes.c.seq, t.changes.c.at))}
    for number, each in enumerate(revisions):
        time = times[int(each.partition(":")[2])]
        found = get(cloud, "usage", f"{time.isoformat()}Z").json
        assert (found["revision"], found["groups"][0]["resources"]["VCPU"]["used"]) == (each, number)


def test_a_time_after_the_last_change_gives_the_newest_state(cloud: Api) -> None:
    newest = claim(cloud, 3)
    assert get(cloud, "usage", "0s").json["revision"] == newest
    assert get(cloud, "usage", "2999-01-01T00:00:00Z").json["revision"] == newest


def test_a_time_before_the_log_is_refused_with_the_lowest_revision(cloud: Api) -> None:
    response = get(cloud, "usage", "2000-01-01T00:00:00Z")
    assert (response.status, response.code) == (410, "plimsoll.changes.pruned")
    error = response.json["errors"][0]
    assert error["highest"] == revision(cloud)
    assert get(cloud, "usage", error["lowest"]).status == 200
    assert error["lowest"] in response.detail


def test_a_revision_before_the_log_is_refused_with_the_lowest_one(cloud: Api) -> None:
    old = revision(cloud)
    claim(cloud, 3)
    newest = claim(cloud, 3, f"{CONSUMER[:-1]}2")
    epoch, _, number = newest.partition(":")
    with cloud.database.transaction() as transaction:
        transaction.connection.execute(delete(t.changes).where(t.changes.c.seq < int(number)))
        transaction.commit()
    response = get(cloud, "usage", old)
    assert (response.status, response.code) == (410, "plimsoll.changes.pruned")
    assert response.json["errors"][0]["lowest"] == f"{epoch}:{int(number) - 1}"
    assert used(cloud, f"{epoch}:{int(number) - 1}") == 3


@pytest.mark.parametrize("at", ["00000001:1", "99999999"])
def test_a_revision_of_another_history_is_refused(cloud: Api, at: str) -> None:
    response = get(cloud, "usage", at)
    assert (response.status, response.code) == (410, "plimsoll.changes.other_history")
    assert response.json["errors"][0]["highest"] == revision(cloud)


@pytest.mark.parametrize("at", ["yesterday", "-1", "1:2", "2026-13-01", "", "9" * 30, "2026-01-01T25:00:00"])
def test_what_is_no_revision_and_no_time_is_refused(cloud: Api, at: str) -> None:
    assert get(cloud, "usage", at).status == 400


def test_the_past_has_an_etag(cloud: Api) -> None:
    before = revision(cloud)
    claim(cloud, 3)
    first = get(cloud, "providers", before)
    later = claim(cloud, 1, f"{CONSUMER[:-1]}2")
    again = cloud.call("GET", f"{V1}/providers?at={before}", headers={"If-None-Match": first.headers["etag"]})
    assert again.status == 304
    other = cloud.call("GET", f"{V1}/providers?at={later}", headers={"If-None-Match": first.headers["etag"]})
    assert other.status == 200


def test_pages_and_json_lines_are_of_the_same_revision(cloud: Api) -> None:
    cloud.host(TWO, "two", VCPU=4)
    before = revision(cloud)
    claim(cloud, 3)
    page = get(cloud, "providers?limit=1", before).json
    rest = get(cloud, f"providers?limit=1&after={page['next']}", page["revision"]).json
    assert [each["name"] for each in (*page["providers"], *rest["providers"])] == ["one", "two"]
    lines = cloud.call("GET", f"{V1}/providers?at={before}", headers={"Accept": "application/x-ndjson"})
    assert lines.headers["plimsoll-revision"] == before


def test_moves_are_not_searched_in_the_past(cloud: Api) -> None:
    full = claim(cloud, 8)
    assert cloud.delete(f"/allocations/{CONSUMER}").status == 204
    shown = get(cloud, "explain?resources=VCPU:8", full).json
    assert (shown["verdict"], shown["make_room"], shown["make_room_is_complete"]) == ("not now", [], False)
    assert get(cloud, "explain?resources=VCPU:8&make_room=false", full).status == 200
    refused = get(cloud, "explain?resources=VCPU:8&make_room=true", full)
    assert refused.status == 400
    assert "make_room cannot be combined with at" in refused.detail


def test_too_little_time_is_a_503_and_the_next_request_continues(
    cloud: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = revision(cloud)
    for number in range(1, 4):
        claim(cloud, 1, f"{CONSUMER[:-1]}{number}")
    with monkeypatch.context() as patched:
        patched.setattr(history, "UNDO_SECONDS", -1.0)
        statuses = [get(cloud, "usage", before).status for _ in range(3)]
    assert statuses == [503, 503, 200]


def test_the_setting_limits_how_many_changes_are_undone(tmp_path: Path) -> None:
    with api(tmp_path / "plimsoll.sqlite", plimsoll__history_max_changes=2) as client:
        client.host(ONE, "one", VCPU=8)
        epoch, _, number = revision(client).partition(":")
        response = get(client, "usage", f"{epoch}:{int(number) - 3}")
        assert response.status == 410
        assert response.json["errors"][0]["lowest"] == f"{epoch}:{int(number) - 2}"
        assert get(client, "usage", f"{epoch}:{int(number) - 2}").status == 200
