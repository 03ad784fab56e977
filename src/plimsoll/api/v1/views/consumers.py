# SPDX-License-Identifier: Apache-2.0

"""Consumers with everything they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from plimsoll.api.v1.times import format_time
from plimsoll.domain.consumer import ListedConsumer
from plimsoll.http.response import encode_json

UNTYPED = "unknown"
"""In place of a type, as in the Placement API, for consumers that have none."""


def consumer(one: ListedConsumer, revision: str) -> bytes:
    return encode_json({"revision": revision, **_members(one)})


def consumers(listed: Iterable[ListedConsumer], revision: str, next_page: str | None) -> bytes:
    return encode_json(
        {"revision": revision, "consumers": [_members(each) for each in listed], "next": next_page}
    )


def lines(pages: Iterable[Iterable[ListedConsumer]]) -> Iterator[bytes]:
    """Yield the JSON lines of each page."""
    for page in pages:
        yield b"".join(encode_json(_members(each)) + b"\n" for each in page)


def _members(one: ListedConsumer) -> dict[str, Any]:
    record = one.consumer
    return {
        "uuid": record.uuid,
        "project": record.project,
        "user": record.user,
        "type": record.type or UNTYPED,
        "generation": record.generation,
        "created_at": format_time(one.created_at),
        "updated_at": format_time(one.updated_at),
        "allocations": {
            provider: {"name": name, "resources": amounts}
            for provider, (name, amounts) in one.allocations.items()
        },
    }
