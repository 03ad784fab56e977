# SPDX-License-Identifier: Apache-2.0

"""Comparison of texts and precision of ratios are those of the reference on the same database.

MariaDB, as the reference sets it up, ignores case and trailing spaces; PostgreSQL and SQLite compare exactly. MariaDB
stores ratios in single precision.
"""

from typing import Any

import pytest

from tests.support.api import Api, api
from tests.support.databases import Databases, run_sql

HOST = "abcdef00-0000-0000-0000-000000000001"
AGGREGATE = "abcdef00-0000-0000-0000-0000000000a1"
CONSUMER = "abcdef00-0000-0000-0000-0000000000c1"


@pytest.fixture
def engine(databases: Databases) -> str:
    return databases.engine


@pytest.fixture
def ignores_case(engine: str) -> bool:
    """Whether this database ignores the case of letters."""
    return engine == "mariadb"


def swap_case(uuid: str) -> str:
    return uuid.swapcase()


def claim(provider: str, amount: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "allocations": {provider: {"resources": {"VCPU": amount}}},
        "project_id": "red",
        "user_id": "ann",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
        **more,
    }


@pytest.mark.parametrize("other", ["Host", "host ", "HOST  "])
def test_names_that_differ_in_case_or_in_spaces_at_the_end(
    client: Api, ignores_case: bool, other: str
) -> None:
    client.host(HOST, "host")
    found = client.get(f"/resource_providers?name={other.replace(' ', '%20')}").json["resource_providers"]
    assert [each["name"] for each in found] == (["host"] if ignores_case else [])
    assert client.post("/resource_providers", {"name": other}).status == (409 if ignores_case else 200)


def test_a_provider_may_be_renamed_to_another_spelling_of_its_own_name(client: Api) -> None:
    client.host(HOST, "host")
    assert client.put(f"/resource_providers/{HOST}", {"name": "Host"}).json["name"] == "Host"
    assert client.get("/resource_providers?name=Host").json["resource_providers"][0]["uuid"] == HOST


def test_reads_of_a_provider_by_its_uuid_in_another_case(client: Api, ignores_case: bool) -> None:
    client.host(HOST, VCPU=4)
    other = swap_case(HOST)
    for part in (
        "",
        "/inventories",
        "/inventories/VCPU",
        "/usages",
        "/aggregates",
        "/traits",
        "/allocations",
    ):
        response = client.get(f"/resource_providers/{other}{part}")
        expected = client.get(f"/resource_providers/{HOST}{part}")
        assert (response.status, response.body if ignores_case else b"") == (
            (200, expected.body) if ignores_case else (404, b"")
        ), part
    for parameter in ("uuid", "in_tree"):
        listed = client.get(f"/resource_providers?{parameter}={other}").json["resource_providers"]
        assert [each["uuid"] for each in listed] == ([HOST] if ignores_case else [])
    found = client.get(f"/allocation_candidates?resources=VCPU:1&in_tree={other}").json
    assert list(found["provider_summaries"]) == ([HOST] if ignores_case else [])


def test_writes_to_a_provider_by_its_uuid_in_another_case(client: Api, ignores_case: bool) -> None:
    client.host(HOST, VCPU=4)
    other, there = f"/resource_providers/{swap_case(HOST)}", ignores_case
    inventory = {"resource_class": "DISK_GB", "total": 10}
    assert client.post(f"{other}/inventories", inventory).status == (201 if there else 404)
    body = {"resource_provider_generation": 2, "total": 20}
    assert client.put(f"{other}/inventories/DISK_GB", body).status == (200 if there else 404)
    assert client.delete(f"{other}/inventories/DISK_GB").status == (204 if there else 404)
    traits = {"resource_provider_generation": 4, "traits": ["HW_CPU_X86_VMX"]}
    assert client.put(f"{other}/traits", traits).status == (200 if there else 404)
    aggregates = {"resource_provider_generation": 5, "aggregates": [AGGREGATE]}
    assert client.put(f"{other}/aggregates", aggregates).status == (200 if there else 404)
    child = {"name": "child", "parent_provider_uuid": swap_case(HOST)}
    made = client.post("/resource_providers", child)
    assert made.status == (200 if there else 400)
    if there:
        assert made.json["parent_provider_uuid"] == made.json["root_provider_uuid"] == HOST
        again = client.put(f"/resource_providers/{made.json['uuid']}", child)
        assert again.json["parent_provider_uuid"] == HOST
        assert client.delete(f"/resource_providers/{made.json['uuid']}").status == 204
    assert client.delete(other).status == (204 if there else 404)


