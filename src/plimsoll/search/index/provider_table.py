# SPDX-License-Identifier: Apache-2.0

"""Providers by row, in chunks. A change replaces the chunks that contain its rows and shares all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from plimsoll.domain.provider import Provider
from plimsoll.search.index.bitset import Numbers, RowSet

CHUNK_BITS = 8
CHUNK = 1 << CHUNK_BITS

Chunk = Sequence[Provider | None]
"""None for a vacant row. Never modified; a list, because copying a list takes one step."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    chunks: tuple[Chunk, ...] = ()

    def provider(self, row: int) -> Provider:
        provider = self.chunks[row >> CHUNK_BITS][row & (CHUNK - 1)]
        assert provider is not None, "row of a removed provider"
        return provider

    def providers(self, rows: Sequence[int]) -> list[Provider]:
        chunks = self.chunks
        if len(rows) * 8 > len(chunks) * CHUNK:  # for many rows, one list of all providers is faster
            return list(map(list(chain.from_iterable(chunks)).__getitem__, rows))  # type: ignore[arg-type]
        return [chunks[row >> CHUNK_BITS][row & (CHUNK - 1)] for row in rows]  # type: ignore[misc]

    def numbers(self, rows: Numbers) -> Numbers:
        """Return the chunk number of each row."""
        return rows >> CHUNK_BITS

    def rows(self, number: int) -> RowSet:
        """Return all rows of a chunk, including vacant ones."""
        return ((1 << CHUNK) - 1) << number * CHUNK

    def replaced(self, providers: Mapping[int, Provider | None]) -> Table:
        chunks = list(self.chunks)
        opened: dict[int, list[Provider | None]] = {}
        for row, provider in providers.items():
            number = row >> CHUNK_BITS
            if number not in opened:
                while len(chunks) <= number:
                    chunks.append([None] * CHUNK)
                chunks[number] = opened[number] = list(chunks[number])
            opened[number][row & (CHUNK - 1)] = provider
        return Table(tuple(chunks))
