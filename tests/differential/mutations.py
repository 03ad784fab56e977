# SPDX-License-Identifier: Apache-2.0

"""Mutations of a valid request: of its path, query, headers, method or body.

Each takes a request and returns another one. Some results are still valid.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.differential.requests import Request, SeededRandom

Mutation = Callable[[SeededRandom, Request], Request]

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


def method(rng: SeededRandom, request: Request) -> Request:
    return replace(
        request, method=rng.pick(("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"))
    )


def path(rng: SeededRandom, request: Request) -> Request:
    parts = request.path.split("/")
    last = parts[-1]
    other = rng.pick(
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


def query(rng: SeededRandom, request: Request) -> Request:
    pairs = list(request.query)
    if pairs and rng.chance(0.5):
        position = rng.number(0, len(pairs) - 1)
        name, value = pairs[position]
        pairs[position : position + 1] = rng.pick(
            (
                [(name, value), (name, value)],
                [(name, value), rng.pick(ODD_PARAMETERS)],
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
        pairs.insert(rng.number(0, len(pairs)), rng.pick(ODD_PARAMETERS))
    return replace(request, query=tuple(pairs))


def version(rng: SeededRandom, request: Request) -> Request:
    return request.with_header("openstack-api-version", rng.pick(BAD_VERSIONS))


def token(rng: SeededRandom, request: Request) -> Request:
    if rng.chance(0.5):
        return request.with_header("x-auth-token", None)
    roles = rng.pick((None, "reader", "member", "admin", "service", "reader,member"))
    return request.with_header("x-auth-token", rng.pick(("somebody", "ann:team-a"))).with_header(
        "x-roles", roles
    )


def accept(rng: SeededRandom, request: Request) -> Request:
    kinds = (
        "text/plain",
        "text/html",
        "*/*",
        "application/json",
        "application/json;q=0.5, text/*",
        "image/png",
        "",
    )
    return request.with_header("accept", rng.pick(kinds))


def content_type(rng: SeededRandom, request: Request) -> Request:
    kinds = (None, "text/plain", "application/json; charset=utf-8", "APPLICATION/JSON", "application/xml", "")
    return request.with_header("content-type", rng.pick(kinds))


def whole_body(rng: SeededRandom, request: Request) -> Request:
    valid = request.body or b""
    return replace(request, body=rng.pick((*BAD_BODIES, valid[:-1], valid + b"x", b" " + valid)))


def part_of_body(rng: SeededRandom, request: Request) -> Request:
    """Change one random value or key of the document."""
    if not request.body:
        return replace(request, body=b"{}").with_header("content-type", "application/json")
    document = [json.loads(request.body)]
    container, key = rng.pick(positions(document))
    choice = rng.number(0, 5)
    if choice == 0 and isinstance(container, dict):
        del container[key]
    elif choice == 1 and isinstance(container, dict):
        container[rng.pick(("extra", f"{key}x", str(key).lower(), str(key).upper(), ""))] = container[key]
        if rng.chance(0.3):
            del container[key]
    elif choice == 2 and isinstance(container[key], int):
        container[key] += rng.pick((-1, 1, 10**6))
    elif choice == 3 and isinstance(container[key], str):
        text = container[key]
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
        container[key] = rng.pick(odd)
    else:
        container[key] = rng.pick(ODD_VALUES)
    return replace(request, body=json.dumps(document[0]).encode())


def positions(document: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    keys = list(document) if isinstance(document, dict) else range(len(document))
    for key in keys:
        found.append((document, key))
        if isinstance(document[key], dict | list):
            found += positions(document[key])
    return found


READ_MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (query, 8),
    (path, 3),
    (method, 2),
    (version, 2),
    (token, 1),
    (accept, 2),
)
WRITE_MUTATIONS: tuple[tuple[Mutation, int], ...] = (
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


def mutated(rng: SeededRandom, request: Request) -> Request:
    """Return the request with one mutation, or (10 %) two."""
    mutations = WRITE_MUTATIONS if request.body else READ_MUTATIONS
    changed = rng.weighted(mutations)(rng, request)
    if rng.chance(0.1):
        changed = rng.weighted(((version, 1), (path, 1), (query, 2)))(rng, changed)
    return replace(changed, kind=f"mutated {request.kind}")
