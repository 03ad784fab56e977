# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI documents as JSON: each is built on first use and cached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from plimsoll.api.openapi.examples import placement_examples, v1_examples
from plimsoll.api.openapi.placement import placement_document
from plimsoll.api.openapi.v1 import v1_document
from plimsoll.api.placement.microversion import Version
from plimsoll.api.v1.route import V1Route
from plimsoll.bounded_cache import BoundedCache

_SERVER = "\0server\0"
"""Stands for the URL of the service, which depends on the prefix of a request."""
_SERVER_JSON = orjson.dumps(_SERVER)

Pause = Callable[[], object]


class Encoded(NamedTuple):
    """A document as JSON, split where the URL of the service is inserted."""

    before: bytes
    after: bytes
    digest: str

    def body(self, prefix: str) -> bytes:
        return self.before + orjson.dumps(prefix or "/") + self.after

    def etag(self, prefix: str) -> str:
        return f'"{hashlib.sha256(f"{self.digest}{prefix}".encode()).hexdigest()[:32]}"'


_cache: BoundedCache[str, Encoded] = BoundedCache(max_entries=64, max_bytes=16 << 20)


def placement_json(version: Version, pause: Pause) -> Encoded:
    return _encoded(
        f"placement {version}",
        lambda: placement_document(version, placement_examples(version), _SERVER, pause),
    )


def v1_json(routes: Iterable[V1Route], pause: Pause) -> Encoded:
    return _encoded("v1", lambda: v1_document(routes, v1_examples(), _SERVER, pause))


def _encoded(name: str, build: Callable[[], dict[str, Any]]) -> Encoded:
    encoded = _cache.get(name)
    if encoded is None:
        before, after = orjson.dumps(build()).split(_SERVER_JSON)
        encoded = Encoded(before, after, hashlib.sha256(before + after).hexdigest())
        _cache.put(name, encoded)
    return encoded
