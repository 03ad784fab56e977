# SPDX-License-Identifier: Apache-2.0

"""Some providers of an index, by their rows: taken out of it only if somebody looks at them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from plimsoll.domain.provider import Provider
from plimsoll.domain.values import unhashable_value
from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.index import Index
from plimsoll.search.index.labels import Texts
from plimsoll.search.index.provider_table import Chunk


class Selection(Sequence[Provider]):
    __slots__ = ("_index", "_labels", "rows")

    def __init__(self, index: Index, rows: Numbers) -> None:
        self._index = index
        self._labels: Texts | None = None
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Provider: ...
    @overload
    def __getitem__(self, at: slice) -> Selection: ...
    def __getitem__(self, at: int | slice) -> Provider | Selection:
        if isinstance(at, slice):
            return Selection(self._index, self.rows[at])
        return self._index.provider(int(self.rows[at]))

    def __iter__(self) -> Iterator[Provider]:
        return iter(self._index.providers(self.rows.tolist()))

    def labels(self) -> Texts:
        """Their uuids, as answers have them."""
        if self._labels is None:
            self._labels = self._index.labels().take(self.rows)
        return self._labels

    def by_chunk(self) -> Iterator[Part]:
        """All of them, chunk by chunk. Rows that are neighbours should stand together."""
        numbers = self._index.table.numbers(self.rows)
        cuts = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
        ends = [*cuts, len(self.rows)]
        for start, end in zip([0, *cuts], ends, strict=True) if ends[-1] else ():
            yield Part(self._index, numbers.item(start), self.rows[start:end])


@unhashable_value
class Part:
    """What was picked of one chunk."""

    _index: Index
    number: int
    rows: Numbers

    @property
    def chunk(self) -> Chunk:
        return self._index.table.chunks[self.number]

    @property
    def is_whole(self) -> bool:
        """Whether nobody in the chunk was left out."""
        present = self._index.live & self._index.table.rows(self.number)
        return len(self.rows) == present.bit_count()

    def providers(self) -> list[Provider]:
        return self._index.providers(self.rows.tolist())


NOBODY = Selection(Index(), np.empty(0, np.int64))
