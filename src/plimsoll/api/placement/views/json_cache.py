# SPDX-License-Identifier: Apache-2.0

"""Cache the JSON of providers, by the identity of the provider.

Providers are immutable, and a change makes a new object. A hit costs one dictionary lookup for each provider or, for
whole chunks of the index, one for each chunk: this makes responses with thousands of providers fast.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from plimsoll.domain.provider import Provider
from plimsoll.http.response import compact
from plimsoll.search.index.selection import ChunkSelection, Selection
from plimsoll.search.index.table import Chunk

MAX_CACHED_PIECES = 200_000
T = TypeVar("T")

SMALL_SELECTION = 128
"""Selections with fewer providers are looked up provider by provider."""
MAX_CACHED_CHUNKS = 64
"""Of the first 64 chunks the joined JSON is cached too, in addition to that of each provider."""


class ChunkCache(Generic[T]):
    """Cache one value for each chunk, which `make` computes from the providers in it. Threads may share it."""

    def __init__(self, make: Callable[[list[Provider]], T]) -> None:
        self._make = make
        self._value_by_number: dict[int, tuple[Chunk[Provider], T]] = {}

    def of(self, part: ChunkSelection) -> T:
        cached = self._value_by_number.get(part.number)
        if cached is not None and cached[0] is part.chunk:
            return cached[1]
        made = self._make(part.providers())
        self._value_by_number[part.number] = part.chunk, made
        return made


class JsonCache:
    """Cache the JSON of each provider, which `encode` returns. Threads may share it."""

    def __init__(self, encode: Callable[[Provider], bytes]) -> None:
        self._encode = encode
        self._lock = threading.Lock()
        # Keyed by id(provider). The second dictionary keeps the provider alive, so that its id is not reused.
        self._piece_by_id: dict[int, bytes] = {}
        self._provider_by_uuid: dict[str, Provider] = {}
        self._joined_by_chunk = ChunkCache(lambda providers: b",".join(self._pieces_of(providers)))

    def of(self, selection: Selection, pause: Callable[[], object] = lambda: None) -> list[bytes]:
        """Return the JSON in pieces, each of one provider or of a whole chunk. `pause` is called between chunks."""
        if len(selection) < SMALL_SELECTION:
            return self._pieces_of(list(selection))
        pieces: list[bytes] = []
        for part in selection.by_chunk():
            if part.number < MAX_CACHED_CHUNKS and part.is_whole:
                pieces.append(self._joined_by_chunk.of(part))
            else:
                pieces += self._pieces_of(part.providers())
            pause()
        return pieces

    def _pieces_of(self, providers: Sequence[Provider]) -> list[bytes]:
        cached = list(map(self._piece_by_id.get, map(id, providers)))
        if all(cached):
            return cached  # type: ignore[return-value]
        return [piece or self._make(provider) for piece, provider in zip(cached, providers, strict=True)]

    def _make(self, provider: Provider) -> bytes:
        piece = compact(self._encode(provider))
        with self._lock:
            if len(self._provider_by_uuid) >= MAX_CACHED_PIECES:
                self._piece_by_id = {}
                self._provider_by_uuid = {}
            before = self._provider_by_uuid.get(provider.uuid)
            self._piece_by_id.pop(id(before), None)
            self._provider_by_uuid[provider.uuid] = provider
            self._piece_by_id[id(provider)] = piece
        return piece


def with_commas(pieces: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """Put commas between the pieces without joining them: the caller joins once, so that they are copied once."""
    interleaved: list[bytes | memoryview] = [b","] * (2 * len(pieces) - 1)
    interleaved[::2] = pieces
    return interleaved
