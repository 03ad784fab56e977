# SPDX-License-Identifier: Apache-2.0

"""Good documents for every route, and what can become of them: seeded, so that a failure can be had again.

A spoilt document is a good one with some of its parts lost, added, renamed or replaced by values that have made
parsers and schemas disagree before.
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

Dice = random.Random


def inventory(dice: Dice) -> dict[str, Any]:
    figures = {
        "reserved": dice.choice((0, 1, 5)),
        "min_unit": dice.choice((1, 2)),
        "max_unit": dice.choice((1, 2**31 - 1)),
        "step_size": dice.choice((1, 10)),
        "allocation_ratio": dice.choice((1, 1.0, 16.5, 0, -2.5)),
        "resource_provider_generation": 0,
    }
    return {
        "total": dice.choice((1, 10, 2**31 - 1)),
        **dict(dice.sample(sorted(figures.items()), dice.randrange(7))),
    }


def amounts(dice: Dice) -> dict[str, int]:
    return {name: dice.choice((1, 2, 1024)) for name in dice.sample(("VCPU", "DISK_GB", "CUSTOM_A"), 2)}


def consumer(dice: Dice, minor: int) -> dict[str, Any]:
    """A consumer's part of a claim, as the version wants it."""
    if minor < 12:
        held: Any = [{"resource_provider": {"uuid": uuid}, "resources": amounts(dice)} for uuid in UUIDS[:2]]
    else:
        held = {uuid: {"resources": amounts(dice)} for uuid in UUIDS[: dice.randrange(1, 3)]}
        if dice.random() < 0.3:
            held[UUIDS[0]]["generation"] = 3
    claim: dict[str, Any] = {"allocations": held}
    if minor >= 8:
        claim |= {"project_id": "p", "user_id": "u"}
    if minor >= 28:
        claim["consumer_generation"] = dice.choice((None, 0, 7))
        if dice.random() < 0.2:
            claim["allocations"] = {}
    if minor >= 34 and dice.random() < 0.5:
        claim["mappings"] = {dice.choice(("", "1", "_NET")): [UUIDS[0]]}
    if minor >= 38:
        claim["consumer_type"] = dice.choice(("INSTANCE", "A", "9_"))
    return claim


def provider(dice: Dice, minor: int) -> dict[str, Any]:
    made: dict[str, Any] = {"name": dice.choice(("host", "h" * 200, "Ünï"))}
    if minor >= 14 and dice.random() < 0.5:
        made["parent_provider_uuid"] = dice.choice((None, UUIDS[1]))
    return made


def aggregates(dice: Dice, minor: int) -> Any:
    listed = dice.sample(UUIDS, dice.randrange(4))
    return listed if minor < 19 else {"aggregates": listed, "resource_provider_generation": 0}


def inventories(dice: Dice, _: int) -> dict[str, Any]:
    named = {
        name: inventory(dice) for name in dice.sample(("VCPU", "DISK_GB", "CUSTOM_A"), dice.randrange(4))
    }
    return {"resource_provider_generation": 0, "inventories": named}


GOOD: dict[str, Callable[[Dice, int], Any]] = {
    "POST /resource_providers": lambda dice, minor: provider(dice, minor) | {"uuid": dice.choice(UUIDS)},
    "PUT /resource_providers/{uuid}": provider,
    "POST /resource_providers/{uuid}/inventories": lambda dice, _: (
        inventory(dice) | {"resource_class": "VCPU"}
    ),
    "PUT /resource_providers/{uuid}/inventories": inventories,
    "PUT /resource_providers/{uuid}/inventories/{resource_class}": lambda dice, _: (
        inventory(dice) | {"resource_provider_generation": 0}
    ),
    "PUT /resource_providers/{uuid}/aggregates": aggregates,
    "PUT /resource_providers/{uuid}/traits": lambda dice, _: {
        "traits": dice.sample(("HW_CPU_X86_AVX", "CUSTOM_A", "x"), dice.randrange(4)),
        "resource_provider_generation": 0,
    },
    "POST /resource_classes": lambda *_: {"name": "CUSTOM_A"},
    "PUT /resource_classes/{name}": lambda *_: {"name": "CUSTOM_B"},
    "PUT /allocations/{consumer_uuid}": consumer,
    "POST /allocations": lambda dice, minor: {uuid: consumer(dice, minor) for uuid in UUIDS[:2]},
    "POST /reshaper": lambda dice, minor: {
        "inventories": {uuid: inventories(dice, minor) for uuid in UUIDS[:2]},
        "allocations": {uuid: consumer(dice, minor) for uuid in UUIDS[: dice.randrange(3)]},
    },
}


def bodies(route: str, minor: int, dice: Dice, count: int) -> Iterator[str]:
    """Bodies as they would be sent, in latin-1 so that any byte can be written."""
    for _ in range(count):
        content = GOOD[route](dice, minor)
        for _ in range(dice.choice((0, 1, 1, 1, 2, 3))):
            content = spoilt(content, dice)
        text = json.dumps(content, ensure_ascii=dice.random() < 0.7, indent=dice.choice((None, 1)))
        yield garbled(text.encode("utf-8", "surrogatepass"), dice).decode("latin-1")


def spoilt(content: Any, dice: Dice) -> Any:
    """The document with one part changed, somewhere in it."""
    if isinstance(content, dict) and content and dice.random() < 0.85:
        key = dice.choice(list(content))
        match dice.randrange(6):
            case 0:
                return {name: value for name, value in content.items() if name != key}
            case 1:
                return content | {dice.choice(KEYS): dice.choice(VALUES)}
            case 2:
                return {dice.choice(KEYS) if name == key else name: value for name, value in content.items()}
            case _:
                return content | {key: spoilt(content[key], dice)}
    if isinstance(content, list) and content and dice.random() < 0.7:
        at = dice.randrange(len(content))
        changed = dice.choice(([], [spoilt(content[at], dice)], [content[at]] * 2))
        return [*content[:at], *changed, *content[at + 1 :]]
    return dice.choice(VALUES)


def garbled(raw: bytes, dice: Dice) -> bytes:
    """Now and then not even JSON."""
    if dice.random() > 0.06:
        return raw
    at = dice.randrange(len(raw) + 1)
    return dice.choice(
        (
            raw[:at],
            raw[:at] + b"\xff" + raw[at:],
            raw[:at] + dice.choice((b",", b"}", b'"', b"\\", b"\x00", b"1" * 400)) + raw[at:],
            b"\xef\xbb\xbf" + raw,
            raw + b" x",
            b"",
            raw.replace(b"1", b"0x1", 1),
        )
    )
