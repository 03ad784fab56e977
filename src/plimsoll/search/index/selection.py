# SPDX-License-Identifier: Apache-2.0

"""A subset of the providers of an index, by row. Provider objects are looked up only when accessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.provider import Provider
from plimsoll.domain.values import unhashable_value
from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.index import Index
from plimsoll.search.index.table import Chunk, Table


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    _index: Index
    rows: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Provider]:
        return iter(self._index.providers(self.rows.tolist()))

    @property
    def uuids(self) -> Table[str]:
        """The uuids of all rows of the index."""
        return self._index.uuids

    def by_chunk(self) -> Iterator[ChunkSelection]:
        """Yield the selection by chunk. A chunk is yielded once if the rows are sorted."""
        numbers = self._index.table.numbers(self.rows)
        cuts = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
        ends = [*cuts, len(self.rows)]
        for start, end in zip([0, *cuts], ends, strict=True) if ends[-1] else ():
            yield ChunkSelection(self._index, numbers.item(start), self.rows[start:end])


@unhashable_value
class ChunkSelection:
    """The selected rows of one chunk."""

    _index: Index
    number: int
    rows: Numbers

    @property
    def chunk(self) -> Chunk[Provider]:
        return self._index.table.chunks[self.number]

    @property
    def is_whole(self) -> bool:
        """Whether all providers of the chunk are selected."""
        present = self._index.live & self._index.table.rows(self.number)
        return len(self.rows) == present.bit_count()

    def providers(self) -> list[Provider]:
        return self._index.providers(self.rows.tolist())


NO_PROVIDERS = Selection(Index(), np.empty(0, np.int64))
