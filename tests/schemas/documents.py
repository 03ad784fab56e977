# SPDX-License-Identifier: Apache-2.0

"""Valid and mutated bodies for every route, from a seed, so that a failure can be repeated.

A mutated body has some parts removed, added, renamed or replaced by values that parsers and schemas have treated
differently before.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

UUIDS = [
    "11111111-1111-1111-1111-111111111111",
    "33333333-3333-3333-3333-333333333333",
    "abcdefab-cdef-abcd-efab-cdefabcdefab",
]

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 1e2, -0.0, 2**31 - 1, 2**31, 2**63, 2**64, 10**30, 1e300),
    *(float("nan"), float("inf"), float("-inf"), 3.4e38, 3.5e38),
    *(
        "",
        "x",
        "VCPU",
        "VCPU\n",
        "CUSTOM_A",
        "CUSTOM_A\n",
        "CUSTOM_",
        "custom_a",
        "CUSTOM_Ä",
        "\x00",
        "\ud800",
    ),
    *("A" * 200, "A" * 201, "CUSTOM_" + "A" * 248, "CUSTOM_" + "A" * 249, "A" * 256, "😀" * 200, "😀" * 201),
    *UUIDS,
    *(
        UUIDS[2].upper(),
        UUIDS[2].replace("-", ""),
        "{" + UUIDS[2] + "}",
        "urn:uuid:" + UUIDS[2],
        UUIDS[0] + "\n",
    ),
    *("-" * 36, "1111111111111111-1111-1111-111111111111", UUIDS[0][:-1], UUIDS[0][:-1] + "g"),
    *(
        [],
        {},
        [[]],
        [{}],
        {"": ""},
        {"uuid": UUIDS[0]},
        [UUIDS[0], UUIDS[0]],
        [1, True],
        [1, 1.0],
        {"VCPU": 1},
    ),
]
KEYS = [
    *("", "x", "name", "uuid", "generation", "total", "VCPU", "VCPU\n", "vcpu", "CUSTOM_A", "allocations"),
    *("resources", "mappings", "consumer_type", "consumer_generation", "project_id", "a" * 64, "a" * 65),
    *("parent_provider_uuid", "resource_provider_generation", "resource_class", "traits", "aggregates"),
    *UUIDS,
    *(UUIDS[0] + "\n", UUIDS[2].upper(), UUIDS[2].replace("-", ""), "-" * 36),
]

Rng = random.Random


def inventory(rng: Rng) -> dict[str, Any]:
    figures = {
        "reserved": rng.choice((0, 1, 5)),
        "min_unit": rng.choice((1, 2)),
        "max_unit": rng.choice((1, 2**31 - 1)),
        "step_size": rng.choice((1, 10)),
        "allocation_ratio": rng.choice((1, 1.0, 16.5, 0, -2.5)),
        "resource_provider_generation": 0,
    }
    return {
        "total": rng.choice((1, 10, 2**31 - 1)),
        **dict(rng.sample(sorted(figures.items()), rng.randrange(7))),
    }


def amounts(rng: Rng) -> dict[str, int]:
    return {name: rng.choice((1, 2, 1024)) for name in rng.sample(("VCPU", "DISK_GB", "CUSTOM_A"), 2)}


def consumer(rng: Rng, minor: int) -> dict[str, Any]:
    """Return the part of a claim for one consumer, in the form of the version."""
    if minor < 12:
        held: Any = [{"resource_provider": {"uuid": uuid}, "resources": amounts(rng)} for uuid in UUIDS[:2]]
    else:
        held = {uuid: {"resources": amounts(rng)} for uuid in UUIDS[: rng.randrange(1, 3)]}
        if rng.random() < 0.3:
            held[UUIDS[0]]["generation"] = 3
    claim: dict[str, Any] = {"allocations": held}
    if minor >= 8:
        claim |= {"project_id": "p", "user_id": "u"}
    if minor >= 28:
        claim["consumer_generation"] = rng.choice((None, 0, 7))
        if rng.random() < 0.2:
            claim["allocations"] = {}
    if minor >= 34 and rng.random() < 0.5:
        claim["mappings"] = {rng.choice(("", "1", "_NET")): [UUIDS[0]]}
    if minor >= 38:
        claim["consumer_type"] = rng.choice(("INSTANCE", "A", "9_"))
    return claim


def provider(rng: Rng, minor: int) -> dict[str, Any]:
    made: dict[str, Any] = {"name": rng.choice(("host", "h" * 200, "Ünï"))}
    if minor >= 14 and rng.random() < 0.5:
        made["parent_provider_uuid"] = rng.choice((None, UUIDS[1]))
    return made


def aggregates(rng: Rng, minor: int) -> Any:
    listed = rng.sample(UUIDS, rng.randrange(4))
    return listed if minor < 19 else {"aggregates": listed, "resource_provider_generation": 0}


def inventories(rng: Rng, _: int) -> dict[str, Any]:
    named = {name: inventory(rng) for name in rng.sample(("VCPU", "DISK_GB", "CUSTOM_A"), rng.randrange(4))}
    return {"resource_provider_generation": 0, "inventories": named}


GOOD: dict[str, Callable[[Rng, int], Any]] = {
    "POST /resource_providers": lambda rng, minor: provider(rng, minor) | {"uuid": rng.choice(UUIDS)},
    "PUT /resource_providers/{uuid}": provider,
    "POST /resource_providers/{uuid}/inventories": lambda rng, _: inventory(rng) | {"resource_class": "VCPU"},
    "PUT /resource_providers/{uuid}/inventories": inventories,
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": lambda rng, _: (
        inventory(rng) | {"resource_provider_generation": 0}
    ),
    "PUT /resource_providers/{uuid}/aggregates": aggregates,
    "PUT /resource_providers/{uuid}/traits": lambda rng, _: {
        "traits": rng.sample(("HW_CPU_X86_AVX", "CUSTOM_A", "x"), rng.randrange(4)),
        "resource_provider_generation": 0,
    },
    "POST /resource_classes": lambda *_: {"name": "CUSTOM_A"},
    "PUT /resource_classes/{name}": lambda *_: {"name": "CUSTOM_B"},
    "PUT /allocations/{consumer_uuid}": consumer,
    "POST /allocations": lambda rng, minor: {uuid: consumer(rng, minor) for uuid in UUIDS[:2]},
    "POST /reshaper": lambda rng, minor: {
        "inventories": {uuid: inventories(rng, minor) for uuid in UUIDS[:2]},
        "allocations": {uuid: consumer(rng, minor) for uuid in UUIDS[: rng.randrange(3)]},
    },
}


def bodies(route: str, minor: int, rng: Rng, count: int) -> Iterator[str]:
    """Yield bodies as text in latin-1, so that any byte can be written."""
    for _ in range(count):
        content = GOOD[route](rng, minor)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            content = mutate(content, rng)
        text = json.dumps(content, ensure_ascii=rng.random() < 0.7, indent=rng.choice((None, 1)))
        yield corrupt(text.encode("utf-8", "surrogatepass"), rng).decode("latin-1")


def mutate(content: Any, rng: Rng) -> Any:
    """Return the document with one part changed, at a random place."""
    if isinstance(content, dict) and content and rng.random() < 0.85:
        key = rng.choice(list(content))
        match rng.randrange(6):
            case 0:
                return {name: value for name, value in content.items() if name != key}
            case 1:
                return content | {rng.choice(KEYS): rng.choice(VALUES)}
            case 2:
                return {rng.choice(KEYS) if name == key else name: value for name, value in content.items()}
            case _:
                return content | {key: mutate(content[key], rng)}
    if isinstance(content, list) and content and rng.random() < 0.7:
        at = rng.randrange(len(content))
        changed = rng.choice(([], [mutate(content[at], rng)], [content[at]] * 2))
        return [*content[:at], *changed, *content[at + 1 :]]
    return rng.choice(VALUES)


def corrupt(raw: bytes, rng: Rng) -> bytes:
    """Change 6 % of the bodies so that most of them are not JSON."""
    if rng.random() > 0.06:
        return raw
    at = rng.randrange(len(raw) + 1)
    return rng.choice(
        (
            raw[:at],
            raw[:at] + b"\xff" + raw[at:],
            raw[:at] + rng.choice((b",", b"}", b'"', b"\\", b"\x00", b"1" * 400)) + raw[at:],
            b"\xef\xbb\xbf" + raw,
            raw + b" x",
            b"",
            raw.replace(b"1", b"0x1", 1),
        )
    )
