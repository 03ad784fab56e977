# SPDX-License-Identifier: Apache-2.0

"""Which texts are the same, and how exactly a ratio is kept: as the reference's databases have it, each in its way.

MariaDB, as the reference sets it up, takes capital and small letters for the same, and leaves out spaces at the end;
PostgreSQL and SQLite compare what is written. MariaDB keeps ratios in single precision.
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
def folds(engine: str) -> bool:
    """Whether this database takes capital and small letters for the same."""
    return engine == "mariadb"


def swapped(uuid: str) -> str:
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
def test_names_that_differ_in_case_or_in_spaces_at_the_end(client: Api, folds: bool, other: str) -> None:
    client.host(HOST, "host")
    found = client.get(f"/resource_providers?name={other.replace(' ', '%20')}").json["resource_providers"]
    assert [each["name"] for each in found] == (["host"] if folds else [])
    assert client.post("/resource_providers", {"name": other}).status == (409 if folds else 200)


def test_a_provider_may_be_renamed_to_another_spelling_of_its_own_name(client: Api) -> None:
    client.host(HOST, "host")
    assert client.put(f"/resource_providers/{HOST}", {"name": "Host"}).json["name"] == "Host"
    assert client.get("/resource_providers?name=Host").json["resource_providers"][0]["uuid"] == HOST


def test_reads_of_a_provider_whose_uuid_is_spelled_otherwise(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=4)
    other = swapped(HOST)
    for part in (
        "",
        "/inventories",
        "/inventories/VCPU",
        "/usages",
        "/aggregates",
        "/traits",
        "/allocations",
    ):
        answer = client.get(f"/resource_providers/{other}{part}")
        expected = client.get(f"/resource_providers/{HOST}{part}")
        assert (answer.status, answer.body if folds else b"") == (
            (200, expected.body) if folds else (404, b"")
        ), part
    for parameter in ("uuid", "in_tree"):
        listed = client.get(f"/resource_providers?{parameter}={other}").json["resource_providers"]
        assert [each["uuid"] for each in listed] == ([HOST] if folds else [])
    found = client.get(f"/allocation_candidates?resources=VCPU:1&in_tree={other}").json
    assert list(found["provider_summaries"]) == ([HOST] if folds else [])


def test_writes_to_a_provider_whose_uuid_is_spelled_otherwise(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=4)
    other, there = f"/resource_providers/{swapped(HOST)}", folds
    inventory = {"resource_class": "DISK_GB", "total": 10}
    assert client.post(f"{other}/inventories", inventory).status == (201 if there else 404)
    body = {"resource_provider_generation": 2, "total": 20}
    assert client.put(f"{other}/inventories/DISK_GB", body).status == (200 if there else 404)
    assert client.delete(f"{other}/inventories/DISK_GB").status == (204 if there else 404)
    traits = {"resource_provider_generation": 4, "traits": ["HW_CPU_X86_VMX"]}
    assert client.put(f"{other}/traits", traits).status == (200 if there else 404)
    aggregates = {"resource_provider_generation": 5, "aggregates": [AGGREGATE]}
    assert client.put(f"{other}/aggregates", aggregates).status == (200 if there else 404)
    child = {"name": "child", "parent_provider_uuid": swapped(HOST)}
    made = client.post("/resource_providers", child)
    assert made.status == (200 if there else 400)
    if there:
        assert made.json["parent_provider_uuid"] == made.json["root_provider_uuid"] == HOST
        again = client.put(f"/resource_providers/{made.json['uuid']}", child)
        assert again.json["parent_provider_uuid"] == HOST
        assert client.delete(f"/resource_providers/{made.json['uuid']}").status == 204
    assert client.delete(other).status == (204 if there else 404)


def test_claims_on_a_provider_whose_uuid_is_spelled_otherwise(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=4)
    assert client.put(f"/allocations/{CONSUMER}", claim(swapped(HOST))).status == (204 if folds else 400)
    reshape = {
        "inventories": {
            swapped(HOST): {
                "resource_provider_generation": 2 if folds else 1,
                "inventories": {"VCPU": {"total": 8}, "DISK_GB": {"total": 5}},
            }
        },
        "allocations": {CONSUMER: claim(swapped(HOST), 2, consumer_generation=1 if folds else None)},
    }
    assert client.post("/reshaper", reshape).status == (204 if folds else 400)
    if folds:
        assert client.get(f"/allocations/{CONSUMER}").json["allocations"][HOST]["resources"] == {"VCPU": 2}
        assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 2, "DISK_GB": 0}


def test_a_consumer_whose_uuid_is_spelled_otherwise(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=4)
    other = swapped(CONSUMER)
    assert client.post("/allocations", {CONSUMER: claim(HOST)}).status == 204
    assert bool(client.get(f"/allocations/{other}").json["allocations"]) == folds
    # What the first has seen the second must name: it is the same consumer, or a new one.
    again = claim(HOST, 2, consumer_generation=1 if folds else None)
    assert client.post("/allocations", {other: again}).status == 204
    usages = client.get(f"/resource_providers/{HOST}/usages").json["usages"]
    assert usages == {"VCPU": 2 if folds else 3}
    held = client.get(f"/resource_providers/{HOST}/allocations").json["allocations"]
    assert sorted(held) == ([CONSUMER] if folds else sorted([CONSUMER, other]))
    assert client.delete(f"/allocations/{other}").status == 204
    assert bool(client.get(f"/allocations/{CONSUMER}").json["allocations"]) == (not folds)


def test_a_search_wants_aggregates_spelled_as_they_are_kept(client: Api) -> None:
    """On every database: the reference compares them by itself."""
    client.host(HOST, VCPU=4)
    body = {"resource_provider_generation": 1, "aggregates": [AGGREGATE]}
    assert client.put(f"/resource_providers/{HOST}/aggregates", body).status == 200
    for question in ("/resource_providers?member_of=", "/allocation_candidates?resources=VCPU:1&member_of="):
        for aggregate, finds in ((AGGREGATE, True), (swapped(AGGREGATE), False)):
            found = client.get(f"{question}{aggregate}").json
            assert bool(found.get("resource_providers") or found.get("allocation_requests")) == finds


def test_an_aggregate_that_is_set_again_in_another_spelling_is_kept(client: Api, folds: bool) -> None:
    """The reference removes it on MariaDB, see docs/differences.md."""
    client.host(HOST)
    path, other = f"/resource_providers/{HOST}/aggregates", swapped(AGGREGATE)
    for generation, named in enumerate(([AGGREGATE], [other], [other], [AGGREGATE, other]), start=1):
        answer = client.put(path, {"resource_provider_generation": generation, "aggregates": named})
        assert (answer.status, sorted(answer.json["aggregates"])) == (200, sorted(named))
        kept = client.get(path).json["aggregates"]
        assert sorted(kept) == ([AGGREGATE] if folds else sorted(named))


def test_owners_that_differ_in_case_are_one_where_the_database_says_so(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=4)
    claims = {
        CONSUMER: claim(HOST, project_id="red"),
        CONSUMER.replace("c1", "c2"): claim(HOST, project_id="RED"),
    }
    assert client.post("/allocations", claims).status == 204
    used = client.get("/usages?project_id=Red").json["usages"]
    assert used == ({"INSTANCE": {"VCPU": 2, "consumer_count": 2}} if folds else {})


def test_a_ratio_is_answered_as_given_and_read_as_it_is_kept(client: Api, engine: str) -> None:
    client.host(HOST)
    body = {"resource_class": "VCPU", "total": 1000, "allocation_ratio": 1.23456789}
    made = client.post(f"/resource_providers/{HOST}/inventories", body)
    assert made.json["allocation_ratio"] == 1.23456789
    read = client.get(f"/resource_providers/{HOST}/inventories/VCPU").json["allocation_ratio"]
    assert read == (1.23457 if engine == "mariadb" else 1.23456789)


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3"])
def test_what_the_tables_have_no_letter_for_is_refused(
    databases: Databases, engine: str, charset: str
) -> None:
    if engine != "mariadb":
        pytest.skip("the tables of other databases have room for every letter")
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


def test_one_consumer_in_two_spellings_in_one_request_is_changed_once_at_most(
    client: Api, folds: bool
) -> None:
    client.host(HOST, VCPU=10)
    both = {CONSUMER: claim(HOST, 2), swapped(CONSUMER): claim(HOST, 3)}
    assert client.post("/allocations", both).status == (409 if folds else 204)
    if folds:
        assert client.post("/allocations", {CONSUMER: claim(HOST, 4)}).status == 204
        seen = {uuid: {**body, "consumer_generation": 1} for uuid, body in both.items()}
        assert client.post("/allocations", seen).status == 409
        assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 4}


def test_one_provider_in_two_spellings_in_one_claim_gives_both_amounts(client: Api, folds: bool) -> None:
    client.host(HOST, VCPU=10)
    body = claim(HOST, 2)
    body["allocations"] |= claim(swapped(HOST), 3)["allocations"]
    assert client.put(f"/allocations/{CONSUMER}", body).status == (204 if folds else 400)
    assert client.get(f"/resource_providers/{HOST}/usages").json["usages"] == {"VCPU": 5 if folds else 0}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/allocations/a\0b", "/resource_providers/a\0b", "/resource_providers/a\0b/allocations"]
)
def test_a_uuid_that_no_database_keeps_is_not_found_or_refused(client: Api, method: str, path: str) -> None:
    assert client.call(method, path).status in (200, 400, 404, 405)


def test_an_owner_that_cannot_be_kept_is_refused_also_of_who_lets_go(client: Api, engine: str) -> None:
    client.host(HOST, VCPU=4)
    assert client.put(f"/allocations/{CONSUMER}", claim(HOST)).status == 204
    clearing = claim(HOST, consumer_generation=1, allocations={}, project_id="red\0")
    answer = client.post("/allocations", {CONSUMER: clearing})
    assert answer.status == (400 if engine == "postgresql" else 204)
    held = client.get(f"/allocations/{CONSUMER}").json["allocations"]
    assert bool(held) == (engine == "postgresql")


def test_of_several_claims_the_first_that_cannot_be_is_told(client: Api, engine: str) -> None:
    client.host(HOST, VCPU=4)
    stale, unkept = claim(HOST, consumer_generation=7), claim(HOST, project_id="red\0")
    other = swapped(CONSUMER).lower().replace("c1", "c2")
    assert client.post("/allocations", {CONSUMER: stale, other: unkept}).status == 409
    expected = 400 if engine == "postgresql" else 409
    assert client.post("/allocations", {other: unkept, CONSUMER: stale}).status == expected
