# SPDX-License-Identifier: Apache-2.0

"""The request with a number, and the generations that are filled in when it is sent."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.attacks.fuzz.mutations import MUTATIONS, mutate_bytes, written
from tests.attacks.fuzz.valid import CONSUMERS, PROVIDERS, plan
from tests.attacks.sockets import Response

VALID_SHARE = 0.35
"""Requests that are not mutated: without them most of the state would stay empty."""
BYTES_SHARE = 0.15


@dataclass(frozen=True)
class Fuzzed:
    number: int
    content: bytes
    method: str
    path: str
    is_torn: bool
    """True if bytes were mutated, so that it may be no request any more."""
    accepts_json: bool


def fuzzed(seed: int, number: int) -> Fuzzed:
    random = Random(f"{seed}:{number}")
    made = plan(random)
    kind = random.random()
    is_torn = kind > 1 - BYTES_SHARE
    if not is_torn and kind > VALID_SHARE:
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            random.choice(MUTATIONS)(random, made)
    content = written(random, made)
    if is_torn:
        content = mutate_bytes(random, content)
    accepts = [value for name, value in made.headers if name.lower() == "accept"]
    return Fuzzed(number, content, made.method, made.path, is_torn, not accepts)


class Generations:
    """The last generation that was seen of each provider and consumer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, int] = {}

    def fill_in(self, content: bytes) -> bytes:
        """Replace the placeholders, and the length of the body accordingly."""
        if b'"@' not in content:
            return content
        head, blank, body = content.partition(b"\r\n\r\n")
        body = re.sub(rb'"@([PC])(\d)@"', self._current, body)
        head = re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(body), head)
        return head + blank + body

    def record_generations(self, fuzzed: Fuzzed, response: Response) -> None:
        """Read generations from a successful response. A stale one leads to a 409, which is a valid response too."""
        if response.status == 204 and fuzzed.method == "DELETE":
            with self._lock:
                for uuid in (*PROVIDERS, *CONSUMERS):
                    if fuzzed.path.endswith(uuid):
                        self._seen.pop(uuid, None)
        if response.status != 200 or not response.body:
            return
        with suppress(ValueError, TypeError, KeyError), self._lock:
            document = response.json
            for uuid, generation in _generations(fuzzed.path, document):
                self._seen[uuid] = generation

    def _current(self, found: re.Match[bytes]) -> bytes:
        uuids, number = (PROVIDERS, CONSUMERS)[found[1] == b"C"], int(found[2])
        with self._lock:
            generation = self._seen.get(uuids[number])
        if found[1] == b"C":
            return json.dumps(generation).encode()
        return str(generation or 0).encode()


def _generations(path: str, document: Any) -> Iterator[tuple[str, int]]:
    if "consumer_generation" in document:
        yield path.rpartition("/")[2], document["consumer_generation"]
    elif "resource_provider_generation" in document:
        yield path.split("/")[2], document["resource_provider_generation"]
    for each in document.get("resource_providers", ()):
        if isinstance(each, dict):
            yield each["uuid"], each["generation"]
    if "generation" in document and "uuid" in document:
        yield document["uuid"], document["generation"]
