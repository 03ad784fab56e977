# SPDX-License-Identifier: Apache-2.0

"""Valid and mutated query strings for every route with parameters, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from urllib.parse import quote

from tests.schemas.documents import UUIDS

Rng = random.Random
Pairs = list[tuple[str, str]]

AGGREGATES = [*UUIDS, UUIDS[2].upper(), UUIDS[2].replace("-", "")]
TRAITS = ("HW_CPU_X86_AVX", "CUSTOM_A", "CUSTOM_B", "STORAGE_DISK_SSD")
NUMBERS, NAMES = ("", "", "1", "2", "10"), ("", "", "1", "_NET", "a-b", "Z" * 64)

VALUES = (
    *(
        "",
        " ",
        ",",
        ":",
        "!",
        "in:",
        "!in:",
        "x",
        "VCPU",
        "VCPU:",
        ":1",
        "VCPU:0",
        "VCPU:-1",
        "VCPU:1.5",
        "VCPU:x",
    ),
    *(
        "VCPU:1:2",
        "VCPU: 1 ",
        "VCPU:1_000",
        "VCPU:\u0663",
        "VCPU:99999999999999999999",
        "vcpu:1",
        "VCPU:1,",
        "1",
        "0",
    ),
    *(
        "10",
        "-1",
        "5\n",
        "01",
        "true",
        "TRUE",
        "false",
        "none",
        "isolate",
        "ISOLATE",
        "all",
        "allx",
        "unknown",
    ),
    *(
        "INSTANCE",
        "instance",
        "in:A,B",
        "startswith:CUSTOM_",
        "other:x",
        "in",
        "p" * 255,
        "p" * 256,
        "\x00",
        "é",
    ),
    *(
        "CUSTOM_A",
        "!CUSTOM_A",
        "!!CUSTOM_A",
        "CUSTOM_A,!CUSTOM_A",
        "in:CUSTOM_A,!CUSTOM_B",
        "in:CUSTOM_A,",
        "!,CUSTOM_A",
    ),
    *(
        UUIDS[0],
        "!" + UUIDS[0],
        "!!" + UUIDS[0],
        f"{UUIDS[0]},{UUIDS[1]}",
        f"in:{UUIDS[0]},x",
        " " + UUIDS[0] + " ",
    ),
    *(
        "{" + UUIDS[2] + "}",
        "urn:uuid:" + UUIDS[2],
        UUIDS[0] + "\n",
        "1111111111111111-1111-1111-111111111111",
    ),
)
PARAMETERS = (
    *(
        "name",
        "uuid",
        "member_of",
        "resources",
        "in_tree",
        "required",
        "limit",
        "group_policy",
        "root_required",
    ),
    *(
        "same_subtree",
        "project_id",
        "user_id",
        "consumer_type",
        "associated",
        "resources1",
        "required2",
        "member_of01",
    ),
    *(
        "in_tree_NET",
        "resources" + "Z" * 65,
        "x",
        "",
        "resources1\n",
        "Resources",
        "resources-",
        "required\n",
    ),
)


def resources(rng: Rng) -> str:
    chosen = rng.sample(("VCPU", "MEMORY_MB", "CUSTOM_A"), rng.randrange(1, 4))
    return ",".join(f"{name}:{rng.choice((1, 2, 1024))}" for name in chosen)


def required(rng: Rng) -> str:
    chosen = rng.sample(TRAITS, rng.randrange(1, 4))
    match rng.randrange(4):
        case 0:
            return "in:" + ",".join(chosen)
        case 1:
            return ",".join(rng.choice(("", "!")) + name for name in chosen)
    return ",".join(chosen)


def member_of(rng: Rng) -> str:
    if rng.random() < 0.5:
        return rng.choice(("", "", "!")) + rng.choice(AGGREGATES)
    return rng.choice(("in:", "in:", "!in:")) + ",".join(rng.sample(AGGREGATES, rng.randrange(1, 4)))


def several(rng: Rng) -> range:
    return range(rng.choice((0, 0, 1, 1, 1, 2, 3)))


def providers(rng: Rng, minor: int) -> Pairs:
    pairs: Pairs = []
    if rng.random() < 0.3:
        pairs.append(("name", rng.choice(("host", "", "hôte"))))
    if rng.random() < 0.2:
        pairs.append(("uuid", rng.choice(UUIDS)))
    if minor >= 3:
        pairs += [("member_of", member_of(rng)) for _ in several(rng)]
    if minor >= 4 and rng.random() < 0.4:
        pairs.append(("resources", resources(rng)))
    if minor >= 14 and rng.random() < 0.3:
        pairs.append(("in_tree", rng.choice(UUIDS)))
    if minor >= 18:
        pairs += [("required", required(rng)) for _ in several(rng)]
    return pairs


def candidates(rng: Rng, minor: int) -> Pairs:
    pairs: Pairs = []
    suffixes = [""]
    if minor >= 25:
        suffixes = sorted(set(rng.choices(NAMES if minor >= 33 else NUMBERS, k=rng.randrange(1, 4))))
    for suffix in suffixes:
        if minor < 36 or rng.random() < 0.8:
            pairs.append((f"resources{suffix}", resources(rng)))
        if minor >= 17:
            pairs += [(f"required{suffix}", required(rng)) for _ in several(rng)]
        if minor >= 21:
            pairs += [(f"member_of{suffix}", member_of(rng)) for _ in several(rng)]
        if minor >= 31 and rng.random() < 0.2:
            pairs.append((f"in_tree{suffix}", rng.choice(AGGREGATES)))
    if minor >= 16 and rng.random() < 0.3:
        pairs.append(("limit", rng.choice(("1", "1000"))))
    if minor >= 25 and rng.random() < 0.8:
        pairs.append(("group_policy", rng.choice(("none", "isolate"))))
    if minor >= 35 and rng.random() < 0.3:
        pairs.append(("root_required", rng.choice(("CUSTOM_A", "!CUSTOM_A", "CUSTOM_A,!CUSTOM_B"))))
    if minor >= 36:
        named = [suffix for suffix in suffixes if suffix]
        pairs += [("same_subtree", ",".join(rng.sample(named, len(named)))) for _ in several(rng) if named]
    return rng.sample(pairs, len(pairs))


def traits(rng: Rng, _: int) -> Pairs:
    pairs: Pairs = []
    if rng.random() < 0.6:
        pairs.append(("name", rng.choice(("in:CUSTOM_A,CUSTOM_B", "startswith:CUSTOM_", "startswith:"))))
    if rng.random() < 0.6:
        pairs.append(("associated", rng.choice(("true", "false", "True"))))
    return pairs


def usages(rng: Rng, minor: int) -> Pairs:
    pairs: Pairs = [("project_id", rng.choice(("p", "é")))]
    if rng.random() < 0.5:
        pairs.append(("user_id", "u"))
    if minor >= 38 and rng.random() < 0.5:
        pairs.append(("consumer_type", rng.choice(("INSTANCE", "all", "unknown"))))
    return pairs


GOOD: dict[str, Callable[[Rng, int], Pairs]] = {
    "GET /resource_providers": providers,
    "GET /allocation_candidates": candidates,
    "GET /traits": traits,
    "GET /usages": usages,
}


def query_strings(route: str, minor: int, rng: Rng, count: int) -> Iterator[str]:
    for _ in range(count):
        pairs = GOOD[route](rng, minor)
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            pairs = mutate(pairs, rng)
        text = rng.choice("&&&;").join(f"{quote(name)}={quote(value, safe=':,!')}" for name, value in pairs)
        if rng.random() < 0.05:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(("%ff", "+", "&", "=", "%", "%zz", "\xe9")) + text[at:]
        yield text


def mutate(pairs: Pairs, rng: Rng) -> Pairs:
    at = rng.randrange(len(pairs)) if pairs else 0
    before, one, after = pairs[:at], pairs[at : at + 1], pairs[at + 1 :]
    match rng.randrange(5):
        case 0:
            return [*before, *after]
        case 1:
            return [*before, *((name, rng.choice(VALUES)) for name, _ in one), *after]
        case 2:
            return [*before, *((rng.choice(PARAMETERS), value) for _, value in one), *after]
        case 3:
            return [*before, *one, *((name, rng.choice(VALUES)) for name, _ in one), *after]
    return [*pairs, (rng.choice(PARAMETERS), rng.choice(VALUES))]
