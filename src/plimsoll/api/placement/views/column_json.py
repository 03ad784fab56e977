# SPDX-License-Identifier: Apache-2.0

"""Encode many texts that differ only in fixed-width values: repeat a template, then write columns with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from plimsoll.search.index.selection import Selection
from plimsoll.search.index.table import Chunk, Table

Texts: TypeAlias = NDArray[np.bytes_]

_WIDTH = len('"00000000-0000-0000-0000-000000000000"')


class UuidTexts:
    """The uuids of an index as JSON, by row, all of one width. Only chunks with new providers are encoded again."""

    def __init__(self) -> None:
        # One attribute, so that another thread never reads the texts of one table as those of another.
        self._cached: tuple[Table[str], Texts] = Table(), np.empty(0, f"S{_WIDTH}")

    def of(self, column: Selection) -> Texts:
        table, texts = self._cached
        if table is not column.uuids:
            texts = self._encode(column.uuids)
            self._cached = column.uuids, texts
        return texts.take(column.rows)

    def _encode(self, uuids: Table[str]) -> Texts:
        table, texts = self._cached
        parts = [
            texts[number * len(chunk) : (number + 1) * len(chunk)]
            if number < len(table.chunks) and table.chunks[number] is chunk
            else _texts(chunk)
            for number, chunk in enumerate(uuids.chunks)
        ]
        width = max(part.itemsize for part in parts)
        return np.concatenate(
            [part if part.itemsize == width else np.char.ljust(part, width) for part in parts]
        )


def _texts(chunk: Chunk[str]) -> Texts:
    """Return the uuids as JSON, padded with blanks, which have no meaning in JSON."""
    texts = [b"" if uuid is None else orjson.dumps(uuid) for uuid in chunk]
    width = max(_WIDTH, *map(len, texts))
    return np.array([text.ljust(width) for text in texts])


def fill_template(count: int, columns: Sequence[tuple[bytes, Texts]], end: bytes) -> bytearray:
    """Return `count` texts, concatenated. Each is, for every column, the text before it and its value, then `end`."""
    template, starts = b"", []
    for before, column in columns:
        template += before
        starts.append(len(template))
        template += bytes(column.itemsize)
    template += end
    filled = bytearray(template) * count
    if count:
        for start, (_, column) in zip(starts, columns, strict=True):
            np.ndarray(count, column.dtype, filled, start, (len(template),))[:] = column
    return filled


def split_records(filled: bytearray, count: int) -> list[bytes]:
    text, width = bytes(filled), len(filled) // count
    return [text[start : start + width] for start in range(0, len(text), width)]
