# SPDX-License-Identifier: Apache-2.0

"""`since_when` of GET /plimsoll/v1/explain: the change after which a search found nothing, on each engine."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete

from plimsoll.search.find import find_candidates
from plimsoll.service import since_when as service
from plimsoll.storage import tables as t
from tests.api.v1.roles import call_as
from tests.support.api import Api

ONE = "10000000-0000-0000-0000-000000000001"
TWO = "10000000-0000-0000-0000-000000000002"
PATH = "/plimsoll/v1/explain"
BIG = "resources=VCPU:8&relax=false&make_room=false"


@pytest.fixture
def cloud(client: Api) -> Api:
    client.host(ONE, "one", VCPU=8)
    return client


def consumer(number: int) -> str:
    return f"c0000000-0000-0000-0000-{number:012}"


def claim(client: Api, number: int, amount: int = 1, host: str = ONE, resource_class: str = "VCPU") -> str:
    """Claim for a consumer, and return the id of the request."""
    body = {
        "allocations": {host: {"resources": {resource_class: amount}}},
        "project_id": "engines",
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    response = client.put(f"/allocations/{consumer(number)}", body)
    assert response.status == 204, response.body
    return response.headers["x-openstack-request-id"]


def revision(client: Api) -> str:
    return str(client.get("/plimsoll/v1/usage").json["revision"])


def since(client: Api, query: str = BIG) -> Any:
    response = client.get(f"{PATH}?{query}&since_when=true")
    assert response.status == 200, response.body
    return response.json["since_when"]


def test_the_claim_that_ended_it_is_named_with_all_about_it(cloud: Api) -> None:
    request_id = claim(cloud, 1)
    ended_at = revision(cloud)
    claim(cloud, 2)
    found = since(cloud)
    change = found["ended_by"]
    assert (found["revision"], found["exact"], found["complete"]) == (ended_at, True, True)
    assert (change["revision"], change["operation"]) == (ended_at, "allocations.claim")
    assert change["request_id"] == request_id
    assert change["providers"] == [{"uuid": ONE, "name": "one"}]
    assert change["consumers"] == [consumer(1)]
    assert found["time"] == change["time"]
    assert request_id in found["text"]


def test_of_several_times_without_candidates_the_newest_is_meant(cloud: Api) -> None:
    claim(cloud, 1)
    assert cloud.delete(f"/allocations/{consumer(1)}").status == 204
    claim(cloud, 2)
    newest = revision(cloud)
    claim(cloud, 3)
    assert since(cloud)["revision"] == newest


def test_amounts_that_were_free_at_different_times_are_no_room(client: Api) -> None:
    """In the state with the least usage of the run there are candidates; in each state of it there are none."""
    client.host(ONE, "one", VCPU=8, MEMORY_MB=8)
    claim(client, 1, 1)
    ended_at = revision(client)
    for _ in range(3):
        claim(client, 2, 1, resource_class="MEMORY_MB")
        assert client.delete(f"/allocations/{consumer(1)}").status == 204
        claim(client, 1, 1)
        assert client.delete(f"/allocations/{consumer(2)}").status == 204
    assert since(client, "resources=VCPU:8,MEMORY_MB:8&relax=false")["revision"] == ended_at


@pytest.mark.parametrize("operation", ["inventory.update", "provider.traits.set", "provider.delete"])
def test_other_changes_than_claims_are_named(cloud: Api, operation: str) -> None:
    query = f"{BIG}&required=!CUSTOM_BROKEN"
    assert cloud.put("/traits/CUSTOM_BROKEN").status == 201
    match operation:
        case "inventory.update":
            body: Any = {"resource_provider_generation": 1, "total": 4}
            assert cloud.put(f"/resource_providers/{ONE}/inventories/VCPU", body).status == 200
        case "provider.traits.set":
            body = {"resource_provider_generation": 1, "traits": ["CUSTOM_BROKEN"]}
            assert cloud.put(f"/resource_providers/{ONE}/traits", body).status == 200
        case _:
            assert cloud.delete(f"/resource_providers/{ONE}").status == 204
    ended_at = revision(cloud)
    cloud.host(TWO, "two", VCPU=4)
    found = since(cloud, query)
    assert (found["revision"], found["ended_by"]["operation"]) == (ended_at, operation)
    assert found["ended_by"]["providers"] == [{"uuid": ONE, "name": "one"}]


def test_a_log_that_does_not_reach_gives_a_lower_bound(cloud: Api) -> None:
    claim(cloud, 1)
    claim(cloud, 2)
    epoch, _, number = revision(cloud).partition(":")
    with cloud.database.transaction() as transaction:
        transaction.connection.execute(delete(t.changes).where(t.changes.c.seq < int(number)))
        transaction.commit()
    found = since(cloud)
    assert (found["exact"], found["complete"], found["ended_by"]) == (False, True, None)
    assert found["revision"] == f"{epoch}:{int(number) - 1}"
    assert "for at least as long as the change log reaches" in found["text"]


def test_a_request_that_never_had_candidates_has_no_change_that_ended_it(cloud: Api) -> None:
    found = since(cloud, "resources=VCPU:99&relax=false")
    assert (found["exact"], found["ended_by"]) == (False, None)


def test_too_little_time_gives_a_bound_marked_as_a_lower_one(
    cloud: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(cloud, 1)
    monkeypatch.setattr(service, "SINCE_WHEN_SECONDS", -1.0)
    found = since(cloud)
    assert (found["exact"], found["complete"], found["ended_by"]) == (False, False, None)


def test_it_is_searched_only_if_requested_and_nothing_is_found(cloud: Api) -> None:
    assert "since_when" not in cloud.get(f"{PATH}?{BIG}&since_when=true").json
    claim(cloud, 1)
    assert "since_when" not in cloud.get(f"{PATH}?{BIG}").json


def test_as_of_an_earlier_revision_it_is_the_change_before_that(cloud: Api) -> None:
    claim(cloud, 1)
    first = revision(cloud)
    assert cloud.delete(f"/allocations/{consumer(1)}").status == 204
    claim(cloud, 2)
    found = cloud.get(f"{PATH}?resources=VCPU:8&relax=false&since_when=true&at={first}").json
    assert (found["revision"], found["since_when"]["revision"]) == (first, first)


def test_consumers_of_other_projects_are_not_named(cloud: Api) -> None:
    claim(cloud, 1)
    path = f"{PATH}?{BIG}&since_when=true"
    own = call_as(cloud, "reader", path, project="engines").json["since_when"]["ended_by"]
    assert own["consumers"] == [consumer(1)]
    other = call_as(cloud, "reader", path, project="others").json["since_when"]
    assert (other["ended_by"]["consumers"], other["ended_by"]["user"], other["ended_by"]["project"]) == (
        [],
        None,
        None,
    )
    assert consumer(1) not in other["text"]


def test_the_text_has_it_too(cloud: Api) -> None:
    claim(cloud, 1)
    response = cloud.call("GET", f"{PATH}?{BIG}&since_when=true", headers={"Accept": "text/plain"})
    text = " ".join(response.body.decode().split())
    assert "Without candidates since " in text
    assert "The change that ended it: allocations.claim on one, consumer " in text


def test_many_claims_take_few_searches(cloud: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.host(TWO, "two", VCPU=200)
    claim(cloud, 1)
    ended_at = revision(cloud)
    for number in range(2, 102):
        claim(cloud, number, host=TWO)
    searches = 0
    find = find_candidates

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal searches
        searches += 1
        return find(*arguments, **options)

    monkeypatch.setattr(service, "find_candidates", counted)
    query = "resources=VCPU:8&in_tree=" + ONE
    assert since(cloud, f"{query}&relax=false")["revision"] == ended_at
    assert searches <= 2 * 8 + 2
