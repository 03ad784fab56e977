# SPDX-License-Identifier: Apache-2.0

"""Valid requests of every route, from a small pool of names, at many microversions."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

PROVIDERS = [str(uuid.UUID(int=0xA0 + n)) for n in range(8)]
CONSUMERS = [str(uuid.UUID(int=0xC0 + n)) for n in range(8)]
AGGREGATES = [str(uuid.UUID(int=0xD0 + n)) for n in range(4)]
CLASSES = ["VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_A", "CUSTOM_B"]
TRAITS = ["HW_CPU_X86_AVX", "CUSTOM_T", "CUSTOM_U", "MISC_SHARES_VIA_AGGREGATE"]
VERSIONS = ["1.0", "1.1", "1.2", "1.7", "1.8", "1.10", "1.12", "1.13", "1.14", "1.19", "1.25", "1.28", "1.29", "1.30", "1.34", "1.36", "1.38", "1.39", "latest"]  # fmt: skip


def provider_generation(number: int) -> str:
    """Stands for the generation that the provider has when the request is sent."""
    return f"@P{number}@"


def consumer_generation(number: int) -> str:
    return f"@C{number}@"


@dataclass
class Plan:
    """A request before it is written as bytes."""

    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    document: Any = None
    has_body: bool = False
    headers: list[tuple[str, str]] = field(default_factory=list)


def plan(random: Random) -> Plan:
    """One request that a client could send."""
    made = random.choice(_MAKERS)(random)
    made.headers = [
        ("Host", "placement"),
        ("X-Auth-Token", "admin"),
        ("X-Roles", "admin,service"),
        ("OpenStack-API-Version", f"placement {random.choice(VERSIONS)}"),
        *made.headers,
    ]
    if made.document is not None:
        made.has_body = True
        made.headers.append(("Content-Type", "application/json"))
    return made


def _number(random: Random) -> int:
    return random.randrange(len(PROVIDERS))


def _of_provider(part: str) -> Callable[[Random], Plan]:
    return lambda random: Plan("GET", f"/resource_providers/{random.choice(PROVIDERS)}{part}")


def _list_providers(random: Random) -> Plan:
    options = [
        ("name", f"p{_number(random)}"),
        ("uuid", random.choice(PROVIDERS)),
        ("member_of", random.choice(["", "in:", "!", "!in:"]) + ",".join(random.sample(AGGREGATES, 2))),
        ("resources", _resources(random)),
        ("in_tree", random.choice(PROVIDERS)),
        ("required", _required(random)),
    ]
    return Plan("GET", "/resource_providers", random.sample(options, random.randrange(4)))


def _resources(random: Random) -> str:
    chosen = random.sample(CLASSES, random.randint(1, 3))
    return ",".join(f"{each}:{random.choice([1, 2, 5, 100])}" for each in chosen)


def _required(random: Random) -> str:
    chosen = random.sample(TRAITS, random.randint(1, 3))
    if random.random() < 0.2:
        return "in:" + ",".join(chosen)
    return ",".join(random.choice(["", "!"]) + each for each in chosen)


def _create_provider(random: Random) -> Plan:
    number = _number(random)
    document = {"name": f"p{number}", "uuid": PROVIDERS[number]}
    if random.random() < 0.4:
        document["parent_provider_uuid"] = random.choice(PROVIDERS)
    return Plan("POST", "/resource_providers", document=document)


def _change_provider(random: Random) -> Plan:
    number = _number(random)
    document: dict[str, Any] = {"name": f"p{random.choice([number, number + 8])}"}
    if random.random() < 0.4:
        document["parent_provider_uuid"] = random.choice([*PROVIDERS, None])
    return Plan("PUT", f"/resource_providers/{PROVIDERS[number]}", document=document)


def _inventory(random: Random) -> dict[str, Any]:
    options = {"reserved": 0, "min_unit": 1, "max_unit": 100, "step_size": 1, "allocation_ratio": 2.0}
    chosen = random.sample(sorted(options), random.randrange(4))
    return {"total": random.choice([4, 100, 2**31 - 1])} | {name: options[name] for name in chosen}


def _set_inventories(random: Random) -> Plan:
    number = _number(random)
    document = {
        "resource_provider_generation": provider_generation(number),
        "inventories": {each: _inventory(random) for each in random.sample(CLASSES, random.randrange(5))},
    }
    return Plan("PUT", f"/resource_providers/{PROVIDERS[number]}/inventories", document=document)


def _set_inventory(random: Random) -> Plan:
    number, name = _number(random), random.choice(CLASSES)
    document = {"resource_provider_generation": provider_generation(number), **_inventory(random)}
    path = f"/resource_providers/{PROVIDERS[number]}/inventories"
    if random.random() < 0.3:
        return Plan("POST", path, document=document | {"resource_class": name})
    return Plan("PUT", f"{path}/{name}", document=document)


def _set_aggregates(random: Random) -> Plan:
    number = _number(random)
    chosen = random.sample(AGGREGATES, random.randrange(4))
    document: Any = {"aggregates": chosen, "resource_provider_generation": provider_generation(number)}
    if random.random() < 0.3:
        document = chosen
    return Plan("PUT", f"/resource_providers/{PROVIDERS[number]}/aggregates", document=document)


def _set_traits(random: Random) -> Plan:
    number = _number(random)
    document = {
        "traits": random.sample(TRAITS, random.randrange(4)),
        "resource_provider_generation": provider_generation(number),
    }
    return Plan("PUT", f"/resource_providers/{PROVIDERS[number]}/traits", document=document)


def _allocations(random: Random, number: int) -> dict[str, Any]:
    chosen = random.sample(PROVIDERS, random.randrange(3))
    return {
        "allocations": {
            each: {"resources": {name: random.choice([1, 2]) for name in random.sample(CLASSES, random.randint(1, 2))}}
            for each in chosen
        },
        "project_id": random.choice(["p", "q"]),
        "user_id": random.choice(["u", "v"]),
        "consumer_generation": consumer_generation(number),
        "consumer_type": random.choice(["INSTANCE", "MIGRATION"]),
    }  # fmt: skip


def _claim(random: Random) -> Plan:
    number = _number(random)
    document = _allocations(random, number)
    if random.random() < 0.3:
        for name in random.sample(["consumer_type", "consumer_generation", "project_id", "user_id"], 2):
            del document[name]
    return Plan("PUT", f"/allocations/{CONSUMERS[number]}", document=document)


def _claim_for_several(random: Random) -> Plan:
    numbers = random.sample(range(len(CONSUMERS)), random.randint(1, 3))
    document = {CONSUMERS[number]: _allocations(random, number) for number in numbers}
    return Plan("POST", "/allocations", document=document)


def _reshape(random: Random) -> Plan:
    numbers = random.sample(range(len(PROVIDERS)), 2)
    document = {
        "inventories": {
            PROVIDERS[number]: {
                "resource_provider_generation": provider_generation(number),
                "inventories": {each: _inventory(random) for each in random.sample(CLASSES, 2)},
            }
            for number in numbers
        },
        "allocations": {CONSUMERS[number]: _allocations(random, number) for number in numbers[:1]},
    }
    return Plan("POST", "/reshaper", document=document)


def _candidates(random: Random) -> Plan:
    query = [("resources", _resources(random))]
    for suffix in random.sample(["1", "2", "_NET", "_a-b"], random.randrange(3)):
        query.append((f"resources{suffix}", _resources(random)))
        if random.random() < 0.5:
            query.append((f"required{suffix}", _required(random)))
        if random.random() < 0.2:
            query.append((f"in_tree{suffix}", random.choice(PROVIDERS)))
        query.append(("group_policy", random.choice(["none", "isolate"])))
    extra = [
        ("required", _required(random)),
        ("member_of", random.choice(AGGREGATES)),
        ("limit", str(random.choice([1, 5, 100]))),
        ("root_required", _required(random)),
        ("same_subtree", "_NET,_a-b"),
        ("in_tree", random.choice(PROVIDERS)),
    ]
    return Plan(
        "GET", "/allocation_candidates", list(dict(query).items()) + random.sample(extra, random.randrange(3))
    )


def _usages(random: Random) -> Plan:
    query = [("project_id", random.choice(["p", "q"]))]
    query += random.sample(
        [("user_id", "u"), ("consumer_type", random.choice(["INSTANCE", "all", "unknown"]))],
        random.randrange(3),
    )
    return Plan("GET", random.choice(["/usages", "/usages", "/allocations"]), query)


def _class(random: Random) -> Plan:
    method = random.choice(["GET", "PUT", "DELETE"])
    return Plan(method, f"/resource_classes/{random.choice(CLASSES)}")


def _create_class(random: Random) -> Plan:
    return Plan("POST", "/resource_classes", document={"name": random.choice(CLASSES[3:])})


def _rename_class(random: Random) -> Plan:
    document = {"name": random.choice(CLASSES[3:])}
    return Plan("PUT", f"/resource_classes/{random.choice(CLASSES[3:])}", document=document)


def _trait(random: Random) -> Plan:
    return Plan(random.choice(["GET", "PUT", "DELETE"]), f"/traits/{random.choice(TRAITS)}")


def _list_traits(random: Random) -> Plan:
    value = random.choice(["in:CUSTOM_T,CUSTOM_U", "startswith:CUSTOM", "startswith:HW_CPU"])
    return Plan(
        "GET", "/traits", random.sample([("name", value), ("associated", "true")], random.randint(1, 2))
    )


def _delete(random: Random) -> Plan:
    provider = f"/resource_providers/{random.choice(PROVIDERS)}"
    paths = [
        f"/allocations/{random.choice(CONSUMERS)}",
        f"/allocations/{random.choice(CONSUMERS)}",
        provider,
        f"{provider}/inventories",
        f"{provider}/inventories/{random.choice(CLASSES)}",
        f"{provider}/traits",
    ]
    return Plan("DELETE", random.choice(paths))


def _plain(path: str) -> Callable[[Random], Plan]:
    return lambda _: Plan("GET", path)


V1 = "/plimsoll/v1"
ACCEPTS = ["application/json", "application/x-ndjson", "text/plain", "*/*"]
EPOCH = "00000000"
TIMES = [
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "12h",
    "7d",
    "0s",
    "999999999w",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
]
REVISIONS = [f"{EPOCH}:0", f"{EPOCH}:5", f"{EPOCH}:5:ff", f"{EPOCH}:999999999999999999"]


def _v1(
    path: str, options: list[tuple[str, str]], most: int = 4, fixed: tuple[tuple[str, str], ...] = ()
) -> Callable[[Random], Plan]:
    """A GET of the Plimsoll API with some of these parameters."""

    def made(random: Random) -> Plan:
        query = [*fixed, *random.sample(options, random.randrange(min(most, len(options)) + 1))]
        place = path.format(provider=random.choice(PROVIDERS), consumer=random.choice(CONSUMERS))
        headers = [("Accept", random.choice(ACCEPTS))] if random.random() < 0.3 else []
        return Plan("GET", place, query, headers=headers)

    return made


def _v1_of_candidates(path: str, options: list[tuple[str, str]]) -> Callable[[Random], Plan]:
    def made(random: Random) -> Plan:
        found = _candidates(random)
        return Plan("GET", path, [*found.query, *random.sample(options, random.randrange(4))])

    return made


_PAGES = [("limit", "1"), ("limit", "1000"), ("after", "0"), ("after", "1000000")]
_AT = [("at", each) for each in ("0", "5", "2026-01-01T00:00:00Z", "30m", f"{EPOCH}:3")]
_CHANGES = [
    *(("since", each) for each in REVISIONS),
    *(("before", each) for each in REVISIONS),
    *((name, each) for name in ("from", "to") for each in TIMES),
    ("provider", "p1"),
    ("subtree", PROVIDERS[0]),
    ("aggregate", AGGREGATES[0]),
    ("consumer", CONSUMERS[0]),
    ("project", "p"),
    ("operation", "allocations.claim"),
    ("operation", "inventories.replace"),
    ("request_id", "req-0a4d7a5e-5a0b-4d5f-9a2b-0c5f7f8b6c11"),
    ("limit", "3"),
    ("wait", "0"),
]
_V1_MAKERS: list[Callable[[Random], Plan]] = [
    _v1(
        f"{V1}/providers",
        [
            *(("name", each) for each in ("p*", "[a-p]?", "*1*", "[!p]")),
            ("in_tree", "p0"),
            ("member_of", f"in:{AGGREGATES[0]},{AGGREGATES[1]}"),
            ("required", "CUSTOM_T,!CUSTOM_U"),
            ("resources", "VCPU:1,DISK_GB:5"),
            ("over_full", "true"),
            ("empty", "false"),
            ("fields", "name,inventories"),
            *_PAGES,
            *_AT,
        ],
    ),
    _v1(f"{V1}/providers/{{provider}}", _AT, 1),
    _v1(f"{V1}/providers/p1", _AT, 1),
    _v1(
        f"{V1}/consumers",
        [
            ("project", "p"),
            ("user", "u"),
            ("type", "INSTANCE"),
            ("type", "unknown"),
            ("provider", "p1"),
            ("tree", "p0"),
            ("older_than", "0s"),
            ("newer_than", "999999999w"),
            ("limit", "1"),
            ("limit", "1000"),
            ("after", CONSUMERS[2]),
        ],
    ),
    _v1(f"{V1}/consumers/{{consumer}}", []),
    *(
        _v1(
            f"{V1}/usage",
            [("project", "p"), *_PAGES[:2], ("after", CONSUMERS[0]), *_AT],
            2,
            (("group_by", each),),
        )
        for each in ("aggregate", "trait", "root", "project", "user", "consumer_type")
    ),
    _v1(f"{V1}/usage", _AT, 1),
    _v1(f"{V1}/changes", _CHANGES),
    _v1(f"{V1}/changes", _CHANGES),
    _v1(
        f"{V1}/unplaced",
        [
            ("request_id", "req-0a4d7a5e-5a0b-4d5f-9a2b-0c5f7f8b6c11"),
            ("project", "p"),
            ("reason", "used"),
            *(("since", each) for each in TIMES),
            ("limit", "2"),
            ("after", "2026-01-01T00:00:00.000000.5"),
        ],
    ),
    *[
        _v1_of_candidates(
            f"{V1}/explain",
            [
                ("provider", "p1"),
                ("examples", "0"),
                ("examples", "100"),
                ("clause", "1"),
                ("relax", "false"),
                ("make_room", "false"),
                ("since_when", "true"),
                *_AT,
            ],
        )
    ]
    * 2,
    _v1_of_candidates(f"{V1}/fit", _AT),
    _plain(f"{V1}/openapi.json"),
    lambda random: Plan("GET", f"{V1}/openapi/placement-1.{random.randrange(42)}.json"),
    _v1(f"{V1}/docs", [("version", "1.30"), ("q", "usage")], 2),
]


def _sign_in(random: Random) -> Plan:
    document: dict[str, Any] = {"user": "ada", "password": "p", "user_domain": "Default", "project": "p"}
    return Plan(random.choice(["POST", "POST", "GET"]), "/console/sign-in", document=document)


_OTHER_MAKERS: list[Callable[[Random], Plan]] = [
    _plain("/metrics"),
    lambda random: Plan("GET", "/metrics", [("providers", random.choice(["0", "1", "true", "false"]))]),
    lambda random: Plan("GET", "/healthz", [("ready", random.choice(["", "1"]))]),
    _plain("/console"),
    _plain("/console/"),
    _plain("/console/session"),
    lambda random: Plan("GET", f"/console/assets/{random.choice(['index.js', '..', 'index.html'])}"),
    _sign_in,
]

_MAKERS: list[Callable[[Random], Plan]] = [
    *_V1_MAKERS,
    *_OTHER_MAKERS,
    _plain("/"),
    _plain(""),
    _plain("/healthz"),
    _plain("/resource_classes"),
    _list_providers,
    _list_providers,
    _create_provider,
    _create_provider,
    _create_provider,
    _change_provider,
    _of_provider(""),
    _of_provider("/inventories"),
    _of_provider("/inventories/VCPU"),
    _of_provider("/usages"),
    _of_provider("/aggregates"),
    _of_provider("/traits"),
    _of_provider("/allocations"),
    _set_inventories,
    _set_inventories,
    _set_inventory,
    _set_aggregates,
    _set_traits,
    lambda random: Plan("GET", f"/allocations/{random.choice(CONSUMERS)}"),
    _claim,
    _claim,
    _claim_for_several,
    _claim_for_several,
    _reshape,
    _candidates,
    _candidates,
    _candidates,
    _usages,
    _class,
    _create_class,
    _rename_class,
    _trait,
    _list_traits,
    _delete,
]
