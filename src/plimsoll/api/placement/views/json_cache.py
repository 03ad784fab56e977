# SPDX-License-Identifier: Apache-2.0

"""Encoded pieces, kept until what they describe changes.

Providers are frozen: while the object is the same, so is what was made of it. A piece costs a dictionary look-up
the second time, and all pieces of a chunk of the index cost one: that makes answers with thousands of providers quick.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from plimsoll.domain.provider import Provider
from plimsoll.search.index.provider_table import Chunk
from plimsoll.search.index.selection import Part, Selection

MOST_PIECES = 200_000
MOST_VARIANTS = 16
T = TypeVar("T")

A_FEW = 128
"""Fewer pieces than this are put together one by one."""
MOST_WHOLE = 64
"""Of so many chunks all pieces are kept a second time, as one."""


class OfChunks(Generic[T]):
    """One thing for each whole chunk, made by `make` of the providers in it. Threads may share it."""

    __slots__ = ("_made_by_number", "_make")

    def __init__(self, make: Callable[[list[Provider]], T]) -> None:
        self._make = make
        self._made_by_number: dict[int, tuple[Chunk, T]] = {}

    def of(self, part: Part) -> T:
        known = self._made_by_number.get(part.number)
        if known is not None and known[0] is part.chunk:
            return known[1]
        made = self._make(part.providers())
        self._made_by_number[part.number] = part.chunk, made
        return made


class JsonCache:
    """One piece for each provider, made by `encode`. Threads may share it."""

    __slots__ = ("_encode", "_lock", "_piece_by_id", "_provider_by_uuid", "_whole")

    def __init__(self, encode: Callable[[Provider], bytes]) -> None:
        self._encode = encode
        self._lock = threading.Lock()
        # By the identity of the provider, which is kept here, so that no other can be taken for it.
        self._piece_by_id: dict[int, bytes] = {}
        self._provider_by_uuid: dict[str, Provider] = {}
        self._whole = OfChunks(lambda providers: b",".join(self._each(providers)))

    def of(self, picked: Selection, pause: Callable[[], object] = lambda: None) -> list[bytes]:
        """The pieces, where possible many in one, with commas between them. `pause` is called between chunks."""
        if len(picked) < A_FEW:
            return self._each(list(picked))
        pieces: list[bytes] = []
        for part in picked.by_chunk():
            if part.number < MOST_WHOLE and part.is_whole:
                pieces.append(self._whole.of(part))
            else:
                pieces += self._each(part.providers())
            pause()
        return pieces

    def _each(self, providers: Sequence[Provider]) -> list[bytes]:
        known = list(map(self._piece_by_id.get, map(id, providers)))
        if all(known):
            return known  # type: ignore[return-value]
        return [piece or self._make(provider) for piece, provider in zip(known, providers, strict=True)]

    def _make(self, provider: Provider) -> bytes:
        piece = self._encode(provider)
        with self._lock:
            if len(self._provider_by_uuid) >= MOST_PIECES:
                self._piece_by_id = {}
                self._provider_by_uuid = {}
            before = self._provider_by_uuid.get(provider.uuid)
            self._piece_by_id.pop(id(before), None)
            self._provider_by_uuid[provider.uuid] = provider
            self._piece_by_id[id(provider)] = piece
        return piece


class Variants:
    """Kept pieces for each way to show a provider. There are few; should clients find many, all start anew."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, JsonCache] = {}

    def of(self, variant: Hashable, encode: Callable[[Provider], bytes]) -> JsonCache:
        kept = self._kept.get(variant)
        if kept is None:
            if len(self._kept) >= MOST_VARIANTS:
                self._kept = {}
            kept = self._kept[variant] = JsonCache(encode)
        return kept


def separated(pieces: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """With commas between them, to be joined with what stands around them: large answers are not to be copied twice."""
    spread: list[bytes | memoryview] = [b","] * (2 * len(pieces) - 1)
    spread[::2] = pieces
    return spread
