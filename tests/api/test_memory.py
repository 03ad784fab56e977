# SPDX-License-Identifier: Apache-2.0

"""The contents of requests do not stay in memory: long texts are sent in each field, parameter and header."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.api import Api

LONG = 20_000
TIMES = 20
NUMBERS = itertools.count()
HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"


def text() -> str:
    """Return a different text on each call, of letters that are valid in names."""
    number = f"{next(NUMBERS):08}".translate(str.maketrans("0123456789", "ABCDEFGHIJ"))
    return number * (LONG // len(number))


def header(name: str, form: str = "{}") -> Callable[[Api], Any]:
    return lambda client: client.call("GET", "/traits?name=in:X", headers={name: form.format(text())})


def get(form: str) -> Callable[[Api], Any]:
    return lambda client: client.get(form.format(text()))


def put(path: str, body: Callable[[str], Any], method: str = "PUT") -> Callable[[Api], Any]:
    return lambda client: client.call(method, path, body(text()))


def claim(long: str, **more: str) -> dict[str, Any]:
    owner = {"project_id": "p", "user_id": "u", "consumer_type": "T", "consumer_generation": None} | more
    return {"allocations": {HOST: {"resources": {"VCPU": 1}}}} | owner


PLACES: dict[str, Callable[[Api], Any]] = {
    **{
        name: header(name, form)
        for name, form in {
            "accept": "{}/json",
            "content-type": "{}",
            "openstack-api-version": "placement {}",
            "x-auth-token": "{}",
            "x-auth-token of a project": "admin:{}",
            "x-roles": "{}",
            "x-project-domain-id": "{}",
            "x-openstack-request-id": "{}",
            "x-other": "{}",
        }.items()
    },
    "a header's name": lambda client: client.call("GET", "/traits?name=in:X", headers={text(): "x"}),
    "the path": get("/{}"),
    "a provider": get("/resource_providers/{}"),
    "a trait": get("/traits/{}"),
    "a class": get("/resource_classes/{}"),
    "an inventory": get(f"/resource_providers/{HOST}/inventories/{{}}"),
    "a consumer": get("/allocations/{}"),
    "a parameter's name": get("/resource_providers?{}=1"),
    "name": get("/resource_providers?name={}"),
    "in_tree": get("/resource_providers?in_tree={}"),
    "member_of": get("/resource_providers?member_of={}"),
    "resources": get("/resource_providers?resources={}:1"),
    "an amount": get("/resource_providers?resources=VCPU:1{}"),
    "required": get("/resource_providers?required={}"),
    "traits by name": get("/traits?name=startswith:{}"),
    "traits by names": get("/traits?name=in:{}"),
    "candidates": get("/allocation_candidates?resources={}:1"),
    "candidates with a trait": get("/allocation_candidates?resources=VCPU:1&required={}"),
    "a group": get("/allocation_candidates?resources_{}=VCPU:1"),
    "the policy of groups": get("/allocation_candidates?resources=VCPU:1&group_policy={}"),
    "a project": get("/usages?project_id={}"),
    "a user": get("/usages?project_id=p&user_id={}"),
    "a type": get("/usages?project_id=p&consumer_type={}"),
    "a project's allocations": get("/allocations?project_id={}"),
    "the name of a provider": put("/resource_providers", lambda long: {"name": long}, "POST"),
    "the uuid of a provider": put("/resource_providers", lambda long: {"name": "x", "uuid": long}, "POST"),
    "the name of a class": put("/resource_classes", lambda long: {"name": f"CUSTOM_{long}"}, "POST"),
    "a class that is put": lambda client: client.call("PUT", f"/resource_classes/CUSTOM_{text()}"),
    "a trait that is put": lambda client: client.call("PUT", f"/traits/CUSTOM_{text()}"),
    "the traits of a provider": put(
        f"/resource_providers/{HOST}/traits",
        lambda long: {"traits": [long], "resource_provider_generation": 1},
    ),
    "the aggregates of a provider": put(
        f"/resource_providers/{HOST}/aggregates",
        lambda long: {"aggregates": [long], "resource_provider_generation": 1},
    ),
    "the class of an inventory": put(
        f"/resource_providers/{HOST}/inventories",
        lambda long: {"inventories": {long: {"total": 1}}, "resource_provider_generation": 1},
    ),
    "the class of a claim": put(
        f"/allocations/{CONSUMER}",
        lambda long: claim(long, allocations={HOST: {"resources": {long: 1}}}),  # type: ignore[arg-type]
    ),
    "the provider of a claim": put(
        f"/allocations/{CONSUMER}",
        lambda long: claim(long, allocations={long: {"resources": {"VCPU": 1}}}),  # type: ignore[arg-type]
    ),
    "the project of a claim": put(f"/allocations/{CONSUMER}", lambda long: claim(long, project_id=long)),
    "the user of a claim": put(f"/allocations/{CONSUMER}", lambda long: claim(long, user_id=long)),
    "the type of a claim": put(f"/allocations/{CONSUMER}", lambda long: claim(long, consumer_type=long)),
    "a key of a claim": put(f"/allocations/{CONSUMER}", lambda long: claim(long, **{long: "x"})),
}


@pytest.fixture(autouse=True)
def quick_collections() -> None:
    """Exempt the objects of earlier tests from the garbage collection for each field."""
    gc.collect()
    gc.freeze()


def test_long_texts_do_not_stay_in_memory(client: Api) -> None:
    client.host(HOST, VCPU=100)
    stay = {place: bytes_retained(client, send) for place, send in PLACES.items()}
    assert {place: count for place, count in stay.items() if count > TIMES * LONG / 4} == {}


def bytes_retained(client: Api, send: Callable[[Api], Any]) -> int:
    for _ in range(2):  # fill caches and other objects that are made once
        send(client)
    tracemalloc.start()
    try:
        for _ in range(TIMES):
            send(client)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
