# SPDX-License-Identifier: Apache-2.0

"""Ways to make a good request bad: in its path, query, headers, method or body.

Each takes a request and gives another. Some leave it valid; that is for the services to know.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.differential.requests import Dice, Request

Spoil = Callable[[Dice, Request], Request]

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    1e-46,
    3.4e38,
    2**31 - 1,
    2**31,
    2**63,
    10**30,
    "",
    "1",
    "x" * 300,
    "\N{SNOWMAN}",
    "nul\x00inside",
    "\ud800",
    [],
    {},
    [1],
    {"a": 1},
    "00000000-0000-0000-0000-000000000000",
)
BAD_BODIES = (b"", b"{", b"[]", b"null", b'"text"', b"{}", b"\xff\xfe", b'{"name": "a", "name": "b"}', b"NaN")
BAD_VERSIONS = (
    "placement 1.40",
    "placement 1.99",
    "placement 2.0",
    "placement 0.9",
    "placement one",
    "placement",
    "placement 1",
    "placement 1.1.1",
    "placement -1.3",
    "compute 2.1",
    "compute 2.1, placement 1.10",
    "",
    "1.10",
    "latest",
    "PLACEMENT 1.10",
)
ODD_PARAMETERS = (
    ("unknown", "1"),
    ("limit", "0"),
    ("limit", "-1"),
    ("limit", "many"),
    ("resources", "VCPU"),
    ("resources", "VCPU:0"),
    ("resources", "VCPU:-1"),
    ("resources", "VCPU:1:2"),
    ("resources", "UNHEARD_OF:1"),
    ("resources", f"VCPU:{10**30}"),
    ("resources", ""),
    ("resources", "VCPU:1,"),
    ("resources1", "VCPU:1"),
    ("resources_A", "VCPU:1"),
    ("resources" + "a" * 65, "VCPU:1"),
    ("required", "UNHEARD_OF"),
    ("required", ""),
    ("required", "!"),
    ("required", "in:"),
    ("required", "in:!CUSTOM_RED"),
    ("required", "!!CUSTOM_RED"),
    ("required", "CUSTOM_RED,!CUSTOM_RED"),
    ("required1", "CUSTOM_RED"),
    ("member_of", "nonsense"),
    ("member_of", "in:"),
    ("member_of", "00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002"),
    ("member_of", "!!00000000-0000-0000-0000-000000000001"),
    ("in_tree", "nonsense"),
    ("in_tree", "00000000-0000-0000-0000-000000000001"),
    ("group_policy", "some"),
    ("group_policy", "none"),
    ("same_subtree", "_X"),
    ("same_subtree", ""),
    ("root_required", ""),
    ("root_required", "in:CUSTOM_RED"),
    ("root_required", "UNHEARD_OF"),
    ("name", "\N{SNOWMAN}"),
    ("uuid", "nonsense"),
    ("project_id", ""),
    ("user_id", ""),
    ("consumer_type", "lower"),
    ("associated", "maybe"),
)


def method(dice: Dice, request: Request) -> Request:
    return replace(
        request, method=dice.pick(("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"))
    )


def path(dice: Dice, request: Request) -> Request:
    parts = request.path.split("/")
    last = parts[-1]
    other = dice.pick(
        (
            "/nowhere",
            f"{request.path}/",
            f"{request.path}/nowhere",
            "/resource_providers/nonsense",
            "/".join([*parts[:-1], last.upper()]),
            "/".join([*parts[:-1], last.lower()]),
            "/".join([*parts[:-1], last.replace("-", "")]),
            "/".join([*parts[:-1], f"{last}x"]),
            "/".join([*parts[:-1], "\N{SNOWMAN}"]),
            "/".join(part.replace("-", "") for part in parts),
            "/".join(part.upper() if "-" in part else part for part in parts),
            f"/{request.path}",
        )
    )
    return replace(request, path=other)


def query(dice: Dice, request: Request) -> Request:
    pairs = list(request.query)
    if pairs and dice.chance(0.5):
        spot = dice.number(0, len(pairs) - 1)
        name, value = pairs[spot]
        pairs[spot : spot + 1] = dice.pick(
            (
                [(name, value), (name, value)],
                [(name, value), dice.pick(ODD_PARAMETERS)],
                [(name, "")],
                [(name, f" {value} ")],
                [(name, value.lower())],
                [(name, value.upper())],
                [(name, value.replace("-", ""))],
                [(name, f"{value}\N{GRINNING FACE}")],
                [(name, value.replace(",", ",,"))],
                [(name, f"{value},")],
                [(name.upper(), value)],
                [(f"{name}x", value)],
                [(name, f"{value}\x00")],
                [],
            )
        )
    else:
        pairs.insert(dice.number(0, len(pairs)), dice.pick(ODD_PARAMETERS))
    return replace(request, query=tuple(pairs))


def version(dice: Dice, request: Request) -> Request:
    return request.with_header("openstack-api-version", dice.pick(BAD_VERSIONS))


def token(dice: Dice, request: Request) -> Request:
    if dice.chance(0.5):
        return request.with_header("x-auth-token", None)
    roles = dice.pick((None, "reader", "member", "admin", "service", "reader,member"))
    return request.with_header("x-auth-token", dice.pick(("somebody", "ann:team-a"))).with_header(
        "x-roles", roles
    )


def accept(dice: Dice, request: Request) -> Request:
    kinds = (
        "text/plain",
        "text/html",
        "*/*",
        "application/json",
        "application/json;q=0.5, text/*",
        "image/png",
        "",
    )
    return request.with_header("accept", dice.pick(kinds))


def content_type(dice: Dice, request: Request) -> Request:
    kinds = (None, "text/plain", "application/json; charset=utf-8", "APPLICATION/JSON", "application/xml", "")
    return request.with_header("content-type", dice.pick(kinds))


def whole_body(dice: Dice, request: Request) -> Request:
    good = request.body or b""
    return replace(request, body=dice.pick((*BAD_BODIES, good[:-1], good + b"x", b" " + good)))


def part_of_body(dice: Dice, request: Request) -> Request:
    """Change one spot somewhere in the document."""
    if not request.body:
        return replace(request, body=b"{}").with_header("content-type", "application/json")
    document = [json.loads(request.body)]
    holder, key = dice.pick(spots(document))
    choice = dice.number(0, 5)
    if choice == 0 and isinstance(holder, dict):
        del holder[key]
    elif choice == 1 and isinstance(holder, dict):
        holder[dice.pick(("extra", f"{key}x", str(key).lower(), str(key).upper(), ""))] = holder[key]
        if dice.chance(0.3):
            del holder[key]
    elif choice == 2 and isinstance(holder[key], int):
        holder[key] += dice.pick((-1, 1, 10**6))
    elif choice == 3 and isinstance(holder[key], str):
        text = holder[key]
        odd = (
            text.upper(),
            f"{text} ",
            text.replace("-", ""),
            f"{text}x",
            "\ud800",
            f"{text}\x00",
            "\N{SNOWMAN}",
            "x" * 300,
        )
        holder[key] = dice.pick(odd)
    else:
        holder[key] = dice.pick(ODD_VALUES)
    return replace(request, body=json.dumps(document[0]).encode())


def spots(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    keys = list(document) if isinstance(document, dict) else range(len(document))
    for key in keys:
        found.append((document, key))
        if isinstance(document[key], dict | list):
            found += spots(document[key])
    return found


READ_SPOILS: tuple[tuple[Spoil, int], ...] = (
    (query, 8),
    (path, 3),
    (method, 2),
    (version, 2),
    (token, 1),
    (accept, 2),
)
WRITE_SPOILS: tuple[tuple[Spoil, int], ...] = (
    (part_of_body, 10),
    (whole_body, 2),
    (content_type, 2),
    (path, 2),
    (method, 1),
    (version, 2),
    (token, 1),
    (accept, 1),
    (query, 1),
)


def spoiled(dice: Dice, request: Request) -> Request:
    """The request with one thing changed (rarely two)."""
    ways = WRITE_SPOILS if request.body else READ_SPOILS
    bad = dice.weighted(ways)(dice, request)
    if dice.chance(0.1):
        bad = dice.weighted(((version, 1), (path, 1), (query, 2)))(dice, bad)
    return replace(bad, kind=f"spoiled {request.kind}")
