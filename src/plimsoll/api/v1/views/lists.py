# SPDX-License-Identifier: Apache-2.0

"""Lists as one JSON document or as JSON lines, in pieces: long ones are sent while they are encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import orjson

T = TypeVar("T")

ITEMS_PER_PIECE = 16
"""Items that are encoded and sent at a time: about 16 kB of providers."""


def encoded_batches(
    items: Sequence[T], encode: Callable[[Sequence[T]], list[bytes]], pause: Callable[[], object]
) -> Iterator[list[bytes]]:
    """Yield the JSON of some items at a time. `pause` is called after each batch."""
    for at in range(0, len(items), ITEMS_PER_PIECE):
        yield encode(items[at : at + ITEMS_PER_PIECE])
        pause()


def list_document(
    members: Mapping[str, Any], name: str, batches: Iterable[list[bytes]], following: str | None
) -> Iterator[bytes]:
    """Yield a document with these members, the list under its name, and the cursor of the next page."""
    opening = orjson.dumps(members)[:-1] + b"," + orjson.dumps(name) + b":["
    for batch in batches:
        yield opening + b",".join(batch)
        opening = b","
    ending = b'],"next":' + orjson.dumps(following) + b"}"
    yield ending if opening == b"," else opening + ending


def json_lines(batches: Iterable[list[bytes]]) -> Iterator[bytes]:
    """Yield one line for each item."""
    for batch in batches:
        yield b"\n".join([*batch, b""])
