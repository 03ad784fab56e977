# SPDX-License-Identifier: Apache-2.0

"""Units of work of clients: a read, a claim, a search followed by a claim, a new host.

Requests are prepared before the time is taken where possible. New consumers and providers get random uuids, so that
rounds and clients never use the same one.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import time
from collections.abc import Iterator, Sequence

from bench.client.driving import Clients, Unit
from bench.client.http import Response, UnexpectedResponse, request, request_with_json
from bench.datasets.rows import Rows, aggregate_uuid
from bench.datasets.shapes import LARGE_INVENTORY, TRAITS

FLAVOUR = "VCPU:1,DISK_GB:10,MEMORY_MB:256"
_RESOURCES = '{"resources":{"VCPU":1,"DISK_GB":10,"MEMORY_MB":256}}'
_OWNER = '"project_id":"engines","user_id":"ada","consumer_generation":null,"consumer_type":"INSTANCE"'
_AMOUNTS = 10, 20_000
"""Range of amounts: more than one run requests, and all of them fit."""
_CANDIDATE = re.compile(rb'"allocations": ?\{"([0-9a-f-]{36})"')
_SUMMARIES = b'"provider_summaries"'
"""Follows the candidates and is most of the response."""


def reads(targets: Sequence[str]) -> Clients:
    """Read the targets in a cycle; each client starts at another position."""
    messages = [request("GET", target) for target in targets]

    def client(number: int) -> Iterator[Unit]:
        start = number * len(messages) // 8
        for message in itertools.cycle(messages[start:] + messages[:start]):
            yield _read(message)

    return client


def read_all(targets: Sequence[str]) -> Clients:
    """Read all targets one after the other, as one unit."""
    messages = [request("GET", target) for target in targets]

    def client(_: int) -> Iterator[Unit]:
        while True:
            yield _send_all(messages)

    return client


def searches(target: str) -> Clients:
    """A search with a new random amount each time, in place of the braces in the target."""

    def client(_: int) -> Iterator[Unit]:
        rng = _new_random()
        while True:
            yield _read(request("GET", target.format(rng.randrange(*_AMOUNTS))))

    return client


def claims(rows: Rows) -> Clients:
    """A claim by a new consumer on a random host."""

    providers = [uuid.encode() for uuid in rows.providers]

    def client(_: int) -> Iterator[Unit]:
        rng = _new_random()
        while True:
            yield _claim(_claim_request(rng.choice(providers), rng))

    return client


def selections(limit: int) -> Clients:
    """As a scheduler: search candidates, choose one at random, claim it."""
    search = request("GET", f"/allocation_candidates?resources={FLAVOUR}&limit={limit}")

    def client(_: int) -> Iterator[Unit]:
        rng = _new_random()
        while True:
            yield _select_and_claim(search, rng)

    return client


def mix(rows: Rows) -> Clients:
    """Nine reads of the inventories of providers for one claim, in random order."""
    targets = [request("GET", f"/resource_providers/{uuid}/inventories") for uuid in rows.providers]
    providers = [uuid.encode() for uuid in rows.providers]

    def client(_: int) -> Iterator[Unit]:
        rng = _new_random()
        while True:
            if rng.randrange(10):
                yield _read(rng.choice(targets))
            else:
                yield _claim(_claim_request(rng.choice(providers), rng))

    return client


def paced(clients: Clients, per_second: float) -> Clients:
    """The same units, so many per second and client."""

    def client(number: int) -> Iterator[Unit]:
        due = time.perf_counter()
        for unit in clients(number):
            due = max(due + 1 / per_second, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
            yield unit

    return client


def reports() -> Clients:
    """As a new host: create a provider, set its inventory, traits and aggregates."""
    inventories = {
        name: given if isinstance(given, dict) else {"total": given}
        for name, given in LARGE_INVENTORY.items()
    }
    aggregates = [aggregate_uuid(1), aggregate_uuid(11)]

    def client(_: int) -> Iterator[Unit]:
        rng = _new_random()
        while True:
            uuid = new_uuid(rng)
            at = f"/resource_providers/{uuid}"
            yield _send_all(
                [
                    request("POST", "/resource_providers", {"uuid": uuid, "name": f"new-{uuid}"}),
                    request(
                        "PUT",
                        f"{at}/inventories",
                        {"resource_provider_generation": 0, "inventories": inventories},
                    ),
                    request("PUT", f"{at}/traits", {"resource_provider_generation": 1, "traits": TRAITS}),
                    request(
                        "PUT",
                        f"{at}/aggregates",
                        {"resource_provider_generation": 2, "aggregates": aggregates},
                    ),
                ]
            )

    return client


def _new_random() -> random.Random:
    """Return a generator with its own random seed, different for each client and round."""
    return random.Random(os.urandom(16))


def new_uuid(rng: random.Random) -> str:
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def _read(message: bytes) -> Unit:
    response = yield message
    if response.status != 200:
        raise _unexpected(message, response)
    return True


def _claim(message: bytes) -> Unit:
    response = yield message
    return _claim_succeeded(message, response)


def _select_and_claim(search: bytes, rng: random.Random) -> Unit:
    response = yield search
    content = bytes(response.body)
    found = _CANDIDATE.findall(content, 0, content.find(_SUMMARIES))
    if response.status != 200 or not found:
        raise _unexpected(search, response)
    message = _claim_request(rng.choice(found), rng)
    response = yield message
    return _claim_succeeded(message, response)


def _send_all(messages: Sequence[bytes]) -> Unit:
    for message in messages:
        response = yield message
        if response.status != 200:
            raise _unexpected(message, response)
    return True


_PLACEHOLDER = "0" * 36
_BEFORE, _BETWEEN, _AFTER = request_with_json(
    "PUT", f"/allocations/{_PLACEHOLDER}", f'{{"allocations":{{"{_PLACEHOLDER}":{_RESOURCES}}},{_OWNER}}}'
).split(_PLACEHOLDER.encode())


def _claim_request(provider: bytes, rng: random.Random) -> bytes:
    """Return a claim on this provider for a new consumer."""
    return b"".join((_BEFORE, new_uuid(rng).encode(), _BETWEEN, provider, _AFTER))


def _claim_succeeded(message: bytes, response: Response) -> bool:
    """True for 204. The reference responds with 409 on a conflict with another writer: not a claim."""
    if response.status not in (204, 409):
        raise _unexpected(message, response)
    return response.status == 204


def _unexpected(message: bytes, response: Response) -> UnexpectedResponse:
    body = bytes(response.body[:500]).decode(errors="replace")
    return UnexpectedResponse(f"{message.splitlines()[0].decode()}: {response.status} {body}")
