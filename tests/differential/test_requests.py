# SPDX-License-Identifier: Apache-2.0

"""A seed gives the same requests again, most of them good, and every way to spoil one gives one that can be sent."""

from __future__ import annotations

import pytest

from tests.differential import mix, spoil, words
from tests.differential.candidates import MOST_COMBINATIONS, bounded, combinations, thought_of
from tests.differential.requests import Dice, Request, Version
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


def some(seed: int, count: int = 300) -> list[Request]:
    dice = Dice(seed)
    vocabulary = words.of_seed(dice)
    return [mix.following(dice, vocabulary, STATE) for _ in range(count)]


def test_a_seed_repeats_exactly() -> None:
    assert some(7) == some(7)
    assert some(7) != some(8)


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


def test_all_routes_and_methods_come_up() -> None:
    wanted_routes = {(path, method) for path, methods in ROUTES.items() for method in methods.split()}
    assert wanted_routes <= {route(request) for request in some(1, 2500) if "spoiled" not in request.kind}


def test_all_versions_come_up() -> None:
    assert {request.version.minor for request in some(1, 2500)} == {None, *range(40)}


@pytest.mark.parametrize("way", [way for way, _ in (*spoil.READ_SPOILS, *spoil.WRITE_SPOILS)])
def test_a_spoiled_request_can_still_be_written_down(way: spoil.Spoil) -> None:
    dice = Dice(3)
    for request in (good for good in some(5) if "spoiled" not in good.kind):
        bad = way(dice, request)
        assert bad.target.isascii()
        assert str(bad)


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


def test_no_search_explodes() -> None:
    dice = Dice(11)
    for _ in range(300):
        groups = bounded(dice, STATE, thought_of(dice, STATE, Version.of("placement 1.39"), "host0"))
        assert len(groups) == 1 or combinations(STATE, groups) <= MOST_COMBINATIONS