def test_claims_on_a_provider_by_its_uuid_in_another_case(client: Api, ignores_case: bool) -> None:
    client.host(HOST, VCPU=4)
    assert client.put(f"/allocations/{CONSUMER}", claim(swap_case(HOST))).status == (
        204 if ignores_case else 400
    )
    reshape = {
        "inventories": {
            swap_case(HOST): {
                "resource_provider_generation": 2 if ignores_case else 1,
                "inventories": {"VCPU": {"total": 8}, "DISK_GB": {"total": 5}},
            }
        },
        "allocations": {CONSUMER: claim(swap_case(HOST), 2, consumer_generation=1 if ignores_case else None)},
    }
    assert client.post("/reshaper", reshape).status == (204 if ignores_case else 400)
    if ignores_case:
        assert client.get(f"/allocations/{CONSUMER}").json["allocations"][HOST]["resources"] == {"VCPU": 2}
        assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 2, "DISK_GB": 0}


def test_a_consumer_by_its_uuid_in_another_case(client: Api, ignores_case: bool) -> None:
    client.host(HOST, VCPU=4)
    other = swap_case(CONSUMER)
    assert client.post("/allocations", {CONSUMER: claim(HOST)}).status == 204
    assert bool(client.get(f"/allocations/{other}").json["allocations"]) == ignores_case
    # The second claim has the generation of the same consumer, or null for a new one.
    again = claim(HOST, 2, consumer_generation=1 if ignores_case else None)
    assert client.post("/allocations", {other: again}).status == 204
    usages = client.get(f"/resource_providers/{HOST}/usages").json["usages"]
    assert usages == {"VCPU": 2 if ignores_case else 3}
    held = client.get(f"/resource_providers/{HOST}/allocations").json["allocations"]
    assert sorted(held) == ([CONSUMER] if ignores_case else sorted([CONSUMER, other]))
    assert client.delete(f"/allocations/{other}").status == 204
    assert bool(client.get(f"/allocations/{CONSUMER}").json["allocations"]) == (not ignores_case)


def test_a_search_matches_aggregates_only_as_they_are_stored(client: Api) -> None:
    """On every database: the reference compares them in Python."""
    client.host(HOST, VCPU=4)
    body = {"resource_provider_generation": 1, "aggregates": [AGGREGATE]}
    assert client.put(f"/resource_providers/{HOST}/aggregates", body).status == 200
    for question in ("/resource_providers?member_of=", "/allocation_candidates?resources=VCPU:1&member_of="):
        for aggregate, finds in ((AGGREGATE, True), (swap_case(AGGREGATE), False)):
            found = client.get(f"{question}{aggregate}").json
            assert bool(found.get("resource_providers") or found.get("allocation_requests")) == finds


def test_an_aggregate_that_is_set_again_in_another_case_is_kept(client: Api, ignores_case: bool) -> None:
    """The reference removes it on MariaDB, see docs/differences.md."""
    client.host(HOST)
    path, other = f"/resource_providers/{HOST}/aggregates", swap_case(AGGREGATE)
    for generation, named in enumerate(([AGGREGATE], [other], [other], [AGGREGATE, other]), start=1):
        response = client.put(path, {"resource_provider_generation": generation, "aggregates": named})
        assert (response.status, sorted(response.json["aggregates"])) == (200, sorted(named))
        kept = client.get(path).json["aggregates"]
        assert sorted(kept) == ([AGGREGATE] if ignores_case else sorted(named))


def test_owners_that_differ_in_case_are_one_where_the_database_ignores_case(
    client: Api, ignores_case: bool
) -> None:
    client.host(HOST, VCPU=4)
    claims = {
        CONSUMER: claim(HOST, project_id="red"),
        CONSUMER.replace("c1", "c2"): claim(HOST, project_id="RED"),
    }
    assert client.post("/allocations", claims).status == 204
    used = client.get("/usages?project_id=Red").json["usages"]
    assert used == ({"INSTANCE": {"VCPU": 2, "consumer_count": 2}} if ignores_case else {})


