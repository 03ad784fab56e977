# SPDX-License-Identifier: Apache-2.0

"""A seed repeats its requests, most of them valid, and every mutation gives a request that can be sent."""

from __future__ import annotations

import pytest

from tests.differential import mix, mutations, sample_data
from tests.differential.candidates import MAX_COMBINATIONS, combinations, create_groups, limit_combinations
from tests.differential.requests import Request, SeededRandom, Version
from tests.differential.state import Consumer, Inventory, Provider, State

HOSTS = {f"host{n}": Provider(f"host{n}", n, None, f"host{n}") for n in range(4)}
CHILDREN = {f"child{n}": Provider(f"child{n}", n, f"host{n % 4}", f"host{n % 4}") for n in range(8)}
STATE = State(
    HOSTS | CHILDREN,
    {
        (uuid, name): Inventory(8, 0, 1, 8, 1, 1.0)
        for uuid in HOSTS | CHILDREN
        for name in ("VCPU", "VGPU", "DISK_GB")
    },
    frozenset({("host1", "MISC_SHARES_VIA_AGGREGATE"), ("host0", "CUSTOM_FAST")}),
    frozenset({("host1", "agg"), ("host0", "agg")}),
    {"someone": Consumer(2, "team-a", "ann", "INSTANCE")},
    {("someone", "host0", "VCPU"): 2},
    frozenset({"CUSTOM_BW"}),
    frozenset({"CUSTOM_FAST"}),
)


def random_requests(seed: int, count: int = 300) -> list[Request]:
    rng = SeededRandom(seed)
    data = sample_data.create(rng)
    return [mix.next_request(rng, data, STATE) for _ in range(count)]


def test_a_seed_repeats_exactly() -> None:
    assert random_requests(7) == random_requests(7)
    assert random_requests(7) != random_requests(8)


PROVIDER = "/resource_providers/{}"
ROUTES = {
    "/": "GET",
    "/resource_classes": "GET POST",
    "/resource_classes/{}": "GET PUT DELETE",
    "/resource_providers": "GET POST",
    PROVIDER: "GET PUT DELETE",
    f"{PROVIDER}/inventories": "GET PUT POST DELETE",
    f"{PROVIDER}/inventories/{{}}": "GET PUT DELETE",
    f"{PROVIDER}/usages": "GET",
    f"{PROVIDER}/aggregates": "GET PUT",
    f"{PROVIDER}/allocations": "GET",
    f"{PROVIDER}/traits": "GET PUT DELETE",
    "/allocations": "POST",
    "/allocations/{}": "GET PUT DELETE",
    "/allocation_candidates": "GET",
    "/traits": "GET",
    "/traits/{}": "GET PUT DELETE",
    "/usages": "GET",
    "/reshaper": "POST",
}


def route(request: Request) -> tuple[str, str]:
    parts = request.path.split("/")
    parts[2::2] = ["{}" for _ in parts[2::2]]
    return "/".join(parts), request.method


def test_all_routes_and_methods_are_generated() -> None:
    wanted_routes = {(path, method) for path, methods in ROUTES.items() for method in methods.split()}
    assert wanted_routes <= {
        route(request) for request in random_requests(1, 2500) if "mutated" not in request.kind
    }


def test_all_versions_are_generated() -> None:
    assert {request.version.minor for request in random_requests(1, 2500)} == {None, *range(40)}


@pytest.mark.parametrize(
    "mutation", [mutation for mutation, _ in (*mutations.READ_MUTATIONS, *mutations.WRITE_MUTATIONS)]
)
def test_a_mutated_request_can_still_be_formatted(mutation: mutations.Mutation) -> None:
    rng = SeededRandom(3)
    for request in (valid for valid in random_requests(5) if "mutated" not in valid.kind):
        mutated = mutation(rng, request)
        assert mutated.target.isascii()
        assert str(mutated)


@pytest.mark.parametrize(
    ("header", "minor"),
    [
        (None, 0),
        ("placement 1.0", 0),
        ("placement 1.39", 39),
        ("placement latest", 39),
        ("placement 1.40", None),
        ("compute 2.1", 0),
    ],
)
def test_a_version_header_means_a_minor_version(header: str | None, minor: int | None) -> None:
    assert Version.of(header).minor == minor


def test_searches_stay_within_the_limit_of_combinations() -> None:
    rng = SeededRandom(11)
    for _ in range(300):
        groups = limit_combinations(
            rng, STATE, create_groups(rng, STATE, Version.of("placement 1.39"), "host0")
        )
        assert len(groups) == 1 or combinations(STATE, groups) <= MAX_COMBINATIONS
