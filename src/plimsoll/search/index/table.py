# SPDX-License-Identifier: Apache-2.0

"""Values by row, in chunks. A change replaces the chunks that contain its rows and shares all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from plimsoll.search.index.bitset import Numbers, RowSet

T = TypeVar("T")

CHUNK_BITS = 8
CHUNK = 1 << CHUNK_BITS

Chunk = Sequence[T | None]
"""None for a vacant row. Never modified; a list, because copying a list takes one step."""


@dataclass(frozen=True, slots=True, eq=False)
class Table(Generic[T]):
    chunks: tuple[Chunk[T], ...] = ()

    def value(self, row: int) -> T:
        value = self.chunks[row >> CHUNK_BITS][row & (CHUNK - 1)]
        assert value is not None, "vacant row"
        return value

    def values(self, rows: Sequence[int]) -> list[T]:
        chunks = self.chunks
        if len(rows) * 8 > len(chunks) * CHUNK:  # for many rows, one list of all values is faster
            return list(map(list(chain.from_iterable(chunks)).__getitem__, rows))  # type: ignore[arg-type]
        return [chunks[row >> CHUNK_BITS][row & (CHUNK - 1)] for row in rows]  # type: ignore[misc]

    def numbers(self, rows: Numbers) -> Numbers:
        """Return the chunk number of each row."""
        return rows >> CHUNK_BITS

    def rows(self, number: int) -> RowSet:
        """Return all rows of a chunk, including vacant ones."""
        return ((1 << CHUNK) - 1) << number * CHUNK

    def replaced(self, values: Mapping[int, T | None]) -> Table[T]:
        chunks = list(self.chunks)
        opened: dict[int, list[T | None]] = {}
        for row, value in values.items():
            number = row >> CHUNK_BITS
            if number not in opened:
                while len(chunks) <= number:
                    chunks.append([None] * CHUNK)
                chunks[number] = opened[number] = list(chunks[number])
            opened[number][row & (CHUNK - 1)] = value
        return Table(tuple(chunks))