def test_a_write_returns_the_ratio_as_sent_and_a_read_returns_it_as_stored(client: Api, engine: str) -> None:
    client.host(HOST)
    body = {"resource_class": "VCPU", "total": 1000, "allocation_ratio": 1.23456789}
    made = client.post(f"/resource_providers/{HOST}/inventories", body)
    assert made.json["allocation_ratio"] == 1.23456789
    read = client.get(f"/resource_providers/{HOST}/inventories/VCPU").json["allocation_ratio"]
    assert read == (1.23457 if engine == "mariadb" else 1.23456789)


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3"])
def test_characters_outside_of_the_charset_of_the_tables_are_refused(
    databases: Databases, engine: str, charset: str
) -> None:
    if engine != "mariadb":
        pytest.skip("the tables of other databases store every character")
    with databases.fresh() as url:
        name = url.partition("?")[0].rpartition("/")[2]
        run_sql(url, f"ALTER DATABASE `{name}` CHARACTER SET {charset}")
        with api(url) as client:
            client.host(HOST, VCPU=4)
            smile = "\N{GRINNING FACE}"
            refused = client.put(f"/allocations/{CONSUMER}", claim(HOST, project_id=smile))
            assert (refused.status, refused.json["errors"][0]["title"]) == (400, "Bad Request")
            assert client.post("/resource_providers", {"name": smile}).status == 400
            assert client.get("/allocations?project_id=%F0%9F%98%80").status == 400
            assert client.get("/usages?project_id=%F0%9F%98%80").json["usages"] == {}
            assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 0}
            assert client.put(f"/allocations/{CONSUMER}", claim(HOST)).status == 204


def test_a_consumer_that_a_request_has_in_two_cases_is_changed_once_at_most(
    client: Api, ignores_case: bool
) -> None:
    client.host(HOST, VCPU=10)
    both = {CONSUMER: claim(HOST, 2), swap_case(CONSUMER): claim(HOST, 3)}
    assert client.post("/allocations", both).status == (409 if ignores_case else 204)
    if ignores_case:
        assert client.post("/allocations", {CONSUMER: claim(HOST, 4)}).status == 204
        again = {uuid: {**body, "consumer_generation": 1} for uuid, body in both.items()}
        assert client.post("/allocations", again).status == 409
        assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 4}


def test_a_provider_that_a_claim_has_in_two_cases_is_claimed_with_both_amounts(
    client: Api, ignores_case: bool
) -> None:
    client.host(HOST, VCPU=10)
    body = claim(HOST, 2)
    body["allocations"] |= claim(swap_case(HOST), 3)["allocations"]
    assert client.put(f"/allocations/{CONSUMER}", body).status == (204 if ignores_case else 400)
    assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {
        "VCPU": 5 if ignores_case else 0
    }


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/allocations/a\0b", "/resource_providers/a\0b", "/resource_providers/a\0b/allocations"]
)
def test_a_uuid_that_no_database_can_store_is_not_found_or_refused(
    client: Api, method: str, path: str
) -> None:
    assert client.call(method, path).status in (200, 400, 404, 405)


def test_an_owner_that_cannot_be_stored_is_refused_also_in_an_empty_claim(client: Api, engine: str) -> None:
    client.host(HOST, VCPU=4)
    assert client.put(f"/allocations/{CONSUMER}", claim(HOST)).status == 204
    clearing = claim(HOST, consumer_generation=1, allocations={}, project_id="red\0")
    response = client.post("/allocations", {CONSUMER: clearing})
    assert response.status == (400 if engine == "postgresql" else 204)
    held = client.get(f"/allocations/{CONSUMER}").json["allocations"]
    assert bool(held) == (engine == "postgresql")


def test_the_first_claim_that_cannot_be_stored_is_reported(client: Api, engine: str) -> None:
    client.host(HOST, VCPU=4)
    stale, not_storable = claim(HOST, consumer_generation=7), claim(HOST, project_id="red\0")
    other = swap_case(CONSUMER).lower().replace("c1", "c2")
    assert client.post("/allocations", {CONSUMER: stale, other: not_storable}).status == 409
    expected = 400 if engine == "postgresql" else 409
    assert client.post("/allocations", {other: not_storable, CONSUMER: stale}).status == expected
