# SPDX-License-Identifier: Apache-2.0

"""Units of work as clients do them: a read, a claim, a search with the claim that follows, a host that reports.

What can be prepared is prepared before the clock runs. What a client makes new (consumers, providers) is told apart
by a random number, so that rounds and clients never meet in a name.
"""

from __future__ import annotations

import itertools
import os
import random
import re
from collections.abc import Iterator, Sequence

from bench.client.driving import Clients, Unit
from bench.client.http import BadAnswer, Reply, request, written
from bench.worlds.rows import Rows, aggregate_uuid
from bench.worlds.shapes import ROOMY, TRAITS

FLAVOUR = "VCPU:1,DISK_GB:10,MEMORY_MB:256"
_RESOURCES = '{"resources":{"VCPU":1,"DISK_GB":10,"MEMORY_MB":256}}'
_OWNER = '"project_id":"engines","user_id":"ada","consumer_generation":null,"consumer_type":"INSTANCE"'
_AMOUNTS = 10, 20_000
"""Many more than are asked for in one run, and each can be had."""
_CANDIDATE = re.compile(rb'"allocations": ?\{"([0-9a-f-]{36})"')
_SUMMARIES = b'"provider_summaries"'
"""Comes after the candidates, and is most of the answer."""


def reads(targets: Sequence[str]) -> Clients:
    """Reads one target after the other, over and over; each client begins elsewhere."""
    messages = [request("GET", target) for target in targets]

    def client(number: int) -> Iterator[Unit]:
        start = number * len(messages) // 8
        for message in itertools.cycle(messages[start:] + messages[:start]):
            yield _read(message)

    return client


def searches(target: str) -> Clients:
    """A search that nobody has asked for before. The braces in the target stand for an amount."""

    def client(_: int) -> Iterator[Unit]:
        choice = _generator()
        while True:
            yield _read(request("GET", target.format(choice.randrange(*_AMOUNTS))))

    return client


def claims(rows: Rows) -> Clients:
    """A new consumer claims a little of a host, any host."""

    providers = [uuid.encode() for uuid in rows.providers]

    def client(_: int) -> Iterator[Unit]:
        choice = _generator()
        while True:
            yield _claim(_claiming(choice.choice(providers), choice))

    return client


def selections(limit: int) -> Clients:
    """What a scheduler does: ask for candidates, take one of them at random, claim it."""
    search = request("GET", f"/allocation_candidates?resources={FLAVOUR}&limit={limit}")

    def client(_: int) -> Iterator[Unit]:
        choice = _generator()
        while True:
            yield _select_and_claim(search, choice)

    return client


def reports() -> Clients:
    """What a new host does: a provider, its inventory, its traits, its aggregates."""
    inventories = {
        name: given if isinstance(given, dict) else {"total": given} for name, given in ROOMY.items()
    }
    aggregates = [aggregate_uuid(1), aggregate_uuid(11)]

    def client(_: int) -> Iterator[Unit]:
        choice = _generator()
        while True:
            uuid = new_uuid(choice)
            at = f"/resource_providers/{uuid}"
            yield _in_order(
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


def _generator() -> random.Random:
    """One that no other client has, and no other round."""
    return random.Random(os.urandom(16))


def new_uuid(choice: random.Random) -> str:
    text = f"{choice.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def _read(message: bytes) -> Unit:
    reply = yield message
    if reply.status != 200:
        raise _unexpected(message, reply)
    return True


def _claim(message: bytes) -> Unit:
    reply = yield message
    return _is_claimed(message, reply)


def _select_and_claim(search: bytes, choice: random.Random) -> Unit:
    reply = yield search
    content = bytes(reply.body)
    found = _CANDIDATE.findall(content, 0, content.find(_SUMMARIES))
    if reply.status != 200 or not found:
        raise _unexpected(search, reply)
    message = _claiming(choice.choice(found), choice)
    reply = yield message
    return _is_claimed(message, reply)


def _in_order(messages: Sequence[bytes]) -> Unit:
    for message in messages:
        reply = yield message
        if reply.status != 200:
            raise _unexpected(message, reply)
    return True


_ANYBODY = "0" * 36
_BEFORE, _BETWEEN, _AFTER = written(
    "PUT", f"/allocations/{_ANYBODY}", f'{{"allocations":{{"{_ANYBODY}":{_RESOURCES}}},{_OWNER}}}'
).split(_ANYBODY.encode())


def _claiming(provider: bytes, choice: random.Random) -> bytes:
    """Some of this provider, for a new consumer."""
    return b"".join((_BEFORE, new_uuid(choice).encode(), _BETWEEN, provider, _AFTER))


def _is_claimed(message: bytes, reply: Reply) -> bool:
    """A conflict with another writer is the reference's way to say: try again. It is no claim."""
    if reply.status not in (204, 409):
        raise _unexpected(message, reply)
    return reply.status == 204


def _unexpected(message: bytes, reply: Reply) -> BadAnswer:
    said = bytes(reply.body[:500]).decode(errors="replace")
    return BadAnswer(f"{message.splitlines()[0].decode()}: {reply.status} {said}")
