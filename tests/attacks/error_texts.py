# SPDX-License-Identifier: Apache-2.0

"""Point 1: error texts that quote parts of a request."""

from __future__ import annotations

import json

from tests.attacks.attack import Outcome, Stop, attack, exchange
from tests.attacks.sockets import request
from tests.attacks.target import Target

BRACKETS = "<" * 60_000
VERSION = (f"GET / HTTP/1.1\r\nhost: a\r\nopenstack-api-version: placement {BRACKETS}\r\n\r\n").encode()
"""No token is needed: the version document has versions too."""
ACCEPT = f"GET /resource_providers HTTP/1.1\r\nhost: a\r\nx-auth-token: admin\r\naccept: {BRACKETS}\r\n\r\n".encode()
CONTENT_TYPE = (
    "POST /resource_providers HTTP/1.1\r\nhost: a\r\nx-auth-token: admin\r\ncontent-length: 2\r\n"
    f"content-type: {BRACKETS}\r\n\r\n{{}}"
).encode()
TARGET = request("GET", f"/{BRACKETS.replace('<', '%3C')[:60_000]}")
QUERY = request("GET", f"/resource_providers?name=a&{'%3C' * 20_000}=1")
NAME = request("POST", "/resource_providers", json.dumps({"name": "<" * 10_000}).encode())
PARENT = request(
    "POST", "/resource_providers", json.dumps({"name": "a", "parent_provider_uuid": "<" * 10_000}).encode()
)
TRAITS = request("GET", f"/allocation_candidates?resources=VCPU:1&required={'%3C' * 20_000}")


def _repeat(target: Target, stop: Stop, outcome: Outcome, *contents: bytes) -> None:
    while not stop.is_set():
        for content in contents:
            exchange(target, content, outcome)
        if stop.wait(0.02):
            return


@attack("1")
def brackets_in_the_version(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, VERSION)


@attack("1")
def brackets_in_bodies(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, NAME, PARENT)


@attack("1")
def brackets_elsewhere(target: Target, stop: Stop, outcome: Outcome) -> None:
    _repeat(target, stop, outcome, ACCEPT, CONTENT_TYPE, TARGET, QUERY, TRAITS)
