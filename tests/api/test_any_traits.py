# SPDX-License-Identifier: Apache-2.0

"""Any of several traits (seed 004): `required=in:T1,T2`, alone, repeated, and in each group."""

import pytest

from tests.support.api import Api

pytestmark = pytest.mark.one_engine("searches read the snapshot in memory")

NAMES = {number: f"10000000-0000-0000-0000-00000000000{number}" for number in range(1, 5)}
TRAITS = {1: ["CUSTOM_A"], 2: ["CUSTOM_B"], 3: ["CUSTOM_A", "CUSTOM_B", "CUSTOM_C"], 4: []}


@pytest.fixture(autouse=True)
def _hosts(client: Api) -> None:
    for name in ("A", "B", "C", "D"):
        client.put(f"/traits/CUSTOM_{name}")
    for number, uuid in NAMES.items():
        client.host(uuid, VCPU=4)
        body = {"resource_provider_generation": 1, "traits": TRAITS[number]}
        assert client.put(f"/resource_providers/{uuid}/traits", body).status == 200


def numbers(uuids: list[str]) -> set[int]:
    return {number for number, uuid in NAMES.items() if uuid in uuids}


CASES = [
    ("required=in:CUSTOM_A,CUSTOM_B", {1, 2, 3}),
    ("required=in:CUSTOM_A", {1, 3}),
    ("required=in:CUSTOM_A,CUSTOM_B&required=CUSTOM_C", {3}),
    ("required=in:CUSTOM_A,CUSTOM_B&required=!CUSTOM_C", {1, 2}),
    ("required=in:CUSTOM_A,CUSTOM_C&required=in:CUSTOM_B,CUSTOM_D", {3}),
    ("required=in:CUSTOM_D", set()),
]


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_providers_with_any_of_the_traits_are_found(client: Api, query: str, expected: set[int]) -> None:
    found = client.get(f"/resource_providers?{query}").json["resource_providers"]
    assert numbers([each["uuid"] for each in found]) == expected


@pytest.mark.parametrize(("query", "expected"), CASES)
@pytest.mark.parametrize("suffix", ["", "1", "_COMPUTE"])
def test_candidates_with_any_of_the_traits_are_found_in_every_group(
    client: Api, suffix: str, query: str, expected: set[int]
) -> None:
    query = query.replace("required=", f"required{suffix}=")
    found = client.get(f"/allocation_candidates?resources{suffix}=VCPU:1&{query}").json["allocation_requests"]
    assert numbers([uuid for each in found for uuid in each["allocations"]]) == expected


@pytest.mark.parametrize("path", ["/resource_providers?", "/allocation_candidates?resources=VCPU:1&"])
def test_malformed_any_of_traits_are_refused(client: Api, path: str) -> None:
    for query in ("in:CUSTOM_A,!CUSTOM_B", "in:", "in:CUSTOM_A,", "in:CUSTOM_NONE"):
        assert client.get(f"{path}required={query}").status == 400
    assert "since microversion 1.39" in client.get(f"{path}required=in:CUSTOM_A", "1.38").detail


@pytest.mark.parametrize("version", ["1.22", "1.38"])
def test_before_that_version_the_last_of_several_parameters_is_used(client: Api, version: str) -> None:
    found = client.get("/resource_providers?required=CUSTOM_A&required=CUSTOM_C", version).json
    assert numbers([each["uuid"] for each in found["resource_providers"]]) == {3}
    found = client.get("/resource_providers?required=CUSTOM_C&required=CUSTOM_A", version).json
    assert numbers([each["uuid"] for each in found["resource_providers"]]) == {1, 3}
